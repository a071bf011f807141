/* Small allocations, cut from 2 MiB slabs: one power-of-two size per slab, a bit per suballocation.
 *
 * Metadata is in host memory, apart from the suballocations: the CPU may not be able to reach them, and
 * write-combined memory must not be read. */
#include "drv/lock.h"
#include "vm/bits.h"
#include "vm/internal.h"
#include "vm/suballoc.h"

#include <errno.h>
#include <stdlib.h>

#define MIN_SHIFT 8 /* VM_SUBALLOC_MIN_B */

struct vm_slab {
	struct vm_slabs *set;                 /* borrowed: lives as long as the vm */
	LIST_ENTRY(vm_slab) in_partial;       /* set->partial[class], guarded by vm.slab_lock */
	struct vm_mem *mem;                   /* owned */
	unsigned size_class, suballocs, used; /* used: suballocations handed out, guarded by vm.slab_lock */
	uint64_t free_bits[];                 /* a set bit is a free suballocation */
};

_Static_assert(1u << MIN_SHIFT == VM_SUBALLOC_MIN_B, "the smallest class");
_Static_assert(VM_SUBALLOC_MIN_B << (sizeof(((struct vm_slabs *)0)->partial) / sizeof(void *) - 1) ==
		       VM_SUBALLOC_MAX_B,
	       "one list per class");

static unsigned class_of(const struct vm_info *info)
{
	unsigned shift = info->size_B > 1 ? 64 - __builtin_clzll(info->size_B - 1) : 0;

	return shift > MIN_SHIFT ? shift - MIN_SHIFT : 0;
}

static struct vm_slabs *find_set(struct vm *vm, const struct vm_info *info)
{
	unsigned flags = info->flags & ~VM_STRICT;

	for (unsigned i = 0; i < vm->sets; i++)
		if (vm->set[i].kind == info->kind && vm->set[i].flags == flags)
			return &vm->set[i];
	if (vm->sets == VM_SLAB_SETS)
		return NULL;
	vm->set[vm->sets] = (struct vm_slabs){.kind = info->kind, .flags = flags};
	return &vm->set[vm->sets++];
}

static void link_partial(struct vm_slab *slab)
{
	LIST_INSERT_HEAD(&slab->set->partial[slab->size_class], slab, in_partial);
}

static int slab_create(struct vm *vm, struct vm_slabs *set, unsigned size_class, unsigned strict,
		       struct vm_slab **out)
{
	unsigned suballocs = VM_SLAB_B >> (MIN_SHIFT + size_class), words = VM_BITS_WORDS(suballocs);
	struct vm_info info = {.size_B = VM_SLAB_B, .kind = set->kind, .flags = set->flags | strict};
	struct vm_slab *slab = calloc(1, sizeof(*slab) + words * sizeof(slab->free_bits[0]));
	int r;

	if (!slab)
		return drv_fail(-ENOMEM, "no host memory for a slab");
	r = vm_mem_create(vm, &info, &slab->mem);
	if (r) {
		free(slab);
		return r;
	}
	slab->set = set;
	slab->size_class = size_class;
	slab->suballocs = suballocs;
	vm_bits_init(slab->free_bits, suballocs);
	link_partial(slab);
	*out = slab;
	return 0;
}

static void slab_destroy(struct vm_slab *slab)
{
	LIST_REMOVE(slab, in_partial);
	vm_mem_destroy(slab->mem);
	free(slab);
}

/* Takes the first free suballocation; the slab must have one. */
static unsigned suballoc_take(struct vm_slab *slab)
{
	if (++slab->used == slab->suballocs)
		LIST_REMOVE(slab, in_partial);
	return vm_bits_take(slab->free_bits);
}

static int alloc_from_slabs(struct vm *vm, const struct vm_info *info, struct vm_suballoc *suballoc)
{
	struct vm_slabs *set = find_set(vm, info);
	unsigned size_class = class_of(info);
	struct vm_slab *slab;
	uint64_t offset_B;
	int r = 0;

	if (!set)
		return drv_fail(-EINVAL, "more than %u sorts of slab", VM_SLAB_SETS);
	slab = LIST_FIRST(&set->partial[size_class]);
	if (!slab)
		r = slab_create(vm, set, size_class, info->flags & VM_STRICT, &slab);
	if (r)
		return r;
	offset_B = (uint64_t)suballoc_take(slab) << (MIN_SHIFT + size_class);
	*suballoc = (struct vm_suballoc){
		.va = slab->mem->va + offset_B,
		.map = slab->mem->map ? (char *)slab->mem->map + offset_B : NULL,
		.size_B = 1ull << (MIN_SHIFT + size_class),
		.slab = slab,
		.mem = slab->mem,
	};
	return 0;
}

int vm_suballoc_create(struct vm *vm, const struct vm_info *info, struct vm_suballoc *suballoc)
{
	struct vm_mem *mem;
	int r = drv_check_process(vm->dev);

	if (r)
		return r;
	if (info->size_B && info->size_B <= VM_SUBALLOC_MAX_B) {
		drv_mutex_lock(&vm->slab_lock);
		r = alloc_from_slabs(vm, info, suballoc);
		drv_mutex_unlock(&vm->slab_lock);
		return r;
	}
	r = vm_mem_create(vm, info, &mem);
	if (!r)
		*suballoc =
			(struct vm_suballoc){.va = mem->va, .map = mem->map, .size_B = mem->bo->size_B, .mem = mem};
	return r;
}

/* Returns a suballocation to its slab. One empty slab per size class is kept, so that a single suballocation that
 * is created and destroyed repeatedly costs no ioctl. */
static void suballoc_return(struct vm_slab *slab, uint64_t offset_B)
{
	bool full = slab->used == slab->suballocs;

	vm_bits_put(slab->free_bits, offset_B >> (MIN_SHIFT + slab->size_class));
	slab->used--;
	if (full)
		link_partial(slab);
	if (!slab->used &&
	    (LIST_NEXT(slab, in_partial) || LIST_FIRST(&slab->set->partial[slab->size_class]) != slab))
		slab_destroy(slab);
}

void vm_suballoc_destroy(struct vm_suballoc *suballoc)
{
	struct vm_slab *slab = suballoc->slab;
	struct vm *vm = suballoc->mem ? suballoc->mem->bo->vm : NULL;

	if (slab && !drv_check_process(vm->dev)) {
		drv_mutex_lock(&vm->slab_lock);
		suballoc_return(slab, suballoc->va - slab->mem->va);
		drv_mutex_unlock(&vm->slab_lock);
	} else if (!slab) {
		vm_mem_destroy(suballoc->mem);
	}
	*suballoc = (struct vm_suballoc){0};
}

void vm_slabs_fini(struct vm *vm)
{
	for (unsigned i = 0; i < vm->sets; i++)
		for (unsigned c = 0; c < sizeof(vm->set[i].partial) / sizeof(vm->set[i].partial[0]); c++)
			while (!LIST_EMPTY(&vm->set[i].partial[c]))
				slab_destroy(LIST_FIRST(&vm->set[i].partial[c]));
}

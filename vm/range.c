/* Address ranges: intervals with the same addresses on the CPU and on the GPU. */
#include "vm/internal.h"
#include "vm/suballoc.h"

#include <errno.h>
#include <sys/mman.h>

#define RESERVE   (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define LOW_LIMIT (1ull << 32)

static int check_request(const struct vm *vm, const struct vm_range_request *request)
{
	const struct drv_facts *f = &vm->dev->facts;
	uint64_t align_B = request->align_B ? request->align_B : VM_PAGE_B;
	uint64_t reach_B = request->flags & VM_REQUEST_HIGH ? f->high_va_hi - f->high_va_lo : f->va_hi;

	if (!request->size_B || request->size_B % VM_PAGE_B || align_B & (align_B - 1) || align_B > reach_B ||
	    request->size_B > reach_B - align_B)
		return drv_fail(
			-EINVAL,
			"a range of %llu bytes aligned to %llu: whole pages, a power of two, and within reach",
			(unsigned long long)request->size_B, (unsigned long long)align_B);
	if (request->va % (align_B > VM_PAGE_B ? align_B : VM_PAGE_B) ||
	    (!request->va && request->flags & VM_REQUEST_EXACT) ||
	    (request->flags & VM_REQUEST_LOW && request->flags & VM_REQUEST_HIGH))
		return drv_fail(-EINVAL, "a range at 0x%llx aligned to %llu with flags 0x%x",
				(unsigned long long)request->va, (unsigned long long)align_B, request->flags);
	return 0;
}

static bool in_reach(const struct vm *vm, uint64_t va, uint64_t size_B)
{
	const struct drv_facts *f = &vm->dev->facts;

	return va >= f->va_lo && va < f->va_hi && size_B <= f->va_hi - va;
}

/* Reserves exactly these addresses; false: they are in use, or beyond the GPU's reach or a limit. */
static bool reserve_at(const struct vm *vm, uint64_t va, uint64_t size_B)
{
	void *host = (void *)(uintptr_t)va, *got;

	if (!in_reach(vm, va, size_B))
		return false;
	got = mmap(host, size_B, PROT_NONE, RESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == MAP_FAILED)
		return false;
	if (got == host)
		return true;
	munmap(got, size_B); /* Linux before 4.17 ignores the flag and takes the address as a hint. */
	return false;
}

/* Reserves below 4 GiB by trying addresses in steps: the kernel itself only searches the gigabyte of MAP_32BIT. */
static uint64_t reserve_low(const struct vm *vm, const struct vm_range_request *request, uint64_t align_B)
{
	uint64_t step = align_B > VM_SLAB_B ? align_B : VM_SLAB_B;

	for (uint64_t at = vm_align(vm->dev->facts.va_lo, step);
	     at < LOW_LIMIT && request->size_B <= LOW_LIMIT - at; at += step)
		if (reserve_at(vm, at, request->size_B))
			return at;
	return 0;
}

static uint64_t reserve_anywhere(const struct vm *vm, const struct vm_range_request *request, uint64_t align_B)
{
	uint64_t slack_B = align_B - VM_PAGE_B, start, va;
	void *host = mmap(NULL, request->size_B + slack_B, PROT_NONE, RESERVE, -1, 0);

	if (host == MAP_FAILED)
		return 0;
	start = (uintptr_t)host;
	va = vm_align(start, align_B);
	if (!in_reach(vm, va, request->size_B)) {
		munmap(host, request->size_B + slack_B);
		return 0;
	}
	if (va > start)
		munmap(host, va - start);
	if (start + slack_B > va)
		munmap((void *)(uintptr_t)(va + request->size_B), start + slack_B - va);
	return va;
}

static int reserve_host(struct vm *vm, const struct vm_range_request *request, uint64_t *va)
{
	uint64_t align_B = request->align_B > VM_PAGE_B ? request->align_B : VM_PAGE_B;
	bool low = request->flags & VM_REQUEST_LOW;

	*va = 0;
	if (request->va && (!low || (request->va < LOW_LIMIT && request->size_B <= LOW_LIMIT - request->va)) &&
	    reserve_at(vm, request->va, request->size_B))
		*va = request->va;
	if (!*va && request->flags & VM_REQUEST_EXACT)
		return drv_fail(-EEXIST, "0x%llx is not free for %llu bytes", (unsigned long long)request->va,
				(unsigned long long)request->size_B);
	if (!*va)
		*va = low ? reserve_low(vm, request, align_B) : reserve_anywhere(vm, request, align_B);
	if (!*va)
		return drv_fail(-ENOMEM, "no %llu bytes of address space left%s",
				(unsigned long long)request->size_B, low ? " below 4 GiB" : "");
	return 0;
}

int vm_range_reserve(struct vm *vm, const struct vm_range_request *request, struct vm_range *range)
{
	bool high = request->flags & VM_REQUEST_HIGH;
	uint64_t va;
	int r = drv_check_process(vm->dev);

	r = r ? r : check_request(vm, request);
	r = r ? r : high ? vm_high_reserve(vm, request, &va) : reserve_host(vm, request, &va);
	if (r)
		return r;
	if (!high)
		vm_users_evict(vm, va, va + request->size_B);
	*range = (struct vm_range){
		.vm = vm, .va = va, .size_B = request->size_B, .origin = high ? VM_RANGE_ALIAS : VM_RANGE_HOST};
	vm->ranges++;
	return 0;
}

int vm_range_adopt(struct vm *vm, const struct vm_range *of, struct vm_range *range)
{
	const struct drv_facts *f = &vm->dev->facts;
	bool high = of->va >= f->high_va_lo && of->va < f->high_va_hi && of->size_B <= f->high_va_hi - of->va;

	if (!of->size_B || (of->va | of->size_B) % VM_PAGE_B || (!high && !in_reach(vm, of->va, of->size_B)))
		return drv_fail(-EINVAL, "the GPU does not reach 0x%llx + 0x%llx", (unsigned long long)of->va,
				(unsigned long long)of->size_B);
	*range = (struct vm_range){.vm = vm, .va = of->va, .size_B = of->size_B, .origin = VM_RANGE_ADOPTED};
	vm->ranges++;
	return 0;
}

void vm_range_release(struct vm_range *range)
{
	struct vm *vm = range->vm;

	if (!vm)
		return;
	if (!drv_check_process(vm->dev)) {
		/* Unbinding a whole range splits no binding, so it needs no memory; it fails only when the device
		 * is gone. */
		if (range->bound && vm_range_unbind(range, 0, range->size_B))
			vm_range_forget(range);
		if (range->origin == VM_RANGE_ALIAS)
			vm_high_release(vm->process, range->va);
		vm->ranges--;
	}
	if (range->origin == VM_RANGE_HOST)
		munmap((void *)(uintptr_t)range->va, range->size_B);
	*range = (struct vm_range){0};
}

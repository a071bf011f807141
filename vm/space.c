/* The vm object: creation, sharing, destruction. */
#include "drv/lock.h"
#include "vm/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const enum drv_rank ranks[] = {DRV_RANK_VM_LIST, DRV_RANK_VM_SHARE,  DRV_RANK_VM_MAP,   DRV_RANK_VM_INDEX,
				      DRV_RANK_VM_USER, DRV_RANK_VM_STRICT, DRV_RANK_VM_FAULT, DRV_RANK_VM_SLAB,
				      DRV_RANK_VM_PEER, DRV_RANK_VM_UPDATE};

static struct drv_mutex *lock_of(struct vm *vm, unsigned i)
{
	struct drv_mutex *const locks[] = {&vm->lock,      &vm->share_lock,  &vm->map_lock,   &vm->index_lock,
					   &vm->user_lock, &vm->strict_lock, &vm->fault_lock, &vm->slab_lock,
					   &vm->peer_lock, &vm->update_lock};

	return i < sizeof(locks) / sizeof(locks[0]) ? locks[i] : NULL;
}

static void locks_destroy(struct vm *vm)
{
	struct drv_mutex *lock;

	for (unsigned i = 0; (lock = lock_of(vm, i)); i++)
		drv_mutex_destroy(lock);
}

/* On success the vm owns the reference of the process. */
static int space_create(const struct drv_device *dev, struct vm_process *process, struct vm **out)
{
	struct vm *vm = calloc(1, sizeof(*vm));
	struct drv_mutex *lock;
	int r;

	if (!vm)
		return drv_fail(-ENOMEM, "no host memory for an address space");
	vm->dev = dev;
	vm->process = process;
	vm_bindings_init(vm);
	for (unsigned i = 0; (lock = lock_of(vm, i)); i++)
		drv_mutex_init(lock, ranks[i]);
	r = vm_updates_init(vm);
	if (r) {
		locks_destroy(vm);
		free(vm);
		return r;
	}
	*out = vm;
	return 0;
}

int vm_create(const struct drv_device *dev, struct vm **vm)
{
	struct vm_process *process;
	int r = vm_process_create(&process);

	if (r)
		return r;
	r = space_create(dev, process, vm);
	if (r)
		vm_process_put(process);
	return r;
}

int vm_create_shared(struct vm *first, const struct drv_device *dev, struct vm **vm)
{
	int r = space_create(dev, vm_process_get(first->process), vm);

	if (r)
		vm_process_put(first->process);
	return r;
}

void vm_destroy(struct vm *vm)
{
	if (!vm)
		return;
	vm_slabs_fini(vm);
	vm_list_fini(vm);
	if (vm->gws)
		vm_gem_close(vm, vm->gws);
	vm_peers_fini(vm);
	vm_process_put(vm->process);
	vm_updates_fini(vm);
	locks_destroy(vm);
	free(vm->shared);
	free(vm);
}

const struct drv_device *vm_device(const struct vm *vm)
{
	return vm->dev;
}

void vm_stats(struct vm *vm, struct vm_stats *stats)
{
	for (unsigned i = 0; i < VM_KINDS; i++) {
		stats->bytes[i] = vm->bytes[i];
		stats->peak[i] = vm->peak[i];
	}
	stats->user_B = vm->bytes[VM_KINDS + VM_USER - 1];
	stats->user_peak_B = vm->peak[VM_KINDS + VM_USER - 1];
	stats->imported_B = vm->bytes[VM_KINDS + VM_IMPORTED - 1];
	stats->imported_peak_B = vm->peak[VM_KINDS + VM_IMPORTED - 1];
	stats->bos = vm->bos;
	stats->ranges = vm->ranges;
	stats->mappings = vm->mappings;
	stats->list_updates = vm->list_updates;
}

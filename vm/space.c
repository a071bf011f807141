/* The address space object, and the BO list that makes memory resident. */
#include "vm/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t *lock_of(struct vm *vm, unsigned i)
{
	pthread_mutex_t *const locks[] = {&vm->lock,       &vm->share_lock, &vm->map_lock,
					  &vm->index_lock, &vm->user_lock,  &vm->strict_lock,
					  &vm->fault_lock, &vm->slab_lock,  &vm->peer_lock};

	return i < sizeof(locks) / sizeof(locks[0]) ? locks[i] : NULL;
}

/* Takes the process over, unless it fails. */
static int space_create(const struct drv_device *dev, struct vm_process *process, struct vm **out)
{
	struct vm *vm = calloc(1, sizeof(*vm));
	pthread_mutex_t *lock;

	if (!vm)
		return drv_fail(-ENOMEM, "no host memory for an address space");
	vm->dev = dev;
	vm->process = process;
	for (unsigned i = 0; (lock = lock_of(vm, i)); i++)
		pthread_mutex_init(lock, NULL);
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

static int list_ioctl(struct vm *vm, uint32_t operation)
{
	union drm_amdgpu_bo_list args = {
		.in =
			{
				.operation = operation,
				.list_handle = vm->list_handle,
				.bo_number = vm->entries,
				.bo_info_size = sizeof(*vm->entry),
				.bo_info_ptr = (uintptr_t)vm->entry,
			},
	};
	int r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_BO_LIST, &args);

	if (!r && operation == AMDGPU_BO_LIST_OP_CREATE)
		vm->list_handle = args.out.list_handle;
	return r;
}

void vm_destroy(struct vm *vm)
{
	pthread_mutex_t *lock;

	if (!vm)
		return;
	vm_slabs_fini(vm);
	/* A handle that cannot be destroyed goes with the file description. */
	if (vm->list_handle)
		(void)!list_ioctl(vm, AMDGPU_BO_LIST_OP_DESTROY);
	if (vm->gws)
		vm_gem_close(vm, vm->gws);
	vm_peers_fini(vm);
	vm_process_put(vm->process);
	for (unsigned i = 0; (lock = lock_of(vm, i)); i++)
		pthread_mutex_destroy(lock);
	free(vm->shared);
	free(vm->entry);
	free(vm->listed);
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

#define LIST_MAX 131072 /* Linux AMDGPU_BO_LIST_MAX_ENTRIES; beyond it BO_LIST is -EINVAL */

static int list_grow(struct vm *vm)
{
	uint32_t max = vm->entries_max ? vm->entries_max * 2 : 64;
	void *entry = realloc(vm->entry, max * sizeof(*vm->entry));
	void *listed;

	if (entry)
		vm->entry = entry;
	listed = realloc(vm->listed, max * sizeof(*vm->listed));
	if (listed)
		vm->listed = listed;
	if (!entry || !listed)
		return drv_fail(-ENOMEM, "no host memory for %u BO list entries", max);
	vm->entries_max = max;
	return 0;
}

int vm_list_add(struct vm *vm, struct vm_bo *bo)
{
	int r = 0;

	pthread_mutex_lock(&vm->lock);
	/* vm_gws_list() adds one. */
	if (vm->entries + 1 >= LIST_MAX)
		r = drv_fail(-ENOMEM, "%u BOs that submissions list, as many as the kernel takes", vm->entries);
	else if (vm->entries + 1 >= vm->entries_max)
		r = list_grow(vm);
	if (!r) {
		bo->list_index = vm->entries++;
		vm->entry[bo->list_index] = (struct drm_amdgpu_bo_list_entry){.bo_handle = bo->handle};
		vm->listed[bo->list_index] = bo;
		atomic_store_explicit(&vm->list_stale, true, memory_order_release);
	}
	pthread_mutex_unlock(&vm->lock);
	return r;
}

void vm_list_remove(struct vm *vm, struct vm_bo *bo)
{
	pthread_mutex_lock(&vm->lock);
	if (bo->list_index == VM_UNLISTED) {
		pthread_mutex_unlock(&vm->lock);
		return;
	}
	vm->entries--;
	vm->entry[bo->list_index] = vm->entry[vm->entries];
	vm->listed[bo->list_index] = vm->listed[vm->entries];
	vm->listed[bo->list_index]->list_index = bo->list_index;
	bo->list_index = VM_UNLISTED;
	atomic_store_explicit(&vm->list_stale, true, memory_order_release);
	pthread_mutex_unlock(&vm->lock);
}

/* Brings the kernel's list up to date, if no other thread has done so meanwhile. */
__attribute__((cold, noinline)) static int list_update(struct vm *vm)
{
	bool create = !vm->list_handle;
	int r = 0;

	pthread_mutex_lock(&vm->lock);
	if (vm->list_stale && (!create || vm->entries))
		r = list_ioctl(vm, create ? AMDGPU_BO_LIST_OP_CREATE : AMDGPU_BO_LIST_OP_UPDATE);
	if (r) {
		r = drv_fail(r, "BO_LIST with %u BOs", vm->entries);
	} else if (vm->list_stale) {
		vm->list_updates++;
		atomic_store_explicit(&vm->list_stale, false, memory_order_release);
	}
	pthread_mutex_unlock(&vm->lock);
	return r;
}

int vm_list(struct vm *vm, uint32_t *handle)
{
	/* Stale is only ever missed for a BO that another thread adds meanwhile: work that uses it is not submitted
	 * before that thread has handed it over. */
	int r = __builtin_expect(atomic_load_explicit(&vm->list_stale, memory_order_acquire), 0) ? list_update(vm)
												 : 0;

	*handle = vm->list_handle;
	return r;
}

/* User data: the pointer and the deallocation callbacks that clients attach to memory. Kept in a tree by address,
 * since most memory has none. */
#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"

#include <stdlib.h>

struct callback {
	void *ptr;
	hsa_amd_deallocation_callback_t fn;
	void *data;
};

/* The user data of one allocation. Guarded by va_region_lock. */
struct rt_user_data {
	struct vm_node at; /* addresses of the allocation; in memory.user_data */
	void *data;        /* the client's pointer */
	unsigned callbacks, callbacks_max;
	struct callback *callback; /* owned */
};

static struct rt_user_data *user_data_find_locked(struct rt *rt, uint64_t lo, uint64_t hi)
{
	struct vm_node *n = hi > lo ? vm_tree_next(&rt->memory->user_data, NULL, lo, hi) : NULL;

	return n ? vm_container(n, struct rt_user_data, at) : NULL;
}

/* The user data of this memory, created if there is none. NULL: no host memory. */
static struct rt_user_data *user_data_get_locked(struct rt *rt, const struct rt_alloc_info *info)
{
	struct rt_user_data *user_data = user_data_find_locked(rt, info->base, info->base + 1);

	if (user_data)
		return user_data;
	user_data = calloc(1, sizeof(*user_data));
	if (!user_data)
		return NULL;
	user_data->at = (struct vm_node){.lo = info->base, .hi = info->base + info->size_B};
	vm_tree_insert(&rt->memory->user_data, &user_data->at);
	rt->memory->user_data_count++;
	return user_data;
}

static void user_data_free(struct rt_user_data *user_data)
{
	free(user_data->callback);
	free(user_data);
}

/* Removes one user data object in [lo, hi) from the tree; NULL: none is left. */
static struct rt_user_data *user_data_take(struct rt *rt, uint64_t lo, uint64_t hi)
{
	struct rt_user_data *user_data;

	drv_mutex_lock(&rt->memory->va_region_lock);
	user_data = user_data_find_locked(rt, lo, hi);
	if (user_data) {
		vm_tree_remove(&rt->memory->user_data, &user_data->at);
		rt->memory->user_data_count--;
	}
	drv_mutex_unlock(&rt->memory->va_region_lock);
	return user_data;
}

void rt_user_data_end(struct rt *rt, uint64_t base, uint64_t size_B)
{
	struct rt_user_data *user_data;

	/* A reservation may have several: those of the memory that was mapped there. */
	while (rt->memory->user_data_count && (user_data = user_data_take(rt, base, base + size_B))) {
		for (unsigned i = 0; i < user_data->callbacks; i++)
			user_data->callback[i].fn(user_data->callback[i].ptr, user_data->callback[i].data);
		user_data_free(user_data);
	}
}

void *rt_user_data_get(struct rt *rt, uint64_t base)
{
	const struct rt_user_data *user_data;
	void *data = NULL;

	if (!rt->memory->user_data_count)
		return NULL;
	drv_mutex_lock(&rt->memory->va_region_lock);
	user_data = user_data_find_locked(rt, base, base + 1);
	if (user_data)
		data = user_data->data;
	drv_mutex_unlock(&rt->memory->va_region_lock);
	return data;
}

void rt_user_data_fini(struct rt *rt)
{
	struct rt_user_data *user_data;

	while ((user_data = user_data_find_locked(rt, 0, UINT64_MAX))) {
		vm_tree_remove(&rt->memory->user_data, &user_data->at);
		user_data_free(user_data);
	}
	rt->memory->user_data_count = 0;
}

/* Like ROCr: only the first address of an allocation is accepted; for locked memory, that of either side. */
RT_IMPL(hsa_amd_pointer_info_set_userdata, (const void *ptr, void *userdata), (ptr, userdata))
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	struct rt_alloc_info info;

	if (!ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&rt->memory->va_region_lock);
	/* Held over look-up and insertion. A thread that frees memory claims it first, and then removes its user
	 * data under this lock: so no user data outlives its memory. */
	if (rt_alloc_info_find_locked(rt, (uintptr_t)ptr, &info) && info.base == (uintptr_t)ptr) {
		struct rt_user_data *user_data = user_data_get_locked(rt, &info);

		if (user_data)
			user_data->data = userdata;
		status = user_data ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	drv_mutex_unlock(&rt->memory->va_region_lock);
	return status;
}

/* --- callbacks -------------------------------------------------------------------------------- */

static hsa_status_t callback_add_locked(struct rt *rt, const struct rt_alloc_info *info,
					const struct callback *callback)
{
	struct rt_user_data *user_data = user_data_get_locked(rt, info);
	struct callback *more;

	if (!user_data)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (user_data->callbacks == user_data->callbacks_max) {
		unsigned max = user_data->callbacks_max ? 2 * user_data->callbacks_max : 2;

		more = realloc(user_data->callback, max * sizeof(*more));
		if (!more)
			return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
		user_data->callback = more;
		user_data->callbacks_max = max;
	}
	user_data->callback[user_data->callbacks++] = *callback;
	return HSA_STATUS_SUCCESS;
}

/* Like ROCr: any address of an allocation is accepted, and imported or locked memory is none. */
RT_IMPL(hsa_amd_register_deallocation_callback,
	(void *ptr, hsa_amd_deallocation_callback_t callback, void *user_data), (ptr, callback, user_data))
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	struct rt_alloc_info info;

	if (!ptr || !callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&rt->memory->va_region_lock);
	if (rt_alloc_info_find_locked(rt, (uintptr_t)ptr, &info) && info.type == HSA_EXT_POINTER_TYPE_HSA)
		status = callback_add_locked(rt, &info, &(struct callback){ptr, callback, user_data});
	drv_mutex_unlock(&rt->memory->va_region_lock);
	return status;
}

RT_IMPL(hsa_amd_deregister_deallocation_callback, (void *ptr, hsa_amd_deallocation_callback_t callback),
	(ptr, callback))
{
	struct rt_user_data *user_data;
	unsigned kept = 0, count = 0;

	if (!ptr || !callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&rt->memory->va_region_lock);
	user_data = user_data_find_locked(rt, (uintptr_t)ptr, (uintptr_t)ptr + 1);
	if (user_data) {
		count = user_data->callbacks;
		for (unsigned i = 0; i < count; i++)
			if (user_data->callback[i].ptr != ptr || user_data->callback[i].fn != callback)
				user_data->callback[kept++] = user_data->callback[i];
		user_data->callbacks = kept;
	}
	drv_mutex_unlock(&rt->memory->va_region_lock);
	return kept < count ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

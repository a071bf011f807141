/* What clients leave with memory: a pointer of theirs, and callbacks for when it is freed. Kept beside the memory,
 * by address, since most has none. */
#include "hsa/memory.h"
#include "hsa/table.h"

#include <stdlib.h>

struct callback {
	void *ptr;
	hsa_amd_deallocation_callback_t fn;
	void *data;
};

/* Of the memory whose addresses `at` has. Guarded by area_lock. */
struct rt_notes {
	struct vm_node at; /* memory.notes */
	void *data;        /* the client's */
	unsigned callbacks, callbacks_max;
	struct callback *callback; /* owned */
};

static struct rt_notes *find_locked(struct rt *rt, uint64_t lo, uint64_t hi)
{
	struct vm_node *n = hi > lo ? vm_tree_next(&rt->memory->notes, NULL, lo, hi) : NULL;

	return n ? vm_container(n, struct rt_notes, at) : NULL;
}

/* The notes of this memory, made if there are none. NULL: no host memory. */
static struct rt_notes *get_locked(struct rt *rt, const struct rt_span *span)
{
	struct rt_notes *notes = find_locked(rt, span->base, span->base + 1);

	if (notes)
		return notes;
	notes = calloc(1, sizeof(*notes));
	if (!notes)
		return NULL;
	notes->at = (struct vm_node){.lo = span->base, .hi = span->base + span->size_B};
	vm_tree_insert(&rt->memory->notes, &notes->at);
	rt->memory->noted++;
	return notes;
}

static void drop(struct rt_notes *notes)
{
	free(notes->callback);
	free(notes);
}

/* Takes one of those that lie there out; NULL: none is left. */
static struct rt_notes *take(struct rt *rt, uint64_t lo, uint64_t hi)
{
	struct rt_notes *notes;

	pthread_mutex_lock(&rt->memory->area_lock);
	notes = find_locked(rt, lo, hi);
	if (notes) {
		vm_tree_remove(&rt->memory->notes, &notes->at);
		rt->memory->noted--;
	}
	pthread_mutex_unlock(&rt->memory->area_lock);
	return notes;
}

void rt_notes_end(struct rt *rt, uint64_t base, uint64_t size_B)
{
	struct rt_notes *notes;

	/* Addresses that were reserved may have several, of what was mapped there. */
	while (rt->memory->noted && (notes = take(rt, base, base + size_B))) {
		for (unsigned i = 0; i < notes->callbacks; i++)
			notes->callback[i].fn(notes->callback[i].ptr, notes->callback[i].data);
		drop(notes);
	}
}

void *rt_notes_data(struct rt *rt, uint64_t base)
{
	const struct rt_notes *notes;
	void *data = NULL;

	if (!rt->memory->noted)
		return NULL;
	pthread_mutex_lock(&rt->memory->area_lock);
	notes = find_locked(rt, base, base + 1);
	if (notes)
		data = notes->data;
	pthread_mutex_unlock(&rt->memory->area_lock);
	return data;
}

void rt_notes_fini(struct rt *rt)
{
	struct rt_notes *notes;

	while ((notes = find_locked(rt, 0, UINT64_MAX))) {
		vm_tree_remove(&rt->memory->notes, &notes->at);
		drop(notes);
	}
	rt->memory->noted = 0;
}

/* ROCr: by the first address only, and so for what is locked, by either side's. */
hsa_status_t impl_hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata)
{
	RT_ENTER(rt);
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	struct rt_span span;

	if (!ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&rt->memory->area_lock);
	/* Under the lock that who frees it takes behind its claim: no note outlives its memory. */
	if (rt_span_find_locked(rt, (uintptr_t)ptr, &span) && span.base == (uintptr_t)ptr) {
		struct rt_notes *notes = get_locked(rt, &span);

		if (notes)
			notes->data = userdata;
		status = notes ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	pthread_mutex_unlock(&rt->memory->area_lock);
	return status;
}

/* --- callbacks -------------------------------------------------------------------------------- */

static hsa_status_t add_locked(struct rt *rt, const struct rt_span *span, const struct callback *callback)
{
	struct rt_notes *notes = get_locked(rt, span);
	struct callback *more;

	if (!notes)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (notes->callbacks == notes->callbacks_max) {
		unsigned max = notes->callbacks_max ? 2 * notes->callbacks_max : 2;

		more = realloc(notes->callback, max * sizeof(*more));
		if (!more)
			return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
		notes->callback = more;
		notes->callbacks_max = max;
	}
	notes->callback[notes->callbacks++] = *callback;
	return HSA_STATUS_SUCCESS;
}

/* As in ROCr, any address of an allocation will do, and what was imported or locked is none. */
hsa_status_t impl_hsa_amd_register_deallocation_callback(void *ptr, hsa_amd_deallocation_callback_t callback,
							 void *user_data)
{
	RT_ENTER(rt);
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	struct rt_span span;

	if (!ptr || !callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&rt->memory->area_lock);
	if (rt_span_find_locked(rt, (uintptr_t)ptr, &span) && span.type == HSA_EXT_POINTER_TYPE_HSA)
		status = add_locked(rt, &span, &(struct callback){ptr, callback, user_data});
	pthread_mutex_unlock(&rt->memory->area_lock);
	return status;
}

hsa_status_t impl_hsa_amd_deregister_deallocation_callback(void *ptr, hsa_amd_deallocation_callback_t callback)
{
	RT_ENTER(rt);
	struct rt_notes *notes;
	unsigned kept = 0, count = 0;

	if (!ptr || !callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&rt->memory->area_lock);
	notes = find_locked(rt, (uintptr_t)ptr, (uintptr_t)ptr + 1);
	if (notes) {
		count = notes->callbacks;
		for (unsigned i = 0; i < count; i++)
			if (notes->callback[i].ptr != ptr || notes->callback[i].fn != callback)
				notes->callback[kept++] = notes->callback[i];
		notes->callbacks = kept;
	}
	pthread_mutex_unlock(&rt->memory->area_lock);
	return kept < count ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

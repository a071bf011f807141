/* Memory that graphs allocate and free. A node's memory is allocated when the node is made, and kept while its
 * graph or its instance lives: the address never changes, and launches cost nothing. "In use" is the program's
 * view: from the launch that allocates the memory to the launch, or the call, that frees it. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/graph/graph_capture.h"

struct hip_graph_alloc {
	struct hip_graph_alloc *next;
	void *ptr; /* owned; NULL: the device was reset, and the allocation is in no list */
	size_t size_B;
	struct hip_device *device;
	unsigned life; /* hip_device.life before the memory was allocated */
	unsigned refs; /* nodes that refer to it */
	bool used;
	bool instance; /* a node of an instance refers to it: at most one may */
};

static struct drv_mutex lock = DRV_MUTEX(DRV_RANK_HIP_GRAPH_MEMORY); /* guards all allocations and `usages` */
static struct hip_graph_alloc *allocs;                               /* owned */
static _Atomic unsigned count;                                       /* number of allocations */
static struct usage {
	uint64_t used_B, used_high_B, reserved_B, reserved_high_B;
} usages[HIP_DEVICES_MAX];

static void add_used(struct hip_graph_alloc *l, bool used)
{
	struct usage *u = &usages[l->device->index];

	if (l->used == used)
		return;
	l->used = used;
	u->used_B = used ? u->used_B + l->size_B : u->used_B - l->size_B;
	if (u->used_B > u->used_high_B)
		u->used_high_B = u->used_B;
}

static void enlist_locked(struct hip_graph_alloc *l)
{
	struct usage *u = &usages[l->device->index];

	drv_rank_assert(DRV_RANK_HIP_GRAPH_MEMORY);
	l->next = allocs;
	allocs = l;
	u->reserved_B += l->size_B;
	if (u->reserved_B > u->reserved_high_B)
		u->reserved_high_B = u->reserved_B;
	atomic_fetch_add(&count, 1);
}

/* Errors: ContextIsDestroyed, when a reset has begun since the memory was allocated, and may not find it in the list. */
static hipError_t alloc_enlist(struct hip_graph_alloc *l)
{
	bool lives;

	atomic_store(&hip_memory_hooks.free_graph, hip_graph_alloc_free);
	drv_mutex_lock(&lock);
	lives = l->life == atomic_load(&l->device->life);
	if (lives)
		enlist_locked(l);
	drv_mutex_unlock(&lock);
	return lives ? hipSuccess : hipErrorContextIsDestroyed;
}

static struct hip_graph_alloc *alloc_at(const void *ptr)
{
	struct hip_graph_alloc *l = allocs;

	while (l && l->ptr != ptr)
		l = l->next;
	return l;
}

/* Removes an allocation without references that is not in use. True: the caller frees the memory. */
static bool alloc_delist(struct hip_graph_alloc *l)
{
	struct hip_graph_alloc **at = &allocs;

	if (l->refs || l->used)
		return false;
	if (!l->ptr)
		return true;
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	usages[l->device->index].reserved_B -= l->size_B;
	atomic_fetch_sub(&count, 1);
	return true;
}

static hipError_t alloc_create(struct hip_device *device, size_t size_B, struct hip_graph_alloc **out)
{
	struct hip_graph_alloc *l = malloc(sizeof(*l));
	hipError_t r;

	if (!l)
		return hipErrorOutOfMemory;
	*l = (struct hip_graph_alloc){
		.size_B = size_B, .device = device, .life = atomic_load(&device->life), .refs = 1};
	r = hip_memory_allocate(device, size_B, &l->ptr);
	if (!r && (r = alloc_enlist(l)))
		(void)!hip_memory_free_now(l->ptr);
	if (r)
		free(l);
	else
		*out = l;
	return r;
}

hipError_t hip_graph_alloc_get(struct hip_graph_alloc *l, bool instance)
{
	hipError_t r = hipSuccess;

	drv_mutex_lock(&lock);
	if (!l->ptr)
		r = hipErrorContextIsDestroyed;
	/* CUDA's rule: the address is the same for all, so only one instance may use it. */
	else if (!instance || l->instance)
		r = hipErrorNotSupported;
	else
		l->refs++;
	l->instance |= instance && !r;
	drv_mutex_unlock(&lock);
	return r;
}

void hip_graph_alloc_put(struct hip_graph_alloc *l, bool instance)
{
	bool gone;

	if (!l)
		return;
	drv_mutex_lock(&lock);
	l->refs--;
	if (instance)
		l->instance = false;
	gone = alloc_delist(l);
	drv_mutex_unlock(&lock);
	if (gone) {
		/* Work that still runs may use the memory: freeing waits for the device. */
		if (l->ptr)
			(void)!hip_memory_free_now(l->ptr);
		free(l);
	}
}

/* Marks the device's allocations as gone; hip_memory_reset() frees the memory. Nodes may still refer to them. */
void hip_graph_allocs_reset(struct hip_device *device)
{
	struct hip_graph_alloc **at = &allocs, *l;

	drv_mutex_lock(&lock);
	while ((l = *at)) {
		if (l->device != device) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		l->ptr = NULL;
		l->used = false;
		atomic_fetch_sub(&count, 1);
		if (!l->refs)
			free(l);
	}
	usages[device->index] = (struct usage){0};
	drv_mutex_unlock(&lock);
}

/* --- launches --------------------------------------------------------------------------------- */

bool hip_graph_alloc_is_used(const void *ptr)
{
	const struct hip_graph_alloc *l;
	bool used;

	drv_mutex_lock(&lock);
	l = alloc_at(ptr);
	used = l && l->used;
	drv_mutex_unlock(&lock);
	return used;
}

static bool set_used(struct hip_graph_alloc *l, bool used)
{
	bool changed;

	drv_mutex_lock(&lock);
	changed = l->ptr && l->used != used;
	if (changed)
		add_used(l, used);
	drv_mutex_unlock(&lock);
	return changed;
}

bool hip_graph_alloc_begin(struct hip_graph_alloc *l)
{
	return set_used(l, true);
}

void hip_graph_alloc_undo(struct hip_graph_alloc *l)
{
	(void)set_used(l, false);
}

bool hip_graph_alloc_is(const void *ptr)
{
	bool is;

	if (!atomic_load_explicit(&count, memory_order_relaxed))
		return false;
	drv_mutex_lock(&lock);
	is = alloc_at(ptr);
	drv_mutex_unlock(&lock);
	return is;
}

bool hip_graph_alloc_free(void *ptr, struct hip_stream *s, hipError_t *error)
{
	struct hip_graph_alloc *l = NULL;
	bool gone = false;

	*error = hipSuccess;
	if (!atomic_load_explicit(&count, memory_order_relaxed))
		return false;
	drv_mutex_lock(&lock);
	l = alloc_at(ptr);
	if (l && !l->used)
		*error = hipErrorInvalidValue;
	else if (l) {
		add_used(l, false);
		gone = alloc_delist(l);
	}
	drv_mutex_unlock(&lock);
	if (gone) {
		*error = s ? hip_memory_free_behind(ptr, s) : hip_memory_free_now(ptr);
		free(l);
	}
	return l;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static hipError_t check_access(const hipMemAllocNodeParams *p)
{
	if (p->accessDescCount && !p->accessDescs)
		return hipErrorInvalidValue;
	for (size_t i = 0; i < p->accessDescCount; i++)
		if (p->accessDescs[i].location.type != hipMemLocationTypeDevice ||
		    !hip_device_of(p->accessDescs[i].location.id))
			return hipErrorInvalidValue;
		else if (p->accessDescs[i].location.id != p->poolProps.location.id)
			return hipErrorNotSupported;
	return hipSuccess;
}

/* Copies the access list: in CUDA the node owns it. (CLR returns the caller's pointer.) */
static hipError_t own_access(struct hip_work *w, const hipMemAllocNodeParams *p)
{
	hipMemAccessDesc *copy = NULL;

	if (p->accessDescCount) {
		copy = calloc(p->accessDescCount, sizeof(*copy));
		if (!copy)
			return hipErrorOutOfMemory;
		memcpy(copy, p->accessDescs, p->accessDescCount * sizeof(*copy));
	}
	w->allocation.accessDescs = copy;
	return hipSuccess;
}

static hipError_t alloc_work(struct hip_work *w, hipMemAllocNodeParams *p)
{
	hipError_t r;

	if (!p || !p->bytesize || p->poolProps.allocType != hipMemAllocationTypePinned ||
	    p->poolProps.location.type != hipMemLocationTypeDevice || !hip_device_of(p->poolProps.location.id))
		return hipErrorInvalidValue;
	*w = (struct hip_work){.type = hipGraphNodeTypeMemAlloc, .allocation = *p};
	r = check_access(p);
	if (!r)
		r = own_access(w, p);
	if (r)
		return r;
	r = alloc_create(hip_device_of(p->poolProps.location.id), p->bytesize, &w->alloc);
	if (r) {
		free((void *)(uintptr_t)w->allocation.accessDescs);
		return r;
	}
	w->allocation.dptr = w->alloc->ptr;
	w->device = w->alloc->device->index;
	w->life = w->alloc->life;
	return hipSuccess;
}

HIP_PUBLIC(hipGraphAddMemAllocNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t n,
	    hipMemAllocNodeParams *p),
	   (out, graph, before, n, p))
{
	struct hip_work w;
	hipError_t r;

	r = alloc_work(&w, p);
	if (!r) {
		void *ptr = w.allocation.dptr;

		r = hip_node_add(out, graph, before, n, r, &w);
		if (!r)
			p->dptr = ptr;
	}
	return r;
}

static const struct hip_work *work_of(hipGraphNode_t node, hipGraphNodeType type)
{
	const struct hip_node *n = hip_node_of(node);

	return n && n->work.type == type ? &n->work : NULL;
}

HIP_PUBLIC_ON_GRAPH(hipGraphMemAllocNodeGetParams, (hipGraphNode_t node, hipMemAllocNodeParams *p), (node, p))
{
	const struct hip_work *w;

	w = work_of(node, hipGraphNodeTypeMemAlloc);
	if (!w || !p)
		return hipErrorInvalidValue;
	*p = w->allocation;
	return hipSuccess;
}

static hipError_t free_work(struct hip_work *w, void *ptr)
{
	*w = (struct hip_work){.type = hipGraphNodeTypeMemFree, .freed = ptr};
	return hip_graph_alloc_is(ptr) ? hipSuccess : hipErrorInvalidValue;
}

HIP_PUBLIC(hipGraphAddMemFreeNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t n, void *ptr),
	   (out, graph, before, n, ptr))
{
	struct hip_work w;

	/* CLR's rule: no list without entries. */
	if (before && !n)
		return hipErrorInvalidValue;
	return hip_node_add(out, graph, before, n, free_work(&w, ptr), &w);
}

hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t n,
				     hipDeviceptr_t ptr)
{
	return hipGraphAddMemFreeNode(out, graph, before, n, ptr);
}

HIP_PUBLIC_ON_GRAPH(hipGraphMemFreeNodeGetParams, (hipGraphNode_t node, void *ptr), (node, ptr))
{
	const struct hip_work *w;

	w = work_of(node, hipGraphNodeTypeMemFree);
	if (!w || !ptr)
		return hipErrorInvalidValue;
	*(void **)ptr = w->freed;
	return hipSuccess;
}

/* --- capture ---------------------------------------------------------------------------------- */

hipError_t hip_capture_malloc(struct hip_stream *s, size_t size_B, void **out)
{
	hipMemAllocNodeParams p = {.bytesize = size_B};
	struct hip_work w;
	hipError_t r;

	*out = NULL;
	if (!size_B)
		return hipSuccess;
	p.poolProps.allocType = hipMemAllocationTypePinned;
	p.poolProps.location = (hipMemLocation){hipMemLocationTypeDevice, s->device->index};
	r = alloc_work(&w, &p);
	if (!r) {
		void *ptr = w.allocation.dptr;

		r = hip_capture_work(s, &w);
		*out = r ? NULL : ptr;
	}
	return r;
}

/* Memory that is no graph's is not freed, and the capture continues. */
hipError_t hip_capture_free(struct hip_stream *s, void *ptr)
{
	struct hip_work w;
	hipError_t r = free_work(&w, ptr);

	return r ? r : hip_capture_work(s, &w);
}

/* --- attributes of devices -------------------------------------------------------------------- */

static uint64_t *usage_attribute(struct usage *u, hipGraphMemAttributeType which)
{
	switch (which) {
	case hipGraphMemAttrUsedMemCurrent:
		return &u->used_B;
	case hipGraphMemAttrUsedMemHigh:
		return &u->used_high_B;
	case hipGraphMemAttrReservedMemCurrent:
		return &u->reserved_B;
	case hipGraphMemAttrReservedMemHigh:
		return &u->reserved_high_B;
	}
	return NULL;
}

HIP_PUBLIC(hipDeviceGetGraphMemAttribute, (int device, hipGraphMemAttributeType which, void *value),
	   (device, which, value))
{
	const uint64_t *at;

	if (!hip_device_of(device))
		return hipErrorInvalidDevice;
	at = usage_attribute(&usages[device], which);
	if (!at || !value)
		return hipErrorInvalidValue;
	drv_mutex_lock(&lock);
	*(uint64_t *)value = *at;
	drv_mutex_unlock(&lock);
	return hipSuccess;
}

HIP_PUBLIC(hipDeviceSetGraphMemAttribute, (int device, hipGraphMemAttributeType which, void *value),
	   (device, which, value))
{
	const bool used = which == hipGraphMemAttrUsedMemHigh;
	struct usage *u;

	if (!hip_device_of(device))
		return hipErrorInvalidDevice;
	/* An attribute that cannot be set is an error, whatever the value is. */
	if (!value || (!used && which != hipGraphMemAttrReservedMemHigh) || *(const uint64_t *)value)
		return hipErrorInvalidValue;
	u = &usages[device];
	drv_mutex_lock(&lock);
	if (used)
		u->used_high_B = u->used_B;
	else
		u->reserved_high_B = u->reserved_B;
	drv_mutex_unlock(&lock);
	return hipSuccess;
}

/* Memory is freed with the last graph that has it, so there is never any to release. */
HIP_PUBLIC(hipDeviceGraphMemTrim, (int device), (device))
{
	return hip_device_of(device) ? hipSuccess : hipErrorInvalidDevice;
}

/* User objects, which graphs keep alive. */
#include <limits.h>
#include <stdlib.h>

#include "api/graph/graph.h"

struct hip_object {
	uint64_t handle;
	uint64_t refs; /* guarded by `lock`; the program's and all graphs' references */
	hipHostFn_t destroy;
	void *data;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The count has 64 bits: an overflow needs 2^33 calls with the largest count. */
static void object_retain(struct hip_object *o, uint64_t count)
{
	pthread_mutex_lock(&lock);
	o->refs += count;
	pthread_mutex_unlock(&lock);
}

/* Calls the program's function without the lock. */
static hipError_t object_release(struct hip_object *o, uint64_t count)
{
	bool last;

	pthread_mutex_lock(&lock);
	if (count > o->refs) {
		pthread_mutex_unlock(&lock);
		return hipErrorInvalidValue;
	}
	o->refs -= count;
	last = !o->refs;
	pthread_mutex_unlock(&lock);
	if (last) {
		drv_handle_destroy(&hip_handles, o->handle);
		o->destroy(o->data);
		free(o);
	}
	return hipSuccess;
}

/* --- references of graphs --------------------------------------------------------------------- */

static struct hip_held **held_at(struct hip_graph *g, const struct hip_object *o)
{
	struct hip_held **at = &g->held;

	while (*at && (*at)->object != o)
		at = &(*at)->next;
	return at;
}

static hipError_t object_hold(struct hip_graph *g, struct hip_object *o, unsigned count)
{
	struct hip_held **at = held_at(g, o);

	if (!*at)
		*at = calloc(1, sizeof(**at));
	if (!*at)
		return hipErrorOutOfMemory;
	(*at)->object = o;
	(*at)->count += count;
	return hipSuccess;
}

hipError_t hip_graph_copy_objects(struct hip_graph *clone, const struct hip_graph *g)
{
	hipError_t r = hipSuccess;

	for (const struct hip_held *h = g->held; h && !r; h = h->next) {
		object_retain(h->object, h->count);
		r = object_hold(clone, h->object, h->count);
		if (r)
			(void)!object_release(h->object, h->count);
	}
	return r;
}

void hip_graph_release_objects(struct hip_graph *g)
{
	while (g->held) {
		struct hip_held *h = g->held;

		g->held = h->next;
		(void)!object_release(h->object, h->count);
		free(h);
	}
}

/* --- public functions ------------------------------------------------------------------------- */

static bool is_count(unsigned count)
{
	return count && count <= INT_MAX;
}

hipError_t hipUserObjectCreate(hipUserObject_t *out, void *data, hipHostFn_t destroy, unsigned int count,
			       unsigned int flags)
{
	struct hip_object *o;

	HIP_ENTER();
	if (!out || !destroy || !is_count(count) || flags != hipUserObjectNoDestructorSync)
		return hip_end(hipErrorInvalidValue);
	o = calloc(1, sizeof(*o));
	if (!o)
		return hip_end(hipErrorOutOfMemory);
	*o = (struct hip_object){.refs = count, .destroy = destroy, .data = data};
	if (drv_handle_create(&hip_handles, HIP_KIND(HIP_OBJECT), o, &o->handle)) {
		free(o);
		return hip_end(hipErrorOutOfMemory);
	}
	*out = (hipUserObject_t)(uintptr_t)o->handle;
	return hip_end(hipSuccess);
}

/* CLR's rule: releasing too many references, or those of a destroyed object, does nothing and returns no error. */
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned int count)
{
	struct hip_object *o;

	HIP_ENTER();
	if (!object || !is_count(count))
		return hip_end(hipErrorInvalidValue);
	o = hip_find(HIP_OBJECT, object);
	if (o)
		(void)!object_release(o, count);
	return hip_end(hipSuccess);
}

hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned int count)
{
	struct hip_object *o;

	HIP_ENTER();
	if (!object || !is_count(count))
		return hip_end(hipErrorInvalidValue);
	o = hip_find(HIP_OBJECT, object);
	if (o)
		object_retain(o, count);
	return hip_end(hipSuccess);
}

static hipError_t graph_retain(struct hip_graph *g, struct hip_object *o, unsigned count, unsigned flags)
{
	hipError_t r;

	if (!g || !o || !is_count(count) || flags & ~(unsigned)hipGraphUserObjectMove)
		return hipErrorInvalidValue;
	if (!(flags & hipGraphUserObjectMove))
		object_retain(o, count);
	r = object_hold(g, o, count);
	if (r && !(flags & hipGraphUserObjectMove))
		(void)!object_release(o, count);
	return r;
}

hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count,
				    unsigned int flags)
{
	HIP_ENTER();
	return hip_end(graph_retain(hip_graph_of(graph), hip_find(HIP_OBJECT, object), count, flags));
}

static hipError_t graph_release(struct hip_graph *g, struct hip_object *o, unsigned count)
{
	struct hip_held **at, *h;

	at = held_at(g, o);
	h = *at;
	if (!h || count > h->count)
		return hipSuccess;
	h->count -= count;
	if (!h->count) {
		*at = h->next;
		free(h);
	}
	return object_release(o, count);
}

hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count)
{
	struct hip_graph *g;
	struct hip_object *o;

	HIP_ENTER();
	g = hip_graph_of(graph);
	if (!g || !object || !is_count(count))
		return hip_end(hipErrorInvalidValue);
	o = hip_find(HIP_OBJECT, object);
	return hip_end(o ? graph_release(g, o, count) : hipSuccess);
}

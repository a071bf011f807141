/* User objects, which graphs keep alive. */
#include <limits.h>
#include <stdlib.h>

#include "drv/lock.h"
#include "api/graph/graph.h"

/* The counts have 64 bits: an overflow needs 2^33 calls with the largest count. An object whose counts are 0 has ended. */
struct hip_object {
	struct drv_retired retired; /* used when the object has ended */
	uint64_t handle;
	uint64_t own;  /* the program's references; guarded by `lock` */
	uint64_t held; /* references of all graphs; guarded by `lock` */
	hipHostFn_t destroy;
	void *data;
};
static struct drv_mutex lock = DRV_MUTEX(DRV_RANK_HIP_OBJECTS);

static void free_object(struct drv_retired *retired)
{
	free(vm_container(retired, struct hip_object, retired));
}

/* Ends the object; calls the program's function without the lock. */
static void object_end(struct hip_object *o)
{
	drv_handle_destroy(&hip_handles, o->handle);
	o->destroy(o->data);
	drv_retire(&hip_calls, &o->retired, free_object);
}

/* Takes away references of a kind: &o->own or &o->held. False, without effect: there are fewer. */
static bool object_release(struct hip_object *o, uint64_t *refs, uint64_t count)
{
	bool ok, last;

	drv_mutex_lock(&lock);
	ok = count <= *refs;
	*refs -= ok ? count : 0;
	last = ok && !o->own && !o->held;
	drv_mutex_unlock(&lock);
	if (last)
		object_end(o);
	return ok;
}

/* Adds references of the program. An object that has ended gets none. */
static void object_retain(struct hip_object *o, uint64_t count)
{
	drv_mutex_lock(&lock);
	if (o->own || o->held)
		o->own += count;
	drv_mutex_unlock(&lock);
}

/* Adds references of graphs; `move`: those are the program's until then. False, without effect: the program has fewer, or
 * the object has ended. */
static bool object_retain_held(struct hip_object *o, uint64_t count, bool move)
{
	bool ok;

	drv_mutex_lock(&lock);
	ok = move ? count <= o->own : o->own || o->held;
	if (ok) {
		o->own -= move ? count : 0;
		o->held += count;
	}
	drv_mutex_unlock(&lock);
	return ok;
}

/* --- references of graphs --------------------------------------------------------------------- */

static struct hip_held **held_at(struct hip_graph *g, const struct hip_object *o)
{
	struct hip_held **at = &g->held;

	while (*at && (*at)->object != o)
		at = &(*at)->next;
	return at;
}

/* Gives the graph references. Errors: OutOfMemory; InvalidValue, when there are fewer to move. */
static hipError_t object_hold(struct hip_graph *g, struct hip_object *o, uint64_t count, bool move)
{
	struct hip_held **at = held_at(g, o), *h = *at ? *at : calloc(1, sizeof(*h));

	if (!h)
		return hipErrorOutOfMemory;
	if (!object_retain_held(o, count, move)) {
		if (!*at)
			free(h);
		return hipErrorInvalidValue;
	}
	h->object = o;
	h->count += count;
	*at = h;
	return hipSuccess;
}

hipError_t hip_graph_copy_objects(struct hip_graph *clone, const struct hip_graph *g)
{
	hipError_t r = hipSuccess;

	for (const struct hip_held *h = g->held; h && !r; h = h->next)
		r = object_hold(clone, h->object, h->count, false);
	return r;
}

void hip_graph_release_objects(struct hip_graph *g)
{
	while (g->held) {
		struct hip_held *h = g->held;

		g->held = h->next;
		(void)object_release(h->object, &h->object->held, h->count);
		free(h);
	}
}

/* --- public functions ------------------------------------------------------------------------- */

static bool is_count(unsigned count)
{
	return count && count <= INT_MAX;
}

HIP_PUBLIC(hipUserObjectCreate,
	   (hipUserObject_t *out, void *data, hipHostFn_t destroy, unsigned int count, unsigned int flags),
	   (out, data, destroy, count, flags))
{
	struct hip_object *o;

	if (!out || !destroy || !is_count(count) || flags != hipUserObjectNoDestructorSync)
		return hipErrorInvalidValue;
	o = calloc(1, sizeof(*o));
	if (!o)
		return hipErrorOutOfMemory;
	*o = (struct hip_object){.own = count, .destroy = destroy, .data = data};
	if (drv_handle_create(&hip_handles, HIP_KIND(HIP_OBJECT), o, &o->handle)) {
		free(o);
		return hipErrorOutOfMemory;
	}
	*out = (hipUserObject_t)(uintptr_t)o->handle;
	return hipSuccess;
}

/* CLR's rule: releasing too many references, or those of a destroyed object, does nothing and returns no error. The
 * references of graphs are not the program's to release; CLR takes them, and the object, away from the graphs. */
HIP_PUBLIC(hipUserObjectRelease, (hipUserObject_t object, unsigned int count), (object, count))
{
	struct hip_object *o;

	if (!object || !is_count(count))
		return hipErrorInvalidValue;
	o = hip_find(HIP_OBJECT, object);
	if (o)
		(void)object_release(o, &o->own, count);
	return hipSuccess;
}

HIP_PUBLIC(hipUserObjectRetain, (hipUserObject_t object, unsigned int count), (object, count))
{
	struct hip_object *o;

	if (!object || !is_count(count))
		return hipErrorInvalidValue;
	o = hip_find(HIP_OBJECT, object);
	if (o)
		object_retain(o, count);
	return hipSuccess;
}

static hipError_t graph_retain(struct hip_graph *g, struct hip_object *o, unsigned count, unsigned flags)
{
	if (!g || !o || !is_count(count) || flags & ~(unsigned)hipGraphUserObjectMove)
		return hipErrorInvalidValue;
	return object_hold(g, o, count, flags & hipGraphUserObjectMove);
}

HIP_PUBLIC_ON_GRAPH(hipGraphRetainUserObject,
		    (hipGraph_t graph, hipUserObject_t object, unsigned int count, unsigned int flags),
		    (graph, object, count, flags))
{
	return graph_retain(hip_graph_of(graph), hip_find(HIP_OBJECT, object), count, flags);
}

/* False: the graph has fewer references. */
static bool graph_release_locked(struct hip_graph *g, const struct hip_object *o, unsigned count)
{
	struct hip_held **at = held_at(g, o), *h = *at;

	drv_rank_assert(DRV_RANK_HIP_GRAPHS);
	if (!h || count > h->count)
		return false;
	h->count -= count;
	if (!h->count) {
		*at = h->next;
		free(h);
	}
	return true;
}

HIP_PUBLIC(hipGraphReleaseUserObject, (hipGraph_t graph, hipUserObject_t object, unsigned int count),
	   (graph, object, count))
{
	struct hip_object *o = hip_find(HIP_OBJECT, object);
	struct hip_graph *g;
	bool released;

	if (!object || !is_count(count))
		return hipErrorInvalidValue;
	drv_mutex_lock(&hip_graphs_lock);
	g = hip_graph_of(graph);
	released = g && o && graph_release_locked(g, o, count);
	drv_mutex_unlock(&hip_graphs_lock);
	if (released)
		(void)object_release(o, &o->held, count);
	return g ? hipSuccess : hipErrorInvalidValue;
}

/* Syncobjs: payloads, points, and the ioctls but the waiting ones (syncobj_wait.c). */
#include <stdlib.h>
#include "vgpu/kernel/sync/syncobj.h"
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/sync/fence.h"

static void drop_points(struct kern_syncobj *s)
{
	for (unsigned i = 0; i < s->points; i++)
		kern_fence_put(s->point[i].fence);
	s->points = 0;
}

void kern_syncobj_put(struct kern_syncobj *s)
{
	if (!s)
		return;
	if (--s->refs) {
		if (s->refs == s->watched)
			kern_waitq_wake(&s->waitq);
		return;
	}
	drop_points(s);
	kern_fence_put(s->fence);
	kern_free(s->point);
	kern_live(KERN_SYNCOBJS, -1);
	kern_free(s);
}

static void prune_points(struct kern_syncobj *s)
{
	unsigned done = 0;

	while (done < s->points && s->point[done].fence->signalled) {
		s->reached = s->point[done].value;
		kern_fence_put(s->point[done++].fence);
	}
	if (!done)
		return;
	memmove(s->point, s->point + done, (s->points - done) * sizeof(s->point[0]));
	kern_list_step(); /* none is lost: some may be there twice */
	s->points -= done;
}

int kern_syncobj_reserve(struct kern_syncobj *s)
{
	prune_points(s);
	return kern_reserve(&s->point, s->points, &s->room, sizeof(s->point[0]));
}

static void add_point(struct kern_syncobj *s, uint64_t value, struct kern_fence *f)
{
	struct kern_fence *chain;

	if (kern_syncobj_reserve(s) || !(chain = kern_fence_chain(s->fence, f))) {
		vgpu_log("no memory for a timeline point: the syncobj keeps its last one");
		return;
	}
	if (!s->timeline)
		s->last = s->reached = 0;
	s->timeline = true;
	if (value <= s->last)
		vgpu_log("timeline point %llu added after %llu", (unsigned long long)value,
			 (unsigned long long)s->last);
	s->last = value > s->last ? value : s->last;
	s->point[s->points] = (struct kern_point){s->last, chain};
	kern_list_step(); /* the count grows after the element is stored: repair.c relies on it */
	s->points++;
	kern_fence_put(s->fence);
	s->fence = kern_fence_get(chain);
}

void kern_syncobj_attach(struct kern_syncobj *s, uint64_t point, struct kern_fence *f)
{
	if (point) {
		add_point(s, point, f);
	} else {
		kern_fence_get(f);
		drop_points(s);
		kern_fence_put(s->fence);
		s->fence = f;
		s->timeline = false;
		s->last = s->reached = 0;
	}
	kern_waitq_wake(&s->waitq);
}

void kern_syncobj_add_update(struct kern_syncobj *s, uint64_t point, const struct kern_vm *vm)
{
	s->shown[s->shown_count++ % KERN_SHOWN_MAX] = (struct kern_shown){point, vm->id, vm->version};
}

void kern_syncobj_shows(const struct kern_syncobj *s, uint64_t point, struct kern_vm *vm)
{
	for (unsigned i = 0; i < s->shown_count && i < KERN_SHOWN_MAX; i++) {
		const struct kern_shown *shown = &s->shown[i];

		if (shown->vm == vm->id && (!point || shown->point <= point) && vm->landed < shown->version)
			vm->landed = shown->version;
	}
}

/* Index of the first point of that value or above; values rise. */
static unsigned point_from(const struct kern_syncobj *s, uint64_t value)
{
	unsigned lo = 0, hi = s->points;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (s->point[mid].value < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* *f is counted, NULL when the point is not there yet. */
static int find_point(struct kern_syncobj *s, uint64_t point, struct kern_fence **f)
{
	unsigned i;

	*f = NULL;
	if (!s->fence)
		return 0;
	if (!point) {
		*f = kern_fence_get(s->fence);
		return 0;
	}
	if (!s->timeline || s->last < point)
		return 0;
	prune_points(s);
	if (s->reached >= point) {
		*f = kern_fence_stub();
		return *f ? 0 : -ENOMEM;
	}
	i = point_from(s, point);
	if (i < s->points)
		*f = kern_fence_get(s->point[i].fence);
	return 0;
}

struct kern_fence *kern_syncobj_peek(struct kern_syncobj *s, uint64_t point)
{
	struct kern_fence *f;

	find_point(s, point, &f);
	return f;
}

static int wait_for_submit(struct kern_syncobj *s, uint64_t point, int64_t deadline_ns, struct kern_fence **f)
{
	struct kern_wait *w = kern_wait_begin(1);
	int r = w ? 0 : -ENOMEM;

	while (!r && !*f) {
		kern_wait_on(w, &s->waitq);
		r = kern_wait_sleep(w, deadline_ns);
		if (!r || r == -ETIME) {
			int found = find_point(s, point, f);

			r = *f ? 0 : found ? found : r;
		}
	}
	kern_wait_end(w);
	return r;
}

int kern_syncobj_find_fence(struct kern_file *file, uint32_t handle, uint64_t point, uint32_t flags,
			    int64_t deadline_ns, struct kern_fence **fence)
{
	struct kern_syncobj *s = kern_syncobj_find(file, handle);
	int r;

	if (!s)
		return -ENOENT;
	if (flags & ~(uint32_t)DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT &&
	    kern_profile_of(file->dev)->checks_find_flags)
		return -EINVAL;
	r = find_point(s, point, fence);
	if (r || *fence)
		return r;
	if (!(flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT))
		return -EINVAL;
	kern_call_current()->syncobj = kern_syncobj_get(s);
	r = wait_for_submit(s, point, deadline_ns, fence);
	kern_call_current()->syncobj = NULL;
	kern_syncobj_put(s);
	return r;
}

/* --- create and destroy --- */

static struct kern_syncobj *syncobj_new(struct kern_fence *fence)
{
	struct kern_syncobj *s = kern_alloc(sizeof(*s));

	if (!s)
		return NULL;
	s->refs = 1;
	s->fence = kern_fence_get(fence);
	kern_waitq_init(&s->waitq);
	kern_live(KERN_SYNCOBJS, 1);
	return s;
}

int kern_syncobj_create(struct kern_file *file, struct kern_fence *fence, uint32_t *handle)
{
	struct kern_syncobj *s = syncobj_new(fence);
	int r;

	if (!s)
		return -ENOMEM;
	*handle = kern_idr_add(&file->syncobjs, s, &r);
	if (r)
		kern_syncobj_put(s);
	return r;
}

int kern_syncobj_create_ioctl(struct kern_file *file, void *arg)
{
	struct drm_syncobj_create *args = arg;
	struct kern_fence *stub = NULL;
	int r;

	if (args->flags & ~DRM_SYNCOBJ_CREATE_SIGNALED)
		return -EINVAL;
	if (args->flags & DRM_SYNCOBJ_CREATE_SIGNALED) {
		stub = kern_fence_stub();
		if (!stub)
			return -ENOMEM;
	}
	r = kern_syncobj_create(file, stub, &args->handle);
	kern_fence_put(stub);
	return r;
}

int kern_syncobj_destroy_ioctl(struct kern_file *file, void *arg)
{
	struct drm_syncobj_destroy *args = arg;
	struct kern_syncobj *s;

	if (args->pad)
		return -EINVAL;
	s = kern_idr_remove(&file->syncobjs, args->handle);
	kern_syncobj_put(s);
	return s ? 0 : -EINVAL;
}

/* --- descriptors --- */

/* --- arrays of handles --- */

struct array {
	struct kern_syncobj **syncobj; /* counted */
	uint64_t *point;
	uint32_t count;
};

static void array_fini(struct array *a)
{
	for (uint32_t i = 0; a->syncobj && i < a->count; i++)
		kern_syncobj_put(a->syncobj[i]);
	free(a->syncobj);
	free(a->point);
}

/* Reads count handles and finds their syncobjs, and reads points if there are any. */
static int array_init(struct kern_file *file, uint64_t handles, uint64_t points, uint32_t count, struct array *a)
{
	uint32_t *handle;
	int r = -ENOMEM;

	if (count > KERN_KMALLOC_MAX_B / sizeof(*a->syncobj))
		return -ENOMEM;
	handle = malloc(count * sizeof(*handle));
	*a = (struct array){calloc(count, sizeof(*a->syncobj)), calloc(count, sizeof(*a->point)), count};
	if (handle && a->syncobj && a->point)
		r = kern_copy_in(handle, handles, count * sizeof(*handle));
	if (!r && points)
		r = kern_copy_in(a->point, points, count * sizeof(*a->point));
	for (uint32_t i = 0; !r && i < count; i++) {
		struct kern_syncobj *s = kern_syncobj_find(file, handle[i]);

		if (s)
			a->syncobj[i] = kern_syncobj_get(s);
		else
			r = -ENOENT;
	}
	free(handle);
	if (r)
		array_fini(a);
	return r;
}

int kern_syncobj_reset_ioctl(struct kern_file *file, void *arg)
{
	const struct drm_syncobj_array *args = arg;
	struct array a;
	int r = args->pad || !args->count_handles ? -EINVAL : 0;

	if (!r)
		r = array_init(file, args->handles, 0, args->count_handles, &a);
	if (r)
		return r;
	for (uint32_t i = 0; i < a.count; i++)
		kern_syncobj_attach(a.syncobj[i], 0, NULL);
	array_fini(&a);
	return 0;
}

static int signal_all(struct array *a)
{
	struct kern_fence *stub = kern_fence_stub();

	for (uint32_t i = 0; stub && i < a->count; i++)
		kern_syncobj_attach(a->syncobj[i], a->point[i], stub);
	kern_fence_put(stub);
	array_fini(a);
	return stub ? 0 : -ENOMEM;
}

int kern_syncobj_signal_ioctl(struct kern_file *file, void *arg)
{
	const struct drm_syncobj_array *args = arg;
	struct array a;
	int r = args->pad || !args->count_handles ? -EINVAL : 0;

	if (!r)
		r = array_init(file, args->handles, 0, args->count_handles, &a);
	return r ? r : signal_all(&a);
}

int kern_syncobj_timeline_signal_ioctl(struct kern_file *file, void *arg)
{
	const struct drm_syncobj_timeline_array *args = arg;
	struct array a;
	int r = args->flags || !args->count_handles ? -EINVAL : 0;

	if (!r)
		r = array_init(file, args->handles, args->points, args->count_handles, &a);
	return r ? r : signal_all(&a);
}

int kern_syncobj_query_ioctl(struct kern_file *file, void *arg)
{
	const struct drm_syncobj_timeline_array *args = arg;
	struct array a;
	int r = args->flags & ~DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED || !args->count_handles ? -EINVAL : 0;

	if (!r)
		r = array_init(file, args->handles, 0, args->count_handles, &a);
	if (r)
		return r;
	for (uint32_t i = 0; i < a.count; i++) {
		prune_points(a.syncobj[i]);
		a.point[i] = args->flags ? a.syncobj[i]->last : a.syncobj[i]->reached;
		if (!args->flags)
			kern_syncobj_shows(a.syncobj[i], a.point[i], file->vm);
	}
	r = kern_copy_out(args->points, a.point, a.count * sizeof(*a.point));
	array_fini(&a);
	return r;
}

int kern_syncobj_transfer_ioctl(struct kern_file *file, void *arg)
{
	const struct drm_syncobj_transfer *args = arg;
	struct kern_syncobj *dst = kern_syncobj_find(file, args->dst_handle);
	struct kern_fence *f;
	int r;

	if (args->pad)
		return -EINVAL;
	if (!dst)
		return -ENOENT;
	kern_call_current()->into = kern_syncobj_get(dst);
	r = kern_syncobj_find_fence(file, args->src_handle, args->src_point, args->flags,
				    sys_now_ns() + 5000000000ll, &f);
	if (!r) {
		kern_syncobj_attach(dst, args->dst_point, f);
		kern_fence_put(f);
	}
	kern_call_current()->into = NULL;
	kern_syncobj_put(dst);
	return r;
}

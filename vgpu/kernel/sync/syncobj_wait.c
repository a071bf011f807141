/* Waiting for syncobjs: for a payload to appear, and for it to be signalled. */
#include <stdlib.h>
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/jiffies.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

struct wait_args {
	uint64_t handles, points;
	uint32_t count, flags;
	int64_t deadline_ns;
};

#define SUBMIT_FLAGS (DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE)

void kern_waiting_free(struct kern_waiting *w, uint32_t count)
{
	for (uint32_t i = 0; w && i < count; i++) {
		kern_syncobj_put(w[i].syncobj);
		kern_fence_put(w[i].fence);
	}
	kern_free(w);
}

/* Linux's struct syncobj_wait_entry. */
#define WAIT_ENTRY_B 64u

static int waiting_read(struct kern_file *file, const struct wait_args *args, struct kern_waiting **out)
{
	uint32_t *handle;
	uint64_t *point;
	struct kern_waiting *w;
	int r;

	if (args->count > KERN_KMALLOC_MAX_B / WAIT_ENTRY_B)
		return -ENOMEM;
	handle = malloc(args->count * sizeof(*handle));
	point = calloc(args->count, sizeof(*point));
	w = kern_alloc(args->count * sizeof(*w));
	r = handle && point && w ? kern_copy_in(handle, args->handles, args->count * sizeof(*handle)) : -ENOMEM;

	if (!r && args->points)
		r = kern_copy_in(point, args->points, args->count * sizeof(*point));
	for (uint32_t i = 0; !r && i < args->count; i++) {
		w[i].syncobj = kern_syncobj_find(file, handle[i]);
		w[i].point = point[i];
		if (w[i].syncobj)
			kern_syncobj_get(w[i].syncobj);
		else
			r = -ENOENT;
	}
	free(handle);
	free(point);
	if (r)
		kern_waiting_free(w, args->count);
	*out = w;
	return r;
}

/* Is entry w done? Finds its fence when it has none yet. */
static bool check_entries(struct kern_waiting *w, uint32_t flags)
{
	if (!w->fence)
		w->fence = kern_syncobj_peek(w->syncobj, w->point);
	return w->fence && ((flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE) || w->fence->signalled);
}

static bool all_or_any(struct kern_waiting *w, const struct wait_args *args, uint32_t *first)
{
	bool all = args->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;

	for (uint32_t i = 0; i < args->count; i++) {
		bool done = check_entries(&w[i], args->flags);

		if (done && !all)
			*first = i;
		if (done != all)
			return done;
	}
	return all;
}

static int sleep_on(struct kern_waiting *w, const struct wait_args *args, uint32_t *first)
{
	struct kern_wait *wait = kern_wait_begin(args->count);
	int r = wait ? 0 : -ENOMEM;

	while (!r && !all_or_any(w, args, first)) {
		for (uint32_t i = 0; i < args->count; i++)
			if (!w[i].fence)
				kern_wait_on(wait, &w[i].syncobj->waitq);
			else if (!w[i].fence->signalled)
				kern_wait_on(wait, &w[i].fence->waitq);
		r = kern_wait_sleep(wait, args->deadline_ns);
	}
	if (r == -ETIME && all_or_any(w, args, first))
		r = 0;
	kern_wait_end(wait);
	return r;
}

static int do_wait(struct kern_file *file, const struct wait_args *args, uint32_t *first)
{
	struct kern_waiting *w;
	int r;

	if (!args->count)
		return 0;
	r = waiting_read(file, args, &w);
	if (r)
		return r;
	kern_call_current()->waiting_count = args->count;
	kern_call_current()->waiting = w;
	for (uint32_t i = 0; !r && i < args->count; i++) {
		check_entries(&w[i], args->flags);
		if (!w[i].fence && !(args->flags & SUBMIT_FLAGS))
			r = -EINVAL;
	}
	if (!r && !all_or_any(w, args, first))
		r = args->deadline_ns <= sys_now_ns() ? -ETIME : sleep_on(w, args, first);
	for (uint32_t i = 0; !r && i < args->count; i++)
		if (w[i].fence && w[i].fence->signalled)
			kern_syncobj_shows(w[i].syncobj, w[i].point, file->vm);
	kern_call_current()->waiting = NULL;
	kern_waiting_free(w, args->count);
	return r;
}

int kern_syncobj_wait_ioctl(struct kern_file *file, void *arg)
{
	struct uapi_syncobj_wait *args = arg;
	struct wait_args wait = {args->handles, 0, args->count, args->flags,
				 kern_syncobj_deadline(file->dev, args->timeout_ns)};

	if (args->flags & ~(uint32_t)(DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
				      UAPI_SYNCOBJ_WAIT_DEADLINE))
		return -EINVAL;
	return do_wait(file, &wait, &args->first_signaled);
}

int kern_syncobj_timeline_wait_ioctl(struct kern_file *file, void *arg)
{
	struct uapi_syncobj_timeline_wait *args = arg;
	struct wait_args wait = {args->handles, args->points, args->count, args->flags,
				 kern_syncobj_deadline(file->dev, args->timeout_ns)};

	if (args->flags & ~(uint32_t)(DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | SUBMIT_FLAGS | UAPI_SYNCOBJ_WAIT_DEADLINE))
		return -EINVAL;
	return do_wait(file, &wait, &args->first_signaled);
}

/* DRM syncobjs: fences for jobs of other devices, processes and drivers. */
#include "cs/internal.h"

#include <errno.h>

static int sync_ioctl(const struct cs_syncobj *sync, unsigned long request, void *args, const char *what)
{
	int r = drv_ioctl(vm_device(sync->vm), request, args);

	return r ? drv_fail(r, "%s of syncobj %u", what, sync->handle) : 0;
}

int cs_syncobj_init(struct vm *vm, bool signaled, struct cs_syncobj *sync)
{
	struct drm_syncobj_create args = {.flags = signaled ? DRM_SYNCOBJ_CREATE_SIGNALED : 0};
	int r = drv_ioctl(vm_device(vm), DRM_IOCTL_SYNCOBJ_CREATE, &args);

	if (r)
		return drv_fail(r, "SYNCOBJ_CREATE");
	*sync = (struct cs_syncobj){.vm = vm, .handle = args.handle};
	return 0;
}

void cs_syncobj_fini(struct cs_syncobj *sync)
{
	struct drm_syncobj_destroy args = {.handle = sync->handle};

	/* Destroying fails only when the device is gone, and the object with it. */
	if (sync->handle)
		(void)!drv_ioctl(vm_device(sync->vm), DRM_IOCTL_SYNCOBJ_DESTROY, &args);
	*sync = (struct cs_syncobj){0};
}

int cs_syncobj_signal(const struct cs_syncobj *sync, uint64_t value)
{
	struct drm_syncobj_array binary = {.handles = (uintptr_t)&sync->handle, .count_handles = 1};
	struct drm_syncobj_timeline_array timeline = {
		.handles = (uintptr_t)&sync->handle, .points = (uintptr_t)&value, .count_handles = 1};

	return value ? sync_ioctl(sync, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &timeline, "SYNCOBJ_TIMELINE_SIGNAL")
		     : sync_ioctl(sync, DRM_IOCTL_SYNCOBJ_SIGNAL, &binary, "SYNCOBJ_SIGNAL");
}

int cs_syncobj_reset(const struct cs_syncobj *sync)
{
	struct drm_syncobj_array args = {.handles = (uintptr_t)&sync->handle, .count_handles = 1};

	return sync_ioctl(sync, DRM_IOCTL_SYNCOBJ_RESET, &args, "SYNCOBJ_RESET");
}

/* Waits for a point. The binary wait ioctl has no points; a timeline wait for point 0 is the binary wait. */
static int syncobj_wait(const struct cs_syncobj *sync, uint64_t value, int64_t deadline_ns, uint32_t flags)
{
	struct drm_syncobj_timeline_wait args = {
		.handles = (uintptr_t)&sync->handle,
		.points = (uintptr_t)&value,
		.timeout_nsec = deadline_ns,
		.count_handles = 1,
		.flags = flags,
	};

	return drv_ioctl(vm_device(sync->vm), DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);
}

int cs_syncobj_sleep(const struct cs_syncobj *sync, uint64_t deadline_ns)
{
	int r = syncobj_wait(sync, 0, (int64_t)deadline_ns, 0);

	return r == -ETIME ? -ETIMEDOUT : r;
}

bool cs_syncobj_available(const struct cs_syncobj *sync, uint64_t value)
{
	return !syncobj_wait(sync, value, 0,
			     DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE);
}

int cs_syncobj_wait(const struct cs_syncobj *sync, uint64_t value, int64_t timeout_ns)
{
	int r = syncobj_wait(sync, value, (int64_t)cs_deadline_ns(timeout_ns),
			     DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT);

	if (r == -ETIME)
		return drv_fail(-ETIMEDOUT, "syncobj %u is not at %llu yet", sync->handle,
				(unsigned long long)value);
	return r ? drv_fail(r, "SYNCOBJ_TIMELINE_WAIT for %llu of syncobj %u", (unsigned long long)value,
			    sync->handle)
		 : 0;
}

int cs_syncobj_query(const struct cs_syncobj *sync, uint64_t *value)
{
	uint64_t point = 0;
	struct drm_syncobj_timeline_array args = {
		.handles = (uintptr_t)&sync->handle, .points = (uintptr_t)&point, .count_handles = 1};
	int r = sync_ioctl(sync, DRM_IOCTL_SYNCOBJ_QUERY, &args, "SYNCOBJ_QUERY");

	if (!r)
		*value = point;
	return r;
}

int cs_syncobj_export(const struct cs_syncobj *sync, bool file, int *fd)
{
	struct drm_syncobj_handle args = {
		.handle = sync->handle,
		.flags = file ? DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE : 0,
		.fd = -1,
	};
	int r = sync_ioctl(sync, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args, "SYNCOBJ_HANDLE_TO_FD");

	if (!r)
		*fd = args.fd;
	return r;
}

int cs_syncobj_import(struct vm *vm, int fd, bool file, struct cs_syncobj *sync)
{
	struct cs_syncobj made = {.vm = vm};
	struct drm_syncobj_handle args = {
		.fd = fd,
		.flags = file ? DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE : 0,
	};
	int r = 0;

	/* A sync file's fence is imported into an existing syncobj; a syncobj's descriptor gives a new handle. */
	if (file)
		r = cs_syncobj_init(vm, false, &made);
	if (r)
		return r;
	args.handle = made.handle;
	r = drv_ioctl(vm_device(vm), DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &args);
	if (r) {
		cs_syncobj_fini(&made);
		return drv_fail(r, "SYNCOBJ_FD_TO_HANDLE of descriptor %d as a %s", fd,
				file ? "sync file" : "syncobj");
	}
	made.handle = args.handle;
	*sync = made;
	return 0;
}

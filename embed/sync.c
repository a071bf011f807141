#include "embed/internal.h"

#include <errno.h>
#include <stdlib.h>

/* Gives a syncobj its public object, which takes it over; destroys the syncobj when this fails. */
static int publish(struct embed_device *device, struct cs_syncobj *made, struct tuff_sync **out)
{
	struct embed_sync *sync = malloc(sizeof(*sync));
	int r = -ENOMEM;

	if (!sync) {
		r = drv_fail(r, "no host memory for a sync");
		goto fail_sync;
	}
	*sync = (struct embed_sync){.base.device = device, .sync = *made};
	r = embed_publish(EMBED_SYNC, &sync->base);
	if (r)
		goto fail_publish;
	*out = sync->base.handle;
	return 0;

fail_publish:
	free(sync);
fail_sync:
	cs_syncobj_fini(made);
	return r;
}

int tuff_sync_create(struct tuff_device *handle, bool signaled, struct tuff_sync **out)
{
	struct embed_device *device;
	struct cs_syncobj made;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (!r && !out)
		r = drv_fail(-EINVAL, "no place for the sync");
	r = r ? r : cs_syncobj_init(device->vm, signaled, &made);
	return r ? r : publish(device, &made, out);
}

static int import(struct tuff_device *handle, int fd, bool file, struct tuff_sync **out)
{
	struct embed_device *device;
	struct cs_syncobj made;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (!r && !out)
		r = drv_fail(-EINVAL, "no place for the sync");
	r = r ? r : cs_syncobj_import(device->vm, fd, file, &made);
	return r ? r : publish(device, &made, out);
}

int tuff_sync_import(struct tuff_device *device, int fd, struct tuff_sync **sync)
{
	return import(device, fd, false, sync);
}

int tuff_sync_import_file(struct tuff_device *device, int fd, struct tuff_sync **sync)
{
	return import(device, fd, true, sync);
}

int tuff_sync_destroy(struct tuff_sync *handle)
{
	struct embed_sync *sync;
	int r = handle ? embed_get(EMBED_SYNC, handle, &sync) : 0;

	if (r || !handle)
		return r;
	embed_retire(EMBED_SYNC, &sync->base);
	cs_syncobj_fini(&sync->sync);
	free(sync);
	return 0;
}

int tuff_sync_signal(struct tuff_sync *handle, uint64_t value)
{
	struct embed_sync *sync;
	int r = embed_get(EMBED_SYNC, handle, &sync);

	return r ? r : cs_syncobj_signal(&sync->sync, value);
}

int tuff_sync_reset(struct tuff_sync *handle)
{
	struct embed_sync *sync;
	int r = embed_get(EMBED_SYNC, handle, &sync);

	return r ? r : cs_syncobj_reset(&sync->sync);
}

int tuff_sync_wait(struct tuff_sync *handle, uint64_t value, int64_t timeout_ns)
{
	struct embed_sync *sync;
	int r = embed_get(EMBED_SYNC, handle, &sync);

	return r ? r : cs_syncobj_wait(&sync->sync, value, timeout_ns);
}

int tuff_sync_query(struct tuff_sync *handle, uint64_t *value)
{
	struct embed_sync *sync;
	int r = embed_get(EMBED_SYNC, handle, &sync);

	if (!r && !value)
		r = drv_fail(-EINVAL, "no place for the value");
	return r ? r : cs_syncobj_query(&sync->sync, value);
}

static int export(struct tuff_sync *handle, bool file, int *fd)
{
	struct embed_sync *sync;
	int r = embed_get(EMBED_SYNC, handle, &sync);

	if (!r && !fd)
		r = drv_fail(-EINVAL, "no place for the descriptor");
	return r ? r : cs_syncobj_export(&sync->sync, file, fd);
}

int tuff_sync_export(struct tuff_sync *sync, int *fd)
{
	return export(sync, false, fd);
}

int tuff_sync_export_file(struct tuff_sync *sync, int *fd)
{
	return export(sync, true, fd);
}

/* Syncobjs and sync files as descriptors. */
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/inode.h"
#include "vgpu/kernel/sync/syncobj.h"

static int export_syncobj(struct kern_file *file, struct uapi_syncobj_handle *args)
{
	struct kern_syncobj *s = kern_syncobj_find(file, args->handle);

	if (!s)
		return -EINVAL;
	return kern_fd_create(KERN_INODE_SYNCOBJ, kern_syncobj_get(s), 0, true, &args->fd);
}

static int export_sync_file(struct kern_file *file, struct uapi_syncobj_handle *args, uint64_t point)
{
	struct kern_fence *f;
	int r = kern_syncobj_find_fence(file, args->handle, point, 0, 0, &f);

	return r ? r : kern_fd_create(KERN_INODE_SYNC_FILE, f, 0, true, &args->fd);
}

/* Decodes a call: *point is the point of a sync file (0: the payload). -EINVAL when there is no such call. */
static int read_wish(const struct kern_file *file, const struct uapi_syncobj_handle *args, uint64_t *point)
{
	bool points = kern_profile_of(file->dev)->sync_file_points;
	uint32_t known = UAPI_SYNCOBJ_SYNC_FILE | (points ? UAPI_SYNCOBJ_TIMELINE : 0);

	if (args->pad || (args->flags & ~known))
		return -EINVAL;
	*point = args->flags & UAPI_SYNCOBJ_TIMELINE ? args->point : 0;
	return points && args->point && !(args->flags & UAPI_SYNCOBJ_SYNC_FILE) ? -EINVAL : 0;
}

int kern_syncobj_to_fd_ioctl(struct kern_file *file, void *arg)
{
	struct uapi_syncobj_handle *args = arg;
	uint64_t point;
	int r = read_wish(file, args, &point);

	if (r)
		return r;
	return args->flags & UAPI_SYNCOBJ_SYNC_FILE ? export_sync_file(file, args, point)
						    : export_syncobj(file, args);
}

static int import_sync_file(struct kern_file *file, const struct uapi_syncobj_handle *args, uint64_t point,
			    struct kern_inode *inode)
{
	struct kern_syncobj *s;

	if (!inode || inode->kind != KERN_INODE_SYNC_FILE)
		return -EINVAL;
	s = kern_syncobj_find(file, args->handle);
	if (!s)
		return -ENOENT;
	kern_syncobj_attach(s, point, inode->object);
	return 0;
}

int kern_syncobj_from_fd_ioctl(struct kern_file *file, void *arg)
{
	struct uapi_syncobj_handle *args = arg;
	struct kern_inode *inode;
	uint64_t point;
	int r = read_wish(file, args, &point);

	if (r)
		return r;
	inode = kern_inode_of_fd(args->fd);
	if (args->flags & UAPI_SYNCOBJ_SYNC_FILE)
		return import_sync_file(file, args, point, inode);
	if (!inode || inode->kind != KERN_INODE_SYNCOBJ)
		return -EINVAL;
	args->handle = kern_idr_add(&file->syncobjs, inode->object, &r);
	if (!r)
		kern_syncobj_get(inode->object);
	return r;
}

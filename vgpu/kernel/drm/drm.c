#include <stdio.h>
#include "vgpu/kernel/drm/drm.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/kernel.h"

/* Copies as much of text as fits, and returns its whole length: libdrm calls twice. */
static int copy_text(char *to, __kernel_size_t *room, const char *text)
{
	size_t length = strlen(text), copied = *room < length ? *room : length;

	*room = length;
	return copied && to ? kern_copy_out((uintptr_t)to, text, copied) : 0;
}

int kern_version_ioctl(struct kern_file *file, void *arg)
{
	struct drm_version *args = arg;
	int r;

	args->version_major = KERN_DRM_MAJOR;
	args->version_minor = (int)kern_profile_of(file->dev)->drm_minor;
	args->version_patchlevel = 0;
	r = copy_text(args->name, &args->name_len, "amdgpu");
	if (!r)
		r = copy_text(args->date, &args->date_len, "20150101");
	if (!r)
		r = copy_text(args->desc, &args->desc_len, "AMD GPU");
	return r;
}

int kern_get_unique_ioctl(struct kern_file *file, void *arg)
{
	struct drm_unique *args = arg;
	char name[32];

	snprintf(name, sizeof(name), "pci:0000:%02x:00.0", 3 + file->dev->index);
	return copy_text(args->unique, &args->unique_len, name);
}

/* --- authentication: of primary nodes only --- */

int kern_get_magic_ioctl(struct kern_file *file, void *arg)
{
	struct drm_auth *args = arg;

	if (!file->magic)
		file->magic = (uint32_t)++kern->next_id;
	args->magic = file->magic;
	return 0;
}

int kern_auth_magic_ioctl(struct kern_file *file, void *arg)
{
	const struct drm_auth *args = arg;

	(void)file;
	for (unsigned i = 0; i < KERN_HASH; i++)
		for (struct kern_list *pos = kern->inode_hash[i].next; pos != &kern->inode_hash[i];
		     pos = pos->next) {
			struct kern_inode *inode = kern_entry(pos, struct kern_inode, hash);
			struct kern_file *other = inode->object;

			if (inode->kind == KERN_INODE_FILE && args->magic && other->magic == args->magic) {
				other->authenticated = true;
				return 0;
			}
		}
	return -EINVAL;
}

int kern_get_client_ioctl(struct kern_file *file, void *arg)
{
	struct drm_client *args = arg;

	if (args->idx)
		return -EINVAL;
	args->auth = file->authenticated;
	args->pid = (unsigned long)kern_local.pid;
	args->uid = getuid();
	args->magic = 0;
	args->iocs = 0;
	return 0;
}

int kern_set_master_ioctl(struct kern_file *file, void *arg)
{
	(void)arg;
	if (file->dev->master && file->dev->master != file)
		return -EBUSY;
	file->dev->master = file;
	file->authenticated = true;
	return 0;
}

int kern_drop_master_ioctl(struct kern_file *file, void *arg)
{
	(void)arg;
	if (file->dev->master != file)
		return -EINVAL;
	file->dev->master = NULL;
	return 0;
}

/* --- capabilities --- */

int kern_get_cap_ioctl(struct kern_file *file, void *arg)
{
	struct drm_get_cap *args = arg;
	uint64_t cap = args->capability;

	(void)file;
	args->value = 0;
	switch (cap) {
	case DRM_CAP_TIMESTAMP_MONOTONIC:
	case DRM_CAP_SYNCOBJ:
	case DRM_CAP_SYNCOBJ_TIMELINE:
		args->value = 1;
		return 0;
	case DRM_CAP_PRIME:
		args->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
		return 0;
	case DRM_CAP_DUMB_BUFFER:
	case DRM_CAP_VBLANK_HIGH_CRTC:
	case DRM_CAP_DUMB_PREFERRED_DEPTH:
	case DRM_CAP_DUMB_PREFER_SHADOW:
	case DRM_CAP_ASYNC_PAGE_FLIP:
	case DRM_CAP_CURSOR_WIDTH:
	case DRM_CAP_CURSOR_HEIGHT:
	case DRM_CAP_ADDFB2_MODIFIERS:
	case DRM_CAP_PAGE_FLIP_TARGET:
	case DRM_CAP_CRTC_IN_VBLANK_EVENT:
		return -EOPNOTSUPP; /* the capability of a display engine, which this card lacks */
	default:
		return -EINVAL;
	}
}

int kern_set_client_cap_ioctl(struct kern_file *file, void *arg)
{
	(void)file;
	(void)arg;
	return -EOPNOTSUPP;
}

int kern_set_version_ioctl(struct kern_file *file, void *arg)
{
	struct drm_set_version *args = arg;
	int r = 0;

	if (file->dev->master != file)
		return -EACCES;
	if (args->drm_di_major != -1 &&
	    (args->drm_di_major != 1 || args->drm_di_minor < 0 || args->drm_di_minor > 4))
		r = -EINVAL;
	if (args->drm_dd_major != -1 && args->drm_dd_major != KERN_DRM_MAJOR)
		r = -EINVAL;
	*args = (struct drm_set_version){1, 4, KERN_DRM_MAJOR, (int)kern_profile_of(file->dev)->drm_minor};
	return r;
}

int kern_no_modeset_ioctl(struct kern_file *file, void *arg)
{
	(void)file;
	(void)arg;
	return -EOPNOTSUPP;
}

/* --- global names --- */

int kern_flink_ioctl(struct kern_file *file, void *arg)
{
	struct drm_gem_flink *args = arg;
	struct kern_handle *handle = kern_handle_find(file, args->handle);

	if (!handle)
		return -ENOENT;
	handle->bo->named = true;
	args->name = handle->bo->id;
	return 0;
}

static struct kern_bo *bo_named(const struct kern_device *dev, uint32_t name)
{
	for (unsigned i = 0; i < KERN_HASH; i++)
		for (struct kern_list *pos = kern->mmap_hash[i].next; pos != &kern->mmap_hash[i]; pos = pos->next) {
			struct kern_bo *bo = kern_entry(pos, struct kern_bo, hash);

			if (bo->named && bo->id == name && bo->dev == dev)
				return bo;
		}
	return NULL;
}

int kern_gem_open_ioctl(struct kern_file *file, void *arg)
{
	struct drm_gem_open *args = arg;
	struct kern_bo *bo = bo_named(file->dev, args->name);
	int r;

	if (!bo)
		return -ENOENT;
	if (bo->vm && bo->vm != file->vm)
		return -EPERM;
	r = kern_handle_create(file, bo, &args->handle);
	args->size = bo->size_B;
	return r;
}

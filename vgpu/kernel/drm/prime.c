/* PRIME: buffers between files, devices and processes. */
#include "vgpu/kernel/drm/prime.h"
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/drm/inode.h"
#include "vgpu/kernel/drm/proc.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/gem/memory.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

/* Another descriptor for a dma-buf that exists, so that both have one inode number, as in the kernel. Without one
 * in this process to copy, -ENOENT. */
static int export_again(struct kern_inode *inode, bool cloexec, int *fd)
{
	int have = kern_fd_find(inode);
	struct kern_hold *hold;
	int r;

	if (have < 0)
		return -ENOENT;
	r = (int)sys_call6(SYS_fcntl, have, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, 0, 0, 0, 0);
	if (r < 0)
		return r;
	hold = kern_hold_inode(inode);
	if (!hold) {
		sys_close(r);
		return -ENOMEM;
	}
	*fd = r;
	kern_fd_opened(r, hold);
	return 0;
}

int kern_prime_to_fd(struct kern_file *file, void *arg)
{
	struct drm_prime_handle *args = arg;
	struct kern_handle *handle;
	struct kern_bo *bo;
	int r;

	if (args->flags & ~(uint32_t)(DRM_CLOEXEC | DRM_RDWR))
		return -EINVAL;
	handle = kern_handle_must(file, args->handle, "PRIME_HANDLE_TO_FD");
	if (!handle)
		return -ENOENT;
	bo = handle->bo->foreign ? handle->bo->foreign : handle->bo; /* an import exports what it was made from */
	if (kern_bo_is_userptr(bo) || bo->vm)
		return -EPERM;
	if (bo->dmabuf) {
		r = export_again(bo->dmabuf, args->flags & DRM_CLOEXEC, &args->fd);
		if (r != -ENOENT)
			return r;
	}
	bo->shared = true;
	return kern_fd_create(KERN_INODE_DMABUF, kern_bo_get(bo), bo->size_B, args->flags & DRM_CLOEXEC, &args->fd);
}

/* Imports a buffer of another device, as system memory. Nothing moves yet: the attachment is dynamic, and mapped
 * when a job first lists the buffer. */
static int import_foreign(struct kern_file *file, struct kern_bo *exported, struct kern_bo **out)
{
	const uint64_t inherited = AMDGPU_GEM_CREATE_CPU_GTT_USWC | AMDGPU_GEM_CREATE_COHERENT |
				   AMDGPU_GEM_CREATE_EXT_COHERENT | AMDGPU_GEM_CREATE_UNCACHED;
	struct kern_bo *bo = kern_bo_create(file->dev, exported->size_B);

	if (!bo)
		return -ENOMEM;
	bo->foreign = kern_bo_get(exported);
	if (exported->block)
		kern_bo_take_offsets(bo);
	kern_list_add_tail(&exported->imports, &bo->import_link);
	bo->preferred = bo->allowed = AMDGPU_GEM_DOMAIN_GTT;
	bo->flags = exported->flags & inherited;
	bo->unmapped = true;
	*out = bo;
	return 0;
}

/* This file's handle for the exporter's buffer itself, or for an import of it. */
static struct kern_handle *known_handle(struct kern_file *file, struct kern_bo *exported)
{
	if (exported->dev == file->dev)
		return kern_handle_of(file, exported);
	for (uint32_t id = 1; id < file->handles.room; id++) {
		struct kern_handle *handle = kern_handle_find(file, id);

		if (handle && handle->bo->foreign == exported)
			return handle;
	}
	return NULL;
}

int kern_prime_from_fd(struct kern_file *file, void *arg)
{
	struct drm_prime_handle *args = arg;
	struct kern_inode *inode;
	struct kern_handle *handle;
	struct kern_bo *bo;
	struct stat st;
	int r = sys_fstat(args->fd, &st);

	if (r)
		return r;
	inode = kern_inode_find(st.st_dev, st.st_ino);
	if (!inode || inode->kind != KERN_INODE_DMABUF)
		return -EINVAL;
	bo = inode->object;
	handle = known_handle(file, bo);
	if (handle) {
		if (handle->imported)
			vgpu_log("row 35: BO %u is imported again as handle %u: one GEM_CLOSE ends it", bo->id,
				 handle->id);
		handle->imported = true;
		args->handle = handle->id;
		return 0;
	}
	r = bo->dev == file->dev ? 0 : import_foreign(file, bo, &bo);
	if (r)
		return r;
	r = kern_handle_create(file, bo, &args->handle);
	if (bo != inode->object)
		kern_call_put_bo(bo);
	if (!r)
		kern_handle_find(file, args->handle)->imported = true;
	return r;
}

#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include "vgpu/kernel/drm/sync_file.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/drm/inode.h"
#include "vgpu/kernel/drm/proc.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/hold.h"
#include "vgpu/kernel/sync/fence.h"

/* --- dma-bufs --- */

/* Starting CPU access waits for the device's work on the buffer. */
static int dmabuf_sync(struct kern_bo *bo, uint64_t user)
{
	struct dma_buf_sync args;
	struct kern_hold *hold;
	int r = kern_copy_in(&args, user, sizeof(args));

	if (r)
		return r;
	if ((args.flags & ~(uint64_t)DMA_BUF_SYNC_VALID_FLAGS_MASK) || !(args.flags & DMA_BUF_SYNC_RW))
		return -EINVAL;
	if (args.flags & DMA_BUF_SYNC_END)
		return 0;
	hold = kern_hold_bo(bo);
	if (!hold)
		return -ENOMEM;
	r = kern_bo_wait_idle(bo, INT64_MAX);
	kern_hold_drop(hold);
	return r;
}

static int collect_fence(struct kern_fence *f, void *arg)
{
	struct kern_fence **all = arg, *chain = kern_fence_chain(*all, f);

	if (!chain)
		return -ENOMEM;
	kern_fence_put(*all);
	*all = chain;
	return 0;
}

static int dmabuf_export(struct kern_bo *bo, uint64_t user)
{
	struct dma_buf_export_sync_file args;
	struct kern_fence *all = NULL;
	int r = kern_copy_in(&args, user, sizeof(args));

	if (r)
		return r;
	if ((args.flags & ~(uint32_t)DMA_BUF_SYNC_RW) || !args.flags)
		return -EINVAL;
	r = kern_bo_fences(bo, collect_fence, &all);
	if (!r && !all && !(all = kern_fence_stub()))
		r = -ENOMEM;
	if (r) {
		kern_fence_put(all);
		return r;
	}
	r = kern_fd_create(KERN_INODE_SYNC_FILE, all, 0, true, &args.fd);
	return r ? r : kern_copy_out(user, &args, sizeof(args));
}

static int add_fence(struct kern_fence *f, void *arg)
{
	struct kern_resv *resv = arg;
	int r = f->signalled ? 0 : kern_resv_reserve(resv);

	if (!r && !f->signalled)
		kern_resv_add(resv, f);
	return r;
}

/* Adds each fence of the sync file by itself, so that implicit sync knows the VM of each job (Linux
 * dma_buf_import_sync_file). */
static int dmabuf_import(struct kern_bo *bo, uint64_t user)
{
	struct dma_buf_import_sync_file args;
	struct kern_inode *from;
	int r = kern_copy_in(&args, user, sizeof(args));

	if (r)
		return r;
	if ((args.flags & ~(uint32_t)DMA_BUF_SYNC_RW) || !args.flags)
		return -EINVAL;
	from = kern_inode_of_fd(args.fd);
	if (!from || from->kind != KERN_INODE_SYNC_FILE)
		return -EINVAL;
	return kern_fence_leaves(from->object, add_fence, &bo->resv);
}

/* --- sync files --- */

static int status_of(const struct kern_fence *f)
{
	return !f->signalled ? 0 : f->error ? f->error : 1;
}

static int sync_file_info(const struct kern_fence *f, uint64_t user)
{
	struct sync_fence_info fence = {
		.obj_name = "amdgpu",
		.driver_name = "drm_sched",
		.status = status_of(f),
		.timestamp_ns = (uint64_t)f->signalled_ns,
	};
	struct sync_file_info args;
	uint32_t room;
	int r = kern_copy_in(&args, user, sizeof(args));

	if (r)
		return r;
	if (args.flags || args.pad)
		return -EINVAL;
	room = args.num_fences;
	memset(args.name, 0, sizeof(args.name));
	memcpy(args.name, "amdgpu", 6);
	args.status = status_of(f);
	args.num_fences = 1;
	if (room)
		r = kern_copy_out(args.sync_fence_info, &fence, sizeof(fence));
	return r ? r : kern_copy_out(user, &args, sizeof(args));
}

static int sync_file_merge(struct kern_fence *f, uint64_t user)
{
	struct sync_merge_data args;
	struct kern_inode *other;
	struct kern_fence *both;
	int r = kern_copy_in(&args, user, sizeof(args));

	if (r)
		return r;
	if (args.flags || args.pad)
		return -EINVAL;
	other = kern_inode_of_fd(args.fd2);
	if (!other || other->kind != KERN_INODE_SYNC_FILE)
		return -ENOENT;
	both = kern_fence_chain(f, other->object);
	if (!both)
		return -ENOMEM;
	r = kern_fd_create(KERN_INODE_SYNC_FILE, both, 0, true, &args.fence);
	return r ? r : kern_copy_out(user, &args, sizeof(args));
}

int kern_sync_ioctl(struct kern_inode *inode, unsigned long request, void *arg)
{
	uint64_t user = (uintptr_t)arg;

	if (inode->kind == KERN_INODE_DMABUF) {
		if (request == DMA_BUF_IOCTL_SYNC)
			return dmabuf_sync(inode->object, user);
		if (request == DMA_BUF_IOCTL_EXPORT_SYNC_FILE)
			return dmabuf_export(inode->object, user);
		if (request == DMA_BUF_IOCTL_IMPORT_SYNC_FILE)
			return dmabuf_import(inode->object, user);
	} else if (inode->kind == KERN_INODE_SYNC_FILE) {
		if (request == SYNC_IOC_FILE_INFO)
			return sync_file_info(inode->object, user);
		if (request == SYNC_IOC_MERGE)
			return sync_file_merge(inode->object, user);
	}
	return -ENOTTY;
}

#include <linux/capability.h>
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/base/proc.h"
#include "vgpu/kernel/drm/watch.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sched/userq.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

int kern_file_create(struct kern_device *dev, bool primary, struct kern_file **out)
{
	struct kern_file *file;

	if (dev->unplugged)
		return -ENODEV;
	file = kern_alloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->vm = kern_vm_create(dev);
	if (!file->vm) {
		kern_free(file);
		return -ENOMEM;
	}
	file->refs = 1;
	file->dev = dev;
	file->primary = primary;
	file->opener = kern_local.serial;
	file->authenticated = kern_capable(CAP_SYS_ADMIN); /* "root is always authenticated" (drm_file_alloc()) */
	if (primary && !dev->master) {                     /* the first to open the card is its master */
		dev->master = file;
		file->authenticated = true;
	}
	kern_idr_init(&file->handles, UINT32_MAX);
	kern_idr_init(&file->contexts, 4096);
	kern_idr_init(&file->lists, UINT32_MAX);
	kern_idr_init(&file->syncobjs, UINT32_MAX);
	kern_idr_init(&file->userqs, KERN_USERQS + 1);
	kern_live(KERN_FILES, 1);
	*out = file;
	return 0;
}

static void close_contexts(struct kern_file *file)
{
	for (uint32_t id = 1; id < file->contexts.room; id++) {
		struct kern_ctx *ctx = kern_idr_remove(&file->contexts, id);

		if (ctx)
			kern_sched_ctx_closed(ctx);
		kern_ctx_put(ctx);
	}
}

/* Closes the handles that the client left open, with a finding of row 38: a program that forgets them leaks until
 * it exits. Always-valid and other buffers count alike. */
static void close_handles(struct kern_file *file)
{
	uint32_t left = file->handles.count;

	for (uint32_t id = 1; id < file->handles.room; id++) {
		struct kern_handle *handle = kern_handle_find(file, id);

		if (!handle)
			continue;
		vgpu_log("leaked handle %u: BO %u, %llu bytes", id, handle->bo->id,
			 (unsigned long long)handle->bo->size_B);
		kern_handle_close(handle);
	}
	/* GEM_CLOSE fails on a removed device: the client had no way to close them. */
	if (left && !kern_local.leaving && !file->dev->unplugged)
		vgpu_finding(CONTRACT_HANDLES_LEFT,
			     "a render node was closed with %u buffer handles open (the log lists them)", left);
}

static void close_rest(struct kern_file *file)
{
	for (uint32_t id = 1; id < file->lists.room; id++)
		kern_bo_list_put(kern_idr_remove(&file->lists, id));
	kern_bo_list_put(file->recent);
	for (uint32_t id = 1; id < file->syncobjs.room; id++)
		kern_syncobj_put(kern_idr_remove(&file->syncobjs, id));
}

void kern_file_put(struct kern_file *file)
{
	if (--file->refs)
		return;
	close_contexts(file);
	kern_userqs_close(file);
	close_handles(file);
	close_rest(file);
	kern_vm_clear(file->vm);
	kern_vm_put(file->vm);
	if (file->dev->master == file)
		file->dev->master = NULL;
	kern_idr_fini(&file->handles);
	kern_idr_fini(&file->contexts);
	kern_idr_fini(&file->lists);
	kern_idr_fini(&file->syncobjs);
	kern_idr_fini(&file->userqs);
	kern_live(KERN_FILES, -1);
	kern_free(file);
}

#include <linux/capability.h>
#include "vgpu/kernel/file.h"
#include "vgpu/kernel/bo.h"
#include "vgpu/kernel/bo_list.h"
#include "vgpu/kernel/ctx.h"
#include "vgpu/kernel/fence.h"
#include "vgpu/kernel/sched.h"
#include "vgpu/kernel/syncobj.h"
#include "vgpu/kernel/vm.h"
#include "vgpu/kernel/watch.h"

/* --- inodes --- */

static struct kern_list *inode_bucket(uint64_t ino)
{
	return &kern->inode_hash[ino % KERN_HASH];
}

/* A memfd of its own; for what is polled, a pipe. */
static int inode_fd(enum kern_inode_kind kind, void *object, uint64_t size_B, bool cloexec, int *fd)
{
	if (kind == KERN_INODE_SYNC_FILE)
		return kern_watch_pipe(object, cloexec, fd);
	*fd = sys_memfd("tuff-vgpu", cloexec ? MFD_CLOEXEC : 0);
	return *fd < 0 ? *fd : sys_ftruncate(*fd, size_B);
}

int kern_inode_create(enum kern_inode_kind kind, void *object, uint64_t size_B, bool cloexec,
		      struct kern_inode **inode)
{
	struct kern_inode *in = kern_alloc(sizeof(*in));
	int fd = -1, r = in ? inode_fd(kind, object, size_B, cloexec, &fd) : -ENOMEM;
	struct stat st;

	if (!r)
		r = sys_fstat(fd, &st);
	if (r < 0) {
		kern_free(in);
		if (fd >= 0)
			sys_close(fd);
		return r;
	}
	in->dev = st.st_dev;
	in->ino = st.st_ino;
	in->kind = kind;
	in->object = object;
	kern_list_add(inode_bucket(in->ino), &in->hash);
	*inode = in;
	return fd;
}

struct kern_inode *kern_inode_find(uint64_t dev, uint64_t ino)
{
	struct kern_list *head = inode_bucket(ino);

	for (struct kern_list *pos = head->next; pos != head; pos = pos->next) {
		struct kern_inode *in = kern_entry(pos, struct kern_inode, hash);

		if (in->ino == ino && in->dev == dev)
			return in;
	}
	return NULL;
}

struct kern_inode *kern_inode_of_fd(int fd)
{
	struct stat st;

	return sys_fstat(fd, &st) ? NULL : kern_inode_find(st.st_dev, st.st_ino);
}

void kern_inode_put(struct kern_inode *inode)
{
	struct kern_bo *bo;

	if (--inode->holds)
		return;
	kern_list_del(&inode->hash);
	switch (inode->kind) {
	case KERN_INODE_FILE:
		kern_file_put(inode->object);
		break;
	case KERN_INODE_DMABUF:
		bo = inode->object;
		if (bo->dmabuf == inode)
			bo->dmabuf = NULL;
		kern_bo_put(bo);
		break;
	case KERN_INODE_SYNCOBJ:
		kern_syncobj_put(inode->object);
		break;
	case KERN_INODE_SYNC_FILE:
		kern_fence_put(inode->object);
		break;
	}
	kern_free(inode);
}

static unsigned known_receivers(const struct kern_inode *inode)
{
	return inode->flying < KERN_RECEIVERS ? inode->flying : KERN_RECEIVERS;
}

static void landed_at(struct kern_inode *inode, unsigned i)
{
	const unsigned last = known_receivers(inode) - 1;

	inode->receiver[i] = inode->receiver[last];
	inode->receiver[last] = 0;
	inode->flying--;
	kern_inode_put(inode);
}

void kern_inode_landed(struct kern_inode *inode, pid_t receiver)
{
	const unsigned known = known_receivers(inode);
	unsigned found = known - 1;

	for (unsigned i = 0; i < known; i++)
		if (inode->receiver[i] == receiver || (!inode->receiver[i] && inode->receiver[found] != receiver))
			found = i;
	landed_at(inode, found);
}

void kern_inodes_receiver_gone(pid_t receiver)
{
	struct kern_list *pos, *tmp;

	for (unsigned n = 0; n < KERN_HASH; n++)
		kern_list_each(pos, tmp, &kern->inode_hash[n]) {
			struct kern_inode *inode = kern_entry(pos, struct kern_inode, hash);

			/* The last of its holds may go, and it with that. */
			for (unsigned i = known_receivers(inode), left = inode->holds; i-- && left;)
				if (inode->receiver[i] == receiver) {
					left = inode->holds - 1;
					landed_at(inode, i);
				}
		}
}

/* --- files --- */

/* Whether the thread has CAP_SYS_ADMIN, as capable() asks; that of a user namespace counts, which Linux would not
 * take. */
static bool is_admin(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return !sys_call6(SYS_capget, (long)&header, (long)data, 0, 0, 0, 0) &&
	       data[0].effective >> CAP_SYS_ADMIN & 1;
}

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
	file->authenticated = is_admin(); /* "root is always authenticated" (drm_file_alloc()) */
	if (primary && !dev->master) {    /* the first to open the card is its master */
		dev->master = file;
		file->authenticated = true;
	}
	kern_idr_init(&file->handles, UINT32_MAX);
	kern_idr_init(&file->contexts, 4096);
	kern_idr_init(&file->lists, UINT32_MAX);
	kern_idr_init(&file->syncobjs, UINT32_MAX);
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

/* Buffers that nobody closed are what row 38 is about: a program that forgets them leaks until it exits.
 * Always-valid and other buffers count alike. */
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
	/* GEM_CLOSE of a device that is gone fails: nobody could have closed them. */
	if (left && !kern_local.leaving && !file->dev->unplugged)
		vgpu_finding(38, "a render node was closed with %u buffer handles open (the log lists them)", left);
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
	kern_live(KERN_FILES, -1);
	kern_free(file);
}

struct kern_handle *kern_handle_must(struct kern_file *file, uint32_t id, const char *what)
{
	struct kern_handle *handle = kern_handle_find(file, id);

	if (!handle)
		vgpu_finding(25, "%s: no buffer has handle %u", what, id);
	return handle;
}

/* Inodes: creation with a descriptor, holds of processes, messages under way. */
#include "vgpu/kernel/drm/inode.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/drm/watch.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/hold.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

void (*kern_fd_opened)(int fd, struct kern_hold *hold);
int (*kern_fd_find)(const struct kern_inode *inode);

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
	kern_list_add(kern_inode_bucket(in->ino), &in->hash);
	*inode = in;
	return fd;
}

static void object_put(enum kern_inode_kind kind, void *object)
{
	if (kind == KERN_INODE_FILE)
		kern_file_put(object);
	else if (kind == KERN_INODE_DMABUF)
		kern_bo_put(object);
	else if (kind == KERN_INODE_SYNCOBJ)
		kern_syncobj_put(object);
	else
		kern_fence_put(object);
}

void kern_inode_put(struct kern_inode *inode)
{
	if (--inode->holds)
		return;
	kern_list_del(&inode->hash);
	if (inode->kind == KERN_INODE_DMABUF && ((struct kern_bo *)inode->object)->dmabuf == inode)
		((struct kern_bo *)inode->object)->dmabuf = NULL;
	object_put(inode->kind, inode->object);
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

/* --- holds --- */

struct kern_hold *kern_hold_inode(struct kern_inode *inode)
{
	struct kern_hold *hold = kern_hold_create(inode, NULL);

	if (hold)
		inode->holds++;
	return hold;
}

void kern_hold_put(struct kern_hold *hold)
{
	struct kern_inode *inode = hold ? hold->inode : NULL;

	kern_hold_drop(hold);
	if (inode)
		kern_inode_put(inode);
}

/* --- descriptors --- */

int kern_fd_create(enum kern_inode_kind kind, void *object, uint64_t size_B, bool cloexec, int *fd)
{
	struct kern_inode *inode;
	struct kern_hold *hold;
	int r = kern_inode_create(kind, object, size_B, cloexec, &inode);

	if (r < 0) {
		object_put(kind, object);
		return r;
	}
	hold = kern_hold_inode(inode);
	if (!hold) {
		inode->holds++;
		kern_inode_put(inode);
		sys_close(r);
		return -ENOMEM;
	}
	if (kind == KERN_INODE_DMABUF)
		((struct kern_bo *)object)->dmabuf = inode;
	*fd = r;
	kern_fd_opened(r, hold);
	return 0;
}

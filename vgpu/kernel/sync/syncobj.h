/* DRM syncobjs, binary and timeline. Kernel lock held. */
#ifndef VGPU_KERNEL_SYNC_SYNCOBJ_H
#define VGPU_KERNEL_SYNC_SYNCOBJ_H

#include "vgpu/kernel/base/core.h"

static inline struct kern_syncobj *kern_syncobj_get(struct kern_syncobj *s)
{
	s->refs++;
	return s;
}
void kern_syncobj_put(struct kern_syncobj *s); /* NULL is fine */
static inline struct kern_syncobj *kern_syncobj_find(struct kern_file *file, uint32_t handle)
{
	return kern_idr_find(&file->syncobjs, handle);
}
/* A new one with that payload (NULL: none), entered into file. 0, -ENOMEM, -ENOSPC. */
int kern_syncobj_create(struct kern_file *file, struct kern_fence *fence, uint32_t *handle);
/* Makes room for one more point, so that attaching rarely fails; 0 or -ENOMEM. */
int kern_syncobj_reserve(struct kern_syncobj *s);
/* point 0: f becomes the payload (NULL: none); else a point is added. */
void kern_syncobj_attach(struct kern_syncobj *s, uint64_t point, struct kern_fence *f);
/* The fence of a point (0: the payload), counted. 0; -ENOENT: no syncobj; -EINVAL: there is no fence, unless flags
 * have WAIT_FOR_SUBMIT: then it waits for one until the deadline: -ETIME, -EINTR. */
int kern_syncobj_find_fence(struct kern_file *file, uint32_t handle, uint64_t point, uint32_t flags,
			    int64_t deadline_ns, struct kern_fence **fence);

/* The point's fence is that of the VM's last update of page tables. */
void kern_syncobj_add_update(struct kern_syncobj *s, uint64_t point, const struct kern_vm *vm);
/* The client has seen that the point is reached (0: the payload), and so that the updates up to it are done. */
void kern_syncobj_shows(const struct kern_syncobj *s, uint64_t point, struct kern_vm *vm);

/* The fence of a point without waiting, counted; NULL when there is none yet. */
struct kern_fence *kern_syncobj_peek(struct kern_syncobj *s, uint64_t point);

/* Entry of a SYNCOBJ_WAIT (syncobj_wait.c). */
struct kern_waiting {
	struct kern_syncobj *syncobj; /* counted */
	uint64_t point;
	struct kern_fence *fence; /* counted; NULL until there is one */
};
/* Frees the entries of a wait. NULL is fine. */
void kern_waiting_free(struct kern_waiting *w, uint32_t count);

int kern_syncobj_create_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_destroy_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_to_fd_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_from_fd_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_wait_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_timeline_wait_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_reset_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_signal_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_timeline_signal_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_query_ioctl(struct kern_file *file, void *arg);
int kern_syncobj_transfer_ioctl(struct kern_file *file, void *arg);

#endif

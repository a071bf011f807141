/* Fences and reservation objects. All with the kernel lock held. */
#ifndef VGPU_KERNEL_SYNC_FENCE_H
#define VGPU_KERNEL_SYNC_FENCE_H

#include "vgpu/kernel/base/core.h"

/* A pending fence with one reference, or NULL without memory. */
struct kern_fence *kern_fence_create(struct kern_device *dev, uint64_t context, uint64_t seq, uint64_t vm);
/* A fence that is signalled already: what the kernel calls the stub. NULL without memory. */
struct kern_fence *kern_fence_stub(void);
/* A fence that is signalled once both are (prev may be NULL). NULL without memory. */
struct kern_fence *kern_fence_chain(struct kern_fence *prev, struct kern_fence *part);
/* Checks a chain again whose parts may have been signalled, or have lost their registration of it. No effect on
 * other fences. */
void kern_fence_look_again(struct kern_fence *f);
struct kern_fence *kern_fence_get(struct kern_fence *f); /* NULL is fine */
void kern_fence_put(struct kern_fence *f);               /* NULL is fine */
void kern_fence_signal(struct kern_fence *f, int error);
/* Updates a chain after one of its parts was signalled. Sleepers of a chain that is done now are moved to q. */
void kern_fence_part_done(struct kern_waker *on_part, struct kern_waitq *q);
/* Calls visit once for each fence that f is made of, or for f itself, until it returns non-zero. */
int kern_fence_leaves(struct kern_fence *f, int (*visit)(struct kern_fence *f, void *arg), void *arg);
/* The same, but for what calls with the same `scan`, a stamp of the caller's, have visited: points of a timeline have most
 * of their fences in common. Another scan in between may make it visit some again. */
int kern_fence_new_leaves(struct kern_fence *f, uint64_t scan, int (*visit)(struct kern_fence *f, void *arg),
			  void *arg);
/* Waits for all of them, or for any. *first: which one ended an any-wait. 0, -ETIME, -EINTR, -ENOMEM. */
int kern_fence_wait(struct kern_fence **f, unsigned count, bool all, int64_t deadline_ns, unsigned *first);

void kern_resv_fini(struct kern_resv *r);
/* Makes room, so that the next add cannot fail; 0 or -ENOMEM. */
int kern_resv_reserve(struct kern_resv *r);
void kern_resv_add(struct kern_resv *r, struct kern_fence *f);
bool kern_resv_busy(struct kern_resv *r);

/* The fences of bo's reservation object, which an exported BO and its imports on other devices share: calls visit
 * for each unsignalled one until it returns non-zero. */
int kern_bo_fences(struct kern_bo *bo, int (*visit)(struct kern_fence *f, void *arg), void *arg);
/* For kern_bo_fences: stops at the first. */
int kern_any_fence(struct kern_fence *f, void *arg);
/* Waits until no job that listed bo is left; 0, -ETIME, -EINTR, -ENOMEM. */
int kern_bo_wait_idle(struct kern_bo *bo, int64_t deadline_ns);

#endif

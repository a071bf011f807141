/* The record of an ioctl under way: each object that the ioctl holds is written down in the segment, because a
 * process that is killed inside an ioctl cannot let go of it. drm/call.c begins, ends and undoes a record.
 *
 * A record belongs to the thread that runs the ioctl, until its process dies. Guarded by the kernel lock. */
#ifndef VGPU_KERNEL_BASE_CALL_H
#define VGPU_KERNEL_BASE_CALL_H

#include "vgpu/kernel/base/core.h"

struct kern_cs;
struct kern_waiting;

struct kern_call {
	struct kern_list link;        /* in proc->calls */
	struct kern_file *file;       /* counted */
	struct kern_bo *bo;           /* counted: under construction, or waited for */
	struct kern_bo_list *list;    /* counted: under construction */
	struct kern_syncobj *syncobj; /* counted: waited for */
	struct kern_syncobj *into;    /* counted: gets a fence in the end */
	struct kern_userq *userq;     /* counted: made, or freed */
	struct kern_cs *cs;           /* owned */
	struct kern_waiting *waiting; /* owned array */
	uint32_t waiting_count;
};

/* The record of the calling thread. Outside of ioctls a scratch record, which no other function reads. */
struct kern_call *kern_call_current(void);
/* Sets the record of the calling thread; NULL: the scratch record. */
void kern_call_set_current(struct kern_call *call);

#endif

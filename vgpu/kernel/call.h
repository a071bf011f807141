/* What an ioctl holds while it runs, written down where others find it: a process that is killed inside one cannot
 * let go of it. Kernel lock held. */
#ifndef VGPU_KERNEL_CALL_H
#define VGPU_KERNEL_CALL_H

#include "vgpu/kernel/core.h"

struct kern_cs;
struct kern_waiting;

struct kern_call {
	struct kern_list link;        /* in proc->calls */
	struct kern_file *file;       /* counted */
	struct kern_bo *bo;           /* counted: under construction, or waited for */
	struct kern_bo_list *list;    /* counted: under construction */
	struct kern_syncobj *syncobj; /* counted: waited for */
	struct kern_syncobj *into;    /* counted: gets a fence in the end */
	struct kern_cs *cs;           /* owned */
	struct kern_waiting *waiting; /* owned array */
	uint32_t waiting_count;
};

/* This thread's; outside of ioctls a scratch one that nobody looks at. */
struct kern_call *kern_call(void);
/* Around a call on file; NULL without memory. */
struct kern_call *kern_call_begin(struct kern_file *file);
void kern_call_end(struct kern_call *call);
/* The caller's own reference to what it made or waited for: not written down any more, and put. */
void kern_call_put_bo(struct kern_bo *bo);
/* A process is gone: its calls are undone. */
void kern_calls_proc_gone(struct kern_proc *proc);

#endif

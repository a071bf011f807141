/* User queues: rings in the client's memory, which run without the CS ioctl. Kernel lock held unless a comment says
 * otherwise.
 *
 *   userq.c        creation, checks, the end
 *   userq_run.c    the thread of a queue: doorbell, ring, time limit
 *   userq_fence.c  USERQ_SIGNAL and USERQ_WAIT */
#ifndef VGPU_KERNEL_SCHED_USERQ_H
#define VGPU_KERNEL_SCHED_USERQ_H

#include "vgpu/kernel/base/core.h"

static inline struct kern_userq *kern_userq_get(struct kern_userq *q)
{
	q->refs++;
	return q;
}
void kern_userq_put(struct kern_userq *q); /* NULL is fine */
static inline struct kern_userq *kern_userq_find(const struct kern_file *file, uint32_t id)
{
	return kern_idr_find(&file->userqs, id);
}

/* Host address of 8 bytes at va in this process; NULL: not mapped, or not with memory. */
_Atomic uint64_t *kern_userq_word(const struct kern_userq *q, uint64_t va);
/* Whether all memory that the queue was made with is still mapped. If not, the queue is unusable, with a finding. */
bool kern_userq_check_memory(struct kern_userq *q);
/* The same for the process's own memory in the queue's VM, which nothing holds in its place. */
bool kern_userq_check_userptrs(struct kern_userq *q);

/* Starts the thread of a new queue. 0 or -ENOMEM. */
int kern_userq_start(struct kern_userq *q);
/* PROTECTED_FENCE_SIGNAL wrote the value: signals the fences up to it. */
void kern_userq_signalled(struct kern_userq *q, uint64_t value);
/* Starts the time limit of the oldest fence; without one, stops it. */
void kern_userq_timer(struct kern_userq *q);
/* Ends all fences with -ECANCELED. */
void kern_userq_cancel(struct kern_userq *q);

/* The file closes: its queues end. May sleep. */
void kern_userqs_close(struct kern_file *file);
/* Mappings of the file's VM were removed: reports the queues that cannot go on. */
void kern_userqs_unmapped(struct kern_file *file);
/* The process died or leaves. */
void kern_userqs_proc_gone(struct kern_proc *proc);
/* Ends this process's threads; without the kernel lock. */
void kern_userqs_stop(void);
/* In a forked child: forgets the parent's threads. */
void kern_userqs_forked(void);

int kern_userq_ioctl(struct kern_file *file, void *arg);
int kern_userq_signal_ioctl(struct kern_file *file, void *arg);
int kern_userq_wait_ioctl(struct kern_file *file, void *arg);

#endif

/* Jobs, hardware rings, and their threads. Kernel lock held unless a comment says otherwise. */
#ifndef VGPU_KERNEL_SCHED_SCHED_H
#define VGPU_KERNEL_SCHED_SCHED_H

#include "vgpu/kernel/base/core.h"

/* A job with room for ib_count IBs, its fences, and nothing else; NULL without memory. */
struct kern_job *kern_job_create(struct kern_ctx *ctx, struct kern_entity *entity, struct kern_vm *vm,
				 unsigned ib_count);
/* A job that was not pushed. NULL is fine. */
void kern_job_destroy(struct kern_job *job);
/* The job will not start before f is signalled. 0 or -ENOMEM. */
int kern_job_depend(struct kern_job *job, struct kern_fence *f);

/* Finds a hardware ring for the entity's next job, with its thread; -ENOMEM, or the error of pthread_create. */
int kern_sched_prepare(struct kern_entity *entity, struct kern_ring **ring);
/* Hands the job over: it gets its number, and its ring's thread runs it. Cannot fail. Returns the number. */
uint64_t kern_sched_push(struct kern_job *job, struct kern_ring *ring);

/* A ring of a process. NULL: it has none, or its rings are gone, as a process's are while the rest of it is freed. */
struct kern_ring *kern_ring_of(const struct kern_proc *proc, const struct kern_device *dev, unsigned ip,
			       unsigned index);

/* The kernel's packet behind the IBs. */
void kern_job_write_user_fence(const struct kern_job *job);
/* Ends a job with an error or 0, whoever's it is; frees it. */
void kern_job_finish(struct kern_job *job, int error);
/* Called when the client has freed ctx: its jobs get a second to start; jobs that have not started are cancelled.
 * May sleep. */
void kern_sched_ctx_closed(struct kern_ctx *ctx);
/* Whether its partition has a ring for it. */
bool kern_sched_has_ring(const struct kern_entity *entity);
void kern_sched_detach(struct kern_entity *entity);
/* The process died or leaves: its jobs end with -ESRCH, its rings are freed. */
void kern_sched_proc_gone(struct kern_proc *proc);

/* A ring of this process's engine, which the caller destroys before kern_sched_stop(). NULL without memory. */
struct engine_ring *kern_engine_ring(struct kern_device *dev, unsigned ip, unsigned xcc, unsigned index);

/* Ends this process's ring threads; without the kernel lock. Jobs that run get a second, then they are killed. */
void kern_sched_stop(void);
/* In a forked child: forgets the parent's threads. */
void kern_sched_forked(void);

/* The engine gave up on a job: what the time-out handler makes of it. The job is finished. */
void kern_reset(struct kern_job *job, enum engine_status status, const char *why);
/* How a hang on a ring of that IP is recovered from, before the device is reset: by killing waves, and by a reset
 * of the ring. */
bool kern_soft_recovery(const struct kern_device *dev, unsigned ip);
bool kern_ring_reset(const struct kern_device *dev, unsigned ip);
/* A full reset, for which `bad` is to blame; VRAM is lost, but for that of APUs. bad NULL: VRAM is always lost. */
void kern_reset_device(struct kern_device *dev, struct kern_job *bad);

#endif

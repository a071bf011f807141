/* User queues: state in the run's segment, guarded by the kernel lock. state.h has the vocabulary of the comments. */
#ifndef VGPU_KERNEL_BASE_STATE_USERQ_H
#define VGPU_KERNEL_BASE_STATE_USERQ_H

#include <stdbool.h>
#include <stdint.h>
#include "vgpu/kernel/base/state_gem.h"

#define KERN_USERQ_ONLY 2    /* kern_device.userq: in place of the kernel's rings */
#define KERN_USERQS     512  /* user queues of a file at most (AMDGPU_MAX_USERQ_COUNT) */
#define KERN_SLOTS      2048 /* fence slots of a device; Linux has 2 MiB of them */

/* The value of a doorbell between two stores of the client. */
#define KERN_DOORBELL_SILENT UINT64_MAX

enum kern_userq_state {
	KERN_USERQ_MAPPED,
	KERN_USERQ_STALLED,    /* a packet or a wave stopped it: nothing goes on until the time limit of a fence */
	KERN_USERQ_INVALID_VA, /* some of its memory was unmapped */
	KERN_USERQ_HUNG,
};

/* A user queue. A thread of the process that made it watches the doorbell and runs the ring. */
struct kern_userq {
	unsigned refs;           /* the file's, the thread's, an ioctl's */
	struct kern_list link;   /* in proc->userqs while the thread lives */
	struct kern_device *dev; /* immutable, as are the next nine */
	uint32_t id;             /* in its file */
	uint8_t ip;
	struct kern_vm *vm;                  /* counted */
	struct kern_bo *doorbell;            /* counted */
	uint32_t doorbell_at;                /* byte in it */
	uint64_t ring_va, ring_B;            /* addresses masked to 48 bits */
	uint64_t rptr_va, wptr_va, extra_va; /* extra: EOP buffer */
	uint64_t fence_context;
	unsigned slot;
	enum kern_userq_state state;
	bool threaded;           /* the queue's thread lives */
	struct kern_waitq ended; /* the thread has ended */
	/* Without the lock, too: */
	_Atomic bool stop;         /* the thread shall end */
	_Atomic uint32_t timer;    /* engine_job::timer: runs while a fence is pending */
	_Atomic uint64_t read;     /* the packets before it were read, in dwords since the queue was made */
	uint32_t timers;           /* number of the last timer */
	uint64_t timer_ns;         /* vgpu_host_time_ns() when it was started */
	uint64_t rung;             /* last value of the doorbell */
	uint64_t signalled;        /* last value of PROTECTED_FENCE_SIGNAL */
	bool reported;             /* the finding about the pending fence was made */
	struct kern_fence **fence; /* owned array of counted fences, in order: of USERQ_SIGNAL, unsignalled */
	unsigned fences, room;
};

#endif

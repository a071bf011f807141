/* Fences, reservation objects, syncobjs, and the queues of sleeping threads: state in the run's segment, guarded by
 * the kernel lock. state.h has the vocabulary of the comments.
 *
 *   kern_fence    a point of a queue: signalled once, with 0 or an errno
 *   kern_resv     the unsignalled fences of the jobs that use a buffer
 *   kern_syncobj  a handle's fence (binary), or its points with rising values (timeline)
 *   kern_waitq    the threads that sleep until an object changes */
#ifndef VGPU_KERNEL_BASE_STATE_SYNC_H
#define VGPU_KERNEL_BASE_STATE_SYNC_H

#include <stdbool.h>
#include <stdint.h>
#include "vgpu/kernel/base/list.h"

struct kern_device;

/* Sleepers that an event wakes. */
struct kern_waitq {
	struct kern_list wakers;
};

/* Registration of a sleeper. */
struct kern_waker {
	struct kern_list link;
	/* Futex word that the wake increments; borrowed from the sleeper. NULL: this is kern_fence.on_part, and the
	 * wake checks the parts of that fence. */
	_Atomic uint32_t *word;
	struct kern_fence *fence; /* a reference of the sleeper, for when it dies; NULL otherwise */
};

/* A point in time of some queue: signalled once, with 0 or an errno. */
struct kern_fence {
	unsigned refs;
	bool signalled;
	int error;               /* 0 or -errno; meaningful when signalled, sticky when set before */
	uint64_t context, seq;   /* immutable: queue it belongs to, position in it */
	uint64_t slot_va;        /* immutable: word of the user queue that signals it at seq; 0: other fences */
	uint64_t vm;             /* immutable: id of the VM that owns the work; 0: none */
	struct kern_device *dev; /* immutable, may be NULL */
	struct kern_fence *scheduled;   /* counted; of a job's end: the fence of its start. NULL otherwise */
	struct kern_fence *part, *prev; /* counted; a timeline point's: signalled after both. NULL otherwise */
	struct kern_waker on_part;
	uint64_t scan; /* scratch of kern_fence_leaves() and kern_cs_depend() */
	struct kern_fence *next;
	int64_t signalled_ns;
	struct kern_waitq waitq;
};

/* The fences of what uses a buffer. Entries of one fence context replace one another, signalled ones are dropped.
 */
struct kern_resv {
	struct kern_fence **fence; /* owned array of counted fences */
	unsigned count, room;
};

/* A point of a timeline that was not reached at the last check. */
struct kern_point {
	uint64_t value;
	struct kern_fence *fence; /* counted; signalled after the fences of earlier points */
};

/* Updates of page tables that a point of a syncobj shows to be done. */
#define KERN_SHOWN_MAX 64
struct kern_shown {
	uint64_t point, vm, version;
};

struct kern_syncobj {
	unsigned refs;
	unsigned watched;         /* references among them that watches have, which end with the others */
	struct kern_fence *fence; /* counted; the newest payload, binary or a point; NULL: nothing */
	bool timeline;            /* the payload is a point */
	uint64_t last, reached;   /* newest point; newest point known to be reached */
	struct kern_point *point; /* owned array, ascending */
	unsigned points, room;
	struct kern_waitq waitq;                 /* something was attached */
	struct kern_shown shown[KERN_SHOWN_MAX]; /* the last ones, by turns */
	unsigned shown_count;                    /* so far */
};

#endif

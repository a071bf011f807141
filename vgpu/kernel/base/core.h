/* Common to kernel/: the root, the kernel lock, memory of the segment, waiting, user memory. */
#ifndef VGPU_KERNEL_BASE_CORE_H
#define VGPU_KERNEL_BASE_CORE_H

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include "vgpu/kernel/base/state.h"
#include "vgpu/report.h"
#include "vgpu/sys.h"
#include "vgpu/trace.h"

#define KERN_SEGMENT_ADDR 0x7e9000000000ull /* in the application range of ASan and of TSan on x86-64 */
#define KERN_SEGMENT_B    (16ull << 30)
#define KERN_MAGIC        0x746675672d765530ull

#define kern_align(x, a)  (((x) + (a) - 1) & ~((uint64_t)(a) - 1))
#define kern_array_len(a) (sizeof(a) / sizeof((a)[0]))

/* State of this process. Written at attach and in a forked child, before there are other threads. */
struct kern_local {
	unsigned slot;   /* in root->proc */
	uint32_t serial; /* serial number of this process, which has that slot */
	pid_t pid;
	int segment_fd, phys_fd;
	uint8_t *phys;                              /* the physical memory file, whole */
	const struct vgpu_chip *chip[KERN_DEVICES]; /* rows of this image's chip table */
	bool leaving;                               /* the process exits: what is left open is no leak */
	void (*sweep)(
		void); /* kern_proc_sweep(): reaps processes that died. A pointer, because drm/ is above base/ */
};

extern struct kern_root *kern; /* NULL: not attached */
extern struct kern_local kern_local;

/* Names the structs of the segment: programs of other sources or flags have another one, and cannot join. */
uint64_t kern_layout(void);

/* --- kernel lock: any thread, not recursive --- */
void kern_lock(void);
/* False: another thread has it. */
bool kern_trylock(void);
void kern_unlock(void);

/* --- segment memory: zeroed; NULL when the segment is full --- */
void *kern_alloc(size_t size_B);
void kern_free(void *p); /* NULL is fine */
/* Grows *array so that it holds one more than count elements; 0 or -ENOMEM. */
int kern_reserve(void *array, unsigned count, unsigned *room, size_t element_B);

static inline void kern_live(enum kern_kind kind, int change)
{
	kern->live[kind] += (uint64_t)(int64_t)change;
}

/* --- waiting --- */
/* A sleeper's registrations. In the segment, because others wake it. */
struct kern_wait {
	struct kern_list link; /* in proc->waits */
	_Atomic uint32_t word;
	uint32_t seen;
	unsigned count, room;
	unsigned fences; /* number of wakers with a fence */
	struct kern_waker waker[];
};

void kern_waitq_init(struct kern_waitq *q);
void kern_waitq_wake(struct kern_waitq *q);
/* room: at most that many queues. NULL without memory. */
struct kern_wait *kern_wait_begin(unsigned room);
void kern_wait_on(struct kern_wait *w, struct kern_waitq *q);
/* Drops the lock and sleeps until a wake, the deadline (CLOCK_MONOTONIC ns, INT64_MAX: none) or the next sweep for
 * dead processes, then takes the lock. Clears the registrations. 0, -ETIME or -EINTR; 0 may be spurious. */
int kern_wait_sleep(struct kern_wait *w, int64_t deadline_ns);
void kern_wait_end(struct kern_wait *w);
/* The futex calls, without the lock. */
int kern_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline_ns);
void kern_futex_wake(_Atomic uint32_t *word);

/* Linux's KMALLOC_MAX_SIZE on x86-64: where it allocates an array of user's length by kmalloc, a larger one fails. */
#define KERN_KMALLOC_MAX_B (4u << 20)

/* --- user memory: any thread; a bad pointer gives -EFAULT --- */
struct kern_span {
	void *kernel;
	uint64_t user;
	size_t size_B;
};
/* Whether a range touches what is the kernel's: the segment, and its mapping of physical memory. Linux's access_ok()
 * refuses kernel addresses; the process of a client has these between its own. */
bool kern_is_own(uint64_t at, uint64_t size_B);
int kern_copy_in(void *to, uint64_t user, size_t size_B);
int kern_copy_out(uint64_t user, const void *from, size_t size_B);
/* Several at once. */
int kern_gather(const struct kern_span *span, unsigned count);

#endif

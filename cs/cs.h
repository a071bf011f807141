/* cs/: contexts, PM4, code objects, submission, fences. This header is the room's interface.
 *
 *   cs_ctx     a kernel context: the unit of loss
 *   cs_ring    a queue of one (context, IP, ring), with its pool of IB memory
 *   cs_ib      the commands of one job while they are written
 *   cs_fence   a moment on a ring: the end of one job
 *   cs_syncobj    a DRM syncobj: what other drivers and processes wait for and signal
 *
 * A job: cs_begin() locks the ring and starts an IB, emitters append to it, cs_submit() hands it to the kernel and
 * gives its fence. Register state does not persist between IBs, so each IB says all that it needs.
 *
 * Completion. The kernel writes each ring's 64-bit sequence number (its user fence) to host memory behind the job's
 * last cache write-back; a finished fence costs one load. Sleeping waits use the kernel fence of the same number.
 *
 * Order. Jobs of one ring start in order and may overlap. CS_ORDERED waits for all earlier work of the ring; work
 * on other rings is waited for by naming its fences, work of others by naming a cs_syncobj (struct cs_submit_info).
 * Each IB begins with an acquire at system scope, and the kernel ends it with a release at system scope.
 *
 * Loss. When the kernel reports a job hung, a reset or a missing device, the context is lost for good: unfinished
 * fences answer -ECANCELED (-ENODEV: the device is gone), and so does every later submission. Make a new context.
 *
 * Errors: -errno with a record. Thread rule: all functions are thread safe; from cs_begin() to cs_submit() or
 * cs_abandon() an IB belongs to the calling thread, which holds its ring's lock. */
#ifndef CS_CS_H
#define CS_CS_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <stdint.h>

#include "vm/vm.h"

/* --- contexts and rings ----------------------------------------------------------------------- */

struct cs_ctx;
struct cs_ring;

struct cs_fence {
	struct cs_ring *ring; /* borrowed; NULL: a fence that has always been signaled */
	uint64_t seq;
};

#define CS_FOREVER INT64_MAX

enum cs_priority { CS_PRIORITY_NORMAL, CS_PRIORITY_LOW, CS_PRIORITY_HIGH, CS_PRIORITY_VERY_HIGH, CS_PRIORITIES };

/* vm is borrowed until cs_ctx_destroy(). -EACCES: a priority above normal needs CAP_SYS_NICE; -ENOMEM, -ENOSPC (the
 * kernel has no more contexts). */
DRV_MUST_CHECK int cs_ctx_create(struct vm *vm, enum cs_priority priority, struct cs_ctx **ctx);
/* Its rings must be gone. */
void cs_ctx_destroy(struct cs_ctx *ctx);
/* 0, or why the context is lost: -ECANCELED, -ENODEV. One load. */
DRV_MUST_CHECK int cs_ctx_lost(const struct cs_ctx *ctx);
/* Asks the kernel whether the context was reset, and whether the GPU touched memory that is not there. A job that
 * faults still completes (the access reads zeros or vanishes), so ask after waiting when it matters: two ioctls.
 * -ECANCELED or -ENODEV: lost. -EFAULT: a fault of the address space that no earlier call
 * reported (vm_check_fault); the record names address and access. */
DRV_MUST_CHECK int cs_ctx_check(struct cs_ctx *ctx);
/* The same without the fault, which stays for another to report: one ioctl. */
DRV_MUST_CHECK int cs_ctx_check_reset(struct cs_ctx *ctx);

struct cs_reset {
	bool reset;     /* the GPU was reset since the context was made, by whomever */
	bool guilty;    /* a job of this context caused it */
	bool vram_lost; /* content of VRAM is undefined */
};

/* What the kernel says of resets. One ioctl; changes nothing. -ENODEV. */
DRV_MUST_CHECK int cs_ctx_reset_status(struct cs_ctx *ctx, struct cs_reset *reset);

/* How to print one IB: `count` dwords at `ib`, which the GPU sees at va; one drv_log() line each packet. */
typedef void cs_print_fn(const uint32_t *ib, uint32_t count, uint64_t va);

/* A queue on ring `index` of an IP. For DRV_IP_COMPUTE print is cs_pm4_print. -ENOTSUP: nothing here
 * makes packets of the chip's generation; -EINVAL: no such ring; -EBUSY: this context has a cs_ring for it already;
 * -ENOMEM. */
DRV_MUST_CHECK int cs_ring_create(struct cs_ctx *ctx, enum drv_ip_type ip, unsigned index, cs_print_fn *print,
				  struct cs_ring **ring);
/* Before its first job: their waves may use the vm's resource of global wave sync (vm_gws_create). Nothing keeps
 * two rings of a vm that do so from meeting on it. As vm_gws_create(). */
DRV_MUST_CHECK int cs_ring_use_gws(struct cs_ring *ring);
/* Waits for its work (a lost context ends that), then frees. */
void cs_ring_destroy(struct cs_ring *ring);
struct cs_ctx *cs_ring_ctx(const struct cs_ring *ring);
struct vm *cs_ring_vm(const struct cs_ring *ring);
/* Runs a job that does nothing on a ring of its own, and waits for it: the kernel looks at all memory of the vm
 * before it starts one. A vm_submit_fn. */
DRV_MUST_CHECK int cs_run_nop(struct vm *vm, void *unused);
/* The fence of the last submitted job. */
struct cs_fence cs_ring_last(const struct cs_ring *ring);
/* Whether a job may be running: one that has not ended, or one that a thread is between cs_begin() and the end of
 * cs_submit() with, which is not the last one yet. */
bool cs_ring_busy(const struct cs_ring *ring);
/* The number of the last job that has ended. One load. */
uint64_t cs_ring_completed(const struct cs_ring *ring);
/* Jobs that were submitted and have not ended. One load of the sequence word. */
unsigned cs_ring_unfinished(const struct cs_ring *ring);

/* --- fences ----------------------------------------------------------------------------------- */

/* 1: signaled; 0: not yet; -ECANCELED, -ENODEV: never. One load when signaled; never enters the kernel. A job whose
 * waves the kernel killed counts as completed until a sleeping wait, cs_ctx_check() or (Linux 6.6 and newer) the
 * next submission hears of it. */
DRV_MUST_CHECK int cs_fence_poll(struct cs_fence fence);
/* Waits up to timeout_ns (CS_FOREVER: until it is signaled or lost). Spins for TUFF_SPIN_US, then sleeps: in the
 * kernel, or, when less than 20 ms are left, up to 1 ms at a time. -ETIMEDOUT, -ECANCELED, -ENODEV. */
DRV_MUST_CHECK int cs_fence_wait(struct cs_fence fence, int64_t timeout_ns);
/* The same without spinning, for callers that look at something else in between; the job was submitted. A timeout
 * of more than 20 ms may end up to two jiffies, 20 ms at most, early. */
DRV_MUST_CHECK int cs_fence_sleep(struct cs_fence fence, int64_t timeout_ns);
/* The same until all fences are signaled, or one of them fails. */
DRV_MUST_CHECK int cs_fences_wait_all(const struct cs_fence *fences, unsigned count, int64_t timeout_ns);
/* Waits until one fence is signaled or lost; *index says which, and the result is its own. The fences may be of
 * several devices; then it polls, up to 1 ms apart. count >= 1. */
DRV_MUST_CHECK int cs_fences_wait_any(const struct cs_fence *fences, unsigned count, int64_t timeout_ns,
				      unsigned *index);
/* Waits until the job does not run any more, whatever became of it: before memory that it uses is freed or used
 * again. A lost context does not end this wait early, since only one of its rings may have been reset. */
void cs_fence_retire(struct cs_fence fence);
/* Whether cs_fence_retire() would return at once. One load, or one ioctl when the context is lost. */
bool cs_fence_is_retired(struct cs_fence fence);
/* Copies those that are not retired; `to` may be `from`. How many. */
unsigned cs_fences_unretired(struct cs_fence *to, const struct cs_fence *from, unsigned count);

/* A file that poll() finds readable when the job has ended, well or not; the caller closes it. The job was
 * submitted.
 */
DRV_MUST_CHECK int cs_fence_sync_file(struct cs_fence fence, int *fd);

/* --- syncobjs --------------------------------------------------------------------------------- */

struct cs_syncobj {
	struct vm *vm;   /* borrowed; outlives it */
	uint32_t handle; /* owned */
};

/* A moment of a sync. value 0: whatever fence it holds (binary); else that point of its timeline. */
struct cs_syncobj_point {
	const struct cs_syncobj *sync;
	uint64_t value;
};

/* The caller's storage. -ENOMEM. */
DRV_MUST_CHECK int cs_syncobj_init(struct vm *vm, bool signaled, struct cs_syncobj *sync);
/* Jobs that wait for it go on doing so. Accepts a zeroed one; zeroes it. */
void cs_syncobj_fini(struct cs_syncobj *sync);
DRV_MUST_CHECK int cs_syncobj_signal(const struct cs_syncobj *sync, uint64_t value);
DRV_MUST_CHECK int cs_syncobj_reset(const struct cs_syncobj *sync);
/* Waits, also for what nobody has submitted yet. -ETIMEDOUT. */
DRV_MUST_CHECK int cs_syncobj_wait(const struct cs_syncobj *sync, uint64_t value, int64_t timeout_ns);
/* A job may wait for it: it is there, or what was submitted brings it. */
bool cs_syncobj_available(const struct cs_syncobj *sync, uint64_t value);
/* The last point of the timeline that was reached. */
DRV_MUST_CHECK int cs_syncobj_query(const struct cs_syncobj *sync, uint64_t *value);
/* As a file descriptor, the caller's: the object itself, or (file) a sync file of its present fence. -EINVAL: it
 * has none; -EMFILE. */
DRV_MUST_CHECK int cs_syncobj_export(const struct cs_syncobj *sync, bool file, int *fd);
/* Back from one; fd stays the caller's. -EINVAL: no such descriptor. */
DRV_MUST_CHECK int cs_syncobj_import(struct vm *vm, int fd, bool file, struct cs_syncobj *sync);

/* --- jobs ------------------------------------------------------------------------------------- */

/* Unfinished jobs that a ring may have: at 32 the kernel would block the whole process inside the ioctl. */
#define CS_JOBS_MAX 24
/* Most dwords that one cs_ib_room() may ask for. */
#define CS_ROOM_MAX 64
/* Pieces of an IB on rings that cannot chain (SDMA); the kernel takes 49. */
#define CS_SEGMENTS_MAX 48
/* Largest block of cs_ib_data(). */
#define CS_DATA_MAX_B 16384

enum cs_begin_flags {
	CS_ORDERED = 1 << 0,  /* after all earlier work of this ring */
	CS_NOWAIT = 1 << 1,   /* -EBUSY instead of waiting for room */
	CS_RESIDENT = 1 << 2, /* it reaches resident memory only: what others share may go while it runs */
};

struct cs_segment {
	uint64_t va;
	uint32_t *map;
	uint32_t dw;
};

struct cs_command_buffer; /* commands that many jobs end with */

struct cs_ib {
	struct cs_ring *ring; /* borrowed, locked */
	uint32_t *cur, *end;  /* where the next dword goes, and where room ends */
	uint32_t *tail_size;  /* of the chain packet that leads to the current segment; NULL in the first */
	int error;            /* sticky: what cs_submit() will answer */
	/* What the registers of a dispatch hold, addresses and id aside; NULL: whatever. Who writes such registers
	 * by packets of his own sets it so. */
	const struct cs_dispatch_template *regs;
	unsigned flags;      /* enum cs_begin_flags */
	unsigned segments;   /* closed ones; the first says where the IB begins */
	bool scratch_fenced; /* it has a barrier in front of the ring's present scratch layout */
	const struct cs_barrier_packet *barrier_packets; /* cs_barrier_packets of its device; immutable */
	struct cs_command_buffer **record; /* the caller's; where recorded commands go; NULL: none are recorded */
	struct cs_segment segment[CS_SEGMENTS_MAX]; /* [segments] is the open one */
};

/* Starts a job. Locks the ring. -EBUSY (CS_NOWAIT), -ENOMEM, -ECANCELED, -ENODEV; then the ring is not locked. */
DRV_MUST_CHECK int cs_begin(struct cs_ring *ring, unsigned flags, struct cs_ib **ib);
/* What a job waits for, and what it signals when it ends. All arrays are read during the call only. */
struct cs_submit_info {
	const struct cs_fence *after; /* of any device of this process */
	const struct cs_syncobj_point *wait, *signal;
	unsigned after_count, wait_count, signal_count;
	/* Not NULL: the job does not wait for fences of `after` that are lost; then *lost becomes true. */
	bool *lost;
};
#define CS_AFTER_MAX 64 /* unreached fences of this device */
#define CS_SYNCS_MAX 32 /* wait_count and unreached fences of other devices; signal_count */

/* Submits it; info and fence may be NULL. Unlocks the ring, whatever happens. -ECANCELED: the context is lost
 * (cs_ctx_lost()), or a fence of `after` is and info->lost does not ask for it: then the context goes on; -ENOENT:
 * nothing that was submitted signals a sync of `wait`; -EBUSY: CS_NOWAIT, and the pool was full. One ioctl, two
 * when the BO list changed, three more for each unreached fence of another device. Retries -ENOMEM for one second.
 */
DRV_MUST_CHECK int cs_submit(struct cs_ib *ib, const struct cs_submit_info *info, struct cs_fence *fence);
/* Drops it. Unlocks the ring. */
void cs_abandon(struct cs_ib *ib);

/* Room for dw <= CS_ROOM_MAX dwords in a row; write them, then cs_ib_wrote(). Never NULL: when memory runs out the
 * dwords go nowhere and the submission fails. */
uint32_t *cs_ib_more(struct cs_ib *ib); /* its slow path */
static inline uint32_t *cs_ib_room(struct cs_ib *ib, unsigned dw)
{
	return __builtin_expect(ib->cur + dw <= ib->end, 1) ? ib->cur : cs_ib_more(ib);
}
static inline void cs_ib_wrote(struct cs_ib *ib, uint32_t *end)
{
	ib->cur = end;
}
/* Records the commands from here to the job's end, on compute rings: when cs_submit() has succeeded, *commands has
 * them; else it is NULL. `commands` stays where it is until then. The recorded commands set all state that they
 * need; the first of them must wait for earlier commands of the job and acquire what others wrote, if that is
 * wanted. Scratch is not recorded. -ENOMEM, -EBUSY: nothing is recorded, and the job is as it was. */
DRV_MUST_CHECK int cs_ib_record(struct cs_ib *ib, struct cs_command_buffer **commands);
/* The last commands of a job, on any compute ring of the vm. Costs a packet, however many they are. */
void cs_ib_chain(struct cs_ib *ib, const struct cs_command_buffer *commands);
/* The jobs that end with it have ended. NULL is accepted. */
void cs_command_buffer_free(struct cs_command_buffer *commands);
/* Two dwords, the low one first. */
static inline void cs_put_64(uint32_t *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
}
/* A block of size_B <= CS_DATA_MAX_B that lives as long as the job, at a multiple of align_B <= 256: write-combined
 * for the CPU, uncached for the GPU. NULL: the submission will fail. */
void *cs_ib_data(struct cs_ib *ib, uint32_t size_B, uint32_t align_B, uint64_t *va);

#endif

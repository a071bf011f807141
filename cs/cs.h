/* cs/: contexts, PM4, code objects, submission, fences. This header is the room's interface.
 *
 *   cs_ctx      a kernel context: the unit of loss; owned by its creator
 *   cs_ring     a queue of one (context, IP, ring), with its IB memory; owned by its creator
 *   cs_ib       the commands of one job while they are written; belongs to its ring
 *   cs_fence    the end of one job: ring and sequence number; a plain value that borrows the ring
 *   cs_syncobj  a DRM syncobj, which other drivers and processes wait for and signal; the caller's storage
 *
 * A job: cs_begin() locks the ring and starts an IB, emitters append to it, cs_submit() passes it to the kernel and
 * gives its fence. Register state does not persist between IBs, so each IB sets all state that it needs.
 *
 * Completion. The kernel writes each ring's 64-bit sequence number (its user fence) to host memory after the job's
 * last cache write-back; polling a finished fence costs one load. Sleeping waits use the kernel fence of the same
 * number.
 *
 * Order. Jobs of one ring start in order and may overlap. A CS_ORDERED job waits for all earlier work of the ring;
 * struct cs_submit_info names fences of other rings, and syncobjs of other processes and drivers, to wait for. Each
 * IB begins with an acquire at system scope, and the kernel ends it with a release at system scope.
 *
 * Loss. When the kernel reports a job hung, a reset or a missing device, the context is lost for good: its
 * unfinished fences and all later submissions give -ECANCELED (-ENODEV: the device is gone). The caller has to
 * create a new context.
 *
 * Locks. One lock per ring, held from cs_begin() to cs_submit() or cs_abandon(); one per context, which guards its
 * list of rings.
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
	struct cs_ring *ring; /* borrowed; NULL: a fence that is always signaled */
	uint64_t seq;
};

#define CS_FOREVER INT64_MAX

enum cs_priority { CS_PRIORITY_NORMAL, CS_PRIORITY_LOW, CS_PRIORITY_HIGH, CS_PRIORITY_VERY_HIGH, CS_PRIORITIES };

/* Creates a context. vm is borrowed until cs_ctx_destroy(). -EACCES: a priority above normal needs CAP_SYS_NICE;
 * -ENOMEM, -ENOSPC (the kernel has no more contexts). */
DRV_MUST_CHECK int cs_ctx_create(struct vm *vm, enum cs_priority priority, struct cs_ctx **ctx);
/* Destroys a context without rings: the caller destroys these first. */
void cs_ctx_destroy(struct cs_ctx *ctx);
/* Gives 0, or the reason of the loss: -ECANCELED, -ENODEV. One load. */
DRV_MUST_CHECK int cs_ctx_lost(const struct cs_ctx *ctx);
/* Queries the kernel for a reset of the context, and for an access of the GPU to unmapped memory. A job that faults
 * still completes (its reads give zeros, its writes vanish), so callers that need correct results query after
 * waiting. Two ioctls. -ECANCELED or -ENODEV: lost. -EFAULT: a fault of the address space that no earlier call
 * reported (vm_check_fault); the record names address and access. */
DRV_MUST_CHECK int cs_ctx_check(struct cs_ctx *ctx);
/* The same without faults, which remain for another call to report: one ioctl. */
DRV_MUST_CHECK int cs_ctx_check_reset(struct cs_ctx *ctx);

struct cs_reset {
	bool reset;     /* the GPU was reset since the context was created, whatever the cause */
	bool guilty;    /* a job of this context caused it */
	bool vram_lost; /* content of VRAM is undefined */
};

/* Queries the kernel's reset state. One ioctl; changes nothing. -ENODEV. */
DRV_MUST_CHECK int cs_ctx_reset_status(struct cs_ctx *ctx, struct cs_reset *reset);

/* A printer of IBs: prints `count` dwords at `ib`, whose GPU address is va, as one drv_log() line per packet. */
typedef void cs_print_fn(const struct drv_chip *chip, const uint32_t *ib, uint32_t count, uint64_t va);

/* Creates a queue on ring `index` of an IP. For DRV_IP_COMPUTE, print is cs_pm4_print. -EINVAL: no such ring;
 * -EBUSY: this context already has a cs_ring for it; -ENOMEM. */
DRV_MUST_CHECK int cs_ring_create(struct cs_ctx *ctx, enum drv_ip_type ip, unsigned index, cs_print_fn *print,
				  struct cs_ring **ring);
/* Creates a user queue for compute: a ring whose jobs the CPU gives to the GPU without the kernel, where
 * drv_uses_user_queues(). -EBUSY: the context has one; -EACCES: the priority needs CAP_SYS_NICE; -ENOMEM, also when
 * the kernel has no more of them. */
DRV_MUST_CHECK int cs_ring_create_user(struct cs_ctx *ctx, cs_print_fn *print, struct cs_ring **ring);
/* Lets the waves of the ring's jobs use the vm's resource of global wave sync (vm_gws_create). Call it before the
 * first job. Two rings of a vm that use it at the same time disturb each other; callers have to prevent that.
 * Errors: as vm_gws_create(). */
DRV_MUST_CHECK int cs_ring_use_gws(struct cs_ring *ring);
/* Waits for the ring's work (a lost context ends the wait), then frees it. */
void cs_ring_destroy(struct cs_ring *ring);
struct cs_ctx *cs_ring_ctx(const struct cs_ring *ring);
struct vm *cs_ring_vm(const struct cs_ring *ring);
/* Submits an empty job on a temporary ring, and waits for it: before a job the kernel validates all memory of the
 * vm. A vm_submit_fn. */
DRV_MUST_CHECK int cs_run_nop(struct vm *vm, void *unused);
/* The fence of the last submitted job. */
struct cs_fence cs_ring_last(const struct cs_ring *ring);
/* True when a job may be running: an unfinished one, or one that another thread is submitting (between cs_begin()
 * and the end of cs_submit()), which cs_ring_last() does not include yet. */
bool cs_ring_busy(const struct cs_ring *ring);
/* Sequence number of the last completed job. One load. */
uint64_t cs_ring_completed(const struct cs_ring *ring);
/* Number of submitted jobs that have not completed. One load of the sequence word. */
unsigned cs_ring_unfinished(const struct cs_ring *ring);

/* --- fences ----------------------------------------------------------------------------------- */

/* Polls a fence. 1: signaled; 0: not yet; -ECANCELED, -ENODEV: never. One load when signaled; never enters the
 * kernel. A job whose waves the kernel killed counts as completed until a sleeping wait, cs_ctx_check() or (Linux
 * 6.6 and newer) the next submission detects the loss. */
DRV_MUST_CHECK int cs_fence_poll(struct cs_fence fence);
/* Waits up to timeout_ns (CS_FOREVER: until the fence is signaled or lost). Spins for TUFF_SPIN_US, then sleeps: in
 * the kernel or, when less than 20 ms are left, up to 1 ms at a time. -ETIMEDOUT, -ECANCELED, -ENODEV. */
DRV_MUST_CHECK int cs_fence_wait(struct cs_fence fence, int64_t timeout_ns);
/* The same without spinning, for callers that check another condition between waits. The job must be submitted. A
 * wait with a timeout of more than 20 ms may end early, by two jiffies or 20 ms at most. */
DRV_MUST_CHECK int cs_fence_sleep(struct cs_fence fence, int64_t timeout_ns);
/* Waits until all fences are signaled, or a fence fails. Otherwise as cs_fence_wait(). */
DRV_MUST_CHECK int cs_fences_wait_all(const struct cs_fence *fences, unsigned count, int64_t timeout_ns);
/* Waits until a fence is signaled or lost; *index is its index, the result is that fence's. The fences may belong
 * to several devices; then the function polls, up to 1 ms apart. count >= 1. */
DRV_MUST_CHECK int cs_fences_wait_any(const struct cs_fence *fences, unsigned count, int64_t timeout_ns,
				      unsigned *index);
/* Waits until the job does not run any more, whatever its result. Required before memory that the job uses is freed
 * or reused. A lost context does not end this wait early, since the reset may have hit another ring. The job must be
 * submitted: another one counts as ended. */
void cs_fence_retire(struct cs_fence fence);
/* True when cs_fence_retire() would return at once. One load, or one ioctl when the context is lost. */
bool cs_fence_is_retired(struct cs_fence fence);
/* Copies the fences that are not retired to `to`, which may be `from`; gives their number. */
unsigned cs_fences_unretired(struct cs_fence *to, const struct cs_fence *from, unsigned count);
/* Until true, the ring may be submitting a job with a BO list from before the fence was taken (cs_ring_last(), after
 * vm_mem_unlist() and a full fence). Then the fence is set to the ring's last job, after which no job lists what was
 * unlisted. One thread at a time. Two loads. */
bool cs_fence_settle(struct cs_fence *fence);

/* Creates a sync file, which poll() reports readable when the job has ended, well or not; the caller closes it. The
 * job must be submitted. */
DRV_MUST_CHECK int cs_fence_sync_file(struct cs_fence fence, int *fd);

/* --- syncobjs --------------------------------------------------------------------------------- */

struct cs_syncobj {
	struct vm *vm;   /* borrowed; must outlive the syncobj */
	uint32_t handle; /* owned */
};

/* A point of a syncobj. value 0: its present fence (binary); else a point of its timeline. */
struct cs_syncobj_point {
	const struct cs_syncobj *sync;
	uint64_t value;
};

/* Initialises the caller's storage. -ENOMEM. */
DRV_MUST_CHECK int cs_syncobj_init(struct vm *vm, bool signaled, struct cs_syncobj *sync);
/* Jobs that wait for the syncobj continue to wait. Accepts a zeroed syncobj; zeroes it. */
void cs_syncobj_fini(struct cs_syncobj *sync);
DRV_MUST_CHECK int cs_syncobj_signal(const struct cs_syncobj *sync, uint64_t value);
DRV_MUST_CHECK int cs_syncobj_reset(const struct cs_syncobj *sync);
/* Waits, also for a point whose job is not submitted yet. -ETIMEDOUT. */
DRV_MUST_CHECK int cs_syncobj_wait(const struct cs_syncobj *sync, uint64_t value, int64_t timeout_ns);
/* True when a job may wait for the point: it is signaled, or submitted work signals it. */
bool cs_syncobj_available(const struct cs_syncobj *sync, uint64_t value);
/* Reads the last signaled point of the timeline. */
DRV_MUST_CHECK int cs_syncobj_query(const struct cs_syncobj *sync, uint64_t *value);
/* Exports a syncobj: *fd, owned by the caller, is the syncobj itself or (file) a sync file of its present fence.
 * -EINVAL: it has no fence; -EMFILE. */
DRV_MUST_CHECK int cs_syncobj_export(const struct cs_syncobj *sync, bool file, int *fd);
/* Imports an exported descriptor; fd stays the caller's. -EINVAL: no such descriptor. */
DRV_MUST_CHECK int cs_syncobj_import(struct vm *vm, int fd, bool file, struct cs_syncobj *sync);

/* --- jobs ------------------------------------------------------------------------------------- */

/* Most unfinished jobs of a ring: at 32 the kernel would block the whole process inside the ioctl. */
#define CS_JOBS_MAX 24
/* Most dwords of one cs_ib_room(). */
#define CS_ROOM_MAX 64
/* Most segments of an IB on rings that cannot chain (SDMA); the kernel takes 49. */
#define CS_SEGMENTS_MAX 48
/* Largest block of cs_ib_data(). */
#define CS_DATA_MAX_B 16384

enum cs_begin_flags {
	CS_ORDERED = 1 << 0,  /* after all earlier work of this ring */
	CS_NOWAIT = 1 << 1,   /* -EBUSY instead of waiting for room */
	CS_RESIDENT = 1 << 2, /* no BO list: the job may use resident memory only, other BOs may move meanwhile */
};

struct cs_segment {
	uint64_t va;
	uint32_t *map;
	uint32_t dw;
};

struct cs_command_buffer; /* recorded commands, with which many jobs can end */

struct cs_ib {
	struct cs_ring *ring; /* borrowed, locked */
	uint32_t *cur, *end;  /* next dword, and end of the room */
	/* size field of the chain packet that leads to the current segment; NULL in the first */
	uint32_t *tail_size;
	int error; /* sticky: the result of cs_submit() */
	/* Template whose register values are set in this IB, except addresses and id; NULL: unknown values. An
	 * emitter that writes such registers by its own packets sets it to NULL. */
	const struct cs_dispatch_template *regs;
	unsigned flags;                    /* enum cs_begin_flags */
	unsigned segments;                 /* closed segments; the first has the IB's address */
	bool scratch_fenced;               /* the IB has a barrier before the ring's present scratch layout */
	const struct cs_pm4 *pm4;          /* the device's row of cs_pm4_rows; immutable */
	struct cs_command_buffer **record; /* borrowed: destination of recorded commands; NULL: no recording */
	struct cs_segment segment[CS_SEGMENTS_MAX]; /* segment[segments] is open */
};

/* Starts a job. Locks the ring. -EBUSY (CS_NOWAIT), -ENOMEM, -ECANCELED, -ENODEV; then the ring is not locked. */
DRV_MUST_CHECK int cs_begin(struct cs_ring *ring, unsigned flags, struct cs_ib **ib);
/* The fences that a job waits for, and those that it signals. All arrays are read during the call only. */
struct cs_submit_info {
	const struct cs_fence *after; /* fences of any device of this process */
	const struct cs_syncobj_point *wait, *signal;
	unsigned after_count, wait_count, signal_count;
	/* Not NULL: the job does not wait for lost fences of `after`; *lost then becomes true. */
	bool *lost;
};
#define CS_AFTER_MAX 64 /* unsignaled fences of this device */
#define CS_SYNCS_MAX 32 /* wait_count and unsignaled fences of other devices; signal_count */

/* Submits a job; info and fence may be NULL. Always unlocks the ring. -ECANCELED: the context is lost
 * (cs_ctx_lost()); or a fence of `after` is lost and info->lost is NULL, and then the context stays usable;
 * -ENOENT: no submitted work signals a syncobj of `wait`; -EBUSY: CS_NOWAIT, and the IB memory was full. One ioctl,
 * two when the BO list changed, three more for each unsignaled fence of another device. Retries -ENOMEM for one
 * second. */
DRV_MUST_CHECK int cs_submit(struct cs_ib *ib, const struct cs_submit_info *info, struct cs_fence *fence);
/* Discards the job. Unlocks the ring. */
void cs_abandon(struct cs_ib *ib);

/* Gives room for dw <= CS_ROOM_MAX consecutive dwords; write them, then call cs_ib_wrote(). Never NULL: when memory
 * runs out the dwords are discarded and the submission fails. */
uint32_t *cs_ib_more(struct cs_ib *ib); /* slow path of cs_ib_room() */
static inline uint32_t *cs_ib_room(struct cs_ib *ib, unsigned dw)
{
	return __builtin_expect(ib->cur + dw <= ib->end, 1) ? ib->cur : cs_ib_more(ib);
}
static inline void cs_ib_wrote(struct cs_ib *ib, uint32_t *end)
{
	ib->cur = end;
}
/* Records the commands from here to the job's end, on compute rings: after a successful cs_submit() *commands has
 * them; after a failed one it is NULL. `commands` must stay valid until then. The recorded commands must set all
 * state that they need; where they depend on earlier commands of the job or on other work, the first of them must
 * wait and acquire. Scratch is not recorded. -ENOMEM, -EBUSY: nothing is recorded, and the job is unchanged. */
DRV_MUST_CHECK int cs_ib_record(struct cs_ib *ib, struct cs_command_buffer **commands);
/* Ends a job with recorded commands, on any compute ring of the vm. Costs one packet, whatever their number. */
void cs_ib_chain(struct cs_ib *ib, const struct cs_command_buffer *commands);
/* Frees recorded commands. All jobs that end with them must have ended. Accepts NULL. */
void cs_command_buffer_free(struct cs_command_buffer *commands);
/* Writes a 64-bit value as two dwords, the low one first. */
static inline void cs_put_64(uint32_t *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
}
/* Allocates a block of size_B <= CS_DATA_MAX_B that lives as long as the job, at a multiple of align_B <= 256:
 * write-combined for the CPU, uncached for the GPU. NULL: the submission will fail. */
void *cs_ib_data(struct cs_ib *ib, uint32_t size_B, uint32_t align_B, uint64_t *va);

#endif

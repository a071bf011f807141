/* Queues: commands, submission, waiting, synchronisation objects.
 *
 *   queue    where jobs are submitted; its own kernel context, hence the unit of loss
 *   cmd      the commands of one job while they are written
 *   point    a moment of a queue: the end of one job
 *   sync     a kernel synchronisation object, which other processes and drivers know
 *
 *     tuff_begin(queue, 0, &cmd);
 *     tuff_cmd_dispatch(cmd, &dispatch);
 *     tuff_submit(cmd, NULL, &point);
 *     tuff_wait(point, TUFF_FOREVER);
 *
 * Order. Jobs of one queue start in order and may overlap; TUFF_ORDERED makes one wait for all before it. Jobs of
 * different queues know nothing of each other unless struct tuff_order says so.
 *
 * Visibility. A job sees all that was written before it began, by anybody; what it writes is visible to everybody
 * when its point is reached. Within a job tuff_cmd_barrier() stands between commands that depend on each other.
 *
 * Loss. When a job hangs, the kernel resets the ring and the queue is lost for good: points that were not reached
 * answer -ECANCELED, and so does every later submission. Destroy the queue and make a new one. Other queues go on
 * unless the reset took them along; memory in VRAM may be lost, which tuff_queue_status() tells. The kernel marks a
 * job that it killed as ended: a wait that slept for the job reports the loss; a poll, or a wait that finds the job
 * ended, reports it only after the queue's status was asked, as Vulkan's fences do. After a kernel that may hang,
 * ask. */
#ifndef TUFF_QUEUE_H
#define TUFF_QUEUE_H

#include <tuff/base.h>
#include <tuff/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- queues ----------------------------------------------------------------------------------- */

enum tuff_priority {
	TUFF_PRIORITY_NORMAL,
	TUFF_PRIORITY_LOW,
	TUFF_PRIORITY_HIGH,     /* needs CAP_SYS_NICE */
	TUFF_PRIORITY_REALTIME, /* the kernel's "very high"; the same */
};

struct tuff_queue_create_info {
	enum tuff_engine engine;
	unsigned ring; /* which of the engine's rings, below tuff_device_info's count */
	enum tuff_priority priority;
};

/* -EINVAL: no such ring; -EACCES: the priority is not allowed; -ENOTSUP: no packets for this chip yet. Thread safe.
 */
TUFF_API TUFF_CHECK int tuff_queue_create(struct tuff_device *device, const struct tuff_queue_create_info *info,
					  struct tuff_queue **queue);
/* Waits for its jobs, then frees. Points of it are dead after that: -EBADF. NULL is allowed. -EBUSY: commands are
 * being written. One thread at a time. */
TUFF_API int tuff_queue_destroy(struct tuff_queue *queue);

struct tuff_queue_status {
	bool lost;   /* make a new queue */
	bool guilty; /* a job of this queue caused the reset; false, too, if a later one was on the GPU with it */
	bool vram_lost; /* content of VRAM is undefined since */
};

/* Asks the kernel. Two ioctls. Thread safe. */
TUFF_API TUFF_CHECK int tuff_queue_status(struct tuff_queue *queue, struct tuff_queue_status *status);

/* --- jobs ------------------------------------------------------------------------------------- */

struct tuff_point {
	struct tuff_queue *queue; /* NULL: has always been reached */
	uint64_t seq;
};

struct tuff_sync_point {
	struct tuff_sync *sync;
	uint64_t value; /* of a timeline; 0: the sync is binary */
};

/* What a job waits for before it starts, and what it signals when it ends; syncs are of the queue's device. Counts
 * up to 64, 32 and 32; points of other devices count among the 32 waits as well. */
struct tuff_order {
	const struct tuff_point *after; /* of any device of this process */
	unsigned after_count;
	const struct tuff_sync_point *wait; /* something that signals each has been submitted already */
	unsigned wait_count;
	const struct tuff_sync_point *signal;
	unsigned signal_count;
};

enum tuff_begin_flags {
	TUFF_ORDERED = 1 << 0, /* after all earlier jobs of this queue */
	TUFF_NOWAIT = 1 << 1,  /* -EBUSY instead of waiting when the queue has 24 unfinished jobs (but not for
				* another thread's tuff_submit()) */
};

/* Starts a job. The queue is locked for other threads until tuff_submit() or tuff_abandon(), and *cmd belongs to
 * the calling thread. -EBUSY; -EDEADLK: this thread is writing a job of the queue already; -ECANCELED: the queue is
 * lost. Thread safe. */
TUFF_API TUFF_CHECK int tuff_begin(struct tuff_queue *queue, unsigned flags, struct tuff_cmd **cmd);
/* Submits it; *cmd is gone, whatever happens but -EPERM. order and point may be NULL. -ECANCELED: the queue, or a
 * point that the job waits for, is lost; -ENOENT: a sync that nothing signals yet; the error of the first command
 * that found no memory; -EFAULT: registered memory was unmapped; -EPERM: another thread began it. One ioctl, a
 * second after memory came or went, four for each point of another device. */
TUFF_API TUFF_CHECK int tuff_submit(struct tuff_cmd *cmd, const struct tuff_order *order, struct tuff_point *point);
/* Drops it. NULL is allowed. -EPERM: another thread began it. */
TUFF_API int tuff_abandon(struct tuff_cmd *cmd);

/* Commands, for either engine unless it says so (the other: -EINVAL). A command that fails leaves the job as it
 * was. All: from the thread that began; -EPERM for others. */

struct tuff_dispatch {
	struct tuff_kernel *kernel;
	uint32_t grid[3];  /* work-items; 0 counts as 1; the groups at the far edges may be partial */
	uint32_t group[3]; /* work-items of a workgroup; 0 counts as 1 */
	/* The part of the grid that runs, in workgroups; all six zero: all of it, else each group_count is at least
	 * 1. Ids and sizes that the kernel sees are those of the whole grid. */
	uint32_t first_group[3], group_count[3];
	uint32_t dynamic_lds_B;
	const void *args; /* copied; laid out as the kernel declares them */
	uint32_t args_B;  /* at most tuff_kernel_info.args_B, and a struct's padding; the rest is zero */
};

/* COMPUTE. -EINVAL: outside the limits of chip or kernel; -EXDEV. */
TUFF_API TUFF_CHECK int tuff_cmd_dispatch(struct tuff_cmd *cmd, const struct tuff_dispatch *dispatch);
/* What follows starts when all before is done, and sees what it wrote. */
TUFF_API TUFF_CHECK int tuff_cmd_barrier(struct tuff_cmd *cmd);
/* When all before is done and visible to the host: the 64-bit value to va, a multiple of 8. */
TUFF_API TUFF_CHECK int tuff_cmd_signal(struct tuff_cmd *cmd, uint64_t va, uint64_t value);
/* When all before is done: the GPU's counter, 64 bits, to va, a multiple of 8; see tuff_device_time(). */
TUFF_API TUFF_CHECK int tuff_cmd_timestamp(struct tuff_cmd *cmd, uint64_t va);
/* Writes count dwords, 1 to 60, to va, a multiple of 4. */
TUFF_API TUFF_CHECK int tuff_cmd_write(struct tuff_cmd *cmd, uint64_t va, const uint32_t *data, unsigned count);
/* COMPUTE: waits until the dword at va (TUFF_MEM_UNCACHED, a multiple of 4), unsigned, is at least value. What
 * follows sees what was written before the value, by whomever. The kernel resets a ring that waits for seconds:
 * only for what submitted work will write. */
TUFF_API TUFF_CHECK int tuff_cmd_wait_value(struct tuff_cmd *cmd, uint64_t va, uint32_t value);
/* COPY: copies size_B bytes; they may not overlap. */
TUFF_API TUFF_CHECK int tuff_cmd_copy(struct tuff_cmd *cmd, uint64_t dst, uint64_t src, uint64_t size_B);
/* COPY: fills size_B bytes with a byte. */
TUFF_API TUFF_CHECK int tuff_cmd_fill(struct tuff_cmd *cmd, uint64_t dst, uint8_t value, uint64_t size_B);
/* Appends 1 to 64 dwords of the caller's own packets (PM4 or SDMA of the chip's generation) in one piece. They are
 * not looked at. */
TUFF_API TUFF_CHECK int tuff_cmd_packet(struct tuff_cmd *cmd, const uint32_t *dw, unsigned count);
/* A block that lives as long as the job: size_B up to 16384 bytes at a multiple of align_B, a power of two up to
 * 256. The CPU only writes it. */
TUFF_API TUFF_CHECK int tuff_cmd_data(struct tuff_cmd *cmd, uint32_t size_B, uint32_t align_B, void **map,
				      uint64_t *va);

/* --- waiting ----------------------------------------------------------------------------------
 *
 * A timeout counts from the call; 0 and less: only look. Arrays have at most 64 points. */

#define TUFF_FOREVER INT64_MAX

/* 1: reached; 0: not yet; -ECANCELED: never, its queue was lost, as far as that was noticed. No ioctl. Thread safe.
 */
TUFF_API TUFF_CHECK int tuff_poll(struct tuff_point point);
/* Waits up to timeout_ns, in the end by sleeping. -ETIMEDOUT, -ECANCELED. Thread safe. */
TUFF_API TUFF_CHECK int tuff_wait(struct tuff_point point, int64_t timeout_ns);
/* Waits until all are reached, or the first failure. Thread safe. */
TUFF_API TUFF_CHECK int tuff_wait_all(const struct tuff_point *points, unsigned count, int64_t timeout_ns);
/* Waits until one is reached or lost, and says which; the error is that one's. Points may be of several devices.
 * Thread safe. */
TUFF_API TUFF_CHECK int tuff_wait_any(const struct tuff_point *points, unsigned count, int64_t timeout_ns,
				      unsigned *index);

/* --- synchronisation objects ------------------------------------------------------------------ */

/* A DRM syncobj: binary, or a timeline of rising values; as Vulkan drivers share them. A job that is lost, or whose
 * process dies, signals it all the same, the latter perhaps after the process was reaped.
 *
 * All functions on syncs are thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_create(struct tuff_device *device, bool signaled, struct tuff_sync **sync);
/* Jobs that wait for it go on doing so. NULL is allowed. */
TUFF_API int tuff_sync_destroy(struct tuff_sync *sync);
/* From the host. value 0: binary. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_signal(struct tuff_sync *sync, uint64_t value);
TUFF_API TUFF_CHECK int tuff_sync_reset(struct tuff_sync *sync);
/* Waits until it is signaled (value 0) or the timeline is at value, also when nothing was submitted that does so.
 * -ETIMEDOUT. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_wait(struct tuff_sync *sync, uint64_t value, int64_t timeout_ns);
/* Where the timeline stands. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_query(struct tuff_sync *sync, uint64_t *value);
/* The object itself as a file descriptor, for another process; and back. fds stay, or become, the caller's. */
TUFF_API TUFF_CHECK int tuff_sync_export(struct tuff_sync *sync, int *fd);
TUFF_API TUFF_CHECK int tuff_sync_import(struct tuff_device *device, int fd, struct tuff_sync **sync);
/* Its present fence as a sync file, for drivers that know only those; and a sync made from one. -EINVAL: it has no
 * fence. */
TUFF_API TUFF_CHECK int tuff_sync_export_file(struct tuff_sync *sync, int *fd);
TUFF_API TUFF_CHECK int tuff_sync_import_file(struct tuff_device *device, int fd, struct tuff_sync **sync);

#ifdef __cplusplus
}
#endif

#endif

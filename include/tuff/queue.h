/* Queues: commands, submission, waiting, synchronisation objects.
 *
 *   queue    where jobs are submitted; has a kernel context of its own, hence the unit of loss
 *   cmd      the commands of one job while they are written
 *   point    a moment of a queue: the end of one job; a value, which needs no freeing
 *   sync     a kernel synchronisation object, which other processes and drivers know
 *
 *     tuff_begin(queue, 0, &cmd);
 *     tuff_cmd_dispatch(cmd, &dispatch);
 *     tuff_submit(cmd, NULL, &point);
 *     tuff_wait(point, TUFF_FOREVER);
 *
 * Ownership. The caller destroys queues and syncs. A cmd belongs to its queue and to the thread that began it, and
 * ends with tuff_submit() or tuff_abandon().
 *
 * Order. Jobs of one queue start in order and may overlap; with TUFF_ORDERED a job waits for all before it. Jobs of
 * different queues are not ordered unless struct tuff_order says so.
 *
 * Visibility. A job sees all that was written before it began, by any writer; its own writes are visible to every
 * reader when its point is reached. Within a job, tuff_cmd_barrier() orders commands that depend on each other.
 *
 * Loss. When a job hangs, the kernel resets the ring and the queue is lost for good: points that were not reached
 * give -ECANCELED, and so does every later submission. Destroy the queue and make a new one. Other queues go on
 * unless the reset took them along; memory in VRAM may be lost, which tuff_queue_query() reports. The kernel marks
 * a job that it killed as ended: a wait that slept for the job reports the loss; a poll, or a wait that finds the
 * job ended, reports it only after tuff_queue_query(), as Vulkan's fences do. After a kernel that may hang, query
 * the queue.
 *
 * Threads. A queue may be used by several threads, which take turns job by job. */
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
	TUFF_PRIORITY_REALTIME, /* the kernel's "very high"; needs CAP_SYS_NICE, too */
};

struct tuff_queue_create_info {
	enum tuff_engine engine;
	unsigned ring; /* index of a ring, below tuff_device_info.compute_rings or copy_rings */
	enum tuff_priority priority;
};

/* Makes a queue on a ring of the device. -EINVAL: no such ring; -EACCES: the priority is not allowed. Thread
 * safe. */
TUFF_API TUFF_CHECK int tuff_queue_create_sized(struct tuff_device *device,
						const struct tuff_queue_create_info *info, size_t info_B,
						struct tuff_queue **queue);
TUFF_INLINE int tuff_queue_create(struct tuff_device *device, const struct tuff_queue_create_info *info,
				  struct tuff_queue **queue)
{
	return tuff_queue_create_sized(device, info, sizeof(*info), queue);
}
/* Waits for the queue's jobs, then frees it. Its points are dead after that: -EBADF. NULL is allowed. -EBUSY:
 * commands are being written. One thread at a time. */
TUFF_API int tuff_queue_destroy(struct tuff_queue *queue);

struct tuff_queue_status {
	bool lost;      /* make a new queue */
	bool guilty;    /* a job of this queue caused the reset; false, too, if a later job ran beside it */
	bool vram_lost; /* content of VRAM is undefined since */
};

/* Queries from the kernel whether the queue was lost. Two ioctls. Thread safe. */
TUFF_API TUFF_CHECK int tuff_queue_query_sized(struct tuff_queue *queue, struct tuff_queue_status *status,
					       size_t status_B);
TUFF_INLINE int tuff_queue_query(struct tuff_queue *queue, struct tuff_queue_status *status)
{
	return tuff_queue_query_sized(queue, status, sizeof(*status));
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* The end of a job. */
struct tuff_point {
	struct tuff_queue *queue; /* NULL: has always been reached */
	uint64_t seq;
};

/* A state of a sync: signaled, or a timeline that has reached a value. */
struct tuff_sync_point {
	struct tuff_sync *sync;
	uint64_t value; /* the timeline's; 0: the sync is binary */
};

/* Waits of a job before it starts, and signals when it ends; syncs are of the queue's device. Counts up to 64, 32
 * and 32; points of other devices count among the 32 waits as well. */
struct tuff_order {
	const struct tuff_point *after; /* points of any device of this process */
	unsigned after_count;
	const struct tuff_sync_point *wait; /* the work that signals each must have been submitted already */
	unsigned wait_count;
	const struct tuff_sync_point *signal;
	unsigned signal_count;
};

enum tuff_begin_flags {
	TUFF_ORDERED = 1 << 0, /* the job waits for all earlier jobs of this queue */
	TUFF_NOWAIT = 1 << 1,  /* -EBUSY instead of waiting when the queue has 24 unfinished jobs; the call still
				* waits for another thread's tuff_submit() */
};

/* Starts a job. The queue is locked for other threads until tuff_submit() or tuff_abandon(), and *cmd belongs to
 * the calling thread. -EBUSY: TUFF_NOWAIT; -EDEADLK: this thread is writing a job of the queue already; -ECANCELED:
 * the queue is lost. Thread safe. */
TUFF_API TUFF_CHECK int tuff_begin(struct tuff_queue *queue, unsigned flags, struct tuff_cmd **cmd);
/* Submits the job. cmd ends, also when the call fails, except with -EPERM. order and point may be NULL.
 *
 * -ECANCELED: the queue, or a point that the job waits for, is lost; -ENOENT: a sync that nothing signals yet; the
 * error of the first command that found no memory; -EFAULT: registered memory was unmapped; -EPERM: another thread
 * began it. One ioctl; one more after memory came or went; four more for each point of another device. One thread
 * at a time. */
TUFF_API TUFF_CHECK int tuff_submit_sized(struct tuff_cmd *cmd, const struct tuff_order *order, size_t order_B,
					  struct tuff_point *point);
TUFF_INLINE int tuff_submit(struct tuff_cmd *cmd, const struct tuff_order *order, struct tuff_point *point)
{
	return tuff_submit_sized(cmd, order, sizeof(*order), point);
}
/* Drops the job. NULL is allowed. -EPERM: another thread began it. One thread at a time. */
TUFF_API int tuff_abandon(struct tuff_cmd *cmd);

/* --- commands ---------------------------------------------------------------------------------
 *
 * A command is for either engine unless its description names one; on the other it gives -EINVAL. A command that
 * fails leaves the job as it was. Only the thread that began the job may call: -EPERM for others. */

/* A kernel launch. */
struct tuff_dispatch {
	struct tuff_kernel *kernel;
	uint32_t grid[3];  /* work-items; 0 counts as 1; the groups at the far edges may be partial */
	uint32_t group[3]; /* work-items of a workgroup; 0 counts as 1 */
	/* The part of the grid that runs, in workgroups. All six 0: the whole grid; else each group_count is at
	 * least
	 * 1. The kernel sees ids and sizes of the whole grid. */
	uint32_t first_group[3], group_count[3];
	uint32_t dynamic_lds_B;
	const void *args; /* copied; laid out as the kernel declares them */
	uint32_t args_B;  /* at most tuff_kernel_info.args_B, and a struct's padding; the rest is zero */
};

/* COMPUTE: launches a kernel. -EINVAL: outside the limits of chip or kernel; -EXDEV: code of another device. */
TUFF_API TUFF_CHECK int tuff_cmd_dispatch_sized(struct tuff_cmd *cmd, const struct tuff_dispatch *dispatch,
						size_t dispatch_B);
TUFF_INLINE int tuff_cmd_dispatch(struct tuff_cmd *cmd, const struct tuff_dispatch *dispatch)
{
	return tuff_cmd_dispatch_sized(cmd, dispatch, sizeof(*dispatch));
}
/* Makes later commands start when all earlier ones are done, and see their writes. */
TUFF_API TUFF_CHECK int tuff_cmd_barrier(struct tuff_cmd *cmd);
/* Writes a 64-bit value to va, a multiple of 8, when all earlier commands are done and visible to the host. */
TUFF_API TUFF_CHECK int tuff_cmd_signal(struct tuff_cmd *cmd, uint64_t va, uint64_t value);
/* Writes the GPU's counter, 64 bits, to va, a multiple of 8, when all earlier commands are done. tuff_device_time()
 * converts it. */
TUFF_API TUFF_CHECK int tuff_cmd_timestamp(struct tuff_cmd *cmd, uint64_t va);
/* Writes count dwords, 1 to 60, to va, a multiple of 4. */
TUFF_API TUFF_CHECK int tuff_cmd_write(struct tuff_cmd *cmd, uint64_t va, const uint32_t *data, unsigned count);
/* COMPUTE: waits until the dword at va (TUFF_MEM_UNCACHED, a multiple of 4), unsigned, is at least value. Later
 * commands see all that was written before the value, by any writer. The kernel resets a ring that waits for
 * seconds: wait only for a value that submitted work will write. */
TUFF_API TUFF_CHECK int tuff_cmd_wait_value(struct tuff_cmd *cmd, uint64_t va, uint32_t value);
/* COPY: copies size_B bytes; source and destination may not overlap. */
TUFF_API TUFF_CHECK int tuff_cmd_copy(struct tuff_cmd *cmd, uint64_t dst, uint64_t src, uint64_t size_B);
/* COPY: fills size_B bytes with a byte. */
TUFF_API TUFF_CHECK int tuff_cmd_fill(struct tuff_cmd *cmd, uint64_t dst, uint8_t value, uint64_t size_B);
/* Appends 1 to 64 dwords of the caller's own packets (PM4 or SDMA of the chip's generation) in one piece. The
 * library does not check them. */
TUFF_API TUFF_CHECK int tuff_cmd_packet(struct tuff_cmd *cmd, const uint32_t *dw, unsigned count);
/* Gives a block of memory that lives as long as the job: size_B up to 16384 bytes at a multiple of align_B, a power
 * of two up to 256. The CPU only writes it. */
TUFF_API TUFF_CHECK int tuff_cmd_data(struct tuff_cmd *cmd, uint32_t size_B, uint32_t align_B, void **map,
				      uint64_t *va);

/* --- waiting ----------------------------------------------------------------------------------
 *
 * A timeout counts from the call; with 0 or less the call polls once. Arrays have at most 64 points. */

#define TUFF_FOREVER INT64_MAX

/* Polls a point. 1: reached; 0: not yet; -ECANCELED: never, for its queue was lost, as far as the library has
 * noticed. No ioctl. Thread safe. */
TUFF_API TUFF_CHECK int tuff_poll(struct tuff_point point);
/* Waits for a point up to timeout_ns, in the end by sleeping. -ETIMEDOUT; -ECANCELED: its queue was lost. Thread
 * safe. */
TUFF_API TUFF_CHECK int tuff_wait(struct tuff_point point, int64_t timeout_ns);
/* Waits until all points are reached, or the first failure. Thread safe. */
TUFF_API TUFF_CHECK int tuff_wait_all(const struct tuff_point *points, unsigned count, int64_t timeout_ns);
/* Waits until one point is reached or lost, and gives its index; a lost one's error is returned. Points may be of
 * several devices. Thread safe. */
TUFF_API TUFF_CHECK int tuff_wait_any(const struct tuff_point *points, unsigned count, int64_t timeout_ns,
				      unsigned *index);

/* --- synchronisation objects ------------------------------------------------------------------ */

/* Makes a DRM syncobj, as Vulkan drivers share them: binary, or a timeline of rising values. A job that is lost, or
 * whose process dies, signals it all the same, in the latter case perhaps after the process was reaped. Thread
 * safe.
 */
TUFF_API TUFF_CHECK int tuff_sync_create(struct tuff_device *device, bool signaled, struct tuff_sync **sync);
/* Destroys it; jobs that wait for it keep waiting. NULL is allowed. Thread safe. */
TUFF_API int tuff_sync_destroy(struct tuff_sync *sync);
/* Signals it from the host. value: the timeline's new value; 0: binary. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_signal(struct tuff_sync *sync, uint64_t value);
/* Takes its fence away: the sync is unsignaled again. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_reset(struct tuff_sync *sync);
/* Waits until it is signaled (value 0) or the timeline has reached value, also when no work that signals it was
 * submitted yet. -ETIMEDOUT. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_wait(struct tuff_sync *sync, uint64_t value, int64_t timeout_ns);
/* Gives the value that the timeline has reached. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_query(struct tuff_sync *sync, uint64_t *value);
/* Exports the object itself as a file descriptor, for another process. The caller closes fd. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_export(struct tuff_sync *sync, int *fd);
/* Imports the object of a file descriptor, which stays the caller's. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_import(struct tuff_device *device, int fd, struct tuff_sync **sync);
/* Exports its present fence as a sync file, for drivers that know only those. The caller closes fd. -EINVAL: it has
 * no fence. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_export_file(struct tuff_sync *sync, int *fd);
/* Makes a sync of a sync file, which stays the caller's. Thread safe. */
TUFF_API TUFF_CHECK int tuff_sync_import_file(struct tuff_device *device, int fd, struct tuff_sync **sync);

#ifdef __cplusplus
}
#endif

#endif

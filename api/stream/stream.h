/* Streams: flows (flow/flow.h), HIP's rules of order between them, and the memory that their operations read. */
#ifndef API_STREAM_H
#define API_STREAM_H

#include "api/base/entry.h"

struct hip_cache;
struct hip_frontier;
struct hip_point;
struct hip_stream_capture;

/* Memory for kernel arguments, in chunks that go round: a chunk is used again when the last operation that reads it
 * has ended. */
struct hip_chunk {
	struct hip_chunk *next; /* a ring of them */
	char *base;             /* owned */
	uint64_t last;          /* operations below read it */
};

/* The last launch of a kernel: what another one of the same shape has in common with it. */
#define HIP_HIDDEN_MAX_B 320u
#define HIP_SHAPES       4u
struct hip_shape {
	const struct hip_kernel *kernel; /* never followed; NULL: none */
	unsigned codes;                  /* hip_codes then */
	uint32_t blocks[3], threads[3], lds_B;
	struct flow_again again;
	char hidden[HIP_HIDDEN_MAX_B]; /* the compiler's arguments */
};

struct hip_stream {
	struct hip_retired retired; /* once it has no references */
	_Atomic unsigned refs;      /* the program's, and one for each point */
	uint64_t handle;
	struct hip_device *device;
	unsigned flags;
	int priority;
	struct hip_stream *next, **link; /* in the device's list; link NULL: not any more */
	struct flow *flow;               /* a reference; destroyed when the stream is gone */
	_Atomic bool closing;            /* somebody ends it */
	_Atomic bool freed;              /* nobody has it */
	_Atomic bool ending;             /* no thread begins to look at its progress any more */
	_Atomic bool gone;               /* then: none of its work runs, and its flow is destroyed */
	/* HIP's rules in one comparison: while *rule is what was seen there, nothing new stands before what is
	 * given to the stream next. A blocking stream's is how much the null stream was given, and seen what of
	 * that it waits for; the null stream's is how many blocking streams there are, and seen itself; one that is
	 * closed has none that fits. The rule is written under the device's lock, seen under the stream's. */
	const _Atomic uint64_t *_Atomic rule;
	_Atomic uint64_t seen;
	struct hip_stream *null; /* whose flow->written it is: a reference. Guarded by the device's lock, as is: */
	uint64_t null_saw;   /* so many operations and frees here the null stream is behind: under its lock; and */
	uint64_t null_round; /* when it looked last */
	uint64_t done;       /* once it is gone: operations below have ended, the others never will */
	_Atomic unsigned users;                /* threads between hip_stream_acquire() and hip_stream_release() */
	struct hip_frontier *_Atomic frontier; /* what it is ordered behind; written under frontier.c's lock */
	_Atomic uint64_t frees;                /* of memory, so far */
	_Atomic uint64_t host_frees;           /* so many frees have ended, and the host waited for that */
	_Atomic uint64_t host_synced;          /* operations and frees of the last point that the host waited for */
	struct hip_cache *_Atomic caches;      /* of memory that was freed on it, a pool each; pool.c */
	struct hip_stream_capture *_Atomic capture; /* in a capture; NULL: none. Written under capture.c's lock */
	/* Guarded by the flow's lock: */
	struct hip_chunk *args; /* the current one; owned */
	unsigned chunks;
	uint32_t args_at;                    /* of it is used; without one, all */
	struct hip_shape shapes[HIP_SHAPES]; /* by the kernel's address */
};

/* A handle that is a name: the null stream, a thread's own. Made when first named. ContextIsDestroyed: neither. */
hipError_t hip_stream_named(hipStream_t handle, struct hip_stream **stream);
static inline hipError_t hip_stream_of(hipStream_t handle, struct hip_stream **stream)
{
	*stream = hip_find(HIP_STREAM, handle);
	return __builtin_expect(*stream != NULL, 1) ? hipSuccess : hip_stream_named(handle, stream);
}
/* Where copies and fills go that no device's memory but that one's takes part in (NULL: there is no such): into the
 * stream, or, as CLR has it, if that is another device's, into the null stream of the device, behind what the
 * stream has. Then what the stream is given next is behind them. None is captured. */
hipError_t hip_stream_redirect(struct hip_stream *stream, struct hip_device *device, struct hip_stream **to);
hipError_t hip_stream_return(struct hip_stream *stream, struct hip_stream *from);
hipError_t hip_null_stream(struct hip_device *device, struct hip_stream **stream);
/* For short ways: NULL, too, where one has to be made first. */
static inline struct hip_stream *hip_stream_of_nocreate(hipStream_t handle)
{
	struct hip_stream *s = hip_find(HIP_STREAM, handle);

	if (__builtin_expect(s != NULL, 1))
		return s;
	return handle ? NULL : atomic_load_explicit(&hip_current()->null, memory_order_acquire);
}
/* As hipStreamCreateWithPriority() and hipStreamDestroy() do. */
hipError_t hip_stream_create(struct hip_device *device, unsigned flags, int priority, struct hip_stream **stream);
hipError_t hip_stream_destroy(hipStream_t handle);
struct hip_stream *hip_stream_get(struct hip_stream *stream);
void hip_stream_put(struct hip_stream *stream);
/* Has what follows begin behind what HIP's rules name: the null stream's work, or that of all others. The lock is
 * held; at an error it is let go. */
hipError_t hip_stream_order(struct hip_stream *stream);
/* The null stream waits for it, and it for the null stream. */
static inline bool hip_stream_blocks(const struct hip_stream *stream)
{
	return !(stream->flags & hipStreamNonBlocking);
}
/* It lives, and HIP's rules order it behind nothing new. */
static inline bool hip_stream_is_clear(const struct hip_stream *stream)
{
	const _Atomic uint64_t *rule = atomic_load_explicit(&stream->rule, memory_order_acquire);

	/* Acquire: a thread without the lock sees the operation that waits for it. */
	return atomic_load_explicit(rule, memory_order_relaxed) ==
	       atomic_load_explicit(&stream->seen, memory_order_acquire);
}
/* How many operations it was given. The lock is held, or others may give it more meanwhile. */
static inline uint64_t hip_stream_written(const struct hip_stream *stream)
{
	return atomic_load_explicit(&stream->flow->written, memory_order_acquire);
}
/* A lock of a flow whose holder calls HSA: HSA is to know that this thread has it. */
static inline void hip_flow_lock(struct flow *flow)
{
	drv_lock(&flow->lock);
	atomic_store_explicit(&flow->holder, hip.hsa->thread(), memory_order_relaxed);
}
static inline void hip_flow_unlock(struct flow *flow)
{
	atomic_store_explicit(&flow->holder, NULL, memory_order_relaxed);
	drv_unlock(&flow->lock);
	/* Packets of tools and other clients, whose doorbells found the lock taken. */
	if (flow->ops->released)
		flow->ops->released(flow);
}
/* What a wait or an operation failed with becomes what the device gives from now on. */
hipError_t hip_stream_lost(struct hip_stream *stream, int r);
/* Takes the lock, and does so. */
static inline hipError_t hip_stream_begin(struct hip_stream *stream)
{
	const struct hip_device *device = stream->device;
	hipError_t r = hip_fault(device);

	if (__builtin_expect(r, 0))
		return r;
	hip_flow_lock(stream->flow);
	if (__builtin_expect(!hip_stream_is_clear(stream), 0))
		r = hip_stream_order(stream);
	return r;
}
static inline void hip_stream_done(struct hip_stream *stream)
{
	hip_flow_unlock(stream->flow);
}
/* What the stream is given next begins behind what HIP's rules name, although nothing is given to it yet. */
void hip_stream_follow_rules(struct hip_stream *stream);
/* Between begin and done: */
/* What an operation that the flow refused means for the stream: r is -errno, or 0. */
static inline hipError_t hip_stream_result(struct hip_stream *stream, int r)
{
	return __builtin_expect(r, 0) ? hip_stream_lost(stream, r) : hipSuccess;
}
/* Gives the stream one operation, which is copied. OutOfMemory: it was not taken. */
static inline hipError_t hip_stream_submit(struct hip_stream *stream, const struct flow_op *op)
{
	return hip_stream_result(stream, hip.hsa->submit(stream->flow, op));
}
/* Gives it a dispatch, header and completion signal included. -errno: for hip_stream_result(). Every dispatch of a
 * stream goes this way, but for those of graphs' segments. */
static inline int hip_stream_dispatch(struct hip_stream *stream, const hsa_kernel_dispatch_packet_t *packet)
{
	return hip.hsa->dispatch(stream->flow, packet);
}
/* The order of an operation that waits for those before, and whose completion others see. */
#define HIP_BARRIER_HEADER                                                                                         \
	(1u << HSA_PACKET_HEADER_BARRIER | HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |      \
	 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)
/* Memory of a pool of the host's that the device reaches; hsa_amd_memory_pool_free(). NULL: none. */
void *hip_allocate_for(const struct hip_device *device, hsa_amd_memory_pool_t pool, size_t size_B);
/* The same for kernels' arguments, in the device's memory where the CPU sees that. */
void *hip_args_allocate(struct hip_device *device, size_t size_B);
/* False: no memory. */
bool hip_stream_next_chunk(struct hip_stream *stream, uint32_t size_B);
#define HIP_ARGS_ALIGN 64u
static inline uint32_t hip_args_size(uint32_t size_B)
{
	return (size_B + HIP_ARGS_ALIGN - 1) & ~(HIP_ARGS_ALIGN - 1);
}
#define HIP_CHUNK_B 65536u
/* Memory that the next operation reads, of a multiple of 64. NULL: none left. */
static inline void *hip_stream_args(struct hip_stream *stream, uint32_t size_B)
{
	uint32_t at = stream->args_at;

	size_B = hip_args_size(size_B);
	if (__builtin_expect(size_B > HIP_CHUNK_B - at, 0)) {
		if (!hip_stream_next_chunk(stream, size_B))
			return NULL;
		at = 0;
	}
	stream->args_at = at + size_B;
	return stream->args->base + at;
}
/* Memory of the host's that what follows reads: pageable memory is put aside there. NULL: none left. */
#define HIP_STAGE_MAX_B HIP_CHUNK_B /* 64 KiB: CUDA's limit */
static inline void *hip_stream_stage(struct hip_stream *stream, size_t size_B)
{
	return hip_stream_args(stream, (uint32_t)size_B);
}
/* Another thread may destroy the stream. False: it has, and none of its work runs any more; true: it does not
 * before hip_stream_release(). */
bool hip_stream_acquire(struct hip_stream *stream);
static inline void hip_stream_release(struct hip_stream *stream)
{
	atomic_fetch_sub(&stream->users, 1);
}
/* When nothing of the stream uses them any more. */
void hip_stream_free_args(struct hip_stream *stream);
/* What follows begins behind the point. */
hipError_t hip_stream_after(struct hip_stream *stream, const struct hip_point *point);
/* rt_flow_info.failed: the device is not to be used until it is reset. On HSA's own thread. */
void hip_flow_failed(hsa_status_t status, void *device);

/* The host has waited for all that the stream was given so far. */
static inline bool hip_stream_is_host_synced(const struct hip_stream *stream)
{
	uint64_t synced = atomic_load_explicit(&stream->host_synced, memory_order_acquire);

	return synced == hip_stream_written(stream) + atomic_load_explicit(&stream->frees, memory_order_acquire);
}

/* A wait for the stream failed: what it has put on its way ends all the same, or does not begin any more. The
 * stream takes nothing from then on. */
void hip_stream_drop(struct hip_stream *stream);
/* All streams of the device. */
hipError_t hip_device_wait(struct hip_device *device);
/* Calls fn with each of the device's streams. */
void hip_streams_each(struct hip_device *device, void (*fn)(struct hip_stream *stream, void *arg), void *arg);

/* What the folders above have to do for streams; NULL until one of them has. */
struct hip_stream_hooks {
	/* Memory that was freed on the stream is the pools' own business from now on; the host has waited for it.
	 */
	void (*_Atomic closing)(struct hip_stream *stream);
	void (*_Atomic freed)(struct hip_stream *stream); /* by its last reference: its caches go */
	/* The host has waited for work of the device: pools give back what is beyond their thresholds. */
	void (*_Atomic host_waited)(struct hip_device *device);
	/* 0, or what the device's cooperative flow failed with: a stream that waited for it may go on. */
	int (*_Atomic cooperative_state)(const struct hip_device *device);
};
extern DRV_OWN struct hip_stream_hooks hip_stream_hooks;

/* For hipDeviceReset(). Waits until each stream of the device is done, or waits for what will not come by itself;
 * *busy becomes true, and the result changes, while functions of the host run for the device. */
void hip_streams_retire(struct hip_device *device, uint64_t (*host_calls)(struct hip_device *device, bool *busy));
/* For hipDeviceReset(), behind hip_grids_abandon(): the device has failed, and all its streams end. */
void hip_streams_reset(struct hip_device *device);
#endif

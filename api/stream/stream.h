/* Streams: ordered queues of GPU work, with HIP's rules of order between them.
 *
 *   hip_stream   a stream; counted: the program holds a reference, and each point in it. Its operations go to its
 *                `flow` (flow/flow.h), an ordered queue of our HSA library
 *   hip_chunk    memory for the kernel arguments of a stream's dispatches; owned by the stream
 *   hip_shape    the last launch of a kernel, so that the next one of the same shape is cheaper; part of the stream
 *
 * Locks: "the stream's lock" is its flow's, taken by hip_stream_begin() and released by hip_stream_done(); the
 * device's lock, inside it, guards the device's list of streams.
 *
 * Order. Blocking streams and the null stream wait for each other's earlier work (HIP's legacy null stream). Each
 * submission checks that with one comparison, in hip_stream_is_clear(); hip_stream_order() adds the waits.
 */
#ifndef API_STREAM_H
#define API_STREAM_H

#include <sys/queue.h>

#include "api/base/entry.h"

struct hip_cache;
struct hip_frontier;
struct hip_point;
struct hip_stream_capture;

/* Memory for kernel arguments. A stream has a ring of chunks: a chunk is used again when the last operation that
 * reads it has ended. */
struct hip_chunk {
	struct hip_chunk *next; /* in the ring */
	char *base;             /* owned */
	uint64_t last;          /* operations of the stream below this value read the chunk */
};

/* The last launch of a kernel: the parts that another launch of the same shape has in common with it. */
#define HIP_HIDDEN_MAX_B 320u
#define HIP_SHAPES       16u
struct hip_shape {
	const struct hip_kernel *kernel; /* compared, never followed; NULL: none */
	unsigned codes;                  /* value of hip_codes at that launch */
	uint32_t blocks[3], threads[3], lds_B;
	struct flow_again again;
	char hidden[HIP_HIDDEN_MAX_B]; /* hidden arguments, which the compiler adds */
};

struct hip_stream {
	struct drv_retired retired; /* used when the last reference was put */
	_Atomic unsigned refs;      /* the program's reference, and one for each point */
	uint64_t handle;
	struct hip_device *device;
	unsigned flags;
	int priority;
	uint64_t id;                      /* hipStreamGetId() */
	_Atomic unsigned sync_policy;     /* hipSynchronizationPolicy */
	LIST_ENTRY(hip_stream) in_device; /* guarded by the device's lock */
	bool delisted;
	struct flow *flow;    /* a reference; destroyed when the stream is gone */
	_Atomic bool closing; /* a thread closes the stream */
	_Atomic bool freed;   /* the last reference was put */
	_Atomic bool ending;  /* hip_stream_acquire() fails from then on */
	_Atomic bool gone;    /* closed: none of the stream's work runs, and its flow is destroyed */
	/* HIP's rules of order in one comparison: while *rule equals `seen`, the next operation needs no further
	 * wait. For a blocking stream, *rule is the number of operations that the null stream was given, and `seen`
	 * is how many of them this stream waits for. For the null stream, *rule is its device's number of blocking
	 * streams, and `seen` stays 1, so that they are equal only while the null stream is the only one. A closed
	 * stream has a rule that never equals `seen`. The device's lock guards the writing of `rule`, the stream's
	 * that of `seen`. */
	const _Atomic uint64_t *_Atomic rule;
	_Atomic uint64_t seen;
	/* A reference to the null stream whose flow->written is *rule. Guarded by the device's lock. */
	struct hip_stream *null;
	/* Operations and frees of this stream that the null stream is ordered behind. Guarded by the null stream's
	 * lock. */
	uint64_t null_covers;
	/* The null stream's last search for new work that included this stream. Guarded by the device's lock. */
	uint64_t null_search;
	/* Set when the stream is gone: operations below this value have ended, the others never will. */
	uint64_t done;
	_Atomic unsigned users; /* threads between hip_stream_acquire() and hip_stream_release() */
	/* The work that must end before the stream's next work; written under frontier.c's lock. */
	struct hip_frontier *_Atomic frontier;
	_Atomic uint64_t frees;      /* memory frees on the stream so far */
	_Atomic uint64_t host_frees; /* frees that have ended and that the host has waited for */
	/* Operations plus frees of the last point that the host waited for. */
	_Atomic uint64_t host_synced;
	/* Owned by pool_cache.c: a cache for each pool whose memory was freed on the stream. */
	struct hip_cache *_Atomic caches;
	/* NULL: the stream does not capture. Written under hip_captures_lock. */
	struct hip_stream_capture *_Atomic capture;
	/* Guarded by the stream's lock: */
	struct hip_chunk *args; /* owned: the current chunk of the ring */
	unsigned chunks;
	uint32_t args_at;                    /* bytes of the current chunk in use; HIP_CHUNK_B without a chunk */
	struct hip_shape shapes[HIP_SHAPES]; /* indexed by the kernel's number */
};

/* Resolves the handles that are constants: the null stream, and a thread's own stream, which are made at their
 * first use. Errors: ContextIsDestroyed, when the handle is neither. */
hipError_t hip_stream_of_constant(hipStream_t handle, struct hip_stream **stream);
static inline hipError_t hip_stream_of(hipStream_t handle, struct hip_stream **stream)
{
	*stream = hip_find(HIP_STREAM, handle);
	return __builtin_expect(*stream != NULL, 1) ? hipSuccess : hip_stream_of_constant(handle, stream);
}
/* Chooses the stream for a copy or fill that involves the memory of `device` alone (NULL: of no device, or of
 * several). *to is `stream`, or, as in CLR, the null stream of `device` if `stream` is another device's; then that
 * null stream first waits for `stream`. hip_stream_return() makes `stream` wait for the operation afterwards.
 * Neither is captured. */
hipError_t hip_stream_redirect(struct hip_stream *stream, struct hip_device *device, struct hip_stream **to);
hipError_t hip_stream_return(struct hip_stream *stream, struct hip_stream *from);
hipError_t hip_null_stream(struct hip_device *device, struct hip_stream **stream);
/* For fast paths: returns NULL, too, when the null stream does not exist yet. */
static inline struct hip_stream *hip_stream_of_nocreate(hipStream_t handle)
{
	struct hip_stream *s = hip_find(HIP_STREAM, handle);

	if (__builtin_expect(s != NULL, 1))
		return s;
	return handle ? NULL : atomic_load_explicit(&hip_current()->null, memory_order_acquire);
}
/* The bodies of hipStreamCreateWithPriority() and hipStreamDestroy(). */
hipError_t hip_stream_create(struct hip_device *device, unsigned flags, int priority, struct hip_stream **stream);
hipError_t hip_stream_destroy(hipStream_t handle);
struct hip_stream *hip_stream_get(struct hip_stream *stream);
void hip_stream_put(struct hip_stream *stream);
/* Adds the waits that HIP's rules demand: a blocking stream for the null stream's work, the null stream for all
 * blocking streams'. The caller holds the stream's lock; an error releases it. */
hipError_t hip_stream_order(struct hip_stream *stream);
/* True when the stream and the null stream wait for each other. */
static inline bool hip_stream_blocks(const struct hip_stream *stream)
{
	return !(stream->flags & hipStreamNonBlocking);
}
/* True when the stream lives, and HIP's rules demand no further wait. */
static inline bool hip_stream_is_clear(const struct hip_stream *stream)
{
	const _Atomic uint64_t *rule = atomic_load_explicit(&stream->rule, memory_order_acquire);

	/* Acquire: a thread without the lock sees the operation that waits. */
	return atomic_load_explicit(rule, memory_order_relaxed) ==
	       atomic_load_explicit(&stream->seen, memory_order_acquire);
}
/* The number of operations submitted to the stream. Without the lock, other threads may submit more meanwhile. */
static inline uint64_t hip_stream_written(const struct hip_stream *stream)
{
	return atomic_load_explicit(&stream->flow->written, memory_order_acquire);
}
/* Takes a flow's lock for a thread that calls HSA with it: HSA reads in `holder` which thread has the lock. */
static inline void hip_flow_lock(struct flow *flow)
{
	drv_lock(&flow->lock);
	atomic_store_explicit(&flow->holder, hip.hsa->thread(), memory_order_relaxed);
}
static inline void hip_flow_unlock(struct flow *flow)
{
	atomic_store_explicit(&flow->holder, NULL, memory_order_relaxed);
	drv_unlock(&flow->lock);
	/* Submits packets of tools and other clients, whose doorbells found the lock taken. */
	if (flow->ops->released)
		flow->ops->released(flow);
}
/* Records a failed wait or operation (r: -errno) as the device's error, if the stream cannot go on. Returns the
 * error. */
hipError_t hip_stream_lost(struct hip_stream *stream, int r);
/* Takes the stream's lock and adds the waits that HIP's rules demand. At an error the lock is not held. */
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
/* Adds the waits that HIP's rules demand, although no operation follows yet. */
void hip_stream_follow_rules(struct hip_stream *stream);
/* The next functions are called between hip_stream_begin() and hip_stream_done(): */
/* Translates the result of a submission to the flow: -errno or 0. */
static inline hipError_t hip_stream_result(struct hip_stream *stream, int r)
{
	return __builtin_expect(r, 0) ? hip_stream_lost(stream, r) : hipSuccess;
}
/* Submits one operation, which is copied. OutOfMemory: the operation was not submitted. */
static inline hipError_t hip_stream_submit(struct hip_stream *stream, const struct flow_op *op)
{
	return hip_stream_result(stream, hip.hsa->submit(stream->flow, op));
}
/* Submits a dispatch; the packet includes header and completion signal. Returns -errno, for hip_stream_result().
 * Every dispatch of a stream is submitted here, except those of graph segments. */
static inline int hip_stream_dispatch(struct hip_stream *stream, const hsa_kernel_dispatch_packet_t *packet)
{
	return hip.hsa->dispatch(stream->flow, packet);
}
/* Packet header of an operation that waits for all earlier ones, and whose results other agents see. */
#define HIP_BARRIER_HEADER                                                                                         \
	(1u << HSA_PACKET_HEADER_BARRIER | HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |      \
	 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)
/* Allocates from a pool of the host, mapped for the device; freed by hsa_amd_memory_pool_free(). NULL: out of
 * memory. */
void *hip_allocate_for(const struct hip_device *device, hsa_amd_memory_pool_t pool, size_t size_B);
/* The same for kernel arguments: in the device's memory where the CPU can access that. */
void *hip_args_allocate(struct hip_device *device, size_t size_B);
/* False: out of memory. */
bool hip_stream_next_chunk(struct hip_stream *stream, uint32_t size_B);
#define HIP_ARGS_ALIGN 64u
static inline uint32_t hip_args_size(uint32_t size_B)
{
	return (size_B + HIP_ARGS_ALIGN - 1) & ~(HIP_ARGS_ALIGN - 1);
}
/* A staging copy of that size, and the arguments of the launches that read it. */
#define HIP_STAGE_MAX_B  65536u /* CUDA's limit */
#define HIP_STAGE_ARGS_B 4096u
#define HIP_CHUNK_B      (HIP_STAGE_MAX_B + HIP_STAGE_ARGS_B)
/* Memory that the next operation reads, aligned to 64 bytes. NULL: out of memory. */
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
/* Host memory that the next operation reads: a staging copy of pageable memory, of HIP_STAGE_MAX_B at most. The arguments of the
 * operation's launches have room in the same chunk: a chunk that was left before its operation is submitted could be
 * taken again, and overwritten. NULL: out of memory. */
static inline void *hip_stream_stage(struct hip_stream *stream, size_t size_B)
{
	void *stage = hip_stream_args(stream, hip_args_size((uint32_t)size_B) + HIP_STAGE_ARGS_B);

	if (stage)
		stream->args_at -= HIP_STAGE_ARGS_B;
	return stage;
}
/* Keeps the stream from being closed by another thread until hip_stream_release(). False: the stream is closed, and
 * none of its work runs any more. */
bool hip_stream_acquire(struct hip_stream *stream);
static inline void hip_stream_release(struct hip_stream *stream)
{
	atomic_fetch_sub(&stream->users, 1);
}
/* Frees the chunks when no operation of the stream uses them any more. */
void hip_stream_free_args(struct hip_stream *stream);
/* Makes the stream's further operations wait for the point. */
hipError_t hip_stream_after(struct hip_stream *stream, const struct hip_point *point);
/* The callback rt_flow_info.failed: the device returns errors until it is reset. Called on HSA's own thread. */
void hip_flow_failed(hsa_status_t status, void *device);

/* True when the host has waited for everything that was submitted to the stream. */
static inline bool hip_stream_is_host_synced(const struct hip_stream *stream)
{
	uint64_t synced = atomic_load_explicit(&stream->host_synced, memory_order_acquire);

	return synced == hip_stream_written(stream) + atomic_load_explicit(&stream->frees, memory_order_acquire);
}

/* Ends a stream whose wait failed: submitted work ends, deferred work is dropped, and the stream accepts nothing
 * from then on. */
void hip_stream_drop(struct hip_stream *stream);
/* Waits for all streams of the device. */
hipError_t hip_device_wait(struct hip_device *device);
/* Calls fn with each of the device's streams. */
void hip_streams_each(struct hip_device *device, void (*fn)(struct hip_stream *stream, void *arg), void *arg);

/* Functions of the folders above that streams call; NULL until set. */
struct hip_stream_hooks {
	/* The stream closes, and the host has waited for it: the pools take over the memory that was freed on
	 * it. */
	void (*_Atomic closing)(struct hip_stream *stream);
	void (*_Atomic freed)(struct hip_stream *stream); /* the last reference was put: free the stream's caches */
	/* The host has waited for work of the device: pools release memory beyond their thresholds. */
	void (*_Atomic host_waited)(struct hip_device *device);
	/* Returns 0, or the error of the device's cooperative flow: a stream that waited for that flow is not
	 * stopped by its failure. */
	int (*_Atomic cooperative_state)(const struct hip_device *device);
};
extern DRV_OWN struct hip_stream_hooks hip_stream_hooks;

/* For hipDeviceReset(): waits until each stream of the device has ended its work, or is blocked for good.
 * host_calls() counts the calls of host functions for the device, and sets *busy while one runs. */
void hip_streams_retire(struct hip_device *device, uint64_t (*host_calls)(struct hip_device *device, bool *busy));
/* For hipDeviceReset(), after hip_grids_abandon(): closes all streams of a device that has failed. */
void hip_streams_reset(struct hip_device *device);
#endif

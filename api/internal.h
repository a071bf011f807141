/* What the files of api/ share: the HIP runtime's nouns, who owns them, and its locks.
 *
 *   hip_device    a GPU, with its null stream
 *   hip_stream    a flow (flow/flow.h): operations of a GPU, in order
 *   hip_point      a point in a stream: below which operation. Events, waits and freed memory hold such points.
 *   hip_event     a point that the program can hold, and when it was reached
 *   hip_memory    an allocation or registered range, found by any address in it
 *   hip_binary    a fat binary that a program was linked with; loaded on a device when something of it is used
 *   hip_code      one code object on one device
 *   hip_kernel    a kernel of it: what a launch needs
 *   hip_array     an image in a device's memory (image.h)
 *   hip_texture   what kernels read or write one through (texture.h)
 *
 * Inside, functions give a hipError_t; the public ones record it (hip_end()).
 *
 * Locks, in order: initialisation, a stream's (its flow's), a device's, memory's, binaries'; last, arrays',
 * textures' and references', each by itself. None is held while the program's code runs. */
#ifndef API_INTERNAL_H
#define API_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define HIP_DEPRECATED
#include <hip/api/registration.h>
#include <hip/hip_runtime_api.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "drv/handle.h"
#include "drv/lock.h"
#include "hsa/interface.h"
#include "vm/tree.h"

#define HIP_DEVICES_MAX 64

struct hip_stream;
struct hip_frontier;
struct hip_pool;
struct hip_cache;
struct hip_stream_capture;
struct hip_grid_group;

/* --- root ------------------------------------------------------------------------------------- */

struct hip_device {
	int index;
	hsa_agent_t agent;
	hsa_amd_memory_pool_t vram;
	hsa_amd_memory_pool_t fine_vram; /* handle 0: there is none */
	hsa_amd_memory_pool_t args;      /* for kernels' arguments; handle 0: the host's, hip.kernarg */
	uint64_t vram_B;
	unsigned cus, lds_B, wave_lanes;
	_Atomic hipError_t fault;        /* what every call on the device gives until it is reset; 0: none */
	_Atomic unsigned heard;          /* faults that HSA has told of */
	_Atomic unsigned life;           /* how often it was reset */
	_Atomic unsigned losses;         /* with an error that stayed: then what was in its memory is lost */
	struct hip_stream *_Atomic null; /* owned; made when it is first used */
	pthread_mutex_t lock;            /* guards streams, and that no two null streams are made */
	struct hip_stream *streams;      /* borrowed: all that live, the null stream too */
	_Atomic uint64_t blocking; /* streams that the null stream waits for, and that wait for it, and itself */
	_Atomic unsigned flags;    /* hipSetDeviceFlags() */
	_Atomic unsigned cache;    /* hipDeviceSetCacheConfig(): a hipFuncCache_t */
	_Atomic size_t stack_B, printf_B, heap_B; /* hipDeviceSetLimit() */
	struct hip_pool *_Atomic pool;         /* that hipMallocAsync() uses; NULL: the default one, not made yet */
	struct hip_pool *_Atomic default_pool; /* pool.c */
	_Atomic uint64_t peers;                /* devices whose kernels may use its memory, a bit each */
};

struct hip {
	hipError_t status; /* of initialisation; hipErrorDeinitialized: not tried yet; root.c has its lock */
	const struct rt_interface *hsa; /* private interface of our HSA library (hsa/interface.h) */
	struct rt_interface hsa_copy;
	hsa_agent_t cpu;
	hsa_amd_memory_pool_t host_fine, host_coarse, kernarg; /* of the first NUMA node */
	_Atomic unsigned lives;                                /* all devices' together */
	unsigned devices;
	struct hip_device device[HIP_DEVICES_MAX];
	uint64_t timestamp_Hz;
	bool child; /* a fork's */
};
extern DRV_OWN struct hip hip;

/* A thread's own. */
struct hip_thread {
	int device;              /* current */
	hipError_t last, result; /* hipGetLastError(), hipExtGetLastError() */
	hipStreamCaptureMode capture_mode;
	struct hip_call *calls; /* owned: of __hipPushCallConfiguration() */
	unsigned call_count, call_max;
	uint64_t id;           /* of a thread that has captured; no other's ever. 0: none yet */
	bool in_host_function; /* of the program's, which a stream has come to */
};
/* In the static block: a look-up by call costs more than all that is done with it. So are all variables of threads
 * then, and libc keeps 1,664 bytes (glibc 2.36) for libraries that are loaded later: what is larger is allocated.
 */
extern DRV_OWN _Thread_local struct hip_thread hip_thread __attribute__((tls_model("initial-exec")));

/* Frees it when many others have been given here since: threads that found it before another's hipDeviceReset() may
 * look at it once more. Accepts NULL. */
void hip_free_late(void *memory);
/* The same; end is called with it instead of free(). */
void hip_end_late(void *memory, void (*end)(void *memory));

/* The thread's own memory, zeroed, that it has until it ends; at: a variable of the thread, where it will be found.
 * NULL: there is none. */
void *hip_thread_memory(void **at, size_t size_B);

hipError_t hip_init(void);
/* What stands before a call; 0: nothing. */
#define HIP_SLOW_LOG           0xffu   /* AMD_LOG_LEVEL */
#define HIP_SLOW_TOOL          0x100u  /* a tool wants to be told: tool.h */
#define HIP_SLOW_UNINITIALIZED 0x200u  /* hip_init() has not succeeded; release when it has */
#define HIP_SLOW_FAULT         0x400u  /* a device has an error that stays */
#define HIP_SLOW_CAPTURE       0x800u  /* a capture is on; written under capture.c's lock */
#define HIP_SLOW_SERIAL        0x1000u /* kernels or copies are serialized: serial.c */
extern DRV_OWN _Atomic unsigned hip_slow_flags;
static inline unsigned hip_slow_path_flags(void)
{
	return atomic_load_explicit(&hip_slow_flags, memory_order_acquire);
}
static inline hipError_t hip_ready(void)
{
	return __builtin_expect(hip_slow_path_flags() & HIP_SLOW_UNINITIALIZED, 0) ? hip_init() : hipSuccess;
}
static inline bool hip_traced(void)
{
	return __builtin_expect(hip_slow_path_flags() & (HIP_SLOW_LOG | HIP_SLOW_TOOL), 0);
}
void hip_trace_init(void);
/* An argument of a call: a copy. */
struct hip_arg {
	const void *value; /* NULL: behind the last */
	size_t size_B;
};
void hip_trace_call(const char *function, const struct hip_arg *args);
void hip_trace_result(const char *function, hipError_t error);
/* Has HSA tell what goes wrong (fault.c). */
void hip_faults_watch(void);
/* Waits until it has told what there was. */
void hip_faults_drain(struct hip_device *device);
/* The arguments as an array of struct hip_arg. */
#define HIP_ARG(a) {(__typeof__(a)[1]){a}, sizeof(a)},
#define HIP_ARGS_0()
#define HIP_ARGS_1(a)                                                             HIP_ARG(a)
#define HIP_ARGS_2(a, ...)                                                        HIP_ARG(a) HIP_ARGS_1(__VA_ARGS__)
#define HIP_ARGS_3(a, ...)                                                        HIP_ARG(a) HIP_ARGS_2(__VA_ARGS__)
#define HIP_ARGS_4(a, ...)                                                        HIP_ARG(a) HIP_ARGS_3(__VA_ARGS__)
#define HIP_ARGS_5(a, ...)                                                        HIP_ARG(a) HIP_ARGS_4(__VA_ARGS__)
#define HIP_ARGS_6(a, ...)                                                        HIP_ARG(a) HIP_ARGS_5(__VA_ARGS__)
#define HIP_ARGS_7(a, ...)                                                        HIP_ARG(a) HIP_ARGS_6(__VA_ARGS__)
#define HIP_ARGS_8(a, ...)                                                        HIP_ARG(a) HIP_ARGS_7(__VA_ARGS__)
#define HIP_ARGS_9(a, ...)                                                        HIP_ARG(a) HIP_ARGS_8(__VA_ARGS__)
#define HIP_ARGS_10(a, ...)                                                       HIP_ARG(a) HIP_ARGS_9(__VA_ARGS__)
#define HIP_ARGS_11(a, ...)                                                       HIP_ARG(a) HIP_ARGS_10(__VA_ARGS__)
#define HIP_ARGS_12(a, ...)                                                       HIP_ARG(a) HIP_ARGS_11(__VA_ARGS__)
#define HIP_ARGS_13(a, ...)                                                       HIP_ARG(a) HIP_ARGS_12(__VA_ARGS__)
#define HIP_ARGS_14(a, ...)                                                       HIP_ARG(a) HIP_ARGS_13(__VA_ARGS__)
#define HIP_ARGS_OF(unused, a, b, c, d, e, f, g, h, i, j, k, l, m, n, macro, ...) macro
#define HIP_ARGS(...)                                                                                              \
	((const struct hip_arg[]){HIP_ARGS_OF(0, ##__VA_ARGS__, HIP_ARGS_14, HIP_ARGS_13, HIP_ARGS_12,             \
					      HIP_ARGS_11, HIP_ARGS_10, HIP_ARGS_9, HIP_ARGS_8, HIP_ARGS_7,        \
					      HIP_ARGS_6, HIP_ARGS_5, HIP_ARGS_4, HIP_ARGS_3, HIP_ARGS_2,          \
					      HIP_ARGS_1, HIP_ARGS_0)(__VA_ARGS__){0}})
/* First line of public functions: without a GPU they give an error. The function's parameters, if tools are to see
 * them. */
#define HIP_ENTER(...) HIP_ENTER_AS(__func__, ##__VA_ARGS__)
#define HIP_ENTER_AS(function, ...)                                                                                \
	do {                                                                                                       \
		if (__builtin_expect(hip_slow_path_flags(), 0)) {                                                  \
			hipError_t status_ = hip_ready();                                                          \
			if (status_)                                                                               \
				return hip_end_of(function, status_);                                              \
			if (hip_traced())                                                                          \
				hip_trace_call(function, HIP_ARGS(__VA_ARGS__));                                   \
		}                                                                                                  \
	} while (0)
/* Last line: the thread remembers the error. */
#define hip_end(error) hip_end_of(__func__, error)
static inline hipError_t hip_end_of(const char *function, hipError_t error)
{
	hip_thread.result = error;
	hip_thread.last = error;
	if (hip_traced())
		hip_trace_result(function, error);
	return error;
}

/* Calls that programs make all the time have a short way, which does the usual case as a whole or nothing at all,
 * and is taken while nothing stands before calls. It calls nobody, so that it keeps no registers on the stack. What
 * it cannot do a function of its own does, the long way. The lock that the short one took (NULL: none) is given
 * back by both. */
#define HIP_SLOW_PATH __attribute__((noinline))
#define HIP_ENTER_SLOW(held, function, ...)                                                                        \
	do {                                                                                                       \
		if (held)                                                                                          \
			drv_unlock(held);                                                                          \
		HIP_ENTER_AS(function, __VA_ARGS__);                                                               \
	} while (0)
hipError_t hip_end_fast_wake(struct drv_lock *held);
static inline hipError_t hip_end_fast(struct drv_lock *held)
{
	hip_thread.result = hipSuccess;
	hip_thread.last = hipSuccess;
	return drv_lock_release(held) ? hip_end_fast_wake(held) : hipSuccess;
}

hipError_t hip_of_hsa(hsa_status_t status);
/* Of -errno. */
hipError_t hip_of_errno(int r);

static inline struct hip_device *hip_current(void)
{
	return &hip.device[hip_thread.device];
}
/* NULL: no such number. */
static inline struct hip_device *hip_device_of(int index)
{
	return index >= 0 && (unsigned)index < hip.devices ? &hip.device[index] : NULL;
}
/* The error that stays, if there is one. */
static inline hipError_t hip_fault(const struct hip_device *device)
{
	return atomic_load_explicit(&device->fault, memory_order_relaxed);
}

/* Every call on it gives that error from now on, until it is reset. False: another one came first, and stays. */
static inline bool hip_device_fail(struct hip_device *device, hipError_t error)
{
	hipError_t none = hipSuccess;
	bool first = atomic_compare_exchange_strong(&device->fault, &none, error);

	atomic_fetch_or(&hip_slow_flags, HIP_SLOW_FAULT);
	return first;
}

/* --- handles ---------------------------------------------------------------------------------- */

/* What programs hold: a number, never followed. */
enum hip_type {
	HIP_STREAM,
	HIP_EVENT,
	HIP_MODULE,
	HIP_FUNCTION,
	HIP_POOL,
	HIP_CONTEXT,
	HIP_PROGRAM,
	HIP_LINKER,
	HIP_GRAPH,
	HIP_NODE,
	HIP_EXEC,
	HIP_OBJECT,
	HIP_ARRAY,
	HIP_EXTERNAL,
	HIP_SEMAPHORE,
};
extern DRV_OWN struct drv_handles hip_handles;
#define HIP_HANDLE_TAG 0x5c
#define HIP_KIND(type) DRV_HANDLE_KIND(HIP_HANDLE_TAG, type)

static inline void *hip_find(enum hip_type type, const void *handle)
{
	return drv_handle_find(&hip_handles, HIP_KIND(type), (uintptr_t)handle);
}

/* --- streams (stream.c) ----------------------------------------------------------------------- */

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
	_Atomic unsigned refs; /* the program's, and one for each point */
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

/* Below which operation of which stream. */
struct hip_point {
	struct hip_stream *stream;     /* a reference; NULL: reached */
	uint64_t index;                /* of flow->written */
	uint64_t frees;                /* of memory on the stream, before that point */
	struct hip_frontier *frontier; /* a reference; NULL: what the stream was behind there is nothing */
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

/* What the stream has been given so far; the caller's, until hip_point_put(). */
struct hip_point hip_stream_point(struct hip_stream *stream);
void hip_point_put(struct hip_point *point);
/* To what the stream has been given so far; between begin and done. */
static inline void hip_point_move(struct hip_point *point, struct hip_stream *stream)
{
	/* What the point refers to is the same in nearly all cases: it was there before, or nothing is. */
	if (__builtin_expect(point->stream == stream &&
				     point->frontier ==
					     atomic_load_explicit(&stream->frontier, memory_order_relaxed),
			     1)) {
		point->index = hip_stream_written(stream);
		point->frees = atomic_load_explicit(&stream->frees, memory_order_acquire);
	} else {
		hip_point_put(point);
		*point = hip_stream_point(stream);
	}
}
struct hip_point hip_point_get(const struct hip_point *point);
bool hip_point_is_completed(const struct hip_point *point);
/* The GPU gets what is before it. */
void hip_point_flush(const struct hip_point *point);
/* The error that the device has when it never will be. */
hipError_t hip_point_wait(const struct hip_point *point);
hipError_t hip_stream_wait(struct hip_stream *stream);
/* The host has waited for all that the stream was given so far. */
static inline bool hip_stream_is_host_synced(const struct hip_stream *stream)
{
	uint64_t synced = atomic_load_explicit(&stream->host_synced, memory_order_acquire);

	return synced == hip_stream_written(stream) + atomic_load_explicit(&stream->frees, memory_order_acquire);
}

/* serial.c: the waits of AMD_SERIALIZE_KERNEL and AMD_SERIALIZE_COPY, before and after a stream that does not
 * capture gets a kernel or copy. They give the stream's error. */
enum hip_serial { HIP_SERIAL_KERNEL, HIP_SERIAL_COPY };
void hip_serial_init(void);
hipError_t hip_serial_wait_before(struct hip_stream *stream, enum hip_serial what);
hipError_t hip_serial_wait_after(struct hip_stream *stream, enum hip_serial what);
static inline hipError_t hip_serial_before(struct hip_stream *stream, enum hip_serial what)
{
	return __builtin_expect(hip_slow_path_flags() & HIP_SLOW_SERIAL, 0) ? hip_serial_wait_before(stream, what)
									    : hipSuccess;
}
static inline hipError_t hip_serial_after(struct hip_stream *stream, enum hip_serial what)
{
	return __builtin_expect(hip_slow_path_flags() & HIP_SLOW_SERIAL, 0) ? hip_serial_wait_after(stream, what)
									    : hipSuccess;
}
/* A wait for the stream failed: what it has put on its way ends all the same, or does not begin any more. The
 * stream takes nothing from then on. */
void hip_stream_drop(struct hip_stream *stream);
/* All streams of the device. */
hipError_t hip_device_wait(struct hip_device *device);
/* Calls fn with each of the device's streams. */
void hip_streams_each(struct hip_device *device, void (*fn)(struct hip_stream *stream));
/* How many functions of the program's were called for streams of the device; *busy becomes true if one runs, or is
 * about to (host_call.c). */
uint64_t hip_hosts_called(struct hip_device *device, bool *busy);

/* --- timestamps (timestamp.c) -------------------------------------------------------------------------- */

/* A place where a GPU writes its clock counter. */
struct hip_timestamp;
/* Between begin and done: the time at which all that the stream was given so far has ended is written there. The
 * caller's, until hip_timestamp_release(). */
hipError_t hip_timestamp_put(struct hip_stream *stream, struct hip_timestamp **timestamp);
/* What is there when the operation has ended, in ticks of HSA's clock. False: it never was executed. */
bool hip_timestamp_read(const struct hip_timestamp *timestamp, uint64_t *ticks);
/* It may still be written before the point is reached; then it is used again. */
void hip_timestamp_release(struct hip_timestamp *timestamp, const struct hip_point *point);

/* --- events (event.c) ------------------------------------------------------------------------- */

/* As hipEventRecord() and hipStreamWaitEvent() do. */
hipError_t hip_event_record(hipEvent_t event, struct hip_stream *stream);
hipError_t hip_event_wait(hipEvent_t event, struct hip_stream *stream);

/* --- memory (memory.c) ------------------------------------------------------------------------ */

enum hip_memory_kind { HIP_MEMORY_DEVICE, HIP_MEMORY_HOST, HIP_MEMORY_REGISTERED, HIP_MEMORY_MANAGED };

struct hip_memory {
	struct vm_node node;
	enum hip_memory_kind kind;
	uint64_t id;    /* of no other allocation */
	int device;     /* where it is, or where the host's was allocated */
	unsigned flags; /* as it was allocated with */
	size_t size_B;  /* as it was asked for */
	char *base;     /* the host's address, where it has one */
	char *gpu_base; /* the device's */
	uint64_t pool;  /* handle of the pool that has it; 0: none */
	bool shareable; /* the pool is: as a file descriptor */
	bool sync;      /* copies between two places of a device are waited for */
	bool ours;      /* not the program's to free: of a variable, mapped, or of another process */
	bool imported;  /* into a pool: pool_share.c */
	bool read_only; /* registered, and the process may not write all of it: nor may kernels */
};

/* Whose memory it is; NULL: the host's. */
static inline struct hip_device *hip_memory_owner(const struct hip_memory *memory)
{
	return memory->kind == HIP_MEMORY_DEVICE ? &hip.device[memory->device] : NULL;
}
/* Of what two places belong to, the only device; NULL: there is none, or there are two. */
static inline struct hip_device *hip_only_owner(struct hip_device *a, struct hip_device *b)
{
	return !a || a == b ? b : b ? NULL : a;
}
/* A copy of what an address is in. False: nothing that HIP knows. */
bool hip_memory_find(const void *address, struct hip_memory *memory);
void hip_memory_set_sync(const void *address, bool sync);
/* So many bytes from there on are in it, or in what the program mapped right behind it. */
bool hip_memory_covers(const struct hip_memory *memory, const void *address, size_t size_B);
/* Kernels may not read and write all of that: it is registered read-only, or mapped without access for the device
 * that has it. */
bool hip_memory_is_closed(const struct hip_memory *memory, const void *address, size_t size_B);

/* The peers that may use the device's memory have changed. */
hipError_t hip_memory_update_peers(struct hip_device *device);
/* As hipMalloc() and hipFree() do. */
hipError_t hip_memory_allocate(struct hip_device *device, size_t size_B, void **out);
/* Of the library's own: in that pool, everybody: all GPUs reach it. hsa_amd_memory_pool_free(). OutOfMemory. */
hipError_t hip_pool_memory(hsa_amd_memory_pool_t pool, size_t size_B, bool everybody, void **out);
hipError_t hip_memory_free_now(void *ptr);
/* Memory of hipMalloc() that is freed in the stream's order; and what the host has waited for goes. */
hipError_t hip_memory_free_behind(void *ptr, struct hip_stream *stream);
void hip_memory_reap(void);
/* Makes memory known that the program did not allocate as such: a managed variable's, what it has mapped or opened.
 * hipFree() does not take it. */
hipError_t hip_memory_add_ours(enum hip_memory_kind kind, int device, void *base, size_t size_B);
void hip_memory_remove_ours(void *base);
/* Of another process's pool; the program frees it, and hip_import_end() hears of that. InvalidValue: something else
 * is there. */
hipError_t hip_memory_add_imported(int device, uint64_t pool, void *base, size_t size_B);

/* --- peers (peer.c) --------------------------------------------------------------------------- */

/* Not one and the same, and `from` reaches what is in the memory of `to`, if it is allowed to. */
bool hip_can_be_peers(const struct hip_device *from, const struct hip_device *to);

/* --- external memory and semaphores (external.c, semaphore.c) ----------------------------------- */

/* hipFree() of a mapped buffer. InvalidValue: it is none. */
hipError_t hip_external_free(void *ptr);

/* --- copies (copy_rect.c) --------------------------------------------------------------------- */

/* Rows of bytes at a distance, in slices at a distance. */
struct hip_side {
	char *base; /* borrowed: where the first row begins */
	size_t pitch_B, slice_B;
};
struct hip_box {
	struct hip_side dst, src;
	size_t width_B, height, depth;
	hipMemcpyKind kind;
};
hipError_t hip_copy_box(const struct hip_box *box, hipStream_t stream, bool wait);

/* --- pools (pool.h) --------------------------------------------------------------------------- */

/* What a pool gave out at that address. */
bool hip_pool_find(const void *address, struct hip_memory *memory);
/* An imported address is used no more. */
void hip_import_end(const void *ptr);
/* hipFree() of a pool's memory: its users have ended. False: it is none of a pool's. */
bool hip_pool_free_now(void *ptr, hipError_t *error);
/* Memory that was freed on the stream is the pools' own business from now on; the host has waited for it. */
void hip_pool_leave(struct hip_stream *stream);
/* ... and its memory goes. */
void hip_caches_free(struct hip_stream *stream);
/* The host has waited for work of the device: what pools keep beyond their thresholds goes. */
void hip_pool_release(struct hip_device *device);
/* Somebody, or that pool, needs memory: what the device's (other) pools have, and whose users have ended, goes. */
void hip_pools_help(struct hip_device *device, const struct hip_pool *needy);

/* --- code (binary.c, code.c) ------------------------------------------------------------------ */

#define HIP_THREADS_MAX 1024u   /* of a block */
#define HIP_STACK_MAX_B 131056u /* of a lane: what a wave's scratch can be (LLVM AMDGPUUsage) */

struct hip_kernel {
	uint64_t object;
	const struct cs_kernel *cs; /* borrowed from HSA, while the code is loaded */
	struct hip_device *device;
	uint32_t group_B, private_B;
	uint32_t dynamic_max_B, threads_max; /* of a launch */
	uint32_t args_B;                     /* what its arguments take in a stream's memory for them */
	uint32_t hidden_B;                   /* from the compiler's first argument to its last; at most 320: else it
					      * is not plain */
	unsigned losses;                     /* the code's */
	bool calls;                          /* what private_B does not cover: the device's stack is for that */
	bool prints;                         /* leaves messages of printf in a buffer */
	bool plain;                          /* neither */
};

struct hip_code {
	struct hip_device *device;
	unsigned losses;                /* the device's, when it was loaded */
	hsa_executable_t executable;    /* owned */
	struct hip_variable *variables; /* owned: those that were asked for; guarded by code.c's lock */
};

/* It lies in the device's memory, and a GPU that was reset behind a fault may have lost that. */
static inline bool hip_code_lost(const struct hip_device *device, unsigned losses)
{
	return atomic_load_explicit(&device->losses, memory_order_relaxed) != losses;
}
/* image: a code object, a bundle, or a fat binary; size_B 0: as its headers say. */
hipError_t hip_code_load(struct hip_device *device, const void *image, size_t size_B, struct hip_code *code);
void hip_code_unload(struct hip_code *code);
/* Grows when code is unloaded, and what a device gives to kernels may go: then another kernel may have a kernel's
 * address. */
extern DRV_OWN _Atomic unsigned hip_codes;
hipError_t hip_code_kernel(const struct hip_code *code, const char *name, struct hip_kernel *kernel);
/* Copies and fills know the variable from then on. NotFound. */
hipError_t hip_code_variable(struct hip_code *code, const char *name, void **address, size_t *size_B);

/* The kernel of a key that the program was linked with. InvalidDeviceFunction. */
hipError_t hip_kernel_of(const void *host, struct hip_device *device, const struct hip_kernel **kernel);
/* The __constant__ memory that was registered with that key's kernel. */
size_t hip_constants_of(const void *host);
hipError_t hip_variable_of(const void *host, struct hip_device *device, void **address, size_t *size_B);

/* A variable of a module (module.c), as hipModuleGetGlobal() finds it. */
hipError_t hip_module_variable(hipDeviceptr_t *address, size_t *size_B, hipModule_t module, const char *name);
/* The module goes, and its texture references with it (texture_reference.c). */
void hip_references_drop(hipModule_t module);
/* The kernel of a handle (module.c). InvalidResourceHandle. */
hipError_t hip_function_of(hipFunction_t handle, const struct hip_kernel **kernel);
/* That of one that the program was linked with goes. */
void hip_function_drop(const struct hip_device *device, uint64_t object);
/* Blocks of so many threads, with that much dynamic LDS, that a compute unit runs at a time (occupancy.c). */
unsigned hip_occupancy(const struct hip_kernel *kernel, unsigned threads, size_t lds_B);

/* --- cooperative launches (grid.c) ------------------------------------------------------------ */

/* 0, or what the device's flow for them failed with: a stream that waited for it may go on. */
int hip_grids_state(const struct hip_device *device);
/* Grids that the GPU has not got do not begin any more: their arguments are about to go with their streams. Before
 * hip_grids_reset(), by the same thread. */
void hip_grids_abandon(struct hip_device *device);

/* --- hipDeviceReset(): in this order ---------------------------------------------------------- */

/* What goes on by itself ends. */
void hip_streams_retire(struct hip_device *device);
void hip_streams_reset(struct hip_device *device);
void hip_grids_reset(struct hip_device *device);
void hip_built_ins_reset(struct hip_device *device);
void hip_pools_reset(struct hip_device *device);
void hip_graph_allocs_reset(struct hip_device *device);
void hip_textures_reset(struct hip_device *device);
void hip_arrays_reset(struct hip_device *device);
void hip_semaphores_reset(struct hip_device *device);
void hip_externals_reset(struct hip_device *device);
void hip_memory_reset(struct hip_device *device);
void hip_binaries_reset(struct hip_device *device);

/* --- launches (launch.c) ---------------------------------------------------------------------- */

struct hip_launch {
	const struct hip_kernel *kernel;
	uint32_t blocks[3], threads[3]; /* of the grid, of a block */
	uint32_t grid[3];               /* work-items; 0: blocks * threads */
	uint32_t lds_B;                 /* dynamic */
	void **args;                    /* the address of each; NULL: packed */
	const void *packed;
	size_t packed_B;
	const void *function;               /* as the program named the kernel */
	bool cooperative;                   /* its blocks run all at a time: grid.c */
	const struct hip_grid_group *group; /* of one: borrowed; NULL: no other device's grid is to be met */
	const void *grid_sync;              /* hidden: how they meet; grid.c fills it in */
	void *messages;                     /* hidden: where printf leaves them; print_buffer.c fills it in */
};
hipError_t hip_launch(struct hip_stream *stream, const struct hip_launch *launch);

#endif

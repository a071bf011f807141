/* The library's root: its devices, its threads, its handles.
 *
 *   hip_device  a GPU that the program sees; entries of hip.device[]
 *   hip_thread  what each thread of the program has: current device, last error
 *
 * Functions inside the library return a hipError_t; public functions record it (entry.h).
 *
 * Lock order in api/: initialisation, a stream's (the lock of its flow), a device's, memory's, binaries'; the locks
 * of arrays, textures and texture references are each taken alone. No lock is held while code of the program runs.
 */
#ifndef API_BASE_H
#define API_BASE_H

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
#define HIP_THREADS_MAX 1024u   /* of a block */
#define HIP_STACK_MAX_B 131056u /* of a lane: what a wave's scratch can be (LLVM AMDGPUUsage) */

struct hip_stream;
struct hip_pool;

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
#define HIP_INSIDE_NEVER (INT64_MIN / 2)
struct hip_thread {
	int device;              /* current */
	hipError_t last, result; /* hipGetLastError(), hipExtGetLastError() */
	hipStreamCaptureMode capture_mode;
	struct hip_call *calls; /* owned: of __hipPushCallConfiguration() */
	unsigned call_count, call_max;
	uint64_t id; /* of a thread that has captured; no other's ever. 0: none yet */
	bool waited; /* for work, in the public function that it is in: tools are told of ended work before it
			returns */
	/* For retire.h: */
	_Atomic int64_t inside;          /* HIP_INSIDE_NEVER: the thread is not registered */
	struct hip_thread *next, **link; /* registered threads; guarded by the lock of retire.c, as are: */
	int64_t seen;
	bool awaited;
	bool in_host_function; /* of the program's, which a stream has come to */
};
/* In the static block: a look-up by call costs more than all that is done with it. So are all variables of threads
 * then, and libc keeps 1,664 bytes (glibc 2.36) for libraries that are loaded later: what is larger is allocated.
 */
extern DRV_OWN _Thread_local struct hip_thread hip_thread __attribute__((tls_model("initial-exec")));

/* The thread's own memory, zeroed, that it has until it ends; at: a variable of the thread, where it will be found.
 * NULL: there is none. */
void *hip_thread_memory(void **at, size_t size_B);

hipError_t hip_init(void);
/* Reasons for public functions to take their slow path; 0: none. */
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

/* Registers for HSA's reports of faults (fault.c). */
void hip_faults_watch(void);
/* Waits until HSA has reported the faults that it knows of. */
void hip_faults_drain(struct hip_device *device);
/* Prints what is near a faulting address; set by memory/. NULL: nothing was allocated yet. */
typedef void hip_address_fn(uint64_t address);
extern DRV_OWN hip_address_fn *_Atomic hip_fault_describe;

/* True when the device has image instructions in HSA's view. */
bool hip_has_images(const struct hip_device *device);

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

#endif

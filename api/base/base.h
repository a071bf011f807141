/* The library's root: its devices, its threads, its handles.
 *
 *   hip_device  a GPU that the program sees; the entries of hip.device[], owned by the library, never freed
 *   hip_thread  the state of each program thread: current device, last error; thread-local, without a lock
 *   handles     what programs hold for streams, events and other objects: numbers, looked up in hip_handles
 *
 * Functions inside the library return a hipError_t; public functions record it (entry.h).
 *
 * Locks: drv/rank.h has their order. No lock is held while code of the program runs. */
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
#include <sys/queue.h>
#include "drv/chip.h"
#include "drv/handle.h"
#include "drv/lock.h"
#include "drv/retire.h"
#include "hsa/interface.h"
#include "vm/tree.h"

#define HIP_DEVICES_MAX 64
#define HIP_THREADS_MAX 1024u   /* threads of a block */
#define HIP_STACK_MAX_B 131056u /* bytes of a lane: the largest scratch of a wave (LLVM AMDGPUUsage) */

struct hip_stream;
struct hip_pool;

struct hip_device {
	int index;
	hsa_agent_t agent;
	const struct drv_chip *chip;
	hsa_amd_memory_pool_t vram;
	hsa_amd_memory_pool_t fine_vram; /* handle 0: the device has none */
	/* For kernel arguments; handle 0: the device uses the host's pool, hip.kernarg. */
	hsa_amd_memory_pool_t args;
	uint64_t vram_B;
	unsigned cus, lds_B, wave_lanes;
	_Atomic hipError_t fault;         /* error that every call on the device returns until a reset; 0: none */
	_Atomic unsigned faults_reported; /* memory faults that HSA has reported */
	_Atomic unsigned life;            /* resets so far */
	/* Resets after an error that stayed: the contents of the device's memory are lost then. */
	_Atomic unsigned losses;
	struct hip_stream *_Atomic null; /* owned; made at its first use */
	struct drv_mutex lock;           /* guards `streams` and the creation of `null` */
	LIST_HEAD(, hip_stream) streams; /* borrowed: every live stream, the null stream included; newest first */
	/* Number of blocking streams: they and the null stream wait for each other. Counts the null stream, too. */
	_Atomic uint64_t blocking;
	_Atomic unsigned flags;                   /* hipSetDeviceFlags() */
	_Atomic unsigned cache;                   /* hipDeviceSetCacheConfig(): a hipFuncCache_t */
	_Atomic size_t stack_B, printf_B, heap_B; /* hipDeviceSetLimit() */
	/* Current pool of hipMallocAsync(); NULL: the default pool, not made yet. */
	struct hip_pool *_Atomic pool;
	struct hip_pool *_Atomic default_pool; /* owned by pool/; NULL: not made yet */
	_Atomic uint64_t peers;                /* devices whose kernels may use this device's memory, a bit each */
};

struct hip {
	/* Result of initialisation; hipErrorDeinitialized: not tried yet. Guarded by root.c's lock. */
	hipError_t status;
	const struct rt_interface *hsa; /* private interface of our HSA library (hsa/interface.h) */
	struct rt_interface hsa_copy;
	hsa_agent_t cpu;
	hsa_amd_memory_pool_t host_fine, host_coarse, kernarg; /* pools of the first NUMA node */
	_Atomic unsigned lives;                                /* resets of all devices together */
	unsigned devices;
	struct hip_device device[HIP_DEVICES_MAX];
	uint64_t timestamp_Hz;
	_Atomic hipError_t fault; /* HIP 7: the first fault of any device, which every call returns from then on */
	bool child;               /* this process is a fork of one that had initialised HIP: every call fails */
};
extern DRV_OWN struct hip hip;

/* The calls of the library's public functions (drv/retire.h). */
extern DRV_OWN struct drv_calls hip_calls;

/* State of one program thread. */
struct hip_thread {
	int device;              /* index of the current device */
	hipError_t last, result; /* hipGetLastError(), hipExtGetLastError() */
	hipStreamCaptureMode capture_mode;
	struct hip_call *calls; /* owned: the stack of __hipPushCallConfiguration() */
	unsigned call_count, call_max;
	uint64_t id; /* unique number, given when the thread first captures; 0: none yet */
	/* The public function that runs has waited for GPU work: tools get reports of ended work before it
	 * returns. */
	bool waited;
	struct drv_caller caller;
	/* The thread runs a program's host function, called by a stream. */
	bool in_host_function;
};
/* The initial-exec model avoids a call of __tls_get_addr(), which costs more than everything that a fast path does
 * with the variable. The static TLS block is shared: libc keeps 1,664 bytes (glibc 2.36) for libraries that are
 * loaded later. Larger per-thread memory is allocated (hip_thread_memory()). */
extern DRV_OWN _Thread_local struct hip_thread hip_thread __attribute__((tls_model("initial-exec")));

/* A call of a public function begins and ends. */
__attribute__((always_inline)) static inline void hip_call_begin(void)
{
	drv_call_begin(&hip_calls, &hip_thread.caller);
}
static inline void hip_call_end(void)
{
	drv_call_end(&hip_thread.caller);
}
/* drv_retire_flush() of the library's objects. */
static inline void hip_retire_flush(void)
{
	drv_retire_flush(&hip_calls, &hip_thread.caller);
}

/* A key of values that threads have, with the destructor `end`. All zero: it is made at its first use. */
struct hip_thread_key {
	_Atomic unsigned made; /* the key + 1; 0: not made yet */
};
/* False: the program has all keys. */
bool hip_thread_key_of(struct hip_thread_key *at, void (*end)(void *value), pthread_key_t *key);
/* Gives zeroed memory that belongs to the thread and is freed when the thread ends. `at` is a thread-local
 * variable, in which the function stores the address. NULL: out of memory, or of keys of threads. */
void *hip_thread_memory(void **at, size_t size_B);

hipError_t hip_init(void);
/* How many forks are between this process and the one that loaded the library. */
unsigned hip_forks(void);
/* Print a line on stderr (others.c): once in the process, when another library of HIP is loaded; that HSA is not ours. */
void hip_others_report(void);
void hip_foreign_hsa_report(void);
/* Reasons for public functions to take their slow path; 0: none. */
#define HIP_SLOW_LOG           0xffu   /* AMD_LOG_LEVEL */
#define HIP_SLOW_TOOL          0x100u  /* a tool has registered callbacks: tool.h */
#define HIP_SLOW_UNINITIALIZED 0x200u  /* set until hip_init() has succeeded; cleared with release order */
#define HIP_SLOW_FAULT         0x400u  /* a device has an error that stays until a reset */
#define HIP_SLOW_CAPTURE       0x800u  /* a capture is active; written under capture.c's lock */
#define HIP_SLOW_SERIAL        0x1000u /* kernels or copies are serialized: serial.c */
extern DRV_OWN _Atomic unsigned hip_slow_flags;
static inline unsigned hip_slow_path_flags(void)
{
	return atomic_load_explicit(&hip_slow_flags, memory_order_acquire);
}

hipError_t hip_of_hsa(hsa_status_t status);
/* Translates -errno. */
hipError_t hip_of_errno(int r);

static inline struct hip_device *hip_current(void)
{
	return &hip.device[hip_thread.device];
}
/* NULL: there is no device of that index. */
static inline struct hip_device *hip_device_of(int index)
{
	return index >= 0 && (unsigned)index < hip.devices ? &hip.device[index] : NULL;
}
/* The error that stays until a reset; hipSuccess: none. */
static inline hipError_t hip_fault(const struct hip_device *device)
{
	return atomic_load_explicit(&device->fault, memory_order_relaxed);
}

/* Makes every call on the device return `error` until a reset. False: an earlier error stays instead. */
static inline bool hip_device_fail(struct hip_device *device, hipError_t error)
{
	hipError_t none = hipSuccess;
	bool first = atomic_compare_exchange_strong(&device->fault, &none, error);

	if (TUFF_HIP_ABI >= 7 && error != hipErrorContextIsDestroyed) {
		none = hipSuccess;
		atomic_compare_exchange_strong(&hip.fault, &none, error);
	}
	atomic_fetch_or(&hip_slow_flags, HIP_SLOW_FAULT);
	return first;
}

/* --- faults ----------------------------------------------------------------------------------- */

/* Registers for HSA's reports of faults (fault.c). */
void hip_faults_watch(void);
/* Waits until HSA has reported the faults that it knows of. */
void hip_faults_drain(struct hip_device *device);
/* Prints which allocations are near a faulting address. Set by memory/; NULL: no allocation was made yet. */
typedef void hip_address_fn(uint64_t address);
extern DRV_OWN hip_address_fn *_Atomic hip_fault_describe;

/* True when HSA reports image instructions for the device. */
bool hip_has_images(const struct hip_device *device);

/* --- handles ---------------------------------------------------------------------------------- */

/* Types of handles. A handle is a number that is looked up, never a pointer that is followed. */
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
	HIP_LIBRARY,
};
extern DRV_OWN struct drv_handles hip_handles;
/* Each interface has its own, so that no library takes a handle of another one in the process. */
#define HIP_HANDLE_TAG (0x5c + TUFF_HIP_ABI - 5)
#define HIP_KIND(type) DRV_HANDLE_KIND(HIP_HANDLE_TAG, type)

static inline void *hip_find(enum hip_type type, const void *handle)
{
	return drv_handle_find(&hip_handles, HIP_KIND(type), (uintptr_t)handle);
}

#endif

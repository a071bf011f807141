/* Devices: their number, the calling thread's device, limits, and hipDeviceReset(). */
#include "drv/lock.h"
#include "api/stream/capture.h"
#include "api/exec/event.h"
#include "api/exec/grid.h"
#include "api/exec/hostcall.h"
#include "api/exec/print.h"
#include "api/graph/graph_memory.h"
#include "api/image/texture.h"
#include "api/module/built_in.h"
#include "api/pool/pool.h"
#include "api/tool/tool.h"

HIP_PUBLIC_WITHOUT_INIT(hipGetDeviceCount, (int *count), (count))
{
	hipError_t r;

	if (!count)
		return hipErrorInvalidValue;
	*count = 0;
	r = hip_ready();
	if (!r)
		*count = (int)hip.devices;
	return r;
}

HIP_PUBLIC(hipSetDevice, (int device), (device))
{
	if (!hip_device_of(device))
		return hipErrorInvalidDevice;
	hip_thread.device = device;
	return hipSuccess;
}

HIP_PUBLIC(hipGetDevice, (int *device), (device))
{
	if (!device)
		return hipErrorInvalidValue;
	*device = hip_thread.device;
	return hipSuccess;
}

HIP_PUBLIC(hipDeviceGet, (hipDevice_t *device, int ordinal), (device, ordinal))
{
	if (!device)
		return hipErrorInvalidValue;
	if (!hip_device_of(ordinal))
		return hipErrorInvalidDevice;
	*device = ordinal;
	return hipSuccess;
}

HIP_PUBLIC_WITHOUT_INIT(hipDriverGetVersion, (int *version), (version))
{
	if (!version)
		return hipErrorInvalidValue;
	*version = HIP_VERSION;
	return hipSuccess;
}

HIP_PUBLIC_WITHOUT_INIT(hipRuntimeGetVersion, (int *version), (version))
{
	if (!version)
		return hipErrorInvalidValue;
	*version = HIP_VERSION;
	return hipSuccess;
}

static void forget_fault(struct hip_device *device)
{
	atomic_store(&device->fault, hipSuccess);
	atomic_fetch_and(&hip_slow_flags, ~HIP_SLOW_FAULT);
	/* Set again when another device has an error, or gets one meanwhile. */
	for (unsigned i = 0; i < hip.devices; i++)
		if (atomic_load(&hip.device[i].fault))
			atomic_fetch_or(&hip_slow_flags, HIP_SLOW_FAULT);
}

/* Clears the error that stays, with everything that the device has. */
HIP_PUBLIC(hipDeviceReset, (void), ())
{
	static struct drv_mutex one = DRV_MUTEX(DRV_RANK_HIP_RESET);
	struct hip_device *d;

	d = hip_current();
	drv_mutex_lock(&one);
	atomic_fetch_add(&d->life, 1);
	hip_streams_retire(d, hip_host_calls_count);
	hip_faults_drain(d);
	if (hip_fault(d))
		atomic_fetch_add(&d->losses, 1);
	atomic_fetch_add(&hip.lives, 1);
	hip_device_fail(d, hipErrorContextIsDestroyed);
	hip_grids_abandon(d);
	hip_streams_reset(d);
	hip_tool_reset(d);
	hip_grids_reset(d);
	hip_print_reset(d);
	hip_hostcalls_reset(d);
	hip_built_ins_reset(d);
	hip_pools_reset(d);
	hip_graph_allocs_reset(d);
	hip_textures_reset(d);
	hip_arrays_reset(d);
	hip_semaphores_reset(d);
	hip_externals_reset(d);
	hip_memory_reset(d);
	hip_binaries_reset(d);
	hip_faults_drain(d);
	d->flags = 0;
	d->cache = hipFuncCachePreferNone;
	forget_fault(d);
	drv_mutex_unlock(&one);
	hip_retire_flush();
	return hipSuccess;
}

/* --- settings --------------------------------------------------------------------------------- */

#define DEVICE_FLAGS (hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax)

HIP_PUBLIC(hipGetDeviceFlags, (unsigned int *flags), (flags))
{
	if (!flags)
		return hipErrorInvalidValue;
	*flags = hip_current()->flags;
	return hipSuccess;
}

/* HSA decides how a thread waits: it spins for a short time, then sleeps on the job's fence. The other flags
 * describe what is the case anyway; they are not stored, as in CLR. */
HIP_PUBLIC(hipSetDeviceFlags, (unsigned flags), (flags))
{
	unsigned schedule = flags & hipDeviceScheduleMask;

	if (flags & ~(unsigned)DEVICE_FLAGS || schedule & (schedule - 1))
		return hipErrorInvalidValue;
	hip_current()->flags = schedule;
	return hipSuccess;
}

/* bytes */
static _Atomic size_t *limit_of(struct hip_device *device, hipLimit_t limit)
{
	switch (limit) {
	case hipLimitStackSize:
		return &device->stack_B;
	case hipLimitPrintfFifoSize:
		return &device->printf_B;
	case hipLimitMallocHeapSize:
		return &device->heap_B;
	default:
		return NULL;
	}
}

/* CLR's errors: before HIP 7, InvalidValue after the last limit. */
static hipError_t no_limit(hipLimit_t limit)
{
	return TUFF_HIP_ABI < 7 && (int)limit >= (int)hipLimitRange ? hipErrorInvalidValue
								    : hipErrorUnsupportedLimit;
}

/* HIP 7 has HSA's limits for scratch memory. The least is 0; the current one alone can be set. */
static bool is_scratch_limit(hipLimit_t limit)
{
	return TUFF_HIP_ABI >= 7 && limit >= hipExtLimitScratchMin && limit <= hipExtLimitScratchCurrent;
}

static hipError_t scratch_limit_get(size_t *value, hipLimit_t limit)
{
	static const unsigned attributes[] = {HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX,
					      HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT};
	uint64_t size_B = 0;
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (limit != hipExtLimitScratchMin)
		status = hsa_agent_get_info(hip_current()->agent,
					    (hsa_agent_info_t)attributes[limit - hipExtLimitScratchMax], &size_B);
	*value = size_B;
	return hip_of_hsa(status);
}

static hipError_t scratch_limit_set(hipLimit_t limit, size_t value)
{
	if (limit != hipExtLimitScratchCurrent)
		return no_limit(limit);
	return hip_of_hsa(hsa_amd_agent_set_async_scratch_limit(hip_current()->agent, value));
}

HIP_PUBLIC(hipDeviceGetLimit, (size_t *value, hipLimit_t limit), (value, limit))
{
	_Atomic size_t *at = limit_of(hip_current(), limit);

	if (!value)
		return hipErrorInvalidValue;
	if (!at)
		return is_scratch_limit(limit) ? scratch_limit_get(value, limit) : no_limit(limit);
	*value = *at;
	return hipSuccess;
}

HIP_PUBLIC(hipDeviceSetLimit, (hipLimit_t limit, size_t value), (limit, value))
{
	_Atomic size_t *at = limit_of(hip_current(), limit);

	if (!at)
		return is_scratch_limit(limit) ? scratch_limit_set(limit, value) : no_limit(limit);
	if (limit == hipLimitStackSize && value > HIP_STACK_MAX_B)
		return hipErrorInvalidValue;
	*at = value;
	return hipSuccess;
}

/* Stores the preference; it has no effect, since LDS and cache are separate memories. */
HIP_PUBLIC(hipDeviceSetCacheConfig, (hipFuncCache_t config), (config))
{
	hipError_t r = hip_capture_refuses_setting();

	if (r || (unsigned)config > hipFuncCachePreferEqual)
		return r ? r : hipErrorInvalidValue;
	hip_current()->cache = config;
	return hipSuccess;
}

HIP_PUBLIC(hipDeviceGetCacheConfig, (hipFuncCache_t *config), (config))
{
	if (!config)
		return hipErrorInvalidValue;
	*config = hip_current()->cache;
	return hipSuccess;
}

HIP_PUBLIC(hipDeviceGetSharedMemConfig, (hipSharedMemConfig *config), (config))
{
	if (!config)
		return hipErrorInvalidValue;
	*config = hipSharedMemBankSizeFourByte;
	return hipSuccess;
}

HIP_PUBLIC(hipDeviceSetSharedMemConfig, (hipSharedMemConfig config), (config))
{
	hipError_t r = hip_capture_refuses_setting();

	return r || (unsigned)config <= hipSharedMemBankSizeEightByte ? r : hipErrorInvalidValue;
}

/* The first device that exists becomes the current one of a thread that has chosen none: only the calling thread
 * here. */
HIP_PUBLIC(hipSetValidDevices, (int *devices, int count), (devices, count))
{
	if (count < 0 || (count && !devices) || (unsigned)count > hip.devices)
		return hipErrorInvalidValue;
	for (int i = 0; i < count; i++)
		if (!hip_device_of(devices[i]))
			return hipErrorInvalidDevice;
	hip_thread.device = count ? devices[0] : 0;
	return hipSuccess;
}

/* Devices: their number, the calling thread's device, limits, and hipDeviceReset(). */
#include "drv/lock.h"
#include "api/exec/event.h"
#include "api/exec/grid.h"
#include "api/exec/print.h"
#include "api/graph/graph_memory.h"
#include "api/image/texture.h"
#include "api/module/built_in.h"
#include "api/pool/pool.h"
#include "api/tool/tool.h"

hipError_t hipGetDeviceCount(int *count)
{
	hipError_t r;

	if (!count)
		return hip_end(hipErrorInvalidValue);
	*count = 0;
	r = hip_ready();
	if (!r)
		*count = (int)hip.devices;
	return hip_end(r);
}

hipError_t hipSetDevice(int device)
{
	HIP_ENTER(device);
	if (!hip_device_of(device))
		return hip_end(hipErrorInvalidDevice);
	hip_thread.device = device;
	return hip_end(hipSuccess);
}

hipError_t hipGetDevice(int *device)
{
	HIP_ENTER(device);
	if (!device)
		return hip_end(hipErrorInvalidValue);
	*device = hip_thread.device;
	return hip_end(hipSuccess);
}

hipError_t hipDeviceGet(hipDevice_t *device, int ordinal)
{
	HIP_ENTER(device, ordinal);
	if (!device)
		return hip_end(hipErrorInvalidValue);
	if (!hip_device_of(ordinal))
		return hip_end(hipErrorInvalidDevice);
	*device = ordinal;
	return hip_end(hipSuccess);
}

hipError_t hipDriverGetVersion(int *version)
{
	if (!version)
		return hip_end(hipErrorInvalidValue);
	*version = HIP_VERSION;
	return hip_end(hipSuccess);
}

hipError_t hipRuntimeGetVersion(int *version)
{
	if (!version)
		return hip_end(hipErrorInvalidValue);
	*version = HIP_VERSION;
	return hip_end(hipSuccess);
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
hipError_t hipDeviceReset(void)
{
	static struct drv_mutex one = DRV_MUTEX(DRV_RANK_HIP_RESET);
	struct hip_device *d;

	HIP_ENTER();
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
	hip_retired_free();
	return hip_end(hipSuccess);
}

/* --- settings --------------------------------------------------------------------------------- */

#define DEVICE_FLAGS (hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax)

hipError_t hipGetDeviceFlags(unsigned int *flags)
{
	HIP_ENTER(flags);
	if (!flags)
		return hip_end(hipErrorInvalidValue);
	*flags = hip_current()->flags;
	return hip_end(hipSuccess);
}

/* HSA decides how a thread waits: it spins for a short time, then sleeps on the job's fence. The other flags
 * describe what is the case anyway; they are not stored, as in CLR. */
hipError_t hipSetDeviceFlags(unsigned flags)
{
	unsigned schedule = flags & hipDeviceScheduleMask;

	HIP_ENTER(flags);
	if (flags & ~(unsigned)DEVICE_FLAGS || schedule & (schedule - 1))
		return hip_end(hipErrorInvalidValue);
	hip_current()->flags = schedule;
	return hip_end(hipSuccess);
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

/* CLR's errors: InvalidValue after the last limit, UnsupportedLimit before the first. */
static hipError_t no_limit(hipLimit_t limit)
{
	return (int)limit >= hipLimitRange ? hipErrorInvalidValue : hipErrorUnsupportedLimit;
}

hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit)
{
	_Atomic size_t *at;

	HIP_ENTER(value, limit);
	at = limit_of(hip_current(), limit);
	if (!value || !at)
		return hip_end(value ? no_limit(limit) : hipErrorInvalidValue);
	*value = *at;
	return hip_end(hipSuccess);
}

hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value)
{
	_Atomic size_t *at;

	HIP_ENTER(limit, value);
	at = limit_of(hip_current(), limit);
	if (!at)
		return hip_end(no_limit(limit));
	if (limit == hipLimitStackSize && value > HIP_STACK_MAX_B)
		return hip_end(hipErrorInvalidValue);
	*at = value;
	return hip_end(hipSuccess);
}

/* Stores the preference; it has no effect, since LDS and cache are separate memories. */
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config)
{
	HIP_ENTER(config);
	if ((unsigned)config > hipFuncCachePreferEqual)
		return hip_end(hipErrorInvalidValue);
	hip_current()->cache = config;
	return hip_end(hipSuccess);
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *config)
{
	HIP_ENTER(config);
	if (!config)
		return hip_end(hipErrorInvalidValue);
	*config = hip_current()->cache;
	return hip_end(hipSuccess);
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *config)
{
	HIP_ENTER(config);
	if (!config)
		return hip_end(hipErrorInvalidValue);
	*config = hipSharedMemBankSizeFourByte;
	return hip_end(hipSuccess);
}

hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config)
{
	HIP_ENTER(config);
	return hip_end((unsigned)config > hipSharedMemBankSizeEightByte ? hipErrorInvalidValue : hipSuccess);
}

/* The first device that exists becomes the current one of a thread that has chosen none: only the calling thread
 * here. */
hipError_t hipSetValidDevices(int *devices, int count)
{
	HIP_ENTER(devices, count);
	if (count < 0 || (count && !devices) || (unsigned)count > hip.devices)
		return hip_end(hipErrorInvalidValue);
	for (int i = 0; i < count; i++)
		if (!hip_device_of(devices[i]))
			return hip_end(hipErrorInvalidDevice);
	hip_thread.device = count ? devices[0] : 0;
	return hip_end(hipSuccess);
}

/* Faults of a GPU: HSA reports them on a thread of its own; the device returns the error from then on, and a log
 * line says where the fault was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/cancel.h"
#include "api/base/base.h"

static struct hip_device *device_of(hsa_agent_t agent)
{
	for (unsigned i = 0; i < hip.devices; i++)
		if (hip.device[i].agent.handle == agent.handle)
			return &hip.device[i];
	return NULL;
}

hip_address_fn *_Atomic hip_fault_describe;

static void fault_report(struct hip_device *d, const hsa_amd_gpu_memory_fault_info_t *info)
{
	DRV_HOLD_CANCEL;
	hip_address_fn *describe;

	atomic_fetch_add(&d->faults_reported, 1);
	/* A wait may have set the device's error before. */
	hip_device_fail(d, hipErrorIllegalAddress);
	if (!(hip_slow_path_flags() & HIP_SLOW_LOG))
		return;
	fprintf(stderr, "hip: device %d: a kernel reached 0x%llx: %s\n", d->index,
		(unsigned long long)info->virtual_address,
		info->fault_reason_mask & HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT ? "nothing is mapped there"
		: info->fault_reason_mask & HSA_AMD_MEMORY_FAULT_READ_ONLY      ? "it may not be written"
										: "it may not be executed");
	describe = atomic_load(&hip_fault_describe);
	if (describe)
		describe(info->virtual_address);
}

static void exception_report(struct hip_device *d)
{
	DRV_HOLD_CANCEL;

	if (hip_device_fail(d, hipErrorLaunchFailure) && (hip_slow_path_flags() & HIP_SLOW_LOG))
		fprintf(stderr,
			"hip: device %d: a kernel hung, did what it may not, or ran longer than the kernel driver "
			"allows; the GPU was reset\n",
			d->index);
}

static hsa_status_t event_handler(const hsa_amd_event_t *event, void *unused)
{
	struct hip_device *d;

	(void)unused;
	hip_call_begin(); /* the report looks for memory near the address, and so uses objects that calls may destroy */
	if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT && (d = device_of(event->memory_fault.agent)))
		fault_report(d, &event->memory_fault);
	else if (event->event_type == HSA_AMD_GPU_HW_EXCEPTION_EVENT && (d = device_of(event->hw_exception.agent)))
		exception_report(d);
	hip_call_end();
	return HSA_STATUS_SUCCESS;
}

static bool watching;

void hip_faults_watch(void)
{
	/* Fails when another client of HSA has a handler: then only the failures of flows are reported. */
	watching = !hsa_amd_register_system_event_handler(event_handler, NULL);
}

static _Atomic unsigned requested, executed;

static void drain_executed(void *unused)
{
	(void)unused;
	atomic_fetch_add(&executed, 1);
}

/* Waits for reports that HSA does not count: resets and failures of flows. HSA calls handlers and async functions
 * in order, so an async function that is queued here runs after them. */
static void async_reports_drain(void)
{
	unsigned mine = atomic_fetch_add(&requested, 1) + 1;

	if (hsa_amd_async_function(drain_executed, NULL))
		atomic_fetch_add(&executed, 1);
	for (unsigned i = 0; i < 10000 && (int)(atomic_load(&executed) - mine) < 0; i++)
		drv_nap(100000);
}

void hip_faults_drain(struct hip_device *d)
{
	for (unsigned ms = 0; watching && ms < 1000 && atomic_load(&d->faults_reported) < hip.hsa->faults(d->agent);
	     ms++)
		drv_nap(1000000);
	async_reports_drain();
}

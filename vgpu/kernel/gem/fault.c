/* Records of VM faults for GPUVM_FAULT. Linux gmc_v9_0_process_interrupt(), 6.12 and 7.2; 6.1 has no such query. */
#include "vgpu/kernel/gem/fault.h"
#include "vgpu/kernel/base/inject.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/kernel.h"

/* printk_ratelimit(): DEFAULT_RATELIMIT_INTERVAL and _BURST. */
#define INTERVAL_NS 5000000000ll
#define BURST       10
/* Delay of a planned late record after the end of its job: the interrupt's work item had to wait. */
#define LATE_NS 20000000ll

/* MORE_FAULTS 0, WALKER_ERROR 3:1, PERMISSION_FAULTS 7:4, MAPPING_ERROR 8, CID 17:9, RW 18, VMID 23:20. */
static uint32_t fault_status(const struct gpuvm_fault *fault)
{
	uint32_t permission = fault->mapped ? 0 : 1, vmid = 1;

	permission |= fault->access & GPUVM_R ? 2 : 0;
	permission |= fault->access & GPUVM_W ? 4 : 0;
	permission |= fault->access & GPUVM_X ? 8 : 0;
	return permission << 4 | ((uint32_t)fault->client & 0x7f) << 9 | (fault->access & GPUVM_W ? 1u << 18 : 0) |
	       vmid << 20;
}

/* The kernel's messages have a common limit; messages of other drivers are not modelled. */
static bool message_allowed(void)
{
	int64_t now = sys_now_ns();

	if (now - kern->messages_since_ns > INTERVAL_NS) {
		kern->messages_since_ns = now;
		kern->messages = 0;
	}
	return kern->messages < BURST && ++kern->messages;
}

void kern_quiet_seconds(void)
{
	kern_lock();
	kern->messages = 0;
	kern_unlock();
}

static void record_fault(struct kern_vm *vm, const struct kern_vm_fault *fault)
{
	if (!message_allowed()) /* the handler returns before it has updated the cache */
		vgpu_log("row 134: ten messages in five seconds were printed: the fault is not recorded");
	else if (kern_inject_event(KERN_FAULT_LOST))
		vgpu_log("row 134: the fault is not recorded, as planned");
	else if (kern_inject_event(KERN_FAULT_LATE))
		vm->late = (struct kern_late_fault){*fault, INT64_MAX};
	else
		vm->fault = *fault;
}

void kern_vm_fault(struct kern_vm *vm, const struct gpuvm_fault *fault)
{
	kern_lock();
	if (fault->mapped || !kern_local.chip[vm->dev->index]->retries || kern_vm_redirect(vm, fault->va))
		record_fault(vm, &(struct kern_vm_fault){
					 .addr = fault->va & KERN_VA_MASK & ~(uint64_t)(KERN_PAGE - 1),
					 .status = fault_status(fault),
					 .vmhub = fault->client >= GPUVM_SDMA0 ? 1 : 0, /* MM hub 0, GFX hub 0 */
				 });
	kern_unlock();
}

void kern_fault(void *user, const struct gpuvm_fault *fault)
{
	struct kern_job *job = user;

	kern_vm_fault(job->vm, fault);
	vgpu_log("VM fault: job %llu of context %u, address 0x%llx, status 0x%08x", (unsigned long long)job->seq,
		 job->ctx->id, (unsigned long long)fault->va, fault_status(fault));
}

void kern_fault_job_ended(struct kern_vm *vm)
{
	if (vm->late.due_ns == INT64_MAX)
		vm->late.due_ns = sys_now_ns() + LATE_NS;
}

struct kern_vm_fault kern_fault_recorded(struct kern_vm *vm)
{
	if (vm->late.due_ns && vm->late.due_ns <= sys_now_ns()) {
		vm->fault = vm->late.fault;
		vm->late.due_ns = 0;
	}
	return vm->fault;
}

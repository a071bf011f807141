/* VM faults for GPUVM_FAULT. */
#ifndef VGPU_KERNEL_GEM_FAULT_H
#define VGPU_KERNEL_GEM_FAULT_H

#include "vgpu/kernel/base/core.h"

/* Records the VM's fault. Takes the kernel lock. */
void kern_vm_fault(struct kern_vm *vm, const struct gpuvm_fault *fault);
/* engine_job::fault of a kern_job. Takes the kernel lock. */
void kern_fault(void *user, const struct gpuvm_fault *fault);
/* Schedules the VM's late record after the end of a job. Kernel lock held, as below. */
void kern_fault_job_ended(struct kern_vm *vm);
/* The last fault that was recorded; zeros: none. */
struct kern_vm_fault kern_fault_recorded(struct kern_vm *vm);

#endif

/* VMIDs of the GFX hub. Kernel lock held. */
#ifndef VGPU_KERNEL_GEM_VMID_H
#define VGPU_KERNEL_GEM_VMID_H

#include "vgpu/kernel/base/core.h"

/* A job's VMID, as struct engine_job has it. */
struct kern_vmid_grant {
	uint64_t key;            /* tags what caches hold by address; the same for every VM that has had the VMID */
	uint64_t foreign, epoch; /* values for struct engine_job */
};

/* The VM's VMID for a job of this process on rings of that IP: key 0 for copy engines of GFX9, which are behind
 * another hub. The VM must not count as running for that job yet. */
struct kern_vmid_grant kern_vmid_grab(struct kern_vm *vm, unsigned ip);
/* Frees the VM's VMID; caches keep the lines tagged with it. */
void kern_vmid_forget(struct kern_vm *vm);

#endif

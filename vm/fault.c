/* GPU page faults: the kernel keeps the last one of each address space. */
#include <errno.h>

#include "drv/lock.h"
#include "vm/internal.h"

/* AMDGPU_INFO_GPUVM_FAULT, DRM 3.55; missing in libdrm 2.4.114's header. */
#define INFO_GPUVM_FAULT     0x23
#define INFO_GPUVM_FAULT_DRM 55
struct gpuvm_fault {
	uint64_t va;
	uint32_t status; /* GCVM_L2_PROTECTION_FAULT_STATUS */
	uint32_t hub;
};

static const char *fault_client(uint32_t status, uint32_t hub)
{
	/* Client ids of the GFX hub, fault status 17:9 (Linux gmc_v9_0.c). */
	static const char *const names[] = {[4] = "command fetch",
					    [5] = "compute command processor",
					    [8] = "vector memory",
					    [9] = "instruction fetch",
					    [10] = "scalar memory"};
	unsigned client = status >> 9 & 0x1ff;

	if (hub & 0xff)
		return "SDMA";
	return client < sizeof(names) / sizeof(names[0]) && names[client] ? names[client] : "GPU";
}

/* Decodes the fault status. Bits 7:4 are the permissions that the page lacked: valid, read, write, execute. Bit 18:
 * the access was a write (Linux gfxhub_v1_0.c). */
static struct vm_fault fault_decode(const struct gpuvm_fault *fault)
{
	unsigned missing = fault->status >> 4 & 0xf;

	return (struct vm_fault){
		.va = fault->va,
		.write = fault->status >> 18 & 1,
		.present = missing && !(missing & 1),
		.execute = missing >> 3 & 1,
	};
}

int vm_check_fault(struct vm *vm, struct vm_fault *out)
{
	const struct drv_device *dev = vm->dev;
	struct gpuvm_fault fault;
	bool fresh = false;

	if (dev->drm_minor < INFO_GPUVM_FAULT_DRM)
		return 0;
	/* The lock is held over the query: an older answer that was recorded last would make a fault fresh again. */
	drv_mutex_lock(&vm->fault_lock);
	if (!drv_info(dev, INFO_GPUVM_FAULT, &fault, sizeof(fault))) {
		fresh = fault.status && (fault.va != vm->fault_va || fault.status != vm->fault_status);
		vm->fault_va = fault.va;
		vm->fault_status = fault.status;
	}
	drv_mutex_unlock(&vm->fault_lock);
	if (!fresh)
		return 0;
	if (out)
		*out = fault_decode(&fault);
	return drv_fail(-EFAULT, "GPU memory fault: %s %s page 0x%llx (status 0x%08x)",
			fault_client(fault.status, fault.hub), fault_decode(&fault).write ? "wrote" : "read",
			(unsigned long long)fault.va, fault.status);
}

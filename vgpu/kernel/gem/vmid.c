/* VMIDs (Linux amdgpu_ids.c): a VM keeps its VMID until another VM takes it; a VM without one takes the least
 * recently used idle one. The kernel's maintenance at that point does not reach the instruction and scalar caches,
 * whose lines are tagged with VMID and address. A card waits when none is idle; here the VM gets a VMID of its own
 * for that job. */
#include <amdgpu_drm.h>

#include "vgpu/kernel/gem/vmid.h"

/* VMIDs of DRM end here: 1 to 7, or 1 and 2 where there is no graphics (Linux gmc_v9_0.c, first_kfd_vmid;
 * gmc_v10_0.c to gmc_v12_0.c: 8). */
static unsigned vmid_end(const struct kern_device *dev)
{
	return kern_local.chip[dev->index]->gc_version[0] == 9 && !kern_local.chip[dev->index]->gfx_rings ? 3 : 8;
}

static bool is_idle(const struct kern_vmid *id)
{
	return !id->vm || !id->vm->running;
}

/* Picks the VMID that the VM has, or the idle one used longest ago. NULL: all are busy. */
static struct kern_vmid *choose_vmid(struct kern_device *dev, const struct kern_vm *vm)
{
	struct kern_vmid *oldest = NULL;

	for (unsigned i = 1; i < vmid_end(dev); i++) {
		struct kern_vmid *id = &dev->vmid[i];

		if (id->vm == vm)
			return id;
		if (is_idle(id) && (!oldest || id->used < oldest->used))
			oldest = id;
	}
	return oldest;
}

struct kern_vmid_grant kern_vmid_grab(struct kern_vm *vm, unsigned ip)
{
	struct kern_device *dev = vm->dev;
	struct kern_vmid *id;

	if (ip == AMDGPU_HW_IP_DMA && kern_local.chip[dev->index]->gc_version[0] == 9)
		return (struct kern_vmid_grant){.epoch = dev->vmid_epoch};
	id = choose_vmid(dev, vm);
	if (!id)
		return (struct kern_vmid_grant){.key = KERN_VMIDS + vm->id, .epoch = dev->vmid_epoch};
	if (id->process && id->process != kern_local.serial)
		id->foreign = ++dev->vmid_epoch;
	id->vm = vm;
	id->process = kern_local.serial;
	id->used = ++kern->next_id;
	return (struct kern_vmid_grant){(uint64_t)(id - dev->vmid), id->foreign, dev->vmid_epoch};
}

void kern_vmid_forget(struct kern_vm *vm)
{
	for (unsigned i = 0; i < KERN_VMIDS; i++)
		if (vm->dev->vmid[i].vm == vm)
			vm->dev->vmid[i].vm = NULL;
}

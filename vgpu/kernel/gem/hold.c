#include "vgpu/kernel/gem/hold.h"
#include "vgpu/kernel/gem/bo.h"

struct kern_hold *kern_hold_create(struct kern_inode *inode, struct kern_bo *bo)
{
	struct kern_hold *hold = kern_alloc(sizeof(*hold));

	if (!hold)
		return NULL;
	hold->inode = inode;
	hold->bo = bo;
	kern_list_add_tail(&kern->proc[kern_local.slot].holds, &hold->link);
	return hold;
}

struct kern_hold *kern_hold_bo(struct kern_bo *bo)
{
	struct kern_hold *hold = kern_hold_create(NULL, bo);

	if (hold)
		kern_bo_get(bo);
	return hold;
}

void kern_hold_drop(struct kern_hold *hold)
{
	if (!hold)
		return;
	kern_list_del(&hold->link);
	kern_bo_put(hold->bo);
	kern_free(hold);
}

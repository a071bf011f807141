/* Holds: a process keeps an inode or a buffer alive, through a descriptor or a CPU mapping. Kernel lock held. */
#ifndef VGPU_KERNEL_GEM_HOLD_H
#define VGPU_KERNEL_GEM_HOLD_H

#include "vgpu/kernel/base/core.h"

/* An entry in the list of this process's holds, without a reference to inode or bo. NULL without memory. */
struct kern_hold *kern_hold_create(struct kern_inode *inode, struct kern_bo *bo);
/* A hold of this process on a buffer. NULL without memory. */
struct kern_hold *kern_hold_bo(struct kern_bo *bo);
/* Frees a hold with its reference to a buffer; the reference to an inode passes to the caller. NULL is fine. */
void kern_hold_drop(struct kern_hold *hold);

#endif

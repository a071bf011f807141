/* Processes of the run: who is there, what each keeps alive, and what happens when one dies. Kernel lock held. */
#ifndef VGPU_KERNEL_PROC_H
#define VGPU_KERNEL_PROC_H

#include "vgpu/kernel/core.h"

/* Enters this process; fills kern_local.slot, .serial, .pid. A former image of the same process (before an exec) is
 * reaped first. 0, -EAGAIN when all slots are taken, -ENOMEM. */
int kern_proc_enter(void);
/* Lets go of everything that this process holds and frees its slot. Its ring threads have ended. */
void kern_proc_leave(void);
/* Reaps the processes that have died. */
void kern_proc_sweep(void);
bool kern_proc_alive(uint32_t serial);

/* What keeps an inode or a buffer alive on behalf of this process. NULL without memory. */
struct kern_hold *kern_hold_inode(struct kern_inode *inode);
struct kern_hold *kern_hold_bo(struct kern_bo *bo);
/* NULL is fine. May release the last reference. */
void kern_hold_put(struct kern_hold *hold);

#endif

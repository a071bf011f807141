/* Processes of the run: entry, exit, and the cleanup of processes that died. Kernel lock held. */
#ifndef VGPU_KERNEL_DRM_PROC_H
#define VGPU_KERNEL_DRM_PROC_H

#include "vgpu/kernel/base/proc.h"
#include "vgpu/kernel/kernel.h"

/* Enters this process; fills kern_local.slot, .serial, .pid. A former image of the same process (before an exec) is
 * reaped first. 0, -EAGAIN when all slots are taken, -ENOMEM. */
int kern_proc_enter(void);
/* Before a fork: makes the child's process, which has no pid yet, and opens its guard (base/proc.h). 0, -EAGAIN, -ENOMEM, or
 * the error of the guard. */
int kern_proc_conceive(struct kern_child *child);
/* In the child: this process is it. -ESRCH: it was reaped. */
int kern_proc_born(const struct kern_child *child);
/* Releases all objects of this process and frees its slot. Its ring threads have ended. */
void kern_proc_leave(void);
/* Reaps the processes that have died. */
void kern_proc_sweep(void);

#endif

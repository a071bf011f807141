/* Processes of the run: which of them live. drm/proc.c enters and reaps them. Kernel lock held. */
#ifndef VGPU_KERNEL_BASE_PROC_H
#define VGPU_KERNEL_BASE_PROC_H

#include "vgpu/kernel/base/core.h"

/* State and start time of a process, from /proc/PID/stat; false: there is no such process. */
bool kern_proc_stat(pid_t pid, char *state, uint64_t *start_time);
/* Whether the process that has this slot lives. */
bool kern_tenant_alive(const struct kern_proc *proc);
/* Whether the process with this serial number lives. */
bool kern_proc_alive(uint32_t serial);

#endif

/* Processes of the run: which of them live. drm/proc.c enters and reaps them. Kernel lock held. */
#ifndef VGPU_KERNEL_BASE_PROC_H
#define VGPU_KERNEL_BASE_PROC_H

#include "vgpu/kernel/base/core.h"

/* A process, from /proc/PID/stat. */
struct kern_proc_stat {
	char state;
	unsigned threads;    /* those that have not ended: more than one behind a leader that is a zombie */
	uint64_t start_time; /* clock ticks since the boot */
};
/* False: there is no such process, or the file cannot be read. */
bool kern_proc_stat(pid_t pid, struct kern_proc_stat *stat);
/* The text of a file of /proc, for free(); NULL without memory. Needs no lock. */
char *kern_read_proc(const char *path);

/* A child that is about to be forked has a slot already, with pid 0. The slot is kept while the guard is open in the
 * parent or in the child: a descriptor with a lock on a byte of the segment, which fork() shares. */
int kern_guard_open(unsigned slot); /* the descriptor or -errno */
/* Whether the calling thread has the capability, as capable() tests; one in a user namespace counts here, and not in
 * Linux. */
bool kern_capable(unsigned capability);
/* Whether the process that has this slot lives. */
bool kern_tenant_alive(const struct kern_proc *proc);
/* Whether the process with this serial number lives. */
bool kern_proc_alive(uint32_t serial);

#endif

/* Other processes. */
#ifndef DRV_PROCESS_H
#define DRV_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* It has ended, also when its parent has not asked for that yet: its files are closed, so the kernel has ended or
 * dropped all its work. False also where a sandbox keeps that from being known, and when another process has got
 * the number since. Three system calls. */
bool drv_process_gone(pid_t pid);

#endif

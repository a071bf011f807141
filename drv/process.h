/* Other processes. */
#ifndef DRV_PROCESS_H
#define DRV_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* True when the process has ended, even if its parent has not waited for it yet: its files are closed, so the
 * kernel has finished or dropped all its work. False also where a sandbox hides processes, and when another process
 * has reused the id. Three system calls. */
bool drv_process_gone(pid_t pid);

#endif

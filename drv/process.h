/* Other processes. */
#ifndef DRV_PROCESS_H
#define DRV_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* True when the process has ended, even if its parent has not waited for it yet: its files are closed, so the
 * kernel has finished or dropped all its work. False also where a sandbox hides processes, and when another process
 * has reused the id. Three system calls. */
bool drv_process_gone(pid_t pid);

/* Locks that fork() takes, so that a child does not inherit them from threads that it does not have. Handlers run in
 * the reverse of the order in which they are registered: those of the innermost lock are registered first, when the
 * library is loaded. For __attribute__((constructor(DRV_FORK_...))). */
#define DRV_FORK_HANDLES 1001
#define DRV_FORK_LIBDRM  1002
#define DRV_FORK_DEBUG   1003
#define DRV_FORK_GROUPS  1004
#define DRV_FORK_RUNTIME 1005
#define DRV_FORK_DEVICES 1006
/* Has fork() take a static drv_mutex, which is in that order. */
#define DRV_FORK_TAKES(mutex, order)                                                                               \
	static void mutex##_fork_begin(void)                                                                       \
	{                                                                                                          \
		drv_mutex_lock(&(mutex));                                                                          \
	}                                                                                                          \
	static void mutex##_fork_end(void)                                                                         \
	{                                                                                                          \
		drv_mutex_unlock(&(mutex));                                                                        \
	}                                                                                                          \
	__attribute__((constructor(order))) static void mutex##_fork_watch(void)                                   \
	{                                                                                                          \
		(void)!pthread_atfork(mutex##_fork_begin, mutex##_fork_end, mutex##_fork_end);                     \
	}

#endif

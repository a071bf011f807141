/* Descriptors that become ready when a fence is signalled: eventfds of SYNCOBJ_EVENTFD, and sync files, which are
 * the reading ends of pipes. The process that signals a fence may lack the descriptor; so each process with such
 * descriptors has a thread that waits. Kernel lock held, unless a comment says otherwise. */
#ifndef VGPU_KERNEL_DRM_WATCH_H
#define VGPU_KERNEL_DRM_WATCH_H

#include "vgpu/kernel/base/core.h"

/* A descriptor that waits for a fence. In the segment, so that its references are dropped when its process dies. */
struct kern_watch {
	struct kern_list link;        /* in proc->watches */
	struct kern_syncobj *syncobj; /* counted, also in its `watched`; NULL: the fence is known from the start */
	uint64_t point;
	bool available;           /* ready as soon as the point exists */
	struct kern_fence *fence; /* counted; NULL until there is one */
	int fd;                   /* owned, of that process: the eventfd, or the pipe's writing end */
	uint64_t dev, ino;        /* identity of fd when it was taken: a client may have closed it */
};

/* A pipe: *fd becomes readable when f is signalled, and stays so. 0 or -errno. */
int kern_watch_pipe(struct kern_fence *f, bool cloexec, int *fd);
int kern_syncobj_eventfd_ioctl(struct kern_file *file, void *arg);

/* Ends this process's thread; its descriptors never become ready. Without the lock. */
void kern_watch_stop(void);
/* In a forked child: forgets the parent's thread. */
void kern_watch_forked(void);
/* Frees the watches of a process that died. */
void kern_watch_proc_gone(struct kern_proc *proc);

#endif

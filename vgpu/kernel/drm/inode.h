/* Descriptors that the kernel gives to the client. Kernel lock held. */
#ifndef VGPU_KERNEL_DRM_INODE_H
#define VGPU_KERNEL_DRM_INODE_H

#include "vgpu/kernel/base/inode.h"

/* Called for each new descriptor of this process, with its hold, under the kernel lock. Set by shim/. */
extern void (*kern_fd_opened)(int fd, struct kern_hold *hold);
/* Returns a descriptor of this process for that inode, or -1. Set by shim/. */
extern int (*kern_fd_find)(const struct kern_inode *inode);

/* Makes a descriptor for object, whose reference it takes over, also when it fails. 0 with *fd, or -errno. */
int kern_fd_create(enum kern_inode_kind kind, void *object, uint64_t size_B, bool cloexec, int *fd);

/* Makes a memfd of size_B for object (takes over one reference of it) and returns the descriptor with *inode, or
 * -errno (the reference then stays the caller's). */
int kern_inode_create(enum kern_inode_kind kind, void *object, uint64_t size_B, bool cloexec,
		      struct kern_inode **inode);
/* Drops a hold; the last one puts the object. */
void kern_inode_put(struct kern_inode *inode);
/* Ends a message to that process; without a message known to be for it, a message without a known receiver. */
void kern_inode_landed(struct kern_inode *inode, pid_t receiver);
/* Messages to a process that died carry nothing any more. */
void kern_inodes_receiver_gone(pid_t receiver);

/* A hold of this process on an inode. NULL without memory. */
struct kern_hold *kern_hold_inode(struct kern_inode *inode);
/* Frees a hold with its reference, perhaps the last. NULL is fine. */
void kern_hold_put(struct kern_hold *hold);

#endif

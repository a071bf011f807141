/* Descriptors that the kernel gives to the client. Kernel lock held. */
#ifndef VGPU_KERNEL_FD_H
#define VGPU_KERNEL_FD_H

#include "vgpu/kernel/core.h"

/* What shim/ wants to know: a new descriptor of this process, with its hold. Called with the kernel lock. */
extern void (*kern_fd_opened)(int fd, struct kern_hold *hold);
/* What shim/ knows: a descriptor of this process for that inode, or -1. */
extern int (*kern_fd_find)(const struct kern_inode *inode);

/* A descriptor for object, whose reference it takes over, also when it fails. 0 with *fd, or -errno. */
int kern_fd_create(enum kern_inode_kind kind, void *object, uint64_t size_B, bool cloexec, int *fd);

int kern_prime_to_fd(struct kern_file *file, void *arg);
int kern_prime_from_fd(struct kern_file *file, void *arg);

#endif

/* The inodes behind descriptors: look-up. drm/inode.c makes and frees them. Kernel lock held. */
#ifndef VGPU_KERNEL_BASE_INODE_H
#define VGPU_KERNEL_BASE_INODE_H

#include "vgpu/kernel/base/core.h"

/* The hash chain of an inode number. */
static inline struct kern_list *kern_inode_bucket(uint64_t ino)
{
	return &kern->inode_hash[ino % KERN_HASH];
}

struct kern_inode *kern_inode_find(uint64_t dev, uint64_t ino);
/* The inode behind a descriptor of this process, or NULL. */
struct kern_inode *kern_inode_of_fd(int fd);

#endif

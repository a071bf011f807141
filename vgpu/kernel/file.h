/* Open render nodes, the inodes behind descriptors, devices. Kernel lock held unless said otherwise. */
#ifndef VGPU_KERNEL_FILE_H
#define VGPU_KERNEL_FILE_H

#include "vgpu/kernel/core.h"

/* Makes a memfd of size_B that stands for object (taking over one reference of it) and returns the descriptor with
 * *inode, or -errno (the reference is then still the caller's). */
int kern_inode_create(enum kern_inode_kind kind, void *object, uint64_t size_B, bool cloexec,
		      struct kern_inode **inode);
struct kern_inode *kern_inode_find(uint64_t dev, uint64_t ino);
/* The inode behind a descriptor of this process, or NULL. */
struct kern_inode *kern_inode_of_fd(int fd);
/* One hold less; the object is put with the last. */
void kern_inode_put(struct kern_inode *inode);
/* One message to that process less; to whom nobody knows, if none is known to be for it. */
void kern_inode_landed(struct kern_inode *inode, pid_t receiver);
/* Messages to a process that died carry nothing any more. */
void kern_inodes_receiver_gone(pid_t receiver);

/* A new file; its only reference. 0, -ENODEV, -ENOMEM. */
int kern_file_create(struct kern_device *dev, bool primary, struct kern_file **file);
void kern_file_put(struct kern_file *file);

static inline struct kern_handle *kern_handle_find(struct kern_file *file, uint32_t id)
{
	return kern_idr_find(&file->handles, id);
}
/* With a finding of row 25 when there is none: the handle was closed or never given. */
struct kern_handle *kern_handle_must(struct kern_file *file, uint32_t id, const char *what);

#endif

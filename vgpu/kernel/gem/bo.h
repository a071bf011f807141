/* Buffer objects and their handles. Kernel lock held. */
#ifndef VGPU_KERNEL_GEM_BO_H
#define VGPU_KERNEL_GEM_BO_H

#include "vgpu/kernel/base/core.h"

static inline struct kern_bo *kern_bo_get(struct kern_bo *bo)
{
	bo->refs++;
	return bo;
}
void kern_bo_put(struct kern_bo *bo); /* NULL is fine */
/* Frees what has no references and is idle now; after jobs ended. */
void kern_bo_bury(void);
/* Frees the buffers that a dead process was freeing. */
void kern_bo_free_rest(struct kern_proc *proc);

/* An empty buffer without memory or heap; NULL without memory for it. The caller's reference is written down until
 * kern_call_put_bo(). */
struct kern_bo *kern_bo_create(struct kern_device *dev, uint64_t size_B);
/* Takes the offsets for mmap() behind the new buffer's first page, which it has from its creation: for what has memory to
 * map. Clients choose the sizes of other buffers freely. */
void kern_bo_take_offsets(const struct kern_bo *bo);
/* Puts the reference to a BO that the calling ioctl made or waited for, and removes it from the ioctl's record. */
void kern_call_put_bo(struct kern_bo *bo);

/* Place of its memory in the physical memory file; a foreign buffer has its exporter's. */
static inline const struct kern_block *kern_bo_block(const struct kern_bo *bo)
{
	return bo->foreign ? bo->foreign->block : bo->block;
}
static inline bool kern_bo_is_userptr(const struct kern_bo *bo)
{
	return bo->user_flags; /* REGISTER or READONLY is always set */
}
/* Host address of its first byte in this process; NULL when there is none. */
uint8_t *kern_bo_host(const struct kern_bo *bo);
bool kern_bo_is_system(const struct kern_bo *bo);

/* A new handle in file; takes a reference of its own. 0, -ENOMEM, -ENOSPC. */
int kern_handle_create(struct kern_file *file, struct kern_bo *bo, uint32_t *id);
/* The handle of bo in file, or NULL. */
struct kern_handle *kern_handle_of(struct kern_file *file, struct kern_bo *bo);
/* Removes its mappings from the VM, its number from the file. */
void kern_handle_close(struct kern_handle *handle);

/* Resolves mmap(file, offset, size) to the buffer and its place in the physical memory file, or -errno. */
int kern_bo_mmap(struct kern_file *file, uint64_t offset, uint64_t size_B, int prot, int flags, struct kern_bo **bo,
		 uint64_t *phys_offset);
/* The same for a dma-buf. */
int kern_dmabuf_mmap(struct kern_bo *bo, uint64_t offset, uint64_t size_B, uint64_t *phys_offset);

/* Is the user memory behind a userptr buffer still there, and has it its room in GTT? 0, -EFAULT, -ENOMEM; -EPERM
 * in another process. */
int kern_userptr_check(struct kern_bo *bo);

/* A job lists this import of another device's buffer for the first time. */
void kern_prime_map(struct kern_bo *bo);

int kern_gem_create(struct kern_file *file, void *arg);
int kern_gem_mmap(struct kern_file *file, void *arg);
int kern_gem_userptr(struct kern_file *file, void *arg);
int kern_gem_close(struct kern_file *file, void *arg);
int kern_gem_metadata(struct kern_file *file, void *arg);
int kern_gem_op(struct kern_file *file, void *arg);
int kern_gem_list_handles(struct kern_file *file, void *arg);
int kern_gem_wait_idle(struct kern_file *file, void *arg);

#endif

/* Physical memory: places of buffers in the file, and accounts of heaps. Kernel lock held. */
#ifndef VGPU_KERNEL_GEM_MEMORY_H
#define VGPU_KERNEL_GEM_MEMORY_H

#include "vgpu/kernel/base/core.h"

int kern_phys_init(struct kern_phys *phys, uint64_t size_B);
/* The blocks tile the file again, after a change that was not finished; what is not used is empty and in one. */
void kern_phys_repair(void);
/* NULL when no range of that size is left. */
struct kern_block *kern_block_alloc(uint64_t size_B);
/* Gives the range back; its content was discarded, so that the next owner finds zeroes. NULL is fine. */
void kern_block_free(struct kern_block *block);
/* Drops the content. */
void kern_block_discard(struct kern_block *block);

/* Accounts bo to one heap (AMDGPU_GEM_DOMAIN_VRAM, _GTT or _CPU), visible VRAM if need_visible. 0 or -ENOMEM; bo is
 * accounted where it was. */
int kern_heap_charge(struct kern_bo *bo, uint32_t heap, bool need_visible);
void kern_heap_uncharge(struct kern_bo *bo);
/* Would charging bo to VRAM succeed now? */
bool kern_vram_fits(const struct kern_bo *bo, bool need_visible);

#endif

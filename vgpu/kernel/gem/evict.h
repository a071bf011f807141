/* Eviction from VRAM, as TTM does it. Kernel lock held.
 *
 * Buffers in VRAM are in their device's lru list. Using one costs nothing: lists and VMs carry the stamp of their
 * last job, and a buffer's place in the list is corrected when a victim is searched. */
#ifndef VGPU_KERNEL_GEM_EVICT_H
#define VGPU_KERNEL_GEM_EVICT_H

#include "vgpu/kernel/base/core.h"

/* Moves idle buffers out of dev's VRAM, the least recently used first, until bo fits there; the caller then charges
 * it. 0, or -ENOMEM when too little can go; what went stays where it is now. */
int kern_evict_for(const struct kern_bo *bo, bool need_visible);
/* Evicts any idle buffer: planned by TUFF_VGPU_INJECT. */
void kern_evict_random(struct kern_device *dev);
/* Moves the buffers of a job of vm with that list (NULL: none) back to their preferred heaps before its
 * submission, as far as there is room. 0, or -ENOMEM when a buffer has no place at all. */
int kern_evict_restore(struct kern_vm *vm, struct kern_bo_list *list);

/* Stamp of the last job that could reach it. */
uint64_t kern_bo_last_use(const struct kern_bo *bo);
/* Whether it is in another heap than its preferred ones. */
bool kern_bo_displaced(const struct kern_bo *bo);
/* Records a change of heap: counts the move, and invalidates views that have its place. */
void kern_bo_moved(struct kern_bo *bo);

/* The same for a VM whose user queues run: all that is mapped. 0 or -ENOMEM. */
int kern_evict_restore_all(struct kern_vm *vm);

#endif

/* Who stays in VRAM when it is full: what TTM does. Kernel lock held.
 *
 * Buffers in VRAM stand in their device's lru list. Using one costs nothing: lists and VMs carry the stamp of their
 * last job, and a buffer's place is corrected when somebody looks for a victim. */
#ifndef VGPU_KERNEL_EVICT_H
#define VGPU_KERNEL_EVICT_H

#include "vgpu/kernel/base/core.h"

/* Moves idle buffers out of dev's VRAM, the least recently used first, until bo fits there; the caller then charges
 * it. 0, or -ENOMEM when too little can go; what went stays where it is now. */
int kern_evict_for(const struct kern_bo *bo, bool need_visible);
/* Evicts any idle buffer: planned by TUFF_VGPU_INJECT. */
void kern_evict_random(struct kern_device *dev);
/* A job of vm with that list (NULL: none) is about to be submitted: what it may reach comes back to where it wants
 * to be, as far as room can be made. 0, or -ENOMEM when some of it has no place at all. */
int kern_evict_restore(struct kern_vm *vm, struct kern_bo_list *list);

/* Stamp of the last job that could reach it. */
uint64_t kern_bo_last_use(const struct kern_bo *bo);
/* Is it elsewhere than it wants to be? */
bool kern_bo_displaced(const struct kern_bo *bo);
/* Records a change of heap: counts the move, and invalidates views that have its place. */
void kern_bo_moved(struct kern_bo *bo);

#endif

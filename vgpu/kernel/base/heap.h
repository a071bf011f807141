/* The blocks of the segment's heap, for repair.c, which walks them all. Kernel lock held. */
#ifndef VGPU_KERNEL_BASE_HEAP_H
#define VGPU_KERNEL_BASE_HEAP_H

#include "vgpu/kernel/base/core.h"

/* Header of each block. */
struct kern_head {
	uint32_t class; /* immutable */
	uint16_t in_use;
	uint16_t kind;          /* scratch of repair.c */
	struct kern_head *next; /* free: in its class; else scratch of repair.c */
};

static inline struct kern_head *kern_head_of(const void *p)
{
	return (struct kern_head *)p - 1;
}

/* In address order, used and free ones; NULL at the end. */
struct kern_head *kern_head_first(void);
struct kern_head *kern_head_after(struct kern_head *head);
/* Makes the lists of free blocks again from the blocks' in_use. */
void kern_heap_relist(void);

#endif

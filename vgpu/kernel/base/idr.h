/* Small integers for objects, lowest free first, as the kernel's idr gives them. Guarded by the kernel lock. */
#ifndef VGPU_KERNEL_BASE_IDR_H
#define VGPU_KERNEL_BASE_IDR_H

#include <stdint.h>

struct kern_idr {
	void **slot; /* owned array; the objects belong to the user */
	uint32_t room;
	uint32_t hint;  /* no id below it is free */
	uint32_t limit; /* ids are 1 .. limit-1 */
	uint32_t count;
};

void kern_idr_init(struct kern_idr *idr, uint32_t limit);
void kern_idr_fini(struct kern_idr *idr);
/* The id, from 1; 0 with *error when all ids are taken (-ENOSPC) or memory ran out (-ENOMEM). */
uint32_t kern_idr_add(struct kern_idr *idr, void *object, int *error);
void *kern_idr_find(const struct kern_idr *idr, uint32_t id);
/* Takes the object out and returns it; NULL when there is none. */
void *kern_idr_remove(struct kern_idr *idr, uint32_t id);

#endif

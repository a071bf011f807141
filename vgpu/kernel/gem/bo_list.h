/* BO lists: which buffers a job may reach. Kernel lock held. */
#ifndef VGPU_KERNEL_GEM_BO_LIST_H
#define VGPU_KERNEL_GEM_BO_LIST_H

#include <amdgpu_drm.h>
#include "vgpu/kernel/base/core.h"

int kern_bo_list_ioctl(struct kern_file *file, void *arg);

/* The list of a BO_HANDLES chunk; the same object as last time when the handles mean the same. Counted. */
int kern_bo_list_of_chunk(struct kern_file *file, const struct drm_amdgpu_bo_list_in *in,
			  struct kern_bo_list **list);
static inline struct kern_bo_list *kern_bo_list_get(struct kern_bo_list *list)
{
	list->refs++;
	return list;
}
void kern_bo_list_put(struct kern_bo_list *list); /* NULL is fine */

#endif

/* GEM handles of a file. Kernel lock held. */
#ifndef VGPU_KERNEL_GEM_HANDLE_H
#define VGPU_KERNEL_GEM_HANDLE_H

#include "vgpu/kernel/base/core.h"

/* The handle with this number, or NULL. */
static inline struct kern_handle *kern_handle_find(struct kern_file *file, uint32_t id)
{
	return kern_idr_find(&file->handles, id);
}
/* As kern_handle_find(), with a finding of row 25 when there is none: the handle was closed or never given. */
struct kern_handle *kern_handle_must(struct kern_file *file, uint32_t id, const char *what);

#endif

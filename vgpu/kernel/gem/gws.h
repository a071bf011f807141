/* Global wave sync: owners of a device's resources, of all processes. A GWS buffer gets resources when a job lists
 * it, and loses them when another buffer needs them. Kernel lock held. */
#ifndef VGPU_KERNEL_GEM_GWS_H
#define VGPU_KERNEL_GEM_GWS_H

#include "vgpu/kernel/base/core.h"

/* A job with that list (NULL: none) is about to be submitted: each GWS buffer of it gets its resources. May sleep:
 * waits for jobs that use them. 0; -ENOMEM: more than there are, or not had in 15 s; -EINTR. */
int kern_gws_place(struct kern_bo_list *list);
/* Gives the job the resources of the last GWS buffer of its list. */
void kern_gws_give(struct kern_job *job, const struct kern_bo_list *list);
/* The buffer has none any more; nothing for others. */
void kern_gws_release(struct kern_bo *bo);

#endif

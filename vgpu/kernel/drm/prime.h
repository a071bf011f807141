/* PRIME: buffers as dma-bufs. Kernel lock held. */
#ifndef VGPU_KERNEL_DRM_PRIME_H
#define VGPU_KERNEL_DRM_PRIME_H

#include "vgpu/kernel/base/core.h"

int kern_prime_to_fd(struct kern_file *file, void *arg);
int kern_prime_from_fd(struct kern_file *file, void *arg);

#endif

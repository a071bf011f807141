/* DRM core ioctls that are not about buffers or syncobjs. Kernel lock held. */
#ifndef VGPU_KERNEL_DRM_DRM_H
#define VGPU_KERNEL_DRM_DRM_H

#include "vgpu/kernel/base/core.h"

int kern_version_ioctl(struct kern_file *file, void *arg);
int kern_get_unique_ioctl(struct kern_file *file, void *arg);
int kern_get_magic_ioctl(struct kern_file *file, void *arg);
int kern_auth_magic_ioctl(struct kern_file *file, void *arg);
int kern_get_client_ioctl(struct kern_file *file, void *arg);
int kern_get_cap_ioctl(struct kern_file *file, void *arg);
int kern_set_client_cap_ioctl(struct kern_file *file, void *arg);
int kern_set_version_ioctl(struct kern_file *file, void *arg);
int kern_set_master_ioctl(struct kern_file *file, void *arg);
int kern_drop_master_ioctl(struct kern_file *file, void *arg);
int kern_flink_ioctl(struct kern_file *file, void *arg);
int kern_gem_open_ioctl(struct kern_file *file, void *arg);
int kern_no_modeset_ioctl(struct kern_file *file, void *arg);

#endif

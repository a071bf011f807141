/* Parts of Linux's include/uapi/drm/amdgpu_drm.h that libdrm 2.4.114 (Debian 12) does not have: names of our own, so
 * that newer headers do not clash. Layouts and numbers are those of Linux 6.16, where user queues came. */
#ifndef DRV_UAPI_H
#define DRV_UAPI_H

#include <stdint.h>

#include <amdgpu_drm.h>

/* GEM_VA. Its last three members are ignored by kernels before 6.16, whose struct ends before them. */
struct drv_uapi_gem_va {
	uint32_t handle, pad, operation, flags;
	uint64_t va_address, offset_in_bo, map_size;
	/* The point of the timeline syncobj that signals when the page tables have the mapping; 0: none */
	uint64_t vm_timeline_point;
	uint32_t vm_timeline_syncobj_out;
	uint32_t num_syncobj_handles;
	uint64_t input_fence_syncobj_handles;
};
_Static_assert(sizeof(struct drv_uapi_gem_va) == 64, "as in Linux 6.16");
#define DRV_UAPI_IOCTL_GEM_VA DRM_IOW(DRM_COMMAND_BASE + DRM_AMDGPU_GEM_VA, struct drv_uapi_gem_va)

/* A domain of GEM_CREATE: a page of doorbells, for the CPU to map */
#define DRV_UAPI_DOMAIN_DOORBELL 0x40

enum drv_uapi_userq_op { DRV_UAPI_USERQ_CREATE = 1, DRV_UAPI_USERQ_FREE = 2 };
/* Priorities of a queue; the last one is for CAP_SYS_NICE. */
enum drv_uapi_userq_priority {
	DRV_UAPI_USERQ_NORMAL_LOW,
	DRV_UAPI_USERQ_LOW,
	DRV_UAPI_USERQ_NORMAL_HIGH,
	DRV_UAPI_USERQ_HIGH,
};
union drv_uapi_userq {
	struct {
		uint32_t op; /* enum drv_uapi_userq_op; for FREE all but queue_id is 0 */
		uint32_t queue_id;
		uint32_t ip_type;
		uint32_t doorbell_handle;
		uint32_t doorbell_offset; /* in doorbells of 8 bytes */
		uint32_t flags;           /* enum drv_uapi_userq_priority */
		uint64_t queue_va, queue_size, rptr_va, wptr_va;
		uint64_t mqd, mqd_size; /* struct drv_uapi_userq_compute */
	} in;
	struct {
		uint32_t queue_id, pad;
	} out;
};
_Static_assert(sizeof(union drv_uapi_userq) == 72, "as in Linux 6.16");
struct drv_uapi_userq_compute {
	uint64_t eop_va; /* 2,048 bytes */
};
/* Gives the syncobjs a fence that signals when the queue has reached its present write pointer. */
struct drv_uapi_userq_signal {
	uint32_t queue_id, pad;
	uint64_t syncobj_handles, num_syncobj_handles;
	uint64_t bo_read_handles, bo_write_handles;
	uint32_t num_bo_read_handles, num_bo_write_handles;
};
_Static_assert(sizeof(struct drv_uapi_userq_signal) == 48, "as in Linux 6.16");
#define DRV_UAPI_IOCTL_USERQ        DRM_IOWR(DRM_COMMAND_BASE + 0x16, union drv_uapi_userq)
#define DRV_UAPI_IOCTL_USERQ_SIGNAL DRM_IOWR(DRM_COMMAND_BASE + 0x17, struct drv_uapi_userq_signal)

#endif

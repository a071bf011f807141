/* Devices: finding GPUs, opening one, its facts, its clock.
 *
 *   gpu      a GPU of this machine, known by its render node; opened or not
 *   device   a GPU that the process has opened, with an address space of its own
 *
 * Ownership. The caller closes what it opens. A device owns the strings of its facts.
 *
 * Threads. All functions are thread safe. */
#ifndef TUFF_DEVICE_H
#define TUFF_DEVICE_H

#include <tuff/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A GPU of this machine. */
struct tuff_gpu {
	char path[32]; /* the render node, "/dev/dri/renderD128" */
	char pci[16];  /* the PCI address, "0000:03:00.0"; "" when /sys does not have it */
};

/* Finds the AMD GPUs, in order of their render nodes: fills at most max entries of gpus and sets *count to how many
 * were filled. Opens no device. gpu_B is the size of an entry.
 *
 * -ENODEV: none is there; -EACCES: there are, but none may be opened (tuff_error() names the group). Thread safe.
 */
TUFF_API TUFF_CHECK int tuff_scan_sized(struct tuff_gpu *gpus, size_t gpu_B, size_t max, size_t *count);
TUFF_INLINE int tuff_scan(struct tuff_gpu *gpus, size_t max, size_t *count)
{
	return tuff_scan_sized(gpus, sizeof(*gpus), max, count);
}

/* Opens the GPU whose render node is at path; NULL: the first that tuff_scan() finds and that can be opened. Every
 * open has its own GPU address space and file description; opening one GPU twice gives two devices.
 *
 * -ENODEV: no AMD GPU there; -EACCES: no permission; -ENOTSUP: a chip or a kernel that tuff does not know.
 * Thread safe. */
TUFF_API TUFF_CHECK int tuff_device_open(const char *path, struct tuff_device **device);

/* Closes it. NULL is allowed. -EBUSY: objects of it are alive; tuff_error() counts them. Thread safe. */
TUFF_API int tuff_device_close(struct tuff_device *device);

enum tuff_engine {
	TUFF_COMPUTE, /* PM4 packets: kernels */
	TUFF_COPY,    /* SDMA packets: copies and fills */
};

struct tuff_device_info {
	char path[32], pci[16];       /* render node and PCI address, as in struct tuff_gpu */
	const char *name;             /* the board's market name, "AMD Instinct MI100"; owned by the device */
	const char *target;           /* clang's name of the chip, "gfx908"; owned by the device */
	bool can_submit;              /* false: the chip opens and reports itself, but no queue can be made */
	bool can_share_uncached_vram; /* TUFF_VRAM may be TUFF_MEM_UNCACHED */
	bool integrated;              /* an APU: its "VRAM" is a part of system memory */
	uint32_t drm_minor;           /* minor version of the kernel's amdgpu interface 3.x */
	int numa_node;                /* the host's node that is nearest */

	uint32_t compute_units;
	uint32_t wave_lanes;                                          /* 64 or 32 */
	uint32_t max_group_threads;                                   /* work-items of a workgroup */
	uint32_t lds_B;                                               /* a workgroup's shared memory */
	uint32_t engine_clock_kHz, memory_clock_kHz, memory_bus_bits; /* the highest clocks */
	uint32_t counter_kHz;                                         /* frequency of timestamps */
	uint32_t l2_B;                                                /* 0: unknown */

	uint64_t vram_B, visible_vram_B; /* visible: the part that the CPU reaches */
	uint64_t gtt_B;                  /* system memory that the GPU may use */
	uint32_t compute_rings, copy_rings;
};

/* Gives the facts that are fixed. No ioctl. Thread safe. */
TUFF_API TUFF_CHECK int tuff_device_query_sized(struct tuff_device *device, struct tuff_device_info *info,
						size_t info_B);
TUFF_INLINE int tuff_device_query(struct tuff_device *device, struct tuff_device_info *info)
{
	return tuff_device_query_sized(device, info, sizeof(*info));
}

struct tuff_usage {
	uint64_t vram_B, visible_vram_B, gtt_B; /* in use now, by all processes */
	uint64_t evictions;                     /* buffers that the kernel moved out of VRAM since boot */
	uint64_t moved_B;                       /* bytes that it moved */
	uint64_t ioctls;                        /* calls that this device object has made, this one's not counted */
};

/* Gives the figures that change. Six ioctls. Thread safe. */
TUFF_API TUFF_CHECK int tuff_device_usage_sized(struct tuff_device *device, struct tuff_usage *usage,
						size_t usage_B);
TUFF_INLINE int tuff_device_usage(struct tuff_device *device, struct tuff_usage *usage)
{
	return tuff_device_usage_sized(device, usage, sizeof(*usage));
}

/* Gives the time on CLOCK_MONOTONIC, in ns, at which the GPU's counter stood at ticks. The first call measures the
 * relation of the two clocks, and calls after that measure it again now and then: some ioctls. Thread safe. */
TUFF_API TUFF_CHECK int tuff_device_time(struct tuff_device *device, uint64_t ticks, uint64_t *host_ns);

/* Reports whether the kernel has seen the GPU touch memory of this device's address space that is not there. A job
 * that does so still completes: its reads give what a page of the driver holds, which other faulting writes of any
 * process change, and its writes go to that page.
 *
 * -EFAULT: a fault that was not reported before; tuff_error() names the page (its low 48 bits) and the access.
 * 0: none was seen, which proves nothing: the kernel keeps the latest fault only, records none while its messages
 * are rate limited or under SR-IOV, and records some after the job has ended, so call again later. Kernels before
 * amdgpu DRM 3.55 do not report faults: always 0. One ioctl. Thread safe. */
TUFF_API TUFF_CHECK int tuff_device_check_fault(struct tuff_device *device);

#ifdef __cplusplus
}
#endif

#endif

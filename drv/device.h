/* Devices: render nodes, and what the kernel tells of them.
 *
 *   drv_node    a render node that was found; plain data
 *   drv_device  a node opened on a file description of our own, with its facts
 *
 * Why our own description: libdrm_amdgpu gives every user of a GPU in the process one shared device, hence one GPU
 * address space, one handle space and one reset state. VM, BO, CTX and CS must be ours alone. */
#ifndef DRV_DEVICE_H
#define DRV_DEVICE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/chip.h"
#include "drv/error.h"

#define DRV_NODES_MAX 64

struct drv_node {
	char path[32]; /* "/dev/dri/renderD128" */
	char pci[16];  /* "0000:03:00.0"; "" when /sys does not tell */
};

/* Finds the AMD render nodes, in order of their minor number, at most max; gives how many. Nodes of other makers
 * are not opened (that would wake a sleeping GPU), unless /sys is masked and opening is the only way to tell.
 *
 * Errors: -ENODEV (none; the record says what was looked at), -EACCES (nodes exist but none may be opened; the
 * record names the group to join). Enters the kernel. Thread safe. */
DRV_MUST_CHECK int drv_scan(struct drv_node *nodes, size_t max, size_t *count);

/* One kind of ring. */
struct drv_ip {
	uint32_t version;    /* major << 16 | minor << 8 | revision; 0: unknown */
	uint32_t rings;      /* bit per ring that a submission may name */
	uint32_t ib_start_B; /* alignment of an IB's address */
	uint32_t ib_size_B;  /* and of its size */
};

enum drv_ip_type { DRV_IP_GFX, DRV_IP_COMPUTE, DRV_IP_DMA, DRV_IP_COUNT }; /* as AMDGPU_HW_IP_* */

struct drv_heap {
	uint64_t total_B, usable_B, used_B; /* used_B: at the time of opening, by all processes */
};

/* What AMDGPU_INFO said at opening. Sizes in bytes, clocks in kHz. */
struct drv_facts {
	uint32_t device_id, pci_rev, family, external_rev;
	uint32_t engines, arrays_per_engine, cus;
	uint32_t cu_bitmap[4][4];
	uint32_t engine_clock_kHz, memory_clock_kHz, counter_kHz; /* counter: the GPU timestamp's rate */
	uint32_t vram_type, vram_bits;
	uint32_t l2_banks;
	uint64_t va_lo, va_hi;           /* usable GPU addresses: [va_lo, va_hi) */
	uint64_t high_va_lo, high_va_hi; /* and, where no host address is, [high_va_lo, high_va_hi); 0: none */
	uint32_t va_align_B, fragment_B; /* fragment_B: page size up to which the TLB merges */
	struct drv_heap vram, visible_vram, gtt;
	struct drv_ip ip[DRV_IP_COUNT];
};

struct drv_device {
	struct drv_node node;
	int fd;                      /* owned; O_CLOEXEC */
	_Atomic uint64_t *ioctls;    /* owned: ioctls on fd so far */
	unsigned generation;         /* of the process that opened it: drv_generation() then */
	uint32_t drm_minor;          /* of amdgpu DRM 3.x */
	const struct drv_chip *chip; /* static */
	struct drv_facts facts;
	char name[96]; /* what it is sold as */
};

/* Opens a node. Errors: -EACCES (the record names the group), -ENODEV (not amdgpu, or gone), -ENOTSUP (kernel too
 * old, or a chip that the table does not know; the record says which), -ENOMEM, or what open gave. Enters the
 * kernel. Thread safe. A device is immutable after this; any thread may use it. */
DRV_MUST_CHECK int drv_device_open(const struct drv_node *node, struct drv_device **dev);
void drv_device_close(struct drv_device *dev);

/* Reads a fixed-size AMDGPU_INFO query without arguments (AMDGPU_INFO_*). Thread safe. */
DRV_MUST_CHECK int drv_info(const struct drv_device *dev, unsigned query, void *data, uint32_t size_B);
/* The GPU clock counter now, in ticks of facts.counter_kHz. */
DRV_MUST_CHECK int drv_timestamp(const struct drv_device *dev, uint64_t *ticks);

/* Records that the node may not be opened, and which group may; returns -EACCES. */
int drv_fail_access(const char *path);

/* How many forks lie between this process and the one that loaded tuff. What a child inherits shares its parent's
 * file description: any ioctl there would hurt the parent, so drv_ioctl() answers -ENODEV in the child. */
unsigned drv_generation(void);
/* 0, or -ENODEV with a record when the device was inherited. For what touches memory or locks that parent and child
 * share before it comes to an ioctl. */
DRV_MUST_CHECK int drv_check_process(const struct drv_device *dev);

/* An ioctl on the device's own description; repeats -EINTR and -EAGAIN. Gives 0 or -errno and records nothing. */
DRV_MUST_CHECK int drv_ioctl(const struct drv_device *dev, unsigned long request, void *arg);

/* DRM 3.minor that tuff needs at least: Linux 6.1, the oldest kernel it is tested against. */
#define DRV_DRM_MINOR_MIN 49

#endif

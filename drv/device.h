/* Devices: render nodes, and what the kernel tells of them.
 *
 *   drv_node    a render node that was found; plain data
 *   drv_device  a node opened on a file description of our own, with its facts
 *
 * Why our own description: libdrm_amdgpu gives every user of a GPU in the process one shared device, hence one GPU
 * address space, one handle space and one reset state. VM, BO, CTX and CS must be ours alone; libdrm_amdgpu answers
 * for the facts, on a description of its own (libdrm.c). */
#ifndef DRV_DEVICE_H
#define DRV_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/chip.h"
#include "drv/error.h"

#define DRV_NODES_MAX 64

struct drv_node {
	char path[32]; /* "/dev/dri/renderD128" */
	char pci[16]; /* "0000:03:00.0"; "" when /sys does not tell, and for a card's partitions behind the first */
	unsigned index; /* among the nodes of the scan */
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
	uint32_t instances;  /* of the block: SDMA engines, XCCs of the partition */
};

enum drv_ip_type { DRV_IP_GFX, DRV_IP_COMPUTE, DRV_IP_DMA, DRV_IP_COUNT }; /* as AMDGPU_HW_IP_* */

struct drv_heap {
	uint64_t total_B, usable_B, used_B; /* used_B: at the time of opening, by all processes */
};

/* Where a cache's size is from; its line size is always the chip table's, since the kernel tells none. */
enum drv_cache_origin { DRV_CACHE_UNKNOWN, DRV_CACHE_KERNEL, DRV_CACHE_TABLE };

struct drv_cache {
	uint64_t size_B;
	uint32_t line_B; /* 0: not known */
	uint32_t cus;    /* that share one instance, at most; 0: those of an array (GL1), all (L2 and behind it) */
	enum drv_cache_origin origin;
};

/* In order of distance from a lane. Sizes are of one instance: of one CU, of the CUs that share it, of a shader
 * array; L2 and what lies behind it are whole. */
enum drv_cache_kind { DRV_CACHE_L1, DRV_CACHE_INST, DRV_CACHE_SCALAR, DRV_CACHE_GL1, DRV_CACHE_L2, DRV_CACHE_MALL };
#define DRV_CACHES 6
const char *drv_cache_name(enum drv_cache_kind kind);

/* Facts that AMDGPU_INFO gave at opening, through libdrm_amdgpu. Sizes in bytes, clocks in kHz. */
struct drv_facts {
	uint32_t device_id, pci_rev, family, external_rev;
	uint32_t engines, arrays_per_engine; /* of an XCC, where there are several */
	uint32_t cus;                        /* of the device: of all XCCs of the partition */
	uint32_t xccs;            /* accelerator dies, each with shader engines and an L2 of its own; 1 or more */
	uint32_t ring_cus;        /* that a job of one compute ring runs on: those of one XCC */
	uint32_t array_cus;       /* of a shader array, at most */
	uint32_t cu_bitmap[4][4]; /* of the first XCC */
	bool apu;                 /* the GPU shares the host's memory chips */
	uint32_t engine_clock_kHz, memory_clock_kHz, counter_kHz; /* at most; counter: the GPU timestamp's rate */
	uint32_t engine_min_kHz, memory_min_kHz;                  /* 0: not told (before DRM 3.50) */
	uint32_t pcie_gen, pcie_lanes; /* what slot and card have in common; 0: not told (before DRM 3.51) */
	uint32_t wave_lanes, vgprs;    /* of the default wave; registers of a SIMD that a lane sees */
	uint32_t vram_type, vram_bits;
	uint32_t l2_banks;
	uint64_t va_lo, va_hi;           /* usable GPU addresses: [va_lo, va_hi) */
	uint64_t high_va_lo, high_va_hi; /* and, where no host address is, [high_va_lo, high_va_hi); 0: none */
	uint32_t va_align_B, fragment_B; /* fragment_B: page size up to which the TLB merges */
	struct drv_heap vram, visible_vram, gtt;
	uint32_t mec_version, sdma_version; /* of the firmware of compute rings and of the first SDMA engine */
	struct drv_cache cache[DRV_CACHES];
	struct drv_ip ip[DRV_IP_COUNT];
};

/* What chip and kernel can do together. A capability that is there costs nothing to test again: it never changes.
 */
enum drv_ability {
	DRV_CAN_SUBMIT,        /* compute work */
	DRV_CAN_COPY,          /* by SDMA */
	DRV_CAN_FINE_VRAM,     /* VRAM that CPU and peers see change while a kernel runs: see drv_fine */
	DRV_CAN_FINE_SYSTEM,   /* the same for system memory */
	DRV_CAN_QUERY_FAULT,   /* the address of the last fault of our address space */
	DRV_CAN_TIMELINE,      /* timeline syncobjs in submissions */
	DRV_CAN_VA_TIMELINE,   /* timeline syncobjs in GEM_VA: mappings without waiting */
	DRV_CAN_SEE_RESET,     /* context query tells that a reset is under way */
	DRV_CAN_PRIORITIZE,    /* contexts above normal priority, for this process */
	DRV_CAN_RELY_ON_ZERO,  /* VRAM is handed out cleared */
	DRV_CAN_MAP_READ_ONLY, /* host memory that the process itself may only read */
	DRV_CAN_DISCARD,       /* buffers whose content the kernel may drop instead of moving it */
	DRV_ABILITIES,
};
const char *drv_ability_name(enum drv_ability ability);

struct drv_answer {
	bool yes;
	char why[120]; /* for people */
};

/* How memory becomes fine-grained: flags to add to GEM_CREATE and to GEM_VA. Meaningful where the ability is there.
 */
struct drv_fine {
	uint64_t gem_flags;
	uint32_t va_flags;
};

struct drv_device {
	struct drv_node node;
	int fd;                      /* owned; O_CLOEXEC */
	_Atomic uint64_t *ioctls;    /* owned: ioctls on fd so far */
	unsigned generation;         /* of the process that opened it: drv_generation() then */
	uint32_t drm_minor;          /* of amdgpu DRM 3.x */
	const struct drv_chip *chip; /* static, or own_chip; NULL only after drv_device_examine() */
	struct drv_chip own_chip;    /* a known chip whose code is chosen by HSA_OVERRIDE_GFX_VERSION */
	char overridden[48];         /* then: what the chip really is; else "" */
	struct drv_facts facts;
	struct drv_answer can[DRV_ABILITIES];
	struct drv_fine fine_vram, fine_system;
	char name[96];          /* what it is sold as */
	int refusal;            /* why it cannot be used: -errno; 0 after drv_device_open() */
	char refusal_text[400]; /* the record of that, as a sentence */
};

/* Opens a node. Errors: -EACCES (the record names the group), -ENODEV (not amdgpu, or gone), -ENOTSUP (kernel too
 * old, a chip that the table does not know, or an override that would hang; the record says which), -ENOMEM, or
 * what open gave. Enters the kernel. Thread safe. A device is immutable after this; any thread may use it. */
DRV_MUST_CHECK int drv_device_open(const struct drv_node *node, struct drv_device **dev);
void drv_device_close(struct drv_device *dev);
/* Opens it to be looked at: what cannot be used (unknown chip, old kernel, no permission) gives a device too, with
 * what could be learned, and refusal says why. Not for use. -ENOMEM. Enters the kernel. Thread safe. */
DRV_MUST_CHECK int drv_device_examine(const struct drv_node *node, struct drv_device **dev);

/* What the CPU writes anew for each job (commands, arguments) may lie in VRAM: the CPU reaches all of it, and the
 * GPU reads it without a cache that could hold what was there before. RADV places commands so (radv_amdgpu_cs.c),
 * ROCm kernel arguments (CLR, HIP_FORCE_DEV_KERNARG). */
bool drv_writes_vram(const struct drv_device *dev);

/* 0 when tuff can make packets for that kind of ring of the chip; -ENOTSUP with a record when it cannot. */
DRV_MUST_CHECK int drv_check_ring(const struct drv_device *dev, enum drv_ip_type ip);

/* Where a request for "device memory" is best placed. On a card: VRAM. On an APU both are the same memory chips:
 * the carve-out (VRAM) has large pages and is not charged to the process, but it is small and the display's; once
 * it is full each request evicts another by copying. So a request that takes at most half of what is free there
 * goes to it, and a larger one to GTT. used_B: VRAM in use now (drv_usage()). */
enum drv_home { DRV_HOME_VRAM, DRV_HOME_GTT };
enum drv_home drv_memory_home(const struct drv_facts *facts, uint64_t size_B, uint64_t used_B);

/* Reads a fixed-size AMDGPU_INFO query without arguments (AMDGPU_INFO_*). Thread safe. */
DRV_MUST_CHECK int drv_info(const struct drv_device *dev, unsigned query, void *data, uint32_t size_B);
/* The GPU clock counter now, in ticks of facts.counter_kHz. */
DRV_MUST_CHECK int drv_timestamp(const struct drv_device *dev, uint64_t *ticks);

/* Records why the node may not be opened and what to do about it: a group to join, or what the container lacks.
 * Returns -EACCES. */
int drv_fail_access(const char *path);
/* Looks below roots of /sys, /dev and /proc for the reason why there is no node of amdgpu: a GPU that another
 * driver has or none, a container without the nodes, WSL. A sentence for people. Enters the kernel. Thread safe. */
void drv_explain_absence(const char *sys, const char *dev, const char *proc, char *why, size_t why_B);

/* Why the device cannot run compute work, as a sentence; NULL when it can. */
const char *drv_device_verdict(const struct drv_device *dev);

/* How many forks lie between this process and the one that loaded tuff. What a child inherits shares its parent's
 * file description: any ioctl there would hurt the parent, so drv_ioctl() answers -ENODEV in the child. */
static inline unsigned drv_generation(void)
{
	extern DRV_OWN unsigned drv_forks; /* written in the child, before it is a process of its own */

	return __atomic_load_n(&drv_forks, __ATOMIC_RELAXED);
}
DRV_MUST_CHECK int drv_fail_inherited(const struct drv_device *dev);
/* 0, or -ENODEV with a record when the device was inherited. For what touches memory or locks that parent and child
 * share before it comes to an ioctl. */
DRV_MUST_CHECK static inline int drv_check_process(const struct drv_device *dev)
{
	return __builtin_expect(dev->generation == drv_generation(), 1) ? 0 : drv_fail_inherited(dev);
}

/* An ioctl on the device's own description; repeats -EINTR and -EAGAIN. Gives 0 or -errno and records nothing. */
DRV_MUST_CHECK int drv_ioctl(const struct drv_device *dev, unsigned long request, void *arg);
/* One that may as well be done twice, because it asks or takes away, and whose failure nobody could mend: it is
 * tried for a while before the error is given. Not when the device, or the work that is asked about, is lost. */
DRV_MUST_CHECK int drv_ioctl_insist(const struct drv_device *dev, unsigned long request, void *arg);

/* DRM 3.minor that tuff needs at least: Linux 6.1, the oldest kernel it is tested against. */
#define DRV_DRM_MINOR_MIN 49

#endif

/* Devices: render nodes, and the facts that the kernel reports about them.
 *
 *   drv_node    a render node that drv_scan() found; plain data
 *   drv_device  a node opened on a file description of our own, with its facts; owned by the
 *              caller, immutable, no lock
 *
 * Why our own description: libdrm_amdgpu gives every user of a GPU in the process one shared device, hence one GPU
 * address space, one handle space and one reset state. VM, BO, CTX and CS must be ours alone; libdrm_amdgpu reads
 * the facts, on a description of its own (libdrm.c). */
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
	char path[32];  /* "/dev/dri/renderD128" */
	char pci[16];   /* "0000:03:00.0"; "" when /sys has none, and for all but the first partition of a card */
	unsigned index; /* position among the nodes of the scan */
};

/* Finds the AMD render nodes, at most max, in order of their minor number, and their number. Nodes of other makers
 * are not opened (that would wake a sleeping GPU), unless /sys is masked: then only opening identifies them.
 *
 * Errors: -ENODEV (none; the record names the places that were searched), -EACCES (nodes exist but none may be
 * opened; the record names the group to join). Enters the kernel. Thread safe. */
DRV_MUST_CHECK int drv_scan(struct drv_node *nodes, size_t max, size_t *count);

/* A kind of ring (hardware IP). */
struct drv_ip {
	uint32_t version;    /* major << 16 | minor << 8 | revision; 0: unknown */
	uint32_t rings;      /* bit per ring that a submission may name */
	uint32_t ib_start_B; /* alignment of an IB's address */
	uint32_t ib_size_B;  /* alignment of an IB's size */
	uint32_t instances;  /* instances of the block: SDMA engines, XCCs of the partition */
};

enum drv_ip_type { DRV_IP_GFX, DRV_IP_COMPUTE, DRV_IP_DMA, DRV_IP_COUNT }; /* AMDGPU_HW_IP_* */

struct drv_heap {
	uint64_t total_B, usable_B, used_B; /* used_B: at the time of opening, by all processes */
};

/* Source of a cache's size. Its line size always comes from the chip table, since the kernel reports none. */
enum drv_cache_origin { DRV_CACHE_UNKNOWN, DRV_CACHE_KERNEL, DRV_CACHE_TABLE };

struct drv_cache {
	uint64_t size_B;
	uint32_t line_B; /* 0: not known */
	/* most CUs that share one instance; 0: all CUs of an array (GL1), or of the device (L2, MALL) */
	uint32_t cus;
	enum drv_cache_origin origin;
};

/* Caches in order of distance from a lane. A size is that of one instance: per CU, per group of CUs that share the
 * cache, or per shader array. L2 and MALL have one instance. */
enum drv_cache_kind { DRV_CACHE_L1, DRV_CACHE_INST, DRV_CACHE_SCALAR, DRV_CACHE_GL1, DRV_CACHE_L2, DRV_CACHE_MALL };
#define DRV_CACHES 6
const char *drv_cache_name(enum drv_cache_kind kind);

/* Facts that AMDGPU_INFO gave at opening, through libdrm_amdgpu. Sizes in bytes, clocks in kHz. */
struct drv_facts {
	uint32_t device_id, pci_rev, family, external_rev;
	uint32_t engines, arrays_per_engine; /* counts of one XCC, where there are several */
	uint32_t cus;                        /* total of the device: all XCCs of the partition */
	uint32_t xccs;            /* accelerator dies, each with its own shader engines and L2; 1 or more */
	uint32_t ring_cus;        /* CUs that a job of one compute ring uses: those of one XCC */
	uint32_t array_cus;       /* most CUs of a shader array */
	uint32_t cu_bitmap[4][4]; /* bitmap of the first XCC */
	bool apu;                 /* the GPU shares the host's memory chips */
	uint32_t engine_clock_kHz, memory_clock_kHz, counter_kHz; /* maxima; counter: rate of the GPU timestamp */
	uint32_t engine_min_kHz, memory_min_kHz;                  /* 0: unknown (before DRM 3.50) */
	uint32_t pcie_gen, pcie_lanes; /* the best that slot and card both support; 0: unknown (before DRM 3.51) */
	uint32_t wave_lanes, vgprs;    /* lanes of the default wave; registers of a SIMD that a lane can use */
	uint32_t vram_type, vram_bits;
	uint32_t l2_banks;
	uint64_t va_lo, va_hi; /* usable GPU addresses: [va_lo, va_hi) */
	/* a second interval [high_va_lo, high_va_hi), which has no host addresses; 0: none */
	uint64_t high_va_lo, high_va_hi;
	uint32_t va_align_B, fragment_B; /* fragment_B: page size up to which the TLB merges */
	struct drv_heap vram, visible_vram, gtt;
	uint32_t mec_version, sdma_version; /* firmware of the compute rings and of the first SDMA engine */
	struct drv_cache cache[DRV_CACHES];
	struct drv_ip ip[DRV_IP_COUNT];
	uint32_t user_queue_ips; /* bit per drv_ip_type for which the kernel makes user queues */
};

/* Abilities: what chip and kernel can do together. An ability never changes while the device is open. */
enum drv_ability {
	DRV_CAN_SUBMIT,        /* compute work can be submitted */
	DRV_CAN_COPY,          /* SDMA copies can be submitted */
	DRV_CAN_FINE_VRAM,     /* VRAM whose changes CPU and peers see while a kernel runs: see drv_fine */
	DRV_CAN_FINE_SYSTEM,   /* the same for system memory */
	DRV_CAN_QUERY_FAULT,   /* address of the last fault in our address space */
	DRV_CAN_TIMELINE,      /* timeline syncobjs in submissions */
	DRV_CAN_VA_TIMELINE,   /* timeline syncobjs in GEM_VA: mappings without waiting */
	DRV_CAN_SEE_RESET,     /* the context query reports a reset that is under way */
	DRV_CAN_PRIORITIZE,    /* this process may create contexts above normal priority */
	DRV_CAN_RELY_ON_ZERO,  /* VRAM is handed out cleared */
	DRV_CAN_MAP_READ_ONLY, /* GPU access to host memory that the process itself may only read */
	DRV_CAN_DISCARD,       /* buffers whose content the kernel may discard instead of moving it */
	DRV_CAN_USER_QUEUES,   /* user queues of compute, beside the kernel's rings */
	DRV_ABILITIES,
};
const char *drv_ability_name(enum drv_ability ability);

struct drv_support {
	bool yes;
	char why[120]; /* reason, for people */
};

/* Flags for GEM_CREATE and GEM_VA that make memory fine-grained. Valid where the device has the ability. */
struct drv_fine {
	uint64_t gem_flags;
	uint32_t va_flags;
};

struct drv_device {
	struct drv_node node;
	int fd;                      /* owned; O_CLOEXEC */
	_Atomic uint64_t *ioctls;    /* owned: ioctls on fd so far */
	unsigned generation;         /* drv_generation() of the process that opened the device */
	uint32_t drm_minor;          /* minor version of amdgpu DRM 3.x */
	const struct drv_chip *chip; /* static, or own_chip; NULL only after drv_device_examine() */
	struct drv_chip own_chip;    /* a known chip that runs the code chosen by HSA_OVERRIDE_GFX_VERSION */
	char overridden[48];         /* target of the real chip with an override; else "" */
	struct drv_facts facts;
	struct drv_support can[DRV_ABILITIES];
	struct drv_fine fine_vram, fine_system;
	char name[96];          /* product name */
	int refusal;            /* reason why the device cannot be used: -errno; 0 after drv_device_open() */
	char refusal_text[400]; /* error record of the refusal, as a sentence */
};

/* Opens a node. The device is immutable; any thread may use it. Errors: -EACCES (the record names the group),
 * -ENODEV (not amdgpu, or gone), -ENOTSUP (kernel too old, a chip that the table does not know, or an override that
 * would hang; the record says which), -ENOMEM, or the error of open(). Enters the kernel. Thread safe. */
DRV_MUST_CHECK int drv_device_open(const struct drv_node *node, struct drv_device **dev);
void drv_device_close(struct drv_device *dev);
/* Opens a node for inspection: a device that cannot be used (unknown chip, old kernel, no permission) is created,
 * too, with the facts that could be read and the reason in `refusal`. The device must not be used for work.
 * -ENOMEM. Enters the kernel. Thread safe. */
DRV_MUST_CHECK int drv_device_examine(const struct drv_node *node, struct drv_device **dev);

/* True when jobs go to user queues: the device has them, and TUFF_USERQ=1. */
bool drv_uses_user_queues(const struct drv_device *dev);

/* True when memory that the CPU writes anew for each job (commands, arguments) may be in VRAM: the CPU reaches all
 * of VRAM, and the GPU reads it without a cache that could hold older content. RADV places commands this way
 * (radv_amdgpu_cs.c), ROCm kernel arguments (CLR, HIP_FORCE_DEV_KERNARG). */
bool drv_writes_vram(const struct drv_device *dev);

/* Chooses the placement of a request for "device memory". On a card: VRAM. On an APU, VRAM and GTT are the same
 * memory chips: the carve-out (VRAM) has large pages and is not charged to the process, but it is small, and the
 * display uses it, too; once it is full, each request evicts another one by copying. So a request of at most half
 * the free carve-out goes to VRAM, and a larger one to GTT. used_B: VRAM in use (drv_usage()). */
enum drv_placement { DRV_PLACEMENT_VRAM, DRV_PLACEMENT_GTT };
enum drv_placement drv_memory_placement(const struct drv_facts *facts, uint64_t size_B, uint64_t used_B);

/* Reads a fixed-size AMDGPU_INFO query without arguments (AMDGPU_INFO_*). Thread safe. */
DRV_MUST_CHECK int drv_info(const struct drv_device *dev, unsigned query, void *data, uint32_t size_B);
/* Reads the GPU clock counter, in ticks of facts.counter_kHz. */
DRV_MUST_CHECK int drv_timestamp(const struct drv_device *dev, uint64_t *ticks);

/* Records why the node may not be opened and what to do about it: a group to join, or what the container lacks.
 * Returns -EACCES. */
int drv_fail_access(const char *path);
/* Searches /sys, /dev and /proc, below the given roots, for the reason why amdgpu has no node: a GPU without a
 * driver or with another one, a container without the nodes, WSL. Writes a sentence for people. Enters the kernel.
 * Thread safe. */
void drv_explain_absence(const char *sys, const char *dev, const char *proc, char *why, size_t why_B);

/* Why the device cannot run compute work, as a sentence; NULL when it can. */
const char *drv_device_verdict(const struct drv_device *dev);

/* Number of forks between the process that loaded tuff and this one. A child inherits its parent's file
 * description, and any ioctl on it would hurt the parent, so drv_ioctl() gives -ENODEV in the child. */
static inline unsigned drv_generation(void)
{
	extern DRV_OWN unsigned drv_forks; /* written in the child before fork() returns there */

	return __atomic_load_n(&drv_forks, __ATOMIC_RELAXED);
}
DRV_MUST_CHECK int drv_fail_inherited(const struct drv_device *dev);
/* Checks that the device was not inherited over a fork: 0, or -ENODEV with a record. For functions that touch
 * memory or locks which parent and child share before they reach an ioctl. */
DRV_MUST_CHECK static inline int drv_check_process(const struct drv_device *dev)
{
	return __builtin_expect(dev->generation == drv_generation(), 1) ? 0 : drv_fail_inherited(dev);
}

/* Runs an ioctl on the device's own description; repeats on -EINTR and -EAGAIN. Gives 0 or -errno and records
 * nothing. */
DRV_MUST_CHECK int drv_ioctl(const struct drv_device *dev, unsigned long request, void *arg);
/* Runs an ioctl that may safely run twice, because it queries or releases something, and whose failure the caller
 * could not repair: repeats it for some milliseconds before it gives the error. Does not repeat when the device, or
 * the work that the ioctl is about, is lost. */
DRV_MUST_CHECK int drv_ioctl_insist(const struct drv_device *dev, unsigned long request, void *arg);

/* Oldest supported DRM 3.minor: Linux 6.1, the oldest kernel that tuff is tested against. */
#define DRV_DRM_MINOR_MIN 49

#endif

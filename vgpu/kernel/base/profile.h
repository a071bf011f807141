/* Differences of kernel releases: a row per release, read wherever an answer depends on it. */
#ifndef VGPU_KERNEL_BASE_PROFILE_H
#define VGPU_KERNEL_BASE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#define KERN_DRM_MAJOR 3

#define KERN_PROFILE_IPS 3 /* GFX, COMPUTE, DMA */

struct kern_device;
struct vgpu_chip;

/* Families with reset code of their own in Linux: gfx_v9_0.c, gfx_v9_4_3.c, gfx_v10_0.c, ... */
enum kern_family {
	KERN_GFX9 = 1 << 0, /* to GC 9.4.2 */
	KERN_GFX943 = 1 << 1,
	KERN_GFX10 = 1 << 2,
	KERN_GFX11 = 1 << 3,
	KERN_GFX12 = 1 << 4,
};
enum kern_family kern_family_of(const struct vgpu_chip *chip);

struct kern_profile {
	const char *release;       /* "6.12", as in the SPEC */
	unsigned drm_minor;        /* queries and ioctls name the minor version that introduced them */
	unsigned hz;               /* ticks per second: what timeouts are counted in */
	uint64_t va_bottom;        /* lowest address that GEM_VA takes */
	uint64_t va_reserved_B;    /* top of the address space that the kernel reserves */
	uint64_t create_flags;     /* GEM_CREATE flags that users may set */
	uint64_t forced_flags;     /* GEM_CREATE flags that all buffers get */
	uint64_t compute_limit_ns; /* before a COMPUTE job is a hang */
	uint64_t other_limit_ns;   /* a GFX or SDMA job */
	uint16_t dev_info_B;       /* sizes of struct drm_amdgpu_info_device and _hw_ip */
	uint16_t hw_ip_B;
	bool pcie_in_dev_info; /* generation and lanes */
	bool sticky_errors;    /* the error of a job stays with its entity */
	/* Per IP, the families (enum kern_family) with each kind of recovery from a hang; all others have the
	 * device reset. */
	uint8_t soft_recovery[KERN_PROFILE_IPS]; /* waves are killed, the ring continues */
	uint8_t ring_reset[KERN_PROFILE_IPS];    /* the ring is reset alone */
	bool reset_spares;                       /* jobs of other contexts on the ring survive */
	bool reset_fences;      /* the fences behind the IBs of lost jobs are written, the user fence too */
	bool reset_resubmits;   /* a device reset that spares VRAM runs the other jobs on the hardware again */
	int reset_error;        /* error of the job that caused the device reset */
	bool notifier_waits_vm; /* changes of a userptr BO's memory wait for all jobs of its VM */
	bool error_is_guilt;    /* a context is guilty while an entity's error is -ETIME; CS does not check guilt */
	bool reset_masks;       /* sysfs has *_reset_mask */
	bool pci_p2pdma;        /* CONFIG_PCI_P2PDMA */
	bool plain_domains;     /* GEM_CREATE takes GDS, GWS and OA alone only */
	bool checks_find_flags; /* CS refuses flags of TIMELINE_WAIT other than WAIT_FOR_SUBMIT */
	bool one_user_fence;    /* a second FENCE chunk is refused */
	bool delay_alone;       /* GEM_VA refuses DELAY_UPDATE with a timeline */
	bool sync_file_points;  /* syncobj points as sync files */
	bool switch_waits;      /* a ring waits for the end of a job before one of another context */
	bool user_queues;       /* amdgpu.user_queue exists */
	bool userq_hangs;       /* fences of user queues have a time limit */
	bool lists_handles;     /* GEM_LIST_HANDLES, mappings by GEM_OP */
};

/* The row's index, or -1. */
int kern_profile_find(const char *release);
#define KERN_PROFILE_DEFAULT "6.12"
/* The n-th row, or NULL behind the last. */
const struct kern_profile *kern_profile_at(unsigned n);
/* The device's. */
const struct kern_profile *kern_profile_of(const struct kern_device *dev);

#endif

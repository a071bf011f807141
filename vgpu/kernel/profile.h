/* What one kernel release answers in another way than the next: a row a release, read wherever it matters. */
#ifndef VGPU_KERNEL_PROFILE_H
#define VGPU_KERNEL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#define KERN_DRM_MAJOR 3

struct kern_device;

struct kern_profile {
	const char *release;       /* "6.12", as the SPEC says it */
	unsigned drm_minor;        /* queries and ioctls name the one they came with */
	unsigned hz;               /* ticks per second: what timeouts are counted in */
	uint64_t va_bottom;        /* lowest address that GEM_VA takes */
	uint64_t va_reserved_B;    /* what the kernel keeps at the top of the address space */
	uint64_t create_flags;     /* of GEM_CREATE, those that users may set */
	uint64_t forced_flags;     /* those that all their buffers have */
	uint64_t compute_limit_ns; /* before a COMPUTE job is a hang */
	uint64_t other_limit_ns;   /* a GFX or SDMA job */
	uint16_t dev_info_B;       /* sizes of struct drm_amdgpu_info_device and _hw_ip */
	uint16_t hw_ip_B;
	bool pcie_in_dev_info; /* generation and lanes */
	bool sticky_errors;    /* the error of a job stays with its entity */
	bool ring_reset;       /* a GFX or COMPUTE ring is reset alone */
	bool reset_spares;     /* and jobs of other contexts on it survive */
	bool sync_file_points; /* syncobj points as sync files */
	bool switch_waits;     /* a ring waits for the end of a job before one of another context */
	bool lists_handles;    /* GEM_LIST_HANDLES, mappings by GEM_OP */
	bool gfx12_uncached;   /* system memory of GFX12 may be UC; before, always NC (Linux gmc_v12_0.c) */
};

/* The row's index, or -1. */
int kern_profile_find(const char *release);
#define KERN_PROFILE_DEFAULT "6.12"
/* The n-th row, or NULL behind the last. */
const struct kern_profile *kern_profile_at(unsigned n);
/* The device's. */
const struct kern_profile *kern_profile_of(const struct kern_device *dev);

#endif

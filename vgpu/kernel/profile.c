#include "vgpu/kernel/profile.h"

#include <string.h>
#include "vgpu/kernel/state.h"
#include "vgpu/kernel/uapi.h"

/* Contract 2.1: what GEM_CREATE takes. */
#define FLAGS_ALL                                                                                                  \
	(AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED | AMDGPU_GEM_CREATE_NO_CPU_ACCESS |                                 \
	 AMDGPU_GEM_CREATE_CPU_GTT_USWC | AMDGPU_GEM_CREATE_VRAM_CLEARED | AMDGPU_GEM_CREATE_VM_ALWAYS_VALID |     \
	 AMDGPU_GEM_CREATE_EXPLICIT_SYNC | AMDGPU_GEM_CREATE_ENCRYPTED)
#define FLAGS_6_1  (FLAGS_ALL | AMDGPU_GEM_CREATE_DISCARDABLE)
#define FLAGS_6_12 (FLAGS_6_1 | AMDGPU_GEM_CREATE_GFX12_DCC)
#define FLAGS_6_18                                                                                                 \
	(FLAGS_6_12 | AMDGPU_GEM_CREATE_VRAM_WIPE_ON_RELEASE | AMDGPU_GEM_CREATE_COHERENT |                        \
	 AMDGPU_GEM_CREATE_UNCACHED | AMDGPU_GEM_CREATE_EXT_COHERENT)
#define CLEARED (AMDGPU_GEM_CREATE_VRAM_WIPE_ON_RELEASE | AMDGPU_GEM_CREATE_VRAM_CLEARED)

#define SECOND_NS 1000000000ull
#define HZ        250 /* CONFIG_HZ of Debian on amd64, all releases */

/* Sources: the kernel contract, sections 0, 1.3, 2.1 and 3.5. 5.10 is there for drivers that look at VERSION and
 * refuse: the rest of it is 6.1's. */
static const struct kern_profile profiles[] = {
	{
		.release = "5.10",
		.drm_minor = 40,
		.hz = HZ,
		.va_bottom = 2 << 20,
		.va_reserved_B = 2 << 20,
		.create_flags = FLAGS_ALL,
		.forced_flags = AMDGPU_GEM_CREATE_VRAM_WIPE_ON_RELEASE,
		.compute_limit_ns = 60 * SECOND_NS,
		.other_limit_ns = 10 * SECOND_NS,
		.dev_info_B = 368,
		.hw_ip_B = 32,
	},
	{
		.release = "6.1",
		.drm_minor = 49,
		.hz = HZ,
		.va_bottom = 2 << 20,
		.va_reserved_B = 2 << 20,
		.create_flags = FLAGS_6_1,
		.forced_flags = AMDGPU_GEM_CREATE_VRAM_WIPE_ON_RELEASE,
		.compute_limit_ns = 60 * SECOND_NS,
		.other_limit_ns = 10 * SECOND_NS,
		.dev_info_B = 368, /* to tcc_disabled_mask */
		.hw_ip_B = 32,
	},
	{
		.release = "6.6",
		.drm_minor = 54,
		.hz = HZ,
		.va_bottom = 2 << 20,
		.va_reserved_B = 2 << 20,
		.create_flags = FLAGS_6_1,
		.forced_flags = AMDGPU_GEM_CREATE_VRAM_WIPE_ON_RELEASE,
		.compute_limit_ns = 60 * SECOND_NS,
		.other_limit_ns = 10 * SECOND_NS,
		.dev_info_B = 440,
		.hw_ip_B = 32,
		.pcie_in_dev_info = true,
		.sticky_errors = true,
	},
	{
		.release = "6.12",
		.drm_minor = 59,
		.hz = HZ,
		.va_bottom = 64 << 10,
		.va_reserved_B = 0x402000, /* CSA 2 MiB, SEQ64 2 MiB, TRAP 8 KiB */
		.create_flags = FLAGS_6_12,
		.forced_flags = CLEARED,
		.compute_limit_ns = 60 * SECOND_NS,
		.other_limit_ns = 10 * SECOND_NS,
		.dev_info_B = 440,
		.hw_ip_B = 32,
		.pcie_in_dev_info = true,
		.sticky_errors = true,
		.ring_reset = true,
	},
	{
		.release = "6.16",
		.drm_minor = 64,
		.hz = HZ,
		.va_bottom = 64 << 10,
		.va_reserved_B = 0x402000,
		.create_flags = FLAGS_6_12,
		.forced_flags = CLEARED,
		.compute_limit_ns = 60 * SECOND_NS,
		.other_limit_ns = 10 * SECOND_NS,
		.dev_info_B = 448,
		.hw_ip_B = 40,
		.pcie_in_dev_info = true,
		.sticky_errors = true,
		.ring_reset = true,
		.sync_file_points = true,
		.switch_waits = true,
		.gfx12_uncached = true,
	},
	{
		.release = "6.18",
		.drm_minor = 64,
		.hz = HZ,
		.va_bottom = 64 << 10,
		.va_reserved_B = 0x410000, /* TRAP 64 KiB */
		.create_flags = FLAGS_6_18,
		.forced_flags = CLEARED,
		.compute_limit_ns = 10 * SECOND_NS,
		.other_limit_ns = 10 * SECOND_NS,
		.dev_info_B = 448, /* userq_ip_mask, 0 while user queues are off */
		.hw_ip_B = 40,     /* userq_num_slots */
		.pcie_in_dev_info = true,
		.sticky_errors = true,
		.ring_reset = true,
		.sync_file_points = true,
		.switch_waits = true,
		.reset_spares = true,
		.lists_handles = true,
		.gfx12_uncached = true,
	},
	{
		.release = "7.0",
		.drm_minor = 64,
		.hz = HZ,
		.va_bottom = 64 << 10,
		.va_reserved_B = 0x402000,
		.create_flags = FLAGS_6_18,
		.forced_flags = CLEARED,
		.compute_limit_ns = 2 * SECOND_NS,
		.other_limit_ns = 2 * SECOND_NS,
		.dev_info_B = 448,
		.hw_ip_B = 40,
		.pcie_in_dev_info = true,
		.sticky_errors = true,
		.ring_reset = true,
		.sync_file_points = true,
		.switch_waits = true,
		.reset_spares = true,
		.lists_handles = true,
		.gfx12_uncached = true,
	},
};

const struct kern_profile *kern_profile_at(unsigned n)
{
	return n < sizeof(profiles) / sizeof(profiles[0]) ? &profiles[n] : NULL;
}

int kern_profile_find(const char *release)
{
	for (unsigned n = 0; n < sizeof(profiles) / sizeof(profiles[0]); n++)
		if (!strcmp(profiles[n].release, release))
			return (int)n;
	return -1;
}

const struct kern_profile *kern_profile_of(const struct kern_device *dev)
{
	return &profiles[dev->profile];
}

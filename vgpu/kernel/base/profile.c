#include "vgpu/kernel/base/profile.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include "vgpu/chip.h"
#include "vgpu/kernel/base/state.h"
#include "vgpu/kernel/base/uapi.h"

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

static_assert(KERN_PROFILE_IPS == KERN_IPS, "profiles count IPs as devices do");

/* Families whose rings have .soft_recovery and .reset in gfx_v*.c and sdma_v*.c: 6.1.176, 6.12.117 and 7.2.12. The
 * sources of 6.16 to 7.0 were not read: those releases are taken to be like 6.12. */
#define SOFT_6_1   {[0] = KERN_GFX9 | KERN_GFX10 | KERN_GFX11}
#define SOFT_6_12  {KERN_GFX, KERN_ALL}
#define SOFT_7_2   {[1] = KERN_GFX943}
#define RINGS_6_12 {KERN_GFX, KERN_ALL}
#define RINGS_7_2  {KERN_GFX, KERN_ALL, KERN_GFX943 | KERN_GFX10 | KERN_GFX11 | KERN_GFX12}
#define KERN_GFX   (KERN_GFX9 | KERN_GFX10 | KERN_GFX11 | KERN_GFX12) /* MI300 has no GFX ring */
#define KERN_ALL   (KERN_GFX | KERN_GFX943)

/* Sources: the kernel contract, sections 0, 1.3, 2.1 and 3.5. 5.10 exists for drivers that refuse a VERSION; all
 * else is 6.1's. 6.1, 6.12 and 7.2 are Debian's: 6.1.176, 6.12.107 to 117, 7.2.12; the others are base releases.
 * Debian builds 6.1 and 6.12 without PCI_P2PDMA. */
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
		.soft_recovery = SOFT_6_1,
		.reset_resubmits = true,
		.reset_error = -ECANCELED, /* drm_sched_resubmit_jobs_ext() */
		.pci_p2pdma = true,
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
		.dev_info_B = 368, /* up to tcc_disabled_mask */
		.hw_ip_B = 32,
		.soft_recovery = SOFT_6_1,
		.reset_resubmits = true,
		.reset_error = -ECANCELED, /* drm_sched_resubmit_jobs_ext() */
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
		.soft_recovery = SOFT_6_1,
		.reset_error = -ETIME,
		.pci_p2pdma = true,
	},
	{
		.release = "6.12",
		.drm_minor = 61,
		.hz = HZ,
		.va_bottom = 64 << 10,
		.va_reserved_B = 0x410000, /* CSA 2 MiB, SEQ64 2 MiB, TRAP 64 KiB */
		.create_flags = FLAGS_6_12,
		.forced_flags = CLEARED,
		.compute_limit_ns = 60 * SECOND_NS,
		.other_limit_ns = 10 * SECOND_NS,
		.dev_info_B = 440,
		.hw_ip_B = 32,
		.pcie_in_dev_info = true,
		.sticky_errors = true,
		.soft_recovery = SOFT_6_12,
		.ring_reset = RINGS_6_12,
		.reset_error = -ETIME,
		.switch_waits = true,
		.plain_domains = true,
		.checks_find_flags = true,
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
		.sync_file_points = true,
		.user_queues = true,
		.switch_waits = true,
		.soft_recovery = SOFT_6_12,
		.ring_reset = RINGS_6_12,
		.reset_error = -ETIME,
		.checks_find_flags = true,
		.pci_p2pdma = true,
		.reset_masks = true,
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
		.sync_file_points = true,
		.user_queues = true,
		.switch_waits = true,
		.reset_spares = true,
		.lists_handles = true,
		.soft_recovery = SOFT_6_12,
		.ring_reset = RINGS_6_12,
		.reset_error = -ETIME,
		.checks_find_flags = true,
		.pci_p2pdma = true,
		.reset_masks = true,
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
		.sync_file_points = true,
		.user_queues = true,
		.userq_hangs = true,
		.switch_waits = true,
		.reset_spares = true,
		.lists_handles = true,
		.soft_recovery = SOFT_6_12,
		.ring_reset = RINGS_6_12,
		.reset_error = -ETIME,
		.checks_find_flags = true,
		.pci_p2pdma = true,
		.reset_masks = true,
	},
	{
		.release = "7.2",
		.drm_minor = 64,
		.hz = HZ,
		.va_bottom = 64 << 10,
		.va_reserved_B = 0x410000,
		.create_flags = FLAGS_6_18,
		.forced_flags = CLEARED,
		.compute_limit_ns = 2 * SECOND_NS,
		.other_limit_ns = 2 * SECOND_NS,
		.dev_info_B = 440,
		.hw_ip_B = 40,
		.pcie_in_dev_info = true,
		.sticky_errors = true,
		.sync_file_points = true,
		.user_queues = true,
		.userq_hangs = true,
		.switch_waits = true,
		.reset_spares = true,
		.lists_handles = true,
		.soft_recovery = SOFT_7_2,
		.ring_reset = RINGS_7_2,
		.reset_error = -ETIME,
		.reset_fences = true,      /* amdgpu_ring_set_fence_errors_and_reemit() */
		.notifier_waits_vm = true, /* bo->parent of amdgpu_hmm_invalidate_gfx() */
		.error_is_guilt = true,
		.plain_domains = true,
		.one_user_fence = true,
		.delay_alone = true,
		.checks_find_flags = true,
		.pci_p2pdma = true,
		.reset_masks = true,
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

enum kern_family kern_family_of(const struct vgpu_chip *chip)
{
	static const uint8_t later[] = {[10] = KERN_GFX10, [11] = KERN_GFX11, [12] = KERN_GFX12};

	if (chip->gc_version[0] > 9)
		return later[chip->gc_version[0]];
	return chip->gc_version[1] == 4 && chip->gc_version[2] >= 3 ? KERN_GFX943 : KERN_GFX9;
}

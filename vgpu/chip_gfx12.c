/* GFX12: RDNA 4.
 *
 * Sources: Linux soc24.c, amdgpu_discovery.c and sdma_v7_0.c for identities and block versions; Mesa's drm-shim
 * dump of gfx1201; AMD's product pages for gfx1200, whose PCI revision, stepping and gb_addr_config are made up. */
#include "vgpu/chip.h"

/* Common to both chips. GFX12 has no GDS. */
#define GFX12                                                                                                      \
	.gfx = VGPU_GFX12, .pci_class = 0x030000, .family = CHIP_FAMILY_GC_12_0_0, .arrays_per_engine = 2,         \
	.gfx_rings = 1, .sdma_instances = 2, .wave_lanes = 32, .vgprs = 1536, .vgpr_granule = 24,                  \
	.packed_tid = true, .max_waves_per_cu = 32, .lds_B = 64 * CHIP_KIB, .l1_B = 32 * CHIP_KIB,                 \
	.gl1_B = 256 * CHIP_KIB, .counter_khz = 100000, .vram_type = CHIP_VRAM_GDDR6, .sdma_max_count_B = 1u << 30

const struct vgpu_chip vgpu_chips_gfx12[] = {
	{
		/* Navi44, RX 9060 XT. */
		GFX12,
		.name = "gfx1200",
		.pcie_gen = 5,
		.device_id = 0x7590,
		.pci_rev = 0xc0,
		.external_rev = 0x40 + 1,
		.chip_rev = 1,
		.gc_version = {12, 0, 0},
		.sdma_version = {7, 0, 0},
		.engines = 2,
		.cus_per_array = 8,
		.cus_active = 32,
		.rbs = 8,
		.tccs = 16,
		.l2_B = 4 * CHIP_MIB,
		.vram_B = 16 * CHIP_GIB,
		.visible_vram_B = 16 * CHIP_GIB,
		.vram_bits = 128,
		.engine_khz = 2530000,
		.memory_khz = 1258000,
		.gb_addr_config = 0x08200444,
		.mall_B = 32 * CHIP_MIB,
	},
	{
		/* Navi48, RX 9070 XT. */
		GFX12,
		.name = "gfx1201",
		.pcie_gen = 5,
		.device_id = 0x7550,
		.pci_rev = 0xc0,
		.external_rev = 0x50 + 1,
		.chip_rev = 1,
		.gc_version = {12, 0, 1},
		.sdma_version = {7, 0, 1},
		.engines = 4,
		.cus_per_array = 8,
		.cus_active = 64,
		.rbs = 16,
		.tccs = 32,
		.l2_B = 8 * CHIP_MIB,
		.vram_B = 16 * CHIP_GIB,
		.visible_vram_B = 16 * CHIP_GIB,
		.vram_bits = 256,
		.engine_khz = 2460000,
		.memory_khz = 1258000,
		.gb_addr_config = 0x08200545,
		.mall_B = 64 * CHIP_MIB,
	},
	{.name = 0},
};

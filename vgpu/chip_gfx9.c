/* GFX9.
 *
 * Sources: Linux soc15.c, amdgpu_drv.c, amdgpu_discovery.c, gfx_v9_0.c and gfx_v9_4_3.c for identities, block
 * versions, layouts and ring masks; Mesa's drm-shim dumps of vega10, raven, raven2 and renoir; AMD's product pages
 * for memory size, bus width and clocks; LLVM's AMDGPUUsage for VGPR files and packed work-item ids. "made up"
 * marks what none gives. */
#include "vgpu/chip.h"

/* What all of GFX9 shares, but for what a row names. */
#define GFX9 .arrays_per_engine = 1, .wave_lanes = 64, .lds_B = 64 * CHIP_KIB
/* Before gfx90a. */
#define GFX9_OLD                                                                                                   \
	GFX9, .ce_ram_B = 32 * CHIP_KIB, .l1_B = 16 * CHIP_KIB, .vgprs = 256, .max_waves_per_cu = 40,              \
		.sdma_max_count_B = 1u << 22
/* Vega in an APU: system memory with a carve-out, one copy engine. */
#define GFX9_APU                                                                                                   \
	GFX9_OLD, .gfx = VGPU_GFX900, .family = CHIP_FAMILY_RV, .pci_class = 0x030000, .engines = 1,               \
		.gfx_rings = 1, .sdma_instances = 1, .vram_B = 512 * CHIP_MIB, .visible_vram_B = 512 * CHIP_MIB,   \
		.ids_flags = CHIP_IDS_FUSION

const struct vgpu_chip vgpu_chips_gfx9[] = {
	{
		/* Vega10, Instinct MI25. */
		GFX9_OLD,
		.name = "gfx900",
		.pcie_gen = 3,
		.gfx = VGPU_GFX900,
		.device_id = 0x6860,
		.pci_rev = 0x01,
		.family = CHIP_FAMILY_AI,
		.external_rev = 0x01,
		.chip_rev = 1, /* made up: any stepping does; soc15.c does not add it here */
		.gc_version = {9, 0, 1},
		.sdma_version = {4, 0, 0},
		.engines = 4,
		.cus_per_array = 16,
		.cus_active = 64,
		.rbs = 16,
		.gfx_rings = 1,
		.sdma_instances = 2,
		.gds_B = 0x10000,
		.tccs = 16,
		.l2_B = 4 * CHIP_MIB,
		.vram_B = 16 * CHIP_GIB,
		.visible_vram_B = 256 * CHIP_MIB, /* made up on purpose: a small-BAR card */
		.vram_type = CHIP_VRAM_HBM,
		.vram_bits = 2048,
		.engine_khz = 1500000,
		.memory_khz = 945000,
		.counter_khz = 27000,
		.gb_addr_config = 0x2a114042,
	},
	{
		/* Raven as Picasso, Ryzen 7 3750H. */
		GFX9_APU,
		.name = "gfx902",
		.device_id = 0x15d8,
		.pci_rev = 0xc1,
		.external_rev = 0x41 + 1,
		.chip_rev = 1,
		.gc_version = {9, 1, 0},
		.sdma_version = {4, 1, 0},
		.cus_per_array = 11,
		.cus_active = 10,
		.rbs = 2,
		.gds_B = 0x1000,
		.tccs = 4,
		.l2_B = 1 * CHIP_MIB,
		.vram_type = CHIP_VRAM_DDR4,
		.vram_bits = 128,
		.engine_khz = 1400000,
		.memory_khz = 1200000,
		.counter_khz = 25000,
		.gb_addr_config = 0x24000042,
	},
	{
		/* Vega20, Instinct MI50. */
		GFX9_OLD,
		.name = "gfx906",
		.gfx = VGPU_GFX906,
		.device_id = 0x66a1,
		.pci_rev = 0x02,
		.family = CHIP_FAMILY_AI,
		.external_rev = 0x28 + 1,
		.chip_rev = 1, /* made up */
		.gc_version = {9, 4, 0},
		.sdma_version = {4, 2, 0},
		.engines = 4,
		.cus_per_array = 16,
		.cus_active = 60,
		.rbs = 16,
		.gfx_rings = 1,
		.sdma_instances = 2,
		.gds_B = 0x10000,
		.tccs = 16,
		.l2_B = 4 * CHIP_MIB,
		.vram_B = 16 * CHIP_GIB,
		.visible_vram_B = 16 * CHIP_GIB,
		.vram_type = CHIP_VRAM_HBM,
		.vram_bits = 4096,
		.engine_khz = 1725000,
		.memory_khz = 1000000,
		.counter_khz = 25000, /* reference clock of Vega20 boards */
		.gb_addr_config = 0x2a114042,
		.xgmi = true,
	},
	{
		/* Arcturus, Instinct MI100. */
		GFX9_OLD,
		.name = "gfx908",
		.gfx = VGPU_GFX908,
		.device_id = 0x738c,
		.pci_rev = 0x01,
		.family = CHIP_FAMILY_AI,
		.external_rev = 0x32 + 1,
		.chip_rev = 1, /* made up */
		.gc_version = {9, 4, 1},
		.sdma_version = {4, 2, 2},
		.engines = 8,
		.cus_per_array = 16,
		.cus_active = 120,
		.sdma_instances = 8,
		.gds_B = 0x1000,
		.tccs = 32,
		.l2_B = 8 * CHIP_MIB,
		.vram_B = 32 * CHIP_GIB,
		.visible_vram_B = 32 * CHIP_GIB,
		.vram_type = CHIP_VRAM_HBM,
		.vram_bits = 4096,
		.engine_khz = 1502000,
		.memory_khz = 1200000,
		.counter_khz = 100000,
		.gb_addr_config = 0x2a114042,
		.xgmi = true,
	},
	{
		/* Raven2, Ryzen 3 3200U. */
		GFX9_APU,
		.name = "gfx909",
		.device_id = 0x15d8,
		.pci_rev = 0xea,
		.external_rev = 0x79 + 9,
		.chip_rev = 9,
		.gc_version = {9, 2, 2},
		.sdma_version = {4, 1, 1},
		.cus_per_array = 3,
		.cus_active = 3,
		.rbs = 1,
		.gds_B = 0x1000,
		.tccs = 2,
		.l2_B = 512 * CHIP_KIB,
		.vram_type = CHIP_VRAM_DDR4,
		.vram_bits = 64,
		.engine_khz = 600000,
		.memory_khz = 800000,
		.counter_khz = 100000,
		.gb_addr_config = 0x26013041,
	},
	{
		/* Aldebaran with one die, Instinct MI210. */
		GFX9,
		.name = "gfx90a",
		.gfx = VGPU_GFX90A,
		.l1_B = 16 * CHIP_KIB,
		.device_id = 0x740f,
		.pci_rev = 0x02,
		.family = CHIP_FAMILY_AI,
		.external_rev = 0x3c + 1,
		.chip_rev = 1, /* made up */
		.gc_version = {9, 4, 2},
		.sdma_version = {4, 4, 0},
		.engines = 8,
		.cus_per_array = 16,
		.cus_active = 104,
		.sdma_instances = 5,
		.vgprs = 512,
		.max_waves_per_cu = 32,
		.tccs = 32,
		.l2_B = 8 * CHIP_MIB,
		.vram_B = 64 * CHIP_GIB,
		.visible_vram_B = 64 * CHIP_GIB,
		.vram_type = CHIP_VRAM_HBM,
		.vram_bits = 4096,
		.engine_khz = 1700000,
		.memory_khz = 1600000,
		.counter_khz = 100000,
		.gb_addr_config = 0x2a114042,
		.packed_tid = true,
		.xgmi = true,
		/* ROCr uses 30 bits on SDMA 4.4, the kernel's header says 22 (vega10_sdma_pkt_open.h): the wider
		   one. */
		.sdma_max_count_B = 1u << 30,
	},
	{
		/* Renoir as Cezanne, Ryzen 5 5500U. */
		GFX9_APU,
		.name = "gfx90c",
		.device_id = 0x15e7,
		.pci_rev = 0xe9,
		.external_rev = 0xa1,
		.chip_rev = 0,
		.gc_version = {9, 3, 0},
		.sdma_version = {4, 1, 2}, /* sdma_v4_0.c; the dump has none */
		.cus_per_array = 8,
		.cus_active = 7,
		.rbs = 2,
		.gds_B = 0x10000,
		.tccs = 4,
		.l2_B = 1 * CHIP_MIB,
		.vram_type = CHIP_VRAM_LPDDR4,
		.vram_bits = 128,
		.engine_khz = 1800000,
		.memory_khz = 1333000,
		.counter_khz = 100000,
		.gb_addr_config = 0x26010042,
	},
	{
		/* One XCC of an Instinct MI300X, as a partition in CPX mode with NPS4 is. */
		GFX9,
		.name = "gfx942",
		.pci_class = 0x120000, /* a processing accelerator */
		.pcie_gen = 5,
		.gfx = VGPU_GFX942,
		.device_id = 0x74a1,
		.pci_rev = 0x00,
		.family = CHIP_FAMILY_AI,
		.external_rev = 0x46 + 1,
		.chip_rev = 1, /* made up */
		.gc_version = {9, 4, 3},
		.sdma_version = {4, 4, 2},
		.gc_block_minor = 4,
		.sdma_block_minor = 4,
		.engines = 4,
		.cus_per_array = 10,
		.xccs = 8,
		.cus_active = 38,
		.sdma_instances = 2,
		.vgprs = 512,
		.max_waves_per_cu = 32,
		.tccs = 16,
		.l2_B = 4 * CHIP_MIB,
		.l1_B = 32 * CHIP_KIB,
		.vram_B = 24 * CHIP_GIB, /* 192 GiB by eight partitions */
		.visible_vram_B = 24 * CHIP_GIB,
		.vram_type = CHIP_VRAM_HBM,
		.vram_bits = 8192,
		.engine_khz = 2100000,
		.memory_khz = 1300000,
		.counter_khz = 100000,
		.gb_addr_config = 0x2a114042,
		.packed_tid = true,
		.flat_scratch_given = true,
		.xgmi = true,
		.sdma_max_count_B = 1u << 22, /* as ROCr uses on SDMA 4.4.2 */
	},
	{.name = 0},
};

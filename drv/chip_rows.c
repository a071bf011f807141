/* The rows of the chip table. Sources: chip.h. */
#include "drv/chip.h"

/* Generic targets. Source for the chips that each covers: LLVM AMDGPUUsage, "AMDGPU Generic Processors". */
static const struct drv_generic gfx9 = {"gfx9-generic", 0x51}, gfx9_4 = {"gfx9-4-generic", 0x5f},
				gfx10_1 = {"gfx10-1-generic", 0x52}, gfx10_3 = {"gfx10-3-generic", 0x53},
				gfx11 = {"gfx11-generic", 0x54}, gfx12 = {"gfx12-generic", 0x59};

/* Family numbers of amdgpu_drm.h; APUs have their own. */
enum {
	FAMILY_AI = 141,
	FAMILY_RV = 142,
	FAMILY_NV = 143,
	FAMILY_VGH = 144,
	FAMILY_GC_11_0_0 = 145,
	FAMILY_YC = 146,
	FAMILY_GC_11_0_1 = 148,
	FAMILY_GC_10_3_6 = 149,
	FAMILY_GC_11_5_0 = 150,
	FAMILY_GC_10_3_7 = 151,
	FAMILY_GC_12_0_0 = 152,
};

/* Chips whose code other chips run unchanged: LLVM's features of the other chips (AMDGPU.td) are the same, or more.
 * Libraries are built for these alone. gfx904 and gfx906 cannot run code for gfx900: the encoding of v_mad_mix is
 * v_fma_mix there, and where gfx906 has ECC its 16-bit loads clear the half of a register that loads of gfx900
 * preserve. GFX11.5 has all instructions of GFX11. A full workgroup of gfx1100, gfx1101 and gfx1151 may have 192
 * vector registers, of the other chips of GFX11 128 (LLVM Feature1_5xVGPRs): these run code for gfx1102. */
enum { GFX900 = 0x2c, GFX1010 = 0x33, GFX1030 = 0x36, GFX1100 = 0x41, GFX1102 = 0x47, GFX1201 = 0x4e };

/* Fields that a generation has in common. A row may set a field again: the later initializer counts. */
#define ALL                                                                                                        \
	.generic_version = 1, .max_group_threads = 1024, .scratch_waves_per_cu = 32, .lds_B = 65536,               \
	.lds_granule_B = 512, .code_pad_B = 256, .groups_yz_max = UINT32_MAX

/* Caches of Vega from kfd_crat.c, with two exceptions. The L2 of Vega 20 has 4 MiB according to AMD, in 16 banks of
 * 256 KiB, and 8 MiB in KFD's table. KFD gives Raven 2 the 1 MiB of Raven, and it has half of Raven's banks. */
#define GFX9(l2)                                                                                                   \
	ALL, .pm4 = DRV_PM4_GFX9, .sdma = DRV_SDMA_V4, .images = DRV_IMAGES_GFX9, .gws = 64, .wave_lanes = 64,     \
		.waves_per_cu = 40, .simds_per_cu = 4, .vgprs = 256, .vgpr_granule = 4, .vgpr_unit = 4,            \
		.scratch_granule_B = 1024, .scratch_max_units = 0x1fff, .sdma_copy_max_B = 0x3fff00,               \
		.sdma_fill_max_B = 0x3fffe0, .caches = {16, 64, 32, 64, 16, 64, 3, 0, 0, l2, 64, 0}

/* APUs leave retry of faults on unless amdgpu.noretry changes it: code of both kinds runs, since nothing ever
 * resolves a fault of a DRM queue. */
#define GFX9_APU(l2) GFX9(l2), .generic = &gfx9, .runs_mach = GFX900, .xnack = DRV_FEATURE_EITHER

#define UNIFIED    .vgprs = 512, .vgpr_granule = 8, .vgpr_unit = 8 /* vector and accumulation registers */
#define VGPRS_1536 .vgprs = 1536, .vgpr_granule = 24
#define RDNA                                                                                                       \
	.paired_cus = true, .simds_per_cu = 2, .vgprs = 1024, .vgpr_granule = 16, .vgpr_unit = 8,                  \
	.sdma_mem_sync = true
#define GFX10                                                                                                      \
	ALL, RDNA, .pm4 = DRV_PM4_GFX10, .gws = 64, .wave_lanes = 32, .scratch_granule_B = 1024,                   \
		.scratch_max_units = 0x1fff, .sdma_fill_max_B = 0x3fffe0, .rsrc3_reg = 0x228
#define GFX10_1(l2)                                                                                                \
	GFX10, .images = DRV_IMAGES_GFX10, .vgpr_granule = 8, .generic = &gfx10_1, .runs_mach = GFX1010,           \
		.sdma = DRV_SDMA_V5, .waves_per_cu = 40, .sdma_copy_max_B = 0x3fff00, .xnack = DRV_FEATURE_EITHER, \
		.caches = {16, 128, 32, 64, 16, 64, 2, 128, 128, l2, 128, 0}
#define GFX10_3(l2, mall)                                                                                          \
	GFX10, .images = DRV_IMAGES_GFX10_3, .generic = &gfx10_3, .runs_mach = GFX1030, .sdma = DRV_SDMA_V5_2,     \
		.waves_per_cu = 32, .sdma_copy_max_B = 0x3fffff00,                                                 \
		.caches = {16, 128, 32, 64, 16, 64, 2, 128, 128, l2, 128, mall}

#define GFX11(mach, l2, mall)                                                                                      \
	ALL, RDNA, .images = DRV_IMAGES_GFX11, .generic = &gfx11, .runs_mach = mach, .pm4 = DRV_PM4_GFX11,         \
		.gws = 64, .sdma = DRV_SDMA_V6, .wave_lanes = 32, .waves_per_cu = 32, .scratch_granule_B = 256,    \
		.scratch_max_units = 0x7fff, .sdma_copy_max_B = 0x3fffff00, .sdma_fill_max_B = 0x3fffffe0,         \
		.rsrc3_reg = 0x228, .se4_mask_reg = 0x22b, .packed_tid = true, .flat_scratch_hw = true,            \
		.caches = {32, 128, 32, 128, 16, 64, 2, 256, 128, l2, 128, mall}

/* The kernel reports all cache sizes of GFX12: no kernel before DRM 3.52 drives one. */
#define GFX12                                                                                                      \
	ALL, RDNA, VGPRS_1536, .images = DRV_IMAGES_GFX12, .generic = &gfx12, .runs_mach = GFX1201,                \
		.groups_yz_max = 0xffff, .pm4 = DRV_PM4_GFX12, .sdma = DRV_SDMA_V7, .wave_lanes = 32,              \
		.waves_per_cu = 32, .scratch_granule_B = 256, .scratch_max_units = 0x3ffff,                        \
		.sdma_copy_max_B = 0x3fffff00, .sdma_fill_max_B = 0x3fffffe0, .rsrc3_reg = 0x228,                  \
		.se4_mask_reg = 0x22b, .packed_tid = true, .flat_scratch_hw = true,                                \
		.uncached = DRV_UNCACHED_LATER,                                                                    \
		.caches = {.l1_line_B = 128,                                                                       \
			   .inst_line_B = 128,                                                                     \
			   .scalar_line_B = 64,                                                                    \
			   .cus_per_sqc = 2,                                                                       \
			   .l2_line_B = 256}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const struct drv_chip drv_chip_rows[] = {
	{GFX9(4096), .target = "gfx900", .product = "Vega 10 (MI25, RX Vega)", .elf_mach = 0x2c, .generic = &gfx9,
	 .id = {{0x090001, FAMILY_AI, 0x01, 0x13}}, .xnack = DRV_FEATURE_OFF},
	{GFX9_APU(1024), .target = "gfx902", .product = "Raven, Picasso (Ryzen 2000G, 3000G)", .elf_mach = 0x2d,
	 .id = {{0x090100, FAMILY_RV, 0x01, 0x80}}},
	{GFX9(2048), .target = "gfx904", .product = "Vega 12 (Radeon Pro Vega 20)", .elf_mach = 0x2e,
	 .generic = &gfx9, .id = {{0x090201, FAMILY_AI, 0x14, 0x27}}, .xnack = DRV_FEATURE_EITHER},
	{GFX9(4096), .target = "gfx906", .product = "Vega 20 (MI50, MI60, Radeon VII)", .elf_mach = 0x2f,
	 .generic = &gfx9, .id = {{0x090400, FAMILY_AI, 0x28, 0x31}}, .xnack = DRV_FEATURE_OFF,
	 .sramecc = DRV_FEATURE_EITHER},
	{GFX9(8192), .target = "gfx908", .product = "Arcturus (MI100)", .elf_mach = 0x30,
	 .id = {{0x090401, FAMILY_AI, 0x32, 0x3b}}, .se4_mask_reg = 0x225, .compute_only = true,
	 .xnack = DRV_FEATURE_OFF, .sramecc = DRV_FEATURE_ON, .uncached = DRV_UNCACHED_SYSTEM},
	/* LLVM and Mesa call Raven 2 gfx909; the kernel's KFD calls it gfx902, whose instructions are the same. */
	{GFX9_APU(512), .target = "gfx909", .product = "Raven 2 (Athlon 3000)", .elf_mach = 0x31,
	 .id = {{0x090202, FAMILY_RV, 0x81, 0x8f}}},
	{GFX9(8192), .target = "gfx90a", .product = "Aldebaran (MI200)", .elf_mach = 0x3f,
	 .id = {{0x090402, FAMILY_AI, 0x3c, 0x45}}, .waves_per_cu = 32, UNIFIED, .code_pad_B = 4096,
	 .rsrc3_reg = 0x22d, .se4_mask_reg = 0x225, .packed_tid = true, .compute_only = true,
	 .xnack = DRV_FEATURE_OFF, .sramecc = DRV_FEATURE_ON, .uncached = DRV_UNCACHED_SYSTEM,
	 .caches = {16, 64, 32, 64, 16, 64, 2, 0, 0, 8192, 128, 0}},
	{GFX9_APU(1024), .target = "gfx90c", .product = "Renoir, Cezanne (Ryzen 4000G, 5000G)", .elf_mach = 0x32,
	 .id = {{0x090300, FAMILY_RV, 0x91, 0xfe}}},
	/* gfx942 has other registers at the offsets of gfx90a's SE4 masks, and an XCC has no more than four
	 * engines. GC 9.5.0 begins at revision 0x50. */
	{GFX9(0), .images = DRV_IMAGES_NONE, .target = "gfx942", .product = "MI300A, MI300X, MI325X",
	 .elf_mach = 0x4c, .generic = &gfx9_4,
	 .id = {{0x090403, FAMILY_AI, 0x46, 0x4f}, {0x090404, FAMILY_AI, 0, 0}}, .waves_per_cu = 32, UNIFIED,
	 .code_pad_B = 4096, .rsrc3_reg = 0x22d, .tg_chunk_reg = 0x227, .packed_tid = true, .flat_scratch_hw = true,
	 .compute_only = true, .ring_per_xcc = true, .xnack = DRV_FEATURE_OFF, .sramecc = DRV_FEATURE_ON,
	 .uncached = DRV_UNCACHED_SYSTEM,
	 /* AMD's CDNA 3 white paper; sizes of one XCC. Linux reports only the instruction and scalar caches. */
	 .caches = {32, 128, 64, 128, 16, 64, 2, 0, 0, 4096, 128, 0}},

	{GFX10_1(4096), .target = "gfx1010", .product = "Navi 10 (RX 5700, RX 5600)", .elf_mach = 0x33,
	 .id = {{0x0a010a, FAMILY_NV, 0x01, 0x09}}},
	{GFX10_1(4096), .target = "gfx1011", .product = "Navi 12 (Radeon Pro 5600M, V520)", .elf_mach = 0x34,
	 .id = {{0x0a0102, FAMILY_NV, 0x0a, 0x13}}},
	{GFX10_1(2048), .target = "gfx1012", .product = "Navi 14 (RX 5500)", .elf_mach = 0x35,
	 .id = {{0x0a0101, FAMILY_NV, 0x14, 0x27}}},
	{GFX10_1(4096), .target = "gfx1013", .product = "Cyan Skillfish (BC-250)", .elf_mach = 0x42,
	 .id = {{0x0a0103, FAMILY_NV, 0x82, 0x8f}, {0x0a0104, FAMILY_NV, 0, 0}}},
	{GFX10_3(4096, 128), .target = "gfx1030", .product = "Navi 21 (RX 6800, RX 6900)", .elf_mach = 0x36,
	 .id = {{0x0a0300, FAMILY_NV, 0x28, 0x31}}},
	{GFX10_3(3072, 96), .target = "gfx1031", .product = "Navi 22 (RX 6700)", .elf_mach = 0x37,
	 .id = {{0x0a0302, FAMILY_NV, 0x32, 0x3b}}},
	{GFX10_3(2048, 32), .target = "gfx1032", .product = "Navi 23 (RX 6600)", .elf_mach = 0x38,
	 .id = {{0x0a0304, FAMILY_NV, 0x3c, 0x45}}},
	{GFX10_3(1024, 0), .target = "gfx1033", .product = "Van Gogh (Steam Deck)", .elf_mach = 0x39,
	 .id = {{0x0a0301, FAMILY_VGH, 0x01, 0xfe}}},
	{GFX10_3(1024, 16), .target = "gfx1034", .product = "Navi 24 (RX 6400, RX 6500)", .elf_mach = 0x3e,
	 .id = {{0x0a0305, FAMILY_NV, 0x46, 0x4f}}},
	{GFX10_3(2048, 0), .target = "gfx1035", .product = "Rembrandt (Ryzen 6000)", .elf_mach = 0x3d,
	 .id = {{0x0a0303, FAMILY_YC, 0x01, 0xfe}}},
	{GFX10_3(256, 0), .target = "gfx1036", .product = "Raphael, Mendocino (Ryzen 7000)", .elf_mach = 0x45,
	 .id = {{0x0a0306, FAMILY_GC_10_3_6, 0x01, 0xfe}, {0x0a0307, FAMILY_GC_10_3_7, 0x01, 0xfe}}},

	{GFX11(GFX1100, 6144, 96), VGPRS_1536, .trap_halts = true, .target = "gfx1100",
	 .product = "Navi 31 (RX 7900, W7900)", .elf_mach = 0x41, .id = {{0x0b0000, FAMILY_GC_11_0_0, 0x01, 0x0f}}},
	{GFX11(GFX1100, 4096, 64), VGPRS_1536, .trap_halts = true, .target = "gfx1101",
	 .product = "Navi 32 (RX 7700, RX 7800)", .elf_mach = 0x46,
	 .id = {{0x0b0003, FAMILY_GC_11_0_0, 0x20, 0xfe}}},
	{GFX11(GFX1102, 2048, 32), .trap_halts = true, .target = "gfx1102", .product = "Navi 33 (RX 7600)",
	 .elf_mach = 0x47, .id = {{0x0b0002, FAMILY_GC_11_0_0, 0x10, 0x1f}}},
	{GFX11(GFX1102, 2048, 0), .trap_halts = true, .target = "gfx1103",
	 .product = "Phoenix, Hawk Point (Ryzen 7040, 8040)", .elf_mach = 0x44,
	 .id = {{0x0b0001, FAMILY_GC_11_0_1, 0x01, 0x7f}, {0x0b0004, FAMILY_GC_11_0_1, 0x80, 0xfe}}},
	{GFX11(GFX1102, 0, 0), .target = "gfx1150", .product = "Strix Point (Ryzen AI 300)", .elf_mach = 0x43,
	 .id = {{0x0b0500, FAMILY_GC_11_5_0, 0x01, 0x3f}}},
	{GFX11(GFX1100, 0, 0), VGPRS_1536, .target = "gfx1151", .product = "Strix Halo (Ryzen AI Max)",
	 .elf_mach = 0x4a, .id = {{0x0b0501, FAMILY_GC_11_5_0, 0xc0, 0xfe}}},
	{GFX11(GFX1102, 0, 0), .target = "gfx1152", .product = "Krackan Point (Ryzen AI 300)", .elf_mach = 0x55,
	 .id = {{0x0b0502, FAMILY_GC_11_5_0, 0x40, 0x4f}}},
	{GFX11(GFX1102, 0, 0), .target = "gfx1153", .product = "Krackan Point 2", .elf_mach = 0x58,
	 .id = {{0x0b0503, FAMILY_GC_11_5_0, 0x50, 0xbf}}},

	{GFX12, .target = "gfx1200", .product = "Navi 44 (RX 9060)", .elf_mach = 0x48,
	 .id = {{0x0c0000, FAMILY_GC_12_0_0, 0x40, 0x4f}}},
	{GFX12, .target = "gfx1201", .product = "Navi 48 (RX 9070)", .elf_mach = 0x4e,
	 .id = {{0x0c0001, FAMILY_GC_12_0_0, 0x50, 0xfe}}},
};
#pragma GCC diagnostic pop

const unsigned drv_chip_row_count = sizeof(drv_chip_rows) / sizeof(drv_chip_rows[0]);

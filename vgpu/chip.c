/* The table of virtual chips.
 *
 * Sources: Linux soc15.c, amdgpu_drv.c and gfx_v9_0.c for identities, layouts and ring masks; AMD's product
 * pages for memory size, bus width and clocks; LLVM's AMDGPUUsage for VGPR files and packed work-item ids; amdgpu's
 * IP discovery for block versions. "made up" marks what no source gives. */
#include "vgpu/chip.h"

#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

enum { FAMILY_AI = 141, VRAM_HBM = 6 };

const struct vgpu_chip vgpu_chips[] = {
	{
		/* Vega10, Instinct MI25. */
		.name = "gfx900",
		.gfx = VGPU_GFX900,
		.device_id = 0x6860,
		.pci_rev = 0x01,
		.family = FAMILY_AI,
		.external_rev = 0x01 + 1,
		.chip_rev = 1, /* made up: any stepping does */
		.gc_version = {9, 0, 1},
		.sdma_version = {4, 0, 0},
		.engines = 4,
		.arrays_per_engine = 1,
		.cus_per_array = 16,
		.cus_active = 64,
		.gfx_rings = 1,
		.compute_rings = 4,
		.sdma_instances = 2,
		.vgprs = 256,
		.max_waves_per_cu = 40,
		.lds_B = 64 << 10,
		.tccs = 16,
		.l2_B = 4 << 20,
		.vram_B = 16 * GIB,
		.visible_vram_B = 256 * MIB, /* made up on purpose: the small-BAR card of the four */
		.vram_type = VRAM_HBM,
		.vram_bits = 2048,
		.engine_khz = 1500000,
		.memory_khz = 945000,
		.counter_khz = 27000, /* reference clock of Vega10 boards */
		.packed_tid = false,
		.sdma_max_count_B = 1u << 22,
	},
	{
		/* Vega20, Instinct MI50. */
		.name = "gfx906",
		.gfx = VGPU_GFX906,
		.device_id = 0x66a1,
		.pci_rev = 0x02,
		.family = FAMILY_AI,
		.external_rev = 0x28 + 1,
		.chip_rev = 1, /* made up */
		.gc_version = {9, 4, 0},
		.sdma_version = {4, 2, 0},
		.engines = 4,
		.arrays_per_engine = 1,
		.cus_per_array = 16,
		.cus_active = 60,
		.gfx_rings = 1,
		.compute_rings = 4,
		.sdma_instances = 2,
		.vgprs = 256,
		.max_waves_per_cu = 40,
		.lds_B = 64 << 10,
		.tccs = 16,
		.l2_B = 4 << 20,
		.vram_B = 16 * GIB,
		.visible_vram_B = 16 * GIB,
		.vram_type = VRAM_HBM,
		.vram_bits = 4096,
		.engine_khz = 1725000,
		.memory_khz = 1000000,
		.counter_khz = 25000, /* reference clock of Vega20 boards */
		.packed_tid = false,
		.sdma_max_count_B = 1u << 22,
	},
	{
		/* Arcturus, Instinct MI100. */
		.name = "gfx908",
		.gfx = VGPU_GFX908,
		.device_id = 0x738c,
		.pci_rev = 0x01,
		.family = FAMILY_AI,
		.external_rev = 0x32 + 1,
		.chip_rev = 1, /* made up */
		.gc_version = {9, 4, 1},
		.sdma_version = {4, 2, 2},
		.engines = 8,
		.arrays_per_engine = 1,
		.cus_per_array = 16,
		.cus_active = 120,
		.gfx_rings = 0,
		.compute_rings = 4,
		.sdma_instances = 2,
		.vgprs = 256,
		.max_waves_per_cu = 40,
		.lds_B = 64 << 10,
		.tccs = 32,
		.l2_B = 8 << 20,
		.vram_B = 32 * GIB,
		.visible_vram_B = 32 * GIB,
		.vram_type = VRAM_HBM,
		.vram_bits = 4096,
		.engine_khz = 1502000,
		.memory_khz = 1200000,
		.counter_khz = 100000,
		.packed_tid = false,
		.sdma_max_count_B = 1u << 22,
	},
	{
		/* Aldebaran with one die, Instinct MI210. */
		.name = "gfx90a",
		.gfx = VGPU_GFX90A,
		.device_id = 0x740f,
		.pci_rev = 0x02,
		.family = FAMILY_AI,
		.external_rev = 0x3c + 1,
		.chip_rev = 1, /* made up */
		.gc_version = {9, 4, 2},
		.sdma_version = {4, 4, 0},
		.engines = 8,
		.arrays_per_engine = 1,
		.cus_per_array = 16,
		.cus_active = 104,
		.gfx_rings = 0,
		.compute_rings = 4,
		.sdma_instances = 2,
		.vgprs = 512,
		.max_waves_per_cu = 32,
		.lds_B = 64 << 10,
		.tccs = 32,
		.l2_B = 8 << 20,
		.vram_B = 64 * GIB,
		.visible_vram_B = 64 * GIB,
		.vram_type = VRAM_HBM,
		.vram_bits = 4096,
		.engine_khz = 1700000,
		.memory_khz = 1600000,
		.counter_khz = 100000,
		.packed_tid = true,
		/* ROCr uses 30 bits on SDMA 4.4, the kernel's header says 22 (vega10_sdma_pkt_open.h): the wider
		   one. */
		.sdma_max_count_B = 1u << 30,
	},
	{.name = NULL},
};

const struct vgpu_chip *vgpu_chip_find(const char *name)
{
	for (const struct vgpu_chip *chip = vgpu_chips; chip->name; chip++)
		if (!strcmp(chip->name, name))
			return chip;
	return NULL;
}

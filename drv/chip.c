#include "drv/chip.h"

#include <stddef.h>
#include <string.h>

#define FAMILY_AI 141

/* What all of GFX9 before gfx942 has in common. A row may name a field again: the later one counts. */
#define GFX9_COMMON                                                                                                \
	.family = FAMILY_AI, .pm4 = DRV_PM4_GFX9, .sdma = DRV_SDMA_V4, .wave_lanes = 64, .waves_per_cu = 40,       \
	.scratch_waves_per_cu = 32, .max_group_threads = 1024, .lds_B = 65536, .lds_granule_B = 512,               \
	.scratch_granule_B = 1024, .scratch_max_units = 0x1fff, .sdma_copy_max_B = 0x3fff00,                       \
	.sdma_fill_max_B = 0x3fffe0, .code_pad_B = 256

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct drv_chip chips[] = {
	{GFX9_COMMON, .target = "gfx900", .product = "Vega 10 (MI25, RX Vega)", .elf_mach = 0x2c,
	 .gc_version = 0x090001, .rev_first = 0x01, .rev_last = 0x13, .xnack = DRV_FEATURE_OFF},
	{GFX9_COMMON, .target = "gfx906", .product = "Vega 20 (MI50, MI60, Radeon VII)", .elf_mach = 0x2f,
	 .gc_version = 0x090400, .rev_first = 0x28, .rev_last = 0x31, .xnack = DRV_FEATURE_OFF,
	 .sramecc = DRV_FEATURE_EITHER},
	{GFX9_COMMON, .target = "gfx908", .product = "Arcturus (MI100)", .elf_mach = 0x30, .gc_version = 0x090401,
	 .rev_first = 0x32, .rev_last = 0x3b, .xnack = DRV_FEATURE_OFF, .sramecc = DRV_FEATURE_ON},
	{GFX9_COMMON, .target = "gfx90a", .product = "Aldebaran (MI200)", .elf_mach = 0x3f, .gc_version = 0x090402,
	 .rev_first = 0x3c, .rev_last = 0x45, .waves_per_cu = 32, .code_pad_B = 4096, .rsrc3_reg = 0x22d,
	 .packed_tid = true, .xnack = DRV_FEATURE_OFF, .sramecc = DRV_FEATURE_ON},
};
#pragma GCC diagnostic pop

#define CHIPS (sizeof(chips) / sizeof(chips[0]))

const struct drv_chip *drv_chip_find(uint32_t gc_version, uint32_t family, uint32_t external_rev)
{
	for (size_t i = 0; i < CHIPS; i++)
		if (gc_version ? chips[i].gc_version == gc_version
			       : chips[i].family == family && external_rev >= chips[i].rev_first &&
					 external_rev <= chips[i].rev_last)
			return &chips[i];
	return NULL;
}

const struct drv_chip *drv_chip_by_target(const char *target)
{
	for (size_t i = 0; i < CHIPS; i++)
		if (!strcmp(chips[i].target, target))
			return &chips[i];
	return NULL;
}

const struct drv_chip *drv_chip_by_mach(unsigned elf_mach)
{
	for (size_t i = 0; i < CHIPS; i++)
		if (chips[i].elf_mach == elf_mach)
			return &chips[i];
	return NULL;
}

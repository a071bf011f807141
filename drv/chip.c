#include "drv/chip.h"

#include <stddef.h>
#include <string.h>

unsigned drv_chip_simd_waves(const struct drv_chip *chip, unsigned lanes, unsigned vgprs)
{
	unsigned half = lanes > chip->wave_lanes ? 2 : 1, granule = chip->vgpr_granule / half;

	return chip->vgprs / half / ((vgprs + granule - 1) / granule * granule);
}

const char *drv_pm4_name(enum drv_pm4 generation)
{
	static const char *const names[] = {[DRV_PM4_GFX9] = "GFX9",
					    [DRV_PM4_GFX10] = "GFX10",
					    [DRV_PM4_GFX11] = "GFX11",
					    [DRV_PM4_GFX12] = "GFX12"};

	return names[generation];
}

const char *drv_sdma_name(enum drv_sdma generation)
{
	static const char *const names[] = {[DRV_SDMA_V4] = "SDMA 4",
					    [DRV_SDMA_V5] = "SDMA 5",
					    [DRV_SDMA_V5_2] = "SDMA 5.2",
					    [DRV_SDMA_V6] = "SDMA 6",
					    [DRV_SDMA_V7] = "SDMA 7"};

	return names[generation];
}

const struct drv_chip *drv_chip_at(unsigned i)
{
	return i < drv_chip_row_count ? &drv_chip_rows[i] : NULL;
}

static bool is_named(const struct drv_chip_id *id, uint32_t gc_version, uint32_t family, uint32_t external_rev)
{
	if (gc_version)
		return id->gc_version == gc_version;
	return id->rev_last && id->family == family && external_rev >= id->rev_first &&
	       external_rev <= id->rev_last;
}

const struct drv_chip *drv_chip_find(uint32_t gc_version, uint32_t family, uint32_t external_rev)
{
	for (unsigned i = 0; i < drv_chip_row_count * DRV_CHIP_IDS; i++)
		if (is_named(&drv_chip_rows[i / DRV_CHIP_IDS].id[i % DRV_CHIP_IDS], gc_version, family,
			     external_rev))
			return &drv_chip_rows[i / DRV_CHIP_IDS];
	return NULL;
}

const struct drv_chip *drv_chip_by_target(const char *target)
{
	for (unsigned i = 0; i < drv_chip_row_count; i++)
		if (!strcmp(drv_chip_rows[i].target, target))
			return &drv_chip_rows[i];
	return NULL;
}

const struct drv_chip *drv_chip_by_mach(unsigned elf_mach)
{
	for (unsigned i = 0; i < drv_chip_row_count; i++)
		if (drv_chip_rows[i].elf_mach == elf_mach)
			return &drv_chip_rows[i];
	return NULL;
}

const char *drv_isa_name(unsigned elf_mach)
{
	for (unsigned i = 0; i < drv_chip_row_count; i++) {
		const struct drv_chip *chip = &drv_chip_rows[i];

		if (chip->elf_mach == elf_mach)
			return chip->target;
		if (chip->generic && chip->generic->elf_mach == elf_mach)
			return chip->generic->name;
	}
	return NULL;
}

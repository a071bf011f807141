/* The chip table: every difference between chips is a field here, never an `if` elsewhere.
 *
 * Sources: LLVM AMDGPUUsage (targets, ELF machine values, kernel descriptor), Linux amdgpu soc15.c (family and
 * external revision), Mesa sid.h and registers JSON (register offsets, SDMA limits), ROCr (scratch slots). */
#ifndef DRV_CHIP_H
#define DRV_CHIP_H

#include <stdbool.h>
#include <stdint.h>

/* Packet generations: one emitter each in cs/ and sdma/. */
enum drv_pm4 { DRV_PM4_GFX9 };
enum drv_sdma { DRV_SDMA_V4 };

/* How a target feature stands on a chip as DRM queues run it. Code objects demand it on or off, or run with both.
 */
enum drv_feature {
	DRV_FEATURE_NONE, /* the chip does not have it */
	DRV_FEATURE_OFF,
	DRV_FEATURE_ON,
	DRV_FEATURE_EITHER, /* the board decides and the kernel does not tell */
};

struct drv_chip {
	const char *target;  /* LLVM's name: "gfx908" */
	const char *product; /* what people call the family of boards */
	uint8_t elf_mach;    /* EF_AMDGPU_MACH, e_flags 7:0 */

	/* How the kernel names it: GC IP version (major << 16 | minor << 8 | revision), and for kernels that do not
	 * tell, family and the range [first, last] of external revisions. */
	uint32_t gc_version;
	uint16_t family;
	uint16_t rev_first, rev_last;

	enum drv_pm4 pm4;
	enum drv_sdma sdma;

	/* Limits */
	uint8_t wave_lanes;
	uint8_t waves_per_cu;
	uint8_t scratch_waves_per_cu; /* what ROCr sizes scratch for */
	uint16_t max_group_threads;
	uint32_t lds_B, lds_granule_B;
	uint32_t scratch_granule_B; /* TMPRING_SIZE.WAVESIZE unit, per wave */
	uint32_t scratch_max_units; /* largest WAVESIZE */
	uint32_t sdma_copy_max_B;   /* bytes of one linear copy packet, as Mesa limits it */
	uint32_t sdma_fill_max_B;
	uint32_t code_pad_B; /* mapped bytes behind the last instruction, for the prefetcher */

	/* Quirks, by name */
	uint16_t rsrc3_reg;     /* SH register of COMPUTE_PGM_RSRC3 (dwords from 0x2C00); 0: the chip has none */
	bool packed_tid;        /* work-item ids arrive packed in v0 */
	enum drv_feature xnack; /* as DRM queues run: they never retry a fault */
	enum drv_feature sramecc;
};

/* The row for these kernel facts, or NULL. gc_version 0: not known. */
const struct drv_chip *drv_chip_find(uint32_t gc_version, uint32_t family, uint32_t external_rev);
/* The row of that target name, or of that ELF machine; or NULL. */
const struct drv_chip *drv_chip_by_target(const char *target);
const struct drv_chip *drv_chip_by_mach(unsigned elf_mach);

#endif

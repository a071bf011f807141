/* The chip table: every difference between chips is a field here, never an `if` elsewhere.
 *
 * Sources, by field: LLVM AMDGPUUsage and BinaryFormat/ELF.h (targets, machine values, generic targets, target
 * features, kernel descriptor); Linux amdgpu_discovery.c (family), soc15.c, nv.c, soc21.c, soc24.c (base of the
 * external revision), amdgpu_gmc.c (retry of faults); Mesa amdgpu_asic_addr.h (revision ranges), registers JSON
 * (register offsets), ac_gpu_info.c (SDMA limits); ROCr (scratch slots); Linux kfd_crat.c (caches). */
#ifndef DRV_CHIP_H
#define DRV_CHIP_H

#include <stdbool.h>
#include <stdint.h>

/* Packet generations: one emitter each in cs/ and sdma/. */
enum drv_pm4 { DRV_PM4_GFX9, DRV_PM4_GFX10, DRV_PM4_GFX11, DRV_PM4_GFX12 };
enum drv_sdma { DRV_SDMA_V4, DRV_SDMA_V5, DRV_SDMA_V5_2, DRV_SDMA_V6, DRV_SDMA_V7 };

/* How a target feature stands on a chip as DRM queues run it. Code objects demand it on or off, or run with both.
 */
enum drv_feature {
	DRV_FEATURE_NONE, /* the chip does not have it */
	DRV_FEATURE_OFF,
	DRV_FEATURE_ON,
	DRV_FEATURE_EITHER, /* the board or a module parameter decides and the kernel does not tell */
};

/* Which memory a GEM_VA mapping with MTYPE_UC makes uncached; elsewhere the kernel chooses another type. */
enum drv_uncached {
	DRV_UNCACHED_ALL,
	DRV_UNCACHED_SYSTEM, /* VRAM of the chip stays cached in its L2 */
	DRV_UNCACHED_VRAM,   /* system memory stays cached in L2 */
};

/* Whose image descriptors the chip reads. */
enum drv_images {
	DRV_IMAGES_NONE, /* it has no image instructions, or we do not write its descriptors */
	DRV_IMAGES_GFX9,
};

/* A target that code is compiled for to run on several chips. */
struct drv_generic {
	const char *name; /* "gfx9-generic" */
	uint8_t elf_mach;
};

/* How the kernel names a chip: GC IP version (major << 16 | minor << 8 | revision), and for kernels that do not
 * tell, family and the range [first, last] of external revisions. */
struct drv_chip_id {
	uint32_t gc_version; /* 0: no such id */
	uint16_t family;
	uint16_t rev_first, rev_last; /* 0, 0: only the GC version tells it from the row's other id */
};

/* What caches have when the kernel does not tell (before DRM 3.52), as KFD's tables have it. 0: not there, or no
 * kernel that old drives the chip. */
struct drv_chip_caches {
	uint16_t l1_KiB, l1_line_B;         /* vector data, per CU */
	uint16_t inst_KiB, inst_line_B;     /* instructions */
	uint16_t scalar_KiB, scalar_line_B; /* scalar data */
	uint16_t cus_per_sqc;               /* that share one instruction and one scalar cache, at most */
	uint16_t gl1_KiB, gl1_line_B;       /* per shader array */
	uint16_t l2_KiB, l2_line_B;
	uint16_t mall_MiB; /* memory attached: Infinity Cache */
};

#define DRV_CHIP_IDS 2

struct drv_chip {
	const char *target;                /* LLVM's name: "gfx908" */
	const char *product;               /* what people call the family of boards */
	const struct drv_generic *generic; /* whose code runs on it too; NULL: none */
	uint8_t elf_mach;                  /* EF_AMDGPU_MACH, e_flags 7:0 */
	uint8_t runs_mach;                 /* of a chip whose code does the same here; 0: none */
	uint8_t generic_version;           /* least version (e_flags 31:24) of generic code that knows this chip */
	struct drv_chip_id id[DRV_CHIP_IDS];

	enum drv_pm4 pm4;
	enum drv_sdma sdma;
	enum drv_images images;

	/* Limits */
	uint8_t wave_lanes; /* of waves as compilers make them by default */
	uint8_t waves_per_cu;
	uint8_t scratch_waves_per_cu; /* what ROCr sizes scratch for */
	uint16_t max_group_threads;
	uint32_t lds_B, lds_granule_B;
	uint32_t scratch_granule_B; /* TMPRING_SIZE.WAVESIZE unit, per wave */
	uint32_t scratch_max_units; /* largest WAVESIZE */
	uint32_t sdma_copy_max_B;   /* bytes of one linear copy packet, as Mesa limits it */
	uint32_t sdma_fill_max_B;
	uint8_t gws;         /* resources of global wave sync: gws_size of the kernel's gfx_v*.c */
	uint32_t code_pad_B; /* mapped bytes behind the last instruction, for the prefetcher */
	struct drv_chip_caches caches;

	/* Quirks, by name. Registers: SH register, dwords from 0x2C00; 0: the chip has none. */
	uint16_t rsrc3_reg;     /* COMPUTE_PGM_RSRC3 */
	uint16_t se4_mask_reg;  /* COMPUTE_STATIC_THREAD_MGMT_SE4, and SE5 to SE7 behind it */
	uint16_t tg_chunk_reg;  /* COMPUTE_TG_CHUNK_SIZE: groups that one XCC takes at a time; 0 on one-XCC rings */
	bool packed_tid;        /* work-item ids arrive packed in v0 */
	bool flat_scratch_hw;   /* hardware sets FLAT_SCRATCH from DISPATCH_SCRATCH_BASE (LLVM: architected) */
	bool compute_only;      /* no graphics ring */
	bool ring_per_xcc;      /* each compute ring belongs to one of several XCCs: a job uses that one's CUs */
	enum drv_feature xnack; /* as DRM queues run: they never resolve a fault */
	enum drv_feature sramecc;
	enum drv_uncached uncached;
};

/* True when cs/ or sdma/ have an emitter for the generation: the only test of whether a chip can be submitted to.
 */
bool drv_pm4_supported(enum drv_pm4 pm4);
bool drv_sdma_supported(enum drv_sdma sdma);
const char *drv_pm4_name(enum drv_pm4 pm4);    /* "GFX9" */
const char *drv_sdma_name(enum drv_sdma sdma); /* "SDMA 4" */

/* The row for these kernel facts, or NULL. gc_version 0: not known. */
const struct drv_chip *drv_chip_find(uint32_t gc_version, uint32_t family, uint32_t external_rev);
/* The row of that target name, or of that ELF machine; or NULL. */
const struct drv_chip *drv_chip_by_target(const char *target);
const struct drv_chip *drv_chip_by_mach(unsigned elf_mach);
/* What code of that ELF machine is called, chip or generic; NULL: unknown. */
const char *drv_isa_name(unsigned elf_mach);
/* The i-th row, or NULL behind the last. */
const struct drv_chip *drv_chip_at(unsigned i);

/* The rows (chip_rows.c), for chip.c. */
extern const struct drv_chip drv_chip_rows[];
extern const unsigned drv_chip_row_count;

#endif

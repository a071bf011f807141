/* The chip table: every difference between chips is a field here, never an `if` elsewhere.
 *
 *   drv_chip     one row of the table: identity, limits, quirks; static and constant
 *   drv_chip_id  the numbers by which the kernel names a chip
 *   drv_generic  a target whose code several chips run
 *
 * Sources, by field: LLVM AMDGPUUsage and BinaryFormat/ELF.h (targets, machine values, generic targets, target
 * features, kernel descriptor); Linux amdgpu_discovery.c (family), soc15.c, nv.c, soc21.c, soc24.c (base of the
 * external revision), amdgpu_gmc.c (retry of faults); Mesa amdgpu_asic_addr.h (revision ranges), registers JSON
 * (register offsets), ac_gpu_info.c (SDMA limits); ROCr (scratch slots); Linux kfd_crat.c (caches).
 *
 * Thread rule: constant data; all functions are thread safe. */
#ifndef DRV_CHIP_H
#define DRV_CHIP_H

#include <stdbool.h>
#include <stdint.h>

/* Packet generations: one emitter each in cs/ and sdma/. */
enum drv_pm4 { DRV_PM4_GFX9, DRV_PM4_GFX10, DRV_PM4_GFX11, DRV_PM4_GFX12 };
enum drv_sdma { DRV_SDMA_V4, DRV_SDMA_V5, DRV_SDMA_V5_2, DRV_SDMA_V6, DRV_SDMA_V7 };

/* State of a target feature (xnack, sramecc) on a chip whose queues the DRM driver runs. A code object requires the
 * feature on or off, or runs with both. */
enum drv_feature {
	DRV_FEATURE_NONE, /* the chip lacks the feature */
	DRV_FEATURE_OFF,
	DRV_FEATURE_ON,
	DRV_FEATURE_EITHER, /* the board or a module parameter decides, and the kernel does not report it */
};

/* The memory that a GEM_VA mapping with MTYPE_UC makes uncached; for other memory the kernel chooses another
 * type. */
enum drv_uncached {
	DRV_UNCACHED_ALL,
	DRV_UNCACHED_SYSTEM, /* the chip's own VRAM stays cached in its L2 */
	DRV_UNCACHED_LATER,  /* as DRV_UNCACHED_ALL; kernels before DRM 3.61 cache system memory in L2 */
};

/* The generation of image descriptors that the chip reads. */
enum drv_images {
	DRV_IMAGES_NONE, /* no image instructions */
	DRV_IMAGES_GFX9,
	DRV_IMAGES_GFX10,
	DRV_IMAGES_GFX10_3,
	DRV_IMAGES_GFX11,
	DRV_IMAGES_GFX12,
};

/* A target that code is compiled for to run on several chips. */
struct drv_generic {
	const char *name; /* "gfx9-generic" */
	uint8_t elf_mach;
};

/* The numbers by which the kernel names a chip: GC IP version (major << 16 | minor << 8 | revision); for kernels
 * that do not report it, family and the range [first, last] of external revisions. */
struct drv_chip_id {
	uint32_t gc_version; /* 0: no such id */
	uint16_t family;
	uint16_t rev_first, rev_last; /* 0, 0: only the GC version distinguishes this id from the row's other one */
};

/* Cache sizes for kernels that do not report them (before DRM 3.52), from KFD's tables. 0: the chip has no such
 * cache, or no kernel that old drives the chip. */
struct drv_chip_caches {
	uint16_t l1_KiB, l1_line_B;         /* vector data, per CU */
	uint16_t inst_KiB, inst_line_B;     /* instructions */
	uint16_t scalar_KiB, scalar_line_B; /* scalar data */
	uint16_t cus_per_sqc;               /* most CUs that share one instruction and one scalar cache */
	uint16_t gl1_KiB, gl1_line_B;       /* per shader array */
	uint16_t l2_KiB, l2_line_B;
	uint16_t mall_MiB; /* memory-attached last level: Infinity Cache */
};

#define DRV_CHIP_IDS 2

struct drv_chip {
	const char *target;                /* LLVM's name: "gfx908" */
	const char *product;               /* product family, for people */
	const struct drv_generic *generic; /* generic target whose code the chip runs, too; NULL: none */
	uint8_t elf_mach;                  /* EF_AMDGPU_MACH, e_flags 7:0 */
	uint8_t runs_mach;                 /* machine of another chip whose code behaves the same here; 0: none */
	/* least version (e_flags 31:24) of generic code that supports this chip */
	uint8_t generic_version;
	struct drv_chip_id id[DRV_CHIP_IDS];

	enum drv_pm4 pm4;
	enum drv_sdma sdma;
	enum drv_images images;

	/* Limits. */
	uint8_t wave_lanes; /* lanes of a wave as compilers build it by default */
	uint8_t waves_per_cu, simds_per_cu;
	/* Vector registers of a SIMD as a lane of the default wave counts them; the multiple that a wave gets; the unit
	 * of RSRC1.VGPRS. On chips whose waves have 32 lanes, those with 64 count half of each. */
	uint16_t vgprs;
	uint8_t vgpr_granule, vgpr_unit;
	uint8_t scratch_waves_per_cu; /* waves that ROCr sizes scratch for */
	uint16_t max_group_threads;
	uint32_t groups_yz_max; /* most workgroups of a grid in y and in z: GFX12 has 16 bits for their ids */
	uint32_t lds_B, lds_granule_B;
	uint32_t scratch_granule_B; /* TMPRING_SIZE.WAVESIZE unit, per wave */
	uint32_t scratch_max_units; /* largest WAVESIZE */
	uint32_t sdma_copy_max_B;   /* bytes of one linear copy packet, as Mesa limits it */
	uint32_t sdma_fill_max_B;
	uint8_t gws;         /* resources of global wave sync: gws_size of the kernel's gfx_v*.c */
	uint32_t code_pad_B; /* mapped bytes after the last instruction, for the prefetcher */
	struct drv_chip_caches caches;

	/* Quirks, by name. Registers: SH register, dwords from 0x2C00; 0: the chip has none. */
	uint16_t rsrc3_reg;    /* COMPUTE_PGM_RSRC3 */
	uint16_t se4_mask_reg; /* COMPUTE_STATIC_THREAD_MGMT_SE4, followed by SE5 to SE7 */
	uint16_t tg_chunk_reg; /* COMPUTE_TG_CHUNK_SIZE: groups that one XCC takes at a time; 0 on one-XCC rings */
	bool paired_cus;       /* CUs are enabled in pairs: workgroup processors */
	bool packed_tid;       /* work-item ids arrive packed in v0 */
	bool flat_scratch_hw;  /* hardware sets FLAT_SCRATCH from DISPATCH_SCRATCH_BASE (LLVM: architected) */
	bool compute_only;     /* no graphics ring */
	/* The copy engines reach memory through L2, and the kernel can invalidate caches before their jobs
	 * (AMDGPU_IB_FLAG_EMIT_MEM_SYNC) */
	bool sdma_mem_sync;
	/* A trap in a kernel, as clang makes it for __builtin_trap(), halts its wave for good: the chip ignores s_trap, and
	 * the code behind it asks the trap handler that DRM does not install, then halts (LLVM
	 * hasPrivEnabledTrap2NopBug(), insertSimulatedTrap()). */
	bool trap_halts;
	bool ring_per_xcc;      /* each compute ring belongs to one of several XCCs: a job uses that XCC's CUs */
	enum drv_feature xnack; /* for queues of the DRM driver, where no fault is ever resolved */
	enum drv_feature sramecc;
	enum drv_uncached uncached;
};

/* Waves of that many lanes for which a SIMD has registers, `vgprs` for each. */
unsigned drv_chip_simd_waves(const struct drv_chip *chip, unsigned lanes, unsigned vgprs);
const char *drv_pm4_name(enum drv_pm4 pm4);    /* "GFX9" */
const char *drv_sdma_name(enum drv_sdma sdma); /* "SDMA 4" */

/* Finds the row for these kernel facts; NULL: unknown. gc_version 0: the kernel does not report it. */
const struct drv_chip *drv_chip_find(uint32_t gc_version, uint32_t family, uint32_t external_rev);
/* Finds the row by LLVM target name, or by ELF machine value; NULL: unknown. */
const struct drv_chip *drv_chip_by_target(const char *target);
const struct drv_chip *drv_chip_by_mach(unsigned elf_mach);
/* Target name for an ELF machine value, of a chip or generic; NULL: unknown. */
const char *drv_isa_name(unsigned elf_mach);
/* The i-th row; NULL after the last. */
const struct drv_chip *drv_chip_at(unsigned i);

/* The rows (chip_rows.c), which chip.c searches. */
extern const struct drv_chip drv_chip_rows[];
extern const unsigned drv_chip_row_count;

#endif

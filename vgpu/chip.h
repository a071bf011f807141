/* The chips that the virtual GPU can be: hardware facts of its own, written apart from drv/'s table.
 *
 * One table a generation (chip_gfx9.c .. chip_gfx12.c). Figures without a public source are marked "made up". */
#ifndef VGPU_CHIP_H
#define VGPU_CHIP_H

#include <stdbool.h>
#include <stdint.h>

/* Instruction-set level, for the decoder and the compute units, oldest first. gfx902, gfx909 and gfx90c count as gfx900: LLVM's
 * features differ in image instructions only. */
enum vgpu_gfx {
	VGPU_GFX900,
	VGPU_GFX906,
	VGPU_GFX908,
	VGPU_GFX90A,
	VGPU_GFX942,
	VGPU_GFX10_1,
	VGPU_GFX10_1_DOT, /* gfx1011, gfx1012: with dot products */
	VGPU_GFX10_3,
	VGPU_GFX11,
	VGPU_GFX11_5,
	VGPU_GFX12,
	VGPU_GFX_COUNT,
};

/* ECC of a chip's registers and LDS (LLVM's target feature sramecc): no such thing, on some boards, on all. */
enum vgpu_ecc { CHIP_ECC_NONE, CHIP_ECC_SOME, CHIP_ECC_ON };

struct vgpu_chip {
	const char *name; /* "gfx908" */
	enum vgpu_gfx gfx;
	uint16_t device_id;
	uint8_t pci_rev;
	uint32_t pci_class; /* 0: 0x038000, a display controller without VGA */
	uint32_t family, external_rev, chip_rev;
	uint16_t gc_version[3], sdma_version[3];           /* IP discovery major, minor, revision */
	uint8_t gc_block_minor, sdma_block_minor;          /* minor versions of the kernel's IP blocks */
	uint8_t engines, arrays_per_engine, cus_per_array; /* shader engines, arrays, CUs physically present */
	uint16_t cus_active;
	uint8_t gfx_rings;      /* 0: no graphics at all */
	uint8_t rbs;            /* render backends */
	uint8_t sdma_instances; /* number of SDMA instances; two entities of a context share them */
	uint8_t wave_lanes;     /* lanes of a wave, as DEV_INFO reports them */
	uint16_t vgprs, max_waves_per_cu;
	uint32_t lds_B, gds_B, ce_ram_B;
	uint32_t tccs, l2_B, l1_B, gl1_B; /* gl1_B: of one array; 0: none */
	uint64_t mall_B;
	uint64_t vram_B, visible_vram_B;
	uint32_t vram_type, vram_bits;
	uint32_t engine_khz, memory_khz, counter_khz;
	uint32_t gb_addr_config;      /* register 0x263e */
	uint32_t ids_flags;           /* AMDGPU_IDS_FLAGS_* */
	uint8_t pcie_gen, pcie_lanes; /* 0: 4 and 16, as of most */
	uint8_t xccs;         /* XCCs of the whole card, of which this row is one XCC; 0: there is no such card */
	uint8_t vgpr_granule; /* GFX10 and later: VGPRs that waves of 32 get at once */
	enum vgpu_ecc sramecc;
	bool packed_tid;         /* work-item ids arrive packed in v0 */
	bool xgmi;               /* has links to its like */
	bool retries;            /* VM faults: Linux amdgpu_gmc_noretry_set() leaves noretry 0 */
	bool flat_scratch_given; /* hardware sets FLAT_SCRATCH, scratch instructions need no descriptor */
	uint32_t sdma_max_count_B;
};

/* Values of the fields above that several tables use: amdgpu_drm.h's. */
enum vgpu_chip_value {
	CHIP_FAMILY_AI = 141,
	CHIP_FAMILY_RV = 142,
	CHIP_FAMILY_NV = 143,
	CHIP_FAMILY_VGH = 144,
	CHIP_FAMILY_GC_11_0_0 = 145,
	CHIP_FAMILY_YC = 146,
	CHIP_FAMILY_GC_11_0_1 = 148,
	CHIP_FAMILY_GC_10_3_6 = 149,
	CHIP_FAMILY_GC_11_5_0 = 150,
	CHIP_FAMILY_GC_12_0_0 = 152,
	CHIP_VRAM_HBM = 6,
	CHIP_VRAM_DDR4 = 8,
	CHIP_VRAM_GDDR6 = 9,
	CHIP_VRAM_DDR5 = 10,
	CHIP_VRAM_LPDDR4 = 11,
	CHIP_VRAM_LPDDR5 = 12,
	CHIP_IDS_FUSION = 1, /* an APU */
	CHIP_IDS_TRUNC_COORD = 8,
};
#define CHIP_KIB ((uint32_t)1 << 10)
#define CHIP_MIB ((uint64_t)1 << 20)
#define CHIP_GIB ((uint64_t)1 << 30)

/* Tables, each ended by a row without a name. */
extern const struct vgpu_chip vgpu_chips_gfx9[], vgpu_chips_gfx10[], vgpu_chips_gfx11[], vgpu_chips_gfx12[];

/* The chip of that name, or NULL. */
const struct vgpu_chip *vgpu_chip_find(const char *name);
/* The n-th chip of all tables, or NULL behind the last. */
const struct vgpu_chip *vgpu_chip_at(unsigned n);

static inline uint32_t vgpu_chip_pci_class(const struct vgpu_chip *chip)
{
	return chip->pci_class ? chip->pci_class : 0x038000;
}

static inline bool vgpu_chip_is_apu(const struct vgpu_chip *chip)
{
	return chip->ids_flags & CHIP_IDS_FUSION;
}

/* Matrix cores with accumulation registers in one file with the VGPRs. */
static inline bool vgpu_gfx_unified(enum vgpu_gfx gfx)
{
	return gfx == VGPU_GFX90A || gfx == VGPU_GFX942;
}

/* Resources of global wave sync (gws_size of Linux gfx_v9_0.c to gfx_v11_0.c; gfx_v12_0.c sets none). */
static inline unsigned vgpu_chip_gws(const struct vgpu_chip *chip)
{
	return chip->gc_version[0] < 12 ? 64 : 0;
}

/* Whether Linux has user queues on it (gfx_v11_0_sw_init() and gfx_v12_0_sw_init() of 6.16 to 7.2): five discrete chips. */
static inline bool vgpu_chip_user_queues(const struct vgpu_chip *chip)
{
	const uint16_t *gc = chip->gc_version;

	if (vgpu_chip_is_apu(chip))
		return false;
	return (gc[0] == 11 && gc[1] == 0 && (gc[2] == 0 || gc[2] == 2 || gc[2] == 3)) ||
	       (gc[0] == 12 && gc[1] == 0 && gc[2] <= 1);
}

static inline unsigned vgpu_chip_pcie_gen(const struct vgpu_chip *chip)
{
	return chip->pcie_gen ? chip->pcie_gen : 4;
}

static inline unsigned vgpu_chip_pcie_lanes(const struct vgpu_chip *chip)
{
	return chip->pcie_lanes ? chip->pcie_lanes : 16;
}

/* Fills bitmap as DEV_INFO's cu_bitmap: a bit per active CU of each engine and array, in the kernel's layout. */
void vgpu_chip_cu_bitmap(const struct vgpu_chip *chip, uint32_t bitmap[4][4]);

#endif

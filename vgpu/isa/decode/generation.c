/* The generations (generation.h). */
#include "vgpu/isa/decode/generation.h"

/* The single bit `at` of dword d. */
#define BIT(d, at) {32 * (d) + (at), 1}
/* Bits hi to lo of dword d. */
#define BITS(d, hi, lo) {32 * (d) + (lo), (hi) - (lo) + 1}

/* Registers that all generations have. */
#define HWREG_COMMON                                                                                               \
	[1] = ISA_HWREG_MODE, [2] = ISA_HWREG_STATUS, [5] = ISA_HWREG_GPR_ALLOC, [6] = ISA_HWREG_LDS_ALLOC,        \
	[15] = ISA_HWREG_SH_MEM_BASES

/* MODE bits that a program may change: FLOAT_MODE, DX10_CLAMP and IEEE, FP16_OVFL. Exceptions, 20:12, are kept but
 * never raised: DRM VMIDs have no trap handler. GFX9 has GPR_IDX_EN, 27. */
#define MODE_COMMON 0x009ff3ffu

/* --- GFX9 --- */

#define GFX9_COMMON                                                                                                \
	.column = ISA_COLUMN_9,                                                                                    \
	.prefix =                                                                                                  \
		{                                                                                                  \
			[0x30] = ISA_FORMAT_SMEM,   [0x31] = ISA_FORMAT_EXP,   [0x34] = ISA_FORMAT_VOP3_9,         \
			[0x35] = ISA_FORMAT_VINTRP, [0x36] = ISA_FORMAT_DS,    [0x37] = ISA_FORMAT_FLAT,           \
			[0x38] = ISA_FORMAT_MUBUF,  [0x3a] = ISA_FORMAT_MTBUF, [0x3c] = ISA_FORMAT_MIMG,           \
	},                                                                                                         \
	.vop3_vop1 = 0x140, .sgprs = 102, .codes = {124, 0, true}, .sdwa = true, .dpp_wave = true, .ieee = true,   \
	.glc_returns = true, .mode_writable = 0x081ff3ff, .ds_compares_first = true,                               \
	.hwreg = {HWREG_COMMON, [4] = ISA_HWREG_HW_ID, [20] = ISA_HWREG_XCC_ID},                                   \
	.smem = {.op = BITS(0, 25, 18),                                                                            \
		 .sdst = BITS(0, 12, 6),                                                                           \
		 .sbase = BITS(0, 5, 0),                                                                           \
		 .offset = BITS(1, 20, 0),                                                                         \
		 .soffset = BITS(1, 31, 25),                                                                       \
		 .glc = BIT(0, 16),                                                                                \
		 .nv = BIT(0, 15),                                                                                 \
		 .soffset_en = BIT(0, 14),                                                                         \
		 .imm_en = BIT(0, 17)}

#define GFX9_DS .op = BITS(0, 24, 17), .gds = BIT(0, 16)

#define GFX9_FLAT                                                                                                  \
	.dwords = 2, .flat_width = 12, .op = BITS(0, 24, 18), .segment = BITS(0, 15, 14), .vaddr = BITS(1, 7, 0),  \
	.vdata = BITS(1, 15, 8), .saddr = BITS(1, 22, 16), .vdst = BITS(1, 31, 24), .offset = BITS(0, 12, 0),      \
	.glc = BIT(0, 16), .slc = BIT(0, 17), .scc = BIT(0, 25)

#define BUFFER_2                                                                                                   \
	.dwords = 2, .rsrc_unit = 4, .vaddr = BITS(1, 7, 0), .vdata = BITS(1, 15, 8), .rsrc = BITS(1, 20, 16),     \
	.soffset = BITS(1, 31, 24), .offset = BITS(0, 11, 0), .glc = BIT(0, 14)

#define GFX9_MUBUF                                                                                                 \
	BUFFER_2, .op = BITS(0, 24, 18), .offen = BIT(0, 12), .idxen = BIT(0, 13), .slc = BIT(0, 17),              \
		.lds = BIT(0, 16), .scc = BIT(0, 15)

#define GFX9_MTBUF                                                                                                 \
	BUFFER_2, .op = BITS(0, 18, 15), .offen = BIT(0, 12), .idxen = BIT(0, 13), .slc = BIT(1, 22),              \
		.scc = BIT(1, 21), .dfmt = BITS(0, 22, 19), .nfmt = BITS(0, 25, 23)

#define MIMG_2                                                                                                     \
	.dwords = 2, .rsrc_unit = 4, .dmask = BITS(0, 11, 8), .vaddr = BITS(1, 7, 0), .vdata = BITS(1, 15, 8),     \
	.rsrc = BITS(1, 20, 16)

#define GFX9_MIMG                                                                                                  \
	MIMG_2, .a16_gradients = true, .op = BITS(0, 24, 18), .sampler = BITS(1, 25, 21), .unorm = BIT(0, 12),     \
		.glc = BIT(0, 13), .slc = BIT(0, 25), .da = BIT(0, 14), .a16 = BIT(0, 15), .d16 = BIT(1, 31),      \
		.lwe = BIT(0, 17)

static const struct isa_generation gfx9 = {
	GFX9_COMMON,
	.ds = {GFX9_DS},
	.flat = {GFX9_FLAT, .lds = BIT(0, 13)},
	.mubuf = {GFX9_MUBUF, .tfe = BIT(1, 23)},
	.mtbuf = {GFX9_MTBUF, .tfe = BIT(1, 23)},
	.mimg = {GFX9_MIMG, .tfe = BIT(0, 16)},
};

/* Accumulation registers as data of memory instructions. */
static const struct isa_generation gfx90a = {
	GFX9_COMMON,
	.ds = {GFX9_DS, .acc = BIT(0, 25)},
	.flat = {GFX9_FLAT, .lds = BIT(0, 13), .acc = BIT(1, 23)},
	.mubuf = {GFX9_MUBUF, .acc = BIT(1, 23)},
	.mtbuf = {GFX9_MTBUF, .acc = BIT(1, 23)},
	.mimg = {GFX9_MIMG, .acc = BIT(0, 16)},
};

static const struct isa_generation gfx942 = {
	GFX9_COMMON,
	.full_float_atomics = true,
	.ds = {GFX9_DS, .acc = BIT(0, 25)},
	.flat = {GFX9_FLAT, .sve = true, .vaddr_en = BIT(0, 13), .acc = BIT(1, 23)},
	.mubuf = {GFX9_MUBUF, .acc = BIT(1, 23)},
	.mtbuf = {GFX9_MTBUF, .acc = BIT(1, 23)},
	.mimg = {GFX9_MIMG, .acc = BIT(0, 16)},
};

/* --- GFX10 and GFX11 --- */

#define LATER_COMMON                                                                                               \
	.vop3_vop1 = 0x180, .sgprs = 106, .vop3_literals = true, .dpp8 = true, .dpp_fetch = true,                  \
	.keeps_halves = true, .cmpx_exec = true, .mode_writable = MODE_COMMON

/* The clock is there from GFX10.3 on; before, the register reads 0. */
#define HWREG_LATER HWREG_COMMON, [23] = ISA_HWREG_HW_ID, [29] = ISA_HWREG_CYCLES

#define SMEM_COMMON .sdst = BITS(0, 12, 6), .sbase = BITS(0, 5, 0), .soffset = BITS(1, 31, 25)

static const struct isa_generation gfx10 = {
	LATER_COMMON,
	.column = ISA_COLUMN_10,
	.prefix =
		{
			[0x32] = ISA_FORMAT_VINTRP,
			[0x33] = ISA_FORMAT_VOP3P,
			[0x35] = ISA_FORMAT_VOP3,
			[0x36] = ISA_FORMAT_DS,
			[0x37] = ISA_FORMAT_FLAT,
			[0x38] = ISA_FORMAT_MUBUF,
			[0x3a] = ISA_FORMAT_MTBUF,
			[0x3c] = ISA_FORMAT_MIMG,
			[0x3d] = ISA_FORMAT_SMEM,
			[0x3e] = ISA_FORMAT_EXP,
		},
	.codes = {124, 125, false},
	.sdwa = true,
	.ieee = true,
	.glc_returns = true,
	.dlc_bypasses = true,
	.ds_compares_first = true,
	.bpermute_halves = true,
	.hwreg = {HWREG_LATER, [20] = ISA_HWREG_FLAT_SCRATCH_LO, [21] = ISA_HWREG_FLAT_SCRATCH_HI},
	.smem = {SMEM_COMMON, .op = BITS(0, 25, 18), .offset = BITS(1, 20, 0), .glc = BIT(0, 16),
		 .dlc = BIT(0, 14)},
	.ds = {.op = BITS(0, 25, 18), .gds = BIT(0, 17)},
	.flat = {.dwords = 2,
		 .flat_width = 11,
		 .op = BITS(0, 24, 18),
		 .segment = BITS(0, 15, 14),
		 .vaddr = BITS(1, 7, 0),
		 .vdata = BITS(1, 15, 8),
		 .saddr = BITS(1, 22, 16),
		 .vdst = BITS(1, 31, 24),
		 .offset = BITS(0, 11, 0),
		 .glc = BIT(0, 16),
		 .slc = BIT(0, 17),
		 .dlc = BIT(0, 12),
		 .lds = BIT(0, 13)},
	.mubuf = {BUFFER_2, .op = BITS(0, 24, 18), .offen = BIT(0, 12), .idxen = BIT(0, 13), .slc = BIT(1, 22),
		  .dlc = BIT(0, 15), .lds = BIT(0, 16), .tfe = BIT(1, 23)},
	.mtbuf = {BUFFER_2, .op = BITS(0, 18, 16), .op_hi = BIT(1, 21), .offen = BIT(0, 12), .idxen = BIT(0, 13),
		  .slc = BIT(1, 22), .dlc = BIT(0, 15), .tfe = BIT(1, 23), .dfmt = BITS(0, 25, 19)},
	.mimg = {MIMG_2, .op = BITS(0, 24, 18), .op_hi = BIT(0, 0), .sampler = BITS(1, 25, 21),
		 .dim = BITS(0, 5, 3), .unorm = BIT(0, 12), .glc = BIT(0, 13), .slc = BIT(0, 25), .dlc = BIT(0, 7),
		 .r128 = BIT(0, 15), .a16 = BIT(1, 30), .d16 = BIT(1, 31), .lwe = BIT(0, 17), .tfe = BIT(0, 16),
		 .nsa_dwords = 3, .nsa = BITS(0, 2, 1)},
};

#define GFX11_PREFIX                                                                                               \
	{                                                                                                          \
		[0x32] = ISA_FORMAT_VOPD,  [0x33] = ISA_FORMAT_VOP3P, [0x35] = ISA_FORMAT_VOP3,                    \
		[0x36] = ISA_FORMAT_DS,    [0x37] = ISA_FORMAT_FLAT,  [0x38] = ISA_FORMAT_MUBUF,                   \
		[0x3a] = ISA_FORMAT_MTBUF, [0x3c] = ISA_FORMAT_MIMG,  [0x3d] = ISA_FORMAT_SMEM,                    \
		[0x3e] = ISA_FORMAT_EXP,                                                                           \
	}

#define GFX11_COMMON                                                                                               \
	LATER_COMMON, .column = ISA_COLUMN_11, .prefix = GFX11_PREFIX, .codes = {125, 124, false},                 \
		.vop3_dpp = true, .true16 = true, .ieee = true, .glc_returns = true, .bpermute_halves = true,      \
		.hwreg = {HWREG_LATER},                                                                            \
		.smem = {SMEM_COMMON, .op = BITS(0, 25, 18), .offset = BITS(1, 20, 0), .glc = BIT(0, 14),          \
			 .dlc = BIT(0, 13)},                                                                       \
		.ds = {.op = BITS(0, 25, 18), .gds = BIT(0, 17)},                                                  \
		.flat = {.dwords = 2,                                                                              \
			 .flat_width = 12,                                                                         \
			 .sve = true,                                                                              \
			 .op = BITS(0, 24, 18),                                                                    \
			 .segment = BITS(0, 17, 16),                                                               \
			 .vaddr = BITS(1, 7, 0),                                                                   \
			 .vdata = BITS(1, 15, 8),                                                                  \
			 .saddr = BITS(1, 22, 16),                                                                 \
			 .vaddr_en = BIT(1, 23),                                                                   \
			 .vdst = BITS(1, 31, 24),                                                                  \
			 .offset = BITS(0, 12, 0),                                                                 \
			 .glc = BIT(0, 14),                                                                        \
			 .slc = BIT(0, 15),                                                                        \
			 .dlc = BIT(0, 13)},                                                                       \
		.mubuf = {BUFFER_2,          .op = BITS(0, 25, 18), .offen = BIT(1, 22), .idxen = BIT(1, 23),      \
			  .slc = BIT(0, 12), .dlc = BIT(0, 13),     .tfe = BIT(1, 21)},                            \
		.mtbuf = {BUFFER_2,          .op = BITS(0, 18, 15), .offen = BIT(1, 22), .idxen = BIT(1, 23),      \
			  .slc = BIT(0, 12), .dlc = BIT(0, 13),     .tfe = BIT(1, 21),   .dfmt = BITS(0, 25, 19)}, \
		.mimg = {MIMG_2,                                                                                   \
			 .op = BITS(0, 25, 18),                                                                    \
			 .sampler = BITS(1, 30, 26),                                                               \
			 .dim = BITS(0, 4, 2),                                                                     \
			 .unorm = BIT(0, 7),                                                                       \
			 .glc = BIT(0, 14),                                                                        \
			 .slc = BIT(0, 12),                                                                        \
			 .dlc = BIT(0, 13),                                                                        \
			 .r128 = BIT(0, 15),                                                                       \
			 .a16 = BIT(0, 16),                                                                        \
			 .d16 = BIT(0, 17),                                                                        \
			 .lwe = BIT(1, 22),                                                                        \
			 .tfe = BIT(1, 21),                                                                        \
			 .nsa_dwords = 1,                                                                          \
			 .last_is_tuple = true,                                                                    \
			 .nsa = BIT(0, 0)}

static const struct isa_generation gfx11 = {GFX11_COMMON};
static const struct isa_generation gfx11_5 = {GFX11_COMMON, .dpp_scalar = true};

/* --- GFX12 --- */

#define BUFFER_3                                                                                                   \
	.dwords = 3, .rsrc_unit = 1, .vaddr = BITS(2, 7, 0), .vdata = BITS(1, 7, 0), .rsrc = BITS(1, 15, 9),       \
	.soffset = BITS(0, 6, 0), .offset = BITS(2, 31, 8), .offen = BIT(1, 30), .idxen = BIT(1, 31),              \
	.tfe = BIT(0, 22), .scope = BITS(1, 19, 18), .th = BITS(1, 22, 20)

#define VIMAGE                                                                                                     \
	.dwords = 3, .rsrc_unit = 1, .last_is_tuple = true, .op = BITS(0, 21, 14), .dmask = BITS(0, 25, 22),       \
	.vaddr = BITS(2, 7, 0), .vdata = BITS(1, 7, 0), .rsrc = BITS(1, 17, 9), .dim = BITS(0, 2, 0),              \
	.r128 = BIT(0, 4), .d16 = BIT(0, 5), .a16 = BIT(0, 6), .scope = BITS(1, 19, 18), .th = BITS(1, 22, 20)
#define ADDRESS_1_TO_3 BITS(2, 15, 8), BITS(2, 23, 16), BITS(2, 31, 24)

static const struct isa_generation gfx12 = {
	LATER_COMMON,
	.column = ISA_COLUMN_12,
	.prefix =
		{
			[0x31] = ISA_FORMAT_VBUFFER,
			[0x32] = ISA_FORMAT_VOPD,
			[0x33] = ISA_FORMAT_VOP3P,
			[0x34] = ISA_FORMAT_MIMG,
			[0x35] = ISA_FORMAT_VOP3,
			[0x36] = ISA_FORMAT_DS,
			[0x39] = ISA_FORMAT_VSAMPLE,
			[0x3b] = ISA_FORMAT_FLAT,
			[0x3d] = ISA_FORMAT_SMEM,
			[0x3e] = ISA_FORMAT_EXP,
		},
	.codes = {125, 124, false},
	.vop3_dpp = true,
	.dpp_scalar = true,
	.true16 = true,
	.full_float_atomics = true,
	.hwreg = {HWREG_LATER, [30] = ISA_HWREG_CYCLES_HI},
	.smem = {SMEM_COMMON, .op = BITS(0, 18, 13), .offset = BITS(1, 23, 0), .scope = BITS(0, 22, 21),
		 .th = BITS(0, 24, 23)},
	.ds = {.op = BITS(0, 25, 18)},
	.flat = {.dwords = 3,
		 .sve = true,
		 .op = BITS(0, 21, 14),
		 .segment = BITS(0, 25, 24),
		 .vaddr = BITS(2, 7, 0),
		 .vdata = BITS(1, 30, 23),
		 .saddr = BITS(0, 6, 0),
		 .vaddr_en = BIT(1, 17),
		 .vdst = BITS(1, 7, 0),
		 .offset = BITS(2, 31, 8),
		 .scope = BITS(1, 19, 18),
		 .th = BITS(1, 22, 20)},
	.mubuf = {BUFFER_3, .op = BITS(0, 20, 14)},
	.mtbuf = {BUFFER_3, .op = BITS(0, 17, 14), .dfmt = BITS(1, 29, 23)},
	.mimg = {VIMAGE, .tfe = BIT(1, 23), .more = {ADDRESS_1_TO_3, BITS(1, 31, 24)}},
	.vsample = {VIMAGE, .sampler = BITS(1, 31, 23), .unorm = BIT(0, 13), .tfe = BIT(0, 3), .lwe = BIT(1, 8),
		    .more = {ADDRESS_1_TO_3}},
};

const struct isa_generation *isa_generation_of(enum vgpu_gfx gfx)
{
	static const struct isa_generation *const all[VGPU_GFX_COUNT] = {
		[VGPU_GFX900] = &gfx9,       [VGPU_GFX906] = &gfx9,   [VGPU_GFX908] = &gfx9,
		[VGPU_GFX90A] = &gfx90a,     [VGPU_GFX942] = &gfx942, [VGPU_GFX10_1] = &gfx10,
		[VGPU_GFX10_1_DOT] = &gfx10, [VGPU_GFX10_3] = &gfx10, [VGPU_GFX11] = &gfx11,
		[VGPU_GFX11_5] = &gfx11_5,   [VGPU_GFX12] = &gfx12,
	};

	return all[gfx];
}

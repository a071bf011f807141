/* Generations of the instruction set: where formats have their fields, and the rules that differ. One constant per
 * generation (generation.c); code asks these and compares no chips.
 *
 * Sources: llvm-mc-19, whose encodings differ in one bit where one operand does; LLVM's AMDGPUUsage; the RDNA 1 to 4
 * ISA documents. decode_test.c compares every opcode of every chip with LLVM's disassembler. */
#ifndef VGPU_ISA_DECODE_GENERATION_H
#define VGPU_ISA_DECODE_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "vgpu/chip.h"

/* A field of an instruction: bits from `lo`, counted over its dwords. No field crosses a dword. width 0: the
 * generation does not have it, and it reads as 0. */
struct isa_field {
	uint8_t lo, width;
};

struct isa_smem_format {
	struct isa_field op, sdst, sbase, offset, soffset;
	struct isa_field glc, dlc, nv, scope, th;
	struct isa_field soffset_en, imm_en; /* GFX9: what the offset fields hold */
};

struct isa_ds_format {
	struct isa_field op, gds, acc;
};

struct isa_flat_format {
	uint8_t dwords;
	uint8_t flat_width; /* bits of a FLAT offset, unsigned; 0: signed as the others' */
	bool sve;           /* SCRATCH has a bit for its VGPR; else the VGPR is there when the SGPR is not */
	struct isa_field op, segment, vaddr, vdata, saddr, vdst, offset, vaddr_en;
	struct isa_field glc, slc, dlc, scc, lds, acc, scope, th;
};

struct isa_buffer_format {
	uint8_t dwords;
	uint8_t rsrc_unit; /* SGPRs that the resource field counts */
	struct isa_field op, op_hi, vaddr, vdata, rsrc, soffset, offset, offen, idxen;
	struct isa_field glc, slc, dlc, scc, lds, tfe, acc, scope, th;
	struct isa_field dfmt, nfmt; /* MTBUF; from GFX10 on dfmt is the one format number */
};

/* Image instructions. Where the coordinates' VGPRs are not consecutive, dwords behind the first `dwords` have a byte
 * for each but the first (NSA), or the fields of `more` do. */
struct isa_mimg_format {
	uint8_t dwords;
	uint8_t rsrc_unit;  /* SGPRs that the resource and sampler fields count */
	uint8_t nsa_dwords; /* at most */
	bool a16_gradients; /* A16 is for gradients, too; else instructions of their own have f16 */
	bool last_is_tuple; /* the last address names consecutive VGPRs, of all that is left */
	struct isa_field op, op_hi, dmask, vaddr, vdata, rsrc, sampler, dim, more[4];
	struct isa_field unorm, da, a16, d16, lwe, tfe, r128, acc, nsa;
	struct isa_field glc, slc, dlc, scope, th;
};

/* Operand codes of M0 and NULL. no_null: no such operand. */
struct isa_codes {
	uint8_t m0, null;
	bool no_null;
};

/* Hardware registers of s_getreg and s_setreg. */
enum isa_hwreg {
	ISA_HWREG_NONE, /* reads 0, writes are lost */
	ISA_HWREG_MODE,
	ISA_HWREG_STATUS,
	ISA_HWREG_HW_ID,
	ISA_HWREG_GPR_ALLOC,
	ISA_HWREG_LDS_ALLOC,
	ISA_HWREG_SH_MEM_BASES,
	ISA_HWREG_XCC_ID,
	ISA_HWREG_FLAT_SCRATCH_LO,
	ISA_HWREG_FLAT_SCRATCH_HI,
	ISA_HWREG_CYCLES,
	ISA_HWREG_CYCLES_HI,
};

/* Columns of numbers in opcodes.def. */
enum isa_column { ISA_COLUMN_9, ISA_COLUMN_10, ISA_COLUMN_11, ISA_COLUMN_12, ISA_COLUMN_COUNT };

struct isa_generation {
	enum isa_column column;
	uint8_t prefix[64]; /* enum isa_format by bits 31:26 of the first dword; 0: none */
	uint16_t vop3_vop1; /* number of the first VOP1 among VOP3 */
	uint8_t sgprs;      /* SGPRs that a wave can have, without VCC */
	struct isa_codes codes;

	bool vop3_literals; /* VOP3 and VOP3P take literals */
	bool sdwa, dpp8, vop3_dpp, dpp_fetch, dpp_wave, dpp_scalar, true16;
	bool keeps_halves;       /* 16-bit results leave the other half of the register */
	bool cmpx_exec;          /* v_cmpx writes EXEC and no other mask */
	bool ieee;               /* MODE has IEEE and DX10_CLAMP */
	bool glc_returns;        /* atomics return by GLC; else by bit 0 of TH */
	uint8_t hwreg[64];       /* enum isa_hwreg by number */
	uint32_t mode_writable;  /* bits of MODE that s_setreg changes */
	bool full_float_atomics; /* atomics in L2 keep f32 denormals, and reach fine-grained memory */
	bool ds_compares_first; /* compare-and-swap of LDS: data 0 is compared, data 1 is new; else as memory has it */
	bool bpermute_halves; /* ds_permute and ds_bpermute of wave64 stay inside each half of 32 lanes */
	bool dlc_bypasses;    /* only loads with DLC beside GLC bypass all caches above L2 */

	struct isa_smem_format smem;
	struct isa_ds_format ds;
	struct isa_flat_format flat;
	struct isa_buffer_format mubuf, mtbuf;
	struct isa_mimg_format mimg, vsample; /* GFX12: VIMAGE, and VSAMPLE for all that has a sampler */
};

/* How instructions begin, beside SOP and VOP1, VOP2, VOPC, which all generations have in one place. */
enum isa_format {
	ISA_FORMAT_NONE,
	ISA_FORMAT_SMEM,
	ISA_FORMAT_VOP3,
	ISA_FORMAT_VOP3P,
	ISA_FORMAT_VOP3_9, /* GFX9: VOP3P is in it */
	ISA_FORMAT_VOPD,
	ISA_FORMAT_DS,
	ISA_FORMAT_FLAT,
	ISA_FORMAT_MUBUF,
	ISA_FORMAT_MTBUF,
	ISA_FORMAT_VBUFFER, /* GFX12: MUBUF and MTBUF */
	ISA_FORMAT_MIMG,
	ISA_FORMAT_VSAMPLE, /* GFX12 */
	ISA_FORMAT_VINTRP,
	ISA_FORMAT_EXP,
};

/* Immutable. */
const struct isa_generation *isa_generation_of(enum vgpu_gfx gfx);

#endif

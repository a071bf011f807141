/* Decoded instructions: made by decode.c, read by all files that execute them. Private to vgpu/isa/.
 *
 *   isa_op     a semantic ("v_add_f32"), common to its encodings (e32, VOP3, SDWA, DPP)
 *   isa_row    a semantic in an encoding: number, chips, operands (opcodes.def, from LLVM's facts)
 *   isa_inst   a decoded instruction: its function, its fields with registers resolved to rows of the wave's v[]
 *
 * Execution: isa_run() calls inst->fn(wave, inst), which returns the next instruction, nearly always inst + 1, or
 * NULL when isa_run must return, after setting wave->stop and wave->pc (isa_stop_wave and isa_leave do both).
 * s_nop, s_waitcnt and similar instructions are dropped when code is decoded.
 *
 * Decoding checks registers against those that the dispatch grants: a function never gets a VGPR row outside the
 * wave's file or an SGPR tuple that runs over its end; isa_inst::beyond marks instructions that name such
 * registers. Rows stay valid under s_set_gpr_idx too. */
#ifndef VGPU_ISA_DECODE_DECODE_H
#define VGPU_ISA_DECODE_DECODE_H

#include <string.h>

#include "vgpu/isa/decode/generation.h"
#include "vgpu/isa/isa.h"

enum isa_enc {
	ISA_ENC_NONE,
	ISA_SOP1,
	ISA_SOP2,
	ISA_SOPK,
	ISA_SOPC,
	ISA_SOPP,
	ISA_VOP1,
	ISA_VOP2,
	ISA_VOPC,
	ISA_VOP3,
	ISA_VOP3P,
	ISA_SMEM,
	ISA_DS,
	ISA_FLAT,
	ISA_GLOBAL,
	ISA_SCRATCH,
	ISA_MUBUF,
	ISA_MTBUF, /* memory */
	ISA_MIMG,  /* images: some run */
	ISA_VINTRP,
	ISA_EXP, /* graphics: named, never executed */
	ISA_ENC_COUNT,
};

/* A semantic: ISA_OP_V_ADD_F32, ISA_OP_GLOBAL_LOAD_DWORD... */
enum isa_op {
	ISA_OP_NONE,
#define ISA_OP(enc, n9, n10, n11, n12, chips, id, ...) ISA_OP_##id,
#define ISA_ALSO(...)
#include "vgpu/isa/decode/opcodes.def"
#undef ISA_OP
#undef ISA_ALSO
	ISA_OP_COUNT,
};

/* The row of a semantic in an encoding on a chip, by number; NULL: no such instruction. */
const struct isa_row *isa_row_find(enum vgpu_gfx gfx, enum isa_enc enc, unsigned number);

/* "v_add_f32", without _e32, _e64, _sdwa, _dpp, as the oldest generation calls it. */
const char *isa_op_name(enum isa_op op);
/* The name that the chip's generation has for it. */
const char *isa_row_name(enum vgpu_gfx gfx, const struct isa_row *row);

/* Operand types: size, and how inline constants and modifiers read. Bxx are integers or mere bits; P16, PF16: two
 * halves; PF32, PB32: two dwords; MIX: f16 or f32 by op_sel_hi; M64: one bit per lane in an SGPR pair; Wn: n
 * dwords. */
enum isa_type {
	ISA_T_NONE,
	ISA_T_B16,
	ISA_T_F16,
	ISA_T_B32,
	ISA_T_F32,
	ISA_T_B64,
	ISA_T_F64,
	ISA_T_P16,
	ISA_T_PF16,
	ISA_T_PF32,
	ISA_T_PB32,
	ISA_T_MIX,
	ISA_T_M64,
	ISA_T_W3,
	ISA_T_W4,
	ISA_T_W8,
	ISA_T_W16,
	ISA_T_W32,
};

enum isa_row_flag {
	ISA_ROW_CARRY_OUT = 1 << 0,  /* writes an SGPR pair beside vdst: VCC in VOP2, sdst in VOP3 */
	ISA_ROW_CARRY_IN = 1 << 1,   /* reads VCC in VOP2, src2 in VOP3 */
	ISA_ROW_ACCUMULATE = 1 << 2, /* vdst is a source too */
	ISA_ROW_MATRIX = 1 << 3,
	ISA_ROW_SPARSE =
		1 << 4, /* sparse matrix: source 2 selects the present half of source 0; vdst is the addend */
	ISA_ROW_CMPX = 1 << 5, /* writes EXEC */
};

/* Parts of an image instruction's address, in the order in which they follow each other. The coordinates of the
 * resource's dimensions stand between gradients and the rest. */
enum isa_image_part {
	ISA_IMAGE_OFFSET = 1 << 0,  /* in texels: X 5:0, Y 13:8, Z 21:16 */
	ISA_IMAGE_BIAS = 1 << 1,    /* added to the level */
	ISA_IMAGE_COMPARE = 1 << 2, /* reference of the depth comparison */
	ISA_IMAGE_GRADIENTS = 1 << 3,
	ISA_IMAGE_LOD = 1 << 4,   /* the level */
	ISA_IMAGE_CLAMP = 1 << 5, /* the lowest level */
	ISA_IMAGE_MIP = 1 << 6,   /* the level, of an access without sampler */
	ISA_IMAGE_LEVEL = ISA_IMAGE_LOD | ISA_IMAGE_CLAMP | ISA_IMAGE_MIP,
	ISA_IMAGE_ZERO = 1 << 7, /* no part: the level is 0 */
	ISA_IMAGE_G16 = 1 << 8,  /* no part: gradients are f16 */
	ISA_IMAGE_SIZE = 1 << 9, /* no part: there are no coordinates */
};

/* enum isa_image_part of an image instruction. */
unsigned isa_image_parts(enum isa_op op);

/* Dimensions that an image instruction names from GFX10 on. */
enum isa_image_dim {
	ISA_DIM_1D,
	ISA_DIM_2D,
	ISA_DIM_3D,
	ISA_DIM_CUBE,
	ISA_DIM_1D_ARRAY,
	ISA_DIM_2D_ARRAY,
	ISA_DIM_2D_MSAA,
	ISA_DIM_2D_MSAA_ARRAY,
	ISA_DIM_OF_RESOURCE, /* GFX9 */
};

static inline unsigned isa_dim_axes(unsigned dim)
{
	static const uint8_t axes[] = {1, 2, 3, 2, 1, 2, 2, 2, 1};

	return axes[dim];
}

/* A message with an answer names the message in its source field, and no register; the answer comes later. */
static inline bool isa_op_has_answer(enum isa_op op)
{
	return op == ISA_OP_S_SENDMSG_RTN_B32 || op == ISA_OP_S_SENDMSG_RTN_B64;
}

static inline bool isa_op_is_image_atomic(enum isa_op op)
{
	return op >= ISA_OP_IMAGE_ATOMIC_SWAP && op <= ISA_OP_IMAGE_ATOMIC_PK_ADD_BF16;
}

static inline bool isa_op_stores_image(enum isa_op op)
{
	return op >= ISA_OP_IMAGE_STORE && op <= ISA_OP_IMAGE_STORE_MIP_PCK;
}

/* Loads and stores of up to 32 VGPRs, of which M0 has a bit each (GFX12). */
static inline bool isa_op_is_block(enum isa_op op)
{
	return op == ISA_OP_GLOBAL_LOAD_BLOCK || op == ISA_OP_GLOBAL_STORE_BLOCK ||
	       op == ISA_OP_SCRATCH_LOAD_BLOCK || op == ISA_OP_SCRATCH_STORE_BLOCK;
}

/* Loads of a matrix of 16 by 16 elements that change rows into columns (GFX12). */
static inline bool isa_op_transposes(enum isa_op op)
{
	return op == ISA_OP_GLOBAL_LOAD_TR_B128 || op == ISA_OP_GLOBAL_LOAD_TR_B64;
}

/* The source is a result, too. */
static inline bool isa_op_swaps(enum isa_op op)
{
	return op == ISA_OP_V_SWAP_B32 || op == ISA_OP_V_SWAP_B16 || op == ISA_OP_V_SWAPREL_B32;
}

/* Image instructions with a sampler, and those that give one component of four texels. */
static inline bool isa_op_samples(enum isa_op op)
{
	return op >= ISA_OP_IMAGE_SAMPLE && op <= ISA_OP_IMAGE_SAMPLE_C_CD_CL_O;
}

static inline bool isa_op_gathers(enum isa_op op)
{
	return op >= ISA_OP_IMAGE_GATHER4 && op <= ISA_OP_IMAGE_GATHER4_C_LZ_O;
}

/* In isa_row::number: no instruction in this generation. */
#define ISA_NO 0xffff

/* A row of opcodes.def. chips: bit (1 << enum vgpu_gfx). */
struct isa_row {
	uint8_t enc;
	uint16_t chips;
	uint16_t number[ISA_COLUMN_COUNT]; /* indexed by generation */
	uint16_t op;
	uint8_t dst, src[3]; /* enum isa_type */
	uint8_t flags;       /* enum isa_row_flag */
	const char *name;    /* the oldest name in this encoding */
};

enum isa_flag {
	ISA_GLC = 1 << 0, /* sc0 of gfx942; returned values of atomics all the same */
	ISA_SLC = 1 << 1, /* nt of gfx942 */
	ISA_LDS = 1 << 2, /* MUBUF, FLAT: the result is written to LDS, at an address from M0 */
	ISA_OFFEN = 1 << 3,
	ISA_IDXEN = 1 << 4,
	ISA_GDS = 1 << 5,
	ISA_TFE = 1 << 6,
	ISA_NV = 1 << 7,
	ISA_SCC_BIT = 1 << 8,  /* gfx90a: system coherence of FLAT and MUBUF; sc1 of gfx942 */
	ISA_SADDR = 1 << 9,    /* GLOBAL, SCRATCH: mem.saddr holds an SGPR (pair) */
	ISA_SOFFSET = 1 << 10, /* SMEM: mem.soffset is added */
	ISA_SOE_IMM = 1 << 11, /* SMEM: mem.offset is added */
	ISA_VADDR = 1 << 12,   /* SCRATCH: mem.vaddr is added */
	ISA_UNRM = 1 << 13,    /* MIMG: coordinates are texels */
	ISA_DA = 1 << 14,      /* MIMG: layers count */
	ISA_UNUSUAL = 1 << 15, /* MIMG: a mode that is not executed: LWE, R128 */
	ISA_DLC = 1 << 16,
	ISA_PAST_L1 = 1 << 17, /* a load that no cache of the compute unit serves */
	ISA_A16 = ISA_OFFEN,   /* MIMG: 16-bit coordinates, or f16 with a sampler; two in a VGPR */
	ISA_D16 = ISA_IDXEN,   /* MIMG: components are f16 or 16-bit integers, two in a VGPR */
};

/* VGPRs that an image instruction names at most: the first, and the bytes of three dwords. */
#define ISA_ADDRESSES 13

/* Memory instructions. Rows index wave->v; codes are scalar operand codes for isa_sread32/64. */
struct isa_mem {
	uint16_t vaddr;  /* row: FLAT/GLOBAL/SCRATCH/MUBUF/DS address (first of two where the mode takes two) */
	uint16_t vdata;  /* row: stored or atomic operand; for MUBUF loads the destination too (== vdst) */
	uint16_t vdata1; /* row: second operand of DS write2, cmpst... */
	uint16_t vdst;   /* row: loaded value or returned pre-op value */
	uint8_t dst_dw, data_dw; /* dwords of vdst (with or without GLC), of vdata (each of DS's two) */
	uint8_t sdst;            /* code, SMEM (and data of scalar stores) */
	uint8_t sbase;           /* code of the first SGPR: SMEM base pair or quad, MUBUF/MTBUF resource quad */
	uint8_t soffset;         /* code: MUBUF always (constants too), SMEM when ISA_SOFFSET */
	uint8_t saddr;           /* code, when ISA_SADDR */
	uint8_t scope, th;       /* GFX12 */
	uint8_t dfmt,
		nfmt; /* MTBUF, from GFX10 on one format in dfmt; MIMG: dfmt is the mask of components, soffset the sampler */
	/* Bytes; signed where the encoding is (GLOBAL, SCRATCH 13 bits, SMEM 21). DS: offset0 unscaled, or the
	 * 16-bit offset of single-address instructions. */
	int32_t offset;
	uint32_t offset1; /* DS with two addresses: offset1, unscaled */
	/* MIMG: VGPRs of the address. Those of dwords above the last one are consecutive if last_is_tuple. */
	uint16_t parts; /* enum isa_image_part */
	uint8_t dim;    /* enum isa_image_dim */
	uint8_t addresses, address[ISA_ADDRESSES];
	bool last_is_tuple;
};

/* Scalar ALU and program control. */
struct isa_salu {
	uint8_t dst;       /* code of the first SGPR written */
	uint8_t src[2];    /* codes; 255: literal */
	uint8_t constants; /* bit per source: value[] has its value */
	uint64_t value[2]; /* constant sources, as 64-bit operands read them */
	int32_t simm;      /* SOPK, SOPP: 16 bits, sign-extended */
	uint32_t literal;
	uint64_t target;           /* branches: address */
	const struct isa_inst *to; /* branches: decoded target, NULL until first taken */
};

/* Source and result modifiers of vector ALU instructions. */
enum isa_sdwa {
	ISA_SEL_BYTE0,
	ISA_SEL_BYTE1,
	ISA_SEL_BYTE2,
	ISA_SEL_BYTE3,
	ISA_SEL_WORD0,
	ISA_SEL_WORD1,
	ISA_SEL_DWORD
};
enum isa_unused { ISA_UNUSED_PAD, ISA_UNUSED_SEXT, ISA_UNUSED_PRESERVE };

/* In isa_valu::dpp_ctrl, no control of the other form. */
#define ISA_DPP8 0x1000

struct isa_lane_op;

/* Kind of a vector instruction's source. */
enum isa_kind { ISA_FROM_NONE, ISA_FROM_ROW, ISA_FROM_CONSTANT, ISA_FROM_SCALAR };

/* Vector ALU. src codes: 0..255 as hardware, 256..511 VGPR, 512..767 AGPR. */
struct isa_valu {
	uint16_t src[3];
	uint16_t row[3]; /* for VGPR and AGPR sources */
	uint16_t vdst;   /* row of the first register written (vector results) */
	uint8_t type[3]; /* enum isa_type of each source; MIX resolved to F16 or F32 */
	uint8_t dst_type;
	uint8_t kind[3];  /* enum isa_kind */
	uint8_t sdst;     /* code of the SGPR pair written: compares, carry out; of the one SGPR of readlane */
	uint8_t scarry;   /* code of the pair read as carry or condition */
	uint8_t neg, abs; /* bit per source; VOP3P: neg is neg_lo, abs is neg_hi */
	uint8_t opsel;    /* VOP3: bits 0..2 sources, 3 destination; VOP3P: op_sel */
	uint8_t opsel_hi; /* VOP3P */
	uint8_t omod;     /* 0 none, 1 *2, 2 *4, 3 /2 */
	bool clamp;
	bool keeps_half; /* the half that a 16-bit result does not write stays; set by binding */
	bool is_sdwa, is_dpp;
	uint8_t sel[2], dst_sel, dst_unused; /* SDWA, enum isa_sdwa and isa_unused */
	uint8_t sext;                        /* SDWA: bit per source */
	uint16_t dpp_ctrl;                   /* or ISA_DPP8 */
	uint32_t dpp8;  /* for each lane of eight, lowest first, 3 bits: the lane that it reads */
	bool dpp_fetch; /* reads lanes that EXEC disables */
	uint8_t row_mask, bank_mask;
	bool bound_ctrl;          /* reads of lanes that do not exist give 0; else such lanes are not written */
	uint8_t cbsz, abid, blgp; /* MFMA */
	uint32_t literal;
	const struct isa_lane_op *lane; /* lane function; immutable */
	const uint32_t *constant[3];    /* constant sources, broadcast to two rows of 64; owned by the program */
};

/* Registers above the granted ones, row 93. */
enum isa_beyond {
	ISA_BEYOND_SOURCE =
		1 << 0, /* a source, or an SGPR result: replaced by the register that hardware accesses */
	ISA_BEYOND_RESULT = 1 << 1, /* the instruction does nothing */
};

struct isa_inst;
struct isa_operand_use;
/* Executes one instruction; returns the next, or NULL to make isa_run return. */
typedef const struct isa_inst *(*isa_fn)(struct isa_wave *w, const struct isa_inst *i);

struct isa_inst {
	isa_fn fn;
	uint64_t pc; /* address of the first dword */
	const struct isa_row *row;
	uint16_t op;    /* enum isa_op */
	uint8_t enc;    /* enum isa_enc; a promoted VOP1/VOP2/VOPC has ISA_VOP3 */
	uint8_t dwords; /* encoded length */
	uint32_t flags; /* enum isa_flag */
	uint8_t beyond; /* enum isa_beyond */
	bool dual;      /* VOPD: isa_decode_second() has the other half, which executes at once */
	bool continues; /* a part of the machine's instruction at pc, not the first: no wave stops before it */
	const struct isa_operand_use
		*use; /* registers that it touches; owned by the program; NULL: code is not checked */
	union {
		struct isa_mem mem;
		struct isa_salu salu;
		struct isa_valu valu;
		const char *refusal; /* reason why it cannot be executed (static text) */
	};
};

/* Coordinates of an image instruction, the layer or sample included, and dwords of its address. */
unsigned isa_image_coordinates(const struct isa_inst *i, unsigned dim);
unsigned isa_image_dwords(const struct isa_inst *i, unsigned dim);

/* Binds functions to semantics; a table ends with ISA_OP_NONE. bind.c indexes all of these tables. */
struct isa_handler {
	uint16_t op;
	isa_fn fn;
};
/* The function bound to a semantic by the tables below, or NULL. */
isa_fn isa_handler_find(enum isa_op op);
extern const struct isa_handler isa_salu_handlers[];
extern const struct isa_handler isa_salu_float_handlers[];
extern const struct isa_handler isa_control_handlers[];
extern const struct isa_handler isa_cross_handlers[];  /* valu/cross.c */
extern const struct isa_handler isa_smem_handlers[];   /* mem_smem.c */
extern const struct isa_handler isa_flat_handlers[];   /* mem_flat.c: FLAT, GLOBAL, SCRATCH */
extern const struct isa_handler isa_mubuf_handlers[];  /* mem_buffer.c: MUBUF, MTBUF */
extern const struct isa_handler isa_mimg_handlers[];   /* mem/image.c */
extern const struct isa_handler isa_sample_handlers[]; /* mem/sample.c */
extern const struct isa_handler isa_ds_handlers[];     /* mem_ds.c */
extern const struct isa_handler isa_gws_handlers[];    /* gws.c */

/* Inputs of decoding. Programs are found by all of its bytes: no padding. */
struct isa_decoder {
	enum vgpu_gfx gfx;
	uint32_t vgprs, sgprs, first_agpr, agprs; /* registers that isa_machine grants */
	uint32_t checked;                         /* isa_machine::checked */
	uint32_t wave32;
	uint32_t shared; /* isa_machine::shared_vgprs */
	uint32_t names;  /* keeps the code of NULL, for disassembly; else it is a constant or lost */
};

/* A decoder that grants everything; AGPRs get rows from 512 on. For disassembly, of wave64 code. */
struct isa_decoder isa_decoder_any(enum vgpu_gfx gfx);
/* Decodes the instruction at code, of which words are readable; fn, lane and constant stay unset. Returns its
 * length in dwords. 0: no instruction of this chip, or cut off, or a tuple of more registers than are granted;
 * *why gets the reason (static text). */
unsigned isa_decode(const struct isa_decoder *dec, const uint32_t *code, unsigned words, uint64_t pc,
		    struct isa_inst *inst, const char **why);
/* Writes an SGPR through the field of a VGPR. */
bool isa_result_is_scalar(enum isa_op op);
/* The second half of a dual instruction that isa_decode() has decoded. */
void isa_decode_second(const struct isa_decoder *dec, const uint32_t *code, unsigned words, uint64_t pc,
		       struct isa_inst *inst);
/* Dwords of an operand type. */
unsigned isa_type_dw(enum isa_type type);

/* The value of a constant source code as an operand of this type reads it (64 bits, or 32 in the low dword). */
uint64_t isa_constant_value(unsigned code, enum isa_type type, uint32_t literal);

#endif

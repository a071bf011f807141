/* An instruction being decoded: shared by decode.c, decode_valu.c and decode_mem.c. Private to decode/. */
#ifndef VGPU_ISA_DECODE_STATE_H
#define VGPU_ISA_DECODE_STATE_H

#include "vgpu/isa/decode/decode.h"

/* Special source codes in the 9-bit (VOP) and 8-bit (SOP) source fields. */
enum {
	CODE_DPP8 = 233,
	CODE_DPP8_FI = 234,
	CODE_SDWA = 249,
	CODE_DPP = 250,
	CODE_LITERAL = 255,
	CODE_VGPR = 256,
	CODE_AGPR = 512
};

struct decode_state {
	const struct isa_decoder *dec;
	const struct isa_generation *gen;
	const uint32_t *code;
	unsigned words; /* readable */
	unsigned used;  /* dwords consumed so far */
	struct isa_inst *inst;
	const char *why; /* set: give up */
};

static inline unsigned bits_of(uint32_t word, unsigned hi, unsigned lo)
{
	return word >> lo & ((2u << (hi - lo)) - 1);
}

static inline int32_t sign_extend(uint32_t value, unsigned width)
{
	return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* A field of the dwords that are consumed; 0 if the generation does not have it. */
static inline uint32_t field_of(const struct decode_state *st, struct isa_field f)
{
	if (!f.width || f.lo / 32 >= st->used)
		return 0;
	return st->code[f.lo / 32] >> f.lo % 32 & ((2u << (f.width - 1)) - 1);
}

uint32_t decode_next_word(struct decode_state *st);
/* The instruction's row; sets why if there is none. */
void decode_row(struct decode_state *st, enum isa_enc enc, unsigned number);

/* Dwords of an operand: a bit per lane takes one SGPR in wave32. */
unsigned decode_type_dw(const struct decode_state *st, enum isa_type type);

/* Rows of register tuples; above the granted registers as decode.h describes. */
uint16_t decode_vgpr(struct decode_state *st, unsigned reg, unsigned dw);
uint16_t decode_agpr(struct decode_state *st, unsigned reg, unsigned dw);
uint16_t decode_data(struct decode_state *st, unsigned reg, unsigned dw, bool agpr, bool result);
/* Codes of SGPR tuples, of results and of sources, as later files know them: those of GFX10. */
uint8_t decode_sgpr(struct decode_state *st, unsigned code, unsigned dw);
uint8_t decode_sgpr_result(struct decode_state *st, unsigned code, unsigned dw);
uint8_t decode_scalar(struct decode_state *st, unsigned code, enum isa_type type);

void decode_vop1(struct decode_state *st, uint32_t w);
void decode_vop2(struct decode_state *st, uint32_t w);
void decode_vopc(struct decode_state *st, uint32_t w);
void decode_vop3(struct decode_state *st, uint32_t w);
void decode_vop3p(struct decode_state *st, uint32_t w);
/* Parts of vector instructions: types of the row, a source by its code, the result. */
void decode_valu_types(struct isa_inst *inst);
void decode_valu_source(struct decode_state *st, unsigned n, unsigned code);
void decode_valu_result(struct decode_state *st, unsigned reg);
void decode_vopd(struct decode_state *st, uint32_t w);
void decode_vopd_second(struct decode_state *st, uint32_t w);
void decode_smem(struct decode_state *st, uint32_t w);
void decode_ds(struct decode_state *st, uint32_t w);
void decode_flat(struct decode_state *st, uint32_t w);
void decode_mubuf(struct decode_state *st, uint32_t w);
void decode_mtbuf(struct decode_state *st, uint32_t w);
void decode_mimg(struct decode_state *st, uint32_t w);
void decode_vsample(struct decode_state *st, uint32_t w);

#endif

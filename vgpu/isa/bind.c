/* Gives decoded instructions their functions and constants. */
#include <pthread.h>
#include <stdio.h>

#include "vgpu/isa/program.h"
#include "vgpu/isa/valu.h"

/* --- constants
 * ---------------------------------------------------------------------------------------------------- */

/* Codes 240 to 248: 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi). */
static const uint16_t inline_f16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t inline_f32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
				      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint64_t inline_f64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
				      0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
				      0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

/* A literal is 32 bits: the high dword of an f64, zero-extended for 64-bit integers, twice for a pair of dwords. */
static uint64_t literal_value(enum isa_type type, uint32_t literal)
{
	switch (type) {
	case ISA_T_F64:
		return (uint64_t)literal << 32;
	case ISA_T_B16:
	case ISA_T_F16:
		return literal & 0xffff;
	default:
		return literal;
	}
}

static uint64_t inline_float(unsigned n, enum isa_type type)
{
	switch (type) {
	case ISA_T_F16:
	case ISA_T_PF16: /* the low half only; op_sel_hi = 0 repeats it */
		return inline_f16[n];
	case ISA_T_F64:
	case ISA_T_B64:
	case ISA_T_M64:
	case ISA_T_W8: /* the addend of v_mfma_f64_16x16x4f64 */
		return inline_f64[n];
	case ISA_T_B16: /* an integer operand reads the f32 pattern, cut off */
		return inline_f32[n] & 0xffff;
	default:
		return inline_f32[n];
	}
}

uint64_t isa_constant_value(unsigned code, enum isa_type type, uint32_t literal)
{
	int64_t integer;

	if (code == 255)
		return literal_value(type, literal);
	if (code >= 240)
		return inline_float(code - 240, type);
	integer = code <= 192 ? (int64_t)code - 128 : 192 - (int64_t)code;
	if (type == ISA_T_B16 || type == ISA_T_F16)
		return (uint64_t)integer & 0xffff;
	return isa_type_dw(type) == 2 || type == ISA_T_W8 ? (uint64_t)integer : (uint32_t)integer;
}

static bool is_constant(unsigned code)
{
	return code == 255 || (code >= 128 && code <= 208) || (code >= 240 && code <= 248);
}

/* Signed 64-bit operands extend the sign of a literal. */
static bool literal_is_signed(enum isa_op op)
{
	return op == ISA_OP_S_ASHR_I64 || op == ISA_OP_S_BFE_I64 || op == ISA_OP_S_FLBIT_I32_I64;
}

static void salu_constants(struct isa_inst *inst)
{
	struct isa_salu *s = &inst->salu;

	for (unsigned n = 0; n < 2; n++) {
		if (!inst->row->src[n] || !is_constant(s->src[n]))
			continue;
		s->constants |= (uint8_t)(1 << n);
		s->value[n] = isa_constant_value(s->src[n], inst->row->src[n], s->literal);
		if (s->src[n] == 255 && inst->row->src[n] == ISA_T_B64 && literal_is_signed(inst->op))
			s->value[n] = (uint64_t)(int64_t)(int32_t)s->literal;
	}
}

/* Two-dword packed operands read an inline constant in the low dword; op_sel picks. */
static bool valu_constants(struct isa_program *program, struct isa_inst *inst)
{
	struct isa_valu *v = &inst->valu;

	for (unsigned n = 0; n < 3; n++) {
		if (v->kind[n] != ISA_FROM_CONSTANT)
			continue;
		v->constant[n] =
			isa_program_constant(program, isa_constant_value(v->src[n], v->type[n], v->literal));
		if (!v->constant[n])
			return false;
	}
	return true;
}

/* --- functions
 * ---------------------------------------------------------------------------------------------------- */

static isa_fn fn_of[ISA_OP_COUNT]; /* written once by index_handlers */
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static void index_table(const struct isa_handler *table)
{
	for (; table->op; table++)
		fn_of[table->op] = table->fn;
}

static void index_handlers(void)
{
	index_table(isa_salu_handlers);
	index_table(isa_control_handlers);
	index_table(isa_valu_handlers);
	index_table(isa_smem_handlers);
	index_table(isa_flat_handlers);
	index_table(isa_mubuf_handlers);
	index_table(isa_mimg_handlers);
	index_table(isa_ds_handlers);
	index_table(isa_gws_handlers);
}

isa_fn isa_handler_find(enum isa_op op)
{
	pthread_once(&indexed, index_handlers);
	return fn_of[op];
}

bool isa_bind(struct isa_program *program, struct isa_inst *inst)
{
	inst->fn = isa_handler_find(inst->op);
	if (inst->enc <= ISA_SOPP) {
		salu_constants(inst);
	} else if (inst->enc <= ISA_VOP3P) {
		if (!valu_constants(program, inst))
			return false;
		if (!inst->fn)
			isa_valu_bind(inst);
	}
	if (!inst->fn)
		inst->fn = isa_refuse(inst, "not implemented");
	return true;
}

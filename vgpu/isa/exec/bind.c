/* Gives decoded instructions their functions and constants. */
#include <pthread.h>
#include <stdio.h>

#include "vgpu/isa/exec/program.h"
#include "vgpu/isa/valu/valu.h"

/* --- constants --- */

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

/* --- functions --- */

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
	index_table(isa_salu_float_handlers);
	index_table(isa_control_handlers);
	index_table(isa_cross_handlers);
	index_table(isa_smem_handlers);
	index_table(isa_flat_handlers);
	index_table(isa_mubuf_handlers);
	index_table(isa_mimg_handlers);
	index_table(isa_sample_handlers);
	index_table(isa_ds_handlers);
	index_table(isa_gws_handlers);
}

isa_fn isa_handler_find(enum isa_op op)
{
	pthread_once(&indexed, index_handlers);
	return fn_of[op];
}

/* Gives a decoded instruction its function and its constants. An unimplemented one gets a function that stops the
 * wave. False without memory. */
static bool bind_inst(struct isa_program *program, struct isa_inst *inst)
{
	inst->fn = isa_handler_find(inst->op);
	if (inst->enc <= ISA_SOPP) {
		salu_constants(inst);
	} else if (inst->enc <= ISA_VOP3P) {
		if (!valu_constants(program, inst))
			return false;
		if (!inst->fn)
			isa_valu_bind(inst, isa_program_generation(program), isa_program_wave32(program));
		else if (inst->valu.is_dpp || inst->valu.is_sdwa) /* cross.c reads plain sources */
			inst->fn = isa_refuse(inst, "DPP and SDWA of this instruction are not executed");
	}
	if (!inst->fn)
		inst->fn = isa_refuse(inst, "not implemented");
	return true;
}

struct isa_cache *isa_cache_create(void)
{
	return isa_program_cache_create(bind_inst);
}

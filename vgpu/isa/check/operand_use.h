/* Registers that an instruction reads and writes, and its effect on the wave's counters, for the checks of machine
 * code (waitcnt_check.h). Made at decode for programs that are checked; private to vgpu/isa/. */
#ifndef VGPU_ISA_CHECK_OPERAND_USE_H
#define VGPU_ISA_CHECK_OPERAND_USE_H

#include "vgpu/isa/wave/wave.h"

/* Registers as one row of numbers: rows of wave->v, then scalar operand codes. */
#define ISA_SCALAR_BASE 1024u

struct isa_range {
	uint16_t first;
	uint8_t count;
	bool written; /* else read */
};

/* Effect of an instruction on the wave's counters and barriers. */
enum isa_event {
	ISA_EVENT_NONE,
	ISA_EVENT_NOP,     /* s_nop */
	ISA_EVENT_WAIT,    /* s_waitcnt */
	ISA_EVENT_BARRIER, /* s_barrier */
	ISA_EVENT_END,
	ISA_EVENT_VMEM, /* MUBUF, MTBUF, GLOBAL, SCRATCH: vmcnt, in order */
	ISA_EVENT_FLAT, /* vmcnt and lgkmcnt, in no order with others */
	ISA_EVENT_SMEM, /* lgkmcnt, in no order */
	ISA_EVENT_DS,   /* lgkmcnt, in order */
};

#define ISA_USE_RANGES 8

struct isa_operand_use {
	/* A bit for each register modulo 64, of vector and of scalar registers. */
	uint64_t vector, scalar;
	uint8_t event;           /* enum isa_event */
	uint8_t produces, minds; /* bits of hazard_check.c: results that need wait states, and the bits that this
				    instruction must wait for */
	uint8_t count;
	/* Reads lanes that EXEC turns off, and writes them perhaps. */
	bool all_lanes;
	/* Writes LDS from memory: complete when vmcnt has counted it. */
	bool to_lds;
	/* DS: what it reads and writes of LDS is one step, though no single atomic. */
	bool atomic;
	struct isa_range loaded; /* destination of a load; count 0: none */
	struct isa_range range[ISA_USE_RANGES];
};

void isa_operand_use_of(const struct isa_inst *inst, struct isa_operand_use *use);
/* Adds the bits of hazard_check.c; inst->use is use. */
void isa_hazard_of(const struct isa_inst *inst, enum vgpu_gfx gfx, struct isa_operand_use *use);

#endif

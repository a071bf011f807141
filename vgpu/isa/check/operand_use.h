/* Registers that an instruction reads and writes, and its effect on the wave's counters (counter.h), for the checks of
 * machine code (waitcnt_check.h). Made at decode for programs that are checked; private to vgpu/isa/. */
#ifndef VGPU_ISA_CHECK_OPERAND_USE_H
#define VGPU_ISA_CHECK_OPERAND_USE_H

#include "vgpu/isa/check/counter.h"
#include "vgpu/isa/wave/wave.h"

/* Registers as one row of numbers: rows of wave->v, then scalar operand codes. */
#define ISA_SCALAR_BASE 1024u

#define ISA_BLOCK 32u

struct isa_range {
	uint16_t first;
	uint8_t count;
	bool written; /* else read */
	uint8_t half; /* enum isa_half */
};

/* The part of a register that a memory instruction moves (waitcnt_check.h). */
enum isa_half { ISA_HALF_BOTH, ISA_HALF_LOW, ISA_HALF_HIGH };

/* Effect of an instruction on the wave's counters and barriers. */
enum isa_event {
	ISA_EVENT_NONE,
	ISA_EVENT_NOP,     /* s_nop of GFX9, whose wait states count */
	ISA_EVENT_WAIT,    /* isa_operand_use::wait */
	ISA_EVENT_COUNT,   /* isa_operand_use::counts */
	ISA_EVENT_BARRIER, /* arrives at a barrier: s_barrier, s_barrier_signal */
	ISA_EVENT_PASS,    /* s_barrier_wait */
	ISA_EVENT_CALL,    /* leaves a function, from GFX10 on */
	ISA_EVENT_END,
};

/* Vector memory writes results of one kind in the order of issue, before GFX12. */
enum isa_path { ISA_PATH_PLAIN, ISA_PATH_SAMPLER };

/* An image instruction of GFX10 has up to 13 address registers. */
#define ISA_USE_RANGES 18

struct isa_operand_use {
	/* A bit for each register modulo 64, of vector and of scalar registers. */
	uint64_t vector, scalar;
	uint8_t event;           /* enum isa_event */
	uint8_t produces, minds; /* bits of hazard_check.c: results that need wait states, and the bits that this
				    instruction must wait for */
	/* Bits of hazard_later.c: traces that the instruction leaves behind, those that it ends, and those that it must
	 * look for. */
	uint16_t leaves, ends, heeds;
	uint8_t count;
	/* Reads lanes that EXEC turns off, and writes them perhaps. */
	bool all_lanes;
	/* Writes LDS from memory: complete when vmcnt has counted it. */
	bool to_lds;
	/* DS: what it reads and writes of LDS is one step, though no single atomic. */
	bool atomic;
	/* The range of ISA_BLOCK registers is the data of a block: M0 has a bit for each that is accessed. */
	bool block;
	uint8_t path; /* enum isa_path */
	union {
		const struct isa_count *counts; /* ISA_EVENT_COUNT */
		const struct isa_wait *wait;    /* ISA_EVENT_WAIT */
	};
	struct isa_range loaded; /* destination of a load; count 0: none */
	struct isa_range range[ISA_USE_RANGES];
};

void isa_operand_use_of(const struct isa_inst *inst, enum vgpu_gfx gfx, bool wave32, struct isa_operand_use *use);
/* Adds the bits of hazard_check.c, and those of hazard_later.c; inst->use is use. */
void isa_hazard_of(const struct isa_inst *inst, enum vgpu_gfx gfx, struct isa_operand_use *use);
void isa_hazard_later_of(const struct isa_inst *inst, enum vgpu_gfx gfx, bool wave32, struct isa_operand_use *use);

#endif

/* Counters of operations under way: which operation counts on which, in which order each completes, and which field
 * of which instruction waits for it. Tables by generation (counter.c); private to vgpu/isa/.
 *
 *   GFX9         vmcnt: vector memory; lgkmcnt: LDS, scalar memory, messages
 *   GFX10, 11    vmcnt: vector memory that returns something; vscnt: the rest; lgkmcnt as before
 *   GFX12        loadcnt, samplecnt, bvhcnt; storecnt; dscnt: LDS; kmcnt: scalar memory, messages
 *
 * FLAT counts on two, because its lanes may be in LDS. GFX9 completes FLAT in no order with other operations; from
 * GFX10 on it is in the order of both counters.
 *
 * Sources: the Vega, RDNA 1 to 4 ISA documents, "data dependency resolution"; LLVM's SIInsertWaitcnts and the widths in
 * its AMDGPUBaseInfo; Mesa's aco_insert_waitcnt.cpp. */
#ifndef VGPU_ISA_CHECK_COUNTER_H
#define VGPU_ISA_CHECK_COUNTER_H

#include "vgpu/isa/decode/decode.h"

/* Counters by GFX12's names; earlier generations have fewer. */
enum isa_counter {
	ISA_COUNTER_LOAD, /* vmcnt */
	ISA_COUNTER_SAMPLE,
	ISA_COUNTER_BVH,
	ISA_COUNTER_STORE, /* vscnt */
	ISA_COUNTER_DS,    /* lgkmcnt */
	ISA_COUNTER_KM,
	ISA_COUNTERS,
};

/* Operations that count. */
enum isa_operation {
	ISA_OPERATION_NONE,
	ISA_OPERATION_LOAD,   /* vector memory that returns something, without a sampler */
	ISA_OPERATION_SAMPLE, /* vector memory with a sampler */
	ISA_OPERATION_STORE,  /* vector memory that returns nothing */
	ISA_OPERATION_FLAT_LOAD,
	ISA_OPERATION_FLAT_STORE,
	ISA_OPERATION_SMEM,
	ISA_OPERATION_DS,
	ISA_OPERATION_MESSAGE, /* a message that has an answer */
	ISA_OPERATIONS,
};

/* The counter of an operation, and its order. */
struct isa_count {
	uint8_t counter; /* enum isa_counter */
	/* Operations of one queue complete in the order of issue, if they are `ordered`: a queue for each counter, and
	 * messages have that of KM on every chip. */
	uint8_t queue;
	bool ordered;
	bool also_ds;     /* FLAT: lanes in LDS count on DS */
	bool writes_late; /* results may be written in another order than the counter's */
	uint8_t max;      /* the next instruction waits at issue */
};

/* A field of an instruction that waits until at most so many operations are under way: two groups of bits. */
struct isa_wait_field {
	uint8_t counter;
	uint8_t lo, width, lo2, width2;
};

struct isa_wait {
	uint16_t op;     /* enum isa_op */
	uint8_t columns; /* 1 << enum isa_column */
	bool all;        /* waits for everything */
	struct isa_wait_field field[2];
};

/* NULL: the operation counts on nothing. Immutable. */
const struct isa_count *isa_count_of(enum vgpu_gfx gfx, enum isa_operation operation);
/* NULL: the instruction waits for nothing. Immutable. */
const struct isa_wait *isa_wait_of(enum vgpu_gfx gfx, enum isa_op op);
/* The number of operations that a field leaves under way. */
uint32_t isa_wait_left(const struct isa_wait_field *field, uint32_t simm);

#endif

/* Access of each memory instruction: a table by semantic. */
#ifndef VGPU_ISA_DECODE_ACCESS_H
#define VGPU_ISA_DECODE_ACCESS_H

#include "vgpu/isa/decode/decode.h"

/* Class of a memory instruction's access. */
enum isa_access_class {
	ISA_ACCESS_NONE,
	ISA_ACCESS_LOAD,     /* dwords */
	ISA_ACCESS_LOAD_SUB, /* a byte or two, extended to a dword */
	ISA_ACCESS_LOAD_D16, /* a byte or two, extended to half a dword; the other half stays */
	ISA_ACCESS_STORE,
	ISA_ACCESS_STORE_SUB,
	ISA_ACCESS_ATOMIC,
};

struct isa_access {
	uint8_t class;  /* enum isa_access_class */
	uint8_t bytes;  /* LOAD_SUB, LOAD_D16, STORE_SUB: 1 or 2; ATOMIC: 4 or 8 */
	uint8_t atomic; /* enum isa_atomic */
	bool extend;    /* sign */
	bool high;      /* the upper half of the register */
};

enum isa_atomic {
	ISA_ATOMIC_SWAP,
	ISA_ATOMIC_CMPSWAP, /* data: new value, then compared value */
	ISA_ATOMIC_ADD,
	ISA_ATOMIC_SUB,
	ISA_ATOMIC_SMIN,
	ISA_ATOMIC_UMIN,
	ISA_ATOMIC_SMAX,
	ISA_ATOMIC_UMAX,
	ISA_ATOMIC_AND,
	ISA_ATOMIC_OR,
	ISA_ATOMIC_XOR,
	ISA_ATOMIC_INC,
	ISA_ATOMIC_DEC,
	/* From here on LDS, or floating point. */
	ISA_ATOMIC_RSUB,
	ISA_ATOMIC_MSKOR,     /* data: mask, then value */
	ISA_ATOMIC_WRAP,      /* data: limit, then addend */
	ISA_ATOMIC_SUB_CLAMP, /* not below 0 */
	ISA_ATOMIC_COND_SUB,  /* not at all if it would be */
	ISA_ATOMIC_CMPSWAP_F, /* data as of CMPSWAP */
	ISA_ATOMIC_ADD_F,
	ISA_ATOMIC_MIN_F,
	ISA_ATOMIC_MAX_F,
	ISA_ATOMIC_PK_ADD_F16,
	ISA_ATOMIC_PK_ADD_BF16,
};

/* Has two operands in memory instructions. */
static inline bool isa_atomic_compares(enum isa_atomic op)
{
	return op == ISA_ATOMIC_CMPSWAP || op == ISA_ATOMIC_CMPSWAP_F;
}

/* Access of op (LOAD, STORE: the instruction has the dwords). Class NONE: op does not access vector memory. */
const struct isa_access *isa_access_of(enum isa_op op);

#endif

/* Atomic operations of the packet processors, numbered as the texture cache does (TC_OP in Mesa sid.h): bit 5
 * selects 64 bits, bit 6 an operation that returns nothing. */
#ifndef VGPU_ENGINE_ATOMIC_H
#define VGPU_ENGINE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

/* Bits 4:0 of an operation. */
enum engine_atomic {
	ATOMIC_SWAP = 7,
	ATOMIC_CMPSWAP = 8,
	ATOMIC_ADD = 15,
	ATOMIC_SUB,
	ATOMIC_SMIN,
	ATOMIC_UMIN,
	ATOMIC_SMAX,
	ATOMIC_UMAX,
	ATOMIC_AND,
	ATOMIC_OR,
	ATOMIC_XOR,
	ATOMIC_INC,
	ATOMIC_DEC,
};

enum { ENGINE_ATOMIC_ADD_32 = 79 }; /* without return */
/* "add_64", NULL if there is no such operation. */
const char *engine_atomic_name(unsigned op);
bool engine_atomic_returns(unsigned op);
bool engine_atomic_is_64(unsigned op);
/* The new value. Operands are zero-extended; the caller drops bits above the width. */
uint64_t engine_atomic_apply(enum engine_atomic base, bool is_64, uint64_t old, uint64_t src, uint64_t cmp);

#endif

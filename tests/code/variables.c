/* A code object with everything that a loader has to distinguish: variables of every kind, undefined symbols, and
 * with second.c another translation unit, whose metadata is a note of its own. C for AMDGPU, without a GPU
 * language. */
#include "tests/code/gpu.h"

GLOBAL u32 counter = 7;
GLOBAL u32 table[64] __attribute__((aligned(256)));
const GLOBAL u32 primes[4] = {2, 3, 5, 7};
__attribute__((weak)) GLOBAL u32 weak_one = 11;
GLOBAL u32 *GLOBAL pointer = &counter;

extern GLOBAL u32 outside[2];                    /* the client defines it, or another code object */
extern __attribute__((weak)) GLOBAL u32 nowhere; /* nobody need define it */

KERNEL read_all(GLOBAL u32 *out)
{
	out[0] = counter;
	out[1] = table[63];
	out[2] = primes[2];
	out[3] = weak_one;
	out[4] = *pointer;
	out[5] = outside[1];
	out[6] = &nowhere ? nowhere : 99;
}

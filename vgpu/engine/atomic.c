#include "vgpu/engine/atomic.h"

enum { ATOMIC_64 = 1 << 5, ATOMIC_NO_RETURN = 1 << 6 };

bool engine_atomic_returns(unsigned op)
{
	return !(op & ATOMIC_NO_RETURN);
}

bool engine_atomic_is_64(unsigned op)
{
	return op & ATOMIC_64;
}

const char *engine_atomic_name(unsigned op)
{
	static const char *const name[32] = {
		[ATOMIC_SWAP] = "swap", [ATOMIC_CMPSWAP] = "cmpswap", [ATOMIC_ADD] = "add",
		[ATOMIC_SUB] = "sub",   [ATOMIC_SMIN] = "smin",       [ATOMIC_UMIN] = "umin",
		[ATOMIC_SMAX] = "smax", [ATOMIC_UMAX] = "umax",       [ATOMIC_AND] = "and",
		[ATOMIC_OR] = "or",     [ATOMIC_XOR] = "xor",         [ATOMIC_INC] = "inc",
		[ATOMIC_DEC] = "dec",
	};

	return name[op & 31];
}

uint64_t engine_atomic_apply(enum engine_atomic base, bool is_64, uint64_t old, uint64_t src, uint64_t cmp)
{
	int64_t sold = is_64 ? (int64_t)old : (int32_t)old;
	int64_t ssrc = is_64 ? (int64_t)src : (int32_t)src;

	switch (base) {
	case ATOMIC_SWAP:
		return src;
	case ATOMIC_CMPSWAP:
		return old == cmp ? src : old;
	case ATOMIC_ADD:
		return old + src;
	case ATOMIC_SUB:
		return old - src;
	case ATOMIC_SMIN:
		return sold < ssrc ? old : src;
	case ATOMIC_UMIN:
		return old < src ? old : src;
	case ATOMIC_SMAX:
		return sold > ssrc ? old : src;
	case ATOMIC_UMAX:
		return old > src ? old : src;
	case ATOMIC_AND:
		return old & src;
	case ATOMIC_OR:
		return old | src;
	case ATOMIC_XOR:
		return old ^ src;
	case ATOMIC_INC:
		return old >= src ? 0 : old + 1;
	case ATOMIC_DEC:
		return old == 0 || old > src ? src : old - 1;
	}
	return old;
}

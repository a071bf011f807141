/* f16 conversions, on bits, so that both builds of the lane functions agree and MXCSR has no effect. */
#ifndef VGPU_ISA_HALF_H
#define VGPU_ISA_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Rounding as in MODE: to nearest even, towards +infinity, towards -infinity, to zero. */
enum half_round { HALF_NEAREST, HALF_UP, HALF_DOWN, HALF_ZERO };

/* Exact. NaNs become quiet. Under DAZ the caller must test the bits before any arithmetic. */
static inline uint32_t half_to_bits32(uint32_t h)
{
	uint32_t sign = (h & 0x8000) << 16, magnitude = h & 0x7fff;
	uint32_t normal = (magnitude << 13) + (112u << 23);
	/* A denormal is its integer mantissa times 2^-24, which the int-to-float conversion normalises. */
	float small = (float)(int32_t)magnitude * 0x1p-24f;
	uint32_t denormal;

	memcpy(&denormal, &small, sizeof(denormal));
	if (magnitude >= 0x7c00)
		normal = magnitude << 13 | 0x7f800000 | (magnitude > 0x7c00 ? 0x400000 : 0);
	return sign | (magnitude < 0x400 ? denormal : normal);
}

static inline float half_to_float(uint32_t h)
{
	uint32_t bits = half_to_bits32(h);
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Rounds mantissa (an integer of `shift` more bits than the result keeps) and handles overflow. sign: 0 or 0x8000.
 */
static inline uint32_t half_finish(uint64_t mantissa, unsigned shift, uint32_t sign, enum half_round round)
{
	uint64_t kept = mantissa >> shift, rest = mantissa & ((1ull << shift) - 1), half = 1ull << (shift - 1);
	bool nearest = rest > half || (rest == half && (kept & 1));
	bool away = round == HALF_NEAREST ? nearest
		    : round == HALF_UP    ? rest && !sign
					  : round == HALF_DOWN && rest && sign;
	bool to_infinity = round == HALF_NEAREST || (round == HALF_UP && !sign) || (round == HALF_DOWN && sign);

	kept += away;
	if (kept >= 0x7c00)
		kept = to_infinity ? 0x7c00 : 0x7bff;
	return sign | (uint32_t)kept;
}

static inline uint32_t half_from_double(double value, enum half_round round)
{
	uint64_t bits, mantissa;
	uint32_t sign, exponent;
	unsigned shift;

	memcpy(&bits, &value, sizeof(bits));
	sign = (uint32_t)(bits >> 48) & 0x8000;
	exponent = (uint32_t)(bits >> 52) & 0x7ff;
	mantissa = bits & 0xfffffffffffffull;
	if (exponent == 0x7ff)
		return sign | 0x7c00 | (mantissa ? 0x200 | (uint32_t)(mantissa >> 42) : 0);
	if (exponent >= 1009) /* 2^-14 and above: normal; the exponent joins the mantissa */
		return half_finish(mantissa | (uint64_t)(exponent - 1008) << 52, 42, sign, round);
	/* Denormal: a multiple of 2^-24. Everything below 2^-34 or so only leaves a rest. */
	mantissa |= exponent ? 1ull << 52 : 0;
	shift = 1051 - exponent;
	if (shift > 60) {
		mantissa = mantissa != 0;
		shift = 60;
	}
	return half_finish(mantissa, shift, sign, round);
}

static inline uint32_t half_from_float(float value, enum half_round round)
{
	uint32_t bits, sign, exponent, mantissa;
	unsigned shift;

	memcpy(&bits, &value, sizeof(bits));
	sign = bits >> 16 & 0x8000;
	exponent = bits >> 23 & 0xff;
	mantissa = bits & 0x7fffff;
	if (exponent == 0xff)
		return sign | 0x7c00 | (mantissa ? 0x200 | mantissa >> 13 : 0);
	if (exponent >= 113)
		return half_finish(mantissa | (exponent - 112) << 23, 13, sign, round);
	mantissa |= exponent ? 0x800000 : 0;
	shift = 126 - exponent;
	if (shift > 31) {
		mantissa = mantissa != 0;
		shift = 31;
	}
	return half_finish(mantissa, shift, sign, round);
}

#endif

/* The 8-bit floats of gfx942, on bits. SH_MEM_CONFIG.F8_MODE of the VMID selects one of two families.
 *
 *   FNUZ   FP8  S EEEE MMM  bias 8   BF8  S EEEEE MM  bias 16   one zero, no infinity, one NaN: 0x80
 *   OCP    FP8  S EEEE MMM  bias 7   no infinity, NaN where all bits but the sign are set
 *          BF8  S EEEEE MM  bias 15  as in IEEE 754 */
#ifndef VGPU_ISA_FP8_H
#define VGPU_ISA_FP8_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct fp8_format {
	uint8_t mantissa;
	uint8_t bias;
	bool unsigned_zero;
	uint8_t largest;  /* magnitude of the largest number */
	uint8_t overflow; /* result of larger values: infinity, or a NaN */
};
#define FP8_E4M3_FNUZ ((struct fp8_format){3, 8, true, 0x7f, 0x80})
#define FP8_E5M2_FNUZ ((struct fp8_format){2, 16, true, 0x7f, 0x80})
#define FP8_E4M3_OCP  ((struct fp8_format){3, 7, false, 0x7e, 0x7f})
#define FP8_E5M2_OCP  ((struct fp8_format){2, 15, false, 0x7b, 0x7c})

/* A result that is not a number of the format: FNUZ has one code for all, the others NaN 0x7f. */
static inline uint32_t fp8_special(uint32_t sign, struct fp8_format f, bool nan)
{
	return f.unsigned_zero ? f.overflow : sign | (nan ? 0x7fu : f.overflow);
}

/* Exact: the bits of an f32. */
static inline uint32_t fp8_to_bits32(uint32_t code, struct fp8_format f)
{
	uint32_t sign = (code & 0x80) << 24, magnitude = code & 0x7f;
	uint32_t exponent = magnitude >> f.mantissa, fraction = magnitude & ((1u << f.mantissa) - 1);

	if (f.unsigned_zero ? (code & 0xff) == 0x80 : magnitude > f.largest)
		return magnitude == 0x7c ? sign | 0x7f800000 : 0x7fc00000;
	if (!magnitude)
		return f.unsigned_zero ? 0 : sign;
	if (!exponent) { /* a denormal: its highest bit becomes the hidden one */
		unsigned up = f.mantissa - (31 - (unsigned)__builtin_clz(fraction));

		fraction = fraction << up & ((1u << f.mantissa) - 1);
		exponent = 1 - up; /* may wrap: the sum below is right again */
	}
	return sign | (exponent + 127 - f.bias) << 23 | fraction << (23 - f.mantissa);
}

/* The code of a magnitude that was rounded, in units of the last bit. */
static inline uint32_t fp8_code(uint32_t sign, uint32_t kept, int exponent, struct fp8_format f, bool saturate)
{
	kept += (uint32_t)(exponent - 1) << f.mantissa;
	if (kept > f.largest)
		return saturate ? sign | f.largest : fp8_special(sign, f, false);
	return kept || !f.unsigned_zero ? sign | kept : 0;
}

/* Rounds to nearest even. What is too large becomes NaN or infinity, or with `saturate` the largest number; an infinity
 * of OCP does not, as Mesa's f2e4m3fn_satfn has it, and a card (later_test.c). */
static inline uint32_t fp8_from_bits32(uint32_t bits, struct fp8_format f, bool saturate)
{
	uint32_t sign = bits >> 24 & 0x80, mantissa = bits & 0x7fffff, kept, rest, half;
	int exponent = (int)(bits >> 23 & 0xff) - 127 + f.bias;
	unsigned shift = 23u - f.mantissa;

	if ((bits & 0x7f800000) == 0x7f800000)
		return saturate && !mantissa && f.unsigned_zero ? sign | f.largest : fp8_special(sign, f, mantissa);
	mantissa |= bits & 0x7f800000 ? 0x800000 : 0;
	if (exponent < 1) {
		shift += (unsigned)(1 - exponent);
		exponent = 1;
	}
	if (shift > 25)
		return f.unsigned_zero ? 0 : sign;
	kept = mantissa >> shift;
	rest = mantissa & ((1u << shift) - 1);
	half = 1u << (shift - 1);
	kept += rest > half || (rest == half && (kept & 1));
	return fp8_code(sign, kept, exponent, f, saturate);
}

/* Adds the upper bits of a seed to those that go, with the carry, and cuts off. A number below the smallest normal one
 * loses first what is below the seed. */
static inline uint32_t fp8_from_bits32_by_seed(uint32_t bits, struct fp8_format f, bool saturate, uint32_t seed)
{
	uint32_t sign = bits >> 24 & 0x80, mantissa = (bits & 0x7fffff) | (bits & 0x7f800000 ? 0x800000 : 0);
	int exponent = (int)(bits >> 23 & 0xff) - 127 + f.bias;
	unsigned shift = 23u - f.mantissa;

	if ((bits & 0x7f800000) == 0x7f800000)
		return fp8_from_bits32(bits, f, saturate);
	if (exponent < 1) {
		mantissa = exponent > -31 ? mantissa >> (1 - exponent) : 0;
		exponent = 1;
	}
	return fp8_code(sign, (mantissa + (seed >> (32 - shift))) >> shift, exponent, f, saturate);
}

#endif

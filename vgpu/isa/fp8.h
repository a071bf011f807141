/* The 8-bit floats of gfx942, on bits. Both have one zero, no infinity, and one NaN, 0x80 ("FNUZ").
 *
 *   FP8  S EEEE MMM  bias 8     BF8  S EEEEE MM  bias 16 */
#ifndef VGPU_ISA_FP8_H
#define VGPU_ISA_FP8_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct fp8_format {
	uint8_t mantissa;
	uint8_t bias;
};
#define FP8_E4M3 ((struct fp8_format){3, 8})
#define FP8_E5M2 ((struct fp8_format){2, 16})
#define FP8_NAN  0x80u

/* Exact: the bits of an f32. */
static inline uint32_t fp8_to_bits32(uint32_t code, struct fp8_format f)
{
	uint32_t sign = (code & 0x80) << 24, magnitude = code & 0x7f;
	uint32_t exponent = magnitude >> f.mantissa, fraction = magnitude & ((1u << f.mantissa) - 1);

	if ((code & 0xff) == FP8_NAN)
		return 0x7fc00000;
	if (!magnitude)
		return 0;
	if (!exponent) { /* a denormal: its highest bit becomes the hidden one */
		unsigned up = f.mantissa - (31 - (unsigned)__builtin_clz(fraction));

		fraction = fraction << up & ((1u << f.mantissa) - 1);
		exponent = 1 - up; /* may wrap: the sum below is right again */
	}
	return sign | (exponent + 127 - f.bias) << 23 | fraction << (23 - f.mantissa);
}

/* To nearest even. What is too large becomes NaN, or with `saturate` the largest number. */
static inline uint32_t fp8_from_bits32(uint32_t bits, struct fp8_format f, bool saturate)
{
	uint32_t sign = bits >> 24 & 0x80, mantissa = bits & 0x7fffff, kept, rest, half;
	int exponent = (int)(bits >> 23 & 0xff) - 127 + f.bias;
	unsigned shift = 23u - f.mantissa;

	if ((bits & 0x7f800000) == 0x7f800000)
		return saturate && !mantissa ? sign | 0x7f : FP8_NAN;
	mantissa |= bits & 0x7f800000 ? 0x800000 : 0;
	if (exponent < 1) {
		shift += (unsigned)(1 - exponent);
		exponent = 1;
	}
	if (shift > 25)
		return 0;
	kept = mantissa >> shift;
	rest = mantissa & ((1u << shift) - 1);
	half = 1u << (shift - 1);
	kept += rest > half || (rest == half && (kept & 1));
	kept += (uint32_t)(exponent - 1) << f.mantissa;
	if (kept > 0x7f)
		return saturate ? sign | 0x7f : FP8_NAN;
	return kept ? sign | kept : 0;
}

#endif

/* f16 arithmetic of one value, for lanes_f16.c and lanes_packed.c. Runs under the exact MXCSR; MODE is applied
 * here.
 *
 * Sums and products of two f16 are exact in f64, so one rounding is left. A fused multiply-add is made exact enough
 * by rounding its f64 sum to odd, which keeps "inexact" visible for the last rounding. */
#ifndef VGPU_ISA_VALU_F16_H
#define VGPU_ISA_VALU_F16_H

#include "vgpu/isa/half.h"
#include "vgpu/isa/valu/lanes.h"

/* Fields of MODE for f16. */
struct f16_mode {
	enum half_round round;
	bool keep_in, keep_out, ieee;
};

static inline struct f16_mode f16_mode(uint32_t mode)
{
	return (struct f16_mode){
		.round = (enum half_round)(mode >> ISA_MODE_ROUND64 & 3),
		.keep_in = keeps_in64(mode),
		.keep_out = keeps_out64(mode),
		.ieee = mode & ISA_MODE_IEEE,
	};
}

static inline uint32_t f16_in(uint32_t a, const struct f16_mode *m)
{
	return m->keep_in ? a & 0xffff : flush16(a & 0xffff);
}

static inline uint32_t f16_out(uint32_t r, const struct f16_mode *m)
{
	return m->keep_out ? r : flush16(r);
}

static inline uint32_t f16_pick(uint32_t a, uint32_t r)
{
	return is_nan16(a) ? a | 0x200 : r;
}

static inline uint32_t f16_round(double r, const struct f16_mode *m)
{
	return f16_out(half_from_double(r, m->round), m);
}

static inline uint32_t f16_add(uint32_t a, uint32_t b, const struct f16_mode *m)
{
	double x, y, r;

	a = f16_in(a, m);
	b = f16_in(b, m);
	x = half_to_float(a);
	y = half_to_float(b);
	r = x + y;
	/* An exact zero sum of opposite numbers is -0 when rounding down. */
	if (r == 0 && m->round == HALF_DOWN && (a ^ b) & 0x8000)
		r = -0.0;
	return f16_pick(a, f16_pick(b, f16_round(r, m)));
}

static inline uint32_t f16_mul(uint32_t a, uint32_t b, const struct f16_mode *m)
{
	a = f16_in(a, m);
	b = f16_in(b, m);
	return f16_pick(a, f16_pick(b, f16_round((double)half_to_float(a) * half_to_float(b), m)));
}

/* x + y with the lowest bit set when the sum is inexact. */
static inline double add_to_odd(double x, double y)
{
	double sum = x + y, part = sum - x, rest = (x - (sum - part)) + (y - part);
	uint64_t bits = f64_bits(sum);

	if (rest == 0 || !__builtin_isfinite(sum) || bits & 1)
		return sum;
	/* The even sum was rounded; the exact one is towards the rest, and its odd neighbour there represents it.
	 */
	return as_f64((rest > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

static inline uint32_t f16_fma(uint32_t a, uint32_t b, uint32_t c, const struct f16_mode *m)
{
	double product, addend, r;
	bool invalid;

	a = f16_in(a, m);
	b = f16_in(b, m);
	c = f16_in(c, m);
	product = (double)half_to_float(a) * half_to_float(b);
	addend = half_to_float(c);
	r = add_to_odd(product, addend);
	if (r == 0 && m->round == HALF_DOWN && (a ^ b ^ c) & 0x8000)
		r = -0.0;
	invalid = (!(a & 0x7fff) && (b & 0x7fff) == 0x7c00) || (!(b & 0x7fff) && (a & 0x7fff) == 0x7c00);
	return f16_pick(a, f16_pick(b, invalid ? NAN16 : f16_pick(c, f16_round(r, m))));
}

static inline int32_t f16_order(uint32_t a)
{
	return a & 0x8000 ? -(int32_t)(a & 0x7fff) - 1 : (int32_t)a;
}

static inline uint32_t f16_minmax(uint32_t a, uint32_t b, const struct f16_mode *m, bool max)
{
	uint32_t number, r;

	a = f16_out(f16_in(a, m), m);
	b = f16_out(f16_in(b, m), m);
	number = (f16_order(a) < f16_order(b)) != max ? a : b;
	r = is_nan16(a) ? b : is_nan16(b) ? a : number;
	if (m->ieee)
		r = is_snan16(a) ? a | 0x200 : is_snan16(b) ? b | 0x200 : r;
	return r;
}

/* GFX12: a NaN operand decides, the first signalling one before all. */
static inline uint32_t f16_extreme(uint32_t a, uint32_t b, const struct f16_mode *m, bool max)
{
	a = f16_out(f16_in(a, m), m);
	b = f16_out(f16_in(b, m), m);
	if (is_snan16(a) || (is_nan16(a) && !is_snan16(b)))
		return a | 0x200;
	return is_nan16(b) ? b | 0x200 : (f16_order(a) < f16_order(b)) != max ? a : b;
}

#endif

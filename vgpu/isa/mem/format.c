/* Conversions between typed buffer elements and registers (format.h). */
#include "vgpu/isa/mem/format.h"

#include <math.h>
#include <string.h>

#include "vgpu/isa/bits.h"

/* Widths of X, Y, Z, W in bits, from the least significant bit on. */
static const uint8_t widths[ISA_DATA_5_9_9_9 + 1][4] = {
	[1] = {8},
	[2] = {16},
	[3] = {8, 8},
	[4] = {32},
	[5] = {16, 16},
	[6] = {11, 11, 10},
	[7] = {10, 11, 11},
	[8] = {2, 10, 10, 10},
	[9] = {10, 10, 10, 2},
	[10] = {8, 8, 8, 8},
	[11] = {32, 32},
	[12] = {16, 16, 16, 16},
	[13] = {32, 32, 32},
	[14] = {32, 32, 32, 32},
	/* Formats of images alone: */
	[16] = {5, 6, 5},
	[17] = {5, 5, 5, 1},
	[18] = {1, 5, 5, 5},
	[19] = {4, 4, 4, 4},
	[ISA_DATA_5_9_9_9] = {9, 9, 9, 5},
};

/* --- one number for data and number format --- */

/* Consecutive formats, from 1 on: a data format, and a bit for each of its number formats. From llvm-mc-19's names. */
struct format_run {
	uint8_t dfmt, nfmts;
};

static const struct format_run runs_10[] = {
	{1, 0x3f}, {2, 0xbf},  {3, 0x3f},  {4, 0xb0},  {5, 0xbf},  {6, 0xbf},  {7, 0xbf}, {8, 0x3f},
	{9, 0x3f}, {10, 0x3f}, {11, 0xb0}, {12, 0xbf}, {13, 0xb0}, {14, 0xb0}, {0, 0},
};
static const struct format_run runs_11[] = {
	{1, 0x3f}, {2, 0xbf},  {3, 0x3f},  {4, 0xb0},  {5, 0xbf},  {6, 0x80},  {7, 0x80}, {8, 0x33},
	{9, 0x3f}, {10, 0x3f}, {11, 0xb0}, {12, 0xbf}, {13, 0xb0}, {14, 0xb0}, {0, 0},
};

void isa_format_split(enum isa_column column, unsigned format, uint8_t *dfmt, uint8_t *nfmt)
{
	const struct format_run *run = column == ISA_COLUMN_10 ? runs_10 : runs_11;
	unsigned at = 1;

	for (; run->dfmt; run++)
		for (unsigned n = 0; n < 8; n++)
			if (run->nfmts >> n & 1 && at++ == format) {
				*dfmt = run->dfmt;
				*nfmt = (uint8_t)n;
				return;
			}
	*dfmt = *nfmt = 0;
}

/* Formats of images alone, by number (PAL's IMG_FMT; Mesa's gfx10-rsrc.json). The last one of a list clamps depths that
 * are written, which nothing here does. */
struct image_format {
	uint8_t number, dfmt, nfmt;
};

static const struct image_format images_10[] = {
	{128, 1, ISA_NUM_SRGB},   {129, 3, ISA_NUM_SRGB},
	{130, 10, ISA_NUM_SRGB},  {132, ISA_DATA_5_9_9_9, ISA_NUM_FLOAT},
	{133, 16, ISA_NUM_UNORM}, {134, 17, ISA_NUM_UNORM},
	{135, 18, ISA_NUM_UNORM}, {136, 19, ISA_NUM_UNORM},
	{140, 4, ISA_NUM_FLOAT},  {0, 0, 0},
};
static const struct image_format images_11[] = {
	{64, 1, ISA_NUM_SRGB},   {65, 3, ISA_NUM_SRGB},
	{66, 10, ISA_NUM_SRGB},  {67, ISA_DATA_5_9_9_9, ISA_NUM_FLOAT},
	{68, 16, ISA_NUM_UNORM}, {69, 17, ISA_NUM_UNORM},
	{70, 18, ISA_NUM_UNORM}, {71, 19, ISA_NUM_UNORM},
	{75, 4, ISA_NUM_FLOAT},  {0, 0, 0},
};

void isa_format_split_image(enum isa_column column, unsigned format, uint8_t *dfmt, uint8_t *nfmt)
{
	const struct image_format *image = column == ISA_COLUMN_10 ? images_10 : images_11;

	isa_format_split(column, format, dfmt, nfmt);
	for (; image->number; image++)
		if (image->number == format) {
			*dfmt = image->dfmt;
			*nfmt = image->nfmt;
		}
}

static const uint8_t *widths_of(unsigned dfmt)
{
	return widths[dfmt < sizeof(widths) / sizeof(widths[0]) ? dfmt : 0];
}

/* The narrowest float has 10 bits: 5 of the exponent, and no sign. */
static bool has_narrow(const uint8_t *w)
{
	for (unsigned n = 0; n < 4; n++)
		if (w[n] && w[n] < 10)
			return true;
	return false;
}

unsigned isa_format_size_B(unsigned dfmt, unsigned nfmt)
{
	const uint8_t *w = widths_of(dfmt);

	if (nfmt == ISA_NUM_FLOAT && has_narrow(w) && dfmt != ISA_DATA_5_9_9_9)
		return 0;
	return (unsigned)(w[0] + w[1] + w[2] + w[3]) / 8;
}

static uint32_t take_bits(const uint8_t *element, unsigned at, unsigned width)
{
	uint64_t word = 0;

	memcpy(&word, element + at / 8, (at % 8 + width + 7) / 8);
	return (uint32_t)(word >> at % 8 & (((uint64_t)1 << width) - 1));
}

static void put_bits(uint8_t *element, unsigned at, unsigned width, uint32_t value)
{
	uint64_t mask = (((uint64_t)1 << width) - 1) << at % 8, word = 0;
	unsigned size_B = (at % 8 + width + 7) / 8;

	memcpy(&word, element + at / 8, size_B);
	word = (word & ~mask) | ((uint64_t)value << at % 8 & mask);
	memcpy(element + at / 8, &word, size_B);
}

/* --- small floats: f16 with sign, f11 and f10 without --- */

static float small_to_float(uint32_t bits, unsigned mantissa, bool is_signed)
{
	uint32_t exponent = bits >> mantissa & 31, fraction = bits & ((1u << mantissa) - 1);
	bool negative = is_signed && bits >> (mantissa + 5) & 1;
	float value;

	if (exponent == 31)
		value = fraction ? NAN : INFINITY;
	else if (exponent)
		value = ldexpf((float)(fraction | 1u << mantissa), (int)exponent - 15 - (int)mantissa);
	else
		value = ldexpf((float)fraction, -14 - (int)mantissa);
	return negative ? -value : value;
}

/* Nearest even; what is too large becomes infinity, what is negative without a sign bit 0. */
static uint32_t float_to_small(float value, unsigned mantissa, bool is_signed)
{
	uint32_t sign = signbit(value) ? 1u << (mantissa + 5) : 0;
	int exponent;
	double scaled;

	if (isnan(value))
		return 31u << mantissa | 1u << (mantissa - 1);
	if (sign && !is_signed)
		return 0;
	if (value == 0)
		return sign;
	frexpf(value, &exponent);
	exponent = exponent < -13 ? -13 : exponent; /* denormals share the smallest exponent */
	if (isinf(value) || exponent > 16)
		return sign | 31u << mantissa;
	scaled = nearbyint(ldexp(fabs((double)value), (int)mantissa + 1 - exponent));
	/* Adding the fraction with its leading 1 carries into the exponent, also by rounding up to infinity. */
	return sign | (((uint32_t)(exponent + 13) << mantissa) + (uint32_t)scaled);
}

static float component_float(uint32_t bits, unsigned width)
{
	if (width == 32)
		return as_f32(bits);
	return width == 16 ? small_to_float(bits, 10, true) : small_to_float(bits, width - 5, false);
}

static uint32_t float_component(float value, unsigned width)
{
	if (width == 32)
		return f32_bits(value);
	return width == 16 ? float_to_small(value, 10, true) : float_to_small(value, width - 5, false);
}

/* --- loads --- */

static int32_t sign_extend(uint32_t bits, unsigned width)
{
	return width == 32 ? (int32_t)bits : (int32_t)(bits << (32 - width)) >> (32 - width);
}

/* Fractions count steps of 2^-9 of the exponent's power of two, whose bias is 15. */
static void load_shared_exponent(const uint8_t *element, uint32_t xyzw[4])
{
	int exponent = (int)take_bits(element, 27, 5) - 15 - 9;

	for (unsigned n = 0; n < 3; n++)
		xyzw[n] = f32_bits(ldexpf((float)take_bits(element, 9 * n, 9), exponent));
	xyzw[3] = isa_format_one(ISA_NUM_FLOAT, false);
}

static double largest_of(unsigned width)
{
	return (double)(((uint64_t)1 << width) - 1);
}

static bool is_integer(unsigned nfmt)
{
	return nfmt == ISA_NUM_UINT || nfmt == ISA_NUM_SINT;
}

static float to_float(unsigned nfmt, uint32_t bits, unsigned width)
{
	double value;

	switch (nfmt) {
	case ISA_NUM_UNORM:
		return (float)((double)bits / largest_of(width));
	case ISA_NUM_SNORM: /* the two lowest codes are both -1 */
		value = (double)sign_extend(bits, width) / largest_of(width - 1);
		return (float)(value < -1 ? -1 : value);
	case ISA_NUM_SNORM_OGL:
		return (float)((2.0 * sign_extend(bits, width) + 1) / largest_of(width));
	case ISA_NUM_USCALED:
		return (float)bits;
	case ISA_NUM_SSCALED:
		return (float)sign_extend(bits, width);
	default:
		return component_float(bits, width);
	}
}

static uint32_t to_register(unsigned nfmt, uint32_t bits, unsigned width, bool d16)
{
	float value;

	if (nfmt == ISA_NUM_UINT)
		return d16 ? bits & 0xffff : bits;
	if (nfmt == ISA_NUM_SINT)
		return (uint32_t)sign_extend(bits, width) & (d16 ? 0xffff : 0xffffffff);
	if (nfmt == ISA_NUM_FLOAT && width == 32 && !d16) /* bits, NaN payloads included */
		return bits;
	value = to_float(nfmt, bits, width);
	return d16 ? float_to_small(value, 10, true) : f32_bits(value);
}

uint32_t isa_format_one(unsigned nfmt, bool d16)
{
	if (is_integer(nfmt))
		return 1;
	return d16 ? 0x3c00 : 0x3f800000;
}

void isa_format_select_back(unsigned select, const uint32_t rgba[4], uint32_t xyzw[4])
{
	memset(xyzw, 0, 4 * sizeof(*xyzw));
	for (unsigned n = 4; n--;) {
		unsigned sel = select >> 3 * n & 7;

		if (sel >= 4)
			xyzw[sel - 4] = rgba[n];
	}
}

void isa_format_load(unsigned dfmt, unsigned nfmt, const uint8_t *element, bool d16, uint32_t xyzw[4])
{
	const uint8_t *w = widths_of(dfmt);
	unsigned at = 0;

	if (dfmt == ISA_DATA_5_9_9_9) {
		load_shared_exponent(element, xyzw);
		return;
	}
	for (unsigned n = 0; n < 4; n++) {
		if (w[n])
			xyzw[n] = to_register(nfmt, take_bits(element, at, w[n]), w[n], d16);
		else
			xyzw[n] = n == 3 ? isa_format_one(nfmt, d16) : 0;
		at += w[n];
	}
}

/* --- stores --- */

static double clamp_to(double value, double lo, double hi)
{
	return value < lo ? lo : value > hi ? hi : value == value ? value : 0;
}

static uint32_t from_float(unsigned nfmt, float value, unsigned width)
{
	double top = largest_of(width), half = largest_of(width - 1);

	switch (nfmt) {
	case ISA_NUM_UNORM:
		return (uint32_t)nearbyint(clamp_to((double)value, 0, 1) * top);
	case ISA_NUM_SNORM:
		return (uint32_t)(int32_t)nearbyint(clamp_to((double)value, -1, 1) * half);
	case ISA_NUM_SNORM_OGL:
		return (uint32_t)(int32_t)nearbyint((clamp_to((double)value, -1, 1) * top - 1) / 2);
	case ISA_NUM_USCALED:
		return (uint32_t)clamp_to((double)value, 0, top);
	case ISA_NUM_SSCALED:
		return (uint32_t)(int32_t)clamp_to((double)value, -half - 1, half);
	default:
		return float_component(value, width);
	}
}

static uint32_t clamp_integer(unsigned nfmt, uint32_t value, unsigned width)
{
	int64_t lo, hi;

	if (width == 32)
		return value;
	if (nfmt == ISA_NUM_UINT)
		return value > largest_of(width) ? (uint32_t)largest_of(width) : value;
	hi = (int64_t)largest_of(width - 1);
	lo = -hi - 1;
	return (int32_t)value < lo ? (uint32_t)lo : (int32_t)value > hi ? (uint32_t)hi : value;
}

static uint32_t from_register(unsigned nfmt, uint32_t value, unsigned width, bool d16)
{
	if (is_integer(nfmt)) {
		if (d16)
			value = nfmt == ISA_NUM_SINT ? (uint32_t)(int16_t)value : value & 0xffff;
		return clamp_integer(nfmt, value, width);
	}
	if (nfmt == ISA_NUM_FLOAT && width == (d16 ? 16 : 32))
		return value;
	return from_float(nfmt, d16 ? small_to_float(value & 0xffff, 10, true) : as_f32(value), width);
}

void isa_format_store(unsigned dfmt, unsigned nfmt, const uint32_t xyzw[4], bool d16, uint8_t *element)
{
	const uint8_t *w = widths_of(dfmt);
	unsigned at = 0;

	for (unsigned n = 0; n < 4 && w[n]; n++) {
		put_bits(element, at, w[n], from_register(nfmt, xyzw[n], w[n], d16));
		at += w[n];
	}
}

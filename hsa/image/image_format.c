/* Formats of images: the supported ones, and the packing of their elements. As in ROCr 6.4
 * (image_lut_kv.cpp; the codes of resource_nv.h and resource_gfx11.h); Mesa's ac_formats and PAL's IMG_FMT and
 * BUF_FMT have the same numbers. */
#include <math.h>
#include <string.h>

#include "hsa/image/image.h"

#define TYPES  (HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT + 1)
#define ORDERS (HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH_STENCIL + 1)

#define RO   HSA_EXT_IMAGE_CAPABILITY_READ_ONLY
#define ROWO (RO | HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY)
#define RW   (ROWO | HSA_EXT_IMAGE_CAPABILITY_READ_WRITE)

/* --- channel orders: number and selection of channels -------------------------------------------- */

enum { S0 = 0, S1 = 1, SX = 4, SY, SZ, SW };

#define NORMS                                                                                                      \
	(1u << HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 |               \
	 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16)
#define FLOATS (1u << HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT)
#define INTS                                                                                                       \
	(1u << HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16 |            \
	 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8 |          \
	 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32)
#define BYTES                                                                                                      \
	(1u << HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 |               \
	 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8)
#define PACKED                                                                                                     \
	(1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565 |     \
	 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010)
#define DEPTHS (1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16 | 1u << HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT)

/* Channel orders that are missing have no format. */
static const struct order {
	uint32_t types; /* a bit for each supported channel type */
	uint8_t channels, capability, select[4];
} orders[ORDERS] = {
	[HSA_EXT_IMAGE_CHANNEL_ORDER_A] = {NORMS | FLOATS | INTS, 1, RW, {S0, S0, S0, SX}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_R] = {NORMS | FLOATS | INTS, 1, RW, {SX, S0, S0, S1}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_RG] = {NORMS | FLOATS | INTS, 2, RW, {SX, SY, S0, S1}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_RA] = {NORMS | FLOATS | INTS, 2, RW, {SX, S0, S0, SY}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_RGB] = {PACKED, 3, RW, {SZ, SY, SX, S1}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA] = {NORMS | FLOATS | INTS, 4, RW, {SX, SY, SZ, SW}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA] = {BYTES, 4, RW, {SZ, SY, SX, SW}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB] = {BYTES, 4, RW, {SY, SZ, SW, SX}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA] = {1u << HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8,
					       4,
					       RO,
					       {SX, SY, SZ, SW}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY] = {NORMS | FLOATS, 1, RW, {SX, SX, SX, SX}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE] = {NORMS | FLOATS, 1, RW, {SX, SX, SX, S1}},
	[HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH] = {DEPTHS, 1, ROWO, {SX, S0, S0, S0}},
};

/* --- channel types -------------------------------------------------------------------------------- */

static const struct type {
	uint8_t bits[4];                /* bits of each channel */
	uint8_t num, code[4][RT_CODES]; /* the code by the number of channels; 0: none */
} type_rows[TYPES] = {
#define CODES(gfx9, gfx10, gfx11) {gfx9, gfx10, gfx11}
#define PLAIN(b, number, one, two, four)                                                                           \
	{                                                                                                          \
		{b, b, b, b}, number,                                                                              \
		{                                                                                                  \
			one, two, {0}, four                                                                        \
		}                                                                                                  \
	}
	[HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8] =
		PLAIN(8, RT_NUM_SNORM, CODES(1, 2, 2), CODES(3, 15, 15), CODES(10, 57, 43)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16] =
		PLAIN(16, RT_NUM_SNORM, CODES(2, 8, 8), CODES(5, 24, 24), CODES(12, 66, 52)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8] =
		PLAIN(8, RT_NUM_UNORM, CODES(1, 1, 1), CODES(3, 14, 14), CODES(10, 56, 42)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16] =
		PLAIN(16, RT_NUM_UNORM, CODES(2, 7, 7), CODES(5, 23, 23), CODES(12, 65, 51)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8] =
		PLAIN(8, RT_NUM_SINT, CODES(1, 6, 6), CODES(3, 19, 19), CODES(10, 61, 47)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16] =
		PLAIN(16, RT_NUM_SINT, CODES(2, 12, 12), CODES(5, 28, 28), CODES(12, 70, 56)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32] =
		PLAIN(32, RT_NUM_SINT, CODES(4, 21, 21), CODES(11, 63, 49), CODES(14, 76, 62)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8] =
		PLAIN(8, RT_NUM_UINT, CODES(1, 5, 5), CODES(3, 18, 18), CODES(10, 60, 46)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16] =
		PLAIN(16, RT_NUM_UINT, CODES(2, 11, 11), CODES(5, 27, 27), CODES(12, 69, 55)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32] =
		PLAIN(32, RT_NUM_UINT, CODES(4, 20, 20), CODES(11, 62, 48), CODES(14, 75, 61)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT] =
		PLAIN(16, RT_NUM_FLOAT, CODES(2, 13, 13), CODES(5, 29, 29), CODES(12, 71, 57)),
	[HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT] =
		PLAIN(32, RT_NUM_FLOAT, CODES(4, 22, 22), CODES(11, 64, 50), CODES(14, 77, 63)),
	/* Blue is in the lowest bits; the unused bits above are ignored. */
	[HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555] = {{5, 5, 5, 1}, RT_NUM_UNORM, {[2] = CODES(17, 134, 69)}},
	[HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565] = {{5, 6, 5, 0}, RT_NUM_UNORM, {[2] = CODES(16, 133, 68)}},
	[HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010] = {{10, 10, 10, 2}, RT_NUM_UNORM, {[2] = CODES(9, 50, 36)}},
};
/* The only sRGB format: UNORM_INT8 in the order SRGBA. */
static const uint8_t srgb_code[RT_CODES] = CODES(10, 130, 66);

/* Sizes of elements: the last code of each size, in the order of codes. */
static const struct code_size {
	uint8_t last, bytes;
} code_sizes[RT_CODES][16] = {
	[RT_CODES_GFX9] = {{0, 0}, {1, 1}, {3, 2}, {10, 4}, {12, 8}, {13, 12}, {14, 16}, {15, 0}, {17, 2}},
	[RT_CODES_GFX10] = {{0, 0},
			    {6, 1},
			    {19, 2},
			    {61, 4},
			    {71, 8},
			    {74, 12},
			    {77, 16},
			    {127, 0},
			    {128, 1},
			    {129, 2},
			    {130, 4},
			    {131, 0},
			    {132, 4},
			    {136, 2}},
	[RT_CODES_GFX11] =
		{{0, 0}, {6, 1}, {19, 2}, {47, 4}, {57, 8}, {60, 12}, {63, 16}, {64, 1}, {65, 2}, {67, 4}, {71, 2}},
};

unsigned rt_format_code_B(enum rt_codes codes, unsigned code)
{
	const struct code_size *sizes = code_sizes[codes];

	for (unsigned i = 0; !i || sizes[i].last; i++)
		if (code <= sizes[i].last)
			return sizes[i].bytes;
	return 0;
}

static bool geometry_has(hsa_ext_image_geometry_t geometry, const hsa_ext_image_format_t *format)
{
	bool depth = format->channel_order == HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH;

	switch (geometry) {
	case HSA_EXT_IMAGE_GEOMETRY_1DB: /* buffers support neither sRGB nor elements of 5 bits */
		return format->channel_order != HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA &&
		       format->channel_type != HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555 &&
		       format->channel_type != HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565;
	case HSA_EXT_IMAGE_GEOMETRY_2DDEPTH:
	case HSA_EXT_IMAGE_GEOMETRY_2DADEPTH:
		return depth;
	default:
		return true;
	}
}

struct rt_format rt_format_of(const hsa_ext_image_format_t *format, hsa_ext_image_geometry_t geometry)
{
	struct rt_format f = {0};
	const struct order *order;
	const struct type *type;
	unsigned bits = 0;

	if (format->channel_order >= ORDERS || format->channel_type >= TYPES || !geometry_has(geometry, format))
		return f;
	order = &orders[format->channel_order];
	type = &type_rows[format->channel_type];
	if (!(order->types >> format->channel_type & 1))
		return f;
	f.capability = order->capability;
	f.channels = order->channels;
	memcpy(f.code, type->code[order->channels - 1], sizeof(f.code));
	f.num = type->num;
	if (format->channel_order == HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA) {
		memcpy(f.code, srgb_code, sizeof(f.code));
		f.num = RT_NUM_SRGB;
	}
	memcpy(f.channel_bits, type->bits, sizeof(f.channel_bits));
	memcpy(f.select, order->select, sizeof(f.select));
	for (unsigned i = 0; i < order->channels; i++)
		bits += f.channel_bits[i];
	/* 15 bits take 16, 30 take 32. */
	f.element_B = (uint8_t)((bits + 7) / 8 == 3 ? 4 : (bits + 7) / 8);
	return f;
}

/* --- packing ----------------------------------------------------------------------------------- */

static float clamp_float(float x, float least, float most)
{
	return x > least ? (x < most ? x : most) : least; /* NaN becomes the least */
}

static float to_srgb(float x)
{
	x = clamp_float(x, 0, 1);
	return x < 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

static float from_srgb(float x)
{
	return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
}

uint8_t rt_srgb_byte(uint8_t byte, bool there)
{
	float x = (float)byte / 255;

	return (uint8_t)lrintf((there ? to_srgb(x) : from_srgb(x)) * 255);
}

static uint32_t pack_float(float x, unsigned bits)
{
	uint32_t word;
	_Float16 half;
	uint16_t low;

	if (bits == 32) {
		memcpy(&word, &x, sizeof(word));
		return word;
	}
	half = (_Float16)x;
	memcpy(&low, &half, sizeof(low));
	return low;
}

/* Packs one channel of the client's color. Integers out of range are clamped. */
static uint32_t pack_channel(unsigned num, unsigned bits, bool alpha, const void *from)
{
	const uint32_t all = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
	int64_t integer, most = all >> 1;
	uint32_t word;
	float x;

	memcpy(&x, from, sizeof(x));
	memcpy(&word, from, sizeof(word));
	switch (num) {
	case RT_NUM_SRGB:
		x = alpha ? x : to_srgb(x);
		return (uint32_t)lrintf(clamp_float(x, 0, 1) * (float)all);
	case RT_NUM_UNORM:
		return (uint32_t)lrintf(clamp_float(x, 0, 1) * (float)all);
	case RT_NUM_SNORM:
		return (uint32_t)lrintf(clamp_float(x, -1, 1) * (float)most) & all;
	case RT_NUM_FLOAT:
		return pack_float(x, bits);
	case RT_NUM_UINT:
		return word < all ? word : all;
	default:
		integer = (int32_t)word;
		integer = integer > most ? most : integer < -most - 1 ? -most - 1 : integer;
		return (uint32_t)integer & all;
	}
}

void rt_format_pack(const struct rt_format *f, const void *rgba, uint8_t element[16])
{
	unsigned at_bit = 0;

	memset(element, 0, 16);
	for (unsigned channel = 0; channel < f->channels; at_bit += f->channel_bits[channel++]) {
		unsigned color = 0;
		uint64_t value;

		while (color < 3 && f->select[color] != SX + channel)
			color++;
		value = pack_channel(f->num, f->channel_bits[channel], color == 3, (const char *)rgba + 4 * color);
		/* A channel is in at most three bytes; only those of 32 bits are in four. */
		value <<= at_bit % 8;
		for (unsigned i = 0; i < 5 && value; i++, value >>= 8)
			element[at_bit / 8 + i] |= (uint8_t)value;
	}
}

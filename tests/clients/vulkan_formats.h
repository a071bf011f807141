/* For vulkan_image.c: formats, as the host reads and writes their texels. */
#ifndef TESTS_CLIENTS_VULKAN_FORMATS_H
#define TESTS_CLIENTS_VULKAN_FORMATS_H

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <vulkan/vulkan.h>

struct format {
	VkFormat format;
	const char *name;
	unsigned size_B;
	unsigned channels;
	bool stores; /* the host knows how to check a store */
	float step;  /* what rounding may be off */
	void (*encode)(const float rgba[4], void *texel);
	void (*decode)(const void *texel, float rgba[4]);
};

static unsigned unorm(float x, unsigned bits)
{
	float top = (float)((1u << bits) - 1);

	return (unsigned)lrintf((x < 0 ? 0 : x > 1 ? 1 : x) * top);
}

static float of_unorm(unsigned x, unsigned bits)
{
	return (float)(x & ((1u << bits) - 1)) / (float)((1u << bits) - 1);
}

static void encode_rgba8(const float c[4], void *texel)
{
	for (unsigned n = 0; n < 4; n++)
		((unsigned char *)texel)[n] = (unsigned char)unorm(c[n], 8);
}

static void decode_rgba8(const void *texel, float c[4])
{
	for (unsigned n = 0; n < 4; n++)
		c[n] = of_unorm(((const unsigned char *)texel)[n], 8);
}

static void encode_bgra8(const float c[4], void *texel)
{
	const float swapped[4] = {c[2], c[1], c[0], c[3]};

	encode_rgba8(swapped, texel);
}

static void decode_bgra8(const void *texel, float c[4])
{
	float swapped[4];

	decode_rgba8(texel, swapped);
	c[0] = swapped[2];
	c[1] = swapped[1];
	c[2] = swapped[0];
	c[3] = swapped[3];
}

static void decode_srgb8(const void *texel, float c[4])
{
	decode_rgba8(texel, c);
	for (unsigned n = 0; n < 3; n++)
		c[n] = c[n] <= 0.04045f ? c[n] / 12.92f : powf((c[n] + 0.055f) / 1.055f, 2.4f);
}

static void encode_r8(const float c[4], void *texel)
{
	*(unsigned char *)texel = (unsigned char)unorm(c[0], 8);
}

static void decode_r8(const void *texel, float c[4])
{
	c[0] = of_unorm(*(const unsigned char *)texel, 8);
	c[1] = c[2] = 0;
	c[3] = 1;
}

static void encode_rg8s(const float c[4], void *texel)
{
	for (unsigned n = 0; n < 2; n++)
		((signed char *)texel)[n] = (signed char)lrintf(c[n] * 127);
}

static void decode_rg8s(const void *texel, float c[4])
{
	for (unsigned n = 0; n < 2; n++)
		c[n] = (float)((const signed char *)texel)[n] / 127;
	c[2] = 0;
	c[3] = 1;
}

static void encode_1010102(const float c[4], void *texel)
{
	unsigned word = unorm(c[0], 10) | unorm(c[1], 10) << 10 | unorm(c[2], 10) << 20 | unorm(c[3], 2) << 30;

	memcpy(texel, &word, 4);
}

static void decode_1010102(const void *texel, float c[4])
{
	unsigned word;

	memcpy(&word, texel, 4);
	for (unsigned n = 0; n < 3; n++)
		c[n] = of_unorm(word >> 10 * n, 10);
	c[3] = of_unorm(word >> 30, 2);
}

static void encode_565(const float c[4], void *texel)
{
	unsigned short word = (unsigned short)(unorm(c[0], 5) << 11 | unorm(c[1], 6) << 5 | unorm(c[2], 5));

	memcpy(texel, &word, 2);
}

static void decode_565(const void *texel, float c[4])
{
	unsigned short word;

	memcpy(&word, texel, 2);
	c[0] = of_unorm(word >> 11, 5);
	c[1] = of_unorm(word >> 5, 6);
	c[2] = of_unorm(word, 5);
	c[3] = 1;
}

static void encode_float(const float c[4], void *texel)
{
	memcpy(texel, c, 4);
}

static void decode_float(const void *texel, float c[4])
{
	memcpy(c, texel, 4);
	c[1] = c[2] = 0;
	c[3] = 1;
}

static void encode_float4(const float c[4], void *texel)
{
	memcpy(texel, c, 16);
}

static void decode_float4(const void *texel, float c[4])
{
	memcpy(c, texel, 16);
}

/* Values from 0 to 1 in steps of 1/2048 at least. */
static unsigned short half_of(float x)
{
	int exponent;
	float fraction = frexpf(x, &exponent);

	return x < 0x1p-14f ? 0 : (unsigned short)((exponent + 14) << 10 | ((unsigned)(fraction * 2048) & 1023));
}

static void encode_half2(const float c[4], void *texel)
{
	for (unsigned n = 0; n < 2; n++)
		((unsigned short *)texel)[n] = half_of(c[n]);
}

static void decode_half2(const void *texel, float c[4])
{
	for (unsigned n = 0; n < 2; n++) {
		unsigned h = ((const unsigned short *)texel)[n];

		c[n] = h ? ldexpf((float)(1024 | (h & 1023)), (int)(h >> 10) - 25) : 0;
	}
	c[2] = 0;
	c[3] = 1;
}

static void decode_e5b9g9r9(const void *texel, float c[4])
{
	unsigned word;

	memcpy(&word, texel, 4);
	for (unsigned n = 0; n < 3; n++)
		c[n] = ldexpf((float)(word >> 9 * n & 511), (int)(word >> 27) - 24);
	c[3] = 1;
}

/* The shared exponent 16: steps of 1/256. */
static void encode_e5b9g9r9(const float c[4], void *texel)
{
	unsigned word = 16u << 27;

	for (unsigned n = 0; n < 3; n++)
		word |= (unsigned)(c[n] * 256) << 9 * n;
	memcpy(texel, &word, 4);
}

static const struct format formats[] = {
	{VK_FORMAT_R8G8B8A8_UNORM, "rgba8", 4, 4, true, 1.0f / 255, encode_rgba8, decode_rgba8},
	{VK_FORMAT_B8G8R8A8_UNORM, "bgra8", 4, 4, true, 1.0f / 255, encode_bgra8, decode_bgra8},
	{VK_FORMAT_R8G8B8A8_SRGB, "srgb8", 4, 4, false, 0, encode_rgba8, decode_srgb8},
	{VK_FORMAT_R8_UNORM, "r8", 1, 1, true, 1.0f / 255, encode_r8, decode_r8},
	{VK_FORMAT_R8G8_SNORM, "rg8s", 2, 2, true, 1.0f / 127, encode_rg8s, decode_rg8s},
	{VK_FORMAT_A2B10G10R10_UNORM_PACK32, "a2b10g10r10", 4, 4, true, 1.0f / 3, encode_1010102, decode_1010102},
	{VK_FORMAT_R5G6B5_UNORM_PACK16, "r5g6b5", 2, 3, false, 0, encode_565, decode_565},
	{VK_FORMAT_R16G16_SFLOAT, "rg16f", 4, 2, true, 1.0f / 1024, encode_half2, decode_half2},
	{VK_FORMAT_R32_SFLOAT, "r32f", 4, 1, true, 0, encode_float, decode_float},
	{VK_FORMAT_R32G32B32A32_SFLOAT, "rgba32f", 16, 4, true, 0, encode_float4, decode_float4},
	{VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, "e5b9g9r9", 4, 3, false, 0, encode_e5b9g9r9, decode_e5b9g9r9},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

#endif

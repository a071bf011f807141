/* Element formats: the three ways in which HIP names them, and HSA's. */
#include "api/image/image.h"

/* bits 0: the format does not exist. */
static const struct {
	uint8_t bits, kind, plain, fraction;
} texel_formats[] = {
#define FORMAT(bits, kind, plain, fraction)                                                                        \
	{bits, hipChannelFormatKind##kind, HSA_EXT_IMAGE_CHANNEL_TYPE_##plain,                                     \
	 HSA_EXT_IMAGE_CHANNEL_TYPE_##fraction}
	[HIP_AD_FORMAT_UNSIGNED_INT8] = FORMAT(8, Unsigned, UNSIGNED_INT8, UNORM_INT8),
	[HIP_AD_FORMAT_UNSIGNED_INT16] = FORMAT(16, Unsigned, UNSIGNED_INT16, UNORM_INT16),
	[HIP_AD_FORMAT_SIGNED_INT8] = FORMAT(8, Signed, SIGNED_INT8, SNORM_INT8),
	[HIP_AD_FORMAT_SIGNED_INT16] = FORMAT(16, Signed, SIGNED_INT16, SNORM_INT16),
	/* 32-bit elements have no normalized form: the read mode has no effect. */
	[HIP_AD_FORMAT_UNSIGNED_INT32] = FORMAT(32, Unsigned, UNSIGNED_INT32, UNSIGNED_INT32),
	[HIP_AD_FORMAT_SIGNED_INT32] = FORMAT(32, Signed, SIGNED_INT32, SIGNED_INT32),
	[HIP_AD_FORMAT_HALF] = FORMAT(16, Float, HALF_FLOAT, HALF_FLOAT),
	[HIP_AD_FORMAT_FLOAT] = FORMAT(32, Float, FLOAT, FLOAT),
#undef FORMAT
};
#define FORMATS (sizeof(texel_formats) / sizeof(texel_formats[0]))

bool hip_texels_are(const struct hip_texels *t)
{
	return (unsigned)t->format < FORMATS && texel_formats[t->format].bits &&
	       (t->channels == 1 || t->channels == 2 || t->channels == 4);
}

/* All channels have the same size, and a missing channel is followed by missing ones only. */
bool hip_texels_of_desc(const hipChannelFormatDesc *desc, struct hip_texels *t)
{
	const int bits[] = {desc->x, desc->y, desc->z, desc->w};
	unsigned channels = 0;

	while (channels < 4 && bits[channels])
		channels++;
	for (unsigned i = 0; i < 4; i++)
		if (bits[i] != (i < channels ? bits[0] : 0))
			return false;
	for (unsigned i = 0; i < FORMATS; i++) {
		*t = (struct hip_texels){(hipArray_Format)i, channels};
		if (hip_texels_are(t) && texel_formats[i].bits == bits[0] && texel_formats[i].kind == desc->f)
			return true;
	}
	return false;
}

/* The enumeration has one, two and four channels of each format, in that order. */
bool hip_texels_of_view(hipResourceViewFormat format, struct hip_texels *t)
{
	static const hipArray_Format order[] = {
		HIP_AD_FORMAT_UNSIGNED_INT8, HIP_AD_FORMAT_SIGNED_INT8,    HIP_AD_FORMAT_UNSIGNED_INT16,
		HIP_AD_FORMAT_SIGNED_INT16,  HIP_AD_FORMAT_UNSIGNED_INT32, HIP_AD_FORMAT_SIGNED_INT32,
		HIP_AD_FORMAT_HALF,          HIP_AD_FORMAT_FLOAT,
	};
	unsigned at = (unsigned)format - hipResViewFormatUnsignedChar1;

	if (at > hipResViewFormatFloat4 - hipResViewFormatUnsignedChar1)
		return false;
	*t = (struct hip_texels){order[at / 3], 1u << at % 3};
	return true;
}

hipChannelFormatDesc hip_texels_desc(const struct hip_texels *t)
{
	int bits = texel_formats[t->format].bits;

	return (hipChannelFormatDesc){bits, t->channels > 1 ? bits : 0, t->channels > 2 ? bits : 0,
				      t->channels > 3 ? bits : 0,
				      (hipChannelFormatKind)texel_formats[t->format].kind};
}

size_t hip_texels_size_B(const struct hip_texels *t)
{
	return (size_t)texel_formats[t->format].bits / 8 * t->channels;
}

hsa_ext_image_format_t hip_texels_hsa(const struct hip_texels *t, hipTextureReadMode mode, bool srgb)
{
	static const uint8_t orders[] = {
		[1] = HSA_EXT_IMAGE_CHANNEL_ORDER_R,
		[2] = HSA_EXT_IMAGE_CHANNEL_ORDER_RG,
		[4] = HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
	};

	return (hsa_ext_image_format_t){
		.channel_type = mode == hipReadModeNormalizedFloat ? texel_formats[t->format].fraction
								   : texel_formats[t->format].plain,
		.channel_order = srgb && t->channels == 4 ? HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA : orders[t->channels],
	};
}

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f)
{
	return (hipChannelFormatDesc){x, y, z, w, f};
}

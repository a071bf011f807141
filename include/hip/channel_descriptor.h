/* Formats of image elements, from the sizes of their channels or from a C++ type. */
#ifndef HIP_INCLUDE_HIP_CHANNEL_DESCRIPTOR_H
#define HIP_INCLUDE_HIP_CHANNEL_DESCRIPTOR_H

#include <hip/driver_types.h>
#include <hip/hip_vector_types.h>

HIP_API_BEGIN

/* Bits of each channel; 0: none. */
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f);

HIP_API_END

HIP_INLINE hipChannelFormatDesc hip_channel_desc(int count, int bits, hipChannelFormatKind kind)
{
	hipChannelFormatDesc made = {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};

	return made;
}

HIP_INLINE hipChannelFormatDesc hipCreateChannelDescHalf(void)
{
	return hip_channel_desc(1, 16, hipChannelFormatKindFloat);
}

HIP_INLINE hipChannelFormatDesc hipCreateChannelDescHalf1(void)
{
	return hip_channel_desc(1, 16, hipChannelFormatKindFloat);
}

HIP_INLINE hipChannelFormatDesc hipCreateChannelDescHalf2(void)
{
	return hip_channel_desc(2, 16, hipChannelFormatKindFloat);
}

HIP_INLINE hipChannelFormatDesc hipCreateChannelDescHalf4(void)
{
	return hip_channel_desc(4, 16, hipChannelFormatKindFloat);
}

#ifdef __cplusplus
/* hipCreateChannelDesc<float4>(); only these types have a format. */
template <typename T> HIP_INLINE hipChannelFormatDesc hipCreateChannelDesc()
{
	return hip_channel_desc(0, 0, hipChannelFormatKindNone);
}
#define HIP_CHANNEL_DESC(type, count, scalar, kind)                                                                \
	template <> inline hipChannelFormatDesc hipCreateChannelDesc<type>()                                       \
	{                                                                                                          \
		return hip_channel_desc(count, 8 * static_cast<int>(sizeof(scalar)), hipChannelFormatKind##kind);  \
	}
#define HIP_CHANNEL_DESCS(name, scalar, kind)                                                                      \
	HIP_CHANNEL_DESC(name##1, 1, scalar, kind)                                                                 \
	HIP_CHANNEL_DESC(name##2, 2, scalar, kind)                                                                 \
	HIP_CHANNEL_DESC(name##3, 3, scalar, kind)                                                                 \
	HIP_CHANNEL_DESC(name##4, 4, scalar, kind)                                                                 \
	HIP_CHANNEL_DESC(scalar, 1, scalar, kind)
HIP_CHANNEL_DESC(char, 1, char, Signed)
HIP_CHANNEL_DESCS(char, signed char, Signed)
HIP_CHANNEL_DESCS(uchar, unsigned char, Unsigned)
HIP_CHANNEL_DESCS(short, short, Signed)
HIP_CHANNEL_DESCS(ushort, unsigned short, Unsigned)
HIP_CHANNEL_DESCS(int, int, Signed)
HIP_CHANNEL_DESCS(uint, unsigned int, Unsigned)
HIP_CHANNEL_DESCS(float, float, Float)
#undef HIP_CHANNEL_DESCS
#undef HIP_CHANNEL_DESC
#endif

#endif

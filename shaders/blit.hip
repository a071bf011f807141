/* Copy and fill, one element a lane. Workgroups of BLIT_GROUP lanes (sdma/blit.c launches them); count is in elements. */
#include "shaders/device.h"

#define BLIT_GROUP 256

#define INDEX ((u64)GROUP_X * BLIT_GROUP + LANE_X)

#define COPY(name, type)                                                                                            \
	extern "C" __global__ __launch_bounds__(BLIT_GROUP) void name(type *dst, const type *src, u64 count)        \
	{                                                                                                           \
		u64 i = INDEX;                                                                                      \
		if (i < count)                                                                                      \
			dst[i] = src[i];                                                                            \
	}

COPY(copy1, u8)
COPY(copy4, u32)
COPY(copy16, u32x4)

#define FILL(name, type)                                                                                            \
	extern "C" __global__ __launch_bounds__(BLIT_GROUP) void name(type *dst, u64 count, u32 value)              \
	{                                                                                                           \
		u64 i = INDEX;                                                                                      \
		if (i < count)                                                                                      \
			dst[i] = (type)value;                                                                       \
	}

FILL(fill1, u8)
FILL(fill4, u32)
FILL(fill16, u32x4)

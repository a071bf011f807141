/* __hip_bfloat16 and __hip_bfloat162. Included by hip_bf16.h. */
#ifndef HIP_DEVICE_BF16_H
#define HIP_DEVICE_BF16_H

#include <hip/device/bf16_bits.h>
#include <hip/device/narrow.h>
#include <hip/hip_vector_types.h>

typedef struct __hip_bfloat16_raw {
	unsigned short x;
} __hip_bfloat16_raw;

typedef struct alignas(4) __hip_bfloat162_raw {
	unsigned short x, y;
} __hip_bfloat162_raw;

struct __hip_bfloat16;
HIP_OPERATOR_FUNCTIONS(__hip_bfloat16, , )

struct __hip_bfloat16 {
	unsigned short __x;

	__hip_bfloat16() = default;
	HIP_BOTH constexpr __hip_bfloat16(const __hip_bfloat16_raw &raw) : __x(raw.x)
	{
	}
	HIP_BOTH __hip_bfloat16(float number) : __x(hip_bf16_from_float(number))
	{
	}
	template <typename T, typename = typename hip_number<T>::itself>
	HIP_BOTH __hip_bfloat16(T number) : __x(hip_bf16_from_double(static_cast<double>(number)))
	{
	}
	HIP_BOTH operator float() const
	{
		return hip_bf16_to_float(__x);
	}
	HIP_BOTH operator __hip_bfloat16_raw() const
	{
		__hip_bfloat16_raw raw = {__x};

		return raw;
	}
	HIP_NARROW_OPERATORS(__hip_bfloat16)
};

HIP_BOTH inline float hip_native(__hip_bfloat16 x)
{
	return hip_bf16_to_float(x.__x);
}

HIP_BOTH inline __hip_bfloat16 hip_fma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c)
{
	return __hip_bfloat16(__builtin_fmaf(a, b, c));
}

HIP_NARROW_FUNCTIONS(__hip_bfloat16)

struct __hip_bfloat162;
HIP_OPERATOR_FUNCTIONS(__hip_bfloat162, 2, b)

struct alignas(4) __hip_bfloat162 {
	__hip_bfloat16 x, y;

	__hip_bfloat162() = default;
	HIP_BOTH __hip_bfloat162(const __hip_bfloat16 &low, const __hip_bfloat16 &high) : x(low), y(high)
	{
	}
	HIP_BOTH __hip_bfloat162(const __hip_bfloat162_raw &raw)
	{
		x.__x = raw.x;
		y.__x = raw.y;
	}
	HIP_BOTH operator __hip_bfloat162_raw() const
	{
		__hip_bfloat162_raw raw = {x.__x, y.__x};

		return raw;
	}
	HIP_BOTH operator float2() const
	{
		return make_float2(x, y);
	}
	HIP_OPERATORS(__hip_bfloat162, 2, b)
	HIP_OPERATORS_OR_EQUAL(__hip_bfloat162, 2, b)
	HIP_FRIEND_STEP(__hip_bfloat162, add2, ++, __hip_bfloat162(1.0f, 1.0f))
	HIP_FRIEND_STEP(__hip_bfloat162, sub2, --, __hip_bfloat162(1.0f, 1.0f))
};

HIP_PAIR_FUNCTIONS(__hip_bfloat162, __hip_bfloat16)

/* --- conversions ---------------------------------------------------------------------------------- */

HIP_BOTH inline float __bfloat162float(__hip_bfloat16 x)
{
	return x;
}

HIP_BOTH inline __hip_bfloat16 __float2bfloat16(float x)
{
	return __hip_bfloat16(x);
}

HIP_BOTH inline __hip_bfloat16 __float2bfloat16_rn(float x)
{
	return __hip_bfloat16(x);
}

HIP_BOTH inline __hip_bfloat16 __double2bfloat16(double x)
{
	return __hip_bfloat16(x);
}

HIP_BOTH inline short __bfloat16_as_short(__hip_bfloat16 x)
{
	return static_cast<short>(x.__x);
}

HIP_BOTH inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 x)
{
	return x.__x;
}

HIP_BOTH inline __hip_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
	__hip_bfloat16 made;

	made.__x = bits;
	return made;
}

HIP_BOTH inline __hip_bfloat16 __short_as_bfloat16(short bits)
{
	return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}

#define HIPRT_ONE_BF16        __ushort_as_bfloat16(0x3f80)
#define HIPRT_ZERO_BF16       __ushort_as_bfloat16(0x0000)
#define HIPRT_NEG_ZERO_BF16   __ushort_as_bfloat16(0x8000)
#define HIPRT_INF_BF16        __ushort_as_bfloat16(0x7f80)
#define HIPRT_NAN_BF16        __ushort_as_bfloat16(0x7fff)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)

/* --- pairs ---------------------------------------------------------------------------------------- */

HIP_BOTH inline __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y)
{
	return __hip_bfloat162(x, y);
}

HIP_BOTH inline __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y)
{
	return __hip_bfloat162(x, y);
}

HIP_BOTH inline __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 both)
{
	return __hip_bfloat162(both, both);
}

HIP_BOTH inline __hip_bfloat162 __floats2bfloat162_rn(float x, float y)
{
	return __hip_bfloat162(x, y);
}

HIP_BOTH inline __hip_bfloat162 __float22bfloat162_rn(float2 x)
{
	return __hip_bfloat162(x.x, x.y);
}

HIP_BOTH inline float2 __bfloat1622float2(__hip_bfloat162 x)
{
	return x;
}

HIP_BOTH inline __hip_bfloat16 __low2bfloat16(__hip_bfloat162 x)
{
	return x.x;
}

HIP_BOTH inline __hip_bfloat16 __high2bfloat16(__hip_bfloat162 x)
{
	return x.y;
}

HIP_BOTH inline __hip_bfloat162 __low2bfloat162(__hip_bfloat162 x)
{
	return __hip_bfloat162(x.x, x.x);
}

HIP_BOTH inline __hip_bfloat162 __high2bfloat162(__hip_bfloat162 x)
{
	return __hip_bfloat162(x.y, x.y);
}

HIP_BOTH inline __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b)
{
	return __hip_bfloat162(a.x, b.x);
}

HIP_BOTH inline __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b)
{
	return __hip_bfloat162(a.y, b.y);
}

HIP_BOTH inline __hip_bfloat162 __h2div(__hip_bfloat162 a, __hip_bfloat162 b)
{
	return a / b;
}

#ifdef __HIP__
HIP_NARROW_MATHS(__hip_bfloat16)
HIP_PAIR_MATHS(__hip_bfloat162)

#include <hip/device/narrow_memory.h>
HIP_NARROW_MEMORY(__hip_bfloat16, __hip_bfloat162)
#endif

#endif

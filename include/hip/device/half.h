/* half and half2: types, conversions from other numbers, and functions that other narrow types do not have.
 * Included by hip_fp16.h. */
#ifndef HIP_DEVICE_HALF_H
#define HIP_DEVICE_HALF_H

#include <hip/device/narrow.h>
#include <hip/hip_vector_types.h>

#ifdef __clang__
typedef _Float16 hip_half_native;
#else
/* For compilers without the type: bits, converted by these functions. */
typedef float hip_half_native;

inline float hip_half_to_float(unsigned short bits)
{
	unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff, made;
	float number;

	if (exponent == 31)
		made = sign | 0x7f800000 | mantissa << 13;
	else if (exponent)
		made = sign | (exponent + 112) << 23 | mantissa << 13;
	else
		return (sign ? -1.0f : 1.0f) * static_cast<float>(mantissa) * 5.9604644775390625e-8f /* 2^-24 */;
	__builtin_memcpy(&number, &made, 4);
	return number;
}

/* Adding 2^(exponent + 13) and subtracting it again rounds to the bits that a half has. */
inline unsigned short hip_half_from_double(double x)
{
	unsigned short sign = __builtin_signbit(x) ? 0x8000 : 0;
	double size = __builtin_fabs(x);
	int exponent;

	if (!(size < 65520.0))
		return sign | (size != size ? 0x7e00 : 0x7c00);
	__builtin_frexp(size, &exponent);
	if (exponent < -13 || size == 0)
		exponent = -13;
	double unit = __builtin_ldexp(1.0, exponent - 11), count = __builtin_rint(size / unit);

	return static_cast<unsigned short>(
		sign | ((static_cast<unsigned>(exponent + 13) << 10) + static_cast<unsigned>(count)));
}
#endif

typedef struct __half_raw {
	union {
		unsigned short x;
#ifdef __clang__
		_Float16 data;
#endif
	};
} __half_raw;

struct __half;
HIP_OPERATOR_FUNCTIONS(__half, , )

struct __half {
	union {
		unsigned short __x;
#ifdef __clang__
		_Float16 data;
#endif
	};
	__half() = default;
	HIP_BOTH constexpr __half(const __half_raw &raw) : __x(raw.x)
	{
	}
#ifdef __clang__
	/* Also from types that convert to a number themselves, such as hip_bfloat16. */
	HIP_BOTH constexpr __half(_Float16 number) : data(number)
	{
	}
	template <typename T, typename = typename hip_number<T>::itself>
	HIP_BOTH constexpr __half(T number) : data(static_cast<_Float16>(number))
	{
	}
	HIP_BOTH operator float() const
	{
		return static_cast<float>(data);
	}
#else
	template <typename T, typename = typename hip_number<T>::itself>
	__half(T number) : __x(hip_half_from_double(static_cast<double>(number)))
	{
	}
	operator float() const
	{
		return hip_half_to_float(__x);
	}
#endif
	HIP_BOTH operator __half_raw() const
	{
		__half_raw raw;

		raw.x = __x;
		return raw;
	}
	HIP_BOTH __half &operator=(const volatile __half_raw &raw)
	{
		__x = raw.x;
		return *this;
	}
	HIP_BOTH __half &operator=(volatile __half_raw &&raw)
	{
		__x = raw.x;
		return *this;
	}
	HIP_NARROW_OPERATORS(__half)
};
typedef __half half;

HIP_BOTH inline hip_half_native hip_native(__half x)
{
#ifdef __clang__
	return x.data;
#else
	return x;
#endif
}

HIP_BOTH inline __half hip_fma(__half a, __half b, __half c)
{
#ifdef __clang__
	return __half(static_cast<_Float16>(__builtin_fmaf16(a.data, b.data, c.data)));
#else
	return __half(__builtin_fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)));
#endif
}

HIP_NARROW_FUNCTIONS(__half)

/* AMD's name of a clamp to 0 to 1. */
HIP_BOTH inline __half __clamp_01(__half x)
{
	return hip_saturate(x);
}

/* Comparisons with one plain number are made in half, even where bfloat16 is declared. */
#define HIP_HALF_COMPARE(name)                                                                                     \
	template <typename A_, typename B_, typename = typename hip_number<A_>::itself,                            \
		  typename = typename hip_number<B_>::itself>                                                      \
	HIP_BOTH inline bool name(A_ a, B_ b)                                                                      \
	{                                                                                                          \
		return name(__half(a), __half(b));                                                                 \
	}
HIP_HALF_COMPARE(__heq)
HIP_HALF_COMPARE(__hne)
HIP_HALF_COMPARE(__hlt)
HIP_HALF_COMPARE(__hle)
HIP_HALF_COMPARE(__hgt)
HIP_HALF_COMPARE(__hge)
#undef HIP_HALF_COMPARE

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnested-anon-types"
#pragma clang diagnostic ignored "-Wgnu-anonymous-struct"
#endif

#ifdef __clang__
typedef _Float16 _Float16_2 __attribute__((ext_vector_type(2)));
#endif

typedef struct alignas(4) __half2_raw {
#ifdef __clang__
	union {
		__extension__ struct {
			unsigned short x, y;
		};
		_Float16_2 data;
	};
#else
	unsigned short x, y;
#endif
} __half2_raw;

struct __half2;
HIP_OPERATOR_FUNCTIONS(__half2, 2, b)

struct alignas(4) __half2 {
#ifdef __clang__
	union {
		__extension__ struct {
			__half x, y;
		};
		_Float16_2 data;
	};
#else
	__half x, y;
#endif
	__half2() = default;
	HIP_BOTH constexpr __half2(const __half &low, const __half &high) : x(low), y(high)
	{
	}
	HIP_BOTH explicit constexpr __half2(const __half &both) : x(both), y(both)
	{
	}
	template <typename T, typename = typename hip_number<T>::itself> HIP_BOTH __half2(T both) : x(both), y(both)
	{
	}
	HIP_BOTH __half2(const __half2_raw &raw)
	{
		x.__x = raw.x;
		y.__x = raw.y;
	}
#ifdef __clang__
	HIP_BOTH __half2(_Float16_2 both) : data(both)
	{
	}
	HIP_BOTH operator _Float16_2() const
	{
		return data;
	}
#endif
	HIP_BOTH operator __half2_raw() const
	{
		__half2_raw raw;

		raw.x = x.__x;
		raw.y = y.__x;
		return raw;
	}
	HIP_OPERATORS(__half2, 2, b)
	/* AMD's headers define both by "not less", which one element of two decides; __hble2() and __hbge2() need both. */
	HIP_BOTH friend inline bool operator<=(const __half2 &a, const __half2 &b)
	{
		return !(b < a);
	}
	HIP_BOTH friend inline bool operator>=(const __half2 &a, const __half2 &b)
	{
		return !(a < b);
	}
	HIP_FRIEND_STEP(__half2, add2, ++, __half2(1.0f))
	HIP_FRIEND_STEP(__half2, sub2, --, __half2(1.0f))
};
typedef __half2 half2;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

HIP_PAIR_FUNCTIONS(__half2, __half)

/* --- conversions ---------------------------------------------------------------------------------- */

HIP_BOTH inline float __half2float(__half x)
{
	return x;
}

/* Rounds to nearest first, then steps by one where the result is on the wrong side. Integers that double cannot
 * represent are far beyond the range of half. */
template <typename T> HIP_BOTH inline __half hip_half_down(T x)
{
	__half rounded(x);

	if (static_cast<double>(static_cast<float>(rounded)) > static_cast<double>(x))
		rounded.__x = rounded.__x & 0x8000 ? rounded.__x + 1 : rounded.__x ? rounded.__x - 1 : 0x8001;
	return rounded;
}

template <typename T> HIP_BOTH inline __half hip_half_up(T x)
{
	__half rounded(x);

	if (static_cast<double>(static_cast<float>(rounded)) < static_cast<double>(x))
		rounded.__x = !(rounded.__x & 0x8000) ? rounded.__x + 1
			      : rounded.__x & 0x7fff  ? rounded.__x - 1
						      : 1;
	return rounded;
}

template <typename T> HIP_BOTH inline __half hip_half_towards_zero(T x)
{
	__half rounded(x);

	if (__builtin_fabsf(rounded) > __builtin_fabs(static_cast<double>(x)))
		rounded.__x--;
	return rounded;
}

#define HIP_TO_HALF(short_name, from)                                                                              \
	HIP_BOTH inline __half __##short_name##2half_rn(from x)                                                    \
	{                                                                                                          \
		return __half(x);                                                                                  \
	}                                                                                                          \
	HIP_BOTH inline __half __##short_name##2half_rd(from x)                                                    \
	{                                                                                                          \
		return hip_half_down(x);                                                                           \
	}                                                                                                          \
	HIP_BOTH inline __half __##short_name##2half_ru(from x)                                                    \
	{                                                                                                          \
		return hip_half_up(x);                                                                             \
	}                                                                                                          \
	HIP_BOTH inline __half __##short_name##2half_rz(from x)                                                    \
	{                                                                                                          \
		return hip_half_towards_zero(x);                                                                   \
	}
#define HIP_HALF_TO(short_name, to)                                                                                \
	HIP_BOTH inline to __half2##short_name##_rn(__half x)                                                      \
	{                                                                                                          \
		return static_cast<to>(__builtin_rintf(x));                                                        \
	}                                                                                                          \
	HIP_BOTH inline to __half2##short_name##_rd(__half x)                                                      \
	{                                                                                                          \
		return static_cast<to>(__builtin_floorf(x));                                                       \
	}                                                                                                          \
	HIP_BOTH inline to __half2##short_name##_ru(__half x)                                                      \
	{                                                                                                          \
		return static_cast<to>(__builtin_ceilf(x));                                                        \
	}                                                                                                          \
	HIP_BOTH inline to __half2##short_name##_rz(__half x)                                                      \
	{                                                                                                          \
		return static_cast<to>(static_cast<float>(x));                                                     \
	}
HIP_TO_HALF(float, float)
HIP_TO_HALF(double, double)
HIP_TO_HALF(int, int)
HIP_TO_HALF(uint, unsigned int)
HIP_TO_HALF(short, short)
HIP_TO_HALF(ushort, unsigned short)
HIP_TO_HALF(ll, long long)
HIP_TO_HALF(ull, unsigned long long)
HIP_HALF_TO(int, int)
HIP_HALF_TO(uint, unsigned int)
HIP_HALF_TO(short, short)
HIP_HALF_TO(ushort, unsigned short)
HIP_HALF_TO(ll, long long)
HIP_HALF_TO(ull, unsigned long long)
#undef HIP_TO_HALF
#undef HIP_HALF_TO

HIP_BOTH inline __half __float2half(float x)
{
	return __half(x);
}

HIP_BOTH inline __half __double2half(double x)
{
	return __half(x);
}

HIP_BOTH inline short __half_as_short(__half x)
{
	return static_cast<short>(x.__x);
}

HIP_BOTH inline unsigned short __half_as_ushort(__half x)
{
	return x.__x;
}

HIP_BOTH inline __half __ushort_as_half(unsigned short bits)
{
	__half made;

	made.__x = bits;
	return made;
}

HIP_BOTH inline __half __short_as_half(short bits)
{
	return __ushort_as_half(static_cast<unsigned short>(bits));
}

/* --- pairs: made, taken apart, and put together again --------------------------------------------- */

HIP_BOTH inline __half2 make_half2(__half x, __half y)
{
	return __half2(x, y);
}

HIP_BOTH inline __half2 __halves2half2(__half x, __half y)
{
	return __half2(x, y);
}

HIP_BOTH inline __half2 __half2half2(__half both)
{
	return __half2(both);
}

HIP_BOTH inline __half2 __floats2half2_rn(float x, float y)
{
	return __half2(x, y);
}

HIP_BOTH inline __half2 __float2half2_rn(float both)
{
	return __half2(both, both);
}

HIP_BOTH inline __half2 __float22half2_rn(float2 x)
{
	return __half2(x.x, x.y);
}

HIP_BOTH inline float2 __half22float2(__half2 x)
{
	return make_float2(x.x, x.y);
}

HIP_BOTH inline __half __low2half(__half2 x)
{
	return x.x;
}

HIP_BOTH inline __half __high2half(__half2 x)
{
	return x.y;
}

HIP_BOTH inline __half2 __low2half2(__half2 x)
{
	return __half2(x.x);
}

HIP_BOTH inline __half2 __high2half2(__half2 x)
{
	return __half2(x.y);
}

HIP_BOTH inline __half2 __lows2half2(__half2 a, __half2 b)
{
	return __half2(a.x, b.x);
}

HIP_BOTH inline __half2 __highs2half2(__half2 a, __half2 b)
{
	return __half2(a.y, b.y);
}

HIP_BOTH inline __half2 __h2div(__half2 a, __half2 b)
{
	return a / b;
}

#ifdef __HIP__
HIP_NARROW_MATHS(__half)
HIP_PAIR_MATHS(__half2)

#include <hip/device/narrow_memory.h>
HIP_NARROW_MEMORY(__half, __half2)

/* c plus the products of the elements, in float; saturate: clamped to 0 to 1. */
HIP_DEVICE float amd_mixed_dot(__half2 a, __half2 b, float c, bool saturate)
{
	float total = static_cast<float>(a.x) * static_cast<float>(b.x) +
		      static_cast<float>(a.y) * static_cast<float>(b.y) + c;

	return !saturate ? total : total > 0 ? (total < 1 ? total : 1.0f) : 0.0f;
}
#endif

#endif

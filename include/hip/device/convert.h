/* Conversions with a rounding mode: to nearest (rn), down (rd), up (ru), towards 0 (rz); and numbers as bit
 * patterns. */
#ifndef HIP_DEVICE_CONVERT_H
#define HIP_DEVICE_CONVERT_H

#include <hip/device/attributes.h>
#include <stdint.h>

/* --- the same bits as another type ---------------------------------------------------------------- */

#define HIP_AS(from, name, to)                                                                                     \
	HIP_DEVICE to name(from x)                                                                                 \
	{                                                                                                          \
		return __builtin_bit_cast(to, x);                                                                  \
	}
HIP_AS(float, __float_as_int, int)
HIP_AS(float, __float_as_uint, unsigned int)
HIP_AS(int, __int_as_float, float)
HIP_AS(unsigned int, __uint_as_float, float)
HIP_AS(double, __double_as_longlong, long long int)
HIP_AS(long long int, __longlong_as_double, double)
#undef HIP_AS

HIP_DEVICE int __double2hiint(double x)
{
	return static_cast<int>(__double_as_longlong(x) >> 32);
}

HIP_DEVICE int __double2loint(double x)
{
	return static_cast<int>(__double_as_longlong(x));
}

HIP_DEVICE double __hiloint2double(int hi, int lo)
{
	return __longlong_as_double(static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(hi)) << 32 |
							 static_cast<uint32_t>(lo)));
}

/* --- to integers ---------------------------------------------------------------------------------- */

#define HIP_TO_INTEGER(from, f, short_name, to)                                                                    \
	HIP_DEVICE to __##from##2##short_name##_rn(from x)                                                         \
	{                                                                                                          \
		return static_cast<to>(__builtin_rint##f(x));                                                      \
	}                                                                                                          \
	HIP_DEVICE to __##from##2##short_name##_rd(from x)                                                         \
	{                                                                                                          \
		return static_cast<to>(__builtin_floor##f(x));                                                     \
	}                                                                                                          \
	HIP_DEVICE to __##from##2##short_name##_ru(from x)                                                         \
	{                                                                                                          \
		return static_cast<to>(__builtin_ceil##f(x));                                                      \
	}                                                                                                          \
	HIP_DEVICE to __##from##2##short_name##_rz(from x)                                                         \
	{                                                                                                          \
		return static_cast<to>(x);                                                                         \
	}
HIP_TO_INTEGER(float, f, int, int)
HIP_TO_INTEGER(float, f, uint, unsigned int)
HIP_TO_INTEGER(float, f, ll, long long int)
HIP_TO_INTEGER(float, f, ull, unsigned long long int)
HIP_TO_INTEGER(double, , int, int)
HIP_TO_INTEGER(double, , uint, unsigned int)
HIP_TO_INTEGER(double, , ll, long long int)
HIP_TO_INTEGER(double, , ull, unsigned long long int)
#undef HIP_TO_INTEGER

/* --- to floating point: nearest first, then one step where that is the wrong side ------------------- */

/* The next larger number, or the next smaller one. */
HIP_DEVICE float hip_neighbour(float x, bool up)
{
	uint32_t bits = __float_as_uint(x);

	if (!(bits << 1))
		return __uint_as_float(up ? 1u : 0x80000001u);
	return __uint_as_float((bits >> 31) == up ? bits - 1 : bits + 1);
}

HIP_DEVICE double hip_neighbour(double x, bool up)
{
	uint64_t bits = static_cast<uint64_t>(__double_as_longlong(x));

	if (!(bits << 1))
		return __longlong_as_double(static_cast<int64_t>(up ? 1ull : 0x8000000000000001ull));
	return __longlong_as_double(static_cast<int64_t>((bits >> 63) == up ? bits - 1 : bits + 1));
}

/* Compares a rounded number with the exact one: -1 below, 0 equal, 1 above. */
HIP_DEVICE int hip_side(float rounded, double x)
{
	return (rounded > x) - (rounded < x);
}

/* Integers with more bits than F: their largest value rounds to a larger number. */
template <typename F_, typename I_> HIP_DEVICE int hip_side(F_ rounded, I_ x)
{
	constexpr I_ most = static_cast<I_>(~0ull >> (64 - 8 * sizeof(I_) + (static_cast<I_>(-1) < 0)));

	if (rounded >= static_cast<F_>(most))
		return 1;
	return (static_cast<I_>(rounded) > x) - (static_cast<I_>(rounded) < x);
}

template <typename F_, typename X_> HIP_DEVICE F_ hip_round_down(X_ x)
{
	F_ rounded = static_cast<F_>(x);

	return hip_side(rounded, x) > 0 ? hip_neighbour(rounded, false) : rounded;
}

template <typename F_, typename X_> HIP_DEVICE F_ hip_round_up(X_ x)
{
	F_ rounded = static_cast<F_>(x);

	return hip_side(rounded, x) < 0 ? hip_neighbour(rounded, true) : rounded;
}

#define HIP_TO_FLOATING(short_name, from, to)                                                                      \
	HIP_DEVICE to __##short_name##2##to##_rn(from x)                                                           \
	{                                                                                                          \
		return static_cast<to>(x);                                                                         \
	}                                                                                                          \
	HIP_DEVICE to __##short_name##2##to##_rd(from x)                                                           \
	{                                                                                                          \
		return hip_round_down<to>(x);                                                                      \
	}                                                                                                          \
	HIP_DEVICE to __##short_name##2##to##_ru(from x)                                                           \
	{                                                                                                          \
		return hip_round_up<to>(x);                                                                        \
	}                                                                                                          \
	HIP_DEVICE to __##short_name##2##to##_rz(from x)                                                           \
	{                                                                                                          \
		return x < 0 ? hip_round_up<to>(x) : hip_round_down<to>(x);                                        \
	}
HIP_TO_FLOATING(int, int, float)
HIP_TO_FLOATING(uint, unsigned int, float)
HIP_TO_FLOATING(ll, long long int, float)
HIP_TO_FLOATING(ull, unsigned long long int, float)
HIP_TO_FLOATING(double, double, float)
HIP_TO_FLOATING(ll, long long int, double)
HIP_TO_FLOATING(ull, unsigned long long int, double)
#undef HIP_TO_FLOATING

/* Exact conversions. */
HIP_DEVICE double __int2double_rn(int x)
{
	return x;
}

HIP_DEVICE double __uint2double_rn(unsigned int x)
{
	return x;
}

#endif

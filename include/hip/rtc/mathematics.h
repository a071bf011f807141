/* Mathematical functions of kernels, by those of ROCm's device libraries (ocml). For each function that floats and doubles have:
 * C's name for doubles, the name with an f for floats, and C++'s overloads, for whole numbers, too. */
#ifndef HIP_RTC_MATHEMATICS_H
#define HIP_RTC_MATHEMATICS_H

#define HIP_RTC_DEVICE static __device__ inline __attribute__((always_inline))

namespace hip_rtc
{
template <bool, typename T> struct enable;
template <typename T> struct enable<true, T> {
	using type = T;
};
/* A number that no float type is: conversions to double and to float are equally good, so it has an overload of its own. */
template <typename T> struct whole {
	static constexpr bool value = false;
};
#define HIP_RTC_WHOLE(type)                                                                                        \
	template <> struct whole<type> {                                                                           \
		static constexpr bool value = true;                                                                \
	}
HIP_RTC_WHOLE(bool);
HIP_RTC_WHOLE(char);
HIP_RTC_WHOLE(signed char);
HIP_RTC_WHOLE(unsigned char);
HIP_RTC_WHOLE(short);
HIP_RTC_WHOLE(unsigned short);
HIP_RTC_WHOLE(int);
HIP_RTC_WHOLE(unsigned);
HIP_RTC_WHOLE(long);
HIP_RTC_WHOLE(unsigned long);
HIP_RTC_WHOLE(long long);
HIP_RTC_WHOLE(unsigned long long);
#undef HIP_RTC_WHOLE
template <typename T> using if_whole = typename enable<whole<T>::value, double>::type;
/* The type in which C++ computes with two numbers: float if both are floats. */
template <typename T, typename U> struct both {
	using type = double;
};
template <> struct both<float, float> {
	using type = float;
};
/* Only for pairs that have no overload: one of another type, or two that differ. */
template <typename T, typename U> struct mixed {
	static constexpr bool value = true;
};
template <typename T> struct mixed<T, T> {
	static constexpr bool value = whole<T>::value;
};
template <typename T, typename U> using if_mixed = typename enable<mixed<T, U>::value, double>::type;
} // namespace hip_rtc

/* A function of one number: HIP's name, and ocml's. */
#define HIP_RTC_1(name, ocml)                                                                                      \
	extern "C" __device__ float __ocml_##ocml##_f32(float);                                                    \
	extern "C" __device__ double __ocml_##ocml##_f64(double);                                                  \
	HIP_RTC_DEVICE float name##f(float x)                                                                      \
	{                                                                                                          \
		return __ocml_##ocml##_f32(x);                                                                     \
	}                                                                                                          \
	HIP_RTC_DEVICE float name(float x)                                                                         \
	{                                                                                                          \
		return __ocml_##ocml##_f32(x);                                                                     \
	}                                                                                                          \
	HIP_RTC_DEVICE double name(double x)                                                                       \
	{                                                                                                          \
		return __ocml_##ocml##_f64(x);                                                                     \
	}                                                                                                          \
	template <typename T> HIP_RTC_DEVICE hip_rtc::if_whole<T> name(T x)                                        \
	{                                                                                                          \
		return name((double)x);                                                                            \
	}
#define HIP_RTC_2(name, float_name, ocml)                                                                          \
	extern "C" __device__ float __ocml_##ocml##_f32(float, float);                                             \
	extern "C" __device__ double __ocml_##ocml##_f64(double, double);                                          \
	HIP_RTC_DEVICE float float_name(float x, float y)                                                          \
	{                                                                                                          \
		return __ocml_##ocml##_f32(x, y);                                                                  \
	}                                                                                                          \
	HIP_RTC_DEVICE float name(float x, float y)                                                                \
	{                                                                                                          \
		return __ocml_##ocml##_f32(x, y);                                                                  \
	}                                                                                                          \
	HIP_RTC_DEVICE double name(double x, double y)                                                             \
	{                                                                                                          \
		return __ocml_##ocml##_f64(x, y);                                                                  \
	}                                                                                                          \
	template <typename T, typename U> HIP_RTC_DEVICE hip_rtc::if_mixed<T, U> name(T x, U y)                    \
	{                                                                                                          \
		return name((double)x, (double)y);                                                                 \
	}

HIP_RTC_1(acos, acos)
HIP_RTC_1(acosh, acosh)
HIP_RTC_1(asin, asin)
HIP_RTC_1(asinh, asinh)
HIP_RTC_1(atan, atan)
HIP_RTC_1(atanh, atanh)
HIP_RTC_1(cbrt, cbrt)
HIP_RTC_1(ceil, ceil)
HIP_RTC_1(cos, cos)
HIP_RTC_1(cosh, cosh)
HIP_RTC_1(cospi, cospi)
HIP_RTC_1(erf, erf)
HIP_RTC_1(erfc, erfc)
HIP_RTC_1(erfcinv, erfcinv)
HIP_RTC_1(erfcx, erfcx)
HIP_RTC_1(erfinv, erfinv)
HIP_RTC_1(exp, exp)
HIP_RTC_1(exp10, exp10)
HIP_RTC_1(exp2, exp2)
HIP_RTC_1(expm1, expm1)
HIP_RTC_1(fabs, fabs)
HIP_RTC_1(floor, floor)
HIP_RTC_1(j0, j0)
HIP_RTC_1(j1, j1)
HIP_RTC_1(lgamma, lgamma)
HIP_RTC_1(log, log)
HIP_RTC_1(log10, log10)
HIP_RTC_1(log1p, log1p)
HIP_RTC_1(log2, log2)
HIP_RTC_1(logb, logb)
HIP_RTC_1(nearbyint, nearbyint)
HIP_RTC_1(normcdf, ncdf)
HIP_RTC_1(normcdfinv, ncdfinv)
HIP_RTC_1(rcbrt, rcbrt)
HIP_RTC_1(rint, rint)
HIP_RTC_1(round, round)
HIP_RTC_1(rsqrt, rsqrt)
HIP_RTC_1(sin, sin)
HIP_RTC_1(sinh, sinh)
HIP_RTC_1(sinpi, sinpi)
HIP_RTC_1(sqrt, sqrt)
HIP_RTC_1(tan, tan)
HIP_RTC_1(tanh, tanh)
HIP_RTC_1(tgamma, tgamma)
HIP_RTC_1(trunc, trunc)
HIP_RTC_1(y0, y0)
HIP_RTC_1(y1, y1)
HIP_RTC_1(cyl_bessel_i0, i0)
HIP_RTC_1(cyl_bessel_i1, i1)

HIP_RTC_2(atan2, atan2f, atan2)
HIP_RTC_2(copysign, copysignf, copysign)
HIP_RTC_2(fdim, fdimf, fdim)
HIP_RTC_2(fmax, fmaxf, fmax)
HIP_RTC_2(fmin, fminf, fmin)
HIP_RTC_2(fmod, fmodf, fmod)
HIP_RTC_2(hypot, hypotf, hypot)
HIP_RTC_2(nextafter, nextafterf, nextafter)
HIP_RTC_2(pow, powf, pow)
HIP_RTC_2(remainder, remainderf, remainder)
HIP_RTC_2(rhypot, rhypotf, rhypot)
#undef HIP_RTC_1
#undef HIP_RTC_2

/* --- functions with other arguments ---------------------------------------------------------------- */

#define HIP_RTC_PRIVATE __attribute__((address_space(5)))

/* For floats and for doubles: the type, ocml's suffix, and the end of C's name. */
#define HIP_RTC_TYPE(type, suffix, f)                                                                              \
	extern "C" {                                                                                               \
	__device__ type __ocml_fma_##suffix(type, type, type);                                                     \
	__device__ type __ocml_frexp_##suffix(type, HIP_RTC_PRIVATE int *);                                        \
	__device__ type __ocml_modf_##suffix(type, HIP_RTC_PRIVATE type *);                                        \
	__device__ type __ocml_sincos_##suffix(type, HIP_RTC_PRIVATE type *);                                      \
	__device__ type __ocml_sincospi_##suffix(type, HIP_RTC_PRIVATE type *);                                    \
	__device__ type __ocml_remquo_##suffix(type, type, HIP_RTC_PRIVATE int *);                                 \
	__device__ type __ocml_ldexp_##suffix(type, int);                                                          \
	__device__ int __ocml_ilogb_##suffix(type);                                                                \
	__device__ type __ocml_pown_##suffix(type, int);                                                           \
	__device__ type __ocml_len3_##suffix(type, type, type);                                                    \
	__device__ type __ocml_len4_##suffix(type, type, type, type);                                              \
	__device__ type __ocml_rlen3_##suffix(type, type, type);                                                   \
	__device__ type __ocml_rlen4_##suffix(type, type, type, type);                                             \
	}                                                                                                          \
	HIP_RTC_DEVICE type fma##f(type x, type y, type z)                                                         \
	{                                                                                                          \
		return __ocml_fma_##suffix(x, y, z);                                                               \
	}                                                                                                          \
	HIP_RTC_DEVICE type frexp##f(type x, int *exponent)                                                        \
	{                                                                                                          \
		int e;                                                                                             \
		type r = __ocml_frexp_##suffix(x, (HIP_RTC_PRIVATE int *)&e);                                      \
		*exponent = e;                                                                                     \
		return r;                                                                                          \
	}                                                                                                          \
	HIP_RTC_DEVICE type modf##f(type x, type *whole)                                                           \
	{                                                                                                          \
		type w, r = __ocml_modf_##suffix(x, (HIP_RTC_PRIVATE type *)&w);                                   \
		*whole = w;                                                                                        \
		return r;                                                                                          \
	}                                                                                                          \
	HIP_RTC_DEVICE void sincos##f(type x, type *sine, type *cosine)                                            \
	{                                                                                                          \
		type c;                                                                                            \
		*sine = __ocml_sincos_##suffix(x, (HIP_RTC_PRIVATE type *)&c);                                     \
		*cosine = c;                                                                                       \
	}                                                                                                          \
	HIP_RTC_DEVICE void sincospi##f(type x, type *sine, type *cosine)                                          \
	{                                                                                                          \
		type c;                                                                                            \
		*sine = __ocml_sincospi_##suffix(x, (HIP_RTC_PRIVATE type *)&c);                                   \
		*cosine = c;                                                                                       \
	}                                                                                                          \
	HIP_RTC_DEVICE type remquo##f(type x, type y, int *quotient)                                               \
	{                                                                                                          \
		int q;                                                                                             \
		type r = __ocml_remquo_##suffix(x, y, (HIP_RTC_PRIVATE int *)&q);                                  \
		*quotient = q;                                                                                     \
		return r;                                                                                          \
	}                                                                                                          \
	HIP_RTC_DEVICE type ldexp##f(type x, int e)                                                                \
	{                                                                                                          \
		return __ocml_ldexp_##suffix(x, e);                                                                \
	}                                                                                                          \
	HIP_RTC_DEVICE type scalbn##f(type x, int e)                                                               \
	{                                                                                                          \
		return __ocml_ldexp_##suffix(x, e);                                                                \
	}                                                                                                          \
	HIP_RTC_DEVICE type powi##f(type x, int e)                                                                 \
	{                                                                                                          \
		return __ocml_pown_##suffix(x, e);                                                                 \
	}                                                                                                          \
	HIP_RTC_DEVICE int ilogb##f(type x)                                                                        \
	{                                                                                                          \
		return __ocml_ilogb_##suffix(x);                                                                   \
	}                                                                                                          \
	HIP_RTC_DEVICE long lrint##f(type x)                                                                       \
	{                                                                                                          \
		return (long)__ocml_rint_##suffix(x);                                                              \
	}                                                                                                          \
	HIP_RTC_DEVICE long long llrint##f(type x)                                                                 \
	{                                                                                                          \
		return (long long)__ocml_rint_##suffix(x);                                                         \
	}                                                                                                          \
	HIP_RTC_DEVICE long lround##f(type x)                                                                      \
	{                                                                                                          \
		return (long)__ocml_round_##suffix(x);                                                             \
	}                                                                                                          \
	HIP_RTC_DEVICE long long llround##f(type x)                                                                \
	{                                                                                                          \
		return (long long)__ocml_round_##suffix(x);                                                        \
	}                                                                                                          \
	HIP_RTC_DEVICE type norm3d##f(type x, type y, type z)                                                      \
	{                                                                                                          \
		return __ocml_len3_##suffix(x, y, z);                                                              \
	}                                                                                                          \
	HIP_RTC_DEVICE type norm4d##f(type x, type y, type z, type w)                                              \
	{                                                                                                          \
		return __ocml_len4_##suffix(x, y, z, w);                                                           \
	}                                                                                                          \
	HIP_RTC_DEVICE type rnorm3d##f(type x, type y, type z)                                                     \
	{                                                                                                          \
		return __ocml_rlen3_##suffix(x, y, z);                                                             \
	}                                                                                                          \
	HIP_RTC_DEVICE type rnorm4d##f(type x, type y, type z, type w)                                             \
	{                                                                                                          \
		return __ocml_rlen4_##suffix(x, y, z, w);                                                          \
	}                                                                                                          \
	HIP_RTC_DEVICE bool isfinite(type x)                                                                       \
	{                                                                                                          \
		return __builtin_isfinite(x);                                                                      \
	}                                                                                                          \
	HIP_RTC_DEVICE bool isinf(type x)                                                                          \
	{                                                                                                          \
		return __builtin_isinf(x);                                                                         \
	}                                                                                                          \
	HIP_RTC_DEVICE bool isnan(type x)                                                                          \
	{                                                                                                          \
		return __builtin_isnan(x);                                                                         \
	}                                                                                                          \
	HIP_RTC_DEVICE bool signbit(type x)                                                                        \
	{                                                                                                          \
		return __builtin_signbit(x);                                                                       \
	}                                                                                                          \
	HIP_RTC_DEVICE type abs(type x)                                                                            \
	{                                                                                                          \
		return fabs(x);                                                                                    \
	}                                                                                                          \
	HIP_RTC_DEVICE type max(type x, type y)                                                                    \
	{                                                                                                          \
		return fmax(x, y);                                                                                 \
	}                                                                                                          \
	HIP_RTC_DEVICE type min(type x, type y)                                                                    \
	{                                                                                                          \
		return fmin(x, y);                                                                                 \
	}
HIP_RTC_TYPE(float, f32, f)
HIP_RTC_TYPE(double, f64, )
#undef HIP_RTC_TYPE

/* C++'s overloads of floats. */
HIP_RTC_DEVICE float fma(float x, float y, float z)
{
	return fmaf(x, y, z);
}
HIP_RTC_DEVICE float frexp(float x, int *exponent)
{
	return frexpf(x, exponent);
}
HIP_RTC_DEVICE float modf(float x, float *whole)
{
	return modff(x, whole);
}
HIP_RTC_DEVICE float ldexp(float x, int e)
{
	return ldexpf(x, e);
}
HIP_RTC_DEVICE float pow(float x, int e)
{
	return powif(x, e);
}
HIP_RTC_DEVICE double pow(double x, int e)
{
	return powi(x, e);
}

/* Whole numbers: both of one type, or as C converts them. */
#define HIP_RTC_WHOLE(type)                                                                                        \
	HIP_RTC_DEVICE type max(type x, type y)                                                                    \
	{                                                                                                          \
		return x < y ? y : x;                                                                              \
	}                                                                                                          \
	HIP_RTC_DEVICE type min(type x, type y)                                                                    \
	{                                                                                                          \
		return y < x ? y : x;                                                                              \
	}
HIP_RTC_WHOLE(int)
HIP_RTC_WHOLE(unsigned)
HIP_RTC_WHOLE(long)
HIP_RTC_WHOLE(unsigned long)
HIP_RTC_WHOLE(long long)
HIP_RTC_WHOLE(unsigned long long)
#undef HIP_RTC_WHOLE
HIP_RTC_DEVICE int abs(int x)
{
	return x < 0 ? -x : x;
}
HIP_RTC_DEVICE long abs(long x)
{
	return x < 0 ? -x : x;
}
HIP_RTC_DEVICE long long abs(long long x)
{
	return x < 0 ? -x : x;
}

/* --- fast and directed functions -------------------------------------------------------------------- */

#define HIP_RTC_FAST(name, ocml)                                                                                   \
	extern "C" __device__ float __ocml_native_##ocml##_f32(float);                                             \
	HIP_RTC_DEVICE float name(float x)                                                                         \
	{                                                                                                          \
		return __ocml_native_##ocml##_f32(x);                                                              \
	}
HIP_RTC_FAST(__cosf, cos)
HIP_RTC_FAST(__sinf, sin)
HIP_RTC_FAST(__expf, exp)
HIP_RTC_FAST(__exp10f, exp10)
HIP_RTC_FAST(__logf, log)
HIP_RTC_FAST(__log2f, log2)
HIP_RTC_FAST(__log10f, log10)
#undef HIP_RTC_FAST
HIP_RTC_DEVICE float __powf(float x, float y)
{
	return powf(x, y);
}
HIP_RTC_DEVICE float __tanf(float x)
{
	return __sinf(x) / __cosf(x);
}
HIP_RTC_DEVICE void __sincosf(float x, float *sine, float *cosine)
{
	*sine = __sinf(x);
	*cosine = __cosf(x);
}
HIP_RTC_DEVICE float __fdividef(float x, float y)
{
	return x / y;
}
HIP_RTC_DEVICE float fdividef(float x, float y)
{
	return x / y;
}
HIP_RTC_DEVICE float __saturatef(float x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}
HIP_RTC_DEVICE float __frsqrt_rn(float x)
{
	return __builtin_amdgcn_rsqf(x);
}
/* Rounded to the nearest: what the operators do. The other roundings are not there, as in clang's headers. */
#define HIP_RTC_ROUNDED(type, f, root)                                                                             \
	HIP_RTC_DEVICE type __##f##add_rn(type x, type y)                                                          \
	{                                                                                                          \
		return x + y;                                                                                      \
	}                                                                                                          \
	HIP_RTC_DEVICE type __##f##sub_rn(type x, type y)                                                          \
	{                                                                                                          \
		return x - y;                                                                                      \
	}                                                                                                          \
	HIP_RTC_DEVICE type __##f##mul_rn(type x, type y)                                                          \
	{                                                                                                          \
		return x * y;                                                                                      \
	}                                                                                                          \
	HIP_RTC_DEVICE type __##f##div_rn(type x, type y)                                                          \
	{                                                                                                          \
		return x / y;                                                                                      \
	}                                                                                                          \
	HIP_RTC_DEVICE type __##f##rcp_rn(type x)                                                                  \
	{                                                                                                          \
		return 1 / x;                                                                                      \
	}                                                                                                          \
	HIP_RTC_DEVICE type __##f##sqrt_rn(type x)                                                                 \
	{                                                                                                          \
		return root(x);                                                                                    \
	}
HIP_RTC_ROUNDED(float, f, sqrtf)
HIP_RTC_ROUNDED(double, d, sqrt)
#undef HIP_RTC_ROUNDED
HIP_RTC_DEVICE float __fmaf_rn(float x, float y, float z)
{
	return fmaf(x, y, z);
}
HIP_RTC_DEVICE double __fma_rn(double x, double y, double z)
{
	return fma(x, y, z);
}
#undef HIP_RTC_PRIVATE
#undef HIP_RTC_DEVICE

#endif

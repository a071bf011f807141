/* The four 8-bit floating-point types, vectors of two and four, and their conversions. Included by hip_fp8.h. */
#ifndef HIP_DEVICE_FP8_H
#define HIP_DEVICE_FP8_H

#include <hip/device/bf16.h>
#include <hip/device/half.h>

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short int __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;

enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 };

/* Numbers beyond the range become infinite (or NaN, in formats without infinity), or the largest finite number. */
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };

/* A format: bits of the mantissa, exponent bias, and the codes of the largest number, of numbers beyond the range,
 * and of NaN (sources: OCP's 8-bit floating point specification; for fnuz AMD's CDNA3 ISA guide). */
struct hip_fp8_format {
	int mantissa, bias;
	unsigned char most, beyond, nan;
	bool signs_zero;
};

HIP_BOTH inline hip_fp8_format hip_fp8_format_of(__hip_fp8_interpretation_t which)
{
	switch (which) {
	case __HIP_E4M3:
		return {3, 7, 0x7e, 0x7f, 0x7f, true};
	case __HIP_E5M2:
		return {2, 15, 0x7b, 0x7c, 0x7f, true};
	case __HIP_E4M3_FNUZ:
		return {3, 8, 0x7f, 0x80, 0x80, false};
	case __HIP_E5M2_FNUZ:
		break;
	}
	return {2, 16, 0x7f, 0x80, 0x80, false};
}

HIP_BOTH inline unsigned char hip_fp8_from(double x, __hip_saturation_t saturation,
					   __hip_fp8_interpretation_t which)
{
	hip_fp8_format format = hip_fp8_format_of(which);
	unsigned char sign = __builtin_signbit(x) ? 0x80 : 0;
	double size = __builtin_fabs(x);
	int exponent;

	if (x != x)
		return format.signs_zero ? sign | format.nan : format.nan;
	/* Beyond the range of every format; codes below have few bits. */
	if (size > 65536)
		size = 65536;
	__builtin_frexp(size, &exponent);
	exponent += format.bias - 1;
	if (exponent < 1 || size == 0)
		exponent = 1;
	/* The mantissa with its leading bit, which adds one to the exponent's field. */
	double units = __builtin_rint(__builtin_ldexp(size, format.mantissa + format.bias - exponent));
	int code = ((exponent - 1) << format.mantissa) + static_cast<int>(units);

	if (code > format.most) {
		code = saturation == __HIP_SATFINITE ? format.most : format.beyond;
		return static_cast<unsigned char>(format.signs_zero || code == format.most ? sign | code : code);
	}
	return static_cast<unsigned char>(code || format.signs_zero ? sign | code : 0);
}

HIP_BOTH inline float hip_fp8_to_float(unsigned char code, __hip_fp8_interpretation_t which)
{
	hip_fp8_format format = hip_fp8_format_of(which);
	int size = code & 0x7f, exponent = size >> format.mantissa, fraction = size & ((1 << format.mantissa) - 1);

	if (format.signs_zero ? size > format.most : code == format.nan)
		return size == format.beyond && format.beyond != format.nan && format.signs_zero
			       ? (code & 0x80 ? -__builtin_inff() : __builtin_inff())
			       : __builtin_nanf("");
	if (exponent)
		fraction += 1 << format.mantissa;
	else
		exponent = 1;
	float number = __builtin_ldexpf(static_cast<float>(fraction), exponent - format.bias - format.mantissa);

	return code & 0x80 ? -number : number;
}

/* --- conversions by function ------------------------------------------------------------------------ */

HIP_BOTH inline __hip_fp8_storage_t __hip_cvt_double_to_fp8(double x, __hip_saturation_t saturation,
							    __hip_fp8_interpretation_t which)
{
	return hip_fp8_from(x, saturation, which);
}

HIP_BOTH inline __hip_fp8_storage_t __hip_cvt_float_to_fp8(float x, __hip_saturation_t saturation,
							   __hip_fp8_interpretation_t which)
{
	return hip_fp8_from(static_cast<double>(x), saturation, which);
}

HIP_BOTH inline __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw x, __hip_saturation_t saturation,
							     __hip_fp8_interpretation_t which)
{
	return hip_fp8_from(static_cast<double>(static_cast<float>(__half(x))), saturation, which);
}

HIP_BOTH inline __hip_fp8_storage_t
__hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw x, __hip_saturation_t saturation, __hip_fp8_interpretation_t which)
{
	return hip_fp8_from(static_cast<double>(hip_bf16_to_float(x.x)), saturation, which);
}

/* x is the lower byte. */
HIP_BOTH inline __hip_fp8x2_storage_t hip_fp8x2_from(double x, double y, __hip_saturation_t saturation,
						     __hip_fp8_interpretation_t which)
{
	return static_cast<__hip_fp8x2_storage_t>(hip_fp8_from(y, saturation, which) << 8 |
						  hip_fp8_from(x, saturation, which));
}

HIP_BOTH inline __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 x, __hip_saturation_t saturation,
								__hip_fp8_interpretation_t which)
{
	return hip_fp8x2_from(static_cast<double>(x.x), static_cast<double>(x.y), saturation, which);
}

HIP_BOTH inline __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(double2 x, __hip_saturation_t saturation,
								 __hip_fp8_interpretation_t which)
{
	return hip_fp8x2_from(x.x, x.y, saturation, which);
}

HIP_BOTH inline __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(__half2_raw x, __hip_saturation_t saturation,
								  __hip_fp8_interpretation_t which)
{
	return __hip_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturation, which);
}

HIP_BOTH inline __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(__hip_bfloat162_raw x,
								      __hip_saturation_t saturation,
								      __hip_fp8_interpretation_t which)
{
	return __hip_cvt_float2_to_fp8x2(__bfloat1622float2(__hip_bfloat162(x)), saturation, which);
}

HIP_BOTH inline __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x, __hip_fp8_interpretation_t which)
{
	return __half(hip_fp8_to_float(x, which));
}

HIP_BOTH inline __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t x, __hip_fp8_interpretation_t which)
{
	return __half2(__half(hip_fp8_to_float(static_cast<unsigned char>(x), which)),
		       __half(hip_fp8_to_float(static_cast<unsigned char>(x >> 8), which)));
}

/* --- types -------------------------------------------------------------------------------------------- */

#define HIP_FP8(name, which)                                                                                       \
	struct __hip_fp8_##name {                                                                                  \
		static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                        \
		static constexpr __hip_fp8_interpretation_t __default_interpret = which;                           \
		__hip_fp8_storage_t __x;                                                                           \
		__hip_fp8_##name() = default;                                                                      \
		template <typename T, typename = typename hip_number<T>::itself>                                   \
		HIP_BOTH __hip_fp8_##name(T number)                                                                \
		    : __x(hip_fp8_from(static_cast<double>(number), __HIP_SATFINITE, which))                       \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH __hip_fp8_##name(__half number)                                                           \
		    : __x(__hip_cvt_halfraw_to_fp8(number, __HIP_SATFINITE, which))                                \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH __hip_fp8_##name(__hip_bfloat16 number)                                                   \
		    : __x(__hip_cvt_bfloat16raw_to_fp8(number, __HIP_SATFINITE, which))                            \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH operator float() const                                                                    \
		{                                                                                                  \
			return hip_fp8_to_float(__x, which);                                                       \
		}                                                                                                  \
		HIP_BOTH operator __half() const                                                                   \
		{                                                                                                  \
			return __half(hip_fp8_to_float(__x, which));                                               \
		}                                                                                                  \
		HIP_BOTH operator __hip_bfloat16() const                                                           \
		{                                                                                                  \
			return __hip_bfloat16(hip_fp8_to_float(__x, which));                                       \
		}                                                                                                  \
	};                                                                                                         \
	struct __hip_fp8x2_##name {                                                                                \
		__hip_fp8x2_storage_t __x;                                                                         \
		__hip_fp8x2_##name() = default;                                                                    \
		HIP_BOTH __hip_fp8x2_##name(float2 x) : __x(__hip_cvt_float2_to_fp8x2(x, __HIP_SATFINITE, which))  \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH __hip_fp8x2_##name(double2 x)                                                             \
		    : __x(__hip_cvt_double2_to_fp8x2(x, __HIP_SATFINITE, which))                                   \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH __hip_fp8x2_##name(__half2 x)                                                             \
		    : __x(__hip_cvt_halfraw2_to_fp8x2(x, __HIP_SATFINITE, which))                                  \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH __hip_fp8x2_##name(__hip_bfloat162 x)                                                     \
		    : __x(__hip_cvt_bfloat16raw2_to_fp8x2(x, __HIP_SATFINITE, which))                              \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH operator __half2() const                                                                  \
		{                                                                                                  \
			return __half2(__hip_cvt_fp8x2_to_halfraw2(__x, which));                                   \
		}                                                                                                  \
		HIP_BOTH operator float2() const                                                                   \
		{                                                                                                  \
			return make_float2(hip_fp8_to_float(static_cast<unsigned char>(__x), which),               \
					   hip_fp8_to_float(static_cast<unsigned char>(__x >> 8), which));         \
		}                                                                                                  \
	};                                                                                                         \
	struct __hip_fp8x4_##name {                                                                                \
		__hip_fp8x4_storage_t __x;                                                                         \
		__hip_fp8x4_##name() = default;                                                                    \
		HIP_BOTH __hip_fp8x4_##name(double4 x)                                                             \
		    : __x(static_cast<__hip_fp8x4_storage_t>(hip_fp8x2_from(x.z, x.w, __HIP_SATFINITE, which))     \
				  << 16 |                                                                          \
			  hip_fp8x2_from(x.x, x.y, __HIP_SATFINITE, which))                                        \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH __hip_fp8x4_##name(float4 x) : __hip_fp8x4_##name(double4(x.x, x.y, x.z, x.w))            \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH __hip_fp8x4_##name(__half2 low, __half2 high)                                             \
		    : __hip_fp8x4_##name(float4(static_cast<float>(low.x), static_cast<float>(low.y),              \
						static_cast<float>(high.x), static_cast<float>(high.y)))           \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH __hip_fp8x4_##name(__hip_bfloat162 low, __hip_bfloat162 high)                             \
		    : __hip_fp8x4_##name(float4(static_cast<float>(low.x), static_cast<float>(low.y),              \
						static_cast<float>(high.x), static_cast<float>(high.y)))           \
		{                                                                                                  \
		}                                                                                                  \
		HIP_BOTH operator float4() const                                                                   \
		{                                                                                                  \
			return make_float4(hip_fp8_to_float(static_cast<unsigned char>(__x), which),               \
					   hip_fp8_to_float(static_cast<unsigned char>(__x >> 8), which),          \
					   hip_fp8_to_float(static_cast<unsigned char>(__x >> 16), which),         \
					   hip_fp8_to_float(static_cast<unsigned char>(__x >> 24), which));        \
		}                                                                                                  \
	};
HIP_FP8(e4m3, __HIP_E4M3)
HIP_FP8(e5m2, __HIP_E5M2)
HIP_FP8(e4m3_fnuz, __HIP_E4M3_FNUZ)
HIP_FP8(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef HIP_FP8

#endif

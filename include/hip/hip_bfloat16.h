/* hip_bfloat16: the older 16-bit type, computed in float. hip_bf16.h has the newer one. */
#ifndef HIP_INCLUDE_HIP_HIP_BFLOAT16_H
#define HIP_INCLUDE_HIP_HIP_BFLOAT16_H

#include <hip/hip_runtime.h>

#ifndef __cplusplus
typedef struct {
	uint16_t data;
} hip_bfloat16;
#else
#include <hip/device/bf16_bits.h>

struct hip_bfloat16 {
	uint16_t data;

	enum truncate_t { truncate };
	hip_bfloat16() = default;
	HIP_BOTH explicit hip_bfloat16(float number) : data(hip_bf16_from_float(number))
	{
	}
	/* Rounds towards 0; a NaN stays a NaN. */
	HIP_BOTH explicit hip_bfloat16(float number, truncate_t) : data(hip_bf16_from_float(number))
	{
		unsigned int wide;

		__builtin_memcpy(&wide, &number, sizeof(wide));
		if (number == number)
			data = static_cast<uint16_t>(wide >> 16);
	}
	HIP_BOTH operator float() const
	{
		return hip_bf16_to_float(data);
	}
	HIP_BOTH hip_bfloat16 &operator=(const float &number)
	{
		data = hip_bf16_from_float(number);
		return *this;
	}
	HIP_BOTH static hip_bfloat16 round_to_bfloat16(float number)
	{
		return hip_bfloat16(number);
	}
	HIP_BOTH static hip_bfloat16 round_to_bfloat16(float number, truncate_t)
	{
		return hip_bfloat16(number, truncate);
	}
};

#define HIP_BFLOAT16_BINARY(op)                                                                                    \
	HIP_BOTH inline hip_bfloat16 operator op(hip_bfloat16 a, hip_bfloat16 b)                                   \
	{                                                                                                          \
		return hip_bfloat16(static_cast<float>(a) op static_cast<float>(b));                               \
	}                                                                                                          \
	HIP_BOTH inline hip_bfloat16 &operator op##=(hip_bfloat16 & a, hip_bfloat16 b)                             \
	{                                                                                                          \
		return a = a op b;                                                                                 \
	}
HIP_BFLOAT16_BINARY(+)
HIP_BFLOAT16_BINARY(-)
HIP_BFLOAT16_BINARY(*)
HIP_BFLOAT16_BINARY(/)
#undef HIP_BFLOAT16_BINARY

#define HIP_BFLOAT16_COMPARE(op)                                                                                   \
	HIP_BOTH inline bool operator op(hip_bfloat16 a, hip_bfloat16 b)                                           \
	{                                                                                                          \
		return static_cast<float>(a) op static_cast<float>(b);                                             \
	}
HIP_BFLOAT16_COMPARE(==)
HIP_BFLOAT16_COMPARE(!=)
HIP_BFLOAT16_COMPARE(<)
HIP_BFLOAT16_COMPARE(<=)
HIP_BFLOAT16_COMPARE(>)
HIP_BFLOAT16_COMPARE(>=)
#undef HIP_BFLOAT16_COMPARE

HIP_BOTH inline hip_bfloat16 operator+(hip_bfloat16 a)
{
	return a;
}

HIP_BOTH inline hip_bfloat16 operator-(hip_bfloat16 a)
{
	a.data ^= 0x8000;
	return a;
}

#define HIP_BFLOAT16_STEP(op, sign)                                                                                \
	HIP_BOTH inline hip_bfloat16 &operator op(hip_bfloat16 & a)                                                \
	{                                                                                                          \
		return a = hip_bfloat16(static_cast<float>(a) sign 1.0f);                                          \
	}                                                                                                          \
	HIP_BOTH inline hip_bfloat16 operator op(hip_bfloat16 &a, int)                                             \
	{                                                                                                          \
		hip_bfloat16 before = a;                                                                           \
		op a;                                                                                              \
		return before;                                                                                     \
	}
HIP_BFLOAT16_STEP(++, +)
HIP_BFLOAT16_STEP(--, -)
#undef HIP_BFLOAT16_STEP

#ifdef __HIP__
namespace std
{
HIP_BOTH constexpr bool isinf(const hip_bfloat16 &x)
{
	return (x.data & 0x7fff) == 0x7f80;
}
HIP_BOTH constexpr bool isnan(const hip_bfloat16 &x)
{
	return (x.data & 0x7fff) > 0x7f80;
}
HIP_BOTH constexpr bool iszero(const hip_bfloat16 &x)
{
	return !(x.data & 0x7fff);
}
} // namespace std
#endif
#endif

#endif

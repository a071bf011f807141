/* Conversions between the 16 bits of bfloat16, for both types, and wider numbers. */
#ifndef HIP_DEVICE_BF16_BITS_H
#define HIP_DEVICE_BF16_BITS_H

#include <hip/device/attributes.h>

HIP_BOTH inline float hip_bf16_to_float(unsigned short bits)
{
	unsigned int wide = static_cast<unsigned int>(bits) << 16;
	float number;

	__builtin_memcpy(&number, &wide, sizeof(number));
	return number;
}

/* Rounds to nearest, ties to even; a NaN stays a NaN. */
HIP_BOTH inline unsigned short hip_bf16_from_float(float number)
{
	unsigned int wide;

	__builtin_memcpy(&wide, &number, sizeof(wide));
	if (number != number)
		return static_cast<unsigned short>(wide >> 16 | 0x40);
	return static_cast<unsigned short>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

/* Rounds to float so that the second rounding, to 16 bits, is right: the last bit of an inexact float is set (round
 * to odd). */
HIP_BOTH inline unsigned short hip_bf16_from_double(double number)
{
	float near = static_cast<float>(number);
	unsigned int wide;

	__builtin_memcpy(&wide, &near, sizeof(wide));
	if (static_cast<double>(near) != number && number == number && !(wide & 1) && near - near == 0) {
		/* The odd float next to `near`, towards the number. */
		wide += (static_cast<double>(near) < number) == (near > 0 || (near == 0 && number > 0)) ? 1u : ~0u;
		if (near == 0)
			wide = number < 0 ? 0x80000001u : 1u;
		__builtin_memcpy(&near, &wide, sizeof(near));
	}
	return hip_bf16_from_float(near);
}

#endif

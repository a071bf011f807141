/* Arithmetic of four bytes at a time, under AMD's older names. */
#ifndef HIP_DEVICE_PACKED_H
#define HIP_DEVICE_PACKED_H

#include <hip/device/attributes.h>
#include <hip/hip_vector_types.h>

HIP_DEVICE char4 __hip_hc_add8pk(char4 a, char4 b)
{
	return a + b;
}

HIP_DEVICE char4 __hip_hc_sub8pk(char4 a, char4 b)
{
	return a - b;
}

HIP_DEVICE char4 __hip_hc_mul8pk(char4 a, char4 b)
{
	return a * b;
}

#endif

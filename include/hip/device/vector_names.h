/* Element types of short vectors, and the attributes of their functions. */
#ifndef HIP_DEVICE_VECTOR_NAMES_H
#define HIP_DEVICE_VECTOR_NAMES_H

#include <hip/api/base.h>

/* each(type, name): char, short, ... with the names of their vectors. */
#define HIP_VECTOR_SCALARS(each)                                                                                   \
	each(char, char) each(unsigned char, uchar) each(short, short) each(unsigned short, ushort) each(int, int) \
		each(unsigned int, uint) each(long, long) each(unsigned long, ulong) each(long long, longlong)     \
			each(unsigned long long, ulonglong) each(float, float) each(double, double)

#ifdef __HIP__
#define HIP_BOTH __attribute__((host)) __attribute__((device)) __attribute__((always_inline))
#else
#define HIP_BOTH
#endif

#endif

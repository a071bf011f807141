/* Arithmetic on several small numbers at a time, under AMD's names. */
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

/* c plus the products of the elements; saturate: clamped to the range of the result. */
#define HIP_DOT(vector, count, sum, wide, least, most)                                                             \
	HIP_DEVICE sum amd_mixed_dot(vector a, vector b, sum c, bool saturate)                                     \
	{                                                                                                          \
		wide total = c;                                                                                    \
		for (unsigned i = 0; i < count; i++)                                                               \
			total += static_cast<wide>(a.data[i]) * static_cast<wide>(b.data[i]);                      \
		if (saturate)                                                                                      \
			total = total < least ? least : total > most ? most : total;                               \
		return static_cast<sum>(total);                                                                    \
	}
HIP_DOT(short2, 2, int, long long, -0x80000000ll, 0x7fffffffll)
HIP_DOT(char4, 4, int, long long, -0x80000000ll, 0x7fffffffll)
HIP_DOT(ushort2, 2, unsigned int, unsigned long long, 0ull, 0xffffffffull)
HIP_DOT(uchar4, 4, unsigned int, unsigned long long, 0ull, 0xffffffffull)
#undef HIP_DOT

/* Eight 4-bit numbers. */
HIP_DEVICE int amd_mixed_dot(int a, int b, int c, bool saturate)
{
	long long total = c;

	for (int i = 28; i >= 0; i -= 4)
		total += (static_cast<int>(static_cast<unsigned>(a) << i) >> 28) *
			 (static_cast<int>(static_cast<unsigned>(b) << i) >> 28);
	if (saturate)
		total = total < -0x80000000ll ? -0x80000000ll : total > 0x7fffffff ? 0x7fffffff : total;
	return static_cast<int>(total);
}

HIP_DEVICE unsigned int amd_mixed_dot(unsigned int a, unsigned int b, unsigned int c, bool saturate)
{
	unsigned long long total = c;

	for (unsigned i = 0; i < 32; i += 4)
		total += (a >> i & 15) * (b >> i & 15);
	return static_cast<unsigned int>(saturate && total > 0xffffffff ? 0xffffffff : total);
}

#endif

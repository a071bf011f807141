/* Memory: __ldg(), which is a plain load (CUDA's uses the read-only cache), and functions of the C library for
 * kernels. */
#ifndef HIP_DEVICE_LOAD_H
#define HIP_DEVICE_LOAD_H

#include <hip/device/attributes.h>
#include <stddef.h>

template <typename T> HIP_DEVICE T __ldg(const T *address)
{
	return *address;
}

/* clang generates the loops. */
extern "C" {
HIP_DEVICE void *memcpy(void *to, const void *from, size_t size_B)
{
	__builtin_memcpy(to, from, size_B);
	return to;
}

HIP_DEVICE void *memset(void *to, int value, size_t size_B)
{
	__builtin_memset(to, value, size_B);
	return to;
}
}

#endif

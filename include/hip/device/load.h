/* Memory: __ldg(), a load that CUDA's compiler may keep in a cache of its own, here a load; and the C library's
 * functions that kernels may call. */
#ifndef HIP_DEVICE_LOAD_H
#define HIP_DEVICE_LOAD_H

#include <hip/device/attributes.h>
#include <stddef.h>

template <typename T> HIP_DEVICE T __ldg(const T *address)
{
	return *address;
}

/* clang writes the loops. */
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

/* What compilers define before HIP's headers, for those that have no header of this name. */
#ifndef HIP_RTC_WRAPPER_H
#define HIP_RTC_WRAPPER_H

#include <stddef.h>
#include <stdint.h>

#define __host__     __attribute__((host))
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__  __attribute__((managed))

extern "C" {
__device__ unsigned long long __ockl_dm_alloc(unsigned long long size);
__device__ void __ockl_dm_dealloc(unsigned long long address);
__attribute__((weak, noreturn)) __device__ void __cxa_pure_virtual(void)
{
	__builtin_trap();
}
__attribute__((weak, noreturn)) __device__ void __cxa_deleted_virtual(void)
{
	__builtin_trap();
}
__attribute__((weak)) inline __device__ void *malloc(size_t size)
{
	return (void *)__ockl_dm_alloc(size);
}
__attribute__((weak)) inline __device__ void free(void *memory)
{
	__ockl_dm_dealloc((unsigned long long)memory);
}
}

#include <mathematics.h>

#endif

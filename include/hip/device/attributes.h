/* Attributes of HIP C++: where a function runs, where a variable is stored, and the limits of a block. */
#ifndef HIP_DEVICE_ATTRIBUTES_H
#define HIP_DEVICE_ATTRIBUTES_H

#include <hip/hip_common.h>

/* rocThrust undefines the attributes unless AMD's header was included; this is the include guard of that header. */
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
#endif

#ifdef __HIP__
#ifndef __host__
#define __host__     __attribute__((host))
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__  __attribute__((managed))
#endif
/* __launch_bounds__(largest number of threads of a block, smallest number of waves of a SIMD). */
#define HIP_LAUNCH_BOUNDS_1(threads)          __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define HIP_LAUNCH_BOUNDS_2(threads, waves)   HIP_LAUNCH_BOUNDS_1(threads) __attribute__((amdgpu_waves_per_eu(waves)))
#define HIP_LAUNCH_BOUNDS(_1, _2, which, ...) which
#define __launch_bounds__(...)                                                                                     \
	HIP_LAUNCH_BOUNDS(__VA_ARGS__, HIP_LAUNCH_BOUNDS_2, HIP_LAUNCH_BOUNDS_1, )(__VA_ARGS__)
#else
/* A host compiler compiles host code only. */
#ifndef __host__
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#endif
#ifndef __noinline__
#define __noinline__
#endif
#define __launch_bounds__(...)
#endif

#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define __align__(bytes) __attribute__((aligned(bytes)))

/* LDS whose size is a parameter of the launch. */
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

/* Functions of these headers for kernels only. */
#define HIP_DEVICE __attribute__((device)) __attribute__((always_inline)) inline

#endif

/* What built-in kernels need of HIP's device language; clang defines the rest. */
#ifndef SHADERS_DEVICE_H
#define SHADERS_DEVICE_H

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef u32 u32x4 __attribute__((ext_vector_type(4)));

#endif

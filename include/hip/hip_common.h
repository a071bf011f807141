/* Macros that name the platform and the compiler. */
#ifndef HIP_INCLUDE_HIP_HIP_COMMON_H
#define HIP_INCLUDE_HIP_HIP_COMMON_H

#include <hip/hip_version.h>

#ifdef __HIP_PLATFORM_NVIDIA__
#error "these headers are for AMD's GPUs; __HIP_PLATFORM_NVIDIA__ asks for another's"
#endif
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
/* Older programs test this macro. */
#ifndef __HIP_PLATFORM_HCC__
#define __HIP_PLATFORM_HCC__ 1
#endif

/* clang with -x hip: the program can contain kernels. */
#if defined(__clang__) && defined(__HIP__)
#ifndef __HIPCC__
#define __HIPCC__ 1
#endif
#define __HIP_CLANG_ONLY__ 1
#else
#define __HIP_CLANG_ONLY__ 0
#endif

/* Features of the GPU. */
#ifdef __HIP__
#define __HIP_ARCH_HAS_GLOBAL_INT32_ATOMICS__     1
#define __HIP_ARCH_HAS_GLOBAL_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_SHARED_INT32_ATOMICS__     1
#define __HIP_ARCH_HAS_SHARED_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_FLOAT_ATOMIC_ADD__         1
#define __HIP_ARCH_HAS_GLOBAL_INT64_ATOMICS__     1
#define __HIP_ARCH_HAS_SHARED_INT64_ATOMICS__     1
#define __HIP_ARCH_HAS_DOUBLES__                  1
#define __HIP_ARCH_HAS_WARP_VOTE__                1
#define __HIP_ARCH_HAS_WARP_BALLOT__              1
#define __HIP_ARCH_HAS_WARP_SHUFFLE__             1
#define __HIP_ARCH_HAS_WARP_FUNNEL_SHIFT__        0
#define __HIP_ARCH_HAS_THREAD_FENCE_SYSTEM__      1
#define __HIP_ARCH_HAS_SYNC_THREAD_EXT__          0
#define __HIP_ARCH_HAS_SURFACE_FUNCS__            0
#define __HIP_ARCH_HAS_3DGRID__                   1
#define __HIP_ARCH_HAS_DYNAMIC_PARALLEL__         0
#endif

#endif

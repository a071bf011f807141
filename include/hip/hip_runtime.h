/* HIP: the host's interface, and what kernels use.
 *
 * clang-19 compiles a program with these headers and no others of ROCm's; the README beside them has the details:
 *
 *   clang-19 -x hip --offload-arch=gfx908 --rocm-path=include -nogpulib -I include app.hip -o app -L
 * build/release/lib
 *
 * A program that calls mathematical functions, printf(), assert() or malloc() in a kernel needs the device
 * libraries (Debian's rocm-device-libs) instead of -nogpulib:
 *
 *   --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
 *
 * Each part has a header in device/ that says what it offers. In C, and for compilers without kernels, this is
 * hip_runtime_api.h and the vectors. */
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H

/* C++ headers that programs expect: AMD's header includes them, and <thread> brings <chrono> and more. */
#ifndef __HIPCC_RTC__
#include <assert.h>
#endif
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hip/hip_version.h>

#ifdef __HIP__
#ifndef __HIPCC_RTC__
#include <array>
#include <thread>
#endif
#ifndef __CLANG_HIP_RUNTIME_WRAPPER_H__
/* clang includes this header itself, unless -nogpuinc is given. It declares malloc() for programs that define the
 * HIP version. */
#include <__clang_hip_runtime_wrapper.h>
#endif
#endif

#include <hip/hip_common.h>
#include <hip/device/attributes.h>
#include <hip/hip_runtime_api.h>
#include <hip/hip_vector_types.h>
#include <hip/library_types.h>

#ifdef __HIP__
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long long ullong;

#include <hip/device/traits.h>
#include <hip/device/launch.h>
#include <hip/device/index.h>
#include <hip/device/sync.h>
#include <hip/device/warp.h>
#include <hip/device/bits.h>
#include <hip/device/convert.h>
#include <hip/device/atomic.h>
#include <hip/device/load.h>
#include <hip/device/packed.h>
#include <hip/device/print.h>
#include <hip/device/texture.h>
#include <hip/device/surface.h>
#endif

#endif

/* The release whose interface the headers speak. TUFF_HIP_ABI chooses between two:
 *
 *   6 (what is meant when nothing is said)  HIP 6.4, libamdhip64.so.6
 *   5                                       HIP 5.7, libamdhip64.so.5
 *
 * The two differ in hipMemoryType, hipDeviceProp_t, hipPointerAttribute_t, HIP_MEMCPY3D, hipGraphNodeType and the
 * descriptors of external memory and semaphores; functions that only 6.4 has can be named with either, and linked
 * with .so.6. The choice is a program's: all of its sources must make the same one. */
#ifndef HIP_VERSION_H
#define HIP_VERSION_H

#ifndef TUFF_HIP_ABI
#define TUFF_HIP_ABI 6
#endif

#if TUFF_HIP_ABI == 6
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 4
#define HIP_VERSION_PATCH 43484
#elif TUFF_HIP_ABI == 5
#define HIP_VERSION_MAJOR 5
#define HIP_VERSION_MINOR 7
#define HIP_VERSION_PATCH 31921
#else
#error "TUFF_HIP_ABI is 5 or 6"
#endif
#define HIP_VERSION_GITHASH    ""
#define HIP_VERSION_BUILD_ID   0
#define HIP_VERSION_BUILD_NAME ""
#define HIP_VERSION            (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

#endif

/* The release whose interface the headers speak. TUFF_HIP_ABI chooses:
 *
 *   6 (what is meant when nothing is said)  HIP 6.4, libamdhip64.so.6
 *   5                                       HIP 5.7, libamdhip64.so.5
 *   7                                       HIP 7.2, libamdhip64.so.7
 *
 * 5 and 6 differ in hipMemoryType, hipDeviceProp_t, hipPointerAttribute_t, HIP_MEMCPY3D, hipGraphNodeType and the
 * descriptors of external memory and semaphores; 6 and 7 in the size of hipLaunchAttributeValue and in two functions
 * of memset nodes. Functions that only a later one has can be named with each, and linked with the later library.
 * The choice is a program's: all of its sources must make the same one. */
#ifndef HIP_VERSION_H
#define HIP_VERSION_H

#ifndef TUFF_HIP_ABI
#define TUFF_HIP_ABI 6
#endif

#if TUFF_HIP_ABI == 6
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 4
#define HIP_VERSION_PATCH 43484
#elif TUFF_HIP_ABI == 7
#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 53211
#elif TUFF_HIP_ABI == 5
#define HIP_VERSION_MAJOR 5
#define HIP_VERSION_MINOR 7
#define HIP_VERSION_PATCH 31921
#else
#error "TUFF_HIP_ABI is 5, 6 or 7"
#endif
#define HIP_VERSION_GITHASH    "0"
#define HIP_VERSION_BUILD_ID   0
#define HIP_VERSION_BUILD_NAME ""
#define HIP_VERSION            (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

#endif

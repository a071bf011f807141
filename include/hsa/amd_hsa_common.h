/* Macros of the amd_hsa_*.h headers: alignment, and bit fields as enumerators. */
#ifndef AMD_HSA_COMMON_H
#define AMD_HSA_COMMON_H

#include <stddef.h>
#include <stdint.h>

#define AMD_HSA_ABI_VERSION "AMD GPU Architecture v0.35 (June 25, 2015)"

#define __ALIGNED__(x) __attribute__((aligned(x)))

/* Defines three enumerators of a field: name_SHIFT, name_WIDTH in bits, and name, its mask. */
#define AMD_HSA_BITS_CREATE_ENUM_ENTRIES(name, shift, width)                                                       \
	name##_SHIFT = (shift), name##_WIDTH = (width), name = (int)(((1u << (width)) - 1) << (shift))

/* Read the field of a mask in src; set the field of dst to val, as one statement. */
#define AMD_HSA_BITS_GET(src, mask)      (((src) & (mask)) >> mask##_SHIFT)
#define AMD_HSA_BITS_SET(dst, mask, val) (dst) = ((dst) & ~(mask)) | (((val) << mask##_SHIFT) & (mask))

#endif

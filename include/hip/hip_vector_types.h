/* Short vectors: char1 to double4, for kernels and for the host, in C and C++. Vectors of 2 or 4 elements are
 * aligned to their size (double4 to 32 bytes), vectors of 3 to an element: the same in every language, so that C
 * programs can share memory with kernels. In C++ they are AMD's template, whose name is part of mangled names. */
#ifndef HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H
#define HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H

#include <hip/device/vector_names.h>

#ifdef __cplusplus
#include <hip/device/vector.h>
#else
#define HIP_VECTOR_STRUCTS(type, name)                                                                             \
	typedef struct {                                                                                           \
		type x;                                                                                            \
	} name##1;                                                                                                 \
	typedef struct {                                                                                           \
		type x, y;                                                                                         \
	} __attribute__((aligned(2 * sizeof(type)))) name##2;                                                      \
	typedef struct {                                                                                           \
		type x, y, z;                                                                                      \
	} name##3;                                                                                                 \
	typedef struct {                                                                                           \
		type x, y, z, w;                                                                                   \
	} __attribute__((aligned(4 * sizeof(type)))) name##4;
HIP_VECTOR_SCALARS(HIP_VECTOR_STRUCTS)
#undef HIP_VECTOR_STRUCTS
#endif

/* make_float4(x, y, z, w) and so on. */
#define HIP_VECTOR_MAKERS(type, name)                                                                              \
	HIP_BOTH HIP_INLINE name##1 make_##name##1(type x)                                                         \
	{                                                                                                          \
		name##1 made;                                                                                      \
		made.x = x;                                                                                        \
		return made;                                                                                       \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE name##2 make_##name##2(type x, type y)                                                 \
	{                                                                                                          \
		name##2 made;                                                                                      \
		made.x = x;                                                                                        \
		made.y = y;                                                                                        \
		return made;                                                                                       \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE name##3 make_##name##3(type x, type y, type z)                                         \
	{                                                                                                          \
		name##3 made;                                                                                      \
		made.x = x;                                                                                        \
		made.y = y;                                                                                        \
		made.z = z;                                                                                        \
		return made;                                                                                       \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE name##4 make_##name##4(type x, type y, type z, type w)                                 \
	{                                                                                                          \
		name##4 made;                                                                                      \
		made.x = x;                                                                                        \
		made.y = y;                                                                                        \
		made.z = z;                                                                                        \
		made.w = w;                                                                                        \
		return made;                                                                                       \
	}
HIP_VECTOR_SCALARS(HIP_VECTOR_MAKERS)
#undef HIP_VECTOR_MAKERS

#endif

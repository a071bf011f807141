/* Textures and surfaces in kernels: an image descriptor, followed by a sampler descriptor, and the functions of
 * ROCm's device libraries that read, sample and write. A texel is four registers. */
#ifndef HIP_DEVICE_IMAGE_H
#define HIP_DEVICE_IMAGE_H

#include <hip/device/attributes.h>
#include <hip/hip_vector_types.h>
#include <hip/surface_types.h>
#include <hip/texture_types.h>

/* clang defines this for targets without image instructions. */
#if __HIP_NO_IMAGE_SUPPORT
#define HIP_IMAGE                                                                                                  \
	HIP_DEVICE __attribute__((unavailable("this GPU has no image instructions, so no textures or surfaces")))
#else
#define HIP_IMAGE HIP_DEVICE
#endif

typedef const __attribute__((address_space(4))) unsigned int hip_image;
typedef float hip_float2 __attribute__((ext_vector_type(2)));
typedef float hip_float4 __attribute__((ext_vector_type(4)));
typedef int hip_int2 __attribute__((ext_vector_type(2)));
typedef int hip_int4 __attribute__((ext_vector_type(4)));

/* each(dimensions, integer position, floating position, derivative) */
#define HIP_IMAGES(each)                                                                                           \
	each(1D, int, float, float) each(1Da, hip_int2, hip_float2, float)                                         \
		each(2D, hip_int2, hip_float2, hip_float2) each(2Da, hip_int4, hip_float4, hip_float2)             \
			each(3D, hip_int4, hip_float4, hip_float4)

extern "C" {
#define HIP_IMAGE_FUNCTIONS(d, at, where, step)                                                                    \
	__attribute__((device)) hip_float4 __ockl_image_load_##d(hip_image *image, at position);                   \
	__attribute__((device)) void __ockl_image_store_##d(hip_image *image, at position, hip_float4 texel);      \
	__attribute__((device)) hip_float4 __ockl_image_sample_##d(hip_image *image, hip_image *sampler,           \
								   where position);                                \
	__attribute__((device)) hip_float4 __ockl_image_sample_lod_##d(hip_image *image, hip_image *sampler,       \
								       where position, float level);               \
	__attribute__((device)) hip_float4 __ockl_image_sample_grad_##d(                                           \
		hip_image *image, hip_image *sampler, where position, step along_x, step along_y);
HIP_IMAGES(HIP_IMAGE_FUNCTIONS)
#undef HIP_IMAGE_FUNCTIONS

/* A buffer, cube maps and arrays of them, and one channel of the four texels around a position (gather). */
__attribute__((device)) hip_float4 __ockl_image_load_1Db(hip_image *image, int position);
#define HIP_CUBE_FUNCTIONS(d, at)                                                                                  \
	__attribute__((device)) hip_float4 __ockl_image_load_##d(hip_image *image, at position, int face);         \
	__attribute__((device)) void __ockl_image_store_##d(hip_image *image, at position, int face,               \
							    hip_float4 texel);                                     \
	__attribute__((device)) hip_float4 __ockl_image_sample_##d(hip_image *image, hip_image *sampler,           \
								   hip_float4 position);                           \
	__attribute__((device)) hip_float4 __ockl_image_sample_lod_##d(hip_image *image, hip_image *sampler,       \
								       hip_float4 position, float level);
HIP_CUBE_FUNCTIONS(CM, hip_int2)
HIP_CUBE_FUNCTIONS(CMa, hip_int4)
#undef HIP_CUBE_FUNCTIONS
#define HIP_GATHER_FUNCTION(channel)                                                                               \
	__attribute__((device)) hip_float4 __ockl_image_gather4##channel##_2D(                                     \
		hip_image *image, hip_image *sampler, hip_float2 position);
HIP_GATHER_FUNCTION(r)
HIP_GATHER_FUNCTION(g)
HIP_GATHER_FUNCTION(b)
HIP_GATHER_FUNCTION(a)
#undef HIP_GATHER_FUNCTION
}
#undef HIP_IMAGES

/* --- texels as C++ types ---------------------------------------------------------------------------- */

/* Integers are in the registers as 32-bit integers, whatever the image's format is; other formats as floating
 * point. */
template <typename S_> struct hip_texel_scalar {
	HIP_DEVICE static S_ from(float word)
	{
		return static_cast<S_>(__builtin_bit_cast(int, word));
	}
	HIP_DEVICE static float to(S_ value)
	{
		return __builtin_bit_cast(float, static_cast<int>(value));
	}
};

template <> struct hip_texel_scalar<float> {
	HIP_DEVICE static float from(float word)
	{
		return word;
	}
	HIP_DEVICE static float to(float value)
	{
		return value;
	}
};

template <typename T> struct hip_texel {
	HIP_DEVICE static T from(hip_float4 words)
	{
		return hip_texel_scalar<T>::from(words[0]);
	}
	HIP_DEVICE static hip_float4 to(T value)
	{
		return hip_float4{hip_texel_scalar<T>::to(value), 0, 0, 0};
	}
};

template <typename S_, unsigned count> struct hip_texel<HIP_vector_type<S_, count>> {
	HIP_DEVICE static HIP_vector_type<S_, count> from(hip_float4 words)
	{
		HIP_vector_type<S_, count> made;

		for (unsigned i = 0; i < count; i++)
			made.data[i] = hip_texel_scalar<S_>::from(words[i]);
		return made;
	}
	HIP_DEVICE static hip_float4 to(HIP_vector_type<S_, count> value)
	{
		hip_float4 words = 0;

		for (unsigned i = 0; i < count; i++)
			words[i] = hip_texel_scalar<S_>::to(value.data[i]);
		return words;
	}
};

#endif

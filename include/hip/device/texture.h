/* Texture reads: T tex2D<T>(texture, x, y), or tex2D(&t, texture, x, y). T is the type of the texture's elements,
 * or float and its vectors where elements are read as normalized fractions. The texture defines the kind of
 * coordinates. Layers count from 0. */
#ifndef HIP_DEVICE_TEXTURE_H
#define HIP_DEVICE_TEXTURE_H

#include <hip/device/image.h>

/* A function in both forms; the expression `texels` may use image and sampler. */
#define HIP_FETCH(name, texels, arguments, ...)                                                                    \
	template <typename T> HIP_IMAGE T name(hipTextureObject_t texture, __VA_ARGS__)                            \
	{                                                                                                          \
		hip_image *image = (hip_image *)texture, *sampler = image + HIP_SAMPLER_OBJECT_OFFSET_DWORD;       \
		(void)sampler;                                                                                     \
		return hip_texel<T>::from(texels);                                                                 \
	}                                                                                                          \
	template <typename T> HIP_IMAGE void name(T *ptr, hipTextureObject_t texture, __VA_ARGS__)                 \
	{                                                                                                          \
		*ptr = name<T> arguments;                                                                          \
	}

HIP_FETCH(tex1Dfetch, __ockl_image_load_1Db(image, x), (texture, x), int x)

HIP_FETCH(tex1D, __ockl_image_sample_1D(image, sampler, x), (texture, x), float x)
HIP_FETCH(tex2D, __ockl_image_sample_2D(image, sampler, (hip_float2{x, y})), (texture, x, y), float x, float y)
HIP_FETCH(tex3D, __ockl_image_sample_3D(image, sampler, (hip_float4{x, y, z, 0})), (texture, x, y, z), float x,
	  float y, float z)
HIP_FETCH(tex1DLayered, __ockl_image_sample_1Da(image, sampler, (hip_float2{x, static_cast<float>(layer)})),
	  (texture, x, layer), float x, int layer)
HIP_FETCH(tex2DLayered, __ockl_image_sample_2Da(image, sampler, (hip_float4{x, y, static_cast<float>(layer), 0})),
	  (texture, x, y, layer), float x, float y, int layer)
HIP_FETCH(texCubemap, __ockl_image_sample_CM(image, sampler, (hip_float4{x, y, z, 0})), (texture, x, y, z), float x,
	  float y, float z)
HIP_FETCH(texCubemapLayered,
	  __ockl_image_sample_CMa(image, sampler, (hip_float4{x, y, z, static_cast<float>(layer)})),
	  (texture, x, y, z, layer), float x, float y, float z, int layer)

/* Reads a level of a mipmapped array. */
HIP_FETCH(tex1DLod, __ockl_image_sample_lod_1D(image, sampler, x, level), (texture, x, level), float x, float level)
HIP_FETCH(tex2DLod, __ockl_image_sample_lod_2D(image, sampler, (hip_float2{x, y}), level), (texture, x, y, level),
	  float x, float y, float level)
HIP_FETCH(tex3DLod, __ockl_image_sample_lod_3D(image, sampler, (hip_float4{x, y, z, 0}), level),
	  (texture, x, y, z, level), float x, float y, float z, float level)
HIP_FETCH(tex1DLayeredLod,
	  __ockl_image_sample_lod_1Da(image, sampler, (hip_float2{x, static_cast<float>(layer)}), level),
	  (texture, x, layer, level), float x, int layer, float level)
HIP_FETCH(tex2DLayeredLod,
	  __ockl_image_sample_lod_2Da(image, sampler, (hip_float4{x, y, static_cast<float>(layer), 0}), level),
	  (texture, x, y, layer, level), float x, float y, int layer, float level)
HIP_FETCH(texCubemapLod, __ockl_image_sample_lod_CM(image, sampler, (hip_float4{x, y, z, 0}), level),
	  (texture, x, y, z, level), float x, float y, float z, float level)
HIP_FETCH(texCubemapLayeredLod,
	  __ockl_image_sample_lod_CMa(image, sampler, (hip_float4{x, y, z, static_cast<float>(layer)}), level),
	  (texture, x, y, z, layer, level), float x, float y, float z, int layer, float level)

/* Selects the level by the gradients. */
HIP_FETCH(tex1DGrad, __ockl_image_sample_grad_1D(image, sampler, x, dPdx, dPdy), (texture, x, dPdx, dPdy), float x,
	  float dPdx, float dPdy)
HIP_FETCH(tex2DGrad, __ockl_image_sample_grad_2D(image, sampler, (hip_float2{x, y}), dPdx.data, dPdy.data),
	  (texture, x, y, dPdx, dPdy), float x, float y, float2 dPdx, float2 dPdy)
HIP_FETCH(tex3DGrad, __ockl_image_sample_grad_3D(image, sampler, (hip_float4{x, y, z, 0}), dPdx.data, dPdy.data),
	  (texture, x, y, z, dPdx, dPdy), float x, float y, float z, float4 dPdx, float4 dPdy)
HIP_FETCH(tex1DLayeredGrad,
	  __ockl_image_sample_grad_1Da(image, sampler, (hip_float2{x, static_cast<float>(layer)}), dPdx, dPdy),
	  (texture, x, layer, dPdx, dPdy), float x, int layer, float dPdx, float dPdy)
HIP_FETCH(tex2DLayeredGrad,
	  __ockl_image_sample_grad_2Da(image, sampler, (hip_float4{x, y, static_cast<float>(layer), 0}), dPdx.data,
				       dPdy.data),
	  (texture, x, y, layer, dPdx, dPdy), float x, float y, int layer, float2 dPdx, float2 dPdy)
/* Gradients select a level, and cube maps have only one. */
HIP_FETCH(texCubemapGrad,
	  ((void)dPdx, (void)dPdy, __ockl_image_sample_lod_CM(image, sampler, (hip_float4{x, y, z, 0}), 0)),
	  (texture, x, y, z, dPdx, dPdy), float x, float y, float z, float4 dPdx, float4 dPdy)
HIP_FETCH(texCubemapLayeredGrad,
	  ((void)dPdx, (void)dPdy,
	   __ockl_image_sample_lod_CMa(image, sampler, (hip_float4{x, y, z, static_cast<float>(layer)}), 0)),
	  (texture, x, y, z, layer, dPdx, dPdy), float x, float y, float z, int layer, float4 dPdx, float4 dPdy)

/* One channel (comp: 0 to 3) of the four elements that a linear filter would use. */
HIP_FETCH(tex2Dgather,
	  comp == 0   ? __ockl_image_gather4r_2D(image, sampler, (hip_float2{x, y}))
	  : comp == 1 ? __ockl_image_gather4g_2D(image, sampler, (hip_float2{x, y}))
	  : comp == 2 ? __ockl_image_gather4b_2D(image, sampler, (hip_float2{x, y}))
		      : __ockl_image_gather4a_2D(image, sampler, (hip_float2{x, y})),
	  (texture, x, y, comp), float x, float y, int comp = 0)
#undef HIP_FETCH

/* --- references: variables of the program that textures are bound to -------------------------------- */

/* The type of a read: that of the element, or of a normalized fraction. */
template <typename T, hipTextureReadMode mode> struct hip_texture_read {
	typedef T type;
};
template <typename S_> struct hip_texture_read<S_, hipReadModeNormalizedFloat> {
	typedef float type;
};
template <typename S_, unsigned count>
struct hip_texture_read<HIP_vector_type<S_, count>, hipReadModeNormalizedFloat> {
	typedef HIP_vector_type<float, count> type;
};

#define HIP_FETCH_REFERENCE(name, kind, arguments, ...)                                                            \
	template <typename T, hipTextureReadMode mode>                                                             \
	HIP_IMAGE typename hip_texture_read<T, mode>::type name(texture<T, kind, mode> reference, __VA_ARGS__)     \
	{                                                                                                          \
		return name<typename hip_texture_read<T, mode>::type> arguments;                                   \
	}
HIP_FETCH_REFERENCE(tex1Dfetch, hipTextureType1D, (reference.textureObject, x), int x)
HIP_FETCH_REFERENCE(tex1D, hipTextureType1D, (reference.textureObject, x), float x)
HIP_FETCH_REFERENCE(tex2D, hipTextureType2D, (reference.textureObject, x, y), float x, float y)
HIP_FETCH_REFERENCE(tex3D, hipTextureType3D, (reference.textureObject, x, y, z), float x, float y, float z)
HIP_FETCH_REFERENCE(tex1DLayered, hipTextureType1DLayered, (reference.textureObject, x, layer), float x, int layer)
HIP_FETCH_REFERENCE(tex2DLayered, hipTextureType2DLayered, (reference.textureObject, x, y, layer), float x, float y,
		    int layer)
#undef HIP_FETCH_REFERENCE

#endif

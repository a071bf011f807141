/* Surface reads and writes by position: x is in bytes, the others in elements. T is the type of the surface's
 * elements. A read outside the surface gives 0, a write there does nothing. */
#ifndef HIP_DEVICE_SURFACE_H
#define HIP_DEVICE_SURFACE_H

#include <hip/device/image.h>

/* Both functions for a kind of surface; `position` and the parameters are those of the access. */
#define HIP_SURFACE(name, d, position, ...)                                                                        \
	template <typename T> HIP_IMAGE void name##read(T *data, hipSurfaceObject_t surface, __VA_ARGS__)          \
	{                                                                                                          \
		int column = x / static_cast<int>(sizeof(T));                                                      \
		*data = hip_texel<T>::from(__ockl_image_load_##d((hip_image *)surface, position));                 \
	}                                                                                                          \
	template <typename T> HIP_IMAGE void name##write(T data, hipSurfaceObject_t surface, __VA_ARGS__)          \
	{                                                                                                          \
		int column = x / static_cast<int>(sizeof(T));                                                      \
		__ockl_image_store_##d((hip_image *)surface, position, hip_texel<T>::to(data));                    \
	}
HIP_SURFACE(surf1D, 1D, column, int x)
HIP_SURFACE(surf2D, 2D, (hip_int2{column, y}), int x, int y)
HIP_SURFACE(surf3D, 3D, (hip_int4{column, y, z, 0}), int x, int y, int z)
HIP_SURFACE(surf1DLayered, 1Da, (hip_int2{column, layer}), int x, int layer)
HIP_SURFACE(surf2DLayered, 2Da, (hip_int4{column, y, layer, 0}), int x, int y, int layer)
#undef HIP_SURFACE

/* Faces of a cube, 0 to 5: +x, -x, +y, -y, +z, -z. */
#define HIP_SURFACE_CUBE(name, d, position, ...)                                                                   \
	template <typename T> HIP_IMAGE void name##read(T *data, hipSurfaceObject_t surface, __VA_ARGS__)          \
	{                                                                                                          \
		int column = x / static_cast<int>(sizeof(T));                                                      \
		*data = hip_texel<T>::from(__ockl_image_load_##d((hip_image *)surface, position, face % 6));       \
	}                                                                                                          \
	template <typename T> HIP_IMAGE void name##write(T data, hipSurfaceObject_t surface, __VA_ARGS__)          \
	{                                                                                                          \
		int column = x / static_cast<int>(sizeof(T));                                                      \
		__ockl_image_store_##d((hip_image *)surface, position, face % 6, hip_texel<T>::to(data));          \
	}
HIP_SURFACE_CUBE(surfCubemap, CM, (hip_int2{column, y}), int x, int y, int face)
HIP_SURFACE_CUBE(surfCubemapLayered, CMa, (hip_int4{column, y, layer, 0}), int x, int y, int face, int layer)
/* CUDA's form: six faces for each layer. */
HIP_SURFACE_CUBE(surfCubemapLayered, CMa, (hip_int4{column, y, face / 6, 0}), int x, int y, int face)
#undef HIP_SURFACE_CUBE

#endif

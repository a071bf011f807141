/* OpenGL interoperability, which is not supported. Each function checks its arguments and returns
 * hipErrorNotSupported, or what CLR returns without OpenGL. */
#include "api/stream/stream.h"

#include <hip/hip_gl_interop.h>

static hipError_t none_unless(bool wrong)
{
	return wrong ? hipErrorInvalidValue : hipErrorNotSupported;
}

HIP_PUBLIC(hipGLGetDevices, (unsigned int *count, int *devices, unsigned int room, hipGLDeviceList list),
	   (count, devices, room, list))
{
	return none_unless(list != hipGLDeviceListNextFrame && (!count || !devices || !room));
}

/* CLR accepts one known flag, or none. */
static bool are_flags(unsigned flags)
{
	return !flags ||
	       (flags & (hipGraphicsRegisterFlagsReadOnly | hipGraphicsRegisterFlagsWriteDiscard |
			 hipGraphicsRegisterFlagsSurfaceLoadStore | hipGraphicsRegisterFlagsTextureGather));
}

HIP_PUBLIC(hipGraphicsGLRegisterBuffer, (hipGraphicsResource **resource, unsigned int buffer, unsigned int flags),
	   (resource, buffer, flags))
{
	(void)buffer;
	return none_unless(!resource || !are_flags(flags));
}

HIP_PUBLIC(hipGraphicsGLRegisterImage,
	   (hipGraphicsResource **resource, unsigned int image, unsigned int target, unsigned int flags),
	   (resource, image, target, flags))
{
	(void)image, (void)target;
	return none_unless(!resource || !are_flags(flags));
}

HIP_PUBLIC(hipGraphicsMapResources, (int count, hipGraphicsResource_t *resources, hipStream_t stream),
	   (count, resources, stream))
{
	(void)count, (void)resources, (void)stream;
	return hipErrorUnknown;
}

HIP_PUBLIC(hipGraphicsUnmapResources, (int count, hipGraphicsResource_t *resources, hipStream_t stream),
	   (count, resources, stream))
{
	struct hip_stream *s;
	hipError_t r;

	(void)count, (void)resources;
	r = hip_stream_of(stream, &s);
	return r ? r : hipErrorUnknown;
}

HIP_PUBLIC(hipGraphicsSubResourceGetMappedArray,
	   (hipArray_t *array, hipGraphicsResource_t resource, unsigned int index, unsigned int level),
	   (array, resource, index, level))
{
	(void)index, (void)level;
	return none_unless(!array || !resource);
}

HIP_PUBLIC(hipGraphicsResourceGetMappedPointer, (void **at, size_t *size, hipGraphicsResource_t resource),
	   (at, size, resource))
{
	(void)at, (void)size, (void)resource;
	return hipErrorUnknown;
}

HIP_PUBLIC(hipGraphicsUnregisterResource, (hipGraphicsResource_t resource), (resource))
{
	return none_unless(!resource);
}

/* OpenGL interoperability, which is not supported. Each function checks its arguments and returns
 * hipErrorNotSupported, or what CLR returns without OpenGL. */
#include "api/stream/stream.h"

#include <hip/hip_gl_interop.h>

static hipError_t none_unless(bool wrong)
{
	return wrong ? hipErrorInvalidValue : hipErrorNotSupported;
}

hipError_t hipGLGetDevices(unsigned int *count, int *devices, unsigned int room, hipGLDeviceList list)
{
	HIP_ENTER();
	return hip_end(none_unless(list != hipGLDeviceListNextFrame && (!count || !devices || !room)));
}

/* CLR accepts one known flag, or none. */
static bool are_flags(unsigned flags)
{
	return !flags ||
	       (flags & (hipGraphicsRegisterFlagsReadOnly | hipGraphicsRegisterFlagsWriteDiscard |
			 hipGraphicsRegisterFlagsSurfaceLoadStore | hipGraphicsRegisterFlagsTextureGather));
}

hipError_t hipGraphicsGLRegisterBuffer(hipGraphicsResource **resource, unsigned int buffer, unsigned int flags)
{
	HIP_ENTER();
	(void)buffer;
	return hip_end(none_unless(!resource || !are_flags(flags)));
}

hipError_t hipGraphicsGLRegisterImage(hipGraphicsResource **resource, unsigned int image, unsigned int target,
				      unsigned int flags)
{
	HIP_ENTER();
	(void)image, (void)target;
	return hip_end(none_unless(!resource || !are_flags(flags)));
}

hipError_t hipGraphicsMapResources(int count, hipGraphicsResource_t *resources, hipStream_t stream)
{
	HIP_ENTER();
	(void)count, (void)resources, (void)stream;
	return hip_end(hipErrorUnknown);
}

hipError_t hipGraphicsUnmapResources(int count, hipGraphicsResource_t *resources, hipStream_t stream)
{
	struct hip_stream *s;
	hipError_t r;

	HIP_ENTER();
	(void)count, (void)resources;
	r = hip_stream_of(stream, &s);
	return hip_end(r ? r : hipErrorUnknown);
}

hipError_t hipGraphicsSubResourceGetMappedArray(hipArray_t *array, hipGraphicsResource_t resource,
						unsigned int index, unsigned int level)
{
	HIP_ENTER();
	(void)index, (void)level;
	return hip_end(none_unless(!array || !resource));
}

hipError_t hipGraphicsResourceGetMappedPointer(void **at, size_t *size, hipGraphicsResource_t resource)
{
	HIP_ENTER();
	(void)at, (void)size, (void)resource;
	return hip_end(hipErrorUnknown);
}

hipError_t hipGraphicsUnregisterResource(hipGraphicsResource_t resource)
{
	HIP_ENTER();
	return hip_end(none_unless(!resource));
}

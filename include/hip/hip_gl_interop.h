/* OpenGL buffers and images; the program includes GL's header first. All functions are thread safe. Errors:
 * NotSupported, since this library cannot access the thread's GL context; Unknown, for resources, since there are
 * none. */
#ifndef HIP_INCLUDE_HIP_HIP_GL_INTEROP_H
#define HIP_INCLUDE_HIP_HIP_GL_INTEROP_H

#include <hip/api/external.h>

typedef enum hipGLDeviceList {
	hipGLDeviceListAll = 1,
	hipGLDeviceListCurrentFrame = 2,
	hipGLDeviceListNextFrame = 3
} hipGLDeviceList;

HIP_API_BEGIN

/* The HIP devices that render the current context; at most hipDeviceCount are returned. */
hipError_t hipGLGetDevices(unsigned int *pHipDeviceCount, int *pHipDevices, unsigned int hipDeviceCount,
			   hipGLDeviceList deviceList);
/* buffer, image: GLuint; target: GLenum. */
hipError_t hipGraphicsGLRegisterBuffer(hipGraphicsResource **resource, unsigned int buffer, unsigned int flags);
hipError_t hipGraphicsGLRegisterImage(hipGraphicsResource **resource, unsigned int image, unsigned int target,
				      unsigned int flags);

HIP_API_END

#endif

/* Another name of hip_gl_interop.h. */
#ifndef HIP_AMD_DETAIL_AMD_HIP_GL_INTEROP_H
#define HIP_AMD_DETAIL_AMD_HIP_GL_INTEROP_H

#include <hip/hip_gl_interop.h>

#endif

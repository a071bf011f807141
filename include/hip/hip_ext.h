/* AMD's extensions: launches in threads instead of blocks, with events for their times. */
#ifndef HIP_INCLUDE_HIP_HIP_EXT_H
#define HIP_INCLUDE_HIP_HIP_EXT_H

#include <hip/hip_runtime.h>

/* HIP 5's library has these functions under mangled C++ names. */
#if TUFF_HIP_ABI == 5
#define HIP_EXT_NAME(name) __asm__(name)
#else
#define HIP_EXT_NAME(name)
#endif

HIP_API_BEGIN

/* The same as hipModuleLaunchKernel(), with a grid in threads. startEvent, stopEvent: recorded before and after, or
 * NULL. flags: 0 or hipExtAnyOrderLaunch. */
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
				    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY,
				    uint32_t localWorkSizeZ, size_t sharedMemBytes, hipStream_t hStream,
				    void **kernelParams, void **extra, hipEvent_t startEvent HIP_DEFAULT_ARG(0),
				    hipEvent_t stopEvent HIP_DEFAULT_ARG(0), uint32_t flags HIP_DEFAULT_ARG(0))
	HIP_EXT_NAME(
		"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j");
HIP_DEPRECATED hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
						   uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
						   uint32_t localWorkSizeX, uint32_t localWorkSizeY,
						   uint32_t localWorkSizeZ, size_t sharedMemBytes,
						   hipStream_t hStream, void **kernelParams, void **extra,
						   hipEvent_t startEvent HIP_DEFAULT_ARG(0),
						   hipEvent_t stopEvent HIP_DEFAULT_ARG(0))
	HIP_EXT_NAME(
		"_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_");

HIP_API_END

#undef HIP_EXT_NAME

#if defined(__cplusplus) && defined(__HIP__)
/* A launch between events: hipExtLaunchKernelGGL(kernel, grid, block, bytes, stream, start, stop, flags,
 * arguments...). The name of a template without arguments means the kernel for the arguments' types. */
template <typename... Arguments, typename Kernel = void (*)(Arguments...)>
inline void hipExtLaunchKernelGGL(Kernel kernel, const dim3 &grid, const dim3 &block, uint32_t shared_B,
				  hipStream_t stream, hipEvent_t start, hipEvent_t stop, uint32_t flags,
				  Arguments... arguments)
{
	hip_launch_converted(
		kernel,
		[&](void **list) {
			(void)hipExtLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, list,
						 shared_B, stream, start, stop, static_cast<int>(flags));
		},
		arguments...);
}
#endif

#endif

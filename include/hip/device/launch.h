/* Launches that are written as a call. */
#ifndef HIP_DEVICE_LAUNCH_H
#define HIP_DEVICE_LAUNCH_H

#include <hip/api/launch.h>

/* A template with several arguments as one argument of a macro; a variable where its address is wanted. */
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol)   symbol

/* hipLaunchKernelGGL(kernel, grid, block, bytes of LDS, stream, arguments...) */
#define hipLaunchKernelGGL(kernel, ...) HIP_LAUNCH_CALL((kernel), __VA_ARGS__)
#define HIP_LAUNCH_CALL(kernel, grid, block, shared_B, stream, ...)                                                \
	do {                                                                                                       \
		kernel<<<(grid), (block), (shared_B), (stream)>>>(__VA_ARGS__);                                    \
	} while (0)
#define hipLaunchKernel_GGL hipLaunchKernelGGL

#endif

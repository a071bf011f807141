/* Launches in the form of function calls. */
#ifndef HIP_DEVICE_LAUNCH_H
#define HIP_DEVICE_LAUNCH_H

#include <hip/api/launch.h>

/* Lets a template with several arguments be one argument of a macro; names a variable where its address is
 * needed. */
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol)   symbol

/* Calls `launch` with the addresses of the arguments, converted to the kernel's parameter types. */
template <typename F_, typename... A_> inline void hip_launch_packed(F_ launch, A_... arguments)
{
	void *list[] = {static_cast<void *>(&arguments)..., nullptr};

	launch(list);
}

template <typename... Parameters, typename F_, typename... A_>
inline void hip_launch_converted(void (*)(Parameters...), F_ launch, A_... arguments)
{
	hip_launch_packed(launch, static_cast<Parameters>(arguments)...);
}

/* hipLaunchKernelGGL(kernel, grid, block, bytes of LDS, stream, arguments...). A function, for programs that define
 * HIP_TEMPLATE_KERNEL_LAUNCH: template arguments may contain commas then. */
#ifdef HIP_TEMPLATE_KERNEL_LAUNCH
template <typename... Arguments, typename Kernel = void (*)(Arguments...)>
inline void hipLaunchKernelGGL(Kernel kernel, const dim3 &grid, const dim3 &block, uint32_t shared_B,
			       hipStream_t stream, Arguments... arguments)
{
	hip_launch_converted(
		kernel,
		[&](void **list) {
			(void)hipLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, list, shared_B,
					      stream);
		},
		arguments...);
}
#else
#define hipLaunchKernelGGL(kernel, ...) HIP_LAUNCH_CALL((kernel), __VA_ARGS__)
#define HIP_LAUNCH_CALL(kernel, grid, block, shared_B, stream, ...)                                                \
	do {                                                                                                       \
		kernel<<<(grid), (block), (shared_B), (stream)>>>(__VA_ARGS__);                                    \
	} while (0)
#endif
#define hipLaunchKernel_GGL hipLaunchKernelGGL

#endif

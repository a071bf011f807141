/* Definitions that all parts of the host interface share: attributes of functions, handles, dim3. */
#ifndef HIP_API_BASE_H
#define HIP_API_BASE_H

#include <stddef.h>
#include <stdint.h>

#include <hip/device/attributes.h>
#include <hip/hip_common.h>

/* The library's functions stay visible in programs that are compiled with -fvisibility=hidden. */
#ifdef __cplusplus
#define HIP_API_BEGIN                                                                                              \
	_Pragma("GCC visibility push(default)") extern "C"                                                         \
	{
#define HIP_API_END                                                                                                \
	}                                                                                                          \
	_Pragma("GCC visibility pop")
#define HIP_DEFAULT_ARG(x) = x
#define HIP_INLINE         inline
#else
#define HIP_API_BEGIN _Pragma("GCC visibility push(default)")
#define HIP_API_END   _Pragma("GCC visibility pop")
#define HIP_DEFAULT_ARG(x)
#define HIP_INLINE static inline __attribute__((unused))
#endif

/* For functions that older programs use; newer ones are in the same header. A program may define it as nothing. */
#ifndef HIP_DEPRECATED
#define HIP_DEPRECATED __attribute__((deprecated))
#endif

HIP_API_BEGIN

/* A GPU address. The host uses the same address where it can access the memory. */
typedef void *hipDeviceptr_t;
/* A device's number, from 0 to hipGetDeviceCount() - 1. */
typedef int hipDevice_t;

/* Handles. Each belongs to its creator, until the function that destroys it. */
typedef struct ihipCtx_t *hipCtx_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipLibrary_t *hipLibrary_t;
typedef struct ihipKernel_t *hipKernel_t;
typedef struct ihipMemPoolHandle_t *hipMemPool_t;
typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef struct hipGraphExec *hipGraphExec_t;

/* Runs on a thread of the library, and must not call HIP. */
typedef void (*hipHostFn_t)(void *userData);

/* Blocks of a grid, or threads of a block. */
typedef struct dim3 {
	uint32_t x;
	uint32_t y;
	uint32_t z;
#ifdef __cplusplus
#ifdef __HIP__
	constexpr __attribute__((host)) __attribute__((device))
#else
	constexpr
#endif
	dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1)
	    : x(x_), y(y_), z(z_)
	{
	}
#endif
} dim3;

HIP_API_END

#endif

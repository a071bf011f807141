/* Contexts: CUDA's older way to select a thread's device. A device has one context; "created" contexts are views of
 * it. New programs use hipSetDevice(). Each thread has a stack of contexts. */
#ifndef HIP_API_CONTEXT_H
#define HIP_API_CONTEXT_H

#include <hip/api/device.h>

HIP_API_BEGIN

/* Pushes a context of the device on the thread's stack. Errors: InvalidDevice. */
HIP_DEPRECATED hipError_t hipCtxCreate(hipCtx_t *ctx, unsigned int flags, hipDevice_t device);
/* Errors: InvalidContext, when the handle is none or destroyed. */
HIP_DEPRECATED hipError_t hipCtxDestroy(hipCtx_t ctx);
HIP_DEPRECATED hipError_t hipCtxPopCurrent(hipCtx_t *ctx);
HIP_DEPRECATED hipError_t hipCtxPushCurrent(hipCtx_t ctx);
HIP_DEPRECATED hipError_t hipCtxSetCurrent(hipCtx_t ctx);
/* Returns NULL when the thread has no context. */
HIP_DEPRECATED hipError_t hipCtxGetCurrent(hipCtx_t *ctx);
HIP_DEPRECATED hipError_t hipCtxGetDevice(hipDevice_t *device);
HIP_DEPRECATED hipError_t hipCtxGetFlags(unsigned int *flags);
HIP_DEPRECATED hipError_t hipCtxGetApiVersion(hipCtx_t ctx, int *apiVersion);
/* The same as hipDeviceSynchronize(). */
HIP_DEPRECATED hipError_t hipCtxSynchronize(void);
/* Accepted, without effect. */
HIP_DEPRECATED hipError_t hipCtxGetCacheConfig(hipFuncCache_t *cacheConfig);
HIP_DEPRECATED hipError_t hipCtxSetCacheConfig(hipFuncCache_t cacheConfig);
HIP_DEPRECATED hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config);
HIP_DEPRECATED hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *pConfig);
/* The same as hipDeviceEnablePeerAccess() and hipDeviceDisablePeerAccess() for the context's device. */
HIP_DEPRECATED hipError_t hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags);
HIP_DEPRECATED hipError_t hipCtxDisablePeerAccess(hipCtx_t peerCtx);

/* The device's primary context, which exists as long as the process. */
HIP_DEPRECATED hipError_t hipDevicePrimaryCtxGetState(hipDevice_t dev, unsigned int *flags, int *active);
HIP_DEPRECATED hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *pctx, hipDevice_t dev);
HIP_DEPRECATED hipError_t hipDevicePrimaryCtxRelease(hipDevice_t dev);
HIP_DEPRECATED hipError_t hipDevicePrimaryCtxReset(hipDevice_t dev);
HIP_DEPRECATED hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t dev, unsigned int flags);

HIP_API_END

#endif

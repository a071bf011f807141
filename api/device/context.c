/* Contexts of CUDA's driver API: each is a view of its device's primary context. A thread has a stack of contexts,
 * whose top selects its device. */
#include <stdlib.h>

#include "api/base/entry.h"

struct hip_context {
	uint64_t handle;
	struct hip_device *device;
	unsigned flags;
};

/* Primary contexts, made when first used. */
static struct {
	pthread_mutex_t lock;
	struct hip_context *context[HIP_DEVICES_MAX];
} primary = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define STACK_MAX 64
static _Thread_local struct {
	hipCtx_t context[STACK_MAX];
	unsigned count;
} stack;

static struct hip_context *context_of(hipCtx_t handle)
{
	return hip_find(HIP_CONTEXT, handle);
}

/* The top of the thread's stack. NULL: the stack is empty, or the context is destroyed. */
static const struct hip_context *context_top(void)
{
	return stack.count ? context_of(stack.context[stack.count - 1]) : NULL;
}

static hipError_t context_make(struct hip_device *device, unsigned flags, struct hip_context **out)
{
	struct hip_context *c = calloc(1, sizeof(*c));

	if (!c)
		return hipErrorOutOfMemory;
	c->device = device;
	c->flags = flags;
	if (drv_handle_create(&hip_handles, HIP_KIND(HIP_CONTEXT), c, &c->handle)) {
		free(c);
		return hipErrorOutOfMemory;
	}
	*out = c;
	return hipSuccess;
}

static hipError_t primary_of(struct hip_device *device, hipCtx_t *out)
{
	struct hip_context **at = &primary.context[device->index];
	hipError_t r = hipSuccess;

	pthread_mutex_lock(&primary.lock);
	if (!*at)
		r = context_make(device, 0, at);
	if (!r)
		*out = (hipCtx_t)(uintptr_t)(*at)->handle;
	pthread_mutex_unlock(&primary.lock);
	return r;
}

static hipError_t context_push(hipCtx_t handle)
{
	const struct hip_context *c = context_of(handle);

	if (!c)
		return hipErrorInvalidContext;
	if (stack.count == STACK_MAX)
		return hipErrorOutOfMemory;
	stack.context[stack.count++] = handle;
	hip_thread.device = c->device->index;
	return hipSuccess;
}

static hipError_t context_pop(hipCtx_t *out)
{
	const struct hip_context *c;

	if (!stack.count)
		return hipErrorInvalidContext;
	stack.count--;
	if (out)
		*out = stack.context[stack.count];
	c = context_top();
	if (c)
		hip_thread.device = c->device->index;
	return hipSuccess;
}

static hipError_t context_create(hipCtx_t *out, unsigned flags, int device)
{
	struct hip_context *c;
	hipError_t r;

	if (!out || !hip_device_of(device))
		return hipErrorInvalidValue;
	r = context_make(hip_device_of(device), flags, &c);
	if (r)
		return r;
	*out = (hipCtx_t)(uintptr_t)c->handle;
	/* Flags belong to the device, since contexts are views of one. */
	c->device->flags = flags;
	return context_push(*out);
}

hipError_t hipCtxCreate(hipCtx_t *context, unsigned int flags, hipDevice_t device)
{
	HIP_ENTER();
	return hip_end(context_create(context, flags, device));
}

hipError_t hipCtxDestroy(hipCtx_t context)
{
	struct hip_context *c;

	HIP_ENTER();
	c = context_of(context);
	if (!c || c == primary.context[c->device->index])
		return hip_end(c || !context ? hipErrorInvalidValue : hipErrorInvalidContext);
	if (stack.count && stack.context[stack.count - 1] == context)
		(void)!context_pop(NULL);
	drv_handle_destroy(&hip_handles, c->handle);
	free(c);
	return hip_end(hipSuccess);
}

hipError_t hipCtxPopCurrent(hipCtx_t *context)
{
	HIP_ENTER();
	return hip_end(context_pop(context));
}

hipError_t hipCtxPushCurrent(hipCtx_t context)
{
	HIP_ENTER();
	return hip_end(context_push(context));
}

hipError_t hipCtxSetCurrent(hipCtx_t context)
{
	HIP_ENTER();
	(void)!context_pop(NULL);
	return hip_end(context ? context_push(context) : hipSuccess);
}

/* Returns the top of the stack, unless the thread has chosen another device since, or the stack is empty: then that
 * device's primary context. */
static hipError_t context_current(hipCtx_t *out)
{
	const struct hip_context *c = context_top();

	if (!c || c->device != hip_current())
		return primary_of(hip_current(), out);
	*out = stack.context[stack.count - 1];
	return hipSuccess;
}

hipError_t hipCtxGetCurrent(hipCtx_t *context)
{
	HIP_ENTER();
	if (!context)
		return hip_end(hipErrorInvalidValue);
	return hip_end(context_current(context));
}

hipError_t hipCtxGetDevice(hipDevice_t *device)
{
	HIP_ENTER();
	if (!device)
		return hip_end(hipErrorInvalidValue);
	*device = hip_thread.device;
	return hip_end(hipSuccess);
}

hipError_t hipCtxGetFlags(unsigned int *flags)
{
	const struct hip_context *c;

	HIP_ENTER();
	if (!flags)
		return hip_end(hipErrorInvalidValue);
	c = context_top();
	*flags = c ? c->flags : 0;
	return hip_end(hipSuccess);
}

hipError_t hipCtxGetApiVersion(hipCtx_t context, int *version)
{
	HIP_ENTER();
	if (!version || (context && !context_of(context)))
		return hip_end(version ? hipErrorInvalidContext : hipErrorInvalidValue);
	*version = HIP_VERSION_MAJOR;
	return hip_end(hipSuccess);
}

hipError_t hipCtxSynchronize(void)
{
	return hipDeviceSynchronize();
}

hipError_t hipCtxGetCacheConfig(hipFuncCache_t *config)
{
	return hipDeviceGetCacheConfig(config);
}

hipError_t hipCtxSetCacheConfig(hipFuncCache_t config)
{
	return hipDeviceSetCacheConfig(config);
}

hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config)
{
	return hipDeviceSetSharedMemConfig(config);
}

hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *config)
{
	return hipDeviceGetSharedMemConfig(config);
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned int flags)
{
	const struct hip_context *c;

	HIP_ENTER();
	c = context_of(peer);
	return hip_end(c ? hipDeviceEnablePeerAccess(c->device->index, flags) : hipErrorInvalidContext);
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer)
{
	const struct hip_context *c;

	HIP_ENTER();
	c = context_of(peer);
	return hip_end(c ? hipDeviceDisablePeerAccess(c->device->index) : hipErrorInvalidContext);
}

/* --- primary contexts ------------------------------------------------------------------------- */

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int *flags, int *active)
{
	HIP_ENTER();
	if (!hip_device_of(device))
		return hip_end(hipErrorInvalidDevice);
	if (flags)
		*flags = hip.device[device].flags;
	if (active)
		*active = hip_thread.device == device;
	return hip_end(hipSuccess);
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device)
{
	HIP_ENTER();
	if (!hip_device_of(device))
		return hip_end(hipErrorInvalidDevice);
	return hip_end(context ? primary_of(hip_device_of(device), context) : hipErrorInvalidValue);
}

/* The primary context lives as long as the process, so releasing and resetting it only check the device. */
static hipError_t primary_check(hipDevice_t device)
{
	return hip_device_of(device) ? hipSuccess : hipErrorInvalidDevice;
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device)
{
	HIP_ENTER();
	return hip_end(primary_check(device));
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t device)
{
	HIP_ENTER();
	return hip_end(primary_check(device));
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int flags)
{
	(void)flags;
	HIP_ENTER();
	return hip_end(hip_device_of(device) ? hipErrorContextAlreadyInUse : hipErrorInvalidDevice);
}

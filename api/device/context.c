/* Contexts of CUDA's driver API: each is a view of its device's primary context. A thread has a stack of contexts,
 * whose top selects its device. */
#include <stdlib.h>

#include "drv/lock.h"
#include "api/base/entry.h"

struct hip_context {
	uint64_t handle;
	struct hip_device *device;
	unsigned flags;
	bool primary; /* lives as long as the library */
	struct drv_retired retired;
};

/* Primary contexts, made when first used. */
static struct {
	struct drv_mutex lock;
	struct hip_context *context[HIP_DEVICES_MAX];
} primary = {.lock = DRV_MUTEX(DRV_RANK_HIP_CONTEXTS)};

#define STACK_MAX 64
struct stack {
	hipCtx_t context[STACK_MAX];
	unsigned count;
};
static _Thread_local void *stack_memory; /* struct stack; NULL: the thread has pushed nothing yet */

static struct hip_context *context_of(hipCtx_t handle)
{
	return hip_find(HIP_CONTEXT, handle);
}

/* The handle on top of the thread's stack. NULL: the stack is empty. */
static hipCtx_t stack_top(void)
{
	const struct stack *stack = stack_memory;

	return stack && stack->count ? stack->context[stack->count - 1] : NULL;
}

/* The context of that handle. NULL: the stack is empty, or the context is destroyed. */
static const struct hip_context *context_top(void)
{
	return context_of(stack_top());
}

static hipError_t context_make(struct hip_device *device, unsigned flags, bool first, struct hip_context **out)
{
	struct hip_context *c = calloc(1, sizeof(*c));

	if (!c)
		return hipErrorOutOfMemory;
	c->device = device;
	c->flags = flags;
	c->primary = first;
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

	drv_mutex_lock(&primary.lock);
	if (!*at)
		r = context_make(device, 0, true, at);
	if (!r)
		*out = (hipCtx_t)(uintptr_t)(*at)->handle;
	drv_mutex_unlock(&primary.lock);
	return r;
}

static hipError_t context_push(hipCtx_t handle)
{
	const struct hip_context *c = context_of(handle);
	struct stack *stack;

	if (!c)
		return hipErrorInvalidContext;
	stack = hip_thread_memory(&stack_memory, sizeof(*stack));
	if (!stack || stack->count == STACK_MAX)
		return hipErrorOutOfMemory;
	stack->context[stack->count++] = handle;
	hip_thread.device = c->device->index;
	return hipSuccess;
}

static hipError_t context_pop(hipCtx_t *out)
{
	struct stack *stack = stack_memory;
	const struct hip_context *c;

	if (!stack || !stack->count)
		return hipErrorInvalidContext;
	stack->count--;
	if (out)
		*out = stack->context[stack->count];
	c = context_top();
	if (c)
		hip_thread.device = c->device->index;
	return hipSuccess;
}

static void free_context(struct drv_retired *retired)
{
	free(vm_container(retired, struct hip_context, retired));
}

static hipError_t context_drop(struct hip_context *c)
{
	if (!drv_handle_destroy(&hip_handles, c->handle))
		return hipErrorInvalidContext;
	drv_retire(&hip_calls, &c->retired, free_context);
	drv_retire_collect(&hip_calls);
	return hipSuccess;
}

static hipError_t context_create(hipCtx_t *out, unsigned flags, int device)
{
	struct hip_context *c;
	hipError_t r;

	if (!out || !hip_device_of(device))
		return hipErrorInvalidValue;
	r = context_make(hip_device_of(device), flags, false, &c);
	if (r)
		return r;
	r = context_push((hipCtx_t)(uintptr_t)c->handle);
	if (r) {
		(void)!context_drop(c);
		return r;
	}
	*out = (hipCtx_t)(uintptr_t)c->handle;
	/* Flags belong to the device, since contexts are views of one. */
	c->device->flags = flags;
	return hipSuccess;
}

HIP_PUBLIC(hipCtxCreate, (hipCtx_t *context, unsigned int flags, hipDevice_t device), (context, flags, device))
{
	return context_create(context, flags, device);
}

HIP_PUBLIC(hipCtxDestroy, (hipCtx_t context), (context))
{
	struct hip_context *c = context_of(context);

	if (!c || c->primary)
		return c || !context ? hipErrorInvalidValue : hipErrorInvalidContext;
	if (context && stack_top() == context)
		(void)!context_pop(NULL);
	return context_drop(c);
}

HIP_PUBLIC(hipCtxPopCurrent, (hipCtx_t *context), (context))
{
	return context_pop(context);
}

HIP_PUBLIC(hipCtxPushCurrent, (hipCtx_t context), (context))
{
	return context_push(context);
}

HIP_PUBLIC(hipCtxSetCurrent, (hipCtx_t context), (context))
{
	if (context && !context_of(context))
		return hipErrorInvalidContext;
	(void)!context_pop(NULL);
	return context ? context_push(context) : hipSuccess;
}

/* Returns the top of the stack, unless the thread has chosen another device since, or the stack is empty: then that
 * device's primary context. */
static hipError_t context_current(hipCtx_t *out)
{
	const struct hip_context *c = context_top();

	if (!c || c->device != hip_current())
		return primary_of(hip_current(), out);
	*out = stack_top();
	return hipSuccess;
}

HIP_PUBLIC(hipCtxGetCurrent, (hipCtx_t *context), (context))
{
	if (!context)
		return hipErrorInvalidValue;
	return context_current(context);
}

HIP_PUBLIC(hipCtxGetDevice, (hipDevice_t *device), (device))
{
	if (!device)
		return hipErrorInvalidValue;
	*device = hip_thread.device;
	return hipSuccess;
}

HIP_PUBLIC(hipCtxGetFlags, (unsigned int *flags), (flags))
{
	const struct hip_context *c;

	if (!flags)
		return hipErrorInvalidValue;
	c = context_top();
	*flags = c ? c->flags : 0;
	return hipSuccess;
}

HIP_PUBLIC(hipCtxGetApiVersion, (hipCtx_t context, int *version), (context, version))
{
	if (!version || (context && !context_of(context)))
		return version ? hipErrorInvalidContext : hipErrorInvalidValue;
	*version = HIP_VERSION_MAJOR;
	return hipSuccess;
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

HIP_PUBLIC(hipCtxEnablePeerAccess, (hipCtx_t peer, unsigned int flags), (peer, flags))
{
	const struct hip_context *c;

	c = context_of(peer);
	return c ? hipDeviceEnablePeerAccess(c->device->index, flags) : hipErrorInvalidContext;
}

HIP_PUBLIC(hipCtxDisablePeerAccess, (hipCtx_t peer), (peer))
{
	const struct hip_context *c;

	c = context_of(peer);
	return c ? hipDeviceDisablePeerAccess(c->device->index) : hipErrorInvalidContext;
}

/* --- primary contexts ------------------------------------------------------------------------- */

HIP_PUBLIC(hipDevicePrimaryCtxGetState, (hipDevice_t device, unsigned int *flags, int *active),
	   (device, flags, active))
{
	if (!hip_device_of(device))
		return hipErrorInvalidDevice;
	if (flags)
		*flags = hip.device[device].flags;
	if (active)
		*active = hip_thread.device == device;
	return hipSuccess;
}

HIP_PUBLIC(hipDevicePrimaryCtxRetain, (hipCtx_t *context, hipDevice_t device), (context, device))
{
	if (!hip_device_of(device))
		return hipErrorInvalidDevice;
	return context ? primary_of(hip_device_of(device), context) : hipErrorInvalidValue;
}

/* The primary context lives as long as the process, so releasing and resetting it only check the device. */
static hipError_t primary_check(hipDevice_t device)
{
	return hip_device_of(device) ? hipSuccess : hipErrorInvalidDevice;
}

HIP_PUBLIC(hipDevicePrimaryCtxRelease, (hipDevice_t device), (device))
{
	return primary_check(device);
}

HIP_PUBLIC(hipDevicePrimaryCtxReset, (hipDevice_t device), (device))
{
	return primary_check(device);
}

HIP_PUBLIC(hipDevicePrimaryCtxSetFlags, (hipDevice_t device, unsigned int flags), (device, flags))
{
	(void)flags;
	return hip_device_of(device) ? hipErrorContextAlreadyInUse : hipErrorInvalidDevice;
}

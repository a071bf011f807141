/* Launches in steps: the calls that compiled code makes for <<<...>>>, and hipConfigureCall(), hipSetupArgument() and
 * hipLaunchByPtr(). A thread has a stack of configurations. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/exec/launch.h"

/* --- <<<...>>> -------------------------------------------------------------------------------- */

struct hip_call {
	dim3 blocks, threads;
	size_t lds_B;
	hipStream_t stream;
};

/* Frees the stacks of threads that end. */
static pthread_key_t calls_key;
static bool has_calls_key; /* false: the program has all keys, and the stacks stay allocated */
static pthread_once_t calls_once = PTHREAD_ONCE_INIT;

/* Resets the thread's pointer: destructors that run later may launch again. */
static void free_calls(void *calls)
{
	struct hip_thread *t = &hip_thread;

	free(calls);
	t->calls = NULL;
	t->call_count = t->call_max = 0;
}

static void make_calls_key(void)
{
	has_calls_key = !pthread_key_create(&calls_key, free_calls);
}

static hipError_t grow_calls(void)
{
	struct hip_thread *t = &hip_thread;
	unsigned max = t->call_max ? 2 * t->call_max : 4;
	struct hip_call *calls = realloc(t->calls, max * sizeof(*calls));

	if (!calls)
		return hipErrorOutOfMemory;
	t->calls = calls;
	t->call_max = max;
	pthread_once(&calls_once, make_calls_key);
	if (has_calls_key)
		(void)!pthread_setspecific(calls_key, calls);
	return hipSuccess;
}

static hipError_t call_push(dim3 blocks, dim3 threads, size_t lds_B, hipStream_t stream)
{
	struct hip_thread *t = &hip_thread;

	if (t->call_count == t->call_max && grow_calls())
		return hipErrorOutOfMemory;
	t->calls[t->call_count++] = (struct hip_call){blocks, threads, lds_B, stream};
	return hipSuccess;
}

/* Compiled code calls these two for each <<<>>>, and reads only whether they fail: an error is stored for the thread, success
 * is not. They touch no object. */
hipError_t __hipPushCallConfiguration(dim3 blocks, dim3 threads, size_t lds_B, hipStream_t stream)
{
	hipError_t r = call_push(blocks, threads, lds_B, stream);

	return r ? hip_store_error(r) : r;
}

hipError_t __hipPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *lds_B, hipStream_t *stream)
{
	struct hip_thread *t = &hip_thread;
	const struct hip_call *call;

	if (!t->call_count)
		return hip_store_error(hipErrorMissingConfiguration);
	call = &t->calls[--t->call_count];
	*blocks = call->blocks;
	*threads = call->threads;
	*lds_B = call->lds_B;
	*stream = call->stream;
	return hipSuccess;
}

/* --- hipConfigureCall() and hipSetupArgument() ------------------------------------------------ */

/* Arguments of the launch that was configured last, at their offsets. */
struct setup {
	char bytes[CS_DATA_MAX_B];
	size_t size_B;
};
static _Thread_local void *setup_memory;

static struct setup *setup_get(void)
{
	return hip_thread_memory(&setup_memory, sizeof(struct setup));
}

HIP_PUBLIC_WITHOUT_INIT(hipConfigureCall, (dim3 blocks, dim3 threads, size_t lds_B, hipStream_t stream),
			(blocks, threads, lds_B, stream))
{
	struct setup *to = setup_get();

	if (!to)
		return hipErrorOutOfMemory;
	to->size_B = 0;
	return call_push(blocks, threads, lds_B, stream);
}

HIP_PUBLIC_WITHOUT_INIT(hipSetupArgument, (const void *arg, size_t size, size_t offset), (arg, size, offset))
{
	struct setup *to = setup_get();

	if (!to)
		return hipErrorOutOfMemory;
	if (!arg || offset > sizeof(to->bytes) || size > sizeof(to->bytes) - offset)
		return hipErrorInvalidValue;
	memcpy(to->bytes + offset, arg, size);
	if (offset + size > to->size_B)
		to->size_B = offset + size;
	return hipSuccess;
}

static hipError_t launch_by_ptr(const void *function)
{
	struct hip_stream *s;
	dim3 blocks, threads;
	hipStream_t handle;
	size_t lds_B;
	const struct setup *from = setup_get();
	struct hip_launch l = {.function = function};
	hipError_t r = __hipPopCallConfiguration(&blocks, &threads, &lds_B, &handle);

	if (!r)
		r = hip_stream_of(handle, &s);
	if (!r)
		r = hip_kernel_launched(function, s->device, &l.kernel);
	if (r)
		return r;
	if (!from)
		return hipErrorOutOfMemory;
	l.packed = from->bytes;
	l.packed_B = from->size_B;
	memcpy(l.blocks, &blocks, sizeof(l.blocks));
	memcpy(l.threads, &threads, sizeof(l.threads));
	l.lds_B = (uint32_t)lds_B;
	return lds_B > UINT32_MAX ? hipErrorInvalidValue : hip_launch_submit(s, &l);
}

HIP_PUBLIC(hipLaunchByPtr, (const void *function), (function))
{
	return launch_by_ptr(function);
}

/* Launches: a kernel's arguments are packed, and a packet is written. */
#include <stdlib.h>
#include <string.h>

#include "api/capture.h"
#include "api/grid.h"
#include "api/hostcall.h"
#include "api/print.h"
#include "api/tool.h"

#define GRID_X_MAX  0x7fffffffu
#define GRID_YZ_MAX 65536u

/* --- arguments -------------------------------------------------------------------------------- */

/* One of the compiler's; those that are not named stay 0. */
static uint64_t hidden_value(const struct hip_launch *l, const uint32_t *grid, unsigned kind)
{
	unsigned dim = kind % 3;

	switch (kind - dim) {
	case CS_HIDDEN_BLOCK_COUNT_X: /* whole ones */
		return grid[dim] / l->threads[dim];
	case CS_HIDDEN_GROUP_SIZE_X:
		return l->threads[dim];
	case CS_HIDDEN_REMAINDER_X:
		return grid[dim] % l->threads[dim];
	}
	switch (kind) {
	case CS_HIDDEN_GRID_DIMS:
		return 3;
	case CS_HIDDEN_DYNAMIC_LDS_SIZE:
		return l->lds_B;
	case CS_HIDDEN_MULTIGRID_SYNC:
		return (uintptr_t)l->meeting;
	case CS_HIDDEN_HOSTCALL: /* without memory for it the kernel faults when it asks, and not before */
		return (uintptr_t)hip_hostcall_buffer(l->kernel->device);
	case CS_HIDDEN_PRINTF:
		return (uintptr_t)l->messages;
	case CS_HIDDEN_HEAP:
		return (uintptr_t)hip_kernel_heap(l->kernel->device);
	}
	return 0;
}

void hip_launch_pack(const struct hip_launch *l, char *to)
{
	const struct cs_kernel *k = l->kernel->cs;

	if (l->args)
		for (unsigned i = 0; i < k->arg_count; i++)
			memcpy(to + k->arg[i].offset_B, l->args[i], k->arg[i].size_B);
	else if (l->packed_B)
		memcpy(to, l->packed, l->packed_B < k->explicit_B ? l->packed_B : k->explicit_B);
}

static void pack(char *to, const struct hip_launch *l, const uint32_t *grid)
{
	const struct cs_kernel *k = l->kernel->cs;

	hip_launch_pack(l, to);
	if (k->kernarg_B > k->explicit_B)
		memset(to + k->explicit_B, 0, k->kernarg_B - k->explicit_B);
	for (unsigned i = 0; i < k->hidden_count; i++) {
		uint64_t value = hidden_value(l, grid, k->hidden[i].kind);

		memcpy(to + k->hidden[i].offset_B, &value,
		       k->hidden[i].size_B < sizeof(value) ? k->hidden[i].size_B : sizeof(value));
	}
}

/* --- checks ----------------------------------------------------------------------------------- */

/* Which of them, and the rarer ones. */
__attribute__((cold, noinline)) static hipError_t check_closely(const struct hip_launch *l)
{
	const struct hip_kernel *k = l->kernel;
	uint64_t threads = (uint64_t)l->threads[0] * l->threads[1] * l->threads[2];

	if (!threads || !l->blocks[0] || !l->blocks[1] || !l->blocks[2])
		return hipErrorInvalidValue;
	for (unsigned i = 0; i < 3; i++)
		if ((uint64_t)l->blocks[i] * l->threads[i] > UINT32_MAX)
			return hipErrorInvalidConfiguration;
	if (l->threads[0] > HIP_THREADS_MAX || l->threads[1] > HIP_THREADS_MAX || l->threads[2] > HIP_THREADS_MAX ||
	    threads > HIP_THREADS_MAX)
		return hipErrorInvalidValue;
	/* Also where work-items are counted. CLR has no such limit there: up to 2^32 blocks of one. */
	if (l->blocks[0] > GRID_X_MAX || l->blocks[1] > GRID_YZ_MAX || l->blocks[2] > GRID_YZ_MAX)
		return hipErrorInvalidValue;
	if (l->lds_B > k->device->lds_B)
		return hipErrorInvalidValue;
	if (threads > k->threads_max)
		return hipErrorLaunchFailure;
	if (l->lds_B > k->dynamic_max_B)
		return hipErrorLaunchOutOfResources;
	if (!l->args && !l->packed && k->cs->arg_count)
		return hipErrorInvalidValue;
	return l->cooperative ? hip_grid_check(l) : hipSuccess;
}

/* Two limits are powers of two, and 0 less 1 is above all of them. */
static inline hipError_t check(const struct hip_launch *l)
{
	const struct hip_kernel *k = l->kernel;
	uint32_t threads = ((l->threads[0] - 1) | (l->threads[1] - 1) | (l->threads[2] - 1)) / HIP_THREADS_MAX;
	uint32_t blocks = ((l->blocks[1] - 1) | (l->blocks[2] - 1)) / GRID_YZ_MAX;
	bool bad = threads | blocks | (l->blocks[0] - 1 >= GRID_X_MAX) |
		   (l->threads[0] * l->threads[1] * l->threads[2] > k->threads_max) |
		   ((uint64_t)l->blocks[0] * l->threads[0] > UINT32_MAX) | (l->lds_B > k->dynamic_max_B) |
		   (!l->args && !l->packed && k->cs->arg_count) | l->cooperative;

	return __builtin_expect(bad, 0) ? check_closely(l) : hipSuccess;
}

hipError_t hip_launch_check(const struct hip_launch *l)
{
	return check(l);
}

/* --- the packet ------------------------------------------------------------------------------- */

static inline void grid_of(const struct hip_launch *l, uint32_t *grid)
{
	for (unsigned i = 0; i < 3; i++)
		grid[i] = l->grid[0] ? l->grid[i] : l->blocks[i] * l->threads[i];
}

/* What a function that is called by its address has on the stack, the compiler does not know. CLR gives the larger
 * of the two, and not the sum. */
__attribute__((cold, noinline)) static uint32_t private_of_caller(const struct hip_kernel *k)
{
	uint64_t both_B = k->private_B + atomic_load_explicit(&k->device->stack_B, memory_order_relaxed);

	return both_B < HIP_STACK_MAX_B ? (uint32_t)both_B : HIP_STACK_MAX_B;
}

/* All but the header. */
static inline void fill_packet(hsa_kernel_dispatch_packet_t *p, const struct hip_launch *l, const uint32_t *grid,
			       void *args)
{
	const struct hip_kernel *k = l->kernel;

	p->workgroup_size_x = (uint16_t)l->threads[0];
	p->workgroup_size_y = (uint16_t)l->threads[1];
	p->workgroup_size_z = (uint16_t)l->threads[2];
	p->reserved0 = 0;
	p->grid_size_x = grid[0];
	p->grid_size_y = grid[1];
	p->grid_size_z = grid[2];
	p->private_segment_size = __builtin_expect(k->calls, 0) ? private_of_caller(k) : k->private_B;
	p->group_segment_size = k->group_B + l->lds_B;
	p->kernel_object = k->object;
	p->kernarg_address = args;
	p->reserved2 = 0;
	p->completion_signal.handle = 0;
}

__attribute__((cold, noinline)) static hipError_t put_rare(struct hip_stream *s, const struct hip_launch *l)
{
	if (!l->cooperative)
		return hip_print_put(s, l);
	return l->kernel->prints ? hipErrorNotSupported : hip_grid_put(s, l);
}

__attribute__((cold, noinline)) static hsa_signal_t watch(struct hip_stream *s, const struct hip_launch *l)
{
	return hip_tool_watch(s, &(struct hip_tool_work){.op = HIP_TOOL_DISPATCH,
							 .kind = HIP_TOOL_KERNEL,
							 .kernel = l->kernel->cs->name});
}

static inline hipError_t put(struct hip_stream *s, const struct hip_launch *l)
{
	hsa_kernel_dispatch_packet_t *p;
	uint32_t grid[3];
	char *args = NULL;

	if (__builtin_expect(l->cooperative | l->kernel->prints, 0) && (l->cooperative || !l->messages))
		return put_rare(s, l);
	grid_of(l, grid);
	if (l->kernel->cs->kernarg_B) {
		args = hip_stream_args(s, l->kernel->cs->kernarg_B);
		if (!args)
			return hipErrorOutOfMemory;
		pack(args, l, grid);
	}
	p = hip_stream_slot(s);
	if (!p)
		return hip_stream_lost(s, hip.door->state(s->door));
	fill_packet(p, l, grid, args);
	if (hip_traced())
		p->completion_signal = watch(s, l);
	hip_stream_publish(s, HIP_LAUNCH_HEADER);
	return hipSuccess;
}

hipError_t hip_launch_put(struct hip_stream *s, const struct hip_launch *l)
{
	return put(s, l);
}

void hip_launch_prepare(const struct hip_launch *l, hsa_kernel_dispatch_packet_t *packet, char *args)
{
	uint32_t grid[3];

	grid_of(l, grid);
	pack(args, l, grid);
	fill_packet(packet, l, grid, NULL);
}

__attribute__((cold, noinline)) static hipError_t capture(struct hip_stream *s, const struct hip_launch *l)
{
	return hip_capture_op(s, &(struct hip_op){.kind = HIP_OP_LAUNCH, .launch = *l});
}

hipError_t hip_launch(struct hip_stream *s, const struct hip_launch *l)
{
	hipError_t r = check(l);

	if (!r && hip_stream_captures(s))
		return capture(s, l);
	if (!r)
		r = hip_stream_begin(s);
	if (__builtin_expect(r, 0))
		return r;
	r = put(s, l);
	hip_stream_done(s);
	return r;
}

/* --- launches by the host's name -------------------------------------------------------------- */

/* The current device's kernel, unless the stream is another's. */
static hipError_t launch(const void *function, const dim3 *blocks, const dim3 *threads, void **args, size_t lds_B,
			 hipStream_t handle)
{
	struct hip_launch l = {
		.blocks = {blocks->x, blocks->y, blocks->z},
		.threads = {threads->x, threads->y, threads->z},
		.lds_B = (uint32_t)lds_B,
		.args = args,
		.function = function,
	};
	struct hip_stream *s;
	hipError_t r = hip_stream_of(handle, &s);

	if (r)
		return r;
	if (lds_B > UINT32_MAX)
		return hipErrorInvalidValue;
	r = hip_kernel_of(function, s->device, &l.kernel);
	return r ? r : hip_launch(s, &l);
}

hipError_t hipLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **args, size_t lds_B,
			   hipStream_t stream)
{
	HIP_ENTER(function, blocks, threads, args, lds_B, stream);
	return hip_end(launch(function, &blocks, &threads, args, lds_B, stream));
}

/* --- <<<...>>> -------------------------------------------------------------------------------- */

struct hip_call {
	dim3 blocks, threads;
	size_t lds_B;
	hipStream_t stream;
};

/* The stacks of threads that end. */
static pthread_key_t calls_key;
static pthread_once_t calls_once = PTHREAD_ONCE_INIT;

static void make_calls_key(void)
{
	(void)!pthread_key_create(&calls_key, free);
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
	(void)!pthread_setspecific(calls_key, calls);
	return hipSuccess;
}

hipError_t __hipPushCallConfiguration(dim3 blocks, dim3 threads, size_t lds_B, hipStream_t stream)
{
	struct hip_thread *t = &hip_thread;

	if (t->call_count == t->call_max && grow_calls())
		return hip_end(hipErrorOutOfMemory);
	t->calls[t->call_count++] = (struct hip_call){blocks, threads, lds_B, stream};
	return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *lds_B, hipStream_t *stream)
{
	struct hip_thread *t = &hip_thread;
	const struct hip_call *call;

	if (!t->call_count)
		return hip_end(hipErrorMissingConfiguration);
	call = &t->calls[--t->call_count];
	*blocks = call->blocks;
	*threads = call->threads;
	*lds_B = call->lds_B;
	*stream = call->stream;
	return hipSuccess;
}

/* --- the steps of old ------------------------------------------------------------------------- */

/* Arguments for the launch that was configured last, at their places. */
struct setup {
	char bytes[CS_DATA_MAX_B];
	size_t size_B;
};
static _Thread_local void *setup_memory;

static struct setup *setup(void)
{
	return hip_thread_memory(&setup_memory, sizeof(struct setup));
}

hipError_t hipConfigureCall(dim3 blocks, dim3 threads, size_t lds_B, hipStream_t stream)
{
	struct setup *to = setup();

	if (!to)
		return hip_end(hipErrorOutOfMemory);
	to->size_B = 0;
	return hip_end(__hipPushCallConfiguration(blocks, threads, lds_B, stream));
}

hipError_t hipSetupArgument(const void *arg, size_t size, size_t offset)
{
	struct setup *to = setup();

	if (!to)
		return hip_end(hipErrorOutOfMemory);
	if (!arg || offset > sizeof(to->bytes) || size > sizeof(to->bytes) - offset)
		return hip_end(hipErrorInvalidValue);
	memcpy(to->bytes + offset, arg, size);
	if (offset + size > to->size_B)
		to->size_B = offset + size;
	return hip_end(hipSuccess);
}

static hipError_t launch_by_ptr(const void *function)
{
	struct hip_stream *s;
	dim3 blocks, threads;
	hipStream_t handle;
	size_t lds_B;
	const struct setup *from = setup();
	struct hip_launch l = {.function = function};
	hipError_t r = __hipPopCallConfiguration(&blocks, &threads, &lds_B, &handle);

	if (!r)
		r = hip_stream_of(handle, &s);
	if (!r)
		r = hip_kernel_of(function, s->device, &l.kernel);
	if (r)
		return r;
	if (!from)
		return hipErrorOutOfMemory;
	l.packed = from->bytes;
	l.packed_B = from->size_B;
	memcpy(l.blocks, &blocks, sizeof(l.blocks));
	memcpy(l.threads, &threads, sizeof(l.threads));
	l.lds_B = (uint32_t)lds_B;
	return lds_B > UINT32_MAX ? hipErrorInvalidValue : hip_launch(s, &l);
}

hipError_t hipLaunchByPtr(const void *function)
{
	HIP_ENTER(function);
	return hip_end(launch_by_ptr(function));
}

/* Kernel launches: arguments are packed, and the dispatch is submitted to the stream. */
#include <string.h>

#include "api/exec/event.h"
#include "api/exec/grid.h"
#include "api/exec/hostcall.h"
#include "api/exec/print.h"
#include "api/stream/capture.h"
#include "api/stream/serial.h"
#include "api/tool/tool.h"

#define GRID_X_MAX  0x7fffffffu
#define GRID_YZ_MAX 65536u

/* --- arguments -------------------------------------------------------------------------------- */

/* The value of a hidden argument; kinds without a case are 0. */
static uint64_t hidden_value(const struct hip_launch *l, unsigned kind)
{
	switch (kind) {
	case CS_HIDDEN_BLOCK_COUNT_X ... CS_HIDDEN_BLOCK_COUNT_Z: /* whole blocks only */
		kind -= CS_HIDDEN_BLOCK_COUNT_X;
		return l->grid[0] ? l->grid[kind] / l->threads[kind] : l->blocks[kind];
	case CS_HIDDEN_GROUP_SIZE_X ... CS_HIDDEN_GROUP_SIZE_Z:
		return l->threads[kind - CS_HIDDEN_GROUP_SIZE_X];
	case CS_HIDDEN_REMAINDER_X ... CS_HIDDEN_REMAINDER_Z:
		kind -= CS_HIDDEN_REMAINDER_X;
		return l->grid[0] ? l->grid[kind] % l->threads[kind] : 0;
	case CS_HIDDEN_GRID_DIMS:
		return 3;
	case CS_HIDDEN_DYNAMIC_LDS_SIZE:
		return l->lds_B;
	case CS_HIDDEN_MULTIGRID_SYNC:
		return (uintptr_t)l->grid_sync;
	case CS_HIDDEN_HOSTCALL: /* NULL when memory is short: only a kernel that makes a hostcall faults then */
		return (uintptr_t)hip_hostcall_buffer(l->kernel->device);
	case CS_HIDDEN_PRINTF:
		return (uintptr_t)l->messages;
	case CS_HIDDEN_HEAP:
		return (uintptr_t)hip_kernel_heap(l->kernel->device);
	}
	return 0;
}

/* Most arguments have 4 or 8 bytes. */
static inline void copy_arg(char *to, const void *from, size_t size_B)
{
	if (size_B == 8)
		memcpy(to, from, 8);
	else if (size_B == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, size_B);
}

__attribute__((always_inline)) static inline void pack_explicit(const struct hip_launch *l, char *to)
{
	const struct cs_kernel *k = l->kernel->cs;

	if (l->args)
		for (unsigned i = 0; i < k->arg_count; i++)
			copy_arg(to + k->arg[i].offset_B, l->args[i], k->arg[i].size_B);
	else if (l->packed_B)
		memcpy(to, l->packed, l->packed_B < k->explicit_B ? l->packed_B : k->explicit_B);
}

void hip_launch_pack(const struct hip_launch *l, char *to)
{
	pack_explicit(l, to);
}

/* Packs the hidden arguments that the kernel's code may read. */
static void pack_hidden(char *to, const struct hip_launch *l)
{
	const struct cs_kernel *k = l->kernel->cs;

	memset(to, 0, l->kernel->hidden_B);
	for (unsigned i = 0; i < k->hidden_count; i++) {
		const struct cs_arg *hidden = &k->hidden[i];
		uint64_t value = hidden_value(l, hidden->kind);

		if (hidden->size_B == 2)
			memcpy(to + hidden->offset_B - k->explicit_B, &value, 2);
		else
			copy_arg(to + hidden->offset_B - k->explicit_B, &value,
				 hidden->size_B < sizeof(value) ? hidden->size_B : sizeof(value));
	}
}

static void args_pack(char *to, const struct hip_launch *l)
{
	pack_explicit(l, to);
	if (l->kernel->hidden_B)
		pack_hidden(to + l->kernel->cs->explicit_B, l);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static inline struct hip_shape *shape_of(struct hip_stream *s, const struct hip_kernel *k)
{
	return &s->shapes[k->number % HIP_SHAPES];
}

static inline bool is_shape(const struct hip_shape *shape, const struct hip_kernel *k, dim3 blocks, dim3 threads,
			    uint32_t lds_B)
{
	uint32_t differ = shape->blocks[0] ^ blocks.x;

	differ |= shape->blocks[1] ^ blocks.y;
	differ |= shape->blocks[2] ^ blocks.z;
	differ |= shape->threads[0] ^ threads.x;
	differ |= shape->threads[1] ^ threads.y;
	differ |= shape->threads[2] ^ threads.z;
	differ |= shape->lds_B ^ lds_B;
	differ |= shape->codes ^ atomic_load_explicit(&hip_codes, memory_order_relaxed);
	return shape->kernel == k && !differ;
}

/* Copies in blocks that need no call of memcpy(): the kernel's argument memory has room for whole ones. */
static inline void copy_hidden(char *to, uint32_t at_B, const char *from, uint32_t size_B)
{
	for (const char *end = from + size_B; from < end; from += HIP_HIDDEN_BLOCK_B, at_B += HIP_HIDDEN_BLOCK_B)
		memcpy(to + at_B, from, HIP_HIDDEN_BLOCK_B);
}

/* Does the same as pack_explicit() for a kernel with a plan of moves. */
__attribute__((always_inline)) static inline void move_explicit(const struct hip_kernel *k, void **args, char *to)
{
	const struct hip_move *m = k->move, *fours = m + k->eights, *end = m + k->moves;

	for (; m < fours; m++)
		memcpy(to + m->offset_B, args[m->arg], 8);
	for (; m < end; m++)
		memcpy(to + m->offset_B, args[m->arg], 4);
}

/* False when a hidden argument is missing because memory was short: the next launch may have it. */
static bool hidden_is_complete(const char *hidden, const struct cs_kernel *k)
{
	for (unsigned i = 0; i < k->hidden_count; i++) {
		const struct cs_arg *h = &k->hidden[i];
		uint64_t value = 0;

		if (h->kind != CS_HIDDEN_HEAP && h->kind != CS_HIDDEN_HOSTCALL)
			continue;
		memcpy(&value, hidden + h->offset_B - k->explicit_B,
		       h->size_B < sizeof(value) ? h->size_B : sizeof(value));
		if (!value)
			return false;
	}
	return true;
}

/* Keeps the shape of a launch that was submitted, so that it can be repeated. Its arguments are at
 * packet->kernarg_address. */
__attribute__((cold, noinline)) static void keep_shape(struct hip_stream *s, const struct hip_launch *l,
						       const hsa_kernel_dispatch_packet_t *packet)
{
	struct hip_shape *shape = shape_of(s, l->kernel);

	shape->kernel = NULL;
	shape->codes = atomic_load_explicit(&hip_codes, memory_order_acquire);
	shape->again = hip.hsa->again_of(s->flow, packet);
	memcpy(shape->blocks, l->blocks, sizeof(shape->blocks));
	memcpy(shape->threads, l->threads, sizeof(shape->threads));
	shape->lds_B = l->lds_B;
	if (l->kernel->hidden_B)
		pack_hidden(shape->hidden, l);
	if (hidden_is_complete(shape->hidden, l->kernel->cs))
		shape->kernel = l->kernel;
}

/* --- checks ----------------------------------------------------------------------------------- */

/* The error for sizes that no launch has; in HIP 7 that of modules' functions differs (launch_function_slow()). */
#define BAD_SHAPE (TUFF_HIP_ABI >= 7 ? hipErrorInvalidConfiguration : hipErrorInvalidValue)

/* Larger in y or z. Beyond hipDeviceProp_t::maxGridSize hipModuleLaunchKernel() alone refuses, as in CLR
 * (hipamd/src/hip_module.cpp): rocBLAS makes such grids. */
static bool is_deeper(const struct hip_launch *l, uint32_t most)
{
	return l->blocks[1] > most || l->blocks[2] > most;
}

/* Finds which limit is exceeded, and checks the rarer ones. */
__attribute__((cold, noinline)) static hipError_t check_slow(const struct hip_launch *l)
{
	const struct hip_kernel *k = l->kernel;
	uint64_t threads = (uint64_t)l->threads[0] * l->threads[1] * l->threads[2];

	if (!threads || !l->blocks[0] || !l->blocks[1] || !l->blocks[2])
		return BAD_SHAPE;
	for (unsigned i = 0; i < 3; i++)
		if ((uint64_t)l->blocks[i] * l->threads[i] > UINT32_MAX)
			return hipErrorInvalidConfiguration;
	if (l->threads[0] > HIP_THREADS_MAX || l->threads[1] > HIP_THREADS_MAX || l->threads[2] > HIP_THREADS_MAX ||
	    threads > HIP_THREADS_MAX)
		return BAD_SHAPE;
	/* The same limits hold where the grid is counted in work-items. A wave of GFX12 finds its place in y and z in 16
	 * bits each (LLVM's AMDGPUUsage, TTMP7). */
	if (l->blocks[0] > GRID_X_MAX || is_deeper(l, k->device->chip->groups_yz_max))
		return hipErrorInvalidValue;
	if (l->lds_B > k->device->lds_B)
		return hipErrorInvalidValue;
	if (k->cs->max_threads && threads > k->cs->max_threads)
		return hipErrorLaunchFailure;
	if (threads > k->threads_max) /* its registers do not fit */
		return hipErrorInvalidValue;
	if (l->lds_B > k->dynamic_max_B)
		return hipErrorLaunchOutOfResources;
	if (!l->args && !l->packed && k->cs->arg_count)
		return hipErrorInvalidValue;
	return l->cooperative ? hip_grid_check(l) : hipSuccess;
}

/* Checks the common limits with few comparisons: one limit is a power of two, and 0 - 1 exceeds all of them. Every chip counts as
 * many workgroups as are let through here: the bits of y and z together may exceed the limit where none of the two does. */
__attribute__((always_inline)) static inline bool launch_fits(const struct hip_kernel *k, dim3 blocks, dim3 threads,
							      uint32_t lds_B)
{
	return ((threads.x - 1) | (threads.y - 1) | (threads.z - 1)) < HIP_THREADS_MAX &&
	       threads.x * threads.y * threads.z <= k->threads_max &&
	       ((blocks.y - 1) | (blocks.z - 1)) < GRID_YZ_MAX - 1 && blocks.x - 1 < GRID_X_MAX &&
	       (uint64_t)blocks.x * threads.x <= UINT32_MAX && lds_B <= k->dynamic_max_B;
}

static inline dim3 dim3_of(const uint32_t *v)
{
	return (dim3){v[0], v[1], v[2]};
}

hipError_t hip_launch_check(const struct hip_launch *l)
{
	bool args = l->args || l->packed || !l->kernel->cs->arg_count;

	return launch_fits(l->kernel, dim3_of(l->blocks), dim3_of(l->threads), l->lds_B) && args && !l->cooperative
		       ? hipSuccess
		       : check_slow(l);
}

/* --- packets ---------------------------------------------------------------------------------- */

/* The stack of a kernel that calls functions by address, or recursively, is not known to the compiler. CLR gives
 * the larger of the two sizes, not their sum; a stack that is too small is not detected, and overwrites that of
 * other waves. */
__attribute__((cold, noinline)) static uint32_t private_of_caller(const struct hip_kernel *k)
{
	uint64_t both_B = k->private_B + atomic_load_explicit(&k->device->stack_B, memory_order_relaxed);

	if (both_B < CS_DYNAMIC_STACK_B)
		return CS_DYNAMIC_STACK_B;
	return both_B < HIP_STACK_MAX_B ? (uint32_t)both_B : HIP_STACK_MAX_B;
}

/* Fills the packet of a program's launch, which has no completion signal. */
__attribute__((always_inline)) static inline void packet_fill(hsa_kernel_dispatch_packet_t *p,
							      const struct hip_kernel *k, dim3 grid, dim3 threads,
							      uint32_t lds_B, void *args)
{
	p->header = (uint16_t)HIP_LAUNCH_HEADER;
	p->setup = HIP_LAUNCH_HEADER >> 16;
	p->workgroup_size_x = (uint16_t)threads.x;
	p->workgroup_size_y = (uint16_t)threads.y;
	p->workgroup_size_z = (uint16_t)threads.z;
	p->reserved0 = 0;
	p->grid_size_x = grid.x;
	p->grid_size_y = grid.y;
	p->grid_size_z = grid.z;
	p->private_segment_size = k->private_B;
	p->group_segment_size = k->group_B + lds_B;
	p->kernel_object = k->object;
	p->kernarg_address = args;
	p->reserved2 = 0;
	p->completion_signal.handle = 0;
}

static void launch_packet_fill(hsa_kernel_dispatch_packet_t *p, const struct hip_launch *l, void *args)
{
	uint32_t grid[3];

	for (unsigned i = 0; i < 3; i++)
		grid[i] = l->grid[0] ? l->grid[i] : l->blocks[i] * l->threads[i];
	packet_fill(p, l->kernel, dim3_of(grid), dim3_of(l->threads), l->lds_B, args);
	if (l->kernel->calls)
		p->private_segment_size = private_of_caller(l->kernel);
}

/* --- repeated launches ------------------------------------------------------------------------ */

static inline bool has_room(const struct hip_stream *s, const struct hip_kernel *k)
{
	return k->args_B <= HIP_CHUNK_B - s->args_at;
}

static inline char *next_args(const struct hip_stream *s, const struct hip_kernel *k)
{
	return k->args_B ? s->args->base + s->args_at : NULL;
}

/* Makes the dispatch of the shape again. Its explicit arguments are at `to`, which is next_args(). */
__attribute__((always_inline)) static inline bool shape_again(struct hip_stream *s, struct hip_shape *shape,
							      const struct hip_kernel *k, char *to)
{
	copy_hidden(to, k->cs->explicit_B, shape->hidden, k->hidden_B);
	s->args_at += k->args_B;
	if (__builtin_expect(!shape->again.kernel, 0))
		return false;
	if (__builtin_expect(!hip.hsa->again(s->flow, &shape->again, to), 1))
		return true;
	/* The flow has stored another kernel in this entry. */
	if (shape->again.kernel->serial != shape->again.serial)
		shape->kernel = NULL;
	return false;
}

/* Submits the packet of a kernel that reads its packet, or whose shape the flow does not have. */
__attribute__((noinline)) static bool dispatch_packet(struct hip_stream *s, const struct hip_kernel *k, dim3 blocks,
						      dim3 threads, uint32_t lds_B, void *args)
{
	const dim3 grid = {blocks.x * threads.x, blocks.y * threads.y, blocks.z * threads.z};
	hsa_kernel_dispatch_packet_t packet;

	packet_fill(&packet, k, grid, threads, lds_B, args);
	return !hip_stream_dispatch(s, &packet);
}

/* Repeats the last launch of a program's kernel. False: the shape differs. */
__attribute__((always_inline)) static inline bool launch_repeat(struct hip_stream *s, const struct hip_kernel *k,
								dim3 blocks, dim3 threads, uint32_t lds_B,
								void **args)
{
	struct hip_shape *shape = shape_of(s, k);
	char *to;

	if (!is_shape(shape, k, blocks, threads, lds_B) || !has_room(s, k))
		return false;
	to = next_args(s, k);
	if (__builtin_expect(k->moved, 1))
		move_explicit(k, args, to);
	else
		hip_launch_pack(&(struct hip_launch){.kernel = k, .args = args}, to);
	return shape_again(s, shape, k, to) || dispatch_packet(s, k, blocks, threads, lds_B, to);
}

/* The same for any launch, whose packet has that header. */
static inline bool dispatch_repeat(struct hip_stream *s, const struct hip_launch *l, uint16_t header)
{
	const struct hip_kernel *k = l->kernel;
	struct hip_shape *shape = shape_of(s, k);
	char *to;

	if (l->grid[0] || !is_shape(shape, k, dim3_of(l->blocks), dim3_of(l->threads), l->lds_B) ||
	    shape->again.header != header || !has_room(s, k))
		return false;
	to = next_args(s, k);
	pack_explicit(l, to);
	return shape_again(s, shape, k, to);
}

/* --- submission ------------------------------------------------------------------------------- */

void hip_launch_prepare(const struct hip_launch *l, uint32_t header_and_setup, hsa_kernel_dispatch_packet_t *packet,
			char *args)
{
	args_pack(args, l);
	launch_packet_fill(packet, l, args);
	packet->header = (uint16_t)header_and_setup;
	packet->setup = (uint16_t)(header_and_setup >> 16);
}

hipError_t hip_launch_dispatch(struct hip_stream *s, const struct hip_launch *l, uint32_t header_and_setup,
			       hsa_signal_t completion)
{
	bool same = l->kernel->plain && !completion.handle;
	hsa_kernel_dispatch_packet_t packet;
	char *args = NULL;
	int r;

	if (same && dispatch_repeat(s, l, (uint16_t)header_and_setup))
		return hipSuccess;
	if (l->kernel->args_B) {
		args = hip_stream_args(s, l->kernel->args_B);
		if (!args)
			return hipErrorOutOfMemory;
	}
	hip_launch_prepare(l, header_and_setup, &packet, args);
	packet.completion_signal = completion;
	r = hip_stream_dispatch(s, &packet);
	if (!r && same && !l->grid[0])
		keep_shape(s, l, &packet);
	return hip_stream_result(s, r);
}

__attribute__((cold, noinline)) static hipError_t put_rare(struct hip_stream *s, const struct hip_launch *l)
{
	if (!l->cooperative)
		return hip_print_put(s, l);
	return l->kernel->prints ? hipErrorNotSupported : hip_grid_put(s, l);
}

hsa_signal_t hip_launch_watch(struct hip_stream *s, const struct hip_launch *l)
{
	return hip_tool_watch(s, &(struct hip_tool_work){.op = HIP_TOOL_DISPATCH,
							 .kind = HIP_TOOL_KERNEL,
							 .kernel = l->kernel->cs->name});
}

hipError_t hip_launch_put(struct hip_stream *s, const struct hip_launch *l)
{
	hsa_signal_t watched;
	hipError_t r;

	if (l->cooperative || (l->kernel->prints && !l->messages))
		return put_rare(s, l);
	watched = hip_launch_watch(s, l);
	r = hip_launch_dispatch(s, l, HIP_LAUNCH_HEADER, watched);
	if (r)
		hip_tool_forget(watched);
	return r;
}

static hipError_t check_op(const struct hip_op *op)
{
	return hip_launch_check(&op->launch);
}

static hipError_t put_op(struct hip_stream *s, const struct hip_op *op)
{
	return hip_launch_put(s, &op->launch);
}

const struct hip_op_kind hip_op_launch = {hipGraphNodeTypeKernel, check_op, put_op, NULL};

hipError_t hip_launch_submit(struct hip_stream *s, const struct hip_launch *l)
{
	hipError_t r = hip_launch_check(l);

	if (!r && hip_stream_captures(s))
		return atomic_load(&hip_capture_ops)->op(s, &(struct hip_op){.kind = &hip_op_launch, .launch = *l});
	/* The grids of a multi-device launch are all submitted before any wait, since they wait for each other. */
	if (!r && !l->group)
		r = hip_serial_before(s, HIP_SERIAL_KERNEL);
	if (!r)
		r = hip_stream_begin(s);
	if (r)
		return r;
	r = hip_launch_put(s, l);
	hip_stream_done(s);
	return r || l->group ? r : hip_serial_after(s, HIP_SERIAL_KERNEL);
}

/* Makes the first launch of a shape. */
__attribute__((noinline)) static bool launch_first(struct hip_stream *s, const struct hip_launch *l)
{
	return launch_fits(l->kernel, dim3_of(l->blocks), dim3_of(l->threads), l->lds_B) &&
	       has_room(s, l->kernel) && !hip_launch_dispatch(s, l, HIP_LAUNCH_HEADER, (hsa_signal_t){0});
}

/* The fast path: a kernel whose arguments are given by address. A dispatch that the flow refuses is left to the
 * slow path, which returns the error. */
__attribute__((always_inline)) static inline bool launch_fast(const struct hip_kernel *k, struct hip_stream *s,
							      dim3 blocks, dim3 threads, uint32_t lds_B,
							      void **args, struct drv_lock **held)
{
	if (!k->plain || (!args && k->cs->arg_count) || !drv_lock_try(&s->flow->lock))
		return false;
	*held = &s->flow->lock;
	if (!hip_stream_is_clear(s))
		return false;
	return launch_repeat(s, k, blocks, threads, lds_B, args) ||
	       launch_first(s, &(struct hip_launch){.kernel = k,
						    .blocks = {blocks.x, blocks.y, blocks.z},
						    .threads = {threads.x, threads.y, threads.z},
						    .lds_B = lds_B,
						    .args = args});
}

/* --- launches by host address ----------------------------------------------------------------- */

/* The kernel on the current device, or on the stream's device if that is another. */
static hipError_t launch_by_address(const void *function, const dim3 *blocks, const dim3 *threads, void **args,
				    size_t lds_B, hipStream_t handle)
{
	struct hip_launch l = {
		.blocks = {blocks->x, blocks->y, blocks->z},
		.threads = {threads->x, threads->y, threads->z},
		.lds_B = (uint32_t)lds_B,
		.args = args,
		.function = function,
	};
	struct hip_stream *s;
	hipError_t r = hip_launch_stream(handle, &s);

	if (r)
		return r;
	if (lds_B > UINT32_MAX)
		return hipErrorInvalidValue;
	r = hip_kernel_launched(function, s->device, &l.kernel);
	return r ? r : hip_launch_submit(s, &l);
}

HIP_SLOW_PATH static hipError_t launch_slow(const void *function, dim3 blocks, dim3 threads, void **args,
					    size_t lds_B, hipStream_t stream, struct drv_lock *held)
{
	HIP_ENTER_SLOW(held, "hipLaunchKernel", function, blocks, threads, args, lds_B, stream);
	return hip_end_of("hipLaunchKernel", launch_by_address(function, &blocks, &threads, args, lds_B, stream));
}

hipError_t hipLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **args, size_t lds_B,
			   hipStream_t stream)
{
	struct hip_stream *s;
	const struct hip_kernel *k;
	struct drv_lock *held = NULL;

	hip_call_begin();
	s = hip_stream_of_nocreate(stream);
	if (__builtin_expect(!hip_slow_path_flags() && s && lds_B <= UINT32_MAX &&
				     !hip_kernel_of(function, s->device, &k) &&
				     launch_fast(k, s, blocks, threads, (uint32_t)lds_B, args, &held),
			     1))
		return hip_end_fast(held);
	return launch_slow(function, blocks, threads, args, lds_B, stream, held);
}

/* --- launches by function handle -------------------------------------------------------------- */

/* Reads a list of HIP_LAUNCH_PARAM_* keys and values: the packed arguments and their size. */
hipError_t hip_launch_extra(void **extra, struct hip_launch *l)
{
	bool sized = false;

	for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2)
		if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
			l->packed = extra[1];
		} else if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE && extra[1]) {
			l->packed_B = *(const size_t *)extra[1];
			sized = true;
		} else {
			return hipErrorInvalidValue;
		}
	return l->packed && sized ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t launch_function(hipFunction_t function, struct hip_launch *l, hipStream_t handle, void **extra)
{
	struct hip_stream *s;
	hipError_t r = hip_launch_stream(handle, &s);

	if (!r)
		r = hip_function_of(function, &l->kernel);
	if (r)
		return r;
	if ((l->args && extra) || is_deeper(l, GRID_YZ_MAX))
		return hipErrorInvalidValue;
	l->function = function;
	if (extra)
		r = hip_launch_extra(extra, l);
	if (r)
		return r;
	return s->device == l->kernel->device ? hip_launch_submit(s, l) : hipErrorInvalidResourceHandle;
}

HIP_SLOW_PATH static hipError_t launch_function_slow(hipFunction_t function, dim3 grid, dim3 block, uint32_t lds_B,
						     hipStream_t stream, void **args, void **extra,
						     struct drv_lock *held)
{
	struct hip_launch l = {.blocks = {grid.x, grid.y, grid.z},
			       .threads = {block.x, block.y, block.z},
			       .lds_B = lds_B,
			       .args = args};
	hipError_t r;

	HIP_ENTER_SLOW(held, "hipModuleLaunchKernel", function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
		       lds_B, stream, args, extra);
	r = launch_function(function, &l, stream, extra);
	if (TUFF_HIP_ABI >= 7 && r == hipErrorInvalidConfiguration)
		r = hipErrorInvalidValue;
	return hip_end_of("hipModuleLaunchKernel", r);
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
				 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
				 unsigned int block_z, unsigned int lds_B, hipStream_t stream, void **args,
				 void **extra)
{
	const dim3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
	const struct hip_kernel *k;
	struct hip_stream *s;
	struct drv_lock *held = NULL;

	hip_call_begin();
	k = hip_find(HIP_FUNCTION, function);
	s = hip_stream_of_nocreate(stream);
	if (__builtin_expect(!hip_slow_path_flags() && k && s && !extra && s->device == k->device &&
				     !hip_code_lost(k->device, k->losses) &&
				     launch_fast(k, s, grid, block, lds_B, args, &held),
			     1))
		return hip_end_fast(held);
	return launch_function_slow(function, grid, block, lds_B, stream, args, extra, held);
}

/* Checks both events before anything is submitted. */
static hipError_t check_events(hipEvent_t start, hipEvent_t stop, hipStream_t stream)
{
	struct hip_stream *s;

	if ((start && !hip_find(HIP_EVENT, start)) || (stop && !hip_find(HIP_EVENT, stop)))
		return hipErrorInvalidValue;
	return hip_launch_stream(stream, &s);
}

static hipError_t event_record_if(hipEvent_t event, hipStream_t stream)
{
	struct hip_stream *s;
	hipError_t r = event ? hip_stream_of(stream, &s) : hipSuccess;

	return r || !event ? r : hip_event_record(event, s);
}

/* Computes the block sizes for a grid in work-items, as AMD's library does: a block larger than the grid becomes
 * the grid, and the last block may be partial where the kernel's code allows that. Sizes above the limits are
 * refused later. */
static hipError_t fit_blocks(const struct hip_kernel *k, struct hip_launch *l)
{
	const uint64_t most = k->threads_max, x = l->threads[0], y = l->threads[1], z = l->threads[2];

	if (x > most || y > most || z > most || x * y * z > most)
		return hipSuccess;
	for (unsigned i = 0; i < 3; i++) {
		if (l->grid[i] < l->threads[i])
			l->threads[i] = l->grid[i];
		if (k->cs->uniform && l->grid[i] % l->threads[i])
			return hipErrorInvalidValue;
	}
	return hipSuccess;
}

/* The grid is in work-items. */
static hipError_t launch_ext(hipFunction_t function, struct hip_launch *l, hipStream_t stream, void **extra,
			     hipEvent_t start, hipEvent_t stop)
{
	const struct hip_kernel *k = hip_find(HIP_FUNCTION, function);
	hipError_t r = check_events(start, stop, stream);

	if (r)
		return r;
	if (!l->grid[0] || !l->grid[1] || !l->grid[2])
		return BAD_SHAPE;
	if (!l->threads[0] || !l->threads[1] || !l->threads[2])
		return hipErrorInvalidConfiguration;
	if (k)
		r = fit_blocks(k, l);
	for (unsigned i = 0; i < 3; i++)
		l->blocks[i] = (l->grid[i] - 1) / l->threads[i] + 1;
	if (!r)
		r = event_record_if(start, stream);
	if (!r)
		r = launch_function(function, l, stream, extra);
	return r ? r : event_record_if(stop, stream);
}

/* No header declares these for C. */
HIP_API_BEGIN
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t x, uint32_t y, uint32_t z, uint32_t local_x,
				    uint32_t local_y, uint32_t local_z, size_t lds_B, hipStream_t stream,
				    void **args, void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags);
hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t x, uint32_t y, uint32_t z, uint32_t local_x,
				    uint32_t local_y, uint32_t local_z, size_t lds_B, hipStream_t stream,
				    void **args, void **extra, hipEvent_t start, hipEvent_t stop);
HIP_API_END

HIP_PUBLIC(hipExtModuleLaunchKernel,
	   (hipFunction_t function, uint32_t x, uint32_t y, uint32_t z, uint32_t local_x, uint32_t local_y,
	    uint32_t local_z, size_t lds_B, hipStream_t stream, void **args, void **extra, hipEvent_t start,
	    hipEvent_t stop, uint32_t flags),
	   (function, x, y, z, local_x, local_y, local_z, lds_B, stream, args, extra, start, stop, flags))
{
	struct hip_launch l = {
		.grid = {x, y, z}, .threads = {local_x, local_y, local_z}, .lds_B = (uint32_t)lds_B, .args = args};

	(void)flags; /* the flag allows reordering, and does not demand it */
	return lds_B > UINT32_MAX ? hipErrorInvalidValue : launch_ext(function, &l, stream, extra, start, stop);
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t x, uint32_t y, uint32_t z, uint32_t local_x,
				    uint32_t local_y, uint32_t local_z, size_t lds_B, hipStream_t stream,
				    void **args, void **extra, hipEvent_t start, hipEvent_t stop)
{
	return hipExtModuleLaunchKernel(function, x, y, z, local_x, local_y, local_z, lds_B, stream, args, extra,
					start, stop, 0);
}

/* The C++ names that programs of HIP 5 call. */
__typeof__(hipExtModuleLaunchKernel) hip_ext_module_launch __asm__(
	"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j")
	__attribute__((alias("hipExtModuleLaunchKernel"), visibility("default")));
__typeof__(hipHccModuleLaunchKernel) hip_hcc_module_launch __asm__(
	"_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_")
	__attribute__((alias("hipHccModuleLaunchKernel"), visibility("default")));

HIP_PUBLIC(hipExtLaunchKernel,
	   (const void *function, dim3 blocks, dim3 threads, void **args, size_t lds_B, hipStream_t stream,
	    hipEvent_t start, hipEvent_t stop, int flags),
	   (function, blocks, threads, args, lds_B, stream, start, stop, flags))
{
	hipError_t r;

	(void)flags;
	r = check_events(start, stop, stream);
	if (!r)
		r = event_record_if(start, stream);
	if (!r)
		r = hipLaunchKernel(function, blocks, threads, args, lds_B, stream);
	return r ? r : event_record_if(stop, stream);
}

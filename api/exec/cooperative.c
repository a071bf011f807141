/* Public functions for cooperative launches: on one device, or one grid on each of several devices, which can
 * synchronize. */
#include <string.h>

#include "drv/lock.h"
#include "api/exec/grid.h"
#include "api/stream/capture.h"
#include "api/stream/point.h"

#define PARTIES_FLAGS (hipCooperativeLaunchMultiDeviceNoPreSync | hipCooperativeLaunchMultiDeviceNoPostSync)

/* Checks the shape first: CLR does so. */
static hipError_t check_shape(const struct hip_launch *l)
{
	const struct hip_kernel *k = l->kernel;

	for (unsigned i = 0; i < 3; i++)
		if ((uint64_t)l->blocks[i] * l->threads[i] > UINT32_MAX)
			return hipErrorInvalidConfiguration;
	return l->lds_B > k->device->lds_B - k->group_B ? hipErrorCooperativeLaunchTooLarge : hipSuccess;
}

static hipError_t launch_on(struct hip_stream *s, const struct hip_launch *l)
{
	hipError_t r = s->device == l->kernel->device ? check_shape(l) : hipErrorInvalidResourceHandle;

	return r ? r : hip_launch_submit(s, l);
}

static hipError_t launch_by_address(const void *function, struct hip_launch *l, hipStream_t handle)
{
	struct hip_stream *s;
	hipError_t r = hip_stream_of(handle, &s);

	if (!r)
		r = hip_kernel_unknown(function, hip_kernel_launched(function, s->device, &l->kernel));
	if (!r && (uint64_t)l->threads[0] * l->threads[1] * l->threads[2] > HIP_THREADS_MAX)
		r = hipErrorInvalidConfiguration;
	return r ? r : launch_on(s, l);
}

static hipError_t launch_function(hipFunction_t function, struct hip_launch *l, hipStream_t handle)
{
	struct hip_stream *s;
	hipError_t r = hip_launch_stream(handle, &s);

	if (!r)
		r = hip_function_of(function, &l->kernel);
	/* CLR's error for too much LDS is InvalidValue when the kernel is named by a handle. */
	if (!r && l->lds_B > l->kernel->device->lds_B)
		r = hipErrorInvalidValue;
	return r ? r : launch_on(s, l);
}

HIP_PUBLIC(hipLaunchCooperativeKernel,
	   (const void *function, dim3 blocks, dim3 threads, void **args, unsigned int lds_B, hipStream_t stream),
	   (function, blocks, threads, args, lds_B, stream))
{
	struct hip_launch l = {.blocks = {blocks.x, blocks.y, blocks.z},
			       .threads = {threads.x, threads.y, threads.z},
			       .lds_B = lds_B,
			       .args = args,
			       .function = function,
			       .cooperative = true};

	return launch_by_address(function, &l, stream);
}

HIP_PUBLIC(hipModuleLaunchCooperativeKernel,
	   (hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	    unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int lds_B,
	    hipStream_t stream, void **args),
	   (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_B, stream, args))
{
	struct hip_launch l = {.blocks = {grid_x, grid_y, grid_z},
			       .threads = {block_x, block_y, block_z},
			       .lds_B = lds_B,
			       .args = args,
			       .function = function,
			       .cooperative = true};

	return launch_function(function, &l, stream);
}

/* --- multi-device launches -------------------------------------------------------------------- */

/* Multi-device launches. Grids synchronize through counters in host memory (ockl's multi_grid_sync). Only one group
 * at a time is submitted, so that the devices' queues have all groups in the same order; another order would be a
 * deadlock. */
static struct {
	struct drv_mutex lock; /* guards the members below; outside a stream's */
	/* Owned, never freed: 64 bytes for each first device of a group, in memory that all devices can access. */
	uint64_t *grid_sync;
} groups = {.lock = DRV_MUTEX(DRV_RANK_HIP_GRID_GROUPS)};

#define GRID_SYNC_B 64u

struct member {
	struct hip_launch launch;
	struct hip_stream *stream; /* borrowed */
	struct hip_grid_group group;
};

static hipError_t grid_sync_make_locked(void)
{
	void *memory;

	drv_rank_assert(DRV_RANK_HIP_GRID_GROUPS);
	if (groups.grid_sync)
		return hipSuccess;
	if (hip_pool_memory(hip.host_fine, (size_t)GRID_SYNC_B * HIP_DEVICES_MAX, true, &memory))
		return hipErrorOutOfMemory;
	memset(memory, 0, (size_t)GRID_SYNC_B * HIP_DEVICES_MAX);
	groups.grid_sync = memory;
	return hipSuccess;
}

/* Orders every stream behind the present work of all others. */
static hipError_t members_order(const struct member *members, unsigned count)
{
	struct hip_point point[HIP_DEVICES_MAX];
	hipError_t r = hipSuccess;

	for (unsigned i = 0; i < count; i++)
		point[i] = hip_stream_point(members[i].stream);
	for (unsigned i = 0; i < count && !r; i++) {
		r = hip_stream_begin(members[i].stream);
		if (r)
			break;
		for (unsigned j = 0; j < count && !r; j++)
			r = hip_stream_after(members[i].stream, &point[j]);
		hip_stream_done(members[i].stream);
	}
	for (unsigned i = 0; i < count; i++)
		hip_point_put(&point[i]);
	return r;
}

static uint64_t threads_of(const struct hip_launch *l)
{
	return (uint64_t)l->blocks[0] * l->blocks[1] * l->blocks[2] * l->threads[0] * l->threads[1] * l->threads[2];
}

/* Checks every member before the first is submitted. */
static hipError_t check_members(struct member *members, unsigned count)
{
	uint64_t threads = 0;
	hipError_t r = hipSuccess;

	for (unsigned i = 0; i < count && !r; i++) {
		struct member *m = &members[i];

		if (hip_stream_captures(m->stream))
			return hipErrorStreamCaptureUnsupported;
		for (unsigned j = 0; j < i; j++)
			if (members[j].stream->device == m->stream->device)
				return hipErrorInvalidDevice;
		if (m->stream->device != m->launch.kernel->device)
			return hipErrorInvalidResourceHandle;
		if (!m->launch.threads[0] || !m->launch.threads[1] || !m->launch.threads[2])
			return hipErrorInvalidConfiguration;
		r = m->launch.cooperative ? check_shape(&m->launch) : hipSuccess;
		if (!r)
			r = hip_launch_check(&m->launch);
		m->group = (struct hip_grid_group){.rank = i, .grids = count, .threads_before = threads};
		threads += threads_of(&m->launch);
	}
	for (unsigned i = 0; i < count; i++)
		members[i].group.threads = threads;
	return r;
}

static hipError_t members_put(struct member *members, unsigned count)
{
	hipError_t r = hipSuccess;

	for (unsigned i = 0; i < count && !r; i++)
		r = hip_launch_submit(members[i].stream, &members[i].launch);
	return r;
}

/* Submits the grids of a group that synchronizes, without another group between them. */
static hipError_t group_put(struct member *members, unsigned count)
{
	hipError_t r;

	drv_mutex_lock(&groups.lock);
	r = grid_sync_make_locked();
	for (unsigned i = 0; i < count && !r; i++) {
		struct member *m = &members[i];

		m->group.grid_sync =
			(char *)groups.grid_sync + GRID_SYNC_B * (unsigned)members[0].stream->device->index;
		m->launch.group = &m->group;
	}
	/* All are reserved before the first is submitted: a grid without the others would wait for ever. */
	for (unsigned i = 0; i < count && !r; i++)
		r = hip_grid_reserve(members[i].stream, &members[i].launch);
	r = r ? r : members_put(members, count);
	drv_mutex_unlock(&groups.lock);
	return r;
}

static hipError_t launch_members(struct member *members, unsigned count, unsigned flags)
{
	hipError_t r = check_members(members, count);

	if (!r && !(flags & hipCooperativeLaunchMultiDeviceNoPreSync))
		r = members_order(members, count);
	if (!r)
		r = members[0].launch.cooperative ? group_put(members, count) : members_put(members, count);
	if (!r && !(flags & hipCooperativeLaunchMultiDeviceNoPostSync))
		r = members_order(members, count);
	return r;
}

static hipError_t stream_of_member(struct member *m, hipStream_t handle)
{
	return handle ? hip_launch_stream(handle, &m->stream) : hipErrorInvalidResourceHandle;
}

/* CLR's error for NULL is the same as for a function that is no kernel. */
static hipError_t kernel_of_member(struct member *m, const void *function)
{
	hipError_t r = hip_kernel_query(function, m->stream->device, &m->launch.kernel);

	return r == hipErrorInvalidDeviceFunction ? hipErrorInvalidSymbol : r;
}

static hipError_t check_list(const void *list, unsigned count, unsigned flags)
{
	if (TUFF_HIP_ABI >= 7 && list && count > hip.devices)
		return hipErrorInvalidDevice;
	return !list || !count || count > hip.devices || flags > PARTIES_FLAGS ? hipErrorInvalidValue : hipSuccess;
}

static hipError_t launch_list(const hipLaunchParams *list, unsigned count, unsigned flags, bool cooperative)
{
	struct member members[HIP_DEVICES_MAX];
	hipError_t r = check_list(list, count, flags);

	for (unsigned i = 0; i < count && !r; i++) {
		const hipLaunchParams *p = &list[i];
		struct member *m = &members[i];

		m->launch = (struct hip_launch){.blocks = {p->gridDim.x, p->gridDim.y, p->gridDim.z},
						.threads = {p->blockDim.x, p->blockDim.y, p->blockDim.z},
						.lds_B = (uint32_t)p->sharedMem,
						.args = p->args,
						.cooperative = cooperative};
		r = stream_of_member(m, p->stream);
		if (!r)
			r = p->sharedMem > UINT32_MAX ? hipErrorCooperativeLaunchTooLarge
						      : kernel_of_member(m, p->func);
	}
	return r ? r : launch_members(members, count, flags);
}

HIP_PUBLIC(hipLaunchCooperativeKernelMultiDevice, (hipLaunchParams *list, int count, unsigned int flags),
	   (list, count, flags))
{
	return launch_list(list, count < 0 ? 0 : (unsigned)count, flags, true);
}

HIP_PUBLIC(hipExtLaunchMultiKernelMultiDevice, (hipLaunchParams *list, int count, unsigned int flags),
	   (list, count, flags))
{
	return launch_list(list, count < 0 ? 0 : (unsigned)count, flags, false);
}

static hipError_t launch_functions(const hipFunctionLaunchParams *list, unsigned count, unsigned flags)
{
	struct member members[HIP_DEVICES_MAX];
	hipError_t r = check_list(list, count, flags);

	for (unsigned i = 0; i < count && !r; i++) {
		const hipFunctionLaunchParams *p = &list[i];
		struct member *m = &members[i];

		m->launch = (struct hip_launch){.blocks = {p->gridDimX, p->gridDimY, p->gridDimZ},
						.threads = {p->blockDimX, p->blockDimY, p->blockDimZ},
						.lds_B = p->sharedMemBytes,
						.args = p->kernelParams,
						.cooperative = true};
		r = stream_of_member(m, p->hStream);
		if (!r)
			r = hip_function_of(p->function, &m->launch.kernel);
	}
	return r ? r : launch_members(members, count, flags);
}

HIP_PUBLIC(hipModuleLaunchCooperativeKernelMultiDevice,
	   (hipFunctionLaunchParams *list, unsigned int count, unsigned int flags), (list, count, flags))
{
	return launch_functions(list, count, flags);
}

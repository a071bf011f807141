/* Kernel launches. */
#ifndef API_LAUNCH_H
#define API_LAUNCH_H

#include "api/module/module.h"
#include "api/stream/stream.h"

struct hip_grid_group;

struct hip_launch {
	const struct hip_kernel *kernel;
	uint32_t blocks[3], threads[3]; /* of the grid, of a block */
	uint32_t grid[3];               /* work-items; 0: blocks * threads */
	uint32_t lds_B;                 /* dynamic */
	void **args;                    /* the address of each; NULL: packed */
	const void *packed;
	size_t packed_B;
	const void *function;               /* as the program named the kernel */
	bool cooperative;                   /* its blocks run all at a time: grid.c */
	const struct hip_grid_group *group; /* of one: borrowed; NULL: no other device's grid is to be met */
	const void *grid_sync;              /* hidden: how they meet; grid.c fills it in */
	void *messages;                     /* hidden: where printf leaves them; print_buffer.c fills it in */
};
/* Between no begin and done: takes the lock, and captures. */
hipError_t hip_launch_submit(struct hip_stream *stream, const struct hip_launch *launch);

hipError_t hip_launch_check(const struct hip_launch *launch);
/* Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_launch_put(struct hip_stream *stream, const struct hip_launch *launch);
/* The packet's header and setup. */
#define HIP_LAUNCH_HEADER                                                                                          \
	((uint32_t)HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER |   \
	 HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                                        \
	 HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |                                        \
	 3u << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS << 16)
/* As hip_tool_watch(), of a kernel. */
hsa_signal_t hip_launch_watch(struct hip_stream *stream, const struct hip_launch *launch);
/* A packet with that header and setup, and its arguments, kernel->cs->kernarg_B bytes. */
void hip_launch_prepare(const struct hip_launch *launch, uint32_t header_and_setup,
			hsa_kernel_dispatch_packet_t *packet, char *args);
/* Packed arguments of a list HIP_LAUNCH_PARAM_*. */
hipError_t hip_launch_extra(void **extra, struct hip_launch *launch);
/* The explicit arguments as the kernel lays them out; room for launch->kernel->cs->explicit_B bytes. */
void hip_launch_pack(const struct hip_launch *launch, char *to);
/* As CLR: to launches a stream that is none is a wrong value. */
static inline hipError_t hip_launch_stream(hipStream_t handle, struct hip_stream **stream)
{
	hipError_t r = hip_stream_of(handle, stream);

	return r == hipErrorContextIsDestroyed ? hipErrorInvalidValue : r;
}
#endif

/* Kernel launches.
 *
 *   hip_launch  a launch: kernel, grid, arguments; a value of the caller
 *
 * Arguments are packed into memory of the stream, under the stream's lock.
 */
#ifndef API_LAUNCH_H
#define API_LAUNCH_H

#include "api/module/module.h"
#include "api/stream/stream.h"

struct hip_grid_group;

struct hip_launch {
	const struct hip_kernel *kernel;
	uint32_t blocks[3], threads[3]; /* blocks of the grid, threads of a block */
	uint32_t grid[3];               /* work-items of the grid; 0: blocks * threads */
	uint32_t lds_B;                 /* dynamic LDS */
	void **args;                    /* address of each argument; NULL: the arguments are packed */
	const void *packed;
	size_t packed_B;
	const void *function;               /* the program's name for the kernel: a host address or a handle */
	bool cooperative;                   /* the blocks are all resident at a time: grid.c */
	const struct hip_grid_group *group; /* borrowed; NULL: the launch is on one device */
	const void *grid_sync;              /* hidden argument for grid sync; set by grid.c */
	void *messages;                     /* hidden argument: printf's buffer; set by print_buffer.c */
};
/* Takes the stream's lock, and captures. Not between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_launch_submit(struct hip_stream *stream, const struct hip_launch *launch);

hipError_t hip_launch_check(const struct hip_launch *launch);
/* Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_launch_put(struct hip_stream *stream, const struct hip_launch *launch);
/* Header and setup of the packet of a launch. */
#define HIP_LAUNCH_HEADER                                                                                          \
	((uint32_t)HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER |   \
	 HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                                        \
	 HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |                                        \
	 3u << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS << 16)
/* Submits one dispatch, which is neither cooperative nor prints. Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_launch_dispatch(struct hip_stream *stream, const struct hip_launch *launch,
			       uint32_t header_and_setup, hsa_signal_t completion);
/* The same as hip_tool_watch(), for a kernel. */
hsa_signal_t hip_launch_watch(struct hip_stream *stream, const struct hip_launch *launch);
/* Writes the packet, with that header and setup, and the arguments: kernel->cs->kernarg_B bytes. */
void hip_launch_prepare(const struct hip_launch *launch, uint32_t header_and_setup,
			hsa_kernel_dispatch_packet_t *packet, char *args);
/* Reads packed arguments from a list of HIP_LAUNCH_PARAM_*. */
hipError_t hip_launch_extra(void **extra, struct hip_launch *launch);
/* Writes the explicit arguments at the kernel's offsets; `to` has room for launch->kernel->cs->explicit_B bytes. */
void hip_launch_pack(const struct hip_launch *launch, char *to);
/* CLR's error for a handle that is no stream is InvalidValue in launches. */
static inline hipError_t hip_launch_stream(hipStream_t handle, struct hip_stream **stream)
{
	hipError_t r = hip_stream_of(handle, stream);

	return r == hipErrorContextIsDestroyed ? hipErrorInvalidValue : r;
}
#endif

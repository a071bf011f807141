/* Fills and copies by kernels of the library's own, as dispatches of the stream: what a device's kernels reach at
 * full speed costs no job of an engine, and is in order like every kernel. */
#ifndef API_BLIT_H
#define API_BLIT_H

#include "api/exec/op.h"
#include "api/tool/tool.h"

/* Rows at a distance, in slices at a distance; all addresses are the GPU's. */
struct hip_blit {
	uint64_t dst, dst_pitch_B, dst_slice_B;
	uint64_t src, src_pitch_B, src_slice_B; /* src 0: a fill */
	uint64_t row_B, rows, slices;           /* none is 0 */
	uint32_t value;                         /* of a fill: 4 bytes, in the order of addresses modulo 4 */
	struct hip_device *device;              /* whose memory takes part; NULL: only the host's */
	bool host;                              /* one side is memory of the host */
	enum hip_tool_kind kind;                /* what tools are told */
};

/* Above this the DMA engines move what is read from or written to memory of the host, beside the stream's kernels:
 * some 10 us of a PCIe 4 link, which is less than the two hops between rings that an engine costs. */
#define HIP_BLIT_HOST_MAX_B 262144u

/* Whether kernels do a copy between memory of these owners (NULL: the host): no two GPUs take part, it is not too
 * large for that (HIP_BLIT_HOST_MAX_B), and TUFF_COPY names no other engine. Then blit->device and host are filled
 * in. Fills are always kernels. */
bool hip_blit_takes(struct hip_blit *blit, struct hip_device *dst_owner, struct hip_device *src_owner);
/* Between hip_stream_begin() and hip_stream_done(). The stream is blit->device's. */
hipError_t hip_blit_put(struct hip_stream *stream, const struct hip_blit *blit);
struct hip_tool_work hip_blit_work(const struct hip_blit *blit);

/* For graphs: the launch that does all of it, whose packed arguments are *args. NotSupported: several launches are
 * needed, or no kernel does it. */
struct hip_blit_args {
	uint64_t dst, dst_pitch_B, dst_slice_B, src, src_pitch_B, src_slice_B, row_B;
	uint32_t rows, value;
	uint32_t x_shift; /* log2 of the lanes along a row, at least 4; a workgroup has 256 in all */
	uint32_t zero;
};
/* The header of its packet. */
uint32_t hip_blit_header(const struct hip_blit *blit);
hipError_t hip_blit_launch(struct hip_device *device, const struct hip_blit *blit, struct hip_blit_args *args,
			   struct hip_launch *launch);

#endif

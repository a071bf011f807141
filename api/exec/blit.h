/* Blits: fills and copies by this library's own kernels, as dispatches of the stream. A blit costs no job of a DMA
 * engine, and the stream's order covers it like any kernel.
 *
 *   hip_blit       rows to copy or fill; a value of the caller
 *   hip_blit_args  the kernel's arguments
 *
 * Nothing here has a lock but the stream's.
 */
#ifndef API_BLIT_H
#define API_BLIT_H

#include "api/exec/op.h"
#include "api/tool/tool.h"

/* Rows in slices, each with a pitch. All addresses are GPU addresses. */
struct hip_blit {
	uint64_t dst, dst_pitch_B, dst_slice_B;
	uint64_t src, src_pitch_B, src_slice_B; /* src 0: a fill */
	uint64_t row_B, rows, slices;           /* at least 1 each */
	/* Value of a fill: 4 bytes; the byte for an address is selected by the address modulo 4. */
	uint32_t value;
	struct hip_device *device; /* the device whose memory is involved; NULL: host memory only */
	bool host;                 /* source or destination is host memory */
	enum hip_tool_kind kind;   /* kind of the record for tools */
};

/* Larger copies that read or write host memory use the DMA engines, beside the stream's kernels. The limit is
 * some 10 us of a PCIe 4 link; below that the copy costs less than the two switches between rings that an engine
 * needs. */
#define HIP_BLIT_HOST_MAX_B 262144u

/* Decides whether kernels do a copy between memory of these owners (NULL: the host): at most one GPU is involved,
 * the size is below HIP_BLIT_HOST_MAX_B where that counts, and TUFF_COPY names no other engine. Sets blit->device
 * and blit->host then. Fills are always done by kernels. */
bool hip_blit_takes(struct hip_blit *blit, struct hip_device *dst_owner, struct hip_device *src_owner);
/* Submits the blit to a stream of blit->device. Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_blit_put(struct hip_stream *stream, const struct hip_blit *blit);
struct hip_tool_work hip_blit_work(const struct hip_blit *blit);

/* For graphs: makes the one launch that does the whole blit, with packed arguments in *args. Errors: NotSupported,
 * when the blit needs several launches or no kernel can do it. */
struct hip_blit_args {
	uint64_t dst, dst_pitch_B, dst_slice_B, src, src_pitch_B, src_slice_B, row_B;
	uint32_t rows, value;
	uint32_t x_shift; /* log2 of the lanes along a row, at least 4; a workgroup has 256 lanes */
	uint32_t zero;
};
/* The packet header of the blit's dispatches. */
uint32_t hip_blit_header(const struct hip_blit *blit);
hipError_t hip_blit_launch(struct hip_device *device, const struct hip_blit *blit, struct hip_blit_args *args,
			   struct hip_launch *launch);

#endif

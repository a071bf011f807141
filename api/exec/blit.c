/* Blits (blit.h), by the kernels of kernels.hip. A lane moves one element of 16, 4 or 1 bytes: the largest size to
 * which both sides have the same alignment. Bytes before the first and after the last aligned element of a row are
 * moved one by one, by the row's first lanes. */
#include "api/exec/blit.h"
#include "api/module/built_in.h"

#include "drv/config.h"

#define LANES 256u /* lanes of a workgroup */
/* log2 of the fewest lanes along a row: a row's unaligned ends are shorter than 16 bytes. */
#define X_SHIFT    4u
#define ELEMENTS   (1ull << 31) /* elements of a row in one launch: a grid's size has 32 bits */
#define GROUPS_MAX 65535u       /* workgroups along rows and slices (GFX12's limit) */

/* The part of a blit that one launch does. */
struct part {
	uint64_t at_B, size_B; /* range of each row */
	uint64_t row, rows, slice, slices;
};

bool hip_blit_takes(struct hip_blit *b, struct hip_device *dst_owner, struct hip_device *src_owner)
{
	b->device = hip_only_owner(dst_owner, src_owner);
	b->host = !dst_owner || !src_owner;
	if (dst_owner && src_owner && !b->device)
		return false;
	if (drv_config()->copy != DRV_COPY_AUTO)
		return drv_config()->copy == DRV_COPY_SHADER;
	return !b->host || b->row_B * b->rows * b->slices <= HIP_BLIT_HOST_MAX_B;
}

struct hip_tool_work hip_blit_work(const struct hip_blit *b)
{
	return (struct hip_tool_work){
		.op = HIP_TOOL_COPY,
		.kind = b->kind,
		.bytes = b->row_B * b->rows * b->slices,
		.by_kernel = true,
	};
}

static unsigned element_B(const struct hip_blit *b)
{
	uint64_t differ = b->dst - b->src;

	if (!b->src)
		return 16;
	if (b->rows > 1)
		differ |= b->dst_pitch_B - b->src_pitch_B;
	if (b->slices > 1)
		differ |= b->dst_slice_B - b->src_slice_B;
	return differ % 16 == 0 ? 16 : differ % 4 == 0 ? 4 : 1;
}

static enum hip_built_in kernel_of(const struct hip_blit *b)
{
	if (!b->src)
		return HIP_BUILT_IN_FILL;
	return element_B(b) == 16  ? HIP_BUILT_IN_COPY16
	       : element_B(b) == 4 ? HIP_BUILT_IN_COPY4
				   : HIP_BUILT_IN_COPY1;
}

/* log2 of the lanes along a row: short rows share a workgroup. */
static uint32_t x_shift_of(uint64_t elements)
{
	uint32_t shift = X_SHIFT;

	while (1u << shift < LANES && 1u << shift < elements)
		shift++;
	return shift;
}

/* Bytes of each row, from at_B on, in one part. */
static uint64_t part_B(const struct hip_blit *b, uint64_t at_B)
{
	uint64_t rest_B = b->row_B - at_B, most_B = ELEMENTS * element_B(b);

	return rest_B < most_B ? rest_B : most_B;
}

static uint64_t elements_of(const struct hip_blit *b, const struct part *p)
{
	return p->size_B / element_B(b) + 1; /* the unaligned ends may leave one element less */
}

/* The most rows of one launch, for that many lanes along a row. */
static uint64_t most_rows(uint32_t x_shift)
{
	return (uint64_t)GROUPS_MAX * (LANES >> x_shift);
}

static struct part first_part(const struct hip_blit *b)
{
	return (struct part){.size_B = part_B(b, 0)};
}

/* Limits the part to the rows and slices of one launch. */
static void cut_part(const struct hip_blit *b, struct part *p)
{
	uint32_t shift = x_shift_of(elements_of(b, p));
	uint64_t rows = b->rows - p->row, slices = b->slices - p->slice;

	p->rows = rows < most_rows(shift) ? rows : most_rows(shift);
	p->slices = slices < GROUPS_MAX ? slices : GROUPS_MAX;
}

/* Advances to the next part. False: the part was the last. */
static bool next_part(const struct hip_blit *b, struct part *p)
{
	p->at_B += p->size_B;
	if (p->at_B == b->row_B)
		p->at_B = 0;
	p->size_B = part_B(b, p->at_B);
	if (p->at_B)
		return true;
	p->row += p->rows;
	if (p->row < b->rows)
		return true;
	p->row = 0;
	p->slice += p->slices;
	return p->slice < b->slices;
}

static void fill_launch(const struct hip_blit *b, const struct part *p, struct hip_blit_args *args,
			struct hip_launch *l)
{
	uint64_t elements = elements_of(b, p);
	uint32_t shift = x_shift_of(elements), y_lanes = LANES >> shift;

	*args = (struct hip_blit_args){
		.dst = b->dst + p->slice * b->dst_slice_B + p->row * b->dst_pitch_B + p->at_B,
		.dst_pitch_B = b->dst_pitch_B,
		.dst_slice_B = b->dst_slice_B,
		.src = b->src + p->slice * b->src_slice_B + p->row * b->src_pitch_B + p->at_B,
		.src_pitch_B = b->src_pitch_B,
		.src_slice_B = b->src_slice_B,
		.row_B = p->size_B,
		.rows = (uint32_t)p->rows,
		.value = b->value,
		.x_shift = shift,
	};
	l->threads[0] = 1u << shift;
	l->threads[1] = y_lanes;
	l->threads[2] = 1;
	l->blocks[0] = (uint32_t)((elements + l->threads[0] - 1) >> shift);
	l->blocks[1] = (uint32_t)((p->rows + y_lanes - 1) / y_lanes);
	l->blocks[2] = (uint32_t)p->slices;
	l->packed = args;
	l->packed_B = sizeof(*args);
}

/* System scope where host memory is involved: the kernel must see the writes of the CPU and of other devices, and
 * not stale lines of its caches. */
uint32_t hip_blit_header(const struct hip_blit *b)
{
	const uint32_t scope = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
		       scopes = 3u << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE;

	return b->host ? (HIP_LAUNCH_HEADER & ~scopes) | scope : HIP_LAUNCH_HEADER;
}

static hipError_t put_part(struct hip_stream *s, const struct hip_blit *b, const struct hip_launch *l,
			   hsa_signal_t watched)
{
	char *args = hip_stream_args(s, l->kernel->args_B);
	hsa_kernel_dispatch_packet_t packet;

	if (!args)
		return hipErrorOutOfMemory;
	hip_launch_prepare(l, hip_blit_header(b), &packet, args);
	packet.completion_signal = watched;
	return hip_stream_result(s, hip_stream_dispatch(s, &packet));
}

static hsa_signal_t blit_watch(struct hip_stream *s, const struct hip_blit *b)
{
	struct hip_tool_work work;

	if (!hip_traced())
		return (hsa_signal_t){0};
	work = hip_blit_work(b);
	return hip_tool_watch_work(s, &work);
}

hipError_t hip_blit_put(struct hip_stream *s, const struct hip_blit *b)
{
	struct part p = first_part(b), last;
	struct hip_blit_args args;
	struct hip_launch l = {0};
	hsa_signal_t watched = {0};
	hipError_t r = hip_built_in(s->device, kernel_of(b), &l.kernel);
	bool more = !r;

	while (more && !r) {
		cut_part(b, &p);
		fill_launch(b, &p, &args, &l);
		last = p;
		more = next_part(b, &last);
		if (!more)
			watched = blit_watch(s, b);
		r = put_part(s, b, &l, watched);
		p = last;
	}
	if (r)
		hip_tool_forget(watched);
	return r;
}

hipError_t hip_blit_launch(struct hip_device *device, const struct hip_blit *b, struct hip_blit_args *args,
			   struct hip_launch *l)
{
	struct part p = first_part(b);

	*l = (struct hip_launch){0};
	cut_part(b, &p);
	fill_launch(b, &p, args, l);
	return next_part(b, &p) ? hipErrorNotSupported : hip_built_in(device, kernel_of(b), &l->kernel);
}

/* Blits (blit.h), by the kernels of kernels.hip. A lane moves one element of 16, 4 or 1 bytes: the largest size to
 * which both sides have the same alignment. Bytes before the first and after the last aligned element of a row are
 * moved one by one, by the row's first lanes. */
#include "api/exec/blit.h"
#include "api/module/built_in.h"

#include "drv/config.h"

#define LANES_SHIFT 8u /* log2 of the lanes of a workgroup */
/* log2 of the fewest lanes along a row: a row's unaligned ends are shorter than 16 bytes. */
#define X_SHIFT    4u
#define ELEMENTS   (1ull << 31) /* elements of a row in one launch: a grid's size has 32 bits */
#define GROUPS_MAX 65535u       /* workgroups along rows and slices (GFX12's limit) */

/* The part of a blit that one launch does. */
struct part {
	uint64_t at_B, size_B; /* range of each row */
	uint64_t row, rows, slice, slices;
	uint64_t elements; /* elements of a row; the unaligned ends may leave one less */
	uint32_t x_shift;  /* log2 of the lanes along a row */
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

/* log2 of an element's bytes. */
static inline unsigned element_shift(const struct hip_blit *b)
{
	uint64_t differ = b->dst - b->src;

	if (!b->src)
		return 4;
	if (b->rows > 1)
		differ |= b->dst_pitch_B - b->src_pitch_B;
	if (b->slices > 1)
		differ |= b->dst_slice_B - b->src_slice_B;
	return differ % 16 == 0 ? 4 : differ % 4 == 0 ? 2 : 0;
}

static inline hipError_t kernel_of(struct hip_device *device, const struct hip_blit *b, unsigned element_shift,
				   const struct hip_kernel **kernel)
{
	const enum hip_built_in copy[] = {
		[0] = HIP_BUILT_IN_COPY1, [2] = HIP_BUILT_IN_COPY4, [4] = HIP_BUILT_IN_COPY16};

	return hip_built_in(device, b->src ? copy[element_shift] : HIP_BUILT_IN_FILL, kernel);
}

/* Short rows share a workgroup. */
static uint32_t x_shift_of(uint64_t elements)
{
	if (elements >= 1u << LANES_SHIFT)
		return LANES_SHIFT;
	return elements <= 1u << X_SHIFT ? X_SHIFT : 32 - (uint32_t)__builtin_clz((uint32_t)elements - 1);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Gives the part that begins at p->at_B, p->row and p->slice its size. */
__attribute__((always_inline)) static inline void part_cut(const struct hip_blit *b, unsigned element_shift,
							   struct part *p)
{
	p->size_B = least(b->row_B - p->at_B, ELEMENTS << element_shift);
	p->elements = (p->size_B >> element_shift) + 1;
	p->x_shift = x_shift_of(p->elements);
	p->rows = least(b->rows - p->row, (uint64_t)GROUPS_MAX << (LANES_SHIFT - p->x_shift));
	p->slices = least(b->slices - p->slice, GROUPS_MAX);
}

/* Advances to the beginning of the next part: along the rows, then to further rows, then to further slices. False: the part was
 * the last. */
static inline bool part_next(const struct hip_blit *b, struct part *p)
{
	p->at_B += p->size_B;
	if (p->at_B < b->row_B)
		return true;
	p->at_B = 0;
	p->row += p->rows;
	if (p->row < b->rows)
		return true;
	p->row = 0;
	p->slice += p->slices;
	return p->slice < b->slices;
}

__attribute__((always_inline)) static inline void part_launch(const struct hip_blit *b, const struct part *p,
							      struct hip_blit_args *args, struct hip_launch *l)
{
	const uint32_t y_shift = LANES_SHIFT - p->x_shift;

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
		.x_shift = p->x_shift,
	};
	l->threads[0] = 1u << p->x_shift;
	l->threads[1] = 1u << y_shift;
	l->threads[2] = 1;
	l->blocks[0] = (uint32_t)((p->elements + l->threads[0] - 1) >> p->x_shift);
	l->blocks[1] = (uint32_t)((p->rows + l->threads[1] - 1) >> y_shift);
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
	const unsigned shift = element_shift(b);
	struct part p = {0};
	struct hip_blit_args args;
	struct hip_launch l = {0};
	hsa_signal_t watched = {0};
	hipError_t r = kernel_of(s->device, b, shift, &l.kernel);
	bool more = !r;

	while (more && !r) {
		part_cut(b, shift, &p);
		part_launch(b, &p, &args, &l);
		more = part_next(b, &p);
		if (!more)
			watched = blit_watch(s, b);
		r = hip_launch_dispatch(s, &l, hip_blit_header(b), watched);
	}
	if (r)
		hip_tool_forget(watched);
	return r;
}

hipError_t hip_blit_launch(struct hip_device *device, const struct hip_blit *b, struct hip_blit_args *args,
			   struct hip_launch *l)
{
	const unsigned shift = element_shift(b);
	struct part p = {0};

	*l = (struct hip_launch){0};
	part_cut(b, shift, &p);
	part_launch(b, &p, args, l);
	return part_next(b, &p) ? hipErrorNotSupported : kernel_of(device, b, shift, &l->kernel);
}

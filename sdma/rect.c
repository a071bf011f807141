/* Copies of rectangles: rows and slices with pitches. Few packets where the engine's sub-windows can express the
 * rectangle, one copy per row elsewhere. */
#include "sdma/internal.h"
#include "sdma/packet.h"

#define ROWS_MAX 512u /* most rows of one job: its commands must fit the IB memory */

/* --- packets ---------------------------------------------------------------------------------- */

/* Finds the widest element (log2 of its bytes) that divides all addresses and pitches, except the start of a
 * window, which may be inside a dword. */
static unsigned element_of(const struct sdma_rect *r)
{
	uint64_t all =
		r->dst | r->src | r->row_B | r->dst_pitch_B | r->src_pitch_B | r->dst_slice_B | r->src_slice_B;

	return all % 16 == 0 ? 4 : (unsigned)__builtin_ctzll(all | 16);
}

static bool has_window(const struct sdma_packets *sdma, uint64_t pitch_B, uint64_t slice_B, unsigned log2_B)
{
	return pitch_B % 4 == 0 && slice_B % 4 == 0 && pitch_B >> log2_B <= sdma->pitch_max &&
	       slice_B >> log2_B <= sdma->slice_max && pitch_B && slice_B;
}

static uint32_t *put_window(uint32_t *p, const struct sdma_packets *sdma, uint64_t va, uint64_t pitch_B,
			    uint64_t slice_B, unsigned log2_B)
{
	*p++ = (uint32_t)va & ~3u;
	*p++ = (uint32_t)(va >> 32);
	*p++ = (va & 3) >> log2_B; /* x; y is 0 */
	*p++ = ((uint32_t)(pitch_B >> log2_B) - 1) << sdma->pitch_shift;
	*p++ = (uint32_t)(slice_B >> log2_B) - 1;
	return p;
}

static void put_tile(struct cs_ib *ib, const struct sdma_packets *sdma, const struct sdma_rect *r, uint64_t at_B,
		     uint64_t row_B, unsigned log2_B)
{
	uint32_t *p = cs_ib_room(ib, SDMA_COPY_WINDOW_DW);

	*p++ = SDMA_HEADER(SDMA_OP_COPY, SDMA_COPY_WINDOW) | log2_B << SDMA_ELEMENT_SHIFT;
	p = put_window(p, sdma, r->src + at_B, r->src_pitch_B, r->src_slice_B, log2_B);
	p = put_window(p, sdma, r->dst + at_B, r->dst_pitch_B, r->dst_slice_B, log2_B);
	*p++ = (uint32_t)((row_B >> log2_B) - 1) | (r->rows - 1) << SDMA_Y_SHIFT;
	*p++ = r->slices - 1;
	cs_ib_wrote(ib, p);
}

/* Appends a rectangle. Its rows and slices are at most ROWS_MAX in total. */
static void put_rect(struct cs_ib *ib, const struct sdma_rect *r)
{
	const struct sdma_packets *sdma = &sdma_packets[vm_device(cs_ring_vm(ib->ring))->chip->sdma];
	unsigned log2_B = element_of(r);
	uint64_t most_B = (uint64_t)sdma->window_max << log2_B;

	if (has_window(sdma, r->src_pitch_B, r->src_slice_B, log2_B) &&
	    has_window(sdma, r->dst_pitch_B, r->dst_slice_B, log2_B)) {
		for (uint64_t at_B = 0; at_B < r->row_B; at_B += most_B)
			put_tile(ib, sdma, r, at_B, r->row_B - at_B < most_B ? r->row_B - at_B : most_B, log2_B);
		return;
	}
	for (uint32_t z = 0; z < r->slices; z++)
		for (uint32_t y = 0; y < r->rows; y++)
			sdma_copy(ib, r->dst + z * r->dst_slice_B + y * r->dst_pitch_B,
				  r->src + z * r->src_slice_B + y * r->src_pitch_B, r->row_B);
}

/* --- engines ---------------------------------------------------------------------------------- */

static int blit_rect(const struct sdma_queues *q, struct cs_ib *ib, const struct sdma_rect *r)
{
	int error = 0;

	for (uint32_t z = 0; !error && z < r->slices; z++)
		for (uint32_t y = 0; !error && y < r->rows; y++) {
			const struct sdma_op row = {
				.dst = r->dst + z * r->dst_slice_B + y * r->dst_pitch_B,
				.src = r->src + z * r->src_slice_B + y * r->src_pitch_B,
				.size_B = r->row_B,
			};

			error = sdma_blit(q, ib, &row);
		}
	return error;
}

int sdma_append_rect(const struct sdma_queues *q, enum sdma_engine engine, struct cs_ib *ib,
		     const struct sdma_rect *rect)
{
	if (engine == SDMA_ENGINE_SHADER)
		return blit_rect(q, ib, rect);
	put_rect(ib, rect);
	return 0;
}

/* Cuts the next job's part of the rectangle, from (slice, row) on: whole slices, or rows of one slice. */
static struct sdma_rect next_share(const struct sdma_rect *all, uint64_t most_B, uint32_t slice, uint32_t row)
{
	struct sdma_rect part = *all;
	uint32_t most = all->row_B > most_B / ROWS_MAX ? (uint32_t)(most_B / all->row_B) : ROWS_MAX;

	most = most ? most : 1;
	part.dst += slice * all->dst_slice_B + row * all->dst_pitch_B;
	part.src += slice * all->src_slice_B + row * all->src_pitch_B;
	part.rows = all->rows - row < most ? all->rows - row : most;
	part.slices = all->rows > most ? 1 : most / all->rows;
	if (part.slices > all->slices - slice)
		part.slices = all->slices - slice;
	return part;
}

int sdma_run_rect(const struct sdma_queues *q, enum sdma_engine engine, const struct sdma_rect *rect,
		  const struct sdma_job *job, struct cs_fence *fence)
{
	const uint64_t most_B = sdma_job_max_B(&vm_device(cs_ring_vm(q->compute))->facts);
	uint32_t slice = 0, row = 0;
	int r = 0;

	while (!r && slice < rect->slices) {
		bool first = !slice && !row;
		const struct sdma_rect part = next_share(rect, most_B, slice, row);
		struct sdma_op op = {.rect = &part, .size_B = 1}; /* counts as one part */
		const struct cs_fence last = *fence;

		row += part.rows;
		if (row == rect->rows) {
			row = 0;
			slice += part.slices;
		}
		op.start_va = first ? job->start_va : 0;
		op.end_va = slice == rect->slices ? job->end_va : 0;
		r = sdma_run(q, engine, &op, first ? job->after : &last, first ? job->after_count : 1, fence);
		if (r && !first)
			cs_fence_retire(last);
	}
	return r;
}

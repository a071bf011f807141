/* SDMA copies and fills, and the check that none of them needs an earlier one's end. */
#include "vgpu/engine/sdma_engine.h"

/* Modelled: some 25 GB/s, what one engine moves over its paths. */
#define BYTES_PER_NS 25

static struct sdma_range range(uint64_t lo, uint64_t size_B)
{
	return (struct sdma_range){lo, lo + size_B};
}

static bool meet(struct sdma_range a, struct sdma_range b)
{
	return a.lo < b.hi && b.lo < a.hi;
}

/* Notes what the packet touches, after looking for earlier packets that it has to come after. */
static void order(struct sdma *s, struct sdma_range read, struct sdma_range written)
{
	for (unsigned i = 0; i < s->pending_count; i++) {
		const struct sdma_pending *p = &s->pending[i];

		if (meet(read, p->written) || meet(written, p->written) || meet(written, p->read)) {
			sdma_remark(s, 81,
				    "touches what the copy at dword %u may still be moving; a NOP or FENCE between",
				    p->dw);
			break;
		}
	}
	if (s->pending_count < SDMA_PENDING_MAX)
		s->pending[s->pending_count++] = (struct sdma_pending){read, written, s->offset_dw};
}

static void elapse(struct sdma *s, uint64_t size_B)
{
	engine_run_elapse(s->run, size_B / BYTES_PER_NS, ENGINE_HANG, "SDMA copies");
}

/* Bytes of a count field, which holds one less. False: more than the engine can. */
static bool count_of(struct sdma *s, uint32_t field, uint64_t *size_B)
{
	uint32_t max = s->ring->dev->chip->sdma_max_count_B;

	*size_B = (uint64_t)field + 1;
	if (*size_B <= max)
		return true;
	return sdma_end(s, ENGINE_HANG, 65, "%llu bytes, but the count field holds %u", (unsigned long long)*size_B,
			max);
}

static bool copy_linear(struct sdma *s)
{
	const struct sdma_copy_linear *packet = (const void *)s->packet;
	uint64_t src = pm4_va(packet->src_lo, packet->src_hi), dst = pm4_va(packet->dst_lo, packet->dst_hi), size_B;

	if (!count_of(s, packet->count, &size_B))
		return false;
	order(s, range(src, size_B), range(dst, size_B));
	if (src != dst && meet(range(src, size_B), range(dst, size_B)))
		sdma_remark(s, 0, "source and destination overlap");
	elapse(s, size_B);
	return sdma_need(s, engine_mem_copy(&s->mem, dst, src, size_B));
}

static bool copy_broadcast(struct sdma *s)
{
	const struct sdma_copy_broadcast *packet = (const void *)s->packet;
	uint64_t src = pm4_va(packet->src_lo, packet->src_hi), size_B;
	uint64_t dst1 = pm4_va(packet->dst1_lo, packet->dst1_hi), dst2 = pm4_va(packet->dst2_lo, packet->dst2_hi);

	if (!count_of(s, packet->count, &size_B))
		return false;
	order(s, range(src, size_B), range(dst1, size_B));
	if (s->pending_count < SDMA_PENDING_MAX)
		s->pending[s->pending_count++] =
			(struct sdma_pending){.written = range(dst2, size_B), .dw = s->offset_dw};
	elapse(s, 2 * size_B);
	return sdma_need(s, engine_mem_copy(&s->mem, dst1, src, size_B)) &&
	       sdma_need(s, engine_mem_copy(&s->mem, dst2, src, size_B));
}

/* --- sub-windows ------------------------------------------------------------------------------ */

struct window {
	uint64_t first; /* address of the window's first element */
	uint64_t pitch_B, slice_B;
};

static struct window open_window(struct sdma *s, const struct sdma_window *w, unsigned log2_B)
{
	uint64_t base = pm4_va(w->base_lo, w->base_hi);
	uint64_t pitch = (uint64_t)bits(w->z_pitch, 31, 13) + 1, slice = (uint64_t)bits(w->slice, 27, 0) + 1;
	uint64_t x = bits(w->xy, 13, 0), y = bits(w->xy, 29, 16), z = bits(w->z_pitch, 10, 0);

	if (base & 3 || (pitch << log2_B) & 3 || (slice << log2_B) & 3)
		sdma_remark(s, 0, "base 0x%llx, pitch or slice is no multiple of 4 bytes",
			    (unsigned long long)base);
	return (struct window){
		.first = base + ((x + y * pitch + z * slice) << log2_B),
		.pitch_B = pitch << log2_B,
		.slice_B = slice << log2_B,
	};
}

/* The smallest interval that holds the window. */
static struct sdma_range hull(struct window w, uint64_t row_B, uint64_t rows, uint64_t slices)
{
	return range(w.first, (slices - 1) * w.slice_B + (rows - 1) * w.pitch_B + row_B);
}

static bool copy_sub_window(struct sdma *s)
{
	const struct sdma_copy_sub_window *packet = (const void *)s->packet;
	unsigned log2_B = bits(packet->header, 31, 29);
	struct window src, dst;
	uint64_t rows = (uint64_t)bits(packet->rect_xy, 29, 16) + 1,
		 slices = (uint64_t)bits(packet->rect_z, 10, 0) + 1;
	uint64_t row_B = ((uint64_t)bits(packet->rect_xy, 13, 0) + 1) << log2_B;

	if (log2_B > 4)
		return sdma_end(s, ENGINE_ILLEGAL, 65, "elements of %u bytes", 1u << log2_B);
	src = open_window(s, &packet->src, log2_B);
	dst = open_window(s, &packet->dst, log2_B);
	order(s, hull(src, row_B, rows, slices), hull(dst, row_B, rows, slices));
	elapse(s, row_B * rows * slices);
	for (uint64_t z = 0; z < slices; z++)
		for (uint64_t y = 0; y < rows; y++)
			if (!sdma_need(s, engine_mem_copy(&s->mem, dst.first + z * dst.slice_B + y * dst.pitch_B,
							  src.first + z * src.slice_B + y * src.pitch_B, row_B)))
				return false;
	return true;
}

bool sdma_copy(struct sdma *s)
{
	if (bits(s->packet[0], 18, 18))
		sdma_remark(s, 80, "TMZ, which the device does not have");
	if (bits(s->packet[0], 15, 8) == SDMA_COPY_SUB_WINDOW)
		return copy_sub_window(s);
	return bits(s->packet[0], 27, 27) ? copy_broadcast(s) : copy_linear(s);
}

/* --- fills ------------------------------------------------------------------------------------ */

bool sdma_const_fill(struct sdma *s)
{
	const struct sdma_const_fill *packet = (const void *)s->packet;
	uint64_t dst = pm4_va(packet->dst_lo, packet->dst_hi), size_B;
	unsigned fillsize = bits(packet->header, 31, 30), unit_B = 1u << fillsize;

	if (fillsize > 2)
		return sdma_end(s, ENGINE_ILLEGAL, 65, "fillsize %u", fillsize);
	if (dst & (unit_B - 1))
		sdma_remark(s, 0, "0x%llx is not aligned to units of %u bytes", (unsigned long long)dst, unit_B);
	if (packet->count >> 22)
		return sdma_end(s, ENGINE_HANG, 65, "count 0x%x, but the field has 22 bits", packet->count);
	/* bytes - 1, with the bits below the unit ignored: size - 1 and size - unit mean the same. */
	size_B = (packet->count & ~(uint64_t)(unit_B - 1)) + unit_B;
	dst &= ~(uint64_t)(unit_B - 1);
	order(s, (struct sdma_range){0, 0}, range(dst, size_B));
	elapse(s, size_B);
	return sdma_need(s, engine_mem_fill(&s->mem, dst, packet->pattern, unit_B, size_B));
}

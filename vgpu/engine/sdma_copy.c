/* SDMA copies and fills, and the check that none of them needs an earlier one's end. */
#include "vgpu/engine/sdma_engine.h"

/* Modelled time of a sub-window's row, however short: a quarter of a packet's. Without it 2^64 rows would take
 * none, and the watchdog would never end them. */
#define ROW_NS 50

static struct sdma_range range_of(uint64_t lo, uint64_t size_B)
{
	return (struct sdma_range){lo, lo + size_B};
}

static bool ranges_meet(struct sdma_range a, struct sdma_range b)
{
	return a.lo < b.hi && b.lo < a.hi;
}

/* Checks the packet's ranges against earlier packets that it must come after, and records them. */
static void order_ranges(struct sdma *s, struct sdma_range read, struct sdma_range written)
{
	for (unsigned i = 0; i < s->pending_count; i++) {
		const struct sdma_pending *p = &s->pending[i];

		if (ranges_meet(read, p->written) || ranges_meet(written, p->written) ||
		    ranges_meet(written, p->read)) {
			sdma_remark(s, CONTRACT_BARRIER_MISSING,
				    "touches what the copy at dword %u may still be moving; a NOP or FENCE between",
				    p->dw);
			break;
		}
	}
	if (s->pending_count < SDMA_PENDING_MAX)
		s->pending[s->pending_count++] = (struct sdma_pending){read, written, s->offset_dw};
}

/* False: the watchdog ends the job before the copy does, which is not begun then. */
static bool copy_elapse(struct sdma *s, uint64_t ns)
{
	engine_run_elapse(s->run, ns, ENGINE_HANG, "SDMA copies");
	return !engine_run_stopped(s->run);
}

/* Bytes of a count field, which holds one less. False: more than the engine can. */
static bool count_of(struct sdma *s, uint32_t field, uint64_t *size_B)
{
	uint32_t max = s->ring->dev->chip->sdma_max_count_B;

	*size_B = (uint64_t)field + 1;
	if (*size_B <= max)
		return true;
	return sdma_end(s, ENGINE_HANG, CONTRACT_PACKET_MALFORMED, "%llu bytes, but the count field holds %u",
			(unsigned long long)*size_B, max);
}

/* For a destination that overlaps its source from above; since 5.0. */
static bool copies_backwards(const struct sdma *s)
{
	return s->gen & P_SDMA5U && bits(s->packet[0], 25, 25);
}

static bool copy_linear(struct sdma *s)
{
	const struct sdma_copy_linear *packet = (const void *)s->packet;
	uint64_t src = pm4_va(packet->src_lo, packet->src_hi), dst = pm4_va(packet->dst_lo, packet->dst_hi), size_B;

	if (!count_of(s, packet->count, &size_B))
		return false;
	order_ranges(s, range_of(src, size_B), range_of(dst, size_B));
	if (src != dst && !(copies_backwards(s) && dst > src) &&
	    ranges_meet(range_of(src, size_B), range_of(dst, size_B)))
		sdma_remark(s, 0, "source and destination overlap");
	if (!copy_elapse(s, size_B / ENGINE_BYTES_PER_NS))
		return false;
	return sdma_need(s, copies_backwards(s) ? engine_mem_copy_down(&s->mem, dst, src, size_B)
						: engine_mem_copy(&s->mem, dst, src, size_B));
}

static bool copy_broadcast(struct sdma *s)
{
	const struct sdma_copy_broadcast *packet = (const void *)s->packet;
	uint64_t src = pm4_va(packet->src_lo, packet->src_hi), size_B;
	uint64_t dst1 = pm4_va(packet->dst1_lo, packet->dst1_hi), dst2 = pm4_va(packet->dst2_lo, packet->dst2_hi);

	if (!count_of(s, packet->count, &size_B))
		return false;
	order_ranges(s, range_of(src, size_B), range_of(dst1, size_B));
	if (s->pending_count < SDMA_PENDING_MAX)
		s->pending[s->pending_count++] =
			(struct sdma_pending){.written = range_of(dst2, size_B), .dw = s->offset_dw};
	if (!copy_elapse(s, 2 * size_B / ENGINE_BYTES_PER_NS))
		return false;
	return sdma_need(s, engine_mem_copy(&s->mem, dst1, src, size_B)) &&
	       sdma_need(s, engine_mem_copy(&s->mem, dst2, src, size_B));
}

/* --- sub-windows --- */

struct window {
	uint64_t first; /* address of the window's first element */
	uint64_t pitch_B, slice_B;
};

/* Elements, as the packet has them; pitches are no longer one less. */
struct placement {
	uint64_t base, x, y, z, pitch, slice;
};

struct rectangle {
	uint64_t row_B, rows, slices;
};

/* How wide the fields of COPY_SUB_WINDOW are. */
struct sub_window_bits {
	uint16_t gens;
	uint8_t x_hi;     /* highest bits of x and y, and of the rectangle */
	uint8_t z_hi;     /* of z */
	uint8_t pitch_lo; /* lowest bit of pitch; the highest is 31 */
	uint8_t slice_hi;
};

static const struct sub_window_bits *bits_of(unsigned gen)
{
	static const struct sub_window_bits rows[] = {
		{P_SDMA40, 13, 10, 13, 27},
		{P_SDMA56, 13, 12, 13, 27},
		{P_SDMA70, 15, 13, 16, 31},
	};
	unsigned i = 0;

	while (!(rows[i].gens & gen))
		i++;
	return &rows[i];
}

static struct window open_window(struct sdma *s, const struct placement *p, unsigned log2_B)
{
	if (p->base & 3 || (p->pitch << log2_B) & 3 || (p->slice << log2_B) & 3)
		sdma_remark(s, 0, "base 0x%llx, pitch or slice is no multiple of 4 bytes",
			    (unsigned long long)p->base);
	return (struct window){
		.first = p->base + ((p->x + p->y * p->pitch + p->z * p->slice) << log2_B),
		.pitch_B = p->pitch << log2_B,
		.slice_B = p->slice << log2_B,
	};
}

/* The smallest interval that holds the window. */
static struct sdma_range range_hull(struct window w, const struct rectangle *r)
{
	return range_of(w.first, (r->slices - 1) * w.slice_B + (r->rows - 1) * w.pitch_B + r->row_B);
}

static bool copy_row(struct sdma *s, uint64_t dst, uint64_t src, uint64_t row_B)
{
	return copy_elapse(s, ROW_NS + row_B / ENGINE_BYTES_PER_NS) &&
	       sdma_need(s, engine_mem_copy(&s->mem, dst, src, row_B));
}

static bool copy_windows(struct sdma *s, const struct placement *from, const struct placement *to,
			 const struct rectangle *r, unsigned log2_B)
{
	struct window src, dst;

	if (log2_B > 4)
		return sdma_end(s, ENGINE_ILLEGAL, CONTRACT_PACKET_MALFORMED, "elements of %u bytes", 1u << log2_B);
	src = open_window(s, from, log2_B);
	dst = open_window(s, to, log2_B);
	order_ranges(s, range_hull(src, r), range_hull(dst, r));
	for (uint64_t z = 0; z < r->slices; z++)
		for (uint64_t y = 0; y < r->rows; y++)
			if (!copy_row(s, dst.first + z * dst.slice_B + y * dst.pitch_B,
				      src.first + z * src.slice_B + y * src.pitch_B, r->row_B))
				return false;
	return true;
}

static struct placement place_of(const struct sub_window_bits *b, const struct sdma_window *w)
{
	return (struct placement){
		.base = pm4_va(w->base_lo, w->base_hi),
		.x = bits(w->xy, b->x_hi, 0),
		.y = bits(w->xy, 16 + b->x_hi, 16),
		.z = bits(w->z_pitch, b->z_hi, 0),
		.pitch = (uint64_t)bits(w->z_pitch, 31, b->pitch_lo) + 1,
		.slice = (uint64_t)bits(w->slice, b->slice_hi, 0) + 1,
	};
}

static bool copy_sub_window(struct sdma *s)
{
	const struct sdma_copy_sub_window *packet = (const void *)s->packet;
	const struct sub_window_bits *b = bits_of(s->gen);
	struct placement src = place_of(b, &packet->src), dst = place_of(b, &packet->dst);
	unsigned log2_B = bits(packet->header, 31, 29);
	struct rectangle r = {
		.row_B = ((uint64_t)bits(packet->rect_xy, b->x_hi, 0) + 1) << log2_B,
		.rows = (uint64_t)bits(packet->rect_xy, 16 + b->x_hi, 16) + 1,
		.slices = (uint64_t)bits(packet->rect_z, b->z_hi, 0) + 1,
	};

	return copy_windows(s, &src, &dst, &r, log2_B);
}

static struct placement place_large(const struct sdma_window_large *w)
{
	return (struct placement){
		.base = pm4_va(w->base_lo, w->base_hi),
		.x = w->x,
		.y = w->y,
		.z = w->z,
		.pitch = (uint64_t)w->pitch + 1,
		.slice = pm4_va(w->slice_lo, bits(w->slice_hi, 15, 0)) + 1,
	};
}

static bool copy_sub_window_large(struct sdma *s)
{
	const struct sdma_copy_sub_window_large *packet = (const void *)s->packet;
	struct placement src = place_large(&packet->src), dst = place_large(&packet->dst);
	unsigned log2_B = bits(packet->header, 31, 29);
	struct rectangle r = {
		.row_B = ((uint64_t)packet->rect_x + 1) << log2_B,
		.rows = (uint64_t)packet->rect_y + 1,
		.slices = (uint64_t)packet->rect_z + 1,
	};

	return copy_windows(s, &src, &dst, &r, log2_B);
}

/* The fields are in the parameter dword; sub-windows have them in the dword with the rectangle's depth or the
 * slices. */
static uint32_t swap_of(const struct sdma *s)
{
	unsigned sub = bits(s->packet[0], 15, 8);
	unsigned at = sub == SDMA_COPY_SUB_WINDOW ? 12 : sub == SDMA_COPY_SUB_WINDOW_LARGE ? 16 : 2;

	return s->packet[at] & (3u << 24 | 3u << 16 | (at == 2 ? 3u << 8 : 0));
}

bool sdma_copy(struct sdma *s)
{
	if (bits(s->packet[0], 18, 18))
		sdma_remark(s, CONTRACT_IB_SECURE, "TMZ, which the device does not have");
	if (!sdma_unswapped(s, swap_of(s)))
		return false;
	if (bits(s->packet[0], 15, 8) == SDMA_COPY_SUB_WINDOW)
		return copy_sub_window(s);
	if (bits(s->packet[0], 15, 8) == SDMA_COPY_SUB_WINDOW_LARGE)
		return copy_sub_window_large(s);
	return bits(s->packet[0], 27, 27) ? copy_broadcast(s) : copy_linear(s);
}

/* --- fills --- */

bool sdma_const_fill(struct sdma *s)
{
	const struct sdma_const_fill *packet = (const void *)s->packet;
	uint64_t dst = pm4_va(packet->dst_lo, packet->dst_hi), size_B;
	unsigned fillsize = bits(packet->header, 31, 30), unit_B = 1u << fillsize;

	if (fillsize > 2)
		return sdma_end(s, ENGINE_ILLEGAL, CONTRACT_PACKET_MALFORMED, "fillsize %u", fillsize);
	if (dst & (unit_B - 1))
		sdma_remark(s, 0, "0x%llx is not aligned to units of %u bytes", (unsigned long long)dst, unit_B);
	if (!sdma_unswapped(s, bits(packet->header, 17, 16)))
		return false;
	if (packet->count >> (s->gen & (P_SDMA60 | P_SDMA70) ? 30 : 22))
		return sdma_end(s, ENGINE_HANG, CONTRACT_PACKET_MALFORMED,
				"count 0x%x is more than the field has bits for", packet->count);
	/* bytes - 1, with the bits below the unit ignored: size - 1 and size - unit mean the same. */
	size_B = (packet->count & ~(uint64_t)(unit_B - 1)) + unit_B;
	dst &= ~(uint64_t)(unit_B - 1);
	order_ranges(s, (struct sdma_range){0, 0}, range_of(dst, size_B));
	return copy_elapse(s, size_B / ENGINE_BYTES_PER_NS) &&
	       sdma_need(s, engine_mem_fill(&s->mem, dst, packet->pattern, unit_B, size_B));
}

/* Whole rows: what the handlers of valu.c do to sources and results around a lane function. */
#include "vgpu/isa/half.h"
#include "vgpu/isa/valu/lanes.h"

static void blend(uint32_t *d, const uint32_t *from, const uint32_t *mask, unsigned dw)
{
	for (; dw; dw--, d += ISA_LANES, from += ISA_LANES) {
		EACH_LANE d[l] = (d[l] & ~mask[l]) | (from[l] & mask[l]);
	}
}

static void expand(uint64_t bits, uint32_t *mask)
{
	bits_mask(bits, mask);
}

static void spread(uint32_t *row, uint32_t value)
{
	EACH_LANE row[l] = value;
}

/* A field to the bottom: `up` and `down` are the shifts that cut it out. */
static void extract(uint32_t *row, unsigned up, unsigned down, bool sext)
{
	if (sext)
		EACH_LANE row[l] = (uint32_t)((int32_t)(row[l] << up) >> down);
	else
		EACH_LANE row[l] = row[l] << up >> down;
}

static void sign(uint32_t *row, uint32_t keep, uint32_t flip)
{
	EACH_LANE row[l] = (row[l] & keep) ^ flip;
}

static void pair16(uint32_t *row, unsigned lo, unsigned hi, uint32_t flip)
{
	EACH_LANE row[l] = ((row[l] >> lo & 0xffff) | row[l] >> hi << 16) ^ flip;
}

static void pair32(uint32_t *rows, unsigned lo, unsigned hi, uint32_t flip_lo, uint32_t flip_hi)
{
	EACH_LANE
	{
		const uint32_t a = rows[lo + l] ^ flip_lo, b = rows[hi + l] ^ flip_hi;

		rows[l] = a;
		rows[ISA_LANES + l] = b;
	}
}

static void widen_half(uint32_t *row, unsigned shift)
{
	EACH_LANE row[l] = half_to_bits32(row[l] >> shift & 0xffff);
}

static void insert(uint32_t *row, const uint32_t *old, uint32_t mask, unsigned shift, uint32_t fill)
{
	const uint32_t keep = ~(mask << shift), top = fill << shift << 1;
	const uint32_t sign_bit = fill ? (mask ^ mask >> 1) : 0;

	if (old)
		EACH_LANE row[l] = (row[l] & mask) << shift | (old[l] & keep);
	else
		EACH_LANE row[l] = (row[l] & mask) << shift | (row[l] & sign_bit ? top : 0);
}

const struct isa_row_tools ISA_LANES_NAME(isa_row_tools) = {
	.blend = blend,
	.expand = expand,
	.spread = spread,
	.extract = extract,
	.sign = sign,
	.pair16 = pair16,
	.pair32 = pair32,
	.widen_half = widen_half,
	.insert = insert,
};

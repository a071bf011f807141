/* Image instructions with a sampler: filtered texels, gathered texels, and the level that a sample would take.
 *
 * A filter weighs texels by 8 bits of the coordinates' fraction, and levels by 8 bits of theirs: hardware's exact
 * rounding is not known. Without a level or gradients in the address, the gradients are the differences between the
 * lanes of a quad. Filters of cubes stay on their face. */
#include "vgpu/isa/mem/image.h"

#include <math.h>

#include "vgpu/isa/half.h"

/* A sample of one lane. */
struct sample {
	struct isa_wave *w;
	const struct isa_inst *i;
	const struct isa_image *m;
	const struct isa_sampler *s;
	float c[3];    /* X, Y, Z or zero */
	int32_t slice; /* the slice of an image without Z */
	int32_t offset[3];
	float reference;
	bool compares;
};

/* --- taps --- */

/* The texel that a mode takes for one outside; -1: the border. */
static int32_t wrap_texel(unsigned mode, int64_t x, int64_t size)
{
	int64_t turn;

	switch (mode) {
	case 0: /* repeat */
		return (int32_t)((x % size + size) % size);
	case 1: /* mirror */
		turn = (x % (2 * size) + 2 * size) % (2 * size);
		return (int32_t)(turn < size ? turn : 2 * size - 1 - turn);
	case 3: /* mirror once, then the last texel */
		x = x < 0 ? -1 - x : x;
		return (int32_t)(x < size ? x : size - 1);
	case 2: /* the last texel */
		return (int32_t)(x < 0 ? 0 : x < size ? x : size - 1);
	case 7: /* mirror once, then the border */
		x = x < 0 ? -1 - x : x;
		return x < size ? (int32_t)x : -1;
	default:
		return x < 0 || x >= size ? -1 : (int32_t)x;
	}
}

/* Filter taps on an axis: two neighbouring texels, and the weight of the second. */
struct taps {
	int32_t at[2];
	float weight;
};

static struct taps find_taps(const struct sample *p, unsigned axis, int32_t size, bool linear)
{
	const struct isa_sampler *s = p->s;
	double x = (double)p->c[axis] * (s->unnormalized ? 1 : size), low;
	struct taps t = {.weight = 0};
	int64_t first;

	/* Rounds to steps of 1/256, for the nearest filter too: a coordinate a little below a texel's middle or
	 * edge counts as that. The device library relies on it for the nearest filter, and graphics drivers
	 * request a mode without it. */
	if (linear)
		x = floor((x - 0.5) * 256 + 0.5) / 256;
	else if (!s->truncate)
		x = floor(x * 256 + 0.5) / 256;
	low = floor(x);
	t.weight = (float)(linear ? x - low : 0);
	/* Not-a-number and what is far beyond read as the first texel. */
	if (!(fabs(low) < 1e9))
		low = 0, t.weight = 0;
	first = (int64_t)low + p->offset[axis];
	t.at[0] = wrap_texel(s->clamp[axis], first, size);
	t.at[1] = wrap_texel(s->clamp[axis], first + 1, size);
	return t;
}

/* --- texels --- */

static void border_texel(const struct sample *p, uint32_t xyzw[4])
{
	uint32_t one = isa_format_one(p->m->nfmt == ISA_NUM_SRGB ? 0 : p->m->nfmt, false);

	for (unsigned n = 0; n < 4; n++)
		xyzw[n] = p->s->border == ISA_BORDER_OPAQUE_WHITE ||
					  (n == 3 && p->s->border == ISA_BORDER_OPAQUE_BLACK)
				  ? one
				  : 0;
}

/* 1 or 0 in place of the depth. A reference for depths from 0 to 1 is clamped to them. */
static void compare_texel(const struct sample *p, uint32_t xyzw[4])
{
	float depth = as_f32(xyzw[0]), reference = p->reference;
	unsigned relation;

	if (p->m->nfmt == ISA_NUM_UNORM)
		reference = fminf(fmaxf(reference, 0), 1);
	relation = reference < depth ? 1 : reference == depth ? 2 : reference > depth ? 4 : 0;
	xyzw[0] = f32_bits(p->s->compare & relation || p->s->compare == 7 ? 1.0f : 0.0f);
	for (unsigned n = 1; n < 4; n++)
		xyzw[n] = xyzw[0];
}

static void read_tap(const struct sample *p, unsigned level, const int32_t at[3], uint32_t xyzw[4])
{
	if (at[0] < 0 || at[1] < 0 || at[2] < 0)
		border_texel(p, xyzw);
	else
		isa_image_load(p->w, p->i, p->m, level, at, xyzw);
	if (p->compares)
		compare_texel(p, xyzw);
}

static void blend_taps(float sum[4], const uint32_t xyzw[4], float weight)
{
	for (unsigned n = 0; n < 4; n++)
		sum[n] += weight * as_f32(xyzw[n]);
}

/* The filter of X and Y is taken for Z, too: samplers that name another for Z are refused. */
static void sample_level(const struct sample *p, unsigned level, bool linear, uint32_t out[4])
{
	unsigned axes = isa_image_axes(p->m);
	struct taps taps[3] = {{.at = {0, 0}}};
	float sum[4] = {0};
	int32_t at[3];

	for (unsigned n = 0; n < axes; n++)
		taps[n] = find_taps(p, n, p->m->level[level].size[n], linear);
	if (axes < 3)
		taps[2].at[0] = p->slice;
	for (unsigned corner = 0; corner < (linear ? 1u << axes : 1u); corner++) {
		float weight = 1;

		for (unsigned n = 0; n < 3; n++) {
			bool second = corner >> n & 1;

			at[n] = taps[n].at[second];
			weight *= second ? taps[n].weight : 1 - taps[n].weight;
		}
		read_tap(p, level, at, out);
		if (linear && weight != 0)
			blend_taps(sum, out, weight);
	}
	for (unsigned n = 0; n < 4 && linear; n++)
		out[n] = f32_bits(sum[n]);
}

/* --- levels --- */

/* The part of the addresses that all lanes share. */
struct request {
	struct isa_image_access a;
	struct isa_sampler s;
	bool one_level; /* a single level and filter: the level of detail does not matter */
	struct isa_image_address address[ISA_LANES];
};

static float as_number(uint32_t bits, bool is_half)
{
	return is_half ? half_to_float(bits & 0xffff) : as_f32(bits);
}

static float coordinate(const struct isa_inst *i, const struct request *r, unsigned lane, unsigned n)
{
	return as_number(r->address[lane].c[n], i->flags & ISA_A16);
}

/* Change of the n-th coordinate from a lane to its neighbour to the right, or below. */
static float gradient(const struct isa_inst *i, const struct request *r, unsigned lane, unsigned direction,
		      unsigned n)
{
	unsigned quad = lane & ~3u;

	if (i->mem.parts & ISA_IMAGE_GRADIENTS)
		return as_number(r->address[lane].gradient[direction][n], i->mem.parts & ISA_IMAGE_G16);
	return coordinate(i, r, quad + 1 + direction, n) - coordinate(i, r, quad, n);
}

static float gradient_level(const struct isa_inst *i, const struct request *r, unsigned lane)
{
	const struct isa_image *m = &r->a.m;
	double largest = 0;

	for (unsigned direction = 0; direction < 2; direction++) {
		double sum = 0;

		for (unsigned n = 0; n < r->a.axes; n++) {
			double d = (double)gradient(i, r, lane, direction, n) *
				   (r->s.unnormalized ? 1 : m->level[m->base_level].size[n]);

			sum += d * d;
		}
		largest = sum > largest ? sum : largest;
	}
	return (float)(log2(largest) / 2);
}

/* Level of detail before the sampler's limits: above the base level. */
static float level_of_detail(const struct isa_inst *i, const struct request *r, unsigned lane)
{
	const struct isa_image_address *address = &r->address[lane];
	bool a16 = i->flags & ISA_A16;
	float bias = r->s.bias;

	if (i->mem.parts & ISA_IMAGE_ZERO)
		return 0;
	if (i->mem.parts & ISA_IMAGE_BIAS)
		bias += as_number(address->bias, a16);
	if (i->mem.parts & ISA_IMAGE_LOD)
		return as_number(address->level, a16) + bias;
	return gradient_level(i, r, lane) + bias;
}

/* fmaxf() and fminf() replace not-a-number. */
static float limited_level(const struct isa_inst *i, const struct request *r, unsigned lane, float level)
{
	const struct isa_image *m = &r->a.m;
	float lowest = fmaxf(r->s.min_lod, m->min_lod - (float)m->base_level);

	if (i->mem.parts & ISA_IMAGE_CLAMP)
		lowest = fmaxf(lowest, as_number(r->address[lane].level, i->flags & ISA_A16));
	return fmaxf(fminf(level, r->s.max_lod), lowest);
}

/* A level above the base level, and what it has of the next one: 0 to 1. */
struct levels {
	unsigned first, second;
	float weight;
	bool linear;
};

static struct levels find_levels(const struct isa_inst *i, const struct request *r, unsigned lane)
{
	const struct isa_image *m = &r->a.m;
	float level, top = (float)(m->last_level - m->base_level);
	struct levels l = {m->base_level, m->base_level, 0, r->s.mag};

	if (r->one_level)
		return l;
	level = limited_level(i, r, lane, level_of_detail(i, r, lane));
	l.linear = level > 0 ? r->s.min : r->s.mag;
	level = fminf(fmaxf(level, 0), top);
	if (r->s.mip == ISA_MIP_POINT)
		l.first = l.second = m->base_level + (unsigned)(level + 0.5f);
	if (r->s.mip != ISA_MIP_LINEAR)
		return l;
	level = floorf(level * 256 + 0.5f) / 256;
	l.first = m->base_level + (unsigned)level;
	l.second = l.first < m->last_level ? l.first + 1 : l.first;
	l.weight = level - floorf(level);
	return l;
}

static void sample_levels(const struct sample *p, const struct levels *l, uint32_t out[4])
{
	uint32_t second[4];
	float sum[4] = {0};

	sample_level(p, l->first, l->linear, out);
	if (l->weight == 0)
		return;
	sample_level(p, l->second, l->linear, second);
	blend_taps(sum, out, 1 - l->weight);
	blend_taps(sum, second, l->weight);
	for (unsigned n = 0; n < 4; n++)
		out[n] = f32_bits(sum[n]);
}

/* --- instructions --- */

/* The slice that a coordinate names: the nearest that there is. Faces of cubes have eight numbers for each cube. */
static int32_t find_slice(const struct isa_image *m, float layer)
{
	int32_t last = m->level[0].size[2] - 1, slice;

	layer = rintf(layer);
	slice = !(layer > 0) ? 0 : layer < 1e6f ? (int32_t)layer : 1000000;
	if (m->type == ISA_IMAGE_CUBE)
		slice = slice / 8 * 6 + slice % 8;
	slice += m->first_layer;
	return slice < last ? slice : last;
}

static struct sample begin_sample(struct isa_wave *w, const struct isa_inst *i, const struct request *r)
{
	return (struct sample){
		.w = w, .i = i, .m = &r->a.m, .s = &r->s, .compares = i->mem.parts & ISA_IMAGE_COMPARE};
}

static void take_lane(struct sample *p, const struct request *r, unsigned lane)
{
	const struct isa_image *m = p->m;
	const struct isa_image_address *address = &r->address[lane];
	unsigned axes = r->a.axes;

	for (unsigned n = 0; n < axes; n++)
		p->c[n] = coordinate(p->i, r, lane, n);
	/* Faces have coordinates from 1 to 2. */
	for (unsigned n = 0; n < 2 && m->type == ISA_IMAGE_CUBE; n++)
		p->c[n] -= 1;
	for (unsigned n = 0; n < axes && p->i->mem.parts & ISA_IMAGE_OFFSET; n++)
		p->offset[n] = (int32_t)(address->offset >> 8 * n << 26) >> 26;
	p->reference = as_f32(address->compare);
	p->slice = r->a.coordinates > axes && isa_image_has_layers(m)
			   ? find_slice(m, coordinate(p->i, r, lane, axes))
			   : m->first_layer;
}

static bool needs_quads(const struct isa_inst *i, const struct request *r)
{
	bool named = i->mem.parts & (ISA_IMAGE_ZERO | ISA_IMAGE_LOD | ISA_IMAGE_GRADIENTS);

	return !named && (i->op == ISA_OP_IMAGE_GET_LOD || !r->one_level);
}

static const char *begin_request(const struct isa_wave *w, const struct isa_inst *i, struct request *r)
{
	const char *why = isa_image_begin(w, i, &r->a);

	why = why ? why : isa_sampler_read(w->machine->chip->gfx, &w->s[i->mem.soffset], &r->s);
	if (why)
		return why;
	r->s.unnormalized |= !!(i->flags & ISA_UNRM);
	r->one_level = r->a.m.base_level == r->a.m.last_level && r->s.mag == r->s.min;
	/* Differences need the lanes that are off, too. */
	ISA_FOR_LANES(lane, needs_quads(i, r) ? w->full : isa_exec(w))
		isa_image_address_of(w, i, &r->a, lane, &r->address[lane]);
	return NULL;
}

static const struct isa_inst *refuse(struct isa_wave *w, const struct isa_inst *i, const char *why)
{
	return isa_stop_wave(w, i, "%s are not executed", why);
}

static const struct isa_inst *run_sample(struct isa_wave *w, const struct isa_inst *i)
{
	struct request r;
	const char *why = begin_request(w, i, &r);
	struct sample p = begin_sample(w, i, &r);
	uint32_t xyzw[4];

	if (!why && (r.s.mag || r.s.min || r.s.mip == ISA_MIP_LINEAR) && isa_image_is_integer(&r.a.m))
		why = "filtered integers";
	if (why)
		return refuse(w, i, why);
	w->accesses++;
	ISA_FOR_LANES(lane, isa_exec(w)) {
		struct levels l = find_levels(i, &r, lane);

		take_lane(&p, &r, lane);
		sample_levels(&p, &l, xyzw);
		isa_image_put_texel(w, i, &r.a.m, lane, xyzw);
	}
	return isa_image_end(w, i);
}

/* Gathers a component of the four texels that a linear filter would use, counter-clockwise from the lower left:
 * the second row's first texel, then its second, then the first row's second and first. */
static void gather_lane(const struct sample *p, unsigned level, unsigned lane)
{
	static const uint8_t column[] = {0, 1, 1, 0}, row[] = {1, 1, 0, 0};
	struct taps x = find_taps(p, 0, p->m->level[level].size[0], true),
		    y = find_taps(p, 1, p->m->level[level].size[1], true);
	unsigned component = (unsigned)__builtin_ctz(p->i->mem.dfmt);
	uint32_t four[4];

	for (unsigned n = 0; n < 4; n++) {
		const int32_t at[3] = {x.at[column[n]], y.at[row[n]], p->slice};
		uint32_t xyzw[4];

		read_tap(p, level, at, xyzw);
		four[n] = isa_image_select(p->m, component, xyzw);
	}
	for (unsigned n = 0; n < 4; n++)
		isa_image_put(p->w, p->i, isa_image_is_integer(p->m), lane, n, four[n]);
}

/* The level of a gather is the base level, or the nearest to the one in the address. */
static unsigned gather_level(const struct isa_inst *i, const struct request *r, unsigned lane)
{
	const struct isa_image *m = &r->a.m;
	float level = i->mem.parts & ISA_IMAGE_LOD ? level_of_detail(i, r, lane) : 0;

	level = fminf(fmaxf(limited_level(i, r, lane, level), 0), (float)(m->last_level - m->base_level));
	return m->base_level + (r->s.mip == ISA_MIP_NONE ? 0 : (unsigned)(level + 0.5f));
}

static const struct isa_inst *run_gather(struct isa_wave *w, const struct isa_inst *i)
{
	struct request r;
	const char *why = begin_request(w, i, &r);
	struct sample p = begin_sample(w, i, &r);

	if (!why && (isa_image_axes(&r.a.m) != 2 || __builtin_popcount(i->mem.dfmt) != 1))
		why = "gathering from what is no plane, and several components at once,";
	if (why)
		return refuse(w, i, why);
	w->accesses++;
	ISA_FOR_LANES(lane, isa_exec(w)) {
		take_lane(&p, &r, lane);
		gather_lane(&p, gather_level(i, &r, lane), lane);
	}
	return isa_image_end(w, i);
}

/* X: the level that a sample would take, Y: the level of detail without limits. */
static const struct isa_inst *run_get_lod(struct isa_wave *w, const struct isa_inst *i)
{
	struct request r;
	const char *why = begin_request(w, i, &r);

	if (why)
		return refuse(w, i, why);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		const struct isa_image *m = &r.a.m;
		float level = level_of_detail(i, &r, lane), results[4] = {0, level, 0, 0};
		unsigned count = 0;

		level = fminf(fmaxf(limited_level(i, &r, lane, level), 0), (float)(m->last_level - m->base_level));
		results[0] = r.s.mip == ISA_MIP_NONE ? 0 : r.s.mip == ISA_MIP_POINT ? floorf(level + 0.5f) : level;
		for (unsigned n = 0; n < 4; n++)
			if (i->mem.dfmt >> n & 1)
				isa_image_put(w, i, false, lane, count++, f32_bits(results[n]));
	}
	return isa_image_end(w, i);
}

#define SAMPLE(name)   {ISA_OP_IMAGE_SAMPLE##name, run_sample}
#define SAMPLE_C(name) SAMPLE(name), SAMPLE(name##_O), SAMPLE(_C##name), SAMPLE(_C##name##_O)
#define GATHER(name)   {ISA_OP_IMAGE_GATHER4##name, run_gather}

const struct isa_handler isa_sample_handlers[] = {
	SAMPLE(),
	SAMPLE(_O),
	SAMPLE(_C),
	SAMPLE(_C_O),
	SAMPLE_C(_CL),
	SAMPLE_C(_D),
	SAMPLE_C(_D_CL),
	SAMPLE_C(_L),
	SAMPLE_C(_B),
	SAMPLE_C(_B_CL),
	SAMPLE_C(_LZ),
	SAMPLE_C(_CD),
	SAMPLE_C(_CD_CL),
	SAMPLE(_D_G16),
	SAMPLE(_D_CL_G16),
	SAMPLE(_C_D_G16),
	SAMPLE(_C_D_CL_G16),
	SAMPLE(_D_O_G16),
	SAMPLE(_D_CL_O_G16),
	SAMPLE(_C_D_O_G16),
	SAMPLE(_C_D_CL_O_G16),
	SAMPLE(_CD_G16),
	SAMPLE(_CD_CL_G16),
	SAMPLE(_C_CD_G16),
	SAMPLE(_C_CD_CL_G16),
	SAMPLE(_CD_O_G16),
	SAMPLE(_CD_CL_O_G16),
	SAMPLE(_C_CD_O_G16),
	SAMPLE(_C_CD_CL_O_G16),
	GATHER(),
	GATHER(_L),
	GATHER(_LZ),
	GATHER(_C),
	GATHER(_C_L),
	GATHER(_C_LZ),
	GATHER(_O),
	GATHER(_L_O),
	GATHER(_LZ_O),
	GATHER(_C_O),
	GATHER(_C_L_O),
	GATHER(_C_LZ_O),
	{ISA_OP_IMAGE_GET_LOD, run_get_lod},
	{ISA_OP_NONE, NULL},
};

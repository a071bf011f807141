/* MIMG instructions: images through a resource (T#) in eight SGPRs, and for sampling a sampler (S#) in four more.
 *
 *   word 0, 1   base / 256 in 39:0; data_format 25:20, num_format 29:26 of word 1
 *   word 2      width - 1 in 13:0, height - 1 in 27:14
 *   word 3      dst_sel of X, Y, Z, W 11:0, swizzle mode 24:20 (0: linear), type 31:28
 *   word 4      depth or last layer 12:0, pitch - 1 in elements 28:13
 *
 *   sampler     word 0: clamp X, Y, Z 8:0, unnormalized 15; word 2: magnification filter 21:20
 *
 * Consecutive VGPRs hold the coordinates: X, Y, Z or the layer, as many as the type has; with DA layers count. With
 * A16 they have 16 bits, two to a VGPR, the first one in the low half: unsigned, or f16 where there is a sampler;
 * with D16 components have, in the same way (Vega ISA, MIMG; LLVM's AMDGPU MIMG tests of gfx9). Only linear images
 * without mip levels are executed, and samples that need no gradient. A filter weighs texels by 8 bits of the
 * coordinates' fraction: hardware's exact rounding is not known. */
#include <math.h>

#include "vgpu/isa/half.h"
#include "vgpu/isa/mem/access.h"
#include "vgpu/isa/mem/format.h"

enum image_type { IMAGE_1D = 8, IMAGE_2D, IMAGE_3D, IMAGE_1D_ARRAY = 12, IMAGE_2D_ARRAY };
#define NUM_SRGB 9

struct image {
	uint64_t base;
	unsigned dfmt, nfmt, size_B, type;
	int32_t size[3]; /* width, height, depth or layers */
	uint32_t pitch, select;
	unsigned axes; /* axes of a layer: 1 to 3 */
	bool layers;   /* a further coordinate selects the layer */
	unsigned row;  /* first VGPR of the coordinates */
};

/* The VGPRs of the coordinates, of which decoding checks the first. */
static unsigned coordinate_row(const struct isa_wave *w, const struct isa_inst *i, const struct image *m)
{
	unsigned count = m->axes + m->layers, rows = i->flags & ISA_A16 ? (count + 1) / 2 : count;

	if (i->mem.vaddr + rows <= w->machine->vgpr_count)
		return i->mem.vaddr;
	isa_report_beyond(w, i->pc);
	return 0;
}

static uint32_t word_field(uint32_t word, unsigned high, unsigned low)
{
	return word >> low & (uint32_t)(((uint64_t)1 << (high - low + 1)) - 1);
}

/* Reads the instruction and its resource. Returns the reason why it cannot be executed, or NULL. */
static const char *read_image(const struct isa_wave *w, const struct isa_inst *i, struct image *m)
{
	const uint32_t *s = &w->s[i->mem.sbase];

	*m = (struct image){
		.base = isa_sign_48(((uint64_t)word_field(s[1], 7, 0) << 32 | s[0]) << 8),
		.dfmt = word_field(s[1], 25, 20),
		.nfmt = word_field(s[1], 29, 26),
		.type = word_field(s[3], 31, 28),
		.size = {(int32_t)word_field(s[2], 13, 0) + 1, (int32_t)word_field(s[2], 27, 14) + 1,
			 (int32_t)word_field(s[4], 12, 0) + 1},
		.pitch = word_field(s[4], 28, 13) + 1,
		.select = word_field(s[3], 11, 0),
	};
	m->axes = m->type == IMAGE_3D ? 3 : m->type == IMAGE_2D || m->type == IMAGE_2D_ARRAY ? 2 : 1;
	m->layers = m->type >= IMAGE_1D_ARRAY && i->flags & ISA_DA;
	m->size_B = isa_format_size_B(m->dfmt, m->nfmt);
	if (i->flags & ISA_UNUSUAL)
		return "images with LWE or TFE";
	if (!(m->type >= IMAGE_1D && m->type <= IMAGE_3D) && m->type != IMAGE_1D_ARRAY && m->type != IMAGE_2D_ARRAY)
		return "cube and multisample images";
	if (word_field(s[3], 24, 20) || word_field(s[3], 19, 16) || word_field(s[3], 15, 12))
		return "images that are tiled or have mip levels";
	if (!m->size_B || (m->nfmt > ISA_NUM_FLOAT && m->nfmt != NUM_SRGB))
		return "a format that is none of an image";
	m->row = coordinate_row(w, i, m);
	return NULL;
}

static uint64_t texel_address(const struct image *m, const int32_t at[3])
{
	/* One-dimensional images have rows of their pitch, and a layer is a row. */
	uint64_t row = m->axes == 1 ? (uint64_t)at[2] : (uint64_t)at[2] * (uint32_t)m->size[1] + (uint32_t)at[1];

	return m->base + (row * m->pitch + (uint32_t)at[0]) * m->size_B;
}

static bool is_inside(const struct image *m, const int32_t at[3])
{
	for (unsigned n = 0; n < 3; n++)
		if (at[n] < 0 || at[n] >= m->size[n])
			return false;
	return true;
}

static float as_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, 4);
	return value;
}

static uint32_t as_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, 4);
	return bits;
}

static uint32_t from_srgb(uint32_t bits)
{
	float x = as_float(bits);

	return as_bits(x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f));
}

/* X to W of an element as registers have them; outside of the image 0. */
static void read_texel(struct isa_wave *w, const struct isa_inst *i, const struct image *m, const int32_t at[3],
		       uint32_t xyzw[4])
{
	uint8_t element[16] = {0};

	memset(xyzw, 0, 4 * sizeof(*xyzw));
	if (!is_inside(m, at))
		return;
	isa_mem_read(w, i, texel_address(m, at), element, m->size_B);
	isa_format_load(m->dfmt, m->nfmt == NUM_SRGB ? ISA_NUM_UNORM : m->nfmt, element, false, xyzw);
	for (unsigned n = 0; n < 3 && m->nfmt == NUM_SRGB; n++)
		xyzw[n] = from_srgb(xyzw[n]);
}

static bool is_integer(const struct image *m)
{
	return m->nfmt == ISA_NUM_UINT || m->nfmt == ISA_NUM_SINT;
}

/* Writes the n-th result of a lane. The second of a pair goes to the upper half. */
static void put_component(struct isa_wave *w, const struct isa_inst *i, const struct image *m, unsigned lane,
			  unsigned n, uint32_t bits)
{
	uint32_t *word = &w->v[i->mem.vdata + (i->flags & ISA_D16 ? n / 2 : n)][lane];

	if (!(i->flags & ISA_D16)) {
		*word = bits;
		return;
	}
	bits = is_integer(m) ? bits & 0xffff : half_from_float(as_float(bits), HALF_NEAREST);
	*word = n % 2 ? (*word & 0xffff) | bits << 16 : bits;
}

/* A component by the resource's selector. */
static uint32_t selected_component(const struct image *m, unsigned component, const uint32_t xyzw[4])
{
	unsigned sel = m->select >> 3 * component & 7;

	if (sel == 1)
		return isa_format_one(m->nfmt == NUM_SRGB ? 0 : m->nfmt, false);
	return sel >= 4 ? xyzw[sel - 4] : 0;
}

/* The components that the mask names. */
static void put_texel(struct isa_wave *w, const struct isa_inst *i, const struct image *m, unsigned lane,
		      const uint32_t xyzw[4])
{
	unsigned count = 0;

	for (unsigned n = 0; n < 4; n++)
		if (i->mem.dfmt >> n & 1)
			put_component(w, i, m, lane, count++, selected_component(m, n, xyzw));
}

/* Index of the coordinate that the n-th VGPR holds: the layer comes last. */
static unsigned axis_of(const struct image *m, unsigned n)
{
	return n < m->axes ? n : 2;
}

/* The n-th coordinate, without conversion. */
static uint32_t coordinate_at(const struct isa_wave *w, const struct isa_inst *i, const struct image *m,
			      unsigned lane, unsigned n)
{
	if (i->flags & ISA_A16)
		return w->v[m->row + n / 2][lane] >> 16 * (n % 2) & 0xffff;
	return w->v[m->row + n][lane];
}

static void read_place(const struct isa_wave *w, const struct isa_inst *i, const struct image *m, unsigned lane,
		       int32_t at[3])
{
	at[0] = at[1] = at[2] = 0;
	for (unsigned n = 0; n < m->axes + m->layers; n++)
		at[axis_of(m, n)] = (int32_t)coordinate_at(w, i, m, lane, n);
}

static const struct isa_inst *run_load(struct isa_wave *w, const struct isa_inst *i)
{
	struct image m;
	const char *why = read_image(w, i, &m);
	int32_t place[ISA_LANES][3];
	uint32_t xyzw[4];

	if (why)
		return isa_stop_wave(w, i, "%s are not executed", why);
	w->accesses++;
	/* Results may overwrite coordinates. */
	ISA_FOR_LANES(lane, isa_exec(w))
		read_place(w, i, &m, lane, place[lane]);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		read_texel(w, i, &m, place[lane], xyzw);
		put_texel(w, i, &m, lane, xyzw);
	}
	return i + 1;
}

static uint32_t stored_component(const struct isa_wave *w, const struct isa_inst *i, unsigned lane, unsigned n)
{
	if (i->flags & ISA_D16)
		return w->v[i->mem.vdata + n / 2][lane] >> 16 * (n % 2) & 0xffff;
	return w->v[i->mem.vdata + n][lane];
}

/* Stores the registers' R, G, B, A to the components that read as them. Components outside the mask are 0. */
static const struct isa_inst *run_store(struct isa_wave *w, const struct isa_inst *i)
{
	struct image m;
	const char *why = read_image(w, i, &m);

	if (!why && m.nfmt == NUM_SRGB)
		why = "stores to sRGB images";
	if (why)
		return isa_stop_wave(w, i, "%s are not executed", why);
	w->accesses++;
	ISA_FOR_LANES(lane, isa_exec(w)) {
		uint32_t rgba[4] = {0}, xyzw[4];
		uint8_t element[16] = {0};
		unsigned count = 0;
		int32_t at[3];

		for (unsigned n = 0; n < 4; n++)
			if (i->mem.dfmt >> n & 1)
				rgba[n] = stored_component(w, i, lane, count++);
		read_place(w, i, &m, lane, at);
		if (!is_inside(&m, at))
			continue;
		isa_format_select_back(m.select, rgba, xyzw);
		isa_format_store(m.dfmt, m.nfmt, xyzw, i->flags & ISA_D16, element);
		isa_mem_write(w, i, texel_address(&m, at), element, m.size_B);
	}
	return i + 1;
}

/* --- sampling --- */

struct sampler {
	unsigned clamp[3];
	bool unnormalized, linear, truncate;
};

static const char *read_sampler(const struct isa_wave *w, const struct isa_inst *i, struct sampler *s)
{
	const uint32_t *word = &w->s[i->mem.soffset];

	*s = (struct sampler){
		.clamp = {word_field(word[0], 2, 0), word_field(word[0], 5, 3), word_field(word[0], 8, 6)},
		.unnormalized = word_field(word[0], 15, 15) || i->flags & ISA_UNRM,
		.linear = word_field(word[2], 21, 20) & 1,
		.truncate = word_field(word[0], 27, 27),
	};
	for (unsigned n = 0; n < 3; n++)
		if (s->clamp[n] > 2 && s->clamp[n] != 6)
			return "half borders and mirroring once";
	if (word_field(word[0], 11, 9) || word_field(word[2], 21, 20) > 1)
		return "anisotropic filters";
	if (word_field(word[2], 25, 24))
		return "filters of Z alone";
	if (word_field(word[3], 31, 30))
		return "borders that are not transparent black";
	return NULL;
}

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
	case 2: /* the last texel */
		return (int32_t)(x < 0 ? 0 : x < size ? x : size - 1);
	default:
		return x < 0 || x >= size ? -1 : (int32_t)x;
	}
}

/* Filter taps on an axis: two neighbouring texels, and the weight of the second. */
struct taps {
	int32_t at[2];
	float weight;
};

static struct taps find_taps(const struct sampler *s, float coordinate, unsigned axis, int32_t size)
{
	double x = (double)coordinate * (s->unnormalized ? 1 : size), low;
	struct taps t = {.weight = 0};
	int64_t first;

	/* Rounds to steps of 1/256, for the nearest filter too: a coordinate a little below a texel's middle or
	 * edge counts as that. The device library relies on it for the nearest filter, and graphics drivers
	 * request a mode without it. */
	if (s->linear)
		x = floor((x - 0.5) * 256 + 0.5) / 256;
	else if (!s->truncate)
		x = floor(x * 256 + 0.5) / 256;
	low = floor(x);
	t.weight = (float)(s->linear ? x - low : 0);
	/* Not-a-number and what is far beyond read as the first texel. */
	if (!(fabs(low) < 1e9))
		low = 0, t.weight = 0;
	first = (int64_t)low;
	t.at[0] = wrap_texel(s->clamp[axis], first, size);
	t.at[1] = wrap_texel(s->clamp[axis], first + 1, size);
	return t;
}

static void blend_taps(float sum[4], const uint32_t xyzw[4], float weight)
{
	for (unsigned n = 0; n < 4; n++)
		sum[n] += weight * as_float(xyzw[n]);
}

/* The layer that a coordinate names: the nearest that there is. */
static int32_t find_layer(const struct image *m, float coordinate)
{
	float layer = rintf(coordinate);

	return !(layer > 0) ? 0 : layer < (float)m->size[2] ? (int32_t)layer : m->size[2] - 1;
}

/* The filter of X and Y is taken for Z, too: samplers that name another for Z are refused. */
static void sample_lane(struct isa_wave *w, const struct isa_inst *i, const struct image *m,
			const struct sampler *s, const float c[3], uint32_t out[4])
{
	struct taps taps[3] = {{.at = {0, 0}}};
	float sum[4] = {0};
	int32_t at[3];

	for (unsigned n = 0; n < m->axes; n++)
		taps[n] = find_taps(s, c[n], n, m->size[n]);
	if (m->axes < 3)
		taps[2].at[0] = find_layer(m, c[2]);
	for (unsigned corner = 0; corner < (s->linear ? 1u << m->axes : 1u); corner++) {
		float weight = 1;

		for (unsigned n = 0; n < 3; n++) {
			bool second = corner >> n & 1;

			at[n] = taps[n].at[second];
			weight *= second ? taps[n].weight : 1 - taps[n].weight;
		}
		read_texel(w, i, m, at, out);
		if (s->linear && weight != 0)
			blend_taps(sum, out, weight);
	}
	for (unsigned n = 0; n < 4 && s->linear; n++)
		out[n] = as_bits(sum[n]);
}

static void read_coordinates(const struct isa_wave *w, const struct isa_inst *i, const struct image *m,
			     float c[ISA_LANES][3])
{
	memset(c, 0, ISA_LANES * sizeof(c[0]));
	ISA_FOR_LANES(lane, isa_exec(w))
		for (unsigned n = 0; n < m->axes + m->layers; n++) {
			uint32_t bits = coordinate_at(w, i, m, lane, n);

			c[lane][axis_of(m, n)] = i->flags & ISA_A16 ? half_to_float(bits) : as_float(bits);
		}
}

static const struct isa_inst *run_sample(struct isa_wave *w, const struct isa_inst *i)
{
	float c[ISA_LANES][3];
	struct sampler s;
	struct image m;
	const char *why = read_image(w, i, &m);
	uint32_t xyzw[4];

	why = why ? why : read_sampler(w, i, &s);
	if (!why && s.linear && is_integer(&m))
		why = "filtered integers";
	if (why)
		return isa_stop_wave(w, i, "%s are not executed", why);
	w->accesses++;
	read_coordinates(w, i, &m, c);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		sample_lane(w, i, &m, &s, c[lane], xyzw);
		put_texel(w, i, &m, lane, xyzw);
	}
	return i + 1;
}

/* Gathers a component of the four texels that a linear filter would use, counter-clockwise from the lower left:
 * the second row's first texel, then its second, then the first row's second and first. */
static void gather_lane(struct isa_wave *w, const struct isa_inst *i, const struct image *m,
			const struct sampler *s, const float c[3], unsigned lane)
{
	static const uint8_t column[] = {0, 1, 1, 0}, row[] = {1, 1, 0, 0};
	struct taps x = find_taps(s, c[0], 0, m->size[0]), y = find_taps(s, c[1], 1, m->size[1]);
	unsigned component = (unsigned)__builtin_ctz(i->mem.dfmt);
	uint32_t four[4];

	for (unsigned n = 0; n < 4; n++) {
		const int32_t at[3] = {x.at[column[n]], y.at[row[n]], find_layer(m, c[2])};
		uint32_t xyzw[4];

		read_texel(w, i, m, at, xyzw);
		four[n] = selected_component(m, component, xyzw);
	}
	for (unsigned n = 0; n < 4; n++)
		put_component(w, i, m, lane, n, four[n]);
}

static const struct isa_inst *run_gather(struct isa_wave *w, const struct isa_inst *i)
{
	float c[ISA_LANES][3];
	struct sampler s;
	struct image m;
	const char *why = read_image(w, i, &m);

	why = why ? why : read_sampler(w, i, &s);
	if (!why && (m.axes != 2 || __builtin_popcount(i->mem.dfmt) != 1))
		why = "gathering from what is no plane, and several components at once,";
	if (why)
		return isa_stop_wave(w, i, "%s are not executed", why);
	s.linear = true; /* selects texels without weights: integers are allowed, too */
	w->accesses++;
	read_coordinates(w, i, &m, c);
	ISA_FOR_LANES(lane, isa_exec(w))
		gather_lane(w, i, &m, &s, c[lane], lane);
	return i + 1;
}

/* Images have a single level: the source of the level does not matter, as long as it needs no further coordinate.
 */
const struct isa_handler isa_mimg_handlers[] = {
	{ISA_OP_IMAGE_LOAD, run_load},         {ISA_OP_IMAGE_STORE, run_store},
	{ISA_OP_IMAGE_SAMPLE, run_sample},     {ISA_OP_IMAGE_SAMPLE_LZ, run_sample},
	{ISA_OP_IMAGE_GATHER4_LZ, run_gather}, {ISA_OP_NONE, NULL},
};

/* Image instructions without a sampler: loads, stores, atomics, and the size (image.h). Only linear images are
 * executed: others stop the wave with the reason. */
#include "vgpu/isa/mem/image.h"

#include <math.h>

#include "vgpu/isa/half.h"

/* --- addresses --- */

static unsigned dim_of(const struct isa_inst *i, const struct isa_image *m)
{
	static const uint8_t dims[] = {
		[ISA_IMAGE_1D] = ISA_DIM_1D,
		[ISA_IMAGE_2D] = ISA_DIM_2D,
		[ISA_IMAGE_3D] = ISA_DIM_3D,
		[ISA_IMAGE_CUBE] = ISA_DIM_CUBE,
		[ISA_IMAGE_1D_ARRAY] = ISA_DIM_1D_ARRAY,
		[ISA_IMAGE_2D_ARRAY] = ISA_DIM_2D_ARRAY,
	};

	if (i->mem.dim != ISA_DIM_OF_RESOURCE)
		return i->mem.dim;
	if (isa_image_has_layers(m) && !(i->flags & ISA_DA))
		return m->type == ISA_IMAGE_1D_ARRAY ? ISA_DIM_1D : ISA_DIM_2D;
	return dims[m->type];
}

/* Finds the VGPRs of the address. Decoding checks the first one: if another does not exist, all come from v0 on. */
static const char *find_rows(const struct isa_wave *w, const struct isa_inst *i, unsigned dim,
			     struct isa_image_access *a)
{
	const struct isa_mem *mem = &i->mem;
	unsigned count = isa_image_dwords(i, dim), last = mem->addresses - 1u;
	bool beyond = false;

	if (count > mem->addresses && !mem->last_is_tuple)
		return "instructions with fewer addresses than their dimensions";
	for (unsigned n = 0; n < count; n++) {
		a->row[n] = (uint16_t)(n < last ? mem->address[n] : mem->address[last] + n - last);
		beyond |= a->row[n] >= w->machine->vgpr_count;
	}
	if (!beyond)
		return NULL;
	if (count > w->machine->vgpr_count)
		return "addresses of more registers than the dispatch grants";
	isa_report_beyond(w, i->pc);
	for (unsigned n = 0; n < count; n++)
		a->row[n] = (uint16_t)n;
	return NULL;
}

/* Finds the meaning of the coordinates of an access without a sampler. */
static void find_axes(struct isa_image_access *a)
{
	unsigned axes = isa_image_axes(&a->m);

	a->places = a->axes < axes ? a->axes : (uint8_t)axes;
	a->places = a->places < 2 ? a->places : 2;
	a->slice = a->axes == 3 ? 2 : a->coordinates > a->axes ? a->axes : 0;
	if (axes < 3 && !isa_image_has_layers(&a->m))
		a->slice = 0;
}

const char *isa_image_begin(const struct isa_wave *w, const struct isa_inst *i, struct isa_image_access *a)
{
	const char *why = isa_image_read(w->machine->chip->gfx, &w->s[i->mem.sbase], &a->m);
	unsigned dim;

	if (i->flags & ISA_UNUSUAL)
		return "images with LWE or R128";
	if (why)
		return why;
	dim = dim_of(i, &a->m);
	if (dim >= ISA_DIM_2D_MSAA)
		return "multisample images";
	a->axes = (uint8_t)isa_dim_axes(dim);
	a->coordinates = (uint8_t)isa_image_coordinates(i, dim);
	a->is_plain = !(i->mem.parts & ~(unsigned)ISA_IMAGE_ZERO) && !(i->flags & ISA_A16);
	find_axes(a);
	return find_rows(w, i, dim, a);
}

/* Reads an address part by part. */
struct cursor {
	const struct isa_wave *w;
	const uint16_t *row;
	unsigned lane;
	bool half; /* the next part is the upper half */
};

static uint32_t next_part(struct cursor *c, bool is_half)
{
	uint32_t word = c->w->v[*c->row][c->lane];

	if (!is_half || c->half)
		c->row++;
	if (!is_half)
		return word;
	c->half = !c->half;
	return c->half ? word & 0xffff : word >> 16;
}

/* The rest of a dword that is half read. */
static void skip_half(struct cursor *c)
{
	c->row += c->half;
	c->half = false;
}

void isa_image_address_of(const struct isa_wave *w, const struct isa_inst *i, const struct isa_image_access *a,
			  unsigned lane, struct isa_image_address *address)
{
	unsigned parts = i->mem.parts;
	struct cursor c = {w, a->row, lane, false};
	bool a16 = i->flags & ISA_A16;

	*address = (struct isa_image_address){0};
	for (unsigned n = 0; n < a->coordinates && a->is_plain; n++)
		address->c[n] = w->v[a->row[n]][lane];
	if (a->is_plain)
		return;
	if (parts & ISA_IMAGE_OFFSET)
		address->offset = next_part(&c, false);
	if (parts & ISA_IMAGE_BIAS)
		address->bias = next_part(&c, false);
	if (parts & ISA_IMAGE_COMPARE)
		address->compare = next_part(&c, false);
	for (unsigned n = 0; n < 2 && parts & ISA_IMAGE_GRADIENTS; n++) {
		for (unsigned axis = 0; axis < a->axes; axis++)
			address->gradient[n][axis] = next_part(&c, parts & ISA_IMAGE_G16);
		skip_half(&c);
	}
	for (unsigned n = 0; n < a->coordinates; n++)
		address->c[n] = next_part(&c, a16);
	if (i->mem.parts & ISA_IMAGE_LEVEL)
		address->level = next_part(&c, a16);
}

const struct isa_inst *isa_image_end(struct isa_wave *w, const struct isa_inst *i)
{
	unsigned dw = i->mem.dst_dw ? i->mem.dst_dw : i->mem.data_dw;

	if (i->flags & ISA_TFE)
		ISA_FOR_LANES(lane, isa_exec(w))
			w->v[i->mem.vdst + dw][lane] = 0;
	return i + 1;
}

/* --- texels --- */

bool isa_image_is_inside(const struct isa_image *m, unsigned level, const int32_t at[3])
{
	for (unsigned n = 0; n < 3; n++)
		if (at[n] < 0 || at[n] >= m->level[level].size[n])
			return false;
	return true;
}

uint64_t isa_image_texel(const struct isa_image *m, unsigned level, const int32_t at[3])
{
	const struct isa_image_level *l = &m->level[level];

	return m->base + l->start_B + (uint32_t)at[2] * m->slice_B +
	       ((uint64_t)(uint32_t)at[1] * l->pitch + (uint32_t)at[0]) * m->size_B;
}

static uint32_t from_srgb(uint32_t bits)
{
	float x = as_f32(bits);

	return f32_bits(x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f));
}

void isa_image_load(struct isa_wave *w, const struct isa_inst *i, const struct isa_image *m, unsigned level,
		    const int32_t at[3], uint32_t xyzw[4])
{
	bool srgb = m->nfmt == ISA_NUM_SRGB;
	uint8_t element[16] = {0};

	memset(xyzw, 0, 4 * sizeof(*xyzw));
	if (!isa_image_is_inside(m, level, at))
		return;
	isa_mem_read(w, i, isa_image_texel(m, level, at), element, m->size_B);
	isa_format_load(m->dfmt, srgb ? ISA_NUM_UNORM : m->nfmt, element, false, xyzw);
	for (unsigned n = 0; n < 3 && srgb; n++)
		xyzw[n] = from_srgb(xyzw[n]);
}

bool isa_image_is_integer(const struct isa_image *m)
{
	return m->nfmt == ISA_NUM_UINT || m->nfmt == ISA_NUM_SINT;
}

void isa_image_put(struct isa_wave *w, const struct isa_inst *i, bool integer, unsigned lane, unsigned n,
		   uint32_t bits)
{
	uint32_t *word = &w->v[i->mem.vdata + (i->flags & ISA_D16 ? n / 2 : n)][lane];

	if (!(i->flags & ISA_D16)) {
		*word = bits;
		return;
	}
	bits = integer ? bits & 0xffff : half_from_float(as_f32(bits), HALF_NEAREST);
	*word = n % 2 ? (*word & 0xffff) | bits << 16 : bits;
}

uint32_t isa_image_select(const struct isa_image *m, unsigned component, const uint32_t xyzw[4])
{
	unsigned sel = m->select >> 3 * component & 7;

	if (sel == 1)
		return isa_format_one(m->nfmt == ISA_NUM_SRGB ? 0 : m->nfmt, false);
	return sel >= 4 ? xyzw[sel - 4] : 0;
}

void isa_image_put_texel(struct isa_wave *w, const struct isa_inst *i, const struct isa_image *m, unsigned lane,
			 const uint32_t xyzw[4])
{
	unsigned count = 0;

	for (unsigned n = 0; n < 4; n++)
		if (i->mem.dfmt >> n & 1)
			isa_image_put(w, i, isa_image_is_integer(m), lane, count++, isa_image_select(m, n, xyzw));
}

/* --- loads, stores, atomics --- */

/* A texel by its coordinates. Of layers and of a part of a 3D image the resource has the first one. */
struct place {
	int32_t at[3];
	uint32_t level;
};

static int32_t first_slice(const struct isa_image *m, int32_t slice)
{
	return slice < 0 ? -1 : (int32_t)((uint32_t)slice + (uint32_t)m->first_layer);
}

static void find_place(const struct isa_wave *w, const struct isa_inst *i, const struct isa_image_access *a,
		       unsigned lane, struct place *p)
{
	const struct isa_image *m = &a->m;
	struct isa_image_address address;
	int32_t slice;

	if (a->is_plain) {
		p->at[0] = (int32_t)w->v[a->row[0]][lane];
		p->at[1] = a->places > 1 ? (int32_t)w->v[a->row[1]][lane] : 0;
		slice = a->slice ? (int32_t)w->v[a->row[a->slice]][lane] : 0;
		p->at[2] = first_slice(m, slice);
		p->level = m->base_level;
		return;
	}
	isa_image_address_of(w, i, a, lane, &address);
	p->at[0] = (int32_t)address.c[0];
	p->at[1] = a->places > 1 ? (int32_t)address.c[1] : 0;
	slice = a->slice ? (int32_t)address.c[a->slice] : 0;
	p->at[2] = first_slice(m, slice);
	p->level = m->base_level + (i->mem.parts & ISA_IMAGE_MIP ? address.level : 0);
	/* Levels that the resource does not show have no texels. */
	if (p->level > m->last_level || address.level > m->last_level) {
		p->level = m->last_level;
		p->at[0] = -1;
	}
}

static const struct isa_inst *refuse(struct isa_wave *w, const struct isa_inst *i, const char *why)
{
	return isa_stop_wave(w, i, "%s are not executed", why);
}

static const struct isa_inst *run_load(struct isa_wave *w, const struct isa_inst *i)
{
	struct place place[ISA_LANES];
	struct isa_image_access a;
	const char *why = isa_image_begin(w, i, &a);
	uint32_t xyzw[4];

	if (why)
		return refuse(w, i, why);
	w->accesses++;
	/* Results may overwrite coordinates. */
	ISA_FOR_LANES(lane, isa_exec(w))
		find_place(w, i, &a, lane, &place[lane]);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		isa_image_load(w, i, &a.m, place[lane].level, place[lane].at, xyzw);
		isa_image_put_texel(w, i, &a.m, lane, xyzw);
	}
	return isa_image_end(w, i);
}

static uint32_t stored_component(const struct isa_wave *w, const struct isa_inst *i, unsigned lane, unsigned n)
{
	if (i->flags & ISA_D16)
		return w->v[i->mem.vdata + n / 2][lane] >> 16 * (n % 2) & 0xffff;
	return w->v[i->mem.vdata + n][lane];
}

/* Stores the registers' R, G, B, A to the components that read as them. Components outside the mask are 0. */
static void store_lane(struct isa_wave *w, const struct isa_inst *i, const struct isa_image_access *a,
		       unsigned lane)
{
	const struct isa_image *m = &a->m;
	uint32_t rgba[4] = {0}, xyzw[4];
	uint8_t element[16] = {0};
	unsigned count = 0;
	struct place p;

	for (unsigned n = 0; n < 4; n++)
		if (i->mem.dfmt >> n & 1)
			rgba[n] = stored_component(w, i, lane, count++);
	find_place(w, i, a, lane, &p);
	if (!isa_image_is_inside(m, p.level, p.at))
		return;
	isa_format_select_back(m->select, rgba, xyzw);
	isa_format_store(m->dfmt, m->nfmt, xyzw, i->flags & ISA_D16, element);
	isa_mem_write(w, i, isa_image_texel(m, p.level, p.at), element, m->size_B);
}

static const struct isa_inst *run_store(struct isa_wave *w, const struct isa_inst *i)
{
	struct isa_image_access a;
	const char *why = isa_image_begin(w, i, &a);

	if (!why && a.m.nfmt == ISA_NUM_SRGB)
		why = "stores to sRGB images";
	if (!why && a.m.dfmt == ISA_DATA_5_9_9_9)
		why = "stores to images with a shared exponent";
	if (why)
		return refuse(w, i, why);
	w->accesses++;
	ISA_FOR_LANES(lane, isa_exec(w))
		store_lane(w, i, &a, lane);
	return isa_image_end(w, i);
}

static enum isa_atomic atomic_of(enum isa_op op)
{
	static const uint8_t atomic[] = {
		ISA_ATOMIC_SWAP,  ISA_ATOMIC_CMPSWAP,    ISA_ATOMIC_ADD,         ISA_ATOMIC_SUB,
		ISA_ATOMIC_SMIN,  ISA_ATOMIC_UMIN,       ISA_ATOMIC_SMAX,        ISA_ATOMIC_UMAX,
		ISA_ATOMIC_AND,   ISA_ATOMIC_OR,         ISA_ATOMIC_XOR,         ISA_ATOMIC_INC,
		ISA_ATOMIC_DEC,   ISA_ATOMIC_CMPSWAP_F,  ISA_ATOMIC_MIN_F,       ISA_ATOMIC_MAX_F,
		ISA_ATOMIC_ADD_F, ISA_ATOMIC_PK_ADD_F16, ISA_ATOMIC_PK_ADD_BF16,
	};

	return (enum isa_atomic)atomic[op - ISA_OP_IMAGE_ATOMIC_SWAP];
}

static uint64_t atomic_operand(const struct isa_wave *w, const struct isa_inst *i, unsigned lane, unsigned dw,
			       unsigned at)
{
	uint64_t low = w->v[i->mem.vdata + at][lane];

	return dw > 1 ? low | (uint64_t)w->v[i->mem.vdata + at + 1][lane] << 32 : low;
}

static void atomic_lane(struct isa_wave *w, const struct isa_inst *i, const struct isa_image_access *a,
			unsigned lane, unsigned dw)
{
	enum isa_atomic op = atomic_of(i->op);
	uint64_t data = atomic_operand(w, i, lane, dw, 0), compare = 0, old = 0;
	struct place p;

	if (isa_atomic_compares(op))
		compare = atomic_operand(w, i, lane, dw, dw);
	find_place(w, i, a, lane, &p);
	if (isa_image_is_inside(&a->m, p.level, p.at))
		old = isa_mem_atomic(w, i, op, 4 * dw, isa_image_texel(&a->m, p.level, p.at), data, compare);
	for (unsigned n = 0; n < dw && i->flags & ISA_GLC; n++)
		w->v[i->mem.vdst + n][lane] = (uint32_t)(old >> 32 * n);
}

/* The mask of components has the size: 0x1 or 0x3, and twice that if the operation compares. */
static const struct isa_inst *run_atomic(struct isa_wave *w, const struct isa_inst *i)
{
	struct isa_image_access a;
	const char *why = isa_image_begin(w, i, &a);
	unsigned dw = isa_atomic_compares(atomic_of(i->op)) ? i->mem.data_dw / 2u : i->mem.data_dw, saved;

	if (!why && (dw < 1 || dw > 2 || 4 * dw != a.m.size_B))
		why = "atomics of another size than the image's";
	if (why)
		return refuse(w, i, why);
	w->accesses++;
	saved = isa_atomic_enter(isa_generation_of(w->machine->chip->gfx), atomic_of(i->op), 4 * dw);
	ISA_FOR_LANES(lane, isa_exec(w))
		atomic_lane(w, i, &a, lane, dw);
	isa_atomic_leave(saved);
	return isa_image_end(w, i);
}

/* --- the size --- */

/* Width, height, depth or layers of a level, and the number of levels. A level that there is not has none. */
static const struct isa_inst *run_resinfo(struct isa_wave *w, const struct isa_inst *i)
{
	struct isa_image_access a;
	const char *why = isa_image_begin(w, i, &a);
	const struct isa_image *m = &a.m;

	if (why)
		return refuse(w, i, why);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		struct isa_image_address address;
		uint32_t info[4] = {0}, level;
		unsigned count = 0;

		isa_image_address_of(w, i, &a, lane, &address);
		level = m->base_level + address.level;
		if (address.level <= m->last_level && level <= m->last_level) {
			for (unsigned n = 0; n < 3; n++)
				info[n] = (uint32_t)m->level[level].size[n];
			info[2] -= (uint32_t)m->first_layer;
		}
		info[3] = m->last_level - m->base_level + 1;
		for (unsigned n = 0; n < 4; n++)
			if (i->mem.dfmt >> n & 1)
				isa_image_put(w, i, true, lane, count++, info[n]);
	}
	return isa_image_end(w, i);
}

const struct isa_handler isa_mimg_handlers[] = {
	{ISA_OP_IMAGE_LOAD, run_load},
	{ISA_OP_IMAGE_LOAD_MIP, run_load},
	{ISA_OP_IMAGE_STORE, run_store},
	{ISA_OP_IMAGE_STORE_MIP, run_store},
	{ISA_OP_IMAGE_GET_RESINFO, run_resinfo},
	{ISA_OP_IMAGE_ATOMIC_SWAP, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_CMPSWAP, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_ADD, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_SUB, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_SMIN, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_UMIN, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_SMAX, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_UMAX, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_AND, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_OR, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_XOR, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_INC, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_DEC, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_FCMPSWAP, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_FMIN, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_FMAX, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_ADD_FLT, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_PK_ADD_F16, run_atomic},
	{ISA_OP_IMAGE_ATOMIC_PK_ADD_BF16, run_atomic},
	{ISA_OP_NONE, NULL},
};

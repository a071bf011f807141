/* MUBUF and MTBUF instructions: memory through a buffer resource (V#) in four SGPRs.
 *
 *   word 0      base 31:0
 *   word 1      base 47:32 in 15:0, stride 29:16, swizzle 31
 *   word 2      number of records
 *   word 3      dst_sel of X, Y, Z, W 11:0, num_format 14:12, data_format 18:15, index_stride 22:21, add_tid 23
 *
 * offset = VGPR (OFFEN) + immediate;  index = VGPR (IDXEN) + lane (add_tid)
 * linear:    base + SGPR + index * stride + offset
 * swizzled:  base + SGPR + ((index / S) * stride + offset / 4 * 4) * S + (index % S) * 4 + offset % 4
 * where S = 8 << index_stride and elements are 4 bytes: consecutive dwords of a lane are 4 S bytes apart.
 *
 * From GFX10 on word 3 has one format in 18:12 (GFX11: 17:12) and the rule of the range check in 29:28. */
#include "vgpu/isa/mem/access.h"
#include "vgpu/isa/mem/format.h"
#include "vgpu/memory/cache.h"

#include "vgpu/report.h"

struct resource {
	uint64_t base; /* the SGPR offset added */
	uint32_t stride;
	uint32_t records;
	uint32_t soffset;
	uint32_t word3;
	uint8_t dfmt, nfmt;
	uint8_t range; /* enum range */
	bool swizzle, add_tid;
};

/* Rule of the range check: OOB_SELECT (RDNA 2 ISA, 8.1.5), and that of GFX9. */
enum range {
	RANGE_STRUCTURED, /* index, and offset against the stride */
	RANGE_INDEX,
	RANGE_NONE, /* everything, but for a buffer without records */
	RANGE_RAW,  /* bytes; of a swizzled buffer as RANGE_STRUCTURED */
	RANGE_9,
};

/* Offsets and indices of all lanes, read before any register is written. */
struct request {
	struct resource v;
	uint64_t mask;
	bool in_records; /* records counts elements of `stride` bytes, which indices are compared with */
	uint32_t offset[ISA_LANES];
	uint32_t index[ISA_LANES];
};

static struct resource read_resource(const struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_generation *gen = isa_generation_of(w->machine->chip->gfx);
	const uint32_t *s = &w->s[i->mem.sbase];
	uint32_t soffset = isa_sread32(w, i->mem.soffset);
	struct resource v = {
		.base = isa_buffer_base(s) + soffset,
		.stride = s[1] >> 16 & 0x3fff,
		.records = s[2],
		.soffset = soffset,
		.word3 = s[3],
		.swizzle = s[1] >> 30 & (gen->column >= ISA_COLUMN_11 ? 3 : 2),
		.add_tid = s[3] >> 23 & 1,
		.range = gen->column == ISA_COLUMN_9 ? RANGE_9 : s[3] >> 28 & 3,
	};

	if (gen->column == ISA_COLUMN_9) {
		v.dfmt = s[3] >> 15 & 15;
		v.nfmt = s[3] >> 12 & 7;
	} else {
		isa_format_split(gen->column, s[3] >> 12 & (gen->column == ISA_COLUMN_10 ? 127 : 63), &v.dfmt,
				 &v.nfmt);
	}
	if (v.add_tid && gen->column == ISA_COLUMN_9) /* the data format's bits belong to the stride */
		v.stride |= (s[3] >> 15 & 15) << 14;
	return v;
}

/* An instruction with both takes the index from the first VGPR and the offset from the second. */
static void read_request(const struct isa_wave *w, const struct isa_inst *i, struct request *r)
{
	const uint32_t *index = i->flags & ISA_IDXEN ? w->v[i->mem.vaddr] : NULL;
	const uint32_t *offset = i->flags & ISA_OFFEN ? w->v[i->mem.vaddr + (index != NULL)] : NULL;

	r->v = read_resource(w, i);
	r->mask = isa_exec(w);
	r->in_records = r->v.range == RANGE_9 ? index && r->v.stride : r->v.range == RANGE_INDEX;
	for (unsigned lane = 0; lane < ISA_LANES; lane++) {
		r->offset[lane] = (offset ? offset[lane] : 0) + (uint32_t)i->mem.offset;
		r->index[lane] = (index ? index[lane] : 0) + (r->v.add_tid ? lane : 0);
	}
}

static uint64_t linear_offset(const struct request *r, unsigned lane)
{
	return (uint64_t)r->index[lane] * r->v.stride + r->offset[lane];
}

/* Whether `size_B` bytes at `at` of the lane's element are inside the buffer. Byte offsets are compared with the
 * size less the SGPR offset. */
static bool in_range(const struct request *r, unsigned lane, unsigned at, unsigned size_B)
{
	uint64_t offset = r->v.swizzle ? r->offset[lane] : linear_offset(r, lane);

	if (r->in_records)
		return r->index[lane] < r->v.records;
	if (r->v.range == RANGE_NONE)
		return r->v.records;
	if (r->v.range == RANGE_STRUCTURED || (r->v.range == RANGE_RAW && r->v.swizzle && r->v.stride))
		return r->index[lane] < r->v.records && (uint64_t)r->offset[lane] + at + size_B <= r->v.stride;
	return offset + at + size_B + r->v.soffset <= r->v.records;
}

static uint64_t lane_address(const struct request *r, unsigned lane, unsigned at)
{
	uint32_t s = 8u << (r->v.word3 >> 21 & 3), offset = r->offset[lane] + at, index = r->index[lane];

	if (!r->v.swizzle)
		return r->v.base + linear_offset(r, lane) + at;
	return r->v.base + ((uint64_t)(index / s) * r->v.stride + (offset & ~3u)) * s + index % s * 4 +
	       (offset & 3);
}

/* --- plain data --- */

static void clear_lanes(struct isa_wave *w, const struct isa_access *access, uint64_t mask, unsigned row,
			unsigned dw)
{
	ISA_FOR_LANES(lane, mask) {
		if (access->class == ISA_ACCESS_LOAD_D16)
			isa_load_half(w, &w->v[row][lane], 0, access->high);
		else
			for (unsigned k = 0; k < dw; k++)
				w->v[row + k][lane] = 0;
	}
}

/* Bytes `at` to at + size_B of each lane's element; data rows follow. Lanes out of range read 0. */
static void piece_of(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		     const struct request *r, unsigned at, unsigned size_B, unsigned dw)
{
	struct isa_addresses a = {.mask = 0};
	unsigned row = i->mem.vdata + at / 4;
	uint64_t outside;

	ISA_FOR_LANES(lane, r->mask) {
		a.va[lane] = lane_address(r, lane, at);
		if (in_range(r, lane, at, size_B))
			a.mask |= (uint64_t)1 << lane;
	}
	outside = r->mask & ~a.mask;
	isa_access_lanes(w, i, access, &a, row, row, dw, i->flags & ISA_GLC);
	if (!outside)
		return;
	if (access->class == ISA_ACCESS_ATOMIC ? i->flags & ISA_GLC : access->class <= ISA_ACCESS_LOAD_D16)
		clear_lanes(w, access, outside, row, dw);
}

/* TFE: a dword after the data has the page's status; waves are not informed of faults. */
static void write_status(struct isa_wave *w, const struct isa_inst *i, unsigned dw)
{
	if (!(i->flags & ISA_TFE))
		return;
	ISA_FOR_LANES(lane, isa_exec(w))
		w->v[i->mem.vdst + dw][lane] = 0;
}

static bool splits_dwords(const struct request *r, unsigned dw)
{
	/* Swizzled dwords are not contiguous, and raw buffers are checked dword by dword. */
	if (dw == 1 || r->v.swizzle)
		return dw > 1;
	if (r->in_records)
		return false;
	ISA_FOR_LANES(lane, r->mask)
		if (!in_range(r, lane, 0, 4 * dw))
			return true;
	return false;
}

/* Whether a swizzled buffer splits the lane's element: it does not fit into one of the buffer's dwords. */
static bool is_torn(const struct request *r, const struct isa_access *access, unsigned size_B)
{
	unsigned unit_B = access->class == ISA_ACCESS_ATOMIC || size_B < 4 ? size_B : 4;

	if (!r->v.swizzle)
		return false;
	ISA_FOR_LANES(lane, r->mask)
		if ((r->offset[lane] & 3) + unit_B > 4)
			return true;
	return false;
}

/* Performs a split access byte by byte: clang relies on it for unaligned private memory. */
static void load_torn(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		      const struct request *r, unsigned size_B)
{
	ISA_FOR_LANES(lane, r->mask) {
		uint32_t data[4] = {0};

		for (unsigned at = 0; at < size_B; at++)
			if (in_range(r, lane, at, 1))
				isa_mem_read(w, i, lane_address(r, lane, at), (uint8_t *)data + at, 1);
		if (access->class == ISA_ACCESS_LOAD_D16)
			isa_load_half(w, &w->v[i->mem.vdata][lane], isa_extend(data[0], access), access->high);
		else if (access->class == ISA_ACCESS_LOAD_SUB)
			w->v[i->mem.vdata][lane] = isa_extend(data[0], access);
		else
			for (unsigned k = 0; k < size_B / 4; k++)
				w->v[i->mem.vdata + k][lane] = data[k];
	}
}

static void store_torn(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		       const struct request *r, unsigned size_B)
{
	ISA_FOR_LANES(lane, r->mask)
		for (unsigned at = 0; at < size_B; at++) {
			uint32_t value = w->v[i->mem.vdata + at / 4][lane] >> (access->high ? 16 : 0);
			uint8_t byte = (uint8_t)(value >> 8 * (at % 4));

			if (in_range(r, lane, at, 1))
				isa_mem_write(w, i, lane_address(r, lane, at), &byte, 1);
		}
}

static const struct isa_inst *to_lds(struct isa_wave *w, const struct isa_inst *i);

static const struct isa_inst *run_buffer(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);
	unsigned dw = access->class == ISA_ACCESS_ATOMIC ? access->bytes / 4u
		      : i->mem.dst_dw                    ? i->mem.dst_dw
							 : i->mem.data_dw;
	struct request r;
	bool sub;

	if (i->flags & ISA_LDS)
		return to_lds(w, i);
	w->accesses++;
	read_request(w, i, &r);
	sub = access->class == ISA_ACCESS_LOAD_SUB || access->class == ISA_ACCESS_LOAD_D16 ||
	      access->class == ISA_ACCESS_STORE_SUB;
	if (is_torn(&r, access, sub ? access->bytes : 4 * dw)) {
		if (access->class == ISA_ACCESS_ATOMIC)
			return isa_stop_wave(w, i, "an atomic that crosses the elements of a swizzled buffer");
		if (access->class == ISA_ACCESS_STORE || access->class == ISA_ACCESS_STORE_SUB)
			store_torn(w, i, access, &r, sub ? access->bytes : 4 * dw);
		else
			load_torn(w, i, access, &r, sub ? access->bytes : 4 * dw);
	} else if (sub)
		piece_of(w, i, access, &r, 0, access->bytes, 1);
	else if (access->class == ISA_ACCESS_ATOMIC || !splits_dwords(&r, dw))
		piece_of(w, i, access, &r, 0, 4 * dw, dw);
	else
		for (unsigned k = 0; k < dw; k++)
			piece_of(w, i, access, &r, 4 * k, 4, 1);
	write_status(w, i, dw);
	return i + 1;
}

/* --- typed data --- */

struct typed {
	unsigned dfmt, nfmt, size_B;
	unsigned count; /* components that the instruction moves */
	bool d16, high, store;
};

static bool read_typed(const struct isa_wave *w, const struct isa_inst *i, const struct resource *v,
		       struct typed *t)
{
	uint8_t dfmt = v->dfmt, nfmt = v->nfmt;
	unsigned op =
		i->enc == ISA_MTBUF ? i->op - ISA_OP_TBUFFER_LOAD_FORMAT_X : i->op - ISA_OP_BUFFER_LOAD_FORMAT_X;

	if (i->enc == ISA_MTBUF && v->range == RANGE_9) {
		dfmt = i->mem.dfmt;
		nfmt = i->mem.nfmt;
	} else if (i->enc == ISA_MTBUF) {
		isa_format_split(isa_generation_of(w->machine->chip->gfx)->column, i->mem.dfmt, &dfmt, &nfmt);
	}
	*t = (struct typed){
		.dfmt = dfmt,
		.nfmt = nfmt,
		.count = 1 + op % 4,
		.d16 = op >= 8,
		.store = op / 4 % 2,
	};
	if (i->op == ISA_OP_BUFFER_LOAD_LDS_FORMAT_X) {
		t->count = 1;
		t->d16 = t->store = false;
	}
	if (i->op == ISA_OP_BUFFER_LOAD_FORMAT_D16_HI_X || i->op == ISA_OP_BUFFER_STORE_FORMAT_D16_HI_X) {
		t->count = 1;
		t->d16 = t->high = true;
		t->store = i->op == ISA_OP_BUFFER_STORE_FORMAT_D16_HI_X;
	}
	t->size_B = isa_format_size_B(t->dfmt, t->nfmt);
	return t->size_B;
}

/* Selects component n by the resource: 0 zero, 1 one, 4 to 7 X to W. Instructions with a format of their own
 * (MTBUF) take the components unchanged. */
static uint32_t select_component(const struct isa_inst *i, const struct resource *v, const struct typed *t,
				 unsigned n, const uint32_t xyzw[4])
{
	unsigned sel = i->enc == ISA_MTBUF ? 4 + n : v->word3 >> 3 * n & 7;

	if (sel >= 4)
		return xyzw[sel - 4];
	return sel == 1 ? isa_format_one(t->nfmt, t->d16) : 0;
}

/* Writes a component of the lane: a register, or half of a register. */
static void put_component(struct isa_wave *w, const struct isa_inst *i, const struct typed *t, unsigned lane,
			  unsigned n, uint32_t value)
{
	if (!t->d16)
		w->v[i->mem.vdata + n][lane] = value;
	else if (n % 2)
		isa_set_half(&w->v[i->mem.vdata + n / 2][lane], value, true);
	else
		isa_load_half(w, &w->v[i->mem.vdata + n / 2][lane], value, t->high);
}

static uint32_t get_component(const struct isa_wave *w, const struct isa_inst *i, const struct typed *t,
			      unsigned lane, unsigned n)
{
	if (t->d16)
		return w->v[i->mem.vdata + n / 2][lane] >> (t->high || n % 2 ? 16 : 0) & 0xffff;
	return w->v[i->mem.vdata + n][lane];
}

/* An element's bytes; in a swizzled buffer dword by dword. */
static void element_read(struct isa_wave *w, const struct isa_inst *i, const struct request *r, unsigned lane,
			 uint8_t *element, unsigned size_B)
{
	for (unsigned at = 0; at < size_B; at += 4) {
		unsigned part_B = r->v.swizzle ? (size_B - at < 4 ? size_B - at : 4) : size_B;

		isa_mem_read(w, i, lane_address(r, lane, at), element + at, part_B);
		if (part_B == size_B)
			break;
	}
}

static void element_write(struct isa_wave *w, const struct isa_inst *i, const struct request *r, unsigned lane,
			  const uint8_t *element, unsigned size_B)
{
	for (unsigned at = 0; at < size_B; at += 4) {
		unsigned part_B = r->v.swizzle ? (size_B - at < 4 ? size_B - at : 4) : size_B;

		isa_mem_write(w, i, lane_address(r, lane, at), element + at, part_B);
		if (part_B == size_B)
			break;
	}
}

static void typed_load(struct isa_wave *w, const struct isa_inst *i, const struct request *r, const struct typed *t,
		       unsigned lane)
{
	uint8_t element[16] = {0};
	uint32_t xyzw[4] = {0};

	if (in_range(r, lane, 0, t->size_B)) {
		element_read(w, i, r, lane, element, t->size_B);
		isa_format_load(t->dfmt, t->nfmt, element, t->d16, xyzw);
	}
	for (unsigned n = 0; n < t->count; n++)
		put_component(w, i, t, lane, n, select_component(i, &r->v, t, n, xyzw));
	if (t->d16 && t->count == 3) /* the last half has no component */
		put_component(w, i, t, lane, 3, 0);
}

/* Components that the instruction does not have are stored as 0. */
static void typed_store(struct isa_wave *w, const struct isa_inst *i, const struct request *r,
			const struct typed *t, unsigned lane)
{
	uint8_t element[16] = {0};
	uint32_t rgba[4] = {0}, xyzw[4];

	if (!in_range(r, lane, 0, t->size_B))
		return;
	for (unsigned n = 0; n < t->count; n++)
		rgba[n] = get_component(w, i, t, lane, n);
	if (i->enc == ISA_MTBUF)
		memcpy(xyzw, rgba, sizeof(xyzw));
	else
		isa_format_select_back(r->v.word3, rgba, xyzw);
	isa_format_store(t->dfmt, t->nfmt, xyzw, t->d16, element);
	element_write(w, i, r, lane, element, t->size_B);
}

static const struct isa_inst *run_typed(struct isa_wave *w, const struct isa_inst *i)
{
	struct request r;
	struct typed t;

	if (i->flags & ISA_LDS)
		return to_lds(w, i);
	w->accesses++;
	read_request(w, i, &r);
	if (!read_typed(w, i, &r.v, &t))
		return isa_stop_wave(w, i, "data format %u with number format %u is none of a buffer", t.dfmt,
				     t.nfmt);
	ISA_FOR_LANES(lane, r.mask) {
		if (t.store)
			typed_store(w, i, &r, &t, lane);
		else
			typed_load(w, i, &r, &t, lane);
	}
	write_status(w, i, t.d16 ? (t.count + 1) / 2 : t.count);
	return i + 1;
}

/* --- to and from LDS --- */

/* Reads a lane's dword, converted by the instruction's format. */
static uint32_t dword_of(struct isa_wave *w, const struct isa_inst *i, const struct request *r, unsigned lane)
{
	const struct isa_access *access = isa_access_of(i->op);
	unsigned size_B = access->class == ISA_ACCESS_LOAD_SUB ? access->bytes : 4;
	uint8_t element[16] = {0};
	uint32_t xyzw[4] = {0}, value = 0;
	struct typed t;

	if (i->op == ISA_OP_BUFFER_LOAD_FORMAT_X || i->op == ISA_OP_BUFFER_LOAD_LDS_FORMAT_X) {
		if (!read_typed(w, i, &r->v, &t) || !in_range(r, lane, 0, t.size_B))
			return 0;
		element_read(w, i, r, lane, element, t.size_B);
		isa_format_load(t.dfmt, t.nfmt, element, false, xyzw);
		return select_component(i, &r->v, &t, 0, xyzw);
	}
	if (in_range(r, lane, 0, size_B))
		isa_mem_read(w, i, lane_address(r, lane, 0), &value, size_B);
	return size_B == 4 ? value : isa_extend(value, access);
}

/* A load with the LDS bit writes LDS at M0 + immediate + 4 * lane, and no register. */
static const struct isa_inst *to_lds(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);
	uint32_t base = isa_lds_dma_base(w, i);
	struct request r;

	if (i->op != ISA_OP_BUFFER_LOAD_FORMAT_X && i->op != ISA_OP_BUFFER_LOAD_LDS_FORMAT_X &&
	    i->op != ISA_OP_BUFFER_LOAD_DWORD && i->op != ISA_OP_BUFFER_LOAD_LDS_B32 &&
	    access->class != ISA_ACCESS_LOAD_SUB)
		return isa_stop_wave(w, i, "the LDS bit is for loads of one dword");
	w->accesses++;
	read_request(w, i, &r);
	ISA_FOR_LANES(lane, r.mask) {
		uint32_t value = dword_of(w, i, &r, lane);

		isa_lds_write(w, i, base + 4 * lane, &value, 4);
	}
	return i + 1;
}

static const struct isa_inst *store_lds_dword(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t base = isa_lds_dma_base(w, i);
	struct request r;

	w->accesses++;
	read_request(w, i, &r);
	ISA_FOR_LANES(lane, r.mask) {
		uint32_t value;

		isa_lds_read(w, i, base + 4 * lane, &value, 4);
		if (in_range(&r, lane, 0, 4))
			isa_mem_write(w, i, lane_address(&r, lane, 0), &value, 4);
	}
	return i + 1;
}

/* Whether WBL2 and INV act on L2. gfx942's instructions have a scope: system, and device where the device has
 * several L2, because a single L2 is coherent in itself (CDNA3 ISA, tables of BUFFER_WBL2 and BUFFER_INV). */
static bool reaches_l2(const struct isa_wave *w, const struct isa_inst *i)
{
	if (w->machine->chip->gfx != VGPU_GFX942)
		return i->op == ISA_OP_BUFFER_WBL2 || i->op == ISA_OP_BUFFER_INVL2;
	return i->flags & ISA_SCC_BIT && (i->flags & ISA_GLC || w->machine->several_l2);
}

/* Invalidating L2 keeps what local waves wrote (LLVM's memory model acquires with it alone). */
static const struct isa_inst *run_cache(struct isa_wave *w, const struct isa_inst *i)
{
	w->accesses++;
	if (!w->machine->cache)
		return i + 1;
	if (reaches_l2(w, i))
		isa_cache_maintain(w, i->op == ISA_OP_BUFFER_WBL2 ? MEM_WRITE_BACK : MEM_WRITE_BACK | MEM_DROP_L2);
	if (i->op != ISA_OP_BUFFER_WBL2)
		w->group->past_l1 = true;
	return i + 1;
}

/* From GFX10 on two caches are above L2, which are one here: it is dropped when both are, the lower one first. */
static const struct isa_inst *drop_gl1(struct isa_wave *w, const struct isa_inst *i)
{
	w->accesses++;
	w->group->past_gl1 = w->machine->cache;
	return i + 1;
}

static const struct isa_inst *drop_gl0(struct isa_wave *w, const struct isa_inst *i)
{
	w->accesses++;
	w->group->past_l1 |= w->group->past_gl1;
	return i + 1;
}

/* GFX12: by scope. The workgroup's is below what is modelled, the system's includes L2. */
static const struct isa_inst *run_scoped(struct isa_wave *w, const struct isa_inst *i)
{
	enum { SCOPE_DEVICE = 2, SCOPE_SYSTEM = 3 };
	bool drops = i->op != ISA_OP_GLOBAL_WB;

	w->accesses++;
	if (!w->machine->cache)
		return i + 1;
	if (i->mem.scope == SCOPE_SYSTEM)
		isa_cache_maintain(w, drops ? MEM_WRITE_BACK | MEM_DROP_L2 : MEM_WRITE_BACK);
	if (drops && i->mem.scope >= SCOPE_DEVICE)
		w->group->past_l1 = true;
	return i + 1;
}

/* --- the table --- */

#define TYPED(P, what)                                                                                             \
	{ISA_OP_##P##_##what##_FORMAT_X, run_typed}, {ISA_OP_##P##_##what##_FORMAT_XY, run_typed},                 \
		{ISA_OP_##P##_##what##_FORMAT_XYZ, run_typed}, {ISA_OP_##P##_##what##_FORMAT_XYZW, run_typed},     \
		{ISA_OP_##P##_##what##_FORMAT_D16_X, run_typed}, {ISA_OP_##P##_##what##_FORMAT_D16_XY, run_typed}, \
		{ISA_OP_##P##_##what##_FORMAT_D16_XYZ, run_typed},                                                 \
	{                                                                                                          \
		ISA_OP_##P##_##what##_FORMAT_D16_XYZW, run_typed                                                   \
	}

#define ATOMIC(name)  {ISA_OP_BUFFER_ATOMIC_##name, run_buffer}
#define ATOMIC2(name) ATOMIC(name), ATOMIC(name##_X2)

const struct isa_handler isa_mubuf_handlers[] = {
	TYPED(BUFFER, LOAD),
	TYPED(BUFFER, STORE),
	TYPED(TBUFFER, LOAD),
	TYPED(TBUFFER, STORE),
	{ISA_OP_BUFFER_LOAD_FORMAT_D16_HI_X, run_typed},
	{ISA_OP_BUFFER_STORE_FORMAT_D16_HI_X, run_typed},
	{ISA_OP_BUFFER_LOAD_UBYTE, run_buffer},
	{ISA_OP_BUFFER_LOAD_SBYTE, run_buffer},
	{ISA_OP_BUFFER_LOAD_USHORT, run_buffer},
	{ISA_OP_BUFFER_LOAD_SSHORT, run_buffer},
	{ISA_OP_BUFFER_LOAD_DWORD, run_buffer},
	{ISA_OP_BUFFER_LOAD_DWORDX2, run_buffer},
	{ISA_OP_BUFFER_LOAD_DWORDX3, run_buffer},
	{ISA_OP_BUFFER_LOAD_DWORDX4, run_buffer},
	{ISA_OP_BUFFER_LOAD_UBYTE_D16, run_buffer},
	{ISA_OP_BUFFER_LOAD_UBYTE_D16_HI, run_buffer},
	{ISA_OP_BUFFER_LOAD_SBYTE_D16, run_buffer},
	{ISA_OP_BUFFER_LOAD_SBYTE_D16_HI, run_buffer},
	{ISA_OP_BUFFER_LOAD_SHORT_D16, run_buffer},
	{ISA_OP_BUFFER_LOAD_SHORT_D16_HI, run_buffer},
	{ISA_OP_BUFFER_STORE_BYTE, run_buffer},
	{ISA_OP_BUFFER_STORE_BYTE_D16_HI, run_buffer},
	{ISA_OP_BUFFER_STORE_SHORT, run_buffer},
	{ISA_OP_BUFFER_STORE_SHORT_D16_HI, run_buffer},
	{ISA_OP_BUFFER_STORE_DWORD, run_buffer},
	{ISA_OP_BUFFER_STORE_DWORDX2, run_buffer},
	{ISA_OP_BUFFER_STORE_DWORDX3, run_buffer},
	{ISA_OP_BUFFER_STORE_DWORDX4, run_buffer},
	ATOMIC2(SWAP),
	ATOMIC2(CMPSWAP),
	ATOMIC2(ADD),
	ATOMIC2(SUB),
	ATOMIC2(SMIN),
	ATOMIC2(UMIN),
	ATOMIC2(SMAX),
	ATOMIC2(UMAX),
	ATOMIC2(AND),
	ATOMIC2(OR),
	ATOMIC2(XOR),
	ATOMIC2(INC),
	ATOMIC2(DEC),
	ATOMIC(ADD_F32),
	ATOMIC(PK_ADD_F16),
	ATOMIC(ADD_F64),
	ATOMIC(MIN_F64),
	ATOMIC(MAX_F64),
	ATOMIC(FCMPSWAP),
	ATOMIC(FCMPSWAP_X2),
	ATOMIC(FMIN),
	ATOMIC(FMAX),
	ATOMIC(CSUB),
	ATOMIC(COND_SUB_U32),
	ATOMIC(PK_ADD_BF16),
	{ISA_OP_BUFFER_LOAD_LDS_U8, to_lds},
	{ISA_OP_BUFFER_LOAD_LDS_I8, to_lds},
	{ISA_OP_BUFFER_LOAD_LDS_U16, to_lds},
	{ISA_OP_BUFFER_LOAD_LDS_I16, to_lds},
	{ISA_OP_BUFFER_LOAD_LDS_B32, to_lds},
	{ISA_OP_BUFFER_LOAD_LDS_FORMAT_X, to_lds},
	{ISA_OP_BUFFER_STORE_LDS_DWORD, store_lds_dword},
	{ISA_OP_GLOBAL_INV, run_scoped},
	{ISA_OP_GLOBAL_WB, run_scoped},
	{ISA_OP_GLOBAL_WBINV, run_scoped},
	{ISA_OP_BUFFER_GL0_INV, drop_gl0},
	{ISA_OP_BUFFER_GL1_INV, drop_gl1},
	{ISA_OP_BUFFER_WBL2, run_cache},
	{ISA_OP_BUFFER_INVL2, run_cache},
	{ISA_OP_BUFFER_INV, run_cache},
	{ISA_OP_BUFFER_WBINVL1, run_cache},
	{ISA_OP_BUFFER_WBINVL1_VOL, run_cache},
	{ISA_OP_NONE, NULL},
};

/* LDS instructions. All waves of a workgroup run on one thread, so no access is atomic for the host.
 *
 * GFX9 ignores M0, except in the few instructions that take their address from it. Any alignment is allowed. */
#include "vgpu/isa/check/lds_race.h"
#include "vgpu/isa/mem/access.h"
#include "vgpu/isa/mem/place.h"
#include "vgpu/isa/valu/valu.h"

#include <immintrin.h>

#include "vgpu/report.h"

/* --- bytes of LDS --- */

/* Beyond what any workgroup can have, and no negative index: a place that code gives its idle lanes on purpose, as
 * Tensile does with 0xf00000 (KernelWriterAssembly's LdsOOB). */
static bool is_parked(const struct isa_wave *w, uint32_t offset)
{
	return offset >= w->machine->chip->lds_B && offset < 0x80000000;
}

static bool in_lds(struct isa_wave *w, const struct isa_inst *i, uint32_t offset, unsigned size_B)
{
	if (offset < w->group->lds_B && size_B <= w->group->lds_B - offset)
		return true;
	if (is_parked(w, offset))
		vgpu_remark(CONTRACT_LDS_BOUNDS,
			    "%s at 0x%llx reaches offset 0x%x of LDS, which no workgroup can have",
			    isa_op_name(i->op), (unsigned long long)i->pc, offset);
	else if (mem_refusal_is_new(w, i, ISA_SHARED_BASE, GPUVM_R | GPUVM_W))
		vgpu_finding(CONTRACT_LDS_BOUNDS,
			     "%s at 0x%llx reaches %u bytes at %u of LDS, but the workgroup has %u",
			     isa_op_name(i->op), (unsigned long long)i->pc, size_B, offset, w->group->lds_B);
	return false;
}

void isa_lds_read(struct isa_wave *w, const struct isa_inst *i, uint32_t offset, void *dst, unsigned size_B)
{
	if (!in_lds(w, i, offset, size_B)) {
		memset(dst, 0, size_B);
		return;
	}
	if (w->group->races)
		isa_race_access(w, i, offset, size_B, ISA_RACE_READ, NULL);
	memcpy(dst, w->group->lds + offset, size_B);
}

void isa_lds_write(struct isa_wave *w, const struct isa_inst *i, uint32_t offset, const void *src, unsigned size_B)
{
	if (!in_lds(w, i, offset, size_B))
		return;
	if (w->group->races)
		isa_race_access(w, i, offset, size_B, ISA_RACE_WRITE, src);
	memcpy(w->group->lds + offset, src, size_B);
}

uint64_t isa_lds_atomic(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			uint32_t offset, uint64_t data, uint64_t data1)
{
	uint64_t old = 0, new;

	if (!in_lds(w, i, offset, size_B))
		return 0;
	if (w->group->races)
		isa_race_access(w, i, offset, size_B, ISA_RACE_ATOMIC, NULL);
	memcpy(&old, w->group->lds + offset, size_B);
	new = isa_atomic_apply(op, size_B, old, data, data1);
	memcpy(w->group->lds + offset, &new, size_B);
	return old;
}

/* --- what an instruction does --- */

struct ds_op {
	uint8_t atomic;   /* enum isa_atomic */
	uint8_t bytes;    /* bytes of each element */
	uint8_t operands; /* operands of an atomic: 1 or 2 */
	bool returns;
	bool extend, d16, high;
	uint8_t stride; /* two addresses: what each offset counts, in elements */
};

static const struct ds_op *op_of(const struct isa_inst *i);

static uint32_t lane_offset(const struct isa_wave *w, const struct isa_inst *i, unsigned lane)
{
	return w->v[i->mem.vaddr][lane] + (uint32_t)i->mem.offset;
}

static const struct isa_inst *refuse_gds(struct isa_wave *w, const struct isa_inst *i)
{
	return isa_stop_wave(w, i, "no GDS is assigned to the job");
}

/* Whether all active lanes are inside LDS, by their highest offset. */
static bool all_inside(const struct isa_wave *w, const uint32_t offset[ISA_LANES], uint64_t mask, unsigned size_B)
{
	uint32_t highest = 0;

	/* A plain loop is a vector loop; a full mask is the common case. */
	if (mask == w->full) {
		for (unsigned lane = 0; lane < isa_lanes(w); lane++)
			highest = offset[lane] > highest ? offset[lane] : highest;
	} else {
		ISA_FOR_LANES(lane, mask)
			highest = offset[lane] > highest ? offset[lane] : highest;
	}
	return (uint64_t)highest + size_B <= w->group->lds_B;
}

static void read_offsets(const struct isa_wave *w, const struct isa_inst *i, uint32_t offset[ISA_LANES])
{
	const uint32_t *v = w->v[i->mem.vaddr];
	uint32_t add = (uint32_t)i->mem.offset;

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		offset[lane] = v[lane] + add;
}

/* --- reads and writes of dwords --- */

/* Four lanes of four dwords each to four rows, and back. */
static void transpose_rows(__m128i r[4])
{
	__m128i lo01 = _mm_unpacklo_epi32(r[0], r[1]), lo23 = _mm_unpacklo_epi32(r[2], r[3]);
	__m128i hi01 = _mm_unpackhi_epi32(r[0], r[1]), hi23 = _mm_unpackhi_epi32(r[2], r[3]);

	r[0] = _mm_unpacklo_epi64(lo01, lo23);
	r[1] = _mm_unpackhi_epi64(lo01, lo23);
	r[2] = _mm_unpacklo_epi64(hi01, hi23);
	r[3] = _mm_unpackhi_epi64(hi01, hi23);
}

/* Reads 16 bytes for each lane, all inside LDS. */
static void read_b128_all(const uint8_t *lds, const uint32_t offset[ISA_LANES], uint32_t (*v)[ISA_LANES],
			  unsigned lanes)
{
	for (unsigned lane = 0; lane < lanes; lane += 4) {
		__m128i r[4];

		for (unsigned n = 0; n < 4; n++)
			memcpy(&r[n], lds + offset[lane + n], sizeof(r[n]));
		transpose_rows(r);
		for (unsigned k = 0; k < 4; k++)
			memcpy(&v[k][lane], &r[k], sizeof(r[k]));
	}
}

/* In the order of lanes: where they overlap, the highest wins. */
static void write_b128_all(uint8_t *lds, const uint32_t offset[ISA_LANES], uint32_t (*v)[ISA_LANES], unsigned lanes)
{
	for (unsigned lane = 0; lane < lanes; lane += 4) {
		__m128i r[4];

		for (unsigned k = 0; k < 4; k++)
			memcpy(&r[k], &v[k][lane], sizeof(r[k]));
		transpose_rows(r);
		for (unsigned n = 0; n < 4; n++)
			memcpy(lds + offset[lane + n], &r[n], sizeof(r[n]));
	}
}

static const struct isa_inst *read_dwords(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t offset[ISA_LANES], value[4], (*v)[ISA_LANES] = w->v + i->mem.vdst;
	unsigned dw = i->mem.dst_dw;
	uint64_t mask = isa_exec(w);
	bool inside;

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	read_offsets(w, i, offset);
	inside = all_inside(w, offset, mask, 4 * dw);
	if (inside && w->group->races)
		isa_race_read(w, i, offset, mask, 4 * dw);
	if (inside && dw == 1) {
		ISA_FOR_LANES(lane, mask)
			memcpy(&v[0][lane], w->group->lds + offset[lane], 4);
		return i + 1;
	}
	if (inside && dw == 4 && mask == w->full) {
		read_b128_all(w->group->lds, offset, v, isa_lanes(w));
		return i + 1;
	}
	ISA_FOR_LANES(lane, mask) {
		if (inside)
			memcpy(value, w->group->lds + offset[lane], 4 * dw);
		else
			isa_lds_read(w, i, offset[lane], value, 4 * dw);
		for (unsigned k = 0; k < dw; k++)
			v[k][lane] = value[k];
	}
	return i + 1;
}

static const struct isa_inst *write_dwords(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t offset[ISA_LANES], value[4], (*v)[ISA_LANES] = w->v + i->mem.vdata;
	unsigned dw = i->mem.data_dw;
	uint64_t mask = isa_exec(w);
	bool inside;

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	read_offsets(w, i, offset);
	inside = !w->group->races && all_inside(w, offset, mask, 4 * dw);
	if (inside && dw == 1) {
		ISA_FOR_LANES(lane, mask)
			memcpy(w->group->lds + offset[lane], &v[0][lane], 4);
		return i + 1;
	}
	if (inside && dw == 4 && mask == w->full) {
		write_b128_all(w->group->lds, offset, v, isa_lanes(w));
		return i + 1;
	}
	ISA_FOR_LANES(lane, mask) {
		for (unsigned k = 0; k < dw; k++)
			value[k] = v[k][lane];
		isa_lds_write(w, i, offset[lane], value, 4 * dw);
	}
	return i + 1;
}

/* --- two addresses --- */

static void two_offsets(const struct isa_wave *w, const struct isa_inst *i, unsigned lane, uint32_t offset[2])
{
	const struct ds_op *op = op_of(i);
	uint32_t base = w->v[i->mem.vaddr][lane], unit = (uint32_t)op->bytes * op->stride;

	offset[0] = base + (uint32_t)i->mem.offset * unit;
	offset[1] = base + i->mem.offset1 * unit;
}

static const struct isa_inst *run_read2(struct isa_wave *w, const struct isa_inst *i)
{
	unsigned bytes = op_of(i)->bytes, dw = bytes / 4;

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		uint32_t offset[2], value[4];

		two_offsets(w, i, lane, offset);
		isa_lds_read(w, i, offset[0], value, bytes);
		isa_lds_read(w, i, offset[1], value + dw, bytes);
		for (unsigned k = 0; k < 2 * dw; k++)
			w->v[i->mem.vdst + k][lane] = value[k];
	}
	return i + 1;
}

static void read_operand(const struct isa_wave *w, unsigned row, unsigned lane, unsigned dw, uint32_t value[2])
{
	for (unsigned k = 0; k < dw; k++)
		value[k] = w->v[row + k][lane];
}

static const struct isa_inst *run_write2(struct isa_wave *w, const struct isa_inst *i)
{
	unsigned bytes = op_of(i)->bytes;

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		uint32_t offset[2], value[2];

		two_offsets(w, i, lane, offset);
		read_operand(w, i->mem.vdata, lane, bytes / 4, value);
		isa_lds_write(w, i, offset[0], value, bytes);
		read_operand(w, i->mem.vdata1, lane, bytes / 4, value);
		isa_lds_write(w, i, offset[1], value, bytes);
	}
	return i + 1;
}

/* Returns both old values; the second exchange reads the result of the first. */
static const struct isa_inst *run_exchange2(struct isa_wave *w, const struct isa_inst *i)
{
	unsigned bytes = op_of(i)->bytes, dw = bytes / 4;

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		uint32_t offset[2], first[2], second[2], old[4];

		two_offsets(w, i, lane, offset);
		read_operand(w, i->mem.vdata, lane, dw, first);
		read_operand(w, i->mem.vdata1, lane, dw, second);
		isa_lds_read(w, i, offset[0], old, bytes);
		isa_lds_write(w, i, offset[0], first, bytes);
		isa_lds_read(w, i, offset[1], old + dw, bytes);
		isa_lds_write(w, i, offset[1], second, bytes);
		for (unsigned k = 0; k < 2 * dw; k++)
			w->v[i->mem.vdst + k][lane] = old[k];
	}
	return i + 1;
}

/* --- bytes and halves --- */

static const struct isa_inst *read_sub(struct isa_wave *w, const struct isa_inst *i)
{
	const struct ds_op *op = op_of(i);
	const struct isa_access access = {.bytes = op->bytes, .extend = op->extend};

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		uint32_t *v = &w->v[i->mem.vdst][lane], value = 0;

		isa_lds_read(w, i, lane_offset(w, i, lane), &value, op->bytes);
		value = isa_extend(value, &access);
		if (op->d16)
			isa_load_half(w, v, value, op->high);
		else
			*v = value;
	}
	return i + 1;
}

static const struct isa_inst *write_sub(struct isa_wave *w, const struct isa_inst *i)
{
	const struct ds_op *op = op_of(i);

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		uint32_t value = w->v[i->mem.vdata][lane] >> (op->high ? 16 : 0);

		isa_lds_write(w, i, lane_offset(w, i, lane), &value, op->bytes);
	}
	return i + 1;
}

/* --- read, modify, write --- */

static uint64_t read_data(const struct isa_wave *w, unsigned row, unsigned lane, unsigned bytes)
{
	return bytes == 8 ? w->v[row][lane] | (uint64_t)w->v[row + 1][lane] << 32 : w->v[row][lane];
}

/* To GFX10 LDS takes compare before value, unlike memory. */
static uint64_t run_atomic(struct isa_wave *w, const struct isa_inst *i, const struct ds_op *op, unsigned lane)
{
	uint64_t data = read_data(w, i->mem.vdata, lane, op->bytes);
	uint64_t data1 = op->operands == 2 ? read_data(w, i->mem.vdata1, lane, op->bytes) : 0;

	if (isa_atomic_compares(op->atomic) && isa_generation_of(w->machine->chip->gfx)->ds_compares_first) {
		uint64_t compare = data;

		data = data1;
		data1 = compare;
	}
	return isa_lds_atomic(w, i, op->atomic, op->bytes, lane_offset(w, i, lane), data, data1);
}

/* f64 has rounding and denormals of its own in MODE; f32's are what the wave runs with. */
static unsigned enter_f64(const struct isa_wave *w, const struct ds_op *op)
{
	unsigned saved = _mm_getcsr();

	if (op->atomic >= ISA_ATOMIC_CMPSWAP_F && op->bytes == 8)
		_mm_setcsr(isa_mxcsr(w->mode, ISA_FP_64));
	return saved;
}

static const struct isa_inst *run_ds_atomic(struct isa_wave *w, const struct isa_inst *i)
{
	const struct ds_op *op = op_of(i);
	unsigned saved;

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	saved = enter_f64(w, op);
	ISA_FOR_LANES(lane, isa_exec(w)) {
		uint64_t old = run_atomic(w, i, op, lane);

		if (!op->returns)
			continue;
		w->v[i->mem.vdst][lane] = (uint32_t)old;
		if (op->bytes == 8)
			w->v[i->mem.vdst + 1u][lane] = (uint32_t)(old >> 32);
	}
	_mm_setcsr(saved);
	return i + 1;
}

/* --- addresses from M0 --- */

static uint32_t m0_offset(const struct isa_wave *w, const struct isa_inst *i)
{
	return (w->s[ISA_M0] & 0xffff) + (uint32_t)i->mem.offset;
}

static const struct isa_inst *read_addtid(struct isa_wave *w, const struct isa_inst *i)
{
	ISA_FOR_LANES(lane, isa_exec(w))
		isa_lds_read(w, i, m0_offset(w, i) + 4 * lane, &w->v[i->mem.vdst][lane], 4);
	return i + 1;
}

static const struct isa_inst *write_addtid(struct isa_wave *w, const struct isa_inst *i)
{
	ISA_FOR_LANES(lane, isa_exec(w))
		isa_lds_write(w, i, m0_offset(w, i) + 4 * lane, &w->v[i->mem.vdata][lane], 4);
	return i + 1;
}

/* Moves a counter of the wave by the number of active lanes. All lanes get the old value. */
static const struct isa_inst *count_lanes(struct isa_wave *w, const struct isa_inst *i)
{
	uint64_t mask = isa_exec(w);
	uint32_t lanes = (uint32_t)__builtin_popcountll(mask), old, new;

	if (i->flags & ISA_GDS)
		return refuse_gds(w, i);
	if (!mask)
		return i + 1;
	isa_lds_read(w, i, m0_offset(w, i), &old, 4);
	new = i->op == ISA_OP_DS_APPEND ? old + lanes : old - lanes;
	isa_lds_write(w, i, m0_offset(w, i), &new, 4);
	ISA_FOR_LANES(lane, mask)
		w->v[i->mem.vdst][lane] = old;
	return i + 1;
}

/* --- across lanes, without LDS --- */

/* Result of lane n is the value of lane from[n]; lanes that are off give 0. */
static void gather_lanes(struct isa_wave *w, const struct isa_inst *i, unsigned row, const uint8_t from[ISA_LANES])
{
	uint64_t exec = isa_exec(w);
	uint32_t value[ISA_LANES];

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		value[lane] = exec >> from[lane] & 1 ? w->v[row][from[lane]] : 0;
	ISA_FOR_LANES(lane, exec)
		w->v[i->mem.vdst][lane] = value[lane];
}

/* The lane that ds_permute and ds_bpermute of `lane` name: in the wave, or in the lane's half of it. */
static uint8_t permuted_lane(const struct isa_wave *w, const struct isa_inst *i, unsigned lane)
{
	bool halves = w->machine->wave32 || isa_generation_of(w->machine->chip->gfx)->bpermute_halves;
	unsigned to = lane_offset(w, i, lane) >> 2;

	return (uint8_t)(halves ? (lane & 32) | (to & 31) : to & 63);
}

static const struct isa_inst *run_bpermute(struct isa_wave *w, const struct isa_inst *i)
{
	uint8_t from[ISA_LANES];

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		from[lane] = permuted_lane(w, i, lane);
	gather_lanes(w, i, i->mem.vdata, from);
	return i + 1;
}

/* Pushes. The highest of the lanes that push to a lane wins; a lane without a value gets 0. */
static const struct isa_inst *run_permute(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t value[ISA_LANES] = {0};
	uint64_t exec = isa_exec(w);

	ISA_FOR_LANES(lane, exec)
		value[permuted_lane(w, i, lane)] = w->v[i->mem.vdata][lane];
	ISA_FOR_LANES(lane, exec)
		w->v[i->mem.vdst][lane] = value[lane];
	return i + 1;
}

/* ds_swizzle's offset: 0xe000 on FFT, 0xc000 on rotation, 0x8000 on quad permutation, below that and, or, xor masks
 * of the lane number in groups of 32. */
static const struct isa_inst *run_swizzle(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t mode = (uint32_t)i->mem.offset;
	uint8_t from[ISA_LANES];

	if (mode >= 0xe000)
		return isa_stop_wave(w, i, "the FFT mode of ds_swizzle is not implemented");
	for (unsigned lane = 0; lane < ISA_LANES; lane++) {
		unsigned in_32 = lane & 31, to;

		if (mode >= 0xc000) {
			unsigned keep = mode & 31, by = mode >> 5 & 31;

			to = mode >> 10 & 1 ? in_32 - by : in_32 + by;
			to = (in_32 & keep) | (to & 31 & ~keep);
		} else if (mode >= 0x8000) {
			to = (in_32 & ~3u) | (mode >> 2 * (lane & 3) & 3);
		} else {
			to = ((in_32 & (mode & 31)) | (mode >> 5 & 31)) ^ (mode >> 10 & 31);
		}
		from[lane] = (uint8_t)((lane & ~31u) | to);
	}
	gather_lanes(w, i, i->mem.vaddr, from);
	return i + 1;
}

static const struct isa_inst *run_nothing(struct isa_wave *w, const struct isa_inst *i)
{
	(void)w;
	return i + 1;
}

/* --- the tables --- */

#define DS_ATOMIC(X, name, kind, type32, type64, n)                                                                \
	X(name##_##type32, kind, 4, n, false)                                                                      \
	X(name##_RTN_##type32, kind, 4, n, true)                                                                   \
	X(name##_##type64, kind, 8, n, false) X(name##_RTN_##type64, kind, 8, n, true)

#define DS_ATOMICS(X)                                                                                              \
	DS_ATOMIC(X, ADD, ADD, U32, U64, 1)                                                                        \
	DS_ATOMIC(X, SUB, SUB, U32, U64, 1)                                                                        \
	DS_ATOMIC(X, RSUB, RSUB, U32, U64, 1)                                                                      \
	DS_ATOMIC(X, INC, INC, U32, U64, 1)                                                                        \
	DS_ATOMIC(X, DEC, DEC, U32, U64, 1)                                                                        \
	DS_ATOMIC(X, MIN, SMIN, I32, I64, 1)                                                                       \
	DS_ATOMIC(X, MAX, SMAX, I32, I64, 1)                                                                       \
	DS_ATOMIC(X, MIN, UMIN, U32, U64, 1)                                                                       \
	DS_ATOMIC(X, MAX, UMAX, U32, U64, 1)                                                                       \
	DS_ATOMIC(X, AND, AND, B32, B64, 1)                                                                        \
	DS_ATOMIC(X, OR, OR, B32, B64, 1)                                                                          \
	DS_ATOMIC(X, XOR, XOR, B32, B64, 1)                                                                        \
	DS_ATOMIC(X, MSKOR, MSKOR, B32, B64, 2)                                                                    \
	DS_ATOMIC(X, CMPST, CMPSWAP, B32, B64, 2)                                                                  \
	DS_ATOMIC(X, CMPST, CMPSWAP_F, F32, F64, 2)                                                                \
	DS_ATOMIC(X, MIN, MIN_F, F32, F64, 1)                                                                      \
	DS_ATOMIC(X, MAX, MAX_F, F32, F64, 1)                                                                      \
	DS_ATOMIC(X, ADD, ADD_F, F32, F64, 1)                                                                      \
	X(PK_ADD_F16, PK_ADD_F16, 4, 1, false)                                                                     \
	X(PK_ADD_RTN_F16, PK_ADD_F16, 4, 1, true)                                                                  \
	X(PK_ADD_BF16, PK_ADD_BF16, 4, 1, false)                                                                   \
	X(PK_ADD_RTN_BF16, PK_ADD_BF16, 4, 1, true)                                                                \
	X(WRXCHG_RTN_B32, SWAP, 4, 1, true)                                                                        \
	X(WRXCHG_RTN_B64, SWAP, 8, 1, true)                                                                        \
	X(WRAP_RTN_B32, WRAP, 4, 2, true)                                                                          \
	X(SUB_CLAMP_U32, SUB_CLAMP, 4, 1, false)                                                                   \
	X(SUB_CLAMP_RTN_U32, SUB_CLAMP, 4, 1, true)                                                                \
	X(COND_SUB_U32, COND_SUB, 4, 1, false)                                                                     \
	X(COND_SUB_RTN_U32, COND_SUB, 4, 1, true)

#define ATOMIC_OP(name, kind, size, n, rtn)                                                                        \
	[ISA_OP_DS_##name] = {.atomic = ISA_ATOMIC_##kind, .bytes = size, .operands = n, .returns = rtn},
#define ATOMIC_HANDLER(name, kind, size, n, rtn) {ISA_OP_DS_##name, run_ds_atomic},
#define PAIR(name, size, step)                   [ISA_OP_DS_##name] = {.bytes = size, .stride = step}

static const struct ds_op ops[ISA_OP_COUNT] = {
	DS_ATOMICS(ATOMIC_OP) PAIR(READ2_B32, 4, 1),
	PAIR(READ2ST64_B32, 4, 64),
	PAIR(READ2_B64, 8, 1),
	PAIR(READ2ST64_B64, 8, 64),
	PAIR(WRITE2_B32, 4, 1),
	PAIR(WRITE2ST64_B32, 4, 64),
	PAIR(WRITE2_B64, 8, 1),
	PAIR(WRITE2ST64_B64, 8, 64),
	PAIR(WRXCHG2_RTN_B32, 4, 1),
	PAIR(WRXCHG2ST64_RTN_B32, 4, 64),
	PAIR(WRXCHG2_RTN_B64, 8, 1),
	PAIR(WRXCHG2ST64_RTN_B64, 8, 64),
	[ISA_OP_DS_READ_I8] = {.bytes = 1, .extend = true},
	[ISA_OP_DS_READ_U8] = {.bytes = 1},
	[ISA_OP_DS_READ_I16] = {.bytes = 2, .extend = true},
	[ISA_OP_DS_READ_U16] = {.bytes = 2},
	[ISA_OP_DS_READ_U8_D16] = {.bytes = 1, .d16 = true},
	[ISA_OP_DS_READ_U8_D16_HI] = {.bytes = 1, .d16 = true, .high = true},
	[ISA_OP_DS_READ_I8_D16] = {.bytes = 1, .d16 = true, .extend = true},
	[ISA_OP_DS_READ_I8_D16_HI] = {.bytes = 1, .d16 = true, .extend = true, .high = true},
	[ISA_OP_DS_READ_U16_D16] = {.bytes = 2, .d16 = true},
	[ISA_OP_DS_READ_U16_D16_HI] = {.bytes = 2, .d16 = true, .high = true},
	[ISA_OP_DS_WRITE_B8] = {.bytes = 1},
	[ISA_OP_DS_WRITE_B16] = {.bytes = 2},
	[ISA_OP_DS_WRITE_B8_D16_HI] = {.bytes = 1, .high = true},
	[ISA_OP_DS_WRITE_B16_D16_HI] = {.bytes = 2, .high = true},
};

static const struct ds_op *op_of(const struct isa_inst *i)
{
	return &ops[i->op];
}

const struct isa_handler isa_ds_handlers[] = {
	DS_ATOMICS(ATOMIC_HANDLER){ISA_OP_DS_READ_B32, read_dwords},
	{ISA_OP_DS_READ_B64, read_dwords},
	{ISA_OP_DS_READ_B96, read_dwords},
	{ISA_OP_DS_READ_B128, read_dwords},
	{ISA_OP_DS_WRITE_B32, write_dwords},
	{ISA_OP_DS_WRITE_B64, write_dwords},
	{ISA_OP_DS_WRITE_B96, write_dwords},
	{ISA_OP_DS_WRITE_B128, write_dwords},
	{ISA_OP_DS_READ2_B32, run_read2},
	{ISA_OP_DS_READ2ST64_B32, run_read2},
	{ISA_OP_DS_READ2_B64, run_read2},
	{ISA_OP_DS_READ2ST64_B64, run_read2},
	{ISA_OP_DS_WRITE2_B32, run_write2},
	{ISA_OP_DS_WRITE2ST64_B32, run_write2},
	{ISA_OP_DS_WRITE2_B64, run_write2},
	{ISA_OP_DS_WRITE2ST64_B64, run_write2},
	{ISA_OP_DS_WRXCHG2_RTN_B32, run_exchange2},
	{ISA_OP_DS_WRXCHG2ST64_RTN_B32, run_exchange2},
	{ISA_OP_DS_WRXCHG2_RTN_B64, run_exchange2},
	{ISA_OP_DS_WRXCHG2ST64_RTN_B64, run_exchange2},
	{ISA_OP_DS_READ_I8, read_sub},
	{ISA_OP_DS_READ_U8, read_sub},
	{ISA_OP_DS_READ_I16, read_sub},
	{ISA_OP_DS_READ_U16, read_sub},
	{ISA_OP_DS_READ_U8_D16, read_sub},
	{ISA_OP_DS_READ_U8_D16_HI, read_sub},
	{ISA_OP_DS_READ_I8_D16, read_sub},
	{ISA_OP_DS_READ_I8_D16_HI, read_sub},
	{ISA_OP_DS_READ_U16_D16, read_sub},
	{ISA_OP_DS_READ_U16_D16_HI, read_sub},
	{ISA_OP_DS_WRITE_B8, write_sub},
	{ISA_OP_DS_WRITE_B16, write_sub},
	{ISA_OP_DS_WRITE_B8_D16_HI, write_sub},
	{ISA_OP_DS_WRITE_B16_D16_HI, write_sub},
	{ISA_OP_DS_READ_ADDTID_B32, read_addtid},
	{ISA_OP_DS_WRITE_ADDTID_B32, write_addtid},
	{ISA_OP_DS_APPEND, count_lanes},
	{ISA_OP_DS_CONSUME, count_lanes},
	{ISA_OP_DS_PERMUTE_B32, run_permute},
	{ISA_OP_DS_BPERMUTE_B32, run_bpermute},
	{ISA_OP_DS_SWIZZLE_B32, run_swizzle},
	{ISA_OP_DS_NOP, run_nothing},
	{ISA_OP_NONE, NULL},
};

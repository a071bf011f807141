/* FLAT, GLOBAL and SCRATCH instructions. */
#include "vgpu/isa/mem/access.h"

#include "vgpu/report.h"

/* --- GLOBAL --- */

static void pair_addresses(const struct isa_wave *w, const struct isa_inst *i, struct isa_addresses *a)
{
	const uint32_t *lo = w->v[i->mem.vaddr], *hi = w->v[i->mem.vaddr + 1];
	uint64_t offset = (uint64_t)(int64_t)i->mem.offset;

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		a->va[lane] = (lo[lane] | (uint64_t)hi[lane] << 32) + offset;
}

/* The VGPR is an unsigned 32-bit offset from the SGPR base. */
static void saddr_addresses(const struct isa_wave *w, const struct isa_inst *i, struct isa_addresses *a)
{
	const uint32_t *v = w->v[i->mem.vaddr];
	uint64_t base = isa_sread64(w, i->mem.saddr) + (uint64_t)(int64_t)i->mem.offset;

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		a->va[lane] = base + v[lane];
}

/* A load with the LDS bit writes LDS at M0 + offset + 4 * lane instead of registers. */
static void load_to_lds(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a)
{
	const struct isa_access *access = isa_access_of(i->op);
	uint32_t base = isa_lds_dma_base(w, i);

	ISA_FOR_LANES(lane, a->mask) {
		uint32_t value = 0;

		isa_mem_read(w, i, a->va[lane], &value, access->class == ISA_ACCESS_LOAD ? 4 : access->bytes);
		if (access->class != ISA_ACCESS_LOAD)
			value = isa_extend(value, access);
		isa_lds_write(w, i, base + 4 * lane, &value, 4);
	}
}

static const struct isa_inst *refuse_lds(struct isa_wave *w, const struct isa_inst *i)
{
	return isa_stop_wave(w, i, "the LDS bit is for loads of one dword");
}

static bool loads_to_lds(const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);

	return (access->class == ISA_ACCESS_LOAD && i->mem.dst_dw == 1) || access->class == ISA_ACCESS_LOAD_SUB;
}

static unsigned access_dw(const struct isa_inst *i, const struct isa_access *access)
{
	return access->class == ISA_ACCESS_LOAD ? i->mem.dst_dw : i->mem.data_dw;
}

static const struct isa_inst *run_global(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);
	struct isa_addresses a;

	w->accesses++;
	a.mask = isa_exec(w);
	if (i->flags & ISA_SADDR)
		saddr_addresses(w, i, &a);
	else
		pair_addresses(w, i, &a);
	if (i->flags & ISA_LDS) {
		if (!loads_to_lds(i))
			return refuse_lds(w, i);
		load_to_lds(w, i, &a);
		return i + 1;
	}
	isa_access_lanes(w, i, access, &a, i->mem.vdata, i->mem.vdst, access_dw(i, access), i->flags & ISA_GLC);
	return i + 1;
}

/* gfx942 has instructions of their own for it. */
static const struct isa_inst *global_to_lds(struct isa_wave *w, const struct isa_inst *i)
{
	struct isa_addresses a;

	w->accesses++;
	a.mask = isa_exec(w);
	if (i->flags & ISA_SADDR)
		saddr_addresses(w, i, &a);
	else
		pair_addresses(w, i, &a);
	load_to_lds(w, i, &a);
	return i + 1;
}

/* Loads of a matrix of 16 by 16 elements, 8 elements by each of 32 lanes. Element e of a lane's result is element
 * lane % 8 of what another lane has read: 16-bit elements go around 8 lanes, bytes around 16. In a wave of 64 lane
 * 32 + n gives no address, and gets the upper half of lane n's result.
 *
 * Sources: the RDNA 4 ISA document, "WMMA Load-Transpose Instructions", for addresses, results and EXEC. For the lanes
 * Mesa's radv_nir_lower_cooperative_matrix.c and LLPC's LowerCooperativeMatrix.cpp, which feed WMMA in both wave sizes,
 * and what others measured on gfx1201 with consecutive addresses (later_test.c). */
enum { MATRIX_LANES = 32, MATRIX_ELEMENTS = 8 };

static unsigned reader_of(unsigned lane, unsigned e, unsigned element_B)
{
	if (element_B == 2)
		return (lane & 24) + e;
	return (lane & 16) + (e & 4) * 2 + (lane & 8) / 2 + (e & 3);
}

static void matrix_read(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
			unsigned element_B, uint16_t read[MATRIX_LANES][MATRIX_ELEMENTS])
{
	uint8_t bytes[2 * MATRIX_ELEMENTS];

	for (unsigned lane = 0; lane < MATRIX_LANES; lane++) {
		isa_mem_read(w, i, a->va[lane], bytes, MATRIX_ELEMENTS * element_B);
		for (unsigned e = 0; e < MATRIX_ELEMENTS; e++)
			read[lane][e] =
				element_B == 1 ? bytes[e] : (uint16_t)(bytes[2 * e] | bytes[2 * e + 1] << 8);
	}
}

static void load_transposed(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
			    unsigned element_B)
{
	unsigned per_dw = 4 / element_B, per_lane = i->mem.dst_dw * per_dw;
	uint16_t read[MATRIX_LANES][MATRIX_ELEMENTS];

	matrix_read(w, i, a, element_B, read);
	for (unsigned lane = 0; lane < isa_lanes(w); lane++)
		for (unsigned k = 0; k < i->mem.dst_dw; k++) {
			uint32_t value = 0;

			for (unsigned n = 0; n < per_dw; n++) {
				unsigned e = lane / MATRIX_LANES * per_lane + k * per_dw + n;
				unsigned reader = reader_of(lane % MATRIX_LANES, e, element_B);

				value |= (uint32_t)read[reader][lane % 8] << n * 8 * element_B;
			}
			w->v[i->mem.vdst + k][lane] = value;
		}
}

static const struct isa_inst *global_load_tr(struct isa_wave *w, const struct isa_inst *i)
{
	uint64_t exec = isa_exec(w);
	struct isa_addresses a;

	w->accesses++;
	if (!exec)
		return i + 1;
	if (exec != w->full)
		return isa_stop_wave(w, i, "a transposing load with lanes that EXEC turns off");
	if (i->flags & ISA_SADDR)
		saddr_addresses(w, i, &a);
	else
		pair_addresses(w, i, &a);
	load_transposed(w, i, &a, i->op == ISA_OP_GLOBAL_LOAD_TR_B128 ? 2 : 1);
	return i + 1;
}

/* The lane's dword at an SGPR base. */
static const struct isa_inst *global_addtid(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);
	uint64_t base =
		(i->flags & ISA_SADDR ? isa_sread64(w, i->mem.saddr) : 0) + (uint64_t)(int64_t)i->mem.offset;
	struct isa_addresses a = {.mask = isa_exec(w)};

	w->accesses++;
	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		a.va[lane] = base + 4 * lane;
	isa_access_lanes(w, i, access, &a, i->mem.vdata, i->mem.vdst, 1, false);
	return i + 1;
}

/* --- SCRATCH --- */

/* Interleaved address of scratch, for scratch and flat instructions: dword n of lane L of a wave of W lanes is at
 * base + 4 W n + 4 L. */
static uint64_t scratch_va(const struct isa_wave *w, uint64_t base, unsigned lane, uint32_t offset)
{
	return base + (uint64_t)(offset >> 2) * 4 * isa_lanes(w) + 4 * lane + (offset & 3);
}

static void scratch_read(struct isa_wave *w, const struct isa_inst *i, unsigned lane, uint32_t offset, void *dst,
			 unsigned size_B)
{
	uint64_t base = isa_scratch_base(w);
	uint8_t *out = dst;

	while (size_B) {
		unsigned part_B = 4 - (offset & 3);

		part_B = part_B < size_B ? part_B : size_B;
		isa_mem_read(w, i, scratch_va(w, base, lane, offset), out, part_B);
		out += part_B;
		offset += part_B;
		size_B -= part_B;
	}
}

static void scratch_write(struct isa_wave *w, const struct isa_inst *i, unsigned lane, uint32_t offset,
			  const void *src, unsigned size_B)
{
	uint64_t base = isa_scratch_base(w);
	const uint8_t *in = src;

	while (size_B) {
		unsigned part_B = 4 - (offset & 3);

		part_B = part_B < size_B ? part_B : size_B;
		isa_mem_write(w, i, scratch_va(w, base, lane, offset), in, part_B);
		in += part_B;
		offset += part_B;
		size_B -= part_B;
	}
}

/* A plain read-modify-write: no other wave accesses a lane's scratch. */
static uint64_t scratch_atomic(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			       unsigned lane, uint32_t offset, uint64_t data, uint64_t data1)
{
	uint64_t old = 0, new;

	scratch_read(w, i, lane, offset, &old, size_B);
	new = isa_atomic_apply(op, size_B, old, data, data1);
	scratch_write(w, i, lane, offset, &new, size_B);
	return old;
}

/* --- one lane at a time: FLAT with lanes in LDS or scratch, and SCRATCH that is not aligned --- */

enum aperture { IN_MEMORY, IN_LDS, IN_SCRATCH };

static enum aperture aperture_of(uint64_t va)
{
	if (va >> 32 == ISA_SHARED_BASE >> 32)
		return IN_LDS;
	return va >> 32 == ISA_PRIVATE_BASE >> 32 ? IN_SCRATCH : IN_MEMORY;
}

static void lane_read(struct isa_wave *w, const struct isa_inst *i, unsigned lane, uint64_t va, void *dst,
		      unsigned size_B)
{
	switch (aperture_of(va)) {
	case IN_MEMORY:
		isa_mem_read(w, i, va, dst, size_B);
		break;
	case IN_LDS:
		isa_lds_read(w, i, (uint32_t)va, dst, size_B);
		break;
	case IN_SCRATCH:
		scratch_read(w, i, lane, (uint32_t)va, dst, size_B);
		break;
	}
}

static void lane_write(struct isa_wave *w, const struct isa_inst *i, unsigned lane, uint64_t va, const void *src,
		       unsigned size_B)
{
	switch (aperture_of(va)) {
	case IN_MEMORY:
		isa_mem_write(w, i, va, src, size_B);
		break;
	case IN_LDS:
		isa_lds_write(w, i, (uint32_t)va, src, size_B);
		break;
	case IN_SCRATCH:
		scratch_write(w, i, lane, (uint32_t)va, src, size_B);
		break;
	}
}

static uint64_t lane_atomic(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
			    unsigned lane, uint64_t va, uint64_t data, uint64_t data1)
{
	switch (aperture_of(va)) {
	case IN_LDS:
		return isa_lds_atomic(w, i, access->atomic, access->bytes, (uint32_t)va, data, data1);
	case IN_SCRATCH:
		return scratch_atomic(w, i, access->atomic, access->bytes, lane, (uint32_t)va, data, data1);
	default:
		return isa_mem_atomic(w, i, access->atomic, access->bytes, va, data, data1);
	}
}

static uint64_t read_data(const struct isa_wave *w, unsigned row, unsigned lane, unsigned size_B)
{
	return size_B == 8 ? w->v[row][lane] | (uint64_t)w->v[row + 1][lane] << 32 : w->v[row][lane];
}

static void lane_access(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
			unsigned lane, uint64_t va)
{
	const struct isa_mem *m = &i->mem;
	uint32_t value[4] = {0};
	uint64_t old;

	switch (access->class) {
	case ISA_ACCESS_LOAD:
		lane_read(w, i, lane, va, value, 4u * m->dst_dw);
		for (unsigned k = 0; k < m->dst_dw; k++)
			w->v[m->vdst + k][lane] = value[k];
		break;
	case ISA_ACCESS_LOAD_SUB:
		lane_read(w, i, lane, va, value, access->bytes);
		w->v[m->vdst][lane] = isa_extend(value[0], access);
		break;
	case ISA_ACCESS_LOAD_D16:
		lane_read(w, i, lane, va, value, access->bytes);
		isa_load_half(w, &w->v[m->vdst][lane], isa_extend(value[0], access), access->high);
		break;
	case ISA_ACCESS_STORE:
		for (unsigned k = 0; k < m->data_dw; k++)
			value[k] = w->v[m->vdata + k][lane];
		lane_write(w, i, lane, va, value, 4u * m->data_dw);
		break;
	case ISA_ACCESS_STORE_SUB:
		value[0] = w->v[m->vdata][lane] >> (access->high ? 16 : 0);
		lane_write(w, i, lane, va, value, access->bytes);
		break;
	case ISA_ACCESS_ATOMIC:
		old = lane_atomic(w, i, access, lane, va, read_data(w, m->vdata, lane, access->bytes),
				  isa_atomic_compares(access->atomic)
					  ? read_data(w, m->vdata + access->bytes / 4u, lane, access->bytes)
					  : 0);
		if (!(i->flags & ISA_GLC))
			break;
		w->v[m->vdst][lane] = (uint32_t)old;
		if (access->bytes == 8)
			w->v[m->vdst + 1u][lane] = (uint32_t)(old >> 32);
		break;
	}
}

/* Reads all addresses before it writes the first register. */
static void each_lane(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		      const struct isa_addresses *a)
{
	unsigned saved = isa_atomic_enter(isa_generation_of(w->machine->chip->gfx), access->atomic, access->bytes);

	ISA_FOR_LANES(lane, a->mask)
		lane_access(w, i, access, lane, a->va[lane]);
	isa_atomic_leave(saved);
}

/* --- SCRATCH instructions --- */

static bool scratch_offsets(const struct isa_wave *w, const struct isa_inst *i, uint32_t offset[ISA_LANES],
			    uint64_t mask)
{
	uint32_t base = (uint32_t)i->mem.offset, misaligned = 0;

	if (i->flags & ISA_SADDR)
		base += isa_sread32(w, i->mem.saddr);
	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		offset[lane] = base + (i->flags & ISA_VADDR ? w->v[i->mem.vaddr][lane] : 0);
	ISA_FOR_LANES(lane, mask)
		misaligned |= offset[lane] & 3;
	return !misaligned;
}

/* Aligned dwords: an access per dword, because a lane's dwords are 256 bytes apart. */
static void scratch_dwords(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
			   const uint32_t offset[ISA_LANES])
{
	uint64_t base = isa_scratch_base(w);
	struct isa_addresses a = {.mask = isa_exec(w)};

	for (unsigned k = 0; k < access_dw(i, access); k++) {
		for (unsigned lane = 0; lane < ISA_LANES; lane++)
			a.va[lane] = scratch_va(w, base, lane, offset[lane] + 4 * k);
		isa_access_lanes(w, i, access, &a, i->mem.vdata + k, i->mem.vdst + k, 1, false);
	}
}

static const struct isa_inst *run_scratch(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);
	uint32_t offset[ISA_LANES];
	struct isa_addresses a = {.mask = isa_exec(w)};
	bool aligned = scratch_offsets(w, i, offset, a.mask);

	w->accesses++;
	if (i->flags & ISA_LDS)
		return isa_stop_wave(w, i, "scratch cannot load into LDS");
	if (aligned && (access->class == ISA_ACCESS_LOAD || access->class == ISA_ACCESS_STORE)) {
		scratch_dwords(w, i, access, offset);
		return i + 1;
	}
	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		a.va[lane] = ISA_PRIVATE_BASE | offset[lane];
	each_lane(w, i, access, &a);
	return i + 1;
}

/* --- blocks --- */

/* The instruction that moves dword n of a block alone. */
static struct isa_inst block_part(const struct isa_inst *i, enum isa_op op, unsigned n)
{
	struct isa_inst part = *i;

	part.op = (uint16_t)op;
	part.mem.offset += (int32_t)(4 * n);
	part.mem.vdata = (uint16_t)(i->mem.vdata + n);
	part.mem.vdst = (uint16_t)(i->mem.vdst + n);
	part.mem.dst_dw = i->mem.dst_dw ? 1 : 0;
	part.mem.data_dw = i->mem.data_dw ? 1 : 0;
	return part;
}

static unsigned address_rows(const struct isa_inst *i)
{
	if (i->enc == ISA_SCRATCH)
		return !!(i->flags & ISA_VADDR);
	return i->flags & ISA_SADDR ? 1 : 2;
}

/* Register n is at 4 n, holes included (RDNA4 ISA, GLOBAL_LOAD_BLOCK; LLVM spills registers that callees save by it). The
 * address is read before any register is written. */
static const struct isa_inst *run_block(struct isa_wave *w, const struct isa_inst *i, isa_fn fn, enum isa_op op)
{
	unsigned first = i->mem.dst_dw ? i->mem.vdst : i->mem.vdata, done = 0, rows = address_rows(i);
	uint32_t(*address)[ISA_LANES] = &w->v[i->mem.vaddr], old[2][ISA_LANES], new[2][ISA_LANES];
	uint32_t mask = w->s[ISA_M0];

	if (mask && first + 31 - (unsigned)__builtin_clz(mask) >= w->machine->vgpr_count) {
		isa_report_beyond(w, i->pc);
		return i + 1;
	}
	memcpy(old, address, rows * sizeof(old[0]));
	for (; mask; mask &= mask - 1) {
		unsigned n = (unsigned)__builtin_ctz(mask), part_of = first + n - i->mem.vaddr;
		struct isa_inst part = block_part(i, op, n);

		if (!fn(w, &part))
			return NULL;
		if (part_of >= rows)
			continue;
		memcpy(new[part_of], address[part_of], sizeof(new[0]));
		memcpy(address[part_of], old[part_of], sizeof(old[0]));
		done |= 1u << part_of;
	}
	for (unsigned n = 0; n < rows; n++)
		if (done >> n & 1)
			memcpy(address[n], new[n], sizeof(new[0]));
	return i + 1;
}

static const struct isa_inst *global_load_block(struct isa_wave *w, const struct isa_inst *i)
{
	return run_block(w, i, run_global, ISA_OP_GLOBAL_LOAD_DWORD);
}

static const struct isa_inst *global_store_block(struct isa_wave *w, const struct isa_inst *i)
{
	return run_block(w, i, run_global, ISA_OP_GLOBAL_STORE_DWORD);
}

static const struct isa_inst *scratch_load_block(struct isa_wave *w, const struct isa_inst *i)
{
	return run_block(w, i, run_scratch, ISA_OP_SCRATCH_LOAD_DWORD);
}

static const struct isa_inst *scratch_store_block(struct isa_wave *w, const struct isa_inst *i)
{
	return run_block(w, i, run_scratch, ISA_OP_SCRATCH_STORE_DWORD);
}

/* --- FLAT --- */

static bool all_in_memory(const struct isa_addresses *a)
{
	ISA_FOR_LANES(lane, a->mask)
		if (aperture_of(a->va[lane]) != IN_MEMORY)
			return false;
	return true;
}

/* Whether all lanes are in scratch, dword-aligned: the common case of code that takes the address of a local
 * variable. */
static bool all_in_scratch(const struct isa_addresses *a, uint32_t offset[ISA_LANES])
{
	uint64_t wrong = 0;

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		offset[lane] = (uint32_t)a->va[lane];
	ISA_FOR_LANES(lane, a->mask)
		wrong |= (a->va[lane] >> 32 ^ ISA_PRIVATE_BASE >> 32) | (a->va[lane] & 3);
	return !wrong;
}

static const struct isa_inst *run_flat(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);
	uint32_t offset[ISA_LANES];
	struct isa_addresses a;

	w->accesses++;
	a.mask = isa_exec(w);
	pair_addresses(w, i, &a);
	if (i->flags & ISA_LDS) {
		if (!loads_to_lds(i))
			return refuse_lds(w, i);
		load_to_lds(w, i, &a);
	} else if (all_in_memory(&a)) {
		isa_access_lanes(w, i, access, &a, i->mem.vdata, i->mem.vdst, access_dw(i, access),
				 i->flags & ISA_GLC);
	} else if ((access->class == ISA_ACCESS_LOAD || access->class == ISA_ACCESS_STORE) &&
		   all_in_scratch(&a, offset)) {
		scratch_dwords(w, i, access, offset);
	} else {
		each_lane(w, i, access, &a);
	}
	return i + 1;
}

/* --- the table --- */

#define ACCESSES(P, fn)                                                                                            \
	{ISA_OP_##P##_LOAD_UBYTE, fn}, {ISA_OP_##P##_LOAD_SBYTE, fn}, {ISA_OP_##P##_LOAD_USHORT, fn},              \
		{ISA_OP_##P##_LOAD_SSHORT, fn}, {ISA_OP_##P##_LOAD_DWORD, fn}, {ISA_OP_##P##_LOAD_DWORDX2, fn},    \
		{ISA_OP_##P##_LOAD_DWORDX3, fn}, {ISA_OP_##P##_LOAD_DWORDX4, fn},                                  \
		{ISA_OP_##P##_LOAD_UBYTE_D16, fn}, {ISA_OP_##P##_LOAD_UBYTE_D16_HI, fn},                           \
		{ISA_OP_##P##_LOAD_SBYTE_D16, fn}, {ISA_OP_##P##_LOAD_SBYTE_D16_HI, fn},                           \
		{ISA_OP_##P##_LOAD_SHORT_D16, fn}, {ISA_OP_##P##_LOAD_SHORT_D16_HI, fn},                           \
		{ISA_OP_##P##_STORE_BYTE, fn}, {ISA_OP_##P##_STORE_BYTE_D16_HI, fn},                               \
		{ISA_OP_##P##_STORE_SHORT, fn}, {ISA_OP_##P##_STORE_SHORT_D16_HI, fn},                             \
		{ISA_OP_##P##_STORE_DWORD, fn}, {ISA_OP_##P##_STORE_DWORDX2, fn},                                  \
		{ISA_OP_##P##_STORE_DWORDX3, fn},                                                                  \
	{                                                                                                          \
		ISA_OP_##P##_STORE_DWORDX4, fn                                                                     \
	}

#define ATOMIC(P, name, fn)                                                                                        \
	{ISA_OP_##P##_ATOMIC_##name, fn},                                                                          \
	{                                                                                                          \
		ISA_OP_##P##_ATOMIC_##name##_X2, fn                                                                \
	}
#define ATOMICS(P, fn)                                                                                             \
	ATOMIC(P, SWAP, fn), ATOMIC(P, CMPSWAP, fn), ATOMIC(P, ADD, fn), ATOMIC(P, SUB, fn), ATOMIC(P, SMIN, fn),  \
		ATOMIC(P, UMIN, fn), ATOMIC(P, SMAX, fn), ATOMIC(P, UMAX, fn), ATOMIC(P, AND, fn),                 \
		ATOMIC(P, OR, fn), ATOMIC(P, XOR, fn), ATOMIC(P, INC, fn), ATOMIC(P, DEC, fn),                     \
		{ISA_OP_##P##_ATOMIC_ADD_F64, fn}, {ISA_OP_##P##_ATOMIC_MIN_F64, fn},                              \
	{                                                                                                          \
		ISA_OP_##P##_ATOMIC_MAX_F64, fn                                                                    \
	}

const struct isa_handler isa_flat_handlers[] = {
	{ISA_OP_FLAT_ATOMIC_FCMPSWAP, run_flat},
	{ISA_OP_FLAT_ATOMIC_FMIN, run_flat},
	{ISA_OP_FLAT_ATOMIC_FMAX, run_flat},
	{ISA_OP_FLAT_ATOMIC_FCMPSWAP_X2, run_flat},
	{ISA_OP_FLAT_ATOMIC_SUB_CLAMP_U32, run_flat},
	{ISA_OP_FLAT_ATOMIC_COND_SUB_U32, run_flat},
	{ISA_OP_GLOBAL_ATOMIC_FCMPSWAP, run_global},
	{ISA_OP_GLOBAL_ATOMIC_FMIN, run_global},
	{ISA_OP_GLOBAL_ATOMIC_FMAX, run_global},
	{ISA_OP_GLOBAL_ATOMIC_FCMPSWAP_X2, run_global},
	{ISA_OP_GLOBAL_ATOMIC_CSUB, run_global},
	{ISA_OP_GLOBAL_ATOMIC_COND_SUB_U32, run_global},
	{ISA_OP_GLOBAL_LOAD_DWORD_ADDTID, global_addtid},
	{ISA_OP_GLOBAL_STORE_DWORD_ADDTID, global_addtid},
	ACCESSES(FLAT, run_flat),
	ATOMICS(FLAT, run_flat),
	{ISA_OP_FLAT_ATOMIC_ADD_F32, run_flat},
	{ISA_OP_FLAT_ATOMIC_PK_ADD_F16, run_flat},
	{ISA_OP_FLAT_ATOMIC_PK_ADD_BF16, run_flat},
	ACCESSES(GLOBAL, run_global),
	ATOMICS(GLOBAL, run_global),
	{ISA_OP_GLOBAL_ATOMIC_ADD_F32, run_global},
	{ISA_OP_GLOBAL_ATOMIC_PK_ADD_F16, run_global},
	{ISA_OP_GLOBAL_ATOMIC_PK_ADD_BF16, run_global},
	{ISA_OP_GLOBAL_LOAD_LDS_UBYTE, global_to_lds},
	{ISA_OP_GLOBAL_LOAD_LDS_SBYTE, global_to_lds},
	{ISA_OP_GLOBAL_LOAD_LDS_USHORT, global_to_lds},
	{ISA_OP_GLOBAL_LOAD_LDS_SSHORT, global_to_lds},
	{ISA_OP_GLOBAL_LOAD_LDS_DWORD, global_to_lds},
	ACCESSES(SCRATCH, run_scratch),
	{ISA_OP_GLOBAL_LOAD_TR_B128, global_load_tr},
	{ISA_OP_GLOBAL_LOAD_TR_B64, global_load_tr},
	{ISA_OP_GLOBAL_LOAD_BLOCK, global_load_block},
	{ISA_OP_GLOBAL_STORE_BLOCK, global_store_block},
	{ISA_OP_SCRATCH_LOAD_BLOCK, scratch_load_block},
	{ISA_OP_SCRATCH_STORE_BLOCK, scratch_store_block},
	{ISA_OP_NONE, NULL},
};

/* Scalar memory instructions. */
#include "vgpu/isa/mem/access.h"

/* Bytes that a scalar access may reach: records are of `stride` bytes, or of one if it is 0. */
static uint64_t buffer_size_B(const uint32_t *v)
{
	uint32_t stride = v[1] >> 16 & 0x3fff;

	return (uint64_t)v[2] * (stride ? stride : 1);
}

/* Offsets count modulo 2^32 in buffers; an address takes the immediate with its sign. */
static uint64_t scalar_offset(const struct isa_wave *w, const struct isa_inst *i)
{
	uint64_t offset = 0;

	if (i->flags & ISA_SOE_IMM)
		offset += (uint64_t)(int64_t)i->mem.offset;
	if (i->flags & ISA_SOFFSET)
		offset += isa_sread32(w, i->mem.soffset);
	return offset;
}

static bool is_buffer(const struct isa_inst *i)
{
	return (i->op >= ISA_OP_S_BUFFER_LOAD_B96 && i->op <= ISA_OP_S_BUFFER_LOAD_U16) ||
	       (i->op >= ISA_OP_S_BUFFER_LOAD_DWORD && i->op <= ISA_OP_S_BUFFER_LOAD_DWORDX16) ||
	       (i->op >= ISA_OP_S_BUFFER_STORE_DWORD && i->op <= ISA_OP_S_BUFFER_STORE_DWORDX4) ||
	       (i->op >= ISA_OP_S_BUFFER_ATOMIC_SWAP && i->op <= ISA_OP_S_BUFFER_ATOMIC_DEC_X2);
}

/* s_scratch_*: the SGPR counts 64 bytes. */
static bool is_scratch(const struct isa_inst *i)
{
	return (i->op >= ISA_OP_S_SCRATCH_LOAD_DWORD && i->op <= ISA_OP_S_SCRATCH_LOAD_DWORDX4) ||
	       (i->op >= ISA_OP_S_SCRATCH_STORE_DWORD && i->op <= ISA_OP_S_SCRATCH_STORE_DWORDX4);
}

/* Address of a scalar access, its low two bits dropped as hardware does, and how many of its dwords are in range.
 */
static uint64_t scalar_address(const struct isa_wave *w, const struct isa_inst *i, unsigned dw,
			       unsigned *in_range_dw)
{
	uint64_t offset = scalar_offset(w, i), size_B;

	*in_range_dw = dw;
	if (is_buffer(i)) {
		const uint32_t *v = &w->s[i->mem.sbase];

		offset = (uint32_t)offset & ~3u;
		size_B = buffer_size_B(v);
		if (offset + 4ull * dw > size_B)
			*in_range_dw = offset < size_B ? (unsigned)((size_B - offset) / 4) : 0;
		return (isa_buffer_base(v) & ~(uint64_t)3) + offset;
	}
	if (is_scratch(i) && i->flags & ISA_SOFFSET)
		offset += 63ull * isa_sread32(w, i->mem.soffset);
	/* radeonsi gives kernels their arguments by a pointer without the upper 16 bits. */
	return isa_sign_48(isa_sread64(w, i->mem.sbase) + offset) & ~(uint64_t)3;
}

static const struct isa_inst *s_load(struct isa_wave *w, const struct isa_inst *i)
{
	unsigned dw = i->mem.dst_dw, in_range_dw;
	uint64_t va = scalar_address(w, i, dw, &in_range_dw);
	uint32_t value[16] = {0};

	w->accesses++;
	isa_mem_read(w, i, va, value, 4 * in_range_dw);
	memcpy(&w->s[i->mem.sdst], value, 4 * dw);
	return i + 1;
}

/* GFX12: a byte or two, at any address. The range of a buffer is checked as for the dword's first byte. */
static const struct isa_inst *s_load_sub(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);
	uint64_t offset = scalar_offset(w, i), va;
	uint32_t value = 0;
	bool inside = true;

	w->accesses++;
	if (is_buffer(i)) {
		const uint32_t *v = &w->s[i->mem.sbase];

		offset = (uint32_t)offset;
		inside = offset + access->bytes <= buffer_size_B(v);
		va = isa_buffer_base(v) + offset;
	} else {
		va = isa_sign_48(isa_sread64(w, i->mem.sbase) + offset);
	}
	if (inside)
		isa_mem_read(w, i, va, &value, access->bytes);
	w->s[i->mem.sdst] = isa_extend(value, access);
	return i + 1;
}

static const struct isa_inst *s_store(struct isa_wave *w, const struct isa_inst *i)
{
	unsigned in_range_dw;
	uint64_t va = scalar_address(w, i, i->mem.data_dw, &in_range_dw);

	w->accesses++;
	isa_mem_write(w, i, va, &w->s[i->mem.sdst], 4 * in_range_dw);
	return i + 1;
}

static uint64_t read_data(const uint32_t *s, unsigned size_B)
{
	return size_B == 8 ? s[0] | (uint64_t)s[1] << 32 : s[0];
}

static const struct isa_inst *s_atomic(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);
	uint32_t *s = &w->s[i->mem.sdst];
	unsigned size_B = access->bytes, in_range_dw;
	uint64_t va = scalar_address(w, i, size_B / 4, &in_range_dw), old;

	w->accesses++;
	if (in_range_dw < size_B / 4)
		old = 0;
	else
		old = isa_mem_atomic(w, i, access->atomic, size_B, va, read_data(s, size_B),
				     access->atomic == ISA_ATOMIC_CMPSWAP ? read_data(s + size_B / 4, size_B) : 0);
	if (i->flags & ISA_GLC)
		memcpy(s, &old, size_B);
	return i + 1;
}

/* Core clock and reference clock are one here; both only ever grow. */
static const struct isa_inst *s_time(struct isa_wave *w, const struct isa_inst *i)
{
	isa_swrite64(w, i->mem.sdst, w->machine->clock(w->machine->user));
	return i + 1;
}

/* The place of the wave in its workgroup. */
static const struct isa_inst *s_waveid(struct isa_wave *w, const struct isa_inst *i)
{
	w->s[i->mem.sdst] = w->wave_in_group;
	return i + 1;
}

/* Stores go through to L2 at once, so there is nothing to write back. Probes and discards only hint. */
static const struct isa_inst *s_cache(struct isa_wave *w, const struct isa_inst *i)
{
	w->accesses++;
	if (!w->machine->cache)
		return i + 1;
	if (i->op == ISA_OP_S_DCACHE_INV || i->op == ISA_OP_S_DCACHE_INV_VOL)
		w->group->past_scalar = true;
	return i + 1;
}

#define ATOMIC(P, name)                                                                                            \
	{ISA_OP_##P##_ATOMIC_##name, s_atomic},                                                                    \
	{                                                                                                          \
		ISA_OP_##P##_ATOMIC_##name##_X2, s_atomic                                                          \
	}
#define ATOMICS(P)                                                                                                 \
	ATOMIC(P, SWAP), ATOMIC(P, CMPSWAP), ATOMIC(P, ADD), ATOMIC(P, SUB), ATOMIC(P, SMIN), ATOMIC(P, UMIN),     \
		ATOMIC(P, SMAX), ATOMIC(P, UMAX), ATOMIC(P, AND), ATOMIC(P, OR), ATOMIC(P, XOR), ATOMIC(P, INC),   \
		ATOMIC(P, DEC)

const struct isa_handler isa_smem_handlers[] = {
	{ISA_OP_S_LOAD_DWORD, s_load},
	{ISA_OP_S_LOAD_DWORDX2, s_load},
	{ISA_OP_S_LOAD_DWORDX4, s_load},
	{ISA_OP_S_LOAD_DWORDX8, s_load},
	{ISA_OP_S_LOAD_DWORDX16, s_load},
	{ISA_OP_S_SCRATCH_LOAD_DWORD, s_load},
	{ISA_OP_S_SCRATCH_LOAD_DWORDX2, s_load},
	{ISA_OP_S_SCRATCH_LOAD_DWORDX4, s_load},
	{ISA_OP_S_BUFFER_LOAD_DWORD, s_load},
	{ISA_OP_S_BUFFER_LOAD_DWORDX2, s_load},
	{ISA_OP_S_BUFFER_LOAD_DWORDX4, s_load},
	{ISA_OP_S_BUFFER_LOAD_DWORDX8, s_load},
	{ISA_OP_S_BUFFER_LOAD_DWORDX16, s_load},
	{ISA_OP_S_STORE_DWORD, s_store},
	{ISA_OP_S_STORE_DWORDX2, s_store},
	{ISA_OP_S_STORE_DWORDX4, s_store},
	{ISA_OP_S_SCRATCH_STORE_DWORD, s_store},
	{ISA_OP_S_SCRATCH_STORE_DWORDX2, s_store},
	{ISA_OP_S_SCRATCH_STORE_DWORDX4, s_store},
	{ISA_OP_S_BUFFER_STORE_DWORD, s_store},
	{ISA_OP_S_BUFFER_STORE_DWORDX2, s_store},
	{ISA_OP_S_BUFFER_STORE_DWORDX4, s_store},
	{ISA_OP_S_LOAD_B96, s_load},
	{ISA_OP_S_BUFFER_LOAD_B96, s_load},
	{ISA_OP_S_LOAD_I8, s_load_sub},
	{ISA_OP_S_LOAD_U8, s_load_sub},
	{ISA_OP_S_LOAD_I16, s_load_sub},
	{ISA_OP_S_LOAD_U16, s_load_sub},
	{ISA_OP_S_BUFFER_LOAD_I8, s_load_sub},
	{ISA_OP_S_BUFFER_LOAD_U8, s_load_sub},
	{ISA_OP_S_BUFFER_LOAD_I16, s_load_sub},
	{ISA_OP_S_BUFFER_LOAD_U16, s_load_sub},
	{ISA_OP_S_GET_WAVEID_IN_WORKGROUP, s_waveid},
	{ISA_OP_S_GL1_INV, s_cache},
	{ISA_OP_S_DCACHE_INV, s_cache},
	{ISA_OP_S_DCACHE_WB, s_cache},
	{ISA_OP_S_DCACHE_INV_VOL, s_cache},
	{ISA_OP_S_DCACHE_WB_VOL, s_cache},
	{ISA_OP_S_ATC_PROBE, s_cache},
	{ISA_OP_S_ATC_PROBE_BUFFER, s_cache},
	{ISA_OP_S_MEMTIME, s_time},
	{ISA_OP_S_MEMREALTIME, s_time},
	ATOMICS(S_BUFFER),
	ATOMICS(S),
	{ISA_OP_NONE, NULL},
};

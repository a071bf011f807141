/* Lane accesses to memory (access.h). This file has every read and write of a wave; place.c has the translation. */
#include "vgpu/isa/mem/access.h"

#include <emmintrin.h>

#include "vgpu/isa/mem/order.h"
#include "vgpu/isa/mem/place.h"
#include "vgpu/report.h"

/* Sixteen bytes that nobody sees half of where they are aligned: as any x86-64 with AVX has it, and all others in
 * practice. RCCL's protocols rely on that of the GPU: a store of 8 bytes has data and flag (LL), of 16 bytes likewise
 * (LL128). */
GPUVM_RACY static inline void copy_16(uint8_t *dst, const uint8_t *src)
{
	_mm_storeu_si128((__m128i *)dst, _mm_loadu_si128((const __m128i *)src));
}

/* Copies of at most 16 bytes; whole words where they are aligned, since others may poll or set them. */
GPUVM_RACY static void copy_words(uint8_t *dst, const uint8_t *src, unsigned size_B, const uint8_t *shared)
{
	unsigned at = 0;

	if (size_B == 16 && !((uintptr_t)shared & 15)) {
		copy_16(dst, src);
		return;
	}

	while (at < size_B) {
		unsigned left = size_B - at;

		if (left >= 8 && !((uintptr_t)(shared + at) & 7)) {
			uint64_t value;

			memcpy(&value, src + at, 8);
			memcpy(dst + at, &value, 8);
			at += 8;
		} else if (left >= 4 && !((uintptr_t)(shared + at) & 3)) {
			uint32_t value;

			memcpy(&value, src + at, 4);
			memcpy(dst + at, &value, 4);
			at += 4;
		} else {
			dst[at] = src[at];
			at++;
		}
	}
}

GPUVM_RACY static void mark_dirty(uint8_t *dirty, unsigned size_B)
{
	unsigned at = 0;

	for (; at + 4 <= size_B; at += 4)
		memcpy(dirty + at, &(uint32_t){0x01010101}, 4);
	for (; at < size_B; at++)
		dirty[at] = 1;
}

void isa_mem_read(struct isa_wave *w, const struct isa_inst *i, uint64_t va, void *dst, unsigned size_B)
{
	uint8_t *out = dst;

	while (size_B) {
		unsigned part_B = size_B;
		uint8_t *host = NULL;

		mem_land(w, i, va, GPUVM_R, &part_B, &host);
		if (!host) {
			memset(out, 0, part_B);
		} else if (w->machine->cache) {
			part_B = (unsigned)mem_page_clip(host, part_B);
			copy_words(out, mem_source(w, i, w->last_region, host, part_B), part_B, host);
		} else {
			copy_words(out, host, part_B, host);
		}
		if (host && w->machine->order)
			mem_wave_part(w, i, host, va, part_B, MEM_ORDER_READ);
		out += part_B;
		va += part_B;
		size_B -= part_B;
	}
}

static void write_cached(struct isa_wave *w, const struct isa_inst *i, uint8_t *host, const uint8_t *src,
			 unsigned size_B)
{
	struct mem_sink sink = mem_sink(w, i, w->last_region, host, size_B, false);

	copy_words(sink.to, src, size_B, sink.to);
	if (sink.dirty)
		mark_dirty(sink.dirty, size_B);
	if (sink.l2_copy)
		copy_words(sink.l2_copy, src, size_B, sink.l2_copy);
	if (sink.copy)
		copy_words(sink.copy, src, size_B, sink.copy);
}

void isa_mem_write(struct isa_wave *w, const struct isa_inst *i, uint64_t va, const void *src, unsigned size_B)
{
	const uint8_t *in = src;

	while (size_B) {
		unsigned part_B = size_B;
		uint8_t *host = NULL;

		mem_land(w, i, va, GPUVM_W, &part_B, &host);
		if (host) {
			if (w->machine->cache)
				part_B = (unsigned)mem_page_clip(host, part_B);
			if (w->machine->order)
				mem_wave_part(w, i, host, va, part_B, MEM_ORDER_WRITE);
			if (w->machine->cache) {
				write_cached(w, i, host, in, part_B);
			} else {
				copy_words(host, in, part_B, host);
			}
		}
		in += part_B;
		va += part_B;
		size_B -= part_B;
	}
}

/* Performed in L2, or in memory that L2 does not hold. */
static uint64_t atomic_cached(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			      uint8_t *host, uint64_t data, uint64_t compare)
{
	struct mem_sink sink = mem_sink(w, i, w->last_region, host, size_B, true);
	uint64_t old = isa_atomic_host(op, size_B, sink.to, data, compare);

	if (sink.dirty)
		mark_dirty(sink.dirty, size_B);
	if (sink.l2_copy)
		copy_words(sink.l2_copy, sink.to, size_B, sink.l2_copy);
	if (sink.copy)
		copy_words(sink.copy, sink.to, size_B, sink.copy);
	return old;
}

static uint64_t atomic_at(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			  uint8_t *host, uint64_t data, uint64_t compare)
{
	if (w->machine->cache)
		return atomic_cached(w, i, op, size_B, host, data, compare);
	return isa_atomic_host(op, size_B, host, data, compare);
}

/* Releases its write before the exchange and acquires its read after it: other waves execute atomics concurrently.
 */
static uint64_t atomic_ordered(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			       uint8_t *host, uint64_t va, uint64_t data, uint64_t compare)
{
	uint64_t old;

	mem_wave_part(w, i, host, va, size_B, MEM_ORDER_READ | MEM_ORDER_WRITE | MEM_ORDER_SYNC);
	old = atomic_at(w, i, op, size_B, host, data, compare);
	mem_wave_part(w, i, host, va, size_B, MEM_ORDER_READ | MEM_ORDER_SYNC);
	return old;
}

/* Before gfx942 and GFX12 floating point is L2's alone: what L2 does not hold is on the fabric, which drops the operation. Of
 * the memory that the wave touched last. */
static bool is_dropped(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, uint64_t va)
{
	if (op < ISA_ATOMIC_CMPSWAP_F || isa_generation_of(w->machine->chip->gfx)->full_float_atomics ||
	    mem_in_l2(w->last_region))
		return false;
	if (mem_refusal_is_new(w, i, va, GPUVM_R | GPUVM_W))
		vgpu_finding(CONTRACT_ATOMIC_FLOAT_UNCACHED,
			     "%s at 0x%llx is lost: 0x%llx of BO %u is fine-grained, past L2", isa_op_name(i->op),
			     (unsigned long long)i->pc, (unsigned long long)va, w->last_region->bo);
	return true;
}

uint64_t isa_mem_atomic(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			uint64_t va, uint64_t data, uint64_t compare)
{
	unsigned part_B = size_B;
	uint8_t *host = NULL;

	if (va & (size_B - 1)) {
		vgpu_finding(CONTRACT_ATOMIC_PCIE, "%s at 0x%llx: 0x%llx is not aligned to %u bytes",
			     isa_op_name(i->op), (unsigned long long)i->pc, (unsigned long long)va, size_B);
		va &= ~(uint64_t)(size_B - 1);
	}
	mem_land(w, i, va, GPUVM_R | GPUVM_W, &part_B, &host);
	if (!host || is_dropped(w, i, op, va))
		return 0;
	if (w->machine->order)
		return atomic_ordered(w, i, op, size_B, host, va, data, compare);
	return atomic_at(w, i, op, size_B, host, data, compare);
}

/* A wave's row to or from contiguous memory, at any address. Vectors of 16 bytes: memcpy would be a call that ThreadSanitizer
 * intercepts. */
typedef uint32_t vec4 __attribute__((vector_size(16), aligned(1), may_alias));

GPUVM_RACY static void move_row(void *dst, const void *src, unsigned lanes)
{
	vec4 *to = dst;
	const vec4 *from = src;

	for (unsigned n = 0; n < lanes / 4; n++)
		to[n] = from[n];
}

/* Dwords at one lane's address, four or two at once: they may be data with a flag, or a pointer. */
GPUVM_RACY static inline void load_dwords(uint32_t (*v)[ISA_LANES], unsigned lane, const uint8_t *host, unsigned dw)
{
	_Alignas(16) uint32_t value[4];
	unsigned k = 0;

	if (dw == 4) {
		copy_16((uint8_t *)value, host);
	} else {
		for (; k + 2 <= dw; k += 2) {
			uint64_t pair;

			memcpy(&pair, host + 4 * k, 8);
			memcpy(&value[k], &pair, 8);
		}
		if (k < dw)
			memcpy(&value[k], host + 4 * k, 4);
	}
	for (k = 0; k < dw; k++)
		v[k][lane] = value[k];
}

GPUVM_RACY static inline void store_dwords(uint8_t *host, uint32_t (*v)[ISA_LANES], unsigned lane, unsigned dw)
{
	_Alignas(16) uint32_t value[4];
	unsigned k = 0;

	for (unsigned n = 0; n < dw; n++)
		value[n] = v[n][lane];
	if (dw == 4) {
		copy_16(host, (const uint8_t *)value);
		return;
	}
	for (; k + 2 <= dw; k += 2) {
		uint64_t pair;

		memcpy(&pair, &value[k], 8);
		memcpy(host + 4 * k, &pair, 8);
	}
	if (k < dw)
		memcpy(host + 4 * k, &value[k], 4);
}

/* Every lane for itself, inside one region. */
GPUVM_RACY static void load_lanes(uint32_t (*v)[ISA_LANES], const struct isa_addresses *a, uint64_t bias,
				  unsigned dw)
{
	if (dw == 1 && a->mask == ~(uint64_t)0)
		for (unsigned lane = 0; lane < ISA_LANES; lane++)
			load_dwords(v, lane, mem_at(bias, a->va[lane]), 1);
	else if (dw == 1)
		ISA_FOR_LANES(lane, a->mask)
			load_dwords(v, lane, mem_at(bias, a->va[lane]), 1);
	else
		ISA_FOR_LANES(lane, a->mask)
			load_dwords(v, lane, mem_at(bias, a->va[lane]), dw);
}

/* Loads or stores dw dwords of each lane: rows of w->v from `row` on. */
typedef void access_fn(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a, unsigned row,
		       unsigned dw);
static access_fn access_load, access_store;

/* Accesses lanes in several pages, page by page. False: lane by lane is as fast. */
static bool by_page(access_fn *access, struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
		    unsigned row, unsigned dw)
{
	uint64_t lanes = mem_lanes_of_page(a, a->mask, 4 * dw);
	struct isa_addresses part;

	if (lanes == a->mask || !(lanes & (lanes - 1)))
		return false;
	memcpy(part.va, a->va, sizeof(part.va));
	for (uint64_t rest = a->mask; rest; rest &= ~lanes) {
		lanes = mem_lanes_of_page(a, rest, 4 * dw);
		part.mask = lanes;
		access(w, i, &part, row, dw);
	}
	return true;
}

GPUVM_RACY static void access_load(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
				   unsigned vdst, unsigned dw)
{
	uint32_t(*v)[ISA_LANES] = w->v + vdst, value[4];
	uint64_t bias;
	enum mem_shape shape = mem_shape_of_read(w, i, a, 4 * dw, &bias);

	switch (shape) {
	case MEM_IN_A_ROW:
		if (dw == 1)
			move_row(v[0], mem_at(bias, a->va[0]), isa_lanes(w));
		else
			load_lanes(v, a, bias, dw);
		break;
	case MEM_ONE_REGION:
		load_lanes(v, a, bias, dw);
		break;
	case MEM_SAME:
		copy_words((uint8_t *)value, mem_at(bias, a->va[0]), 4 * dw, mem_at(bias, a->va[0]));
		for (unsigned k = 0; k < dw; k++)
			for (unsigned lane = 0; lane < ISA_LANES; lane++)
				v[k][lane] = value[k];
		break;
	case MEM_SCATTERED:
		if (w->machine->cache && by_page(access_load, w, i, a, vdst, dw))
			break;
		ISA_FOR_LANES(lane, a->mask) {
			isa_mem_read(w, i, a->va[lane], value, 4 * dw);
			for (unsigned k = 0; k < dw; k++)
				v[k][lane] = value[k];
		}
		break;
	}
	if (w->machine->order && shape != MEM_SCATTERED)
		mem_wave_loaded(w, i, a, 4 * dw);
}

/* The highest lane's write wins where several lanes write the same address. */
GPUVM_RACY static void store_lanes(uint32_t (*v)[ISA_LANES], const struct isa_addresses *a, enum mem_shape shape,
				   uint64_t bias, unsigned dw)
{
	if (shape == MEM_IN_A_ROW && dw == 1)
		move_row(mem_at(bias, a->va[0]), v[0], (unsigned)__builtin_popcountll(a->mask));
	else if (dw == 1)
		ISA_FOR_LANES(lane, a->mask)
			store_dwords(mem_at(bias, a->va[lane]), v, lane, 1);
	else
		ISA_FOR_LANES(lane, a->mask)
			store_dwords(mem_at(bias, a->va[lane]), v, lane, dw);
}

GPUVM_RACY static void mark_lanes(const struct isa_addresses *a, enum mem_shape shape, uint64_t bias,
				  unsigned size_B)
{
	typedef uint8_t mark16 __attribute__((vector_size(16), aligned(1), may_alias));

	if (shape != MEM_IN_A_ROW) {
		ISA_FOR_LANES(lane, a->mask)
			mark_dirty(mem_at(bias, a->va[lane]), size_B);
		return;
	}
	for (unsigned n = 0; n < (unsigned)__builtin_popcountll(a->mask) * size_B; n += 16)
		*(mark16 *)mem_at(bias, a->va[0] + n) = (mark16){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
}

static void access_store(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
			 unsigned vdata, unsigned dw)
{
	uint32_t(*v)[ISA_LANES] = w->v + vdata, value[4];
	struct mem_sink_bias bias;
	enum mem_shape shape = mem_shape_of_write(w, i, a, 4 * dw, &bias);

	if (shape == MEM_SCATTERED) {
		if (w->machine->cache && by_page(access_store, w, i, a, vdata, dw))
			return;
		ISA_FOR_LANES(lane, a->mask) {
			for (unsigned k = 0; k < dw; k++)
				value[k] = v[k][lane];
			isa_mem_write(w, i, a->va[lane], value, 4 * dw);
		}
		return;
	}
	store_lanes(v, a, shape, bias.to, dw);
	if (bias.has_dirty)
		mark_lanes(a, shape, bias.dirty, 4 * dw);
	if (bias.has_copy)
		store_lanes(v, a, shape, bias.copy, dw);
}

GPUVM_RACY static uint32_t load_part(struct isa_wave *w, const struct isa_inst *i, uint64_t va, const uint8_t *host,
				     const struct isa_access *access)
{
	uint16_t value = 0;

	if (!host)
		isa_mem_read(w, i, va, &value, access->bytes);
	else if (access->bytes == 1)
		value = *host;
	else
		memcpy(&value, host, 2);
	return isa_extend(value, access);
}

static void load_sub(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		     const struct isa_addresses *a, unsigned vdst)
{
	uint32_t *v = w->v[vdst];
	uint64_t bias;
	bool scattered = mem_shape_of_read(w, i, a, access->bytes, &bias) == MEM_SCATTERED;

	ISA_FOR_LANES(lane, a->mask) {
		uint32_t value = load_part(w, i, a->va[lane], scattered ? NULL : mem_at(bias, a->va[lane]), access);

		if (access->class == ISA_ACCESS_LOAD_D16)
			isa_load_half(w, &v[lane], value, access->high);
		else
			v[lane] = value;
	}
	if (w->machine->order && !scattered)
		mem_wave_loaded(w, i, a, access->bytes);
}

GPUVM_RACY static void store_sub(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
				 const struct isa_addresses *a, unsigned vdata)
{
	const uint32_t *v = w->v[vdata];
	struct mem_sink_bias bias;
	bool scattered = w->machine->cache || mem_shape_of_write(w, i, a, access->bytes, &bias) == MEM_SCATTERED;

	ISA_FOR_LANES(lane, a->mask) {
		uint16_t value = (uint16_t)(access->high ? v[lane] >> 16 : v[lane]);

		if (scattered)
			isa_mem_write(w, i, a->va[lane], &value, access->bytes);
		else if (access->bytes == 1)
			*mem_at(bias.to, a->va[lane]) = (uint8_t)value;
		else
			memcpy(mem_at(bias.to, a->va[lane]), &value, 2);
	}
}

static uint64_t lane_operand(uint32_t (*v)[ISA_LANES], unsigned lane, unsigned size_B)
{
	return size_B == 8 ? v[0][lane] | (uint64_t)v[1][lane] << 32 : v[0][lane];
}

static void access_atomic(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
			  const struct isa_addresses *a, unsigned vdata, unsigned vdst, bool returns)
{
	unsigned size_B = access->bytes, saved;
	bool two = isa_atomic_compares(access->atomic);

	saved = isa_atomic_enter(isa_generation_of(w->machine->chip->gfx), access->atomic, size_B);

	ISA_FOR_LANES(lane, a->mask) {
		uint64_t data = lane_operand(w->v + vdata, lane, size_B);
		uint64_t compare = two ? lane_operand(w->v + vdata + size_B / 4, lane, size_B) : 0;
		uint64_t old = isa_mem_atomic(w, i, access->atomic, size_B, a->va[lane], data, compare);

		if (!returns)
			continue;
		w->v[vdst][lane] = (uint32_t)old;
		if (size_B == 8)
			w->v[vdst + 1][lane] = (uint32_t)(old >> 32);
	}
	isa_atomic_leave(saved);
}

void isa_access_lanes(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		      const struct isa_addresses *a, unsigned vdata, unsigned vdst, unsigned dw, bool returns)
{
	if (!a->mask)
		return;
	switch (access->class) {
	case ISA_ACCESS_LOAD:
		access_load(w, i, a, vdst, dw);
		break;
	case ISA_ACCESS_LOAD_SUB:
	case ISA_ACCESS_LOAD_D16:
		load_sub(w, i, access, a, vdst);
		break;
	case ISA_ACCESS_STORE:
		access_store(w, i, a, vdata, dw);
		break;
	case ISA_ACCESS_STORE_SUB:
		store_sub(w, i, access, a, vdata);
		break;
	case ISA_ACCESS_ATOMIC:
		access_atomic(w, i, access, a, vdata, vdst, returns);
		break;
	}
}

/* Translation of accesses (place.h). */
#include "vgpu/isa/mem/place.h"

#include "vgpu/isa/mem/order.h"
#include "vgpu/report.h"

/* --- translation --- */

static bool is_canonical(uint64_t va)
{
	return va >> 47 == 0 || va >> 47 == 0x1ffff;
}

static bool region_allows(const struct gpuvm_region *r, unsigned access)
{
	return !(r->flags & (GPUVM_REFUSED | GPUVM_PRT)) && (r->flags & access) == access;
}

/* The region of va: w->last_region, or a look-up. Non-canonical addresses have none. */
static const struct gpuvm_region *region_of(struct isa_wave *w, uint64_t va)
{
	const struct gpuvm_region *r = w->last_region;
	uint64_t masked = va & ISA_VA_MASK;

	if (!is_canonical(va))
		return NULL;
	if (r && masked >= r->lo && masked < r->hi)
		return r;
	r = gpuvm_find(w->machine->view, masked);
	if (r && !(r->flags & GPUVM_LATE))
		w->last_region = r;
	return r;
}

static bool in_aperture(uint64_t va)
{
	return va >> 32 == ISA_PRIVATE_BASE >> 32 || va >> 32 == ISA_SHARED_BASE >> 32;
}

bool mem_refusal_is_new(struct isa_wave *w, const struct isa_inst *i, uint64_t va, unsigned access)
{
	uint64_t page = va >> 12 << 2 | (access & (GPUVM_R | GPUVM_W));

	if (w->refused_pc == i->pc && w->refused_page == page)
		return false;
	w->refused_pc = i->pc;
	w->refused_page = page;
	return true;
}

static void say_unlisted(const struct isa_inst *i, uint64_t va, const struct gpuvm_region *r)
{
	vgpu_finding(CONTRACT_VA_UNLISTED, "%s at 0x%llx touches 0x%llx of BO %u, which the job does not list",
		     isa_op_name(i->op), (unsigned long long)i->pc, (unsigned long long)va, r->bo);
}

void isa_mem_refuse(struct isa_wave *w, const struct isa_inst *i, uint64_t va, unsigned access)
{
	const struct gpuvm_region *r = is_canonical(va) ? region_of(w, va) : NULL;
	struct gpuvm_fault fault = {
		.va = va & ISA_VA_MASK,
		.access = access,
		.client = i->enc == ISA_SMEM ? GPUVM_SQD : GPUVM_TCP,
		.mapped = r != NULL,
	};

	if (!mem_refusal_is_new(w, i, va, access))
		return;
	if (r && r->flags & GPUVM_UNLISTED)
		say_unlisted(i, va, r);
	else if (r && r->flags & GPUVM_LATE)
		vgpu_finding(CONTRACT_VA_NOT_LANDED, "%s at 0x%llx touches 0x%llx of BO %u: " GPUVM_LATE_WHY,
			     isa_op_name(i->op), (unsigned long long)i->pc, (unsigned long long)va, r->bo);
	else if (in_aperture(va))
		vgpu_finding(CONTRACT_VA_APERTURE,
			     "%s at 0x%llx touches 0x%llx, which only FLAT instructions find in LDS or scratch",
			     isa_op_name(i->op), (unsigned long long)i->pc, (unsigned long long)va);
	w->machine->fault(w->machine->user, &fault, i->pc);
}

/* The rest of the access up to the next page shares the fault. */
static uint8_t *land_in_dummy(struct isa_wave *w, uint64_t va, unsigned *size_B)
{
	unsigned offset = va & 4095, page_B = 4096 - offset;

	if (page_B < *size_B)
		*size_B = page_B;
	w->last_region = &w->machine->view->dummy;
	return w->last_region->host ? w->last_region->host + offset : NULL;
}

void mem_land(struct isa_wave *w, const struct isa_inst *i, uint64_t va, unsigned access, unsigned *size_B,
	      uint8_t **host)
{
	const struct gpuvm_region *r = region_of(w, va);
	uint64_t masked = va & ISA_VA_MASK;

	if (!r || (r->flags & GPUVM_REFUSED) || (!(r->flags & GPUVM_PRT) && !region_allows(r, access))) {
		isa_mem_refuse(w, i, va, access);
		*host = land_in_dummy(w, va, size_B);
		return;
	}
	if (r->flags & GPUVM_TOLERATED && mem_refusal_is_new(w, i, va, access))
		say_unlisted(i, va, r);
	if (r->hi - masked < *size_B)
		*size_B = (unsigned)(r->hi - masked);
	*host = r->flags & GPUVM_PRT ? NULL : r->host + (masked - r->lo);
}

/* --- caches --- */

void isa_cache_maintain(const struct isa_wave *w, unsigned what)
{
	struct mem_cache *cache = w->machine->cache;
	unsigned lost;

	if (!cache)
		return;
	mem_cache_leave(cache);
	lost = mem_cache_maintain(cache, what, 0, ~(uint64_t)0);
	mem_cache_enter(cache);
	if (lost)
		vgpu_finding(CONTRACT_L2_DROPPED,
			     "a wave invalidates L2 without writing it back: %u lines are lost", lost);
}

/* The layer's page with the lines of size_B bytes at host: the last page used, or a look-up. */
static struct mem_page *page_of(struct isa_wave *w, enum mem_layer layer, const struct gpuvm_region *r,
				uint8_t *host, unsigned size_B)
{
	struct isa_page_memo *memo = &w->memo[layer];
	struct mem_cache *cache = w->machine->cache;
	uint64_t generation = mem_cache_generation(cache);

	if (memo->page && memo->generation == generation &&
	    memo->page->key == mem_cache_key(layer, w->machine->vmid, r, host) &&
	    mem_page_has(memo->page, mem_lines(mem_page_offset(host), size_B)))
		return memo->page;
	memo->page = mem_cache_page(cache, layer, w->machine->vmid, r, host, size_B);
	memo->generation = generation;
	return memo->page;
}

/* The cache of the compute unit for the access, MEM_L2 if there is none. Coherent loads always miss it. After an
 * invalidation by a wave all loads of its workgroup miss it, which has the same effect and leaves other workgroups
 * their stale lines. */
static enum mem_layer first_layer(const struct isa_wave *w, const struct isa_inst *i)
{
	if (i->enc == ISA_SMEM)
		return w->group->past_scalar ? MEM_L2 : MEM_SCALAR;
	return w->group->past_l1 || i->flags & ISA_PAST_L1 ? MEM_L2 : (enum mem_layer)w->machine->l1;
}

/* Whether an access bypasses L2 because several XCCs have an L2 each: loads and stores of device and system scope,
 * and atomics, whose sc1 tells these two scopes apart and which have no narrower scope. */
static bool is_past_l2(const struct isa_wave *w, const struct isa_inst *i, bool atomic)
{
	return w->machine->several_l2 && (atomic || i->flags & ISA_SCC_BIT);
}

const uint8_t *mem_source(struct isa_wave *w, const struct isa_inst *i, const struct gpuvm_region *r, uint8_t *host,
			  unsigned size_B)
{
	enum mem_layer layer = first_layer(w, i);
	const struct mem_page *page;

	if (layer == MEM_L2 && !mem_in_l2(r))
		return host;
	if (is_past_l2(w, i, false)) {
		mem_cache_push(w->machine->cache, host, size_B);
		return host;
	}
	page = page_of(w, layer, r, host, size_B);
	return page ? page->data + mem_page_offset(host) : host;
}

/* Makes the own copy before the write: a copy made afterwards might contain the old data. */
struct mem_sink mem_sink(struct isa_wave *w, const struct isa_inst *i, const struct gpuvm_region *r, uint8_t *host,
			 unsigned size_B, bool atomic)
{
	bool past = i->enc == ISA_SMEM ? w->group->past_scalar : w->group->past_l1;
	struct mem_sink sink = {.to = host};
	struct mem_page *page;

	if (mem_in_l2(r) && is_past_l2(w, i, atomic)) {
		mem_cache_push(w->machine->cache, host, size_B);
		page = page_of(w, MEM_L2, r, host, size_B);
		sink.l2_copy = page ? page->data + mem_page_offset(host) : NULL;
	} else if (mem_in_l2(r) && (page = page_of(w, MEM_L2, r, host, size_B))) {
		sink.to = page->data + mem_page_offset(host);
		sink.dirty = page->dirty + mem_page_offset(host);
		mem_page_written(page);
	}
	if (past)
		return sink;
	page = page_of(w, i->enc == ISA_SMEM ? MEM_SCALAR : (enum mem_layer)w->machine->l1, r, host, size_B);
	if (page)
		sink.copy = page->data + mem_page_offset(host);
	return sink;
}

/* --- all lanes at once --- */

typedef uint64_t vec2 __attribute__((vector_size(16)));

static vec2 splat_value(uint64_t value)
{
	return (vec2){value, value};
}

/* Whether every lane's `size_B` bytes are in the region, and their shape. One pass without branches: a negative
 * difference sets the sign of the union. */
static enum mem_shape shape_of_all(const struct isa_addresses *a, const struct gpuvm_region *r, unsigned size_B,
				   unsigned lanes)
{
	vec2 lo = splat_value(r->lo), last = splat_value(r->hi - size_B), first = splat_value(a->va[0]);
	vec2 expected = first + (vec2){0, size_B}, step = splat_value(2 * size_B);
	vec2 outside = splat_value(0), row = splat_value(0), same = splat_value(0);

	for (unsigned lane = 0; lane < lanes; lane += 2) {
		vec2 va;

		memcpy(&va, &a->va[lane], sizeof(va));
		outside |= (va - lo) | (last - va);
		row |= va ^ expected;
		same |= va ^ first;
		expected += step;
	}
	if ((outside[0] | outside[1]) >> 63)
		return MEM_SCATTERED;
	return !(row[0] | row[1]) ? MEM_IN_A_ROW : !(same[0] | same[1]) ? MEM_SAME : MEM_ONE_REGION;
}

static enum mem_shape shape_of_some(const struct isa_addresses *a, const struct gpuvm_region *r, unsigned size_B)
{
	uint64_t lo = r->lo, last = r->hi - size_B, outside = 0;

	ISA_FOR_LANES(lane, a->mask)
		outside |= (a->va[lane] - lo) | (last - a->va[lane]);
	return outside >> 63 ? MEM_SCATTERED : MEM_ONE_REGION;
}

static enum mem_shape shape_of(struct isa_wave *w, const struct isa_addresses *a, unsigned size_B, unsigned access,
			       uint64_t *bias)
{
	const struct gpuvm_region *r = region_of(w, a->va[__builtin_ctzll(a->mask)]);

	if (!r || !region_allows(r, access) || r->flags & GPUVM_TOLERATED || r->hi - r->lo < size_B)
		return MEM_SCATTERED;
	*bias = (uintptr_t)r->host - r->lo;
	return a->mask == w->full ? shape_of_all(a, r, size_B, isa_lanes(w)) : shape_of_some(a, r, size_B);
}

/* [lo, hi) of the lanes' addresses in the given shape. */
static void span_of(const struct isa_addresses *a, enum mem_shape shape, unsigned size_B, uint64_t *lo,
		    uint64_t *hi)
{
	*lo = *hi = a->va[__builtin_ctzll(a->mask)];
	if (shape == MEM_IN_A_ROW)
		*hi = a->va[63 - __builtin_clzll(a->mask)];
	else if (shape == MEM_ONE_REGION)
		ISA_FOR_LANES(lane, a->mask) {
			*lo = a->va[lane] < *lo ? a->va[lane] : *lo;
			*hi = a->va[lane] > *hi ? a->va[lane] : *hi;
		}
	*hi += size_B;
}

/* Host memory of all lanes' bytes if they are in one page of it, so that a cache look-up covers them. */
static uint8_t *page_span(const struct isa_addresses *a, enum mem_shape shape, unsigned size_B, uint64_t bias,
			  uint64_t *lo, unsigned *span_B)
{
	uint64_t hi;
	uint8_t *host;

	span_of(a, shape, size_B, lo, &hi);
	host = mem_at(bias, *lo);
	if (hi - *lo > MEM_PAGE_B - mem_page_offset(host))
		return NULL;
	*span_B = (unsigned)(hi - *lo);
	return host;
}

/* Reports lanes that are accessed at once to the order checker. Returns shape. */
static enum mem_shape report_to_checker(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
					enum mem_shape shape, unsigned size_B, uint64_t bias, unsigned how)
{
	if (w->machine->order && shape != MEM_SCATTERED)
		mem_wave_lanes(w, i, a, shape, size_B, bias, how);
	return shape;
}

/* shape_of for reads, with the bias of the cache that they are served from. */
enum mem_shape mem_shape_of_read(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
				 unsigned size_B, uint64_t *bias)
{
	enum mem_shape shape = shape_of(w, a, size_B, GPUVM_R, bias);
	unsigned span_B;
	uint64_t lo;
	uint8_t *host;

	if (!w->machine->cache || shape == MEM_SCATTERED)
		return report_to_checker(w, i, a, shape, size_B, *bias, MEM_ORDER_READ);
	host = page_span(a, shape, size_B, *bias, &lo, &span_B);
	if (!host || is_past_l2(w, i, false))
		return MEM_SCATTERED;
	report_to_checker(w, i, a, shape, size_B, *bias, MEM_ORDER_READ);
	*bias = (uintptr_t)mem_source(w, i, w->last_region, host, span_B) - lo;
	return shape;
}

enum mem_shape mem_shape_of_write(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
				  unsigned size_B, struct mem_sink_bias *bias)
{
	enum mem_shape shape = shape_of(w, a, size_B, GPUVM_W, &bias->to);
	unsigned span_B;
	struct mem_sink sink;
	uint64_t lo;
	uint8_t *host;

	bias->has_dirty = bias->has_copy = false;
	if (!w->machine->cache || shape == MEM_SCATTERED)
		return report_to_checker(w, i, a, shape, size_B, bias->to, MEM_ORDER_WRITE);
	host = page_span(a, shape, size_B, bias->to, &lo, &span_B);
	if (!host || is_past_l2(w, i, false))
		return MEM_SCATTERED;
	report_to_checker(w, i, a, shape, size_B, bias->to, MEM_ORDER_WRITE);
	sink = mem_sink(w, i, w->last_region, host, span_B, false);
	*bias = (struct mem_sink_bias){
		.to = (uintptr_t)sink.to - lo,
		.dirty = (uintptr_t)sink.dirty - lo,
		.copy = (uintptr_t)sink.copy - lo,
		.has_dirty = sink.dirty,
		.has_copy = sink.copy,
	};
	return shape;
}

uint64_t mem_lanes_of_page(const struct isa_addresses *a, uint64_t rest, unsigned size_B)
{
	uint64_t first = a->va[__builtin_ctzll(rest)] / MEM_PAGE_B, lanes = 0;

	ISA_FOR_LANES(lane, rest) {
		if (a->va[lane] / MEM_PAGE_B != first || (a->va[lane] + size_B - 1) / MEM_PAGE_B != first)
			return lanes ? lanes : (uint64_t)1 << lane;
		lanes |= (uint64_t)1 << lane;
	}
	return lanes;
}

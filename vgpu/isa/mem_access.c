/* Lane accesses to memory (mem_access.h). */
#include "vgpu/isa/mem_access.h"

#include "vgpu/isa/mem_cache.h"
#include "vgpu/report.h"

/* --- translation ------------------------------------------------------------------------------ */

static bool canonical(uint64_t va)
{
	return va >> 47 == 0 || va >> 47 == 0x1ffff;
}

static bool allows(const struct gpuvm_region *r, unsigned access)
{
	return !(r->flags & (GPUVM_UNLISTED | GPUVM_PRT)) && (r->flags & access) == access;
}

/* The region of va, asked of the last one first. Non-canonical addresses have none. */
static const struct gpuvm_region *region_of(struct isa_wave *w, uint64_t va)
{
	const struct gpuvm_region *r = w->last_region;

	if (r && va >= r->lo && va < r->hi)
		return r;
	if (!canonical(va))
		return NULL;
	r = gpuvm_find(w->machine->view, va & ISA_VA_MASK);
	if (r)
		w->last_region = r;
	return r;
}

uint8_t *isa_mem_host(struct isa_wave *w, uint64_t va, uint64_t size_B, unsigned access)
{
	const struct gpuvm_region *r = region_of(w, va);

	va &= ISA_VA_MASK;
	if (!r || !allows(r, access) || r->hi - va < size_B)
		return NULL;
	return r->host + (va - r->lo);
}

static bool in_aperture(uint64_t va)
{
	return va >> 32 == ISA_PRIVATE_BASE >> 32 || va >> 32 == ISA_SHARED_BASE >> 32;
}

void isa_mem_refuse(struct isa_wave *w, const struct isa_inst *i, uint64_t va, unsigned access)
{
	const struct gpuvm_region *r = canonical(va) ? region_of(w, va) : NULL;
	struct gpuvm_fault fault = {
		.va = va & ISA_VA_MASK,
		.access = access,
		.client = i->enc == ISA_SMEM ? GPUVM_SQD : GPUVM_TCP,
		.mapped = r != NULL,
	};

	/* As hardware merges the faults of a page: 64 lanes, and the turns of a loop, make one report. */
	if (w->refused_pc == i->pc && w->refused_page == (va >> 12 << 2 | (access & (GPUVM_R | GPUVM_W))))
		return;
	w->refused_pc = i->pc;
	w->refused_page = (va >> 12 << 2 | (access & (GPUVM_R | GPUVM_W)));
	if (r && r->flags & GPUVM_UNLISTED)
		vgpu_finding(47, "%s at 0x%llx touches 0x%llx of BO %u, which the job does not list",
			     isa_op_name(i->op), (unsigned long long)i->pc, (unsigned long long)va, r->bo);
	else if (in_aperture(va))
		vgpu_finding(52, "%s at 0x%llx touches 0x%llx, which only FLAT instructions find in LDS or scratch",
			     isa_op_name(i->op), (unsigned long long)i->pc, (unsigned long long)va);
	w->machine->fault(w->machine->user, &fault, i->pc);
}

/* Host memory for the part of an access that stands in one region. False: it is refused. *host NULL: PRT. */
static bool land(struct isa_wave *w, const struct isa_inst *i, uint64_t va, unsigned access, unsigned *size_B,
		 uint8_t **host)
{
	const struct gpuvm_region *r = region_of(w, va);
	uint64_t masked = va & ISA_VA_MASK;

	if (!r || (r->flags & GPUVM_UNLISTED) || (!(r->flags & GPUVM_PRT) && !allows(r, access))) {
		/* The rest of the access up to the next page shares the fault. */
		unsigned page_B = 4096 - (masked & 4095);

		if (page_B < *size_B)
			*size_B = page_B;
		isa_mem_refuse(w, i, va, access);
		return false;
	}
	if (r->hi - masked < *size_B)
		*size_B = (unsigned)(r->hi - masked);
	*host = r->flags & GPUVM_PRT ? NULL : r->host + (masked - r->lo);
	return true;
}

/* Copies of at most 16 bytes; whole words where they are aligned, since others may poll or set them. */
ISA_RACY static void copy_words(uint8_t *dst, const uint8_t *src, unsigned size_B, const uint8_t *shared)
{
	unsigned at = 0;

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

/* --- caches ----------------------------------------------------------------------------------- */

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
		vgpu_finding(118, "a wave invalidates L2 without writing it back: %u lines are lost", lost);
}

/* The layer's page with the lines of size_B bytes at host; the last one is asked first. */
static struct mem_page *page_of(struct isa_wave *w, enum mem_layer layer, const struct gpuvm_region *r,
				uint8_t *host, unsigned size_B)
{
	struct isa_page_memo *memo = &w->memo[layer];
	struct mem_cache *cache = w->machine->cache;
	uint64_t generation = mem_cache_generation(cache);

	if (memo->page && memo->generation == generation &&
	    memo->page->key == mem_cache_key(layer, w->machine->view->vm, r, host) &&
	    mem_page_has(memo->page, mem_lines(mem_page_offset(host), size_B)))
		return memo->page;
	memo->page = mem_cache_page(cache, layer, w->machine->view->vm, r, host, size_B);
	memo->generation = generation;
	return memo->page;
}

/* The cache of the compute unit that the access goes through, MEM_L2 if none. Loads that return coherent data miss
 * there always; after an invalidation all of the workgroup do, which is as good and leaves the others their stale
 * lines. */
static enum mem_layer first_layer(const struct isa_wave *w, const struct isa_inst *i)
{
	if (i->enc == ISA_SMEM)
		return w->group->past_scalar ? MEM_L2 : MEM_SCALAR;
	return w->group->past_l1 || i->flags & (ISA_GLC | ISA_SCC_BIT) ? MEM_L2 : (enum mem_layer)w->machine->l1;
}

/* Where a read of memory that ends in the page where it begins finds its data. */
static const uint8_t *source_of(struct isa_wave *w, const struct isa_inst *i, const struct gpuvm_region *r,
				uint8_t *host, unsigned size_B)
{
	enum mem_layer layer = first_layer(w, i);
	const struct mem_page *page;

	if (layer == MEM_L2 && !mem_in_l2(r))
		return host;
	page = page_of(w, layer, r, host, size_B);
	return page ? page->data + mem_page_offset(host) : host;
}

/* Where a write goes. */
struct sink {
	uint8_t *to;    /* L2 or memory */
	uint8_t *dirty; /* a byte for each byte of it, NULL: memory */
	uint8_t *copy;  /* in the cache of the own compute unit, or NULL */
};

/* The own copy is there before anything is written: who would fill it later might do so from what was there before.
 */
static struct sink sink_of(struct isa_wave *w, const struct isa_inst *i, const struct gpuvm_region *r,
			   uint8_t *host, unsigned size_B)
{
	bool past = i->enc == ISA_SMEM ? w->group->past_scalar : w->group->past_l1;
	struct sink sink = {.to = host};
	struct mem_page *page;

	if (mem_in_l2(r) && (page = page_of(w, MEM_L2, r, host, size_B))) {
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

ISA_RACY static void mark_dirty(uint8_t *dirty, unsigned size_B)
{
	unsigned at = 0;

	for (; at + 4 <= size_B; at += 4)
		memcpy(dirty + at, &(uint32_t){0x01010101}, 4);
	for (; at < size_B; at++)
		dirty[at] = 1;
}

static unsigned clip_to_page(const uint8_t *host, unsigned size_B)
{
	unsigned left_B = MEM_PAGE_B - mem_page_offset(host);

	return size_B < left_B ? size_B : left_B;
}

void isa_mem_read(struct isa_wave *w, const struct isa_inst *i, uint64_t va, void *dst, unsigned size_B)
{
	uint8_t *out = dst;

	while (size_B) {
		unsigned part_B = size_B;
		uint8_t *host = NULL;

		if (!land(w, i, va, GPUVM_R, &part_B, &host) || !host) {
			memset(out, 0, part_B);
		} else if (w->machine->cache) {
			part_B = clip_to_page(host, part_B);
			copy_words(out, source_of(w, i, w->last_region, host, part_B), part_B, host);
		} else {
			copy_words(out, host, part_B, host);
		}
		out += part_B;
		va += part_B;
		size_B -= part_B;
	}
}

static void write_cached(struct isa_wave *w, const struct isa_inst *i, uint8_t *host, const uint8_t *src,
			 unsigned size_B)
{
	struct sink sink = sink_of(w, i, w->last_region, host, size_B);

	copy_words(sink.to, src, size_B, sink.to);
	if (sink.dirty)
		mark_dirty(sink.dirty, size_B);
	if (sink.copy)
		copy_words(sink.copy, src, size_B, sink.copy);
}

void isa_mem_write(struct isa_wave *w, const struct isa_inst *i, uint64_t va, const void *src, unsigned size_B)
{
	const uint8_t *in = src;

	while (size_B) {
		unsigned part_B = size_B;
		uint8_t *host = NULL;

		if (land(w, i, va, GPUVM_W, &part_B, &host) && host) {
			if (w->machine->cache) {
				part_B = clip_to_page(host, part_B);
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
	struct sink sink = sink_of(w, i, w->last_region, host, size_B);
	uint64_t old = isa_atomic_host(op, size_B, sink.to, data, compare);

	if (sink.dirty)
		mark_dirty(sink.dirty, size_B);
	if (sink.copy)
		copy_words(sink.copy, sink.to, size_B, sink.copy);
	return old;
}

uint64_t isa_mem_atomic(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			uint64_t va, uint64_t data, uint64_t compare)
{
	unsigned part_B = size_B;
	uint8_t *host = NULL;

	if (va & (size_B - 1)) {
		vgpu_finding(90, "%s at 0x%llx: 0x%llx is not aligned to %u bytes", isa_op_name(i->op),
			     (unsigned long long)i->pc, (unsigned long long)va, size_B);
		va &= ~(uint64_t)(size_B - 1);
	}
	if (!land(w, i, va, GPUVM_R | GPUVM_W, &part_B, &host) || !host)
		return 0;
	if (w->machine->cache)
		return atomic_cached(w, i, op, size_B, host, data, compare);
	return isa_atomic_host(op, size_B, host, data, compare);
}

/* --- all lanes at once ------------------------------------------------------------------------ */

/* How the lanes of an access lie. */
enum shape {
	SCATTERED,
	ONE_REGION, /* anywhere in one region that allows the access */
	IN_A_ROW,   /* all 64 lanes, `step` bytes apart, in one region */
	SAME,       /* all 64 lanes at one address */
};

typedef uint64_t vec2 __attribute__((vector_size(16)));

static vec2 twice(uint64_t value)
{
	return (vec2){value, value};
}

/* Whether every lane's `size_B` bytes lie in the region, and how they lie. One pass without branches: a difference
 * that is negative shows in the sign of the union. */
static enum shape shape_of_all(const struct isa_addresses *a, const struct gpuvm_region *r, unsigned size_B)
{
	vec2 lo = twice(r->lo), last = twice(r->hi - size_B), first = twice(a->va[0]);
	vec2 expected = first + (vec2){0, size_B}, step = twice(2 * size_B);
	vec2 outside = twice(0), row = twice(0), same = twice(0);

	for (unsigned lane = 0; lane < ISA_LANES; lane += 2) {
		vec2 va;

		memcpy(&va, &a->va[lane], sizeof(va));
		outside |= (va - lo) | (last - va);
		row |= va ^ expected;
		same |= va ^ first;
		expected += step;
	}
	if ((outside[0] | outside[1]) >> 63)
		return SCATTERED;
	return !(row[0] | row[1]) ? IN_A_ROW : !(same[0] | same[1]) ? SAME : ONE_REGION;
}

static enum shape shape_of_some(const struct isa_addresses *a, const struct gpuvm_region *r, unsigned size_B)
{
	uint64_t lo = r->lo, last = r->hi - size_B, outside = 0;

	ISA_FOR_LANES(lane, a->mask)
	outside |= (a->va[lane] - lo) | (last - a->va[lane]);
	return outside >> 63 ? SCATTERED : ONE_REGION;
}

/* Host memory of a GPU address: bias is the difference of the two, which wraps around. */
static inline uint8_t *at(uint64_t bias, uint64_t va)
{
	return (uint8_t *)(uintptr_t)(bias + va);
}

static enum shape shape_of(struct isa_wave *w, const struct isa_addresses *a, unsigned size_B, unsigned access,
			   uint64_t *bias)
{
	const struct gpuvm_region *r = region_of(w, a->va[__builtin_ctzll(a->mask)]);

	if (!r || !allows(r, access) || r->hi - r->lo < size_B)
		return SCATTERED;
	*bias = (uintptr_t)r->host - r->lo;
	return a->mask == ~(uint64_t)0 ? shape_of_all(a, r, size_B) : shape_of_some(a, r, size_B);
}

/* [lo, hi) of the lanes' addresses, which lie as `shape` says. */
static void span_of(const struct isa_addresses *a, enum shape shape, unsigned size_B, uint64_t *lo, uint64_t *hi)
{
	*lo = *hi = a->va[__builtin_ctzll(a->mask)];
	if (shape == IN_A_ROW)
		*hi += (uint64_t)(ISA_LANES - 1) * size_B;
	else if (shape == ONE_REGION)
		ISA_FOR_LANES(lane, a->mask)
		{
			*lo = a->va[lane] < *lo ? a->va[lane] : *lo;
			*hi = a->va[lane] > *hi ? a->va[lane] : *hi;
		}
	*hi += size_B;
}

/* Host memory of all lanes' bytes if they stand in one page of it, where the caches take them at once. */
static uint8_t *page_span(const struct isa_addresses *a, enum shape shape, unsigned size_B, uint64_t bias,
			  uint64_t *lo, unsigned *span_B)
{
	uint64_t hi;
	uint8_t *host;

	span_of(a, shape, size_B, lo, &hi);
	host = at(bias, *lo);
	if (hi - *lo > MEM_PAGE_B - mem_page_offset(host))
		return NULL;
	*span_B = (unsigned)(hi - *lo);
	return host;
}

/* shape_of for reads, with the bias of the cache that they are served from. */
static enum shape shape_of_read(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
				unsigned size_B, uint64_t *bias)
{
	enum shape shape = shape_of(w, a, size_B, GPUVM_R, bias);
	unsigned span_B;
	uint64_t lo;
	uint8_t *host;

	if (!w->machine->cache || shape == SCATTERED)
		return shape;
	host = page_span(a, shape, size_B, *bias, &lo, &span_B);
	if (!host)
		return SCATTERED;
	*bias = (uintptr_t)source_of(w, i, w->last_region, host, span_B) - lo;
	return shape;
}

/* A sink as biases. */
struct sink_bias {
	uint64_t to, dirty, copy;
	bool has_dirty, has_copy;
};

static enum shape shape_of_write(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
				 unsigned size_B, struct sink_bias *bias)
{
	enum shape shape = shape_of(w, a, size_B, GPUVM_W, &bias->to);
	unsigned span_B;
	struct sink sink;
	uint64_t lo;
	uint8_t *host;

	bias->has_dirty = bias->has_copy = false;
	if (!w->machine->cache || shape == SCATTERED)
		return shape;
	host = page_span(a, shape, size_B, bias->to, &lo, &span_B);
	if (!host)
		return SCATTERED;
	sink = sink_of(w, i, w->last_region, host, span_B);
	*bias = (struct sink_bias){
		.to = (uintptr_t)sink.to - lo,
		.dirty = (uintptr_t)sink.dirty - lo,
		.copy = (uintptr_t)sink.copy - lo,
		.has_dirty = sink.dirty,
		.has_copy = sink.copy,
	};
	return shape;
}

/* The first lane of `rest` with those behind it whose bytes stand in the same page; only itself, if it crosses one.
 */
static uint64_t lanes_of_page(const struct isa_addresses *a, uint64_t rest, unsigned size_B)
{
	uint64_t first = a->va[__builtin_ctzll(rest)] / MEM_PAGE_B, lanes = 0;

	ISA_FOR_LANES(lane, rest)
	{
		if (a->va[lane] / MEM_PAGE_B != first || (a->va[lane] + size_B - 1) / MEM_PAGE_B != first)
			return lanes ? lanes : (uint64_t)1 << lane;
		lanes |= (uint64_t)1 << lane;
	}
	return lanes;
}

/* A wave's row to or from memory where it stands in one piece. Vectors of 16 bytes: memcpy would be a call that
 * ThreadSanitizer watches. */
typedef uint32_t vec4 __attribute__((vector_size(16), aligned(4), may_alias));

ISA_RACY static void move_row(void *dst, const void *src)
{
	vec4 *to = dst;
	const vec4 *from = src;

	for (unsigned n = 0; n < ISA_LANES / 4; n++)
		to[n] = from[n];
}

/* Dwords at one lane's address. */
ISA_RACY static inline void load_dwords(uint32_t (*v)[ISA_LANES], unsigned lane, const uint8_t *host, unsigned dw)
{
	for (unsigned k = 0; k < dw; k++) {
		uint32_t value;

		memcpy(&value, host + 4 * k, 4);
		v[k][lane] = value;
	}
}

/* Two dwords go as one word: they may be a 64-bit flag or pointer. */
ISA_RACY static inline void store_dwords(uint8_t *host, uint32_t (*v)[ISA_LANES], unsigned lane, unsigned dw)
{
	unsigned k = 0;

	for (; k + 2 <= dw; k += 2) {
		uint64_t value = v[k][lane] | (uint64_t)v[k + 1][lane] << 32;

		memcpy(host + 4 * k, &value, 8);
	}
	if (k < dw)
		memcpy(host + 4 * k, &v[k][lane], 4);
}

/* Every lane for itself, inside one region. */
ISA_RACY static void load_lanes(uint32_t (*v)[ISA_LANES], const struct isa_addresses *a, uint64_t bias, unsigned dw)
{
	if (dw == 1 && a->mask == ~(uint64_t)0)
		for (unsigned lane = 0; lane < ISA_LANES; lane++)
			load_dwords(v, lane, at(bias, a->va[lane]), 1);
	else if (dw == 1)
		ISA_FOR_LANES(lane, a->mask)
	load_dwords(v, lane, at(bias, a->va[lane]), 1);
	else ISA_FOR_LANES(lane, a->mask) load_dwords(v, lane, at(bias, a->va[lane]), dw);
}

static void load(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a, unsigned vdst,
		 unsigned dw);

/* Lanes in several pages, as many at once as stand in one. False: nothing is won by it. */
static bool load_by_page(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a, unsigned vdst,
			 unsigned dw)
{
	uint64_t lanes = lanes_of_page(a, a->mask, 4 * dw);
	struct isa_addresses part;

	if (lanes == a->mask || !(lanes & (lanes - 1)))
		return false;
	memcpy(part.va, a->va, sizeof(part.va));
	for (uint64_t rest = a->mask; rest; rest &= ~lanes) {
		lanes = lanes_of_page(a, rest, 4 * dw);
		part.mask = lanes;
		load(w, i, &part, vdst, dw);
	}
	return true;
}

ISA_RACY static void load(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
			  unsigned vdst, unsigned dw)
{
	uint32_t(*v)[ISA_LANES] = w->v + vdst, value[4];
	uint64_t bias;

	switch (shape_of_read(w, i, a, 4 * dw, &bias)) {
	case IN_A_ROW:
		if (dw == 1)
			move_row(v[0], at(bias, a->va[0]));
		else
			load_lanes(v, a, bias, dw);
		break;
	case ONE_REGION:
		load_lanes(v, a, bias, dw);
		break;
	case SAME:
		copy_words((uint8_t *)value, at(bias, a->va[0]), 4 * dw, at(bias, a->va[0]));
		for (unsigned k = 0; k < dw; k++)
			for (unsigned lane = 0; lane < ISA_LANES; lane++)
				v[k][lane] = value[k];
		break;
	case SCATTERED:
		if (w->machine->cache && load_by_page(w, i, a, vdst, dw))
			break;
		ISA_FOR_LANES(lane, a->mask)
		{
			isa_mem_read(w, i, a->va[lane], value, 4 * dw);
			for (unsigned k = 0; k < dw; k++)
				v[k][lane] = value[k];
		}
		break;
	}
}

/* Where several lanes write, the last one wins. */
ISA_RACY static void store_lanes(uint32_t (*v)[ISA_LANES], const struct isa_addresses *a, enum shape shape,
				 uint64_t bias, unsigned dw)
{
	if (shape == IN_A_ROW && dw == 1)
		move_row(at(bias, a->va[0]), v[0]);
	else if (dw == 1)
		ISA_FOR_LANES(lane, a->mask)
	store_dwords(at(bias, a->va[lane]), v, lane, 1);
	else ISA_FOR_LANES(lane, a->mask) store_dwords(at(bias, a->va[lane]), v, lane, dw);
}

ISA_RACY static void mark_lanes(const struct isa_addresses *a, enum shape shape, uint64_t bias, unsigned size_B)
{
	typedef uint8_t mark16 __attribute__((vector_size(16), aligned(1), may_alias));

	if (shape != IN_A_ROW) {
		ISA_FOR_LANES(lane, a->mask)
		mark_dirty(at(bias, a->va[lane]), size_B);
		return;
	}
	for (unsigned n = 0; n < ISA_LANES * size_B; n += 16)
		*(mark16 *)at(bias, a->va[0] + n) = (mark16){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
}

static void store(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a, unsigned vdata,
		  unsigned dw);

static bool store_by_page(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
			  unsigned vdata, unsigned dw)
{
	uint64_t lanes = lanes_of_page(a, a->mask, 4 * dw);
	struct isa_addresses part;

	if (lanes == a->mask || !(lanes & (lanes - 1)))
		return false;
	memcpy(part.va, a->va, sizeof(part.va));
	for (uint64_t rest = a->mask; rest; rest &= ~lanes) {
		lanes = lanes_of_page(a, rest, 4 * dw);
		part.mask = lanes;
		store(w, i, &part, vdata, dw);
	}
	return true;
}

static void store(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a, unsigned vdata,
		  unsigned dw)
{
	uint32_t(*v)[ISA_LANES] = w->v + vdata, value[4];
	struct sink_bias bias;
	enum shape shape = shape_of_write(w, i, a, 4 * dw, &bias);

	if (shape == SCATTERED) {
		if (w->machine->cache && store_by_page(w, i, a, vdata, dw))
			return;
		ISA_FOR_LANES(lane, a->mask)
		{
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

ISA_RACY static uint32_t load_part(struct isa_wave *w, const struct isa_inst *i, uint64_t va, const uint8_t *host,
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
	bool scattered = shape_of_read(w, i, a, access->bytes, &bias) == SCATTERED;

	ISA_FOR_LANES(lane, a->mask)
	{
		uint32_t value = load_part(w, i, a->va[lane], scattered ? NULL : at(bias, a->va[lane]), access);

		if (access->class == ISA_ACCESS_LOAD_D16)
			isa_set_half(&v[lane], value, access->high);
		else
			v[lane] = value;
	}
}

ISA_RACY static void store_sub(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
			       const struct isa_addresses *a, unsigned vdata)
{
	const uint32_t *v = w->v[vdata];
	uint64_t bias;
	bool scattered = w->machine->cache || shape_of(w, a, access->bytes, GPUVM_W, &bias) == SCATTERED;

	ISA_FOR_LANES(lane, a->mask)
	{
		uint16_t value = (uint16_t)(access->high ? v[lane] >> 16 : v[lane]);

		if (scattered)
			isa_mem_write(w, i, a->va[lane], &value, access->bytes);
		else if (access->bytes == 1)
			*at(bias, a->va[lane]) = (uint8_t)value;
		else
			memcpy(at(bias, a->va[lane]), &value, 2);
	}
}

static uint64_t lane_operand(uint32_t (*v)[ISA_LANES], unsigned lane, unsigned size_B)
{
	return size_B == 8 ? v[0][lane] | (uint64_t)v[1][lane] << 32 : v[0][lane];
}

static void atomic(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		   const struct isa_addresses *a, unsigned vdata, unsigned vdst, bool returns)
{
	unsigned size_B = access->bytes, saved;
	bool two = access->atomic == ISA_ATOMIC_CMPSWAP;

	saved = isa_atomic_enter(w->machine->chip->gfx, access->atomic, size_B);

	ISA_FOR_LANES(lane, a->mask)
	{
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
		load(w, i, a, vdst, dw);
		break;
	case ISA_ACCESS_LOAD_SUB:
	case ISA_ACCESS_LOAD_D16:
		load_sub(w, i, access, a, vdst);
		break;
	case ISA_ACCESS_STORE:
		store(w, i, a, vdata, dw);
		break;
	case ISA_ACCESS_STORE_SUB:
		store_sub(w, i, access, a, vdata);
		break;
	case ISA_ACCESS_ATOMIC:
		atomic(w, i, access, a, vdata, vdst, returns);
		break;
	}
}

/* --- the table -------------------------------------------------------------------------------- */

#define LOADS(P)                                                                                                   \
	[ISA_OP_##P##_LOAD_UBYTE] = {ISA_ACCESS_LOAD_SUB, 1},                                                      \
	[ISA_OP_##P##_LOAD_SBYTE] = {ISA_ACCESS_LOAD_SUB, 1, .extend = true},                                      \
	[ISA_OP_##P##_LOAD_USHORT] = {ISA_ACCESS_LOAD_SUB, 2},                                                     \
	[ISA_OP_##P##_LOAD_SSHORT] = {ISA_ACCESS_LOAD_SUB, 2, .extend = true},                                     \
	[ISA_OP_##P##_LOAD_DWORD] = {ISA_ACCESS_LOAD}, [ISA_OP_##P##_LOAD_DWORDX2] = {ISA_ACCESS_LOAD},            \
	[ISA_OP_##P##_LOAD_DWORDX3] = {ISA_ACCESS_LOAD}, [ISA_OP_##P##_LOAD_DWORDX4] = {ISA_ACCESS_LOAD},          \
	[ISA_OP_##P##_LOAD_UBYTE_D16] = {ISA_ACCESS_LOAD_D16, 1},                                                  \
	[ISA_OP_##P##_LOAD_UBYTE_D16_HI] = {ISA_ACCESS_LOAD_D16, 1, .high = true},                                 \
	[ISA_OP_##P##_LOAD_SBYTE_D16] = {ISA_ACCESS_LOAD_D16, 1, .extend = true},                                  \
	[ISA_OP_##P##_LOAD_SBYTE_D16_HI] = {ISA_ACCESS_LOAD_D16, 1, .extend = true, .high = true},                 \
	[ISA_OP_##P##_LOAD_SHORT_D16] = {ISA_ACCESS_LOAD_D16, 2},                                                  \
	[ISA_OP_##P##_LOAD_SHORT_D16_HI] = {ISA_ACCESS_LOAD_D16, 2, .high = true}

#define STORES(P)                                                                                                  \
	[ISA_OP_##P##_STORE_BYTE] = {ISA_ACCESS_STORE_SUB, 1},                                                     \
	[ISA_OP_##P##_STORE_BYTE_D16_HI] = {ISA_ACCESS_STORE_SUB, 1, .high = true},                                \
	[ISA_OP_##P##_STORE_SHORT] = {ISA_ACCESS_STORE_SUB, 2},                                                    \
	[ISA_OP_##P##_STORE_SHORT_D16_HI] = {ISA_ACCESS_STORE_SUB, 2, .high = true},                               \
	[ISA_OP_##P##_STORE_DWORD] = {ISA_ACCESS_STORE}, [ISA_OP_##P##_STORE_DWORDX2] = {ISA_ACCESS_STORE},        \
	[ISA_OP_##P##_STORE_DWORDX3] = {ISA_ACCESS_STORE}, [ISA_OP_##P##_STORE_DWORDX4] = {ISA_ACCESS_STORE}

#define ATOMIC(P, name, kind)                                                                                      \
	[ISA_OP_##P##_ATOMIC_##name] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_##kind},                                  \
	[ISA_OP_##P##_ATOMIC_##name##_X2] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_##kind}

#define ATOMICS(P)                                                                                                 \
	ATOMIC(P, SWAP, SWAP), ATOMIC(P, CMPSWAP, CMPSWAP), ATOMIC(P, ADD, ADD), ATOMIC(P, SUB, SUB),              \
		ATOMIC(P, SMIN, SMIN), ATOMIC(P, UMIN, UMIN), ATOMIC(P, SMAX, SMAX), ATOMIC(P, UMAX, UMAX),        \
		ATOMIC(P, AND, AND), ATOMIC(P, OR, OR), ATOMIC(P, XOR, XOR), ATOMIC(P, INC, INC),                  \
		ATOMIC(P, DEC, DEC)

#define ATOMICS_F32(P)                                                                                             \
	[ISA_OP_##P##_ATOMIC_ADD_F32] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_ADD_F},                                  \
	[ISA_OP_##P##_ATOMIC_PK_ADD_F16] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_PK_ADD_F16}

#define ATOMICS_F64(P)                                                                                             \
	[ISA_OP_##P##_ATOMIC_ADD_F64] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_ADD_F},                                  \
	[ISA_OP_##P##_ATOMIC_MIN_F64] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_MIN_F},                                  \
	[ISA_OP_##P##_ATOMIC_MAX_F64] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_MAX_F}

static const struct isa_access accesses[ISA_OP_COUNT] = {
	ATOMICS_F32(FLAT),
	[ISA_OP_FLAT_ATOMIC_PK_ADD_BF16] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_PK_ADD_BF16},
	[ISA_OP_GLOBAL_ATOMIC_PK_ADD_BF16] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_PK_ADD_BF16},
	[ISA_OP_GLOBAL_LOAD_LDS_UBYTE] = {ISA_ACCESS_LOAD_SUB, 1},
	[ISA_OP_GLOBAL_LOAD_LDS_SBYTE] = {ISA_ACCESS_LOAD_SUB, 1, .extend = true},
	[ISA_OP_GLOBAL_LOAD_LDS_USHORT] = {ISA_ACCESS_LOAD_SUB, 2},
	[ISA_OP_GLOBAL_LOAD_LDS_SSHORT] = {ISA_ACCESS_LOAD_SUB, 2, .extend = true},
	[ISA_OP_GLOBAL_LOAD_LDS_DWORD] = {ISA_ACCESS_LOAD},
	LOADS(FLAT),
	STORES(FLAT),
	ATOMICS(FLAT),
	ATOMICS_F64(FLAT),
	LOADS(GLOBAL),
	STORES(GLOBAL),
	ATOMICS(GLOBAL),
	ATOMICS_F32(GLOBAL),
	ATOMICS_F64(GLOBAL),
	LOADS(SCRATCH),
	STORES(SCRATCH),
	LOADS(BUFFER),
	STORES(BUFFER),
	ATOMICS(BUFFER),
	ATOMICS_F32(BUFFER),
	ATOMICS_F64(BUFFER),
	ATOMICS(S_BUFFER),
	ATOMICS(S),
};

const struct isa_access *isa_access_of(enum isa_op op)
{
	return &accesses[op];
}

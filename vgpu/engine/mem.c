/* Memory accesses of the packet processors (mem.h). */
#include "vgpu/engine/mem.h"
#include "vgpu/engine/atomic.h"

#include <string.h>

#define VA_MASK (((uint64_t)1 << 48) - 1)
#define DUMMY_B 4096

enum landing { LANDED_NOWHERE, LANDED_PRT, LANDED };

void engine_mem_init(struct engine_mem *mem, struct engine_run *run, enum gpuvm_client fetch,
		     enum gpuvm_client data)
{
	*mem = (struct engine_mem){.run = run, .fetch = fetch, .fetch_access = GPUVM_R, .data = data};
	if (run->order.slot >= 0)
		mem->actor.job = &run->order;
}

void engine_mem_peek(struct engine_mem *mem, struct mem_cache *cache)
{
	mem->cache = cache;
	mem->past_l2 = GPUVM_R | GPUVM_W;
	mem->peeks = cache != NULL;
}

static const struct gpuvm_region *region_of(struct engine_mem *mem, uint64_t va)
{
	const struct gpuvm_region *r = mem->last;

	if (!r || va < r->lo || va >= r->hi) {
		r = gpuvm_find(mem->run->job->view, va);
		if (r && !(r->flags & GPUVM_LATE))
			mem->last = r;
	}
	return r;
}

static void refuse_access(struct engine_mem *mem, uint64_t va, unsigned access, enum gpuvm_client client,
			  const struct gpuvm_region *r)
{
	struct gpuvm_fault fault = {.va = va, .access = access, .client = client, .mapped = r != NULL};

	if (access & GPUVM_X) /* a fetch: the missing right determines the kind of fault */
		fault.access = r && r->flags & GPUVM_R ? GPUVM_X : GPUVM_R;

	if (r && (r->flags & GPUVM_UNLISTED))
		vgpu_finding(CONTRACT_VA_UNLISTED,
			     "the packet processor touches 0x%llx of BO %u, which the job does not list",
			     (unsigned long long)va, r->bo);
	else if (r && (r->flags & GPUVM_LATE))
		vgpu_finding(CONTRACT_VA_NOT_LANDED,
			     "the packet processor touches 0x%llx of BO %u: " GPUVM_LATE_WHY,
			     (unsigned long long)va, r->bo);
	mem->fault = fault;
	engine_run_fault(mem->run, &fault);
}

/* --- order --- */

void engine_mem_look_over(struct engine_mem *mem)
{
	if (mem->look.saw_cpu)
		mem_order_saw_cpu(&mem->actor);
	mem->look = (struct engine_look){0};
}

void engine_mem_next(struct engine_mem *mem)
{
	mem->plain = false;
	if (!mem->actor.job)
		return;
	engine_mem_look_over(mem);
	mem_order_next_packet(&mem->actor);
}

static void order_data(struct engine_mem *mem, const uint8_t *host, uint64_t va, uint64_t size_B, unsigned how)
{
	if (mem->actor.job && !(mem->last->flags & GPUVM_DUMMY))
		mem_order_access(&mem->actor, host, va & VA_MASK, size_B, how);
}

/* Order of words in packets: a write releases before it stores, a read acquires after it has loaded. */
static void order_word(struct engine_mem *mem, const uint8_t *host, uint64_t va, unsigned size_B, unsigned how)
{
	order_data(mem, host, va, size_B, how | MEM_ORDER_SYNC);
}

/* Row 88: since the poll before, a word in VRAM of this process alone got a value that only the CPU can have
 * written. The write passed the caches of the host data path by chance, unless they were flushed meanwhile; APUs
 * have none (Linux amdgpu_device_flush_hdp). */
static void check_hdp(const struct engine_mem *mem, const struct engine_look *now, uint64_t va)
{
	const struct engine_look *before = &mem->look;
	char where[128];

	if (before->host != now->host || before->value == now->value || !before->untouched || !now->untouched ||
	    before->hdp_flushes != now->hdp_flushes || mem->last->flags & (GPUVM_SYSTEM | GPUVM_SHARED) ||
	    vgpu_chip_is_apu(mem->run->ring->dev->chip))
		return;
	mem->actor.where(mem->actor.user, where, sizeof(where));
	vgpu_finding(CONTRACT_HDP_FLUSH_MISSING,
		     "%s sees at 0x%llx in VRAM what the CPU wrote after the job began, without a flush of HDP",
		     where, (unsigned long long)va);
}

/* Records for the order checker whether the value that a poll found was written by the GPU or by the CPU. */
static void order_look(struct engine_mem *mem, const uint8_t *host, uint64_t va, unsigned size_B, uint64_t value)
{
	struct engine_look *look = &mem->look, now = {.host = host, .value = value};
	bool news;

	if (!mem->actor.job || mem->plain || mem->last->flags & GPUVM_DUMMY) {
		order_data(mem, host, va, size_B, MEM_ORDER_READ);
		return;
	}
	now.hdp_flushes = atomic_load_explicit(&mem->run->ring->dev->hdp_flushes, memory_order_relaxed);
	now.untouched = mem_order_untouched(&mem->actor, host, size_B);
	news = mem_order_access(&mem->actor, host, va & VA_MASK, size_B, MEM_ORDER_READ | MEM_ORDER_SYNC);
	now.saw_cpu = !news && (look->host != host || look->value != value || look->saw_cpu);
	check_hdp(mem, &now, va);
	*look = now;
}

/* Once for each page, in a row. */
static void tolerate_unlisted(struct engine_mem *mem, uint64_t va, const struct gpuvm_region *r)
{
	uint64_t page = va >> 12;

	if (mem->tolerated == page)
		return;
	mem->tolerated = page;
	vgpu_finding(CONTRACT_VA_UNLISTED,
		     "the packet processor touches 0x%llx of BO %u, which the job does not list",
		     (unsigned long long)va, r->bo);
}

/* Translates va to host memory for up to *size_B bytes; reduces *size_B to the contiguous part. */
static enum landing translate(struct engine_mem *mem, uint64_t va, unsigned access, enum gpuvm_client client,
			      uint64_t *size_B, uint8_t **host)
{
	const struct gpuvm_region *r;

	va &= VA_MASK; /* packets carry 48 bits; the upper ones only extend the sign */
	r = region_of(mem, va);
	if (!r || (r->flags & GPUVM_REFUSED) || (!(r->flags & GPUVM_PRT) && (r->flags & access) != access)) {
		refuse_access(mem, va, access, client, r);
		return LANDED_NOWHERE;
	}
	if (r->flags & GPUVM_TOLERATED)
		tolerate_unlisted(mem, va, r);
	if (*size_B > r->hi - va)
		*size_B = r->hi - va;
	if (r->flags & GPUVM_PRT)
		return LANDED_PRT;
	*host = r->host + (va - r->lo);
	return LANDED;
}

/* The same for the packet's data: where nothing is mapped, or not so, the device's dummy page is. */
static enum landing land_data(struct engine_mem *mem, uint64_t va, unsigned access, uint64_t *size_B,
			      uint8_t **host)
{
	const struct gpuvm_region *dummy = &mem->run->job->view->dummy, *r;
	enum landing where = translate(mem, va, access, mem->data, size_B, host);
	uint64_t offset = va % DUMMY_B;

	if (where != LANDED_NOWHERE || !dummy->host)
		return where;
	r = region_of(mem, va & VA_MASK);
	if (r && r->flags & GPUVM_REFUSED)
		return LANDED_NOWHERE;
	if (*size_B > DUMMY_B - offset)
		*size_B = DUMMY_B - offset;
	*host = dummy->host + offset;
	mem->last = dummy;
	return LANDED;
}

/* --- the L2 in front of it --- */

/* An access of host memory that L2 may hold: where its bytes are until leave(). */
struct visit {
	struct mem_cache *cache; /* cache that leave() releases; NULL: memory was accessed directly */
	struct mem_page *page;
	uint8_t *at;
};

/* Starts an access to the region that was translated last. */
static struct visit access_begin(struct engine_mem *mem, uint8_t *host, unsigned size_B, unsigned access)
{
	struct visit v = {.at = host};

	if (!mem->cache || !mem_in_l2(mem->last))
		return v;
	/* Requests of the CP pass through L2's banks: RADV fills a query through L2, then writes it "to memory". A
	 * kernel that reads it through L2 still gets old data, because no program relies on more. */
	if (mem->past_l2 & access & GPUVM_W && access & GPUVM_R)
		mem_cache_settle(mem->cache, host, size_B);
	else if (mem->past_l2 & access & GPUVM_W)
		mem_cache_supersede(mem->cache, host, size_B);
	if (mem->past_l2 & access)
		return v;
	v.cache = mem->cache;
	mem_cache_enter(v.cache);
	v.page = mem_cache_page(v.cache, MEM_L2, mem->run->job->vmid, mem->last, host, size_B);
	if (v.page)
		v.at = v.page->data + mem_page_offset(host);
	return v;
}

static void access_end(const struct visit *v, unsigned written_B)
{
	if (v->page && written_B) {
		memset(v->page->dirty + (v->at - v->page->data), 1, written_B);
		mem_page_written(v->page);
	}
	if (v->cache)
		mem_cache_leave(v->cache);
}

/* After dst was read from memory: what L2 has of it is newer, or older. */
static void peek_page(struct engine_mem *mem, uint8_t *host, void *dst, unsigned size_B)
{
	if (!mem->peeks || !mem_in_l2(mem->last))
		return;
	mem_cache_enter(mem->cache);
	mem_cache_peek(mem->cache, MEM_L2, mem->run->job->vmid, mem->last, host, dst, size_B);
	mem_cache_leave(mem->cache);
}

/* Host memory of one aligned word. Misaligned words are aligned downwards, as the memory path of the CP does. */
static enum landing land_word(struct engine_mem *mem, uint64_t *va, unsigned size_B, unsigned access,
			      uint8_t **host)
{
	uint64_t left_B = size_B;

	if (*va & (size_B - 1)) {
		vgpu_finding(0, "a %u-byte word of the packet processor at 0x%llx is not aligned", size_B,
			     (unsigned long long)*va);
		*va &= ~(uint64_t)(size_B - 1);
	}
	return land_data(mem, *va, access, &left_B, host);
}

static bool read_bytes(struct engine_mem *mem, uint64_t va, void *dst, uint64_t size_B, unsigned access,
		       enum gpuvm_client client)
{
	uint8_t *out = dst;

	while (size_B) {
		uint64_t run_B = size_B;
		uint8_t *host;

		switch (translate(mem, va, access, client, &run_B, &host)) {
		case LANDED_NOWHERE:
			return false;
		case LANDED_PRT:
			memset(out, 0, run_B);
			break;
		case LANDED:
			memcpy(out, host, run_B);
			break;
		}
		out += run_B;
		va += run_B;
		size_B -= run_B;
	}
	return true;
}

bool engine_mem_fetch(struct engine_mem *mem, uint64_t va, uint32_t *dst, unsigned dw)
{
	return read_bytes(mem, va, dst, (uint64_t)dw * 4, mem->fetch_access, mem->fetch);
}

/* Reads a word of 4 or 8 bytes. */
static bool read_word(struct engine_mem *mem, uint64_t va, unsigned size_B, uint64_t *value)
{
	uint8_t *host;
	enum landing where = land_word(mem, &va, size_B, GPUVM_R, &host);
	struct visit v;

	*value = 0;
	if (where == LANDED) {
		v = access_begin(mem, host, size_B, GPUVM_R);
		*value = size_B == 8 ? __atomic_load_n((uint64_t *)v.at, __ATOMIC_ACQUIRE)
				     : __atomic_load_n((uint32_t *)v.at, __ATOMIC_ACQUIRE);
		access_end(&v, 0);
		peek_page(mem, host, value, size_B);
		order_look(mem, host, va, size_B, *value);
	}
	return where != LANDED_NOWHERE;
}

bool engine_mem_read32(struct engine_mem *mem, uint64_t va, uint32_t *value)
{
	uint64_t word;
	bool ok = read_word(mem, va, 4, &word);

	*value = (uint32_t)word;
	return ok;
}

bool engine_mem_read64(struct engine_mem *mem, uint64_t va, uint64_t *value)
{
	return read_word(mem, va, 8, value);
}

static bool write_word(struct engine_mem *mem, uint64_t va, unsigned size_B, uint64_t value)
{
	uint8_t *host;
	enum landing where = land_word(mem, &va, size_B, GPUVM_W, &host);
	struct visit v;

	if (where == LANDED) {
		order_word(mem, host, va, size_B, MEM_ORDER_WRITE);
		v = access_begin(mem, host, size_B, GPUVM_W);
		if (size_B == 8)
			__atomic_store_n((uint64_t *)v.at, value, __ATOMIC_SEQ_CST);
		else
			__atomic_store_n((uint32_t *)v.at, (uint32_t)value, __ATOMIC_SEQ_CST);
		access_end(&v, size_B);
	}
	return where != LANDED_NOWHERE;
}

bool engine_mem_write32(struct engine_mem *mem, uint64_t va, uint32_t value)
{
	return write_word(mem, va, 4, value);
}

bool engine_mem_write64(struct engine_mem *mem, uint64_t va, uint64_t value)
{
	return write_word(mem, va, 8, value);
}

bool engine_mem_write(struct engine_mem *mem, uint64_t va, const uint32_t *src, unsigned dw)
{
	/* An aligned pair of dwords is written as a 64-bit word, as signals need. */
	if (dw == 2 && !(va & 7))
		return engine_mem_write64(mem, va, src[0] | (uint64_t)src[1] << 32);
	for (unsigned i = 0; i < dw; i++)
		if (!engine_mem_write32(mem, va + 4 * i, src[i]))
			return false;
	return true;
}

/* Reads contiguous bytes from memory or from L2; returns their number. 0: refused. */
static unsigned pick_up(struct engine_mem *mem, uint64_t va, uint8_t *dst, unsigned size_B)
{
	uint64_t run_B = size_B;
	uint8_t *host = NULL;
	enum landing where = land_data(mem, va, GPUVM_R, &run_B, &host);
	struct visit v;

	if (where == LANDED_NOWHERE)
		return 0;
	if (where == LANDED_PRT) {
		memset(dst, 0, run_B);
		return (unsigned)run_B;
	}
	run_B = mem_page_clip(host, run_B);
	order_data(mem, host, va, run_B, MEM_ORDER_READ);
	v = access_begin(mem, host, (unsigned)run_B, GPUVM_R);
	memcpy(dst, v.at, run_B);
	access_end(&v, 0);
	peek_page(mem, host, dst, (unsigned)run_B);
	return (unsigned)run_B;
}

static unsigned put_down(struct engine_mem *mem, uint64_t va, const uint8_t *src, unsigned size_B)
{
	uint64_t run_B = size_B;
	uint8_t *host = NULL;
	enum landing where = land_data(mem, va, GPUVM_W, &run_B, &host);
	struct visit v;

	if (where != LANDED)
		return where == LANDED_PRT ? (unsigned)run_B : 0;
	run_B = mem_page_clip(host, run_B);
	order_data(mem, host, va, run_B, MEM_ORDER_WRITE);
	v = access_begin(mem, host, (unsigned)run_B, GPUVM_W);
	memcpy(v.at, src, run_B);
	access_end(&v, (unsigned)run_B);
	return (unsigned)run_B;
}

static bool copy_cached(struct engine_mem *mem, uint64_t dst, uint64_t src, uint64_t size_B)
{
	uint8_t piece[MEM_PAGE_B];

	while (size_B) {
		unsigned have_B = pick_up(mem, src, piece, size_B < MEM_PAGE_B ? (unsigned)size_B : MEM_PAGE_B);

		if (!have_B)
			return false;
		for (unsigned done_B = 0, put_B; done_B < have_B; done_B += put_B) {
			put_B = put_down(mem, dst + done_B, piece + done_B, have_B - done_B);
			if (!put_B)
				return false;
		}
		src += have_B;
		dst += have_B;
		size_B -= have_B;
	}
	return true;
}

bool engine_mem_copy(struct engine_mem *mem, uint64_t dst, uint64_t src, uint64_t size_B)
{
	if (mem->cache)
		return copy_cached(mem, dst, src, size_B);
	while (size_B) {
		uint64_t run_B = size_B;
		uint8_t *from = NULL, *to = NULL;
		enum landing read, written;

		read = land_data(mem, src, GPUVM_R, &run_B, &from);
		written = land_data(mem, dst, GPUVM_W, &run_B, &to);
		if (read == LANDED_NOWHERE || written == LANDED_NOWHERE)
			return false;
		if (read == LANDED)
			order_data(mem, from, src, run_B, MEM_ORDER_READ);
		if (written == LANDED)
			order_data(mem, to, dst, run_B, MEM_ORDER_WRITE);
		if (written == LANDED && read == LANDED)
			memmove(to, from, run_B);
		else if (written == LANDED)
			memset(to, 0, run_B);
		src += run_B;
		dst += run_B;
		size_B -= run_B;
	}
	return true;
}

/* Bytes of the page in front of va. */
static uint64_t page_before(uint64_t va)
{
	return (va - 1) % MEM_PAGE_B + 1;
}

/* Copies page by page of both ranges: a piece within one page of both is copied as a whole. */
bool engine_mem_copy_down(struct engine_mem *mem, uint64_t dst, uint64_t src, uint64_t size_B)
{
	while (size_B) {
		uint64_t from_B = page_before(src + size_B), to_B = page_before(dst + size_B);
		uint64_t piece_B = from_B < to_B ? from_B : to_B;

		piece_B = piece_B < size_B ? piece_B : size_B;
		size_B -= piece_B;
		if (!engine_mem_copy(mem, dst + size_B, src + size_B, piece_B))
			return false;
	}
	return true;
}

/* size_B and `to` are multiples of unit_B: addresses are aligned to it, and regions to pages. */
static void fill_host(uint8_t *to, uint32_t pattern, unsigned unit_B, uint64_t size_B)
{
	if (unit_B == 1) {
		memset(to, (uint8_t)pattern, size_B);
		return;
	}
	for (uint64_t i = 0; i < size_B; i += unit_B)
		memcpy(to + i, &pattern, unit_B == 2 ? 2 : 4);
}

static bool fill_cached(struct engine_mem *mem, uint64_t dst, uint32_t pattern, unsigned unit_B, uint64_t size_B)
{
	uint8_t piece[MEM_PAGE_B];

	fill_host(piece, pattern, unit_B, sizeof(piece));
	while (size_B) {
		unsigned put_B = put_down(mem, dst, piece, size_B < MEM_PAGE_B ? (unsigned)size_B : MEM_PAGE_B);

		if (!put_B)
			return false;
		dst += put_B;
		size_B -= put_B;
	}
	return true;
}

bool engine_mem_fill(struct engine_mem *mem, uint64_t dst, uint32_t pattern, unsigned unit_B, uint64_t size_B)
{
	uint64_t done_B = 0;

	if (mem->cache)
		return fill_cached(mem, dst, pattern, unit_B, size_B);
	while (done_B < size_B) {
		uint64_t run_B = size_B - done_B;
		uint8_t *to;
		enum landing where = land_data(mem, dst + done_B, GPUVM_W, &run_B, &to);

		if (where == LANDED_NOWHERE)
			return false;
		if (where == LANDED) {
			order_data(mem, to, dst + done_B, run_B, MEM_ORDER_WRITE);
			fill_host(to, pattern, unit_B, run_B);
		}
		done_B += run_B;
	}
	return true;
}

bool engine_mem_covers(struct engine_mem *mem, uint64_t va, uint64_t size_B, unsigned access)
{
	va &= VA_MASK;
	for (uint64_t end = va + size_B; va < end;) {
		const struct gpuvm_region *r = region_of(mem, va);

		if (!r || (r->flags & GPUVM_REFUSED) || (r->flags & access) != access)
			return false;
		va = r->hi;
	}
	return true;
}

/* --- atomics --- */

static uint64_t atomic_32(uint32_t *word, enum engine_atomic base, uint32_t src, uint32_t cmp)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED), new;

	do
		new = (uint32_t)engine_atomic_apply(base, false, old, src, cmp);
	while (!__atomic_compare_exchange_n(word, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}

static uint64_t atomic_64(uint64_t *word, enum engine_atomic base, uint64_t src, uint64_t cmp)
{
	uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED), new;

	do
		new = engine_atomic_apply(base, true, old, src, cmp);
	while (!__atomic_compare_exchange_n(word, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}

bool engine_mem_atomic(struct engine_mem *mem, uint64_t va, unsigned op, uint64_t src, uint64_t cmp, uint64_t *old)
{
	bool is_64 = engine_atomic_is_64(op);
	uint8_t *host;
	enum landing where;
	struct visit v;

	*old = 0;
	if (!engine_atomic_name(op))
		return false;
	where = land_word(mem, &va, is_64 ? 8 : 4, GPUVM_R | GPUVM_W, &host);
	if (where != LANDED)
		return where == LANDED_PRT;
	order_word(mem, host, va, is_64 ? 8 : 4, MEM_ORDER_READ | MEM_ORDER_WRITE);
	v = access_begin(mem, host, is_64 ? 8 : 4, GPUVM_R | GPUVM_W);
	if (is_64)
		*old = atomic_64((uint64_t *)v.at, op & 31, src, cmp);
	else
		*old = atomic_32((uint32_t *)v.at, op & 31, (uint32_t)src, (uint32_t)cmp);
	access_end(&v, is_64 ? 8 : 4);
	order_look(mem, host, va, is_64 ? 8 : 4, *old);
	return true;
}

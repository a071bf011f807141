/* Copies of memory in a device's caches (cache.h). */
#include "vgpu/memory/cache.h"
#include "vgpu/rank.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS                                                                                                    \
	4096u /* buckets of 4 KiB pages: 16 MiB a layer before chains grow; the heads of a device take 160 KiB */

typedef _Atomic(struct mem_page *) bucket;

struct mem_cache {
	pthread_rwlock_t use;               /* shared: users of pages; exclusive: write-back and drop */
	pthread_mutex_t fill;               /* held by a thread that adds pages or lines */
	uint64_t generation;                /* guarded by use */
	bucket bucket[MEM_LAYERS][BUCKETS]; /* pages by key; added to under fill, acquire; removed from under use */
	struct mem_page *pages[MEM_LAYERS]; /* owned; as above */
	struct mem_page *spare[2]; /* owned; guarded by fill, or use exclusive: pages of L2, of the others */
};

struct mem_cache *mem_cache_create(void)
{
	struct mem_cache *cache = calloc(1, sizeof(*cache));
	pthread_rwlockattr_t attr;

	if (!cache)
		return NULL;
	/* Waves leave for an instant only; readers first would keep a packet that flushes out for ever. */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&cache->use, &attr);
	pthread_rwlockattr_destroy(&attr);
	pthread_mutex_init(&cache->fill, NULL);
	cache->generation = 1;
	return cache;
}

static void free_pages(struct mem_page *page)
{
	for (struct mem_page *next; page; page = next) {
		next = page->next;
		free(page);
	}
}

void mem_cache_destroy(struct mem_cache *cache)
{
	if (!cache)
		return;
	for (unsigned layer = 0; layer < MEM_LAYERS; layer++)
		free_pages(cache->pages[layer]);
	free_pages(cache->spare[0]);
	free_pages(cache->spare[1]);
	pthread_mutex_destroy(&cache->fill);
	pthread_rwlock_destroy(&cache->use);
	free(cache);
}

void mem_cache_enter(struct mem_cache *cache)
{
	vgpu_rank_take(VGPU_RANK_CACHE_USE);
	pthread_rwlock_rdlock(&cache->use);
}

void mem_cache_leave(struct mem_cache *cache)
{
	pthread_rwlock_unlock(&cache->use);
	vgpu_rank_give(VGPU_RANK_CACHE_USE);
}

uint64_t mem_cache_generation(const struct mem_cache *cache)
{
	return cache->generation;
}

/* --- filling --- */

static bucket *bucket_of(struct mem_cache *cache, enum mem_layer layer, uint64_t key)
{
	return &cache->bucket[layer][key * 0x9e3779b97f4a7c15ull >> 32 & (BUCKETS - 1)];
}

static struct mem_page *find_page(struct mem_cache *cache, enum mem_layer layer, uint64_t key)
{
	struct mem_page *page = atomic_load_explicit(bucket_of(cache, layer, key), memory_order_acquire);

	while (page && page->key != key)
		page = page->chain;
	return page;
}

static struct mem_page *page_new(struct mem_cache *cache, enum mem_layer layer)
{
	size_t dirty_B = layer == MEM_L2 ? MEM_PAGE_B : 0;
	struct mem_page **spare = &cache->spare[layer != MEM_L2], *page = *spare;

	if (page) {
		*spare = page->next;
		return page;
	}
	page = aligned_alloc(64, sizeof(*page) + dirty_B);
	if (!page)
		return NULL;
	page->dirty = dirty_B ? (uint8_t *)(page + 1) : NULL;
	if (dirty_B)
		memset(page->dirty, 0, dirty_B);
	return page;
}

static struct mem_page *add_locked(struct mem_cache *cache, enum mem_layer layer, uint64_t key, uint8_t *memory,
				   uint64_t va)
{
	bucket *head = bucket_of(cache, layer, key);
	struct mem_page *page = page_new(cache, layer);

	if (!page)
		return NULL;
	page->key = key;
	page->memory = memory;
	page->va = va;
	atomic_store_explicit(&page->valid, 0, memory_order_relaxed);
	atomic_store_explicit(&page->written, false, memory_order_relaxed);
	page->next = cache->pages[layer];
	cache->pages[layer] = page;
	page->chain = atomic_load_explicit(head, memory_order_relaxed);
	atomic_store_explicit(head, page, memory_order_release);
	return page;
}

/* Copies whole words: the client may be setting them. A page of registered memory is the GPU's, whatever the heap
 * has there, so AddressSanitizer does not check the copy. */
GPUVM_RACY __attribute__((no_sanitize("address"))) static void copy_lines(uint8_t *to, const uint8_t *from,
									  uint64_t lines)
{
	typedef uint64_t word __attribute__((vector_size(16), may_alias));

	for (; lines; lines &= lines - 1) {
		unsigned at = (unsigned)__builtin_ctzll(lines) * MEM_LINE_B;
		const word *src = (const word *)(const void *)(from + at);
		word *dst = (word *)(void *)(to + at);

		for (unsigned k = 0; k < MEM_LINE_B / 16; k++)
			dst[k] = src[k];
	}
}

static struct mem_page *fill_locked(struct mem_cache *cache, enum mem_layer layer, uint64_t vmid,
				    const struct gpuvm_region *r, uint8_t *memory, uint64_t lines)
{
	uint64_t key = mem_cache_key(layer, vmid, r, memory);
	struct mem_page *page = find_page(cache, layer, key), *below = NULL;
	uint64_t valid;

	if (!page)
		page = add_locked(cache, layer, key, memory, r->lo + (uint64_t)(memory - r->host));
	if (!page)
		return NULL;
	valid = atomic_load_explicit(&page->valid, memory_order_relaxed);
	lines &= ~valid;
	if (!lines)
		return page;
	if (layer != MEM_L2 && mem_in_l2(r))
		below = fill_locked(cache, MEM_L2, vmid, r, memory, lines);
	copy_lines(page->data, below ? below->data : memory, lines);
	atomic_store_explicit(&page->valid, valid | lines, memory_order_release);
	return page;
}

struct mem_page *mem_cache_page(struct mem_cache *cache, enum mem_layer layer, uint64_t vmid,
				const struct gpuvm_region *r, uint8_t *host, unsigned size_B)
{
	uint64_t lines = mem_lines(mem_page_offset(host), size_B);
	struct mem_page *page = find_page(cache, layer, mem_cache_key(layer, vmid, r, host));

	if (page && mem_page_has(page, lines))
		return page;
	vgpu_lock(&cache->fill, VGPU_RANK_CACHE_FILL);
	page = fill_locked(cache, layer, vmid, r, mem_page_base(host), lines);
	vgpu_unlock(&cache->fill, VGPU_RANK_CACHE_FILL);
	return page;
}

void mem_cache_supersede(struct mem_cache *cache, const uint8_t *host, unsigned size_B)
{
	struct mem_page *page;

	mem_cache_enter(cache);
	page = find_page(cache, MEM_L2, (uintptr_t)host / MEM_PAGE_B);
	if (page)
		memset(page->dirty + mem_page_offset(host), 0, size_B);
	mem_cache_leave(cache);
}

void mem_cache_peek(struct mem_cache *cache, enum mem_layer layer, uint64_t vmid, const struct gpuvm_region *r,
		    uint8_t *host, void *dst, unsigned size_B)
{
	struct mem_page *page = find_page(cache, layer, mem_cache_key(layer, vmid, r, host));
	unsigned offset = mem_page_offset(host), end = offset + size_B, next;

	for (unsigned at = offset; page && at < end; at = next) {
		next = (at / MEM_LINE_B + 1) * MEM_LINE_B;
		if (next > end)
			next = end;
		if (mem_page_has(page, mem_lines(at, 1)))
			memcpy((uint8_t *)dst + (at - offset), page->data + at, next - at);
	}
}

/* --- writing back and dropping --- */

/* Writes eight bytes at once where all were written: they may be a word that the CPU polls. */
GPUVM_RACY static void write_back_word(struct mem_page *page, unsigned at, uint64_t dirty)
{
	uint64_t value;

	memcpy(&value, page->data + at, 8);
	if (dirty == 0x0101010101010101) {
		memcpy(page->memory + at, &value, 8);
		return;
	}
	for (unsigned half = 0; half < 8; half += 4) {
		uint32_t part = (uint32_t)(dirty >> 8 * half), dword = (uint32_t)(value >> 8 * half);

		if (part == 0x01010101)
			memcpy(page->memory + at + half, &dword, 4);
		else
			for (unsigned k = 0; k < 4; k++)
				if (part >> 8 * k & 1)
					page->memory[at + half + k] = (uint8_t)(dword >> 8 * k);
	}
}

/* Writes back the dirty bytes of size_B bytes inside an aligned word of eight. */
static void write_back_part(struct mem_page *page, unsigned offset, unsigned size_B)
{
	uint64_t dirty = 0;

	memcpy((uint8_t *)&dirty + offset % 8, page->dirty + offset, size_B);
	if (!dirty)
		return;
	write_back_word(page, offset & ~7u, dirty);
	memset(page->dirty + offset, 0, size_B);
}

void mem_cache_settle(struct mem_cache *cache, const uint8_t *host, unsigned size_B)
{
	struct mem_page *page;

	vgpu_rank_take(VGPU_RANK_CACHE_USE);
	pthread_rwlock_wrlock(&cache->use);
	page = find_page(cache, MEM_L2, (uintptr_t)host / MEM_PAGE_B);
	if (page)
		write_back_part(page, mem_page_offset(host), size_B);
	pthread_rwlock_unlock(&cache->use);
	vgpu_rank_give(VGPU_RANK_CACHE_USE);
}

void mem_cache_push(struct mem_cache *cache, const uint8_t *host, unsigned size_B)
{
	struct mem_page *page = find_page(cache, MEM_L2, (uintptr_t)host / MEM_PAGE_B);
	unsigned at = mem_page_offset(host), end = at + size_B;

	if (!page || !atomic_load_explicit(&page->written, memory_order_relaxed))
		return;
	vgpu_lock(&cache->fill, VGPU_RANK_CACHE_FILL);
	for (unsigned next; at < end; at = next) {
		next = at / 8 * 8 + 8 < end ? at / 8 * 8 + 8 : end;
		write_back_part(page, at, next - at);
	}
	vgpu_unlock(&cache->fill, VGPU_RANK_CACHE_FILL);
}

/* Empties the dirty bytes of the lines; to memory, or nowhere. Returns how many lines had some. */
static unsigned clean_lines(struct mem_page *page, uint64_t lines, bool write_back)
{
	unsigned count = 0;

	for (; lines; lines &= lines - 1) {
		unsigned line = (unsigned)__builtin_ctzll(lines) * MEM_LINE_B;
		bool any = false;

		for (unsigned at = line; at < line + MEM_LINE_B; at += 8) {
			uint64_t dirty;

			memcpy(&dirty, page->dirty + at, 8);
			if (!dirty)
				continue;
			any = true;
			if (write_back)
				write_back_word(page, at, dirty);
			memset(page->dirty + at, 0, 8);
		}
		count += any;
	}
	return count;
}

/* The lines of a page that [lo, hi) touches. */
static uint64_t lines_within(const struct mem_page *page, uint64_t lo, uint64_t hi)
{
	uint64_t first = page->va > lo ? page->va : lo;
	uint64_t end = page->va + MEM_PAGE_B < hi ? page->va + MEM_PAGE_B : hi;

	return first < end ? mem_lines((unsigned)(first - page->va), (unsigned)(end - first)) : 0;
}

static unsigned clean_l2(struct mem_cache *cache, uint64_t lo, uint64_t hi, bool write_back)
{
	unsigned lines = 0;

	for (struct mem_page *page = cache->pages[MEM_L2]; page; page = page->next) {
		uint64_t within = lines_within(page, lo, hi);

		if (!page->written)
			continue;
		lines += clean_lines(page, within, write_back);
		if (!~within)
			page->written = false;
	}
	return lines;
}

static void drop_lines(struct mem_cache *cache, uint64_t lo, uint64_t hi)
{
	for (struct mem_page *page = cache->pages[MEM_L2]; page; page = page->next)
		page->valid &= ~lines_within(page, lo, hi);
}

static void drop_layer(struct mem_cache *cache, enum mem_layer layer)
{
	struct mem_page **spare = &cache->spare[layer != MEM_L2];

	for (struct mem_page *page = cache->pages[layer], *next; page; page = next) {
		next = page->next;
		atomic_store_explicit(bucket_of(cache, layer, page->key), NULL, memory_order_relaxed);
		page->next = *spare;
		*spare = page;
	}
	cache->pages[layer] = NULL;
	cache->generation++;
}

unsigned mem_cache_maintain(struct mem_cache *cache, unsigned what, uint64_t lo, uint64_t hi)
{
	unsigned lost = 0;

	vgpu_rank_take(VGPU_RANK_CACHE_USE);
	pthread_rwlock_wrlock(&cache->use);
	if (what & MEM_WRITE_BACK)
		clean_l2(cache, lo, hi, true);
	if (what & MEM_DROP_L2) {
		lost = clean_l2(cache, lo, hi, false);
		if (lo || ~hi)
			drop_lines(cache, lo, hi);
		else
			drop_layer(cache, MEM_L2);
	}
	if (what & MEM_DROP_L1) {
		drop_layer(cache, MEM_L1_EVEN);
		drop_layer(cache, MEM_L1_ODD);
	}
	if (what & MEM_DROP_SCALAR)
		drop_layer(cache, MEM_SCALAR);
	if (what & MEM_DROP_CODE)
		drop_layer(cache, MEM_CODE);
	pthread_rwlock_unlock(&cache->use);
	vgpu_rank_give(VGPU_RANK_CACHE_USE);
	return lost;
}

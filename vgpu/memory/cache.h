/* The caches of a device, as far as stale data goes: private copies of the lines that waves and the packet
 * processor read or wrote. Copies and memory exchange data only by an explicit write-back or invalidation.
 *
 *   L2           one; a write stays here until it is written back. Memory of MTYPE UC and CC bypasses it.
 *   vector L1    two, as if dispatches ran on two compute units in turn; written through
 *   scalar, code one each; filled through L2
 *
 * No line is ever evicted: data that hardware may lose some day is lost here at once, and always. Copies are kept
 * in pages of 4 KiB with a bit for each valid line. Scalar and code pages are tagged by VMID and GPU address, as in
 * hardware, so that they outlive a mapping; the others, which every job's end empties, by the host address.
 *
 * Thread rule: mem_cache_enter() to mem_cache_leave() around every use of pages; any number of threads at once.
 * mem_cache_maintain() waits until they have left. Lock order: mem_cache::use, mem_cache::fill. */
#ifndef VGPU_MEMORY_CACHE_H
#define VGPU_MEMORY_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vgpu/gpuvm.h"

enum mem_layer { MEM_L2, MEM_L1_EVEN, MEM_L1_ODD, MEM_SCALAR, MEM_CODE, MEM_LAYERS };

#define MEM_PAGE_B 4096u
#define MEM_LINE_B 64u

/* Copy of a page of memory in a layer. */
struct mem_page {
	uint8_t data[MEM_PAGE_B] __attribute__((aligned(64)));
	uint64_t key;    /* mem_cache_key() */
	uint8_t *memory; /* borrowed, of L2 and L1 only: the host page; read to fill, written back to */
	uint64_t va;     /* GPU address of the access that made it, for ranges */
	struct mem_page *chain,
		*next; /* next of its bucket; next of its layer, or next free. Guarded by mem_cache::fill */
	_Atomic uint64_t valid; /* a bit a line. Release: data is there */
	_Atomic bool written;   /* something in dirty is set */
	uint8_t *dirty;         /* L2 only, else NULL: a byte for each byte of data; part of the page */
};

struct mem_cache;

/* Actions of mem_cache_maintain, in this order. */
enum {
	MEM_WRITE_BACK = 1 << 0,
	MEM_DROP_L2 = 1 << 1,
	MEM_DROP_L1 = 1 << 2,
	MEM_DROP_SCALAR = 1 << 3,
	MEM_DROP_CODE = 1 << 4,
};

/* NULL without memory. */
struct mem_cache *mem_cache_create(void);
void mem_cache_destroy(struct mem_cache *cache);

void mem_cache_enter(struct mem_cache *cache);
void mem_cache_leave(struct mem_cache *cache);
/* Grows whenever pages may have gone; constant between enter and leave. */
uint64_t mem_cache_generation(const struct mem_cache *cache);

/* The layer's page of host, which is mapped by r of the VM with that VMID, with all lines of the size_B bytes
 * there, filled now if need be; they end in the same page. Entered. NULL without memory. */
struct mem_page *mem_cache_page(struct mem_cache *cache, enum mem_layer layer, uint64_t vmid,
				const struct gpuvm_region *r, uint8_t *host, unsigned size_B);

/* Bytes of one page are about to be written to memory itself by way of L2, which forgets that it had newer ones.
 * Not entered. */
void mem_cache_supersede(struct mem_cache *cache, const uint8_t *host, unsigned size_B);
/* An aligned word of 4 or 8 bytes is about to be changed in memory itself, by what it was: what L2 has newer of it
 * is written back. Not entered. May block. */
void mem_cache_settle(struct mem_cache *cache, const uint8_t *host, unsigned size_B);

/* Writes back what L2 has newer of the size_B bytes at host, which end in the same page. Entered. */
void mem_cache_push(struct mem_cache *cache, const uint8_t *host, unsigned size_B);

/* Copies what the layer holds of the size_B bytes at host, which end in the same page, over dst: of a line that is
 * not there nothing. Entered. */
void mem_cache_peek(struct mem_cache *cache, enum mem_layer layer, uint64_t vmid, const struct gpuvm_region *r,
		    uint8_t *host, void *dst, unsigned size_B);

/* Writes back and drops the lines of [lo, hi) of GPU addresses in L2, and the other layers as a whole. Returns how
 * many lines lost writes because L2 dropped them without writing back. Not entered. May block. */
unsigned mem_cache_maintain(struct mem_cache *cache, unsigned what, uint64_t lo, uint64_t hi);

static inline bool mem_in_l2(const struct gpuvm_region *r)
{
	unsigned mtype = (r->flags & GPUVM_MTYPE_MASK) >> GPUVM_MTYPE_SHIFT;

	return mtype == GPUVM_NC || mtype == GPUVM_RW;
}

static inline uint8_t *mem_page_base(uint8_t *host)
{
	return (uint8_t *)((uintptr_t)host & ~(uintptr_t)(MEM_PAGE_B - 1));
}

static inline unsigned mem_page_offset(const uint8_t *host)
{
	return (uintptr_t)host & (MEM_PAGE_B - 1);
}

/* How many of size_B bytes at host are in its page. */
static inline uint64_t mem_page_clip(const uint8_t *host, uint64_t size_B)
{
	uint64_t left_B = MEM_PAGE_B - mem_page_offset(host);

	return size_B < left_B ? size_B : left_B;
}

static inline uint64_t mem_cache_key(enum mem_layer layer, uint64_t vmid, const struct gpuvm_region *r,
				     const uint8_t *host)
{
	if (layer == MEM_SCALAR || layer == MEM_CODE)
		return vmid << 36 ^ (r->lo + (uint64_t)(host - r->host)) / MEM_PAGE_B; /* 36 bits of page number */
	return (uintptr_t)host / MEM_PAGE_B;
}

/* The lines of size_B bytes (at least one) at an offset into a page. */
static inline uint64_t mem_lines(unsigned offset, unsigned size_B)
{
	unsigned first = offset / MEM_LINE_B, last = (offset + size_B - 1) / MEM_LINE_B;

	return ~(uint64_t)0 >> (63 - (last - first)) << first;
}

static inline bool mem_page_has(struct mem_page *page, uint64_t lines)
{
	return (atomic_load_explicit(&page->valid, memory_order_acquire) & lines) == lines;
}

/* After bytes of an L2 page were written: marks them. */
static inline void mem_page_written(struct mem_page *page)
{
	if (!atomic_load_explicit(&page->written, memory_order_relaxed))
		atomic_store_explicit(&page->written, true, memory_order_relaxed);
}

#endif

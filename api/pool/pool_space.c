/* The arena of a pool: its blocks and chunks. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drv/lock.h"
#include "api/pool/pool.h"

#define ARENA_ALIGN (4ull << 30) /* pool.c finds pools by slots of this size */

/* --- blocks ----------------------------------------------------------------------------------- */

static uint64_t size_of(const struct hip_block *b)
{
	return b->node.hi - b->node.lo;
}

static struct hip_block *block_of(struct vm_node *node)
{
	return node ? vm_container(node, struct hip_block, node) : NULL;
}

/* The block's entry in the pool's table. */
static struct hip_block *_Atomic *table_entry(const struct hip_pool *p, const struct hip_block *b)
{
	return &p->table[(b->node.lo - (uintptr_t)p->base) / HIP_POOL_QUANTUM];
}

static struct hip_block *block_at(const struct hip_pool *p, uint64_t address)
{
	return block_of(vm_tree_next(&p->blocks, NULL, address, address + 1));
}

/* The bin of a size: bins are in the order of size. */
static unsigned bin_of(uint64_t size_B)
{
	unsigned bin = hip_class_of(size_B);

	return bin < HIP_POOL_BINS ? bin : HIP_POOL_BINS - 1;
}

static void bin_insert(struct hip_pool *p, struct hip_block *b)
{
	LIST_INSERT_HEAD(&p->bin[bin_of(size_of(b))], b, in_bin);
	p->free_B += size_of(b);
}

static void bin_remove(struct hip_pool *p, struct hip_block *b)
{
	p->free_B -= size_of(b);
	LIST_REMOVE(b, in_bin);
}

/* Blocks in the spare list are unused, without a tag; threads may still load their `used`. */
static struct hip_block *new_block(struct hip_pool *p, uint64_t lo, uint64_t hi, enum hip_block_state state)
{
	struct hip_block *b = p->spare;

	if (b)
		p->spare = b->next;
	else
		b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->index = b->frees = 0;
	b->node.lo = lo;
	b->node.hi = hi;
	b->state = state;
	vm_tree_insert(&p->blocks, &b->node);
	return b;
}

/* Secures that the next `count` blocks need no memory. */
static bool blocks_reserve(struct hip_pool *p, unsigned count)
{
	for (struct hip_block *b = p->spare; b && count; b = b->next)
		count--;
	for (; count; count--) {
		struct hip_block *b = calloc(1, sizeof(*b));

		if (!b)
			return false;
		b->next = p->spare;
		p->spare = b;
	}
	return true;
}

static void block_resize(struct hip_pool *p, struct hip_block *b, uint64_t lo, uint64_t hi)
{
	vm_tree_remove(&p->blocks, &b->node);
	b->node.lo = lo;
	b->node.hi = hi;
	vm_tree_insert(&p->blocks, &b->node);
}

/* Copies the tag of another block; NULL: nothing uses the memory. */
static void set_tag(struct hip_block *b, const struct hip_block *from)
{
	struct hip_stream *old = b->stream;

	b->stream = from && from->stream ? hip_stream_get(from->stream) : NULL;
	b->index = from ? from->index : 0;
	b->frees = from ? from->frees : 0;
	hip_stream_put(old);
}

static void drop_block(struct hip_pool *p, struct hip_block *b)
{
	vm_tree_remove(&p->blocks, &b->node);
	hip_stream_put(b->stream);
	b->stream = NULL;
	atomic_store_explicit(&b->used, 0, memory_order_relaxed);
	b->next = p->spare;
	p->spare = b;
}

/* Joins a block with a free neighbour that has the same stream, or no stream, in its tag. */
static void block_join(struct hip_pool *p, struct hip_block *b, struct hip_block *with)
{
	uint64_t lo, hi;

	if (!with || with->state != HIP_BLOCK_FREE || with->stream != b->stream)
		return;
	lo = with->node.lo < b->node.lo ? with->node.lo : b->node.lo;
	hi = with->node.hi > b->node.hi ? with->node.hi : b->node.hi;
	if (with->index > b->index)
		b->index = with->index;
	if (with->frees > b->frees)
		b->frees = with->frees;
	bin_remove(p, with);
	drop_block(p, with);
	block_resize(p, b, lo, hi);
}

/* Puts a block into its bin. The tag holds a reference to the stream. */
static void put_free(struct hip_pool *p, struct hip_block *b)
{
	b->state = HIP_BLOCK_FREE;
	if (b->node.lo > (uintptr_t)p->base)
		block_join(p, b, block_at(p, b->node.lo - 1));
	block_join(p, b, block_at(p, b->node.hi));
	bin_insert(p, b);
}

void hip_arena_give_locked(struct hip_pool *p, struct hip_block *b)
{
	if (b->stream)
		hip_stream_get(b->stream);
	atomic_store_explicit(table_entry(p, b), NULL, memory_order_relaxed);
	p->live--;
	put_free(p, b);
}

/* The size of a block for a request. */
static size_t block_size(size_t size_B)
{
	unsigned class = hip_class_of(size_B);

	return class < HIP_POOL_CLASSES ? hip_class_size(class)
					: (size_B + HIP_POOL_QUANTUM - 1) & ~(size_t)(HIP_POOL_QUANTUM - 1);
}

/* The class whose size is exactly the block's; HIP_POOL_CLASSES: none. A block whose remainder was too small to cut
 * off is larger than its class. */
static unsigned class_of_block(const struct hip_block *b)
{
	size_t size_B = b->node.hi - b->node.lo;
	unsigned class = hip_class_of(size_B);

	return class < HIP_POOL_CLASSES && size_B == hip_class_size(class) ? class : HIP_POOL_CLASSES;
}

/* --- permission to use a block ---------------------------------------------------------------- */

static bool is_host_synced(const struct hip_block *b)
{
	return !b->stream || atomic_load(&b->stream->gone) ||
	       atomic_load_explicit(&b->stream->host_frees, memory_order_relaxed) >= b->frees;
}

static bool has_ended(const struct hip_block *b)
{
	const struct hip_point point = {.stream = b->stream, .index = b->index};

	return is_host_synced(b) || hip_point_is_completed(&point);
}

static bool may_use(const struct hip_pool *p, const struct hip_block *b, struct hip_stream *s)
{
	return b->stream == s || is_host_synced(b) ||
	       (p->follow && hip_frontier_covers(s, b->stream) >= b->frees) || (p->opportunistic && has_ended(b));
}

/* --- allocation of blocks --------------------------------------------------------------------- */

/* The program's use of a block. */
static void block_mark(struct hip_block *b, size_t requested_B)
{
	b->state = HIP_BLOCK_TAKEN;
	atomic_store_explicit(&b->requested_B, requested_B, memory_order_relaxed);
	atomic_store_explicit(&b->used, b->node.lo + class_of_block(b), memory_order_release);
}

/* Takes a block from its bin for the program, and cuts off what exceeds the size. The remainder keeps the tag. */
static void *block_use(struct hip_pool *p, struct hip_cache *c, struct hip_block *b, size_t requested_B)
{
	const size_t size_B = block_size(requested_B);

	bin_remove(p, b);
	if (size_of(b) > size_B) {
		struct hip_block *rest = NULL;
		uint64_t end = b->node.hi;

		block_resize(p, b, b->node.lo, b->node.lo + size_B);
		rest = new_block(p, b->node.hi, end, HIP_BLOCK_FREE);
		if (rest) {
			set_tag(rest, b);
			bin_insert(p, rest);
		} else {
			block_resize(p, b, b->node.lo, end);
		}
	}
	set_tag(b, NULL);
	block_mark(b, requested_B);
	atomic_store_explicit(table_entry(p, b), b, memory_order_release);
	p->live++;
	hip_cache_count(p, c, (int64_t)requested_B);
	return (void *)(uintptr_t)b->node.lo;
}

/* The smallest block that is large enough; the first of several. */
static struct hip_block *best_block(const struct hip_pool *p, struct hip_stream *s, uint64_t size_B)
{
	struct hip_block *found = NULL, *b;

	for (unsigned bin = bin_of(size_B); bin < HIP_POOL_BINS; bin++) {
		LIST_FOREACH(b, &p->bin[bin], in_bin)
			if (size_of(b) >= size_B &&
			    (!found || size_of(b) < size_of(found) ||
			     (size_of(b) == size_of(found) && b->node.lo < found->node.lo)) &&
			    may_use(p, b, s))
				found = b;
		if (found)
			return found;
	}
	return NULL;
}

/* Joins the blocks from `first` to the address `end`, all of which the caller may use, to one. */
static struct hip_block *blocks_merge(struct hip_pool *p, struct hip_block *first, uint64_t end)
{
	while (first->node.hi < end) {
		struct hip_block *next = block_at(p, first->node.hi);

		bin_remove(p, next);
		/* A remainder that is cut off later gets the tag of the last block. */
		set_tag(first, next);
		uint64_t hi = next->node.hi;
		drop_block(p, next);
		block_resize(p, first, first->node.lo, hi);
	}
	return first;
}

typedef bool usable_fn(const struct hip_pool *p, const struct hip_block *b, struct hip_stream *s);

/* Finds consecutive free blocks that together are large enough. */
static struct hip_block *free_run_find(struct hip_pool *p, struct hip_stream *s, uint64_t size_B, usable_fn *usable,
				       uint64_t *end)
{
	struct hip_block *first = NULL;
	struct vm_node *node = NULL;
	uint64_t hi = 0;

	while ((node = vm_tree_next(&p->blocks, node, (uintptr_t)p->base, (uintptr_t)p->base + p->arena_B))) {
		struct hip_block *b = block_of(node);

		if (b->state != HIP_BLOCK_FREE || !usable(p, b, s)) {
			first = NULL;
			continue;
		}
		if (!first || b->node.lo != hi)
			first = b;
		hi = b->node.hi;
		if (hi - first->node.lo >= size_B) {
			*end = hi;
			return first;
		}
	}
	return NULL;
}

static void *take_locked(struct hip_pool *p, struct hip_cache *c, size_t requested_B)
{
	const size_t size_B = block_size(requested_B);
	struct hip_block *b;
	uint64_t end;

	/* Memory that other streams have freed is preferred to memory that was never used. */
	hip_caches_drain_locked(p);
	b = best_block(p, c->stream, size_B);
	if (b)
		return block_use(p, c, b, requested_B);
	b = p->free_B >= size_B ? free_run_find(p, c->stream, size_B, may_use, &end) : NULL;
	if (!b)
		return NULL;
	return block_use(p, c, blocks_merge(p, b, end), requested_B);
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* Finds the first hole (addresses without memory) that is large enough. 0: none. */
static uint64_t find_hole(struct hip_pool *p, uint64_t size_B)
{
	uint64_t base = (uintptr_t)p->base, end = base + p->arena_B, at = p->full_to > base ? p->full_to : base;
	struct vm_node *node = NULL;
	bool full = true;

	while ((node = vm_tree_next(&p->blocks, node, at, end)) && node->lo < at + size_B) {
		full = full && node->lo < at + HIP_POOL_CHUNK_B;
		at = (node->hi + HIP_POOL_CHUNK_B - 1) & ~(uint64_t)(HIP_POOL_CHUNK_B - 1);
		p->full_to = full ? at : p->full_to;
	}
	return end - at >= size_B ? at : 0;
}

/* Turns the addresses of a chunk that was not mapped, or is unmapped, into a hole. */
static void drop_addresses(struct hip_pool *p, struct hip_block *b)
{
	if (b->node.lo < p->full_to)
		p->full_to = b->node.lo;
	drop_block(p, b);
}

hipError_t hip_pool_update_access(const struct hip_pool *p, uint64_t lo, uint64_t size_B)
{
	hsa_amd_memory_access_desc_t access[HIP_DEVICES_MAX];

	for (unsigned i = 0; i < hip.devices; i++)
		access[i] = (hsa_amd_memory_access_desc_t){p->access[i] != hipMemAccessFlagsProtNone
								   ? HSA_ACCESS_PERMISSION_RW
								   : HSA_ACCESS_PERMISSION_NONE,
							   hip.device[i].agent};
	return hip_of_hsa(hsa_amd_vmem_set_access((void *)(uintptr_t)lo, size_B, access, hip.devices));
}

static bool map_chunk(const struct hip_pool *p, struct hip_chunk_memory *c)
{
	uint64_t size_B = c->hi - c->lo;

	if (hsa_amd_vmem_handle_create(p->device->vram, size_B, MEMORY_TYPE_PINNED, 0, &c->handle))
		return false;
	if (!hsa_amd_vmem_map((void *)(uintptr_t)c->lo, size_B, 0, c->handle, 0))
		return true;
	hsa_amd_vmem_handle_release(c->handle);
	return false;
}

static void add_chunk(struct hip_pool *p, struct hip_chunk_memory *c)
{
	struct hip_chunk_memory **at = &p->chunks;

	while (*at && (*at)->lo < c->lo)
		at = &(*at)->next;
	c->next = *at;
	*at = c;
}

enum grown { GROWN, AT_LIMIT, NO_MEMORY };

/* Reserves addresses for a chunk. Its bytes count as reserved from here on. */
static enum grown begin_chunk_locked(struct hip_pool *p, struct hip_chunk_memory *c, uint64_t size_B,
				     struct hip_block **coming)
{
	if (p->dead || size_B > p->most_B || p->reserved_B > p->most_B - size_B)
		return AT_LIMIT;
	c->lo = find_hole(p, size_B);
	c->hi = c->lo + size_B;
	*coming = c->lo ? new_block(p, c->lo, c->hi, HIP_BLOCK_COMING) : NULL;
	if (!*coming)
		return NO_MEMORY;
	p->reserved_B += size_B;
	return GROWN;
}

/* Publishes a chunk that is mapped. */
static void publish_chunk_locked(struct hip_pool *p, struct hip_chunk_memory *c, struct hip_block *coming)
{
	add_chunk(p, c);
	if (p->reserved_B > p->reserved_high_B)
		p->reserved_high_B = p->reserved_B;
	put_free(p, coming);
}

/* True when every block in the chunk is free, and nothing uses it any more. */
static bool chunk_is_unused(const struct hip_pool *p, const struct hip_chunk_memory *c, bool any)
{
	struct vm_node *node = NULL;

	while ((node = vm_tree_next(&p->blocks, node, c->lo, c->hi))) {
		const struct hip_block *b = block_of(node);

		if (b->state != HIP_BLOCK_FREE || !(any ? has_ended(b) : is_host_synced(b)))
			return false;
	}
	return true;
}

/* Removes the blocks from a chunk's addresses; free blocks that reach over its ends are cut. In their place is a block in the state
 * COMING, which keeps the addresses from being used until the memory is unmapped. False: without memory nothing is changed. */
static bool cut_out(struct hip_pool *p, const struct hip_chunk_memory *c)
{
	struct hip_block *b;

	if (!blocks_reserve(p, 2)) /* behind the chunk, and in its place */
		return false;
	while ((b = block_of(vm_tree_next(&p->blocks, NULL, c->lo, c->hi)))) {
		uint64_t lo = b->node.lo, hi = b->node.hi;
		struct hip_block *behind = hi > c->hi ? new_block(p, c->hi, hi, HIP_BLOCK_FREE) : NULL;

		if (behind) {
			set_tag(behind, b);
			bin_insert(p, behind);
		}
		bin_remove(p, b);
		if (lo < c->lo) {
			block_resize(p, b, lo, c->lo);
			bin_insert(p, b);
		} else {
			drop_block(p, b);
		}
	}
	new_block(p, c->lo, c->hi, HIP_BLOCK_COMING);
	return true;
}

/* False: the kernel failed to unmap it. */
static bool chunk_unmap(struct hip_chunk_memory *c)
{
	if (hsa_amd_vmem_unmap((void *)(uintptr_t)c->lo, c->hi - c->lo))
		return false;
	hsa_amd_vmem_handle_release(c->handle);
	free(c);
	return true;
}

void hip_chunks_unmap(struct hip_chunk_memory *c)
{
	while (c) {
		struct hip_chunk_memory *next = c->next;

		if (!chunk_unmap(c)) {
			hsa_amd_vmem_handle_release(c->handle);
			free(c);
		}
		c = next;
	}
}

/* Unmaps a chunk that was cut out, and makes its addresses a hole. A chunk that cannot be unmapped is stuck, and
 * tried again later. */
static void end_chunk(struct hip_pool *p, struct hip_chunk_memory *c)
{
	const uint64_t lo = c->lo;
	struct hip_block *b;

	if (!chunk_unmap(c)) {
		drv_mutex_lock(&p->lock);
		c->next = p->stuck;
		p->stuck = c;
		drv_mutex_unlock(&p->lock);
		return;
	}
	drv_mutex_lock(&p->lock);
	b = block_at(p, lo);
	if (b && b->state == HIP_BLOCK_COMING)
		drop_addresses(p, b);
	drv_mutex_unlock(&p->lock);
}

/* Adds a chunk. Addresses are reserved under the lock, memory is mapped without it, and the new block is the
 * stream's before other threads can see it. access_lock is held from the setting of access until the chunk is in the
 * list. */
static enum grown arena_grow(struct hip_pool *p, struct hip_cache *cache, size_t size_B, void **out)
{
	const uint64_t chunk_B = (block_size(size_B) + HIP_POOL_CHUNK_B - 1) & ~(uint64_t)(HIP_POOL_CHUNK_B - 1);
	struct hip_chunk_memory *c = calloc(1, sizeof(*c));
	struct hip_block *coming;
	enum grown grown;
	bool mapped;

	if (!c)
		return NO_MEMORY;
	drv_mutex_lock(&p->lock);
	grown = begin_chunk_locked(p, c, chunk_B, &coming);
	drv_mutex_unlock(&p->lock);
	if (grown) {
		free(c);
		return grown;
	}
	mapped = map_chunk(p, c);
	drv_mutex_lock(&p->access_lock);
	grown = mapped && !hip_pool_update_access(p, c->lo, chunk_B) ? GROWN : NO_MEMORY;
	drv_mutex_lock(&p->lock);
	if (!grown) {
		publish_chunk_locked(p, c, coming);
		*out = take_locked(p, cache, size_B);
	} else {
		p->reserved_B -= chunk_B;
		if (!mapped)
			drop_addresses(p, coming);
	}
	drv_mutex_unlock(&p->lock);
	drv_mutex_unlock(&p->access_lock);
	if (grown && mapped)
		end_chunk(p, c);
	else if (grown)
		free(c);
	return grown;
}

void hip_arena_trim(struct hip_pool *p, uint64_t keep_B, bool any)
{
	struct hip_chunk_memory *gone, **at;

	drv_mutex_lock(&p->lock);
	gone = p->stuck;
	p->stuck = NULL;
	hip_caches_drain_locked(p);
	for (at = &p->chunks; *at;) {
		struct hip_chunk_memory *c = *at;
		uint64_t size_B = c->hi - c->lo;

		if (p->reserved_B - size_B < keep_B || !chunk_is_unused(p, c, any) || !cut_out(p, c)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		c->next = gone;
		gone = c;
		p->reserved_B -= size_B;
	}
	drv_mutex_unlock(&p->lock);
	for (struct hip_chunk_memory *c = gone, *next; c; c = next) {
		next = c->next;
		end_chunk(p, c);
	}
}

bool hip_arena_around(struct hip_pool *p, const void *ptr, uint64_t *lo, uint64_t *hi, uint64_t *requested_B)
{
	const struct hip_block *b;
	bool found;

	drv_mutex_lock(&p->lock);
	b = block_at(p, (uintptr_t)ptr);
	found = b && hip_block_is_used(b) && b->node.lo == (uintptr_t)ptr;
	for (const struct hip_chunk_memory *c = p->chunks; found && c && c->lo < b->node.hi; c = c->next) {
		if (c->lo <= b->node.lo)
			*lo = c->lo;
		*hi = c->hi;
		*requested_B = b->requested_B;
	}
	drv_mutex_unlock(&p->lock);
	return found;
}

hipError_t hip_arena_set_access(struct hip_pool *p)
{
	hipError_t r = hipSuccess;

	drv_mutex_lock(&p->lock);
	for (struct hip_chunk_memory *c = p->chunks; c && !r; c = c->next)
		r = hip_pool_update_access(p, c->lo, c->hi - c->lo);
	drv_mutex_unlock(&p->lock);
	return r;
}

/* --- allocation with waits; the whole arena --------------------------------------------------- */

/* True for blocks of other streams, which the stream can be made to wait for. */
static bool may_wait(const struct hip_pool *p, const struct hip_block *b, struct hip_stream *s)
{
	(void)p, (void)b, (void)s;
	return true;
}

static hipError_t wait_for_run(struct hip_stream *s, const struct hip_point *points, unsigned count)
{
	hipError_t r = hip_stream_begin(s);

	if (r)
		return r;
	for (unsigned i = 0; !r && i < count; i++)
		r = hip_stream_after(s, &points[i]);
	hip_stream_done(s);
	return r;
}

#define WAITS_MAX 64 /* streams that one allocation may wait for */

/* Adds the block's tag to the points to wait for. False: too many streams. */
static bool add_point(struct hip_point *points, unsigned *count, const struct hip_block *b)
{
	unsigned i = 0;

	while (i < *count && points[i].stream != b->stream)
		i++;
	if (i == WAITS_MAX)
		return false;
	if (i == *count)
		points[(*count)++] = (struct hip_point){.stream = hip_stream_get(b->stream)};
	if (points[i].index < b->index)
		points[i].index = b->index;
	if (points[i].frees < b->frees)
		points[i].frees = b->frees;
	return true;
}

static void *take_pending_locked(struct hip_pool *p, struct hip_cache *c, size_t size_B, struct hip_point *points,
				 unsigned *count)
{
	struct vm_node *node = NULL;
	struct hip_block *b;
	uint64_t end;

	if (p->dead)
		return NULL;
	hip_caches_drain_locked(p);
	b = free_run_find(p, c->stream, block_size(size_B), may_wait, &end);
	while (b && (node = vm_tree_next(&p->blocks, node, b->node.lo, end))) {
		struct hip_block *part = block_of(node);

		if (!may_use(p, part, c->stream) && !add_point(points, count, part))
			return NULL;
	}
	return b ? block_use(p, c, blocks_merge(p, b, end), size_B) : NULL;
}

/* Frees memory for which the stream could not be made to wait; the host waits instead, so that its block has no tag. A reset
 * may have taken the block meanwhile. */
static void give_up(struct hip_pool *p, struct hip_cache *c, const void *ptr, const struct hip_point *points,
		    unsigned count)
{
	struct hip_block *b;

	for (unsigned i = 0; i < count; i++)
		(void)!hip_point_wait(&points[i]);
	drv_mutex_lock(&p->lock);
	b = block_at(p, (uintptr_t)ptr);
	if (b && hip_block_take_back(b, ptr, class_of_block(b))) {
		hip_cache_count(p, c, -(int64_t)b->requested_B);
		hip_arena_give_locked(p, b);
	}
	drv_mutex_unlock(&p->lock);
}

/* The last resort: the stream waits, on the GPU, for the users of free blocks. */
static hipError_t take_by_waiting(struct hip_pool *p, struct hip_cache *c, size_t size_B, void **out)
{
	struct hip_point points[WAITS_MAX];
	unsigned count = 0;
	hipError_t r;

	drv_mutex_lock(&p->lock);
	*out = take_pending_locked(p, c, size_B, points, &count);
	drv_mutex_unlock(&p->lock);
	r = *out ? wait_for_run(c->stream, points, count) : hipErrorOutOfMemory;
	if (*out && r)
		give_up(p, c, *out, points, count);
	for (unsigned i = 0; i < count; i++)
		hip_point_put(&points[i]);
	return r;
}

static enum grown take_or_grow(struct hip_pool *p, struct hip_cache *c, size_t size_B, void **out)
{
	drv_mutex_lock(&p->lock);
	*out = p->dead ? NULL : take_locked(p, c, size_B);
	drv_mutex_unlock(&p->lock);
	return *out ? GROWN : arena_grow(p, c, size_B, out);
}

hipError_t hip_arena_take(struct hip_pool *p, struct hip_cache *c, size_t size_B, void **out)
{
	enum grown grown;

	hip_stream_follow_rules(c->stream);
	grown = take_or_grow(p, c, size_B, out);
	/* Memory whose users have ended may be fragmented: unmapping it makes room for one large chunk. */
	if (grown) {
		hip_arena_trim(p, 0, true);
		grown = take_or_grow(p, c, size_B, out);
	}
	if (grown == NO_MEMORY) {
		hip_pools_reclaim(p->device, p);
		grown = take_or_grow(p, c, size_B, out);
	}
	if (!grown)
		return hipSuccess;
	return p->internal ? take_by_waiting(p, c, size_B, out) : hipErrorOutOfMemory;
}

static size_t table_size(const struct hip_pool *p)
{
	return p->arena_B / HIP_POOL_QUANTUM * sizeof(*p->table);
}

hipError_t hip_arena_init(struct hip_pool *p)
{
	size_t vram_B = (p->device->vram_B + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
	void *base, *table;

	/* Twice the GPU's memory: fragmentation by blocks in use leaves enough consecutive addresses. */
	p->arena_B = 2 * vram_B;
	if (hsa_amd_vmem_address_reserve_align(&base, p->arena_B, 0, ARENA_ALIGN, HSA_AMD_VMEM_ADDRESS_NO_REGISTER))
		return hipErrorOutOfMemory;
	table = mmap(NULL, table_size(p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		     0);
	if (table == MAP_FAILED) {
		hsa_amd_vmem_address_free(base, p->arena_B);
		return hipErrorOutOfMemory;
	}
	p->base = base;
	p->table = table;
	return hipSuccess;
}

static bool is_stuck(const struct hip_pool *p, uint64_t lo)
{
	const struct hip_chunk_memory *c = p->stuck;

	while (c && c->lo != lo)
		c = c->next;
	return c;
}

/* True while chunks are mapped or unmapped. */
static bool is_at_work(const struct hip_pool *p)
{
	struct vm_node *node = NULL;

	while ((node = vm_tree_next(&p->blocks, node, 0, UINT64_MAX)))
		if (block_of(node)->state == HIP_BLOCK_COMING && !is_stuck(p, node->lo))
			return true;
	return false;
}

/* Takes the blocks from the program, the caches and the bins. With the locks of all caches no other thread has one. */
static void drop_blocks(struct hip_pool *p)
{
	struct hip_block *b;

	hip_caches_lock(p);
	hip_caches_clear_locked(p);
	while ((b = block_of(vm_tree_next(&p->blocks, NULL, 0, UINT64_MAX)))) {
		if (b->state == HIP_BLOCK_TAKEN)
			b->stream = NULL; /* borrowed */
		drop_block(p, b);
	}
	memset(p->bin, 0, sizeof(p->bin));
	(void)!madvise(p->table, table_size(p), MADV_DONTNEED);
	hip_caches_unlock(p);
}

static void drop_all(struct hip_pool *p)
{
	drop_blocks(p);
	hip_chunks_unmap(p->chunks);
	hip_chunks_unmap(p->stuck);
	p->chunks = p->stuck = NULL;
	p->free_B = p->full_to = 0;
	p->reserved_B = p->reserved_high_B = p->used_high_B = p->live = 0;
	p->used_by_dead_B = 0;
}

void hip_arena_empty(struct hip_pool *p)
{
	struct drv_pause pause = {0};

	drv_mutex_lock(&p->lock);
	while (is_at_work(p)) {
		drv_mutex_unlock(&p->lock);
		drv_pause(&pause);
		drv_mutex_lock(&p->lock);
	}
	drop_all(p);
	drv_mutex_unlock(&p->lock);
}

void hip_arena_fini(struct hip_pool *p)
{
	struct hip_block *b;

	while ((b = p->spare)) {
		p->spare = b->next;
		free(b);
	}
	if (!p->base)
		return;
	hsa_amd_vmem_address_free(p->base, p->arena_B);
	munmap(p->table, table_size(p));
}

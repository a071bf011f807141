/* Allocation and freeing: each stream has caches of the blocks that were freed on it. */
#include "drv/lock.h"
#include "api/memory/memory.h"
#include "api/pool/pool.h"
#include "api/stream/capture.h"

#include <stdlib.h>
#include <string.h>

/* --- caches ----------------------------------------------------------------------------------- */

/* Serializes new caches with the end of a stream, which gets no caches after it. Between the lock of the list of
 * pools and a pool's. */
static struct drv_mutex joining = DRV_MUTEX(DRV_RANK_HIP_CACHES);

static void cache_clear_locked(struct hip_cache *c)
{
	c->used_B = c->quota_B = 0;
	memset(c->count, 0, sizeof(c->count));
	c->large = 0;
}

/* Takes over a cache of the stream whose pool has ended; nothing is in it any more. The caller holds the pool's
 * lock. */
static struct hip_cache *cache_take_over(struct hip_pool *p, struct hip_stream *s)
{
	bool taken = false;
	struct hip_cache *c;

	for (c = atomic_load(&s->caches); c; c = c->next) {
		drv_lock(&c->lock);
		taken = !c->pool;
		if (taken) {
			cache_clear_locked(c);
			c->pool = p;
		}
		drv_unlock(&c->lock);
		if (taken)
			break;
	}
	return c;
}

static struct hip_cache *add_cache(struct hip_pool *p, struct hip_stream *s)
{
	struct hip_cache *c = aligned_alloc(_Alignof(struct hip_cache), sizeof(*c));

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	drv_lock_set_rank(&c->lock, DRV_RANK_HIP_CACHE);
	c->pool = p;
	c->stream = s;
	/* Several threads may call on one stream; two caches of one pool on it are harmless. */
	c->next = s->caches;
	atomic_store_explicit(&s->caches, c, memory_order_release);
	return c;
}

__attribute__((noinline)) static struct hip_cache *make_cache(struct hip_pool *p, struct hip_stream *s)
{
	struct hip_cache *c = NULL;

	drv_mutex_lock(&joining);
	drv_mutex_lock(&p->lock);
	if (!atomic_load(&s->closing) && !p->ended) {
		c = cache_take_over(p, s);
		c = c ? c : add_cache(p, s);
	}
	if (c) {
		c->next_in_pool = p->caches;
		p->caches = c;
	}
	drv_mutex_unlock(&p->lock);
	drv_mutex_unlock(&joining);
	return c;
}

static inline struct hip_cache *cache_of(struct hip_pool *p, struct hip_stream *s)
{
	struct hip_cache *c = atomic_load_explicit(&s->caches, memory_order_acquire);

	while (c && atomic_load_explicit(&c->pool, memory_order_relaxed) != p)
		c = c->next;
	return __builtin_expect(c != NULL, 1) ? c : make_cache(p, s);
}

static void block_give(struct hip_cache *c, struct hip_block *b)
{
	b->stream = c->stream;
	hip_arena_give_locked(c->pool, b);
}

/* Returns the cache's blocks to the arena. The caller holds the pool's lock. */
static void cache_drain(struct hip_cache *c)
{
	drv_lock(&c->lock);
	for (unsigned i = 0; i < HIP_POOL_CLASSES; i++)
		while (c->count[i])
			block_give(c, c->block[i][--c->count[i]]);
	while (c->large)
		block_give(c, c->large_block[--c->large]);
	drv_unlock(&c->lock);
}

void hip_caches_drain_locked(struct hip_pool *p)
{
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool)
		cache_drain(c);
}

void hip_caches_lock(struct hip_pool *p)
{
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool)
		drv_lock(&c->lock);
}

void hip_caches_unlock(struct hip_pool *p)
{
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool)
		drv_unlock(&c->lock);
}

void hip_caches_clear_locked(struct hip_pool *p)
{
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool)
		cache_clear_locked(c);
}

uint64_t hip_pool_used_locked(struct hip_pool *p)
{
	int64_t used_B = p->used_by_dead_B;

	hip_caches_lock(p);
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool) {
		used_B += c->used_B;
		c->quota_B = c->used_B;
	}
	hip_caches_unlock(p);
	if (used_B > (int64_t)p->used_high_B)
		p->used_high_B = (uint64_t)used_B;
	return (uint64_t)used_B;
}

void hip_cache_count(struct hip_pool *p, struct hip_cache *c, int64_t size_B)
{
	bool counted = false;

	if (c) {
		drv_lock(&c->lock);
		counted = c->pool == p;
		c->used_B += counted ? size_B : 0;
		drv_unlock(&c->lock);
	}
	p->used_by_dead_B += counted ? 0 : size_B;
}

/* Updates the pool's maximum: this cache uses more than at the last update. */
__attribute__((cold, noinline)) static void maximum_update(struct hip_pool *p)
{
	drv_mutex_lock(&p->lock);
	(void)hip_pool_used_locked(p);
	drv_mutex_unlock(&p->lock);
}

static void cache_end(struct hip_cache *c)
{
	struct hip_pool *p = c->pool;
	struct hip_cache **at;

	if (!p)
		return;
	drv_mutex_lock(&p->lock);
	cache_drain(c);
	p->used_by_dead_B += c->used_B;
	for (at = &p->caches; *at != c; at = &(*at)->next_in_pool)
		continue;
	*at = c->next_in_pool;
	drv_lock(&c->lock);
	c->pool = NULL;
	drv_unlock(&c->lock);
	drv_mutex_unlock(&p->lock);
}

void hip_caches_close_stream(struct hip_stream *s)
{
	drv_mutex_lock(&joining);
	for (struct hip_cache *c = atomic_load(&s->caches); c; c = c->next)
		cache_end(c);
	drv_mutex_unlock(&joining);
}

static void free_cache(struct drv_retired *retired)
{
	free(vm_container(retired, struct hip_cache, retired));
}

void hip_caches_free(struct hip_stream *s)
{
	for (struct hip_cache *c = s->caches, *next; c; c = next) {
		next = c->next;
		drv_retire(&hip_calls, &c->retired, free_cache);
	}
}

/* --- allocation ------------------------------------------------------------------------------- */

/* Takes a block that the stream freed itself. NULL: none of the size. The caller holds the cache's lock. */
static inline struct hip_block *take_cached(struct hip_cache *c, size_t size_B, unsigned *class_out)
{
	unsigned class = hip_class_of(size_B);

	*class_out = class < HIP_POOL_CLASSES ? class : HIP_POOL_CLASSES;
	if (__builtin_expect(class < HIP_POOL_CLASSES, 1))
		return c->count[class] ? c->block[class][--c->count[class]] : NULL;
	size_B = (size_B + HIP_POOL_QUANTUM - 1) & ~(size_t)(HIP_POOL_QUANTUM - 1);
	for (unsigned i = c->large; i--;)
		if (c->large_block[i]->node.hi - c->large_block[i]->node.lo == size_B) {
			struct hip_block *b = c->large_block[i];

			c->large_block[i] = c->large_block[--c->large];
			return b;
		}
	return NULL;
}

/* Marks the block as used. The caller holds the cache's lock. */
static inline void *take_out(struct hip_cache *c, struct hip_block *b, unsigned class, size_t size_B)
{
	atomic_store_explicit(&b->requested_B, size_B, memory_order_relaxed);
	atomic_store_explicit(&b->used, b->node.lo + class, memory_order_release);
	c->used_B += (int64_t)size_B;
	return (void *)(uintptr_t)b->node.lo;
}

static hipError_t pool_malloc(void **out, size_t size_B, struct hip_pool *p, struct hip_stream *s)
{
	struct hip_cache *c;
	struct hip_block *b;
	unsigned class;
	bool more;
	hipError_t r = hip_fault(s->device);

	*out = NULL;
	if (r || !size_B)
		return r;
	if (size_B > p->device->vram_B)
		return hipErrorOutOfMemory;
	c = cache_of(p, s);
	if (!c)
		return hipErrorOutOfMemory;
	drv_lock(&c->lock);
	/* The pool may have ended, and another have taken over the cache. */
	b = c->pool == p ? take_cached(c, size_B, &class) : NULL;
	if (b) {
		*out = take_out(c, b, class, size_B);
	} else {
		drv_unlock(&c->lock);
		r = hip_arena_take(p, c, size_B, out);
		if (r)
			return r;
		drv_lock(&c->lock);
	}
	more = c->used_B > c->quota_B;
	drv_unlock(&c->lock);
	if (more)
		maximum_update(p);
	return hipSuccess;
}

/* The fast path: takes a block of the class that the stream itself freed, if that does not raise the pool's
 * maximum. p may be NULL: caches of an ended pool have that, too, and are empty. */
static inline bool pool_hit(void **out, size_t size_B, const struct hip_pool *p, const struct hip_stream *s,
			    struct drv_lock **held)
{
	struct hip_cache *c = atomic_load_explicit(&s->caches, memory_order_acquire);
	size_t class = hip_class_of(size_B);

	if (!c || class >= HIP_POOL_CLASSES)
		return false;
	if (!drv_lock_try(&c->lock))
		return false;
	*held = &c->lock;
	if (atomic_load_explicit(&c->pool, memory_order_relaxed) != p)
		return false;
	if (!c->count[class] || c->used_B + (int64_t)size_B > c->quota_B)
		return false;
	*out = take_out(c, c->block[class][--c->count[class]], (unsigned)class, size_B);
	return true;
}

/* --- freeing ---------------------------------------------------------------------------------- */

/* The block in the table at the address. NULL: none. A used block's class is a difference of addresses, so that an address
 * that is no multiple of the quantum would be taken for a block of another class. */
static inline struct hip_block *block_at(const struct hip_pool *p, const void *ptr)
{
	uint64_t at = (uintptr_t)ptr - (uintptr_t)p->base;

	if (__builtin_expect(at % HIP_POOL_QUANTUM, 0))
		return NULL;
	return atomic_load_explicit(&p->table[at / HIP_POOL_QUANTUM], memory_order_acquire);
}

/* The size class of the block, if the program uses the block at this address; else more than HIP_POOL_CLASSES. */
static inline uint64_t block_class(const struct hip_block *b, const void *ptr)
{
	return atomic_load_explicit(&b->used, memory_order_relaxed) - (uintptr_t)ptr;
}

static bool is_used_at(const struct hip_pool *p, const void *ptr)
{
	const struct hip_block *b = block_at(p, ptr);

	return b && block_class(b, ptr) <= HIP_POOL_CLASSES;
}

/* True: the cache has room for the block, which is used. The caller holds the cache's lock. */
static inline bool cache_has_room(const struct hip_cache *c, const struct hip_block *b, uint64_t class)
{
	if (__builtin_expect(class < HIP_POOL_CLASSES, 1))
		return c->count[class] < HIP_POOL_DEPTH;
	/* A block that a class would hold, but that has another size than the class, is not kept. */
	return class == HIP_POOL_CLASSES && c->large < HIP_POOL_LARGE &&
	       hip_class_of(atomic_load_explicit(&b->requested_B, memory_order_relaxed)) >= HIP_POOL_CLASSES;
}

/* Tags the block with everything that the stream was given so far. */
static inline void block_tag(struct hip_block *b, struct hip_stream *s)
{
	b->stream = s;
	b->index = hip_stream_written(s);
	b->frees = atomic_fetch_add_explicit(&s->frees, 1, memory_order_release) + 1;
}

/* Takes the block from the program into the cache. False: the cache does not keep it, or the program does not have it. */
static bool cache_keep(struct hip_pool *p, struct hip_cache *c, struct hip_block *b, const void *ptr)
{
	uint64_t class;
	bool kept;

	drv_lock(&c->lock);
	class = block_class(b, ptr);
	kept = !p->dead && c->pool == p && cache_has_room(c, b, class) && hip_block_take_back(b, ptr, class);
	if (kept) {
		block_tag(b, c->stream);
		c->used_B -= (int64_t)b->requested_B;
		if (class < HIP_POOL_CLASSES)
			c->block[class][c->count[class]++] = b;
		else
			c->large_block[c->large++] = b;
	}
	drv_unlock(&c->lock);
	return kept;
}

/* Takes the block from the program into the arena. s NULL: nothing uses the memory any more; c NULL: the stream has no cache,
 * because it closes, or for lack of memory. False: the program does not have the block. */
__attribute__((noinline)) static bool give_back(struct hip_pool *p, struct hip_stream *s, struct hip_cache *c,
						struct hip_block *b, const void *ptr)
{
	uint64_t class;
	bool taken, last;

	drv_mutex_lock(&p->lock);
	class = block_class(b, ptr);
	taken = class <= HIP_POOL_CLASSES && hip_block_take_back(b, ptr, class);
	if (taken) {
		hip_cache_count(p, c, -(int64_t)b->requested_B);
		if (s)
			block_tag(b, s);
		else
			b->stream = NULL;
		hip_arena_give_locked(p, b);
	}
	last = taken && p->dead && !p->live;
	drv_mutex_unlock(&p->lock);
	/* The last block of a destroyed pool frees the pool. */
	if (last)
		hip_pool_retire(p);
	return taken;
}

/* s NULL: nothing uses the memory any more. */
static hipError_t pool_free(struct hip_pool *p, void *ptr, struct hip_stream *s)
{
	struct hip_block *b = block_at(p, ptr);
	struct hip_cache *c = s ? cache_of(p, s) : NULL;

	if (!b)
		return hipErrorInvalidValue;
	return (c && cache_keep(p, c, b, ptr)) || give_back(p, s, c, b, ptr) ? hipSuccess : hipErrorInvalidValue;
}

/* The fast path of a free: the block has a class, and the stream's cache has room for it. */
static inline bool pool_keeps(const struct hip_pool *p, void *ptr, struct hip_stream *s, struct drv_lock **held)
{
	struct hip_cache *c = atomic_load_explicit(&s->caches, memory_order_acquire);
	struct hip_block *b = block_at(p, ptr);
	uint64_t class;

	if (!c || !b)
		return false;
	if (!drv_lock_try(&c->lock))
		return false;
	*held = &c->lock;
	if (atomic_load_explicit(&c->pool, memory_order_relaxed) != p)
		return false;
	class = block_class(b, ptr);
	if (class >= HIP_POOL_CLASSES || p->dead || c->count[class] >= HIP_POOL_DEPTH ||
	    !hip_block_take_back(b, ptr, class))
		return false;
	block_tag(b, s);
	c->used_B -= (int64_t)b->requested_B;
	c->block[class][c->count[class]++] = b;
	return true;
}

bool hip_pool_free_now(void *ptr, hipError_t *error)
{
	struct hip_pool *p = hip_pool_at(ptr);

	if (!p)
		return false;
	/* HIP up to 6.4 waits for the device here; after that nothing uses the memory. */
	*error = is_used_at(p, ptr) ? hip_device_wait(p->device) : hipErrorInvalidValue;
	if (!*error)
		*error = pool_free(p, ptr, NULL);
	return true;
}

/* --- public functions ------------------------------------------------------------------------- */

/* Errors: InvalidHandle, for handles that are no stream. */
static inline hipError_t stream_for(hipStream_t handle, struct hip_stream **s)
{
	hipError_t r = hip_stream_of(handle, s);

	return r == hipErrorContextIsDestroyed ? hipErrorInvalidResourceHandle : r;
}

static hipError_t malloc_async(void **out, size_t size_B, hipStream_t stream)
{
	struct hip_stream *s;
	struct hip_pool *p;
	hipError_t r;

	if (!out)
		return hipErrorInvalidValue;
	r = stream_for(stream, &s);
	if (!r && hip_stream_captures(s))
		return atomic_load(&hip_capture_ops)->allocate(s, size_B, out);
	if (!r)
		r = hip_pool_current(s->device, &p);
	return r ? r : pool_malloc(out, size_B, p, s);
}

static inline bool malloc_fast(void **out, size_t size_B, hipStream_t handle, struct drv_lock **held)
{
	const struct hip_stream *s = hip_stream_of_nocreate(handle);

	if (!s || !out)
		return false;
	return pool_hit(out, size_B, atomic_load_explicit(&s->device->pool, memory_order_acquire), s, held);
}

HIP_SLOW_PATH static hipError_t malloc_slow(void **ptr, size_t size, hipStream_t stream, struct drv_lock *held)
{
	HIP_ENTER_SLOW(held, "hipMallocAsync", ptr, size, stream);
	return hip_end_of("hipMallocAsync", malloc_async(ptr, size, stream));
}

hipError_t hipMallocAsync(void **ptr, size_t size, hipStream_t stream)
{
	struct drv_lock *held = NULL;
	bool ready;

	ready = drv_call_begin_fast(&hip_thread.caller);
	if (__builtin_expect(ready && !hip_slow_path_flags() && malloc_fast(ptr, size, stream, &held), 1))
		return hip_end_fast(held);
	return malloc_slow(ptr, size, stream, held);
}

HIP_PUBLIC(hipMallocFromPoolAsync, (void **ptr, size_t size, hipMemPool_t handle, hipStream_t stream),
	   (ptr, size, handle, stream))
{
	struct hip_stream *s;
	struct hip_pool *p;
	hipError_t r;

	p = hip_pool_of(handle);
	if (!ptr || !p || p->imported)
		return hipErrorInvalidValue;
	r = stream_for(stream, &s);
	if (!r && hip_stream_captures(s))
		return atomic_load(&hip_capture_ops)->allocate(s, size, ptr);
	return r ? r : pool_malloc(ptr, size, p, s);
}

static hipError_t free_async(void *ptr, hipStream_t stream)
{
	struct hip_pool *p = hip_pool_at(ptr);
	struct hip_stream *s;
	hipError_t r;

	if (!ptr)
		return TUFF_HIP_ABI >= 7 ? hipSuccess : hipErrorInvalidValue;
	r = stream_for(stream, &s);
	if (!r && hip_stream_captures(s))
		return atomic_load(&hip_capture_ops)->free(s, ptr);
	/* The free comes after the null stream's work, too, although no operation is submitted for it. */
	if (!r)
		hip_stream_follow_rules(s);
	if (r || (!p && hip_memory_free_graph(ptr, s, &r)))
		return r;
	return p ? pool_free(p, ptr, s) : hip_memory_free_behind(ptr, s);
}

static inline bool free_fast(void *ptr, hipStream_t handle, struct drv_lock **held)
{
	struct hip_stream *s = hip_stream_of_nocreate(handle);
	const struct hip_pool *p;

	if (!s || !hip_stream_is_clear(s))
		return false;
	p = hip_pool_at(ptr);
	return p && pool_keeps(p, ptr, s, held);
}

HIP_SLOW_PATH static hipError_t free_slow(void *ptr, hipStream_t stream, struct drv_lock *held)
{
	HIP_ENTER_SLOW(held, "hipFreeAsync", ptr, stream);
	return hip_end_of("hipFreeAsync", free_async(ptr, stream));
}

hipError_t hipFreeAsync(void *ptr, hipStream_t stream)
{
	struct drv_lock *held = NULL;
	bool ready;

	ready = drv_call_begin_fast(&hip_thread.caller);
	if (__builtin_expect(ready && !hip_slow_path_flags() && free_fast(ptr, stream, &held), 1))
		return hip_end_fast(held);
	return free_slow(ptr, stream, held);
}

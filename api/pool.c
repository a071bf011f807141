/* Pools: what is given out and taken back without looking further, and the public functions. */
#include "api/pool.h"

#include <stdlib.h>
#include <string.h>

#include "api/graph_memory.h"

/* Pools by the 4 GiB of addresses that their arenas have: an arena begins and ends at a multiple. */
#define SLOT_SHIFT 32
#define SLOTS      (1u << (47 - SLOT_SHIFT))
static struct hip_pool *_Atomic slots[SLOTS];

/* All that live, or have memory that lives. */
static struct {
	pthread_mutex_t lock; /* outside of a pool's; guards the list, and who visits */
	pthread_cond_t left;  /* a visitor has */
	struct hip_pool *list;
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

struct hip_pool *hip_pool_at(const void *address)
{
	uint64_t slot = (uintptr_t)address >> SLOT_SHIFT;

	return slot < SLOTS ? atomic_load_explicit(&slots[slot], memory_order_acquire) : NULL;
}

static void set_slots(const struct hip_pool *p, struct hip_pool *value)
{
	uint64_t first = (uintptr_t)p->base >> SLOT_SHIFT;

	for (uint64_t i = 0; i < p->arena_B >> SLOT_SHIFT; i++)
		atomic_store_explicit(&slots[first + i], value, memory_order_release);
}

/* --- caches ----------------------------------------------------------------------------------- */

__attribute__((noinline)) static struct hip_cache *make_cache(struct hip_pool *p, struct hip_stream *s)
{
	struct hip_cache *c = aligned_alloc(_Alignof(struct hip_cache), sizeof(*c));

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->pool = p;
	c->stream = s;
	pthread_mutex_lock(&p->lock);
	c->next = atomic_load(&s->caches);
	c->next_in_pool = p->caches;
	p->caches = c;
	/* Calls on one stream may come from several threads; two caches of one pool do no harm. */
	while (!atomic_compare_exchange_weak(&s->caches, &c->next, c))
		continue;
	pthread_mutex_unlock(&p->lock);
	return c;
}

static inline struct hip_cache *cache_of(struct hip_pool *p, struct hip_stream *s)
{
	struct hip_cache *c = atomic_load_explicit(&s->caches, memory_order_acquire);

	while (c && atomic_load_explicit(&c->pool, memory_order_relaxed) != p)
		c = c->next;
	return __builtin_expect(c != NULL, 1) ? c : make_cache(p, s);
}

static void give(struct hip_cache *c, struct hip_block *b)
{
	b->stream = c->stream;
	hip_arena_give_locked(c->pool, b);
}

/* The pool's lock is held. */
static void drain(struct hip_cache *c)
{
	drv_lock(&c->lock);
	for (unsigned i = 0; i < HIP_POOL_CLASSES; i++)
		while (c->count[i])
			give(c, c->block[i][--c->count[i]]);
	while (c->large)
		give(c, c->large_block[--c->large]);
	drv_unlock(&c->lock);
}

void hip_caches_drain_locked(struct hip_pool *p)
{
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool)
		drain(c);
}

uint64_t hip_pool_used_locked(struct hip_pool *p)
{
	int64_t used_B = p->used_by_dead_B;

	/* All at one time: what one stream was given another may have freed. */
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool)
		drv_lock(&c->lock);
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool) {
		used_B += c->used_B;
		c->quota_B = c->used_B;
	}
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool)
		drv_unlock(&c->lock);
	if (used_B > (int64_t)p->used_high_B)
		p->used_high_B = (uint64_t)used_B;
	return (uint64_t)used_B;
}

/* More is used here than when the maximum was looked at. */
__attribute__((cold, noinline)) static void look_at_maximum(struct hip_pool *p)
{
	pthread_mutex_lock(&p->lock);
	(void)hip_pool_used_locked(p);
	pthread_mutex_unlock(&p->lock);
}

static void forget_cache(struct hip_cache *c)
{
	struct hip_pool *p = c->pool;
	struct hip_cache **at;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	drain(c);
	p->used_by_dead_B += c->used_B;
	for (at = &p->caches; *at != c; at = &(*at)->next_in_pool)
		continue;
	*at = c->next_in_pool;
	pthread_mutex_unlock(&p->lock);
}

void hip_pool_leave(struct hip_stream *s)
{
	struct hip_cache *c = atomic_exchange(&s->caches, NULL);

	pthread_mutex_lock(&pools.lock);
	while (c) {
		struct hip_cache *next = c->next;

		forget_cache(c);
		free(c);
		c = next;
	}
	pthread_mutex_unlock(&pools.lock);
}

/* --- giving out ------------------------------------------------------------------------------- */

/* What the stream itself freed. NULL: nothing of that size. The cache's lock is held. */
static inline struct hip_block *take_cached(struct hip_cache *c, size_t size_B)
{
	unsigned class = hip_class_of(size_B);

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

static size_t block_size(size_t size_B)
{
	unsigned class = hip_class_of(size_B);

	return class < HIP_POOL_CLASSES ? hip_class_size(class)
					: (size_B + HIP_POOL_QUANTUM - 1) & ~(size_t)(HIP_POOL_QUANTUM - 1);
}

/* The class of blocks of exactly that size; HIP_POOL_CLASSES: of none. A piece whose rest could not be cut off is
 * larger than its class. */
static unsigned class_of_block(const struct hip_block *b)
{
	size_t size_B = b->node.hi - b->node.lo;
	unsigned class = hip_class_of(size_B);

	return class < HIP_POOL_CLASSES && size_B == hip_class_size(class) ? class : HIP_POOL_CLASSES;
}

/* The cache's lock is held. */
static inline void *take_out(struct hip_cache *c, struct hip_block *b, size_t size_B)
{
	b->stream = NULL;
	b->asked_B = size_B;
	atomic_store_explicit(&b->state, HIP_BLOCK_USED, memory_order_relaxed);
	c->used_B += (int64_t)size_B;
	return (void *)(uintptr_t)b->node.lo;
}

static hipError_t pool_malloc(void **out, size_t size_B, struct hip_pool *p, struct hip_stream *s)
{
	struct hip_cache *c;
	struct hip_block *b;
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
	b = take_cached(c, size_B);
	if (!b) {
		drv_unlock(&c->lock);
		r = hip_arena_take(p, s, block_size(size_B), &b);
		if (r)
			return r;
		b->class = class_of_block(b);
		drv_lock(&c->lock);
	}
	more = c->used_B + (int64_t)size_B > c->quota_B;
	*out = take_out(c, b, size_B);
	drv_unlock(&c->lock);
	if (more)
		look_at_maximum(p);
	return hipSuccess;
}

/* A hit: a block of the class that the stream itself freed, and no more in use than before. */
static inline bool pool_hit(void **out, size_t size_B, const struct hip_pool *p, const struct hip_stream *s,
			    struct drv_lock **held)
{
	struct hip_cache *c = atomic_load_explicit(&s->caches, memory_order_acquire);
	unsigned class = hip_class_of(size_B);

	if (!c || class >= HIP_POOL_CLASSES)
		return false;
	if (atomic_load_explicit(&c->pool, memory_order_relaxed) != p || !drv_lock_try(&c->lock))
		return false;
	*held = &c->lock;
	if (!c->count[class] || c->used_B + (int64_t)size_B > c->quota_B)
		return false;
	*out = take_out(c, c->block[class][--c->count[class]], size_B);
	return true;
}

/* --- taking back ------------------------------------------------------------------------------ */

/* The block that begins there. NULL: none does. */
static inline struct hip_block *block_at(const struct hip_pool *p, const void *ptr)
{
	uint64_t at = (uintptr_t)ptr - (uintptr_t)p->base;
	struct hip_block *b = __atomic_load_n(&p->table[at / HIP_POOL_QUANTUM], __ATOMIC_ACQUIRE);

	return b && b->node.lo == (uintptr_t)ptr ? b : NULL;
}

static void settle(struct hip_pool *p);

/* False: the cache has no room. Its lock is held. */
static inline bool keep(struct hip_cache *c, struct hip_block *b)
{
	unsigned class = b->class;

	if (__builtin_expect(class < HIP_POOL_CLASSES, 1)) {
		if (c->count[class] == HIP_POOL_DEPTH)
			return false;
		c->block[class][c->count[class]++] = b;
		return true;
	}
	/* A size of its own has a class that it fills in part. */
	if (c->large == HIP_POOL_LARGE || hip_class_of(b->node.hi - b->node.lo) < HIP_POOL_CLASSES)
		return false;
	c->large_block[c->large++] = b;
	return true;
}

/* c NULL: nobody uses it any more. */
__attribute__((noinline)) static void give_back(struct hip_pool *p, struct hip_block *b, const struct hip_cache *c)
{
	bool last;

	pthread_mutex_lock(&p->lock);
	if (!c) {
		p->used_by_dead_B -= (int64_t)b->asked_B;
		b->stream = NULL;
	}
	hip_arena_give_locked(p, b);
	last = p->dead && !p->live;
	pthread_mutex_unlock(&p->lock);
	/* A destroyed pool goes with the last of its memory. */
	if (last)
		settle(p);
}

/* The block is a cache's from now on, or what becomes of it there. False: it was not the program's. */
static inline bool take_back(struct hip_block *b)
{
	unsigned used = HIP_BLOCK_USED;

	return atomic_compare_exchange_strong(&b->state, &used, HIP_BLOCK_CACHED);
}

/* Behind what the stream was given so far. */
static inline void stamp(struct hip_block *b, struct hip_stream *s)
{
	b->stream = s;
	b->index = atomic_load_explicit(&s->written, memory_order_relaxed);
	b->frees = atomic_fetch_add_explicit(&s->frees, 1, memory_order_release) + 1;
}

/* s NULL: nobody uses it any more. */
static hipError_t pool_free(struct hip_pool *p, void *ptr, struct hip_stream *s)
{
	struct hip_block *b = block_at(p, ptr);
	struct hip_cache *c = s ? cache_of(p, s) : NULL;
	bool kept = false;

	if (!b)
		return hipErrorInvalidValue;
	if (s && !c)
		return hipErrorOutOfMemory;
	if (!take_back(b))
		return hipErrorInvalidValue;
	if (c) {
		stamp(b, s);
		drv_lock(&c->lock);
		c->used_B -= (int64_t)b->asked_B;
		kept = !p->dead && keep(c, b);
		drv_unlock(&c->lock);
	}
	if (!kept)
		give_back(p, b, c);
	return hipSuccess;
}

/* Of a class that the stream's cache has room for. */
static inline bool pool_keeps(const struct hip_pool *p, void *ptr, struct hip_stream *s, struct drv_lock **held)
{
	struct hip_cache *c = atomic_load_explicit(&s->caches, memory_order_acquire);
	struct hip_block *b = block_at(p, ptr);
	unsigned class;

	if (!c || !b)
		return false;
	if (atomic_load_explicit(&c->pool, memory_order_relaxed) != p || !drv_lock_try(&c->lock))
		return false;
	*held = &c->lock;
	class = b->class;
	if (class >= HIP_POOL_CLASSES || p->dead || c->count[class] >= HIP_POOL_DEPTH || !take_back(b))
		return false;
	stamp(b, s);
	c->used_B -= (int64_t)b->asked_B;
	c->block[class][c->count[class]++] = b;
	return true;
}

bool hip_pool_free_now(void *ptr, hipError_t *error)
{
	struct hip_pool *p = hip_pool_at(ptr);

	if (!p)
		return false;
	/* Until 6.4 HIP waits for the device; only then nobody uses it. */
	*error = block_at(p, ptr) ? hip_device_wait(p->device) : hipErrorInvalidValue;
	if (!*error)
		*error = pool_free(p, ptr, NULL);
	return true;
}

bool hip_pool_find(const void *address, struct hip_memory *memory)
{
	struct hip_pool *p = hip_pool_at(address);
	struct vm_node *node;
	bool found = false;

	if (!p)
		return false;
	pthread_mutex_lock(&p->lock);
	node = vm_tree_next(&p->blocks, NULL, (uintptr_t)address, (uintptr_t)address + 1);
	if (node) {
		const struct hip_block *b = vm_container(node, struct hip_block, node);

		found = b->state == HIP_BLOCK_USED && (uintptr_t)address - node->lo < b->asked_B;
		*memory = (struct hip_memory){
			.node = *node,
			.kind = HIP_MEMORY_DEVICE,
			.id = node->lo,
			.device = p->device->index,
			.size_B = b->asked_B,
			.gpu_base = (char *)(uintptr_t)node->lo,
			.pool = p->dead ? 0 : p->handle,
			.shareable = p->exportable,
		};
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

/* What a wait leaves to a pool: nothing, once it is destroyed. */
static uint64_t kept_B(const struct hip_pool *p)
{
	return p->dead ? 0 : atomic_load_explicit(&p->threshold_B, memory_order_relaxed);
}

/* The next of the device's that has more than it should keep; it does not end until it is left. */
static struct hip_pool *visit(const struct hip_device *device, const struct hip_pool *behind, bool all)
{
	struct hip_pool *p;

	pthread_mutex_lock(&pools.lock);
	for (p = behind ? behind->next : pools.list; p; p = p->next)
		if (p->device == device &&
		    atomic_load_explicit(&p->reserved_B, memory_order_relaxed) > (all ? 0 : kept_B(p)))
			break;
	if (p)
		p->visitors++;
	pthread_mutex_unlock(&pools.lock);
	return p;
}

static void unlink_locked(const struct hip_pool *p)
{
	struct hip_pool **at = &pools.list;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	for (struct hip_cache *c = p->caches; c; c = c->next_in_pool)
		atomic_store_explicit(&c->pool, NULL, memory_order_relaxed);
}

/* It is in no list any more. */
static void free_pool(struct hip_pool *p)
{
	if (p->imported)
		hip_imports_orphan(p);
	if (p->base)
		set_slots(p, NULL);
	hip_arena_fini(p);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* A destroyed pool that has no memory left goes with the last visitor. */
static void leave(struct hip_pool *p)
{
	bool over;

	pthread_mutex_lock(&pools.lock);
	over = !--p->visitors && p->settling && !p->reserved_B;
	if (over)
		unlink_locked(p);
	pthread_cond_broadcast(&pools.left);
	pthread_mutex_unlock(&pools.lock);
	if (over)
		free_pool(p);
}

/* Destroyed, and the program has none of it. What the GPU may still use goes at a later wait of the host's. */
static void settle(struct hip_pool *p)
{
	pthread_mutex_lock(&pools.lock);
	p->settling = true;
	p->visitors++;
	pthread_mutex_unlock(&pools.lock);
	hip_arena_trim(p, 0, true);
	leave(p);
}

/* Trimming takes no lock of all pools. */
void hip_pool_release(struct hip_device *device)
{
	hip_memory_reap();
	for (struct hip_pool *p = visit(device, NULL, false), *next; p; p = next) {
		hip_arena_trim(p, kept_B(p), p->dead);
		next = visit(device, p, false);
		leave(p);
	}
}

void hip_pools_help(struct hip_device *device, const struct hip_pool *needy)
{
	for (struct hip_pool *p = visit(device, NULL, true), *next; p; p = next) {
		if (p != needy)
			hip_arena_trim(p, 0, true);
		next = visit(device, p, true);
		leave(p);
	}
}

/* --- making and ending ------------------------------------------------------------------------ */

static void set_defaults(struct hip_pool *p)
{
	p->most_B = SIZE_MAX;
	p->follow = p->opportunistic = p->internal = 1;
	p->threshold_B = 0;
	memset(p->access, 0, sizeof(p->access));
	p->access[p->device->index] = hipMemAccessFlagsProtReadWrite;
}

/* One whose arena begins to be, or that has none. Owns it from now on. */
static hipError_t enter_pool(struct hip_pool *p)
{
	set_defaults(p);
	pthread_mutex_init(&p->lock, NULL);
	if (drv_handle_create(&hip_handles, HIP_KIND(HIP_POOL), p, &p->handle)) {
		pthread_mutex_destroy(&p->lock);
		return hipErrorOutOfMemory;
	}
	set_slots(p, p);
	pthread_mutex_lock(&pools.lock);
	p->next = pools.list;
	pools.list = p;
	pthread_mutex_unlock(&pools.lock);
	return hipSuccess;
}

static hipError_t make_pool(struct hip_device *device, struct hip_pool **out)
{
	struct hip_pool *p = calloc(1, sizeof(*p));
	hipError_t r;

	if (!p)
		return hipErrorOutOfMemory;
	p->device = device;
	r = hip_arena_init(p);
	if (!r && (r = enter_pool(p)))
		hip_arena_fini(p);
	if (r) {
		free(p);
		return r;
	}
	*out = p;
	return hipSuccess;
}

hipError_t hip_pool_import(struct hip_device *device, uint64_t key, struct hip_pool **out)
{
	struct hip_pool *p = calloc(1, sizeof(*p));
	hipError_t r;

	if (!p)
		return hipErrorOutOfMemory;
	p->device = device;
	p->imported = true;
	p->key = key;
	r = enter_pool(p);
	if (r) {
		free(p);
		return r;
	}
	*out = p;
	return hipSuccess;
}

/* Used, too, where no other is. */
static void set_default(struct hip_device *device, struct hip_pool *p)
{
	struct hip_pool *none = NULL;

	atomic_store_explicit(&device->default_pool, p, memory_order_release);
	atomic_compare_exchange_strong(&device->pool, &none, p);
}

__attribute__((noinline)) static hipError_t make_default_pool(struct hip_device *device, struct hip_pool **out)
{
	hipError_t r = hipSuccess;

	pthread_mutex_lock(&device->lock);
	*out = atomic_load(&device->default_pool);
	if (!*out) {
		r = make_pool(device, out);
		if (!r)
			set_default(device, *out);
	}
	pthread_mutex_unlock(&device->lock);
	return r;
}

static inline hipError_t default_pool(struct hip_device *device, struct hip_pool **out)
{
	*out = atomic_load_explicit(&device->default_pool, memory_order_acquire);
	return __builtin_expect(*out != NULL, 1) ? hipSuccess : make_default_pool(device, out);
}

static inline hipError_t current_pool(struct hip_device *device, struct hip_pool **out)
{
	*out = atomic_load_explicit(&device->pool, memory_order_acquire);
	return *out ? hipSuccess : default_pool(device, out);
}

/* --- the public functions --------------------------------------------------------------------- */

/* A stream that is none's is an invalid handle here. */
static inline hipError_t stream_for(hipStream_t handle, struct hip_stream **s)
{
	return hip_stream_of(handle, s) == hipSuccess ? hipSuccess : hipErrorInvalidResourceHandle;
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
		return hip_capture_malloc(s, size_B, out);
	if (!r)
		r = current_pool(s->device, &p);
	return r ? r : pool_malloc(out, size_B, p, s);
}

static inline bool malloc_shortly(void **out, size_t size_B, hipStream_t handle, struct drv_lock **held)
{
	const struct hip_stream *s = hip_find(HIP_STREAM, handle);
	const struct hip_pool *p;

	if (!out || !s)
		return false;
	p = atomic_load_explicit(&s->device->pool, memory_order_acquire);
	return p && pool_hit(out, size_B, p, s, held);
}

HIP_LONG_WAY static hipError_t malloc_at_length(void **ptr, size_t size, hipStream_t stream, struct drv_lock *held)
{
	HIP_ENTER_LONG_WAY(held, "hipMallocAsync", ptr, size, stream);
	return hip_end_of("hipMallocAsync", malloc_async(ptr, size, stream));
}

hipError_t hipMallocAsync(void **ptr, size_t size, hipStream_t stream)
{
	struct drv_lock *held = NULL;

	if (__builtin_expect(!hip_at_gate() && malloc_shortly(ptr, size, stream, &held), 1))
		return hip_end_short_way(held);
	return malloc_at_length(ptr, size, stream, held);
}

hipError_t hipMallocFromPoolAsync(void **ptr, size_t size, hipMemPool_t handle, hipStream_t stream)
{
	struct hip_stream *s;
	struct hip_pool *p;
	hipError_t r;

	HIP_ENTER(ptr, size, handle, stream);
	p = hip_pool_of(handle);
	if (!ptr || !p || p->imported)
		return hip_end(hipErrorInvalidValue);
	r = stream_for(stream, &s);
	if (!r && hip_stream_captures(s))
		return hip_end(hip_capture_malloc(s, size, ptr));
	return hip_end(r ? r : pool_malloc(ptr, size, p, s));
}

static hipError_t free_async(void *ptr, hipStream_t stream)
{
	struct hip_pool *p = hip_pool_at(ptr);
	struct hip_stream *s;
	hipError_t r;

	if (!ptr)
		return hipErrorInvalidValue;
	r = stream_for(stream, &s);
	if (!r && hip_stream_captures(s))
		return hip_capture_free(s, ptr);
	if (r || (!p && hip_lease_free(ptr, s, &r)))
		return r;
	return p ? pool_free(p, ptr, s) : hip_memory_free_behind(ptr, s);
}

static inline bool free_shortly(void *ptr, hipStream_t handle, struct drv_lock **held)
{
	struct hip_stream *s = hip_find(HIP_STREAM, handle);
	const struct hip_pool *p = hip_pool_at(ptr);

	if (!s)
		return false;
	return p && pool_keeps(p, ptr, s, held);
}

HIP_LONG_WAY static hipError_t free_at_length(void *ptr, hipStream_t stream, struct drv_lock *held)
{
	HIP_ENTER_LONG_WAY(held, "hipFreeAsync", ptr, stream);
	return hip_end_of("hipFreeAsync", free_async(ptr, stream));
}

hipError_t hipFreeAsync(void *ptr, hipStream_t stream)
{
	struct drv_lock *held = NULL;

	if (__builtin_expect(!hip_at_gate() && free_shortly(ptr, stream, &held), 1))
		return hip_end_short_way(held);
	return free_at_length(ptr, stream, held);
}

static hipError_t destroy(hipMemPool_t handle)
{
	struct hip_pool *p = hip_pool_of(handle), *current = p;
	bool left;

	if (!p || p == atomic_load(&p->device->default_pool))
		return hipErrorInvalidValue;
	atomic_compare_exchange_strong(&p->device->pool, &current, atomic_load(&p->device->default_pool));
	drv_handle_destroy(&hip_handles, p->handle);
	pthread_mutex_lock(&p->lock);
	p->dead = true;
	/* Behind a cache's lock nobody keeps anything there any more. */
	hip_caches_drain_locked(p);
	left = !p->live;
	pthread_mutex_unlock(&p->lock);
	if (left)
		settle(p);
	return hipSuccess;
}

static hipError_t create(hipMemPool_t *out, const hipMemPoolProps *props)
{
	struct hip_pool *p;
	hipError_t r;
	size_t most_B;

	if (!out || !props || props->allocType != hipMemAllocationTypePinned ||
	    props->location.type != hipMemLocationTypeDevice || !hip_device_of(props->location.id) ||
	    (props->handleTypes != hipMemHandleTypeNone &&
	     props->handleTypes != hipMemHandleTypePosixFileDescriptor))
		return hipErrorInvalidValue;
	r = make_pool(hip_device_of(props->location.id), &p);
	if (r)
		return r;
	/* Where 6.4 has its size, 5.7 has zeros. */
	memcpy(&most_B, (const char *)props + 24, sizeof(most_B));
	if (most_B)
		p->most_B = (most_B + HIP_POOL_CHUNK_B - 1) & ~(size_t)(HIP_POOL_CHUNK_B - 1);
	p->exportable = props->handleTypes != hipMemHandleTypeNone;
	r = p->exportable ? hip_pool_name(p) : hipSuccess;
	if (r)
		(void)!destroy((hipMemPool_t)(uintptr_t)p->handle);
	else
		*out = (hipMemPool_t)(uintptr_t)p->handle;
	return r;
}

hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *props)
{
	hipError_t r;

	HIP_ENTER(pool, props);
	r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);
	return hip_end(r ? r : create(pool, props));
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool)
{
	HIP_ENTER(pool);
	return hip_end(destroy(pool));
}

static hipError_t tell_pool(hipMemPool_t *out, int device, bool current)
{
	struct hip_device *d = hip_device_of(device);
	struct hip_pool *p;
	hipError_t r;

	if (!out || !d)
		return out && !current ? hipErrorInvalidDevice : hipErrorInvalidValue;
	r = current ? current_pool(d, &p) : default_pool(d, &p);
	if (!r)
		*out = (hipMemPool_t)(uintptr_t)p->handle;
	return r;
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device)
{
	HIP_ENTER(pool, device);
	return hip_end(tell_pool(pool, device, false));
}

hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device)
{
	HIP_ENTER(pool, device);
	return hip_end(tell_pool(pool, device, true));
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t handle)
{
	struct hip_device *d;
	struct hip_pool *p;
	hipError_t r;

	HIP_ENTER(device, handle);
	r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);
	if (r)
		return hip_end(r);
	d = hip_device_of(device);
	p = hip_pool_of(handle);
	if (!d || !p || p->imported)
		return hip_end(hipErrorInvalidValue);
	if (p->device != d)
		return hip_end(hipErrorInvalidDevice);
	atomic_store_explicit(&d->pool, p, memory_order_release);
	return hip_end(hipSuccess);
}

/* All that was given out ends; the handle stays, as a new pool's. False: there is no room for its addresses. */
static bool renew(struct hip_pool *p)
{
	set_slots(p, NULL);
	hip_arena_fini(p);
	set_defaults(p);
	if (hip_arena_init(p))
		return false;
	set_slots(p, p);
	return true;
}

/* Takes one of the device's out of the list. */
static struct hip_pool *take_any_but(const struct hip_device *device, const struct hip_pool *kept)
{
	struct hip_pool *p;

	pthread_mutex_lock(&pools.lock);
	for (;;) {
		for (p = pools.list; p && (p->device != device || p == kept); p = p->next)
			continue;
		if (!p || !p->visitors)
			break;
		pthread_cond_wait(&pools.left, &pools.lock);
	}
	if (p)
		unlink_locked(p);
	pthread_mutex_unlock(&pools.lock);
	return p;
}

/* The device's pools end, with all that was given out; the default one begins anew. Its streams have ended before.
 */
void hip_pools_reset(struct hip_device *device)
{
	struct hip_pool *kept = atomic_load(&device->default_pool), *p;

	if (kept && !renew(kept)) {
		atomic_store(&device->default_pool, NULL);
		kept = NULL;
	}
	atomic_store(&device->pool, kept);
	while ((p = take_any_but(device, kept))) {
		if (!p->dead)
			drv_handle_destroy(&hip_handles, p->handle);
		free_pool(p);
	}
}

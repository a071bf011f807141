/* Pools: their list, creation and destruction. */
#include "drv/lock.h"
#include "api/memory/memory.h"
#include "api/pool/pool.h"
#include "api/stream/capture.h"

#include <stdlib.h>
#include <string.h>

struct hip_pool *_Atomic hip_pool_slots[HIP_POOL_SLOTS];

/* Pools that live, or that have memory that lives. */
static struct {
	struct drv_mutex lock; /* guards the list and the visitors; outside a pool's lock */
	pthread_cond_t left;   /* signalled when a visitor leaves */
	struct hip_pool *list;
} pools = {.lock = DRV_MUTEX(DRV_RANK_HIP_POOLS), .left = PTHREAD_COND_INITIALIZER};

static void set_slots(const struct hip_pool *p, struct hip_pool *value)
{
	uint64_t first = (uintptr_t)p->base >> HIP_POOL_SLOT_SHIFT;

	for (uint64_t i = 0; i < p->arena_B >> HIP_POOL_SLOT_SHIFT; i++)
		atomic_store_explicit(&hip_pool_slots[first + i], value, memory_order_release);
}

static void stream_closing(struct hip_stream *s)
{
	drv_mutex_lock(&pools.lock);
	hip_caches_close_stream(s);
	drv_mutex_unlock(&pools.lock);
}

static bool pool_find(const void *address, struct hip_memory *memory)
{
	struct hip_pool *p = hip_pool_at(address);
	struct vm_node *node;
	bool found = false;

	if (!p)
		return false;
	drv_mutex_lock(&p->lock);
	node = vm_tree_next(&p->blocks, NULL, (uintptr_t)address, (uintptr_t)address + 1);
	if (node) {
		const struct hip_block *b = vm_container(node, struct hip_block, node);

		found = hip_block_is_used(b) && (uintptr_t)address - node->lo < b->requested_B;
		*memory = (struct hip_memory){
			.node = *node,
			.kind = HIP_MEMORY_DEVICE,
			.id = node->lo,
			.device = p->device->index,
			.size_B = b->requested_B,
			.gpu_base = (char *)(uintptr_t)node->lo,
			.pool = p->dead ? 0 : p->handle,
			.shareable = p->exportable,
		};
	}
	drv_mutex_unlock(&p->lock);
	return found;
}

/* Bytes that a wait leaves reserved in a pool; 0 for a destroyed pool. */
static uint64_t kept_B(const struct hip_pool *p)
{
	return p->dead ? 0 : atomic_load_explicit(&p->threshold_B, memory_order_relaxed);
}

/* Returns the device's next pool after `behind` that has more reserved than it should keep. The caller is a
 * visitor: the pool is not freed before visit_end(). */
static struct hip_pool *visit_begin(const struct hip_device *device, const struct hip_pool *behind, bool all)
{
	struct hip_pool *p;

	drv_mutex_lock(&pools.lock);
	for (p = behind ? behind->next : pools.list; p; p = p->next)
		if (p->device == device &&
		    atomic_load_explicit(&p->reserved_B, memory_order_relaxed) > (all ? 0 : kept_B(p)))
			break;
	if (p)
		p->visitors++;
	drv_mutex_unlock(&pools.lock);
	return p;
}

/* Takes a pool out of the list, if it has no memory or `always` is set. The caller holds the locks of the list and of the
 * pool. */
static bool unlink_locked(struct hip_pool *p, bool always)
{
	struct hip_pool **at = &pools.list;

	drv_rank_assert(DRV_RANK_HIP_POOL);
	if (!always && p->reserved_B)
		return false;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	p->dead = p->ended = true;
	while (p->caches) {
		struct hip_cache *c = p->caches;

		p->caches = c->next_in_pool;
		/* The stream may use the cache for another pool. */
		drv_lock(&c->lock);
		atomic_store_explicit(&c->pool, NULL, memory_order_release);
		drv_unlock(&c->lock);
	}
	return true;
}

static void free_pool(struct drv_retired *retired)
{
	struct hip_pool *p = vm_container(retired, struct hip_pool, retired);

	hip_arena_fini(p);
	drv_mutex_destroy(&p->access_lock);
	drv_mutex_destroy(&p->lock);
	free(p);
}

/* Retires a pool that is in no list any more. Its addresses are not used again before it is freed. */
static void end_pool(struct hip_pool *p)
{
	if (p->imported)
		hip_imports_detach(p);
	if (p->base) {
		hip_arena_empty(p);
		set_slots(p, NULL);
	}
	drv_retire(&hip_calls, &p->retired, free_pool);
}

/* Ends a visit. The last visitor frees a destroyed pool that has no memory left. */
static void visit_end(struct hip_pool *p)
{
	bool over;

	drv_mutex_lock(&pools.lock);
	over = !--p->visitors && p->settling;
	drv_mutex_lock(&p->lock);
	over = over && unlink_locked(p, false);
	drv_mutex_unlock(&p->lock);
	pthread_cond_broadcast(&pools.left);
	drv_mutex_unlock(&pools.lock);
	if (over)
		end_pool(p);
}

void hip_pool_retire(struct hip_pool *p)
{
	bool ended;

	drv_mutex_lock(&pools.lock);
	ended = p->ended; /* by a reset, which took it out of the list */
	if (!ended) {
		p->settling = true;
		p->visitors++;
	}
	drv_mutex_unlock(&pools.lock);
	if (ended)
		return;
	hip_arena_trim(p, 0, true);
	visit_end(p);
}

/* Trims without the lock of the list. */
static void host_waited(struct hip_device *device)
{
	for (struct hip_pool *p = visit_begin(device, NULL, false), *next; p; p = next) {
		hip_arena_trim(p, kept_B(p), p->dead);
		next = visit_begin(device, p, false);
		visit_end(p);
	}
}

void hip_pools_reclaim(struct hip_device *device, const struct hip_pool *needy)
{
	for (struct hip_pool *p = visit_begin(device, NULL, true), *next; p; p = next) {
		if (p != needy)
			hip_arena_trim(p, 0, true);
		next = visit_begin(device, p, true);
		visit_end(p);
	}
}

/* --- creation and destruction ----------------------------------------------------------------- */

static void set_defaults(struct hip_pool *p)
{
	p->follow = p->opportunistic = p->internal = 1;
	p->threshold_B = 0;
	for (int i = 0; i < HIP_DEVICES_MAX; i++)
		p->access[i] = i == p->device->index ? hipMemAccessFlagsProtReadWrite : hipMemAccessFlagsProtNone;
}

static void pools_reclaim(struct hip_device *device)
{
	hip_pools_reclaim(device, NULL);
}

static void set_hooks(void)
{
	atomic_store(&hip_memory_hooks.find, pool_find);
	atomic_store(&hip_memory_hooks.free_pool, hip_pool_free_now);
	atomic_store(&hip_memory_hooks.reclaim, pools_reclaim);
	hip_memory_hook_waits(host_waited);
	atomic_store(&hip_stream_hooks.closing, stream_closing);
	atomic_store(&hip_stream_hooks.freed, hip_caches_free);
}

/* Adds a pool, whose arena is made here unless it is imported, to the list. Owns the pool from then on. A pool that has a handle
 * is in the list: another thread may destroy it at once. */
static hipError_t enter_pool(struct hip_pool *p)
{
	int r;

	set_defaults(p);
	p->most_B = SIZE_MAX;
	drv_mutex_init(&p->lock, DRV_RANK_HIP_POOL);
	drv_mutex_init(&p->access_lock, DRV_RANK_HIP_POOL_ACCESS);
	set_hooks();
	drv_mutex_lock(&pools.lock);
	r = drv_handle_create(&hip_handles, HIP_KIND(HIP_POOL), p, &p->handle);
	if (!r) {
		set_slots(p, p);
		p->next = pools.list;
		pools.list = p;
	}
	drv_mutex_unlock(&pools.lock);
	if (!r)
		return hipSuccess;
	drv_mutex_destroy(&p->access_lock);
	drv_mutex_destroy(&p->lock);
	return hipErrorOutOfMemory;
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

/* Makes the pool the device's default, and the current one if there is none. */
static void set_default(struct hip_device *device, struct hip_pool *p)
{
	struct hip_pool *none = NULL;

	atomic_store_explicit(&device->default_pool, p, memory_order_release);
	atomic_compare_exchange_strong(&device->pool, &none, p);
}

static hipError_t make_default_pool(struct hip_device *device, struct hip_pool **out)
{
	hipError_t r = hipSuccess;

	drv_mutex_lock(&device->lock);
	*out = atomic_load(&device->default_pool);
	if (!*out) {
		r = make_pool(device, out);
		if (!r)
			set_default(device, *out);
	}
	drv_mutex_unlock(&device->lock);
	return r;
}

static hipError_t default_pool(struct hip_device *device, struct hip_pool **out)
{
	*out = atomic_load_explicit(&device->default_pool, memory_order_acquire);
	return __builtin_expect(*out != NULL, 1) ? hipSuccess : make_default_pool(device, out);
}

hipError_t hip_pool_current(struct hip_device *device, struct hip_pool **out)
{
	*out = atomic_load_explicit(&device->pool, memory_order_acquire);
	return *out ? hipSuccess : default_pool(device, out);
}

/* A destroyed pool is no device's current one. */
static void stop_current(struct hip_pool *p)
{
	struct hip_pool *current = p;

	atomic_compare_exchange_strong(&p->device->pool, &current, atomic_load(&p->device->default_pool));
}

static hipError_t pool_destroy(hipMemPool_t handle)
{
	struct hip_pool *p = hip_pool_of(handle);
	bool left;

	if (!p || p == atomic_load(&p->device->default_pool) || !drv_handle_destroy(&hip_handles, p->handle))
		return hipErrorInvalidValue;
	drv_mutex_lock(&p->lock);
	p->dead = true;
	/* With `dead` set before, no thread puts blocks into a cache after it was drained. */
	hip_caches_drain_locked(p);
	left = !p->live;
	drv_mutex_unlock(&p->lock);
	stop_current(p);
	if (left)
		hip_pool_retire(p);
	hip_retire_flush();
	return hipSuccess;
}

/* Handles of other systems make a pool that cannot be exported, as with AMD's library: its own tests leave the type unset. */
static hipError_t pool_create(hipMemPool_t *out, const hipMemPoolProps *props)
{
	struct hip_pool *p;
	hipError_t r;
	size_t most_B;

	if (!out || !props || props->allocType != hipMemAllocationTypePinned ||
	    props->location.type != hipMemLocationTypeDevice || !hip_device_of(props->location.id))
		return hipErrorInvalidValue;
	r = make_pool(hip_device_of(props->location.id), &p);
	if (r)
		return r;
	/* Offset 24 is HIP 6.4's maxSize; in 5.7 it is reserved, and 0. */
	memcpy(&most_B, (const char *)props + 24, sizeof(most_B));
	if (most_B && most_B <= SIZE_MAX - HIP_POOL_CHUNK_B)
		p->most_B = (most_B + HIP_POOL_CHUNK_B - 1) & ~(size_t)(HIP_POOL_CHUNK_B - 1);
	p->exportable = props->handleTypes == hipMemHandleTypePosixFileDescriptor;
	r = p->exportable ? hip_pool_name(p) : hipSuccess;
	if (r)
		(void)!pool_destroy((hipMemPool_t)(uintptr_t)p->handle);
	else
		*out = (hipMemPool_t)(uintptr_t)p->handle;
	return r;
}

HIP_PUBLIC(hipMemPoolCreate, (hipMemPool_t *pool, const hipMemPoolProps *props), (pool, props))
{
	hipError_t r = hip_capture_refuses_old_setting();

	return r ? r : pool_create(pool, props);
}

HIP_PUBLIC(hipMemPoolDestroy, (hipMemPool_t pool), (pool))
{
	hipError_t r = hip_capture_refuses_setting();

	return r ? r : pool_destroy(pool);
}

static hipError_t device_pool_get(hipMemPool_t *out, int device, bool current)
{
	struct hip_device *d = hip_device_of(device);
	struct hip_pool *p;
	hipError_t r;

	if (!out || !d)
		return out && !current ? hipErrorInvalidDevice : hipErrorInvalidValue;
	r = current ? hip_pool_current(d, &p) : default_pool(d, &p);
	if (!r)
		*out = (hipMemPool_t)(uintptr_t)p->handle;
	return r;
}

HIP_PUBLIC(hipDeviceGetDefaultMemPool, (hipMemPool_t *pool, int device), (pool, device))
{
	return device_pool_get(pool, device, false);
}

HIP_PUBLIC(hipDeviceGetMemPool, (hipMemPool_t *pool, int device), (pool, device))
{
	return device_pool_get(pool, device, true);
}

HIP_PUBLIC(hipDeviceSetMemPool, (int device, hipMemPool_t handle), (device, handle))
{
	struct hip_device *d;
	struct hip_pool *p;
	hipError_t r = hip_capture_refuses_old_setting();

	if (r)
		return r;
	d = hip_device_of(device);
	p = hip_pool_of(handle);
	if (!d || !p || p->imported)
		return hipErrorInvalidValue;
	if (p->device != d)
		return hipErrorInvalidDevice;
	atomic_store(&d->pool, p);
	/* Another thread may destroy the pool: either it finds the pool here, or it is seen to be destroyed. */
	if (!atomic_load(&p->dead))
		return hipSuccess;
	stop_current(p);
	return hipErrorInvalidValue;
}

/* Removes one of the device's pools, except `kept`, from the list. */
static struct hip_pool *take_any_but(const struct hip_device *device, const struct hip_pool *kept)
{
	struct hip_pool *p;

	drv_mutex_lock(&pools.lock);
	for (;;) {
		for (p = pools.list; p && (p->device != device || p == kept); p = p->next)
			continue;
		if (!p || !p->visitors)
			break;
		drv_cond_wait(&pools.left, &pools.lock);
	}
	if (p) {
		drv_mutex_lock(&p->lock);
		(void)unlink_locked(p, true);
		drv_mutex_unlock(&p->lock);
	}
	drv_mutex_unlock(&pools.lock);
	return p;
}

/* Ends the device's pools with all their memory; the default pool begins again, empty. The device's streams were
 * closed before. */
void hip_pools_reset(struct hip_device *device)
{
	struct hip_pool *kept = atomic_load(&device->default_pool), *p;

	if (kept) {
		hip_arena_empty(kept);
		set_defaults(kept);
	}
	atomic_store(&device->pool, kept);
	while ((p = take_any_but(device, kept))) {
		(void)drv_handle_destroy(&hip_handles, p->handle);
		end_pool(p);
	}
}

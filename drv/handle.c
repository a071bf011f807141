#include "drv/handle.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define GENERATION_SHIFT 24
#define GENERATION_MASK  ((uint64_t)DRV_HANDLE_INDEX_MASK << GENERATION_SHIFT)

/* Guards free and used of all tables, for a few instructions at a time; innermost. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child must not inherit the lock held by a thread that it does not have. */
static void watch_forks(void)
{
	(void)!pthread_atfork(take_lock, give_lock, give_lock);
}

static struct drv_handle_slot *slot_at(struct drv_handles *table, uint64_t handle)
{
	uint32_t index = handle & DRV_HANDLE_INDEX_MASK;
	struct drv_handle_slot *chunk =
		atomic_load_explicit(&table->chunk[index / DRV_HANDLE_CHUNK], memory_order_acquire);

	return chunk ? &chunk[index % DRV_HANDLE_CHUNK] : NULL;
}

static int take_new(struct drv_handles *table, uint32_t *index)
{
	struct drv_handle_slot *chunk;

	if (table->used > DRV_HANDLE_INDEX_MASK)
		return drv_fail(-ENOMEM, "more than %u objects", DRV_HANDLE_INDEX_MASK);
	if (!slot_at(table, table->used)) {
		chunk = calloc(DRV_HANDLE_CHUNK, sizeof(*chunk));
		if (!chunk)
			return drv_fail(-ENOMEM, "no host memory for handles");
		atomic_store_explicit(&table->chunk[table->used / DRV_HANDLE_CHUNK], chunk, memory_order_release);
	}
	*index = table->used++;
	return 0;
}

static int take_slot(struct drv_handles *table, uint32_t *index)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r = 0;

	pthread_once(&once, watch_forks);
	take_lock();
	if (table->free) {
		*index = table->free - 1;
		table->free = slot_at(table, *index)->next_free;
	} else {
		r = take_new(table, index);
	}
	give_lock();
	return r;
}

int drv_handle_slot_create(struct drv_handles *table, unsigned kind, uint64_t *out)
{
	uint32_t index = 0;
	struct drv_handle_slot *slot;
	int r = take_slot(table, &index);

	if (r)
		return r;
	slot = slot_at(table, index);
	slot->last = (uint64_t)kind << 48 | (slot->last & GENERATION_MASK) | index;
	*out = slot->last;
	return 0;
}

void drv_handle_slot_destroy(struct drv_handles *table, uint64_t slot)
{
	take_lock();
	slot_at(table, slot)->next_free = table->free;
	table->free = (slot & DRV_HANDLE_INDEX_MASK) + 1;
	give_lock();
}

uint64_t drv_handle_open(struct drv_handles *table, uint64_t handle, void *object)
{
	struct drv_handle_slot *slot = slot_at(table, handle);
	uint64_t generation = (slot->last + (1ull << GENERATION_SHIFT)) & GENERATION_MASK;

	slot->last = (slot->last & ~GENERATION_MASK) | generation;
	atomic_store_explicit(&slot->object, object, memory_order_relaxed);
	atomic_store_explicit(&slot->handle, slot->last, memory_order_release);
	return slot->last;
}

void drv_handle_shut(struct drv_handles *table, uint64_t handle)
{
	atomic_store_explicit(&slot_at(table, handle)->handle, 0, memory_order_release);
}

int drv_handle_create(struct drv_handles *table, unsigned kind, void *object, uint64_t *handle)
{
	int r = drv_handle_slot_create(table, kind, handle);

	if (!r)
		*handle = drv_handle_open(table, *handle, object);
	return r;
}

void drv_handle_destroy(struct drv_handles *table, uint64_t handle)
{
	drv_handle_shut(table, handle);
	drv_handle_slot_destroy(table, handle);
}

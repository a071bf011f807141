#include "drv/process.h"
#include "drv/lock.h"
#include "drv/handle.h"

#include <errno.h>
#include <pthread.h>

#define GENERATION_ONE (1ull << 26)
#define GENERATION     ((1ull << DRV_HANDLE_KIND_SHIFT) - GENERATION_ONE)

_Static_assert(sizeof(struct drv_handle_slot) == 16, "a handle's low bits are its slot's place");

/* Guards free and used of all tables, for a few instructions at a time; innermost. */
static struct drv_mutex lock = DRV_MUTEX(DRV_RANK_HANDLES);

DRV_FORK_TAKES(lock, DRV_FORK_HANDLES)

static struct drv_handle_slot *slot_at(struct drv_handles *table, uint64_t handle)
{
	return &table->slot[(handle & DRV_HANDLE_PLACE) / sizeof(struct drv_handle_slot)];
}

/* NULL: all slots are in use. */
static struct drv_handle_slot *take_slot(struct drv_handles *table)
{
	struct drv_handle_slot *slot = NULL;

	drv_mutex_lock(&lock);
	if (table->free) {
		slot = slot_at(table, table->free);
		table->free = atomic_load_explicit(&slot->key, memory_order_relaxed) & DRV_HANDLE_PLACE;
	} else if (table->used + 1 < DRV_HANDLES) {
		/* Slot 0 names no object: its key is 0, which no handle is. */
		slot = &table->slot[++table->used];
	}
	drv_mutex_unlock(&lock);
	return slot;
}

int drv_handle_slot_create(struct drv_handles *table, unsigned kind, uint64_t *out)
{
	struct drv_handle_slot *slot = take_slot(table);

	if (!slot)
		return drv_fail(-ENOMEM, "more than %u objects", DRV_HANDLES - 1);
	*out = (uint64_t)kind << DRV_HANDLE_KIND_SHIFT | (uint64_t)((char *)slot - (char *)table->slot);
	return 0;
}

void drv_handle_slot_destroy(struct drv_handles *table, uint64_t handle)
{
	struct drv_handle_slot *slot = slot_at(table, handle);
	uint64_t generation = atomic_load_explicit(&slot->key, memory_order_relaxed) & GENERATION;

	drv_mutex_lock(&lock);
	atomic_store_explicit(&slot->key, generation | table->free, memory_order_relaxed);
	table->free = handle & DRV_HANDLE_PLACE;
	drv_mutex_unlock(&lock);
}

/* The handle that the slot's next object gets. */
static uint64_t next_handle(struct drv_handles *table, uint64_t handle)
{
	uint64_t last = atomic_load_explicit(&slot_at(table, handle)->key, memory_order_relaxed);

	return (handle & ~GENERATION) | ((last + GENERATION_ONE) & GENERATION);
}

static void handle_publish(struct drv_handles *table, uint64_t handle, void *object)
{
	struct drv_handle_slot *slot = slot_at(table, handle);

	atomic_store_explicit(&slot->object, object, memory_order_release);
	atomic_store_explicit(&slot->key, handle, memory_order_release);
}

uint64_t drv_handle_open(struct drv_handles *table, uint64_t handle, void *object)
{
	handle = next_handle(table, handle);
	handle_publish(table, handle, object);
	return handle;
}

void drv_handle_shut(struct drv_handles *table, uint64_t handle)
{
	atomic_store_explicit(&slot_at(table, handle)->key, handle & GENERATION, memory_order_release);
}

int drv_handle_create(struct drv_handles *table, unsigned kind, void *object, uint64_t *handle)
{
	uint64_t slot;
	int r = drv_handle_slot_create(table, kind, &slot);

	if (r)
		return r;
	/* Stored first: another thread may find the object as soon as it is published, and destroy it by this member. */
	*handle = next_handle(table, slot);
	handle_publish(table, *handle, object);
	return 0;
}

bool drv_handle_destroy(struct drv_handles *table, uint64_t handle)
{
	uint64_t key = handle;

	if (!atomic_compare_exchange_strong_explicit(&slot_at(table, handle)->key, &key, handle & GENERATION,
						     memory_order_acq_rel, memory_order_relaxed))
		return false;
	drv_handle_slot_destroy(table, handle);
	return true;
}

void drv_handle_forget_all(struct drv_handles *table)
{
	drv_mutex_lock(&lock);
	table->free = 0;
	for (uint32_t i = table->used; i; i--) {
		struct drv_handle_slot *slot = &table->slot[i];
		uint64_t generation = atomic_load_explicit(&slot->key, memory_order_relaxed) & GENERATION;

		atomic_store_explicit(&slot->key, generation | table->free, memory_order_relaxed);
		table->free = (uint64_t)((char *)slot - (char *)table->slot);
	}
	drv_mutex_unlock(&lock);
}

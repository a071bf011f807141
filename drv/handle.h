/* Handles: what clients hold instead of pointers. A handle holds its slot's index and the slot's generation, so
 * that one that was freed is told from the one that took its slot; its top bits make it no address of any process.
 *
 *   63:48 kind, 47:24 generation, 23:0 index
 *
 * A table only grows, and lives as long as the process: a room has one, static and zeroed.
 *
 * A look-up takes no lock: a chunk never moves, and a slot's handle is written last. It proves that the handle was
 * alive then; whoever frees objects while others use them has to order that himself. All functions are thread safe.
 */
#ifndef DRV_HANDLE_H
#define DRV_HANDLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/error.h"

#define DRV_HANDLE_INDEX_MASK 0xffffffu
#define DRV_HANDLE_CHUNK      4096u /* slots */
#define DRV_HANDLE_CHUNKS     ((DRV_HANDLE_INDEX_MASK + 1) / DRV_HANDLE_CHUNK)

/* What a handle names: a mark of the room, and a type within it. Marks are 0x5a (embed), 0x5b (hsa), 0x5c (api): no
 * user address on x86-64 or any other machine has such top bits. */
#define DRV_HANDLE_KIND(mark, type) ((unsigned)(mark) << 8 | (unsigned)(type))

struct drv_handle_slot {
	_Atomic uint64_t handle; /* release: object is there; 0 while nothing is named */
	void *_Atomic object;    /* relaxed */
	uint64_t last;           /* the handle before; its generation goes on */
	uint32_t next_free;      /* index + 1 */
};

struct drv_handles {
	struct drv_handle_slot *_Atomic chunk[DRV_HANDLE_CHUNKS]; /* owned */
	uint32_t free, used; /* guarded by handle.c's lock; free: index + 1 of the first free slot */
};

/* A slot for handles that come and go without allocation: drv_handle_open() names an object by a new handle until
 * drv_handle_shut(). The slot is named by any handle it had. -ENOMEM. */
DRV_MUST_CHECK int drv_handle_slot_create(struct drv_handles *table, unsigned kind, uint64_t *slot);
/* Nothing is named by it any more. */
void drv_handle_slot_destroy(struct drv_handles *table, uint64_t slot);
uint64_t drv_handle_open(struct drv_handles *table, uint64_t slot, void *object);
void drv_handle_shut(struct drv_handles *table, uint64_t handle);

/* Both steps at once, for an object that has one handle all its life. -ENOMEM. */
DRV_MUST_CHECK int drv_handle_create(struct drv_handles *table, unsigned kind, void *object, uint64_t *handle);
void drv_handle_destroy(struct drv_handles *table, uint64_t handle);

/* The object behind a handle of that kind, or NULL. */
static inline void *drv_handle_find(const struct drv_handles *table, unsigned kind, uint64_t handle)
{
	const uint32_t index = handle & DRV_HANDLE_INDEX_MASK;
	const struct drv_handle_slot *slot;

	if (__builtin_expect(handle >> 48 != kind, 0))
		return NULL;
	slot = atomic_load_explicit(&table->chunk[index / DRV_HANDLE_CHUNK], memory_order_acquire);
	if (!slot)
		return NULL;
	slot += index % DRV_HANDLE_CHUNK;
	return atomic_load_explicit(&slot->handle, memory_order_acquire) == handle
		       ? atomic_load_explicit(&slot->object, memory_order_relaxed)
		       : NULL;
}

#endif

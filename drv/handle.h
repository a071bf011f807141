/* Handles: what clients hold instead of pointers. A handle holds its slot's place and the slot's generation, so
 * that one that was freed is told from the one that took its slot; its top bits make it no address of any process.
 *
 *   63:48 kind, 47:26 generation, 25:4 index, 3:0 zero
 *
 * A table lives as long as the process: a room has one, static and zeroed. All its slots are there from the start,
 * and cost addresses alone until they are used: a look-up is a comparison, and no index is wrong.
 *
 * A look-up takes no lock: a slot's key, which is its handle but for the kind, is written last. It proves that the
 * handle was alive then; whoever frees objects while others use them has to order that himself. All functions are
 * thread safe.
 */
#ifndef DRV_HANDLE_H
#define DRV_HANDLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/error.h"

#define DRV_HANDLES      (1u << 22)
#define DRV_HANDLE_PLACE ((DRV_HANDLES - 1) * sizeof(struct drv_handle_slot)) /* in a handle: where its slot is */

/* What a handle names: a mark of the room, and a type within it. Marks are 0x5a (embed), 0x5b (hsa), 0x5c (api): no
 * user address on x86-64 or any other machine has such top bits. */
#define DRV_HANDLE_KIND_SHIFT       48
#define DRV_HANDLE_KIND(mark, type) ((unsigned)(mark) << 8 | (unsigned)(type))

struct drv_handle_slot {
	_Atomic uint64_t key; /* release: object is there. Another's place, or none, while nothing is named */
	void *_Atomic object; /* relaxed */
};

struct drv_handles {
	struct drv_handle_slot slot[DRV_HANDLES]; /* the first is nobody's */
	uint32_t used; /* how many others ever were somebody's; guarded by handle.c's lock */
	uint64_t free; /* the place of the first one that was given back, which has that of the next; 0: none */
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
	const struct drv_handle_slot *slot =
		(const void *)((const char *)table->slot + (handle & DRV_HANDLE_PLACE));
	uint64_t key = handle ^ (uint64_t)kind << DRV_HANDLE_KIND_SHIFT;
	void *object;

	if (__builtin_expect(atomic_load_explicit(&slot->key, memory_order_acquire) != key, 0))
		return NULL;
	object = atomic_load_explicit(&slot->object, memory_order_relaxed);
	if (!object)
		__builtin_unreachable(); /* what is named is there: callers ask once */
	return object;
}

#endif

/* Handles: opaque 64-bit names that clients hold instead of pointers.
 *
 *   drv_handles      a room's table of slots; static and zeroed, lives as long as the process
 *   drv_handle_slot  the place of one object: its key and its pointer
 *
 * A handle contains its slot's position and the slot's generation, so that a freed handle differs from the handle
 * of the slot's next object; its top bits make it no valid address of any process.
 *
 *   63:48 kind, 47:26 generation, 25:4 index, 3:0 zero
 *
 * All slots of a table exist from the start, and cost addresses alone until they are used: a look-up is one
 * comparison, and no index is out of bounds.
 *
 * A look-up takes no lock: a slot's key, which is its handle, is written last. The key proves that the handle was alive
 * at that moment and has the kind of its object: no other number names the object. It is read before and after the object, since
 * the slot may get another object between the two. A caller that frees objects while others use them has to order that itself.
 * All functions are thread safe. */
#ifndef DRV_HANDLE_H
#define DRV_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/error.h"

#define DRV_HANDLES (1u << 22)
/* The bits of a handle that give its slot's byte offset in the table. */
#define DRV_HANDLE_PLACE ((DRV_HANDLES - 1) * sizeof(struct drv_handle_slot))

/* Kind of the object that a handle names: a tag of the room, and a type within it. Tags are 0x5a (embed), 0x5b
 * (hsa), 0x5c to 0x5e (api, by its interface): no user address on x86-64 or any other machine has such top bits. */
#define DRV_HANDLE_KIND_SHIFT       48
#define DRV_HANDLE_KIND(mark, type) ((unsigned)(mark) << 8 | (unsigned)(type))

struct drv_handle_slot {
	/* release: object is valid. While the slot names no object: its generation, and the byte offset of the next
	 * free slot or 0, without a kind */
	_Atomic uint64_t key;
	/* release: the key that it replaces is not the handle of the object before */
	void *_Atomic object;
};

struct drv_handles {
	struct drv_handle_slot slot[DRV_HANDLES]; /* slot 0 is never used */
	uint32_t used; /* slots that were ever in use, without slot 0; guarded by handle.c's lock */
	/* byte offset of the first free slot, whose key links to the next; 0: none. Guarded likewise */
	uint64_t free;
};

/* Creates a slot for handles that come and go without allocation: drv_handle_open() names an object by a new handle
 * until drv_handle_shut(). Any handle that the slot ever had identifies the slot. -ENOMEM. */
DRV_MUST_CHECK int drv_handle_slot_create(struct drv_handles *table, unsigned kind, uint64_t *slot);
/* The slot must name no object. */
void drv_handle_slot_destroy(struct drv_handles *table, uint64_t slot);
uint64_t drv_handle_open(struct drv_handles *table, uint64_t slot, void *object);
void drv_handle_shut(struct drv_handles *table, uint64_t handle);

/* Creates a slot and opens a handle in it, for an object that keeps one handle all its life. -ENOMEM. */
DRV_MUST_CHECK int drv_handle_create(struct drv_handles *table, unsigned kind, void *object, uint64_t *handle);
/* False, without effect: another thread has destroyed the handle. */
bool drv_handle_destroy(struct drv_handles *table, uint64_t handle);

/* No handle of the table names an object any more; the next handles differ from all that were. No thread may look up a handle
 * or create one. */
void drv_handle_forget_all(struct drv_handles *table);

/* Finds the object of that kind that a handle names; NULL: none. */
static inline void *drv_handle_find(const struct drv_handles *table, unsigned kind, uint64_t handle)
{
	const struct drv_handle_slot *slot =
		(const void *)((const char *)table->slot + (handle & DRV_HANDLE_PLACE));
	void *object;

	if (__builtin_expect(handle >> DRV_HANDLE_KIND_SHIFT != kind, 0) ||
	    __builtin_expect(atomic_load_explicit(&slot->key, memory_order_acquire) != handle, 0))
		return NULL;
	object = atomic_load_explicit(&slot->object, memory_order_acquire);
	if (__builtin_expect(atomic_load_explicit(&slot->key, memory_order_relaxed) != handle, 0))
		return NULL;
	if (!object)
		__builtin_unreachable(); /* a slot with this key has an object: no caller needs a second test */
	return object;
}

#endif

/* Handles: slots in a table that only grows. A handle holds the slot's index and the slot's generation, so that one
 * that was freed is told from the one that took its slot; its top bits make it no address of any process.
 *
 * A look-up takes no lock: a chunk never moves, and a slot's handle is written last. */
#include "embed/internal.h"

#include <errno.h>
#include <stdlib.h>

/* 63:56 mark, 55:48 type, 47:24 generation, 23:0 index. */
#define MARK             0x5aull
#define GENERATION_SHIFT 24
#define INDEX_MASK       0xffffffu
#define CHUNK_SLOTS      4096u
#define CHUNKS           ((INDEX_MASK + 1) / CHUNK_SLOTS)

struct slot {
	_Atomic uint64_t handle; /* release: object is there; 0 while nothing is named */
	void *object;
	uint64_t last;      /* the handle before; its generation goes on */
	uint32_t next_free; /* index + 1 */
};

static struct {
	pthread_mutex_t lock; /* guards free and used; innermost */
	struct slot *_Atomic chunk[CHUNKS];
	uint32_t free, used; /* free: index + 1 of the first free slot */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_table(void)
{
	pthread_mutex_lock(&table.lock);
}

static void unlock_table(void)
{
	pthread_mutex_unlock(&table.lock);
}

/* A child must not inherit the lock held by a thread that it does not have. */
static void watch_forks(void)
{
	(void)!pthread_atfork(lock_table, unlock_table, unlock_table);
}

static struct slot *slot_at(uint32_t index)
{
	struct slot *chunk = atomic_load_explicit(&table.chunk[index / CHUNK_SLOTS], memory_order_acquire);

	return chunk ? &chunk[index % CHUNK_SLOTS] : NULL;
}

static int take_new(uint32_t *index)
{
	struct slot *chunk;

	if (table.used > INDEX_MASK)
		return drv_fail(-ENOMEM, "more than %u objects", INDEX_MASK);
	if (!slot_at(table.used)) {
		chunk = calloc(CHUNK_SLOTS, sizeof(*chunk));
		if (!chunk)
			return drv_fail(-ENOMEM, "no host memory for handles");
		atomic_store_explicit(&table.chunk[table.used / CHUNK_SLOTS], chunk, memory_order_release);
	}
	*index = table.used++;
	return 0;
}

static int take_slot(uint32_t *index)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r = 0;

	pthread_once(&once, watch_forks);
	lock_table();
	if (table.free) {
		*index = table.free - 1;
		table.free = slot_at(*index)->next_free;
	} else {
		r = take_new(index);
	}
	unlock_table();
	return r;
}

static void give_slot(uint32_t index)
{
	lock_table();
	slot_at(index)->next_free = table.free;
	table.free = index + 1;
	unlock_table();
}

static uint32_t index_of(const void *handle)
{
	return (uintptr_t)handle & INDEX_MASK;
}

void *embed_slot_create(enum embed_type type)
{
	uint32_t index = 0;
	struct slot *slot;

	if (take_slot(&index))
		return NULL;
	slot = slot_at(index);
	slot->last =
		MARK << 56 | (uint64_t)type << 48 | (slot->last & (uint64_t)INDEX_MASK << GENERATION_SHIFT) | index;
	return (void *)(uintptr_t)slot->last;
}

void embed_slot_destroy(void *slot)
{
	if (slot)
		give_slot(index_of(slot));
}

void *embed_open(void *handle, void *object)
{
	struct slot *slot = slot_at(index_of(handle));
	uint64_t generation = ((slot->last >> GENERATION_SHIFT) + 1) & INDEX_MASK;

	slot->last = (slot->last & ~((uint64_t)INDEX_MASK << GENERATION_SHIFT)) | generation << GENERATION_SHIFT;
	slot->object = object;
	atomic_store_explicit(&slot->handle, slot->last, memory_order_release);
	return (void *)(uintptr_t)slot->last;
}

void embed_shut(void *handle)
{
	atomic_store_explicit(&slot_at(index_of(handle))->handle, 0, memory_order_release);
}

int embed_publish(enum embed_type type, struct embed_object *object)
{
	void *slot = embed_slot_create(type);

	if (!slot)
		return -ENOMEM;
	object->handle = embed_open(slot, object);
	object->device->alive[type]++;
	return 0;
}

void embed_retire(enum embed_type type, struct embed_object *object)
{
	embed_shut(object->handle);
	embed_slot_destroy(object->handle);
	object->device->alive[type]--;
}

static const char *const type_name[EMBED_TYPES] = {
	[EMBED_DEVICE] = "device", [EMBED_MEM] = "mem",     [EMBED_RANGE] = "range", [EMBED_CODE] = "code",
	[EMBED_KERNEL] = "kernel", [EMBED_QUEUE] = "queue", [EMBED_CMD] = "cmd",     [EMBED_SYNC] = "sync",
};

__attribute__((cold, noinline)) static void *not_found(enum embed_type type, uint64_t handle)
{
	unsigned other = handle >> 48 & 0xff;

	if (!handle)
		(void)!drv_fail(-EBADF, "a tuff_%s that is NULL", type_name[type]);
	else if (handle >> 56 != MARK || other >= EMBED_TYPES)
		(void)!drv_fail(-EBADF, "0x%llx was never a tuff_%s", (unsigned long long)handle, type_name[type]);
	else if (other != type)
		(void)!drv_fail(-EBADF, "a tuff_%s where a tuff_%s is needed", type_name[other], type_name[type]);
	else
		(void)!drv_fail(-EBADF, "a tuff_%s that is not alive any more", type_name[type]);
	return NULL;
}

void *embed_find(enum embed_type type, const void *handle)
{
	uint64_t h = (uintptr_t)handle;
	struct slot *slot = h >> 48 == (MARK << 8 | type) ? slot_at(h & INDEX_MASK) : NULL;

	if (__builtin_expect(!slot || atomic_load_explicit(&slot->handle, memory_order_acquire) != h, 0))
		return not_found(type, h);
	return slot->object;
}

int embed_get(enum embed_type type, const void *handle, void *object)
{
	struct embed_object *found = embed_find(type, handle);

	if (!found)
		return -EBADF;
	*(struct embed_object **)object = found;
	return drv_check_process(found->device->drv);
}

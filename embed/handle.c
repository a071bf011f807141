/* Handles of the public interface: slots of one table (drv/handle.h), by type. */
#include "embed/internal.h"

#include <errno.h>

#include "drv/handle.h"

#define MARK 0x5a

static struct drv_handles table;

void *embed_slot_create(enum embed_type type)
{
	uint64_t slot;

	return drv_handle_slot_create(&table, DRV_HANDLE_KIND(MARK, type), &slot) ? NULL : (void *)(uintptr_t)slot;
}

void embed_slot_destroy(void *slot)
{
	if (slot)
		drv_handle_slot_destroy(&table, (uintptr_t)slot);
}

void *embed_open(void *slot, void *object)
{
	return (void *)(uintptr_t)drv_handle_open(&table, (uintptr_t)slot, object);
}

void embed_shut(void *handle)
{
	drv_handle_shut(&table, (uintptr_t)handle);
}

int embed_publish(enum embed_type type, struct embed_object *object)
{
	uint64_t handle;
	int r = drv_handle_create(&table, DRV_HANDLE_KIND(MARK, type), object, &handle);

	if (r)
		return r;
	object->handle = (void *)(uintptr_t)handle;
	object->device->alive[type]++;
	return 0;
}

void embed_retire(enum embed_type type, struct embed_object *object)
{
	drv_handle_destroy(&table, (uintptr_t)object->handle);
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
	void *object = drv_handle_find(&table, DRV_HANDLE_KIND(MARK, type), (uintptr_t)handle);

	return __builtin_expect(!!object, 1) ? object : not_found(type, (uintptr_t)handle);
}

int embed_get(enum embed_type type, const void *handle, void *object)
{
	struct embed_object *found = embed_find(type, handle);

	if (!found)
		return -EBADF;
	*(struct embed_object **)object = found;
	return drv_check_process(found->device->drv);
}

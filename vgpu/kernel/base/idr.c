#include "vgpu/kernel/base/idr.h"
#include "vgpu/kernel/base/core.h"
#include <string.h>

void kern_idr_init(struct kern_idr *idr, uint32_t limit)
{
	*idr = (struct kern_idr){.hint = 1, .limit = limit};
}

void kern_idr_fini(struct kern_idr *idr)
{
	kern_free(idr->slot);
	idr->slot = NULL;
}

static int idr_grow(struct kern_idr *idr)
{
	uint32_t room = idr->room ? idr->room * 2 : 64;
	void **slot = kern_alloc(room * sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	if (idr->room)
		memcpy(slot, idr->slot, idr->room * sizeof(*slot));
	kern_free(idr->slot);
	idr->slot = slot;
	kern_list_step();
	idr->room = room;
	return 0;
}

uint32_t kern_idr_add(struct kern_idr *idr, void *object, int *error)
{
	uint32_t id = idr->hint;

	while (id < idr->room && idr->slot[id])
		id++;
	*error = -ENOSPC;
	if (id >= idr->limit)
		return 0;
	if (id >= idr->room && (*error = idr_grow(idr)))
		return 0;
	*error = 0;
	idr->slot[id] = object;
	idr->hint = id + 1;
	idr->count++;
	return id;
}

void *kern_idr_find(const struct kern_idr *idr, uint32_t id)
{
	return id < idr->room ? idr->slot[id] : NULL;
}

void *kern_idr_remove(struct kern_idr *idr, uint32_t id)
{
	void *object = kern_idr_find(idr, id);

	if (!object)
		return NULL;
	idr->slot[id] = NULL;
	idr->count--;
	if (id < idr->hint)
		idr->hint = id;
	return object;
}

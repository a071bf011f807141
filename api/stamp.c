/* Stamps: places where GPUs write their clock counters. Each device has its own, in memory of the host, which the
 * CPU reads at once. A place that is given back is used again when its operation has ended. */
#include <stdlib.h>

#include "api/internal.h"

#define CHUNK_B 4096u
#define STAMPS  (CHUNK_B / sizeof(uint64_t))
#define TRIES   4 /* places that are looked at for one that is free, before another chunk is made */

struct hip_stamp {
	struct hip_stamp *next;
	struct hip_device *device;
	uint64_t *at;         /* borrowed: of its chunk; 0 until it is written */
	struct hip_mark mark; /* owned: of one that was left; the operation is below it */
};

/* Stays as long as the process. */
struct chunk {
	struct chunk *next;
	struct hip_stamp stamps[STAMPS];
};

static struct places {
	struct drv_lock lock; /* guards all below; inside a stream's and an event's */
	struct chunk *chunks; /* owned */
	struct hip_stamp *fresh;
	struct hip_stamp *first, *last; /* stamps left to others, in the order of leaving */
} all_places[HIP_DEVICES_MAX];

static struct places *places_of(const struct hip_device *device)
{
	return &all_places[device->index];
}

static bool make_chunk(struct places *p, struct hip_device *device)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));
	uint64_t *at = chunk ? hip_allocate_for(device, hip.kernarg, CHUNK_B) : NULL;

	if (!at) {
		free(chunk);
		return false;
	}
	for (unsigned i = 0; i < STAMPS; i++) {
		chunk->stamps[i] = (struct hip_stamp){.next = p->fresh, .device = device, .at = at + i};
		p->fresh = &chunk->stamps[i];
	}
	chunk->next = p->chunks;
	p->chunks = chunk;
	return true;
}

static struct hip_stamp *pop(struct places *p)
{
	struct hip_stamp *stamp = p->first;

	if (stamp)
		p->first = stamp->next;
	return stamp;
}

static void append(struct places *p, struct hip_stamp *stamp)
{
	stamp->next = NULL;
	if (p->first)
		p->last->next = stamp;
	else
		p->first = stamp;
	p->last = stamp;
}

/* Finds a stamp that was left, and whose mark is reached. A stream that stops keeps its own, which go to the
 * end. */
static struct hip_stamp *find_left(struct places *p)
{
	struct hip_stamp *stamp;

	for (unsigned i = 0; i < TRIES && (stamp = pop(p)); i++) {
		if (hip_mark_reached(&stamp->mark)) {
			hip_mark_put(&stamp->mark);
			return stamp;
		}
		append(p, stamp);
	}
	return NULL;
}

/* NULL: out of memory. */
static struct hip_stamp *take(struct hip_device *device)
{
	struct places *p = places_of(device);
	struct hip_stamp *stamp;

	drv_lock(&p->lock);
	stamp = find_left(p);
	if (!stamp && (p->fresh || make_chunk(p, device))) {
		stamp = p->fresh;
		p->fresh = stamp->next;
	}
	drv_unlock(&p->lock);
	return stamp;
}

hipError_t hip_stamp_put(struct hip_stream *s, struct hip_stamp **out)
{
	struct hip_stamp *stamp = take(s->device);
	hipError_t r;

	if (!stamp)
		return hipErrorOutOfMemory;
	__atomic_store_n(stamp->at, 0, __ATOMIC_RELAXED);
	r = hip_stream_submit(s, &(struct flow_op){.kind = FLOW_STAMP, .stamp_va = (uintptr_t)stamp->at});
	if (r) {
		struct hip_mark mark = hip_stream_mark(s);

		hip_stamp_leave(stamp, &mark);
		hip_mark_put(&mark);
		return r;
	}
	*out = stamp;
	return hipSuccess;
}

bool hip_stamp_read(const struct hip_stamp *stamp, uint64_t *ticks)
{
	uint64_t counter = __atomic_load_n(stamp->at, __ATOMIC_ACQUIRE);

	if (counter)
		*ticks = hip.door->ticks(stamp->device->agent, counter);
	return counter;
}

void hip_stamp_leave(struct hip_stamp *stamp, const struct hip_mark *mark)
{
	struct places *p = places_of(stamp->device);

	/* Nothing reads what the stream is behind there. */
	stamp->mark = (struct hip_mark){.stream = mark->stream ? hip_stream_get(mark->stream) : NULL,
					.index = mark->index};
	drv_lock(&p->lock);
	append(p, stamp);
	drv_unlock(&p->lock);
}

/* Timestamps: places where GPUs write their clock counters. Each device has places of its own, in host memory,
 * which the CPU reads without a copy. A released place is used again when its operation has ended. */
#include <stdlib.h>

#include "api/stream/point.h"

#define CHUNK_B 4096u
#define STAMPS  (CHUNK_B / sizeof(uint64_t))
#define TRIES   4 /* released places that are tried before another chunk is made */

struct hip_timestamp {
	struct hip_timestamp *next;
	struct hip_device *device;
	uint64_t *at;           /* borrowed from its chunk; 0 until the GPU writes it */
	struct hip_point point; /* owned, when released: the operation that writes the place is below this point */
};

/* Memory for timestamps; lives as long as the process. */
struct chunk {
	struct chunk *next;
	struct hip_timestamp timestamps[STAMPS];
};

static struct places {
	struct drv_lock lock; /* guards the members below; inside a stream's lock and an event's */
	struct chunk *chunks;
	struct hip_timestamp *fresh;
	struct hip_timestamp *first, *last; /* released timestamps, in the order of their release */
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
		chunk->timestamps[i] = (struct hip_timestamp){.next = p->fresh, .device = device, .at = at + i};
		p->fresh = &chunk->timestamps[i];
	}
	chunk->next = p->chunks;
	p->chunks = chunk;
	return true;
}

static struct hip_timestamp *places_pop(struct places *p)
{
	struct hip_timestamp *timestamp = p->first;

	if (timestamp)
		p->first = timestamp->next;
	return timestamp;
}

static void places_append(struct places *p, struct hip_timestamp *timestamp)
{
	timestamp->next = NULL;
	if (p->first)
		p->last->next = timestamp;
	else
		p->first = timestamp;
	p->last = timestamp;
}

/* Finds a released timestamp whose point is reached. A timestamp of a stream that does not progress is moved to the
 * end of the list. */
static struct hip_timestamp *find_released(struct places *p)
{
	struct hip_timestamp *timestamp;

	for (unsigned i = 0; i < TRIES && (timestamp = places_pop(p)); i++) {
		if (hip_point_is_completed(&timestamp->point)) {
			hip_point_put(&timestamp->point);
			return timestamp;
		}
		places_append(p, timestamp);
	}
	return NULL;
}

/* NULL: out of memory. */
static struct hip_timestamp *timestamp_take(struct hip_device *device)
{
	struct places *p = places_of(device);
	struct hip_timestamp *timestamp;

	drv_lock(&p->lock);
	timestamp = find_released(p);
	if (!timestamp && (p->fresh || make_chunk(p, device))) {
		timestamp = p->fresh;
		p->fresh = timestamp->next;
	}
	drv_unlock(&p->lock);
	return timestamp;
}

hipError_t hip_timestamp_put(struct hip_stream *s, struct hip_timestamp **out)
{
	struct hip_timestamp *timestamp = timestamp_take(s->device);
	hipError_t r;

	if (!timestamp)
		return hipErrorOutOfMemory;
	__atomic_store_n(timestamp->at, 0, __ATOMIC_RELAXED);
	r = hip_stream_submit(s, &(struct flow_op){.kind = FLOW_STAMP, .stamp_va = (uintptr_t)timestamp->at});
	if (r) {
		struct hip_point point = hip_stream_point(s);

		hip_timestamp_release(timestamp, &point);
		hip_point_put(&point);
		return r;
	}
	*out = timestamp;
	return hipSuccess;
}

bool hip_timestamp_read(const struct hip_timestamp *timestamp, uint64_t *ticks)
{
	uint64_t counter = __atomic_load_n(timestamp->at, __ATOMIC_ACQUIRE);

	if (counter)
		*ticks = hip.hsa->ticks(timestamp->device->agent, counter);
	return counter;
}

void hip_timestamp_release(struct hip_timestamp *timestamp, const struct hip_point *point)
{
	struct places *p = places_of(timestamp->device);

	/* Nothing reads the frontier of a released timestamp's point. */
	timestamp->point = (struct hip_point){.stream = point->stream ? hip_stream_get(point->stream) : NULL,
					      .index = point->index};
	drv_lock(&p->lock);
	places_append(p, timestamp);
	drv_unlock(&p->lock);
}

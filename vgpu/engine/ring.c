/* Rings: the door's engine_ring_*, and their scratch slots. */
#include "vgpu/engine/internal.h"

#include <stdlib.h>

#include "vgpu/engine/pm4.h"

static void link_ring(struct engine_ring *ring)
{
	pthread_mutex_lock(&ring->dev->lock);
	ring->next = ring->dev->rings;
	ring->dev->rings = ring;
	pthread_mutex_unlock(&ring->dev->lock);
}

static void unlink_ring(struct engine_ring *ring)
{
	struct engine_device *dev = ring->dev;

	pthread_mutex_lock(&dev->lock);
	for (struct engine_ring **at = &dev->rings; *at; at = &(*at)->next) {
		if (*at == ring) {
			*at = ring->next;
			break;
		}
	}
	if (dev->turn == ring)
		dev->turn = NULL;
	pthread_mutex_unlock(&dev->lock);
}

/* As the kernel starts a compute ring (Linux gfx_v9_0.c): all compute units are on. */
static void reset_registers(struct engine_ring *ring)
{
	for (unsigned se = 0; se < 4 || se < ring->dev->chip->engines; se++)
		ring->sh[engine_cu_mask_reg(ring->dev->chip, se)] = ~0u;
}

struct engine_ring *engine_ring_create(struct engine_device *dev, enum engine_ip ip, unsigned index)
{
	struct engine_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->dev = dev;
	ring->ip = ip;
	ring->index = index;
	reset_registers(ring);
	ring->packet = malloc(4 * (ip == ENGINE_DMA ? PM4_MAX_IB_dw : PM4_MAX_BODY_dw + 1));
	pthread_mutex_init(&ring->lock, NULL);
	pthread_cond_init(&ring->turn, NULL);
	for (unsigned i = 0; i < ENGINE_RING_JOBS; i++) {
		ring->run[i].ring = ring;
		ring->run[i].helper = engine_worker_create(dev, ring);
		pthread_mutex_init(&ring->run[i].why_lock, NULL);
	}
	link_ring(ring);
	for (unsigned i = 0; i < ENGINE_RING_JOBS; i++)
		if (!ring->packet || !ring->run[i].helper) {
			engine_ring_destroy(ring);
			return NULL;
		}
	return ring;
}

void engine_ring_destroy(struct engine_ring *ring)
{
	if (!ring)
		return;
	unlink_ring(ring);
	for (unsigned i = 0; i < ENGINE_RING_JOBS; i++) {
		engine_worker_destroy(ring->run[i].helper);
		pthread_mutex_destroy(&ring->run[i].why_lock);
	}
	pthread_cond_destroy(&ring->turn);
	pthread_mutex_destroy(&ring->lock);
	free(ring->packet);
	free(ring);
}

/* --- scratch slots ---------------------------------------------------------------------------- */

bool engine_scratch_take(struct engine_ring *ring, unsigned limit, unsigned n, uint16_t *slot)
{
	unsigned found = 0;

	pthread_mutex_lock(&ring->lock);
	for (unsigned i = 0; i < limit && found < n; i++)
		if (!(ring->scratch_busy[i / 64] & (uint64_t)1 << i % 64))
			slot[found++] = (uint16_t)i;
	for (unsigned i = 0; found == n && i < n; i++)
		ring->scratch_busy[slot[i] / 64] |= (uint64_t)1 << slot[i] % 64;
	pthread_mutex_unlock(&ring->lock);
	return found == n;
}

void engine_scratch_give(struct engine_ring *ring, unsigned n, const uint16_t *slot)
{
	pthread_mutex_lock(&ring->lock);
	for (unsigned i = 0; i < n; i++)
		ring->scratch_busy[slot[i] / 64] &= ~((uint64_t)1 << slot[i] % 64);
	pthread_mutex_unlock(&ring->lock);
}

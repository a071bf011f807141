/* Rings: the interface's engine_ring_*, and their scratch slots. */
#include "vgpu/engine/internal.h"

#include <stdlib.h>

#include "vgpu/engine/pm4.h"
#include "vgpu/rank.h"

static void link_ring(struct engine_ring *ring)
{
	vgpu_lock(&ring->dev->lock, VGPU_RANK_DEVICE);
	ring->next = ring->dev->rings;
	ring->dev->rings = ring;
	vgpu_unlock(&ring->dev->lock, VGPU_RANK_DEVICE);
}

static void unlink_ring(struct engine_ring *ring)
{
	struct engine_device *dev = ring->dev;

	vgpu_lock(&dev->lock, VGPU_RANK_DEVICE);
	for (struct engine_ring **at = &dev->rings; *at; at = &(*at)->next) {
		if (*at == ring) {
			*at = ring->next;
			break;
		}
	}
	if (dev->turn == ring)
		dev->turn = NULL;
	vgpu_unlock(&dev->lock, VGPU_RANK_DEVICE);
}

/* State of a compute ring after the kernel started it (Linux gfx_v9_0.c): all compute units are on. */
static void reset_registers(struct engine_ring *ring)
{
	for (unsigned se = 0; se < 4 || se < ring->dev->chip->engines; se++)
		ring->sh[engine_cu_mask_reg(ring->dev->chip, se)] = ~0u;
}

struct engine_ring *engine_ring_create(struct engine_device *dev, enum engine_ip ip, unsigned xcc, unsigned index)
{
	struct engine_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->dev = dev;
	ring->ip = ip;
	ring->xcc = xcc;
	ring->cache = dev->cache[xcc];
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

/* --- scratch slots --- */

static bool is_busy_locked(const struct engine_ring *ring, unsigned slot)
{
	return ring->scratch_busy[slot / 64] & (uint64_t)1 << slot % 64;
}

/* The slots of engine e are [e * engine_slots, (e + 1) * engine_slots). */
static bool take_in_engine_locked(struct engine_ring *ring, struct engine_claim *claim, unsigned engine)
{
	const struct engine_grid *grid = claim->grid;
	unsigned first = engine * grid->engine_slots, found = 0;

	for (unsigned i = first; i < first + grid->engine_slots && found < grid->waves_per_group; i++)
		if (!is_busy_locked(ring, i))
			claim->slot[found++] = (uint16_t)i;
	if (found < grid->waves_per_group)
		return false;
	for (unsigned i = 0; i < found; i++)
		ring->scratch_busy[claim->slot[i] / 64] |= (uint64_t)1 << claim->slot[i] % 64;
	claim->engine = engine;
	return true;
}

bool engine_scratch_take(struct engine_ring *ring, struct engine_claim *claim)
{
	unsigned engines = ring->dev->chip->engines;
	bool taken = false;

	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	for (unsigned i = 0; i < engines && !taken; i++) {
		unsigned engine = (claim->engine + i) % engines;

		taken = claim->grid->engines >> engine & 1 && take_in_engine_locked(ring, claim, engine);
	}
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
	return taken;
}

void engine_scratch_give(struct engine_ring *ring, unsigned n, const uint16_t *slot)
{
	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	for (unsigned i = 0; i < n; i++)
		ring->scratch_busy[slot[i] / 64] &= ~((uint64_t)1 << slot[i] % 64);
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
}

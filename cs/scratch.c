/* Scratch: private memory of lanes, one buffer per ring, created when the first kernel needs it.
 *
 * A wave's slot is at its number times WAVESIZE, so WAVESIZE may only change while no wave of the ring runs: a
 * larger need brings a new buffer, after a barrier, and the old one is freed when its last job has ended. */
#include "cs/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "cs/pm4.h"

/* Preferred size: a buffer for all waves that fit a chip is often gigabytes, and with fewer waves kernels only run
 * slower. The waves of a workgroup are needed in any case. */
#define SCRATCH_PREFERRED_B (256ull << 20)

static uint32_t wave_units(const struct drv_chip *chip, uint32_t private_B, unsigned lanes)
{
	uint64_t wave_B = (uint64_t)private_B * lanes;
	uint64_t units = (wave_B + chip->scratch_granule_B - 1) / chip->scratch_granule_B;

	/* An odd number spreads the waves over memory channels (Mesa). */
	return units > chip->scratch_max_units ? UINT32_MAX : (units | 1);
}

/* Engines whose waves TMPRING_SIZE counts together. */
static uint32_t engines_apart(const struct drv_device *dev)
{
	return cs_pm4_of(dev)->engine_waves ? dev->facts.engines : 1;
}

uint32_t cs_scratch_waves_max(const struct drv_device *dev)
{
	return TMPRING_WAVES_MAX * engines_apart(dev);
}

/* Preferred number of waves, at least min: a multiple of the shader engines. */
static uint32_t preferred_waves(const struct drv_device *dev, uint64_t wave_B, uint32_t min)
{
	uint64_t waves = (uint64_t)dev->facts.ring_cus * dev->chip->scratch_waves_per_cu;

	if (waves > cs_scratch_waves_max(dev))
		waves = cs_scratch_waves_max(dev);
	if (waves * wave_B > SCRATCH_PREFERRED_B)
		waves = SCRATCH_PREFERRED_B / wave_B;
	waves -= waves % dev->facts.engines;
	return waves > min ? waves : min;
}

static int retire_current(struct cs_ring *ring)
{
	struct cs_old_scratch *old;

	if (!ring->scratch.mem)
		return 0;
	old = malloc(sizeof(*old));
	if (!old)
		return drv_fail(-ENOMEM, "no host memory to retire a scratch buffer");
	/* The open job may use the old buffer, too, before the barrier. */
	*old = (struct cs_old_scratch){.next = ring->scratch.old, .mem = ring->scratch.mem, .seq = ring->last + 1};
	ring->scratch.old = old;
	ring->scratch.mem = NULL;
	return 0;
}

/* Creates a buffer for as many waves as memory allows, from *waves down to min. */
static int create_buffer(const struct cs_ring *ring, uint64_t wave_B, uint32_t min, uint32_t *waves,
			 struct vm_mem **mem)
{
	struct vm_info info = {.kind = VM_VRAM, .flags = VM_RESIDENT};
	uint32_t engines = ring->dev->facts.engines, half;
	int r;

	for (;;) {
		info.size_B = *waves * wave_B;
		r = vm_mem_create(ring->ctx->vm, &info, mem);
		if (r != -ENOMEM || *waves == min)
			return r;
		half = *waves / 2 - *waves / 2 % engines;
		*waves = half > min ? half : min;
	}
}

static int scratch_grow(struct cs_ring *ring, uint32_t units, uint32_t min_waves)
{
	uint64_t wave_B = (uint64_t)units * ring->dev->chip->scratch_granule_B;
	uint32_t waves = preferred_waves(ring->dev, wave_B, min_waves);
	struct vm_mem *mem;
	int r = create_buffer(ring, wave_B, min_waves, &waves, &mem);

	if (r)
		return r;
	r = retire_current(ring);
	if (r) {
		vm_mem_destroy(mem);
		return r;
	}
	ring->scratch.changed = ring->scratch.changed || ring->scratch.units;
	ring->scratch.mem = mem;
	ring->scratch.units = units;
	ring->scratch.waves = waves;
	ring->scratch.size_reg = TMPRING_SIZE(waves / engines_apart(ring->dev), units);
	return 0;
}

/* Grows for this launch and for earlier ones together: kernels that alternate would replace the buffer again and
 * again. Without memory for both, grows for this launch alone. */
static int grow_for(struct cs_ring *ring, uint32_t units, uint32_t min_waves)
{
	uint32_t both = units > ring->scratch.units ? units : ring->scratch.units;
	int r = scratch_grow(ring, both, min_waves);

	return r == -ENOMEM && both > units ? scratch_grow(ring, units, min_waves) : r;
}

int cs_scratch_ensure(struct cs_ib *ib, uint32_t private_B, unsigned lanes, uint32_t min_waves)
{
	struct cs_ring *ring = ib->ring;
	const struct drv_chip *chip = ring->dev->chip;
	uint32_t units = wave_units(chip, private_B, lanes);
	int r = 0;

	if (units == UINT32_MAX)
		return drv_fail(-EINVAL, "a kernel with %u bytes of scratch per lane; the chip can give %u",
				private_B, chip->scratch_max_units * chip->scratch_granule_B / lanes);
	if (!ring->scratch.mem || units > ring->scratch.units || min_waves > ring->scratch.waves) {
		r = grow_for(ring, units, min_waves);
		ib->scratch_fenced = false;
	}
	if (!r && ring->scratch.changed && !ib->scratch_fenced) {
		cs_ib_barrier(ib, true, CS_SCOPE_NONE);
		ib->scratch_fenced = true;
	}
	return r;
}

void cs_scratch_retire(struct cs_ring *ring, bool all)
{
	struct cs_old_scratch **link = &ring->scratch.old;

	while (*link) {
		struct cs_old_scratch *old = *link;

		if (all || cs_completed_seq(ring) >= old->seq) {
			*link = old->next;
			vm_mem_destroy(old->mem);
			free(old);
		} else {
			link = &old->next;
		}
	}
	if (all) {
		vm_mem_destroy(ring->scratch.mem);
		ring->scratch.mem = NULL;
	}
}

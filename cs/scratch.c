/* Scratch: private memory of lanes, one buffer per ring, made when the first kernel needs it.
 *
 * A wave's slot is its number times WAVESIZE, so WAVESIZE may only change while no wave of the ring runs: a larger
 * need brings a new buffer, behind a barrier, and the old one is freed when its last job has ended. */
#include "cs/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "cs/pm4.h"

/* A buffer for all waves that fit a chip is often gigabytes; fewer waves run slower, but need no more than this. */
#define SCRATCH_MAX_B (256ull << 20)

static uint32_t wave_units(const struct drv_chip *chip, uint32_t private_B)
{
	uint64_t wave_B = (uint64_t)private_B * chip->wave_lanes;
	uint64_t units = (wave_B + chip->scratch_granule_B - 1) / chip->scratch_granule_B;

	/* An odd number spreads the waves over memory channels (Mesa). */
	return units > chip->scratch_max_units ? UINT32_MAX : (units | 1);
}

/* Waves of the whole device, a multiple of the shader engines. */
static uint32_t wave_count(const struct drv_device *dev, uint64_t wave_B)
{
	uint32_t engines = dev->facts.engines;
	uint64_t waves = (uint64_t)dev->facts.cus * dev->chip->scratch_waves_per_cu;

	if (waves > TMPRING_WAVES_MAX)
		waves = TMPRING_WAVES_MAX;
	if (waves * wave_B > SCRATCH_MAX_B)
		waves = SCRATCH_MAX_B / wave_B;
	waves -= waves % engines;
	return waves ? waves : engines;
}

static int retire_current(struct cs_ring *ring)
{
	struct cs_old_scratch *old;

	if (!ring->scratch.mem)
		return 0;
	old = malloc(sizeof(*old));
	if (!old)
		return drv_fail(-ENOMEM, "no host memory to retire a scratch buffer");
	/* The job that is being written may use it too, in front of the barrier. */
	*old = (struct cs_old_scratch){.next = ring->scratch.old, .mem = ring->scratch.mem, .seq = ring->last + 1};
	ring->scratch.old = old;
	ring->scratch.mem = NULL;
	return 0;
}

static int scratch_grow(struct cs_ring *ring, uint32_t units)
{
	const struct drv_device *dev = vm_device(ring->ctx->vm);
	uint64_t wave_B = (uint64_t)units * dev->chip->scratch_granule_B;
	uint32_t waves = wave_count(dev, wave_B);
	struct vm_info info = {.kind = VM_VRAM, .flags = VM_RESIDENT};
	struct vm_mem *mem;
	int r;

	for (;;) {
		info.size_B = waves * wave_B;
		r = vm_mem_create(ring->ctx->vm, &info, &mem);
		if (r != -ENOMEM || waves <= dev->facts.engines)
			break;
		waves = waves / 2 - waves / 2 % dev->facts.engines;
		waves = waves ? waves : dev->facts.engines;
	}
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
	return 0;
}

int cs_scratch_ensure(struct cs_ib *ib, uint32_t private_B)
{
	struct cs_ring *ring = ib->ring;
	const struct drv_chip *chip = vm_device(ring->ctx->vm)->chip;
	uint32_t units = wave_units(chip, private_B);
	int r = 0;

	if (units == UINT32_MAX)
		return drv_fail(-EINVAL, "a kernel with %u bytes of scratch per lane; the chip can give %u",
				private_B, chip->scratch_max_units * chip->scratch_granule_B / chip->wave_lanes);
	if (!ring->scratch.mem || units > ring->scratch.units) {
		r = scratch_grow(ring, units);
		ib->scratch_settled = false;
	}
	if (!r && ring->scratch.changed && !ib->scratch_settled) {
		cs_ib_fence(ib, true, CS_SCOPE_NONE);
		ib->scratch_settled = true;
	}
	return r;
}

void cs_scratch_retire(struct cs_ring *ring, bool all)
{
	struct cs_old_scratch **link = &ring->scratch.old;

	while (*link) {
		struct cs_old_scratch *old = *link;

		if (all || cs_reached(ring) >= old->seq) {
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

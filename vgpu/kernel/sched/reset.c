/* Hangs and resets (contract 3.5). */
#include <stdio.h>
#include <amdgpu_drm.h>
#include "vgpu/chip.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/gem/memory.h"
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sync/fence.h"

static void say_once(const struct kern_job *job, const char *what, const char *why)
{
	static bool said;

	vgpu_log("job %llu of context %u: %s: %s", (unsigned long long)job->seq, job->ctx->id, what, why);
	if (said || vgpu_strict() == VGPU_STRICT_OFF)
		return;
	said = true;
	fprintf(stderr, "vgpu: job %llu of context %u: %s: %s\n", (unsigned long long)job->seq, job->ctx->id, what,
		why);
}

static void kick_rings(struct kern_device *dev)
{
	for (unsigned p = 0; p < KERN_PROCS; p++)
		for (unsigned i = 0; i < KERN_IPS * KERN_HW_RINGS; i++) {
			struct kern_ring *ring =
				kern_ring_of(&kern->proc[p], dev, i / KERN_HW_RINGS, i % KERN_HW_RINGS);

			if (!ring)
				continue;
			atomic_fetch_add(&ring->word, 1);
			kern_futex_wake(&ring->word);
		}
}

static void lose_vram(struct kern_device *dev)
{
	for (unsigned i = 0; i < KERN_HASH; i++) {
		struct kern_list *pos, *tmp;

		kern_list_each(pos, tmp, &kern->mmap_hash[i]) {
			struct kern_bo *bo = kern_entry(pos, struct kern_bo, hash);

			if (bo->dev == dev && bo->heap == AMDGPU_GEM_DOMAIN_VRAM && bo->block)
				kern_block_discard(bo->block);
		}
	}
}

bool kern_soft_recovery(const struct kern_device *dev, unsigned ip)
{
	return kern_profile_of(dev)->soft_recovery[ip] & kern_family_of(kern_local.chip[dev->index]);
}

bool kern_ring_reset(const struct kern_device *dev, unsigned ip)
{
	return kern_profile_of(dev)->ring_reset[ip] & kern_family_of(kern_local.chip[dev->index]);
}

/* SDMA 4.0 has no such file. */
struct kern_reset_mask kern_reset_mask(const struct kern_device_config *config, unsigned ip)
{
	const struct vgpu_chip *chip = vgpu_chip_find(config->chip);
	const struct kern_profile *profile = kern_profile_at(config->profile);
	enum kern_family family = kern_family_of(chip);
	bool has_file = ip == AMDGPU_HW_IP_GFX   ? chip->gfx_rings > 0
			: ip == AMDGPU_HW_IP_DMA ? family != KERN_GFX9
						 : true;

	return (struct kern_reset_mask){
		.known = profile->reset_masks && has_file,
		.soft = profile->soft_recovery[ip] & family,
		.queue = profile->ring_reset[ip] & family,
		.pipe = ip == AMDGPU_HW_IP_COMPUTE && family == KERN_GFX943,
	};
}

/* BACO and mode 1 lose VRAM; APUs are reset by mode 2 (soc15_asic_reset_method(), amdgpu_device_check_vram_lost()).
 */
static bool keeps_vram(const struct kern_device *dev)
{
	return vgpu_chip_is_apu(kern_local.chip[dev->index]);
}

/* Cancels the jobs on the hardware (amdgpu_fence_driver_force_completion()). */
static void cancel_rings(struct kern_device *dev)
{
	for (unsigned i = 0; i < KERN_IPS * KERN_HW_RINGS; i++)
		dev->hw[i / KERN_HW_RINGS][i % KERN_HW_RINGS].resets++;
}

void kern_reset_device(struct kern_device *dev, struct kern_job *bad)
{
	dev->resets++;
	if (!bad || !keeps_vram(dev)) {
		dev->vram_lost++;
		dev->generation++; /* cancels jobs and contexts of the old generation */
		lose_vram(dev);
	} else if (!kern_profile_of(dev)->reset_resubmits) {
		cancel_rings(dev);
	}
	if (bad) {
		bad->ctx->guilty = !kern_profile_of(dev)->error_is_guilt;
		kern_job_finish(bad, kern_profile_of(dev)->reset_error);
	}
	kick_rings(dev);
}

/* The queue of the guilty context is not started again with what else of it the ring has (Linux since 6.18). */
static void cancel_context(struct kern_ring *ring, const struct kern_entity *entity)
{
	struct kern_list *pos, *tmp;

	kern_list_each(pos, tmp, &ring->jobs) {
		struct kern_job *job = kern_entry(pos, struct kern_job, link);

		if (job->on_hw && job->entity == entity)
			job->cancelled = true;
	}
}

static void reset_ring(struct kern_job *job)
{
	struct kern_ring *ring = job->ring;
	struct kern_device *dev = ring->dev;
	const struct kern_profile *profile = kern_profile_of(dev);
	/* MI300's SDMA is reset as an engine, which restores nothing on the ring (amdgpu_sdma_reset_engine()). */
	bool engine = ring->ip == AMDGPU_HW_IP_DMA && kern_family_of(kern_local.chip[dev->index]) == KERN_GFX943;

	dev->resets++;
	if (engine || !profile->reset_spares)
		dev->hw[ring->ip][ring->index].resets++; /* other jobs on this ring are cancelled */
	cancel_context(ring, job->entity);
	if (!engine && profile->reset_fences)
		kern_job_write_user_fence(job);
	kern_job_finish(job, engine ? -ECANCELED : -ETIME);
	kick_rings(dev);
}

void kern_reset(struct kern_job *job, enum engine_status status, const char *why)
{
	struct kern_device *dev = job->ring->dev;

	/* Killing the waves of the VMID is enough when it is waves that hang: the packets behind them ran. */
	if (status == ENGINE_WAVES) {
		say_once(job, "hang, soft recovery", why);
		dev->resets++;
		kern_job_finish(job, -ENODATA);
	} else if (kern_ring_reset(dev, job->ring->ip)) {
		say_once(job, "hang, ring reset", why);
		reset_ring(job);
	} else {
		say_once(job, "hang, device reset", why);
		kern_reset_device(dev, job);
	}
}

/* Hangs and resets (contract 3.5). */
#include <stdio.h>
#include <amdgpu_drm.h>
#include "vgpu/kernel/fence.h"
#include "vgpu/kernel/memory.h"
#include "vgpu/kernel/profile.h"
#include "vgpu/kernel/sched.h"

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
		for (unsigned i = 0; kern->proc[p].serial && i < KERN_IPS * KERN_HW_RINGS; i++) {
			struct kern_ring *ring = kern->proc[p].rings[dev->index * KERN_IPS * KERN_HW_RINGS + i];

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

		kern_list_each(pos, tmp, &kern->mmap_hash[i])
		{
			struct kern_bo *bo = kern_entry(pos, struct kern_bo, hash);

			if (bo->dev == dev && bo->heap == AMDGPU_GEM_DOMAIN_VRAM && bo->block)
				kern_block_discard(bo->block);
		}
	}
}

void kern_reset_device(struct kern_device *dev, struct kern_job *bad)
{
	dev->resets++;
	dev->vram_lost++;
	dev->generation++; /* jobs and contexts of the old one are cancelled where they stand */
	lose_vram(dev);
	if (bad) {
		bad->ctx->guilty = true;
		kern_job_finish(bad, -ETIME);
	}
	kick_rings(dev);
}

/* The queue of the guilty context is not started again with what else of it the ring has (Linux since 6.18). */
static void cancel_context(struct kern_ring *ring, const struct kern_entity *entity)
{
	struct kern_list *pos, *tmp;

	kern_list_each(pos, tmp, &ring->jobs)
	{
		struct kern_job *job = kern_entry(pos, struct kern_job, link);

		if (job->on_hw && job->entity == entity)
			job->cancelled = true;
	}
}

void kern_reset(struct kern_job *job, enum engine_status status, const char *why)
{
	struct kern_ring *ring = job->ring;
	struct kern_device *dev = ring->dev;

	/* Killing the waves of the VMID is enough when it is waves that hang: the packets behind them ran. */
	if (status == ENGINE_WAVES) {
		say_once(job, "hang, soft recovery", why);
		dev->resets++;
		kern_job_finish(job, -ENODATA);
	} else if (ring->ip != AMDGPU_HW_IP_DMA && kern_profile_of(dev)->ring_reset) {
		say_once(job, "hang, ring reset", why);
		dev->resets++;
		if (!kern_profile_of(dev)->reset_spares)
			dev->hw[ring->ip][ring->index].resets++; /* what else is on this ring is cancelled */
		cancel_context(ring, job->entity);
		kern_job_finish(job, -ETIME);
		kick_rings(dev);
	} else { /* nobody resets an SDMA ring of GFX9 alone; a full reset of these chips loses VRAM */
		say_once(job, "hang, device reset", why);
		kern_reset_device(dev, job);
	}
}

/* Eviction as in TTM (ttm_bo_validate for AMDGPU_PL_GWS; amdgpu_evict_flags: nothing is saved): the least recently
 * used buffer goes first, when its jobs have ended. */
#include <amdgpu_drm.h>
#include "vgpu/kernel/gem/gws.h"
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/sync/fence.h"

#define WAIT_NS 15000000000ll /* ttm_bo_wait_ctx */

static unsigned count_of(const struct kern_bo *bo)
{
	return (unsigned)(bo->size_B / KERN_PAGE); /* a page is a resource */
}

static bool is_gws(const struct kern_bo *bo)
{
	return bo->preferred == AMDGPU_GEM_DOMAIN_GWS;
}

void kern_gws_release(struct kern_bo *bo)
{
	bo->gws_given = 0;
	for (unsigned i = 0; i < KERN_GWS; i++)
		if (bo->dev->gws[i] == bo)
			bo->dev->gws[i] = NULL;
}

/* The first of `units` consecutive free resources; KERN_GWS: there are none. */
static unsigned find_run(const struct kern_device *dev, unsigned count)
{
	unsigned units = vgpu_chip_gws(kern_local.chip[dev->index]), run = 0;

	for (unsigned i = 0; i < units; i++) {
		run = dev->gws[i] ? 0 : run + 1;
		if (run == count)
			return i + 1 - count;
	}
	return KERN_GWS;
}

static bool is_listed(const struct kern_bo *bo, const struct kern_bo_list *list)
{
	for (const struct kern_list *pos = bo->lists.next; pos != &bo->lists; pos = pos->next)
		if (kern_entry(pos, struct kern_list_entry, bo_link)->list == list)
			return true;
	return false;
}

static struct kern_bo *find_victim(const struct kern_device *dev, const struct kern_bo_list *list)
{
	struct kern_bo *victim = NULL;

	for (unsigned i = 0; i < KERN_GWS; i++) {
		struct kern_bo *bo = dev->gws[i];

		if (bo && !is_listed(bo, list) && (!victim || kern_bo_last_use(bo) < kern_bo_last_use(victim)))
			victim = bo;
	}
	return victim;
}

static int take_fence(struct kern_fence *f, void *arg)
{
	*(struct kern_fence **)arg = kern_fence_get(f);
	return 1;
}

/* Takes the buffer's resources if it is idle, else waits for one of its jobs; the buffer may be freed meanwhile. */
static int evict_owner(struct kern_bo *bo, int64_t deadline_ns)
{
	struct kern_fence *f;
	int r;

	if (!kern_bo_fences(bo, take_fence, &f)) {
		kern_gws_release(bo);
		vgpu_log("BO %u: its global wave sync went to another one", bo->id);
		return 0;
	}
	r = kern_fence_wait(&f, 1, true, deadline_ns, NULL);
	kern_fence_put(f);
	return r == -ETIME ? -ENOMEM : r;
}

static int place_resources(struct kern_bo *bo, const struct kern_bo_list *list)
{
	int64_t deadline_ns = sys_now_ns() + WAIT_NS;
	unsigned at;

	if (bo->gws_given)
		return 0;
	kern_gws_release(bo); /* left half done by a process that died */
	while ((at = find_run(bo->dev, count_of(bo))) == KERN_GWS) {
		struct kern_bo *victim = find_victim(bo->dev, list);
		int r = victim ? evict_owner(victim, deadline_ns) : -ENOMEM;

		if (r)
			return r;
	}
	for (unsigned i = 0; i < count_of(bo); i++)
		bo->dev->gws[at + i] = bo;
	bo->gws_base = at;
	kern_list_step();
	bo->gws_given = ++kern->next_id;
	return 0;
}

int kern_gws_place(struct kern_bo_list *list)
{
	int r = 0;

	for (unsigned i = 0; !r && list && list->gws && i < list->count; i++)
		if (is_gws(list->entry[i].bo))
			r = place_resources(list->entry[i].bo, list);
	return r;
}

void kern_gws_give(struct kern_job *job, const struct kern_bo_list *list)
{
	if (!list->gws)
		return;
	job->gws_base = list->gws->gws_base;
	job->gws_count = count_of(list->gws);
	job->gws_given = list->gws->gws_given;
}

/* Copies: the copier's interface with addresses instead of places, and with public points. */
#include "drv/lock.h"
#include "embed/internal.h"

#include <errno.h>
#include <stdlib.h>

/* Gives the queue that stands for a ring of the copier. Rings are few and live as long as the copier. */
static int queue_of(struct embed_device *device, struct cs_ring *ring, struct tuff_queue **out)
{
	struct embed_queue *queue;
	int r = 0;

	drv_mutex_lock(&device->lock);
	for (queue = device->copies; queue && queue->ring != ring; queue = queue->next)
		;
	if (!queue) {
		queue = calloc(1, sizeof(*queue));
		if (!queue) {
			r = drv_fail(-ENOMEM, "no host memory for a queue");
			goto out;
		}
		queue->base.device = device;
		queue->ring = ring;
		r = embed_publish(EMBED_QUEUE, &queue->base);
		if (r) {
			free(queue);
			goto out;
		}
		device->alive[EMBED_QUEUE]--; /* owned by the device, hence not a child */
		queue->next = device->copies;
		device->copies = queue;
	}
	*out = queue->base.handle;
out:
	drv_mutex_unlock(&device->lock);
	return r;
}

void embed_copies_fini(struct embed_device *device)
{
	while (device->copies) {
		struct embed_queue *queue = device->copies;

		device->copies = queue->next;
		device->alive[EMBED_QUEUE]++;
		embed_retire(EMBED_QUEUE, &queue->base);
		free(queue);
	}
}

static int check_access(unsigned has, unsigned needed, uint64_t va)
{
	if (has & needed)
		return 0;
	return drv_fail(-EACCES, "the GPU may not %s 0x%llx", needed == VM_GPU_WRITE ? "write" : "read",
			(unsigned long long)va);
}

/* Sets place and CPU access of an end that lies in a range, perhaps in several bindings, of which each needs an access:
 * VM_GPU_READ or VM_GPU_WRITE. Leaves *end as it is when nothing is bound at va. */
static int find_bound(struct embed_device *device, uint64_t va, uint64_t size_B, unsigned needed,
		      struct sdma_end *end)
{
	struct vm_bound bound;
	bool cpu = true, vram = true;
	int r;

	if (vm_query(device->vm, va, &bound))
		return 0;
	for (uint64_t at = va; at - va < size_B; at = bound.offset_B + bound.size_B) {
		/* Memory that follows the range by chance is not part of the end. */
		if (at != va && (vm_find(device->vm, at) || vm_query(device->vm, at, &bound)))
			return drv_fail(-EINVAL, "%llu bytes at 0x%llx, of which %llu are bound",
					(unsigned long long)size_B, (unsigned long long)va,
					(unsigned long long)(at - va));
		r = check_access(bound.access, needed, at);
		if (r)
			return r;
		cpu &= !!(bound.access & VM_CPU_WRITE);
		vram &= bound.kind == VM_VRAM;
	}
	end->place = vram ? SDMA_VRAM : SDMA_GTT;
	end->cpu = cpu;
	return 0;
}

/* Finds the memory at an address, the device's, or else the process's, for an access: VM_GPU_READ or VM_GPU_WRITE. */
static int find_end(struct embed_device *device, const void *address, uint64_t size_B, unsigned needed,
		    struct sdma_end *end)
{
	uint64_t va = (uintptr_t)address;
	struct vm_location found;
	int r;

	*end = (struct sdma_end){.va = va, .place = SDMA_PAGEABLE, .cpu = true};
	if (vm_locate(device->vm, va, &found))
		return find_bound(device, va, size_B, needed, end);
	if (size_B > found.left_B)
		return drv_fail(-EINVAL, "%llu bytes at 0x%llx, where %llu are left of the memory",
				(unsigned long long)size_B, (unsigned long long)va,
				(unsigned long long)found.left_B);
	r = check_access(VM_GPU_READ | (found.read_only ? 0 : VM_GPU_WRITE), needed, va);
	if (r)
		return r;
	/* Registered memory may be known to the GPU by another address than the host's. */
	*end = (struct sdma_end){
		.va = found.va, .place = found.kind == VM_VRAM ? SDMA_VRAM : SDMA_GTT, .cpu = found.cpu};
	return 0;
}

/* Gives the job's point to the caller, or waits for it. */
static int finish(struct embed_device *device, const struct sdma_job *job, struct tuff_point *point)
{
	struct tuff_queue *queue = NULL;
	int r;

	if (!point)
		return cs_fence_wait(job->fence, CS_FOREVER);
	r = job->fence.ring ? queue_of(device, job->fence.ring, &queue) : 0;
	if (r) {
		/* The caller has no point to wait for: the job ends before the call does. */
		cs_fence_retire(job->fence);
		return r;
	}
	*point = (struct tuff_point){queue, job->fence.seq};
	return 0;
}

static int check_size(const void *address, uint64_t size_B)
{
	if (!address || (uintptr_t)address + size_B < (uintptr_t)address)
		return drv_fail(-EINVAL, "%llu bytes at %p", (unsigned long long)size_B, address);
	return 0;
}

int tuff_copy(struct tuff_device *handle, void *dst, const void *src, uint64_t size_B,
	      const struct tuff_point *after, unsigned after_count, struct tuff_point *point)
{
	struct cs_fence points[EMBED_POINTS_MAX];
	struct sdma_job job = {.size_B = size_B, .after = points, .after_count = after_count};
	struct embed_device *device;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	r = r ? r : embed_fences_of(after, after_count, points);
	r = r ? r : check_size(dst, size_B);
	r = r ? r : check_size(src, size_B);
	r = r ? r : find_end(device, dst, size_B, VM_GPU_WRITE, &job.dst);
	r = r ? r : find_end(device, src, size_B, VM_GPU_READ, &job.src);
	r = r ? r : sdma_copier_copy(device->copier, &job);
	return r ? r : finish(device, &job, point);
}

int tuff_fill(struct tuff_device *handle, void *dst, uint8_t value, uint64_t size_B, const struct tuff_point *after,
	      unsigned after_count, struct tuff_point *point)
{
	struct cs_fence points[EMBED_POINTS_MAX];
	struct sdma_job job = {.size_B = size_B, .after = points, .after_count = after_count};
	struct embed_device *device;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	r = r ? r : embed_fences_of(after, after_count, points);
	r = r ? r : check_size(dst, size_B);
	r = r ? r : find_end(device, dst, size_B, VM_GPU_WRITE, &job.dst);
	if (!r && job.dst.place == SDMA_PAGEABLE)
		r = drv_fail(-EINVAL, "0x%llx is no memory of the device", (unsigned long long)job.dst.va);
	r = r ? r : sdma_copier_fill(device->copier, &job, value);
	return r ? r : finish(device, &job, point);
}

int tuff_copy_plan(struct tuff_device *handle, const void *dst, const void *src, uint64_t size_B,
		   enum tuff_copier *copier)
{
	static const enum tuff_copier copiers[] = {[SDMA_ENGINE_SDMA] = TUFF_COPIER_SDMA,
						   [SDMA_ENGINE_SHADER] = TUFF_COPIER_KERNEL,
						   [SDMA_ENGINE_CPU] = TUFF_COPIER_CPU};
	struct sdma_job job = {.size_B = size_B};
	struct embed_device *device;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	r = r ? r : check_size(dst, size_B);
	r = r || !src ? r : check_size(src, size_B);
	if (!r && !copier)
		r = drv_fail(-EINVAL, "no place for the plan");
	r = r ? r : find_end(device, dst, size_B, VM_GPU_WRITE, &job.dst);
	r = r || !src ? r : find_end(device, src, size_B, VM_GPU_READ, &job.src);
	if (!r)
		*copier = copiers[sdma_copier_plan(device->copier, &job, !src)];
	return r;
}

/* Masks of the compute units that a queue's dispatches may use. Clients number the units of a GPU in one row;
 * hardware has a mask for each shader engine. */
#include <string.h>

#include "hsa/core/table.h"
#include "hsa/queue/queue.h"

#define CUS_PER_ARRAY 16 /* bits of half a mask: one shader array */
#define DWORDS        RT_CU_DWORDS

/* Distributes the bits like KFD (Linux kfd_mqd_manager.c, mqd_symmetrically_map_cu_mask): the first unit of each
 * array of each engine, engines first, then the second ones. */
static void spread_cus(const struct drv_device *dev, const uint32_t *cus, unsigned step, uint32_t *engine)
{
	const struct drv_facts *f = &dev->facts;
	unsigned bit = 0;

	for (unsigned cu = 0; cu < CUS_PER_ARRAY; cu += step)
		for (unsigned array = 0; array < f->arrays_per_engine && array < 2; array++)
			for (unsigned e = 0; e < f->engines && e < CS_ENGINES_MAX; e++) {
				/* The bitmap has engines from the fifth on after the arrays of the first four. */
				uint32_t active = f->cu_bitmap[e % 4][(array + e / 4 * f->arrays_per_engine) % 4];

				if ((unsigned)__builtin_popcount(active) <= cu || bit >= 32 * DWORDS)
					continue;
				engine[e] |= (cus[bit / 32] >> bit % 32 & ((1u << step) - 1))
					     << (cu + array * CUS_PER_ARRAY);
				bit += step;
			}
}

/* Like ROCr: the units of a pair are enabled together. */
static bool has_half_a_pair(const uint32_t *cus)
{
	for (unsigned i = 0; i < DWORDS; i++)
		if ((cus[i] ^ cus[i] >> 1) & 0x55555555)
			return true;
	return false;
}

/* True for GPUs with workgroup processors, pairs of units that are enabled together. */
static bool has_pairs(const struct rt_gpu *gpu)
{
	return gpu->dev->chip->paired_cus;
}

/* True if the mask has no unit of any engine: a dispatch would never end. */
static bool has_no_cu(const struct rt_gpu *gpu, const uint32_t *cus)
{
	uint32_t engine[CS_ENGINES_MAX] = {0}, any = 0;

	spread_cus(gpu->dev, cus, has_pairs(gpu) ? 2 : 1, engine);
	for (unsigned i = 0; i < CS_ENGINES_MAX; i++)
		any |= engine[i];
	return !any;
}

static void set_cus_locked(struct rt_flow *f, const uint32_t *cus)
{
	uint32_t there[DWORDS] = {0};

	rt_all_cus(f->gpu->dev, there);
	memcpy(f->cus, cus, sizeof(f->cus));
	memset(f->flow.cu_mask, 0, sizeof(f->flow.cu_mask));
	spread_cus(f->gpu->dev, cus, has_pairs(f->gpu) ? 2 : 1, f->flow.cu_mask);
	f->flow.masked = memcmp(cus, there, sizeof(there));
}

void rt_flow_init_cus(struct rt_flow *f)
{
	if (f->gpu && !drv_config()->cu_mask_later)
		set_cus_locked(f, f->gpu->cus);
}

/* Sets the units of later operations. */
static void change_cus(struct rt_flow *f, const uint32_t *cus)
{
	drv_lock(&f->flow.lock);
	set_cus_locked(f, cus);
	flow_forget_shapes(&f->flow);
	drv_unlock(&f->flow.lock);
}

/* Sets the mask of `bits` bits, whole dwords. 0: all units. Units that the GPU does not have are ignored, as in
 * ROCr. */
hsa_status_t rt_flow_set_cus(struct rt_flow *f, uint32_t bits, const uint32_t *cus)
{
	uint32_t mask[DWORDS] = {0}, there[DWORDS] = {0}, lost = 0;

	if (bits % 32 || (bits && !cus))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	rt_all_cus(f->gpu->dev, there);
	for (unsigned i = 0; i < DWORDS; i++) {
		uint32_t wanted = there[i] & (!bits ? ~0u : i < bits / 32 ? cus[i] : 0);

		mask[i] = wanted & f->gpu->cus[i];
		lost |= wanted & ~mask[i];
	}
	if (has_no_cu(f->gpu, mask) || (has_pairs(f->gpu) && has_half_a_pair(mask)))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	change_cus(f, mask);
	return lost ? (hsa_status_t)HSA_STATUS_CU_MASK_REDUCED : HSA_STATUS_SUCCESS;
}

hsa_status_t rt_flow_get_cus(struct rt_flow *f, uint32_t bits, uint32_t *cus)
{
	uint32_t all[DWORDS] = {0};

	if (!cus || !bits || bits % 32)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	rt_all_cus(f->gpu->dev, all);
	drv_lock(&f->flow.lock);
	if (f->flow.masked)
		memcpy(all, f->cus, sizeof(all));
	drv_unlock(&f->flow.lock);
	for (unsigned i = 0; i < bits / 32; i++)
		cus[i] = i >= DWORDS ? 0 : all[i];
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_amd_queue_cu_set_mask, (const hsa_queue_t *queue, uint32_t bits, const uint32_t *cus),
	(queue, bits, cus))
{
	hsa_status_t status;
	struct rt_queue *q;

	q = rt_gpu_queue_get(rt, queue);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	status = rt_flow_set_cus(&rt_queue_executor(q)->base, bits, cus);
	/* Reads packets that were written while the lock was taken. */
	rt_queue_run(rt_queue_executor(q));
	rt_queue_put(q);
	return status;
}

RT_IMPL(hsa_amd_queue_cu_get_mask, (const hsa_queue_t *queue, uint32_t bits, uint32_t *cus), (queue, bits, cus))
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_QUEUE;
	struct rt_queue *q;

	if (!cus || !bits || bits % 32)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	q = rt_gpu_queue_get(rt, queue);
	if (q)
		status = rt_flow_get_cus(&rt_queue_executor(q)->base, bits, cus);
	rt_queue_put(q);
	return status;
}

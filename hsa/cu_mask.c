/* Which compute units a queue's dispatches may use. Clients count the units of a GPU in one row; hardware has a
 * mask for each shader engine. */
#include <string.h>

#include "hsa/queue.h"
#include "hsa/table.h"

#define CUS_PER_ARRAY 16 /* bits of a mask's half: of one shader array */
#define DWORDS        (sizeof(((struct rt_queue *)0)->cus) / 4)

/* As KFD hands the bits out (Linux kfd_mqd_manager.c, mqd_symmetrically_map_cu_mask): the first unit of each array
 * of each engine, engines first, then the second ones. */
static void spread(const struct drv_device *dev, const uint32_t *cus, unsigned step, uint32_t *engine)
{
	const struct drv_facts *f = &dev->facts;
	unsigned bit = 0;

	for (unsigned cu = 0; cu < CUS_PER_ARRAY; cu += step)
		for (unsigned array = 0; array < f->arrays_per_engine && array < 2; array++)
			for (unsigned e = 0; e < f->engines && e < CS_ENGINES_MAX; e++) {
				/* Engines beyond the fourth stand behind the arrays of the first ones. */
				uint32_t active = f->cu_bitmap[e % 4][(array + e / 4 * f->arrays_per_engine) % 4];

				if ((unsigned)__builtin_popcount(active) <= cu || bit >= 32 * DWORDS)
					continue;
				engine[e] |= (cus[bit / 32] >> bit % 32 & ((1u << step) - 1))
					     << (cu + array * CUS_PER_ARRAY);
				bit += step;
			}
}

/* ROCr: units of a pair are enabled together. */
static bool has_half_a_pair(const uint32_t *cus)
{
	for (unsigned i = 0; i < DWORDS; i++)
		if ((cus[i] ^ cus[i] >> 1) & 0x55555555)
			return true;
	return false;
}

/* All that are there, in the client's way of counting. */
static void all_of(const struct drv_device *dev, uint32_t *cus)
{
	for (unsigned i = 0; i < 32 * DWORDS && i < dev->facts.cus; i++)
		cus[i / 32] |= 1u << i % 32;
}

/* Guards what packet.c reads while it translates. */
static void set(struct rt_queue *q, const uint32_t *cus, const uint32_t *engine, bool masked)
{
	while (atomic_exchange_explicit(&q->busy, true, memory_order_acquire))
		__builtin_ia32_pause();
	memcpy(q->cus, cus, sizeof(q->cus));
	memcpy(q->cu_mask, engine, sizeof(q->cu_mask));
	q->masked = masked;
	for (unsigned i = 0; i < RT_KERNEL_CACHE; i++)
		q->cache[i].ready = false;
	atomic_store_explicit(&q->busy, false, memory_order_release);
	rt_queue_run(q, false);
}

/* bits: of cus, which holds whole dwords. 0: all units. What the GPU does not have is ignored, as ROCr does. */
hsa_status_t impl_hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t bits, const uint32_t *cus)
{
	uint32_t mask[DWORDS] = {0}, there[DWORDS] = {0}, engine[CS_ENGINES_MAX] = {0}, any = 0;
	struct rt_queue *q;
	bool pairs;
	RT_ENTER(rt);

	q = rt_queue_of(rt, queue);
	if (!q || !q->gpu)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (bits % 32 || (bits && !cus))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pairs = q->gpu->dev->chip->pm4 != DRV_PM4_GFX9; /* workgroup processors of two units */
	all_of(q->gpu->dev, there);
	for (unsigned i = 0; i < DWORDS; i++) {
		mask[i] = there[i] & (!bits ? ~0u : i < bits / 32 ? cus[i] : 0);
		any |= mask[i];
	}
	/* With none a dispatch would never end. */
	if (!any || (pairs && has_half_a_pair(mask)))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	spread(q->gpu->dev, mask, pairs ? 2 : 1, engine);
	set(q, mask, engine, memcmp(mask, there, sizeof(mask)) != 0);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_amd_queue_cu_get_mask(const hsa_queue_t *queue, uint32_t bits, uint32_t *cus)
{
	uint32_t all[DWORDS] = {0};
	struct rt_queue *q;
	RT_ENTER(rt);

	if (!cus || !bits || bits % 32)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	q = rt_queue_of(rt, queue);
	if (!q || !q->gpu)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	all_of(q->gpu->dev, all);
	for (unsigned i = 0; i < bits / 32; i++)
		cus[i] = i >= DWORDS ? 0 : q->masked ? q->cus[i] : all[i];
	return HSA_STATUS_SUCCESS;
}

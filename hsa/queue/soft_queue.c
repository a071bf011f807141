/* Soft queues: rings that the client's own code reads; the client provides the doorbell signal. */
#include "hsa/core/table.h"
#include "hsa/queue/queue.h"

RT_IMPL(hsa_soft_queue_create,
	(hsa_region_t region, uint32_t size, hsa_queue_type32_t type, uint32_t features, hsa_signal_t doorbell,
	 hsa_queue_t **queue),
	(region, size, type, features, doorbell, queue))
{
	const struct rt_queue_request want = {
		.size = size, .type = type, .features = features, .doorbell = doorbell};
	const struct rt_pool *pool;
	struct rt_queue *q;
	int r;

	if (!queue || !region.handle || !doorbell.handle || !size || size & (size - 1) || size > RT_QUEUE_MAX ||
	    type > HSA_QUEUE_TYPE_SINGLE || !features)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pool = rt_pool_of(rt, region.handle);
	if (!pool || pool->agent->gpu)
		return HSA_STATUS_ERROR_INVALID_REGION;
	if (!rt_signal_of(rt, doorbell))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	r = rt_queue_create(rt, &want, &q);
	if (r)
		return hsa_status_of(r);
	*queue = &q->amd->hsa_queue;
	return HSA_STATUS_SUCCESS;
}

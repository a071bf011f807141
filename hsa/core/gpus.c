/* Operations on the flows of all GPUs. */
#include "hsa/core/core.h"

void rt_queues_flush(struct rt *rt)
{
	for (unsigned i = 0; i < rt->gpus; i++)
		flow_gpu_flush(&rt->gpu[i]->flows);
}

bool rt_queues_busy(struct rt *rt)
{
	bool busy = false;

	for (unsigned i = 0; !busy && i < rt->gpus; i++)
		busy = flow_gpu_busy(&rt->gpu[i]->flows);
	return busy;
}

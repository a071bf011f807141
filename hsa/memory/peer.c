/* GPUs that reach one another's VRAM, if the user asks for it (TUFF_PEER_ACCESS).
 *
 * Programs take the answer for a promise: kernels of two GPUs that wait for each other through such memory end. On
 * DRM they do not. The other GPU imports the memory, both list it with every job from then on, and Linux has a job
 * of one wait for the unfinished jobs of the other (vm.h, vm_mem_share()). So the answer is no, and communication
 * libraries go by host memory. With TUFF_PEER_ACCESS=1 it is what the kernel can do: PCI_P2PDMA or a hive. */
#include "hsa/memory/memory.h"
#include "vm/peer.h"

/* Asked when somebody wants to know, since it takes a few jobs; vm/ keeps the answer. What the kernel would move to
 * the system's memory for that counts as not reached: ROCr offers no such memory either. */
static bool is_peer(struct rt_gpu *owner, struct rt_gpu *other)
{
	enum vm_peer peer;

	return drv_config()->peer_access && !vm_peer_probe(owner->vm, other->vm, cs_run_nop, NULL, &peer) &&
	       peer == VM_PEER_DIRECT;
}

bool rt_is_alone(const struct rt *rt, const struct rt_gpu *gpu)
{
	for (unsigned i = 0; drv_config()->peer_access && i < rt->gpus; i++) {
		enum vm_peer peer;

		if (rt->gpu[i] != gpu && (!vm_peer_known(gpu->vm, rt->gpu[i]->vm, &peer) || peer == VM_PEER_DIRECT))
			return false;
	}
	return true;
}

bool rt_may_reach(struct rt_gpu *gpu, const struct rt_pool *pool)
{
	if (!pool->pool)
		return false;
	return !pool->agent->is_gpu || pool->agent->gpu == gpu || is_peer(pool->agent->gpu, gpu);
}

bool rt_all_may_reach(const struct rt *rt, uint32_t gpus, const struct rt_pool *pool)
{
	for (; gpus; gpus &= gpus - 1)
		if (!rt_may_reach(rt->gpu[__builtin_ctz(gpus)], pool))
			return false;
	return true;
}

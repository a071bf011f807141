/* Peers: GPUs that access each other's VRAM, if the user allows it (TUFF_PEER_ACCESS).
 *
 * Programs take peer access as a promise that kernels of two GPUs may wait for each other through such memory. On
 * DRM they would hang: the other GPU imports the memory, every later job of both lists it, and Linux makes a job of
 * one wait for the unfinished jobs of the other (vm.h, vm_mem_share()). So there are no peers by default, and
 * communication libraries use host memory. With TUFF_PEER_ACCESS=1 peers are what the kernel supports: PCI_P2PDMA
 * or a hive. */
#include "hsa/memory/memory.h"
#include "vm/peer.h"

/* Probed on demand, since the probe takes a few jobs; vm/ keeps the result. If the kernel would move the memory to
 * system memory for the access, the GPUs are no peers: ROCr does not offer such memory either. */
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

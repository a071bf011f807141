/* Peers: GPUs that access one another's memory. Enabled access holds for all of a device's memory, later
 * allocations included. */
#include "api/memory/memory.h"
#include "api/stream/stream.h"

/* Uses HSA's access rules of memory pools: a pool that an agent can never access is no peer's. */
bool hip_can_be_peers(const struct hip_device *from, const struct hip_device *to)
{
	hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;

	return from != to &&
	       !hsa_amd_agent_memory_pool_get_info(from->agent, to->vram, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
						   &access) &&
	       access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
}

HIP_PUBLIC(hipDeviceCanAccessPeer, (int *can, int device, int peer), (can, device, peer))
{
	if (!can)
		return hipErrorInvalidValue;
	if (device != peer && (!hip_device_of(device) || !hip_device_of(peer)))
		return hipErrorInvalidDevice;
	*can = device != peer && hip_can_be_peers(hip_device_of(device), hip_device_of(peer));
	return hipSuccess;
}

static hipError_t peer_enable(int index, unsigned flags)
{
	struct hip_device *d = hip_current(), *peer = hip_device_of(index);
	uint64_t bit = 1ull << d->index;
	hipError_t r;

	if (flags)
		return hipErrorInvalidValue;
	if (!peer || !hip_can_be_peers(d, peer))
		return hipErrorInvalidDevice;
	if (atomic_fetch_or(&peer->peers, bit) & bit)
		return hipErrorPeerAccessAlreadyEnabled;
	r = hip_memory_update_peers(peer);
	if (r) {
		/* Some allocations are accessible: taking that back may fail, too, and does no harm then. */
		atomic_fetch_and(&peer->peers, ~bit);
		(void)!hip_memory_update_peers(peer);
	}
	return r;
}

HIP_PUBLIC(hipDeviceEnablePeerAccess, (int peer, unsigned int flags), (peer, flags))
{
	return peer_enable(peer, flags);
}

static hipError_t peer_disable(int index)
{
	struct hip_device *d = hip_current(), *peer = hip_device_of(index);
	uint64_t bit = 1ull << d->index;
	hipError_t r;

	if (!peer || !hip_can_be_peers(d, peer))
		return hipErrorInvalidDevice;
	if (!(atomic_fetch_and(&peer->peers, ~bit) & bit))
		return hipErrorPeerAccessNotEnabled;
	/* Kernels may still use the memory. Only a lost device fails the wait; taking access away needs nothing that could be
	 * refused (tests/hip/refused). */
	r = hip_device_wait(d);
	return r ? r : hip_memory_update_peers(peer);
}

HIP_PUBLIC(hipDeviceDisablePeerAccess, (int peer), (peer))
{
	return peer_disable(peer);
}

static bool find_link(const struct hip_device *a, const struct hip_device *b, hsa_amd_memory_pool_link_info_t *link,
		      uint32_t *hops)
{
	hsa_amd_memory_pool_link_info_t links[8];

	*hops = 0;
	if (hsa_amd_agent_memory_pool_get_info(a->agent, b->vram, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS,
					       hops) ||
	    !*hops || *hops > sizeof(links) / sizeof(links[0]) ||
	    hsa_amd_agent_memory_pool_get_info(a->agent, b->vram, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, links))
		return false;
	*link = links[0];
	return true;
}

HIP_PUBLIC(hipDeviceGetP2PAttribute, (int *value, hipDeviceP2PAttr attribute, int from, int to),
	   (value, attribute, from, to))
{
	const struct hip_device *a, *b;
	hsa_amd_memory_pool_link_info_t link;
	uint32_t hops;

	a = hip_device_of(from);
	b = hip_device_of(to);
	if (!value)
		return hipErrorInvalidValue;
	if (!a || !b || a == b)
		return hipErrorInvalidDevice;
	if ((unsigned)attribute > hipDevP2PAttrHipArrayAccessSupported)
		return hipErrorInvalidValue;
	if (attribute == hipDevP2PAttrPerformanceRank)
		*value = find_link(a, b, &link, &hops) && link.link_type == HSA_AMD_LINK_INFO_TYPE_XGMI ? 0 : 1;
	else if (attribute == hipDevP2PAttrNativeAtomicSupported)
		*value = find_link(a, b, &link, &hops) && link.atomic_support_64bit;
	else
		*value = hip_can_be_peers(a, b);
	return hipSuccess;
}

HIP_PUBLIC(hipExtGetLinkTypeAndHopCount, (int from, int to, uint32_t *type, uint32_t *hops), (from, to, type, hops))
{
	hsa_amd_memory_pool_link_info_t link;

	if (!type || !hops)
		return hipErrorInvalidValue;
	if (from < 0 || to < 0 || from == to)
		return hipErrorInvalidValue;
	if (!hip_device_of(from) || !hip_device_of(to))
		return hipErrorInvalidDevice;
	if (!find_link(hip_device_of(from), hip_device_of(to), &link, hops))
		return hipErrorInvalidHandle;
	*type = link.link_type;
	return hipSuccess;
}

/* Buffers of other drivers, as dma-bufs. */
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"

/* Maps a buffer without returning its metadata (tiling): that is read when an image of the buffer needs it. */
RT_IMPL(hsa_amd_interop_map_buffer,
	(uint32_t num_agents, hsa_agent_t *agents, int interop_handle, uint32_t flags, size_t *size, void **ptr,
	 size_t *metadata_size, const void **metadata),
	(num_agents, agents, interop_handle, flags, size, ptr, metadata_size, metadata))
{
	struct rt_import import = {.fd = interop_handle, .type = HSA_EXT_POINTER_TYPE_GRAPHICS};
	hsa_status_t status;
	uint64_t size_B;

	if (!agents || !size || !ptr || flags || !num_agents)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = rt_gpus_of(rt, num_agents, agents, &import.gpus);
	if (status)
		return status;
	if (!import.gpus)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	/* Like ROCr: every error of the kernel is this status. */
	if (rt_attach(rt, &import, ptr, &size_B))
		return HSA_STATUS_ERROR;
	*size = size_B;
	if (metadata_size)
		*metadata_size = 0;
	if (metadata)
		*metadata = NULL;
	return HSA_STATUS_SUCCESS;
}

/* Like ROCr: an address that was not mapped is ignored. */
RT_IMPL(hsa_amd_interop_unmap_buffer, (void *ptr), (ptr))
{
	if (ptr)
		(void)!rt_detach(rt, ptr, HSA_EXT_POINTER_TYPE_GRAPHICS);
	return HSA_STATUS_SUCCESS;
}

/* Exports of memory of hsa_amd_vmem_map(). */
#include <errno.h>
#include <stdlib.h>

#include "hsa/ipc/ipc.h"
#include "hsa/memory/vmm.h"

/* The number of adjacent mappings that cover [va, end); 0: they do not cover it exactly. */
static unsigned count_pieces(const struct rt_vmm *vmm, uint64_t va, uint64_t end)
{
	unsigned count = 0;

	for (; va < end; count++) {
		const struct rt_mapping *m = rt_mapping_at(vmm, va);

		if (!m || m->at.hi > end || m->offset_B)
			return 0;
		va = m->at.hi;
	}
	return count;
}

/* Runs under rt_vmm.lock, so that a thread that unmaps them afterwards finds the export. */
static int share_locked(struct rt *rt, uint64_t va, uint64_t size_B, void *client_handle)
{
	const struct rt_vmm *vmm = rt->memory->vmm;
	unsigned count = count_pieces(vmm, va, va + size_B);
	struct rt_ipc_piece *piece = count ? calloc(count, sizeof(*piece)) : NULL;
	uint64_t at = va;
	int r;

	if (!piece)
		return count ? drv_fail(-ENOMEM, "no host memory for an export")
			     : drv_fail(-EINVAL, "nothing that can be exported is mapped there");
	for (unsigned i = 0; i < count; i++) {
		const struct rt_mapping *m = rt_mapping_at(vmm, at);

		piece[i] = (struct rt_ipc_piece){.bo = m->vmem->bo[m->vmem->home], .size_B = m->at.hi - m->at.lo};
		at = m->at.hi;
	}
	r = rt_ipc_share(rt, va, piece, count, client_handle);
	free(piece);
	return r;
}

int rt_vmm_share(void *va, size_t size_B, hsa_amd_ipc_memory_t *handle)
{
	struct rt *rt = rt_get();
	int r;

	if (!rt)
		return -ENODEV;
	pthread_mutex_lock(&rt->memory->vmm->lock);
	r = share_locked(rt, (uintptr_t)va, size_B, handle);
	pthread_mutex_unlock(&rt->memory->vmm->lock);
	return r;
}

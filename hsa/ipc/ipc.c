/* Exports to other processes, and imports from them. */
#include "drv/cancel.h"
#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/ipc/ipc.h"
#include "hsa/memory/memory.h"
#include "hsa/signal/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* An export of a block or a signal, until that is freed; or of adjacent mappings, until one of them is unmapped. */
struct export
{
	struct export *next;
	uint64_t address, size_B; /* range of the block, the signal, or all mappings */
	uint64_t id;
	enum rt_ipc_kind kind;
	bool uncached;
	unsigned pieces; /* 1 for a block or a signal */
	struct rt_ipc_piece piece[];
};

/* NULL: no host memory. */
static struct export *export_create(enum rt_ipc_kind kind, uint64_t address, uint64_t size_B, unsigned pieces)
{
	struct export *e = calloc(1, sizeof(*e) + pieces * sizeof(e->piece[0]));

	if (!e) {
		drv_fail(-ENOMEM, "no host memory for an export");
		return NULL;
	}
	e->kind = kind;
	e->address = address;
	e->size_B = size_B;
	e->pieces = pieces;
	return e;
}

static void export_free(struct export *e)
{
	DRV_HOLD_CANCEL;

	for (unsigned i = 0; i < e->pieces; i++)
		if (e->piece[i].bo)
			vm_bo_put(e->piece[i].bo);
		else if (e->piece[i].file)
			close(e->piece[i].file);
	free(e);
}

int rt_ipc_init(struct rt *rt)
{
	rt->ipc = calloc(1, sizeof(*rt->ipc));
	if (!rt->ipc)
		return drv_fail(-ENOMEM, "no host memory for exports");
	drv_mutex_init(&rt->ipc->lock, DRV_RANK_RT_IPC);
	return 0;
}

void rt_ipc_fini(struct rt *rt)
{
	struct export *e;

	rt_ipc_unserve(rt->ipc->server);
	while ((e = rt->ipc->exports)) {
		rt->ipc->exports = e->next;
		export_free(e);
	}
	drv_mutex_destroy(&rt->ipc->lock);
	free(rt->ipc);
	rt->ipc = NULL;
}

void rt_ipc_forked(struct rt *rt)
{
	if (rt->ipc && rt->ipc->server)
		rt_ipc_abandon(rt->ipc->server);
}

/* --- exports ---------------------------------------------------------------------------------- */

void rt_ipc_forget(struct rt *rt, uint64_t address, uint64_t size_B)
{
	struct export *gone = NULL, *e;

	if (!rt->ipc || !rt->ipc->count)
		return;
	drv_mutex_lock(&rt->ipc->lock);
	for (struct export **at = &rt->ipc->exports; (e = *at);) {
		if (e->address >= address + size_B || address >= e->address + e->size_B) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		e->next = gone;
		gone = e;
		rt->ipc->count--;
	}
	drv_mutex_unlock(&rt->ipc->lock);
	while ((e = gone)) {
		gone = e->next;
		export_free(e);
	}
}

int rt_ipc_give(struct rt *rt, const struct rt_ipc_question *question, struct rt_ipc_item *what, int *fd)
{
	DRV_HOLD_CANCEL;
	const struct export *e;
	struct vm_bo *bo = NULL;
	int r = -ENOENT;

	drv_mutex_lock(&rt->ipc->lock);
	for (e = rt->ipc->exports; e && e->id != question->item; e = e->next)
		;
	if (e && question->piece < e->pieces) {
		const struct rt_ipc_piece *piece = &e->piece[question->piece];

		*what = (struct rt_ipc_item){.size_B = piece->size_B, .kind = e->kind, .uncached = e->uncached};
		if (piece->bo)
			bo = vm_bo_get(piece->bo);
		else
			r = (*fd = fcntl(piece->file, F_DUPFD_CLOEXEC, 0)) < 0 ? -errno : 0;
	}
	drv_mutex_unlock(&rt->ipc->lock);
	if (!bo)
		return r;
	r = vm_bo_export(bo, fd);
	vm_bo_put(bo);
	return r;
}

static int random_id(uint64_t *id)
{
	DRV_HOLD_CANCEL;

	return getrandom(id, sizeof(*id), 0) == sizeof(*id) ? 0 : drv_fail(-errno, "getrandom");
}

/* lock held */
static int server_start_locked(struct rt *rt)
{
	int r;

	drv_rank_assert(DRV_RANK_RT_IPC);
	if (rt->ipc->server)
		return 0;
	r = random_id(&rt->ipc->server_id);
	return r ? r : rt_ipc_serve(rt, rt->ipc->server_id, &rt->ipc->server);
}

/* Returns the existing export of the same memory, or inserts the new one. lock held */
static const struct export *export_insert_locked(struct rt *rt, struct export *fresh)
{
	struct export *e;

	drv_rank_assert(DRV_RANK_RT_IPC);
	for (e = rt->ipc->exports; e; e = e->next)
		if (e->address == fresh->address && e->size_B == fresh->size_B &&
		    e->piece[0].bo == fresh->piece[0].bo)
			return e;
	fresh->next = rt->ipc->exports;
	rt->ipc->exports = fresh;
	rt->ipc->count++;
	return fresh;
}

/* Takes over the export and fills in the client's handle. */
static int export_publish(struct rt *rt, struct export *fresh, void *client_handle)
{
	struct rt_ipc_handle handle = {.magic = RT_IPC_MAGIC, .pid = (uint32_t)getpid(), .kind = fresh->kind};
	const struct export *e = NULL;
	int r = random_id(&fresh->id);

	drv_mutex_lock(&rt->ipc->lock);
	r = r ? r : server_start_locked(rt);
	if (!r) {
		e = export_insert_locked(rt, fresh);
		handle.item = e->id;
		handle.server = rt->ipc->server_id;
	}
	drv_mutex_unlock(&rt->ipc->lock);
	if (e != fresh)
		export_free(fresh);
	if (!r)
		memcpy(client_handle, &handle, sizeof(handle));
	return r;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* True for whole blocks only, as in ROCr; clients of its earlier releases round the size up. */
static bool is_whole(const struct pool_found *found, uint64_t va, uint64_t size_B)
{
	return found->va == va && size_B <= found->size_B && size_B > found->size_B - RT_PAGE_B;
}

RT_IMPL(hsa_amd_ipc_memory_create, (void *ptr, size_t len, hsa_amd_ipc_memory_t *handle), (ptr, len, handle))
{
	struct pool_found found;
	struct export *e;
	int r;

	if (!ptr || !handle || !pool_find(rt->memory->space, (uintptr_t)ptr, &found) ||
	    !is_whole(&found, (uintptr_t)ptr, len))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	e = export_create(RT_IPC_MEMORY, (uintptr_t)ptr, found.size_B, 1);
	if (!e)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	r = rt_block_bo(rt, &found, &e->piece[0].bo);
	if (r)
		export_free(e);
	if (r == -EPERM) /* host memory of a NUMA node has no descriptor */
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (r)
		return hsa_status_of(r);
	e->piece[0].size_B = found.size_B;
	e->uncached = pool_info(found.pool)->flags & VM_UNCACHED;
	r = export_publish(rt, e, handle);
	/* Another thread may have freed the block before it was exported, without an export to forget. */
	if (!r && !pool_find(rt->memory->space, (uintptr_t)ptr, &found)) {
		rt_ipc_forget(rt, (uintptr_t)ptr, 1);
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return hsa_status_of(r);
}

/* Gets the descriptor of a client's handle from the process that exported it. */
static int import_fd(const void *client_handle, enum rt_ipc_kind kind, uint64_t piece, struct rt_ipc_item *item,
		     int *fd)
{
	DRV_HOLD_CANCEL;
	struct rt_ipc_handle handle;
	int r;

	memcpy(&handle, client_handle, sizeof(handle));
	if (handle.magic != RT_IPC_MAGIC || handle.kind != (uint32_t)kind)
		return drv_fail(-EINVAL, "that is no handle of this kind");
	r = rt_ipc_query(&handle, piece, item, fd);
	if (!r && item->kind != (uint32_t)kind) {
		close(*fd);
		*fd = -1;
		r = drv_fail(-EINVAL, "what was exported is of another kind");
	}
	return r;
}

/* Like ROCr: any other failure of an import means that the handle is invalid. */
static hsa_status_t status_of_import(int r)
{
	hsa_status_t status = hsa_status_of(r);

	return status == HSA_STATUS_ERROR ? HSA_STATUS_ERROR_INVALID_ARGUMENT : status;
}

RT_IMPL(hsa_amd_ipc_memory_attach,
	(const hsa_amd_ipc_memory_t *handle, size_t len, uint32_t num_agents, const hsa_agent_t *agents,
	 void **mapped_ptr),
	(handle, len, num_agents, agents, mapped_ptr))
{
	DRV_HOLD_CANCEL;
	struct rt_import import = {.type = HSA_EXT_POINTER_TYPE_IPC};
	struct rt_ipc_item item;
	hsa_status_t status;
	uint64_t size_B;
	int r;

	if (!handle || !mapped_ptr || (num_agents && !agents))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = rt_gpus_of(rt, num_agents, agents, &import.gpus);
	if (status)
		return status;
	r = import_fd(handle, RT_IPC_MEMORY, 0, &item, &import.fd);
	if (r)
		return status_of_import(r);
	import.size_B = item.size_B;
	import.uncached = item.uncached;
	if (!item.size_B || len > item.size_B || len <= item.size_B - RT_PAGE_B)
		r = drv_fail(-EINVAL, "a handle of %llu bytes attached with %zu", (unsigned long long)item.size_B,
			     len);
	else
		r = rt_attach(rt, &import, mapped_ptr, &size_B);
	close(import.fd);
	return status_of_import(r);
}

RT_IMPL(hsa_amd_ipc_memory_detach, (void *mapped_ptr), (mapped_ptr))
{
	return hsa_status_of(rt_detach(rt, mapped_ptr, HSA_EXT_POINTER_TYPE_IPC));
}

/* --- mappings ---------------------------------------------------------------------------------- */

int rt_ipc_share(struct rt *rt, uint64_t va, const struct rt_ipc_piece *piece, unsigned pieces, void *client_handle)
{
	struct export *e;
	uint64_t size_B = 0;

	for (unsigned i = 0; i < pieces; i++)
		size_B += piece[i].size_B;
	e = export_create(RT_IPC_MAPPINGS, va, size_B, pieces);
	if (!e)
		return -ENOMEM;
	for (unsigned i = 0; i < pieces; i++)
		e->piece[i] = (struct rt_ipc_piece){.bo = vm_bo_get(piece[i].bo), .size_B = piece[i].size_B};
	return export_publish(rt, e, client_handle);
}

int rt_ipc_fetch(const void *client_handle, uint64_t piece, int *fd, uint64_t *size_B)
{
	struct rt_ipc_item item;
	int r = import_fd(client_handle, RT_IPC_MAPPINGS, piece, &item, fd);

	*size_B = r ? 0 : item.size_B;
	return r;
}

/* --- signals ---------------------------------------------------------------------------------- */

RT_IMPL(hsa_amd_ipc_signal_create, (hsa_signal_t handle, hsa_amd_ipc_signal_t *ipc_handle), (handle, ipc_handle))
{
	struct rt_signal *signal = rt_signal_of(rt, handle);
	struct export *e;
	int r;

	if (!ipc_handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!signal)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (atomic_load(&signal->kind) != RT_SIGNAL_IPC)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	e = export_create(RT_IPC_SIGNAL, handle.handle, 1, 1);
	if (!e)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	r = rt_signal_file(rt, signal);
	if (r < 0) {
		export_free(e);
		return hsa_status_of(r);
	}
	e->piece[0] = (struct rt_ipc_piece){.file = r, .size_B = RT_PAGE_B};
	r = export_publish(rt, e, ipc_handle);
	if (!r && !rt_signal_of(rt, handle)) {
		rt_ipc_forget(rt, handle.handle, 1);
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	}
	return hsa_status_of(r);
}

RT_IMPL(hsa_amd_ipc_signal_attach, (const hsa_amd_ipc_signal_t *handle, hsa_signal_t *signal), (handle, signal))
{
	DRV_HOLD_CANCEL;
	struct rt_ipc_item item;
	int fd, r;

	if (!handle || !signal)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	r = import_fd(handle, RT_IPC_SIGNAL, 0, &item, &fd);
	if (r)
		return status_of_import(r);
	r = rt_signal_attach(rt, fd, signal);
	close(fd);
	return status_of_import(r);
}

/* Pools shared with other processes.
 *
 * A pool is exported as a file descriptor: a sealed anonymous file with the pool's key and its GPU. A process that
 * imports it gets a pool that cannot allocate. An address is exported as 64 bytes: HSA's IPC handle of the chunks
 * that contain the block, by which they are fetched from the process that owns them (docs/hsa.md), and the offset
 * in them.
 *
 *   run       consecutive chunks of another process, mapped consecutively here, at an address of this process;
 *             unmapped with the last imported address in it
 *   imported  an address in a run: an entry of memory.c, freed by the same functions as memory of hipMalloc()
 *
 * The file and the 64 bytes are not trusted: HSA, or a comparison, checks every number.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "drv/file.h"
#include "drv/lock.h"
#include "api/memory/memory.h"
#include "api/pool/pool.h"

#define FILE_MARK 0x6c6f6f70u
#define SEALS     (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

/* Contents of a pool's descriptor. */
struct pool_file {
	uint32_t magic, domain, place, zero; /* the GPU's PCI address: place is bus, device and function */
	uint64_t key;                        /* key of the pool */
};

/* Contents of the program's 64 bytes. */
struct address_data {
	hsa_amd_ipc_memory_t run;
	uint64_t run_B;
	uint64_t key; /* key of the pool */
	uint64_t offset_B, size_B;
};
_Static_assert(sizeof(struct address_data) == sizeof(hipMemPoolPtrExportData), "as the program has it");

struct run {
	struct run *next;
	hsa_amd_ipc_memory_t name;
	struct hip_pool *pool; /* borrowed; NULL: the pool was destroyed */
	char *base;            /* owned */
	size_t size_B;
	struct hip_chunk_memory *chunks; /* owned */
	unsigned uses;                   /* imported addresses */
};

/* The lock guards the list and each run's pool; outside memory's. No chunk is fetched from another process with it
 * held. */
static struct {
	struct drv_mutex lock;
	struct run *list;
} runs = {.lock = DRV_MUTEX(DRV_RANK_HIP_IMPORTS)};

/* --- pools ------------------------------------------------------------------------------------ */

hipError_t hip_pool_name(struct hip_pool *p)
{
	DRV_HOLD_CANCEL;

	return getrandom(&p->key, sizeof(p->key), 0) == sizeof(p->key) ? hipSuccess : hipErrorOutOfMemory;
}

static hipError_t place_of(const struct hip_device *d, uint32_t *domain, uint32_t *place)
{
	return hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DOMAIN, domain) ||
			       hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_BDFID, place)
		       ? hipErrorInvalidDevice
		       : hipSuccess;
}

/* The exporting process may number its devices differently, so the PCI address identifies them. */
static struct hip_device *device_at(uint32_t domain, uint32_t place)
{
	uint32_t its_domain, its_place;

	for (unsigned i = 0; i < hip.devices; i++)
		if (!place_of(&hip.device[i], &its_domain, &its_place) && its_domain == domain &&
		    its_place == place)
			return &hip.device[i];
	return NULL;
}

static hipError_t export_pool(int *out, hipMemPool_t handle, hipMemAllocationHandleType type, unsigned flags)
{
	DRV_HOLD_CANCEL;
	struct pool_file file = {.magic = FILE_MARK};
	const struct hip_pool *p = hip_pool_of(handle);
	hipError_t r;
	int fd;

	if (!out || !p || flags || type != hipMemHandleTypePosixFileDescriptor || !p->exportable)
		return hipErrorInvalidValue;
	r = place_of(p->device, &file.domain, &file.place);
	if (r)
		return r;
	file.key = p->key;
	fd = drv_file_memory("hip-pool", sizeof(file));
	if (fd < 0)
		return hipErrorOutOfMemory;
	if (write(fd, &file, sizeof(file)) != sizeof(file) || fcntl(fd, F_ADD_SEALS, SEALS)) {
		close(fd);
		return hipErrorOutOfMemory;
	}
	memcpy(out, &fd, sizeof(fd));
	return hipSuccess;
}

HIP_PUBLIC(hipMemPoolExportToShareableHandle,
	   (void *shared, hipMemPool_t pool, hipMemAllocationHandleType type, unsigned int flags),
	   (shared, pool, type, flags))
{
	return export_pool(shared, pool, type, flags);
}

/* Accepts only sealed memory files: no other file has seals. */
static bool read_file(int fd, struct pool_file *file)
{
	DRV_HOLD_CANCEL;

	return fcntl(fd, F_GET_SEALS) == SEALS && pread(fd, file, sizeof(*file), 0) == sizeof(*file) &&
	       file->magic == FILE_MARK;
}

static hipError_t import_pool(hipMemPool_t *out, const void *shared, hipMemAllocationHandleType type,
			      unsigned flags)
{
	/* The descriptor, cast to a pointer. Only the lower 32 bits count, as in CLR: an export writes an int, and
	 * programs may keep it in a wider variable that is otherwise uninitialised. */
	int fd = (int)(uint32_t)(uintptr_t)shared;
	struct pool_file file;
	struct hip_device *d;
	struct hip_pool *p;
	hipError_t r;

	/* A descriptor that is no pool's. CLR returns OutOfMemory for it. */
	if (!out || !shared || flags || type != hipMemHandleTypePosixFileDescriptor || !read_file(fd, &file))
		return hipErrorInvalidValue;
	d = device_at(file.domain, file.place);
	if (!d)
		return hipErrorInvalidDevice;
	r = hip_pool_import(d, file.key, &p);
	if (!r)
		*out = (hipMemPool_t)(uintptr_t)p->handle;
	return r;
}

HIP_PUBLIC(hipMemPoolImportFromShareableHandle,
	   (hipMemPool_t *pool, void *shared, hipMemAllocationHandleType type, unsigned int flags),
	   (pool, shared, type, flags))
{
	return import_pool(pool, shared, type, flags);
}

/* --- export of addresses ---------------------------------------------------------------------- */

static hipError_t export_address(hipMemPoolPtrExportData *out, void *ptr)
{
	struct hip_pool *p = hip_pool_at(ptr);
	struct address_data data;
	uint64_t lo, hi;

	if (!out || !p || !p->exportable || !hip_arena_around(p, ptr, &lo, &hi, &data.size_B))
		return hipErrorInvalidValue;
	if (hip.hsa->share((void *)(uintptr_t)lo, hi - lo, &data.run))
		return hipErrorOutOfMemory;
	data.run_B = hi - lo;
	data.key = p->key;
	data.offset_B = (uintptr_t)ptr - lo;
	memcpy(out, &data, sizeof(data));
	return hipSuccess;
}

HIP_PUBLIC(hipMemPoolExportPointer, (hipMemPoolPtrExportData *data, void *ptr), (data, ptr))
{
	return ptr ? export_address(data, ptr) : hipErrorInvalidValue;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void end_run(struct run *run)
{
	hip_chunks_unmap(run->chunks);
	if (run->base)
		hsa_amd_vmem_address_free(run->base, run->size_B);
	free(run);
}

static hipError_t map_chunk(struct run *run, uint64_t index, uint64_t lo, uint64_t most_B, uint64_t *size_B)
{
	DRV_HOLD_CANCEL;
	struct hip_chunk_memory *c = calloc(1, sizeof(*c));
	int fd = -1;
	bool ok = c && !hip.hsa->fetch(&run->name, index, &fd, size_B) && *size_B && *size_B <= most_B &&
		  !hsa_amd_vmem_import_shareable_handle(fd, &c->handle);

	if (fd >= 0)
		close(fd);
	if (!ok || hsa_amd_vmem_map((void *)(uintptr_t)lo, *size_B, 0, c->handle, 0)) {
		if (ok)
			hsa_amd_vmem_handle_release(c->handle);
		free(c);
		return hipErrorOutOfMemory;
	}
	c->lo = lo;
	c->hi = lo + *size_B;
	c->next = run->chunks;
	run->chunks = c;
	return hipSuccess;
}

static hipError_t map_chunks(struct run *run)
{
	const uint64_t lo = (uintptr_t)run->base, hi = lo + run->size_B;
	hipError_t r = hipSuccess;
	uint64_t at = lo, size_B;

	for (uint64_t i = 0; !r && at < hi; i++) {
		r = map_chunk(run, i, at, hi - at, &size_B);
		at += r ? 0 : size_B;
	}
	return r ? r : hip_pool_update_access(run->pool, lo, run->size_B);
}

/* Fetches the chunks from the other process. Errors: OutOfMemory, when that process has ended or freed them, or
 * addresses are short. */
static hipError_t make_run(struct hip_pool *p, const struct address_data *data, struct run **out)
{
	struct run *run = calloc(1, sizeof(*run));
	void *base;
	hipError_t r = hipErrorOutOfMemory;

	if (!run)
		return r;
	run->name = data->run;
	run->pool = p;
	run->size_B = data->run_B;
	if (!hsa_amd_vmem_address_reserve_align(&base, run->size_B, 0, HIP_POOL_CHUNK_B,
						HSA_AMD_VMEM_ADDRESS_NO_REGISTER)) {
		run->base = base;
		r = map_chunks(run);
	}
	if (r) {
		end_run(run);
		return hipErrorOutOfMemory;
	}
	*out = run;
	return hipSuccess;
}

static struct run *find_run_locked(const struct hip_pool *p, const struct address_data *data)
{
	struct run *run = runs.list;

	drv_rank_assert(DRV_RANK_HIP_IMPORTS);
	while (run &&
	       (run->pool != p || run->size_B != data->run_B || memcmp(&run->name, &data->run, sizeof(run->name))))
		run = run->next;
	return run;
}

static void unlink_locked(struct run *gone)
{
	struct run **at = &runs.list;

	drv_rank_assert(DRV_RANK_HIP_IMPORTS);
	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
}

static void end_import(const void *ptr)
{
	struct run *run;

	drv_mutex_lock(&runs.lock);
	for (run = runs.list; (uintptr_t)ptr - (uintptr_t)run->base >= run->size_B; run = run->next)
		continue;
	if (--run->uses)
		run = NULL;
	else
		unlink_locked(run);
	drv_mutex_unlock(&runs.lock);
	if (run)
		end_run(run);
}

/* --- import of addresses ---------------------------------------------------------------------- */

/* Checks that the numbers are consistent; HSA checks what they refer to. */
static bool is_sound(const struct hip_pool *p, const struct address_data *data)
{
	return data->key == p->key && data->size_B && data->run_B <= p->device->vram_B &&
	       data->run_B % HIP_POOL_CHUNK_B == 0 && data->offset_B % HIP_POOL_QUANTUM == 0 &&
	       data->offset_B < data->run_B && data->size_B <= data->run_B - data->offset_B;
}

/* An address that is imported twice is the same address, and is freed once. */
static hipError_t enter_locked(struct run *run, const struct address_data *data, void **out)
{
	char *at = run->base + data->offset_B;
	struct hip_memory memory;
	hipError_t r;

	drv_rank_assert(DRV_RANK_HIP_IMPORTS);
	*out = at;
	if (hip_memory_find(at, &memory) && memory.gpu_base == at && memory.size_B == data->size_B)
		return hipSuccess;
	r = hip_memory_add_imported(run->pool->device->index, run->pool->handle, at, data->size_B, end_import);
	if (!r)
		run->uses++;
	return r;
}

static hipError_t import_address(void **out, hipMemPool_t handle, const hipMemPoolPtrExportData *from)
{
	struct hip_pool *p = hip_pool_of(handle);
	struct address_data data;
	struct run *run, *fresh = NULL;
	hipError_t r;

	if (!out || !from || !p || !p->imported)
		return hipErrorInvalidValue;
	memcpy(&data, from, sizeof(data));
	if (!is_sound(p, &data))
		return hipErrorInvalidValue;
	r = hip_fault(p->device);
	drv_mutex_lock(&p->access_lock);
	drv_mutex_lock(&runs.lock);
	run = find_run_locked(p, &data);
	if (!r && !run) {
		drv_mutex_unlock(&runs.lock);
		r = make_run(p, &data, &fresh);
		drv_mutex_lock(&runs.lock);
		run = r ? NULL : find_run_locked(p, &data);
	}
	/* hip_imports_detach() has seen the runs of a pool that has ended. */
	if (!r && p->ended)
		r = hipErrorInvalidValue;
	if (!r && !run) { /* no other thread has made the run meanwhile */
		run = fresh;
		run->next = runs.list;
		runs.list = run;
		fresh = NULL;
	}
	if (!r)
		r = enter_locked(run, &data, out);
	if (run && !run->uses) {
		unlink_locked(run);
		fresh = run;
	}
	drv_mutex_unlock(&runs.lock);
	drv_mutex_unlock(&p->access_lock);
	if (fresh)
		end_run(fresh);
	return r;
}

HIP_PUBLIC(hipMemPoolImportPointer, (void **ptr, hipMemPool_t pool, hipMemPoolPtrExportData *data),
	   (ptr, pool, data))
{
	return import_address(ptr, pool, data);
}

void hip_imports_detach(const struct hip_pool *p)
{
	drv_mutex_lock(&runs.lock);
	for (struct run *run = runs.list; run; run = run->next)
		if (run->pool == p)
			run->pool = NULL;
	drv_mutex_unlock(&runs.lock);
}

hipError_t hip_imports_set_access(const struct hip_pool *p)
{
	hipError_t r = hipSuccess;

	drv_mutex_lock(&runs.lock);
	for (struct run *run = runs.list; run && !r; run = run->next)
		if (run->pool == p)
			r = hip_pool_update_access(p, (uintptr_t)run->base, run->size_B);
	drv_mutex_unlock(&runs.lock);
	return r;
}

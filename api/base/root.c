/* The library's root: initialisation, and the choice of HSA's devices that the program sees. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/base/entry.h"
#include "drv/config.h"
#include "drv/log.h"

struct hip hip = {.status = hipErrorDeinitialized};
struct drv_calls hip_calls = DRV_CALLS;
_Thread_local struct hip_thread hip_thread = {.caller = DRV_CALLER};
struct drv_handles hip_handles;
_Atomic unsigned hip_slow_flags = HIP_SLOW_UNINITIALIZED;

static struct drv_mutex init_lock = DRV_MUTEX(DRV_RANK_HIP_INIT);

/* --- memory of threads ------------------------------------------------------------------------- */

struct block {
	struct block *next;
	void **at;
	_Alignas(16) char bytes[];
};

static struct hip_thread_key blocks_key; /* the thread's list of blocks: owned */

bool hip_thread_key_of(struct hip_thread_key *at, void (*end)(void *value), pthread_key_t *key)
{
	unsigned made = atomic_load(&at->made);

	if (!made) {
		if (pthread_key_create(key, end))
			return false;
		if (atomic_compare_exchange_strong(&at->made, &made, *key + 1))
			return true;
		pthread_key_delete(*key); /* another thread has made one meanwhile */
	}
	*key = made - 1;
	return true;
}

static void free_blocks(void *first)
{
	for (struct block *b = first, *next; b; b = next) {
		next = b->next;
		*b->at = NULL;
		free(b);
	}
}

void *hip_thread_memory(void **at, size_t size_B)
{
	pthread_key_t key;
	struct block *b;

	if (*at)
		return *at;
	if (!hip_thread_key_of(&blocks_key, free_blocks, &key))
		return NULL;
	b = calloc(1, sizeof(*b) + size_B);
	if (!b)
		return NULL;
	*b = (struct block){pthread_getspecific(key), at};
	if (pthread_setspecific(key, b)) {
		free(b);
		return NULL;
	}
	*at = b->bytes;
	return b->bytes;
}

/* --- visible devices -------------------------------------------------------------------------- */

/* Parses a list of indices into HSA's GPUs, such as "1,0". The first invalid entry ends the list, as in CUDA. */
static unsigned visible_parse(const char *list, unsigned all, unsigned *order)
{
	unsigned count = 0;

	while (*list && count < HIP_DEVICES_MAX) {
		char *end;
		long index = strtol(list, &end, 10);

		if (end == list || (*end && *end != ',') || index < 0 || index >= (long)all)
			break;
		for (unsigned i = 0; i < count; i++)
			if (order[i] == (unsigned)index)
				return count;
		order[count++] = (unsigned)index;
		list = *end ? end + 1 : end;
	}
	return count;
}

static void choose_devices(const hsa_agent_t *gpu, unsigned all)
{
	const char *list = drv_config()->hip_visible;
	unsigned order[HIP_DEVICES_MAX];

	hip.devices = all;
	for (unsigned i = 0; i < all; i++)
		order[i] = i;
	if (list)
		hip.devices = visible_parse(list, all, order);
	for (unsigned i = 0; i < hip.devices; i++)
		hip.device[i].agent = gpu[order[i]];
}

/* --- HSA's agents and pools ------------------------------------------------------------------- */

struct found {
	hsa_agent_t gpu[HIP_DEVICES_MAX];
	unsigned gpus;
	bool cpu;
};

static hsa_status_t agent_visit(hsa_agent_t agent, void *arg)
{
	struct found *found = arg;
	hsa_device_type_t type;

	if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type))
		return HSA_STATUS_ERROR;
	if (type == HSA_DEVICE_TYPE_GPU && found->gpus < HIP_DEVICES_MAX)
		found->gpu[found->gpus++] = agent;
	if (type == HSA_DEVICE_TYPE_CPU && !found->cpu) {
		found->cpu = true;
		hip.cpu = agent;
	}
	return HSA_STATUS_SUCCESS;
}

static uint32_t pool_flags(hsa_amd_memory_pool_t pool)
{
	hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GROUP;
	uint32_t flags = 0;

	if (hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) ||
	    segment != HSA_AMD_SEGMENT_GLOBAL ||
	    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags))
		return 0;
	return flags;
}

static hsa_status_t host_pool_visit(hsa_amd_memory_pool_t pool, void *unused)
{
	uint32_t flags = pool_flags(pool);

	(void)unused;
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		hip.kernarg = pool;
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED && !hip.host_fine.handle)
		hip.host_fine = pool;
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
		hip.host_coarse = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t device_pool_visit(hsa_amd_memory_pool_t pool, void *arg)
{
	struct hip_device *d = arg;
	uint32_t flags = pool_flags(pool);

	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
		d->vram = pool;
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
		d->fine_vram = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_lds(hsa_amd_memory_pool_t pool, void *arg)
{
	struct hip_device *d = arg;
	hsa_amd_segment_t segment;
	size_t size_B;

	if (!hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) &&
	    segment == HSA_AMD_SEGMENT_GROUP &&
	    !hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size_B))
		d->lds_B = (unsigned)size_B;
	return HSA_STATUS_SUCCESS;
}

static hipError_t open_device(struct hip_device *d, int index)
{
	size_t vram_B = 0;
	char target[64] = ""; /* HSA's name of the agent */

	d->index = index;
	drv_mutex_init(&d->lock, DRV_RANK_HIP_DEVICE);
	if (hsa_amd_agent_iterate_memory_pools(d->agent, device_pool_visit, d) ||
	    hsa_amd_agent_iterate_memory_pools(d->agent, find_lds, d) || !d->vram.handle ||
	    hsa_amd_memory_pool_get_info(d->vram, HSA_AMD_MEMORY_POOL_INFO_SIZE, &vram_B) ||
	    hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &d->cus) ||
	    hsa_agent_get_info(d->agent, HSA_AGENT_INFO_WAVEFRONT_SIZE, &d->wave_lanes) ||
	    hsa_agent_get_info(d->agent, HSA_AGENT_INFO_NAME, target) || !(d->chip = drv_chip_by_target(target)))
		return hipErrorInitializationError;
	d->vram_B = vram_B;
	d->args = hip.hsa->args_pool(d->agent);
	/* HIP's defaults: bytes of a lane's stack, of printf's buffer, and of the device heap. */
	d->stack_B = 1024;
	d->printf_B = 1 << 20;
	d->heap_B = 4 << 20;
	return hipSuccess;
}

/* Finds the private interface. Another HSA library has none, and streams cannot work on it. */
static bool interface_find(void)
{
	if (hsa_system_get_major_extension_table(RT_EXTENSION_INTERFACE, 1, sizeof(hip.hsa_copy), &hip.hsa_copy) ||
	    hip.hsa_copy.size_B != sizeof(hip.hsa_copy))
		return false;
	hip.hsa = &hip.hsa_copy;
	return true;
}

static hipError_t open_all(void)
{
	struct found found = {0};
	hipError_t r = hipSuccess;

	if (hsa_init())
		return hipErrorNoDevice;
	if (!interface_find()) {
		hip_foreign_hsa_report();
		return hipErrorInitializationError;
	}
	hip_others_report();
	if (hsa_iterate_agents(agent_visit, &found) || !found.cpu ||
	    hsa_amd_agent_iterate_memory_pools(hip.cpu, host_pool_visit, NULL) ||
	    hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hip.timestamp_Hz))
		return hipErrorInitializationError;
	choose_devices(found.gpu, found.gpus);
	hip_faults_watch();
	for (unsigned i = 0; !r && i < hip.devices; i++)
		r = open_device(&hip.device[i], (int)i);
	return r ? r : hip.devices ? hipSuccess : hipErrorNoDevice;
}

/* --- initialisation --------------------------------------------------------------------------- */

static struct {
	bool tried;     /* initialisation, by this process or its parent */
	unsigned count; /* see hip_forks() */
} forks;

/* After fork() the child cannot use what the parent opened: its handles are the parent's, and threads of the parent
 * may have held its locks. */
static void begin_child(void)
{
	init_lock = (struct drv_mutex)DRV_MUTEX(DRV_RANK_HIP_INIT);
	drv_calls_forked(&hip_calls, &hip_thread.caller);
	forks.count++;
	if (!forks.tried)
		return;
	hip.child = true;
	hip.status = hipErrorInitializationError;
	atomic_fetch_or(&hip_slow_flags, HIP_SLOW_UNINITIALIZED);
}

/* When the library is loaded: threads may call functions that need no initialisation while the process forks. */
__attribute__((constructor)) static void watch_forks(void)
{
	(void)!pthread_atfork(NULL, NULL, begin_child);
}

unsigned hip_forks(void)
{
	return forks.count;
}

#define LEVEL_ERRORS 1

static void init_slow_flags(void)
{
	const struct drv_config *config = drv_config();
	unsigned flags = config->amd_log_level;

	/* TUFF_LOG covers all of tuff: its errors include this library's. */
	if (flags < LEVEL_ERRORS && config->log & DRV_LOG_ERROR)
		flags = LEVEL_ERRORS;
	if (config->serialize_kernel || config->serialize_copy)
		flags |= HIP_SLOW_SERIAL;
	atomic_fetch_or(&hip_slow_flags, flags);
}

hipError_t hip_init(void)
{
	DRV_HOLD_CANCEL;
	hipError_t status;

	drv_mutex_lock(&init_lock);
	if (hip.status == hipErrorDeinitialized) {
		forks.tried = true;
		init_slow_flags();
		hip.status = open_all();
		if (!hip.status)
			atomic_fetch_and_explicit(&hip_slow_flags, ~HIP_SLOW_UNINITIALIZED, memory_order_release);
	}
	status = hip.status;
	drv_mutex_unlock(&init_lock);
	return status;
}

hipError_t hip_end_fast_wake(struct drv_lock *held)
{
	drv_lock_wake(held);
	return hipSuccess;
}

HIP_PUBLIC(hipInit, (unsigned int flags), (flags))
{
	return flags ? hipErrorInvalidValue : hipSuccess;
}

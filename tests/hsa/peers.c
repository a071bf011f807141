/* Memory of one GPU for another: peers reach each other's memory; other GPUs are not reported as peers; and threads
 * that allocate, look up, lock, copy between GPUs and free, at the same time. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/hsa_find.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define KIB     1024u
#define THREADS 4u
#define ROUNDS  60u

static struct hsa_find f;

static uint32_t access_of(hsa_agent_t agent, hsa_amd_memory_pool_t pool)
{
	uint32_t access = 99;

	CHECK_EQ(hsa_amd_agent_memory_pool_get_info(agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
		 HSA_STATUS_SUCCESS);
	return access;
}

static void copy_by(hsa_agent_t gpu, void *dst, const void *src, size_t size_B)
{
	hsa_signal_t done;

	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_async_copy(dst, gpu, src, gpu, size_B, 0, NULL, done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED),
		 0);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

/* GPU 1 copies from GPU 0's memory into its own. */
static void reached(size_t size_B)
{
	uint32_t *mine, *theirs, value = 0;
	hsa_agent_t *who = NULL;
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	uint32_t count = 0;

	CHECK_EQ(hsa_amd_memory_pool_allocate(f.gpu[0].coarse, size_B, 0, (void **)&theirs), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_allocate(f.gpu[1].coarse, size_B, 0, (void **)&mine), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(theirs, 77, size_B / 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(mine, 1, size_B / 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_agents_allow_access(1, &f.gpu[1].agent, NULL, theirs), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_pointer_info(theirs, &info, malloc, &count, &who), HSA_STATUS_SUCCESS);
	CHECK_EQ(info.agentOwner.handle, f.gpu[0].agent.handle);
	CHECK_EQ(count, info.hostBaseAddress ? 3 : 2);
	free(who);
	copy_by(f.gpu[1].agent, mine, theirs, size_B);
	CHECK_EQ(hsa_memory_copy(&value, mine + size_B / 4 - 1, 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(value, 77);
	CHECK_EQ(hsa_amd_memory_pool_free(theirs), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(mine), HSA_STATUS_SUCCESS);
}

static void not_reached(void)
{
	uint32_t *mine, *theirs, value = 0;
	hsa_signal_t gate, done;

	CHECK_EQ(access_of(f.gpu[1].agent, f.gpu[0].coarse), HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
	CHECK_EQ(access_of(f.gpu[0].agent, f.gpu[1].coarse), HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
	CHECK_EQ(hsa_amd_memory_pool_allocate(f.gpu[0].coarse, 64 * KIB, 0, (void **)&theirs), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_allocate(f.gpu[1].coarse, 64 * KIB, 0, (void **)&mine), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_agents_allow_access(1, &f.gpu[1].agent, NULL, theirs), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_memory_fill(theirs, 78, 16 * KIB), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_memory_copy(mine, theirs, 64 * KIB), HSA_STATUS_SUCCESS); /* through the host's memory */
	CHECK_EQ(hsa_memory_copy(&value, mine + 16 * KIB - 1, 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(value, 78);
	/* The same behind a signal. */
	CHECK_EQ(hsa_amd_memory_fill(theirs, 79, 16 * KIB), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &gate), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_async_copy(mine, f.gpu[1].agent, theirs, f.gpu[0].agent, 64 * KIB, 1, &gate, done),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_load_relaxed(done), 1);
	hsa_signal_store_screlease(gate, 0);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED),
		 0);
	CHECK_EQ(hsa_memory_copy(&value, mine + 16 * KIB - 1, 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(value, 79);
	CHECK_EQ(hsa_signal_destroy(gate), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(theirs), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(mine), HSA_STATUS_SUCCESS);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void on_free(void *ptr, void *data)
{
	(void)ptr;
	__atomic_fetch_add((unsigned *)data, 1, __ATOMIC_RELAXED);
}

/* Counts what goes wrong: CHECK is for one thread. */
static void *work(void *arg)
{
	unsigned bad = 0, freed = 0, id = (unsigned)(uintptr_t)arg;
	char host[3000];

	for (unsigned i = 0; i < ROUNDS; i++) {
		hsa_agent_t both[] = {f.gpu[0].agent, f.gpu[1].agent};
		hsa_amd_pointer_info_t info = {.size = sizeof(info)};
		hsa_amd_memory_pool_t pool = (i + id) % 3 ? f.gpu[i & 1].coarse : f.cpu[0].fine;
		size_t size_B = 4 * KIB << (i * 7 + id) % 8;
		uint32_t *data = NULL, value = 0;
		void *locked;

		bad += hsa_amd_memory_pool_allocate(pool, size_B, 0, (void **)&data) != 0;
		bad += hsa_amd_agents_allow_access(2, both, NULL, data) != 0;
		bad += hsa_amd_pointer_info_set_userdata(data, &both) != 0;
		bad += hsa_amd_register_deallocation_callback(data, on_free, &freed) != 0;
		bad += hsa_amd_memory_fill(data, id << 16 | i, size_B / 4) != 0;
		bad += hsa_amd_pointer_info(data + 9, &info, NULL, NULL, NULL) || info.userData != &both ||
		       info.agentBaseAddress != data;
		bad += hsa_memory_copy(&value, data + size_B / 4 - 1, 4) || value != (id << 16 | i);
		bad += hsa_amd_memory_lock(host + i, 1000, NULL, 0, &locked) != 0;
		bad += hsa_amd_memory_unlock(host + i) != 0;
		bad += hsa_amd_memory_pool_free(data) != 0;
	}
	return (void *)(uintptr_t)(bad + (freed != ROUNDS));
}

static void threads(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, work, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		void *bad = NULL;

		CHECK_EQ(pthread_join(thread[i], &bad), 0);
		CHECK_EQ((uintptr_t)bad, 0);
	}
}

int main(void)
{
	enum vgpu_strict level = vgpu_strict();

	setenv("TUFF_PEER_ACCESS", "1", 1);
	if (!CHECK_EQ(vgpu_start("gfx908:p2p=1,gfx908:p2p=1"), 0))
		return check_done("peers");
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	if (hsa_find_all(&f) && CHECK_EQ(f.gpus, 2)) {
		CHECK_EQ(access_of(f.gpu[1].agent, f.gpu[0].coarse),
			 HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
		CHECK_EQ(access_of(f.gpu[0].agent, f.gpu[0].coarse), HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT);
		CHECK_EQ(access_of(f.gpu[1].agent, f.gpu[0].group), HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
		reached(8 * KIB);
		reached(3072 * KIB);
		threads();
	}
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();

	CHECK_EQ(vgpu_start("gfx908:p2p=0,gfx908:p2p=0"), 0);
	vgpu_strict_set(VGPU_STRICT_OFF); /* trying it moves a buffer, which is a finding elsewhere */
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	if (hsa_find_all(&f) && CHECK_EQ(f.gpus, 2))
		not_reached();
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	vgpu_strict_set(level);
	vgpu_stop();
	return check_done("peers");
}

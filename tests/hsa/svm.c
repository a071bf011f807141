/* Shared virtual memory without migration: a kernel uses malloc'ed memory at its own address; attributes of pages
 * keep their values; and a prefetch moves nothing and still completes in order. */
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/hsa_rig.h"
#include "tests/inject.h"

#define PAGE  4096u
#define PAGES 16u
#define COUNT 256u

static hsa_queue_t *queue;
static struct hsa_rig_kernel add;
static unsigned slot;

#define PAIR(attribute, value)                                                                                     \
	(hsa_amd_svm_attribute_pair_t)                                                                             \
	{                                                                                                          \
		HSA_AMD_SVM_ATTRIB_##attribute, (value)                                                            \
	}

static hsa_status_t set(void *ptr, size_t size_B, hsa_amd_svm_attribute_pair_t pair)
{
	return hsa_amd_svm_attributes_set(ptr, size_B, &pair, 1);
}

static uint64_t get(void *ptr, size_t size_B, uint64_t attribute)
{
	hsa_amd_svm_attribute_pair_t pair = {attribute, 99};

	CHECK_EQ(hsa_amd_svm_attributes_get(ptr, size_B, &pair, 1), HSA_STATUS_SUCCESS);
	return pair.value;
}

static uint64_t who(void *ptr, size_t size_B, hsa_agent_t agent)
{
	hsa_amd_svm_attribute_pair_t pair = PAIR(ACCESS_QUERY, agent.handle);

	CHECK_EQ(hsa_amd_svm_attributes_get(ptr, size_B, &pair, 1), HSA_STATUS_SUCCESS);
	CHECK_EQ(pair.value, agent.handle);
	return pair.attribute;
}

/* A kernel multiplies by 3 and adds. */
static void use(uint32_t *data, uint32_t value)
{
	hsa_signal_t done = rig_signal(1);

	data[0] = 5;
	data[COUNT - 1] = 6;
	rig_launch_add(queue, &add, data, COUNT, value, slot++, done);
	CHECK_EQ(rig_wait(done), 0);
	CHECK(data[0] == 15 + value && data[COUNT - 1] == 18 + value);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

/* What malloc gives, from any address on, is the GPU's too. */
static void any_memory(void)
{
	char *block = malloc(3 * PAGE);
	uint32_t *data = (uint32_t *)(void *)(block + 500);
	hsa_amd_svm_attribute_pair_t both[] = {PAIR(GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED),
					       PAIR(AGENT_ACCESSIBLE_IN_PLACE, rig.gpu.handle)};

	CHECK_EQ(who(data, COUNT * 4, rig.gpu), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
	CHECK_EQ(who(data, COUNT * 4, rig.cpu), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
	CHECK_EQ(set(data, COUNT * 4, PAIR(AGENT_ACCESSIBLE, rig.gpu.handle)), HSA_STATUS_SUCCESS);
	CHECK_EQ(who(data, COUNT * 4, rig.gpu), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
	use(data, 1);
	CHECK_EQ(hsa_amd_svm_attributes_set(data, COUNT * 4, both, 2), HSA_STATUS_SUCCESS);
	CHECK_EQ(who(data, COUNT * 4, rig.gpu), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE);
	use(data, 2);
	/* The pages are taken back before the process gives them up. */
	CHECK_EQ(set(data, COUNT * 4, PAIR(AGENT_NO_ACCESS, rig.gpu.handle)), HSA_STATUS_SUCCESS);
	free(block);
}

/* Attributes belong to pages: what is set on some of them cuts the others apart, and they all go on. */
static void parts(void)
{
	char *map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const size_t all_B = PAGES * PAGE;

	CHECK_EQ(set(map, all_B, PAIR(AGENT_ACCESSIBLE, rig.gpu.handle)), HSA_STATUS_SUCCESS);
	CHECK_EQ(set(map + 4 * PAGE, 2 * PAGE, PAIR(AGENT_NO_ACCESS, rig.gpu.handle)), HSA_STATUS_SUCCESS);
	CHECK_EQ(who(map, all_B, rig.gpu), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
	CHECK_EQ(who(map, 4 * PAGE, rig.gpu), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
	CHECK_EQ(who(map + 5 * PAGE, PAGE, rig.gpu), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
	use((uint32_t *)(void *)map, 3);
	use((uint32_t *)(void *)(map + 6 * PAGE), 4);
	/* A page whose access was taken can be given up while its neighbours are in use. */
	CHECK_EQ(munmap(map + 4 * PAGE, 2 * PAGE), 0);
	use((uint32_t *)(void *)(map + 3 * PAGE), 5);
	CHECK_EQ(set(map + 4 * PAGE, PAGE, PAIR(AGENT_ACCESSIBLE, rig.gpu.handle)), HSA_STATUS_ERROR);
	CHECK_EQ(who(map + 4 * PAGE, PAGE, rig.gpu), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
	CHECK_EQ(set(map, 4 * PAGE, PAIR(GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED)), HSA_STATUS_SUCCESS);
	CHECK_EQ(get(map, PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED);
	CHECK_EQ(get(map + 6 * PAGE, PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED);
	CHECK_EQ(get(map, all_B, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE);
	use((uint32_t *)(void *)(map + 2 * PAGE), 6);
	CHECK_EQ(set(map, all_B, PAIR(AGENT_NO_ACCESS, rig.gpu.handle)), HSA_STATUS_SUCCESS);
	CHECK_EQ(munmap(map, all_B), 0);
}

/* Attributes that cannot be set for lack of memory leave the GPU what it had. A segment that is cut costs one
 * allocation, and pages that have had no attributes yet another one: both come first. */
static void cut_without_memory(void)
{
	const size_t each_B = PAGES * PAGE;
	char *maps = mmap(NULL, 2 * each_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long n = 1; n <= 2; n++) {
		char *map = maps + (n - 1) * each_B;

		CHECK_EQ(set(map, 8 * PAGE, PAIR(AGENT_ACCESSIBLE, rig.gpu.handle)), HSA_STATUS_SUCCESS);
		inject_allocation(n);
		CHECK_EQ(set(map + 2 * PAGE, 10 * PAGE, PAIR(READ_MOSTLY, 1)), HSA_STATUS_ERROR);
		CHECK(inject_happened());
		use((uint32_t *)(void *)(map + PAGE), 7);
		use((uint32_t *)(void *)(map + 6 * PAGE), 8);
		CHECK_EQ(set(map, each_B, PAIR(AGENT_NO_ACCESS, rig.gpu.handle)), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(munmap(maps, 2 * each_B), 0);
}

/* Both parts of a segment that is cut are registered anew. A part for which memory is short may lose its access, and says so. */
static void cut_parts_without_memory(void)
{
	const size_t all_B = PAGES * PAGE;
	char *map = mmap(NULL, all_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hsa_status_t status = HSA_STATUS_ERROR;
	unsigned lost = 0;

	for (long n = 1; status && n < 100; n++) {
		CHECK_EQ(set(map, all_B, PAIR(AGENT_ACCESSIBLE, rig.gpu.handle)), HSA_STATUS_SUCCESS);
		use((uint32_t *)(void *)(map + PAGE), 9);
		inject_allocation(n);
		status = set(map + (size_t)n % 8 * PAGE, 8 * PAGE, PAIR(READ_MOSTLY, 1));
		inject_allocation(0);
		for (unsigned i = 0; i < PAGES; i++)
			if (who(map + i * PAGE, PAGE, rig.gpu) == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE)
				use((uint32_t *)(void *)(map + i * PAGE), 10 + i);
			else
				lost++;
		CHECK_EQ(set(map, all_B, PAIR(AGENT_NO_ACCESS, rig.gpu.handle)), HSA_STATUS_SUCCESS);
	}
	CHECK(lost);
	CHECK_EQ(munmap(map, all_B), 0);
}

/* What nothing here depends on is kept and told. */
static void hints(void)
{
	static char map[4 * PAGE] __attribute__((aligned(4096)));

	CHECK_EQ(get(map, PAGE, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY), 9);
	CHECK_EQ(set(map, PAGE, PAIR(MIGRATION_GRANULARITY, 4)), HSA_STATUS_SUCCESS);
	CHECK_EQ(get(map, PAGE, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY), 4);
	CHECK_EQ(get(map, 2 * PAGE, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY), 4);
	CHECK_EQ(set(map, PAGE, PAIR(MIGRATION_GRANULARITY, UINT64_MAX)), HSA_STATUS_SUCCESS);
	CHECK_EQ(get(map, PAGE, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY), 18);
	CHECK_EQ(set(map, 2 * PAGE, PAIR(PREFERRED_LOCATION, rig.gpu.handle)), HSA_STATUS_SUCCESS);
	CHECK_EQ(get(map, 2 * PAGE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), rig.gpu.handle);
	CHECK_EQ(get(map, 3 * PAGE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0); /* they do not agree */
	CHECK_EQ(set(map, PAGE, PAIR(PREFERRED_LOCATION, 0)), HSA_STATUS_SUCCESS);
	CHECK_EQ(get(map, PAGE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0);
	CHECK_EQ(set(map, PAGE, PAIR(READ_MOSTLY, 1)), HSA_STATUS_SUCCESS);
	CHECK_EQ(set(map, PAGE, PAIR(READ_ONLY, 1)), HSA_STATUS_SUCCESS);
	CHECK_EQ(set(map, PAGE, PAIR(HIVE_LOCAL, 1)), HSA_STATUS_SUCCESS);
	CHECK_EQ(set(map, PAGE, PAIR(GPU_EXEC, 1)), HSA_STATUS_SUCCESS);
	CHECK(get(map, PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY) && get(map, PAGE, HSA_AMD_SVM_ATTRIB_READ_ONLY) &&
	      get(map, PAGE, HSA_AMD_SVM_ATTRIB_HIVE_LOCAL));
	CHECK(!get(map, 2 * PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY));
	CHECK_EQ(set(map, PAGE, PAIR(READ_ONLY, 0)), HSA_STATUS_SUCCESS);
	CHECK(!get(map, PAGE, HSA_AMD_SVM_ATTRIB_READ_ONLY));
	CHECK_EQ(set(map, PAGE, PAIR(AGENT_NO_ACCESS, rig.cpu.handle)), HSA_STATUS_SUCCESS);
	CHECK_EQ(who(map, PAGE, rig.cpu), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
}

static void prefetches(void)
{
	static char map[4 * PAGE] __attribute__((aligned(4096)));
	hsa_signal_t first = rig_signal(1), second = rig_signal(1), done = rig_signal(1);
	hsa_signal_t deps[] = {first, second};

	CHECK_EQ(get(map, PAGE, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION), 0);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, sizeof(map), rig.gpu, 2, deps, done), HSA_STATUS_SUCCESS);
	CHECK_EQ(get(map, PAGE, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION), rig.gpu.handle);
	hsa_signal_store_screlease(second, 0);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 20000000, HSA_WAIT_STATE_BLOCKED), 1);
	hsa_signal_store_screlease(first, 0);
	CHECK_EQ(rig_wait(done), 0);
	hsa_signal_store_screlease(done, 1);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, PAGE, rig.cpu, 0, NULL, done), HSA_STATUS_SUCCESS);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(get(map, sizeof(map), HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION), 0);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, PAGE, rig.cpu, 0, NULL, (hsa_signal_t){0}), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_svm_prefetch_async(NULL, PAGE, rig.cpu, 0, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, 0, rig.cpu, 0, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, PAGE, rig.cpu, 1, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, PAGE, (hsa_agent_t){4}, 0, NULL, done),
		 HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_signal_destroy(first), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, PAGE, rig.cpu, 1, &first, done), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, PAGE, rig.cpu, 0, NULL, first), HSA_STATUS_ERROR_INVALID_SIGNAL);
	/* One that never comes is left to the end, when its signals are gone as well. */
	hsa_signal_store_screlease(second, 1);
	CHECK_EQ(hsa_amd_svm_prefetch_async(map, PAGE, rig.cpu, 1, &second, done), HSA_STATUS_SUCCESS);
}

static void misused(void)
{
	static char map[PAGE];
	hsa_amd_svm_attribute_pair_t twice[] = {PAIR(READ_ONLY, 1), PAIR(READ_ONLY, 1)};
	hsa_amd_svm_attribute_pair_t agent[] = {PAIR(AGENT_ACCESSIBLE, rig.gpu.handle),
						PAIR(AGENT_NO_ACCESS, rig.gpu.handle)};
	hsa_amd_svm_attribute_pair_t query = PAIR(ACCESS_QUERY, 5), exec = PAIR(GPU_EXEC, 0);
	void *pool = rig_memory(rig.found.cpu[0].fine, PAGE);

	CHECK_EQ(set(NULL, PAGE, PAIR(READ_ONLY, 1)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(set(map, 0, PAIR(READ_ONLY, 1)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(set(map, SIZE_MAX, PAIR(READ_ONLY, 1)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(set((void *)UINTPTR_MAX, 1, PAIR(READ_ONLY, 1)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(set(map, PAGE, PAIR(GLOBAL_FLAG, 2)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(set(map, PAGE, PAIR(PREFETCH_LOCATION, 0)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(set(map, PAGE, (hsa_amd_svm_attribute_pair_t){77, 0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(set(map, PAGE, PAIR(PREFERRED_LOCATION, 5)), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(set(map, PAGE, PAIR(AGENT_ACCESSIBLE, 5)), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_svm_attributes_set(map, PAGE, NULL, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_svm_attributes_set(map, PAGE, twice, 2), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	CHECK_EQ(hsa_amd_svm_attributes_set(map, PAGE, agent, 2), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	CHECK_EQ(hsa_amd_svm_attributes_get(map, PAGE, &query, 1), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_svm_attributes_get(map, PAGE, &exec, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* ROCr */
	CHECK_EQ(hsa_amd_svm_attributes_get(map, PAGE, NULL, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_svm_attributes_get(NULL, PAGE, &exec, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	/* Memory of a pool has its access elsewhere. */
	CHECK_EQ(set(pool, PAGE, PAIR(AGENT_ACCESSIBLE, rig.gpu.handle)), HSA_STATUS_ERROR);
	CHECK_EQ(hsa_amd_memory_pool_free(pool), HSA_STATUS_SUCCESS);
}

int main(void)
{
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("shared virtual memory");
	add = rig_kernel("k_add.kd");
	queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	cut_without_memory();
	cut_parts_without_memory();
	any_memory();
	parts();
	hints();
	prefetches();
	misused();
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	rig_stop();
	return check_done("shared virtual memory");
}

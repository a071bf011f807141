/* Unspecified behaviour that AMD's HIP library (CLR 5.2, 5.7, 6.4) relies on: with a runtime that behaves
 * otherwise, it ignores the device, aborts, or waits for ever. Each test is named after the rule; the consequences
 * were observed by running Debian's libraries on such runtimes. */
#include <stdlib.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa_ven_amd_loader.h>

#include "tests/hsa_rig.h"

#define GUARD 0xa5

/* --- at the start ----------------------------------------------------------------------------- */

static hsa_status_t take_isa(hsa_isa_t isa, void *user)
{
	hsa_isa_t *seen = user;

	CHECK_EQ(seen->handle, 0);
	*seen = isa;
	return HSA_STATUS_SUCCESS;
}

/* 5.2 and 5.7 drop a device that lists a second ISA. The name must be what the code objects of the device say, to
 * the last feature: CLR compares texts. */
static void an_agent_has_one_isa(const char *want)
{
	hsa_isa_t isa = {0}, attribute;
	uint32_t length = 0;
	char name[64];

	CHECK_EQ(hsa_agent_iterate_isas(rig.gpu, take_isa, &isa), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_agent_get_info(rig.gpu, HSA_AGENT_INFO_ISA, &attribute), HSA_STATUS_SUCCESS);
	CHECK_EQ(isa.handle, attribute.handle);
	CHECK_EQ(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length), HSA_STATUS_SUCCESS);
	CHECK_EQ(length, strlen(want) + 1);
	CHECK_EQ(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name), HSA_STATUS_SUCCESS);
	CHECK_STR(name, want);
}

static hsa_status_t check_cpu_pool(hsa_amd_memory_pool_t pool, void *user)
{
	const uint32_t fine = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
		       kernarg = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT,
		       coarse = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
	uint32_t flags = 0, *seen = user;

	CHECK_EQ(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags),
		 HSA_STATUS_SUCCESS);
	CHECK(flags == fine || flags == (fine | kernarg) || flags == coarse);
	*seen |= flags;
	return HSA_STATUS_SUCCESS;
}

/* 5.2 aborts at a CPU pool that is neither fine- nor coarse-grained (flag 8: extended scope). */
static void cpu_pools_are_fine_or_coarse(void)
{
	uint32_t seen = 0;

	CHECK_EQ(hsa_amd_agent_iterate_memory_pools(rig.cpu, check_cpu_pool, &seen), HSA_STATUS_SUCCESS);
	CHECK_EQ(seen, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
			       HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
}

/* 6.4 drops a device without an engine for both directions. */
static void copy_engines_are_there_both_ways(void)
{
	uint32_t mask = 0;

	CHECK_EQ(hsa_amd_memory_copy_engine_status(rig.gpu, rig.cpu, &mask), HSA_STATUS_SUCCESS);
	CHECK(mask);
	mask = 0;
	CHECK_EQ(hsa_amd_memory_copy_engine_status(rig.cpu, rig.gpu, &mask), HSA_STATUS_SUCCESS);
	CHECK(mask);
}

/* What CLR's device asks at its creation: one failure, and the device is silently not there. `nonzero` are divisors
 * and sizes. */
static void every_attribute_is_answered(void)
{
	static const struct {
		uint32_t attribute;
		bool nonzero;
	} asked[] = {
		{HSA_AGENT_INFO_NAME, true},
		{HSA_AMD_AGENT_INFO_CHIP_ID, true},
		{HSA_AGENT_INFO_PROFILE, false},
		{HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, false},
		{HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, true},
		{HSA_AMD_AGENT_INFO_HDP_FLUSH, false},
		{HSA_AMD_AGENT_INFO_BDFID, true},
		{HSA_AMD_AGENT_INFO_DOMAIN, false},
		{HSA_AMD_AGENT_INFO_PRODUCT_NAME, true},
		{HSA_AMD_AGENT_INFO_UUID, true},
		{HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, true},
		{HSA_AMD_AGENT_INFO_CACHELINE_SIZE, true},
		{HSA_AGENT_INFO_CACHE_SIZE, true},
		{HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, true},
		{HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, true},
		{HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, true},
		{HSA_AMD_AGENT_INFO_MEMORY_WIDTH, true},
		{HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, true},
		{HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, true},
		{HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES, false},
		{HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, true},
		{HSA_AGENT_INFO_WORKGROUP_MAX_DIM, true},
		{HSA_AGENT_INFO_VERSION_MAJOR, true},
		{HSA_AGENT_INFO_VERSION_MINOR, false},
		{HSA_AGENT_INFO_EXTENSIONS, false},
		{HSA_AGENT_INFO_WAVEFRONT_SIZE, true},
		{HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, true},
		{HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, true},
		{HSA_AMD_AGENT_INFO_ASIC_REVISION, false},
		{HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, false},
		{HSA_AGENT_INFO_QUEUE_MAX_SIZE, true},
	};

	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		uint32_t value[64] = {0};
		bool ok = CHECK_EQ(hsa_agent_get_info(rig.gpu, (hsa_agent_info_t)asked[i].attribute, value),
				   HSA_STATUS_SUCCESS);

		if (!ok || (asked[i].nonzero && !CHECK(value[0])))
			printf("  attribute 0x%x\n", asked[i].attribute);
	}
}

/* CLR divides by the group pool's size and allocates in the coarse one. */
static void a_gpu_has_coarse_and_group_memory(void)
{
	size_t size_B = 0;

	CHECK(rig.found.gpu[0].coarse.handle && rig.found.gpu[0].group.handle);
	CHECK_EQ(hsa_amd_memory_pool_get_info(rig.found.gpu[0].group, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size_B),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(size_B, 65536);
	CHECK_EQ(hsa_amd_memory_pool_get_info(rig.found.gpu[0].coarse, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size_B),
		 HSA_STATUS_SUCCESS);
	CHECK(size_B >= 1u << 30);
}

/* Kernels with hostcall are refused when the way to the CPU says that it has no atomics. */
static void the_way_to_the_cpu_has_atomics(void)
{
	hsa_amd_memory_pool_link_info_t link[4] = {0};
	uint32_t hops = 0;

	CHECK_EQ(hsa_amd_agent_memory_pool_get_info(rig.gpu, rig.found.cpu[0].fine,
						    HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops),
		 HSA_STATUS_SUCCESS);
	if (!CHECK(hops >= 1 && hops <= 4))
		return;
	CHECK_EQ(hsa_amd_agent_memory_pool_get_info(rig.gpu, rig.found.cpu[0].fine,
						    HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, link),
		 HSA_STATUS_SUCCESS);
	CHECK(link[0].atomic_support_32bit && link[0].atomic_support_64bit);
}

/* CLR's variables are one byte long; what is behind them is its stack. */
static void booleans_are_one_byte(void)
{
	static const uint32_t of_system[] = {HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED,
					     HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT,
					     HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED,
					     HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED,
					     HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED,
					     HSA_AMD_SYSTEM_INFO_XNACK_ENABLED};
	static const uint32_t of_agent[] = {HSA_AGENT_INFO_FAST_F16_OPERATION,
					    HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES,
					    HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS};
	static const uint32_t of_pool[] = {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
					   HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL};
	uint8_t bytes[16];

#define ONE_BYTE(list, call)                                                                                       \
	for (unsigned i = 0; i < sizeof(list) / sizeof((list)[0]); i++) {                                          \
		memset(bytes, GUARD, sizeof(bytes));                                                               \
		CHECK_EQ(call, HSA_STATUS_SUCCESS);                                                                \
		if (!CHECK(bytes[0] <= 1 && bytes[1] == GUARD && bytes[4] == GUARD && bytes[8] == GUARD))          \
			printf("  attribute 0x%x\n", (list)[i]);                                                   \
	}
	ONE_BYTE(of_system, hsa_system_get_info((hsa_system_info_t)of_system[i], bytes))
	ONE_BYTE(of_agent, hsa_agent_get_info(rig.gpu, (hsa_agent_info_t)of_agent[i], bytes))
	ONE_BYTE(of_pool,
		 hsa_amd_memory_pool_get_info(rig.found.cpu[0].fine, (hsa_amd_memory_pool_info_t)of_pool[i], bytes))
#undef ONE_BYTE
}

/* CLR asks for the first three functions of the loader's table, whatever the minor version. */
static void a_short_loader_table_is_short(void)
{
	struct {
		hsa_ven_amd_loader_1_00_pfn_t table;
		uintptr_t guard;
	} t;

	_Static_assert(sizeof(t.table) == 24, "three functions");
	memset(&t, GUARD, sizeof(t));
	CHECK_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(t.table), &t.table),
		 HSA_STATUS_SUCCESS);
	CHECK(t.table.hsa_ven_amd_loader_query_host_address && t.table.hsa_ven_amd_loader_query_executable);
	CHECK_EQ(t.guard, (uintptr_t)0xa5a5a5a5a5a5a5a5);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* 5.2 enters a locked range under both addresses, and aborts in hipHostUnregister when they are one. Pointers into
 * the middle of a page are what it locks for pageable copies. */
static void locked_memory_has_another_address(void)
{
	char *block = malloc(20000), *host = block + 16;
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	hsa_agent_t gpu = rig.gpu;
	void *agent = NULL;

	for (unsigned all = 0; all < 2; all++) {
		CHECK_EQ(hsa_amd_memory_lock_to_pool(host, 10000, all ? NULL : &gpu, all ? 0 : 1,
						     rig.found.cpu[0].fine, 0, &agent),
			 HSA_STATUS_SUCCESS);
		CHECK(agent && agent != host);
		CHECK_EQ((uintptr_t)agent % 4096, (uintptr_t)host % 4096);
		CHECK_EQ(hsa_amd_pointer_info(host + 5, &info, NULL, NULL, NULL), HSA_STATUS_SUCCESS);
		CHECK_EQ(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
		CHECK_EQ((uintptr_t)info.hostBaseAddress, (uintptr_t)host);
		CHECK_EQ((uintptr_t)info.agentBaseAddress, (uintptr_t)agent);
		CHECK_EQ(hsa_amd_memory_unlock(host), HSA_STATUS_SUCCESS);
	}
	/* 5.7 and newer ask after every pointer before they copy. */
	CHECK_EQ(hsa_amd_pointer_info(host, &info, NULL, NULL, NULL), HSA_STATUS_SUCCESS);
	CHECK_EQ(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
	free(block);
}

static uint64_t available_B(void)
{
	uint64_t bytes = 0;

	CHECK_EQ(hsa_agent_get_info(rig.gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &bytes),
		 HSA_STATUS_SUCCESS);
	return bytes;
}

/* hipMemGetInfo of 5.7 and newer; also behind an allocation that failed. */
static void what_is_freed_is_available(void)
{
	const uint64_t before_B = available_B(), size_B = 4ull << 30;
	void *piece[9];
	unsigned count = 0;

	while (count < 9 && !hsa_amd_memory_pool_allocate(rig.found.gpu[0].coarse, size_B, 0, &piece[count]))
		count++;
	CHECK_EQ(count, before_B / size_B);
	CHECK(available_B() < size_B);
	while (count)
		CHECK_EQ(hsa_amd_memory_pool_free(piece[--count]), HSA_STATUS_SUCCESS);
	CHECK_EQ(available_B(), before_B);
}

static void freeing_nothing_succeeds(void)
{
	CHECK_EQ(hsa_amd_memory_pool_free(NULL), HSA_STATUS_SUCCESS);
}

/* Where the CPU is said to reach coarse GPU memory, 5.2 copies small blocks with memcpy() to the GPU's address. */
static void a_large_bar_is_one(bool large)
{
	hsa_amd_memory_pool_access_t access;
	uint32_t back = 0, *vram = NULL;

	CHECK_EQ(hsa_amd_agent_memory_pool_get_info(rig.cpu, rig.found.gpu[0].coarse,
						    HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED, large);
	CHECK_EQ(hsa_amd_memory_pool_allocate(rig.found.gpu[0].coarse, 8 << 20, 0, (void **)&vram),
		 HSA_STATUS_SUCCESS);
	if (large)
		__atomic_store_n(&vram[1 << 20], 0x13579bdf, __ATOMIC_RELEASE);
	else
		CHECK_EQ(hsa_amd_memory_fill(vram + (1 << 20), 0x13579bdf, 1), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_memory_copy(&back, vram + (1 << 20), 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(back, 0x13579bdf);
	CHECK_EQ(hsa_amd_memory_pool_free(vram), HSA_STATUS_SUCCESS);
}

/* --- dispatches ------------------------------------------------------------------------------- */

#define BARRIER_EMPTY (HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER)

/* Arguments lie in the CPU's coarse memory. All that protects them from being written too soon, and the GPU from
 * reading what it cached, is a barrier packet with fences of system scope. */
static void arguments_in_coarse_memory_may_be_rewritten(hsa_queue_t *queue, const struct hsa_rig_kernel *add)
{
	char *own = rig.args;
	uint32_t *data = rig_host(4096), want = 0;

	rig.args = rig_memory(rig.found.cpu[0].coarse, RIG_SLOTS * RIG_SLOT_B);
	for (unsigned round = 0; round < 20; round++) {
		hsa_signal_t done = rig_signal(1);
		const hsa_barrier_and_packet_t barrier = {.completion_signal = done};

		rig_launch_add(queue, add, data, 64, round, 0, (hsa_signal_t){0});
		rig_publish(queue, &barrier, BARRIER_EMPTY, 0);
		want = want * 3 + round;
		CHECK_EQ(rig_wait(done), 0);
		hsa_signal_destroy(done);
	}
	CHECK_EQ(data[0], want);
	CHECK_EQ(data[63], want);
	CHECK_EQ(hsa_amd_memory_pool_free(rig.args), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	rig.args = own;
}

/* A value below 0 is an error for CLR: each packet and copy takes exactly 1 away, also from a signal that was used
 * and stored anew. */
static void completion_takes_exactly_one_away(hsa_queue_t *queue, const struct hsa_rig_kernel *add)
{
	hsa_signal_t done = rig_signal(1);
	uint32_t *data = rig_host(4096);
	const hsa_barrier_and_packet_t barrier = {.completion_signal = done};

	for (unsigned round = 0; round < 50; round++) {
		switch (round % 3) {
		case 0:
			rig_launch_add(queue, add, data, 64, 1, round, done);
			break;
		case 1:
			rig_publish(queue, &barrier, BARRIER_EMPTY, 0);
			break;
		default:
			CHECK_EQ(hsa_amd_memory_async_copy(data + 512, rig.cpu, data, rig.gpu, 256, 0, NULL, done),
				 HSA_STATUS_SUCCESS);
		}
		CHECK_EQ(rig_wait(done), 0);
		CHECK_EQ(hsa_signal_load_scacquire(done), 0);
		hsa_signal_silent_store_relaxed(done, 1);
	}
	CHECK_EQ(hsa_signal_load_scacquire(done), 1);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
}

static hsa_signal_t blocking;
static _Atomic int64_t called_with;

static bool on_blocked(hsa_signal_value_t value, void *user)
{
	called_with = value;
	__atomic_store_n((uint32_t *)user, 77, __ATOMIC_RELEASE);
	hsa_signal_subtract_screlease(blocking, 1);
	return false;
}

/* CLR's blocking callbacks: a barrier takes a signal from 2 to 1, the handler for "less than 2" runs and takes the
 * last 1 away, and only then a second barrier lets the stream go on. */
static void a_barrier_waits_for_0_not_for_a_change(hsa_queue_t *queue, const struct hsa_rig_kernel *add)
{
	uint32_t *data = rig_host(4096);
	hsa_signal_t done = rig_signal(1);
	hsa_barrier_and_packet_t before = {0}, behind = {0};

	blocking = rig_signal(2);
	before.completion_signal = blocking;
	behind.dep_signal[0] = blocking;
	CHECK_EQ(hsa_amd_signal_async_handler(blocking, HSA_SIGNAL_CONDITION_LT, 2, on_blocked, data),
		 HSA_STATUS_SUCCESS);
	rig_launch_add(queue, add, data, 64, 5, 0, (hsa_signal_t){0});
	rig_publish(queue, &before, BARRIER_EMPTY, 0);
	rig_publish(queue, &behind, BARRIER_EMPTY, 0);
	rig_launch_add(queue, add, data, 64, 1, 1, done);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(called_with, 1);
	/* The order came by way of the GPU, which thread sanitizers do not see. */
	CHECK_EQ(__atomic_load_n(&data[0], __ATOMIC_ACQUIRE), 77 * 3 + 1);
	hsa_signal_destroy(blocking);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
}

/* Who finds the queue full spins on the read index and rings no more. */
static void the_read_index_moves_by_itself(const struct hsa_rig_kernel *add)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	uint32_t *data = rig_host(4096), want = 0;
	hsa_signal_t done = rig_signal(1);

	for (unsigned i = 0; i < 500; i++) {
		rig_launch_add(queue, add, data, 64, i, i % 200, i == 499 ? done : (hsa_signal_t){0});
		want = want * 3 + i;
		/* Arguments are written again after 200 launches: 64 and what is in flight fit in between. */
		if (i % 100 == 99)
			while (hsa_queue_load_read_index_scacquire(queue) <= i)
				continue;
		if (i % 100 == 99 && i != 499) {
			hsa_signal_t ended = rig_signal(1);
			const hsa_barrier_and_packet_t barrier = {.completion_signal = ended};

			rig_publish(queue, &barrier, BARRIER_EMPTY, 0);
			CHECK_EQ(rig_wait(ended), 0);
			hsa_signal_destroy(ended);
		}
	}
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(data[0], want);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
}

/* Hidden arguments of kernels are read from the queue's block, by CLR and by kernels: the upper halves of the
 * apertures of LDS and scratch, as DRM's queues have them. */
static void a_queue_tells_its_apertures(const hsa_queue_t *queue)
{
	const amd_queue_t *block = (const amd_queue_t *)queue;

	CHECK_EQ(block->group_segment_aperture_base_hi, 0x20000000);
	CHECK_EQ(block->private_segment_aperture_base_hi, 0x10000000);
}

/* hipStreamWaitValue polls it from a kernel; others have no such pointer. */
static void gpu_only_signals_are_memory(void)
{
	hsa_signal_t gpu_only, common = rig_signal(3);
	volatile hsa_signal_value_t *value = NULL;

	CHECK_EQ(hsa_amd_signal_create(5, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &gpu_only), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_signal_value_pointer(gpu_only, &value), HSA_STATUS_SUCCESS);
	if (CHECK(value))
		CHECK_EQ(*value, 5);
	CHECK_EQ(hsa_amd_signal_value_pointer(common, &value), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_signal_destroy(gpu_only);
	hsa_signal_destroy(common);
}

/* A wait that runs out of time is no error: it gives what it saw. 5.7 waits 10 us before each copy. */
static void a_wait_that_ends_early_gives_the_value(void)
{
	hsa_signal_t signal = rig_signal(42);

	for (unsigned i = 0; i < 20; i++)
		CHECK_EQ(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 10000,
						   i % 2 ? HSA_WAIT_STATE_BLOCKED : HSA_WAIT_STATE_ACTIVE),
			 42);
	hsa_signal_destroy(signal);
}

/* 5.2 halves the size until a queue can be made; all of them must be possible. */
static void queues_of_clrs_sizes_can_be_made(void)
{
	static const uint32_t sizes[] = {64, 4096, 16384};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		hsa_queue_t *queue = rig_queue(sizes[i], HSA_QUEUE_TYPE_MULTI);

		CHECK_EQ(hsa_amd_profiling_set_profiler_enabled(queue, 1), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	}
}

int main(void)
{
	struct hsa_rig_kernel add;
	hsa_queue_t *queue;

	/* 5.2 and 5.7 call any other status an error of the runtime; 6.4 takes this one for "no GPU". */
	if (hsa_init() != HSA_STATUS_SUCCESS)
		CHECK_EQ(hsa_init(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	else
		hsa_shut_down(); /* this machine has one */
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("what HIP relies on");
	an_agent_has_one_isa("amdgcn-amd-amdhsa--gfx908:sramecc+:xnack-");
	cpu_pools_are_fine_or_coarse();
	copy_engines_are_there_both_ways();
	every_attribute_is_answered();
	a_gpu_has_coarse_and_group_memory();
	the_way_to_the_cpu_has_atomics();
	booleans_are_one_byte();
	a_short_loader_table_is_short();
	locked_memory_has_another_address();
	freeing_nothing_succeeds();
	a_large_bar_is_one(true);
	add = rig_kernel("k_add.kd");
	queue = rig_queue(4096, HSA_QUEUE_TYPE_MULTI);
	arguments_in_coarse_memory_may_be_rewritten(queue, &add);
	completion_takes_exactly_one_away(queue, &add);
	what_is_freed_is_available();
	a_barrier_waits_for_0_not_for_a_change(queue, &add);
	the_read_index_moves_by_itself(&add);
	a_queue_tells_its_apertures(queue);
	gpu_only_signals_are_memory();
	a_wait_that_ends_early_gives_the_value();
	queues_of_clrs_sizes_can_be_made();
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	rig_stop();
	if (rig_start("gfx906:bar=256M", "gfx906", "group.O1")) {
		an_agent_has_one_isa("amdgcn-amd-amdhsa--gfx906:sramecc-:xnack-");
		a_large_bar_is_one(false);
		rig_stop();
	}
	return check_done("what HIP relies on");
}

/* Cooperative queues: all workgroups of a grid run at the same time and synchronize by global wave sync. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/hsa_rig.h"
#include "vgpu/report.h"

#define ROUNDS 4u

static struct hsa_rig_kernel init, around;

static hsa_queue_t *cooperative(void)
{
	return rig_queue(64, HSA_QUEUE_TYPE_COOPERATIVE);
}

/* Sets up the meeting of so many groups, then lets them meet. */
static void launch(hsa_queue_t *queue, uint32_t *from, uint32_t *to, uint32_t groups, hsa_signal_t done)
{
	const uint32_t others[2] = {groups - 1, 0};
	const struct {
		uint32_t *from, *to;
		uint32_t groups, rounds;
	} args = {from, to, groups, ROUNDS};
	hsa_kernel_dispatch_packet_t packet =
		rig_packet(&init, 1, rig_args(0, 64, others, sizeof(others)), (hsa_signal_t){0});

	packet.workgroup_size_x = 1;
	rig_publish(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH | RIG_BARRIER, 1);
	rig_launch(queue, &around, 64 * groups, 1, &args, sizeof(args), done);
}

static void whole_grids_meet(hsa_queue_t *queue, uint32_t groups)
{
	uint32_t items = 64 * groups, wrong = 0, *from, *to;
	hsa_signal_t done = rig_signal(1);

	from = rig_memory(rig.found.cpu[0].coarse, items * 4ull);
	to = rig_memory(rig.found.cpu[0].coarse, items * 4ull);
	for (uint32_t i = 0; i < items; i++)
		from[i] = i;
	launch(queue, from, to, groups, done);
	CHECK_EQ(rig_wait(done), 0);
	for (uint32_t i = 0; i < items; i++)
		wrong += from[i] != (i / 64 + ROUNDS) % groups * 64 + i % 64 + ROUNDS;
	CHECK_EQ(wrong, 0);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(from), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(to), HSA_STATUS_SUCCESS);
}

/* A GPU has one, for all who want it. */
static void it_is_shared(void)
{
	hsa_queue_t *first = cooperative(), *second = cooperative(), *other = rig_queue(64, HSA_QUEUE_TYPE_MULTI);

	CHECK(first == second && first != other);
	CHECK_EQ(first->type, HSA_QUEUE_TYPE_COOPERATIVE);
	CHECK_EQ(hsa_queue_destroy(other), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_destroy(first), HSA_STATUS_SUCCESS);
	whole_grids_meet(second, 7);
	CHECK_EQ(hsa_queue_destroy(second), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_destroy(second), HSA_STATUS_ERROR_INVALID_QUEUE);
}

static void *come_and_go(void *arg)
{
	for (unsigned i = 0; i < 50; i++) {
		hsa_queue_t *queue;
		hsa_status_t status = hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL,
						       UINT32_MAX, UINT32_MAX, &queue);

		*(unsigned *)arg += !status && !hsa_queue_destroy(queue);
	}
	return NULL;
}

static void by_threads(void)
{
	unsigned got[4] = {0};
	pthread_t thread[4];

	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, come_and_go, &got[i]), 0);
	for (unsigned i = 0; i < 4; i++) {
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
		CHECK_EQ(got[i], 50);
	}
}

/* Launches more workgroups than the chip holds, which never meet: the watchdog ends them, and that queue. Gives their memory. */
static uint32_t *launch_too_many(hsa_queue_t *queue, hsa_signal_t done)
{
	uint32_t cus = 0, waves = 0, groups, *memory;

	hsa_agent_get_info(rig.gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, &cus);
	hsa_agent_get_info(rig.gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, &waves);
	groups = cus * waves + 1;
	memory = rig_memory(rig.found.cpu[0].coarse, groups * 512ull);
	vgpu_strict_set(VGPU_STRICT_OFF);
	launch(queue, memory, memory + groups * 64, groups, done);
	return memory;
}

static void too_many_hang(void)
{
	hsa_queue_t *queue = cooperative(), *next;
	hsa_signal_t done = rig_signal(1);
	uint32_t *memory = launch_too_many(queue, done);

	CHECK(rig_wait(done) != 0);
	vgpu_strict_set(VGPU_STRICT_FATAL);
	next = cooperative();
	CHECK(next != queue);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	whole_grids_meet(next, 3);
	CHECK_EQ(hsa_queue_destroy(next), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

/* A program that looks at the signal again and again learns of the end, too. */
static void too_many_are_polled(void)
{
	hsa_queue_t *queue = cooperative();
	hsa_signal_t done = rig_signal(1);
	uint32_t *memory = launch_too_many(queue, done);

	while (hsa_signal_load_scacquire(done) == 1)
		continue;
	vgpu_strict_set(VGPU_STRICT_FATAL);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

static void on(const char *spec, const char *chip)
{
	bool has = false;
	hsa_queue_t *queue;

	printf(" %s\n", spec);
	if (!rig_start(spec, chip, "group.O1"))
		exit(1);
	init = rig_kernel("k_gws_init.kd");
	around = rig_kernel("k_around.kd");
	CHECK_EQ(hsa_agent_get_info(rig.gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, &has),
		 HSA_STATUS_SUCCESS);
	CHECK(has);
	queue = cooperative();
	whole_grids_meet(queue, 1);
	whole_grids_meet(queue, 300);
	whole_grids_meet(queue, 40);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	it_is_shared();
	by_threads();
	if (strstr(spec, "watchdog")) {
		too_many_hang();
		too_many_are_polled();
	}
	rig_stop();
}

/* There is no such resource on GFX12, and the queue needs none: grids meet in memory (tests/hip/grid_memory.hip). */
static void without_global_wave_sync(void)
{
	hsa_queue_t *queue = NULL;
	bool has = false;

	CHECK_EQ(vgpu_start("gfx1201"), 0);
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	CHECK(hsa_find_all(&rig.found));
	hsa_agent_get_info(rig.found.gpu[0].agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, &has);
	CHECK(has);
	CHECK_EQ(hsa_queue_create(rig.found.gpu[0].agent, 64, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL, 0, 0, &queue),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(queue->type, HSA_QUEUE_TYPE_COOPERATIVE);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	vgpu_stop();
}

int main(void)
{
	on("gfx906", "gfx906");
	on("gfx908:watchdog_ms=300", "gfx908");
	on("gfx90a:kernel=6.18", "gfx90a");
	on("gfx942", "gfx942");
	without_global_wave_sync();
	return check_done("cooperative queues of HSA");
}

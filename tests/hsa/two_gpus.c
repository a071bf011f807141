/* Two GPUs of one process whose kernels wait for each other through host memory, as communication libraries' do.
 * Linux orders jobs of two devices that list one buffer: so no pool, signal, queue or argument may be such a
 * buffer. */
#include "tests/hsa_rig.h"

struct side {
	hsa_agent_t agent;
	hsa_queue_t *queue;
	hsa_executable_t executable;
	struct hsa_rig_kernel endless, store;
};

static bool open_side(struct side *side, unsigned gpu)
{
	rig.gpu = rig.found.gpu[gpu].agent;
	rig.executable = side->executable = rig_load("group.O1", "gfx908");
	side->agent = rig.gpu;
	side->queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	side->endless = rig_kernel("k_endless.kd");
	side->store = rig_kernel("k_store.kd");
	return side->queue;
}

static void close_side(struct side *side)
{
	CHECK_EQ(hsa_queue_destroy(side->queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_destroy(side->executable), HSA_STATUS_SUCCESS);
}

/* `waits` runs until the kernel of `comes`, which is launched later, has written the word. */
static void meet(struct side *waits, struct side *comes, uint32_t *word)
{
	const struct {
		uint32_t *at;
		uint32_t value, pad;
	} args = {word, 1, 0};
	hsa_signal_t waited = rig_signal(1), came = rig_signal(1);

	*word = 0;
	rig_launch(waits->queue, &waits->endless, 64, 0, &word, sizeof(word), waited);
	rig_launch(comes->queue, &comes->store, 64, 1, &args, sizeof(args), came);
	CHECK_EQ(rig_wait(came), 0);
	CHECK_EQ(rig_wait(waited), 0);
	hsa_signal_destroy(waited);
	hsa_signal_destroy(came);
}

static void on(const char *spec)
{
	struct side side[2] = {0};
	uint32_t *word;

	if (!CHECK_EQ(vgpu_start(spec), 0) || !CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS) ||
	    !hsa_find_all(&rig.found) || !CHECK_EQ(rig.found.gpus, 2))
		return;
	rig.args = rig_memory(rig.found.cpu[0].kernarg, RIG_SLOTS * RIG_SLOT_B);
	word = rig_host(4096);
	if (open_side(&side[0], 0) && open_side(&side[1], 1)) {
		meet(&side[0], &side[1], word);
		meet(&side[1], &side[0], word);
	}
	close_side(&side[0]);
	close_side(&side[1]);
	CHECK_EQ(hsa_amd_memory_pool_free(word), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(rig.args), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	vgpu_stop();
}

/* A GPU that is alone has no memory of which the kernel looks the pages up at each submission. */
static void one_gpu_costs_no_look_ups(void)
{
	unsigned long before;
	struct side side = {0};
	uint32_t *word;

	CHECK(rig_start("gfx908", "gfx908", "group.O1"));
	word = rig_host(1 << 20);
	side.queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	side.store = rig_kernel("k_store.kd");
	before = vgpu_userptr_pages();
	for (uint32_t i = 0; i < 8; i++) {
		const struct {
			uint32_t *at;
			uint32_t value, pad;
		} args = {word, i, 0};
		hsa_signal_t done = rig_signal(1);

		rig_launch(side.queue, &side.store, 64, i, &args, sizeof(args), done);
		CHECK_EQ(rig_wait(done), 0);
		CHECK_EQ(*word, i);
		hsa_signal_destroy(done);
	}
	CHECK_EQ(vgpu_userptr_pages(), before);
	CHECK_EQ(hsa_queue_destroy(side.queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(word), HSA_STATUS_SUCCESS);
	rig_stop();
}

int main(void)
{
	one_gpu_costs_no_look_ups();
	on("gfx908:watchdog_ms=2000,gfx908:watchdog_ms=2000");
	on("gfx908:kernel=6.1:watchdog_ms=2000,gfx908:kernel=6.1:watchdog_ms=2000");
	on("gfx908:hive=1:watchdog_ms=2000,gfx908:hive=1:watchdog_ms=2000");
	return check_done("kernels of two GPUs that wait for each other");
}

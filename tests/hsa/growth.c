/* Memory that is allocated while a kernel runs, whose address the kernel then receives: malloc in HIP's kernels
 * works this way. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/hsa_rig.h"
#include "vgpu/report.h"

#define MIB   (1ull << 20)
#define TURNS 12u

struct box {
	uint64_t asked, answer; /* the kernel's; the host's, until the kernel takes it */
};

static struct hsa_rig_kernel ask;
static hsa_queue_t *queue;
static struct box *box;
static uint32_t *sums;

static void start(hsa_queue_t *on, struct box *to, uint32_t turns, hsa_signal_t done)
{
	const struct {
		struct box *box;
		uint32_t *out;
		uint32_t turns, pad;
	} args = {to, sums, turns, 0};

	rig_launch(on, &ask, 64, on == queue, &args, sizeof(args), done);
}

static void launch_on(hsa_queue_t *on, struct box *to, uint32_t turns, hsa_signal_t done)
{
	*to = (struct box){0};
	start(on, to, turns, done);
}

static void launch(hsa_signal_t done)
{
	launch_on(queue, box, TURNS, done);
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* A job that ends without asking has failed. */
static bool is_asked(uint64_t turn, hsa_signal_t done)
{
	while (load(&box->asked) < turn || load(&box->answer))
		if (hsa_signal_load_scacquire(done) < 1)
			return false;
	return true;
}

static void *start_in_thread(void *done)
{
	start(queue, box, TURNS, *(hsa_signal_t *)done);
	return NULL;
}

static void check_block(const uint32_t *block, uint32_t turn)
{
	uint32_t copy[64];

	CHECK_EQ(hsa_memory_copy(copy, block, sizeof(copy)), HSA_STATUS_SUCCESS);
	for (uint32_t i = 0; i < 64; i++)
		if (!CHECK_EQ(copy[i], turn * 1000 + i))
			return;
}

/* Each turn the kernel gets a block of that pool, of a size that grows from the first; those of odd turns are freed
 * under it. */
static void serve(hsa_amd_memory_pool_t pool, uint64_t first_B)
{
	hsa_signal_t done = rig_signal(1);
	void *block[TURNS] = {0};
	pthread_t thread;

	*box = (struct box){0};
	/* The kernel may ask while the thread that submits it is still in the kernel driver. */
	CHECK_EQ(pthread_create(&thread, NULL, start_in_thread, &done), 0);
	for (uint32_t i = 0; i < TURNS && CHECK(is_asked(i + 1, done)); i++) {
		CHECK_EQ(hsa_amd_memory_pool_allocate(pool, first_B * (1 + i / 4), 0, &block[i]),
			 HSA_STATUS_SUCCESS);
		__atomic_store_n(&box->answer, (uint64_t)(uintptr_t)block[i], __ATOMIC_RELEASE);
		if (i >= 2 && i % 2)
			CHECK_EQ(hsa_amd_memory_pool_free(block[i - 2]), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(rig_wait(done), 0);
	for (uint32_t i = 0; i < 64; i++)
		CHECK_EQ(sums[i], 1000 * TURNS * (TURNS - 1) / 2 + TURNS * i);
	for (uint32_t i = 0; i < TURNS; i++)
		if (i % 2 == 0 || i == TURNS - 1) {
			check_block(block[i], i);
			CHECK_EQ(hsa_amd_memory_pool_free(block[i]), HSA_STATUS_SUCCESS);
		}
	hsa_signal_destroy(done);
}

/* What was freed before the kernel began, and is not in use any more while it runs, does not bar what comes. */
static void freed_before(void)
{
	hsa_queue_t *other = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t done = rig_signal(1), ended = rig_signal(1);
	struct box *first = rig_host(4096);
	void *old[4], *block[TURNS];

	launch_on(other, first, 1, ended);
	for (unsigned i = 0; i < 4; i++) {
		CHECK_EQ(hsa_amd_memory_pool_allocate(rig.found.gpu[0].coarse, 2 * MIB, 0, &old[i]),
			 HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_pool_free(old[i]), HSA_STATUS_SUCCESS); /* when that kernel has ended */
	}
	launch(done);
	CHECK(is_asked(1, done));
	__atomic_store_n(&first->answer, (uint64_t)(uintptr_t)(first + 1), __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(ended), 0);
	for (uint32_t i = 0; i < TURNS && CHECK(is_asked(i + 1, done)); i++) {
		CHECK_EQ(hsa_amd_memory_pool_allocate(rig.found.gpu[0].coarse, (1 + i % 3) * MIB, 0, &block[i]),
			 HSA_STATUS_SUCCESS);
		__atomic_store_n(&box->answer, (uint64_t)(uintptr_t)block[i], __ATOMIC_RELEASE);
	}
	CHECK_EQ(rig_wait(done), 0);
	for (uint32_t i = 0; i < TURNS; i++) {
		check_block(block[i], i);
		CHECK_EQ(hsa_amd_memory_pool_free(block[i]), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(hsa_queue_destroy(other), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(first), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	hsa_signal_destroy(ended);
}

/* What was allocated under a kernel can be exported when that has ended. */
static void exported(void)
{
	hsa_signal_t done = rig_signal(1);
	uint64_t offset;
	void *block, *all[TURNS];
	int fd;

	launch(done);
	for (uint32_t i = 0; i < TURNS && CHECK(is_asked(i + 1, done)); i++) {
		CHECK_EQ(hsa_amd_memory_pool_allocate(rig.found.gpu[0].coarse, 2 * MIB, 0, &all[i]),
			 HSA_STATUS_SUCCESS);
		__atomic_store_n(&box->answer, (uint64_t)(uintptr_t)all[i], __ATOMIC_RELEASE);
	}
	block = all[0];
	CHECK_EQ(hsa_amd_portable_export_dmabuf(block, 2 * MIB, &fd, &offset), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_portable_close_dmabuf(fd), HSA_STATUS_SUCCESS);
	CHECK_EQ(rig_wait(done), 0);
	for (uint32_t i = 0; i < TURNS; i++) {
		check_block(all[i], i);
		CHECK_EQ(hsa_amd_memory_pool_free(all[i]), HSA_STATUS_SUCCESS);
	}
	hsa_signal_destroy(done);
}

/* Who asks, as HIP does when it begins, makes known that no other GPU will ever be given this one's memory. Trying
 * it moves a buffer, which is a finding elsewhere. */
static void ask_for_peers(void)
{
	enum vgpu_strict level = vgpu_strict();
	uint32_t access;

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned i = 1; i < rig.found.gpus; i++) {
		CHECK_EQ(hsa_amd_agent_memory_pool_get_info(rig.found.gpu[i].agent, rig.found.gpu[0].coarse,
							    HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
			 HSA_STATUS_SUCCESS);
		CHECK_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
	}
	vgpu_strict_set(level);
}

static void on(const char *spec)
{
	rig.found = (struct hsa_find){0};
	if (!rig_start(spec, "gfx908", "ask.O1"))
		return;
	ask = rig_kernel("k_ask.kd");
	ask_for_peers();
	queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	box = rig_host(4096);
	sums = rig_host(4096);
	for (unsigned round = 0; round < 3; round++) { /* what one leaves the next one's kernel runs over */
		serve(rig.found.gpu[0].coarse, 4096);
		serve(rig.found.gpu[0].coarse, 2 * MIB);
		if (rig.found.gpus == 1)
			serve(rig.found.cpu[0].fine, 2 * MIB);
	}
	freed_before();
	exported();
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(box), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(sums), HSA_STATUS_SUCCESS);
	rig_stop();
}

int main(void)
{
	on("gfx908");
	on("gfx908:p2p=0,gfx906:p2p=0");
	setenv("TUFF_VGPU_INJECT", "late", 1);
	on("gfx908");
	return check_done("memory under a kernel");
}

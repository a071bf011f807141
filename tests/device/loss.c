/* Failures on the GPU: an endless kernel, an illegal instruction, an unmapped address. Each gives a clear error,
 * every wait ends, and a new queue works. */
#include <errno.h>
#include <unistd.h>

#include "tests/device/device.h"

/* A reset may have taken VRAM along, and with it loaded code and what the device object itself keeps there. Then
 * only a device that is opened anew is good; a kernel that is still resetting refuses for a moment. */
static struct tuff_device *open_after_reset(void)
{
	struct tuff_device *device;
	int r = 0;

	for (unsigned i = 0; i < 30; i++) {
		r = tuff_device_open(test_path(), &device);
		if (!r)
			return device;
		sleep(1);
	}
	test_fail("the device does not come back (%d)", r);
}

/* A queue on that device runs a kernel. */
static void runs_on(struct tuff_device *device)
{
	struct tuff_mem_create_info info = {.size_B = 4096, .place = TUFF_GTT, .flags = TUFF_MEM_CPU};
	struct test_gpu gpu = test_gpu_open(device);
	struct tuff_mem_info facts;
	struct tuff_mem *mem;

	if (CHECK_OK(tuff_mem_create(device, &info, &mem)) && CHECK_OK(tuff_mem_query(mem, &facts))) {
		*(volatile uint32_t *)facts.map = 2;
		CHECK_OK(test_gpu_add(&gpu, facts.va, 4));
		CHECK_EQ(*(volatile uint32_t *)facts.map, 10);
		CHECK_OK(tuff_mem_destroy(mem));
	}
	test_gpu_close(&gpu);
}

static void everything_works_again(void)
{
	struct tuff_device *anew = open_after_reset();

	runs_on(anew);
	CHECK_OK(tuff_device_close(anew));
	runs_on(test_device());
}

/* The queue that was lost refuses everything, and says what it was; a wait that came when the kernel had marked the
 * job as ended says nothing before the status was asked. The kernel keeps the error of the last job that came to
 * the hardware: it may not tell who was guilty when that was not the last. */
static void is_lost(struct tuff_queue *queue, struct tuff_point point, bool last)
{
	struct tuff_queue_status status = {0};
	struct tuff_cmd *cmd;
	unsigned index = 9;

	if (tuff_wait(point, TUFF_FOREVER))
		CHECK(strlen(tuff_error()) > 0);
	else
		CHECK_OK(tuff_queue_query(queue, &status));
	CHECK_EQ(tuff_wait(point, TUFF_FOREVER), -ECANCELED);
	CHECK_EQ(tuff_poll(point), -ECANCELED);
	CHECK_EQ(tuff_wait_all(&point, 1, 0), -ECANCELED);
	CHECK_EQ(tuff_wait_any(&point, 1, 0, &index), -ECANCELED);
	CHECK_EQ(index, 0);
	CHECK_EQ(tuff_begin(queue, 0, &cmd), -ECANCELED);
	CHECK_OK(tuff_queue_query(queue, &status));
	CHECK(status.lost && (status.guilty || !last));
	test_note("VRAM lost %d: %s", status.vram_lost, tuff_error());
}

/* What waits for a lost job is told so, whichever queue it is on. */
static void waiting_is_canceled(struct tuff_queue *other, struct tuff_point lost)
{
	struct tuff_order order = {.after = &lost, .after_count = 1};
	struct tuff_queue_status status = {0};
	struct tuff_cmd *cmd;
	int r;

	/* It may have been reset with the first. */
	r = tuff_begin(other, 0, &cmd);
	CHECK(!r || r == -ECANCELED);
	if (!r)
		CHECK_EQ(tuff_submit(cmd, &order, NULL), -ECANCELED);
	CHECK_OK(tuff_queue_query(other, &status));
	CHECK(status.lost || !r); /* a queue may hear of a reset only when it asks */
	CHECK(!status.guilty);
	if (status.lost)
		test_note("the reset took another queue along");
	else
		CHECK_OK(tuff_submit(test_begin(other, 0), NULL, NULL));
}

/* Copies have queues of their own, which come back by themselves if the reset took them along. */
static void copies_go_on(const struct test_memory *m, struct tuff_point lost)
{
	char *to = (char *)m->map + 64;
	int r;

	((uint32_t *)m->map)[0] = 0x1234;
	r = tuff_copy(test_device(), to, m->map, 64, NULL, 0, NULL);
	if (r == -ECANCELED)
		r = tuff_copy(test_device(), to, m->map, 64, NULL, 0, NULL);
	CHECK_OK(r);
	CHECK_EQ(*(uint32_t *)to, 0x1234);
	CHECK_EQ(tuff_copy(test_device(), to, m->map, 64, &lost, 1, NULL), -ECANCELED);
	CHECK_OK(tuff_copy(test_device(), to, m->map, 64, NULL, 0, NULL));
}

/* Runs one launch that ruins its queue. */
static void ruin(const char *kernel)
{
	struct test_memory zero = test_gtt(4096);
	struct tuff_queue *other = test_queue(test_device(), TUFF_COMPUTE, test_info()->compute_rings - 1);
	struct tuff_dispatch bad = {.kernel = test_kernel("group", 3, kernel), .args = &zero.va, .args_B = 8};
	struct tuff_dispatch good = {.kernel = test_kernel("group", 3, "k_empty")};
	struct tuff_point first = {0}, second = {0};
	int r;

	CHECK_OK(test_submit(&bad, &first));
	/* The kernel may have noticed already. */
	r = test_submit(&good, &second);
	CHECK(r == 0 || r == -ECANCELED);
	is_lost(test_compute(), first, r != 0);
	if (!r)
		CHECK_EQ(tuff_wait(second, TUFF_FOREVER), -ECANCELED);
	waiting_is_canceled(other, first);
	CHECK_OK(tuff_queue_destroy(other));
	copies_go_on(&zero, first);
	everything_works_again();
}

static void endless_kernel(void)
{
	ruin("k_endless");
}

static void illegal_instruction(void)
{
	ruin("k_illegal");
}

/* A packet that waits for what nobody writes: not a wave hangs but the ring. */
static void endless_wait(void)
{
	struct test_memory gate = test_uncached(4096);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	struct tuff_point point;

	CHECK_OK(tuff_cmd_wait_value(cmd, gate.va, 1));
	CHECK_OK(tuff_submit(cmd, NULL, &point));
	is_lost(test_compute(), point, true);
	everything_works_again();
}

/* Addresses that nothing is mapped at: the job completes, the device says where it was, the queue lives on. */
static void unmapped_address(void)
{
	static const uint64_t wild[] = {0x7abc00001000, 8};
	static const char *const pages[] = {"0x7abc00001000", "page 0x0"};
	struct test_gpu gpu = test_gpu_open(test_device());
	struct tuff_queue_status status;

	for (unsigned i = 0; i < 2; i++) {
		CHECK(test_gpu_add_faults(&gpu, wild[i]));
		if (!CHECK(!*tuff_error() || strstr(tuff_error(), pages[i])))
			printf("  %s\n", tuff_error());
		/* told once */
		CHECK_OK(tuff_device_check_fault(test_device()));
		CHECK_OK(tuff_queue_query(gpu.queue, &status));
		CHECK(!status.lost && !status.guilty && !status.vram_lost);
	}
	test_gpu_close(&gpu);
	runs_on(test_device());
}

const struct device_test tests_loss[] = {
	{"loss/fault", "an address that is not mapped is told, and nothing is lost", unmapped_address,
	 TEST_LENIENT},
	{"loss/hang", "a kernel that never ends costs its queue, and no other wait hangs", endless_kernel,
	 TEST_RESETS},
	{"loss/illegal", "an illegal instruction does", illegal_instruction, TEST_RESETS},
	{"loss/wait", "a packet that waits for ever does", endless_wait, TEST_RESETS | TEST_LONG},
	{NULL},
};

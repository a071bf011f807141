/* Jobs: long ones, chained; blocks of data; flow control; abandoned and oversized jobs; order between rings. */
#include <errno.h>

#include "tests/device/device.h"

static struct tuff_point end(struct tuff_cmd *cmd, const struct tuff_order *order)
{
	struct tuff_point point = {0};

	if (!CHECK_OK(tuff_submit(cmd, order, &point)))
		test_fail("a job is not submitted");
	return point;
}

static void finish(struct tuff_cmd *cmd)
{
	CHECK_OK(tuff_wait(end(cmd, NULL), TUFF_FOREVER));
}

static void long_jobs_are_chained(void)
{
	struct tuff_queue *queues[] = {test_compute(), test_copy_queue()};

	for (unsigned q = 0; q < 2; q++) {
		struct test_memory m = test_gtt(400000);
		struct tuff_cmd *cmd = test_begin(queues[q], 0);
		const uint32_t *w = m.map;
		uint32_t right = 0;

		/* 100,000 dwords in packets of 50 */
		for (uint32_t i = 0; i < 2000; i++) {
			uint32_t data[50];

			for (uint32_t k = 0; k < 50; k++)
				data[k] = i * 50 + k + 1;
			if (!CHECK_OK(tuff_cmd_write(cmd, m.va + i * 200, data, 50)))
				break;
		}
		finish(cmd);
		for (uint32_t i = 0; i < 100000; i++)
			right += w[i] == i + 1;
		CHECK_EQ(right, 100000);
	}
}

static void too_large_a_job_is_refused(void)
{
	struct test_memory m = test_gtt(4096);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	uint32_t data[50] = {1};
	int r = 0;

	for (uint32_t i = 0; i < 30000; i++)
		r |= tuff_cmd_write(cmd, m.va, data, 50);
	CHECK(!r || r == -ENOMEM);
	CHECK_EQ(tuff_submit(cmd, NULL, NULL), -ENOMEM);
	CHECK_EQ(*(uint32_t *)m.map, 0);
	/* and the queue goes on */
	cmd = test_begin(test_compute(), 0);
	CHECK_OK(tuff_cmd_write(cmd, m.va, &(uint32_t){77}, 1));
	finish(cmd);
	CHECK_EQ(*(uint32_t *)m.map, 77);
}

static void abandoned_jobs_leave_no_trace(void)
{
	struct test_memory m = test_gtt(4096);
	struct tuff_queue *queues[] = {test_compute(), test_copy_queue()};

	for (unsigned i = 0; i < 100; i++) {
		struct tuff_cmd *cmd = test_begin(queues[i & 1], 0);
		uint64_t va;
		void *map;

		CHECK_OK(tuff_cmd_data(cmd, 16384, 256, &map, &va));
		CHECK_OK(tuff_cmd_write(cmd, m.va, &(uint32_t){i + 1}, 1));
		CHECK_OK(tuff_abandon(cmd));
	}
	finish(test_begin(queues[0], 0));
	finish(test_begin(queues[1], 0));
	CHECK_EQ(*(uint32_t *)m.map, 0);
}

/* Five hundred jobs, far more than may be unfinished, each needing the one before. */
static void many_jobs_stay_in_order(void)
{
	struct test_memory m = test_gtt(4096);
	struct {
		uint64_t data;
		uint32_t value;
	} args = {m.va, 0};
	struct tuff_dispatch add = {.grid = {256}, .group = {64}, .args = &args, .args_B = 12};
	uint32_t want = 5;
	struct tuff_point point = {0};

	add.kernel = test_kernel("group", 3, "k_add");
	for (unsigned i = 0; i < 256; i++)
		((uint32_t *)m.map)[i] = 5;
	for (uint32_t i = 0; i < 500; i++) {
		args.value = i;
		want = want * 3 + i;
		if (!CHECK_OK(test_submit(&add, &point)))
			break;
	}
	CHECK_OK(tuff_wait(point, TUFF_FOREVER));
	CHECK_EQ(((uint32_t *)m.map)[0], want);
	CHECK_EQ(((uint32_t *)m.map)[255], want);
}

/* Compute writes, SDMA copies, compute on another ring goes on, each behind the one before. */
static void rings_wait_for_each_other(void)
{
	struct test_memory a = test_gtt(4096), b = test_gtt(4096);
	struct tuff_queue *dma = test_copy_queue(), *compute[2] = {test_compute()};
	struct {
		uint64_t data;
		uint32_t value;
	} args = {a.va, 0};
	struct tuff_dispatch add = {.args = &args, .args_B = 12};
	struct tuff_point point = {0};
	struct tuff_order order = {.after = &point, .after_count = 1};
	uint32_t want = 1;

	add.kernel = test_kernel("group", 3, "k_add");
	compute[1] = test_queue(test_device(), TUFF_COMPUTE, test_info()->compute_rings - 1);
	*(uint32_t *)a.map = 1;
	for (uint32_t i = 0; i < 50; i++) {
		struct tuff_cmd *cmd = test_begin(compute[i & 1], 0);

		args.value = i;
		want = want * 3 + i;
		CHECK_OK(tuff_cmd_dispatch(cmd, &add));
		point = end(cmd, &order);
		cmd = test_begin(dma, 0);
		CHECK_OK(tuff_cmd_copy(cmd, b.va, a.va, 4));
		CHECK_OK(tuff_cmd_barrier(cmd));
		CHECK_OK(tuff_cmd_fill(cmd, a.va, 0, 4));
		CHECK_OK(tuff_cmd_barrier(cmd));
		CHECK_OK(tuff_cmd_copy(cmd, a.va, b.va, 4));
		point = end(cmd, &order);
	}
	CHECK_OK(tuff_wait(point, TUFF_FOREVER));
	CHECK_EQ(*(uint32_t *)b.map, want);
	CHECK_EQ(*(uint32_t *)a.map, want);
	CHECK_OK(tuff_queue_destroy(compute[1]));
}

/* The queue takes 24 unfinished jobs, and says so of the next. */
static void a_full_queue_says_so(void)
{
	struct test_memory gate = test_uncached(4096);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	struct tuff_point first, last = {0};
	unsigned jobs = 1;
	int r;

	CHECK_OK(tuff_cmd_wait_value(cmd, gate.va, 1));
	first = end(cmd, NULL);
	CHECK_EQ(tuff_poll(first), 0);
	CHECK_EQ(tuff_wait(first, 0), -ETIMEDOUT);
	CHECK_EQ(tuff_wait(first, 2000000), -ETIMEDOUT);
	while (!(r = tuff_begin(test_compute(), TUFF_NOWAIT, &cmd)) && jobs < 100) {
		last = end(cmd, NULL);
		jobs++;
	}
	CHECK_EQ(r, -EBUSY);
	CHECK_EQ(jobs, 24);
	__atomic_store_n((uint32_t *)gate.map, 1, __ATOMIC_RELEASE);
	CHECK_OK(tuff_wait(last, TUFF_FOREVER));
	CHECK_EQ(tuff_poll(first), 1);
	if (CHECK_OK(tuff_begin(test_compute(), TUFF_NOWAIT, &cmd)))
		finish(cmd);
}

static void clocks_run_forward(void)
{
	struct test_memory m = test_gtt(4096);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	struct tuff_point point;
	struct tuff_order order = {.after = &point, .after_count = 1};
	const uint64_t *t = m.map;

	CHECK_OK(tuff_cmd_timestamp(cmd, m.va));
	CHECK_OK(tuff_cmd_barrier(cmd));
	CHECK_OK(tuff_cmd_timestamp(cmd, m.va + 8));
	CHECK_OK(tuff_cmd_signal(cmd, m.va + 16, 0x123456789abcdefull));
	point = end(cmd, NULL);
	cmd = test_begin(test_copy_queue(), 0);
	CHECK_OK(tuff_cmd_timestamp(cmd, m.va + 24));
	CHECK_OK(tuff_cmd_signal(cmd, m.va + 32, 0xfedcba9876543210ull));
	CHECK_OK(tuff_wait(end(cmd, &order), TUFF_FOREVER));
	CHECK(t[0] && t[0] <= t[1] && t[1] <= t[3]);
	/* The same counter: less than a minute of its ticks apart. */
	CHECK(t[3] - t[0] < 60000ull * test_info()->counter_kHz);
	CHECK_EQ(t[2], 0x123456789abcdefull);
	CHECK_EQ(t[4], 0xfedcba9876543210ull);
}

/* A job without a command, and jobs that are all data. */
static void blocks_of_data(void)
{
	struct tuff_queue *queues[] = {test_compute(), test_copy_queue()};
	struct test_memory m = test_gtt(16 * 256);

	for (unsigned q = 0; q < 2; q++) {
		struct tuff_cmd *cmd;
		uint64_t va[9];
		void *map[9];

		finish(test_begin(queues[q], 0));
		cmd = test_begin(queues[q], 0);
		for (unsigned i = 0; i < 9; i++) {
			uint32_t align_B = 1u << i;

			if (!CHECK_OK(tuff_cmd_data(cmd, 16384, align_B, &map[i], &va[i])))
				break;
			CHECK_EQ(va[i] % align_B, 0);
			memset(map[i], (int)i + 1, 16384);
		}
		finish(cmd);
	}
	/* what stands in them is what the job's commands find */
	for (unsigned round = 0; round < 20; round++) {
		struct tuff_cmd *cmd = test_begin(queues[1], 0);

		for (unsigned i = 0; i < 16; i++) {
			uint64_t va;
			void *map;

			CHECK_OK(tuff_cmd_data(cmd, 256 + i * 100, 64, &map, &va));
			memset(map, (int)(round + i + 1), 256 + i * 100);
			CHECK_OK(tuff_cmd_copy(cmd, m.va + i * 256, va + i * 100, 256));
		}
		finish(cmd);
		for (unsigned i = 0; i < 16; i++)
			CHECK_EQ(((uint8_t *)m.map)[i * 256 + 255], (uint8_t)(round + i + 1));
	}
}

const struct device_test tests_submit[] = {
	{"queue/long", "a job of 100,000 dwords is chained, on both engines", long_jobs_are_chained, 0},
	{"queue/too-large", "a job beyond the command memory is refused, and the next runs",
	 too_large_a_job_is_refused, 0},
	{"queue/abandon", "abandoned jobs leave no trace", abandoned_jobs_leave_no_trace, 0},
	{"queue/order", "500 jobs, each of which needs the one before", many_jobs_stay_in_order, 0},
	{"queue/engines", "jobs hand a word around over three rings of two engines", rings_wait_for_each_other, 0},
	{"queue/full", "24 jobs may be unfinished; waits have limits", a_full_queue_says_so, 0},
	{"queue/clocks", "both engines read the same clock", clocks_run_forward, 0},
	{"queue/data", "blocks of data live as long as their job", blocks_of_data, 0},
	{NULL},
};

/* Caches: a reader sees every earlier write, whichever engine or processor wrote. The kernels use plain loads and
 * stores, so that only the driver's packets can ensure it. */
#include <sched.h>

#include "tests/device/device.h"

#define WORDS 64

/* A stage on which the GPU stops in the middle of a job. */
struct stage {
	struct test_memory words; /* at 0 what the GPU says, at 64 what it waits for */
	struct test_memory data;
	struct tuff_kernel *add;
};

static struct stage stage_set(uint32_t value)
{
	struct stage s = {.words = test_uncached(4096), .data = test_gtt(4096)};

	s.add = test_kernel("group", 3, "k_add");
	for (unsigned i = 0; i < WORDS; i++)
		((uint32_t *)s.data.map)[i] = value;
	return s;
}

/* data[i] = data[i] * 3 + value */
static void add(struct stage *s, struct tuff_cmd *cmd, uint32_t value)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {s->data.va, value};
	struct tuff_dispatch dispatch = {
		.kernel = s->add, .grid = {WORDS}, .group = {WORDS}, .args = &args, .args_B = 12};

	CHECK_OK(tuff_cmd_dispatch(cmd, &dispatch));
}

static void stop_here(struct stage *s, struct tuff_cmd *cmd)
{
	CHECK_OK(tuff_cmd_signal(cmd, s->words.va, 1));
	CHECK_OK(tuff_cmd_wait_value(cmd, s->words.va + 64, 1));
}

static struct tuff_point submit(struct tuff_cmd *cmd)
{
	struct tuff_point point = {0};

	if (!CHECK_OK(tuff_submit(cmd, NULL, &point)))
		test_fail("a job is not submitted");
	return point;
}

/* Until the GPU says so, or the job has ended without. */
static void await_stop(struct stage *s, struct tuff_point point)
{
	while (!__atomic_load_n((uint32_t *)s->words.map, __ATOMIC_ACQUIRE) && !tuff_poll(point))
		sched_yield();
}

static void go_on(struct stage *s)
{
	__atomic_store_n((uint32_t *)s->words.map + 16, 1, __ATOMIC_RELEASE);
}

static void check_data(const struct stage *s, uint32_t want)
{
	for (unsigned i = 0; i < WORDS; i += WORDS - 1)
		CHECK_EQ(__atomic_load_n((uint32_t *)s->data.map + i, __ATOMIC_RELAXED), want);
}

/* Eight launches of one job, each of which goes on where another compute unit stopped. */
static void launches_of_a_job_see_each_other(void)
{
	struct stage s = stage_set(1);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	uint32_t want = 1;

	for (uint32_t i = 0; i < 8; i++) {
		add(&s, cmd, i);
		want = want * 3 + i;
		CHECK_OK(tuff_cmd_barrier(cmd));
	}
	CHECK_OK(tuff_wait(submit(cmd), TUFF_FOREVER));
	check_data(&s, want);
}

/* Packets and launches change the same words in turn. */
static void packets_and_launches_see_each_other(void)
{
	struct stage s = stage_set(1);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);

	for (uint32_t i = 0; i < 3; i++) {
		add(&s, cmd, 4);
		CHECK_OK(tuff_cmd_barrier(cmd));
		CHECK_OK(tuff_cmd_write(cmd, s.data.va, &(uint32_t){100 + i}, 1));
		CHECK_OK(tuff_cmd_barrier(cmd));
	}
	add(&s, cmd, 4);
	CHECK_OK(tuff_cmd_barrier(cmd));
	CHECK_OK(tuff_cmd_write(cmd, s.data.va + 4, &(uint32_t){77}, 1));
	CHECK_OK(tuff_wait(submit(cmd), TUFF_FOREVER));
	CHECK_EQ(((uint32_t *)s.data.map)[0], 102 * 3 + 4);
	CHECK_EQ(((uint32_t *)s.data.map)[1], 77);
	CHECK_EQ(((uint32_t *)s.data.map)[2], 241);
}

/* What a signal stands for is in memory while the job goes on. */
static void signals_come_after_their_data(void)
{
	struct stage s = stage_set(1);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	struct tuff_point point;

	add(&s, cmd, 4);
	stop_here(&s, cmd);
	point = submit(cmd);
	await_stop(&s, point);
	check_data(&s, 7);
	go_on(&s);
	CHECK_OK(tuff_wait(point, TUFF_FOREVER));
}

/* What was written before a value that a job waits for is seen behind the wait. */
static void waits_see_what_came_before_the_value(void)
{
	struct stage s = stage_set(1);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	struct tuff_point point;

	add(&s, cmd, 4);
	stop_here(&s, cmd);
	add(&s, cmd, 4);
	point = submit(cmd);
	await_stop(&s, point);
	for (unsigned i = 0; i < WORDS; i++)
		((uint32_t *)s.data.map)[i] = 100;
	go_on(&s);
	CHECK_OK(tuff_wait(point, TUFF_FOREVER));
	check_data(&s, 304);
}

/* The CPU writes between two jobs, while a third, which has read the same words, still runs. */
static void jobs_see_the_cpu_beside_others(void)
{
	struct stage s = stage_set(1);
	struct tuff_queue *other;
	struct tuff_cmd *cmd;
	struct tuff_point first, second;

	if (test_info()->compute_rings < 2)
		test_skip("needs two compute rings");
	other = test_queue(test_device(), TUFF_COMPUTE, 1);
	cmd = test_begin(test_compute(), 0);
	add(&s, cmd, 4);
	stop_here(&s, cmd);
	first = submit(cmd);
	await_stop(&s, first);
	for (unsigned i = 0; i < WORDS; i++)
		((uint32_t *)s.data.map)[i] = 100;
	cmd = test_begin(other, 0);
	add(&s, cmd, 5);
	second = submit(cmd);
	CHECK_OK(tuff_wait(second, TUFF_FOREVER));
	check_data(&s, 305);
	go_on(&s);
	CHECK_OK(tuff_wait(first, TUFF_FOREVER));
	check_data(&s, 305);
	CHECK_OK(tuff_queue_destroy(other));
}

const struct device_test tests_cache[] = {
	{"cache/barrier", "launches of a job with barriers between see each other",
	 launches_of_a_job_see_each_other, 0},
	{"cache/packet", "packets and launches of a job see each other's writes",
	 packets_and_launches_see_each_other, 0},
	{"cache/signal", "a signal in the middle of a job comes after its data", signals_come_after_their_data, 0},
	{"cache/wait", "behind a wait for a value is seen what came before it",
	 waits_see_what_came_before_the_value, 0},
	{"cache/beside", "a job sees what the CPU wrote while another runs", jobs_see_the_cpu_beside_others, 0},
	{NULL},
};

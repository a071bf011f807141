/* GPU time as host time: a converted counter value is between the host's readings around it, from any thread, and
 * GPU timestamps of submitted work are between submission and completion. */
#include <pthread.h>
#include <time.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct reader {
	struct drv_clock *clock;
	bool failed, outside, backwards; /* what it saw; read after it was joined */
};

/* 200 times: read, convert; a sample now and then. */
static void *read_and_convert(void *arg)
{
	struct reader *r = arg;
	uint64_t last_ns = 0, ticks;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t before_ns = now_ns(), after_ns, ns, error_ns;

		if (drv_timestamp(r->clock->dev, &ticks))
			r->failed = true;
		after_ns = now_ns();
		ns = drv_clock_host_ns(r->clock, ticks);
		/* Both the line that was used and the one of a sample in between may be off by their error. */
		error_ns = 2 * drv_clock_error_ns(r->clock);
		r->outside |= ns + error_ns < before_ns || ns > after_ns + error_ns;
		r->backwards |= ns < last_ns;
		last_ns = ns;
		if (i % 16 == 15 && drv_clock_sample(r->clock))
			r->failed = true;
	}
	return NULL;
}

/* That many threads at once. */
static void readers_agree(struct drv_clock *clock, unsigned count)
{
	struct reader reader[4];
	pthread_t thread[4];

	for (unsigned i = 0; i < count; i++) {
		reader[i] = (struct reader){.clock = clock};
		CHECK_EQ(pthread_create(&thread[i], NULL, read_and_convert, &reader[i]), 0);
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(thread[i], NULL);
		CHECK(!reader[i].failed);
		CHECK(!reader[i].outside);
		CHECK(!reader[i].backwards);
	}
}

static void conversions_are_bracketed(const char *chip)
{
	struct drv_node node;
	struct drv_device *dev;
	struct drv_clock clock;
	size_t count;

	CHECK_EQ(vgpu_start(chip), 0);
	if (!CHECK_EQ(drv_scan(&node, 1, &count), 0) || !CHECK_EQ(drv_device_open(&node, &dev), 0))
		return;
	if (CHECK_EQ(drv_clock_init(&clock, dev), 0)) {
		readers_agree(&clock, 1);
		readers_agree(&clock, 3);
		drv_clock_fini(&clock);
	}
	drv_device_close(dev);
	vgpu_stop();
}

/* row 102 */
static void work_has_host_times(void)
{
	struct vm_mem *stamps;
	struct drv_clock clock;
	uint64_t before_ns, after_ns, ns[2], error_ns;
	struct cs_fence point;
	struct stack s;
	struct cs_ib *ib;

	CHECK_EQ(vgpu_start("gfx906"), 0);
	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(drv_clock_init(&clock, s.dev), 0))
		return;
	stamps = stack_gtt(&s, 4096);
	before_ns = now_ns();
	if (CHECK(stamps) && CHECK_EQ(cs_begin(s.ring, 0, &ib), 0)) {
		cs_ib_clock(ib, stamps->va);
		cs_ib_release_clock(ib, stamps->va + 8);
		CHECK_EQ(cs_submit(ib, NULL, &point), 0);
		CHECK_EQ(cs_fence_wait(point, CS_FOREVER), 0);
		after_ns = now_ns();
		CHECK_EQ(drv_clock_sample(&clock), 0);
		error_ns = 2 * drv_clock_error_ns(&clock);
		for (unsigned i = 0; i < 2; i++)
			ns[i] = drv_clock_host_ns(&clock, ((uint64_t *)stamps->map)[i]);
		CHECK(ns[0] + error_ns >= before_ns);
		CHECK(ns[1] >= ns[0]);
		CHECK(ns[1] <= after_ns + error_ns);
	}
	vm_mem_destroy(stamps);
	drv_clock_fini(&clock);
	stack_close(&s);
	vgpu_stop();
}

int main(void)
{
	conversions_are_bracketed("gfx900"); /* 27 MHz: coarse ticks */
	conversions_are_bracketed("gfx90a"); /* 100 MHz */
	work_has_host_times();
	return check_done("GPU time as host time");
}

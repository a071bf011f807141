/* GPU time as host time: what the counter said lies between the host's readings around it, from any thread, and GPU
 * timestamps of submitted work lie between submission and completion. */
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

/* 200 times: read, convert; a sample now and then. */
static void *read_and_convert(void *arg)
{
	struct drv_clock *clock = arg;
	uint64_t last_ns = 0, ticks;
	bool bracketed = true, forward = true;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t before_ns = now_ns(), after_ns, ns, error_ns;

		if (!CHECK_EQ(drv_timestamp(clock->dev, &ticks), 0))
			break;
		after_ns = now_ns();
		ns = drv_clock_host_ns(clock, ticks);
		/* Both the line that was used and the one of a sample in between may be off by their error. */
		error_ns = 2 * drv_clock_error_ns(clock);
		bracketed = bracketed && ns + error_ns >= before_ns && ns <= after_ns + error_ns;
		forward = forward && ns >= last_ns;
		last_ns = ns;
		if (i % 16 == 15)
			CHECK_EQ(drv_clock_sample(clock), 0);
	}
	CHECK(bracketed);
	CHECK(forward);
	return NULL;
}

static void conversions_are_bracketed(const char *chip)
{
	struct drv_node node;
	struct drv_device *dev;
	struct drv_clock clock;
	pthread_t other;
	size_t count;

	CHECK_EQ(vgpu_start(chip), 0);
	if (!CHECK_EQ(drv_scan(&node, 1, &count), 0) || !CHECK_EQ(drv_device_open(&node, &dev), 0))
		return;
	if (CHECK_EQ(drv_clock_init(&clock, dev), 0)) {
		CHECK_EQ(pthread_create(&other, NULL, read_and_convert, &clock), 0);
		pthread_join(other, NULL);
		read_and_convert(&clock);
		drv_clock_fini(&clock);
	}
	drv_device_close(dev);
	vgpu_stop();
}

static void two_threads_sample_at_once(void)
{
	struct drv_node node;
	struct drv_device *dev;
	struct drv_clock clock;
	pthread_t other[2];
	size_t count;

	CHECK_EQ(vgpu_start("gfx908"), 0);
	if (!CHECK_EQ(drv_scan(&node, 1, &count), 0) || !CHECK_EQ(drv_device_open(&node, &dev), 0) ||
	    !CHECK_EQ(drv_clock_init(&clock, dev), 0))
		return;
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&other[i], NULL, read_and_convert, &clock), 0);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(other[i], NULL);
	drv_clock_fini(&clock);
	drv_device_close(dev);
	vgpu_stop();
}

static void work_has_host_times(void)
{
	struct vm_mem *stamps;
	struct drv_clock clock;
	uint64_t before_ns, after_ns, ns[2], error_ns;
	struct cs_point point;
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
		CHECK_EQ(cs_point_wait(point, CS_FOREVER), 0);
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
	conversions_are_bracketed("gfx90a");
	two_threads_sample_at_once();
	work_has_host_times();
	return check_done("GPU time as host time");
}

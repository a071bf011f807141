/* The clock of what the host gives: by numbers, and beside threads that take all processors. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "vgpu/host_time.h"

#define MS 1000000ull

static uint64_t of(uint64_t ran_ms, uint64_t ready_ms, unsigned processors)
{
	return vgpu_host_time_of(100 * MS, &(struct vgpu_threads){ran_ms * MS, ready_ms * MS}, processors) / MS;
}

static void numbers(void)
{
	CHECK_EQ(of(0, 0, 2), 100);     /* all sleep */
	CHECK_EQ(of(100, 0, 2), 100);   /* one runs */
	CHECK_EQ(of(10, 90, 2), 10);    /* one is ready, and has a tenth of a processor */
	CHECK_EQ(of(10, 20, 2), 80);    /* mostly asleep: it waited for 20 */
	CHECK_EQ(of(40, 160, 2), 20);   /* two are ready, and each has a fifth */
	CHECK_EQ(of(200, 600, 2), 100); /* eight share two processors, which nobody else has */
	CHECK_EQ(of(50, 750, 2), 25);   /* of which others take three quarters */
	CHECK_EQ(of(100, 300, 1), 100);
	CHECK_EQ(of(400, 0, 2), 100); /* a late look */
}

static void it_goes_on_alone(void)
{
	uint64_t begin = vgpu_host_time_ns(), last = begin;

	for (unsigned n = 0; n < 20; n++) {
		uint64_t now;

		usleep(5000);
		now = vgpu_host_time_ns();
		CHECK(now >= last);
		last = now;
	}
	CHECK(last > begin); /* how far depends on the machine */
}

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *ask(void *until)
{
	while (wall_ns() < *(const uint64_t *)until)
		(void)vgpu_host_time_ns();
	return NULL;
}

/* Threads that ask with a time of before another's look do not send it far ahead. */
static void many_ask(void)
{
	uint64_t wall = wall_ns(), begin = vgpu_host_time_ns(), until = wall + 300000000;
	pthread_t threads[8];

	for (unsigned i = 0; i < 8; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, ask, &until), 0);
	for (unsigned i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	/* The pace of the last interval holds for some milliseconds more. */
	CHECK(vgpu_host_time_ns() - begin <= wall_ns() - wall + 100000000);
}

int main(void)
{
	numbers();
	it_goes_on_alone();
	many_ask();
	return check_done("the time that was given");
}

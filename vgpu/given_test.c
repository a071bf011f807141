/* The clock of what the host gives: by numbers, and beside threads that take all processors. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "vgpu/given.h"

#define MS 1000000ull

static uint64_t of(uint64_t ran_ms, uint64_t ready_ms, unsigned processors)
{
	return vgpu_given_of(100 * MS, &(struct vgpu_threads){ran_ms * MS, ready_ms * MS}, processors) / MS;
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
	uint64_t begin = vgpu_given_ns(), last = begin;

	for (unsigned n = 0; n < 20; n++) {
		uint64_t now;

		usleep(5000);
		now = vgpu_given_ns();
		CHECK(now >= last);
		last = now;
	}
	CHECK(last > begin); /* how far depends on the machine */
}

int main(void)
{
	numbers();
	it_goes_on_alone();
	return check_done("the time that was given");
}

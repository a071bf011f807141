/* The clock's chain of segments, on simulated counters: nominal 100 MHz, with some deviation, read in brackets of a
 * few microseconds. */
#include "drv/clock.h"

#include <stdlib.h>

#include "tests/check.h"

static const struct drv_device device = {.facts.counter_kHz = 100000};

/* A counter that really runs at 100 MHz times (1 + ppm / 10^6), and stood at `origin` at host time 0. */
struct counter {
	double ppm;
	uint64_t origin;
};

static uint64_t counted(const struct counter *c, uint64_t host_ns)
{
	return c->origin + (uint64_t)((double)host_ns * 0.1 * (1 + c->ppm * 1e-6));
}

static struct drv_clock_reading reading_at(const struct counter *c, uint64_t host_ns, unsigned width_ns)
{
	/* The reading is anywhere in the bracket. */
	uint64_t before_ns = host_ns - (unsigned)rand() % (width_ns + 1);

	return (struct drv_clock_reading){before_ns, counted(c, host_ns), before_ns + width_ns};
}

static uint64_t off_by_ns(struct drv_clock *clock, const struct counter *c, uint64_t host_ns)
{
	int64_t d = (int64_t)(drv_clock_host_ns(clock, counted(c, host_ns)) - host_ns);

	return (uint64_t)(d < 0 ? -d : d);
}

static void time_never_runs_backwards_and_the_error_is_bounded(double ppm, uint64_t step_ns)
{
	struct counter c = {ppm, 123456789012345};
	struct drv_clock clock = {.dev = &device, .lock = DRV_MUTEX(DRV_RANK_CLOCK)};
	struct drv_clock_reading r = reading_at(&c, 5000000000, 3000);
	uint64_t host_ns = 5000000000, last_ns = 0;
	bool forward = true, bounded = true;

	drv_clock_begin_locked(&clock, &r);
	for (unsigned sample = 0; sample < 40; sample++) {
		for (unsigned i = 0; i < 1000; i++) {
			uint64_t ns = drv_clock_host_ns(&clock, counted(&c, host_ns));

			forward = forward && ns >= last_ns;
			last_ns = ns;
			host_ns += step_ns / 1000;
		}
		r = reading_at(&c, host_ns, 1000 + (unsigned)rand() % 4000);
		drv_clock_add_locked(&clock, &r);
		bounded = bounded && off_by_ns(&clock, &c, host_ns) <= drv_clock_error_ns(&clock);
	}
	CHECK(forward);
	CHECK(bounded);
	/* After a minute the rate is known to 5 us in a minute; the rest of the error are the brackets. */
	if (step_ns >= 2000000000 && !CHECK(off_by_ns(&clock, &c, host_ns + 1000000000) < 10000))
		printf("  %g ppm: off by %llu ns\n", ppm,
		       (unsigned long long)off_by_ns(&clock, &c, host_ns + 1000000000));
}

static void the_past_stays_where_it_was(void)
{
	struct counter c = {60, 1000};
	struct drv_clock clock = {.dev = &device, .lock = DRV_MUTEX(DRV_RANK_CLOCK)};
	struct drv_clock_reading r = reading_at(&c, 1000000000, 2000);
	uint64_t event = counted(&c, 1500000000), before_ns;

	drv_clock_begin_locked(&clock, &r);
	before_ns = drv_clock_host_ns(&clock, event);
	for (unsigned i = 2; i < 6; i++) {
		r = reading_at(&c, i * 1000000000ull, 2000);
		drv_clock_add_locked(&clock, &r);
		CHECK_EQ(drv_clock_host_ns(&clock, event), before_ns);
	}
	/* A time before the first sample converts, too. */
	CHECK(drv_clock_host_ns(&clock, counted(&c, 900000000)) < 900100000);
	CHECK(drv_clock_host_ns(&clock, counted(&c, 900000000)) > 899900000);
}

static void a_counter_that_jumps_begins_anew(void)
{
	struct counter c = {0, 1000000000000}, reset = {0, 0}, ahead = {0, 900000000};
	struct drv_clock clock = {.dev = &device, .lock = DRV_MUTEX(DRV_RANK_CLOCK)};
	struct drv_clock_reading r = reading_at(&c, 1000000000, 2000);

	drv_clock_begin_locked(&clock, &r);
	r = reading_at(&reset, 2000000000, 2000);
	drv_clock_add_locked(&clock, &r);
	CHECK(off_by_ns(&clock, &reset, 2000000000) <= drv_clock_error_ns(&clock));
	/* The host was suspended, and the counter continued. */
	r = reading_at(&ahead, 3000000000, 2000);
	drv_clock_add_locked(&clock, &r);
	CHECK(off_by_ns(&clock, &ahead, 3000000000) <= drv_clock_error_ns(&clock));
	CHECK_EQ(clock.count, 1);
	/* A reading of the same tick changes nothing. */
	drv_clock_add_locked(&clock, &r);
	CHECK_EQ(clock.count, 1);
}

static void a_count_that_no_time_has_is_the_first_or_the_last(void)
{
	struct counter c = {0, 1000};
	struct drv_clock clock = {.dev = &device, .lock = DRV_MUTEX(DRV_RANK_CLOCK)};
	struct drv_clock_reading r = reading_at(&c, 1000000000, 0);

	drv_clock_begin_locked(&clock, &r);
	CHECK_EQ(drv_clock_host_ns(&clock, r.ticks + INT64_MAX), UINT64_MAX);
	CHECK_EQ(drv_clock_host_ns(&clock, r.ticks + (uint64_t)INT64_MIN), 0);
	CHECK_EQ(drv_clock_host_ns(&clock, r.ticks - 1), 999999990);
}

int main(void)
{
	static const double ppms[] = {0, 20, -35, 100, -100, 400};

	srand(1);
	for (unsigned i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++) {
		time_never_runs_backwards_and_the_error_is_bounded(ppms[i], 1000000);
		time_never_runs_backwards_and_the_error_is_bounded(ppms[i], 2000000000);
		time_never_runs_backwards_and_the_error_is_bounded(ppms[i], 30000000000);
	}
	the_past_stays_where_it_was();
	a_counter_that_jumps_begins_anew();
	a_count_that_no_time_has_is_the_first_or_the_last();
	return check_done("clock");
}

#include "drv/lock.h"
#include "drv/clock.h"

#include <string.h>

/* Readings for one sample: an interrupt rarely disturbs all of them. */
#define TRIES 5
/* Largest plausible drift between the clocks: 1000 ppm; more is a jump. */
#define DRIFT_MAX 1e-3
/* The chain corrects an error over this time or longer, so that no segment's slope deviates by more than
 * SLEW_MAX. */
#define SLEW_NS  1e9
#define SLEW_MAX 5e-4
/* Two samples closer together than this give a worse rate than the nominal value. */
#define RATE_NS 1e8
/* Shortest time between two samples by drv_clock_refresh(). */
#define REFRESH_MIN_NS 100000000ull
#define REFRESH_MAX_NS 1000000000ull

int drv_clock_read(const struct drv_device *dev, struct drv_clock_reading *best)
{
	uint64_t width_ns = UINT64_MAX;

	for (unsigned i = 0; i < TRIES; i++) {
		struct drv_clock_reading reading;
		int r;

		reading.before_ns = drv_now_ns();
		r = drv_timestamp(dev, &reading.ticks);
		if (r)
			return r;
		reading.after_ns = drv_now_ns();
		if (reading.after_ns - reading.before_ns < width_ns) {
			width_ns = reading.after_ns - reading.before_ns;
			*best = reading;
		}
	}
	return 0;
}

static uint64_t middle_ns(const struct drv_clock_reading *r)
{
	return r->before_ns + (r->after_ns - r->before_ns) / 2;
}

static double nominal_period(const struct drv_clock *clock)
{
	return 1e6 / clock->dev->facts.counter_kHz;
}

/* A client may convert any number: times that 64 bits do not hold become the first or the last. */
static uint64_t on_segment(const struct drv_clock_segment *s, uint64_t ticks)
{
	double ns = (double)(int64_t)(ticks - s->ticks) * s->ns_per_tick;

	if (ns >= 0x1p63)
		return UINT64_MAX;
	return ns < -(double)s->host_ns ? 0 : s->host_ns + (uint64_t)(int64_t)ns;
}

static uint64_t convert_locked(const struct drv_clock *clock, uint64_t ticks)
{
	unsigned i = clock->count - 1;

	while (i && ticks < clock->segment[i].ticks)
		i--;
	return on_segment(&clock->segment[i], ticks);
}

static void push_locked(struct drv_clock *clock, struct drv_clock_segment segment)
{
	if (clock->count == DRV_CLOCK_SEGMENTS) {
		memmove(clock->segment, clock->segment + 1, sizeof(clock->segment) - sizeof(clock->segment[0]));
		clock->count--;
	}
	clock->segment[clock->count++] = segment;
}

static void note_locked(struct drv_clock *clock, const struct drv_clock_reading *r, double missed_ns)
{
	clock->last_ticks = r->ticks;
	clock->last_ns = middle_ns(r);
	clock->error_ns = (r->after_ns - r->before_ns + 1) / 2 +
			  (uint64_t)(missed_ns < 0 ? -missed_ns : missed_ns) + (uint64_t)nominal_period(clock) + 1;
}

void drv_clock_begin_locked(struct drv_clock *clock, const struct drv_clock_reading *r)
{
	clock->count = 0;
	clock->first_ticks = r->ticks;
	clock->first_ns = middle_ns(r);
	note_locked(clock, r, 0);
	push_locked(clock, (struct drv_clock_segment){r->ticks, middle_ns(r), nominal_period(clock)});
}

/* Period of the counter since the first sample, limited to what crystals can deviate. */
static double measured_rate(const struct drv_clock *clock, const struct drv_clock_reading *r)
{
	double ns = (double)(int64_t)(middle_ns(r) - clock->first_ns), rate;

	if (ns < RATE_NS)
		return nominal_period(clock);
	rate = ns / (double)(r->ticks - clock->first_ticks);
	if (rate > nominal_period(clock) * (1 + DRIFT_MAX))
		return nominal_period(clock) * (1 + DRIFT_MAX);
	return rate < nominal_period(clock) * (1 - DRIFT_MAX) ? nominal_period(clock) * (1 - DRIFT_MAX) : rate;
}

/* Replaces the segments of the future: the first leads from the chain's present value to the measured line, the
 * second continues along that line. */
static void bend_locked(struct drv_clock *clock, const struct drv_clock_reading *r, uint64_t predicted_ns,
			double missed_ns)
{
	double rate = measured_rate(clock, r), size_ns = missed_ns < 0 ? -missed_ns : missed_ns;
	double over_ns = size_ns / SLEW_MAX > SLEW_NS ? size_ns / SLEW_MAX : SLEW_NS;
	uint64_t over_ticks = (uint64_t)(over_ns / rate);
	struct drv_clock_segment slew = {r->ticks, predicted_ns, rate + missed_ns / (double)over_ticks};

	while (clock->segment[clock->count - 1].ticks >= r->ticks)
		clock->count--;
	push_locked(clock, slew);
	push_locked(clock, (struct drv_clock_segment){r->ticks + over_ticks,
						      on_segment(&slew, r->ticks + over_ticks), rate});
}

void drv_clock_add_locked(struct drv_clock *clock, const struct drv_clock_reading *r)
{
	uint64_t predicted_ns = convert_locked(clock, r->ticks);
	double missed_ns = (double)(int64_t)(middle_ns(r) - predicted_ns);
	double passed_ns = (double)(int64_t)(middle_ns(r) - clock->last_ns);
	double allowed_ns = passed_ns * DRIFT_MAX + (double)(r->after_ns - r->before_ns + clock->error_ns);

	if (r->ticks == clock->last_ticks)
		return;
	if (r->ticks < clock->last_ticks || missed_ns > allowed_ns || -missed_ns > allowed_ns) {
		drv_clock_begin_locked(clock, r);
		return;
	}
	bend_locked(clock, r, predicted_ns, missed_ns);
	note_locked(clock, r, missed_ns);
}

int drv_clock_init(struct drv_clock *clock, const struct drv_device *dev)
{
	struct drv_clock_reading reading;
	int r = drv_clock_read(dev, &reading);

	if (r)
		return r;
	*clock = (struct drv_clock){.dev = dev};
	drv_mutex_init(&clock->sampling, DRV_RANK_CLOCK_SAMPLING);
	drv_mutex_init(&clock->lock, DRV_RANK_CLOCK);
	drv_clock_begin_locked(clock, &reading);
	return 0;
}

void drv_clock_fini(struct drv_clock *clock)
{
	drv_mutex_destroy(&clock->lock);
	drv_mutex_destroy(&clock->sampling);
}

int drv_clock_sample(struct drv_clock *clock)
{
	struct drv_clock_reading reading;
	int r;

	drv_mutex_lock(&clock->sampling);
	r = drv_clock_read(clock->dev, &reading);
	if (!r) {
		drv_mutex_lock(&clock->lock);
		drv_clock_add_locked(clock, &reading);
		drv_mutex_unlock(&clock->lock);
	}
	drv_mutex_unlock(&clock->sampling);
	return r;
}

int drv_clock_refresh(struct drv_clock *clock)
{
	uint64_t now = drv_now_ns(), good_ns;
	bool due;

	drv_mutex_lock(&clock->lock);
	good_ns = clock->last_ns - clock->first_ns;
	good_ns = good_ns < REFRESH_MIN_NS ? REFRESH_MIN_NS : good_ns > REFRESH_MAX_NS ? REFRESH_MAX_NS : good_ns;
	due = now - clock->last_ns > good_ns;
	drv_mutex_unlock(&clock->lock);
	return due ? drv_clock_sample(clock) : 0;
}

uint64_t drv_clock_host_ns(struct drv_clock *clock, uint64_t ticks)
{
	uint64_t ns;

	drv_mutex_lock(&clock->lock);
	ns = convert_locked(clock, ticks);
	drv_mutex_unlock(&clock->lock);
	return ns;
}

uint64_t drv_clock_error_ns(struct drv_clock *clock)
{
	uint64_t ns;

	drv_mutex_lock(&clock->lock);
	ns = clock->error_ns;
	drv_mutex_unlock(&clock->lock);
	return ns;
}

/* Correlates a device's clock counter with CLOCK_MONOTONIC.
 *
 *   drv_clock  the correlation: a chain of line segments; embedded in its owner, guarded by its own locks
 *   segment    a line from counter ticks to host time
 *
 * A sample reads the counter between two readings of the host's clock and keeps the narrowest of a few such
 * brackets: the counter was read somewhere inside. Two samples with some time between them give the rate: crystals
 * deviate from their nominal frequency by up to 100 ppm, a tenth of a millisecond each second.
 *
 * Conversion uses the chain: each segment begins where the one before it ends. A sample adds two segments: one
 * corrects the chain's error over a second or more, the next continues along the measured line. So converted times
 * never run backwards, in whichever order samples and conversions come.
 *
 * Accuracy: drv_clock_error_ns() bounds the error at the last sample. It adds up half its bracket (1 to 5 us, an
 * ioctl's time, on an idle machine), the chain's error before the sample, and one tick. Away from samples the
 * rate's error adds: the crystal's deviation before the second sample, then the width of two brackets over the time
 * between them.
 *
 * A jump of the counter (a reset of the GPU, a suspended machine) breaks the chain, and a new chain begins: the
 * only case in which converted times jump. */
#ifndef DRV_CLOCK_H
#define DRV_CLOCK_H

#include <pthread.h>
#include <time.h>

#include "drv/lock.h"
#include "drv/device.h"

/* Time of CLOCK_MONOTONIC, in ns. */
static inline uint64_t drv_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#define DRV_CLOCK_SEGMENTS 16

struct drv_clock_segment {
	uint64_t ticks, host_ns; /* start of the segment */
	double ns_per_tick;
};

struct drv_clock {
	const struct drv_device *dev; /* borrowed */
	struct drv_mutex sampling; /* held over a sample, so that samples enter the chain in order; before lock */
	struct drv_mutex lock;     /* guards all below */
	unsigned count;            /* segments, oldest first */
	struct drv_clock_segment segment[DRV_CLOCK_SEGMENTS];
	uint64_t first_ticks, first_ns; /* the sample that the rate's measurement begins with */
	uint64_t last_ticks, last_ns;   /* the newest sample */
	uint64_t error_ns;              /* at the newest sample */
};

/* Takes the first sample. Errors: as drv_timestamp(). Enters the kernel. */
DRV_MUST_CHECK int drv_clock_init(struct drv_clock *clock, const struct drv_device *dev);
void drv_clock_fini(struct drv_clock *clock);

/* Takes another sample; once a second is more than enough. Enters the kernel. Thread safe. */
DRV_MUST_CHECK int drv_clock_sample(struct drv_clock *clock);
/* Takes another sample if the last is too old for a good rate: older than the time over which the rate was
 * measured, at least 100 ms and at most a second. Otherwise costs one reading of the host's clock. */
DRV_MUST_CHECK int drv_clock_refresh(struct drv_clock *clock);
/* Converts counter ticks to CLOCK_MONOTONIC in ns; before the oldest segment its line is extended. Thread safe;
 * does not enter the kernel. */
uint64_t drv_clock_host_ns(struct drv_clock *clock, uint64_t ticks);
/* Bounds the error at the last sample. Thread safe. */
uint64_t drv_clock_error_ns(struct drv_clock *clock);

/* A reading: the counter had the value `ticks` at some time in [before_ns, after_ns]. */
struct drv_clock_reading {
	uint64_t before_ns, ticks, after_ns;
};
DRV_MUST_CHECK int drv_clock_read(const struct drv_device *dev, struct drv_clock_reading *reading);
/* Steps of the functions above, for clock_test.c: begin the chain with a reading, and add a reading to it. The
 * caller holds the lock. */
void drv_clock_begin_locked(struct drv_clock *clock, const struct drv_clock_reading *reading);
void drv_clock_add_locked(struct drv_clock *clock, const struct drv_clock_reading *reading);

#endif

/* Correlates a device's clock counter with CLOCK_MONOTONIC.
 *
 * A sample reads the counter between two readings of the host's clock and keeps the narrowest of a few such
 * brackets: the counter was read somewhere inside. Samples that lie apart give the rate: crystals differ from their
 * nominal frequency by up to 100 ppm, a tenth of a millisecond each second.
 *
 * Conversion is a chain of line segments: each begins where the one before it ends. A sample adds two: one that
 * makes up, over a second or more, for what the chain had missed, and one that goes on along the measured line. So
 * converted times never run backwards, in whichever order samples and conversions come.
 *
 * Accuracy: drv_clock_error_ns() bounds the error at the last sample: half its bracket (1 to 5 us, an ioctl's time,
 * on an idle machine), what the chain had missed, and one tick. Away from samples the rate's error adds: nominal
 * before the second sample, then what two brackets leave over the time between them.
 *
 * When the counter is seen to jump (a reset of the GPU, a suspended machine), the chain is broken and begins anew:
 * the only case in which converted times jump. */
#ifndef DRV_CLOCK_H
#define DRV_CLOCK_H

#include <pthread.h>

#include "drv/device.h"

#define DRV_CLOCK_SEGMENTS 16

struct drv_clock_segment {
	uint64_t ticks, host_ns; /* where it begins */
	double ns_per_tick;
};

struct drv_clock {
	const struct drv_device *dev; /* borrowed */
	pthread_mutex_t sampling; /* held over a sample, so that samples enter the chain in order; before lock */
	pthread_mutex_t lock;     /* guards all below */
	unsigned count;           /* segments, oldest first */
	struct drv_clock_segment segment[DRV_CLOCK_SEGMENTS];
	uint64_t first_ticks, first_ns; /* the sample that the rate is measured from */
	uint64_t last_ticks, last_ns;   /* the newest sample */
	uint64_t error_ns;              /* at the newest sample */
};

/* Takes the first sample. -ENODEV and others as drv_timestamp(). Enters the kernel. */
DRV_MUST_CHECK int drv_clock_init(struct drv_clock *clock, const struct drv_device *dev);
void drv_clock_fini(struct drv_clock *clock);

/* Takes another sample; once a second is more than enough. Enters the kernel. Thread safe. */
DRV_MUST_CHECK int drv_clock_sample(struct drv_clock *clock);
/* The same if the last sample is older than is good for the rate: than the time that it was measured over, 100 ms
 * at least and a second at most. Else it costs a reading of the host's clock. */
DRV_MUST_CHECK int drv_clock_refresh(struct drv_clock *clock);
/* CLOCK_MONOTONIC, in ns, when the counter stood at ticks; before the oldest segment its line is prolonged. Thread
 * safe; does not enter the kernel. */
uint64_t drv_clock_host_ns(struct drv_clock *clock, uint64_t ticks);
/* Bound of the error at the last sample. Thread safe. */
uint64_t drv_clock_error_ns(struct drv_clock *clock);

/* One reading: the counter was at `ticks` at some time in [before_ns, after_ns]. */
struct drv_clock_reading {
	uint64_t before_ns, ticks, after_ns;
};
DRV_MUST_CHECK int drv_clock_read(const struct drv_device *dev, struct drv_clock_reading *reading);
/* Begins the chain with a reading; adds one to it. For clock_test.c and the functions above; the lock is held. */
void drv_clock_begin_locked(struct drv_clock *clock, const struct drv_clock_reading *reading);
void drv_clock_add_locked(struct drv_clock *clock, const struct drv_clock_reading *reading);

#endif

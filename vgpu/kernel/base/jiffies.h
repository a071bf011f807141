/* Timeouts as Linux keeps them: in jiffies. Absolute CLOCK_MONOTONIC ns in and out. Any thread, no lock. */
#ifndef VGPU_KERNEL_BASE_JIFFIES_H
#define VGPU_KERNEL_BASE_JIFFIES_H

#include <stdint.h>

struct kern_device;

/* When a wait that begins at now_ns and sleeps for `jiffies` ends: at a tick, and never early. 0 jiffies: 0, a
 * poll. */
int64_t kern_jiffies_end(unsigned hz, int64_t now_ns, uint64_t jiffies);

/* The end of a wait of WAIT_CS, WAIT_FENCES or GEM_WAIT_IDLE for timeout_ns: whole jiffies, cut down, so that less
 * than one is a poll. Negative means for ever (INT64_MAX). Linux amdgpu_gem_timeout(). */
int64_t kern_gem_deadline(const struct kern_device *dev, uint64_t timeout_ns);
/* The end of a wait for a syncobj: one jiffy more than that, and what is past is a poll, negative times too. Linux
 * drm_timeout_abs_to_jiffies(). */
int64_t kern_syncobj_deadline(const struct kern_device *dev, int64_t timeout_ns);

#endif

/* Another driver on the first virtual device, whose syncobjs HIP imports as external semaphores: a timeline, and a binary one.
 * A thread signals both again and again, so that no wait of an input is for ever. Inputs also import each as the other kind: the
 * binary one is signalled as a timeline in turn, because a binary payload meets no wait for a point. */
#ifndef TESTS_FUZZ_HIP_OTHER_H
#define TESTS_FUZZ_HIP_OTHER_H

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <xf86drm.h>

#define OTHER_PERIOD_NS 10000000
#define OTHER_FIRST     (1ull << 40) /* a point behind those that inputs draw */

static int other_files[2]; /* what the other driver exports: the timeline, the binary one */

static struct {
	int device;
	uint32_t timeline, binary;
} other;

static void *other_signal(void *unused)
{
	for (uint64_t point = OTHER_FIRST;; point++) {
		if (drmSyncobjTimelineSignal(other.device, &other.timeline, &point, 1) ||
		    (point % 2 ? drmSyncobjSignal(other.device, &other.binary, 1)
			       : drmSyncobjTimelineSignal(other.device, &other.binary, &point, 1)))
			abort();
		nanosleep(&(struct timespec){.tv_nsec = OTHER_PERIOD_NS}, NULL);
	}
	return unused;
}

/* After the start of the virtual devices. */
static void other_start(void)
{
	pthread_t thread;

	other.device = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (other.device < 0 || drmSyncobjCreate(other.device, 0, &other.timeline) ||
	    drmSyncobjCreate(other.device, 0, &other.binary) ||
	    drmSyncobjHandleToFD(other.device, other.timeline, &other_files[0]) ||
	    drmSyncobjHandleToFD(other.device, other.binary, &other_files[1]) ||
	    pthread_create(&thread, NULL, other_signal, NULL))
		abort();
	pthread_detach(thread);
}

#endif

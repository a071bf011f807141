/* The time that the host has given to this process.
 *
 * Watchdogs count it: on a card nobody takes processors away from the GPU, nor is a client's thread that is ready
 * kept waiting for seconds. The clock runs as CLOCK_MONOTONIC does, less what threads of the process that were
 * ready to run waited for a processor while others had it: with C the time that they ran, D the time that they ran
 * or were ready (both of /proc/self/task/TID/schedstat, summed) and E the part of D that the machine's processors
 * could have served, it advances in an interval by
 *
 *   interval - (E - C)              while on average at most one thread was ready,
 *   interval * C / E                while more were.
 *
 * So it stands in for the wall clock where nothing else runs, or all threads sleep: a wait that nobody ends still
 * ends. Threads of other processes of the run are not looked at. Without schedstat (CONFIG_SCHED_INFO) it is
 * CLOCK_MONOTONIC.
 *
 * Thread safe; never goes back. */
#ifndef VGPU_HOST_TIME_H
#define VGPU_HOST_TIME_H

#include <stdint.h>

/* Nanoseconds since some moment; of this process alone. */
uint64_t vgpu_host_time_ns(void);

/* Times of all threads of a process together. */
struct vgpu_threads {
	uint64_t ran_ns, ready_ns; /* on a processor; ready, but without one */
};

/* How much of an interval counts, by what threads did in it. */
uint64_t vgpu_host_time_of(uint64_t interval_ns, const struct vgpu_threads *did, unsigned processors);

#endif

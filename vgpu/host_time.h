/* The time that the host has given to this process.
 *
 * Watchdogs count it: on a card nothing takes processors away from the GPU, and a client's thread that is ready
 * does not wait for seconds. The clock runs as CLOCK_MONOTONIC does, less the time in which threads of the process
 * that were ready to run waited for a processor that others had. With C the time that they ran, D the time that
 * they ran or were ready (both of /proc/self/task/TID/schedstat, summed) and E the part of D that the machine's
 * processors could have served, it advances in an interval by
 *
 *   interval - (E - C)              while on average at most one thread was ready,
 *   interval * C / E                while more were.
 *
 * It equals the wall clock on an otherwise idle machine, and while all threads sleep: a wait without end still
 * reaches its limit. Threads of other processes of the run do not count. Without schedstat (CONFIG_SCHED_INFO) it
 * is CLOCK_MONOTONIC. When threads are kept waiting it may lose a little more than that; it never runs ahead.
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

/* A record of a run for viewers (Perfetto, chrome://tracing): submissions, packets of each ring, and the times of
 * waves and waits. TUFF_VGPU_TRACE=FILE; unset: none.
 *
 * Format: Chrome's JSON array of events, one a line, appended by every process of the run; the last one to leave
 * closes the array, and viewers accept a missing end. Times are CLOCK_MONOTONIC, common to all processes.
 *
 *   process        a client; its threads' rows have the ioctls
 *   row of a ring  the packets in order, under the process whose thread executes them
 *   async events   overlapping events of a ring: jobs, waiting and running, and dispatches
 *   flow arrows    from the CS ioctl to its job
 *
 * Thread safe. Without a record each function is one load and a branch. */
#ifndef VGPU_TRACE_H
#define VGPU_TRACE_H

#include <stdbool.h>
#include <stdint.h>

/* Row of an event: a ring (of this process), or the calling thread. */
#define VGPU_TRACE_THREAD 0u
static inline uint32_t vgpu_trace_ring(unsigned device, unsigned ip, unsigned index)
{
	return 1u << 30 | device << 8 | ip << 4 | index; /* no thread's id is that large */
}

/* Starts the record of this process: the creator of a run begins the file, other processes, forked children too,
 * append to it. */
void vgpu_trace_join(bool creates);
/* Ends the record of this process; `last`: completes the file. */
void vgpu_trace_leave(bool last);

/* The time, ns; 0 without a record. What begins at 0 is not recorded. */
uint64_t vgpu_trace_now(void);
void vgpu_trace_name(uint32_t row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* From begin_ns to now; the text is what a click on it shows. */
void vgpu_trace_span(uint32_t row, const char *name, uint64_t begin_ns, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* As vgpu_trace_span(), for events of a row that may overlap. id: unique among overlapping events of one kind. */
void vgpu_trace_overlapping(uint32_t row, const char *kind, uint64_t id, uint64_t begin_ns, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Draws an end of an arrow: the tail in the row's current span, the head in the next span. */
void vgpu_trace_arrow(uint32_t row, uint64_t id, bool head);

#endif

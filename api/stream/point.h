/* Points of streams' timelines, and the times at which they are reached. */
#ifndef API_POINT_H
#define API_POINT_H

#include "api/stream/stream.h"

/* Below which operation of which stream. */
struct hip_point {
	struct hip_stream *stream;     /* a reference; NULL: reached */
	uint64_t index;                /* of flow->written */
	uint64_t frees;                /* of memory on the stream, before that point */
	struct hip_frontier *frontier; /* a reference; NULL: what the stream was behind there is nothing */
};

/* What the stream has been given so far; the caller's, until hip_point_put(). */
struct hip_point hip_stream_point(struct hip_stream *stream);
void hip_point_put(struct hip_point *point);
/* To what the stream has been given so far; between begin and done. */
static inline void hip_point_move(struct hip_point *point, struct hip_stream *stream)
{
	/* What the point refers to is the same in nearly all cases: it was there before, or nothing is. */
	if (__builtin_expect(point->stream == stream &&
				     point->frontier ==
					     atomic_load_explicit(&stream->frontier, memory_order_relaxed),
			     1)) {
		point->index = hip_stream_written(stream);
		point->frees = atomic_load_explicit(&stream->frees, memory_order_acquire);
	} else {
		hip_point_put(point);
		*point = hip_stream_point(stream);
	}
}
struct hip_point hip_point_get(const struct hip_point *point);
bool hip_point_is_completed(const struct hip_point *point);
/* The GPU gets what is before it. */
void hip_point_flush(const struct hip_point *point);
/* The error that the device has when it never will be. */
hipError_t hip_point_wait(const struct hip_point *point);
hipError_t hip_stream_wait(struct hip_stream *stream);

/* --- timestamps (timestamp.c) -------------------------------------------------------------------------- */

/* A place where a GPU writes its clock counter. */
struct hip_timestamp;
/* Between begin and done: the time at which all that the stream was given so far has ended is written there. The
 * caller's, until hip_timestamp_release(). */
hipError_t hip_timestamp_put(struct hip_stream *stream, struct hip_timestamp **timestamp);
/* What is there when the operation has ended, in ticks of HSA's clock. False: it never was executed. */
bool hip_timestamp_read(const struct hip_timestamp *timestamp, uint64_t *ticks);
/* It may still be written before the point is reached; then it is used again. */
void hip_timestamp_release(struct hip_timestamp *timestamp, const struct hip_point *point);

#endif

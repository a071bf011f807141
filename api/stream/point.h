/* Timeline points and timestamps of streams.
 *
 *   hip_point      a point in a stream's timeline; a value with references, owned by its user until hip_point_put()
 *   hip_timestamp  a place in memory where the GPU writes its clock counter; owned by its user until it is released
 *
 * Neither has a lock: a user's own guards it.
 */
#ifndef API_POINT_H
#define API_POINT_H

#include "api/stream/stream.h"

/* A point is reached when the operations of `stream` below `index` have ended. */
struct hip_point {
	struct hip_stream *stream;     /* a reference; NULL: the point is reached */
	uint64_t index;                /* a value of flow->written */
	uint64_t frees;                /* frees on the stream before the point */
	struct hip_frontier *frontier; /* a reference; NULL: the stream was ordered behind no other stream there */
};

/* Returns the point after everything that was submitted to the stream so far. The caller owns it until
 * hip_point_put(). */
struct hip_point hip_stream_point(struct hip_stream *stream);
void hip_point_put(struct hip_point *point);
/* Moves the point to the end of what was submitted to the stream. Between hip_stream_begin() and
 * hip_stream_done(). */
static inline void hip_point_move(struct hip_point *point, struct hip_stream *stream)
{
	/* In nearly all cases the references stay the same, or there is no frontier. */
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
/* Submits the operations before the point to the GPU. */
void hip_point_flush(const struct hip_point *point);
/* Waits for the point. Returns the device's error when the point will never be reached. */
hipError_t hip_point_wait(const struct hip_point *point);
hipError_t hip_stream_wait(struct hip_stream *stream);

/* --- timestamps (timestamp.c) -------------------------------------------------------------------------- */

struct hip_timestamp;
/* Submits an operation that writes the time at which all earlier operations have ended. The caller owns the
 * timestamp until hip_timestamp_release(). Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_timestamp_put(struct hip_stream *stream, struct hip_timestamp **timestamp);
/* Reads the value after the operation has ended, in ticks of HSA's clock. False: the operation was never
 * executed. */
bool hip_timestamp_read(const struct hip_timestamp *timestamp, uint64_t *ticks);
/* Gives the timestamp back. The GPU may still write it until the point is reached; then it is used again. */
void hip_timestamp_release(struct hip_timestamp *timestamp, const struct hip_point *point);

#endif

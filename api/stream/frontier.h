/* Frontiers: what a stream is ordered behind.
 *
 *   hip_frontier  a list of {other stream, number of its frees}; immutable, counted. A stream that is ordered
 *                 behind more gets a new list. Entries hold references to their streams
 *
 * Only calls that order streams change a stream's frontier: a wait for an event, the null stream's rules. Pools use
 * frontiers to reuse memory without an event of their own. Frontiers count frees, not operations: a free after an
 * event is not covered by the event, even if no operation lies between the two. frontier.c's lock guards which list
 * a stream has.
 */
#ifndef API_FRONTIER_H
#define API_FRONTIER_H

#include "api/stream/point.h"

struct hip_frontier {
	_Atomic unsigned refs;
	unsigned count;
	struct hip_frontier_entry {
		struct hip_stream *stream; /* a reference */
		uint64_t frees;
	} entry[];
};

struct hip_frontier *hip_frontier_get(struct hip_frontier *frontier);
/* Accepts NULL. */
void hip_frontier_put(struct hip_frontier *frontier);
/* Returns the stream's list, with a reference. NULL: the stream is ordered behind no other. */
struct hip_frontier *hip_frontier_of(struct hip_stream *stream);
/* Merges the point, and the point's own frontier, into the stream's: the stream's further work begins after them.
 * When memory is short the stream is ordered all the same, and memory is reused later. */
void hip_frontier_merge(struct hip_stream *stream, const struct hip_point *point);
/* The number of frees of `other` that `stream` is ordered behind; 0: none. */
uint64_t hip_frontier_covers(struct hip_stream *stream, const struct hip_stream *other);
/* Records that the host has waited for the point: the frees before it and before its frontier have ended. */
void hip_frontier_merge_host(const struct hip_point *point);
/* Drops the list of a stream that ends. */
void hip_frontier_fini(struct hip_stream *stream);

#endif

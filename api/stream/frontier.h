/* What a stream is ordered behind: of which other streams, behind how many of their frees. Only calls change it:
 * waiting for an event, the null stream's rules. Integers, so that memory is reused without an event of its own.
 * Frees are counted, not operations: one that comes behind an event is not covered by it, though no operation lies
 * between.
 *
 * A list is immutable; who learns gets a new one. Entries hold references to their streams. */
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
/* NULL is accepted. */
void hip_frontier_put(struct hip_frontier *frontier);
/* The stream's list, with a reference; NULL: it knows of nobody. */
struct hip_frontier *hip_frontier_of(struct hip_stream *stream);
/* From now on the stream's work begins behind the point, and behind what was known at the point. Without memory for
 * it the stream is ordered all the same, and memory is reused later. */
void hip_frontier_merge(struct hip_stream *stream, const struct hip_point *point);
/* Behind how many frees of the other stream; 0: nothing is known. */
uint64_t hip_frontier_covers(struct hip_stream *stream, const struct hip_stream *other);
/* The host has waited for the point: all that was known there has ended, and the host knows. */
void hip_frontier_merge_host(const struct hip_point *point);
/* The stream ends. */
void hip_frontier_fini(struct hip_stream *stream);

#endif

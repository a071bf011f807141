/* What a stream is ordered behind: of which other streams, behind how many of their frees. Only calls change it:
 * waiting for an event, the null stream's rules. Integers, so that memory is reused without an event of its own.
 * Frees are counted, not operations: one that comes behind an event is not covered by it, though no operation lies
 * between.
 *
 * A list is immutable; who learns gets a new one. Entries hold references to their streams. */
#ifndef API_KNOWN_H
#define API_KNOWN_H

#include "api/internal.h"

struct hip_known {
	_Atomic unsigned refs;
	unsigned count;
	struct hip_known_entry {
		struct hip_stream *stream; /* a reference */
		uint64_t frees;
	} entry[];
};

struct hip_known *hip_known_get(struct hip_known *known);
/* NULL is accepted. */
void hip_known_put(struct hip_known *known);
/* The stream's list, with a reference; NULL: it knows of nobody. */
struct hip_known *hip_known_of(struct hip_stream *stream);
/* From now on the stream's work begins behind the mark, and behind what was known at the mark. Without memory for
 * it the stream is ordered all the same, and memory is reused later. */
void hip_known_learn(struct hip_stream *stream, const struct hip_mark *mark);
/* Behind how many frees of the other stream; 0: nothing is known. */
uint64_t hip_known_below(struct hip_stream *stream, const struct hip_stream *other);
/* The host has waited for the mark: all that was known there has ended, and the host knows. */
void hip_known_by_host(const struct hip_mark *mark);
/* The stream ends. */
void hip_known_forget(struct hip_stream *stream);

#endif

#include "api/stream/frontier.h"

#include <stdlib.h>

/* Guards which list a stream has. Lists are small, and change only when calls order streams. */
static struct drv_lock lock;

struct hip_frontier *hip_frontier_get(struct hip_frontier *frontier)
{
	if (frontier)
		atomic_fetch_add_explicit(&frontier->refs, 1, memory_order_relaxed);
	return frontier;
}

void hip_frontier_put(struct hip_frontier *frontier)
{
	if (!frontier || atomic_fetch_sub(&frontier->refs, 1) != 1)
		return;
	for (unsigned i = 0; i < frontier->count; i++)
		hip_stream_put(frontier->entry[i].stream);
	free(frontier);
}

struct hip_frontier *hip_frontier_of(struct hip_stream *stream)
{
	struct hip_frontier *frontier;

	drv_lock(&lock);
	frontier = hip_frontier_get(stream->frontier);
	drv_unlock(&lock);
	return frontier;
}

static uint64_t frees_below(const struct hip_frontier *frontier, const struct hip_stream *other)
{
	for (unsigned i = 0; frontier && i < frontier->count; i++)
		if (frontier->entry[i].stream == other)
			return frontier->entry[i].frees;
	return 0;
}

uint64_t hip_frontier_covers(struct hip_stream *stream, const struct hip_stream *other)
{
	uint64_t frees;

	drv_lock(&lock);
	frees = frees_below(stream->frontier, other);
	drv_unlock(&lock);
	return frees;
}

/* Adds an entry, or raises the one of the same stream. The list has room. */
static void entry_raise(struct hip_frontier *frontier, struct hip_stream *stream, uint64_t frees)
{
	for (unsigned i = 0; i < frontier->count; i++)
		if (frontier->entry[i].stream == stream) {
			if (frontier->entry[i].frees < frees)
				frontier->entry[i].frees = frees;
			return;
		}
	frontier->entry[frontier->count++] = (struct hip_frontier_entry){hip_stream_get(stream), frees};
}

static void entries_raise(struct hip_frontier *frontier, const struct hip_frontier *more,
			  const struct hip_stream *but)
{
	for (unsigned i = 0; more && i < more->count; i++)
		if (more->entry[i].stream != but && !atomic_load(&more->entry[i].stream->gone))
			entry_raise(frontier, more->entry[i].stream, more->entry[i].frees);
}

void hip_frontier_merge(struct hip_stream *s, const struct hip_point *point)
{
	struct hip_frontier *old, *new;
	unsigned room;

	if (!point->stream || point->stream == s)
		return;
	drv_lock(&lock);
	old = s->frontier;
	if (frees_below(old, point->stream) >= point->frees && !point->frontier) {
		drv_unlock(&lock);
		return;
	}
	room = (old ? old->count : 0) + (point->frontier ? point->frontier->count : 0) + 1;
	new = calloc(1, sizeof(*new) + room * sizeof(new->entry[0]));
	if (new) {
		new->refs = 1;
		entries_raise(new, old, s);
		entries_raise(new, point->frontier, s);
		entry_raise(new, point->stream, point->frees);
		s->frontier = new;
	}
	drv_unlock(&lock);
	if (new)
		hip_frontier_put(old);
}

static void raise_to(struct hip_stream *stream, uint64_t frees)
{
	uint64_t had = atomic_load_explicit(&stream->host_frees, memory_order_relaxed);

	while (had < frees && !atomic_compare_exchange_weak(&stream->host_frees, &had, frees))
		continue;
}

void hip_frontier_merge_host(const struct hip_point *point)
{
	if (!point->stream)
		return;
	raise_to(point->stream, point->frees);
	for (unsigned i = 0; point->frontier && i < point->frontier->count; i++)
		raise_to(point->frontier->entry[i].stream, point->frontier->entry[i].frees);
}

void hip_frontier_fini(struct hip_stream *stream)
{
	struct hip_frontier *frontier;

	drv_lock(&lock);
	frontier = stream->frontier;
	stream->frontier = NULL;
	drv_unlock(&lock);
	hip_frontier_put(frontier);
}

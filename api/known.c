#include "api/known.h"

#include <stdlib.h>

/* Guards which list a stream has; lists are small, and change when calls order streams. */
static struct drv_lock lock;

struct hip_known *hip_known_get(struct hip_known *known)
{
	if (known)
		atomic_fetch_add_explicit(&known->refs, 1, memory_order_relaxed);
	return known;
}

void hip_known_put(struct hip_known *known)
{
	if (!known || atomic_fetch_sub(&known->refs, 1) != 1)
		return;
	for (unsigned i = 0; i < known->count; i++)
		hip_stream_put(known->entry[i].stream);
	free(known);
}

struct hip_known *hip_known_of(struct hip_stream *stream)
{
	struct hip_known *known;

	drv_lock(&lock);
	known = hip_known_get(stream->known);
	drv_unlock(&lock);
	return known;
}

static uint64_t frees_below(const struct hip_known *known, const struct hip_stream *other)
{
	for (unsigned i = 0; known && i < known->count; i++)
		if (known->entry[i].stream == other)
			return known->entry[i].frees;
	return 0;
}

uint64_t hip_known_below(struct hip_stream *stream, const struct hip_stream *other)
{
	uint64_t frees;

	drv_lock(&lock);
	frees = frees_below(stream->known, other);
	drv_unlock(&lock);
	return frees;
}

/* Into a list that has room. */
static void note(struct hip_known *known, struct hip_stream *stream, uint64_t frees)
{
	for (unsigned i = 0; i < known->count; i++)
		if (known->entry[i].stream == stream) {
			if (known->entry[i].frees < frees)
				known->entry[i].frees = frees;
			return;
		}
	known->entry[known->count++] = (struct hip_known_entry){hip_stream_get(stream), frees};
}

static void note_all(struct hip_known *known, const struct hip_known *more, const struct hip_stream *but)
{
	for (unsigned i = 0; more && i < more->count; i++)
		if (more->entry[i].stream != but && !atomic_load(&more->entry[i].stream->gone))
			note(known, more->entry[i].stream, more->entry[i].frees);
}

void hip_known_learn(struct hip_stream *s, const struct hip_mark *mark)
{
	struct hip_known *old, *new;
	unsigned room;

	if (!mark->stream || mark->stream == s)
		return;
	drv_lock(&lock);
	old = s->known;
	if (frees_below(old, mark->stream) >= mark->frees && !mark->known) {
		drv_unlock(&lock);
		return;
	}
	room = (old ? old->count : 0) + (mark->known ? mark->known->count : 0) + 1;
	new = calloc(1, sizeof(*new) + room * sizeof(new->entry[0]));
	if (new) {
		new->refs = 1;
		note_all(new, old, s);
		note_all(new, mark->known, s);
		note(new, mark->stream, mark->frees);
		s->known = new;
	}
	drv_unlock(&lock);
	if (new)
		hip_known_put(old);
}

static void raise_to(struct hip_stream *stream, uint64_t frees)
{
	uint64_t had = atomic_load_explicit(&stream->host_known, memory_order_relaxed);

	while (had < frees && !atomic_compare_exchange_weak(&stream->host_known, &had, frees))
		continue;
}

void hip_known_by_host(const struct hip_mark *mark)
{
	if (!mark->stream)
		return;
	raise_to(mark->stream, mark->frees);
	for (unsigned i = 0; mark->known && i < mark->known->count; i++)
		raise_to(mark->known->entry[i].stream, mark->known->entry[i].frees);
}

void hip_known_forget(struct hip_stream *stream)
{
	struct hip_known *known;

	drv_lock(&lock);
	known = stream->known;
	stream->known = NULL;
	drv_unlock(&lock);
	hip_known_put(known);
}

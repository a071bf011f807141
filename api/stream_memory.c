/* What packets need while they are in a stream: memory for their arguments, and signals that they complete. Both
 * are used again when the packets have ended. */
#include <stdlib.h>

#include "api/internal.h"

#define CHUNKS_MAX 64
#define GAP_MAX    3 /* packets until one has waited for what is done in a gap */

/* --- arguments -------------------------------------------------------------------------------- */

void *hip_args_allocate(struct hip_device *device, size_t size_B)
{
	void *base = NULL;

	if (device->args.handle && !hsa_amd_memory_pool_allocate(device->args, size_B, 0, &base))
		return base;
	if (hsa_amd_memory_pool_allocate(hip.kernarg, size_B, 0, &base))
		return NULL;
	if (hsa_amd_agents_allow_access(1, &device->agent, NULL, base)) {
		hsa_amd_memory_pool_free(base);
		return NULL;
	}
	return base;
}

static struct hip_chunk *new_chunk(struct hip_stream *s)
{
	struct hip_chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->base = hip_args_allocate(s->device, HIP_CHUNK_B);
	if (!chunk->base) {
		free(chunk);
		return NULL;
	}
	chunk->next = s->args ? s->args->next : chunk;
	if (s->args)
		s->args->next = chunk;
	s->chunks++;
	return chunk;
}

static bool is_free(const struct hip_stream *s, const struct hip_chunk *chunk)
{
	return hip.door->completed(s->door) >= chunk->last;
}

/* The next one in the ring if its packets have ended, else a new one. */
bool hip_stream_next_chunk(struct hip_stream *s, uint32_t size_B)
{
	struct hip_chunk *chunk = s->args ? s->args->next : NULL;

	if (size_B > HIP_CHUNK_B)
		return false;
	if (s->args) {
		s->args->last = atomic_load_explicit(&s->written, memory_order_relaxed);
		hip_stream_ring(s);
	}
	if ((!chunk || !is_free(s, chunk)) && s->chunks < CHUNKS_MAX)
		chunk = new_chunk(s);
	if (!chunk || (!is_free(s, chunk) && hip.door->wait(s->door, chunk->last, CS_FOREVER)))
		return false;
	s->args = chunk;
	return true;
}

void hip_stream_free_args(struct hip_stream *s)
{
	struct hip_chunk *chunk = s->args;

	for (unsigned i = 0; i < s->chunks; i++) {
		struct hip_chunk *next = chunk->next;

		hsa_amd_memory_pool_free(chunk->base);
		free(chunk);
		chunk = next;
	}
}

/* --- signals ---------------------------------------------------------------------------------- */

void hip_signal_free(struct hip_signal *signal)
{
	if (!signal)
		return;
	hsa_signal_destroy(signal->signal);
	free(signal);
}

void hip_stream_free_signals(struct hip_stream *s)
{
	while (s->signals) {
		struct hip_signal *signal = s->signals;

		s->signals = signal->next;
		hip_signal_free(signal);
	}
}

static struct hip_signal *new_signal(void)
{
	struct hip_signal *signal = calloc(1, sizeof(*signal));

	if (signal && hsa_signal_create(1, 0, NULL, &signal->signal)) {
		free(signal);
		signal = NULL;
	}
	return signal;
}

/* The one that came first, if its packets have ended. */
struct hip_signal *hip_stream_signal(struct hip_stream *s)
{
	struct hip_signal *signal = s->signals;

	if (!signal || signal->until > hip.door->completed(s->door))
		return new_signal();
	s->signals = signal->next;
	hsa_signal_store_relaxed(signal->signal, 1);
	return signal;
}

static void append_signal(struct hip_stream *s, struct hip_signal *signal, uint64_t until)
{
	signal->next = NULL;
	signal->until = until;
	if (s->signals)
		s->last_signal->next = signal;
	else
		s->signals = signal;
	s->last_signal = signal;
}

void hip_signal_leave(struct hip_signal *signal, const struct hip_mark *mark)
{
	struct hip_stream *s = mark->stream;
	bool gone = true;

	if (s) {
		drv_lock(&s->lock);
		gone = atomic_load(&s->gone);
		if (!gone)
			append_signal(s, signal, mark->index);
		drv_unlock(&s->lock);
	}
	if (gone)
		hip_signal_free(signal);
}

/* It is the stream's again when the packets so far have ended, and GAP_MAX more. */
static hipError_t lend_signal(struct hip_stream *s, hsa_signal_t *out)
{
	struct hip_signal *signal = hip_stream_signal(s);

	if (!signal)
		return hipErrorOutOfMemory;
	append_signal(s, signal, atomic_load_explicit(&s->written, memory_order_relaxed) + GAP_MAX);
	*out = signal->signal;
	return hipSuccess;
}

hipError_t hip_stream_open_gap(struct hip_stream *s, hsa_signal_t *begin, hsa_signal_t *done)
{
	hipError_t r = lend_signal(s, begin);

	if (!r)
		r = lend_signal(s, done);
	return r ? r : hip_stream_barrier(s, (hsa_signal_t){0}, *begin);
}

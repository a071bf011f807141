/* Memory for the arguments of a stream's dispatches, used again when they have ended. */
#include <stdlib.h>

#include "api/stream/stream.h"

#define CHUNKS_MAX 64

void *hip_allocate_for(const struct hip_device *device, hsa_amd_memory_pool_t pool, size_t size_B)
{
	void *base = NULL;

	if (hsa_amd_memory_pool_allocate(pool, size_B, 0, &base))
		return NULL;
	if (hsa_amd_agents_allow_access(1, &device->agent, NULL, base)) {
		hsa_amd_memory_pool_free(base);
		return NULL;
	}
	return base;
}

void *hip_args_allocate(struct hip_device *device, size_t size_B)
{
	void *base = NULL;

	if (device->args.handle && !hsa_amd_memory_pool_allocate(device->args, size_B, 0, &base))
		return base;
	return hip_allocate_for(device, hip.kernarg, size_B);
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
	return hip.hsa->reached(s->flow, chunk->last);
}

/* Takes the next chunk of the ring if its operations have ended, else allocates one. */
bool hip_stream_next_chunk(struct hip_stream *s, uint32_t size_B)
{
	struct hip_chunk *chunk = s->args ? s->args->next : NULL;

	if (size_B > HIP_CHUNK_B)
		return false;
	if (s->args)
		s->args->last = hip_stream_written(s);
	if ((!chunk || !is_free(s, chunk)) && s->chunks < CHUNKS_MAX)
		chunk = new_chunk(s);
	if (!chunk || (!is_free(s, chunk) && hip.hsa->wait(s->flow, chunk->last, CS_FOREVER)))
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

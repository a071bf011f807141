/* IB memory: an arena per ring, a list of chunks in order of use.
 *
 * A chunk is reused when the last job that uses it has ended, so memory becomes free in the order in which the ring
 * runs its jobs, and needs no bookkeeping per IB. While the ring is idle between jobs, all jobs use the same first
 * lines of the current chunk. */
#include "cs/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cs/pm4.h"
#include "vm/suballoc.h"

struct cs_command_buffer {
	struct cs_chunk *chunks; /* owned after the submission: chunks that were taken from the arena */
	uint64_t va;
	uint32_t dw; /* size of the first segment, which chains to the others */
};

static int chunk_create(struct cs_ring *ring, struct cs_chunk **out)
{
	/* Uncached for the GPU: the CPU writes it anew for each job. Executable: GFX9's command processor fetches
	 * IBs with the execute permission. CP_HQD_IB_CONTROL.IB_EXE_DISABLE, which would turn that off, is 0 after
	 * reset (Linux gc_9_0_sh_mask.h, gc_9_0_default.h); KFD sets it for its queues (kfd_mqd_manager_v9.c),
	 * DRM's gfx_v9_0.c and gfx_v9_4_3.c do not. Mesa maps its IBs executable on all chips
	 * (radv_amdgpu_bo.c). */
	struct vm_info info = {
		.size_B = CS_CHUNK_B,
		.kind = drv_writes_vram(ring->dev) ? VM_VRAM : VM_GTT_WC,
		.flags = VM_CPU | VM_UNCACHED | VM_EXEC | VM_RESIDENT,
	};
	struct cs_chunk *chunk = calloc(1, sizeof(*chunk));
	int r;

	if (!chunk)
		return drv_fail(-ENOMEM, "no host memory for an IB chunk");
	r = vm_suballoc_create(ring->ctx->vm, &info, &chunk->mem);
	if (r == -ENOMEM && info.kind == VM_VRAM) {
		info.kind = VM_GTT_WC;
		r = vm_suballoc_create(ring->ctx->vm, &info, &chunk->mem);
	}
	if (r) {
		free(chunk);
		return r;
	}
	ring->chunks++;
	*out = chunk;
	return 0;
}

int cs_ib_arena_init(struct cs_ring *ring)
{
	int r = chunk_create(ring, &ring->current);

	if (r)
		return r;
	ring->oldest = ring->current;
	ring->data_B = CS_CHUNK_B;
	return 0;
}

static void free_chunks(struct cs_chunk *chunk)
{
	for (struct cs_chunk *next; chunk; chunk = next) {
		next = chunk->next;
		vm_suballoc_destroy(&chunk->mem);
		free(chunk);
	}
}

void cs_ib_arena_fini(struct cs_ring *ring)
{
	free_chunks(ring->oldest);
}

/* Removes the oldest chunk from the list; waits for its jobs if wait is set. NULL: all chunks belong to the open
 * job. */
static struct cs_chunk *chunk_recycle(struct cs_ring *ring, bool wait, int *r)
{
	struct cs_chunk *chunk = ring->oldest;

	if (chunk == ring->current || chunk->last_seq == CS_OPEN)
		return NULL;
	if (cs_completed_seq(ring) < chunk->last_seq) {
		if (!wait)
			return NULL;
		*r = cs_fence_wait((struct cs_fence){ring, chunk->last_seq}, CS_FOREVER);
		if (*r)
			return NULL;
	}
	ring->oldest = chunk->next;
	return chunk;
}

/* Gets an unused chunk: a recycled or a new one. */
static int chunk_get(struct cs_ring *ring, struct cs_chunk **out)
{
	int r = 0;

	*out = chunk_recycle(ring, false, &r);
	if (!*out && ring->chunks < CS_CHUNKS_MAX)
		return chunk_create(ring, out);
	if (!*out)
		*out = chunk_recycle(ring, !(ring->ib.flags & CS_NOWAIT), &r);
	if (r || *out)
		return r;
	return drv_fail(ring->oldest->last_seq == CS_OPEN ? -ENOMEM : -EBUSY, "IB pool of %u KiB is full",
			CS_CHUNKS_MAX * CS_CHUNK_B / 1024);
}

/* Makes the chunk the current one. */
static void chunk_append(struct cs_ring *ring, struct cs_chunk *chunk)
{
	chunk->next = NULL;
	chunk->last_seq = CS_OPEN;
	ring->current->next = chunk;
	ring->current = chunk;
	ring->cmd_B = 0;
	ring->data_B = CS_CHUNK_B;
}

/* Sets the end of the room, and reserves space for padding and a chain packet. */
static void segment_set_end(struct cs_ring *ring)
{
	char *map = ring->current->mem.map;

	ring->ib.end = (uint32_t *)(map + ring->data_B) - PM4_CHAIN_DW - (IB_PAD_DW - 1);
}

static inline void segment_open(struct cs_ring *ring, uint32_t at_B)
{
	struct cs_ib *ib = &ring->ib;
	struct cs_segment *segment = &ib->segment[ib->segments];

	segment->map = (uint32_t *)((char *)ring->current->mem.map + at_B);
	segment->va = ring->current->mem.va + at_B;
	ib->cur = segment->map;
	segment_set_end(ring);
}

/* Pads the segment with NOPs so that its size, with behind_dw more dwords, is a whole multiple. An IB is never
 * empty: the kernel refuses size 0. */
static inline void segment_pad(struct cs_ring *ring, const struct cs_segment *segment, unsigned behind_dw)
{
	uint32_t *cur = ring->ib.cur;
	unsigned dw = cur - segment->map + behind_dw;
	unsigned fill = dw ? -dw % IB_PAD_DW : IB_PAD_DW;

	ring->ib.cur = cur + fill;
	if (ring->ip == DRV_IP_DMA)
		memset(cur, 0, fill * sizeof(*cur));
	else if (fill)
		*cur = PM4_NOP(fill);
}

/* Writes a chain packet: a jump to other commands, without return. */
static inline void fill_chain(uint32_t *chain, uint64_t va, uint32_t size)
{
	chain[0] = PM4_HEADER(PM4_INDIRECT_BUFFER, 3);
	chain[1] = cs_lo(va);
	chain[2] = cs_hi(va);
	chain[3] = size | IB_CHAIN | IB_VALID;
}

/* Closes the open segment, and writes its size into the chain packet that leads to it. */
static inline void segment_close(struct cs_ring *ring, struct cs_segment *segment)
{
	struct cs_ib *ib = &ring->ib;

	segment->dw = ib->cur - segment->map;
	if (ib->tail_size) {
		*ib->tail_size = segment->dw | IB_CHAIN | IB_VALID;
		if (ib->record && !(*ib->record)->dw)
			(*ib->record)->dw = segment->dw;
	}
	ib->tail_size = NULL;
	ring->cmd_B = (char *)ib->cur - (char *)ring->current->mem.map;
	ib->segments++;
}

static void fail_ib(struct cs_ib *ib, int r)
{
	ib->error = r;
	ib->cur = ib->ring->sink;
	ib->end = ib->ring->sink + CS_ROOM_MAX;
}

void cs_ib_arena_open(struct cs_ring *ring)
{
	uint32_t at_B = cs_ib_arena_place(ring, cs_completed_seq(ring));
	int r = 0;

	if (__builtin_expect(at_B + 4 * (CS_ROOM_MAX + PM4_CHAIN_DW + IB_PAD_DW) > ring->data_B, 0)) {
		struct cs_chunk *chunk;

		r = chunk_get(ring, &chunk);
		if (!r)
			chunk_append(ring, chunk);
		at_B = 0;
	}
	ring->ib_first = ring->current;
	if (__builtin_expect(r, 0)) {
		fail_ib(&ring->ib, r);
		return;
	}
	segment_open(ring, at_B);
	ring->current->last_seq = CS_OPEN;
}

void cs_ib_arena_close(struct cs_ring *ring)
{
	struct cs_segment *segment = &ring->ib.segment[ring->ib.segments];

	if (ring->ib.error)
		return;
	segment_pad(ring, segment, 0);
	segment_close(ring, segment);
}

void cs_ib_arena_commit(struct cs_ring *ring, uint64_t seq)
{
	for (struct cs_chunk *chunk = ring->ib_first; chunk; chunk = chunk->next)
		if (chunk->last_seq == CS_OPEN)
			chunk->last_seq = seq;
}

/* Continues in another chunk: compute rings chain to it, SDMA gets one more IB. */
static int segment_next(struct cs_ring *ring)
{
	struct cs_ib *ib = &ring->ib;
	struct cs_segment *segment = &ib->segment[ib->segments];
	bool chains = ring->ip != DRV_IP_DMA;
	uint32_t *chain = NULL;
	struct cs_chunk *chunk;
	int r;

	if (ib->segments == CS_SEGMENTS_MAX - 1 && !chains)
		return drv_fail(-ENOMEM, "a job of more than %u IBs", CS_SEGMENTS_MAX);
	r = chunk_get(ring, &chunk);
	if (r)
		return r;
	segment_pad(ring, segment, chains ? PM4_CHAIN_DW : 0);
	if (chains) {
		chain = ib->cur;
		ib->cur += PM4_CHAIN_DW;
	}
	segment_close(ring, segment);
	/* The previous segment chains to this one, so the submission names the first only. */
	if (chains)
		ib->segments = 1;
	chunk_append(ring, chunk);
	segment_open(ring, 0);
	if (chains) {
		const struct cs_segment *to = &ib->segment[ib->segments];

		fill_chain(chain, to->va, 0);
		ib->tail_size = &chain[3];
	}
	return 0;
}

uint32_t *cs_ib_more(struct cs_ib *ib)
{
	int r = ib->error ? ib->error : segment_next(ib->ring);

	if (r)
		fail_ib(ib, r);
	return ib->cur;
}

static uint32_t data_place(const struct cs_ring *ring, uint32_t size_B, uint32_t align_B)
{
	return size_B > ring->data_B ? 0 : (ring->data_B - size_B) & ~(align_B - 1);
}

void *cs_ib_data(struct cs_ib *ib, uint32_t size_B, uint32_t align_B, uint64_t *va)
{
	struct cs_ring *ring = ib->ring;
	uint32_t at_B;
	int r;

	*va = 0;
	if (!ib->error && (size_B > CS_DATA_MAX_B || align_B > 256))
		fail_ib(ib, drv_fail(-EINVAL, "a block of %u bytes at a multiple of %u", size_B, align_B));
	if (ib->error)
		return NULL;
	at_B = data_place(ring, size_B, align_B);
	/* Reserve room for further commands below the block. */
	if ((char *)ring->current->mem.map + at_B < (char *)(ib->cur + CS_ROOM_MAX + PM4_CHAIN_DW + IB_PAD_DW)) {
		r = segment_next(ring);
		if (r) {
			fail_ib(ib, r);
			return NULL;
		}
		at_B = data_place(ring, size_B, align_B);
	}
	ring->data_B = at_B;
	segment_set_end(ring);
	*va = ring->current->mem.va + at_B;
	return (char *)ring->current->mem.map + at_B;
}

/* --- recorded commands ------------------------------------------------------------------------ */

/* Recorded commands begin in a chunk of their own; their chunks belong to the arena until the job is submitted. */
int cs_ib_record(struct cs_ib *ib, struct cs_command_buffer **out)
{
	struct cs_command_buffer *commands = ib->error ? NULL : calloc(1, sizeof(*commands));
	int r = ib->error;

	if (!r)
		r = commands ? segment_next(ib->ring) : drv_fail(-ENOMEM, "no host memory for recorded commands");
	if (r) {
		free(commands);
		return r;
	}
	commands->chunks = ib->ring->current;
	commands->va = ib->segment[ib->segments].va;
	ib->regs = NULL;
	ib->record = out;
	*out = commands;
	return 0;
}

/* Removes the chunks from `first` on from the arena; the rest of the chunk before is not used. */
static void chunks_hand_over(struct cs_ring *ring, const struct cs_chunk *first)
{
	struct cs_chunk *before = ring->oldest;

	while (before->next != first)
		before = before->next;
	for (const struct cs_chunk *chunk = first; chunk; chunk = chunk->next)
		ring->chunks--;
	before->next = NULL;
	ring->current = before;
	ring->cmd_B = CS_CHUNK_B;
}

void cs_ib_arena_record_end(struct cs_ring *ring, bool submitted)
{
	struct cs_command_buffer **commands = ring->ib.record;

	ring->ib.record = NULL;
	if (submitted) {
		chunks_hand_over(ring, (*commands)->chunks);
	} else {
		free(*commands);
		*commands = NULL;
	}
}

void cs_ib_chain(struct cs_ib *ib, const struct cs_command_buffer *commands)
{
	struct cs_segment *segment = &ib->segment[ib->segments];

	if (ib->error)
		return;
	/* Pads here, so that the end of the job needs no padding after the chain packet. */
	segment_pad(ib->ring, segment, PM4_CHAIN_DW);
	fill_chain(ib->cur, commands->va, commands->dw);
	ib->cur += PM4_CHAIN_DW;
}

void cs_command_buffer_free(struct cs_command_buffer *commands)
{
	if (!commands)
		return;
	free_chunks(commands->chunks);
	free(commands);
}

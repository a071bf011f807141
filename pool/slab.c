/* Slabs: chunks that are cut in pieces of one size, with a bit for each. */
#include "pool/internal.h"
#include "vm/bits.h"

/* Two classes between a size and its double: a third of a piece is lost at most. */
static const uint8_t class_pages[POOL_CLASSES] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

_Static_assert(POOL_PIECE_MAX_B == 64 * POOL_PAGE_B, "the largest class");

uint64_t pool_class_B(unsigned size_class)
{
	return (uint64_t)class_pages[size_class] * POOL_PAGE_B;
}

unsigned pool_class_of(uint64_t size_B)
{
	unsigned size_class = 0;

	if (size_B > POOL_PIECE_MAX_B)
		return POOL_WHOLE;
	while (pool_class_B(size_class) < size_B)
		size_class++;
	return size_class;
}

/* --- the list of slabs with room -------------------------------------------------------------- */

static void slab_link_partial(struct pool_chunk *chunk)
{
	LIST_INSERT_HEAD(&chunk->pool->partial[chunk->size_class], chunk, in_partial);
}

static bool has_room(const struct pool_chunk *chunk)
{
	return chunk->size_class != POOL_WHOLE && chunk->used < chunk->blocks;
}

void pool_chunk_insert(struct pool_chunk *chunk)
{
	struct pool_stats *stats = &chunk->pool->stats;

	vm_tree_insert(&chunk->pool->space->chunks, &chunk->node);
	if (has_room(chunk))
		slab_link_partial(chunk);
	stats->chunks++;
	stats->reserved_B += chunk->node.hi - chunk->node.lo;
	if (stats->reserved_B > stats->reserved_peak_B)
		stats->reserved_peak_B = stats->reserved_B;
}

void pool_chunk_remove(struct pool_chunk *chunk)
{
	vm_tree_remove(&chunk->pool->space->chunks, &chunk->node);
	if (has_room(chunk))
		LIST_REMOVE(chunk, in_partial);
	chunk->pool->stats.chunks--;
	chunk->pool->stats.reserved_B -= chunk->node.hi - chunk->node.lo;
}

/* --- pieces ----------------------------------------------------------------------------------- */

struct pool_block *pool_take(struct pool_chunk *chunk, uint64_t size_B)
{
	struct pool_stats *stats = &chunk->pool->stats;
	struct pool_block *block;

	if (chunk->size_class != POOL_WHOLE && chunk->used + 1 == chunk->blocks)
		LIST_REMOVE(chunk, in_partial);
	chunk->used++;
	block = &chunk->block[vm_bits_take(chunk->free_bits)];
	block->size_B = size_B;
	block->seen_by = chunk->pool->info.seen_by;
	block->state = POOL_BLOCK_USED;
	stats->allocs++;
	stats->blocks++;
	stats->used_B += size_B;
	if (stats->used_B > stats->used_peak_B)
		stats->used_peak_B = stats->used_B;
	return block;
}

/* Keeps one empty slab per class, so that a single piece that is allocated and freed repeatedly costs no ioctl. */
static bool is_needed(const struct pool_chunk *chunk)
{
	if (chunk->used > chunk->lost)
		return true;
	return chunk->size_class != POOL_WHOLE && !chunk->lost && !LIST_NEXT(chunk, in_partial) &&
	       LIST_FIRST(&chunk->pool->partial[chunk->size_class]) == chunk;
}

void pool_put(struct pool_block *block, struct pool_gone *gone)
{
	struct pool_chunk *chunk = block->chunk;

	if (block->state == POOL_BLOCK_LOST) {
		chunk->lost++;
	} else {
		bool full = !has_room(chunk);

		block->state = POOL_BLOCK_FREE;
		block->owner = NULL;
		vm_bits_put(chunk->free_bits, block - chunk->block);
		chunk->used--;
		if (full && has_room(chunk))
			slab_link_partial(chunk);
	}
	if (is_needed(chunk))
		return;
	pool_chunk_remove(chunk);
	chunk->next = gone->chunk;
	gone->chunk = chunk;
}

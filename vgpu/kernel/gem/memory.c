#include <amdgpu_drm.h>
#include "vgpu/kernel/gem/memory.h"

int kern_phys_init(struct kern_phys *phys, uint64_t size_B)
{
	struct kern_block *all = kern_alloc(sizeof(*all));

	if (!all)
		return -ENOMEM;
	kern_list_init(&phys->blocks);
	phys->size_B = size_B;
	all->size_B = size_B;
	kern_list_add(&phys->blocks, &all->link);
	phys->cursor = all;
	return 0;
}

static struct kern_block *block_next(struct kern_block *block)
{
	struct kern_list *next = block->link.next;

	if (next == &kern->phys.blocks)
		next = next->next;
	return kern_entry(next, struct kern_block, link);
}

static bool is_last(const struct kern_block *block)
{
	return block->link.next == &kern->phys.blocks;
}

/* Cuts size_B off the front of a free block. */
static bool block_split(struct kern_block *block, uint64_t size_B)
{
	struct kern_block *rest;

	if (block->size_B == size_B)
		return true;
	rest = kern_alloc(sizeof(*rest));
	if (!rest)
		return false;
	rest->offset = block->offset + size_B;
	rest->size_B = block->size_B - size_B;
	block->size_B = size_B;
	kern_list_add(&block->link, &rest->link);
	return true;
}

/* Next fit: the file is several times the heaps' size, so behind the cursor there is nearly always one huge block,
 * and the search is one step. */
struct kern_block *kern_block_alloc(uint64_t size_B)
{
	struct kern_block *start = kern->phys.cursor, *block = start;

	do {
		if (!block->used && block->size_B >= size_B) {
			if (!block_split(block, size_B))
				return NULL;
			block->used = true;
			kern->phys.cursor = block_next(block);
			return block;
		}
		block = block_next(block);
	} while (block != start);
	return NULL;
}

static void block_absorb(struct kern_block *block, struct kern_block *next)
{
	block->size_B += next->size_B;
	if (kern->phys.cursor == next)
		kern->phys.cursor = block;
	kern_list_del(&next->link);
	kern_free(next);
}

void kern_block_discard(struct kern_block *block)
{
	sys_fallocate(kern_local.phys_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, block->offset, block->size_B);
}

void kern_block_free(struct kern_block *block)
{
	struct kern_block *prev;

	if (!block)
		return;
	block->used = false;
	if (!is_last(block) && !block_next(block)->used)
		block_absorb(block, block_next(block));
	prev = kern_entry(block->link.prev, struct kern_block, link);
	if (block->link.prev != &kern->phys.blocks && !prev->used)
		block_absorb(prev, block);
}

/* A split or a merge that was not finished shows in sizes only: the list holds either state. */
void kern_phys_repair(void)
{
	struct kern_list *head = &kern->phys.blocks, *pos, *tmp;

	kern->phys.cursor = kern_entry(head->next, struct kern_block, link);
	for (pos = head->next; pos != head; pos = pos->next) {
		struct kern_block *block = kern_entry(pos, struct kern_block, link);

		block->size_B = (is_last(block) ? kern->phys.size_B : block_next(block)->offset) - block->offset;
		if (!block->used)
			kern_block_discard(block);
	}
	kern_list_each(pos, tmp, head) {
		struct kern_block *block = kern_entry(pos, struct kern_block, link);

		while (!block->used && !is_last(block) && !block_next(block)->used)
			block_absorb(block, block_next(block));
		tmp = pos->next;
	}
}

/* --- accounts --- */

void kern_heap_uncharge(struct kern_bo *bo)
{
	struct kern_device *dev = bo->dev;

	if (bo->heap == AMDGPU_GEM_DOMAIN_VRAM) {
		dev->vram_used_B -= bo->size_B;
		dev->visible_used_B -= bo->visible ? bo->size_B : 0;
	} else if (bo->heap == AMDGPU_GEM_DOMAIN_GTT) {
		dev->gtt_used_B -= bo->size_B;
	}
	bo->heap = 0;
	bo->visible = false;
}

static uint64_t hidden_free(const struct kern_device *dev)
{
	return (dev->vram_B - dev->visible_B) - (dev->vram_used_B - dev->visible_used_B);
}

bool kern_vram_fits(const struct kern_bo *bo, bool need_visible)
{
	const struct kern_device *dev = bo->dev;

	return (!need_visible && hidden_free(dev) >= bo->size_B) ||
	       dev->visible_B - dev->visible_used_B >= bo->size_B;
}

/* VRAM is allocated from the end that the CPU does not reach, unless CPU access is required. */
static int vram_charge(struct kern_bo *bo, bool need_visible)
{
	struct kern_device *dev = bo->dev;
	bool visible = need_visible || hidden_free(dev) < bo->size_B;

	if (!kern_vram_fits(bo, need_visible))
		return -ENOMEM;
	dev->vram_used_B += bo->size_B;
	dev->visible_used_B += visible ? bo->size_B : 0;
	bo->visible = visible;
	return 0;
}

int kern_heap_charge(struct kern_bo *bo, uint32_t heap, bool need_visible)
{
	struct kern_device *dev = bo->dev;
	struct kern_bo before = *bo;
	int r = 0;

	kern_heap_uncharge(bo);
	if (heap == AMDGPU_GEM_DOMAIN_VRAM)
		r = vram_charge(bo, need_visible);
	else if (heap == AMDGPU_GEM_DOMAIN_GTT && dev->gtt_B - dev->gtt_used_B < bo->size_B)
		r = -ENOMEM;
	else if (heap == AMDGPU_GEM_DOMAIN_GTT)
		dev->gtt_used_B += bo->size_B;
	if (!r) {
		bo->heap = heap;
		kern_list_del(&bo->lru);
		bo->used = ++kern->next_id;
		if (heap == AMDGPU_GEM_DOMAIN_VRAM)
			kern_list_add_tail(&dev->lru, &bo->lru);
		return 0;
	}
	if (before.heap == AMDGPU_GEM_DOMAIN_VRAM) {
		dev->vram_used_B += bo->size_B;
		dev->visible_used_B += before.visible ? bo->size_B : 0;
	} else if (before.heap == AMDGPU_GEM_DOMAIN_GTT) {
		dev->gtt_used_B += bo->size_B;
	}
	bo->heap = before.heap;
	bo->visible = before.visible;
	return r;
}

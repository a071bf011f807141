/* Interval maps over the tree. */
#include "vm/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *vm_segment_first(const struct vm_segments *map, uint64_t lo, uint64_t hi)
{
	return vm_segment_next(map, NULL, lo, hi);
}

void *vm_segment_next(const struct vm_segments *map, const void *segment, uint64_t lo, uint64_t hi)
{
	return lo < hi ? vm_tree_next(&map->tree, segment, lo, hi) : NULL;
}

void vm_segment_insert(struct vm_segments *map, void *segment)
{
	vm_tree_insert(&map->tree, segment);
}

void vm_segment_remove(struct vm_segments *map, void *segment)
{
	vm_tree_remove(&map->tree, segment);
}

/* The segment that a cut at `at` splits; NULL: none. */
static struct vm_node *segment_across(const struct vm_segments *map, uint64_t at)
{
	struct vm_node *n = at ? vm_segment_first(map, at - 1, at) : NULL;

	return n && n->hi > at ? n : NULL;
}

int vm_cut_prepare(const struct vm_segments *map, uint64_t lo, uint64_t hi, struct vm_cut *cut)
{
	const uint64_t at[2] = {lo, hi};

	*cut = (struct vm_cut){0};
	for (unsigned i = 0; i < 2; i++)
		if (segment_across(map, at[i]) && !(cut->right[i] = malloc(map->size_B))) {
			free(cut->right[0]);
			return drv_fail(-ENOMEM, "no host memory to cut a segment");
		}
	return 0;
}

static void segment_split(struct vm_segments *map, uint64_t at, struct vm_node *right)
{
	struct vm_node *left = segment_across(map, at);

	vm_tree_remove(&map->tree, left);
	memcpy(right, left, map->size_B);
	left->hi = right->lo = at;
	if (map->split)
		map->split(left, right);
	vm_tree_insert(&map->tree, left);
	vm_tree_insert(&map->tree, right);
}

void vm_cut_commit(struct vm_segments *map, uint64_t lo, uint64_t hi, struct vm_cut *cut)
{
	if (cut->right[0])
		segment_split(map, lo, cut->right[0]);
	if (cut->right[1])
		segment_split(map, hi, cut->right[1]);
}

void vm_cut_cancel(struct vm_cut *cut)
{
	free(cut->right[0]);
	free(cut->right[1]);
}

static int segment_add(struct vm_segments *map, uint64_t lo, uint64_t hi, const void *plain)
{
	struct vm_node *n = malloc(map->size_B);

	if (!n)
		return drv_fail(-ENOMEM, "no host memory for a segment");
	memcpy(n, plain, map->size_B);
	n->lo = lo;
	n->hi = hi;
	vm_tree_insert(&map->tree, n);
	return 0;
}

int vm_segments_cover(struct vm_segments *map, uint64_t lo, uint64_t hi, const void *plain)
{
	struct vm_cut cut;
	int r = vm_cut_prepare(map, lo, hi, &cut);

	if (!r)
		vm_cut_commit(map, lo, hi, &cut);
	while (!r && lo < hi) {
		const struct vm_node *n = vm_segment_first(map, lo, hi);
		uint64_t end = n ? n->lo : hi;

		if (end > lo)
			r = segment_add(map, lo, end, plain);
		lo = n ? n->hi : hi;
	}
	return r;
}

/* Interval maps: disjoint segments of addresses, each with what holds for its addresses. A segment is an object of the owner
 * that begins with a vm_node; the map allocates those that cutting and covering add.
 *
 *   vm_segments  the map; its owner's lock guards it
 *   vm_cut       memory for the segments that two cuts add
 *
 * Thread rule: none of its own. */
#ifndef VM_SEGMENTS_H
#define VM_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "drv/error.h"
#include "vm/tree.h"

struct vm_segments {
	struct vm_tree tree;
	size_t size_B; /* size of a segment; immutable */
	/* Called after a cut, when `right` is a copy of `left` and both have their own addresses: adjusts the rest. NULL: there is
	 * nothing to adjust. */
	void (*split)(void *left, void *right);
};

/* The first segment that intersects [lo, hi), NULL: none. */
void *vm_segment_first(const struct vm_segments *map, uint64_t lo, uint64_t hi);
/* The next one after `segment`. */
void *vm_segment_next(const struct vm_segments *map, const void *segment, uint64_t lo, uint64_t hi);
/* Inserts an object of the owner, whose node has the addresses; they must be in no segment. */
void vm_segment_insert(struct vm_segments *map, void *segment);
/* Removes a segment, which the caller frees with free(). */
void vm_segment_remove(struct vm_segments *map, void *segment);

struct vm_cut {
	void *right[2]; /* owned; NULL: not needed */
};

/* Allocates what cuts at lo and hi need; the map does not change. -ENOMEM: nothing is allocated. */
DRV_MUST_CHECK int vm_cut_prepare(const struct vm_segments *map, uint64_t lo, uint64_t hi, struct vm_cut *cut);
/* Splits the segments that cross lo and hi. The map has not changed since vm_cut_prepare(). */
void vm_cut_commit(struct vm_segments *map, uint64_t lo, uint64_t hi, struct vm_cut *cut);
void vm_cut_cancel(struct vm_cut *cut);

/* Cuts at lo and hi, and adds copies of *plain, but for the addresses, where [lo, hi) has no segment. -ENOMEM: what was
 * added has the values of *plain or of the segment that it was cut from. */
DRV_MUST_CHECK int vm_segments_cover(struct vm_segments *map, uint64_t lo, uint64_t hi, const void *plain);

#endif

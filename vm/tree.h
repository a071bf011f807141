/* Intervals by address: a treap whose nodes are members of the objects that it indexes. Intervals may overlap.
 *
 *   vm_tree  the root; its owner's lock guards it
 *   vm_node  an interval; embedded in the indexed object
 *
 * Thread rule: none of its own; each tree is guarded by a lock of its owner. */
#ifndef VM_TREE_H
#define VM_TREE_H

#include <stdint.h>

struct vm_node {
	uint64_t lo, hi;              /* [lo, hi), set by the owner before insertion, constant while in the tree */
	uint64_t max_hi;              /* largest hi of the subtree */
	struct vm_node *left, *right; /* borrowed */
	uint32_t priority;            /* not less than its children's */
};

struct vm_tree {
	struct vm_node *root; /* borrowed; zero is an empty tree */
	uint64_t random;      /* state of the generator of priorities */
};

void vm_tree_insert(struct vm_tree *tree, struct vm_node *node);
/* The node must be in the tree. */
void vm_tree_remove(struct vm_tree *tree, struct vm_node *node);
/* Finds the next interval that intersects [lo, hi), in order of lo: the first after the node `after`, or the first
 * of all (NULL). NULL: none. Expected O(log n). */
struct vm_node *vm_tree_next(const struct vm_tree *tree, const struct vm_node *after, uint64_t lo, uint64_t hi);

#define vm_container(node, type, member) ((type *)(void *)((char *)(node) - offsetof(type, member)))

#endif

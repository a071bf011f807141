/* Intervals by address: a treap whose nodes lie inside the objects that they index. Intervals may overlap.
 *
 * Thread rule: none of its own; each tree is guarded by a lock of its owner. */
#ifndef VM_TREE_H
#define VM_TREE_H

#include <stdint.h>

struct vm_node {
	uint64_t lo, hi;              /* [lo, hi), set by the owner before inserting, constant while inside */
	uint64_t max_hi;              /* largest hi of the subtree */
	struct vm_node *left, *right; /* borrowed */
	uint32_t priority;            /* a parent's is not below its children's */
};

struct vm_tree {
	struct vm_node *root; /* borrowed; zero is an empty tree */
	uint64_t random;      /* where priorities come from */
};

void vm_tree_insert(struct vm_tree *tree, struct vm_node *node);
/* node is in the tree. */
void vm_tree_remove(struct vm_tree *tree, struct vm_node *node);
/* Of the intervals that intersect [lo, hi) the first behind `after` in order of lo; NULL: the first of all. NULL
 * when there is none. Expected O(log n). */
struct vm_node *vm_tree_next(const struct vm_tree *tree, const struct vm_node *after, uint64_t lo, uint64_t hi);

#define vm_container(node, type, member) ((type *)(void *)((char *)(node) - offsetof(type, member)))

#endif

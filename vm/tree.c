#include "vm/tree.h"

#include <stdbool.h>
#include <stddef.h>

/* Orders by start, and intervals of equal start by node address, so that each node has one position. */
static bool node_before(const struct vm_node *a, const struct vm_node *b)
{
	return a->lo != b->lo ? a->lo < b->lo : a < b;
}

static void node_update(struct vm_node *n)
{
	n->max_hi = n->hi;
	if (n->left && n->left->max_hi > n->max_hi)
		n->max_hi = n->left->max_hi;
	if (n->right && n->right->max_hi > n->max_hi)
		n->max_hi = n->right->max_hi;
}

/* Splits a subtree into the nodes before x and those after it. */
static void subtree_split(struct vm_node *n, const struct vm_node *x, struct vm_node **left, struct vm_node **right)
{
	if (!n) {
		*left = *right = NULL;
	} else if (node_before(n, x)) {
		*left = n;
		subtree_split(n->right, x, &n->right, right);
		node_update(n);
	} else {
		*right = n;
		subtree_split(n->left, x, left, &n->left);
		node_update(n);
	}
}

static struct vm_node *subtree_merge(struct vm_node *left, struct vm_node *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->priority >= right->priority) {
		left->right = subtree_merge(left->right, right);
		node_update(left);
		return left;
	}
	right->left = subtree_merge(left, right->left);
	node_update(right);
	return right;
}

static struct vm_node *subtree_insert(struct vm_node *n, struct vm_node *x)
{
	if (!n)
		return x;
	if (x->priority > n->priority) {
		subtree_split(n, x, &x->left, &x->right);
		node_update(x);
		return x;
	}
	if (node_before(x, n))
		n->left = subtree_insert(n->left, x);
	else
		n->right = subtree_insert(n->right, x);
	node_update(n);
	return n;
}

static struct vm_node *remove_from(struct vm_node *n, const struct vm_node *x)
{
	if (n == x)
		return subtree_merge(n->left, n->right);
	if (node_before(x, n))
		n->left = remove_from(n->left, x);
	else
		n->right = remove_from(n->right, x);
	node_update(n);
	return n;
}

void vm_tree_insert(struct vm_tree *tree, struct vm_node *node)
{
	/* Knuth's MMIX generator; its upper half is random enough for balance. */
	tree->random = tree->random * 6364136223846793005ull + 1442695040888963407ull;
	node->priority = tree->random >> 32;
	node->left = node->right = NULL;
	node->max_hi = node->hi;
	tree->root = subtree_insert(tree->root, node);
}

void vm_tree_remove(struct vm_tree *tree, struct vm_node *node)
{
	tree->root = remove_from(tree->root, node);
}

static struct vm_node *subtree_next(struct vm_node *n, const struct vm_node *after, uint64_t lo, uint64_t hi)
{
	struct vm_node *found;

	if (!n || n->max_hi <= lo)
		return NULL;
	if (!after || node_before(after, n)) {
		found = subtree_next(n->left, after, lo, hi);
		if (found)
			return found;
		if (n->lo < hi && n->hi > lo)
			return n;
	}
	return n->lo < hi ? subtree_next(n->right, after, lo, hi) : NULL;
}

struct vm_node *vm_tree_next(const struct vm_tree *tree, const struct vm_node *after, uint64_t lo, uint64_t hi)
{
	return subtree_next(tree->root, after, lo, hi);
}

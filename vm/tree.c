#include "vm/tree.h"

#include <stdbool.h>
#include <stddef.h>

/* Equal starts are told apart by address, so that each node has one place. */
static bool before(const struct vm_node *a, const struct vm_node *b)
{
	return a->lo != b->lo ? a->lo < b->lo : a < b;
}

static void update(struct vm_node *n)
{
	n->max_hi = n->hi;
	if (n->left && n->left->max_hi > n->max_hi)
		n->max_hi = n->left->max_hi;
	if (n->right && n->right->max_hi > n->max_hi)
		n->max_hi = n->right->max_hi;
}

/* Cuts a subtree into what comes before x and what comes behind it. */
static void split(struct vm_node *n, const struct vm_node *x, struct vm_node **left, struct vm_node **right)
{
	if (!n) {
		*left = *right = NULL;
	} else if (before(n, x)) {
		*left = n;
		split(n->right, x, &n->right, right);
		update(n);
	} else {
		*right = n;
		split(n->left, x, left, &n->left);
		update(n);
	}
}

static struct vm_node *merge(struct vm_node *left, struct vm_node *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->priority >= right->priority) {
		left->right = merge(left->right, right);
		update(left);
		return left;
	}
	right->left = merge(left, right->left);
	update(right);
	return right;
}

static struct vm_node *insert(struct vm_node *n, struct vm_node *x)
{
	if (!n)
		return x;
	if (x->priority > n->priority) {
		split(n, x, &x->left, &x->right);
		update(x);
		return x;
	}
	if (before(x, n))
		n->left = insert(n->left, x);
	else
		n->right = insert(n->right, x);
	update(n);
	return n;
}

static struct vm_node *remove_from(struct vm_node *n, const struct vm_node *x)
{
	if (n == x)
		return merge(n->left, n->right);
	if (before(x, n))
		n->left = remove_from(n->left, x);
	else
		n->right = remove_from(n->right, x);
	update(n);
	return n;
}

void vm_tree_insert(struct vm_tree *tree, struct vm_node *node)
{
	/* Knuth's MMIX generator; its upper half is random enough for balance. */
	tree->random = tree->random * 6364136223846793005ull + 1442695040888963407ull;
	node->priority = tree->random >> 32;
	node->left = node->right = NULL;
	node->max_hi = node->hi;
	tree->root = insert(tree->root, node);
}

void vm_tree_remove(struct vm_tree *tree, struct vm_node *node)
{
	tree->root = remove_from(tree->root, node);
}

static struct vm_node *next(struct vm_node *n, const struct vm_node *after, uint64_t lo, uint64_t hi)
{
	struct vm_node *found;

	if (!n || n->max_hi <= lo)
		return NULL;
	if (!after || before(after, n)) {
		found = next(n->left, after, lo, hi);
		if (found)
			return found;
		if (n->lo < hi && n->hi > lo)
			return n;
	}
	return n->lo < hi ? next(n->right, after, lo, hi) : NULL;
}

struct vm_node *vm_tree_next(const struct vm_tree *tree, const struct vm_node *after, uint64_t lo, uint64_t hi)
{
	return next(tree->root, after, lo, hi);
}

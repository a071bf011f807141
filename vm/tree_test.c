/* The interval tree against a plain array, over a random history. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/check.h"
#include "vm/tree.h"

enum { COUNT = 300 };

static struct vm_node node[COUNT];
static bool inside[COUNT];

static unsigned hits_in_array(uint64_t lo, uint64_t hi)
{
	unsigned hits = 0;

	for (unsigned i = 0; i < COUNT; i++)
		hits += inside[i] && node[i].lo < hi && node[i].hi > lo;
	return hits;
}

/* Reads the tree's hits as a bit mask; UINT32_MAX when the tree gives a wrong node or a wrong order. */
static unsigned hits_in_tree(const struct vm_tree *tree, uint64_t lo, uint64_t hi)
{
	uint64_t last = 0;
	unsigned hits = 0;

	for (struct vm_node *n = vm_tree_next(tree, NULL, lo, hi); n; n = vm_tree_next(tree, n, lo, hi)) {
		if (!inside[n - node] || n->lo >= hi || n->hi <= lo || n->lo < last || hits == COUNT)
			return UINT32_MAX;
		last = n->lo;
		hits++;
	}
	return hits;
}

static unsigned depth(const struct vm_node *n)
{
	unsigned l, r;

	if (!n)
		return 0;
	l = depth(n->left);
	r = depth(n->right);
	return 1 + (l > r ? l : r);
}

static void agrees_with_an_array(void)
{
	struct vm_tree tree = {0};
	bool right = true;

	srand(7);
	for (unsigned step = 0; step < 20000 && right; step++) {
		unsigned i = rand() % COUNT;
		uint64_t lo = rand() % 1000, hi = lo + 1 + rand() % (step % 3 ? 20 : 400);

		if (inside[i])
			vm_tree_remove(&tree, &node[i]);
		else
			vm_tree_insert(&tree, (node[i].lo = lo, node[i].hi = hi, &node[i]));
		inside[i] = !inside[i];
		lo = rand() % 1100;
		hi = lo + 1 + rand() % 30;
		right = hits_in_tree(&tree, lo, hi) == hits_in_array(lo, hi);
	}
	CHECK(right);
}

static void stays_flat_in_ascending_order(void)
{
	enum { MANY = 100000 };
	struct vm_node *many = calloc(MANY, sizeof(*many));
	struct vm_tree tree = {0};

	for (unsigned i = 0; i < MANY; i++) {
		many[i].lo = i * 10ull;
		many[i].hi = i * 10ull + 10;
		vm_tree_insert(&tree, &many[i]);
	}
	CHECK(depth(tree.root) < 60); /* 17 would be perfect, 100000 a list */
	CHECK(vm_tree_next(&tree, NULL, 123455, 123456) == &many[12345]);
	CHECK(!vm_tree_next(&tree, &many[12345], 123455, 123456));
	CHECK(!vm_tree_next(&tree, NULL, 1000000, 1000001));
	free(many);
}

int main(void)
{
	agrees_with_an_array();
	stays_flat_in_ascending_order();
	return check_done("interval tree");
}

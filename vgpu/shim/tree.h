/* Writing into the directory of a run: for tree.c and kfd.c. Paths are relative to the root. Errors are collected in the tree;
 * the first one counts. System calls go past the wrappers. */
#ifndef VGPU_SHIM_TREE_H
#define VGPU_SHIM_TREE_H

#include <stddef.h>

struct tree {
	const char *root; /* borrowed */
	int error;        /* 0 or -errno */
};

/* Creates a directory and its parents. */
void tree_make_dirs(struct tree *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tree_make_link(struct tree *t, const char *to, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void tree_write_file(struct tree *t, const char *dir, const char *name, const void *data, size_t size_B);
/* Writes at most 511 bytes. */
void tree_write_text(struct tree *t, const char *dir, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The i-th device of a run is alone on this bus, behind a bridge of its own. */
#define TREE_PCI_BUS(i) (3 + (i))

static inline unsigned long long tree_unique_id(unsigned i)
{
	return 0x7475666600000001ull + i; /* "tuff" */
}

#endif

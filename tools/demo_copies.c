/* The demo's table of copies: sizes by path, each checked. On a virtual GPU the rates are the emulator's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/demo.h"

static const uint64_t sizes_B[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
#define SIZES (sizeof(sizes_B) / sizeof(sizes_B[0]))

/* The buffers that all rows use. */
struct pool {
	uint64_t size_B;
	uint8_t *host;
	struct demo_memory vram[2], gtt;
};

static int pool_make(struct demo *d, struct pool *p)
{
	int r = demo_alloc(d, p->size_B, TUFF_VRAM, &p->vram[0]);

	r = r ? r : demo_alloc(d, p->size_B, TUFF_VRAM, &p->vram[1]);
	r = r ? r : demo_alloc(d, p->size_B, TUFF_GTT, &p->gtt);
	p->host = malloc(p->size_B);
	return r || p->host ? r : -ENOMEM;
}

static void pool_free(struct pool *p)
{
	free(p->host);
	demo_free(&p->vram[0]);
	demo_free(&p->vram[1]);
	demo_free(&p->gtt);
}

/* Kinds of ends of a path. */
enum end { HOST, GTT, VRAM0, VRAM1, FILL };

static void *end_of(const struct pool *p, enum end end)
{
	void *const ends[] = {p->host, p->gtt.va, p->vram[0].va, p->vram[1].va, NULL};

	return ends[end];
}

static const struct path {
	const char *name;
	enum end from, to;
} paths[] = {
	{"host -> VRAM", HOST, VRAM0}, {"VRAM -> host", VRAM0, HOST},  {"GTT -> VRAM", GTT, VRAM0},
	{"VRAM -> GTT", VRAM0, GTT},   {"VRAM -> VRAM", VRAM0, VRAM1}, {"fill VRAM", FILL, VRAM0},
};

/* Writes a pattern to the source, runs the path, and checks the destination. */
static int copies_run(struct demo *d, const struct pool *p, const struct path *path, uint64_t size_B,
		      double *seconds, bool *right, enum tuff_copier *copier)
{
	void *to = end_of(p, path->to), *from = end_of(p, path->from);
	uint8_t salt = size_B >> 12 ^ (path - paths) * 37;
	int r = tuff_copy_plan(d->device, to, from, size_B, copier);

	for (uint64_t i = 0; i < size_B; i++)
		p->host[i] = from ? (uint8_t)(i * 7 + (i >> 8) + salt) : 0x5a;
	if (!r && from && from != p->host)
		r = demo_copy(d, from, p->host, size_B);
	*seconds = demo_now_s();
	if (!r)
		r = from ? demo_copy(d, to, from, size_B) : demo_fill(d, to, 0x5a, size_B);
	*seconds = demo_now_s() - *seconds;
	if (!r && to != p->host) {
		memset(p->host, 0, size_B);
		r = demo_copy(d, p->host, to, size_B);
	}
	*right = true;
	for (uint64_t i = 0; !r && i < size_B; i++)
		*right &= p->host[i] == (from ? (uint8_t)(i * 7 + (i >> 8) + salt) : 0x5a);
	return r;
}

void demo_copies(struct demo *d)
{
	struct pool p = {.size_B = sizes_B[SIZES - 1]};
	int r = pool_make(d, &p);
	bool all_right = true;

	printf("\n%-14s", "MB/s");
	for (unsigned s = 0; s < SIZES; s++)
		printf("%9llu KiB     ", (unsigned long long)sizes_B[s] >> 10);
	printf("\n");
	for (const struct path *path = paths; !r && path < paths + sizeof(paths) / sizeof(paths[0]); path++) {
		printf("%-14s", path->name);
		for (unsigned s = 0; !r && s < SIZES; s++) {
			enum tuff_copier copier = TUFF_COPIER_CPU;
			double seconds;
			bool right;

			r = copies_run(d, &p, path, sizes_B[s], &seconds, &right, &copier);
			all_right &= right;
			printf("%10.0f %-6s%s", sizes_B[s] / seconds * 1e-6, r ? "-" : demo_copier_name(copier),
			       right ? "  " : "! ");
			fflush(stdout);
		}
		printf("\n");
	}
	demo_report(d, "copies", "6 paths, 5 sizes, every byte compared", r, all_right);
	pool_free(&p);
}

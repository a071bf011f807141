/* The demo's copy table: sizes by path, each checked. On a virtual GPU the rates are the emulator's. */
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
	struct vm_mem *vram[2], *gtt;
};

static int pool_make(struct demo *d, struct pool *p)
{
	struct vm_info gtt = {.size_B = p->size_B, .kind = VM_GTT, .flags = VM_CPU};

	p->host = malloc(p->size_B);
	p->vram[0] = demo_alloc(d, p->size_B);
	p->vram[1] = demo_alloc(d, p->size_B);
	if (!p->host || !p->vram[0] || !p->vram[1])
		return -ENOMEM;
	return vm_mem_create(d->vm, &gtt, &p->gtt);
}

static void pool_free(struct pool *p)
{
	free(p->host);
	vm_mem_destroy(p->vram[0]);
	vm_mem_destroy(p->vram[1]);
	vm_mem_destroy(p->gtt);
}

/* An end of a path: where its memory is, and which. */
enum end { HOST, GTT, VRAM0, VRAM1, FILL };

static struct sdma_end end_of(const struct pool *p, enum end end)
{
	switch (end) {
	case HOST:
		return (struct sdma_end){(uintptr_t)p->host, SDMA_PAGEABLE, true};
	case GTT:
		return (struct sdma_end){p->gtt->va, SDMA_GTT, true};
	default:
		return (struct sdma_end){p->vram[end == VRAM1]->va, SDMA_VRAM, false};
	}
}

static const struct path {
	const char *name;
	enum end from, to;
} paths[] = {
	{"host -> VRAM", HOST, VRAM0}, {"VRAM -> host", VRAM0, HOST},  {"GTT -> VRAM", GTT, VRAM0},
	{"VRAM -> GTT", VRAM0, GTT},   {"VRAM -> VRAM", VRAM0, VRAM1}, {"fill VRAM", FILL, VRAM0},
};

static int transfer(struct demo *d, const struct pool *p, const struct path *path, struct sdma_job *job)
{
	int r;

	job->dst = end_of(p, path->to);
	if (path->from != FILL)
		job->src = end_of(p, path->from);
	r = path->from == FILL ? sdma_copier_fill(d->copier, job, 0x5a) : sdma_copier_copy(d->copier, job);
	if (!r)
		r = cs_point_wait(job->point, CS_FOREVER);
	d->engine_used |= 1u << job->engine;
	return r;
}

/* Puts a pattern into the source, runs the path, and looks for the pattern in the destination. */
static int run(struct demo *d, const struct pool *p, const struct path *path, uint64_t size_B, double *seconds,
	       bool *right, enum sdma_engine *engine)
{
	struct sdma_job job = {.size_B = size_B};
	uint8_t salt = size_B >> 12 ^ (path - paths) * 37;
	int r = 0;

	for (uint64_t i = 0; i < size_B; i++)
		p->host[i] = path->from == FILL ? 0x5a : (uint8_t)(i * 7 + (i >> 8) + salt);
	if (path->from == GTT)
		memcpy(p->gtt->map, p->host, size_B);
	else if (path->from == VRAM0)
		r = demo_upload(d, p->vram[0], p->host, size_B);
	*seconds = demo_now_s();
	r = r ? r : transfer(d, p, path, &job);
	*seconds = demo_now_s() - *seconds;
	*engine = job.engine;
	if (!r && path->to != HOST) {
		memset(p->host, 0, size_B);
		if (path->to == GTT)
			memcpy(p->host, p->gtt->map, size_B);
		else
			r = demo_download(d, p->host, p->vram[path->to == VRAM1], size_B);
	}
	*right = true;
	for (uint64_t i = 0; !r && i < size_B; i++)
		*right &= p->host[i] == (path->from == FILL ? 0x5a : (uint8_t)(i * 7 + (i >> 8) + salt));
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
			enum sdma_engine engine;
			double seconds;
			bool right;

			r = run(d, &p, path, sizes_B[s], &seconds, &right, &engine);
			all_right &= right;
			printf("%10.0f %-6s%s", sizes_B[s] / seconds * 1e-6, r ? "-" : sdma_engine_name(engine),
			       right ? "  " : "! ");
			fflush(stdout);
		}
		printf("\n");
	}
	demo_report(d, "copies", "6 paths, 5 sizes, every byte compared", r, all_right);
	pool_free(&p);
}

/* tuff demo: real GPU programs through drv/, vm/, cs/ and sdma/, each checked against the CPU. */
#include "tools/demo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shaders/blob.h"
#include "tools/tool.h"

extern const struct shader_blob demo_blobs[];

double demo_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

struct vm_mem *demo_alloc(struct demo *d, uint64_t size_B)
{
	struct vm_info info = {.size_B = size_B, .kind = VM_VRAM};
	struct vm_mem *mem = NULL;

	return vm_mem_create(d->vm, &info, &mem) ? NULL : mem;
}

static int transfer(struct demo *d, struct sdma_job *job)
{
	int r = sdma_copier_copy(d->copier, job);

	if (!r)
		r = cs_point_wait(job->point, CS_FOREVER);
	d->engine_used |= 1u << job->engine;
	return r;
}

int demo_upload(struct demo *d, struct vm_mem *to, const void *from, uint64_t size_B)
{
	struct sdma_job job = {
		.dst = {.va = to->va, .place = SDMA_VRAM},
		.src = {.va = (uintptr_t)from, .place = SDMA_PAGEABLE, .cpu = true},
		.size_B = size_B,
	};

	return transfer(d, &job);
}

int demo_download(struct demo *d, void *to, const struct vm_mem *from, uint64_t size_B)
{
	struct sdma_job job = {
		.dst = {.va = (uintptr_t)to, .place = SDMA_PAGEABLE, .cpu = true},
		.src = {.va = from->va, .place = SDMA_VRAM},
		.size_B = size_B,
	};

	return transfer(d, &job);
}

int demo_launch(struct demo *d, const char *kernel, const uint32_t grid[3], const uint32_t group[3],
		const void *args, uint32_t args_B)
{
	struct cs_dispatch dispatch = {.args = args, .args_B = args_B};
	struct cs_point point;
	struct cs_ib *ib;
	int r = cs_code_kernel(d->code, kernel, &dispatch.kernel);

	memcpy(dispatch.grid, grid, sizeof(dispatch.grid));
	memcpy(dispatch.group, group, sizeof(dispatch.group));
	r = r ? r : cs_begin(d->ring, CS_ORDERED, &ib);
	if (r)
		return r;
	r = cs_ib_dispatch(ib, &dispatch);
	if (r) {
		cs_abandon(ib);
		return r;
	}
	d->launches++;
	r = cs_submit(ib, NULL, &point);
	r = r ? r : cs_point_wait(point, CS_FOREVER);
	return r ? r : cs_ctx_check(d->ctx);
}

static void describe_path(const struct demo *d, char *text, size_t text_B)
{
	size_t n = 0;

	text[0] = 0;
	for (unsigned e = 0; e < 3; e++)
		if (d->engine_used >> e & 1)
			n += snprintf(text + n, text_B - n, "%s%s", n ? ", " : "", sdma_engine_name(e));
	if (d->launches)
		snprintf(text + n, text_B - n, "%s%u launch%s", n ? ", " : "", d->launches,
			 d->launches > 1 ? "es" : "");
}

void demo_report(struct demo *d, const char *name, const char *what, int r, bool right)
{
	uint64_t ioctls = *d->dev->ioctls;
	char path[64];

	describe_path(d, path, sizeof(path));
	printf("%-11s %-52s %-24s %4llu ioctls %6.2f s  %s\n", name, what, path,
	       (unsigned long long)(ioctls - d->ioctls_before), demo_now_s() - d->started_s,
	       r       ? drv_error_last()->text
	       : right ? "right"
		       : "WRONG");
	fflush(stdout);
	d->right += !r && right;
	d->wrong += r || !right;
	d->engine_used = d->launches = 0;
	d->ioctls_before = ioctls;
	d->started_s = demo_now_s();
}

static int load_code(struct demo *d)
{
	const struct shader_blob *blob = shader_find(demo_blobs, "demo.O3", d->dev->chip->target);

	if (!blob)
		return drv_fail(-ENOTSUP, "the demo was not compiled for %s", d->dev->chip->target);
	return cs_code_load(d->vm, blob->image, blob->size_B, &d->code);
}

static int demo_open(struct demo *d)
{
	struct drv_node nodes[DRV_NODES_MAX];
	size_t count;
	int r = drv_scan(nodes, DRV_NODES_MAX, &count);

	r = r ? r : drv_device_open(&nodes[0], &d->dev);
	r = r ? r : vm_create(d->dev, &d->vm);
	r = r ? r : cs_ctx_create(d->vm, CS_PRIORITY_NORMAL, &d->ctx);
	r = r ? r : cs_ring_create(d->ctx, DRV_IP_COMPUTE, 0, cs_pm4_print, &d->ring);
	r = r ? r : sdma_copier_create(d->vm, &d->copier);
	r = r ? r : load_code(d);
	return r;
}

static void demo_close(struct demo *d)
{
	cs_code_unload(d->code);
	sdma_copier_destroy(d->copier);
	cs_ring_destroy(d->ring);
	cs_ctx_destroy(d->ctx);
	vm_destroy(d->vm);
	drv_device_close(d->dev);
}

static int usage(void)
{
	fprintf(stderr, "usage: tuff demo [--gpu SPEC] [--picture FILE.png]\n");
	return 2;
}

int tool_demo(int argc, char **argv)
{
	void (*const programs[])(struct demo *) = {demo_vadd,      demo_sgemm,      demo_reduce,
						   demo_histogram, demo_mandelbrot, demo_copies};
	struct demo d = {.picture = NULL};
	const char *spec = NULL;

	for (int i = 1; i < argc; i++) {
		if (i + 1 < argc && !strcmp(argv[i], "--gpu"))
			spec = argv[++i];
		else if (i + 1 < argc && !strcmp(argv[i], "--picture"))
			d.picture = argv[++i];
		else
			return usage();
	}
	if (tool_start_gpu(spec))
		return 1;
	if (demo_open(&d)) {
		fprintf(stderr, "tuff demo: %s\n", drv_error_last()->text);
		demo_close(&d);
		return 1;
	}
	printf("%s (%s) at %s, %u CUs, over libdrm%s\n\n", d.dev->name, d.dev->chip->target, d.dev->node.path,
	       d.dev->facts.cus, spec ? "; a virtual GPU: times are the emulator's" : "");
	d.ioctls_before = *d.dev->ioctls;
	d.started_s = demo_now_s();
	for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		programs[i](&d);
	printf("\n%u programs right, %u wrong\n", d.right, d.wrong);
	demo_close(&d);
	return d.wrong ? 1 : 0;
}

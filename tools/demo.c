/* tuff demo: real GPU programs through include/tuff/, each checked against the CPU. */
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

int demo_alloc(struct demo *d, uint64_t size_B, enum tuff_place place, struct demo_memory *memory)
{
	struct tuff_mem_create_info how = {
		.size_B = size_B, .place = place, .flags = place == TUFF_VRAM ? 0 : TUFF_MEM_CPU};
	struct tuff_mem_info info;
	int r = tuff_mem_create(d->device, &how, &memory->mem);

	r = r ? r : tuff_mem_query(memory->mem, &info);
	if (!r)
		memory->va = (void *)(uintptr_t)info.va;
	return r;
}

void demo_free(struct demo_memory *memory)
{
	(void)!tuff_mem_destroy(memory->mem);
	*memory = (struct demo_memory){0};
}

static int result_record(struct demo *d, const void *to, const void *from, uint64_t size_B)
{
	enum tuff_copier copier;
	int r = tuff_copy_plan(d->device, to, from, size_B, &copier);

	if (!r)
		d->copiers_used |= 1u << copier;
	return r;
}

int demo_copy(struct demo *d, void *to, const void *from, uint64_t size_B)
{
	int r = result_record(d, to, from, size_B);

	return r ? r : tuff_copy(d->device, to, from, size_B, NULL, 0, NULL);
}

int demo_fill(struct demo *d, void *to, uint8_t value, uint64_t size_B)
{
	int r = result_record(d, to, NULL, size_B);

	return r ? r : tuff_fill(d->device, to, value, size_B, NULL, 0, NULL);
}

int demo_launch(struct demo *d, const char *kernel, const uint32_t grid[3], const uint32_t group[3],
		const void *args, uint32_t args_B)
{
	struct tuff_dispatch dispatch = {.args = args, .args_B = args_B};
	struct tuff_point point;
	struct tuff_cmd *cmd;
	int r = tuff_code_kernel(d->code, kernel, &dispatch.kernel);

	memcpy(dispatch.grid, grid, sizeof(dispatch.grid));
	memcpy(dispatch.group, group, sizeof(dispatch.group));
	r = r ? r : tuff_begin(d->queue, TUFF_ORDERED, &cmd);
	if (r)
		return r;
	r = tuff_cmd_dispatch(cmd, &dispatch);
	if (r) {
		(void)!tuff_abandon(cmd);
		return r;
	}
	d->launches++;
	r = tuff_submit(cmd, NULL, &point);
	r = r ? r : tuff_wait(point, TUFF_FOREVER);
	return r ? r : tuff_device_check_fault(d->device);
}

const char *demo_copier_name(enum tuff_copier copier)
{
	static const char *const names[] = {
		[TUFF_COPIER_SDMA] = "SDMA", [TUFF_COPIER_KERNEL] = "kernel", [TUFF_COPIER_CPU] = "CPU"};

	return names[copier];
}

static void describe_path(const struct demo *d, char *text, size_t text_B)
{
	size_t n = 0;

	text[0] = 0;
	for (unsigned e = 0; e < 3; e++)
		if (d->copiers_used >> e & 1)
			n += snprintf(text + n, text_B - n, "%s%s", n ? ", " : "", demo_copier_name(e));
	if (d->launches)
		snprintf(text + n, text_B - n, "%s%u launch%s", n ? ", " : "", d->launches,
			 d->launches > 1 ? "es" : "");
}

static uint64_t count_ioctls(struct demo *d)
{
	struct tuff_usage usage = {0};

	(void)!tuff_device_usage(d->device, &usage); /* fails only when the programs fail, too */
	return usage.ioctls;
}

void demo_report(struct demo *d, const char *name, const char *what, int r, bool right)
{
	uint64_t ioctls = count_ioctls(d);
	char path[64];

	describe_path(d, path, sizeof(path));
	printf("%-11s %-52s %-24s %4llu ioctls %6.2f s  %s\n", name, what, path,
	       (unsigned long long)(ioctls - d->ioctls_before), demo_now_s() - d->started_s,
	       r       ? (*tuff_error() ? tuff_error() : strerror(-r))
	       : right ? "right"
		       : "WRONG");
	fflush(stdout);
	d->right += !r && right;
	d->wrong += r || !right;
	d->copiers_used = d->launches = 0;
	d->ioctls_before = count_ioctls(d);
	d->started_s = demo_now_s();
}

static int demo_open(struct demo *d, const char *path, struct tuff_device_info *info)
{
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};
	const struct shader_blob *blob;
	int r = tuff_device_open(path, &d->device);

	r = r ? r : tuff_device_query(d->device, info);
	r = r ? r : tuff_queue_create(d->device, &compute, &d->queue);
	if (r)
		return r;
	blob = shader_find(demo_blobs, "demo.O3", info->target);
	/* Without a matching blob, the loader's own error names the chip. */
	return tuff_code_load(d->device, blob ? blob->image : "", blob ? blob->size_B : 0, &d->code);
}

static void demo_close(struct demo *d)
{
	int r = tuff_code_unload(d->code);

	r = r ? r : tuff_queue_destroy(d->queue);
	r = r ? r : tuff_device_close(d->device);
	if (r)
		fprintf(stderr, "tuff demo: %s\n", tuff_error());
}

static const char usage_text[] = "usage: tuff demo [OPTION]...\n"
				 "Runs GPU programs and copies on the first GPU, and checks them against the CPU.\n"
				 "  --gpu SPEC      run them on a virtual GPU; tuff run --list has the chips\n"
				 "  --device NAME   on this GPU: its number, PCI address or render node\n"
				 "  --picture FILE  write the Mandelbrot set to FILE, a PNG\n"
				 "  --help          print this\n";

int tool_demo(int argc, char **argv)
{
	void (*const programs[])(struct demo *) = {demo_vadd,      demo_sgemm,      demo_reduce,
						   demo_histogram, demo_mandelbrot, demo_copies};
	struct demo d = {.picture = NULL};
	struct tuff_device_info info;
	const char *spec = NULL, *name = NULL;
	const struct tool_option options[] = {{"--gpu", .value = &spec},
					      {"--device", .value = &name},
					      {"--picture", .value = &d.picture},
					      {NULL}};
	struct drv_node node;
	int status, at = tool_options(argc, argv, options, usage_text, &status);

	if (at < 0)
		return status;
	if (at < argc)
		return tool_mistake(usage_text, "demo", "no use for %s", argv[at]);
	if (tool_start_gpu(spec))
		return 1;
	if (tool_find_device("demo", name, &node))
		return TOOL_UNUSABLE;
	if (demo_open(&d, name ? node.path : NULL, &info)) {
		fprintf(stderr, "tuff demo: %s\n", tuff_error());
		demo_close(&d);
		return TOOL_UNUSABLE;
	}
	printf("%s (%s) at %s, %u CUs, over libdrm%s\n\n", info.name, info.target, info.path, info.compute_units,
	       spec ? "; a virtual GPU: times are the emulator's" : "");
	d.ioctls_before = count_ioctls(&d);
	d.started_s = demo_now_s();
	for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		programs[i](&d);
	printf("\n%u programs right, %u wrong\n", d.right, d.wrong);
	demo_close(&d);
	return d.wrong ? 1 : 0;
}

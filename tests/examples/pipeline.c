/* A pipeline in chunks: pipeline CODE_OBJECT. One queue copies a chunk to VRAM, another runs a kernel on it, a
 * third copies the result back; the three work at the same time on different chunks, and say how long each took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tuff/tuff.h>

#define CHUNKS  8
#define N       65536 /* floats of a chunk */
#define CHUNK_B (N * 4ul)

enum stage { UP, ADD, DOWN, STAGES };

static struct tuff_device *gpu;
static struct tuff_queue *queue[STAGES];
static uint64_t *stamp; /* of each chunk and stage: begin, end */

static void must(int r)
{
	if (r) {
		fprintf(stderr, "pipeline: %s\n", tuff_error());
		exit(1);
	}
}

static struct tuff_mem *make(uint64_t size_B, enum tuff_place place, void **address)
{
	struct tuff_mem_create_info how = {size_B, place, place == TUFF_GTT ? TUFF_MEM_CPU : 0};
	struct tuff_mem_info info;
	struct tuff_mem *mem;

	must(tuff_mem_create(gpu, &how, &mem));
	must(tuff_mem_query(mem, &info));
	*address = (void *)info.va;
	return mem;
}

/* Begins a stage of a chunk, and ends it behind the stage before. */
static struct tuff_cmd *begin(unsigned chunk, enum stage stage)
{
	struct tuff_cmd *cmd;

	must(tuff_begin(queue[stage], TUFF_ORDERED, &cmd));
	must(tuff_cmd_timestamp(cmd, (uint64_t)&stamp[(chunk * STAGES + stage) * 2]));
	return cmd;
}

static struct tuff_point submit(struct tuff_cmd *cmd, unsigned chunk, enum stage stage, struct tuff_point after)
{
	struct tuff_order order = {.after = &after, .after_count = 1};
	struct tuff_point end;

	must(tuff_cmd_barrier(cmd));
	must(tuff_cmd_timestamp(cmd, (uint64_t)&stamp[(chunk * STAGES + stage) * 2 + 1]));
	must(tuff_submit(cmd, &order, &end));
	return end;
}

static struct tuff_kernel *load(const char *path, struct tuff_code **code)
{
	static char image[65536];
	FILE *file = path ? fopen(path, "rb") : NULL;
	size_t size = file ? fread(image, 1, sizeof(image), file) : 0;
	struct tuff_kernel *kernel;

	must(tuff_code_load(gpu, image, size, code));
	must(tuff_code_kernel(*code, "vadd", &kernel));
	return kernel;
}

static struct tuff_point run_chunk(unsigned i, struct tuff_kernel *kernel, char *host, char *vram)
{
	struct {
		void *c, *a, *b;
		unsigned n;
	} args = {vram + i * CHUNK_B, vram + i * CHUNK_B, vram + i * CHUNK_B, N};
	struct tuff_dispatch twice = {
		.kernel = kernel, .grid = {N}, .group = {256}, .args = &args, .args_B = sizeof(args)};
	struct tuff_point point = {0};
	struct tuff_cmd *cmd = begin(i, UP);

	must(tuff_cmd_copy(cmd, (uint64_t)vram + i * CHUNK_B, (uint64_t)host + i * CHUNK_B, CHUNK_B));
	point = submit(cmd, i, UP, point);
	cmd = begin(i, ADD);
	must(tuff_cmd_dispatch(cmd, &twice));
	point = submit(cmd, i, ADD, point);
	cmd = begin(i, DOWN);
	must(tuff_cmd_copy(cmd, (uint64_t)host + i * CHUNK_B, (uint64_t)vram + i * CHUNK_B, CHUNK_B));
	return submit(cmd, i, DOWN, point);
}

static void print_times(void)
{
	uint64_t start, from, to;

	must(tuff_device_time(gpu, stamp[0], &start));
	for (unsigned i = 0; i < CHUNKS; i++) {
		printf("chunk %u", i);
		for (unsigned s = 0; s < STAGES; s++) {
			must(tuff_device_time(gpu, stamp[(i * STAGES + s) * 2], &from));
			must(tuff_device_time(gpu, stamp[(i * STAGES + s) * 2 + 1], &to));
			printf("  %s %7.1f to %7.1f us", (const char *[]){"up", "add", "down"}[s],
			       (from - start) * 1e-3, (to - start) * 1e-3);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE}, copy = {.engine = TUFF_COPY};
	struct tuff_mem *mem[3];
	struct tuff_point end[CHUNKS];
	struct tuff_code *code;
	struct tuff_kernel *kernel;
	struct tuff_device_info info;
	void *host, *vram, *stamps;
	unsigned right = 0;

	must(tuff_device_open(NULL, &gpu));
	must(tuff_device_query(gpu, &info));
	must(tuff_queue_create(gpu, &copy, &queue[UP]));
	must(tuff_queue_create(gpu, &compute, &queue[ADD]));
	copy.ring = info.copy_rings - 1;
	must(tuff_queue_create(gpu, &copy, &queue[DOWN]));
	kernel = load(argc > 1 ? argv[1] : NULL, &code);
	mem[0] = make(CHUNKS * CHUNK_B, TUFF_GTT, &host);
	mem[1] = make(CHUNKS * CHUNK_B, TUFF_VRAM, &vram);
	mem[2] = make(4096, TUFF_GTT, &stamps);
	stamp = stamps;
	for (unsigned i = 0; i < CHUNKS * N; i++)
		((float *)host)[i] = i;

	for (unsigned i = 0; i < CHUNKS; i++)
		end[i] = run_chunk(i, kernel, host, vram);
	must(tuff_wait_all(end, CHUNKS, TUFF_FOREVER));

	for (unsigned i = 0; i < CHUNKS * N; i++)
		right += ((float *)host)[i] == 2.0f * i;
	print_times();
	printf("%u of %u sums are right\n", right, CHUNKS * N);
	for (unsigned i = 0; i < 3; i++) {
		must(tuff_queue_destroy(queue[i]));
		must(tuff_mem_destroy(mem[i]));
	}
	must(tuff_code_unload(code));
	must(tuff_device_close(gpu));
	return right != CHUNKS * N;
}

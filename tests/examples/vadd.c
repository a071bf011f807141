/* Adds two vectors on the first GPU: vadd CODE_OBJECT. The kernel is in vadd.hip.
 *
 *     cc vadd.c $(pkg-config --cflags --libs tuff) -o vadd */
#include <stdio.h>
#include <stdlib.h>

#include <tuff/tuff.h>

#define N 1000000

/* Stops with the reason when a call fails. */
static void must(int r)
{
	if (r) {
		fprintf(stderr, "vadd: %s\n", tuff_error());
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static char image[65536];
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	size_t size = file ? fread(image, 1, sizeof(image), file) : 0;
	struct tuff_mem_create_info how = {N * sizeof(float), TUFF_GTT, TUFF_MEM_CPU};
	struct {
		float *c, *a, *b;
		unsigned n;
	} args = {.n = N};
	struct tuff_dispatch launch = {.grid = {N}, .group = {256}, .args = &args, .args_B = sizeof(args)};
	float **vector[3] = {&args.c, &args.a, &args.b};
	struct tuff_mem *mem[3];
	struct tuff_mem_info info;
	struct tuff_device *gpu;
	struct tuff_queue *queue;
	struct tuff_code *code;
	struct tuff_cmd *cmd;
	struct tuff_point done;
	unsigned right = 0;

	must(tuff_device_open(NULL, &gpu));
	must(tuff_queue_create(gpu, &(struct tuff_queue_create_info){.engine = TUFF_COMPUTE}, &queue));
	must(tuff_code_load(gpu, image, size, &code));
	must(tuff_code_kernel(code, "vadd", &launch.kernel));
	for (unsigned i = 0; i < 3; i++) {
		must(tuff_mem_create(gpu, &how, &mem[i]));
		must(tuff_mem_query(mem[i], &info));
		*vector[i] = info.map; /* the same address for CPU and GPU */
	}
	for (unsigned i = 0; i < N; i++) {
		args.a[i] = i;
		args.b[i] = 2 * i;
	}
	must(tuff_begin(queue, 0, &cmd));
	must(tuff_cmd_dispatch(cmd, &launch));
	must(tuff_submit(cmd, NULL, &done));
	must(tuff_wait(done, TUFF_FOREVER));

	for (unsigned i = 0; i < N; i++)
		right += args.c[i] == 3.0f * i;
	printf("%u of %u sums are right\n", right, N);
	must(tuff_queue_destroy(queue));
	must(tuff_code_unload(code));
	for (unsigned i = 0; i < 3; i++)
		must(tuff_mem_destroy(mem[i]));
	must(tuff_device_close(gpu));
	return right != N;
}

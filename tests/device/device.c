#include "tests/device/device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "shaders/blob.h"

extern const struct shader_blob test_blobs[];

#define CODES_MAX    16
#define MEMORIES_MAX 64

/* What the running test has. */
static struct {
	const struct device_test *test;
	const char *path;
	struct tuff_device *device, *other;
	struct tuff_device_info info;
	struct tuff_queue *compute, *copy;
	struct test_code {
		const char *file;
		int level;
		struct tuff_code *code;
	} code[CODES_MAX];
	unsigned codes;
	struct tuff_mem *memory[MEMORIES_MAX];
	unsigned memories;
} run;

/* --- what it says ------------------------------------------------------------------------------------- */

void test_note(const char *fmt, ...)
{
	va_list args;

	printf("NOTE ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout); /* the rest of the test may be killed */
}

int test_ok(int r, const char *file, int line, const char *text)
{
	if (!check_(!r, file, line, text))
		printf("  gives %d: %s\n", r, tuff_error());
	return !r;
}

/* --- devices and queues ----------------------------------------------------------------------- */

struct tuff_device *test_device(void)
{
	int r;

	if (run.device)
		return run.device;
	r = tuff_device_open(run.path, &run.device);
	if (r)
		test_fail("the device cannot be opened (%d)", r);
	if (tuff_device_query(run.device, &run.info))
		test_fail("no facts");
	if (!run.info.can_submit && !(run.test->flags & TEST_ANY_CHIP))
		test_skip("%s has no compute ring", run.info.target);
	return run.device;
}

const struct tuff_device_info *test_info(void)
{
	(void)test_device();
	return &run.info;
}

struct tuff_device *test_other_device(void)
{
	struct tuff_gpu gpus[16];
	size_t count = 0;

	(void)test_device();
	if (run.other)
		return run.other;
	if (tuff_scan(gpus, 16, &count))
		test_fail("no scan");
	for (size_t i = 0; i < count && !run.other; i++)
		if (strcmp(gpus[i].path, run.info.path) && !tuff_device_open(gpus[i].path, &run.other))
			break;
	if (!run.other)
		test_skip("needs a second device");
	return run.other;
}

const char *test_path(void)
{
	return run.path;
}

struct tuff_queue *test_queue(struct tuff_device *device, enum tuff_engine engine, unsigned ring)
{
	struct tuff_queue_create_info info = {.engine = engine, .ring = ring};
	struct tuff_queue *queue;
	int r = tuff_queue_create(device, &info, &queue);

	if (r)
		test_fail("no queue on ring %u.%u (%d)", engine, ring, r);
	return queue;
}

struct tuff_cmd *test_begin(struct tuff_queue *queue, unsigned flags)
{
	struct tuff_cmd *cmd;
	int r = tuff_begin(queue, flags, &cmd);

	if (r)
		test_fail("no job can be begun (%d)", r);
	return cmd;
}

struct tuff_queue *test_compute(void)
{
	if (!run.compute)
		run.compute = test_queue(test_device(), TUFF_COMPUTE, 0);
	return run.compute;
}

struct tuff_queue *test_copy_queue(void)
{
	if (!test_info()->copy_rings)
		test_skip("the chip has no copy ring");
	if (!run.copy)
		run.copy = test_queue(test_device(), TUFF_COPY, 0);
	return run.copy;
}

/* --- memory ----------------------------------------------------------------------------------- */

struct test_memory test_memory(uint64_t size_B, enum tuff_place place, unsigned flags)
{
	struct tuff_mem_create_info info = {.size_B = size_B, .place = place, .flags = flags};
	struct test_memory memory = {0};
	struct tuff_mem_info facts;
	int r = tuff_mem_create(test_device(), &info, &memory.mem);

	if (r || tuff_mem_query(memory.mem, &facts))
		test_fail("no memory of %llu bytes (%d)", (unsigned long long)size_B, r);
	if (run.memories == MEMORIES_MAX)
		test_fail("more than %u memories in one test", MEMORIES_MAX);
	run.memory[run.memories++] = memory.mem;
	memory.va = facts.va;
	memory.map = facts.map;
	return memory;
}

struct test_memory test_gtt(uint64_t size_B)
{
	return test_memory(size_B, TUFF_GTT, TUFF_MEM_CPU);
}

struct test_memory test_vram(uint64_t size_B)
{
	return test_memory(size_B, TUFF_VRAM, 0);
}

struct test_memory test_uncached(uint64_t size_B)
{
	return test_memory(size_B, TUFF_GTT, TUFF_MEM_CPU | TUFF_MEM_UNCACHED);
}

void test_free(struct test_memory *memory)
{
	for (unsigned i = 0; i < run.memories; i++)
		if (run.memory[i] == memory->mem)
			run.memory[i] = run.memory[--run.memories];
	CHECK_OK(tuff_mem_destroy(memory->mem));
	*memory = (struct test_memory){0};
}

/* --- kernels ---------------------------------------------------------------------------------- */

static const struct shader_blob *find_blob(const char *file, int level, const struct tuff_device_info *info)
{
	const struct shader_blob *blob;
	char name[64];

	if (level == TEST_WAVE64)
		snprintf(name, sizeof(name), "%s.W64", file);
	else
		snprintf(name, sizeof(name), "%s.O%d", file, level);
	blob = shader_for(test_blobs, name, drv_chip_by_target(info->target));
	if (!blob)
		test_skip("%s is not compiled for %s", name, info->target);
	return blob;
}

const void *test_image(const char *file, int level, size_t *size_B)
{
	const struct shader_blob *blob = find_blob(file, level, test_info());

	*size_B = blob->size_B;
	return blob->image;
}

struct tuff_code *test_load(struct tuff_device *device, const char *file, int level)
{
	const struct shader_blob *blob;
	struct tuff_device_info info;
	struct tuff_code *code;
	int r = tuff_device_query(device, &info);

	if (r)
		test_fail("no facts (%d)", r);
	blob = find_blob(file, level, &info);
	r = tuff_code_load(device, blob->image, blob->size_B, &code);
	if (r)
		test_fail("%s for %s cannot be loaded (%d)", file, info.target, r);
	return code;
}

struct tuff_kernel *test_kernel(const char *file, int level, const char *name)
{
	struct tuff_kernel *kernel;
	struct test_code *c = run.code;

	while (c < run.code + run.codes && (c->level != level || strcmp(c->file, file)))
		c++;
	if (c == run.code + CODES_MAX)
		test_fail("more than %u code objects in one test", CODES_MAX);
	if (c == run.code + run.codes) {
		*c = (struct test_code){file, level, test_load(test_device(), file, level)};
		run.codes++;
	}
	if (tuff_code_kernel(c->code, name, &kernel))
		test_fail("%s has no kernel %s", file, name);
	return kernel;
}

int test_submit(const struct tuff_dispatch *dispatch, struct tuff_point *point)
{
	struct tuff_cmd *cmd;
	int r = tuff_begin(test_compute(), TUFF_ORDERED, &cmd);

	if (r)
		return r;
	r = tuff_cmd_dispatch(cmd, dispatch);
	if (!r)
		return tuff_submit(cmd, NULL, point);
	(void)!tuff_abandon(cmd);
	return r;
}

int test_run(const struct tuff_dispatch *dispatch)
{
	struct tuff_point point;
	int r = test_submit(dispatch, &point);

	r = r ? r : tuff_wait(point, TUFF_FOREVER);
	return r ? r : tuff_device_check_fault(test_device());
}

/* --- one thing ------------------------------------------------------------------------------------ */

struct test_gpu test_gpu_open(struct tuff_device *device)
{
	struct test_gpu gpu = {.device = device, .queue = test_queue(device, TUFF_COMPUTE, 0)};

	gpu.code = test_load(device, "group", 3);
	if (tuff_code_kernel(gpu.code, "k_add", &gpu.add))
		test_fail("group has no kernel k_add");
	return gpu;
}

void test_gpu_close(struct test_gpu *gpu)
{
	CHECK_OK(tuff_queue_destroy(gpu->queue));
	CHECK_OK(tuff_code_unload(gpu->code));
	*gpu = (struct test_gpu){0};
}

int test_gpu_add(const struct test_gpu *gpu, uint64_t va, uint32_t value)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {va, value};
	struct tuff_dispatch add = {.kernel = gpu->add, .grid = {64}, .group = {64}, .args = &args, .args_B = 12};
	struct tuff_queue_status status;
	struct tuff_point point;
	struct tuff_cmd *cmd;
	int r = tuff_begin(gpu->queue, TUFF_ORDERED, &cmd);

	if (r)
		return r;
	r = tuff_cmd_dispatch(cmd, &add);
	if (r) {
		(void)!tuff_abandon(cmd);
		return r;
	}
	r = tuff_submit(cmd, NULL, &point);
	r = r ? r : tuff_wait(point, TUFF_FOREVER);
	/* Asking how the queue is must not take the news of a fault away. */
	r = r ? r : tuff_queue_query(gpu->queue, &status);
	return r ? r : tuff_device_check_fault(gpu->device);
}

/* The kernel's amdgpu interface that tells faults (Linux 6.9). */
#define FAULTS_ARE_TOLD 55

bool test_gpu_add_faults(const struct test_gpu *gpu, uint64_t va)
{
	struct tuff_device_info info;
	int r = test_gpu_add(gpu, va, 1);

	if (tuff_device_query(gpu->device, &info))
		return false;
	/* The interrupt that tells it may come behind the one that ends the job. */
	for (unsigned i = 0; !r && i < 2000 && info.drm_minor >= FAULTS_ARE_TOLD; i++) {
		usleep(1000);
		r = tuff_device_check_fault(gpu->device);
	}
	return r == -EFAULT || (!r && info.drm_minor < FAULTS_ARE_TOLD);
}

uint32_t test_peek(struct tuff_device *device, uint64_t va)
{
	uint32_t value = 0xdead;

	CHECK_OK(tuff_copy(device, &value, (void *)(uintptr_t)va, 4, NULL, 0, NULL));
	return value;
}

void test_poke(struct tuff_device *device, uint64_t va, uint32_t value)
{
	uint32_t values[64];

	for (unsigned i = 0; i < 64; i++)
		values[i] = value;
	CHECK_OK(tuff_copy(device, (void *)(uintptr_t)va, values, sizeof(values), NULL, 0, NULL));
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Everything must come back, and then the device must close: it does not while something is alive. */
static void close_all(void)
{
	if (run.compute)
		CHECK_OK(tuff_queue_destroy(run.compute));
	if (run.copy)
		CHECK_OK(tuff_queue_destroy(run.copy));
	for (unsigned i = 0; i < run.codes; i++)
		CHECK_OK(tuff_code_unload(run.code[i].code));
	while (run.memories)
		CHECK_OK(tuff_mem_destroy(run.memory[--run.memories]));
	if (run.other)
		CHECK_OK(tuff_device_close(run.other));
	if (run.device)
		CHECK_OK(tuff_device_close(run.device));
}

void test_skip(const char *why, ...)
{
	va_list args;

	close_all();
	printf("SKIP ");
	va_start(args, why);
	vprintf(why, args);
	va_end(args);
	printf("\n");
	exit(77);
}

void test_fail(const char *what, ...)
{
	va_list args;

	printf("FAIL ");
	va_start(args, what);
	vprintf(what, args);
	va_end(args);
	printf(": %s\n", tuff_error());
	fflush(stdout); /* what is left open may be an offence of its own */
	exit(1);
}

int device_test_run(const struct device_test *test, const char *path)
{
	run.test = test;
	run.path = path;
	test->run();
	close_all();
	return check_done(test->name);
}

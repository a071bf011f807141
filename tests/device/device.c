#include "tests/device/device.h"

#include <stdarg.h>
#include <stdlib.h>

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
	if (tuff_device_info(run.device, &run.info))
		test_fail("no facts");
	if (!run.info.can_submit && !(run.test->flags & TEST_ANY_CHIP))
		test_skip("no packets for %s yet", run.info.target);
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
		if (strcmp(gpus[i].path, run.info.gpu.path) && !tuff_device_open(gpus[i].path, &run.other))
			break;
	if (!run.other)
		test_skip("needs a second device");
	return run.other;
}

static struct tuff_queue *make_queue(enum tuff_engine engine)
{
	struct tuff_queue_create_info info = {.engine = engine};
	struct tuff_queue *queue;
	int r = tuff_queue_create(test_device(), &info, &queue);

	if (r)
		test_fail("no queue of engine %u (%d)", engine, r);
	return queue;
}

struct tuff_queue *test_compute(void)
{
	if (!run.compute)
		run.compute = make_queue(TUFF_COMPUTE);
	return run.compute;
}

struct tuff_queue *test_copy_queue(void)
{
	if (!test_info()->copy_rings)
		test_skip("the chip has no copy ring");
	if (!run.copy)
		run.copy = make_queue(TUFF_COPY);
	return run.copy;
}

/* --- memory ----------------------------------------------------------------------------------- */

static struct test_memory make_memory(uint64_t size_B, enum tuff_place place, unsigned flags)
{
	struct tuff_mem_create_info info = {.size_B = size_B, .place = place, .flags = flags};
	struct test_memory memory = {0};
	struct tuff_mem_info facts;
	int r = tuff_mem_create(test_device(), &info, &memory.mem);

	if (r || tuff_mem_info(memory.mem, &facts))
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
	return make_memory(size_B, TUFF_GTT, TUFF_MEM_CPU);
}

struct test_memory test_vram(uint64_t size_B)
{
	return make_memory(size_B, TUFF_VRAM, 0);
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

struct tuff_code *test_load(struct tuff_device *device, const char *file, int level)
{
	const struct shader_blob *blob;
	struct tuff_device_info info;
	struct tuff_code *code;
	char name[64];
	int r = tuff_device_info(device, &info);

	if (r)
		test_fail("no facts (%d)", r);
	snprintf(name, sizeof(name), "%s.O%d", file, level);
	blob = shader_find(test_blobs, name, info.target);
	if (!blob)
		test_skip("%s is not compiled for %s", name, info.target);
	r = tuff_code_load(device, blob->image, blob->size_B, &code);
	if (r)
		test_fail("%s cannot be loaded (%d)", name, r);
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

uint64_t test_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
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

/* Device tests: whole-stack tests that use include/tuff/ alone (except probe_raw.c) and run on any device, real or
 * virtual. `tuff test` runs each in a process of its own. A test checks (tests/check.h), notes measurements, or
 * skips itself. The runner's child closes all objects of the functions below after the test, and then checks for
 * leaks. */
#ifndef TESTS_DEVICE_DEVICE_H
#define TESTS_DEVICE_DEVICE_H

#include <tuff/tuff.h>

#include "tests/check.h"
#include "tests/random.h"

enum device_test_flags {
	TEST_ANY_CHIP = 1 << 0, /* also on chips that cannot be submitted to */
	TEST_RESETS =
		1 << 1, /* makes the kernel reset the GPU: only when asked for by --resets or on a virtual one */
	TEST_PROBE = 1 << 2, /* an experiment: only with --probe */
	TEST_LONG = 1 << 3,  /* over ten seconds: only when named, or with --long */
	/* Does on purpose what hardware punishes, faults or dies with buffers in hand: a virtual device must not be
	 * strict with it. So are tests that reset. */
	TEST_LENIENT = 1 << 4,
};

struct device_test {
	const char *name;  /* "memory/addresses"; [a-z0-9/-] */
	const char *shows; /* what holds when it passes, one line */
	void (*run)(void);
	unsigned flags; /* enum device_test_flags */
};

/* All tests, group by group: the ladder first. Each group ends with a NULL name, the list with NULL. */
extern const struct device_test *const device_test_groups[];

/* --- for tests; each skips or fails the test when it cannot do it ------------------------------ */

/* Ends the test without a verdict. */
_Noreturn void test_skip(const char *why, ...) __attribute__((format(printf, 1, 2)));
/* Ends it as failed: nothing that follows could work. Shows tuff_error(). */
_Noreturn void test_fail(const char *what, ...) __attribute__((format(printf, 1, 2)));
/* A measured fact, for the report. */
void test_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* True when r is 0; else fails a check and shows r and tuff_error(). */
#define CHECK_OK(call) test_ok(call, __FILE__, __LINE__, #call)
int test_ok(int r, const char *file, int line, const char *text);

/* The device under test, and another one (skips when there is none); open until the end. */
struct tuff_device *test_device(void);
struct tuff_device *test_other_device(void);
/* Facts of the device under test. */
const struct tuff_device_info *test_info(void);

/* Its render node as the runner was told, NULL: the first; for processes that open it themselves. */
const char *test_path(void);

/* A queue of the device under test, and another; made at the first call. */
struct tuff_queue *test_compute(void);
struct tuff_queue *test_copy_queue(void);
/* A queue that the test destroys. */
struct tuff_queue *test_queue(struct tuff_device *device, enum tuff_engine engine, unsigned ring);
/* A job that has been begun. */
struct tuff_cmd *test_begin(struct tuff_queue *queue, unsigned flags);

/* Memory of any sort; what CPU and GPU see, filled with zeros; what only the GPU sees. */
struct test_memory {
	struct tuff_mem *mem;
	uint64_t va;
	void *map;
};
struct test_memory test_memory(uint64_t size_B, enum tuff_place place, unsigned flags);
struct test_memory test_gtt(uint64_t size_B);
struct test_memory test_vram(uint64_t size_B);
/* Pages that both see and no cache keeps: for words that the GPU polls and the CPU sets, or the other way. */
struct test_memory test_uncached(uint64_t size_B);
/* Frees it before the test ends. */
void test_free(struct test_memory *memory);

/* A kernel of tests/kernels/FILE.hip as compiled at -O<level> for the device under test; its code stays loaded. */
#define TEST_WAVE64 64 /* the level of code for waves of 64 lanes, on devices whose waves have 32 */
struct tuff_kernel *test_kernel(const char *file, int level, const char *name);
/* The code object, for any device; the test unloads it. */
struct tuff_code *test_load(struct tuff_device *device, const char *file, int level);

/* Writes one launch into a job of test_compute() and submits it; test_run() waits and asks for faults as well. */
int test_submit(const struct tuff_dispatch *dispatch, struct tuff_point *point);
int test_run(const struct tuff_dispatch *dispatch);

/* A device that can do one thing: data[i] = data[i] * 3 + value, for 64 dwords. For tests of memory, on any device
 * and in any process. */
struct test_gpu {
	struct tuff_device *device; /* borrowed */
	struct tuff_queue *queue;   /* owned */
	struct tuff_code *code;     /* owned */
	struct tuff_kernel *add;    /* the code's */
};
struct test_gpu test_gpu_open(struct tuff_device *device);
void test_gpu_close(struct test_gpu *gpu);
/* Does it at va, waits, and asks for faults. */
int test_gpu_add(const struct test_gpu *gpu, uint64_t va, uint32_t value);
/* The same where the GPU must not: true when the kernel says so within a moment, or is too old to tell. The caller
 * looks whether the memory has stayed as it was. Each access to one page is told once. */
bool test_gpu_add_faults(const struct test_gpu *gpu, uint64_t va);

/* The dword at va as the device's copies see it, and 64 of them with one value. */
uint32_t test_peek(struct tuff_device *device, uint64_t va);
void test_poke(struct tuff_device *device, uint64_t va, uint32_t value);

/* The code object itself; skips when there is none for the device under test. */
const void *test_image(const char *file, int level, size_t *size_B);

/* --- for the runner --------------------------------------------------------------------------- */

/* Runs it in this process, on the device at path (NULL: the first). Gives the exit status: 0, 1, or 77 for skipped;
 * test_skip() and test_fail() end the process. */
int device_test_run(const struct device_test *test, const char *path);

#endif

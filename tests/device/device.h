/* Device tests: whole-stack tests that are written against include/tuff/ alone and run on any device, real or
 * virtual. `tuff test` runs each in a process of its own.
 *
 * A test checks (tests/check.h), notes what it measured, or skips itself. What it gets from the functions below is
 * closed behind it, and the runner's child then looks whether anything is left. */
#ifndef TESTS_DEVICE_DEVICE_H
#define TESTS_DEVICE_DEVICE_H

#include <tuff/tuff.h>

#include "tests/check.h"

enum device_test_flags {
	TEST_ANY_CHIP = 1 << 0, /* also on chips that cannot be submitted to */
	TEST_RESETS =
		1 << 1, /* makes the kernel reset the GPU: only when asked for by --resets or on a virtual one */
	TEST_PROBE = 1 << 2, /* an experiment: only with --probe */
	TEST_LONG = 1 << 3,  /* over ten seconds: only when named, or with --long */
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

/* A queue of the device under test, and another; made at the first call. */
struct tuff_queue *test_compute(void);
struct tuff_queue *test_copy_queue(void);

/* Memory that CPU and GPU see, filled with zeros, and memory that only the GPU sees. */
struct test_memory {
	struct tuff_mem *mem;
	uint64_t va;
	void *map;
};
struct test_memory test_gtt(uint64_t size_B);
struct test_memory test_vram(uint64_t size_B);
/* Frees it before the test ends. */
void test_free(struct test_memory *memory);

/* A kernel of tests/kernels/FILE.hip as compiled at -O<level> for the device under test; its code stays loaded. */
struct tuff_kernel *test_kernel(const char *file, int level, const char *name);
/* The code object, for any device; the test unloads it. */
struct tuff_code *test_load(struct tuff_device *device, const char *file, int level);

/* Writes one launch into a job of test_compute() and submits it; test_run() waits and asks for faults as well. */
int test_submit(const struct tuff_dispatch *dispatch, struct tuff_point *point);
int test_run(const struct tuff_dispatch *dispatch);

/* xorshift64*, from a seed that is not 0. */
uint64_t test_random(uint64_t *state);

/* --- for the runner --------------------------------------------------------------------------- */

/* Runs it in this process, on the device at path (NULL: the first). Gives the exit status: 0, 1, or 77 for skipped;
 * test_skip() and test_fail() end the process. */
int device_test_run(const struct device_test *test, const char *path);

#endif

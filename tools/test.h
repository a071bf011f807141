/* What the files of `tuff test` share. */
#ifndef TOOLS_TEST_H
#define TOOLS_TEST_H

#include <stdbool.h>
#include <stdio.h>

#include <json.h>

#include "tests/device/device.h"

enum test_result { TEST_PASSED, TEST_FAILED, TEST_SKIPPED, TEST_NOT_RUN, TEST_RESULTS };

/* A device that is tested, as `tuff info` sees it. */
struct test_device {
	const char *gpu;           /* SPEC of a virtual device; NULL: the machine's own. Borrowed: from argv. */
	struct json_object *facts; /* owned: what info --json says; NULL: nothing */
	const char *target, *path,
		*why; /* owned by facts, or static: chip, render node, why it cannot be used; NULL: none */
	bool opens, usable;
};

/* Asks for the facts. name: --device, NULL: the first that can be used. Starts a process. */
void test_device_init(struct test_device *d, const char *gpu, const char *name);
void test_device_fini(struct test_device *d);

/* One thing to run: a device test on a device, or a program. */
struct test_item {
	const struct device_test *test; /* static; NULL: a program */
	const char *gpu; /* SPEC of a virtual device; NULL: the machine's own. Borrowed: from argv. */
	const struct test_device
		*device;     /* borrowed: from the options; NULL: a program, or to be found by the child */
	const char *program; /* borrowed: from argv */

	enum test_result result;
	double seconds;
	char *output; /* owned; what it printed; NULL: nothing yet */
	char *why;    /* owned; one line: the last of its output, or what became of it */
	char *log;    /* owned; of a rung that failed: what was submitted, decoded. NULL: none */
};

struct test_options {
	const char *device;          /* --device; NULL: the first that can be used */
	struct test_device *devices; /* borrowed; one for each SPEC, or the machine's own */
	unsigned device_count;
	const char *report[3];   /* files to write; the suffix says how: .json, .xml, else text */
	const char *pattern[32]; /* which tests; none: all */
	const char *gpu[32];     /* SPECs; none: the machine's own device */
	unsigned reports, patterns, gpus;
	unsigned jobs;      /* at a time */
	unsigned timeout_s; /* for each */
	bool resets, probe, long_ones, list, verbose, brief;
};

/* Runs the items, and says each result as it comes. */
void test_run_all(struct test_item *items, unsigned count, const struct test_options *options);
/* Prints the summary and writes the reports; 0, 1 when something failed, or TOOL_UNUSABLE when no device can be
 * used. */
int test_report(const struct test_item *items, unsigned count, const struct test_options *options);

/* A sentence on the device, when its tests have ended; chosen: not all of them were to be run. */
void test_device_say(FILE *to, const struct test_device *d, const struct test_item *items, unsigned item_count,
		     bool chosen);
/* Says where to send a report; report: the file, NULL: none was written. */
void test_say_where_to(const char *report);

/* Facts of machine, kernel and environment for a report; owned by the caller. */
struct json_object *test_machine(void);
/* Takes out of facts what names one specimen of a chip. */
void test_remove_serials(struct json_object *facts);

/* "gfx906 memory/addresses", for people; in a static buffer. */
const char *test_item_name(const struct test_item *item);
const char *test_result_name(enum test_result result);

#endif

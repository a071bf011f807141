/* Internal interface of `tuff test`: devices, items to run, options. One thread; each test runs in a child
 * process. */
#ifndef TOOLS_TEST_H
#define TOOLS_TEST_H

#include <stdbool.h>
#include <stdio.h>

#include <json.h>

#include "tests/device/device.h"

enum test_result { TEST_PASSED, TEST_FAILED, TEST_SKIPPED, TEST_NOT_RUN, TEST_RESULTS };

/* A device under test, with the facts of `tuff info`. */
struct test_device {
	const char *gpu;           /* SPEC of a virtual device; NULL: the machine's own. Borrowed: from argv. */
	struct json_object *facts; /* owned: output of info --json; NULL: none */
	const char *target, *path,
		*why; /* owned by facts, or static: chip, render node, reason why it cannot be used; NULL: none */
	bool opens, usable;
};

/* Reads the facts. name: --device, NULL: the first usable device. Starts a process. */
void test_device_init(struct test_device *d, const char *gpu, const char *name);
void test_device_fini(struct test_device *d);

/* A device test on a device, or a program to run. */
struct test_item {
	const struct device_test *test; /* static; NULL: a program */
	const char *gpu; /* SPEC of a virtual device; NULL: the machine's own. Borrowed: from argv. */
	const struct test_device
		*device;     /* borrowed from the options; NULL: a program, or the child selects the device */
	const char *program; /* borrowed: from argv */

	enum test_result result;
	double seconds;
	char *output; /* owned; printed output; NULL: none yet */
	char *why;    /* owned; one line: the last line of output, or how the process ended */
	char *log;    /* owned; decoded submissions of a failed rung. NULL: none */
};

struct test_options {
	const char *device;          /* --device; NULL: the first usable device */
	struct test_device *devices; /* borrowed; one for each SPEC, or the machine's own */
	unsigned device_count;
	const char *report[3];   /* files to write; the suffix selects the format: .json, .xml, else text */
	const char *pattern[32]; /* names of the tests to run; none: all */
	const char *gpu[32];     /* SPECs; none: the machine's own device */
	unsigned reports, patterns, gpus;
	unsigned jobs;      /* number of tests that run at the same time */
	unsigned timeout_s; /* limit per test */
	bool resets, probe, long_ones, list, verbose, brief;
};

/* Runs the items, and prints each result when it is known. */
void test_run_all(struct test_item *items, unsigned count, const struct test_options *options);
/* Prints the summary and writes the reports; 0, 1 when something failed, or TOOL_UNUSABLE when no device can be
 * used. */
int test_report(const struct test_item *items, unsigned count, const struct test_options *options);

/* Prints a sentence on the device, after its tests have ended; chosen: the user selected some of the tests. */
void test_device_say(FILE *to, const struct test_device *d, const struct test_item *items, unsigned item_count,
		     bool chosen);
/* Prints where to send a report; report: the file, NULL: none was written. */
void test_say_where_to(const char *report);

/* Facts of machine, kernel and environment for a report; owned by the caller. */
struct json_object *test_machine(void);
/* Removes identifiers of one specimen of a chip from facts. */
void test_remove_serials(struct json_object *facts);

/* Name for people, such as "gfx906 memory/addresses"; in a static buffer. */
const char *test_item_name(const struct test_item *item);
const char *test_result_name(enum test_result result);

#endif

/* What the files of `tuff test` share. */
#ifndef TOOLS_TEST_H
#define TOOLS_TEST_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/device/device.h"

enum test_result { TEST_PASSED, TEST_FAILED, TEST_SKIPPED, TEST_NOT_RUN, TEST_RESULTS };

/* One thing to run: a device test on a device, or a program. */
struct test_item {
	const struct device_test *test; /* static; NULL: a program */
	const char *gpu;     /* SPEC of a virtual device; NULL: the machine's own. Borrowed: from argv. */
	const char *program; /* borrowed: from argv */

	enum test_result result;
	double seconds;
	char *output; /* owned; what it printed; NULL: nothing yet */
	char *why;    /* owned; one line: the last of its output, or what became of it */
	char *log;    /* owned; of a rung that failed: what was submitted, decoded. NULL: none */
};

struct test_options {
	const char *device;      /* path of the render node; NULL: the first */
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
/* Prints the summary and writes the reports; 0, or 1 when something failed. */
int test_report(const struct test_item *items, unsigned count, const struct test_options *options);

/* "gfx906 memory/addresses", for people; in a static buffer. */
const char *test_item_name(const struct test_item *item);
const char *test_result_name(enum test_result result);

#endif

/* The error records of this process, in a file. */
#ifndef TESTS_HIP_ERROR_LOG_H
#define TESTS_HIP_ERROR_LOG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

static char error_log_name[] = "/tmp/tuff-errors-XXXXXX";

/* Before the first call of HIP. */
static void error_log_begin(void)
{
	int fd = mkstemp(error_log_name);

	CHECK(fd >= 0);
	close(fd);
	setenv("TUFF_LOG", "error", 1);
	setenv("TUFF_LOG_FILE", error_log_name, 1);
}

static bool error_log_mentions(const char *what)
{
	char text[65536];
	FILE *log = fopen(error_log_name, "r");
	size_t size = log ? fread(text, 1, sizeof(text) - 1, log) : 0;

	text[size] = 0;
	if (log)
		fclose(log);
	return strstr(text, what);
}

static void error_log_end(void)
{
	unlink(error_log_name);
}

#endif

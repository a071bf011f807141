/* Traces for people who debug programs: AMD_LOG_LEVEL, with the levels of AMD's library. 1: failed calls and
 * kernels' faults; 3 and more: each call and its result, without its arguments. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "api/tool/tool.h"

#define LEVEL_ERRORS 1
#define LEVEL_CALLS  3

static void line_print(int level, const char *function, const char *what, const char *more)
{
	DRV_HOLD_CANCEL;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(stderr, ":%d:hip: %llu us: [pid:%d tid:0x%llx] %s%s%s\n", level,
		(unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000, getpid(),
		(unsigned long long)pthread_self(), function, what, more);
}

static unsigned log_level(void)
{
	return hip_slow_path_flags() & HIP_SLOW_LOG;
}

void hip_trace_call(const char *function, const struct hip_arg *args)
{
	if (log_level() >= LEVEL_CALLS)
		line_print(LEVEL_CALLS, function, "", "");
	if (hip_slow_path_flags() & HIP_SLOW_TOOL)
		hip_tool_enter(function, args);
}

/* hipErrorNotReady is a result, not a failure. */
void hip_trace_result(const char *function, hipError_t error)
{
	bool failed = error && error != hipErrorNotReady;

	if (log_level() >= (failed ? LEVEL_ERRORS : LEVEL_CALLS))
		line_print(failed ? LEVEL_ERRORS : LEVEL_CALLS, function, ": Returned ", hipGetErrorName(error));
	hip_tool_exit(function);
}

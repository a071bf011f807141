/* What programs do, for who debugs them: AMD_LOG_LEVEL, as HIP's own library has it. 1: what fails, and kernels'
 * faults; 3 and above: each call, and what it gives. Not: its arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/tool.h"
#include "drv/config.h"
#include "drv/log.h"
#include <hip/api/profile.h>

#define LEVEL_ERRORS 1
#define LEVEL_CALLS  3

_Atomic unsigned hip_slow_flags = HIP_SLOW_UNINITIALIZED;

void hip_trace_init(void)
{
	const struct drv_config *config = drv_config();
	unsigned level = config->amd_log_level;

	/* TUFF_LOG, of all that is tuff's, has errors, too. */
	if (level < LEVEL_ERRORS && config->log & DRV_LOG_ERROR)
		level = LEVEL_ERRORS;
	atomic_fetch_or(&hip_slow_flags, level);
}

static void tell(int level, const char *function, const char *what, const char *more)
{
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
		tell(LEVEL_CALLS, function, "", "");
	if (hip_slow_path_flags() & HIP_SLOW_TOOL)
		hip_tool_enter(function, args);
}

/* That work is not done is no failure. */
void hip_trace_result(const char *function, hipError_t error)
{
	bool failed = error && error != hipErrorNotReady;

	if (log_level() >= (failed ? LEVEL_ERRORS : LEVEL_CALLS))
		tell(failed ? LEVEL_ERRORS : LEVEL_CALLS, function, ": Returned ", hipGetErrorName(error));
	hip_tool_exit(function);
}

/* --- names, for tools ------------------------------------------------------------------------- */

/* As long as the module is loaded. NULL: there is no such function. */
const char *hipKernelNameRef(const hipFunction_t function)
{
	const struct hip_kernel *k;

	return hip_function_of(function, &k) ? NULL : k->cs->name;
}

const char *hipKernelNameRefByPtr(const void *function, hipStream_t stream)
{
	const struct hip_kernel *k;
	struct hip_stream *s;

	if (hip_init() || hip_stream_of(stream, &s) || hip_kernel_of(function, s->device, &k))
		return NULL;
	return k->cs->name;
}

/* A precompiled header of HIP's, for hiprtc: ours needs none. */
void __hipGetPCH(const char **pch, unsigned int *size_B)
{
	if (pch)
		*pch = NULL;
	if (size_B)
		*size_B = 0;
}

/* --- what compilers may call of whom they link, for half ---------------------------------------- */

float __gnu_h2f_ieee(unsigned short bits)
{
	_Float16 half;

	memcpy(&half, &bits, sizeof(half));
	return (float)half;
}

unsigned short __gnu_f2h_ieee(float value)
{
	_Float16 half = (_Float16)value;
	unsigned short bits;

	memcpy(&bits, &half, sizeof(bits));
	return bits;
}

/* Status of each call with invalid arguments: a table, one call per line. The status is AMD's of HIP 6.4 and, where
 * 5.2's differs, of both.
 *
 *   PROGRAM [-v]    -v: the result of every call */
#ifndef TESTS_HIP_STATUSES_H
#define TESTS_HIP_STATUSES_H

#define HIP_DEPRECATED
#define HIP_API_TEMPLATES_H /* C's functions alone: templates of the same names would compete */
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <hip/hip_runtime.h>
#include <hip/hip_ext.h>

#include "tests/check.h"

static bool statuses_verbose;

static void status_is(int want, int got, const char *call, const char *file, int line)
{
	if (statuses_verbose)
		printf("%s:%d: %s %s\n", strrchr(file, '/') + 1, line, hipGetErrorName((hipError_t)got), call);
	if (!check_(want == got, file, line, call))
		printf("  got %s, want %s\n", hipGetErrorName((hipError_t)got), hipGetErrorName((hipError_t)want));
}

#ifndef IS
#define IS(status, call) status_is(status, (int)(call), #call, __FILE__, __LINE__)
#endif
/* Of the older library, and of the newer. */
#if TUFF_HIP_ABI == 5
#define IS_5_6(five, six, call) IS(five, call)
#else
#define IS_5_6(five, six, call) IS(six, call)
#endif
#define OK(call) IS(hipSuccess, call)

/* A handle that never was one: memory of the program's, as another library's handles are. */
alignas(64) static char nothing_there[4096];
template <typename T> static T made_up()
{
	return (T)(void *)nothing_there;
}

static int statuses_done(const char *what, int argc, char **argv, void (*const *parts)(), size_t count)
{
	setlinebuf(stdout);
	statuses_verbose = argc > 1 && !strcmp(argv[1], "-v");
	for (size_t i = 0; i < count; i++)
		parts[i]();
	return check_done(what);
}
/* The parts of a program, in their order. */
#define STATUSES(what, ...)                                                                                        \
	int main(int argc, char **argv)                                                                            \
	{                                                                                                          \
		void (*const parts[])() = {__VA_ARGS__};                                                           \
                                                                                                                   \
		return statuses_done(what, argc, argv, parts, sizeof(parts) / sizeof(parts[0]));                   \
	}

#endif

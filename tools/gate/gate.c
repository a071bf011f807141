/* libtuff-gate.so: preloaded by `tuff run` for programs that test for ROCm's kernel driver before they call any
 * library, as rocminfo does. It answers exactly these tests, and forwards all other calls:
 *
 *   open("/dev/kfd")                                            -> /dev/null
 *   popen() of a command that searches lsmod's output for amdgpu -> as if the module were loaded
 *   fopen("/sys/module/amdgpu/initstate"), when it is missing   -> "live"
 *
 * tuff's libraries themselves never open /dev/kfd and intercept no call. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static const char *instead_of(const char *path)
{
	return path && !strcmp(path, "/dev/kfd") ? "/dev/null" : path;
}

/* Finds the next library's function of that name. */
#define NEXT(type, name)                                                                                           \
	static __typeof__(type) *next;                                                                             \
	if (!next)                                                                                                 \
		*(void **)&next = dlsym(RTLD_NEXT, name);

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(name)                                                                                                 \
	EXPORT int name(const char *path, int flags, ...);                                                         \
	int name(const char *path, int flags, ...)                                                                 \
	{                                                                                                          \
		mode_t mode;                                                                                       \
		va_list args;                                                                                      \
		NEXT(int(const char *, int, ...), #name)                                                           \
                                                                                                                   \
		va_start(args, flags);                                                                             \
		mode = mode_of(flags, args);                                                                       \
		va_end(args);                                                                                      \
		return next(instead_of(path), flags, mode);                                                        \
	}
OPEN(open)
OPEN(open64)

EXPORT FILE *popen(const char *command, const char *mode);
FILE *popen(const char *command, const char *mode)
{
	NEXT(FILE * (const char *, const char *), "popen")

	if (command && !strncmp(command, "lsmod", 5) && strstr(command, "amdgpu"))
		command = "echo amdgpu";
	return next(command, mode);
}

#define INITSTATE "/sys/module/amdgpu/initstate"

/* Makes a stream with a descriptor: C++ streams read from the descriptor. */
static FILE *live(void)
{
	FILE *file = tmpfile();

	if (file) {
		fputs("live\n", file);
		rewind(file);
	}
	return file;
}

#define FOPEN(name)                                                                                                \
	EXPORT FILE *name(const char *path, const char *mode);                                                     \
	FILE *name(const char *path, const char *mode)                                                             \
	{                                                                                                          \
		FILE *file;                                                                                        \
		NEXT(FILE *(const char *, const char *), #name)                                                    \
                                                                                                                   \
		file = next(instead_of(path), mode);                                                               \
		return file || !path || strcmp(path, INITSTATE) ? file : live();                                   \
	}
FOPEN(fopen)
FOPEN(fopen64)

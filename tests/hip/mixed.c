/* Several libraries of HIP in a process, as programs have that mix releases: each works, takes no handle of another one, and one
 * line on stderr says that there are several. Then one that finds another HSA library than ours.
 *
 *   mixed [MODE]    the test starts itself for what needs a process of its own */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>

#include "tests/check.h"

#define LIBRARIES 3
#define DEBIANS   "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5"

static const char *const names[LIBRARIES] = {"libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"};

struct library {
	hipError_t (*malloc)(void **, size_t);
	hipError_t (*free)(void *);
	hipError_t (*version)(int *);
	hipError_t (*stream_create)(hipStream_t *);
	hipError_t (*stream_destroy)(hipStream_t);
	hipError_t (*event_create)(hipEvent_t *);
	hipError_t (*event_record)(hipEvent_t, hipStream_t);
	hipError_t (*event_synchronize)(hipEvent_t);
	hipError_t (*set)(void *, int, size_t, hipStream_t);
	hipError_t (*copy)(void *, const void *, size_t, hipMemcpyKind);
};

static const char *const functions[] = {
	"hipMalloc",      "hipFree",        "hipRuntimeGetVersion", "hipStreamCreate", "hipStreamDestroy",
	"hipEventCreate", "hipEventRecord", "hipEventSynchronize",  "hipMemsetAsync",  "hipMemcpy"};

static int load(const char *name, struct library *l)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!CHECK(handle != NULL)) {
		printf("  %s\n", dlerror());
		return 0;
	}
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		CHECK((((void **)l)[i] = dlsym(handle, functions[i])) != NULL);
	return 1;
}

static void each_works(const struct library *l, int major)
{
	unsigned char byte = 0;
	hipStream_t stream;
	hipEvent_t event;
	void *memory;
	int version;

	CHECK_EQ(l->version(&version), hipSuccess);
	CHECK_EQ(version / 10000000, major);
	CHECK_EQ(l->stream_create(&stream), hipSuccess);
	CHECK_EQ(l->event_create(&event), hipSuccess);
	CHECK_EQ(l->malloc(&memory, 4096), hipSuccess);
	CHECK_EQ(l->set(memory, 0x5a + major, 4096, stream), hipSuccess);
	CHECK_EQ(l->event_record(event, stream), hipSuccess);
	CHECK_EQ(l->event_synchronize(event), hipSuccess);
	CHECK_EQ(l->copy(&byte, (char *)memory + 4095, 1, hipMemcpyDeviceToHost), hipSuccess);
	CHECK_EQ(byte, 0x5a + major);
	CHECK_EQ(l->free(memory), hipSuccess);
	CHECK_EQ(l->stream_destroy(stream), hipSuccess);
}

static void all(void)
{
	struct library l[LIBRARIES];
	hipStream_t stream[LIBRARIES];
	void *memory[LIBRARIES];

	for (int i = 0; i < LIBRARIES; i++) {
		if (!load(names[i], &l[i]))
			return;
		each_works(&l[i], 5 + i);
		CHECK_EQ(l[i].stream_create(&stream[i]), hipSuccess);
		CHECK_EQ(l[i].malloc(&memory[i], 64), hipSuccess);
	}
	for (int i = 0; i < LIBRARIES; i++)
		for (int k = 0; k < LIBRARIES; k++)
			if (i != k) {
				CHECK(l[i].stream_destroy(stream[k]) != hipSuccess);
				CHECK(l[i].set(memory[i], 0, 64, stream[k]) != hipSuccess);
				CHECK(l[i].free(memory[k]) != hipSuccess);
			}
	for (int i = 0; i < LIBRARIES; i++) {
		CHECK_EQ(l[i].stream_destroy(stream[i]), hipSuccess);
		CHECK_EQ(l[i].free(memory[i]), hipSuccess);
	}
}

/* Another HSA library comes first: there are no devices, and the process goes on. */
static void foreign_hsa(void)
{
	char path[4096 + 32] = "";
	struct library l;
	void *memory;

	CHECK(readlink("/proc/self/exe", path, 4095) > 0);
	strcpy(strrchr(path, '/'), "/foreign/libhsa-runtime64.so.1");
	if (CHECK(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL) && load(names[2], &l))
		CHECK_EQ(l.malloc(&memory, 64), hipErrorInitializationError);
}

/* AMD's HIP, as wheels bring it, over our HSA library: it works. */
static void foreign_hip(void)
{
	struct library l;

	CHECK(dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_GLOBAL) != NULL);
	if (load(DEBIANS, &l))
		each_works(&l, 5);
}

static const struct mode {
	const char *name;
	void (*run)(void);
	const char *says; /* once, on stderr */
	const char *needs;
} modes[] = {
	{"all", all, "tuff: two libraries of HIP are loaded", NULL},
	{"foreign_hsa", foreign_hsa, "needs tuff's HSA library", NULL},
	{"foreign_hip", foreign_hip, "tuff: the program uses " DEBIANS, DEBIANS},
};

/* Runs the mode in a process of its own, and reads what it says. */
static void child(const struct mode *m)
{
	char exe[4096] = "", said[8192] = "";
	int pipes[2], status = -1;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0 && !pipe(pipes));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		execl(exe, exe, m->name, (char *)NULL);
		_exit(1);
	}
	close(pipes[1]);
	while (n < sizeof(said) - 1 && (got = read(pipes[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	close(pipes[0]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	if (!CHECK(strstr(said, m->says) != NULL && !strstr(strstr(said, m->says) + 1, m->says)))
		printf("  said: %s\n", said);
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			return check_done(argv[1]);
		} else if (argc == 1 && modes[i].needs && access(modes[i].needs, R_OK)) {
			printf("not tested, since its library is not there: %s\n", modes[i].name);
		} else if (argc == 1) {
			child(&modes[i]);
		}
	return check_done("several libraries of HIP");
}

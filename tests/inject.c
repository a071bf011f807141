#include "tests/inject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/files.h"
#include "vgpu/vgpu.h"

/* --- what fails --------------------------------------------------------------------------------- */

/* HSA has threads of its own. */
static _Atomic long countdown; /* 1: the next call of that kind fails; 0 and below: none does */
static enum inject_kind kind;
static _Atomic long live; /* blocks that the driver holds */
static long kept;         /* those that it keeps for the process: tables that only grow */

static bool fail_now(enum inject_kind of)
{
	long n = of == kind ? countdown : 0;

	while (n > 0)
		if (atomic_compare_exchange_weak(&countdown, &n, n - 1))
			return n == 1;
	return false;
}

/* --- allocations of the driver ---------------------------------------------------------------- */

static void *counted(void *block)
{
	live += block != NULL;
	return block;
}

void *inject_malloc(size_t size_B);
void *inject_malloc(size_t size_B)
{
	return fail_now(INJECT_MEMORY) ? NULL : counted(malloc(size_B));
}

void *inject_calloc(size_t count, size_t size_B);
void *inject_calloc(size_t count, size_t size_B)
{
	return fail_now(INJECT_MEMORY) ? NULL : counted(calloc(count, size_B));
}

void *inject_realloc(void *old, size_t size_B);
void *inject_realloc(void *old, size_t size_B)
{
	void *block = fail_now(INJECT_MEMORY) ? NULL : realloc(old, size_B);

	live += block && !old;
	return block;
}

char *inject_strdup(const char *text);
char *inject_strdup(const char *text)
{
	return fail_now(INJECT_MEMORY) ? NULL : counted(strdup(text));
}

char *inject_strndup(const char *text, size_t length);
char *inject_strndup(const char *text, size_t length)
{
	return fail_now(INJECT_MEMORY) ? NULL : counted(strndup(text, length));
}

void inject_free(void *block);
void inject_free(void *block)
{
	live -= block != NULL;
	free(block);
}

void *inject_mmap(void *at, size_t size_B, int prot, int flags, int fd, off_t offset);
void *inject_mmap(void *at, size_t size_B, int prot, int flags, int fd, off_t offset)
{
	if (fail_now(INJECT_MEMORY)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return mmap(at, size_B, prot, flags, fd, offset);
}

/* --- descriptors and threads of the driver ------------------------------------------------------ */

static bool no_descriptor(void)
{
	if (!fail_now(INJECT_DESCRIPTOR))
		return false;
	errno = EMFILE;
	return true;
}

int inject_open(const char *path, int flags, ...);
int inject_open(const char *path, int flags, ...)
{
	va_list list;
	mode_t mode;

	va_start(list, flags);
	mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
	va_end(list);
	return no_descriptor() ? -1 : open(path, flags, mode);
}

/* Of its commands the driver uses those with an int. */
int inject_fcntl(int fd, int command, ...);
int inject_fcntl(int fd, int command, ...)
{
	va_list list;
	int argument;

	va_start(list, command);
	argument = va_arg(list, int);
	va_end(list);
	return command == F_DUPFD_CLOEXEC && no_descriptor() ? -1 : fcntl(fd, command, argument);
}

int inject_socket(int domain, int type, int protocol);
int inject_socket(int domain, int type, int protocol)
{
	return no_descriptor() ? -1 : socket(domain, type, protocol);
}

int inject_timerfd_create(int clock, int flags);
int inject_timerfd_create(int clock, int flags)
{
	return no_descriptor() ? -1 : timerfd_create(clock, flags);
}

int inject_memfd_create(const char *name, unsigned flags);
int inject_memfd_create(const char *name, unsigned flags)
{
	return no_descriptor() ? -1 : memfd_create(name, flags);
}

FILE *inject_fopen(const char *path, const char *mode);
FILE *inject_fopen(const char *path, const char *mode)
{
	return no_descriptor() ? NULL : fopen(path, mode);
}

DIR *inject_opendir(const char *path);
DIR *inject_opendir(const char *path)
{
	return no_descriptor() ? NULL : opendir(path);
}

int inject_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *arg);
int inject_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *arg)
{
	return fail_now(INJECT_DESCRIPTOR) ? EAGAIN : pthread_create(thread, how, run, arg);
}

void inject(enum inject_kind of, long n)
{
	countdown = 0;
	kind = of;
	countdown = n;
}

void inject_allocation(long n)
{
	inject(INJECT_MEMORY, n);
}

bool inject_happened(void)
{
	return countdown <= 0;
}

long inject_live(void)
{
	return live;
}

/* --- the sweep ---------------------------------------------------------------------------------- */

static void nothing_is_left(const char *what, long n, unsigned files)
{
	bool clean;

	/* A wait that failed leaves its job running: the kernel keeps what it uses until it ends. */
	for (unsigned i = 0; i < 2000 && vgpu_live_objects(); i++)
		usleep(1000);
	clean = live == kept && vgpu_live_objects() == 0 && open_files() == files;
	if (!CHECK(clean))
		printf("  after failing %s %ld: %ld blocks, %lu kernel objects, %d files\n", what, n, live - kept,
		       (unsigned long)vgpu_live_objects(), (int)open_files() - (int)files);
}

static void every_call(enum inject_kind of, int (*program)(void), unsigned files)
{
	static const char *const names[] = {"allocation", "descriptor or thread"};

	for (long n = 1; n < 5000; n++) {
		int r;

		inject(of, n);
		r = program();
		if (countdown > 0) { /* n is more than there are */
			CHECK_EQ(r, 0);
			countdown = 0;
			printf("%ld times a failing %s\n", n - 1, names[of]);
			return;
		}
		CHECK(r == 0 || r == -ENOMEM || (of == INJECT_DESCRIPTOR && r < 0));
		nothing_is_left(names[of], n, files);
	}
	CHECK(!"the program ends");
}

static void every_ioctl(int (*program)(void), int error, unsigned files)
{
	for (unsigned long n = 1; n < 5000; n++) {
		unsigned long before = vgpu_ioctl_count();
		int r;

		vgpu_inject_ioctl(n, error);
		r = program();
		vgpu_inject_ioctl(0, 0);
		if (vgpu_ioctl_count() - before < n) {
			CHECK_EQ(r, 0);
			printf("%lu ioctls failed in turn with %d\n", n - 1, error);
			return;
		}
		CHECK(r <= 0);
		nothing_is_left("ioctl", n, files);
	}
	CHECK(!"the program ends");
}

void inject_every_failure(int (*program)(void))
{
	static const int errors[] = {EINVAL, ENODEV, EINTR};
	unsigned files;

	CHECK_EQ(program(), 0);
	kept = live;
	files = open_files();
	nothing_is_left("nothing", 0, files);
	every_call(INJECT_MEMORY, program, files);
	every_call(INJECT_DESCRIPTOR, program, files);
	for (unsigned i = 0; i < 3; i++)
		every_ioctl(program, errors[i], files);
}

#include "tests/inject.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"
#include "vgpu/vgpu.h"

/* --- allocations of the driver ---------------------------------------------------------------- */

/* HSA has threads of its own. */
static _Atomic long countdown; /* 1: the next allocation fails; 0 and below: none does */
static _Atomic long live;      /* blocks that the driver holds */
static long kept;              /* those that it keeps for the process: tables that only grow */

static bool fail_now(void)
{
	long n = countdown;

	while (n > 0)
		if (atomic_compare_exchange_weak(&countdown, &n, n - 1))
			return n == 1;
	return false;
}

static void *counted(void *block)
{
	live += block != NULL;
	return block;
}

void *inject_malloc(size_t size_B);
void *inject_malloc(size_t size_B)
{
	return fail_now() ? NULL : counted(malloc(size_B));
}

void *inject_calloc(size_t count, size_t size_B);
void *inject_calloc(size_t count, size_t size_B)
{
	return fail_now() ? NULL : counted(calloc(count, size_B));
}

void *inject_realloc(void *old, size_t size_B);
void *inject_realloc(void *old, size_t size_B)
{
	void *block = fail_now() ? NULL : realloc(old, size_B);

	live += block && !old;
	return block;
}

char *inject_strdup(const char *text);
char *inject_strdup(const char *text)
{
	return fail_now() ? NULL : counted(strdup(text));
}

char *inject_strndup(const char *text, size_t length);
char *inject_strndup(const char *text, size_t length)
{
	return fail_now() ? NULL : counted(strndup(text, length));
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
	if (fail_now()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return mmap(at, size_B, prot, flags, fd, offset);
}

void inject_allocation(long n)
{
	countdown = n;
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

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

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

static void every_allocation(int (*program)(void), unsigned files)
{
	for (long n = 1; n < 5000; n++) {
		int r;

		countdown = n;
		r = program();
		if (countdown > 0) { /* n is more than there are */
			CHECK_EQ(r, 0);
			countdown = 0;
			printf("%ld allocations failed in turn\n", n - 1);
			return;
		}
		CHECK(r == 0 || r == -ENOMEM);
		nothing_is_left("allocation", n, files);
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
	every_allocation(program, files);
	for (unsigned i = 0; i < 3; i++)
		every_ioctl(program, errors[i], files);
}

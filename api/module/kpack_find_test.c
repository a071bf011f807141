/* Archives that a reference names: the name in a reference may be any bytes. */
#include "api/module/kpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/kpack.h"
#include "vgpu/vgpu.h"

#define ROOM_B 16384

static uint8_t archive[ROOM_B], reference[ROOM_B];

static int archive_open(const char *key)
{
	struct kpack_item item = {.key = key, .target = "gfx908", .code = "code", .code_B = 4};
	size_t size_B = kpack_archive(archive, sizeof(archive), &item, 1, false);
	int fd = memfd_create("archive", MFD_CLOEXEC);

	CHECK(write(fd, archive, size_B) == (ssize_t)size_B);
	return fd;
}

/* Each '?' of the name stands for a 0. */
static hipError_t code_find(const char *name, int fd)
{
	struct kpack_writer w = {reference, sizeof(reference), 0};
	const struct hip_fat_binary_wrapper wrapper = {.magic = HIP_KPACK_MAGIC, .version = 1, .bundle = reference};
	char path[64];
	const char *const paths[] = {path};
	void *code = NULL;
	size_t code_B;
	hipError_t r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	kpack_reference_put(&w, name, paths, 1);
	for (uint8_t *at = reference; (at = memchr(at, '?', (size_t)(reference + w.at - at)));)
		*at = 0;
	r = hip_kpack_find(&wrapper, &hip.device[0], &code, &code_B);
	if (!r)
		free(code);
	return r;
}

/* The key of such a name is shorter than the name. */
static void names_may_have_zeros(int fd)
{
	char name[1024];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	name[1] = '?';
	CHECK_EQ(code_find(name, fd), hipErrorNoBinaryForGpu);
	CHECK_EQ(code_find("?", fd), hipErrorNoBinaryForGpu);
	CHECK_EQ(code_find("one?", fd), hipSuccess); /* as "one" */
}

int main(void)
{
	int fd = archive_open("one");

	if (vgpu_start("gfx908:vram=128M") || hip_init())
		return 1;
	CHECK_EQ(code_find("one", fd), hipSuccess);
	CHECK_EQ(code_find("two", fd), hipErrorNoBinaryForGpu);
	names_may_have_zeros(fd);
	close(fd);
	return check_done("references to archives");
}

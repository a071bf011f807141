/* Files that a program names and that are none: no call waits, and none reads without an end. */
#include "api/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static hipError_t read_size(const char *path, size_t *size_B)
{
	char *image;
	hipError_t r = hip_file_read(path, &image, size_B);

	if (!r)
		free(image);
	return r;
}

static void files_are_read_whole(void)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	char path[64], *image;
	size_t size_B;

	CHECK_EQ(write(fd, "text", 4), 4);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (CHECK_EQ(hip_file_read(path, &image, &size_B), hipSuccess)) {
		CHECK(size_B == 4 && !memcmp(image, "text", 4));
		free(image);
	}
	close(fd);
}

static void others_are_empty(void)
{
	char folder[] = "/tmp/tuff-file-XXXXXX", path[64];
	size_t size_B = 1;

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	CHECK(!mkfifo(path, 0600));
	CHECK_EQ(read_size(path, &size_B), hipSuccess);
	CHECK_EQ(size_B, 0);
	CHECK_EQ(read_size("/dev/zero", &size_B), hipSuccess);
	CHECK_EQ(size_B, 0);
	CHECK_EQ(read_size(folder, &size_B), hipErrorInvalidValue);
	CHECK(!unlink(path));
	CHECK_EQ(read_size(path, &size_B), hipErrorFileNotFound);
	CHECK(!rmdir(folder));
}

int main(void)
{
	alarm(60);
	files_are_read_whole();
	others_are_empty();
	return check_done("files of programs");
}

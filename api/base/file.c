#include "drv/cancel.h"
#include "api/base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drv/file.h"

hipError_t hip_file_open(const char *path, int *fd, uint64_t *size_B)
{
	DRV_HOLD_CANCEL;

	/* Without O_NONBLOCK the call would wait for a FIFO's writer. */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat stat;

	if (file < 0)
		return hipErrorFileNotFound;
	if (fstat(file, &stat) || S_ISDIR(stat.st_mode)) {
		close(file);
		return hipErrorInvalidValue;
	}
	*fd = file;
	*size_B = S_ISREG(stat.st_mode) ? (uint64_t)stat.st_size : 0;
	return hipSuccess;
}

hipError_t hip_file_read(const char *path, char **image, size_t *size_B)
{
	DRV_HOLD_CANCEL;
	uint64_t bytes;
	int fd;
	hipError_t r = hip_file_open(path, &fd, &bytes);

	if (r)
		return r;
	*size_B = bytes;
	*image = malloc(bytes + 1);
	if (*image && !drv_file_pread(fd, *image, bytes, 0)) {
		free(*image);
		*image = NULL;
	}
	close(fd);
	return *image ? hipSuccess : hipErrorInvalidValue;
}

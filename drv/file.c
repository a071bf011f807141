#include "drv/cancel.h"
#include "drv/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

bool drv_file_pread(int fd, void *to, uint64_t size_B, uint64_t offset_B)
{
	DRV_HOLD_CANCEL;
	char *at = to;

	while (size_B) {
		ssize_t got = TEMP_FAILURE_RETRY(pread(fd, at, size_B, (off_t)offset_B));

		if (got <= 0)
			return false;
		at += got;
		offset_B += (uint64_t)got;
		size_B -= (uint64_t)got;
	}
	return true;
}

int drv_file_create(const char *path, int flags, unsigned mode)
{
	DRV_HOLD_CANCEL;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, mode);

	if (fd < 0)
		return -errno;
	/* Writes wait for a slow reader: else they would drop lines. */
	(void)!fcntl(fd, F_SETFL, flags & O_APPEND);
	return fd;
}

int drv_file_memory(const char *name, uint64_t size_B)
{
	DRV_HOLD_CANCEL;
	struct rlimit limit;
	int fd, r;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size_B)
		return -EFBIG;
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size_B))
		return fd;
	r = -errno;
	close(fd);
	return r;
}

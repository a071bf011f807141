#include "drv/cancel.h"
#include "drv/file.h"

#include <errno.h>
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

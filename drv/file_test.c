/* Files in memory: their size and seals, and what a limit of the size of files does. */
#include "drv/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static void a_file_has_its_size(void)
{
	int fd = drv_file_memory("file", 4096);
	struct stat st;
	char byte = 1;

	CHECK(fd >= 0 && !fstat(fd, &st) && st.st_size == 4096);
	CHECK(drv_file_pread(fd, &byte, 1, 4095) && !byte);
	CHECK(!drv_file_pread(fd, &byte, 1, 4096));
	CHECK_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	close(fd);
}

/* The kernel's answer is SIGXFSZ. */
static void a_limit_is_an_error(void)
{
	struct rlimit old, small;

	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){4095, old.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
	CHECK_EQ(drv_file_memory("file", 4096), -EFBIG);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
}

int main(void)
{
	a_file_has_its_size();
	a_limit_is_an_error();
	return check_done("files");
}

/* A GPU that cannot be used: programs find none, and their users see the reason once. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hsa/hsa.h>

#include "tests/check.h"
#include "vgpu/vgpu.h"

/* In a process of its own, since libraries read variables once. Gives how often the text stands on its stderr. */
static unsigned said(const char *spec, const char *variable, const char *value, hsa_status_t status,
		     const char *text)
{
	char path[] = "/tmp/tuff-unusable-XXXXXX", all[8192];
	int fd = mkstemp(path), end = -1;
	unsigned count = 0;
	ssize_t n;
	pid_t pid;

	CHECK(fd >= 0 && !unlink(path));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		bool right = true;

		dup2(fd, STDERR_FILENO);
		if (variable)
			setenv(variable, value, 1);
		right &= !vgpu_start(spec);
		for (unsigned i = 0; i < 2; i++)
			right &= hsa_init() == status;
		_exit(right ? 0 : 1);
	}
	CHECK_EQ(waitpid(pid, &end, 0), pid);
	CHECK_EQ(end, 0);
	n = pread(fd, all, sizeof(all) - 1, 0);
	close(fd);
	all[n > 0 ? n : 0] = 0;
	for (const char *at = all; (at = strstr(at, text)); at++)
		count++;
	return count;
}

int main(void)
{
	const hsa_status_t none = HSA_STATUS_ERROR_OUT_OF_RESOURCES;

	CHECK_EQ(said("gfx906:kernel=5.10", NULL, NULL, none, "tuff: no GPU can be used: the kernel is too old"),
		 1);
	CHECK_EQ(said("gfx906:kernel=5.10", NULL, NULL, none, "drv_"), 0);
	/* one that is hidden is no failure */
	CHECK_EQ(said("gfx906", "ROCR_VISIBLE_DEVICES", "7", none, "tuff: no GPU"), 0);
	/* the driver's reasons, by our variable and by ROCm's */
	CHECK(said("gfx906:kernel=5.10", "TUFF_LOG", "error", none, ": the kernel is too old") >= 1);
	CHECK(said("gfx906:kernel=5.10", "AMD_LOG_LEVEL", "1", none, "check_version") >= 1);
	CHECK_EQ(said("gfx906:kernel=5.10", "AMD_LOG_LEVEL", "0", none, "check_version"), 0);
	CHECK(said("gfx906,gfx906:kernel=5.10", "AMD_LOG_LEVEL", "2", HSA_STATUS_SUCCESS, "is no agent: ") >= 1);
	return check_done("a GPU that cannot be used");
}

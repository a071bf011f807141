/* Files that another process gives as a signal: only a page that cannot shrink is one. A file of large pages would be mapped over
 * the pages of other signals. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hsa/core/table.h"
#include "hsa/signal/signals.h"
#include "tests/check.h"
#include "vgpu/vgpu.h"

#define LARGE_B (2u << 20)
#define SIGNALS (LARGE_B / RT_PAGE_B) /* one of their pages begins at a multiple of LARGE_B */

/* -1: there is none of that kind. */
static int make_file(unsigned flags, off_t size_B, int seals)
{
	int fd = memfd_create("signal", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

	if (fd >= 0 && !ftruncate(fd, size_B) && !fcntl(fd, F_ADD_SEALS, seals))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int attach(unsigned flags, off_t size_B, int seals)
{
	int fd = make_file(flags, size_B, seals), r;
	hsa_signal_t signal;

	if (fd < 0)
		return -EINVAL;
	r = rt_signal_attach(rt_get(), fd, &signal);
	close(fd);
	if (!r)
		CHECK_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
	return r;
}

static void only_a_page_is_a_signal(void)
{
	CHECK_EQ(attach(0, RT_PAGE_B, F_SEAL_SHRINK), 0);
	CHECK_EQ(attach(0, RT_PAGE_B, F_SEAL_GROW), -EINVAL);
	CHECK_EQ(attach(0, RT_PAGE_B - 1, F_SEAL_SHRINK), -EINVAL);
	CHECK_EQ(attach(0, RT_PAGE_B + 1, F_SEAL_SHRINK), -EINVAL);
	CHECK_EQ(attach(0, LARGE_B, F_SEAL_SHRINK), -EINVAL);
}

/* Needs large pages of the system (vm.nr_hugepages) to find a fault. */
static void large_pages_replace_no_signals(void)
{
	static hsa_signal_t signals[SIGNALS];

	for (unsigned i = 0; i < SIGNALS; i++) {
		CHECK_EQ(hsa_amd_signal_create(i, 0, NULL, HSA_AMD_SIGNAL_IPC, &signals[i]), HSA_STATUS_SUCCESS);
		CHECK_EQ(attach(MFD_HUGETLB, LARGE_B, F_SEAL_SHRINK), -EINVAL);
	}
	for (unsigned i = 0; i < SIGNALS; i++) {
		CHECK_EQ(hsa_signal_load_relaxed(signals[i]), i);
		CHECK_EQ(hsa_signal_destroy(signals[i]), HSA_STATUS_SUCCESS);
	}
}

int main(void)
{
	if (!CHECK_EQ(vgpu_start("gfx908"), 0) || !CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS))
		return check_done("files that are given as signals");
	only_a_page_is_a_signal();
	large_pages_replace_no_signals();
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	vgpu_stop();
	return check_done("files that are given as signals");
}

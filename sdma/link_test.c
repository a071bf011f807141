/* Size of one job's copy, by the rate of the link. */
#include "sdma/internal.h"
#include "tests/check.h"

int main(void)
{
	const struct drv_facts riser = {.pcie_gen = 3, .pcie_lanes = 1}, slot = {.pcie_gen = 4, .pcie_lanes = 16},
			       unknown = {0}, odd = {.pcie_gen = 200, .pcie_lanes = 16};

	/* 985 MB/s and 31.5 GB/s: a tenth of a second, in whole slabs, and no more than 2 GiB. */
	CHECK_EQ(sdma_job_max_B(&riser), 96468992);
	CHECK_EQ(sdma_job_max_B(&slot), 2ull << 30);
	CHECK_EQ(sdma_job_max_B(&unknown), 23068672);
	CHECK_EQ(sdma_job_max_B(&odd), sdma_job_max_B(&unknown));
	return check_done("copies by the link's speed");
}

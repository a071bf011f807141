/* Streams whose kernels run on some compute units only. */
#include "tests/clients/hip/hip.h"

__global__ void number(unsigned *at, unsigned count, unsigned more)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		at[i] += i + more;
}

/* Each stream keeps its own, work that follows other work is in order, and all of a grid runs. */
static void apart()
{
	const uint32_t masks[2][2] = {{0x15, 0}, {0xea, 0x100}};
	const unsigned count = 10000;
	gpu_array<unsigned> at(std::vector<unsigned>(count, 0));
	hipStream_t stream[2];
	hipEvent_t event;
	unsigned wrong = 0;

	HIP(hipEventCreate(&event));
	for (unsigned i = 0; i < 2; i++) {
		uint32_t got[8] = {0};
		unsigned flags = 1;

		HIP(hipExtStreamCreateWithCUMask(&stream[i], 2, masks[i]));
		HIP(hipExtStreamGetCUMask(stream[i], 8, got));
		CHECK(got[0] == masks[i][0] && got[1] == masks[i][1] && !got[2]);
		HIP(hipStreamGetFlags(stream[i], &flags));
		CHECK_EQ(flags, 0);
	}
	number<<<40, 256, 0, stream[0]>>>(at.at, count, 3);
	HIP(hipEventRecord(event, stream[0]));
	HIP(hipStreamWaitEvent(stream[1], event, 0));
	number<<<40, 256, 0, stream[1]>>>(at.at, count, 4);
	HIP(hipStreamSynchronize(stream[1]));
	std::vector<unsigned> got = at.read();
	for (unsigned i = 0; i < count; i++)
		wrong += got[i] != 2 * i + 7;
	CHECK_EQ(wrong, 0);
	for (hipStream_t s : stream)
		HIP(hipStreamDestroy(s));
	HIP(hipEventDestroy(event));
}

static void refused()
{
	[[maybe_unused]] const uint32_t none[4] = {0};
	const uint32_t one[1] = {1};
	uint32_t got[8] = {0};
	hipStream_t stream;

	CHECK_EQ(hipExtStreamCreateWithCUMask(nullptr, 1, one), hipErrorInvalidHandle);
	CHECK_EQ(hipExtStreamCreateWithCUMask(&stream, 0, one), hipErrorInvalidValue);
	CHECK_EQ(hipExtStreamCreateWithCUMask(&stream, 1, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipExtStreamGetCUMask(0, 1, got), hipErrorInvalidValue);
	CHECK_EQ(hipExtStreamGetCUMask(0, 8, nullptr), hipErrorInvalidValue);
#if TUFF_HIP_ABI >= 6
	/* No unit: all of them. AMD's 5.2 fails. */
	HIP(hipExtStreamCreateWithCUMask(&stream, 4, none));
	HIP(hipExtStreamGetCUMask(stream, 8, got));
	CHECK(got[0]);
	HIP(hipStreamDestroy(stream));
#endif
	(void)hipGetLastError();
}

int main()
{
	hipDeviceProp_t props;
	uint32_t mask[8] = {0};
	unsigned count = 0;

	HIP(hipGetDeviceProperties(&props, 0));
	HIP(hipExtStreamGetCUMask(0, 8, mask));
	for (uint32_t word : mask)
		count += (unsigned)__builtin_popcount(word);
	CHECK_EQ(count, (unsigned)props.multiProcessorCount);
	apart();
	refused();
	return check_done("streams on some compute units");
}

/* Two GPUs: each has its own memory and queues; copies between them, and kernels that reach the other's memory. */
#include "tests/clients/hip/hip.h"

#define COUNT 10000u

__global__ void affine(unsigned *to, const unsigned *from, unsigned factor, unsigned term)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < COUNT)
		to[i] = from[i] * factor + term;
}

static void run(unsigned *to, const unsigned *from, unsigned factor, unsigned term)
{
	affine<<<(COUNT + 255) / 256, 256>>>(to, from, factor, term);
	HIP_LAUNCHED();
}

static unsigned differing(const unsigned *gpu, unsigned factor, unsigned term)
{
	std::vector<unsigned> got(COUNT);
	unsigned wrong = 0;

	HIP(hipMemcpy(got.data(), gpu, COUNT * 4, hipMemcpyDefault));
	for (unsigned i = 0; i < COUNT; i++)
		wrong += got[i] != i * factor + term;
	return wrong;
}

/* in -> GPU 0 -> copy -> GPU 1 -> copy -> GPU 0 */
static void copies(unsigned **at)
{
	std::vector<unsigned> in(COUNT);

	for (unsigned i = 0; i < COUNT; i++)
		in[i] = i;
	HIP(hipSetDevice(0));
	HIP(hipMemcpy(at[0], in.data(), COUNT * 4, hipMemcpyHostToDevice));
	run(at[0], at[0], 3, 1);
	HIP(hipMemcpyPeer(at[1], 1, at[0], 0, COUNT * 4));
	HIP(hipSetDevice(1));
	run(at[1], at[1], 5, 2);
	HIP(hipDeviceSynchronize());
	CHECK_EQ(differing(at[1], 15, 7), 0);
	HIP(hipSetDevice(0));
	HIP(hipMemcpyPeerAsync(at[0], 0, at[1], 1, COUNT * 4, 0));
	HIP(hipDeviceSynchronize());
	CHECK_EQ(differing(at[0], 15, 7), 0);
}

/* An event of one GPU's stream holds up the other's. */
static void events(unsigned **at)
{
	hipStream_t stream[2];
	hipEvent_t event;

	for (int d = 0; d < 2; d++) {
		HIP(hipSetDevice(d));
		HIP(hipStreamCreateWithFlags(&stream[d], hipStreamNonBlocking));
	}
	HIP(hipSetDevice(0));
	HIP(hipEventCreate(&event));
	affine<<<(COUNT + 255) / 256, 256, 0, stream[0]>>>(at[0], at[0], 2, 1);
	HIP_LAUNCHED();
	HIP(hipMemcpyPeerAsync(at[1], 1, at[0], 0, COUNT * 4, stream[0]));
	HIP(hipEventRecord(event, stream[0]));
	HIP(hipSetDevice(1));
	HIP(hipStreamWaitEvent(stream[1], event, 0));
	affine<<<(COUNT + 255) / 256, 256, 0, stream[1]>>>(at[1], at[1], 10, 0);
	HIP_LAUNCHED();
	HIP(hipStreamSynchronize(stream[1]));
	CHECK_EQ(differing(at[1], 300, 150), 0);
	HIP(hipEventDestroy(event));
	for (int d = 0; d < 2; d++)
		HIP(hipStreamDestroy(stream[d]));
}

static void reach(unsigned **at)
{
	int can[2] = {0, 0};

	HIP(hipDeviceCanAccessPeer(&can[0], 0, 1));
	HIP(hipDeviceCanAccessPeer(&can[1], 1, 0));
	CHECK_EQ(can[0], can[1]);
	printf("  peers: %d\n", can[0]);
	if (!can[0])
		return;
	HIP(hipSetDevice(0));
	HIP(hipDeviceEnablePeerAccess(1, 0));
	CHECK_EQ(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
	(void)hipGetLastError();
	run(at[1], at[0], 7, 3); /* GPU 0 reads its own memory and writes GPU 1's */
	HIP(hipDeviceSynchronize());
	CHECK_EQ(differing(at[1], 210, 108), 0);
	HIP(hipDeviceDisablePeerAccess(1));
}

/* Both GPUs see the host's pinned memory. */
static void pinned()
{
	unsigned *host;

	HIP(hipHostMalloc((void **)&host, COUNT * 4, hipHostMallocPortable));
	for (unsigned i = 0; i < COUNT; i++)
		host[i] = i;
	for (int d = 0; d < 2; d++) {
		HIP(hipSetDevice(d));
		run(host, host, 4, 1);
		HIP(hipDeviceSynchronize());
	}
	CHECK_EQ(differing(host, 16, 5), 0);
	HIP(hipHostFree(host));
}

int main()
{
	unsigned *at[2];
	int count = 0;

	HIP(hipGetDeviceCount(&count));
	if (!CHECK_EQ(count, 2))
		return check_done("two GPUs");
	for (int d = 0; d < 2; d++) {
		hipPointerAttribute_t about;

		HIP(hipSetDevice(d));
		HIP(hipMalloc((void **)&at[d], COUNT * 4));
		HIP(hipPointerGetAttributes(&about, at[d]));
		CHECK_EQ(about.device, d);
	}
	copies(at);
	events(at);
	reach(at);
	pinned();
	for (unsigned *a : at)
		HIP(hipFree(a));
	return check_done("two GPUs through HIP");
}

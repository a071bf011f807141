/* Atomics of each kind and size, in global memory, in LDS and across the bus; LDS of static and dynamic size;
 * votes, shuffles and scans of waves. */
#include "tests/clients/hip/hip.h"

#define BLOCKS 20u
#define LANES  128u
#define ALL    (BLOCKS * LANES)

struct totals {
	unsigned add, sub, least, most, all_and, all_or, all_xor, incremented, decremented, swapped_sum, cas;
	unsigned long long add64, most64;
	float addf;
	double addd;
};

__global__ void each_kind(totals *t)
{
	unsigned i = blockIdx.x * LANES + threadIdx.x, seen;

	atomicAdd(&t->add, i);
	atomicSub(&t->sub, 2u);
	atomicMin(&t->least, i + 5);
	atomicMax(&t->most, i);
	atomicAnd(&t->all_and, ~(1u << i % 8));
	atomicOr(&t->all_or, 1u << i % 31);
	atomicXor(&t->all_xor, i);
	atomicInc(&t->incremented, 999u);
	atomicDec(&t->decremented, 1u << 20);
	atomicAdd(&t->add64, (unsigned long long)i << 20);
	atomicMax(&t->most64, (unsigned long long)i << 32);
	atomicAdd(&t->addf, 0.5f);
	atomicAdd(&t->addd, 0.25);
	for (unsigned want = t->cas; (seen = atomicCAS(&t->cas, want, want + 3)) != want; want = seen)
		;
}

static void kinds(totals *gpu, totals *host)
{
	totals t = {};
	unsigned x = 0;

	t.least = ~0u;
	t.all_and = 0xfff;
	HIP(hipMemcpy(gpu, &t, sizeof(t), hipMemcpyDefault));
	each_kind<<<BLOCKS, LANES>>>(gpu);
	HIP_LAUNCHED();
	HIP(hipMemcpy(host, gpu, sizeof(t), hipMemcpyDefault));
	for (unsigned i = 0; i < ALL; i++)
		x ^= i;
	CHECK_EQ(host->add, ALL * (ALL - 1) / 2);
	CHECK_EQ(host->sub, 0u - 2 * ALL);
	CHECK_EQ(host->least, 5);
	CHECK_EQ(host->most, ALL - 1);
	CHECK_EQ(host->all_and, 0xf00);
	CHECK_EQ(host->all_or, 0x7fffffff);
	CHECK_EQ(host->all_xor, x);
	CHECK_EQ(host->incremented, ALL % 1000);
	CHECK_EQ(host->decremented, (1u << 20) - (ALL - 1));
	CHECK_EQ(host->add64, ((unsigned long long)ALL * (ALL - 1) / 2) << 20);
	CHECK_EQ(host->most64, (unsigned long long)(ALL - 1) << 32);
	CHECK(host->addf == ALL * 0.5f);
	CHECK(host->addd == ALL * 0.25);
	CHECK_EQ(host->cas, 3 * ALL);
}

/* A histogram in LDS, added to memory at the end. */
__global__ void histogram(const unsigned char *from, unsigned *bins, unsigned count)
{
	extern __shared__ unsigned mine[];
	__shared__ unsigned seen;

	for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
		mine[i] = 0;
	if (!threadIdx.x)
		seen = 0;
	__syncthreads();
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
		atomicAdd(&mine[from[i]], 1u);
		atomicAdd(&seen, 1u);
	}
	__syncthreads();
	for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
		atomicAdd(&bins[i], mine[i]);
	if (!threadIdx.x)
		atomicAdd(&bins[256], seen);
}

static void lds()
{
	std::vector<unsigned char> from(50021);
	std::vector<unsigned> want(257);
	unsigned wrong = 0;

	for (unsigned i = 0; i < from.size(); i++) {
		from[i] = (unsigned char)(i * i >> 3);
		want[from[i]]++;
	}
	want[256] = (unsigned)from.size();
	gpu_array<unsigned char> gpu(from);
	gpu_array<unsigned> bins(257);
	HIP(hipMemset(bins.at, 0, 257 * 4));
	histogram<<<BLOCKS, LANES, 256 * 4>>>(gpu.at, bins.at, (unsigned)from.size());
	HIP_LAUNCHED();
	std::vector<unsigned> got = bins.read();
	for (unsigned i = 0; i < 257; i++)
		wrong += got[i] != want[i];
	CHECK_EQ(wrong, 0);
}

__global__ void waves(unsigned *scan, unsigned long long *votes)
{
	unsigned lane = threadIdx.x % warpSize, sum = lane + 1;

	for (unsigned step = 1; step < (unsigned)warpSize; step *= 2) {
		unsigned other = (unsigned)__shfl_up((int)sum, step);

		if (lane >= step)
			sum += other;
	}
	scan[threadIdx.x] = sum + (unsigned)__shfl_xor((int)lane, 1);
	votes[threadIdx.x] = __ballot(lane % 3 == 0) ^ (unsigned long long)__popcll(__ballot(1));
}

static void wave_operations()
{
	gpu_array<unsigned> scan(LANES);
	gpu_array<unsigned long long> votes(LANES);
	unsigned long long third = 0;
	unsigned wrong = 0;
	int wave = 0;

	HIP(hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, 0));
	waves<<<1, LANES>>>(scan.at, votes.at);
	HIP_LAUNCHED();
	std::vector<unsigned> got = scan.read();
	std::vector<unsigned long long> voted = votes.read();
	for (int lane = 0; lane < wave; lane += 3)
		third |= 1ull << lane;
	for (unsigned i = 0; i < LANES; i++) {
		unsigned lane = i % (unsigned)wave;

		wrong += got[i] != (lane + 1) * (lane + 2) / 2 + (lane ^ 1);
		wrong += voted[i] != (third ^ (unsigned long long)wave);
	}
	CHECK_EQ(wrong, 0);
}

int main()
{
	gpu_array<totals> in_vram(1);
	totals *pinned, got;

	HIP(hipHostMalloc((void **)&pinned, sizeof(*pinned), hipHostMallocCoherent));
	kinds(in_vram.at, &got);
	kinds(pinned, &got);
	HIP(hipHostFree(pinned));
	lds();
	wave_operations();
	return check_done("atomics, LDS and waves in HIP");
}

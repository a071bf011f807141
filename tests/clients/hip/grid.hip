/* Cooperative launches: the blocks of a whole grid meet, as many as the device holds; and those of several devices. */
#include "tests/clients/hip/hip.h"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

#define LANES  256u
#define ROUNDS 4u

/* The sum of all, by halves: each round adds the upper half of what is left to the lower. */
__global__ void sum(unsigned *data, unsigned count)
{
	cg::grid_group grid = cg::this_grid();

	for (unsigned left = count; left > 1; left = (left + 1) / 2) {
		for (unsigned i = grid.thread_rank(); i < left / 2; i += grid.size())
			data[i] += data[i + (left + 1) / 2];
		grid.sync();
	}
}

__global__ void add(unsigned *data, unsigned count, unsigned value)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x)
		data[i] += value;
}

static unsigned most_blocks(int device)
{
	hipDeviceProp_t props;
	int blocks = 0;

	HIP(hipGetDeviceProperties(&props, device));
	HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, LANES, 0));
	CHECK(blocks > 0 && props.cooperativeLaunch);
	return (unsigned)blocks * (unsigned)props.multiProcessorCount;
}

static hipError_t launch_sum(gpu_array<unsigned> &data, unsigned count, unsigned blocks, hipStream_t stream)
{
	void *args[] = {&data.at, &count};

	return hipLaunchCooperativeKernel((const void *)sum, dim3(blocks), dim3(LANES), args, 0, stream);
}

/* Of 0, 1, 2 ... */
static std::vector<unsigned> numbers(unsigned count)
{
	std::vector<unsigned> v(count);

	for (unsigned i = 0; i < count; i++)
		v[i] = i;
	return v;
}

/* As many blocks as fit meet; one more is refused. */
static void as_large_as_the_device()
{
	unsigned blocks = most_blocks(0), count = blocks * 64;
	gpu_array<unsigned> data(numbers(count));

	HIP(launch_sum(data, count, blocks, 0));
	HIP(hipDeviceSynchronize());
	CHECK_EQ(data.read()[0], (unsigned)((unsigned long long)count * (count - 1) / 2));
	CHECK_EQ(launch_sum(data, count, blocks + 1, 0), hipErrorCooperativeLaunchTooLarge);
	(void)hipGetLastError();
}

/* Cooperative and other launches of one stream come in order, beside those of another. */
static void in_streams()
{
	const std::vector<unsigned> first = numbers(5000);
	unsigned count = (unsigned)first.size(), wrong = 0;
	gpu_array<unsigned> a(first), b(first);
	gpu_array<unsigned> *data[] = {&a, &b};
	hipStream_t stream[2];

	for (hipStream_t &s : stream)
		HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned s = 0; s < 2; s++) {
			add<<<10, LANES, 0, stream[s]>>>(data[s]->at, count, 1 + s);
			HIP_LAUNCHED();
			HIP(launch_sum(*data[s], count, 5 + 3 * s, stream[s]));
			HIP(hipMemcpyAsync(data[s]->at, first.data(), count * sizeof(unsigned), hipMemcpyHostToDevice,
					   stream[s]));
		}
	for (unsigned s = 0; s < 2; s++) {
		add<<<10, LANES, 0, stream[s]>>>(data[s]->at, count, 3);
		HIP_LAUNCHED();
		HIP(launch_sum(*data[s], count, 9, stream[s]));
		HIP(hipStreamSynchronize(stream[s]));
		wrong += data[s]->read()[0] != count * (count - 1) / 2 + 3 * count;
		HIP(hipStreamDestroy(stream[s]));
	}
	CHECK_EQ(wrong, 0);
}

/* Every device adds its share; when all are done each sees all shares. */
__global__ void shares(unsigned *slots, unsigned *seen, unsigned device, unsigned devices)
{
	cg::multi_grid_group all = cg::this_multi_grid();
	unsigned total = 0;

	if (!blockIdx.x && !threadIdx.x)
		__hip_atomic_store(&slots[device], 100 + device, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
	all.sync();
	for (unsigned i = 0; i < devices; i++)
		total += __hip_atomic_load(&slots[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
	if (!threadIdx.x)
		seen[blockIdx.x] = total * (all.num_grids() == devices);
}

static void across(unsigned devices)
{
	const unsigned blocks = 6, want = 100 * devices + devices * (devices - 1) / 2;
	std::vector<hipLaunchParams> params(devices);
	std::vector<unsigned *> seen(devices);
	std::vector<unsigned> index(devices);
	std::vector<std::vector<void *>> args(devices);
	std::vector<hipStream_t> stream(devices);
	unsigned *slots, wrong = 0;

	HIP(hipHostMalloc(&slots, devices * sizeof(*slots), hipHostMallocPortable | hipHostMallocCoherent));
	for (unsigned d = 0; d < devices; d++) {
		slots[d] = 0;
		index[d] = d;
		HIP(hipSetDevice((int)d));
		HIP(hipStreamCreate(&stream[d]));
		HIP(hipHostMalloc(&seen[d], blocks * sizeof(unsigned), hipHostMallocPortable));
		args[d] = {&slots, &seen[d], &index[d], &devices};
		params[d] = {(void *)shares, dim3(blocks), dim3(LANES), args[d].data(), 0, stream[d]};
	}
	HIP(hipLaunchCooperativeKernelMultiDevice(params.data(), (int)devices, 0));
	for (unsigned d = 0; d < devices; d++) {
		HIP(hipSetDevice((int)d));
		HIP(hipStreamSynchronize(stream[d]));
		for (unsigned b = 0; b < blocks; b++)
			wrong += seen[d][b] != want;
		HIP(hipStreamDestroy(stream[d]));
		HIP(hipHostFree(seen[d]));
	}
	CHECK_EQ(wrong, 0);
	HIP(hipHostFree(slots));
}

int main()
{
	int devices = 0, together = 0;

	HIP(hipGetDeviceCount(&devices));
	HIP(hipDeviceGetAttribute(&together, hipDeviceAttributeCooperativeMultiDeviceLaunch, 0));
	as_large_as_the_device();
	in_streams();
	CHECK(together);
	across((unsigned)devices);
	return check_done("whole grids of HIP");
}

/* Where a thread is: indices and sizes in three dimensions, as variables, as dim3 and under their older names. */
#define HIP_TEMPLATE_KERNEL_LAUNCH /* hipLaunchKernelGGL() is a function */
#include "tests/clients/hip/hip.h"

/* What rocThrust does before it includes the interface again. */
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
#undef __host__
#undef __device__
#endif
#include <hip/amd_detail/amd_hip_runtime.h> /* and rocPRIM, these */
#include <hip/amd_detail/amd_hip_vector_types.h>
#include <hip/hip_runtime_api.h>
#include <set>

struct place {
	dim3 thread, block, block_dim, grid_dim;
	unsigned rank, lane, older;
};

__global__ void look(place *places)
{
	unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	place *mine = &places[block * blockDim.x * blockDim.y * blockDim.z + in_block];

	mine->thread = threadIdx;
	mine->block = blockIdx;
	mine->block_dim = blockDim;
	mine->grid_dim = gridDim;
	mine->rank = in_block;
	mine->lane = __lane_id();
	mine->older = (hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x) * 100 + hipGridDim_z;
}

__host__ __device__ static bool same(dim3 a, dim3 b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

__global__ void where(unsigned *unit)
{
	if (!__lane_id())
		unit[blockIdx.x * 4 + threadIdx.x / 64] = __smid();
}

template <unsigned factor, typename T> __global__ void times(T *out, T value)
{
	out[threadIdx.x] = value * factor + threadIdx.x;
}

/* A template's arguments with a comma, and an argument that is converted to the kernel's. */
static void by_function()
{
	gpu_array<unsigned long> out(64);
	unsigned wrong = 0, i = 0;

	hipLaunchKernelGGL(times<3, unsigned long>, dim3(1), dim3(64), 0, nullptr, out.at, 5u);
	HIP_LAUNCHED();
	for (unsigned long n : out.read())
		wrong += n != 15 + i++;
	CHECK_EQ(wrong, 0);
}

/* The waves of a block share a compute unit. There are no more than the device says, and a grid that could fill all
 * of them sees units of both halves. */
static void units(const hipDeviceProp_t &props)
{
	std::set<unsigned> seen;
	unsigned apart = 0;

	unsigned blocks = static_cast<unsigned>(props.multiProcessorCount) * 16;
	gpu_array<unsigned> unit(blocks * 4);
	where<<<blocks, 256>>>(unit.at);
	HIP_LAUNCHED();
	std::vector<unsigned> got = unit.read();
	for (unsigned b = 0; b < blocks * 4; b++) {
		seen.insert(got[b]);
		apart += got[b] != got[b / 4 * 4];
	}
	CHECK_EQ(apart, 0);
	CHECK(seen.size() <= static_cast<size_t>(props.multiProcessorCount));
	/* Where waves have 32 lanes, units are named in pairs. */
	CHECK(seen.size() * (props.warpSize == 32 ? 2 : 1) > static_cast<size_t>(props.multiProcessorCount) / 2);
}

int main()
{
	const dim3 grid(3, 2, 4), block(8, 5, 2);
	const unsigned threads = block.x * block.y * block.z;
	gpu_array<place> places(grid.x * grid.y * grid.z * threads);
	hipDeviceProp_t props;
	unsigned wrong = 0, at = 0;

	HIP(hipGetDeviceProperties(&props, 0));
	const unsigned warp = static_cast<unsigned>(props.warpSize);
	look<<<grid, block>>>(places.at);
	HIP_LAUNCHED();
	std::vector<place> got = places.read();
	for (unsigned bz = 0; bz < grid.z; bz++)
		for (unsigned by = 0; by < grid.y; by++)
			for (unsigned bx = 0; bx < grid.x; bx++)
				for (unsigned t = 0; t < threads; t++, at++) {
					const place &p = got[at];
					unsigned x = t % block.x;

					wrong += !same(p.block, dim3(bx, by, bz));
					wrong += !same(p.thread,
						       dim3(x, t / block.x % block.y, t / block.x / block.y));
					wrong += !same(p.block_dim, block) || !same(p.grid_dim, grid);
					wrong += p.rank != t || p.lane != t % warp;
					wrong += p.older != (bx * block.x + x) * 100 + grid.z;
				}
	CHECK_EQ(at, got.size());
	CHECK_EQ(wrong, 0);
	units(props);
	by_function();
	return check_done("where a thread is");
}

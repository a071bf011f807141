/* Indices of a thread: threadIdx, blockIdx, blockDim, gridDim, warpSize. */
#ifndef HIP_DEVICE_INDEX_H
#define HIP_DEVICE_INDEX_H

#include <hip/device/attributes.h>
#include <hip/hip_vector_types.h>

/* A variable whose members are instructions. */
#define HIP_INDEX(name, x_, y_, z_)                                                                                \
	struct hip_##name {                                                                                        \
		__declspec(property(get = get_x)) uint32_t x;                                                      \
		__declspec(property(get = get_y)) uint32_t y;                                                      \
		__declspec(property(get = get_z)) uint32_t z;                                                      \
		HIP_DEVICE static uint32_t get_x()                                                                 \
		{                                                                                                  \
			return x_;                                                                                 \
		}                                                                                                  \
		HIP_DEVICE static uint32_t get_y()                                                                 \
		{                                                                                                  \
			return y_;                                                                                 \
		}                                                                                                  \
		HIP_DEVICE static uint32_t get_z()                                                                 \
		{                                                                                                  \
			return z_;                                                                                 \
		}                                                                                                  \
		HIP_DEVICE operator dim3() const                                                                   \
		{                                                                                                  \
			return dim3(get_x(), get_y(), get_z());                                                    \
		}                                                                                                  \
		HIP_DEVICE operator uint3() const                                                                  \
		{                                                                                                  \
			return uint3(get_x(), get_y(), get_z());                                                   \
		}                                                                                                  \
	};                                                                                                         \
	extern const __attribute__((device)) __attribute__((weak)) hip_##name name

/* The packet's grid is in threads, HIP's in blocks; the last block of a launch in threads may be smaller. */
#define HIP_BLOCKS(d)                                                                                              \
	(__builtin_amdgcn_grid_size_##d() + __builtin_amdgcn_workgroup_size_##d() - 1) /                           \
		__builtin_amdgcn_workgroup_size_##d()

HIP_INDEX(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
	  __builtin_amdgcn_workitem_id_z());
HIP_INDEX(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
	  __builtin_amdgcn_workgroup_id_z());
HIP_INDEX(blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
	  __builtin_amdgcn_workgroup_size_z());
HIP_INDEX(gridDim, HIP_BLOCKS(x), HIP_BLOCKS(y), HIP_BLOCKS(z));
#undef HIP_INDEX
#undef HIP_BLOCKS

/* Names in older programs. */
#define hipThreadIdx_x (hip_threadIdx::get_x())
#define hipThreadIdx_y (hip_threadIdx::get_y())
#define hipThreadIdx_z (hip_threadIdx::get_z())
#define hipBlockIdx_x  (hip_blockIdx::get_x())
#define hipBlockIdx_y  (hip_blockIdx::get_y())
#define hipBlockIdx_z  (hip_blockIdx::get_z())
#define hipBlockDim_x  (hip_blockDim::get_x())
#define hipBlockDim_y  (hip_blockDim::get_y())
#define hipBlockDim_z  (hip_blockDim::get_z())
#define hipGridDim_x   (hip_gridDim::get_x())
#define hipGridDim_y   (hip_gridDim::get_y())
#define hipGridDim_z   (hip_gridDim::get_z())

/* Threads of a wave. Host code must query the device; the constant is 64 there. clang 20 and 21 warn of the macro, later ones have none (LLVM
 * #115507, #164217; ROCm's release notes of 6.4): the number is then what compilers choose for the chip. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-pragma"
#if defined(__AMDGCN_WAVEFRONT_SIZE)
static constexpr __attribute__((device)) int warpSize = __AMDGCN_WAVEFRONT_SIZE;
#elif defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
static constexpr __attribute__((device)) int warpSize = 32;
#else
static constexpr __attribute__((device)) int warpSize = 64;
#endif
#pragma clang diagnostic pop

/* The compute unit that the wave runs on now: its number in the shader engine, the engine's number above it, and on
 * gfx942 the XCC's above both. The fields are those of HW_ID (and XCC_ID on gfx942), or HW_ID1 from GFX10 on. */
#define HIP_FIELD(reg, first, bits) __builtin_amdgcn_s_getreg(((bits) - 1) << 11 | (first) << 6 | (reg))
HIP_DEVICE unsigned __smid()
{
#if defined(__gfx942__)
	return HIP_FIELD(20, 0, 4) << 6 | HIP_FIELD(4, 13, 2) << 4 | HIP_FIELD(4, 8, 4);
#elif defined(__gfx908__) || defined(__gfx90a__)
	return HIP_FIELD(4, 13, 3) << 4 | HIP_FIELD(4, 8, 4);
#elif defined(__GFX9__)
	return HIP_FIELD(4, 13, 2) << 4 | HIP_FIELD(4, 8, 4);
#else
	return HIP_FIELD(23, 18, 2) << 5 | HIP_FIELD(23, 16, 1) << 4 | HIP_FIELD(23, 10, 4);
#endif
}
#undef HIP_FIELD

#endif

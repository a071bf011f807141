/* Occupancy: how many blocks a compute unit runs at a time, by registers, LDS and wave slots. The numbers are
 * HIP's, since programs compare them: 32 waves of a unit, registers in granules, LDS without granules (from CLR's
 * hip_platform.cpp; LLVM AMDGPUUsage has the granules). */
#include "api/base/entry.h"
#include "api/module/module.h"

#define WAVES_CU     32
#define SGPRS_SIMD   800 /* GFX9; later chips have a fixed number for each wave */
#define SGPR_GRANULE 16

struct occupancy {
	unsigned threads;    /* threads of a compute unit, limited by registers and wave slots */
	unsigned lds_blocks; /* blocks of a compute unit, limited by LDS */
};

static unsigned round_up(unsigned value, unsigned granule)
{
	return (value + granule - 1) / granule * granule;
}

static unsigned min_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static struct occupancy occupancy_of(const struct hip_kernel *k, size_t lds_B)
{
	const struct drv_chip *chip = k->device->chip;
	unsigned lanes = cs_kernel_wave_lanes(k->cs), vgprs = k->cs->vgprs ? k->cs->vgprs : 1;
	unsigned sgprs = round_up(k->cs->sgprs ? k->cs->sgprs : 1, SGPR_GRANULE);
	unsigned waves = min_of(WAVES_CU / chip->simds_per_cu, drv_chip_simd_waves(chip, lanes, vgprs));
	uint64_t block_B;

	if (__builtin_add_overflow(k->group_B, lds_B, &block_B))
		block_B = UINT64_MAX;
	if (!chip->paired_cus)
		waves = min_of(waves, SGPRS_SIMD / sgprs);
	return (struct occupancy){
		.threads = chip->simds_per_cu * waves * lanes,
		.lds_blocks = block_B ? (unsigned)(k->device->lds_B / block_B) : UINT32_MAX,
	};
}

/* Limits the blocks to the scratch memory of all compute units together: programs multiply by the number of units,
 * and expect a grid of that size to be resident. */
static unsigned scratch_blocks(const struct hip_kernel *k, unsigned threads)
{
	return hip.hsa->scratch_groups_max(k->device->agent, k->cs, threads) / k->device->cus;
}

unsigned hip_occupancy(const struct hip_kernel *k, unsigned threads, size_t lds_B)
{
	struct occupancy o = occupancy_of(k, lds_B);
	unsigned blocks;

	if (!threads || threads > HIP_THREADS_MAX)
		return 0;
	blocks = min_of(o.threads / round_up(threads, cs_kernel_wave_lanes(k->cs)), o.lds_blocks);
	return cs_kernel_has_scratch(k->cs) ? min_of(blocks, scratch_blocks(k, threads)) : blocks;
}

static hipError_t active_blocks(int *blocks, const struct hip_kernel *k, int threads, size_t lds_B)
{
	if (!blocks || threads <= 0)
		return hipErrorInvalidValue;
	*blocks = (int)hip_occupancy(k, (unsigned)threads, lds_B);
	return hipSuccess;
}

static hipError_t best_block(int *blocks, int *threads, const struct hip_kernel *k, size_t lds_B, int limit)
{
	struct occupancy o = occupancy_of(k, lds_B);
	unsigned most = limit > 0 && (unsigned)limit < HIP_THREADS_MAX ? (unsigned)limit : HIP_THREADS_MAX;

	if (!blocks || !threads)
		return hipErrorInvalidValue;
	if (k->cs->max_threads)
		most = min_of(most, k->cs->max_threads);
	most = min_of(o.threads, round_up(most, cs_kernel_wave_lanes(k->cs)));
	*threads = (int)most;
	*blocks = most ? (int)(k->device->cus * hip_occupancy(k, most, lds_B)) : 0;
	return hipSuccess;
}

/* Each query exists for a kernel by its host address, and by its handle. */
static hipError_t by_address(const void *function, const struct hip_kernel **k)
{
	return function ? hip_kernel_of(function, hip_current(), k) : hipErrorInvalidDeviceFunction;
}

static hipError_t by_handle(hipFunction_t function, const struct hip_kernel **k)
{
	return function ? hip_function_of(function, k) : hipErrorInvalidValue;
}

#define FLAGS_MAX 1u /* hipOccupancyDisableCachingOverride: AMD's GPUs have no cache that it concerns */

#define ACTIVE(name, type, find, parameters, arguments, flags)                                                     \
	HIP_PUBLIC(name, parameters, arguments)                                                                    \
	{                                                                                                          \
		const struct hip_kernel *k;                                                                        \
		hipError_t r = !blocks || (flags) > FLAGS_MAX ? hipErrorInvalidValue : find(function, &k);         \
                                                                                                                   \
		return r ? r : active_blocks(blocks, k, threads, lds_B);                                           \
	}
#define ACTIVE_PLAIN(name, type, find)                                                                             \
	ACTIVE(name, type, find, (int *blocks, type function, int threads, size_t lds_B),                          \
	       (blocks, function, threads, lds_B), 0u)
#define ACTIVE_FLAGS(name, type, find)                                                                             \
	ACTIVE(name, type, find, (int *blocks, type function, int threads, size_t lds_B, unsigned int flags),      \
	       (blocks, function, threads, lds_B, flags), flags)
ACTIVE_PLAIN(hipOccupancyMaxActiveBlocksPerMultiprocessor, const void *, by_address)
ACTIVE_FLAGS(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, const void *, by_address)
ACTIVE_PLAIN(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, hipFunction_t, by_handle)
ACTIVE_FLAGS(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, hipFunction_t, by_handle)

#define BEST(name, find, parameters, arguments, flags)                                                             \
	HIP_PUBLIC(name, parameters, arguments)                                                                    \
	{                                                                                                          \
		const struct hip_kernel *k;                                                                        \
		hipError_t r =                                                                                     \
			!blocks || !threads || (flags) > FLAGS_MAX ? hipErrorInvalidValue : find(function, &k);    \
                                                                                                                   \
		return r ? r : best_block(blocks, threads, k, lds_B, limit);                                       \
	}
BEST(hipOccupancyMaxPotentialBlockSize, by_address,
     (int *blocks, int *threads, const void *function, size_t lds_B, int limit),
     (blocks, threads, function, lds_B, limit), 0u)
BEST(hipModuleOccupancyMaxPotentialBlockSize, by_handle,
     (int *blocks, int *threads, hipFunction_t function, size_t lds_B, int limit),
     (blocks, threads, function, lds_B, limit), 0u)
BEST(hipModuleOccupancyMaxPotentialBlockSizeWithFlags, by_handle,
     (int *blocks, int *threads, hipFunction_t function, size_t lds_B, int limit, unsigned int flags),
     (blocks, threads, function, lds_B, limit, flags), flags)

#if TUFF_HIP_ABI >= 7
/* The unit that workgroups get LDS in, by CLR (rocclr's device.cpp, "LDS Alignment" of the ISAs). From GFX10 on it is two
 * units of COMPUTE_PGM_RSRC2, which drv_chip::lds_granule_B is. */
static uint32_t lds_unit_B(const struct drv_chip *chip)
{
	return chip->paired_cus ? 1024 : 512;
}

HIP_PUBLIC(hipOccupancyAvailableDynamicSMemPerBlock,
	   (size_t *size_B, const void *function, int blocks, int threads), (size_B, function, blocks, threads))
{
	const struct hip_kernel *k;
	hipError_t r = !size_B || blocks <= 0 || threads <= 0 ? hipErrorInvalidValue : by_address(function, &k);
	uint32_t each_B, unit_B;

	if (r)
		return r;
	unit_B = lds_unit_B(k->device->chip);
	each_B = k->device->lds_B / (unsigned)blocks;
	*size_B = each_B > k->group_B ? (each_B - k->group_B) / unit_B * unit_B : 0;
	return hipSuccess;
}
#endif

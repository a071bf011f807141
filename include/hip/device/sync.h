/* Synchronization: barriers of a block, fences, clocks. */
#ifndef HIP_DEVICE_SYNC_H
#define HIP_DEVICE_SYNC_H

#include <hip/device/index.h>

/* --- fences: what this thread wrote is seen before what it writes afterwards, by ... -------------- */

HIP_DEVICE void __threadfence_block()
{
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}

HIP_DEVICE void __threadfence()
{
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

/* ... and to the host and other devices. */
HIP_DEVICE void __threadfence_system()
{
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}

/* --- barriers: all threads of a block, or those of a wave --------------------------------------- */

HIP_DEVICE void __syncthreads()
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* The number of the block's threads whose predicate is not 0: each wave counts its own, and LDS holds the sum. */
HIP_DEVICE int __syncthreads_count(int predicate)
{
	__attribute__((shared)) static uint32_t total;
	int lane = static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)));
	uint64_t votes = __builtin_amdgcn_uicmp(static_cast<uint32_t>(predicate), 0u, 33 /*  not equal */);

	if (!(hip_threadIdx::get_x() | hip_threadIdx::get_y() | hip_threadIdx::get_z()))
		total = 0;
	__syncthreads();
	if (lane == __builtin_amdgcn_readfirstlane(lane))
		__hip_atomic_fetch_add(&total, static_cast<uint32_t>(__builtin_popcountll(votes)), __ATOMIC_RELAXED,
				       __HIP_MEMORY_SCOPE_WORKGROUP);
	__syncthreads();
	int count = static_cast<int>(total);

	__syncthreads();
	return count;
}

/* True when the predicate is not 0 for all threads (and), or for any (or). */
HIP_DEVICE int __syncthreads_and(int predicate)
{
	return !__syncthreads_count(!predicate);
}

HIP_DEVICE int __syncthreads_or(int predicate)
{
	return __syncthreads_count(predicate) != 0;
}

HIP_DEVICE void __named_sync()
{
	__builtin_amdgcn_s_barrier();
}

/* --- clocks: the GPU's, in cycles, and one that always goes at the same rate ---------------------- */

HIP_DEVICE long long int clock64()
{
	return static_cast<long long int>(__builtin_readcyclecounter());
}

HIP_DEVICE long long int __clock64()
{
	return clock64();
}

HIP_DEVICE clock_t clock()
{
	return static_cast<clock_t>(clock64());
}

HIP_DEVICE clock_t __clock()
{
	return clock();
}

HIP_DEVICE long long int wall_clock64()
{
#if __has_builtin(__builtin_readsteadycounter)
	return static_cast<long long int>(__builtin_readsteadycounter());
#else
	return static_cast<long long int>(__builtin_amdgcn_s_memrealtime());
#endif
}

#endif

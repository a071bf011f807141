/* Waves: votes, and exchange of values between lanes. A mask has a bit for each lane, 64 of them even where waves
 * have 32. */
#ifndef HIP_DEVICE_WARP_H
#define HIP_DEVICE_WARP_H

#include <hip/device/index.h>

HIP_DEVICE unsigned __lane_id()
{
	return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}

/* --- votes -------------------------------------------------------------------------------------- */

HIP_DEVICE unsigned long long __ballot(int predicate)
{
	return __builtin_amdgcn_uicmp(static_cast<uint32_t>(predicate), 0u, 33 /*  not equal */);
}

HIP_DEVICE unsigned long long __ballot64(int predicate)
{
	return __ballot(predicate);
}

HIP_DEVICE unsigned long long __activemask()
{
	return __ballot(1);
}

HIP_DEVICE int __all(int predicate)
{
	return !__ballot(!predicate);
}

HIP_DEVICE int __any(int predicate)
{
	return __ballot(predicate) != 0;
}

/* Masks of the lanes before, up to, from and after this one. */
HIP_DEVICE uint64_t __lanemask_lt()
{
	return (1ull << __lane_id()) - 1;
}

HIP_DEVICE uint64_t __lanemask_le()
{
	return __lanemask_lt() << 1 | 1;
}

HIP_DEVICE uint64_t __lanemask_ge()
{
	return ~__lanemask_lt() & __activemask();
}

HIP_DEVICE uint64_t __lanemask_gt()
{
	return ~__lanemask_le() & __activemask();
}

HIP_DEVICE uint64_t __lanemask_eq()
{
	return 1ull << __lane_id();
}

/* --- values ------------------------------------------------------------------------------------- */

/* Reads a value of any type from a lane, 32 bits at a time. */
template <typename T> HIP_DEVICE T hip_from_lane(T value, int lane)
{
	constexpr unsigned words = (sizeof(T) + 3) / 4;
	int word[words] = {};

	__builtin_memcpy(word, &value, sizeof(T));
	for (unsigned i = 0; i < words; i++)
		word[i] = __builtin_amdgcn_ds_bpermute(lane * 4, word[i]);
	__builtin_memcpy(&value, word, sizeof(T));
	return value;
}

/* width: a power of two. Each group of that many lanes exchanges separately; a lane outside the group gives the
 * thread's own value. */
template <typename T> HIP_DEVICE T __shfl(T value, int lane, int width = warpSize)
{
	int self = static_cast<int>(__lane_id());

	return hip_from_lane(value, (lane & (width - 1)) | (self & ~(width - 1)));
}

template <typename T> HIP_DEVICE T __shfl_up(T value, unsigned int delta, int width = warpSize)
{
	int self = static_cast<int>(__lane_id()), lane = self - static_cast<int>(delta);

	return hip_from_lane(value, lane < (self & ~(width - 1)) ? self : lane);
}

template <typename T> HIP_DEVICE T __shfl_down(T value, unsigned int delta, int width = warpSize)
{
	int self = static_cast<int>(__lane_id());

	return hip_from_lane(value, (self & (width - 1)) + static_cast<int>(delta) >= width
					    ? self
					    : self + static_cast<int>(delta));
}

template <typename T> HIP_DEVICE T __shfl_xor(T value, int mask, int width = warpSize)
{
	int self = static_cast<int>(__lane_id()), lane = self ^ mask;

	return hip_from_lane(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}

template <typename T> HIP_DEVICE bool hip_same(const T &a, const T &b)
{
	constexpr unsigned words = (sizeof(T) + 3) / 4;
	int of_a[words] = {}, of_b[words] = {}, differ = 0;

	__builtin_memcpy(of_a, &a, sizeof(T));
	__builtin_memcpy(of_b, &b, sizeof(T));
	for (unsigned i = 0; i < words; i++)
		differ |= of_a[i] ^ of_b[i];
	return !differ;
}

/* Mask of the lanes that have this lane's value. */
template <typename T> HIP_DEVICE unsigned long long __match_any(T value)
{
	unsigned long long left = __activemask(), mine = 0;

	while (left) {
		int lane = __builtin_ctzll(left);
		unsigned long long same = __ballot(hip_same(value, hip_from_lane(value, lane)));

		if (same >> __lane_id() & 1)
			mine = same;
		left &= ~same;
	}
	return mine;
}

/* Mask of all lanes if they have the same value, else 0. */
template <typename T> HIP_DEVICE unsigned long long __match_all(T value, int *all_same)
{
	unsigned long long active = __activemask();

	*all_same = __all(hip_same(value, hip_from_lane(value, __builtin_ctzll(active))));
	return *all_same ? active : 0;
}

/* --- AMD's names for single instructions -------------------------------------------------------- */

HIP_DEVICE unsigned __mbcnt_lo(unsigned mask, unsigned more)
{
	return __builtin_amdgcn_mbcnt_lo(mask, more);
}

HIP_DEVICE unsigned __mbcnt_hi(unsigned mask, unsigned more)
{
	return __builtin_amdgcn_mbcnt_hi(mask, more);
}

/* The bits of a float, for the instructions. */
HIP_DEVICE int hip_word(float value)
{
	return __builtin_bit_cast(int, value);
}

/* index: the lane's number times 4. */
HIP_DEVICE unsigned __hip_ds_bpermute(int index, unsigned src)
{
	return static_cast<unsigned>(__builtin_amdgcn_ds_bpermute(index, static_cast<int>(src)));
}

HIP_DEVICE float __hip_ds_bpermutef(int index, float src)
{
	return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(index, hip_word(src)));
}

HIP_DEVICE unsigned __hip_ds_permute(int index, unsigned src)
{
	return static_cast<unsigned>(__builtin_amdgcn_ds_permute(index, static_cast<int>(src)));
}

HIP_DEVICE float __hip_ds_permutef(int index, float src)
{
	return __builtin_bit_cast(float, __builtin_amdgcn_ds_permute(index, hip_word(src)));
}

template <int pattern> HIP_DEVICE unsigned __hip_ds_swizzle_N(unsigned src)
{
	return static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(static_cast<int>(src), pattern));
}

template <int pattern> HIP_DEVICE float __hip_ds_swizzlef_N(float src)
{
	return __builtin_bit_cast(float, __builtin_amdgcn_ds_swizzle(hip_word(src), pattern));
}

template <int dpp_ctrl, int row_mask, int bank_mask, bool bound_ctrl> HIP_DEVICE int __hip_move_dpp_N(int src)
{
	return __builtin_amdgcn_mov_dpp(src, dpp_ctrl, row_mask, bank_mask, bound_ctrl);
}

#define __hip_ds_swizzle(src, pattern)  __hip_ds_swizzle_N<(pattern)>(src)
#define __hip_ds_swizzlef(src, pattern) __hip_ds_swizzlef_N<(pattern)>(src)
#define __hip_move_dpp(src, dpp_ctrl, row_mask, bank_mask, bound_ctrl)                                             \
	__hip_move_dpp_N<(dpp_ctrl), (row_mask), (bank_mask), (bound_ctrl)>(src)

/* The value of the first active lane. */
template <typename T> HIP_DEVICE T __hip_readfirstlane(T value)
{
	constexpr unsigned words = (sizeof(T) + 3) / 4;
	int word[words] = {};

	__builtin_memcpy(word, &value, sizeof(T));
	for (unsigned i = 0; i < words; i++)
		word[i] = __builtin_amdgcn_readfirstlane(word[i]);
	__builtin_memcpy(&value, word, sizeof(T));
	return value;
}

/* --- the same with a mask of lanes: this lane's, and others that say the same mask ---------------- */

/* Disabled by default, as in ROCm 6: programs often define functions of these names. */
#ifdef HIP_ENABLE_WARP_SYNC_BUILTINS
template <typename M_> HIP_DEVICE void hip_check_mask(M_)
{
	static_assert(sizeof(M_) == 8, "a mask has 64 bits");
}

/* The lanes of a mask that the wave has: programs say ~0ull for all lanes of any wave. */
template <typename M_> HIP_DEVICE unsigned long long hip_lanes_of(M_ mask)
{
	hip_check_mask(mask);
	return warpSize == 32 ? mask & 0xffffffff : mask;
}

HIP_DEVICE void __syncwarp(unsigned long long = ~0ull)
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
	__builtin_amdgcn_wave_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

template <typename M_> HIP_DEVICE unsigned long long __ballot_sync(M_ mask, int predicate)
{
	return __ballot(predicate) & hip_lanes_of(mask);
}

template <typename M_> HIP_DEVICE int __all_sync(M_ mask, int predicate)
{
	return __ballot_sync(mask, predicate) == hip_lanes_of(mask);
}

template <typename M_> HIP_DEVICE int __any_sync(M_ mask, int predicate)
{
	return __ballot_sync(mask, predicate) != 0;
}

template <typename M_, typename T> HIP_DEVICE T __shfl_sync(M_ mask, T value, int lane, int width = warpSize)
{
	hip_check_mask(mask);
	return __shfl(value, lane, width);
}

template <typename M_, typename T>
HIP_DEVICE T __shfl_up_sync(M_ mask, T value, unsigned int delta, int width = warpSize)
{
	hip_check_mask(mask);
	return __shfl_up(value, delta, width);
}

template <typename M_, typename T>
HIP_DEVICE T __shfl_down_sync(M_ mask, T value, unsigned int delta, int width = warpSize)
{
	hip_check_mask(mask);
	return __shfl_down(value, delta, width);
}

template <typename M_, typename T> HIP_DEVICE T __shfl_xor_sync(M_ mask, T value, int lanes, int width = warpSize)
{
	hip_check_mask(mask);
	return __shfl_xor(value, lanes, width);
}

template <typename M_, typename T> HIP_DEVICE unsigned long long __match_any_sync(M_ mask, T value)
{
	return __match_any(value) & hip_lanes_of(mask);
}

template <typename M_, typename T> HIP_DEVICE unsigned long long __match_all_sync(M_ mask, T value, int *all_same)
{
	*all_same = __match_any_sync(mask, value) == hip_lanes_of(mask);
	return *all_same ? hip_lanes_of(mask) : 0;
}
#endif

#endif

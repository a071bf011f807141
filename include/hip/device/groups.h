/* Cooperative groups: the threads of a grid, of a block, of a part of a wave. Included by hip_cooperative_groups.h.
 * A group object is a value in each of its threads. sync() waits for all threads of the group, and makes their
 * earlier writes visible to all of them; every thread of the group must call it. Ranks are 0 to size() - 1. Kernels
 * that synchronize a grid must be launched by hipLaunchCooperativeKernel(), and need ROCm's device libraries. */
#ifndef HIP_DEVICE_GROUPS_H
#define HIP_DEVICE_GROUPS_H

#include <hip/device/bits.h>
#include <hip/device/sync.h>
#include <hip/device/warp.h>

extern "C" {
__attribute__((device)) void __ockl_grid_sync();
__attribute__((device)) int __ockl_grid_is_valid();
__attribute__((device)) void __ockl_multi_grid_sync();
__attribute__((device)) int __ockl_multi_grid_is_valid();
__attribute__((device)) uint32_t __ockl_multi_grid_num_grids();
__attribute__((device)) uint32_t __ockl_multi_grid_grid_rank();
__attribute__((device)) uint32_t __ockl_multi_grid_size();
__attribute__((device)) uint32_t __ockl_multi_grid_thread_rank();
}

namespace cooperative_groups
{
namespace internal
{
HIP_DEVICE uint32_t block_size()
{
	return hip_blockDim::get_x() * hip_blockDim::get_y() * hip_blockDim::get_z();
}

HIP_DEVICE uint32_t rank_in_block()
{
	return (hip_threadIdx::get_z() * hip_blockDim::get_y() + hip_threadIdx::get_y()) * hip_blockDim::get_x() +
	       hip_threadIdx::get_x();
}

HIP_DEVICE uint32_t block_rank()
{
	return (hip_blockIdx::get_z() * hip_gridDim::get_y() + hip_blockIdx::get_y()) * hip_gridDim::get_x() +
	       hip_blockIdx::get_x();
}

HIP_DEVICE uint32_t blocks()
{
	return hip_gridDim::get_x() * hip_gridDim::get_y() * hip_gridDim::get_z();
}

/* Lanes run in lockstep: only the compiler must not move memory operations. */
HIP_DEVICE void sync_lanes()
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
	__builtin_amdgcn_wave_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

/* The lane that has this rank in the mask, from 0. */
HIP_DEVICE int lane_of(unsigned long long mask, unsigned rank)
{
	for (; rank; rank--)
		mask &= mask - 1;
	return __builtin_ctzll(mask);
}

/* Packs the bits of the lanes in mask, in the order of their ranks. */
HIP_DEVICE unsigned long long by_rank(unsigned long long bits, unsigned long long mask)
{
	unsigned long long packed = 0;

	for (unsigned rank = 0; mask; rank++, mask &= mask - 1)
		packed |= (bits >> __builtin_ctzll(mask) & 1) << rank;
	return packed;
}

/* The lanes in mask whose ranks are in part `part` of `size` ranks. */
HIP_DEVICE unsigned long long part_of(unsigned long long mask, unsigned size, unsigned part)
{
	unsigned long long mine = 0;

	for (unsigned rank = 0; mask; rank++, mask &= mask - 1)
		if (rank / size == part)
			mine |= mask & -mask;
	return mine;
}
/* A type that is not deduced from an argument. */
template <class T> struct named {
	typedef T type;
};
} // namespace internal

/* A group whose kind is known at run time only. */
class thread_group
{
      protected:
	enum kind { block, lanes, grid, grids };
	kind kind_;
	uint32_t size_;
	/* Groups of lanes: their mask; the rank of the group among the parts of its parent, and their number. */
	unsigned long long mask_ = 0;
	uint32_t meta_rank_ = 0, meta_size_ = 1;

	HIP_DEVICE thread_group(kind what, uint32_t size) : kind_(what), size_(size)
	{
	}
	HIP_DEVICE thread_group(unsigned long long mask, uint32_t meta_rank, uint32_t meta_size)
	    : kind_(lanes), size_(static_cast<uint32_t>(__builtin_popcountll(mask))), mask_(mask),
	      meta_rank_(meta_rank), meta_size_(meta_size)
	{
	}
	friend class thread_block;
	HIP_DEVICE friend thread_group tiled_partition(const thread_group &parent, unsigned int size);

      public:
	HIP_DEVICE uint32_t size() const
	{
		return size_;
	}
	HIP_DEVICE uint32_t num_threads() const
	{
		return size_;
	}
	HIP_DEVICE uint32_t thread_rank() const
	{
		switch (kind_) {
		case block:
			return internal::rank_in_block();
		case lanes:
			return static_cast<uint32_t>(__builtin_popcountll(mask_ & __lanemask_lt()));
		case grid:
			return internal::block_rank() * internal::block_size() + internal::rank_in_block();
		case grids:
			return __ockl_multi_grid_thread_rank();
		}
	}
	HIP_DEVICE bool is_valid() const
	{
		return kind_ == grid    ? __ockl_grid_is_valid()
		       : kind_ == grids ? __ockl_multi_grid_is_valid()
					: true;
	}
	HIP_DEVICE void sync() const
	{
		switch (kind_) {
		case block:
			return __syncthreads();
		case lanes:
			return internal::sync_lanes();
		case grid:
			return __ockl_grid_sync();
		case grids:
			return __ockl_multi_grid_sync();
		}
	}
};

/* --- grids ---------------------------------------------------------------------------------------- */

class multi_grid_group : public thread_group
{
	HIP_DEVICE multi_grid_group() : thread_group(grids, __ockl_multi_grid_size())
	{
	}
	HIP_DEVICE friend multi_grid_group this_multi_grid();

      public:
	HIP_DEVICE uint32_t num_grids() const
	{
		return __ockl_multi_grid_num_grids();
	}
	HIP_DEVICE uint32_t grid_rank() const
	{
		return __ockl_multi_grid_grid_rank();
	}
	HIP_DEVICE uint32_t thread_rank() const
	{
		return __ockl_multi_grid_thread_rank();
	}
	HIP_DEVICE bool is_valid() const
	{
		return __ockl_multi_grid_is_valid();
	}
	HIP_DEVICE void sync() const
	{
		__ockl_multi_grid_sync();
	}
};

HIP_DEVICE multi_grid_group this_multi_grid()
{
	return multi_grid_group();
}

class grid_group : public thread_group
{
	HIP_DEVICE grid_group() : thread_group(grid, internal::blocks() * internal::block_size())
	{
	}
	HIP_DEVICE friend grid_group this_grid();

      public:
	HIP_DEVICE uint32_t thread_rank() const
	{
		return internal::block_rank() * internal::block_size() + internal::rank_in_block();
	}
	HIP_DEVICE uint32_t block_rank() const
	{
		return internal::block_rank();
	}
	HIP_DEVICE uint32_t num_blocks() const
	{
		return internal::blocks();
	}
	HIP_DEVICE dim3 group_dim() const
	{
		return gridDim;
	}
	HIP_DEVICE bool is_valid() const
	{
		return __ockl_grid_is_valid();
	}
	HIP_DEVICE void sync() const
	{
		__ockl_grid_sync();
	}
};

HIP_DEVICE grid_group this_grid()
{
	return grid_group();
}

/* --- blocks --------------------------------------------------------------------------------------- */

class thread_block : public thread_group
{
	HIP_DEVICE thread_block() : thread_group(block, internal::block_size())
	{
	}
	HIP_DEVICE friend thread_block this_thread_block();

      public:
	HIP_DEVICE static uint32_t thread_rank()
	{
		return internal::rank_in_block();
	}
	HIP_DEVICE static uint32_t size()
	{
		return internal::block_size();
	}
	HIP_DEVICE static uint32_t num_threads()
	{
		return internal::block_size();
	}
	HIP_DEVICE static dim3 group_index()
	{
		return blockIdx;
	}
	HIP_DEVICE static dim3 thread_index()
	{
		return threadIdx;
	}
	HIP_DEVICE static dim3 group_dim()
	{
		return blockDim;
	}
	HIP_DEVICE static dim3 dim_threads()
	{
		return blockDim;
	}
	HIP_DEVICE static bool is_valid()
	{
		return true;
	}
	HIP_DEVICE static void sync()
	{
		__syncthreads();
	}
};

HIP_DEVICE thread_block this_thread_block()
{
	return thread_block();
}

/* --- the lanes that are here together --------------------------------------------------------------- */

class coalesced_group : public thread_group
{
	HIP_DEVICE coalesced_group(unsigned long long mask, uint32_t meta_rank, uint32_t meta_size)
	    : thread_group(mask, meta_rank, meta_size)
	{
	}
	HIP_DEVICE friend coalesced_group coalesced_threads();
	HIP_DEVICE friend coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size);
	HIP_DEVICE friend coalesced_group binary_partition(const coalesced_group &parent, bool predicate);
	template <unsigned int size, class P_> friend class thread_block_tile;

	/* Returns this lane's value if no lane has the rank. */
	template <typename T> HIP_DEVICE T take(T value, int64_t rank) const
	{
		bool there = rank >= 0 && rank < size_;
		int lane = there ? internal::lane_of(mask_, static_cast<unsigned>(rank))
				 : static_cast<int>(__lane_id());

		return hip_from_lane(value, lane);
	}

      public:
	HIP_DEVICE uint32_t thread_rank() const
	{
		return static_cast<uint32_t>(__builtin_popcountll(mask_ & __lanemask_lt()));
	}
	HIP_DEVICE void sync() const
	{
		internal::sync_lanes();
	}
	HIP_DEVICE bool is_valid() const
	{
		return true;
	}
	HIP_DEVICE uint32_t meta_group_rank() const
	{
		return meta_rank_;
	}
	HIP_DEVICE uint32_t meta_group_size() const
	{
		return meta_size_;
	}
	template <typename T> HIP_DEVICE T shfl(T value, int rank) const
	{
		return take(value, static_cast<unsigned>(rank) % size_);
	}
	template <typename T> HIP_DEVICE T shfl_down(T value, unsigned int delta) const
	{
		return take(value, static_cast<int64_t>(thread_rank()) + delta);
	}
	template <typename T> HIP_DEVICE T shfl_up(T value, unsigned int delta) const
	{
		return take(value, static_cast<int64_t>(thread_rank()) - delta);
	}
	/* Bit i of a mask is rank i. */
	HIP_DEVICE unsigned long long ballot(int predicate) const
	{
		return internal::by_rank(__ballot(predicate) & mask_, mask_);
	}
	HIP_DEVICE int any(int predicate) const
	{
		return (__ballot(predicate) & mask_) != 0;
	}
	HIP_DEVICE int all(int predicate) const
	{
		return (__ballot(predicate) & mask_) == mask_;
	}
	template <typename T> HIP_DEVICE unsigned long long match_any(T value) const
	{
		return internal::by_rank(__match_any(value) & mask_, mask_);
	}
	template <typename T> HIP_DEVICE unsigned long long match_all(T value, int &same) const
	{
		same = all(hip_same(value, shfl(value, 0)));
		return same ? internal::by_rank(mask_, mask_) : 0;
	}
};

HIP_DEVICE coalesced_group coalesced_threads()
{
	return coalesced_group(__activemask(), 0, 1);
}

/* Partitions of `size` ranks; the last one may be smaller. size: a power of two. */
HIP_DEVICE coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size)
{
	uint32_t rank = parent.thread_rank() / size;

	return coalesced_group(internal::part_of(parent.mask_, size, rank), rank,
			       (parent.size() + size - 1) / size);
}

/* The threads with the same predicate as this one. */
HIP_DEVICE coalesced_group binary_partition(const coalesced_group &parent, bool predicate)
{
	unsigned long long yes = __ballot(predicate) & parent.mask_;

	return coalesced_group(predicate ? yes : parent.mask_ & ~yes, predicate ? 0 : 1, 2);
}

/* --- tiles: parts of a wave ------------------------------------------------------------------------- */

template <unsigned int tile, class ParentCGTy = void> class thread_block_tile : public thread_group
{
	static_assert(tile && !(tile & (tile - 1)) && tile <= (unsigned)warpSize,
		      "a power of two, and no more than a wave");

	HIP_DEVICE static unsigned long long tile_mask()
	{
		return (~0ull >> (64 - tile)) << (__lane_id() & ~(tile - 1));
	}
	HIP_DEVICE static uint32_t shift()
	{
		return __lane_id() & ~(tile - 1);
	}

      public:
	HIP_DEVICE explicit thread_block_tile(uint32_t meta_rank, uint32_t meta_size)
	    : thread_group(tile_mask(), meta_rank, meta_size)
	{
	}
	/* Converts from a tile with another parent type. */
	template <class P_>
	HIP_DEVICE thread_block_tile(const thread_block_tile<tile, P_> &other)
	    : thread_group(tile_mask(), other.meta_group_rank(), other.meta_group_size())
	{
	}
	HIP_DEVICE static constexpr uint32_t size()
	{
		return tile;
	}
	HIP_DEVICE static constexpr uint32_t num_threads()
	{
		return tile;
	}
	HIP_DEVICE static uint32_t thread_rank()
	{
		return __lane_id() & (tile - 1);
	}
	HIP_DEVICE static void sync()
	{
		internal::sync_lanes();
	}
	HIP_DEVICE static bool is_valid()
	{
		return true;
	}
	HIP_DEVICE uint32_t meta_group_rank() const
	{
		return meta_rank_;
	}
	HIP_DEVICE uint32_t meta_group_size() const
	{
		return meta_size_;
	}
	template <typename T> HIP_DEVICE T shfl(T value, int rank) const
	{
		return __shfl(value, rank, tile);
	}
	template <typename T> HIP_DEVICE T shfl_down(T value, unsigned int delta) const
	{
		return __shfl_down(value, delta, tile);
	}
	template <typename T> HIP_DEVICE T shfl_up(T value, unsigned int delta) const
	{
		return __shfl_up(value, delta, tile);
	}
	template <typename T> HIP_DEVICE T shfl_xor(T value, unsigned int mask) const
	{
		return __shfl_xor(value, static_cast<int>(mask), tile);
	}
	/* Bit i of a mask is rank i. */
	HIP_DEVICE unsigned long long ballot(int predicate) const
	{
		return (__ballot(predicate) & mask_) >> shift();
	}
	HIP_DEVICE int any(int predicate) const
	{
		return ballot(predicate) != 0;
	}
	HIP_DEVICE int all(int predicate) const
	{
		return !ballot(!predicate);
	}
	template <typename T> HIP_DEVICE unsigned long long match_any(T value) const
	{
		return (__match_any(value) & mask_) >> shift();
	}
	template <typename T> HIP_DEVICE unsigned long long match_all(T value, int &same) const
	{
		same = all(hip_same(value, shfl(value, 0)));
		return same ? mask_ >> shift() : 0;
	}
	HIP_DEVICE operator coalesced_group() const
	{
		return coalesced_group(mask_, meta_rank_, meta_size_);
	}
};

template <unsigned int size> HIP_DEVICE thread_block_tile<size, thread_block> tiled_partition(const thread_block &)
{
	return thread_block_tile<size, thread_block>(internal::rank_in_block() / size,
						     (internal::block_size() + size - 1) / size);
}

template <unsigned int size, unsigned int parent, class P_>
HIP_DEVICE thread_block_tile<size, thread_block_tile<parent, P_>>
tiled_partition(const thread_block_tile<parent, P_> &tile)
{
	static_assert(size <= parent, "a part is no greater than the whole");
	return thread_block_tile<size, thread_block_tile<parent, P_>>(tile.thread_rank() / size, parent / size);
}

/* For programs that name the type of the parent. */
template <unsigned int size, class G_>
HIP_DEVICE auto tiled_partition(const typename internal::named<G_>::type &group)
{
	return tiled_partition<size>(group);
}

template <unsigned int size, class P_>
HIP_DEVICE coalesced_group binary_partition(const thread_block_tile<size, P_> &tile, bool predicate)
{
	return binary_partition(static_cast<coalesced_group>(tile), predicate);
}

/* Partitions whose size is known at run time only: of a block's waves, or of lanes. */
HIP_DEVICE thread_group tiled_partition(const thread_group &parent, unsigned int size)
{
	uint32_t rank = parent.thread_rank() / size, parts = (parent.size() + size - 1) / size;

	if (parent.kind_ == thread_group::lanes)
		return thread_group(internal::part_of(parent.mask_, size, rank), rank, parts);
	/* The block's last partition may be smaller. */
	uint32_t left = parent.size() - rank * size, count = left < size ? left : size;

	return thread_group((~0ull >> (64 - count)) << (__lane_id() & ~(size - 1)), rank, parts);
}

/* --- the same as functions -------------------------------------------------------------------------- */

template <class G_> HIP_DEVICE uint32_t group_size(const G_ &group)
{
	return group.size();
}

template <class G_> HIP_DEVICE uint32_t thread_rank(const G_ &group)
{
	return group.thread_rank();
}

template <class G_> HIP_DEVICE bool is_valid(const G_ &group)
{
	return group.is_valid();
}

template <class G_> HIP_DEVICE void sync(const G_ &group)
{
	group.sync();
}
} // namespace cooperative_groups

#endif

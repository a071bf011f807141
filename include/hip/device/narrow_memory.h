/* 16-bit floating point in memory: loads under CUDA's names, and atomic additions. */
#ifndef HIP_DEVICE_NARROW_MEMORY_H
#define HIP_DEVICE_NARROW_MEMORY_H

#include <hip/device/atomic.h>

/* Adds to both elements by a compare and swap of 32 bits. */
template <typename P_> HIP_DEVICE P_ hip_add_pair(P_ *address, P_ value)
{
	unsigned int *word = reinterpret_cast<unsigned int *>(address), seen = *word, expected;
	P_ before;

	do {
		expected = seen;
		__builtin_memcpy(&before, &expected, sizeof(before));
		P_ after = before + value;
		unsigned int wanted;

		__builtin_memcpy(&wanted, &after, sizeof(wanted));
		seen = atomicCAS(word, expected, wanted);
	} while (seen != expected);
	return before;
}

#define HIP_NARROW_LOAD(T, name)                                                                                   \
	HIP_DEVICE T name(const T *address)                                                                        \
	{                                                                                                          \
		return *address;                                                                                   \
	}
#define HIP_NARROW_MEMORY(N, P_)                                                                                   \
	HIP_NARROW_LOAD(N, __ldca)                                                                                 \
	HIP_NARROW_LOAD(N, __ldcg)                                                                                 \
	HIP_NARROW_LOAD(N, __ldcs)                                                                                 \
	HIP_NARROW_LOAD(P_, __ldca)                                                                                \
	HIP_NARROW_LOAD(P_, __ldcg)                                                                                \
	HIP_NARROW_LOAD(P_, __ldcs)                                                                                \
	HIP_DEVICE P_ unsafeAtomicAdd(P_ *address, P_ value)                                                       \
	{                                                                                                          \
		return hip_add_pair(address, value);                                                               \
	}                                                                                                          \
	HIP_DEVICE P_ atomicAdd(P_ *address, P_ value)                                                             \
	{                                                                                                          \
		return hip_add_pair(address, value);                                                               \
	}

#endif

/* A pattern in a block of a pool, written and checked by kernels. */
#ifndef TESTS_HIP_POOL_PATTERN_H
#define TESTS_HIP_POOL_PATTERN_H

#include <hip/hip_runtime.h>

#define LANES 64u /* of a kernel: so many words of a block are looked at */

__device__ static unsigned *word_of(unsigned *block, size_t words)
{
	size_t step = words > LANES ? (words - 1) / (LANES - 1) : 1, at = threadIdx.x * step;

	return threadIdx.x == LANES - 1 && words >= LANES ? block + words - 1 : at < words ? block + at : nullptr;
}

__global__ void mark(unsigned *block, size_t words, unsigned pattern)
{
	unsigned *word = word_of(block, words);

	if (word)
		*word = pattern + threadIdx.x;
}

/* errors: how many, and the first one's pattern, and what was there. */
__global__ void look(unsigned *block, size_t words, unsigned pattern, unsigned *errors)
{
	unsigned *word = word_of(block, words);

	if (word && *word != pattern + threadIdx.x && !atomicAdd(&errors[0], 1)) {
		errors[1] = pattern;
		errors[2] = *word;
	}
}

#endif

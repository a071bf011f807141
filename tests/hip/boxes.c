/* Copies of boxes whose ends are in one piece of memory are refused if they share a byte, and only then. */
#include <stdlib.h>
#include <string.h>

#include <hip/hip_runtime_api.h>

#include "tests/check.h"
#include "tests/random.h"

#define MEMORY_B 4096u
#define BOXES    4000u

struct box {
	uint32_t dst, src; /* offsets of the ends */
	uint32_t pitch, rows, width, height, depth;
};

static uint32_t below(uint64_t *seed, uint32_t limit)
{
	return (uint32_t)(test_random(seed) >> 32) % limit;
}

static void mark(unsigned char *bytes, const struct box *b, uint32_t at, unsigned char bit)
{
	for (uint32_t z = 0; z < b->depth; z++)
		for (uint32_t y = 0; y < b->height; y++)
			for (uint32_t x = 0; x < b->width; x++)
				bytes[at + (z * b->rows + y) * b->pitch + x] |= bit;
}

static bool shares_bytes(const struct box *b)
{
	unsigned char bytes[MEMORY_B] = {0};

	mark(bytes, b, b->dst, 1);
	mark(bytes, b, b->src, 2);
	return memchr(bytes, 3, sizeof(bytes));
}

static uint32_t extent_B(const struct box *b)
{
	return ((b->depth - 1) * b->rows + b->height - 1) * b->pitch + b->width;
}

static struct box draw(uint64_t *seed)
{
	struct box b;

	do {
		b.pitch = 1 + below(seed, 40);
		b.rows = 1 + below(seed, 6);
		b.width = 1 + below(seed, b.pitch);
		b.height = 1 + below(seed, b.rows);
		b.depth = 1 + below(seed, 12);
		b.dst = below(seed, MEMORY_B / 2);
		b.src = below(seed, MEMORY_B / 2);
	} while (b.dst == b.src || extent_B(&b) > MEMORY_B / 2);
	return b;
}

static hipError_t copy(char *memory, const struct box *b)
{
	const hipMemcpy3DParms p = {
		.srcPtr = {memory + b->src, b->pitch, b->width, b->rows},
		.dstPtr = {memory + b->dst, b->pitch, b->width, b->rows},
		.extent = {b->width, b->height, b->depth},
		.kind = hipMemcpyDeviceToDevice,
	};

	return hipMemcpy3D(&p);
}

int main(void)
{
	uint64_t seed = 1;
	unsigned refused = 0;
	char *memory;

	CHECK_EQ(hipMalloc((void **)&memory, MEMORY_B), hipSuccess);
	for (unsigned i = 0; i < BOXES; i++) {
		const struct box b = draw(&seed);
		const bool shares = shares_bytes(&b);

		if (!CHECK_EQ(copy(memory, &b), shares ? hipErrorInvalidValue : hipSuccess))
			printf("  %u to %u, pitch %u, %u rows a slice, %u x %u x %u\n", b.src, b.dst, b.pitch,
			       b.rows, b.width, b.height, b.depth);
		refused += shares;
	}
	CHECK(refused > BOXES / 10 && refused < BOXES);
	CHECK_EQ(hipFree(memory), hipSuccess);
	return check_done("copies of boxes in one piece of memory");
}

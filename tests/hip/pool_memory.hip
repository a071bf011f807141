/* A GPU with little memory: pools take all of it, and release it. Statements S17, S19, S45, S46 and S57 of
 * docs/pools.md. */
#include <unistd.h>

#include "tests/hip/pools.h"

#define PIECE (4 * MIB)

static hipError_t heard(hipError_t error)
{
	(void)hipGetLastError();
	return error;
}

/* All that there is. */
static std::vector<void *> take_all(const pool &p, hipStream_t s, size_t size)
{
	std::vector<void *> all;
	hipError_t r;
	void *ptr;

	while ((r = heard(hipMallocFromPoolAsync(&ptr, size, p.at, s))) == hipSuccess)
		all.push_back(ptr);
	CHECK_EQ(r, hipErrorOutOfMemory);
	return all;
}

static void give_all(std::vector<void *> &all, hipStream_t s)
{
	for (void *ptr : all)
		give(ptr, s);
	all.clear();
}

static void is_usable(const std::vector<void *> &all, size_t size, hipStream_t s)
{
	unsigned char byte = 0;

	for (size_t i = 0; i < all.size(); i++) {
		touch<<<1, 64, 0, s>>>((unsigned char *)all[i] + size - 64, 64, (unsigned char)i);
		HIP_LAUNCHED();
	}
	for (size_t i = 0; i < all.size(); i += 7) {
		HIP(hipMemcpyAsync(&byte, (char *)all[i] + size - 1, 1, hipMemcpyDeviceToHost, s));
		HIP(hipStreamSynchronize(s));
		CHECK_EQ(byte, (unsigned char)i);
	}
}

/* Full, empty and full again; all numbers are exact at each time. */
static size_t fill_and_empty()
{
	pool p;
	stream s;
	size_t most = 0;

	for (unsigned round = 0; round < 3; round++) {
		std::vector<void *> all = take_all(p, s, PIECE);
		void *ptr = &ptr;

		CHECK(all.size() > 8);
		CHECK(!round || all.size() == most);
		most = all.size();
		CHECK_EQ(p.used(), most * PIECE); /* S19: the one that failed is not counted */
		CHECK_EQ(p.reserved(), most * PIECE);
		CHECK_EQ(p.get(hipMemPoolAttrUsedMemHigh), most * PIECE);
		CHECK_EQ(p.get(hipMemPoolAttrReservedMemHigh), most * PIECE);
		CHECK_EQ(heard(hipMallocFromPoolAsync(&ptr, PIECE, p.at, s)), hipErrorOutOfMemory);
		CHECK_EQ(p.used(), most * PIECE); /* S17 */
		is_usable(all, PIECE, s);
		/* Every other: what is free lies apart, and is enough for its own size. */
		for (size_t i = 0; i < all.size(); i += 2)
			give(all[i], s);
		for (size_t i = 0; i < all.size(); i += 2)
			all[i] = p.take(PIECE, s);
		CHECK_EQ(p.reserved(), most * PIECE);
		/* Larger than any hole: what has ended is given back, and comes again side by side. */
		for (size_t i = 0; i < all.size(); i += 2)
			give(all[i], s);
		HIP(hipStreamSynchronize(s));
		ptr = p.take(4 * PIECE, s); /* S57 */
		CHECK_EQ(p.used(), (most / 2 + 4) * PIECE);
		give(ptr, s);
		for (size_t i = 1; i < all.size(); i += 2)
			give(all[i], s);
		CHECK_EQ(p.used(), 0);
		HIP(hipStreamSynchronize(s));
		HIP(hipMemPoolTrimTo(p.at, 0));
		CHECK_EQ(p.reserved(), 0);
	}
	return most;
}

/* One pool's memory is there for another, and for hipMalloc(), as soon as its users have ended. */
static void for_others(size_t most)
{
	pool p, other;
	stream s, t;
	std::vector<void *> all = take_all(p, s, PIECE), others;
	void *ptr;

	CHECK_EQ(heard(hipMallocFromPoolAsync(&ptr, PIECE, other.at, t)), hipErrorOutOfMemory);
	CHECK_EQ(heard(hipMalloc(&ptr, 2 * PIECE)), hipErrorOutOfMemory);
	is_usable(all, PIECE, s);
	give_all(all, s);
	while (heard(hipStreamQuery(s)) == hipErrorNotReady)
		usleep(100);
	CHECK(p.reserved() >= most * PIECE); /* kept, as its threshold says */
	others = take_all(other, t, PIECE);  /* S57 */
	CHECK_EQ(others.size(), most);
	CHECK_EQ(p.reserved(), 0);
	is_usable(others, PIECE, t);
	give_all(others, t);
	HIP(hipStreamSynchronize(t));
	CHECK(other.reserved() >= most * PIECE);
	HIP(hipMalloc(&ptr, (most - 2) * PIECE)); /* S57 */
	HIP(hipFree(ptr));
	CHECK_EQ(other.reserved(), 0);
}

/* What is still used is waited for by the GPU, if that is allowed. */
static void behind_others(bool allowed)
{
	pool p(false);
	stream a, b;
	gate g;
	std::vector<void *> all;
	void *ptr = nullptr;

	p.set(hipMemPoolReuseAllowInternalDependencies, allowed);
	all = take_all(p, a, PIECE);
	wait_for<<<1, 1, 0, a>>>(g.word);
	HIP_LAUNCHED();
	give_all(all, a);
	if (!allowed) {
		CHECK_EQ(heard(hipMallocFromPoolAsync(&ptr, PIECE, p.at, b)), hipErrorOutOfMemory); /* S46 */
	} else {
		ptr = p.take(8 * PIECE, b); /* S45 */
		CHECK_EQ(heard(hipStreamQuery(b)), hipErrorNotReady);
		touch<<<1, 64, 0, b>>>((unsigned char *)ptr, 64, 9);
		HIP_LAUNCHED();
		give(ptr, b);
	}
	g.open();
	HIP(hipDeviceSynchronize());
	CHECK_EQ(p.used(), 0);
}

/* Small blocks, of which many share a chunk. */
static void small()
{
	pool p;
	stream s;
	std::vector<void *> all = take_all(p, s, MIB / 2);
	uint64_t reserved = p.reserved();

	CHECK_EQ(p.used(), all.size() * (MIB / 2));
	CHECK(reserved >= p.used());
	is_usable(all, MIB / 2, s);
	give_all(all, s);
	void *whole = p.take(reserved / 2, s); /* they join */
	CHECK_EQ(p.reserved(), reserved);
	give(whole, s);
	HIP(hipStreamSynchronize(s));
}

/* What kernels and copies need of their own is there from now on. */
static void begin()
{
	pool p;
	stream s;
	void *ptr;

	HIP(hipMalloc(&ptr, MIB));
	HIP(hipFree(ptr));
	ptr = p.take(MIB, s);
	is_usable({ptr}, MIB, s);
	give(ptr, s);
	HIP(hipStreamSynchronize(s));
}

int main()
{
	size_t most;

	begin();
	most = fill_and_empty();
	for_others(most);
	behind_others(true);
	behind_others(false);
	small();
	CHECK_EQ(fill_and_empty(), most); /* nothing has stayed */
	return check_done("pools of a GPU with little memory");
}

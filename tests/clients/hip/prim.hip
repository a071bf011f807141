/* Debian's librocprim-dev: algorithms of the whole device and of a block, against the CPU. */
#include "tests/clients/hip/hip.h"

#include <algorithm>
#include <numeric>
#include <rocprim/rocprim.hpp>

#define COUNT    20011u /* several blocks, and no whole number of them */
#define SEGMENTS 37u
#define BINS     16u

static std::vector<unsigned> numbers(unsigned modulus)
{
	std::vector<unsigned> v(COUNT);
	unsigned seed = 20261;

	for (unsigned &x : v)
		x = (seed = seed * 1664525u + 1013904223u) / 7 % modulus;
	return v;
}

template <typename T> static unsigned differing(const std::vector<T> &got, const std::vector<T> &want, size_t count)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++)
		wrong += got[i] != want[i];
	return wrong;
}

/* Each algorithm says first how much memory it needs. */
template <typename FN> static void run(FN fn)
{
	size_t size_B = 0;

	HIP(fn(nullptr, size_B));
	gpu_array<char> memory(size_B + 1);
	HIP(fn(memory.at, size_B));
}

static void reductions()
{
	const std::vector<unsigned> v = numbers(100000);
	gpu_array<unsigned> in(v), out(1), ends(SEGMENTS), offsets(SEGMENTS + 1);
	std::vector<unsigned> at(SEGMENTS + 1), want(SEGMENTS);

	run([&](void *memory, size_t &size_B) {
		return rocprim::reduce(memory, size_B, in.at, out.at, 5u, COUNT, rocprim::plus<unsigned>());
	});
	CHECK_EQ(out.read()[0], std::accumulate(v.begin(), v.end(), 5u));
	run([&](void *memory, size_t &size_B) {
		return rocprim::reduce(memory, size_B, in.at, out.at, 0u, COUNT, rocprim::maximum<unsigned>());
	});
	CHECK_EQ(out.read()[0], *std::max_element(v.begin(), v.end()));
	/* Segments of 0, 29, 58 ... numbers. */
	for (unsigned i = 0; i < SEGMENTS; i++) {
		at[i + 1] = at[i] + 29 * i;
		want[i] = std::accumulate(v.begin() + at[i], v.begin() + at[i + 1], 0u);
	}
	HIP(hipMemcpy(offsets.at, at.data(), at.size() * sizeof(at[0]), hipMemcpyHostToDevice));
	run([&](void *memory, size_t &size_B) {
		return rocprim::segmented_reduce(memory, size_B, in.at, ends.at, SEGMENTS, offsets.at,
						 offsets.at + 1, rocprim::plus<unsigned>(), 0u);
	});
	CHECK_EQ(differing(ends.read(), want, SEGMENTS), 0);
}

static void scans()
{
	const std::vector<unsigned> v = numbers(1000);
	std::vector<unsigned> want(COUNT);
	gpu_array<unsigned> in(v), out(COUNT);

	std::partial_sum(v.begin(), v.end(), want.begin());
	run([&](void *memory, size_t &size_B) {
		return rocprim::inclusive_scan(memory, size_B, in.at, out.at, COUNT, rocprim::plus<unsigned>());
	});
	CHECK_EQ(differing(out.read(), want, COUNT), 0);
	want.insert(want.begin(), 0);
	run([&](void *memory, size_t &size_B) {
		return rocprim::exclusive_scan(memory, size_B, in.at, out.at, 0u, COUNT, rocprim::plus<unsigned>());
	});
	CHECK_EQ(differing(out.read(), want, COUNT), 0);
}

static void sorts()
{
	const std::vector<unsigned> v = numbers(0x7fffffff);
	std::vector<unsigned> want = v, order(COUNT), got;
	std::vector<float> keys(COUNT);
	gpu_array<unsigned> in(v), out(COUNT), moved(COUNT);
	gpu_array<float> key_out(COUNT);

	std::sort(want.begin(), want.end());
	run([&](void *memory, size_t &size_B) {
		return rocprim::radix_sort_keys(memory, size_B, in.at, out.at, COUNT);
	});
	CHECK_EQ(differing(out.read(), want, COUNT), 0);
	run([&](void *memory, size_t &size_B) {
		return rocprim::merge_sort(memory, size_B, in.at, out.at, COUNT, rocprim::greater<unsigned>());
	});
	std::reverse(want.begin(), want.end());
	CHECK_EQ(differing(out.read(), want, COUNT), 0);
	/* Stable: equal keys keep their order. */
	for (unsigned i = 0; i < COUNT; i++)
		keys[i] = (float)(v[i] % 1000) - 500;
	std::iota(order.begin(), order.end(), 0u);
	gpu_array<float> key_in(keys);
	gpu_array<unsigned> index(order);
	run([&](void *memory, size_t &size_B) {
		return rocprim::radix_sort_pairs_desc(memory, size_B, key_in.at, key_out.at, index.at, moved.at,
						      COUNT);
	});
	std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
		return keys[a] > keys[b] || (keys[a] == keys[b] && a < b);
	});
	CHECK_EQ(differing(moved.read(), order, COUNT), 0);
}

struct is_third {
	__host__ __device__ bool operator()(unsigned x) const
	{
		return x % 3 == 0;
	}
};

static void selections()
{
	std::vector<unsigned> v = numbers(1000), want, rest;
	gpu_array<unsigned> in(v), out(COUNT), count(1);

	for (unsigned x : v)
		(is_third()(x) ? want : rest).push_back(x);
	run([&](void *memory, size_t &size_B) {
		return rocprim::select(memory, size_B, in.at, out.at, count.at, COUNT, is_third());
	});
	CHECK_EQ(count.read()[0], want.size());
	CHECK_EQ(differing(out.read(), want, want.size()), 0);
	/* The others follow from the end on. */
	run([&](void *memory, size_t &size_B) {
		return rocprim::partition(memory, size_B, in.at, out.at, count.at, COUNT, is_third());
	});
	CHECK_EQ(count.read()[0], want.size());
	want.insert(want.end(), rest.rbegin(), rest.rend());
	CHECK_EQ(differing(out.read(), want, COUNT), 0);
}

static void runs_and_bins()
{
	std::vector<unsigned> v = numbers(16), value, length, want(BINS), got;
	gpu_array<unsigned> in(v), values(COUNT), lengths(COUNT), count(1), bins(BINS);

	for (unsigned i = 0; i < COUNT; i++)
		if (i && v[i] == v[i - 1]) {
			length.back()++;
		} else {
			value.push_back(v[i]);
			length.push_back(1);
		}
	run([&](void *memory, size_t &size_B) {
		return rocprim::run_length_encode(memory, size_B, in.at, COUNT, values.at, lengths.at, count.at);
	});
	CHECK_EQ(count.read()[0], value.size());
	CHECK_EQ(differing(values.read(), value, value.size()), 0);
	CHECK_EQ(differing(lengths.read(), length, length.size()), 0);
	for (unsigned x : v)
		want[x]++;
	run([&](void *memory, size_t &size_B) {
		return rocprim::histogram_even(memory, size_B, in.at, COUNT, bins.at, BINS + 1, 0u, BINS);
	});
	CHECK_EQ(differing(bins.read(), want, BINS), 0);
}

/* A block's sum of squares, by parts of it: what each warp has, then what all have. */
template <unsigned THREADS> __global__ void squares(const unsigned *in, unsigned *sums, unsigned *before)
{
	using warp = rocprim::warp_reduce<unsigned, 32>;
	using block = rocprim::block_scan<unsigned, THREADS>;
	__shared__ typename warp::storage_type warps[THREADS / 32];
	__shared__ typename block::storage_type all;
	unsigned i = blockIdx.x * THREADS + threadIdx.x, square = in[i] * in[i], sum, scanned;

	warp().reduce(square, sum, warps[threadIdx.x / 32]);
	if (threadIdx.x % 32 == 0)
		sums[i / 32] = sum;
	block().exclusive_scan(square, scanned, 0u, all);
	before[i] = scanned;
}

static void blocks()
{
	const unsigned threads = 256, count = 8 * threads;
	const std::vector<unsigned> v = numbers(1000);
	gpu_array<unsigned> in(v), sums(count / 32), before(count);
	std::vector<unsigned> sum(count / 32), scanned(count);

	squares<threads><<<count / threads, threads>>>(in.at, sums.at, before.at);
	HIP_LAUNCHED();
	for (unsigned i = 0; i < count; i++) {
		sum[i / 32] += v[i] * v[i];
		scanned[i] = i % threads ? scanned[i - 1] + v[i - 1] * v[i - 1] : 0;
	}
	CHECK_EQ(differing(sums.read(), sum, sum.size()), 0);
	CHECK_EQ(differing(before.read(), scanned, count), 0);
}

int main()
{
	reductions();
	scans();
	sorts();
	selections();
	runs_and_bins();
	blocks();
	return check_done("rocPRIM's algorithms");
}

/* half and half2 in kernels: arithmetic as the host does it, comparisons, conversions, mathematics, sums in memory.
 */
#include <hip/hip_fp16.h>

#include <cmath>

#include "tests/clients/hip/hip.h"

#define COUNT 512u

/* As LLVM's builtins take and give two halves. */
typedef _Float16 vector2 __attribute__((ext_vector_type(2)));

struct output {
	half sum, product, quotient, fma, saturated, least, root, up, whole;
	half2 pair, swapped, of_vector;
	int rounded;
	bool less, unordered, both;
};

__host__ __device__ void compute(half a, half b, output &o)
{
	half2 p = __halves2half2(a, b), q = __half2half2(half(1.5f));

	o.sum = a + b;
	o.product = __hmul(a, b);
	o.quotient = a / (b + half(1));
	o.saturated = __hadd_sat(a, b);
	o.least = __hmin(a, -b);
	o.up = __float2half_ru(static_cast<float>(a) * 1.001f);
	o.pair = __hadd2(__hmul2_rn(p, q), __lowhigh2highlow(p));
	o.swapped = __hgt2(p, __lowhigh2highlow(p));
	o.of_vector = vector2(__habs2(vector2(p).yx)).yx;
	o.rounded = __half2int_rn(a);
	o.less = a < b;
	o.unordered = __hltu(a, b);
	o.both = __hbge2(p, q);
}

__global__ void on_gpu(const half *a, const half *b, output *out, half2 *total)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	output o;

	compute(a[i], b[i], o);
	o.fma = __hfma(a[i], b[i], a[i]);
	o.root = hsqrt(__habs(a[i]));
	o.whole = hfloor(__shfl_xor(a[i], 1));
	out[i] = o;
	atomicAdd(total, half2(half(1), half(0.5f)));
}

static bool same(half a, half b)
{
	return __half_as_ushort(a) == __half_as_ushort(b) || (__hisnan(a) && __hisnan(b));
}

static unsigned count_wrong(half a, half b, half neighbour, const output &got)
{
	output want;
	unsigned wrong = 0;

	compute(a, b, want);
	wrong += !same(got.sum, want.sum) || !same(got.product, want.product) || !same(got.quotient, want.quotient);
	wrong += !same(got.saturated, want.saturated) || !same(got.least, want.least) || !same(got.up, want.up);
	wrong += !same(got.pair.x, want.pair.x) || !same(got.pair.y, want.pair.y);
	wrong += !same(got.of_vector.x, __habs(a)) || !same(got.of_vector.y, __habs(b));
	wrong += got.swapped != want.swapped || got.less != want.less || got.unordered != want.unordered;
	wrong += got.both != want.both || (!__hisnan(a) && got.rounded != want.rounded);
	wrong += !same(got.fma, half(fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(a))));
	wrong += !same(got.root, half(sqrtf(fabsf(a))));
	wrong += !same(got.whole, half(floorf(neighbour)));
	return wrong;
}

/* What is no half becomes one. */
static void from_others()
{
	volatile __half_raw raw = {{0x3c00}};
	half h;

	half2 pair(1, 2);

	h = raw;
	CHECK(half2(1, 2) != half2(1, 3) && half2(1, 2) != half2(3, 2) && !(half2(1, 2) != half2(1, 2)));
	CHECK(!__hbne2(half2(1, 2), half2(1, 3)) && __hbne2(half2(1, 2), half2(3, 3)));
	CHECK(half2(5, 8) >= half2(2, 10) && half2(2, 10) <= half2(5, 8) && !(half2(1, 2) >= half2(2, 3)));
	CHECK(!__hbge2(half2(5, 8), half2(2, 10)) && __hbge2(half2(5, 8), half2(2, 8)));
	CHECK(pair++ == half2(1, 2) && --pair == half2(1, 2) && __clamp_01(half(3)) == half(1));
	CHECK(h == half(1));
	h = static_cast<volatile __half_raw &&>(raw);
	CHECK(h == half(1));
	CHECK(__heq(true, 1) && __hlt(1, 2.5f) && !__hge(1, 2u));
}

int main()
{
	from_others();
	std::vector<half> a(COUNT), b(COUNT);
	unsigned n = 1, wrong = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		a[i] = __ushort_as_half(static_cast<unsigned short>((n = n * 1664525 + 1013904223) >> 16 & 0xdfff));
		b[i] = half(static_cast<float>(static_cast<int>((n = n * 1664525 + 1013904223) >> 20) - 2048) / 64);
	}
	a[0] = 0;
	a[1] = 65504.0f;
	a[2] = __ushort_as_half(0x7e00); /* a NaN */
	a[3] = -INFINITY;
	gpu_array<half> on_a(a), on_b(b);
	gpu_array<output> out(COUNT);
	gpu_array<half2> total(std::vector<half2>(1, half2(half(0), half(0))));

	on_gpu<<<COUNT / 64, 64>>>(on_a.at, on_b.at, out.at, total.at);
	HIP_LAUNCHED();
	std::vector<output> got = out.read();
	for (unsigned i = 0; i < COUNT; i++)
		wrong += count_wrong(a[i], b[i], a[i ^ 1], got[i]);
	CHECK_EQ(wrong, 0);
	CHECK(total.read()[0] == half2(half(512), half(256)));
	return check_done("half precision");
}

/* bfloat16 in kernels: the new type and the old one give what float gives, rounded. */
#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>

#include <cmath>

#include "tests/clients/hip/hip.h"

#define COUNT 512u

struct output {
	__hip_bfloat16 sum, fma, most, root, shuffled;
	__hip_bfloat162 pair;
	hip_bfloat16 old_sum, truncated;
	__half crossed;
	bool less;
};

__global__ void on_gpu(const float *a, const float *b, output *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	__hip_bfloat16 x(a[i]), y(b[i]);
	__hip_bfloat162 p = __floats2bfloat162_rn(a[i], b[i]);
	hip_bfloat16 old_x(a[i]), old_y(b[i]);
	output o;

	o.sum = x + y;
	o.fma = __hfma(x, y, x);
	o.most = __hmax(x, y);
	o.root = hsqrt(__habs(x));
	o.shuffled = __shfl_xor(x, 2);
	o.pair = __hmul2(p, __low2bfloat162(p));
	o.old_sum = old_x + old_y;
	o.truncated = hip_bfloat16::round_to_bfloat16(a[i], hip_bfloat16::truncate);
	o.crossed = static_cast<__half>(old_x);
	o.less = x < y;
	out[i] = o;
}

/* To the nearest that keeps 8 bits, by arithmetic instead of bits. */
static float rounded(double x)
{
	int exponent;
	double fraction = frexp(x, &exponent);

	return static_cast<float>(ldexp(nearbyint(ldexp(fraction, 8)), exponent - 8));
}

static unsigned count_wrong(float a, float b, float neighbour, const output &o)
{
	double x = rounded(a), y = rounded(b);
	unsigned wrong = 0;

	wrong += static_cast<float>(o.sum) != rounded(x + y) || static_cast<float>(o.old_sum) != rounded(x + y);
	wrong += static_cast<float>(o.fma) != rounded(static_cast<double>(fmaf(x, y, x)));
	wrong += static_cast<float>(o.most) != (x < y ? y : x) || o.less != (x < y);
	wrong += static_cast<float>(o.root) != rounded(static_cast<double>(sqrtf(fabs(x))));
	wrong += static_cast<float>(o.shuffled) != rounded(neighbour);
	wrong += static_cast<float>(o.pair.x) != rounded(x * x) || static_cast<float>(o.pair.y) != rounded(x * y);
	/* Small numbers are none of half's normal ones; large ones have no end. */
	wrong += fabs(x) < 65504 && fabs(static_cast<float>(o.crossed) - x) > ldexp(1, -25) + fabs(x) / 4096;
	wrong += fabsf(o.truncated) > fabsf(a) || fabsf(o.truncated) < fabsf(a) * 0.992f;
	return wrong;
}

int main()
{
	std::vector<float> a(COUNT), b(COUNT);
	unsigned n = 1, wrong = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		a[i] = ldexpf(static_cast<int>(n = n * 1664525 + 1013904223), static_cast<int>(i % 30) - 40);
		b[i] = ldexpf(static_cast<int>(n = n * 1664525 + 1013904223), static_cast<int>(i % 20) - 35);
	}
	gpu_array<float> on_a(a), on_b(b);
	gpu_array<output> out(COUNT);

	on_gpu<<<COUNT / 64, 64>>>(on_a.at, on_b.at, out.at);
	HIP_LAUNCHED();
	std::vector<output> got = out.read();
	for (unsigned i = 0; i < COUNT; i++)
		wrong += count_wrong(a[i], b[i], a[i ^ 2], got[i]);
	CHECK_EQ(wrong, 0);
	CHECK(static_cast<float>(__hip_bfloat16(1.0 + 1.0 / 256 + 1e-12)) == 1 + 1.0f / 128); /* rounded once */
	return check_done("bfloat16");
}

/* Floating point of 8 bits: all codes of the four formats, and what numbers become, in kernels as on the host. */
#include <hip/hip_fp8.h>

#include <cmath>

#include "tests/clients/hip/hip.h"

#define COUNT 2048u

template <typename F> __global__ void decode(float *out)
{
	F x;

	x.__x = static_cast<unsigned char>(threadIdx.x);
	out[threadIdx.x] = x;
}

template <typename F> __global__ void encode(const float *in, unsigned char *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = F(in[i]).__x;
}

/* The codes are what a plain reading of the format gives; each is its own nearest. */
template <typename F> static std::vector<float> codes(int mantissa, int bias, float greatest)
{
	gpu_array<float> out(256);
	unsigned wrong = 0;
	float most = 0;

	decode<F><<<1, 256>>>(out.at);
	HIP_LAUNCHED();
	std::vector<float> got = out.read();
	for (unsigned code = 0; code < 256; code++) {
		int exponent = static_cast<int>(code & 0x7f) >> mantissa, fraction = code & ((1 << mantissa) - 1);
		float want = exponent ? ldexpf(1 + ldexpf(static_cast<float>(fraction), -mantissa), exponent - bias)
				      : ldexpf(static_cast<float>(fraction), 1 - bias - mantissa);

		if (std::isfinite(got[code])) {
			most = std::max(most, got[code]);
			wrong += fabsf(got[code]) != want || (code & 0x80 && got[code] > 0) ||
				 F(got[code]).__x != code;
		}
	}
	CHECK_EQ(wrong, 0);
	CHECK(most == greatest);
	return got;
}

template <typename F> static void format(int mantissa, int bias, float greatest)
{
	std::vector<float> values = codes<F>(mantissa, bias, greatest), numbers(COUNT);
	gpu_array<unsigned char> out(COUNT);
	unsigned n = 5, wrong = 0;

	for (unsigned i = 0; i < COUNT; i++)
		numbers[i] = ldexpf(static_cast<int>(n = n * 1664525 + 1013904223), static_cast<int>(i % 36) - 48);
	gpu_array<float> in(numbers);

	encode<F><<<COUNT / 64, 64>>>(in.at, out.at);
	HIP_LAUNCHED();
	std::vector<unsigned char> got = out.read();
	for (unsigned i = 0; i < COUNT; i++) {
		float x = std::min(std::max(numbers[i], -greatest), greatest);
		float off = fabsf(values[got[i]] - x);

		for (float other : values)
			wrong += std::isfinite(other) && fabsf(other - x) < off;
	}
	CHECK_EQ(wrong, 0);
	CHECK(std::isnan(static_cast<float>(F(NAN))));
	CHECK(static_cast<float>(F(1e30)) == greatest && static_cast<float>(F(-INFINITY)) == -greatest);
}

int main()
{
	format<__hip_fp8_e4m3>(3, 7, 448);
	format<__hip_fp8_e5m2>(2, 15, 57344);
	format<__hip_fp8_e4m3_fnuz>(3, 8, 240);
	format<__hip_fp8_e5m2_fnuz>(2, 16, 57344);
	CHECK_EQ(__hip_cvt_float_to_fp8(1e9f, __HIP_NOSAT, __HIP_E5M2), 0x7c);
	CHECK_EQ(__hip_cvt_float_to_fp8(-1e9f, __HIP_NOSAT, __HIP_E4M3), 0xff);
	CHECK_EQ(__hip_cvt_float_to_fp8(-0.0f, __HIP_NOSAT, __HIP_E4M3_FNUZ), 0);
	CHECK(static_cast<float4>(__hip_fp8x4_e4m3(make_float4(1, -2, 0.5f, 300))) ==
	      make_float4(1, -2, 0.5f, 288));
	CHECK(static_cast<float2>(__hip_fp8x2_e5m2_fnuz(__floats2half2_rn(1.25f, -3))) == make_float2(1.25f, -3));
	return check_done("floating point of 8 bits");
}

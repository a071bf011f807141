/* Small numbers several at a time: dot products of bytes, of 16 bits, of 4, with and without saturation; bytes of a
 * char4. */
#include <hip/hip_fp16.h>

#include "tests/clients/hip/hip.h"

#define COUNT 256u

struct input {
	unsigned a, b;
	int c;
};

struct output {
	int bytes, words, nibbles, saturated;
	unsigned unsigned_bytes, unsigned_words, unsigned_nibbles;
	float halves;
	char4 sum;
};

template <typename V> __host__ __device__ V as(unsigned bits)
{
	V made;

	memcpy(&made, &bits, sizeof(made));
	return made;
}

__global__ void on_gpu(const input *in, output *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	input x = in[i];
	output o;

	o.bytes = amd_mixed_dot(as<char4>(x.a), as<char4>(x.b), x.c, false);
	o.words = amd_mixed_dot(as<short2>(x.a), as<short2>(x.b), x.c, false);
	o.nibbles = amd_mixed_dot(static_cast<int>(x.a), static_cast<int>(x.b), x.c, false);
	o.saturated = amd_mixed_dot(as<short2>(x.a), as<short2>(x.a), 0x7ffffff0, true);
	o.unsigned_bytes = amd_mixed_dot(as<uchar4>(x.a), as<uchar4>(x.b), static_cast<unsigned>(x.c), false);
	o.unsigned_words = amd_mixed_dot(as<ushort2>(x.a), as<ushort2>(x.b), 5u, false);
	o.unsigned_nibbles = amd_mixed_dot(x.a, x.b, 9u, false);
	o.halves =
		amd_mixed_dot(half2(half(x.a & 15), half(x.a >> 4 & 15)), half2(half(2), half(0.5f)), 1.0f, false);
	o.sum = __hip_hc_add8pk(as<char4>(x.a), as<char4>(x.b));
	out[i] = o;
}

/* The sum of the products of fields of so many bits, with sign or without. */
static long long dot(unsigned a, unsigned b, unsigned bits, bool with_sign)
{
	long long total = 0;

	for (unsigned at = 0; at < 32; at += bits) {
		long long x = a >> at & ((1ull << bits) - 1), y = b >> at & ((1ull << bits) - 1),
			  half = 1ll << (bits - 1);

		total += with_sign ? ((x ^ half) - half) * ((y ^ half) - half) : x * y;
	}
	return total;
}

int main()
{
	std::vector<input> in(COUNT);
	unsigned n = 1, wrong = 0;

	for (input &x : in) {
		x.a = n = n * 1664525 + 1013904223;
		x.b = n = n * 1664525 + 1013904223;
		x.c = static_cast<int>(n >> 4);
	}
	gpu_array<input> on_a(in);
	gpu_array<output> out(COUNT);

	on_gpu<<<COUNT / 64, 64>>>(on_a.at, out.at);
	HIP_LAUNCHED();
	std::vector<output> got = out.read();
	for (unsigned i = 0; i < COUNT; i++) {
		const input &x = in[i];
		const output &o = got[i];

		wrong += o.bytes != static_cast<int>(dot(x.a, x.b, 8, true) + x.c);
		wrong += o.words != static_cast<int>(dot(x.a, x.b, 16, true) + x.c);
		wrong += o.nibbles != static_cast<int>(dot(x.a, x.b, 4, true) + x.c);
		wrong += o.saturated != std::min(dot(x.a, x.a, 16, true) + 0x7ffffff0, 0x7fffffffll);
		wrong += o.unsigned_bytes != static_cast<unsigned>(dot(x.a, x.b, 8, false) + x.c);
		wrong += o.unsigned_words != static_cast<unsigned>(dot(x.a, x.b, 16, false) + 5);
		wrong += o.unsigned_nibbles != static_cast<unsigned>(dot(x.a, x.b, 4, false) + 9);
		wrong += o.halves != (x.a & 15) * 2 + (x.a >> 4 & 15) * 0.5f + 1;
		wrong += o.sum.w != static_cast<char>((x.a >> 24) + (x.b >> 24));
	}
	CHECK_EQ(wrong, 0);
	return check_done("small numbers several at a time");
}

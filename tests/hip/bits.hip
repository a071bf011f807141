/* Functions of bits, beside plain loops that say what they mean. */
#include "tests/clients/hip/hip.h"

#define COUNT 512u

struct input {
	unsigned x, y, n;
	unsigned long long z;
};

struct output {
	int popc, popcll, clz, clzll, ffs, ffsll, mul24, mulhi, hadd, rhadd, fns;
	unsigned brev, perm, left, right, left_c, right_c, field, inserted, umul24, umulhi, sad, usad, uhadd,
		urhadd;
	unsigned long long brevll, wide_field, umul64hi;
	long long mul64hi;
};

__global__ void on_gpu(const input *in, output *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	input a = in[i];
	output o;
	int x = static_cast<int>(a.x), y = static_cast<int>(a.y);

	o.popc = __popc(a.x);
	o.popcll = __popcll(a.z);
	o.clz = __clz(x);
	o.clzll = __clzll(static_cast<long long>(a.z));
	o.ffs = __ffs(x);
	o.ffsll = __ffsll(a.z);
	o.mul24 = __mul24(x, y);
	o.umul24 = __umul24(a.x, a.y);
	o.mulhi = __mulhi(x, y);
	o.umulhi = __umulhi(a.x, a.y);
	o.mul64hi = __mul64hi(static_cast<long long>(a.z), -static_cast<long long>(a.z >> 3));
	o.umul64hi = __umul64hi(a.z, a.z);
	o.hadd = __hadd(x, y);
	o.rhadd = __rhadd(x, y);
	o.uhadd = __uhadd(a.x, a.y);
	o.urhadd = __urhadd(a.x, a.y);
	o.sad = __sad(x, y, 7u);
	o.usad = __usad(a.x, a.y, 7u);
	o.fns = __fns(a.x, a.n % 32, static_cast<int>(a.n % 7) - 3);
	o.brev = __brev(a.x);
	o.brevll = __brevll(a.z);
	o.perm = __byte_perm(a.x, a.y, a.n);
	o.left = __funnelshift_l(a.x, a.y, a.n % 64);
	o.right = __funnelshift_r(a.x, a.y, a.n % 64);
	o.left_c = __funnelshift_lc(a.x, a.y, a.n % 64);
	o.right_c = __funnelshift_rc(a.x, a.y, a.n % 64);
	o.field = __bitextract_u32(a.x, a.n % 32, a.n / 32 % 33);
	o.inserted = __bitinsert_u32(a.x, a.y, a.n % 24, 8);
	o.wide_field = __bitextract_u64(a.z, a.n % 64, a.n / 64 % 65);
	out[i] = o;
}

template <typename T> static T reversed(T x)
{
	T made = 0;

	for (unsigned i = 0; i < 8 * sizeof(T); i++)
		made = static_cast<T>(made << 1 | (x >> i & 1));
	return made;
}

static int first_zeros(unsigned long long x, int bits)
{
	int n = 0;

	while (n < bits && !(x >> (bits - 1 - n) & 1))
		n++;
	return n;
}

static int first_set(unsigned long long x)
{
	for (int i = 0; i < 64; i++)
		if (x >> i & 1)
			return i + 1;
	return 0;
}

static int nth_set(unsigned mask, int base, int offset)
{
	if (!offset)
		return mask >> base & 1 ? base : -1;
	for (int at = base, left = abs(offset); at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
		if (mask >> at & 1 && !--left)
			return at;
	return -1;
}

static unsigned bytes(unsigned x, unsigned y, unsigned selector)
{
	unsigned char both[8], made[4];
	unsigned result;

	memcpy(both, &x, 4);
	memcpy(both + 4, &y, 4);
	for (unsigned i = 0; i < 4; i++)
		made[i] = both[selector >> 4 * i & 7];
	memcpy(&result, made, 4);
	return result;
}

static unsigned count_wrong(const input &a, const output &o)
{
	typedef unsigned long long wide;
	long long x = static_cast<int>(a.x), y = static_cast<int>(a.y);
	wide both = static_cast<wide>(a.y) << 32 | a.x;
	unsigned shift = a.n % 64, width = a.n / 32 % 33, wide_width = a.n / 64 % 65, wrong = 0;

	wrong += o.popc != __builtin_popcount(a.x) || o.popcll != __builtin_popcountll(a.z);
	wrong += o.clz != first_zeros(a.x, 32) || o.clzll != first_zeros(a.z, 64);
	wrong += o.ffs != first_set(a.x) || o.ffsll != first_set(a.z);
	wrong += o.mul24 != static_cast<int>((x << 40 >> 40) * (y << 40 >> 40));
	wrong += o.umul24 != static_cast<unsigned>((a.x & 0xffffff) * static_cast<wide>(a.y & 0xffffff));
	wrong += o.mulhi != static_cast<int>(x * y >> 32);
	wrong += o.umulhi != static_cast<unsigned>(static_cast<wide>(a.x) * a.y >> 32);
	wrong += o.mul64hi != static_cast<long long>(static_cast<__int128>(static_cast<long long>(a.z)) *
							     -static_cast<long long>(a.z >> 3) >>
						     64);
	wrong += o.umul64hi != static_cast<wide>(static_cast<unsigned __int128>(a.z) * a.z >> 64);
	wrong += o.hadd != (x + y) >> 1 || o.rhadd != (x + y + 1) >> 1;
	wrong +=
		o.uhadd != (static_cast<wide>(a.x) + a.y) / 2 || o.urhadd != (static_cast<wide>(a.x) + a.y + 1) / 2;
	wrong += o.sad != static_cast<unsigned>(llabs(x - y)) + 7 ||
		 o.usad != (a.x > a.y ? a.x - a.y : a.y - a.x) + 7;
	wrong += o.fns != nth_set(a.x, static_cast<int>(a.n % 32), static_cast<int>(a.n % 7) - 3);
	wrong += o.brev != reversed(a.x) || o.brevll != reversed(a.z) || o.perm != bytes(a.x, a.y, a.n);
	wrong += o.left != static_cast<unsigned>(both << shift % 32 >> 32);
	wrong += o.right != static_cast<unsigned>(both >> shift % 32);
	wrong += o.left_c != (shift > 31 ? a.x : static_cast<unsigned>(both << shift >> 32));
	wrong += o.right_c != (shift > 31 ? a.y : static_cast<unsigned>(both >> shift));
	/* Widths are taken modulo 32 and 64; what passes the end is not said. */
	wrong += a.n % 32 + width % 32 <= 32 && o.field != (a.x >> a.n % 32 & ((1u << width % 32) - 1));
	wrong += o.inserted != ((a.x & ~(0xffu << a.n % 24)) | (a.y & 0xff) << a.n % 24);
	wrong += shift + wide_width % 64 <= 64 && o.wide_field != (a.z >> shift & ((1ull << wide_width % 64) - 1));
	return wrong;
}

int main()
{
	std::vector<input> in(COUNT);
	unsigned n = 7, wrong = 0;

	for (input &a : in) {
		a.x = n = n * 1664525 + 1013904223;
		a.y = n = n * 1664525 + 1013904223;
		a.z = static_cast<unsigned long long>(n = n * 1664525 + 1013904223) << 32 | a.x * 2654435761u;
		a.n = (n = n * 1664525 + 1013904223) >> 8;
	}
	in[0] = {0, 0, 0, 0};
	in[1] = {~0u, ~0u, ~0u, ~0ull};
	in[2] = {1, 0x80000000, 31, 1ull << 63};
	gpu_array<input> on_a(in);
	gpu_array<output> out(COUNT);

	on_gpu<<<COUNT / 64, 64>>>(on_a.at, out.at);
	HIP_LAUNCHED();
	std::vector<output> got = out.read();
	for (unsigned i = 0; i < COUNT; i++)
		wrong += count_wrong(in[i], got[i]);
	CHECK_EQ(wrong, 0);
	return check_done("functions of bits");
}

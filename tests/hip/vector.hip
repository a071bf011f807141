/* Short vectors in kernels and on the host: construction, elements, operators, alignment, and memory that both
 * share. */
#include "tests/clients/hip/hip.h"

#define COUNT 128u

static_assert(sizeof(char3) == 3 && sizeof(short4) == 8 && sizeof(float3) == 12 && sizeof(double4) == 32, "sizes");
static_assert(alignof(float2) == 8 && alignof(float3) == 4 && alignof(float4) == 16 && alignof(double4) == 32,
	      "alignments");

/* The same on both sides. */
template <typename V> __host__ __device__ V mix(V a, V b)
{
	V c = a * b + a - V(3);

	c += b;
	c *= 2;
	c = 5 + c;
	--c;
	c++;
	return a == b ? -c : c;
}

template <typename V> __host__ __device__ V bits(V a, V b)
{
	V c = (a & b) | (a ^ 21);

	c <<= 2;
	c = c >> 1;
	return ~c % 1000;
}

template <typename V> __global__ void on_gpu(const V *a, const V *b, V *mixed)
{
	unsigned i = threadIdx.x;

	mixed[i] = mix(a[i], b[i]);
}

template <typename V> __global__ void bits_on_gpu(const V *a, const V *b, V *out)
{
	unsigned i = threadIdx.x;

	out[i] = bits(a[i], b[i]);
}

template <typename V> static std::vector<V> numbers(unsigned seed)
{
	std::vector<V> made(COUNT);
	unsigned n = seed;

	for (V &v : made)
		for (unsigned i = 0; i < sizeof(V) / sizeof(typename V::value_type); i++)
			v.data[i] = static_cast<typename V::value_type>((n = n * 1103515245 + 12345) >> 16 & 15);
	made[5] = V(7);
	return made;
}

template <typename V> static unsigned differ(const std::vector<V> &got, const std::vector<V> &want)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < COUNT; i++)
		wrong += got[i] != want[i];
	return wrong;
}

template <typename V> static void arithmetic()
{
	std::vector<V> a = numbers<V>(1), b = numbers<V>(2), want(COUNT);
	gpu_array<V> on_a(a), on_b(b), out(COUNT);

	for (unsigned i = 0; i < COUNT; i++)
		want[i] = mix(a[i], b[i]);
	on_gpu<<<1, COUNT>>>(on_a.at, on_b.at, out.at);
	HIP_LAUNCHED();
	CHECK_EQ(differ(out.read(), want), 0);
}

template <typename V> static void integers()
{
	std::vector<V> a = numbers<V>(3), b = numbers<V>(4), want(COUNT);
	gpu_array<V> on_a(a), on_b(b), out(COUNT);

	arithmetic<V>();
	for (unsigned i = 0; i < COUNT; i++)
		want[i] = bits(a[i], b[i]);
	bits_on_gpu<<<1, COUNT>>>(on_a.at, on_b.at, out.at);
	HIP_LAUNCHED();
	CHECK_EQ(differ(out.read(), want), 0);
}

static void elements()
{
	float4 v = make_float4(1, 2, 3, 4);
	constexpr int2 fixed(3, 4);
	short2 narrowed(v.x, v.w);

	static_assert(fixed.y == 4, "known when compiled");
	v.y = 20;
	CHECK(v.data[1] == 20 && v.data[3] == v.w);
	CHECK(v == make_float4(1, 20, 3, 4) && v != float4(1));
	CHECK(narrowed.x == 1 && narrowed.y == 4);
	CHECK((uint3(5, 6, 7) / 2u == make_uint3(2, 3, 3)));
}

int main()
{
	elements();
	arithmetic<float1>();
	arithmetic<float2>();
	arithmetic<float3>();
	arithmetic<float4>();
	arithmetic<double2>();
	arithmetic<double3>();
	arithmetic<double4>();
	integers<char4>();
	integers<short2>();
	integers<ushort3>();
	integers<int1>();
	integers<int2>();
	integers<int3>();
	integers<uint4>();
	integers<longlong2>();
	integers<ulonglong4>();
	return check_done("short vectors");
}

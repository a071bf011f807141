/* Conversions that say how they round, beside the host's arithmetic in the same rounding mode. */
#include <cfenv>
#include <cmath>

#include "tests/clients/hip/hip.h"

#define COUNT 1024u

/* to nearest, down, up, towards 0 */
#define MODES 4
static const int mode_of[MODES] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

struct output {
	int f2i[MODES], d2i[MODES];
	unsigned f2u[MODES];
	long long d2ll[MODES];
	unsigned long long f2ull[MODES];
	float d2f[MODES], i2f[MODES], u2f[MODES], ll2f[MODES], ull2f[MODES];
	double ll2d[MODES], ull2d[MODES];
	int high, low;
	double joined;
};

#define EACH(member, name, x)                                                                                      \
	o.member[0] = __##name##_rn(x);                                                                            \
	o.member[1] = __##name##_rd(x);                                                                            \
	o.member[2] = __##name##_ru(x);                                                                            \
	o.member[3] = __##name##_rz(x)

__global__ void on_gpu(const double *numbers, const long long *integers, output *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	double x = numbers[i];
	float f = static_cast<float>(x), positive = f < 0 ? -f : f;
	long long n = integers[i];
	output o;

	EACH(f2i, float2int, f);
	EACH(d2i, double2int, x);
	EACH(f2u, float2uint, positive);
	EACH(d2ll, double2ll, x * 1e6);
	EACH(f2ull, float2ull, positive * 1e6f);
	EACH(d2f, double2float, x);
	EACH(i2f, int2float, static_cast<int>(n));
	EACH(u2f, uint2float, static_cast<unsigned>(n));
	EACH(ll2f, ll2float, n);
	EACH(ull2f, ull2float, static_cast<unsigned long long>(n));
	EACH(ll2d, ll2double, n);
	EACH(ull2d, ull2double, static_cast<unsigned long long>(n));
	o.high = __double2hiint(x);
	o.low = __double2loint(x);
	o.joined = __hiloint2double(o.high, o.low);
	out[i] = o;
}

/* Not optimised: the compiler does not know of rounding modes. */
__attribute__((optnone)) static unsigned count_wrong(double x, long long n, const output &o)
{
	float f = static_cast<float>(x), positive = fabsf(f);
	double millions = x * 1e6;
	float positive_millions = positive * 1e6f;
	unsigned wrong = 0;

	for (int mode = 0; mode < MODES; mode++) {
		fesetround(mode_of[mode]);
		wrong += o.f2i[mode] != static_cast<int>(nearbyint(static_cast<double>(f)));
		wrong += o.d2i[mode] != static_cast<int>(nearbyint(x));
		wrong += o.f2u[mode] != static_cast<unsigned>(nearbyint(static_cast<double>(positive)));
		wrong += o.d2ll[mode] != static_cast<long long>(nearbyint(millions));
		wrong += o.f2ull[mode] !=
			 static_cast<unsigned long long>(nearbyint(static_cast<double>(positive_millions)));
		wrong += o.d2f[mode] != static_cast<float>(*static_cast<volatile double *>(&x));
		wrong += o.i2f[mode] != static_cast<float>(static_cast<int>(n));
		wrong += o.u2f[mode] != static_cast<float>(static_cast<unsigned>(n));
		wrong += o.ll2f[mode] != static_cast<float>(n);
		wrong += o.ull2f[mode] !=
			 strtof(std::to_string(static_cast<unsigned long long>(n)).c_str(), nullptr);
		wrong += o.ll2d[mode] != static_cast<double>(n);
		wrong += o.ull2d[mode] !=
			 strtod(std::to_string(static_cast<unsigned long long>(n)).c_str(), nullptr);
	}
	fesetround(FE_TONEAREST);
	return wrong + (o.joined != x);
}

int main()
{
	std::vector<double> numbers(COUNT);
	std::vector<long long> integers(COUNT);
	unsigned n = 3, wrong = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		n = n * 1664525 + 1013904223;
		numbers[i] = ldexp(static_cast<int>(n), static_cast<int>(i % 40) - 45) + i * 1e-9;
		integers[i] = static_cast<long long>(static_cast<unsigned long long>(n) * 0x9e3779b97f4a7c15ull) >>
			      i % 50;
	}
	const double edges[] = {0, -0.5, 0.5, 1.5, -2.5, 1e-40, -1e-40, 16777217, 1e-320};
	const long long ends[] = {
		0, -1, INT64_MAX, INT64_MIN, 16777217, -16777217, (1ll << 53) + 1, (1ll << 62) + 1, 1};

	std::copy(std::begin(edges), std::end(edges), numbers.begin());
	std::copy(std::begin(ends), std::end(ends), integers.begin());
	gpu_array<double> in(numbers);
	gpu_array<long long> whole(integers);
	gpu_array<output> out(COUNT);

	on_gpu<<<COUNT / 64, 64>>>(in.at, whole.at, out.at);
	HIP_LAUNCHED();
	std::vector<output> got = out.read();
	for (unsigned i = 0; i < COUNT; i++)
		wrong += count_wrong(numbers[i], integers[i], got[i]);
	CHECK_EQ(wrong, 0);
	return check_done("conversions that say how they round");
}

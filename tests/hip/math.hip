/* Mathematical functions in kernels, within a few units of the last place of the host's; the fast ones less
 * strictly. */
#include <cmath>

#include "tests/clients/hip/hip.h"

#define COUNT 1024u

/* name, arguments, as code for both sides */
#define EACH_FLOAT(each)                                                                                           \
	each(sinf(x)) each(cosf(x)) each(tanf(x)) each(expf(x)) each(exp2f(x)) each(expm1f(x)) each(logf(p))       \
		each(log2f(p)) each(log10f(p)) each(log1pf(p)) each(sqrtf(p)) each(cbrtf(x)) each(powf(p, y))      \
			each(hypotf(x, y)) each(atan2f(x, y)) each(asinf(u)) each(acosf(u)) each(atanf(x))         \
				each(sinhf(x)) each(coshf(x)) each(tanhf(x)) each(erff(x)) each(tgammaf(p))        \
					each(lgammaf(p)) each(floorf(x)) each(ceilf(x)) each(truncf(x))            \
						each(rintf(x)) each(roundf(x)) each(fmodf(x, y))                   \
							each(remainderf(x, y)) each(copysignf(x, y))               \
								each(fmaxf(x, y)) each(fminf(x, y))                \
									each(fdimf(x, y)) each(fmaf(x, y, p))      \
										each(ldexpf(x, 3)) each(fabsf(x))
#define EACH_DOUBLE(each)                                                                                          \
	each(sin(x)) each(cos(x)) each(exp(x)) each(log(p)) each(sqrt(p)) each(pow(p, y)) each(atan2(x, y))        \
		each(floor(x)) each(fmod(x, y)) each(fma(x, y, p)) each(cbrt(x)) each(erf(x)) each(tanh(x))        \
			each(hypot(x, y)) each(round(x)) each(std::abs(x)) each(std::max(x, y)) each(lgamma(p))

#define VALUE(call)    out[n++] = call;
#define COUNT_IT(call) +1
constexpr unsigned floats = 0 EACH_FLOAT(COUNT_IT), doubles = 0 EACH_DOUBLE(COUNT_IT);

/* p: positive; u: from -1 to 1. */
__host__ __device__ void compute(float x, float y, float *out)
{
	float p = x * x + 0.1f, u = y / 8;
	unsigned n = 0;

	EACH_FLOAT(VALUE)
}

__host__ __device__ void compute(double x, double y, double *out)
{
	double p = x * x + 0.1;
	unsigned n = 0;

	EACH_DOUBLE(VALUE)
}

template <typename T> __global__ void on_gpu(const T *x, const T *y, T *out, unsigned each)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	compute(x[i], y[i], out + i * each);
}

__global__ void fast(const float *x, float *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float p = x[i] * x[i] + 0.1f;

	out[4 * i] = __sinf(x[i]);
	out[4 * i + 1] = __expf(x[i]);
	out[4 * i + 2] = __logf(p);
	out[4 * i + 3] = __fdividef(__fadd_rn(x[i], 1.0f), __fmul_rn(p, 2.0f)) + rsqrtf(p);
}

template <typename T>
static unsigned differ(const std::vector<T> &x, const std::vector<T> &y, unsigned each, T allowed)
{
	gpu_array<T> on_x(x), on_y(y), out(COUNT * each);
	std::vector<T> want(each);
	unsigned wrong = 0;

	on_gpu<<<COUNT / 64, 64>>>(on_x.at, on_y.at, out.at, each);
	HIP_LAUNCHED();
	std::vector<T> got = out.read();
	for (unsigned i = 0; i < COUNT; i++) {
		compute(x[i], y[i], want.data());
		for (unsigned f = 0; f < each; f++) {
			T off = std::abs(got[i * each + f] - want[f]);

			if (got[i * each + f] != want[f] &&
			    !(off <= allowed * std::max(std::abs(want[f]), static_cast<T>(1e-2))) && !wrong++)
				printf("function %u of %g and %g: %g instead of %g\n", f, static_cast<double>(x[i]),
				       static_cast<double>(y[i]), static_cast<double>(got[i * each + f]),
				       static_cast<double>(want[f]));
		}
	}
	return wrong;
}

template <typename T> static std::vector<T> numbers(unsigned n)
{
	std::vector<T> made(COUNT);

	for (T &x : made)
		x = static_cast<T>(static_cast<int>(n = n * 1664525 + 1013904223)) / (1 << 28);
	return made;
}

int main()
{
	std::vector<float> x = numbers<float>(1);
	gpu_array<float> on_x(x), out(4 * COUNT);
	unsigned wrong = 0;

	/* ROCm promises at most 16 units for some; of what cancels less is left. */
	CHECK_EQ(differ(x, numbers<float>(2), floats, 64 * 6e-8f), 0);
	CHECK_EQ(differ(numbers<double>(3), numbers<double>(4), doubles, 64 * 1.2e-16), 0);
	fast<<<COUNT / 64, 64>>>(on_x.at, out.at);
	HIP_LAUNCHED();
	std::vector<float> got = out.read();
	for (unsigned i = 0; i < COUNT; i++) {
		float p = x[i] * x[i] + 0.1f;

		wrong += std::abs(got[4 * i] - sinf(x[i])) > 1e-4f;
		wrong += std::abs(got[4 * i + 1] - expf(x[i])) > 1e-4f * expf(x[i]);
		wrong += std::abs(got[4 * i + 2] - logf(p)) > 1e-4f;
		wrong += std::abs(got[4 * i + 3] - ((x[i] + 1) / (p * 2) + 1 / sqrtf(p))) >
			 1e-4f * (std::abs(x[i]) + 10);
	}
	CHECK_EQ(wrong, 0);
	return check_done("mathematical functions");
}

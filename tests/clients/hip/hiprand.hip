/* Debian's libhiprand1: its generators on the host and in kernels. */
#include "tests/clients/hip/hip.h"

#include <hiprand/hiprand.h>
#include <hiprand/hiprand_kernel.h>
#include <math.h>

#define COUNT     20000u
#define RAND(call) CHECK_EQ(call, HIPRAND_STATUS_SUCCESS)

static hiprandGenerator_t generator_of(hiprandRngType_t type, unsigned long long seed)
{
	hiprandGenerator_t generator;

	RAND(hiprandCreateGenerator(&generator, type));
	if (type < HIPRAND_RNG_QUASI_DEFAULT)
		RAND(hiprandSetPseudoRandomGeneratorSeed(generator, seed));
	return generator;
}

/* The first numbers of key 0 and counter 0 stand in Random123's kat_vectors. */
static void known()
{
	static const unsigned want[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
	hiprandGenerator_t generator = generator_of(HIPRAND_RNG_PSEUDO_PHILOX4_32_10, 0);
	gpu_array<unsigned> gpu(COUNT);
	std::vector<unsigned> got;

	RAND(hiprandGenerate(generator, gpu.at, COUNT));
	got = gpu.read();
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(got[i], want[i]);
	RAND(hiprandDestroyGenerator(generator));
}

template <typename T> static void moments(const std::vector<T> &v, double mean, double deviation)
{
	double sum = 0, squares = 0;

	for (T x : v) {
		sum += (double)x;
		squares += ((double)x - mean) * ((double)x - mean);
	}
	/* Five times the deviation of a mean, and of a deviation. */
	CHECK(fabs(sum / v.size() - mean) < 5 * deviation / sqrt((double)v.size()));
	CHECK(fabs(sqrt(squares / v.size()) - deviation) < 5 * deviation / sqrt((double)v.size()));
}

/* On a stream of the caller's; the same seed gives the same numbers. */
static void distributions()
{
	hiprandGenerator_t generator = generator_of(HIPRAND_RNG_PSEUDO_PHILOX4_32_10, 99),
			   again = generator_of(HIPRAND_RNG_PSEUDO_PHILOX4_32_10, 99);
	gpu_array<float> gpu(COUNT), other(COUNT);
	gpu_array<double> wide(COUNT);
	gpu_array<unsigned> whole(COUNT);
	std::vector<float> got, twice;
	hipStream_t stream;
	unsigned outside = 0;

	HIP(hipStreamCreate(&stream));
	RAND(hiprandSetStream(generator, stream));
	RAND(hiprandGenerateUniform(generator, gpu.at, COUNT));
	RAND(hiprandGenerateUniform(again, other.at, COUNT));
	HIP(hipDeviceSynchronize());
	got = gpu.read();
	twice = other.read();
	CHECK(got == twice);
	for (float x : got)
		outside += x <= 0 || x > 1;
	CHECK_EQ(outside, 0);
	moments(got, 0.5, sqrt(1 / 12.0));
	RAND(hiprandGenerateNormalDouble(generator, wide.at, COUNT, 3, 2));
	RAND(hiprandGeneratePoisson(generator, whole.at, COUNT, 10));
	HIP(hipStreamSynchronize(stream));
	moments(wide.read(), 3, 2);
	moments(whole.read(), 10, sqrt(10.0));
	RAND(hiprandDestroyGenerator(again));
	RAND(hiprandDestroyGenerator(generator));
	HIP(hipStreamDestroy(stream));
}

/* Sobol's sequence of one dimension fills 2^n places evenly. */
static void quasi()
{
	const unsigned count = 4096;
	hiprandGenerator_t generator = generator_of(HIPRAND_RNG_QUASI_SOBOL32, 0);
	gpu_array<unsigned> gpu(count);
	std::vector<unsigned> seen(count);
	unsigned empty = 0;

	RAND(hiprandSetQuasiRandomGeneratorDimensions(generator, 1));
	RAND(hiprandGenerate(generator, gpu.at, count));
	for (unsigned x : gpu.read())
		seen[x / (0x100000000 / count)]++;
	for (unsigned n : seen)
		empty += n != 1;
	CHECK_EQ(empty, 0);
	RAND(hiprandDestroyGenerator(generator));
}

/* Each thread its own sequence of the same seed. */
__global__ void draw(unsigned *out, unsigned each)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	hiprandStateXORWOW_t state;

	hiprand_init(1234, i, 0, &state);
	for (unsigned k = 0; k < each; k++)
		out[i * each + k] = hiprand(&state);
}

/* Points in a square that are in its circle. */
__global__ void circle(unsigned *hits, unsigned each)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, inside = 0;
	hiprandStatePhilox4_32_10_t state;

	hiprand_init(77, i, 0, &state);
	for (unsigned k = 0; k < each; k++) {
		float x = hiprand_uniform(&state), y = hiprand_uniform(&state);

		inside += x * x + y * y <= 1;
	}
	atomicAdd(hits, inside);
}

static void kernels()
{
	const unsigned threads = 512, each = 8, points = 100;
	gpu_array<unsigned> first(threads * each), second(threads * each), hits(1);
	unsigned same = 0;
	std::vector<unsigned> v;
	double pi;

	draw<<<threads / 64, 64>>>(first.at, each);
	draw<<<threads / 128, 128>>>(second.at, each);
	HIP_LAUNCHED();
	v = first.read();
	CHECK(v == second.read());
	for (unsigned i = 1; i < v.size(); i++)
		same += v[i] == v[i - 1];
	CHECK_EQ(same, 0);
	HIP(hipMemset(hits.at, 0, 4));
	circle<<<threads / 128, 128>>>(hits.at, points);
	HIP_LAUNCHED();
	pi = 4.0 * hits.read()[0] / (threads * points);
	CHECK(fabs(pi - 3.14159) < 5 * 1.64 / sqrt((double)threads * points));
}

int main()
{
	known();
	distributions();
	quasi();
	kernels();
	return check_done("hiprand's generators");
}

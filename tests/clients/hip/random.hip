/* Debian's librocrand: its generators against their documented sequences, and against the CPU. */
#define FQUALIFIERS inline __host__ __device__ /* rocrand's engines, for the CPU, too */
#include "tests/clients/hip/hip.h"

#include <math.h>
#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>

/* Engines of XORWOW and MRG32k3a in rocrand 5.3: 512 blocks of 256. Number i comes from engine i % ENGINES. */
#define ENGINES   131072u
#define COUNT     (ENGINES + 1000)
#define ROC(call) CHECK_EQ(call, ROCRAND_STATUS_SUCCESS)

template <typename T, typename FN>
static std::vector<T> generate(rocrand_rng_type type, unsigned long long seed, size_t count, FN fn)
{
	rocrand_generator generator;
	gpu_array<T> gpu(count);

	ROC(rocrand_create_generator(&generator, type));
	if (type < ROCRAND_RNG_QUASI_DEFAULT)
		ROC(rocrand_set_seed(generator, seed));
	ROC(fn(generator, gpu.at, count));
	ROC(rocrand_destroy_generator(generator));
	return gpu.read();
}

/* One sequence, four numbers a counter. The first of key 0 and counter 0 stand in Random123's kat_vectors. */
static void philox()
{
	static const unsigned known[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
	std::vector<unsigned> got =
		generate<unsigned>(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, 0, 20003, rocrand_generate);
	rocrand_state_philox4x32_10 state;
	unsigned wrong = 0;

	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(got[i], known[i]);
	rocrand_init(0, 0, 0, &state);
	for (unsigned value : got)
		wrong += value != rocrand(&state);
	CHECK_EQ(wrong, 0);
}

/* Engine by engine: each starts far from the one before. */
template <typename STATE> static void engines(rocrand_rng_type type)
{
	const unsigned long long seed = 20261;
	std::vector<unsigned> got = generate<unsigned>(type, seed, COUNT, rocrand_generate);
	unsigned wrong = 0;

	for (unsigned e = 0; e < ENGINES; e += e < 100 ? 1 : 1009) {
		STATE state;

		rocrand_init(seed, e, 0, &state);
		for (unsigned i = e; i < COUNT; i += ENGINES)
			wrong += got[i] != rocrand(&state);
	}
	if (CHECK_EQ(wrong, 0))
		return;
	printf("  generator %d\n", type);
}

/* The first numbers of dimension 1 are the reversed bits of Gray's code; the rest must fill the range evenly. */
static void sobol()
{
	std::vector<unsigned> got = generate<unsigned>(ROCRAND_RNG_QUASI_SOBOL32, 0, 65536, rocrand_generate);
	std::vector<unsigned char> seen(65536);
	unsigned wrong = 0, twice = 0;

	for (unsigned i = 0; i < got.size(); i++) {
		wrong += got[i] != __builtin_bitreverse32(i ^ i >> 1);
		twice += seen[got[i] >> 16]++;
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(twice, 0);
}

static void uniform()
{
	std::vector<float> got =
		generate<float>(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, 77, 20000, rocrand_generate_uniform);
	rocrand_state_philox4x32_10 state;
	unsigned wrong = 0;

	rocrand_init(77, 0, 0, &state);
	for (float value : got)
		wrong += value != rocrand_uniform(&state) || !(value > 0 && value <= 1);
	CHECK_EQ(wrong, 0);
}

/* Mean and variance of n numbers lie within five of their standard errors. */
template <typename T> static void looks_normal(const std::vector<T> &got, double mean, double deviation)
{
	const double n = (double)got.size();
	double sum = 0, squares = 0;

	for (T value : got)
		sum += (value - mean) / deviation;
	for (T value : got) {
		double x = (value - mean) / deviation - sum / n;

		squares += x * x;
	}
	CHECK(fabs(sum / n) < 5 / sqrt(n));
	CHECK(fabs(squares / n - 1) < 5 * sqrt(2 / n));
}

static void normal()
{
	looks_normal(generate<float>(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, 5, 20000,
				     [](rocrand_generator g, float *at, size_t n) {
					     return rocrand_generate_normal(g, at, n, 4, 0.5f);
				     }),
		     4, 0.5);
	looks_normal(generate<double>(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, 3, 20000,
				      [](rocrand_generator g, double *at, size_t n) {
					      return rocrand_generate_normal_double(g, at, n, -2, 3);
				      }),
		     -2, 3);
}

static void poisson()
{
	std::vector<unsigned> got = generate<unsigned>(
		ROCRAND_RNG_PSEUDO_PHILOX4_32_10, 9, 20000,
		[](rocrand_generator g, unsigned *at, size_t n) { return rocrand_generate_poisson(g, at, n, 20); });
	double sum = 0;

	for (unsigned value : got)
		sum += value;
	CHECK(fabs(sum / 20000 - 20) < 5 * sqrt(20.0 / 20000));
}

int main()
{
	philox();
	engines<rocrand_state_xorwow>(ROCRAND_RNG_PSEUDO_XORWOW);
	engines<rocrand_state_mrg32k3a>(ROCRAND_RNG_PSEUDO_MRG32K3A);
	sobol();
	uniform();
	normal();
	poisson();
	return check_done("rocrand's generators");
}

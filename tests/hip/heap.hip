/* Memory that kernels allocate: lists that every thread builds and a later kernel takes apart. */
#include "tests/clients/hip/hip.h"

#define THREADS 96u

struct node {
	node *next;
	unsigned value;
};

__global__ void build(node **lists)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	node *first = nullptr;

	for (unsigned n = 0; n <= i % 5; n++) {
		node *made = static_cast<node *>(malloc(sizeof(node)));

		if (!made)
			break;
		made->next = first;
		made->value = i * 10 + n;
		first = made;
	}
	lists[i] = first;
}

__global__ void take_apart(node **lists, unsigned *sums)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;

	for (node *at = lists[i], *next; at; at = next) {
		next = at->next;
		sum += at->value;
		free(at);
	}
	sums[i] = sum;
}

/* The compiler does not know which function is called, nor how deep its stack is: the device's limit is for that. */
struct maker {
	__device__ virtual unsigned *make(unsigned count) = 0;
	__device__ virtual void end(unsigned *at) = 0;
};

struct array_maker : maker {
	__device__ unsigned *make(unsigned count) override;
	__device__ void end(unsigned *at) override;
};

__device__ unsigned *array_maker::make(unsigned count)
{
	volatile unsigned deep[64];

	for (unsigned i = 0; i < 64; i++)
		deep[i] = i;
	return deep[count] == count ? new unsigned[count] : nullptr;
}

__device__ void array_maker::end(unsigned *at)
{
	delete[] at;
}

__device__ array_maker the_maker;

__global__ void through_pointers(unsigned *out, unsigned count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	maker *m = &the_maker;
	unsigned *made = m->make(count);

	if (made) {
		for (unsigned n = 0; n < count; n++)
			made[n] = i;
		out[i] = made[count - 1];
		m->end(made);
	}
}

/* Pieces that the host is asked for, one by one: it has some that it mapped before the kernel began. */
__global__ void large(unsigned *out, unsigned rounds)
{
	unsigned sum = 0, last = (1u << 18) - 1;

	for (unsigned n = 1; n <= rounds; n++) {
		unsigned *made = static_cast<unsigned *>(malloc(1u << 20));

		if (!made)
			break;
		made[last] = n;
		sum += made[last];
		free(made);
	}
	out[threadIdx.x] = sum;
}

static void pointers()
{
	gpu_array<unsigned> out(256);
	unsigned wrong = 0, i = 0;

	large<<<1, 2>>>(out.at, 4);
	HIP_LAUNCHED();
	CHECK_EQ(out.read()[0], 10);
	CHECK_EQ(out.read()[1], 10);
	through_pointers<<<4, 64>>>(out.at, 8);
	HIP_LAUNCHED();
	for (unsigned value : out.read())
		wrong += value != i++;
	CHECK_EQ(wrong, 0);
}

__global__ void keep(unsigned *out, unsigned count)
{
	out[0] = 0;
	for (unsigned n = 0; n < count; n++)
		out[0] += malloc(3u << 20) != nullptr;
}

#define KEPT 40

/* A reset frees what kernels have allocated. */
static void freed_by_reset()
{
	size_t free_B[2], total_B;
	unsigned *kept;

	for (unsigned round = 0; round < 4; round++) {
		HIP(hipHostMalloc((void **)&kept, 4, 0));
		keep<<<1, 1>>>(kept, KEPT);
		HIP(hipDeviceSynchronize());
		CHECK_EQ(*kept, KEPT);
		HIP(hipDeviceReset());
		HIP(hipMemGetInfo(&free_B[!!round], &total_B));
	}
	CHECK(free_B[0] <= free_B[1] + (KEPT << 20));
}

static void lists_of_kernels()
{
	gpu_array<node *> lists(THREADS);
	gpu_array<unsigned> sums(THREADS);
	unsigned wrong = 0;

	build<<<3, THREADS / 3>>>(lists.at);
	HIP_LAUNCHED();
	take_apart<<<2, THREADS / 2>>>(lists.at, sums.at);
	HIP_LAUNCHED();
	std::vector<unsigned> got = sums.read();
	for (unsigned i = 0; i < THREADS; i++) {
		unsigned count = i % 5 + 1;

		wrong += got[i] != count * i * 10 + count * (count - 1) / 2;
	}
	CHECK_EQ(wrong, 0);
}

int main()
{
	lists_of_kernels();
	pointers();
	freed_by_reset();
	return check_done("memory that kernels allocate");
}

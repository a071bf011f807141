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

int main()
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
	return check_done("memory that kernels allocate");
}

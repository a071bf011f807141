/* Two ranks of MPI send each other device memory of every size to a megabyte, by the pointers of hipMalloc(): before MPI_Init()
 * and after it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <hip/hip_runtime_api.h>
#include <mpi.h>

#define WORDS 300000

static unsigned wrong;

static void need(int error, const char *what)
{
	if (!error)
		return;
	printf("%s: error %d\n", what, error);
	exit(1);
}

static uint32_t word(int size, int i)
{
	return (uint32_t)i * 2654435761u + (uint32_t)size;
}

/* From rank 0 to rank 1 and back; what rank 0 has in the end went through the memory of both. */
static void exchange(int rank, uint32_t *device, uint32_t *host, int size)
{
	for (int i = 0; i < size; i++)
		host[i] = rank ? 0 : word(size, i);
	need(hipMemcpy(device, host, (size_t)size * 4, hipMemcpyHostToDevice), "hipMemcpy");
	if (!rank)
		MPI_Send(device, size, MPI_UNSIGNED, 1, 1, MPI_COMM_WORLD);
	else
		MPI_Recv(device, size, MPI_UNSIGNED, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!rank) {
		need(hipMemset(device, 0, (size_t)size * 4), "hipMemset");
		need(hipDeviceSynchronize(), "hipDeviceSynchronize");
		MPI_Recv(device, size, MPI_UNSIGNED, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Send(device, size, MPI_UNSIGNED, 0, 2, MPI_COMM_WORLD);
	}
	need(hipMemcpy(host, device, (size_t)size * 4, hipMemcpyDeviceToHost), "hipMemcpy");
	for (int i = 0; i < size; i++)
		wrong += host[i] != word(size, i);
}

int main(int argc, char **argv)
{
	uint32_t *early = NULL, *late, *host = malloc(WORDS * 4);
	int rank, ranks;

	if (!getenv("MPI_DEVICE_LATE"))
		need(hipMalloc((void **)&early, WORDS * 4), "hipMalloc");
	need(MPI_Init(&argc, &argv), "MPI_Init");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	need(ranks != 2, "two ranks are needed");
	need(hipMalloc((void **)&late, WORDS * 4), "hipMalloc");
	for (int size = 1; size <= WORDS; size = size * 7 + 1) {
		exchange(rank, late, host, size);
		if (early)
			exchange(rank, early, host, size);
	}
	printf("rank %d: %u words are wrong\n", rank, wrong);
	need(hipFree(late), "hipFree");
	need(hipFree(early), "hipFree");
	MPI_Finalize();
	free(host);
	return wrong != 0;
}

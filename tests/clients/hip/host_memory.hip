/* Host memory that kernels reach: pinned, mapped, registered, managed. */
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define COUNT 5000u

__global__ void square(unsigned *to, const unsigned *from, unsigned count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		to[i] = from[i] * from[i] + 1;
}

static void run(unsigned *to, const unsigned *from)
{
	square<<<(COUNT + 63) / 64, 64>>>(to, from, COUNT);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
}

static unsigned differing(const unsigned *to, const unsigned *from)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < COUNT; i++)
		wrong += to[i] != from[i] * from[i] + 1;
	return wrong;
}

static void count_up(unsigned *to, unsigned first)
{
	for (unsigned i = 0; i < COUNT; i++)
		to[i] = first + i;
}

static void pinned(unsigned flags)
{
	unsigned *in, *out, *gpu_in, *gpu_out, seen = 0;
	hipPointerAttribute_t about;

	HIP(hipHostMalloc((void **)&in, COUNT * 4, flags));
	HIP(hipHostMalloc((void **)&out, COUNT * 4, flags));
	HIP(hipHostGetDevicePointer((void **)&gpu_in, in, 0));
	HIP(hipHostGetDevicePointer((void **)&gpu_out, out, 0));
	HIP(hipHostGetFlags(&seen, in));
	/* 5.2 leaves the two of coherence out. */
	CHECK_EQ(seen & ~(hipHostMallocCoherent | hipHostMallocNonCoherent),
		 flags & ~(hipHostMallocCoherent | hipHostMallocNonCoherent));
	HIP(hipPointerGetAttributes(&about, in + 5));
	CHECK_EQ(about.memoryType, hipMemoryTypeHost);
	CHECK_EQ((uintptr_t)about.hostPointer, (uintptr_t)(in + 5));
	count_up(in, 3);
	run(gpu_out, gpu_in);
	CHECK_EQ(differing(out, in), 0);
	HIP(hipHostFree(in));
	HIP(hipHostFree(out));
}

/* Memory of the process at an address that starts no page. */
static void registered()
{
	const size_t size_B = COUNT * 4 + 4096;
	char *a = (char *)malloc(size_B), *b = (char *)malloc(size_B);
	unsigned *in = (unsigned *)(a + 36), *out = (unsigned *)(b + 100), *gpu_in, *gpu_out;

	for (unsigned round = 0; round < 3; round++) {
		HIP(hipHostRegister(in, COUNT * 4, hipHostRegisterDefault));
		HIP(hipHostRegister(out, COUNT * 4, hipHostRegisterMapped | hipHostRegisterPortable));
		HIP(hipHostGetDevicePointer((void **)&gpu_in, in, 0));
		HIP(hipHostGetDevicePointer((void **)&gpu_out, out, 0));
		count_up(in, round * 1000);
		run(gpu_out, gpu_in);
		CHECK_EQ(differing(out, in), 0);
		HIP(hipHostUnregister(in));
		HIP(hipHostUnregister(out));
	}
	CHECK(hipHostUnregister(in) != hipSuccess);
	(void)hipGetLastError();
	free(a);
	free(b);
}

__managed__ unsigned managed_variable = 5;

__global__ void raise(unsigned by)
{
	managed_variable += by;
}

static void managed()
{
	unsigned *in, *out;

	HIP(hipMallocManaged((void **)&in, COUNT * 4, hipMemAttachGlobal));
	HIP(hipMallocManaged((void **)&out, COUNT * 4, hipMemAttachGlobal));
	for (unsigned round = 0; round < 3; round++) {
		count_up(in, round * 77);
		run(out, in);
		CHECK_EQ(differing(out, in), 0);
	}
	HIP(hipFree(in));
	HIP(hipFree(out));
	raise<<<1, 1>>>(37);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	CHECK_EQ(managed_variable, 42);
}

/* A kernel waits for the CPU in memory that both see, and the CPU for the kernel. */
__global__ void answer(volatile unsigned *question, volatile unsigned *reply)
{
	for (unsigned n = 1; n <= 5; n++) {
		while (__atomic_load_n(question, __ATOMIC_ACQUIRE) != n)
			__builtin_amdgcn_s_sleep(1);
		__atomic_store_n(reply, n * 10, __ATOMIC_RELEASE);
	}
}

static void conversation()
{
	unsigned *words, *gpu;

	HIP(hipHostMalloc((void **)&words, 4096, hipHostMallocCoherent));
	HIP(hipHostGetDevicePointer((void **)&gpu, words, 0));
	words[0] = words[512] = 0;
	answer<<<1, 1>>>(gpu, gpu + 512);
	HIP_LAUNCHED();
	for (unsigned n = 1; n <= 5; n++) {
		CHECK_EQ(hipStreamQuery(0), hipErrorNotReady);
		__atomic_store_n(&words[0], n, __ATOMIC_RELEASE);
		while (__atomic_load_n(&words[512], __ATOMIC_ACQUIRE) != n * 10)
			usleep(50);
	}
	HIP(hipDeviceSynchronize());
	HIP(hipHostFree(words));
}

int main()
{
	pinned(hipHostMallocDefault);
	pinned(hipHostMallocMapped | hipHostMallocPortable);
	pinned(hipHostMallocCoherent);
	pinned(hipHostMallocNonCoherent);
	pinned(hipHostMallocWriteCombined);
	registered();
	managed();
	conversation();
	return check_done("host memory in kernels of HIP");
}

/* assert() and abort() in kernels: their messages, the errors of later calls, and the recovery of the device. */
#include <assert.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

__global__ void below(const unsigned *at, unsigned limit)
{
	assert(at[threadIdx.x] < limit);
}

__global__ void give_up(unsigned thread)
{
	if (threadIdx.x == thread)
		abort();
}

/* Requests to the host: the layout of ROCm-Device-Libs (ockl hostcall_impl.cl). */
struct requests {
	struct {
		uint64_t next, active;
		uint32_t service, control;
	} *headers;
	uint64_t payloads, doorbell, free, requested, mask;
};

/* Takes all packets for requests to the host, and keeps them, as waves do that are stopped while they print. */
__global__ void take_packets(unsigned *taken)
{
	auto *implicit = (const char __attribute__((address_space(4))) *)__builtin_amdgcn_implicitarg_ptr();
	auto *r = *(requests *const __attribute__((address_space(4))) *)(implicit + 80);
	uint64_t at;

	while ((at = __hip_atomic_load(&r->free, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))) {
		__hip_atomic_store(&r->free, r->headers[at & r->mask].next, __ATOMIC_RELEASE,
				   __HIP_MEMORY_SCOPE_SYSTEM);
		++*taken;
	}
}

/* What a function writes to the error output. */
template <typename Work> static std::string errors_of(Work work)
{
	char path[] = "/tmp/tuff-assert-XXXXXX", text[4096];
	int fd = mkstemp(path), old = dup(2);
	ssize_t size;

	dup2(fd, 2);
	work();
	fflush(stderr);
	dup2(old, 2);
	size = pread(fd, text, sizeof(text), 0);
	close(old);
	close(fd);
	unlink(path);
	return std::string(text, size > 0 ? (size_t)size : 0);
}

static unsigned *numbers()
{
	unsigned host[64], *at;

	for (unsigned i = 0; i < 64; i++)
		host[i] = i;
	HIP(hipMalloc((void **)&at, sizeof(host)));
	HIP(hipMemcpy(at, host, sizeof(host), hipMemcpyHostToDevice));
	return at;
}

/* After a reset kernels can print again, although others have ended in the middle of a message. */
static void stopped_while_printing()
{
	unsigned *taken;
	std::string said;

	HIP(hipHostMalloc((void **)&taken, 4, 0));
	*taken = 0;
	take_packets<<<1, 1>>>(taken);
	HIP(hipDeviceSynchronize());
	CHECK(*taken > 100);
	HIP(hipDeviceReset());
	said = errors_of([] {
		give_up<<<1, 64>>>(5);
		CHECK_EQ(hipDeviceSynchronize(), hipErrorLaunchFailure);
	});
	CHECK(said.find("abort()") != std::string::npos);
	(void)hipGetLastError();
	HIP(hipDeviceReset());
}

int main()
{
	unsigned *at = numbers();
	std::string said;
	void *more;

	below<<<1, 64>>>(at, 64);
	HIP(hipDeviceSynchronize());
	said = errors_of([at] {
		below<<<1, 64>>>(at, 63);
		CHECK_EQ(hipDeviceSynchronize(), hipErrorAssert);
	});
	CHECK(said.find("assertion.hip:11: ") != std::string::npos);
	CHECK(said.find("`at[threadIdx.x] < limit' failed.") != std::string::npos);
	/* It stays. */
	CHECK_EQ(hipMalloc(&more, 64), hipErrorAssert);
	CHECK_EQ(hipStreamQuery(nullptr), hipErrorAssert);
	CHECK_EQ(strcmp(hipGetErrorName(hipGetLastError()), "hipErrorAssert"), 0);
	HIP(hipDeviceReset());
	at = numbers();
	below<<<1, 64>>>(at, 64);
	HIP(hipDeviceSynchronize());
	HIP(hipFree(at));
	give_up<<<1, 64>>>(64);
	HIP(hipDeviceSynchronize());
	said = errors_of([] {
		give_up<<<1, 64>>>(5);
		CHECK_EQ(hipDeviceSynchronize(), hipErrorLaunchFailure);
	});
	CHECK(said.find("abort()") != std::string::npos);
	(void)hipGetLastError();
	HIP(hipDeviceReset());
	stopped_while_printing();
	return check_done("assertions in kernels");
}

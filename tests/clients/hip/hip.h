/* For programs of HIP that run on AMD's own libamdhip64 over our HSA: checks, and a GPU array with its host copy.
 */
#ifndef TESTS_CLIENTS_HIP_H
#define TESTS_CLIENTS_HIP_H

#include <hip/hip_runtime.h>
#include <stdlib.h>
#include <vector>

#include "tests/check.h"

/* A call of HIP that must succeed. */
#define HIP(call)                                                                                                  \
	do {                                                                                                       \
		hipError_t result_ = (call);                                                                       \
		if (!CHECK_EQ(result_, hipSuccess))                                                                \
			printf("  %s: %s\n", #call, hipGetErrorString(result_));                                   \
	} while (0)
/* The last launch was accepted. */
#define HIP_LAUNCHED() HIP(hipGetLastError())

/* Memory of the GPU that holds count of T. */
template <typename T> struct gpu_array {
	T *at = nullptr;
	size_t count;

	explicit gpu_array(size_t n) : count(n)
	{
		HIP(hipMalloc((void **)&at, n * sizeof(T)));
	}
	explicit gpu_array(const std::vector<T> &from) : gpu_array(from.size())
	{
		HIP(hipMemcpy(at, from.data(), count * sizeof(T), hipMemcpyHostToDevice));
	}
	gpu_array(const gpu_array &) = delete;
	gpu_array &operator=(const gpu_array &) = delete;
	~gpu_array()
	{
		HIP(hipFree(at));
	}
	std::vector<T> read() const
	{
		std::vector<T> to(count);

		HIP(hipMemcpy(to.data(), at, count * sizeof(T), hipMemcpyDeviceToHost));
		return to;
	}
};

#endif

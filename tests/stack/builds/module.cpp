/* A kernel in a source that is HIP by a property; another is in a library. */
#include <hip/hip_runtime.h>

#if EXPECTED_HIP != HIP_VERSION_MAJOR
#error "the target's definitions are missing"
#endif

int sine_main();

__global__ void one(int *to)
{
	*to = 1;
}

int main()
{
	int *memory, got;

	if (sine_main() || hipMalloc((void **)&memory, sizeof(got)))
		return 2;
	one<<<1, 1>>>(memory);
	return hipMemcpy(&got, memory, sizeof(got), hipMemcpyDeviceToHost) || got != 1;
}

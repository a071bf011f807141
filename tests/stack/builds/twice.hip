/* A device function that a kernel of another source calls. */
#include <hip/hip_runtime.h>

__device__ int twice(int a)
{
	return 2 * a;
}

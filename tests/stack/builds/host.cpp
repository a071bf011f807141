/* Without kernels. */
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <hsa/hsa.h>

int main()
{
	int count = 0, major, minor;

	return hipGetDeviceCount(&count) || count != 1 || hiprtcVersion(&major, &minor) || hsa_init();
}

/* Gathers the four neighbours of a point of an image at once. */
#include <string.h>

#include "tests/clients/hip/hip.h"

#define WIDTH  64u
#define HEIGHT 6u

__global__ void gather(hipTextureObject_t texture, float4 *out)
{
	out[threadIdx.x] = tex2Dgather<float4>(texture, static_cast<float>(threadIdx.x) + 1, 2, 0);
}

/* In the middle of four: the second row's, from the left, then the first's, from the right. */
static void gathered()
{
	hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
	std::vector<float> data(WIDTH * HEIGHT);
	gpu_array<float4> out(WIDTH - 1);
	hipResourceDesc resource = {};
	hipTextureDesc how = {};
	hipTextureObject_t texture;
	hipArray_t array;
	hipDeviceProp_t p;
	unsigned wrong = 0, i = 0;

	HIP(hipGetDeviceProperties(&p, 0));
	if (!strncmp(p.gcnArchName, "gfx90a", 6))
		return; /* it has no such instruction */
	for (unsigned n = 0; n < WIDTH * HEIGHT; n++)
		data[n] = static_cast<float>(n);
	HIP(hipMallocArray(&array, &desc, WIDTH, HEIGHT, hipArrayTextureGather));
	HIP(hipMemcpy2DToArray(array, 0, 0, data.data(), WIDTH * 4, WIDTH * 4, HEIGHT, hipMemcpyHostToDevice));
	resource.resType = hipResourceTypeArray;
	resource.res.array.array = array;
	how.addressMode[0] = how.addressMode[1] = hipAddressModeClamp;
	how.readMode = hipReadModeElementType;
	HIP(hipCreateTextureObject(&texture, &resource, &how, nullptr));
	gather<<<1, WIDTH - 1>>>(texture, out.at);
	HIP_LAUNCHED();
	for (float4 four : out.read()) {
		float first = static_cast<float>(WIDTH + i++);

		wrong += four.w != first || four.z != first + 1 || four.x != first + WIDTH || four.y != first + WIDTH + 1;
	}
	CHECK_EQ(wrong, 0);
	HIP(hipDestroyTextureObject(texture));
	HIP(hipFreeArray(array));
}

int main()
{
	gathered();
	return check_done("gathered texels");
}

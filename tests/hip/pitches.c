/* Pitches of images on each generation: pitched memory whose pitch descriptors can have; and arrays, whose rows and
 * slices are where the hardware looks for them. */
#include <hip/hip_runtime.h>
#include <string.h>

#include "tests/check.h"

#define WIDTH  20 /* 80 bytes: rows of volumes are 128 apart on GFX12, 256 on others */
#define HEIGHT 7
#define DEPTH  3

static hipError_t make_texture(const hipResourceDesc *resource)
{
	hipTextureDesc how = {.readMode = hipReadModeElementType};
	hipTextureObject_t texture = NULL;
	hipError_t r = hipCreateTextureObject(&texture, resource, &how, NULL);

	CHECK_EQ(hipDestroyTextureObject(texture), hipSuccess);
	(void)hipGetLastError();
	return r;
}

/* Rows of 320 bytes. */
static void planes(const char *target)
{
	hipResourceDesc resource = {.resType = hipResourceTypePitch2D};
	void *data;

	CHECK_EQ(hipMalloc(&data, 1024 * HEIGHT), hipSuccess);
	resource.res.pitch2D.devPtr = data;
	resource.res.pitch2D.desc = hipCreateChannelDesc(32, 32, 32, 32, hipChannelFormatKindFloat);
	resource.res.pitch2D.width = WIDTH;
	resource.res.pitch2D.height = HEIGHT;
	resource.res.pitch2D.pitchInBytes = 512;
	CHECK_EQ(make_texture(&resource), hipSuccess);
	resource.res.pitch2D.pitchInBytes = 1024;
	/* The descriptors of GFX10.1 have no pitch. */
	CHECK_EQ(make_texture(&resource), strncmp(target, "gfx101", 6) ? hipSuccess : hipErrorInvalidValue);
	CHECK_EQ(hipFree(data), hipSuccess);
}

/* HSA refuses the array's pitch if it is not the one that the hardware computes. */
static void arrays(size_t height, unsigned flags)
{
	const hipChannelFormatDesc desc = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindSigned);
	const hipExtent extent = {WIDTH, height, DEPTH};
	static int in[DEPTH][HEIGHT][WIDTH], back[DEPTH][HEIGHT][WIDTH];
	hipResourceDesc resource = {.resType = hipResourceTypeArray};
	hipMemcpy3DParms copy = {.extent = {WIDTH, height ? height : 1, DEPTH}, .kind = hipMemcpyHostToDevice};
	hipArray_t array;

	CHECK_EQ(hipMalloc3DArray(&array, &desc, extent, flags), hipSuccess);
	resource.res.array.array = array;
	CHECK_EQ(make_texture(&resource), hipSuccess);
	for (int i = 0; i < DEPTH * HEIGHT * WIDTH; i++)
		(&in[0][0][0])[i] = i;
	copy.srcPtr = make_hipPitchedPtr(in, sizeof(in[0][0]), WIDTH, HEIGHT);
	copy.dstArray = array;
	CHECK_EQ(hipMemcpy3D(&copy), hipSuccess);
	memset(back, 0, sizeof(back));
	copy = (hipMemcpy3DParms){.extent = copy.extent, .kind = hipMemcpyDeviceToHost, .srcArray = array};
	copy.dstPtr = make_hipPitchedPtr(back, sizeof(back[0][0]), WIDTH, HEIGHT);
	CHECK_EQ(hipMemcpy3D(&copy), hipSuccess);
	for (int z = 0; z < DEPTH; z++)
		CHECK(!memcmp(in[z], back[z], copy.extent.height * sizeof(in[0][0])));
	CHECK_EQ(hipFreeArray(array), hipSuccess);
}

int main(void)
{
	hipDeviceProp_t properties;

	CHECK_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
	planes(properties.gcnArchName);
	arrays(HEIGHT, 0);
	arrays(HEIGHT, hipArrayLayered);
	arrays(0, hipArrayLayered);
	return check_done("pitches of images");
}

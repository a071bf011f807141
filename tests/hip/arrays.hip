/* Arrays: their properties, every way of copying to and from them, refused calls; and textures in the driver's
 * style. */
#define HIP_DEPRECATED /* some are shown here */
#include <cstring>

#include "tests/clients/hip/hip.h"

#define WIDTH  20u
#define HEIGHT 7u
#define DEPTH  3u

static std::vector<int> numbers(size_t count, int first)
{
	std::vector<int> made(count);

	for (size_t i = 0; i < count; i++)
		made[i] = first + static_cast<int>(i);
	return made;
}

static hipArray_t make(size_t width, size_t height, size_t depth, unsigned flags)
{
	hipChannelFormatDesc desc = hipCreateChannelDesc<int>();
	hipArray_t array = nullptr;

	HIP(hipMalloc3DArray(&array, &desc, make_hipExtent(width, height, depth), flags));
	return array;
}

/* --- what they tell --------------------------------------------------------------------------------- */

static void descriptions()
{
	HIP_ARRAY3D_DESCRIPTOR want = {WIDTH, HEIGHT, DEPTH, HIP_AD_FORMAT_HALF, 4, hipArraySurfaceLoadStore}, got3;
	HIP_ARRAY_DESCRIPTOR got;
	hipChannelFormatDesc desc;
	hipExtent extent;
	hipArray_t array;
	unsigned flags;

	HIP(hipArray3DCreate(&array, &want));
	HIP(hipArrayGetInfo(&desc, &extent, &flags, array));
	CHECK(desc.x == 16 && desc.y == 16 && desc.z == 16 && desc.w == 16 && desc.f == hipChannelFormatKindFloat);
	CHECK(extent.width == WIDTH && extent.height == HEIGHT && extent.depth == DEPTH);
	CHECK_EQ(flags, hipArraySurfaceLoadStore);
	HIP(hipArray3DGetDescriptor(&got3, array));
	CHECK(got3.Depth == DEPTH && got3.Format == want.Format && got3.NumChannels == 4 &&
	      got3.Flags == want.Flags);
	HIP(hipArrayGetDescriptor(&got, array));
	CHECK(got.Width == WIDTH && got.Height == HEIGHT && got.Format == want.Format && got.NumChannels == 4);
	HIP(hipGetChannelDesc(&desc, array));
	CHECK_EQ(desc.w, 16);
	HIP(hipArrayDestroy(array));
	CHECK_EQ(hipArrayDestroy(array), hipErrorContextIsDestroyed);
	CHECK_EQ(hipArrayGetInfo(&desc, &extent, &flags, array), hipErrorInvalidHandle);
	CHECK_EQ(hipGetChannelDesc(&desc, array), hipErrorInvalidHandle);
}

/* As large as the device says, and one more. */
static void largest()
{
	const hipChannelFormatDesc desc = hipCreateChannelDesc<char>();
	hipDeviceProp_t p;
	hipArray_t array;

	HIP(hipGetDeviceProperties(&p, 0));
	HIP(hipFreeArray(make(p.maxTexture3D[0], 1, 1, 0)));
	HIP(hipFreeArray(make(1, p.maxTexture3D[1], 1, 0)));
	HIP(hipFreeArray(make(1, 1, p.maxTexture3D[2], 0)));
	CHECK_EQ(hipMalloc3DArray(&array, &desc, make_hipExtent(1, 1, p.maxTexture3D[2] + 1), 0), hipErrorInvalidValue);
	(void)hipGetLastError();
}

/* --- copies ----------------------------------------------------------------------------------------- */

/* Part of a plane, from the host, from the device and from another array. */
static void planes()
{
	std::vector<int> data = numbers(WIDTH * HEIGHT, 1), got(WIDTH * HEIGHT);
	hipArray_t one = make(WIDTH, HEIGHT, 0, 0), two = make(WIDTH, HEIGHT, 0, 0);
	const size_t row_B = WIDTH * sizeof(int);
	gpu_array<int> in(data), out(data.size());
	hipStream_t stream;
	unsigned wrong = 0;

	HIP(hipStreamCreate(&stream));
	HIP(hipMemcpy2DToArrayAsync(one, 0, 0, in.at, row_B, row_B, HEIGHT, hipMemcpyDeviceToDevice, stream));
	HIP(hipMemcpy2DFromArrayAsync(out.at, row_B, one, 0, 0, row_B, HEIGHT, hipMemcpyDeviceToDevice, stream));
	HIP(hipStreamSynchronize(stream));
	CHECK(out.read() == data);
	HIP(hipMemcpy2DToArray(two, 0, 0, std::vector<int>(data.size()).data(), row_B, row_B, HEIGHT,
			       hipMemcpyHostToDevice));
	HIP(hipMemcpy2DArrayToArray(two, 4 * sizeof(int), 2, one, sizeof(int), 1, 3 * sizeof(int), 2,
				    hipMemcpyDeviceToDevice));
	HIP(hipMemcpy2DFromArray(got.data(), row_B, two, 0, 0, row_B, HEIGHT, hipMemcpyDeviceToHost));
	for (unsigned y = 0; y < HEIGHT; y++)
		for (unsigned x = 0; x < WIDTH; x++)
			wrong += got[y * WIDTH + x] !=
				 (x >= 4 && x < 7 && y >= 2 && y < 4 ? data[(y - 1) * WIDTH + x - 3] : 0);
	CHECK_EQ(wrong, 0);
	HIP(hipStreamDestroy(stream));
	HIP(hipFreeArray(one));
	HIP(hipFreeArray(two));
}

/* Bytes that go on from row to row; and of the first row. */
static void bytes()
{
	std::vector<int> data = numbers(WIDTH * HEIGHT, 5), got(WIDTH * HEIGHT);
	hipArray_t array = make(WIDTH, HEIGHT, 0, 0), line = make(WIDTH, 0, 0, 0);
	const size_t all_B = data.size() * sizeof(int), some_B = (2 * WIDTH + 3) * sizeof(int);

	HIP(hipMemcpyToArray(array, 0, 0, data.data(), all_B, hipMemcpyHostToDevice));
	HIP(hipMemcpyFromArray(got.data(), array, 0, 0, all_B, hipMemcpyDeviceToHost));
	CHECK(got == data);
	HIP(hipMemcpyFromArray(got.data(), array, 5 * sizeof(int), 1, some_B, hipMemcpyDeviceToHost));
	CHECK(!memcmp(got.data(), &data[WIDTH + 5], some_B));
	CHECK_EQ(hipMemcpyFromArray(got.data(), array, 0, 1, all_B, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	/* A range that does not fit is not copied in part. */
	CHECK_EQ(hipMemcpyToArray(array, sizeof(int), 0, numbers(WIDTH * HEIGHT, 70).data(), all_B, hipMemcpyHostToDevice),
		 hipErrorInvalidValue);
	HIP(hipMemcpyFromArray(got.data(), array, 0, 0, all_B, hipMemcpyDeviceToHost));
	CHECK(got == data);
	HIP(hipMemcpyHtoA(line, 0, data.data(), WIDTH * sizeof(int)));
	HIP(hipMemcpyAtoA(array, 0, line, sizeof(int), 4 * sizeof(int)));
	HIP(hipMemcpyAtoH(got.data(), array, 0, 4 * sizeof(int)));
	CHECK(!memcmp(got.data(), &data[1], 4 * sizeof(int)));
	CHECK_EQ(hipMemcpyHtoA(line, sizeof(int), data.data(), WIDTH * sizeof(int)), hipErrorInvalidValue);
	HIP(hipFreeArray(array));
	HIP(hipFreeArray(line));
}

/* Boxes, and layers of rows. Widths count elements. */
static void boxes(size_t height, unsigned flags)
{
	const size_t rows = height ? height : 1;
	std::vector<int> data = numbers(WIDTH * rows * DEPTH, 9), got(data.size());
	hipArray_t array = make(WIDTH, height, DEPTH, flags);
	hipMemcpy3DParms in = {}, out = {};

	in.srcPtr = make_hipPitchedPtr(data.data(), WIDTH * sizeof(int), WIDTH, rows);
	in.dstArray = array;
	in.extent = make_hipExtent(WIDTH, rows, DEPTH);
	in.kind = hipMemcpyHostToDevice;
	HIP(hipMemcpy3D(&in));
	out.srcArray = array;
	out.srcPos = make_hipPos(2, 0, 1);
	out.dstPtr = make_hipPitchedPtr(got.data(), WIDTH * sizeof(int), WIDTH, rows);
	out.extent = make_hipExtent(WIDTH - 2, 1, DEPTH - 1);
	out.kind = hipMemcpyDeviceToHost;
	HIP(hipMemcpy3D(&out));
	for (size_t z = 0; z + 1 < DEPTH; z++)
		CHECK(!memcmp(&got[z * rows * WIDTH], &data[(z + 1) * rows * WIDTH + 2],
			      (WIDTH - 2) * sizeof(int)));
	out.extent.depth = DEPTH;
	CHECK_EQ(hipMemcpy3D(&out), hipErrorInvalidValue);
	out.dstArray = array;
	CHECK_EQ(hipMemcpy3D(&out), hipErrorInvalidValue);
	HIP(hipFreeArray(array));
}

/* The driver's records. */
static void records()
{
	std::vector<int> data = numbers(WIDTH * HEIGHT, 3), got(data.size());
	hipArray_t array = make(WIDTH, HEIGHT, 0, 0);
	HIP_MEMCPY3D out = {};
	hip_Memcpy2D in = {};

	in.srcMemoryType = hipMemoryTypeHost;
	in.srcHost = data.data();
	in.dstMemoryType = hipMemoryTypeArray;
	in.dstArray = array;
	in.WidthInBytes = WIDTH * sizeof(int);
	in.Height = HEIGHT;
	HIP(hipMemcpyParam2D(&in));
	out.srcMemoryType = hipMemoryTypeArray;
	out.srcArray = array;
	out.dstMemoryType = hipMemoryTypeHost;
	out.dstHost = got.data();
	out.WidthInBytes = WIDTH * sizeof(int);
	out.Height = HEIGHT;
	out.Depth = 1;
	HIP(hipDrvMemcpy3D(&out));
	CHECK(got == data);
	out.srcY = 1;
	CHECK_EQ(hipDrvMemcpy3D(&out), hipErrorInvalidValue);
	HIP(hipFreeArray(array));
	out.srcY = 0;
	CHECK_EQ(hipDrvMemcpy3D(&out), hipErrorInvalidValue);
}

/* In a graph: a capture's copy into an array, and a node's out of it. */
static void graphs()
{
	const size_t row_B = WIDTH * sizeof(int);
	std::vector<int> data = numbers(WIDTH * HEIGHT, 11);
	gpu_array<int> in(data), out(data.size());
	hipArray_t array = make(WIDTH, HEIGHT, 0, 0), none;
	hipChannelFormatDesc desc = hipCreateChannelDesc<int>();
	hipMemcpy3DParms copy = {};
	hipGraphNode_t first, node;
	hipGraphExec_t exec;
	hipStream_t stream;
	hipGraph_t graph;
	size_t count = 1;

	HIP(hipStreamCreate(&stream));
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
	HIP(hipMemcpy2DToArrayAsync(array, 0, 0, in.at, row_B, row_B, HEIGHT, hipMemcpyDeviceToDevice, stream));
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphGetNodes(graph, &first, &count));
	copy.srcArray = array;
	copy.dstPtr = make_hipPitchedPtr(out.at, row_B, WIDTH, HEIGHT);
	copy.extent = make_hipExtent(WIDTH, HEIGHT, 1);
	copy.kind = hipMemcpyDeviceToDevice;
	HIP(hipGraphAddMemcpyNode(&node, graph, &first, 1, &copy));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, stream));
	HIP(hipStreamSynchronize(stream));
	CHECK(out.read() == data);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	CHECK_EQ(hipMallocArray(&none, &desc, WIDTH, 0, 0), hipErrorStreamCaptureUnsupported);
	CHECK(hipStreamEndCapture(stream, &graph) != hipSuccess);
	HIP(hipStreamDestroy(stream));
	HIP(hipFreeArray(array));
	(void)hipGetLastError();
}

/* --- what is refused -------------------------------------------------------------------------------- */

static void refusals()
{
	hipChannelFormatDesc desc = hipCreateChannelDesc<int>(), three = {8, 8, 8, 0, hipChannelFormatKindUnsigned},
			     gap = {8, 0, 8, 0, hipChannelFormatKindUnsigned};
	hipArray_t array = make(WIDTH, HEIGHT, 0, 0), none = nullptr;
	int data[WIDTH] = {};

	CHECK_EQ(hipMallocArray(nullptr, &desc, WIDTH, 0, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMallocArray(&none, nullptr, WIDTH, 0, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMallocArray(&none, &three, WIDTH, 0, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMallocArray(&none, &gap, WIDTH, 0, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMallocArray(&none, &desc, 0, 0, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMallocArray(&none, &desc, 1u << 20, 1, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMallocArray(&none, &desc, SIZE_MAX, SIZE_MAX, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMallocArray(&none, &desc, WIDTH, WIDTH, hipArrayCubemap), hipErrorInvalidValue);
	CHECK_EQ(hipMallocArray(&none, &desc, WIDTH, 0, hipArrayTextureGather), hipErrorInvalidValue);
	CHECK_EQ(hipMalloc3DArray(&none, &desc, make_hipExtent(WIDTH, 0, DEPTH), 0), hipErrorInvalidValue);
	CHECK(!none);
	CHECK_EQ(hipFreeArray(nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipMemcpy2DToArray(array, 4, 0, data, sizeof(data), sizeof(data), 1, hipMemcpyHostToDevice),
		 hipErrorInvalidValue);
	CHECK_EQ(hipMemcpy2DToArray(array, SIZE_MAX, 0, data, sizeof(data), 4, 1, hipMemcpyHostToDevice),
		 hipErrorInvalidValue);
	CHECK_EQ(hipMemcpy2DToArray(array, 0, HEIGHT, data, sizeof(data), 4, 1, hipMemcpyHostToDevice),
		 hipErrorInvalidValue);
	CHECK_EQ(hipMemcpy2DToArray(array, 0, 0, data, 4, 8, 1, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
	CHECK_EQ(hipMemcpy2DToArray(array, 0, 0, nullptr, 8, 8, 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
	CHECK_EQ(hipMemcpy2DToArray(nullptr, 0, 0, data, 8, 8, 1, hipMemcpyHostToDevice), hipErrorInvalidHandle);
	CHECK_EQ(hipMemcpy2DToArray(array, 0, 0, data, 8, 8, 1, static_cast<hipMemcpyKind>(9)),
		 hipErrorInvalidMemcpyDirection);
	HIP(hipFreeArray(array));
	(void)hipGetLastError();
}

/* --- textures --------------------------------------------------------------------------------------- */

__global__ void fetch(hipTextureObject_t texture, int *out)
{
	out[threadIdx.x] = tex1Dfetch<int>(texture, static_cast<int>(threadIdx.x));
}

static void driver_texture()
{
	gpu_array<int> in(numbers(WIDTH, 7)), out(WIDTH);
	HIP_RESOURCE_DESC resource = {}, got = {};
	HIP_TEXTURE_DESC how = {}, got_how = {};
	HIP_RESOURCE_VIEW_DESC view = {};
	hipTextureObject_t texture = nullptr;

	resource.resType = HIP_RESOURCE_TYPE_LINEAR;
	resource.res.linear.devPtr = in.at;
	resource.res.linear.format = HIP_AD_FORMAT_SIGNED_INT32;
	resource.res.linear.numChannels = 1;
	resource.res.linear.sizeInBytes = WIDTH * sizeof(int);
	how.flags = HIP_TRSF_READ_AS_INTEGER;
	how.addressMode[1] = HIP_TR_ADDRESS_MODE_BORDER;
	HIP(hipTexObjectCreate(&texture, &resource, &how, nullptr));
	fetch<<<1, WIDTH>>>(texture, out.at);
	HIP_LAUNCHED();
	CHECK(out.read() == numbers(WIDTH, 7));
	HIP(hipTexObjectGetResourceDesc(&got, texture));
	CHECK(got.resType == resource.resType && got.res.linear.devPtr == in.at &&
	      got.res.linear.format == HIP_AD_FORMAT_SIGNED_INT32 && got.res.linear.numChannels == 1);
	HIP(hipTexObjectGetTextureDesc(&got_how, texture));
	CHECK(got_how.flags == how.flags && got_how.addressMode[1] == HIP_TR_ADDRESS_MODE_BORDER);
	HIP(hipTexObjectDestroy(texture));
	CHECK_EQ(hipTexObjectDestroy(texture), hipErrorInvalidValue);
	CHECK_EQ(hipTexObjectGetResourceDesc(&got, texture), hipErrorInvalidValue);
	CHECK_EQ(hipTexObjectCreate(&texture, &resource, &how, &view), hipErrorInvalidValue);
	resource.res.linear.sizeInBytes = 1u << 30; /* more than the memory has */
	CHECK_EQ(hipTexObjectCreate(&texture, &resource, &how, nullptr), hipErrorInvalidValue);
	how.maxAnisotropy = 2;
	CHECK_EQ(hipTexObjectCreate(&texture, &resource, &how, nullptr), hipErrorNotSupported);
	HIP(hipTexObjectDestroy(nullptr));
	(void)hipGetLastError();
}

/* An array and a texture that nobody destroys go with the device's other memory. */
static void reset()
{
	hipArray_t array = make(WIDTH, HEIGHT, 0, 0);
	hipTextureObject_t texture = nullptr;
	hipResourceDesc resource = {};
	hipTextureDesc how = {};

	resource.resType = hipResourceTypeArray;
	resource.res.array.array = array;
	HIP(hipCreateTextureObject(&texture, &resource, &how, nullptr));
	HIP(hipDeviceReset());
	CHECK_EQ(hipFreeArray(array), hipErrorContextIsDestroyed);
	CHECK_EQ(hipDestroyTextureObject(texture), hipErrorInvalidValue);
}

int main()
{
	descriptions();
	largest();
	planes();
	bytes();
	boxes(HEIGHT, 0);
	boxes(HEIGHT, hipArrayLayered);
	boxes(0, hipArrayLayered);
	records();
	graphs();
	refusals();
	driver_texture();
	reset();
	return check_done("arrays");
}

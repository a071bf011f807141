/* Textures and surfaces of HIP: arrays of two and three dimensions, rows of plain memory, buffers; read through samplers and
 * written by the device functions of AMD's compiler. */
#include "tests/clients/hip/hip.h"

#define WIDTH  40u
#define HEIGHT 24u
#define DEPTH  5u

__global__ void fetch_line(hipTextureObject_t texture, float *out, unsigned count)
{
	unsigned i = threadIdx.x + blockIdx.x * blockDim.x;

	if (i < count)
		out[i] = tex1Dfetch<float>(texture, (int)i);
}

__global__ void read_plane(hipTextureObject_t texture, float *out, float shift)
{
	unsigned x = threadIdx.x + blockIdx.x * blockDim.x, y = blockIdx.y;

	if (x < WIDTH)
		out[y * WIDTH + x] = tex2D<float>(texture, (float)x + shift, (float)y + 0.5f);
}

__global__ void read_volume(hipTextureObject_t texture, float *out, float shift)
{
	unsigned x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;

	out[(z * HEIGHT + y) * WIDTH + x] = tex3D<float>(texture, x + 0.5f, y + 0.5f, z + shift);
}

__global__ void read_layers(hipTextureObject_t texture, float *out)
{
	unsigned x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;

	out[(z * HEIGHT + y) * WIDTH + x] = tex2DLayered<float>(texture, x + 0.5f, y + 0.5f, (int)z);
}

__global__ void write_plane(hipSurfaceObject_t surface)
{
	unsigned x = threadIdx.x, y = blockIdx.x;

	surf2Dwrite((float)(x + 100 * y), surface, (int)(x * sizeof(float)), (int)y);
}

__global__ void read_line(hipTextureObject_t texture, const float *at, float *out, unsigned count)
{
	unsigned i = threadIdx.x;

	if (i < count)
		out[i] = tex1D<float>(texture, at[i]);
}

static float value(unsigned x, unsigned y)
{
	return (float)(x + 100 * y);
}

static std::vector<float> plane()
{
	std::vector<float> data(WIDTH * HEIGHT);

	for (unsigned y = 0; y < HEIGHT; y++)
		for (unsigned x = 0; x < WIDTH; x++)
			data[y * WIDTH + x] = value(x, y);
	return data;
}

static hipTextureObject_t make_texture(const hipResourceDesc &resource, hipTextureFilterMode filter)
{
	hipTextureDesc how = {};
	hipTextureObject_t texture = 0;

	how.addressMode[0] = how.addressMode[1] = hipAddressModeClamp;
	how.filterMode = filter;
	how.readMode = hipReadModeElementType;
	HIP(hipCreateTextureObject(&texture, &resource, &how, nullptr));
	return texture;
}

static void line()
{
	std::vector<float> data = plane();
	gpu_array<float> in(data), out(data.size());
	hipResourceDesc resource = {};
	hipTextureObject_t texture;

	resource.resType = hipResourceTypeLinear;
	resource.res.linear.devPtr = in.at;
	resource.res.linear.desc = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
	resource.res.linear.sizeInBytes = data.size() * sizeof(float);
	texture = make_texture(resource, hipFilterModePoint);
	fetch_line<<<(unsigned)(data.size() + 255) / 256, 256>>>(texture, out.at, (unsigned)data.size());
	HIP_LAUNCHED();
	CHECK(out.read() == data);
	HIP(hipDestroyTextureObject(texture));
}

/* Where a texel's middle is read, filters make no difference; between two there is their mean. */
static void check_plane(hipTextureObject_t point, hipTextureObject_t linear)
{
	gpu_array<float> out(WIDTH * HEIGHT);
	unsigned wrong = 0;

	read_plane<<<dim3(1, HEIGHT), 64>>>(point, out.at, 0.5f);
	HIP_LAUNCHED();
	CHECK(out.read() == plane());
	read_plane<<<dim3(1, HEIGHT), 64>>>(linear, out.at, 1.0f);
	HIP_LAUNCHED();
	std::vector<float> got = out.read();
	for (unsigned y = 0; y < HEIGHT; y++)
		for (unsigned x = 0; x < WIDTH; x++)
			wrong += got[y * WIDTH + x] != (x == WIDTH - 1 ? value(x, y) : value(x, y) + 0.5f);
	CHECK_EQ(wrong, 0);
	HIP(hipDestroyTextureObject(point));
	HIP(hipDestroyTextureObject(linear));
}

/* Positions from 0 to 1 in a line whose length is no power of two: the texel that each is in. */
static void normalized()
{
	const unsigned length = 19, parts = 8;
	const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
	std::vector<float> data(length), want(length * parts), at(length * parts);
	hipResourceDesc resource = {};
	hipTextureObject_t texture;
	hipTextureDesc how = {};
	hipArray_t line;

	for (unsigned i = 0; i < length * parts; i++) {
		at[i] = ((float)i + 0.5f) / (float)(length * parts);
		want[i] = (float)(i / parts);
		data[i / parts] = want[i];
	}
	HIP(hipMallocArray(&line, &format, length, 0, 0));
	HIP(hipMemcpy2DToArray(line, 0, 0, data.data(), length * 4, length * 4, 1, hipMemcpyHostToDevice));
	resource.resType = hipResourceTypeArray;
	resource.res.array.array = line;
	how.normalizedCoords = 1;
	HIP(hipCreateTextureObject(&texture, &resource, &how, nullptr));
	gpu_array<float> places(at), out(at.size());
	read_line<<<1, 256>>>(texture, places.at, out.at, (unsigned)at.size());
	HIP_LAUNCHED();
	CHECK(out.read() == want);
	HIP(hipDestroyTextureObject(texture));
	HIP(hipFreeArray(line));
}

/* The library's own layout. */
static void array()
{
	hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
	std::vector<float> data = plane();
	hipResourceDesc resource = {};
	hipArray *memory = nullptr;

	HIP(hipMallocArray(&memory, &format, WIDTH, HEIGHT, 0));
	HIP(hipMemcpy2DToArray(memory, 0, 0, data.data(), WIDTH * 4, WIDTH * 4, HEIGHT, hipMemcpyHostToDevice));
	resource.resType = hipResourceTypeArray;
	resource.res.array.array = memory;
	check_plane(make_texture(resource, hipFilterModePoint), make_texture(resource, hipFilterModeLinear));
	HIP(hipFreeArray(memory));
}

/* Rows of memory that the program has allocated. */
static void pitched()
{
	std::vector<float> data = plane();
	hipResourceDesc resource = {};
	void *memory = nullptr;
	size_t pitch_B = 0;

	HIP(hipMallocPitch(&memory, &pitch_B, WIDTH * 4, HEIGHT));
	HIP(hipMemcpy2D(memory, pitch_B, data.data(), WIDTH * 4, WIDTH * 4, HEIGHT, hipMemcpyHostToDevice));
	resource.resType = hipResourceTypePitch2D;
	resource.res.pitch2D.devPtr = memory;
	resource.res.pitch2D.desc = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
	resource.res.pitch2D.width = WIDTH;
	resource.res.pitch2D.height = HEIGHT;
	resource.res.pitch2D.pitchInBytes = pitch_B;
	check_plane(make_texture(resource, hipFilterModePoint), make_texture(resource, hipFilterModeLinear));
	HIP(hipFree(memory));
}

static hipArray *fill_volume(const std::vector<float> &data, unsigned flags)
{
	hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
	hipMemcpy3DParms copy = {};
	hipArray *memory = nullptr;

	HIP(hipMalloc3DArray(&memory, &format, make_hipExtent(WIDTH, HEIGHT, DEPTH), flags));
	copy.srcPtr = make_hipPitchedPtr((void *)data.data(), WIDTH * 4, WIDTH, HEIGHT);
	copy.dstArray = memory;
	copy.extent = make_hipExtent(WIDTH, HEIGHT, DEPTH);
	copy.kind = hipMemcpyHostToDevice;
	HIP(hipMemcpy3D(&copy));
	return memory;
}

/* The same data as slices, which filters mix, and as layers. */
static void volumes()
{
	std::vector<float> data(WIDTH * HEIGHT * DEPTH), got;
	gpu_array<float> out(data.size());
	hipResourceDesc resource = {};
	hipTextureObject_t texture;
	hipArray *memory;
	unsigned wrong = 0;

	for (unsigned i = 0; i < data.size(); i++)
		data[i] = (float)i;
	memory = fill_volume(data, hipArrayDefault);
	resource.resType = hipResourceTypeArray;
	resource.res.array.array = memory;
	texture = make_texture(resource, hipFilterModePoint);
	read_volume<<<dim3(HEIGHT, DEPTH), WIDTH>>>(texture, out.at, 0.5f);
	HIP_LAUNCHED();
	CHECK(out.read() == data);
	HIP(hipDestroyTextureObject(texture));
	texture = make_texture(resource, hipFilterModeLinear);
	read_volume<<<dim3(HEIGHT, DEPTH), WIDTH>>>(texture, out.at, 1.0f);
	HIP_LAUNCHED();
	got = out.read();
	for (unsigned i = 0; i < WIDTH * HEIGHT * (DEPTH - 1); i++)
		wrong += got[i] != (data[i] + data[i + WIDTH * HEIGHT]) / 2;
	CHECK_EQ(wrong, 0);
	HIP(hipDestroyTextureObject(texture));
	HIP(hipFreeArray(memory));
	memory = fill_volume(data, hipArrayLayered);
	resource.res.array.array = memory;
	texture = make_texture(resource, hipFilterModePoint);
	read_layers<<<dim3(HEIGHT, DEPTH), WIDTH>>>(texture, out.at);
	HIP_LAUNCHED();
	CHECK(out.read() == data);
	HIP(hipDestroyTextureObject(texture));
	HIP(hipFreeArray(memory));
}

static void surface()
{
	hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
	std::vector<float> got(WIDTH * HEIGHT);
	hipResourceDesc resource = {};
	hipSurfaceObject_t written = 0;
	hipArray *memory = nullptr;

	HIP(hipMallocArray(&memory, &format, WIDTH, HEIGHT, 0));
	resource.resType = hipResourceTypeArray;
	resource.res.array.array = memory;
	HIP(hipCreateSurfaceObject(&written, &resource));
	write_plane<<<HEIGHT, WIDTH>>>(written);
	HIP_LAUNCHED();
	HIP(hipMemcpy2DFromArray(got.data(), WIDTH * 4, memory, 0, 0, WIDTH * 4, HEIGHT, hipMemcpyDeviceToHost));
	CHECK(got == plane());
	HIP(hipDestroySurfaceObject(written));
	HIP(hipFreeArray(memory));
}

int main()
{
	hipDeviceProp_t properties;

	HIP(hipGetDeviceProperties(&properties, 0));
	CHECK(properties.maxTexture2D[0] >= 16384);
	line();
	normalized();
	array();
	pitched();
	volumes();
	surface();
	return check_done("textures of HIP");
}

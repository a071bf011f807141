/* Images in kernels: elements of several types, as integers and as fractions, through textures; and surfaces, which
 * kernels write. Both forms of the functions. */
#include <string.h>

#include "tests/clients/hip/hip.h"

#define WIDTH  64u
#define HEIGHT 6u

static hipTextureObject_t make_texture(const hipResourceDesc &resource, hipTextureReadMode mode,
				       hipTextureFilterMode filter)
{
	hipTextureDesc how = {};
	hipTextureObject_t texture = 0;

	how.addressMode[0] = how.addressMode[1] = hipAddressModeClamp;
	how.filterMode = filter;
	how.readMode = mode;
	HIP(hipCreateTextureObject(&texture, &resource, &how, nullptr));
	return texture;
}

/* Cube maps cannot be made: what reads them is compiled all the same. */
__global__ void cubes(hipTextureObject_t texture, float4 *out)
{
	const float4 none = make_float4(0, 0, 0, 0);

	out[0] = texCubemapGrad<float4>(texture, 0, 0, 1, none, none);
	texCubemapLayeredGrad(&out[1], texture, 0, 1, 0, 2, none, none);
}

/* --- buffers ---------------------------------------------------------------------------------------- */

template <typename T> __global__ void fetch(hipTextureObject_t texture, T *out)
{
	int i = static_cast<int>(threadIdx.x);

	if (i % 2)
		out[i] = tex1Dfetch<T>(texture, i);
	else
		tex1Dfetch(&out[i], texture, i);
}

template <typename T> static void buffer(const std::vector<T> &data)
{
	gpu_array<T> in(data), out(WIDTH);
	hipResourceDesc resource = {};
	hipTextureObject_t texture;
	unsigned wrong = 0;

	resource.resType = hipResourceTypeLinear;
	resource.res.linear.devPtr = in.at;
	resource.res.linear.desc = hipCreateChannelDesc<T>();
	resource.res.linear.sizeInBytes = WIDTH * sizeof(T);
	texture = make_texture(resource, hipReadModeElementType, hipFilterModePoint);
	fetch<<<1, WIDTH>>>(texture, out.at);
	HIP_LAUNCHED();
	std::vector<T> got = out.read();
	for (unsigned i = 0; i < WIDTH; i++)
		wrong += got[i] != data[i];
	CHECK_EQ(wrong, 0);
	HIP(hipDestroyTextureObject(texture));
}

template <typename T, typename... E> static std::vector<T> numbers(E... factors)
{
	std::vector<T> made(WIDTH);

	for (unsigned i = 0; i < WIDTH; i++)
		made[i] = T(static_cast<typename T::value_type>(i * factors - 60)...);
	return made;
}

/* --- planes ----------------------------------------------------------------------------------------- */

__global__ void read_fractions(hipTextureObject_t texture, float4 *out)
{
	out[blockIdx.x * WIDTH + threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}

__global__ void between(hipTextureObject_t texture, float *out)
{
	out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 1.0f, 0.5f);
}

static hipResourceDesc plane(void *at, hipChannelFormatDesc desc, size_t element_B)
{
	hipResourceDesc resource = {};

	resource.resType = hipResourceTypePitch2D;
	resource.res.pitch2D.devPtr = at;
	resource.res.pitch2D.desc = desc;
	resource.res.pitch2D.width = WIDTH;
	resource.res.pitch2D.height = HEIGHT;
	resource.res.pitch2D.pitchInBytes = WIDTH * element_B;
	return resource;
}

static void fractions()
{
	std::vector<uchar4> data(WIDTH * HEIGHT);
	unsigned wrong = 0;

	for (unsigned i = 0; i < data.size(); i++)
		data[i] = make_uchar4(i, 255 - i, i * 3, 128);
	gpu_array<uchar4> in(data);
	gpu_array<float4> out(data.size());
	hipTextureObject_t texture = make_texture(plane(in.at, hipCreateChannelDesc<uchar4>(), sizeof(uchar4)),
						  hipReadModeNormalizedFloat, hipFilterModePoint);

	read_fractions<<<HEIGHT, WIDTH>>>(texture, out.at);
	HIP_LAUNCHED();
	std::vector<float4> got = out.read();
	for (unsigned i = 0; i < data.size(); i++)
		for (unsigned c = 0; c < 4; c++)
			wrong += std::abs(got[i].data[c] * 255 - data[i].data[c]) > 1e-3f;
	CHECK_EQ(wrong, 0);
	HIP(hipDestroyTextureObject(texture));
}

/* Halfway between two elements a linear filter gives their mean. */
static void filter()
{
	std::vector<float> data(WIDTH * HEIGHT);
	unsigned wrong = 0;

	for (unsigned i = 0; i < data.size(); i++)
		data[i] = static_cast<float>(i * i);
	gpu_array<float> in(data), out(WIDTH - 1);
	hipTextureObject_t texture = make_texture(plane(in.at, hipCreateChannelDesc<float>(), sizeof(float)),
						  hipReadModeElementType, hipFilterModeLinear);

	between<<<1, WIDTH - 1>>>(texture, out.at);
	HIP_LAUNCHED();
	std::vector<float> got = out.read();
	for (unsigned i = 0; i + 1 < WIDTH; i++)
		wrong += std::abs(got[i] - (data[i] + data[i + 1]) / 2) > 1e-2f * (data[i + 1] + 1);
	CHECK_EQ(wrong, 0);
	HIP(hipDestroyTextureObject(texture));
}

/* --- surfaces --------------------------------------------------------------------------------------- */

template <typename T> __global__ void turn(hipSurfaceObject_t surface)
{
	int x = static_cast<int>(threadIdx.x * sizeof(T)), y = static_cast<int>(blockIdx.x);
	T value;

	surf2Dread(&value, surface, x, y);
	surf2Dwrite(static_cast<T>(value + value), surface, x, y);
}

template <typename T> static void surface(const std::vector<T> &row)
{
	hipChannelFormatDesc desc = hipCreateChannelDesc<T>();
	hipResourceDesc resource = {};
	hipSurfaceObject_t object = 0;
	std::vector<T> got(WIDTH * HEIGHT);
	hipArray_t array;
	unsigned wrong = 0;

	HIP(hipMallocArray(&array, &desc, WIDTH, HEIGHT, hipArrayDefault));
	for (unsigned y = 0; y < HEIGHT; y++)
		HIP(hipMemcpy2DToArray(array, 0, y, row.data(), WIDTH * sizeof(T), WIDTH * sizeof(T), 1,
				       hipMemcpyHostToDevice));
	resource.resType = hipResourceTypeArray;
	resource.res.array.array = array;
	HIP(hipCreateSurfaceObject(&object, &resource));
	turn<T><<<HEIGHT, WIDTH>>>(object);
	HIP_LAUNCHED();
	HIP(hipMemcpy2DFromArray(got.data(), WIDTH * sizeof(T), array, 0, 0, WIDTH * sizeof(T), HEIGHT,
				 hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < got.size(); i++)
		wrong += got[i] != static_cast<T>(row[i % WIDTH] + row[i % WIDTH]);
	CHECK_EQ(wrong, 0);
	HIP(hipDestroySurfaceObject(object));
	HIP(hipFreeArray(array));
}

int main()
{
	buffer(numbers<char1>(2));
	buffer(numbers<uchar4>(2, 3, 4, 5));
	buffer(numbers<short2>(1000, -7));
	buffer(numbers<ushort1>(1000));
	buffer(numbers<int1>(-123456));
	buffer(numbers<uint4>(3, 1u << 26, 5, 7));
	buffer(numbers<float2>(0.25f, -3.5f));
	buffer(numbers<float4>(1.5f, 2, 3, 4));
	fractions();
	filter();
	surface(numbers<uchar4>(1, 2, 1, 2));
	surface(numbers<short2>(100, -50));
	surface(numbers<float1>(1.25f));
	return check_done("images in kernels");
}

/* Texture references: variables that memory and arrays are bound to, one after another. */
#define HIP_DEPRECATED /* all that is shown here */
#include <hip/hiprtc.h>
#include <string>

#include "tests/clients/hip/hip.h"

#define WIDTH  32u
#define HEIGHT 4u

texture<int, hipTextureType1D, hipReadModeElementType> line;
texture<float, hipTextureType2D, hipReadModeElementType> plane;

__global__ void read_line(int *out)
{
	out[threadIdx.x] = tex1Dfetch(line, static_cast<int>(threadIdx.x));
}

__global__ void read_plane(float *out)
{
	out[blockIdx.x * WIDTH + threadIdx.x] = tex2D(plane, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}

/* From the beginning, and from an element that no texture can begin at. */
static void lines()
{
	std::vector<int> data(WIDTH * 2);
	hipChannelFormatDesc desc = hipCreateChannelDesc<int>();
	hipDeviceptr_t at = nullptr;
	size_t offset_B = 1;

	for (size_t i = 0; i < data.size(); i++)
		data[i] = static_cast<int>(i * i);
	gpu_array<int> in(data), out(WIDTH);
	CHECK_EQ(hipTexRefGetAddress(&at, &line), hipErrorInvalidValue);
	HIP(hipBindTexture(&offset_B, &line, in.at, &desc, WIDTH * sizeof(int)));
	CHECK_EQ(offset_B, 0);
	HIP(hipTexRefGetAddress(&at, &line));
	CHECK(at == in.at);
	read_line<<<1, WIDTH>>>(out.at);
	HIP_LAUNCHED();
	CHECK(out.read() == std::vector<int>(data.begin(), data.begin() + WIDTH));
	HIP(hipBindTexture(&offset_B, line, in.at + 3));
	CHECK_EQ(offset_B, 3 * sizeof(int));
	offset_B = 1;
	HIP(hipGetTextureAlignmentOffset(&offset_B, &line));
	CHECK_EQ(offset_B, 3 * sizeof(int));
	CHECK_EQ(hipGetTextureAlignmentOffset(nullptr, &line), hipErrorInvalidValue);
	read_line<<<1, WIDTH>>>(out.at);
	HIP_LAUNCHED();
	CHECK(out.read() == std::vector<int>(data.begin(), data.begin() + WIDTH));
	CHECK_EQ(hipBindTexture(nullptr, &line, in.at + 3, &desc, sizeof(int)), hipErrorInvalidValue);
	HIP(hipBindTexture(&offset_B, line, in.at, desc, WIDTH * sizeof(int)));
	CHECK_EQ(offset_B, 0);
	HIP(hipUnbindTexture(line));
	CHECK_EQ(hipGetTextureAlignmentOffset(&offset_B, &line), hipErrorInvalidTexture);
	CHECK_EQ(hipTexRefGetAddress(&at, &line), hipErrorInvalidValue);
}

static void check_plane(const std::vector<float> &data)
{
	gpu_array<float> out(data.size());

	read_plane<<<HEIGHT, WIDTH>>>(out.at);
	HIP_LAUNCHED();
	CHECK(out.read() == data);
}

static void planes()
{
	const size_t pitch_B = 256, row_B = WIDTH * sizeof(float);
	hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
	std::vector<float> data(WIDTH * HEIGHT);
	hipArray_t array, got = nullptr;
	char *rows = nullptr;
	size_t offset_B;

	for (size_t i = 0; i < data.size(); i++)
		data[i] = static_cast<float>(i) / 4;
	HIP(hipMalloc(reinterpret_cast<void **>(&rows), pitch_B * HEIGHT));
	HIP(hipMemcpy2D(rows, pitch_B, data.data(), row_B, row_B, HEIGHT, hipMemcpyHostToDevice));
	HIP(hipBindTexture2D(&offset_B, &plane, rows, &desc, WIDTH, HEIGHT, pitch_B));
	check_plane(data);
	HIP(hipUnbindTexture(&plane));
	HIP(hipBindTexture2D(&offset_B, plane, rows, WIDTH, HEIGHT, pitch_B));
	check_plane(data);
	HIP(hipBindTexture2D(&offset_B, plane, rows, desc, WIDTH, HEIGHT, pitch_B));
	for (float &x : data)
		x += 1000;
	HIP(hipMallocArray(&array, &desc, WIDTH, HEIGHT));
	HIP(hipMemcpy2DToArray(array, 0, 0, data.data(), row_B, row_B, HEIGHT, hipMemcpyHostToDevice));
	HIP(hipBindTextureToArray(&plane, array, &desc));
	check_plane(data);
	HIP(hipTexRefGetArray(&got, &plane));
	CHECK(got == array);
	HIP(hipUnbindTexture(plane));
	HIP(hipBindTextureToArray(plane, array));
	check_plane(data);
	HIP(hipBindTextureToArray(plane, array, desc));
	check_plane(data);
	HIP(hipUnbindTexture(plane));
	HIP(hipFreeArray(array));
	CHECK_EQ(hipBindTextureToArray(&plane, array, &desc), hipErrorInvalidValue);
	HIP(hipFree(rows));
}

/* How it is read is the host's alone until it is bound. */
static void settings()
{
	textureReference none = {};
	hipTextureAddressMode mode;
	hipArray_Format format;
	unsigned flags;
	int channels;

	HIP(hipTexRefSetFormat(&none, HIP_AD_FORMAT_UNSIGNED_INT8, 4));
	HIP(hipTexRefGetFormat(&format, &channels, &none));
	CHECK(format == HIP_AD_FORMAT_UNSIGNED_INT8 && channels == 4);
	HIP(hipTexRefSetFlags(&none, HIP_TRSF_NORMALIZED_COORDINATES));
	HIP(hipTexRefGetFlags(&flags, &none));
	CHECK_EQ(flags, HIP_TRSF_NORMALIZED_COORDINATES);
	HIP(hipTexRefSetAddressMode(&none, 1, hipAddressModeMirror));
	HIP(hipTexRefGetAddressMode(&mode, &none, 1));
	CHECK_EQ(mode, hipAddressModeMirror);
	CHECK_EQ(hipTexRefSetAddressMode(&none, 3, hipAddressModeMirror), hipErrorInvalidValue);
	CHECK_EQ(hipTexRefSetAddress(nullptr, &none, nullptr, 4), hipErrorInvalidSymbol);
	CHECK_EQ(hipBindTexture(nullptr, (textureReference *)8, (void *)4096, &none.channelDesc, 4), hipErrorInvalidSymbol);
	CHECK_EQ(hipUnbindTexture(nullptr), hipErrorInvalidValue);
	(void)hipGetLastError();
}

/* --- of a module ------------------------------------------------------------------------------------ */

/* A variable of a reference's form, which tells what object it was given. */
static const char source[] = R"(
struct reference { char how[72]; void *object; int rest[2]; };
extern "C" __device__ reference tex;
__device__ reference tex;
extern "C" __device__ int other;
__device__ int other;
extern "C" __global__ void tell(void **out) { *out = tex.object; other = 1; }
)";

static std::vector<char> compile()
{
	hipDeviceProp_t device;
	hiprtcProgram program;
	std::string target = "--gpu-architecture=";
	const char *option;
	size_t size_B = 0;

	HIP(hipGetDeviceProperties(&device, 0));
	target += device.gcnArchName;
	option = target.c_str();
	CHECK_EQ(hiprtcCreateProgram(&program, source, "tell.hip", 0, nullptr, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 1, &option), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcGetCodeSize(program, &size_B), HIPRTC_SUCCESS);
	std::vector<char> code(size_B);
	CHECK_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	return code;
}

static void of_module()
{
	std::vector<char> code = compile();
	textureReference *tex = nullptr, *same = nullptr;
	gpu_array<hipTextureObject_t> out(1);
	gpu_array<float> in(WIDTH);
	hipResourceDesc resource;
	hipTextureObject_t bound;
	hipFunction_t kernel;
	hipModule_t module;
	void *args[] = {&out.at};

	HIP(hipModuleLoadData(&module, code.data()));
	HIP(hipModuleGetFunction(&kernel, module, "tell"));
	HIP(hipModuleGetTexRef(&tex, module, "tex"));
	HIP(hipModuleGetTexRef(&same, module, "tex"));
	CHECK(tex && tex == same);
	CHECK_EQ(hipModuleGetTexRef(&same, module, "other"), hipErrorNotFound);
	CHECK_EQ(hipModuleGetTexRef(&same, module, "none"), hipErrorNotFound);
	CHECK_EQ(hipModuleGetTexRef(&same, nullptr, "tex"), hipErrorInvalidResourceHandle);
	CHECK(tex->format == HIP_AD_FORMAT_FLOAT && tex->numChannels == 1);
	HIP(hipTexRefSetAddress(nullptr, tex, in.at, WIDTH * sizeof(float)));
	HIP(hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
	bound = tex->textureObject;
	CHECK(bound && out.read()[0] == bound);
	HIP(hipGetTextureObjectResourceDesc(&resource, bound));
	CHECK(resource.res.linear.devPtr == in.at);
	HIP(hipModuleUnload(module));
	CHECK_EQ(hipGetTextureObjectResourceDesc(&resource, bound), hipErrorInvalidValue);
	(void)hipGetLastError();
}

int main()
{
	lines();
	planes();
	settings();
	of_module();
	return check_done("texture references");
}

/* Code at run time: compiled by hiprtc, loaded as a module, launched by name; its variables; unloading. */
#include "tests/clients/hip/hip.h"

#include <hip/hiprtc.h>

#define COUNT     1000
#define RTC(call) CHECK_EQ(call, HIPRTC_SUCCESS)

static const char source[] = R"(
extern "C" {
__device__ int factor = 3;
__constant__ int term[2];
}

extern "C" __global__ void affine(int *data, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		data[i] = data[i] * factor + term[i % 2] + ADDED;
}
)";

/* The code object for this device. */
static std::vector<char> compile()
{
	hipDeviceProp_t device;
	hiprtcProgram program;
	char target[64];
	const char *options[] = {target, "-DADDED=100"};
	size_t size_B = 0;

	HIP(hipGetDeviceProperties(&device, 0));
	snprintf(target, sizeof(target), "--gpu-architecture=%s", device.gcnArchName);
	RTC(hiprtcCreateProgram(&program, source, "affine.hip", 0, NULL, NULL));
	RTC(hiprtcCompileProgram(program, 2, options));
	RTC(hiprtcGetCodeSize(program, &size_B));
	std::vector<char> code(size_B);
	RTC(hiprtcGetCode(program, code.data()));
	RTC(hiprtcDestroyProgram(&program));
	return code;
}

static void run(const std::vector<char> &code, int factor)
{
	const int terms[2] = {7, -9};
	std::vector<int> in(COUNT);
	hipModule_t module;
	hipFunction_t kernel;
	hipDeviceptr_t at;
	size_t size_B;
	int count = COUNT, wrong = 0;

	for (int i = 0; i < COUNT; i++)
		in[i] = i * i;
	gpu_array<int> data(in);
	HIP(hipModuleLoadData(&module, code.data()));
	HIP(hipModuleGetFunction(&kernel, module, "affine"));
	HIP(hipModuleGetGlobal(&at, &size_B, module, "term"));
	CHECK_EQ(size_B, sizeof(terms));
	HIP(hipMemcpyHtoD(at, (void *)terms, sizeof(terms)));
	if (factor != 3) {
		HIP(hipModuleGetGlobal(&at, &size_B, module, "factor"));
		CHECK_EQ(size_B, 4);
		HIP(hipMemcpyHtoD(at, &factor, 4));
	}
	CHECK(hipModuleGetFunction(&kernel, module, "nothing") != hipSuccess);
	(void)hipGetLastError();
	HIP(hipModuleGetFunction(&kernel, module, "affine"));
	void *args[] = {&data.at, &count};
	HIP(hipModuleLaunchKernel(kernel, (COUNT + 63) / 64, 1, 1, 64, 1, 1, 0, 0, args, NULL));
	/* The same by a block of arguments, as older programs do. */
	struct {
		int *data;
		int count;
	} block = {data.at, COUNT / 2};
	size_t block_B = sizeof(block);
	void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &block_B,
			  HIP_LAUNCH_PARAM_END};
	HIP(hipModuleLaunchKernel(kernel, (COUNT + 63) / 64, 1, 1, 64, 1, 1, 0, 0, NULL, config));
	std::vector<int> got = data.read();
	for (int i = 0; i < COUNT; i++) {
		int want = in[i];

		for (int pass = 0; pass < (i < COUNT / 2 ? 2 : 1); pass++)
			want = want * factor + terms[i % 2] + 100;
		wrong += got[i] != want;
	}
	CHECK_EQ(wrong, 0);
	HIP(hipModuleUnload(module));
}

int main()
{
	std::vector<char> code = compile(), cut(code.begin(), code.begin() + 100);
	hipModule_t module;

	run(code, 3);
	run(code, 11);
	for (unsigned i = 0; i < 20; i++) {
		HIP(hipModuleLoadData(&module, code.data()));
		HIP(hipModuleUnload(module));
	}
	CHECK(hipModuleLoadData(&module, "this is no code object, and never was") != hipSuccess);
	return check_done("modules of HIP");
}

/* Libraries of HIP 7, and their kernels: on every device of the program, from memory and from a file, and what wrong calls give. */
#include "tests/hip/statuses.h"

#include <unistd.h>
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <hip/hiprtc.h>

static const char *const source = "extern \"C\" __device__ int base = 3;\n"
				  "__managed__ int counted = 5;\n"
				  "extern \"C\" __global__ void first(int *p, char c, double d)\n"
				  "{\n"
				  "	p[threadIdx.x] = base + c + (int)d;\n"
				  "	if (!threadIdx.x)\n"
				  "		counted++;\n"
				  "}\n"
				  "extern \"C\" __global__ void second(int *p) { p[0] = 2; }\n";

static std::vector<char> code;
static int *numbers; /* 64 of them, in memory of the host */

static void compile()
{
	hiprtcProgram program;
	size_t size = 0;

	CHECK_EQ(hiprtcCreateProgram(&program, source, "library", 0, nullptr, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
	code.resize(size);
	CHECK_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	OK(hipHostMalloc((void **)&numbers, 256, 0));
}

static hipError_t load(hipLibrary_t *library, const void *image)
{
	return hipLibraryLoadData(library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

static hipError_t load_file(hipLibrary_t *library, const char *path)
{
	return hipLibraryLoadFromFile(library, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

/* Both kinds of launches take a kernel of a library. */
static void launch(hipKernel_t first)
{
	char c = 4;
	double d = 10;
	void *args[] = {&numbers, &c, &d};
	hipLaunchConfig_t config = {dim3(1), dim3(64), 0, nullptr, nullptr, 0};

	std::fill(numbers, numbers + 64, 0);
	OK(hipLaunchKernel((const void *)first, dim3(1), dim3(64), args, 0, nullptr));
	OK(hipDeviceSynchronize());
	CHECK(std::count(numbers, numbers + 64, 17) == 64);
	std::fill(numbers, numbers + 64, 0);
	OK(hipModuleLaunchKernel((hipFunction_t)(void *)first, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
	OK(hipDeviceSynchronize());
	CHECK(std::count(numbers, numbers + 64, 17) == 64);
	OK(hipLaunchKernelExC(&config, (const void *)first, args));
	OK(hipLaunchCooperativeKernel((const void *)first, dim3(1), dim3(64), args, 0, nullptr));
	OK(hipDeviceSynchronize());
}

static void parameters(hipKernel_t first)
{
	size_t offset = 0, size = 0;

	OK(hipKernelGetParamInfo(first, 1, &offset, &size));
	CHECK(offset == 8 && size == 1);
	OK(hipKernelGetParamInfo(first, 2, &offset, &size));
	CHECK(offset == 16 && size == 8);
	OK(hipKernelGetParamInfo(first, 0, &offset, nullptr));
	CHECK_EQ(offset, 0);
	IS(hipErrorInvalidValue, hipKernelGetParamInfo(first, 3, &offset, &size));
	IS(hipErrorInvalidValue, hipKernelGetParamInfo(first, 0, nullptr, &size));
	IS(hipErrorInvalidValue, hipKernelGetParamInfo(nullptr, 0, &offset, &size));
	IS(hipErrorInvalidDeviceFunction, hipKernelGetParamInfo(made_up<hipKernel_t>(), 0, &offset, &size));
}

static void attributes(hipKernel_t first)
{
	hipFuncAttributes all;
	int value = 0;

	OK(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, first, 0));
	CHECK_EQ(value, 1024);
	value = 0;
	OK(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, first, 1));
	CHECK_EQ(value, 1024);
	OK(hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, first, 0));
	OK(hipKernelSetAttributeForDevice(first, hipFuncAttributeMaxDynamicSharedMemorySize, 1024, 1));
	IS(hipErrorInvalidValue, hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20, first, 0));
	IS(hipErrorInvalidValue, hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_NUM_REGS, 1, first, 0));
	IS(hipErrorInvalidValue, hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_NUM_REGS, 1, nullptr, 0));
	IS(hipErrorInvalidDeviceFunction,
	   hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0, made_up<hipKernel_t>(), 0));
	IS(hipErrorInvalidHandle,
	   hipKernelSetAttributeForDevice(nullptr, hipFuncAttributeMaxDynamicSharedMemorySize, 0, 0));
	IS(hipErrorInvalidValue, hipKernelSetAttributeForDevice(first, hipFuncAttributeMax, 0, 0));
	for (int device : {-1, 2}) {
		IS(hipErrorInvalidDevice, hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, first, device));
		IS(hipErrorInvalidDevice,
		   hipKernelSetAttributeForDevice(first, hipFuncAttributeMaxDynamicSharedMemorySize, 0, device));
	}
	IS(hipErrorInvalidValue, hipKernelGetAttribute(nullptr, HIP_FUNC_ATTRIBUTE_NUM_REGS, first, 0));
	IS(hipErrorInvalidHandle, hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, nullptr, 0));
	/* AMD's library takes no kernel of a library here. */
	IS(hipErrorInvalidSymbol, hipFuncGetAttributes(&all, (const void *)first));
}

static void kernels()
{
	std::vector<char> image = code;
	hipKernel_t all[3] = {nullptr, nullptr, nullptr}, first;
	hipFunction_t function;
	hipLibrary_t library, same;
	const char *name = nullptr;
	unsigned count = 0;

	OK(load(&library, image.data()));
	std::fill(image.begin(), image.end(), 0); /* it was copied */
	OK(hipLibraryGetKernelCount(&count, library));
	CHECK_EQ(count, 2);
	OK(hipLibraryEnumerateKernels(all, 3, library));
	CHECK(all[0] && all[1] && all[0] != all[1] && !all[2]);
	OK(hipLibraryEnumerateKernels(all + 1, 0, library));
	OK(hipLibraryGetKernel(&first, library, "first"));
	CHECK(first == all[0] || first == all[1]);
	all[2] = nullptr;
	OK(hipLibraryEnumerateKernels(all + 2, 1, library));
	CHECK(all[2] == all[0]);
	OK(hipKernelGetName(&name, first));
	CHECK(!strcmp(name, "first"));
	OK(hipKernelGetLibrary(&same, first));
	CHECK(same == library);
	OK(hipKernelGetFunction(&function, first));
	CHECK((void *)function == (void *)first);
	launch(first);
	parameters(first);
	attributes(first);
	OK(hipLibraryUnload(library));
	IS(hipErrorInvalidHandle, hipLibraryUnload(library));
	IS(hipErrorInvalidHandle, hipKernelGetLibrary(&same, first));
	IS(hipErrorInvalidHandle, hipLibraryGetKernelCount(&count, library));
	IS(hipErrorInvalidHandle, hipLaunchKernel((const void *)first, dim3(1), dim3(64), nullptr, 0, nullptr));
	hipGetLastError();
}

/* A kernel is the device's that was current when it was looked up. */
static void devices()
{
	char c = 4;
	double d = 10;
	void *args[] = {&numbers, &c, &d};
	hipKernel_t first[2];
	hipLibrary_t library;

	OK(load(&library, code.data()));
	for (int i = 0; i < 2; i++) {
		OK(hipSetDevice(i));
		OK(hipLibraryGetKernel(&first[i], library, "first"));
		launch(first[i]);
	}
	CHECK(first[0] != first[1]);
	IS(hipErrorInvalidHandle, hipLaunchKernel((const void *)first[0], dim3(1), dim3(64), args, 0, nullptr));
	OK(hipSetDevice(0));
	OK(hipLibraryUnload(library));
	hipGetLastError();
}

static void variables()
{
	hipLibrary_t library;
	hipKernel_t first;
	void *base, *counted, *again;
	size_t size = 0;
	int value = 0;

	OK(load(&library, code.data()));
	OK(hipLibraryGetGlobal(&base, &size, library, "base"));
	CHECK_EQ(size, 4);
	OK(hipMemcpy(&value, base, 4, hipMemcpyDefault));
	CHECK_EQ(value, 3);
	size = 0;
	OK(hipLibraryGetManaged(&counted, &size, library, "counted"));
	CHECK_EQ(size, 4);
	OK(hipLibraryGetGlobal(&again, nullptr, library, "counted"));
	CHECK(again == counted);
	OK(hipLibraryGetKernel(&first, library, "first"));
	launch(first);
	CHECK_EQ(*(int *)counted, 9);
	IS(hipErrorNotFound, hipLibraryGetManaged(&base, &size, library, "base"));
	IS(hipErrorNotFound, hipLibraryGetGlobal(&base, &size, library, "nothing"));
	IS(hipErrorInvalidValue, hipLibraryGetGlobal(nullptr, nullptr, library, "base"));
	IS(hipErrorInvalidValue, hipLibraryGetManaged(&base, &size, library, ""));
	IS(hipErrorInvalidHandle, hipLibraryGetGlobal(&base, &size, nullptr, "base"));
	IS(hipErrorInvalidHandle, hipLibraryGetManaged(&base, &size, nullptr, "base"));
	OK(hipLibraryUnload(library));
	hipGetLastError();
}

/* What is wrong with an image is the answer to the first question, not to loading. */
static void images()
{
	hipLibraryOption option = hipLibraryBinaryIsPreserved;
	void *preserved = (void *)1;
	char path[] = "/tmp/libraries.XXXXXX";
	int file = mkstemp(path);
	hipLibrary_t library;
	hipKernel_t kernel;
	unsigned count;

	OK(load(&library, nothing_there));
	IS(hipErrorInvalidImage, hipLibraryGetKernelCount(&count, library));
	IS(hipErrorInvalidImage, hipLibraryGetKernel(&kernel, library, "first"));
	OK(hipLibraryUnload(library));
	OK(load_file(&library, path));
	IS(hipErrorInvalidImage, hipLibraryGetKernelCount(&count, library));
	OK(hipLibraryUnload(library));
	CHECK(write(file, code.data(), code.size()) == (ssize_t)code.size());
	close(file);
	OK(load_file(&library, path));
	unlink(path);
	OK(hipLibraryGetKernel(&kernel, library, "second"));
	IS(hipErrorNotFound, hipLibraryGetKernel(&kernel, library, "third"));
	IS(hipErrorNotFound, hipLibraryGetKernel(&kernel, library, ""));
	OK(hipLibraryUnload(library));
	IS(hipErrorInvalidValue, load_file(&library, path));
	IS(hipErrorInvalidValue, load_file(&library, nullptr));
	OK(hipLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, &option, &preserved, 1));
	OK(hipLibraryGetKernel(&kernel, library, "second"));
	OK(hipLibraryUnload(library));
	IS(hipErrorInvalidValue, load(&library, nullptr));
	IS(hipErrorInvalidValue, load(nullptr, code.data()));
	IS(hipErrorInvalidValue, hipLibraryLoadData(&library, code.data(), nullptr, nullptr, 1, nullptr, nullptr, 0));
	hipGetLastError();
}

static void wrong_handles()
{
	hipLibrary_t library;
	hipFunction_t function, list[3] = {nullptr, nullptr, nullptr};
	hipModule_t module;
	const char *name;
	hipKernel_t kernel;
	unsigned count;

	IS(hipErrorInvalidHandle, hipLibraryUnload(nullptr));
	IS(hipErrorInvalidHandle, hipLibraryUnload(made_up<hipLibrary_t>()));
	IS(hipErrorInvalidValue, hipLibraryGetKernelCount(&count, nullptr));
	IS(hipErrorInvalidHandle, hipLibraryGetKernelCount(&count, made_up<hipLibrary_t>()));
	IS(hipErrorInvalidValue, hipLibraryGetKernelCount(nullptr, made_up<hipLibrary_t>()));
	IS(hipErrorInvalidValue, hipLibraryGetKernel(&kernel, nullptr, "first"));
	IS(hipErrorInvalidValue, hipLibraryGetKernel(&kernel, made_up<hipLibrary_t>(), nullptr));
	IS(hipErrorInvalidValue, hipLibraryEnumerateKernels(nullptr, 0, made_up<hipLibrary_t>()));
	IS(hipErrorInvalidValue, hipLibraryEnumerateKernels(&kernel, 1, nullptr));
	IS(hipErrorInvalidValue, hipKernelGetLibrary(&library, nullptr));
	IS(hipErrorInvalidValue, hipKernelGetLibrary(nullptr, made_up<hipKernel_t>()));
	IS(hipErrorInvalidHandle, hipKernelGetLibrary(&library, made_up<hipKernel_t>()));
	IS(hipErrorInvalidValue, hipKernelGetName(nullptr, made_up<hipKernel_t>()));
	IS(hipErrorInvalidHandle, hipKernelGetName(&name, made_up<hipKernel_t>()));
	IS(hipErrorInvalidValue, hipKernelGetFunction(&function, nullptr));
	IS(hipErrorInvalidHandle, hipKernelGetFunction(&function, made_up<hipKernel_t>()));
	/* A module's function belongs to no library. */
	OK(hipModuleLoadData(&module, code.data()));
	OK(hipModuleGetFunction(&function, module, "second"));
	IS(hipErrorInvalidHandle, hipKernelGetLibrary(&library, (hipKernel_t)(void *)function));
	IS(hipErrorInvalidHandle, hipKernelGetName(&name, (hipKernel_t)(void *)function));
	OK(hipModuleEnumerateFunctions(list, 3, module));
	CHECK((list[0] == function || list[1] == function) && !list[2]);
	OK(hipModuleEnumerateFunctions(list, 0, module));
	IS(hipErrorInvalidValue, hipModuleEnumerateFunctions(list, 3, nullptr));
	IS(hipErrorInvalidValue, hipModuleEnumerateFunctions(nullptr, 3, module));
	OK(hipModuleUnload(module));
	hipGetLastError();
}

/* Threads that ask a library for the first time get the same kernel. */
static void threads()
{
	hipLibrary_t library;
	hipKernel_t kernel[4] = {};
	std::vector<std::thread> all;

	OK(load(&library, code.data()));
	for (hipKernel_t &k : kernel)
		all.emplace_back([&k, library] { (void)!hipLibraryGetKernel(&k, library, "first"); });
	for (std::thread &t : all)
		t.join();
	for (hipKernel_t k : kernel)
		CHECK(k && k == kernel[0]);
	OK(hipLibraryUnload(library));
}

STATUSES("libraries", compile, kernels, devices, variables, images, wrong_handles, threads)

/* Variables of a module that is loaded while the program runs, managed and not: the host reads and writes a managed one by
 * an address that hipModuleGetGlobal() gives, kernels by its name. */
#include <hip/hiprtc.h>
#include <string>

#include "tests/clients/hip/hip.h"

static const char *const source = "struct pair { int a; float b; };\n"
				  "__managed__ pair both = {5, 2.5f};\n"
				  "__managed__ unsigned long long sum[100];\n"
				  "extern \"C\" __global__ void add(int n)\n"
				  "{\n"
				  "	both.a += n;\n"
				  "	both.b *= 2;\n"
				  "	for (int i = 0; i < 100; i++)\n"
				  "		sum[i] += i;\n"
				  "}\n";

static std::string compile(const char *source)
{
	hiprtcProgram program;
	std::string code;
	size_t size = 0;

	CHECK_EQ(hiprtcCreateProgram(&program, source, nullptr, 0, nullptr, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
	code.resize(size);
	CHECK_EQ(hiprtcGetCode(program, &code[0]), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	return code;
}

static void managed()
{
	struct pair {
		int a;
		float b;
	} *both;
	unsigned long long *sum;
	std::string code = compile(source);
	hipPointerAttribute_t attributes;
	hipFunction_t add;
	hipModule_t module;
	size_t size = 0;
	int n = 7;
	void *args[] = {&n};

	for (unsigned round = 0; round < 2; round++) {
		HIP(hipModuleLoadData(&module, code.data()));
		HIP(hipModuleGetGlobal((hipDeviceptr_t *)&both, &size, module, "both"));
		CHECK_EQ(size, sizeof(*both));
		CHECK(both->a == 5 && both->b == 2.5f);
		HIP(hipModuleGetGlobal((hipDeviceptr_t *)&sum, &size, module, "sum"));
		CHECK_EQ(size, 100 * sizeof(*sum));
		HIP(hipPointerGetAttributes(&attributes, &sum[10]));
		CHECK_EQ(attributes.type, hipMemoryTypeManaged);
		HIP(hipModuleGetFunction(&add, module, "add"));
		both->a = 30;
		sum[99] = 1;
		HIP(hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
		HIP(hipDeviceSynchronize());
		CHECK(both->a == 37 && both->b == 5.0f);
		CHECK(sum[98] == 98 && sum[99] == 100);
		HIP(hipModuleUnload(module));
		HIP(hipPointerGetAttributes(&attributes, &sum[10]));
		CHECK_EQ(attributes.type, hipMemoryTypeUnregistered);
	}
}

/* Two variables of which one lies in the other: when the module is gone, both are. */
static void overlapping()
{
	std::string code = compile(
		"extern \"C\" __device__ int whole[8] = {0, 1, 2, 3};\n"
		"extern \"C\" __global__ void k(int i)\n"
		"{\n"
		"	whole[i] = 7;\n"
		"	asm(\".globl part\\n.type part, @object\\n.set part, whole + 8\\n.size part, 4\");\n"
		"}\n");
	hipPointerAttribute_t attributes;
	hipDeviceptr_t whole, part;
	hipModule_t module;
	int two = 0;

	for (unsigned first = 0; first < 2; first++) {
		HIP(hipModuleLoadData(&module, code.data()));
		for (unsigned i = 0; i < 2; i++)
			HIP(hipModuleGetGlobal(i == first ? &part : &whole, nullptr, module,
					       i == first ? "part" : "whole"));
		CHECK_EQ((char *)part - (char *)whole, 8);
		HIP(hipMemcpy(&two, part, sizeof(two), hipMemcpyDeviceToHost));
		CHECK_EQ(two, 2);
		HIP(hipModuleUnload(module));
		HIP(hipPointerGetAttributes(&attributes, part));
		CHECK_EQ(attributes.type, hipMemoryTypeUnregistered);
		HIP(hipPointerGetAttributes(&attributes, whole));
		CHECK_EQ(attributes.type, hipMemoryTypeUnregistered);
	}
}

int main()
{
	managed();
	overlapping();
	return check_done("variables of modules");
}

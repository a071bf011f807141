/* Two sources, compiled apart while the program runs, and linked: a kernel of one calls a function of the other. */
#include <dlfcn.h>
#include <hip/hiprtc.h>
#include <stdio.h>
#include <string>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define RTC(call) CHECK_EQ((call), HIPRTC_SUCCESS)

static const char *const caller = "extern __device__ int twice(int);\n"
				  "template <typename T> __global__ void each(T *at)\n"
				  "{\n"
				  "	at[threadIdx.x] = twice(at[threadIdx.x]) + (int)sqrtf(16);\n"
				  "}\n";
static const char *const callee = "__device__ int twice(int value) { return 2 * value; }\n"
				  "template <typename T> __global__ void other(T *at) { *at = twice(*at); }\n";

static std::string compile(const char *text, const char *expression, std::string *name)
{
	const char *options[] = {"-fgpu-rdc"}, *lowered = nullptr;
	hiprtcProgram program;
	std::string bitcode;
	size_t size = 1;
	char some[16];

	RTC(hiprtcCreateProgram(&program, text, "text", 0, nullptr, nullptr));
	RTC(hiprtcAddNameExpression(program, expression));
	RTC(hiprtcCompileProgram(program, 1, options));
	RTC(hiprtcGetCodeSize(program, &size));
	CHECK_EQ(size, 0);
	CHECK_EQ(hiprtcGetCode(program, some), HIPRTC_ERROR_INVALID_PROGRAM);
	RTC(hiprtcGetBitcodeSize(program, &size));
	bitcode.resize(size);
	RTC(hiprtcGetBitcode(program, &bitcode[0]));
	RTC(hiprtcGetLoweredName(program, expression, &lowered));
	*name = lowered ? lowered : "";
	RTC(hiprtcDestroyProgram(&program));
	return bitcode;
}

static void run(const void *code, const char *name)
{
	std::vector<int> numbers(64);
	hipModule_t module;
	hipFunction_t each;

	for (int i = 0; i < 64; i++)
		numbers[i] = i;
	gpu_array<int> at(numbers);
	void *args[] = {&at.at};
	HIP(hipModuleLoadData(&module, code));
	HIP(hipModuleGetFunction(&each, module, name));
	HIP(hipModuleLaunchKernel(each, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
	for (int i = 0; i < 64; i++)
		if (!CHECK_EQ(at.read()[i], 2 * i + 4))
			break;
	HIP(hipModuleUnload(module));
}

static void by_rtc(std::string &a, std::string &b, const char *name)
{
	hiprtcLinkState state;
	void *code;
	size_t size = 0;

	RTC(hiprtcLinkCreate(0, nullptr, nullptr, &state));
	RTC(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, &a[0], a.size(), "a", 0, nullptr, nullptr));
	RTC(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, &b[0], b.size(), nullptr, 0, nullptr, nullptr));
	RTC(hiprtcLinkComplete(state, &code, &size));
	CHECK(size > 0);
	run(code, name);
	RTC(hiprtcLinkDestroy(state));
	CHECK_EQ(hiprtcLinkDestroy(state), HIPRTC_ERROR_INVALID_INPUT);
}

/* Through a file, with clang's options, and under HIP's names. */
static void by_file(std::string &a, std::string &b, const char *name)
{
	const char *options[] = {"-O1", "-g"};
	hipJitOption kinds[] = {HIPRTC_JIT_IR_TO_ISA_OPT_EXT, HIPRTC_JIT_IR_TO_ISA_OPT_COUNT_EXT};
	void *values[] = {(void *)options, (void *)2};
	char path[] = "/tmp/tuff-link-XXXXXX";
	int fd = mkstemp(path);
	hipLinkState_t state;
	void *code;
	size_t size = 0;

	CHECK_EQ(write(fd, a.data(), a.size()), a.size());
	close(fd);
	HIP(hipLinkCreate(2, kinds, values, &state));
	HIP(hipLinkAddFile(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, path, 0, nullptr, nullptr));
	HIP(hipLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, &b[0], b.size(), "b", 0, nullptr, nullptr));
	HIP(hipLinkComplete(state, &code, &size));
	run(code, name);
	HIP(hipLinkDestroy(state));
	unlink(path);
}

static void refused(std::string &a)
{
	char log[4096] = "";
	hiprtcJIT_option kinds[] = {HIPRTC_JIT_ERROR_LOG_BUFFER, HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)sizeof(log)};
	hiprtcLinkState state;
	hiprtcProgram program;
	void *code;
	size_t size;

	CHECK_EQ(hiprtcLinkCreate(0, nullptr, nullptr, nullptr), HIPRTC_ERROR_INVALID_INPUT);
	CHECK_EQ(hiprtcLinkCreate(1, nullptr, nullptr, &state), HIPRTC_ERROR_INVALID_INPUT);
	RTC(hiprtcLinkCreate(2, kinds, values, &state));
	CHECK_EQ(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_PTX, &a[0], a.size(), "a", 0, nullptr, nullptr),
		 HIPRTC_ERROR_INVALID_INPUT);
	CHECK_EQ(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, nullptr, 8, "a", 0, nullptr, nullptr),
		 HIPRTC_ERROR_INVALID_INPUT);
	for (size_t more : {SIZE_MAX, SIZE_MAX / 2 + 1})
		CHECK_EQ(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, &a[0], more, "a", 0, nullptr, nullptr),
			 HIPRTC_ERROR_OUT_OF_MEMORY);
	CHECK_EQ(hiprtcLinkAddFile(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, "/nowhere", 0, nullptr, nullptr),
		 HIPRTC_ERROR_PROGRAM_CREATION_FAILURE);
	CHECK_EQ(hiprtcLinkComplete(state, &code, &size), HIPRTC_ERROR_LINKING);
	/* One half alone: who calls is told what is missing. */
	RTC(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, &a[0], a.size(), "a", 0, nullptr, nullptr));
	CHECK_EQ(hiprtcLinkComplete(state, nullptr, &size), HIPRTC_ERROR_INVALID_INPUT);
	CHECK_EQ(hiprtcLinkComplete(state, &code, &size), HIPRTC_ERROR_LINKING);
	CHECK(strstr(log, "twice") != nullptr);
	RTC(hiprtcLinkDestroy(state));
	RTC(hiprtcCreateProgram(&program, callee, nullptr, 0, nullptr, nullptr));
	CHECK_EQ(hiprtcGetBitcodeSize(program, &size), HIPRTC_ERROR_INVALID_PROGRAM);
	RTC(hiprtcDestroyProgram(&program));
}

/* The library that has hiprtc alone, as programs may want it, is the same. */
static void alone()
{
	void *library = dlopen("libhiprtc.so.6", RTLD_NOW);

	if (CHECK(library != nullptr))
		CHECK(dlsym(library, "hiprtcVersion") == (void *)hiprtcVersion);
}

/* What cannot be linked; and the type of differences, which programs may choose. */
static void others()
{
	const char *text = "#include <stddef.h>\n"
			   "static_assert(__is_same(ptrdiff_t, LIKE), \"\");\n"
			   "extern \"C\" __global__ void nothing() {}\n";
	const char *longer[] = {"-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=1", "-DLIKE=long long"};
	const char *usual[] = {"-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=0", "-DLIKE=long"};
	hiprtcLinkState state;

	for (const char **options : {longer, usual}) {
		hiprtcProgram program;

		RTC(hiprtcCreateProgram(&program, text, "text", 0, nullptr, nullptr));
		RTC(hiprtcCompileProgram(program, 2, options));
		RTC(hiprtcDestroyProgram(&program));
	}
	RTC(hiprtcLinkCreate(0, nullptr, nullptr, &state));
	CHECK_EQ(hiprtcLinkAddFile(state, HIPRTC_JIT_INPUT_NVVM, "no such file", 0, nullptr, nullptr),
		 HIPRTC_ERROR_INVALID_INPUT);
	CHECK_EQ(hiprtcLinkAddFile(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, "no such file", 0, nullptr, nullptr),
		 HIPRTC_ERROR_PROGRAM_CREATION_FAILURE);
	RTC(hiprtcLinkDestroy(state));
	CHECK_EQ(hiprtcGetBitcodeSize(nullptr, nullptr), HIPRTC_ERROR_INVALID_INPUT);
}

int main()
{
	others();
	std::string name, other, a = compile(caller, "each<int>", &name), b = compile(callee, "other<int>", &other);

	CHECK(name != other);

	by_rtc(a, b, name.c_str());
	by_file(a, b, name.c_str());
	refused(a);
	alone();
	return check_done("linking");
}

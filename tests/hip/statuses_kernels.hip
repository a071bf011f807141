/* Modules and functions of them, launches, occupancy, kernels compiled at run time. */
#include "tests/hip/statuses.h"

#include <cstdio>
#include <cstring>
#include <csignal>
#include <elf.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <hip/hiprtc.h>

#if TUFF_HIP_ABI == 5
/* The only name that it has there. */
extern "C" __typeof__(hipExtModuleLaunchKernel)
	_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j;
#define hipExtModuleLaunchKernel                                                                                   \
	_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
#endif

static hipStream_t stream, old_stream;
static hipEvent_t event, old_event;
static hipModule_t module, old_module;
static hipFunction_t function;
static int devices;
static char host[4096], *gpu;

__global__ void nothing(int)
{
}
__global__ void no_arguments()
{
}
__global__ void __launch_bounds__(64) bounded()
{
}

static int one = 1;
static void *arguments[] = {&one};
static const void *kernel = (const void *)nothing;

static const char source[] =
	"__device__ int variable; extern \"C\" __global__ void in_module(int *p) { *p = variable; }";

#define RTC(status, call) IS(status, call)

static std::vector<char> compiled()
{
	std::vector<char> code;
	hiprtcProgram program;
	size_t size_B = 0;

	RTC(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, source, "in_module", 0, NULL, NULL));
	RTC(HIPRTC_SUCCESS, hiprtcCompileProgram(program, 0, NULL));
	RTC(HIPRTC_SUCCESS, hiprtcGetCodeSize(program, &size_B));
	code.resize(size_B);
	RTC(HIPRTC_SUCCESS, hiprtcGetCode(program, code.data()));
	RTC(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
	return code;
}

static void begin()
{
	const std::vector<char> code = compiled();

	OK(hipGetDeviceCount(&devices));
	OK(hipMalloc((void **)&gpu, 4096));
	OK(hipStreamCreate(&stream));
	OK(hipStreamCreate(&old_stream));
	OK(hipStreamDestroy(old_stream));
	OK(hipEventCreate(&event));
	OK(hipEventCreate(&old_event));
	OK(hipEventDestroy(old_event));
	OK(hipModuleLoadData(&old_module, code.data()));
	OK(hipModuleUnload(old_module));
	OK(hipModuleLoadData(&module, code.data()));
	OK(hipModuleGetFunction(&function, module, "in_module"));
}

/* An image at the end of a page, behind which there is nothing to read. */
static void module_headers()
{
	const long page_B = sysconf(_SC_PAGESIZE);
	char *page = (char *)mmap(NULL, 2 * page_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct {
		char magic[24];
		uint64_t count, offset_B, size_B, name_B;
	} bundle = {{}, UINT64_MAX, 1 << 20, 0, UINT64_MAX / 2};
	Elf64_Ehdr elf = {};
	hipModule_t m;
	char *at;

	OK(page != MAP_FAILED && !munmap(page + page_B, page_B) ? hipSuccess : hipErrorUnknown);
	at = page + page_B - sizeof(bundle);
	memcpy(bundle.magic, "__CLANG_OFFLOAD_BUNDLE__", sizeof(bundle.magic));
	memcpy(at, &bundle, sizeof(bundle));
	IS(hipErrorInvalidImage, hipModuleLoadData(&m, at));
	at = page + page_B - sizeof(elf);
	memcpy(elf.e_ident, ELFMAG, SELFMAG);
	elf.e_ident[EI_CLASS] = ELFCLASS64;
	elf.e_shoff = UINT64_MAX - 64;
	elf.e_shentsize = sizeof(Elf64_Shdr);
	elf.e_shnum = 2;
	memcpy(at, &elf, sizeof(elf));
	IS(hipErrorInvalidImage, hipModuleLoadData(&m, at));
	elf.e_machine = EM_AMDGPU;
	memcpy(at, &elf, sizeof(elf));
	IS(hipErrorInvalidImage, hipModuleLoadData(&m, at));
	munmap(page, page_B);
}

/* A header may have any name: that of the file that the compiler reads, too. */
static void header_names()
{
	const char *const names[] = {"program.hip", "log", "source/program.hip"};
	const char *const texts[] = {"#define FIRST 1\n", "#define SECOND 2\n", "#define THIRD 3\n"};
	hiprtcProgram program;

	RTC(HIPRTC_SUCCESS,
	    hiprtcCreateProgram(&program,
				"#include \"program.hip\"\n#include \"log\"\n#include <source/program.hip>\n"
				"static_assert(FIRST + SECOND + THIRD == 6, \"all\");\n__global__ void sum() {}\n",
				"names", 3, (const char **)texts, (const char **)names));
	RTC(HIPRTC_SUCCESS, hiprtcCompileProgram(program, 0, NULL));
	RTC(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
}

static void headers_give(hiprtcResult status, const char *first, const char *second)
{
	const char *names[] = {first, second}, *texts[] = {"", "/* not empty */"};
	hiprtcProgram program;

	RTC(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, source, NULL, 2, texts, names));
	RTC(status, hiprtcCompileProgram(program, 0, NULL));
	RTC(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
}

/* Names that a file or folder has already, that lead elsewhere or are too long; then files may not grow. */
static void headers_unwritten()
{
	struct rlimit before, none;

	headers_give(HIPRTC_ERROR_INVALID_INPUT, "a", "a/b");
	headers_give(HIPRTC_ERROR_INVALID_INPUT, "a/b", "a");
	headers_give(HIPRTC_ERROR_INVALID_INPUT, "a", "../b");
	headers_give(HIPRTC_ERROR_INVALID_INPUT, "/tmp/a", "b");
	headers_give(HIPRTC_ERROR_INVALID_INPUT, "a", "b/");
	headers_give(HIPRTC_ERROR_INVALID_INPUT, "a", std::string(300, 'b').c_str());
	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = {0, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
	headers_give(HIPRTC_ERROR_INTERNAL_ERROR, "a", "b");
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
}

static void modules()
{
	textureReference *reference;
	char path[] = "/tmp/statuses_XXXXXX";
	hipDeviceptr_t at;
	hipFunction_t f;
	hipModule_t m;
	size_t size_B;
	int fd = mkstemp(path);

	IS(hipErrorInvalidValue, hipModuleLoad(NULL, path));
	IS(hipErrorInvalidValue, hipModuleLoad(&m, NULL));
	IS(hipErrorInvalidValue, hipModuleLoad(&m, ""));
	IS(hipErrorFileNotFound, hipModuleLoad(&m, "/no/such/file"));
	CHECK(write(fd, "this is no module\n", 18) == 18);
	IS(hipErrorInvalidImage, hipModuleLoad(&m, path));
	close(fd);
	unlink(path);
	IS(hipErrorInvalidValue, hipModuleLoadData(NULL, host));
	IS(hipErrorInvalidValue, hipModuleLoadData(&m, NULL));
	IS(hipErrorInvalidImage, hipModuleLoadData(&m, ""));
	IS(hipErrorInvalidImage, hipModuleLoadData(&m, "this is no module, and never was one"));
	IS(hipErrorInvalidValue, hipModuleLoadDataEx(NULL, host, 0, NULL, NULL));
	IS(hipErrorInvalidValue, hipModuleLoadDataEx(&m, NULL, 0, NULL, NULL));
	IS(hipErrorInvalidImage, hipModuleLoadDataEx(&m, "", 0, NULL, NULL));
	IS(hipErrorInvalidHandle, hipModuleUnload(NULL));
	IS(hipErrorNotFound, hipModuleUnload(old_module));
	IS(hipErrorNotFound, hipModuleUnload(made_up<hipModule_t>()));
	IS(hipErrorInvalidValue, hipModuleGetFunction(NULL, module, "in_module"));
	IS(hipErrorInvalidValue, hipModuleGetFunction(&f, module, NULL));
	IS(hipErrorInvalidValue, hipModuleGetFunction(&f, module, ""));
	IS(hipErrorInvalidValue, hipModuleGetFunction(&f, NULL, ""));
	IS(hipErrorInvalidHandle, hipModuleGetFunction(&f, NULL, "in_module"));
	IS(hipErrorNotFound, hipModuleGetFunction(&f, module, "no such kernel"));
	IS(hipErrorNotFound, hipModuleGetFunction(&f, old_module, "in_module"));
	IS(hipErrorInvalidValue, hipModuleGetGlobal(NULL, NULL, module, "variable"));
	IS(hipErrorInvalidValue, hipModuleGetGlobal(&at, &size_B, module, NULL));
	IS(hipErrorInvalidValue, hipModuleGetGlobal(&at, &size_B, module, ""));
	IS(hipErrorInvalidHandle, hipModuleGetGlobal(&at, &size_B, NULL, "variable"));
	IS(hipErrorNotFound, hipModuleGetGlobal(&at, &size_B, module, "no such variable"));
	IS(hipErrorNotFound, hipModuleGetGlobal(&at, &size_B, old_module, "variable"));
	OK(hipModuleGetGlobal(NULL, &size_B, module, "variable"));
	OK(hipModuleGetGlobal(&at, NULL, module, "variable"));
	IS(hipErrorInvalidValue, hipModuleGetTexRef(NULL, module, "reference"));
	IS(hipErrorInvalidValue, hipModuleGetTexRef(&reference, module, NULL));
	IS(hipErrorInvalidValue, hipModuleGetTexRef(&reference, module, ""));
	IS(hipErrorInvalidHandle, hipModuleGetTexRef(&reference, NULL, "reference"));
	IS(hipErrorNotFound, hipModuleGetTexRef(&reference, module, "no such reference"));
	IS(hipErrorNotFound, hipModuleGetTexRef(&reference, module, "variable")); /* another size */
}

static void functions()
{
	hipFuncAttributes attributes;
	int value;

	IS(hipErrorInvalidValue, hipFuncGetAttribute(NULL, HIP_FUNC_ATTRIBUTE_NUM_REGS, function));
	IS(hipErrorInvalidHandle, hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, NULL));
	IS(hipErrorInvalidHandle,
	   hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, made_up<hipFunction_t>()));
	IS(hipErrorInvalidValue, hipFuncGetAttribute(&value, (hipFunction_attribute)-1, function));
	IS(hipErrorInvalidValue, hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX, function));
	IS(hipErrorInvalidValue, hipFuncGetAttributes(NULL, kernel));
	IS(hipErrorInvalidValue, hipFuncGetAttributes(NULL, NULL));
	IS(hipErrorInvalidDeviceFunction, hipFuncGetAttributes(&attributes, NULL));
	IS(hipErrorInvalidSymbol, hipFuncGetAttributes(&attributes, host));
	IS(hipErrorInvalidDeviceFunction,
	   hipFuncSetAttribute(NULL, hipFuncAttributeMaxDynamicSharedMemorySize, 64));
	IS(hipErrorInvalidDeviceFunction, hipFuncSetAttribute(NULL, (hipFuncAttribute)-1, 64));
	IS(hipErrorInvalidValue, hipFuncSetAttribute(kernel, (hipFuncAttribute)-1, 64));
	IS(hipErrorInvalidValue, hipFuncSetAttribute(kernel, (hipFuncAttribute)1000, 64));
	IS(hipErrorInvalidSymbol, hipFuncSetAttribute(host, hipFuncAttributeMaxDynamicSharedMemorySize, 64));
	IS(hipErrorInvalidValue, hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, -1));
	IS(hipErrorInvalidValue, hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 65537));
	IS(hipErrorInvalidValue, hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, -2));
	IS(hipErrorInvalidValue, hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, 101));
	OK(hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, -1));
	OK(hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, 100));
	IS(hipErrorInvalidDeviceFunction, hipFuncSetCacheConfig(NULL, hipFuncCachePreferNone));
	IS(hipErrorInvalidDeviceFunction, hipFuncSetCacheConfig(NULL, (hipFuncCache_t)-1));
	IS(hipErrorInvalidValue, hipFuncSetCacheConfig(kernel, (hipFuncCache_t)-1));
	OK(hipFuncSetCacheConfig(host, hipFuncCachePreferNone)); /* nobody looks */
	IS(hipErrorInvalidDeviceFunction, hipFuncSetSharedMemConfig(NULL, hipSharedMemBankSizeDefault));
	IS(hipErrorInvalidValue, hipFuncSetSharedMemConfig(kernel, (hipSharedMemConfig)-1));
#if TUFF_HIP_ABI >= 6
	hipFunction_t f;
	void *at;
	hipDriverProcAddressQueryResult found;

	IS(hipErrorInvalidDeviceFunction, hipGetFuncBySymbol(&f, NULL));
	IS(hipErrorInvalidDeviceFunction, hipGetFuncBySymbol(&f, host));
	IS(hipErrorInvalidDeviceFunction, hipGetFuncBySymbol(NULL, kernel));
	IS(hipErrorInvalidValue, hipGetProcAddress(NULL, &at, 600, 0, &found));
	IS(hipErrorInvalidValue, hipGetProcAddress("hipMalloc", NULL, 600, 0, &found));
	IS(hipErrorInvalidValue, hipGetProcAddress("", &at, 600, 0, &found));
	IS(hipErrorInvalidValue, hipGetProcAddress("hipNoSuchFunction", &at, 600, 0, &found));
	OK(hipGetProcAddress("hipMalloc", &at, 600, 0, NULL));
#endif
}

static void occupancy()
{
	int blocks, threads;

	IS(hipErrorInvalidValue, hipOccupancyMaxActiveBlocksPerMultiprocessor(NULL, kernel, 64, 0));
	IS(hipErrorInvalidDeviceFunction, hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 64, 0));
	IS(hipErrorInvalidDeviceFunction, hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, host, 64, 0));
	IS(hipErrorInvalidValue, hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0));
	IS(hipErrorInvalidValue, hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, -1, 0));
	OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 2048, 0)); /* none */
	IS(hipErrorInvalidValue, hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(NULL, kernel, 64, 0, 0));
	IS(hipErrorInvalidValue, hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, 64, 0, 2));
	IS(hipErrorInvalidValue, hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, NULL, 64, 0, 2));
	IS(hipErrorInvalidDeviceFunction,
	   hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, NULL, 64, 0, 0));
	IS(hipErrorInvalidValue, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(NULL, function, 64, 0));
	IS(hipErrorInvalidValue, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 64, 0));
	IS(hipErrorInvalidValue, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 0, 0));
	IS(hipErrorInvalidValue,
	   hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, 64, 0, 2));
	IS(hipErrorInvalidValue,
	   hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, NULL, 64, 0, 0));
	IS(hipErrorInvalidValue, hipOccupancyMaxPotentialBlockSize(NULL, &threads, kernel, 0, 0));
	IS(hipErrorInvalidValue, hipOccupancyMaxPotentialBlockSize(&blocks, NULL, kernel, 0, 0));
	IS(hipErrorInvalidDeviceFunction, hipOccupancyMaxPotentialBlockSize(&blocks, &threads, NULL, 0, 0));
	IS(hipErrorInvalidDeviceFunction, hipOccupancyMaxPotentialBlockSize(&blocks, &threads, host, 0, 0));
	OK(hipOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel, 0, -1));
	IS(hipErrorInvalidValue, hipModuleOccupancyMaxPotentialBlockSize(NULL, &threads, function, 0, 0));
	IS(hipErrorInvalidValue, hipModuleOccupancyMaxPotentialBlockSize(&blocks, NULL, function, 0, 0));
	IS(hipErrorInvalidValue, hipModuleOccupancyMaxPotentialBlockSize(&blocks, &threads, NULL, 0, 0));
	IS(hipErrorInvalidValue,
	   hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &threads, function, 0, 0, 2));
	IS(hipErrorInvalidValue,
	   hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &threads, NULL, 0, 0, 0));
}

__global__ void depth(unsigned *last)
{
	if (blockIdx.y == gridDim.y - 1 && blockIdx.z == gridDim.z - 1)
		*last = blockIdx.y + 1000000 * blockIdx.z;
}

/* More groups in y or z than maxGridSize: hipModuleLaunchKernel() alone refuses them. */
static void deep_grids()
{
	unsigned *last, got = 0;
	void *params[] = {&last};

	OK(hipMalloc((void **)&last, 4));
	OK(hipLaunchKernel((const void *)depth, dim3(1, 65537, 1), dim3(1), params, 0, stream));
	OK(hipMemcpy(&got, last, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(got, 65536);
	OK(hipLaunchKernel((const void *)depth, dim3(1, 1, 65537), dim3(1), params, 0, stream));
	OK(hipMemcpy(&got, last, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(got, 65536 * 1000000u);
	OK(hipFree(last));
}

static void launches()
{
	const dim3 some(1), zero(0), large(2048), huge(1u << 31, 1, 1);

	IS(hipErrorInvalidDeviceFunction, hipLaunchKernel(NULL, some, some, arguments, 0, stream));
	IS(hipErrorInvalidDeviceFunction, hipLaunchKernel(host, some, some, arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, some, some, arguments, 0, old_stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(NULL, some, some, arguments, 0, old_stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, some, some, NULL, 0, stream));
	OK(hipLaunchKernel((const void *)no_arguments, some, some, NULL, 0, stream));
	deep_grids();
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, zero, some, arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, dim3(1, 0, 1), some, arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, dim3(1, 1, 0), some, arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, some, zero, arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, some, dim3(1, 0, 1), arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, some, large, arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, some, dim3(64, 64, 1), arguments, 0, stream));
	IS(hipErrorInvalidConfiguration, hipLaunchKernel(kernel, huge, dim3(2), arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchKernel(kernel, some, some, arguments, 65537, stream));
	IS(hipErrorLaunchFailure, hipLaunchKernel((const void *)bounded, some, dim3(128), NULL, 0, stream));
	IS(hipErrorInvalidDeviceFunction, hipLaunchKernel_spt(NULL, some, some, arguments, 0, NULL));
	IS(hipErrorInvalidValue, hipExtLaunchKernel(kernel, some, some, arguments, 0, stream, old_event, NULL, 0));
	IS(hipErrorInvalidValue, hipExtLaunchKernel(kernel, some, some, arguments, 0, stream, NULL, old_event, 0));
	IS(hipErrorInvalidDeviceFunction,
	   hipExtLaunchKernel(NULL, some, some, arguments, 0, stream, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipExtLaunchKernel(kernel, zero, some, arguments, 0, stream, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipExtLaunchKernel(kernel, some, some, arguments, 0, old_stream, NULL, NULL, 0));
	OK(hipConfigureCall(some, some, 0, stream));
	IS(hipErrorInvalidDeviceFunction, hipLaunchByPtr(NULL));
	OK(hipStreamSynchronize(stream));
}

static void module_launches()
{
	void *pointer = &gpu, *params[] = {pointer};
	size_t size_B = sizeof(gpu);
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &gpu, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size_B,
			 HIP_LAUNCH_PARAM_END},
	     *wrong[] = {host, host, host, host, host};
#define LAUNCH(f, x, y, z, bx, by, bz, lds, s, args, more)                                                         \
	hipModuleLaunchKernel(f, x, y, z, bx, by, bz, lds, s, args, more)

	IS(hipErrorInvalidHandle, LAUNCH(NULL, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidHandle, LAUNCH(made_up<hipFunction_t>(), 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 1, 1, 1, 1, 0, old_stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(NULL, 1, 1, 1, 1, 1, 1, 0, old_stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 0, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 0, 1, 1, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 0, 1, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 1, 0, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 1, 2048, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1u << 31, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 65537, 1, 1, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 65537, 1, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidConfiguration, LAUNCH(function, INT_MAX, 1, 1, 64, 1, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 1, 1, 1, 1, 65537, stream, params, NULL));
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 1, 1, 1, 1, 0, stream, params, extra)); /* both */
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));    /* neither */
	IS(hipErrorInvalidValue, LAUNCH(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, wrong));
	OK(LAUNCH(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra));
#define EXT(f, x, bx, s, args, more) hipExtModuleLaunchKernel(f, x, 1, 1, bx, 1, 1, 0, s, args, more, NULL, NULL, 0)
	IS(hipErrorInvalidHandle, EXT(NULL, 1, 1, stream, params, NULL));
	IS(hipErrorInvalidValue, EXT(function, 1, 1, old_stream, params, NULL));
	IS(hipErrorInvalidValue, EXT(function, 0, 1, stream, params, NULL));
	IS(hipErrorInvalidConfiguration, EXT(function, 1, 0, stream, params, NULL));
	IS(hipErrorInvalidValue, EXT(function, 1, 2048, stream, params, NULL));
	IS(hipErrorInvalidValue, EXT(function, 1, 1, stream, params, extra));
	IS(hipErrorInvalidValue, EXT(function, 1, 1, stream, NULL, NULL));
	OK(hipStreamSynchronize(stream));
}

static void cooperative()
{
	const dim3 some(1), zero(0);
	hipLaunchParams list[2] = {};
	hipFunctionLaunchParams of_functions[2] = {};
	void *pointer = &gpu, *params[] = {pointer};

	IS(hipErrorInvalidDeviceFunction, hipLaunchCooperativeKernel(NULL, some, some, arguments, 0, stream));
	IS(hipErrorInvalidSymbol, hipLaunchCooperativeKernel(host, some, some, arguments, 0, stream));
	IS(hipErrorContextIsDestroyed, hipLaunchCooperativeKernel(kernel, some, some, arguments, 0, old_stream));
	IS(hipErrorContextIsDestroyed, hipLaunchCooperativeKernel(NULL, some, some, arguments, 0, old_stream));
	IS(hipErrorInvalidValue, hipLaunchCooperativeKernel(kernel, zero, some, arguments, 0, stream));
	IS(hipErrorInvalidValue, hipLaunchCooperativeKernel(kernel, some, zero, arguments, 0, stream));
	IS(hipErrorInvalidConfiguration,
	   hipLaunchCooperativeKernel(kernel, some, dim3(2048), arguments, 0, stream));
	IS(hipErrorInvalidConfiguration,
	   hipLaunchCooperativeKernel(kernel, dim3(1u << 31), dim3(2), arguments, 0, stream));
	IS(hipErrorCooperativeLaunchTooLarge,
	   hipLaunchCooperativeKernel(kernel, dim3(1 << 20), dim3(64), arguments, 0, stream));
	IS(hipErrorCooperativeLaunchTooLarge,
	   hipLaunchCooperativeKernel(kernel, some, some, arguments, 65537, stream));
	IS(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(NULL, 1, 0));
	IS(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(list, 0, 0));
	list[0].func = (void *)nothing;
	list[0].gridDim = list[0].blockDim = some;
	list[0].args = arguments;
	list[0].stream = stream;
	list[1] = list[0];
	IS(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(list, 1, 4));
	IS(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(list, 1, 999));
	list[0].stream = old_stream;
	IS(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(list, 1, 0));
	list[0].stream = NULL;
	IS(hipErrorInvalidHandle, hipLaunchCooperativeKernelMultiDevice(list, 1, 0));
	list[0].stream = stream;
	list[0].blockDim = zero;
	IS(hipErrorInvalidConfiguration, hipLaunchCooperativeKernelMultiDevice(list, 1, 0));
	list[0].blockDim = some;
	list[0].func = NULL;
	IS(hipErrorInvalidSymbol, hipLaunchCooperativeKernelMultiDevice(list, 1, 0));
	list[0].func = (void *)nothing;
	if (devices >= 2)
		IS(hipErrorInvalidDevice, hipLaunchCooperativeKernelMultiDevice(list, 2, 0)); /* one, twice */
	else
		IS(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(list, 2, 0));
	IS(hipErrorInvalidValue, hipExtLaunchMultiKernelMultiDevice(NULL, 1, 0));
	IS(hipErrorInvalidValue, hipExtLaunchMultiKernelMultiDevice(list, 0, 0));
	IS(hipErrorInvalidValue, hipExtLaunchMultiKernelMultiDevice(list, 1, 999));

#define MODULE(f, x, bx, lds, s) hipModuleLaunchCooperativeKernel(f, x, 1, 1, bx, 1, 1, lds, s, params)
	IS(hipErrorInvalidHandle, MODULE(NULL, 1, 1, 0, stream));
	IS(hipErrorInvalidValue, MODULE(function, 1, 1, 0, old_stream));
	IS(hipErrorInvalidValue, MODULE(function, 0, 1, 0, stream));
	IS(hipErrorInvalidValue, MODULE(function, 1, 0, 0, stream));
	IS(hipErrorInvalidValue, MODULE(function, 1, 2048, 0, stream));
	IS(hipErrorInvalidValue, MODULE(function, 1, 1, 65537, stream));
	IS(hipErrorCooperativeLaunchTooLarge, MODULE(function, 1 << 20, 64, 0, stream));
	IS(hipErrorInvalidConfiguration, MODULE(function, 1u << 31, 2, 0, stream));
	IS(hipErrorInvalidValue, hipModuleLaunchCooperativeKernelMultiDevice(NULL, 1, 0));
	IS(hipErrorInvalidValue, hipModuleLaunchCooperativeKernelMultiDevice(of_functions, 0, 0));
	of_functions[0] = {function, 1, 1, 1, 1, 1, 1, 0, stream, params};
	IS(hipErrorInvalidValue, hipModuleLaunchCooperativeKernelMultiDevice(of_functions, 1, 999));
	of_functions[0].hStream = old_stream;
	IS(hipErrorInvalidValue, hipModuleLaunchCooperativeKernelMultiDevice(of_functions, 1, 0));
	of_functions[0].hStream = NULL;
	IS(hipErrorInvalidHandle, hipModuleLaunchCooperativeKernelMultiDevice(of_functions, 1, 0));
	OK(hipStreamSynchronize(stream));
}

static void of_old()
{
	dim3 blocks, threads;
	hipStream_t s;
	size_t lds_B;

	IS(hipErrorMissingConfiguration, __hipPopCallConfiguration(&blocks, &threads, &lds_B, &s));
	IS(hipErrorInvalidValue, hipSetupArgument(NULL, 4, 0));
	IS(hipErrorInvalidValue, hipSetupArgument(&one, SIZE_MAX, 0));
	IS(hipErrorNotSupported, hipProfilerStart());
	IS(hipErrorNotSupported, hipProfilerStop());
}

static void compiler()
{
	const char *const bad[] = {"--no-such-option-at-all"}, *lowered;
	const char *texts[] = {"one.h", "two.h"}, *missing[] = {"one.h", NULL};
	hiprtcProgram program, none = NULL;
	hiprtcLinkState link = NULL;
	size_t size_B;
	void *image;
	int major;

	RTC(HIPRTC_ERROR_INVALID_PROGRAM, hiprtcCreateProgram(NULL, source, NULL, 0, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcCreateProgram(&program, source, NULL, -1, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcCreateProgram(&program, source, NULL, 1, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcCreateProgram(&program, NULL, NULL, 0, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcCreateProgram(&program, source, NULL, 2, texts, missing));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcCreateProgram(&program, source, NULL, 2, missing, texts));
	RTC(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, "no program at all", NULL, 0, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcAddNameExpression(program, NULL));
	RTC(HIPRTC_ERROR_COMPILATION, hiprtcCompileProgram(program, 1, (const char **)bad));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcGetCodeSize(program, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcGetCode(program, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcGetProgramLogSize(program, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcGetProgramLog(program, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcGetBitcodeSize(program, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcGetBitcode(program, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcGetLoweredName(program, NULL, &lowered));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcGetLoweredName(program, "name", NULL));
	RTC(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcDestroyProgram(NULL));
	RTC(HIPRTC_ERROR_INVALID_PROGRAM, hiprtcCompileProgram(none, 0, NULL));
	RTC(HIPRTC_ERROR_INVALID_PROGRAM, hiprtcGetCodeSize(none, &size_B));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcVersion(NULL, &major));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcVersion(&major, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcLinkCreate(0, NULL, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcLinkCreate(1, NULL, NULL, &link));
	RTC(HIPRTC_SUCCESS, hiprtcLinkCreate(0, NULL, NULL, &link));
	RTC(HIPRTC_ERROR_INVALID_INPUT,
	    hiprtcLinkAddFile(NULL, HIPRTC_JIT_INPUT_LLVM_BITCODE, "/no/such/file", 0, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT,
	    hiprtcLinkAddFile(link, HIPRTC_JIT_INPUT_PTX, "/no/such/file", 0, NULL, NULL));
	RTC(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE,
	    hiprtcLinkAddFile(link, HIPRTC_JIT_INPUT_LLVM_BITCODE, "/no/such/file", 0, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT,
	    hiprtcLinkAddData(link, HIPRTC_JIT_INPUT_LLVM_BITCODE, NULL, 4, NULL, 0, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT,
	    hiprtcLinkAddData(link, HIPRTC_JIT_INPUT_LLVM_BITCODE, host, 0, NULL, 0, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT,
	    hiprtcLinkAddData(link, HIPRTC_JIT_INPUT_CUBIN, host, 4, NULL, 0, NULL, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcLinkComplete(link, NULL, &size_B));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcLinkComplete(link, &image, NULL));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcLinkComplete(NULL, &image, &size_B));
	RTC(HIPRTC_SUCCESS, hiprtcLinkDestroy(link));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcLinkDestroy(link));
	RTC(HIPRTC_ERROR_INVALID_INPUT, hiprtcLinkDestroy(NULL));
}

STATUSES("statuses: kernels", begin, modules, module_headers, functions, occupancy, launches, module_launches,
	 cooperative, of_old, compiler, header_names, headers_unwritten)

/* Rules of AMD's runtime that programs rely on, beyond the documented purpose of a call. */
#define HIP_DEPRECATED /* contexts, too */
#include <string>
#include <sys/mman.h>

#include <hip/hiprtc.h>

#include "tests/clients/hip/hip.h"

__device__ unsigned a_variable;

/* A word of the host's that streams wait for. */
struct gate {
	unsigned *at;
	gate()
	{
		HIP(hipHostMalloc((void **)&at, sizeof(*at), 0));
		*at = 0;
	}
	~gate()
	{
		HIP(hipHostFree(at));
	}
	void close(hipStream_t stream)
	{
		*at = 0;
		HIP(hipStreamWaitValue32(stream, at, 1, hipStreamWaitValueEq, ~0u));
	}
	void open()
	{
		__atomic_store_n(at, 1, __ATOMIC_RELEASE);
	}
};

/* Asking for the null stream, and waiting for it, is about all streams that wait for it. */
static void null_stands_for_all()
{
	const unsigned flags[] = {hipStreamDefault, hipStreamNonBlocking};
	gate gate;

	for (unsigned f : flags) {
		hipStream_t stream;

		HIP(hipStreamCreateWithFlags(&stream, f));
		gate.close(stream);
		CHECK_EQ(hipStreamQuery(nullptr), f == hipStreamDefault ? hipErrorNotReady : hipSuccess);
		CHECK_EQ(hipStreamQuery(stream), hipErrorNotReady);
		if (f != hipStreamDefault)
			HIP(hipStreamSynchronize(nullptr));
		gate.open();
		if (f == hipStreamDefault) {
			HIP(hipStreamSynchronize(nullptr));
			HIP(hipStreamQuery(stream));
		}
		HIP(hipStreamDestroy(stream));
	}
	gate.close(hipStreamPerThread);
	CHECK_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
	gate.open();
	HIP(hipStreamSynchronize(nullptr));
	HIP(hipStreamQuery(hipStreamPerThread));
}

/* What no stream is. */
static void no_streams()
{
	hipStream_t wrong = (hipStream_t)0xffff;
	hipEvent_t event;
	unsigned flags;

	HIP(hipEventCreate(&event));
	CHECK_EQ(hipStreamWaitEvent(wrong, event, 0), hipErrorInvalidHandle);
	CHECK_EQ(hipStreamQuery(wrong), hipErrorContextIsDestroyed);
	CHECK_EQ(hipStreamGetFlags(nullptr, &flags), hipErrorInvalidValue);
	HIP(hipEventDestroy(event));
	(void)hipGetLastError();
}

/* Which of two errors it is does not depend on how far the GPU is. */
static void times_that_never_come()
{
	hipEvent_t pending, untimed, never;
	hipStream_t stream;
	gate gate;
	float ms;

	HIP(hipStreamCreate(&stream));
	HIP(hipEventCreate(&pending));
	HIP(hipEventCreate(&never));
	HIP(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
	gate.close(stream);
	HIP(hipEventRecord(pending, stream));
	HIP(hipEventRecord(untimed, stream));
	CHECK_EQ(hipEventElapsedTime(&ms, pending, pending), hipErrorNotReady);
	CHECK_EQ(hipEventElapsedTime(&ms, pending, untimed), hipErrorInvalidHandle);
	CHECK_EQ(hipEventElapsedTime(&ms, untimed, pending), hipErrorInvalidHandle);
	CHECK_EQ(hipEventElapsedTime(&ms, pending, never), hipErrorInvalidHandle);
	CHECK_EQ(hipEventElapsedTime(&ms, never, pending), hipErrorInvalidHandle);
	gate.open();
	HIP(hipStreamSynchronize(stream));
	HIP(hipEventElapsedTime(&ms, pending, pending));
	CHECK(ms == 0);
	for (hipEvent_t e : {pending, never, untimed})
		HIP(hipEventDestroy(e));
	HIP(hipStreamDestroy(stream));
	(void)hipGetLastError();
}

/* Registered memory has one address, for the host, for kernels and for calls. */
static void registered_address()
{
	unsigned *words = (unsigned *)malloc(64), *gpu;

	HIP(hipHostRegister(words, 64, 0));
	HIP(hipHostGetDevicePointer((void **)&gpu, words + 1, 0));
	CHECK_EQ(gpu - words, 1);
	HIP(hipStreamWriteValue32(nullptr, gpu, 7, 0));
	HIP(hipMemsetD32Async(gpu + 1, 8, 1, nullptr));
	HIP(hipStreamSynchronize(nullptr));
	CHECK(words[1] == 7 && words[2] == 8);
	HIP(hipHostUnregister(words));
	free(words);
	HIP(hipHostMalloc((void **)&words, 64, 0));
	HIP(hipFree(words));
}

/* In the driver's style a pitch that is too small is a wrong value as any other. */
static void pitches()
{
	gpu_array<char> from(256), to(256);
	hip_Memcpy2D copy = {};

	copy.srcMemoryType = copy.dstMemoryType = hipMemoryTypeDevice;
	copy.srcDevice = from.at;
	copy.dstDevice = to.at;
	copy.srcPitch = copy.dstPitch = 16;
	copy.WidthInBytes = 17;
	copy.Height = 2;
	CHECK_EQ(hipMemcpyParam2D(&copy), hipErrorInvalidValue);
	CHECK_EQ(hipMemcpyParam2DAsync(&copy, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipMemcpy2D(to.at, 16, from.at, 16, 17, 2, hipMemcpyDefault), hipErrorInvalidPitchValue);
	(void)hipGetLastError();
}

/* What is set can be asked for, until the device is reset. */
static void device_settings()
{
	hipFuncCache_t cache;
	char text[64];
	size_t stack_B;
	unsigned flags;
	uint32_t type, hops;
	hipCtx_t context;

	HIP(hipSetDeviceFlags(hipDeviceScheduleYield | hipDeviceMapHost));
	HIP(hipGetDeviceFlags(&flags));
	CHECK_EQ(flags, hipDeviceScheduleYield);
	HIP(hipDeviceSetCacheConfig(hipFuncCachePreferL1));
	HIP(hipDeviceGetCacheConfig(&cache));
	CHECK_EQ(cache, hipFuncCachePreferL1);
	HIP(hipDeviceReset());
	HIP(hipDeviceGetCacheConfig(&cache));
	HIP(hipGetDeviceFlags(&flags));
	CHECK(cache == hipFuncCachePreferNone && !flags);
	HIP(hipCtxCreate(&context, hipDeviceScheduleSpin | hipDeviceMapHost, 0));
	HIP(hipGetDeviceFlags(&flags));
	CHECK_EQ(flags, hipDeviceScheduleSpin | hipDeviceMapHost);
	HIP(hipCtxDestroy(context));
	CHECK_EQ(hipDeviceGetLimit(&stack_B, hipLimitRange), hipErrorInvalidValue);
	CHECK_EQ(hipDeviceSetLimit(hipLimitRange, 1), hipErrorInvalidValue);
	CHECK_EQ(hipDeviceSetLimit((hipLimit_t)-1, 1), hipErrorUnsupportedLimit);
	CHECK_EQ(hipDeviceGetLimit(&stack_B, (hipLimit_t)-1), hipErrorUnsupportedLimit);
	memset(text, '#', sizeof(text));
	CHECK_EQ(hipDeviceGetPCIBusId(text, 6, 0), hipErrorInvalidValue);
	CHECK(strlen(text) == 5 && text[6] == '#');
	CHECK_EQ(hipExtGetLinkTypeAndHopCount(0, 0, &type, &hops), hipErrorInvalidValue);
	CHECK_EQ(hipExtGetLinkTypeAndHopCount(0, -1, &type, &hops), hipErrorInvalidValue);
	CHECK_EQ(hipExtGetLinkTypeAndHopCount(0, 64, &type, &hops), hipErrorInvalidDevice);
	(void)hipGetLastError();
}

/* Pageable memory may go as soon as a copy has ended, whatever the GPU is given then. */
static void copies_and_unmapping()
{
	const size_t pitch = 1024, rows = 1024;
	gpu_array<char> there(pitch * rows);

	HIP(hipMemset(there.at, 5, pitch * rows));
	for (unsigned n = 0; n < 20; n++) {
		char *here = (char *)mmap(nullptr, pitch * rows, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		HIP(hipMemcpy2D(here, pitch, there.at, pitch, pitch - 1, rows, hipMemcpyDeviceToHost));
		CHECK(here[0] == 5 && here[pitch * rows - 2] == 5 && !here[pitch - 1]);
		munmap(here, pitch * rows);
		HIP(hipMemsetAsync(there.at, 5, pitch * rows, nullptr));
	}
	HIP(hipStreamSynchronize(nullptr));
}

static int asked(hipMemRangeAttribute what, const void *at, size_t size_B)
{
	int value = 1000;

	HIP(hipMemRangeGetAttribute(&value, sizeof(value), what, at, size_B));
	return value;
}

/* Hints for managed memory are kept by page; of a range, what holds for all of it is told. */
static void advice()
{
	const size_t page = 4096;
	hipMemRangeAttribute preferred = hipMemRangeAttributePreferredLocation,
			     accessed = hipMemRangeAttributeAccessedBy;
	int who[3];
	char *at;

	HIP(hipMallocManaged((void **)&at, 4 * page, hipMemAttachGlobal));
	CHECK_EQ(asked(preferred, at, 4 * page), hipInvalidDeviceId);
	HIP(hipMemAdvise(at + page + 100, page, hipMemAdviseSetPreferredLocation, 0));
	CHECK_EQ(asked(preferred, at + page, 2 * page), 0);
	CHECK_EQ(asked(preferred, at, 2 * page), hipInvalidDeviceId);
	CHECK_EQ(asked(preferred, at + 2 * page, 2 * page), hipInvalidDeviceId);
	HIP(hipMemAdvise(at, 4 * page, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
	CHECK_EQ(asked(preferred, at, 4 * page), hipCpuDeviceId);
	HIP(hipMemAdvise(at, 2 * page, hipMemAdviseUnsetPreferredLocation, 0));
	CHECK_EQ(asked(preferred, at, page), hipInvalidDeviceId);
	CHECK_EQ(asked(preferred, at + 2 * page, page), hipCpuDeviceId);

	HIP(hipMemAdvise(at, page, hipMemAdviseSetReadMostly, 99));
	CHECK_EQ(asked(hipMemRangeAttributeReadMostly, at, page), 1);
	CHECK_EQ(asked(hipMemRangeAttributeReadMostly, at, page + 1), 0);
	HIP(hipMemPrefetchAsync(at, page, 0, nullptr));
	CHECK_EQ(asked(hipMemRangeAttributeLastPrefetchLocation, at, page), 0);
	CHECK_EQ(asked(hipMemRangeAttributeLastPrefetchLocation, at, 2 * page), hipInvalidDeviceId);
	HIP(hipMemAdvise(at, page, hipMemAdviseSetCoarseGrain, 0));
	CHECK_EQ(asked(hipMemRangeAttributeCoherencyMode, at, page), hipMemRangeCoherencyModeCoarseGrain);
	CHECK_EQ(asked(hipMemRangeAttributeCoherencyMode, at, 2 * page), hipMemRangeCoherencyModeIndeterminate);

	HIP(hipMemAdvise(at, page, hipMemAdviseSetAccessedBy, hipCpuDeviceId));
	HIP(hipMemAdvise(at, page, hipMemAdviseSetAccessedBy, 0));
	HIP(hipMemRangeGetAttribute(who, sizeof(who), accessed, at, page));
	CHECK(who[0] == 0 && who[1] == hipCpuDeviceId && who[2] == hipInvalidDeviceId);
	HIP(hipMemRangeGetAttribute(who, sizeof(who), accessed, at, 2 * page));
	CHECK_EQ(who[0], hipInvalidDeviceId);
	CHECK_EQ(hipMemAdvise(at, page, hipMemAdviseSetAccessedBy, 99), hipErrorInvalidDevice);
	CHECK_EQ(hipMemAdvise(at, 5 * page, hipMemAdviseSetAccessedBy, 0), hipErrorInvalidValue);
	HIP(hipFree(at));
	CHECK_EQ(hipMemAdvise(at, page, hipMemAdviseSetAccessedBy, 0), hipErrorInvalidValue);
	(void)hipGetLastError();
}

/* A small copy to the device leaves pageable memory at once: the host may go on, and write it. */
static void pageable_sources()
{
	std::vector<unsigned> source(3000, 7), rows(64 * 16, 8);
	gpu_array<unsigned> to(4096);
	hipStream_t stream;
	gate gate;

	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	gate.close(stream);
	HIP(hipMemcpyAsync(to.at, source.data(), source.size() * 4, hipMemcpyHostToDevice, stream));
	HIP(hipMemcpy2DAsync(to.at + 3000, 48 * 4, rows.data(), 64 * 4, 48 * 4, 16, hipMemcpyHostToDevice, stream));
	CHECK_EQ(hipStreamQuery(stream), hipErrorNotReady);
	source.assign(source.size(), 0);
	rows.assign(rows.size(), 0);
	gate.open();
	HIP(hipStreamSynchronize(stream));
	std::vector<unsigned> got = to.read();
	unsigned wrong = 0;
	for (unsigned i = 0; i < 3000 + 48 * 16; i++)
		wrong += got[i] != (i < 3000 ? 7 : 8);
	CHECK_EQ(wrong, 0);
	HIP(hipStreamDestroy(stream));
}

/* A copy within a device is in the stream's order, and nobody waits; but for two calls. */
static void copies_within()
{
	gpu_array<char> from(256), to(256);
	hipMemcpy3DParms copy = {};
	gate gate;

	copy.srcPtr = make_hipPitchedPtr(from.at, 16, 16, 4);
	copy.dstPtr = make_hipPitchedPtr(to.at, 16, 16, 4);
	copy.extent = make_hipExtent(16, 4, 4);
	copy.kind = hipMemcpyDeviceToDevice;
	gate.close(nullptr);
	HIP(hipMemcpy3D(&copy));
	CHECK_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
	gate.open();
	HIP(hipMemcpy2D(to.at, 16, from.at, 16, 16, 16, hipMemcpyDeviceToDevice));
	HIP(hipStreamQuery(nullptr));
}

/* What is mapped piece by piece is copied and filled as one. */
static void pieces()
{
	const size_t piece = 2 << 20, count = 3;
	hipMemAllocationProp p = {};
	hipMemAccessDesc access = {};
	hipMemGenericAllocationHandle_t handle;
	std::vector<char> out(count * piece, 3), in(count * piece);
	char *at;

	p.type = hipMemAllocationTypePinned;
	p.location.type = access.location.type = hipMemLocationTypeDevice;
	access.flags = hipMemAccessFlagsProtReadWrite;
	HIP(hipMemAddressReserve((void **)&at, count * piece, 0, nullptr, 0));
	for (size_t i = 0; i < count; i++) {
		HIP(hipMemCreate(&handle, piece, &p, 0));
		HIP(hipMemMap(at + i * piece, piece, 0, handle, 0));
		HIP(hipMemRelease(handle));
	}
	HIP(hipMemSetAccess(at, count * piece, &access, 1));
	HIP(hipMemcpy(at, out.data(), count * piece, hipMemcpyHostToDevice));
	HIP(hipMemset(at + piece - 100, 4, piece + 200));
	HIP(hipMemcpy2D(in.data(), piece, at, piece, piece, count, hipMemcpyDeviceToHost));
	CHECK(in[0] == 3 && in[piece - 101] == 3 && in[piece - 100] == 4 && in[2 * piece + 99] == 4 &&
	      in[2 * piece + 100] == 3 && in[3 * piece - 1] == 3);
	CHECK_EQ(hipMemcpy(at, out.data(), count * piece + 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
	CHECK_EQ(hipMemUnmap(at, piece + 4096), hipErrorInvalidValue);
	HIP(hipMemUnmap(at, 2 * piece));
	HIP(hipMemUnmap(at + 2 * piece, piece));
	HIP(hipMemAddressFree(at, count * piece));
	p.location.id = -1;
	CHECK_EQ(hipMemCreate(&handle, piece, &p, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMemAddressReserve((void **)&at, 0, 0, nullptr, 0), hipErrorMemoryAllocation);
	(void)hipGetLastError();
}

/* Addresses that are none of what they are said to be. */
static void wrong_addresses()
{
	gpu_array<char> from(4096), to(4096);
	hip_Memcpy2D copy = {};
	hipDeviceptr_t base;
	size_t size_B;

	copy.srcMemoryType = copy.dstMemoryType = hipMemoryTypeDevice;
	copy.srcDevice = from.at;
	copy.dstDevice = to.at;
	copy.srcPitch = copy.dstPitch = copy.WidthInBytes = 64;
	copy.Height = 1;
	HIP(hipDrvMemcpy2DUnaligned(&copy));
	copy.srcY = 64; /* behind its end */
	CHECK_EQ(hipDrvMemcpy2DUnaligned(&copy), hipErrorInvalidValue);
	CHECK_EQ(hipMemGetAddressRange(&base, &size_B, nullptr), hipErrorNotFound);
	CHECK_EQ(hipMemcpyToSymbol(HIP_SYMBOL(a_variable), &size_B, 4, 0, hipMemcpyDeviceToHost),
		 hipErrorInvalidMemcpyDirection);
	CHECK_EQ(hipMemcpyFromSymbol(&size_B, HIP_SYMBOL(a_variable), 4, 0, hipMemcpyHostToDevice),
		 hipErrorInvalidMemcpyDirection);
	CHECK_EQ(hipHostRegister(&size_B, 1ull << 44, 0), hipErrorInvalidValue);
	(void)hipGetLastError();
}

/* Functions by their names: the library's own, and no others. */
static void functions_by_name()
{
	hipDriverProcAddressQueryResult result;
	hipError_t (*properties)(hipDeviceProp_t *, int);
	hipDeviceProp_t p, q;
	void *found;

	HIP(hipGetProcAddress("hipGetDeviceProperties", (void **)&properties, HIP_VERSION, 0, &result));
	CHECK_EQ(result, HIP_GET_PROC_ADDRESS_SUCCESS);
	HIP(properties(&p, 0));
	HIP(hipGetDeviceProperties(&q, 0));
	CHECK_STR(p.gcnArchName, q.gcnArchName);
	HIP(hipGetProcAddress("hipMallocAsync", &found, HIP_VERSION, 0, nullptr));
	CHECK(found);
	for (const char *name : {"malloc", "hsa_init", "hipNothing"}) {
		CHECK_EQ(hipGetProcAddress(name, &found, HIP_VERSION, 0, &result), hipErrorInvalidValue);
		CHECK(!found && result == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	}
	CHECK_EQ(hipGetProcAddress("", &found, HIP_VERSION, 0, &result), hipErrorInvalidValue);
	CHECK_EQ(hipGetProcAddress(nullptr, &found, HIP_VERSION, 0, &result), hipErrorInvalidValue);
	CHECK_EQ(hipGetProcAddress("hipMalloc", nullptr, HIP_VERSION, 0, &result), hipErrorInvalidValue);
	(void)hipGetLastError();
}

__device__ unsigned many[64];

__global__ void nothing()
{
}

/* A variable is a device's memory as any other, once its address was asked for. */
static void variables()
{
	gpu_array<unsigned> to(64);
	hipPointerAttribute_t attributes;
	hipStream_t stream;
	unsigned *at, wrong = 0;
	gate gate;

	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP(hipGetSymbolAddress((void **)&at, HIP_SYMBOL(many)));
	HIP(hipPointerGetAttributes(&attributes, at + 1));
	CHECK(attributes.type == hipMemoryTypeDevice && attributes.devicePointer == at + 1);
	HIP(hipMemset(at, 0, sizeof(many)));
	/* Which does not wait; and nor does the stream for the null stream. */
	HIP(hipDeviceSynchronize());
	gate.close(stream);
	HIP(hipMemsetD32Async((hipDeviceptr_t)at, 5, 64, stream));
	HIP(hipMemcpyAsync(to.at, at, sizeof(many), hipMemcpyDeviceToDevice, stream));
	CHECK_EQ(hipStreamQuery(stream), hipErrorNotReady);
	gate.open();
	HIP(hipStreamSynchronize(stream));
	for (unsigned value : to.read())
		wrong += value != 5;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(hipFree(at), hipErrorInvalidValue);
	HIP(hipStreamDestroy(stream));
	(void)hipGetLastError();
}

/* Memory whose synchronous copies are waited for, within a device, too. */
static void synchronous_memory()
{
	gpu_array<unsigned> from(64), to(64);
	unsigned on = 1, type = 0;
	hipArray_t array;
	bool is_on = false;
	gate gate;

	gate.close(nullptr);
	HIP(hipMemcpy(to.at, from.at, 256, hipMemcpyDeviceToDevice));
	CHECK_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
	gate.open();
	HIP(hipPointerSetAttribute(&on, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, (hipDeviceptr_t)to.at));
	HIP(hipPointerGetAttribute(&is_on, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, (hipDeviceptr_t)to.at));
	CHECK(is_on);
	HIP(hipMemcpy(to.at, from.at, 256, hipMemcpyDeviceToDevice));
	HIP(hipStreamQuery(nullptr));
	CHECK_EQ(hipPointerSetAttribute(&on, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, (hipDeviceptr_t)&on),
		 hipErrorInvalidDevicePointer);
	const hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
	HIP(hipMallocArray(&array, &desc, 16, 16, hipArrayDefault));
	HIP(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, (hipDeviceptr_t)array));
	CHECK_EQ(type, hipMemoryTypeArray);
	HIP(hipFreeArray(array));
	(void)hipGetLastError();
}

/* A linked kernel has one handle on a device. */
static void handles_of_kernels()
{
	hipFunction_t one, same;

	HIP(hipGetFuncBySymbol(&one, (const void *)nothing));
	HIP(hipGetFuncBySymbol(&same, (const void *)nothing));
	CHECK_EQ((uintptr_t)one, (uintptr_t)same);
	CHECK_EQ(hipModuleUnload(nullptr), hipErrorInvalidResourceHandle);
	CHECK_EQ(hipModuleUnload((hipModule_t)one), hipErrorNotFound);
	HIP(hipDeviceReset());
	CHECK_EQ(hipModuleLaunchKernel(one, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), hipErrorInvalidResourceHandle);
	HIP(hipGetFuncBySymbol(&same, (const void *)nothing));
	HIP(hipModuleLaunchKernel(same, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
	(void)hipGetLastError();
}

static const char at_run_time[] = R"(
extern "C" __global__ void use(float *out)
{
	float *at = (float *)malloc(8);
	hipFloatComplex c = make_hipFloatComplex(1, 2);
	hip_bfloat16 b(3.0f);
	__half h = __float2half(4.0f);

	at[0] = c.x + c.y;
	at[1] = HIP_INF_F;
	out[0] = at[0] + (float)b + __half2float(h);
	out[1] = at[1];
	out[2] = __hip_internal::is_same<size_t, unsigned long>::value;
	out[3] = sizeof(__hip_int64_t) + 10 * sizeof(__hip_uint16_t) + (__hip_int8_t)-1 + (__hip_uint8_t)-1;
	out[4] = __hip_internal::is_signed<__hip_int32_t>::value + 2 * __hip_internal::is_signed<__hip_uint32_t>::value +
		 4 * sizeof(__hip_internal::conditional<false, __hip_uint64_t, __hip_int16_t>::type);
	free(at);
})";

/* A program that is compiled at run time includes nothing for numbers of AMD's kinds, and has malloc(). */
static void compiled_at_run_time()
{
	gpu_array<float> out(5);
	hipDeviceProp_t device;
	hiprtcProgram program;
	hipFunction_t function;
	hipModule_t module;
	size_t size_B = 0;
	void *args[] = {&out.at};

	HIP(hipGetDeviceProperties(&device, 0));
	const std::string arch = std::string("--offload-arch=") + device.gcnArchName;
	const char *options[] = {arch.c_str()};

	CHECK_EQ(hiprtcCreateProgram(&program, at_run_time, "use", 0, nullptr, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 1, options), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcGetCodeSize(program, &size_B), HIPRTC_SUCCESS);
	std::vector<char> code(size_B);
	CHECK_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	HIP(hipModuleLoadData(&module, code.data()));
	HIP(hipModuleGetFunction(&function, module, "use"));
	HIP(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
	const std::vector<float> got = out.read();
	CHECK(got[0] == 10 && got[1] > 3e38f && got[2] == 1);
	CHECK(got[3] == 8 + 20 - 1 + 255 && got[4] == 1 + 8);
	HIP(hipModuleUnload(module));
}

/* What was freed can be had again, however small it was. */
static void free_memory()
{
	size_t all, before, during, after;
	void *at;

	HIP(hipMemGetInfo(&before, &all));
	HIP(hipMalloc(&at, 5000));
	HIP(hipMemGetInfo(&during, &all));
	HIP(hipFree(at));
	HIP(hipMemGetInfo(&after, &all));
	CHECK(during < before);
	CHECK_EQ(after, before);
}

/* A registration that is refused leaves the one that it would replace. */
static void refused_registration()
{
	const size_t page_B = 4096;
	char *at = (char *)mmap(nullptr, 2 * page_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hipDeviceptr_t base;
	void *there;
	size_t size_B;

	munmap(at + page_B, page_B);
	HIP(hipHostRegister(at, page_B, 0));
	CHECK_EQ(hipHostRegister(at, 2 * page_B, 0), hipErrorInvalidValue);
	HIP(hipHostGetDevicePointer(&there, at, 0));
	HIP(hipMemGetAddressRange(&base, &size_B, at));
	CHECK(base == at && size_B == page_B);
	HIP(hipMemset(there, 7, page_B));
	HIP(hipDeviceSynchronize());
	CHECK_EQ(at[page_B - 1], 7);
	HIP(hipHostUnregister(at));
	munmap(at, page_B);
	(void)hipGetLastError();
}

/* A call that fails leaves the thread's stack of contexts and the device's flags. */
static void refused_contexts()
{
	hipCtx_t first, current, more = nullptr;
	unsigned flags, pushed = 0;

	HIP(hipCtxCreate(&first, hipDeviceScheduleYield, 0));
	CHECK_EQ(hipCtxSetCurrent((hipCtx_t)&first), hipErrorInvalidContext);
	HIP(hipCtxGetCurrent(&current));
	CHECK(current == first);
	while (pushed < 1000 && !hipCtxPushCurrent(first))
		pushed++;
	CHECK(pushed < 1000);
	CHECK_EQ(hipCtxCreate(&more, hipDeviceScheduleSpin, 0), hipErrorOutOfMemory);
	HIP(hipGetDeviceFlags(&flags));
	CHECK(!more && flags == hipDeviceScheduleYield);
	while (pushed--)
		HIP(hipCtxPopCurrent(nullptr));
	HIP(hipCtxDestroy(first));
	HIP(hipSetDeviceFlags(0));
	(void)hipGetLastError();
}

int main()
{
	free_memory();
	compiled_at_run_time();
	variables();
	synchronous_memory();
	handles_of_kernels();
	functions_by_name();
	device_settings();
	null_stands_for_all();
	no_streams();
	times_that_never_come();
	registered_address();
	pitches();
	copies_and_unmapping();
	advice();
	pageable_sources();
	copies_within();
	pieces();
	wrong_addresses();
	refused_registration();
	refused_contexts();
	return check_done("rules that programs rely on");
}

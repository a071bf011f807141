/* Arrays and copies of them, textures, surfaces, references. */
#include "tests/hip/statuses.h"

#include <hip/hip_gl_interop.h>

#define NO_KIND ((hipMemcpyKind)1000)

static char *gpu;
static hipStream_t stream, old_stream;
static hipArray_t array, line, old_array;
static char host[65536];
static const hipChannelFormatDesc floats = {32, 0, 0, 0, hipChannelFormatKindFloat};

static void begin()
{
	OK(hipMalloc((void **)&gpu, 65536));
	OK(hipStreamCreate(&stream));
	OK(hipStreamCreate(&old_stream));
	OK(hipStreamDestroy(old_stream));
	OK(hipMallocArray(&array, &floats, 16, 16, hipArraySurfaceLoadStore));
	OK(hipMallocArray(&line, &floats, 16, 0, hipArrayDefault));
	OK(hipMallocArray(&old_array, &floats, 16, 16, hipArrayDefault));
	OK(hipFreeArray(old_array));
}

static void arrays()
{
	const hipChannelFormatDesc odd = {24, 0, 0, 0, hipChannelFormatKindUnsigned},
				   holes = {8, 0, 8, 0, hipChannelFormatKindUnsigned},
				   none = {0, 0, 0, 0, hipChannelFormatKindNone},
				   three = {8, 8, 8, 0, hipChannelFormatKindUnsigned};
	HIP_ARRAY_DESCRIPTOR plane = {16, 16, HIP_AD_FORMAT_FLOAT, 1};
	HIP_ARRAY3D_DESCRIPTOR volume = {16, 16, 4, HIP_AD_FORMAT_FLOAT, 1, 0};
	hipArray_t a;

	IS(hipErrorInvalidValue, hipMallocArray(NULL, &floats, 16, 16, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, NULL, 16, 16, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &floats, 0, 16, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &floats, 0, 0, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &floats, 16, 16, 0x100));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &floats, 16, 16, hipArrayCubemap));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &floats, 16, 0, hipArrayTextureGather));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &odd, 16, 16, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &holes, 16, 16, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &none, 16, 16, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &three, 16, 16, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &floats, SIZE_MAX, 16, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &floats, 16, SIZE_MAX, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&a, &floats, 16385, 16, 0));
	IS(hipErrorInvalidValue, hipMalloc3DArray(NULL, &floats, {16, 16, 4}, 0));
	IS(hipErrorInvalidValue, hipMalloc3DArray(&a, NULL, {16, 16, 4}, 0));
	IS(hipErrorInvalidValue, hipMalloc3DArray(&a, &floats, {0, 16, 4}, 0));
	IS(hipErrorInvalidValue, hipMalloc3DArray(&a, &floats, {16, 0, 4}, 0));
	IS(hipErrorInvalidValue, hipMalloc3DArray(&a, &floats, {16, 16, 4}, hipArrayTextureGather));
	IS(hipErrorInvalidValue, hipMalloc3DArray(&a, &floats, {16, 16, 0}, hipArrayLayered));
	IS(hipErrorInvalidValue, hipMalloc3DArray(&a, &floats, {16, 16, SIZE_MAX}, 0));
	IS(hipErrorInvalidValue, hipArrayCreate(NULL, &plane));
	IS(hipErrorInvalidValue, hipArrayCreate(&a, NULL));
	plane.NumChannels = 3;
	IS(hipErrorInvalidValue, hipArrayCreate(&a, &plane));
	plane.NumChannels = 1;
	plane.Width = 0;
	IS(hipErrorInvalidValue, hipArrayCreate(&a, &plane));
	IS(hipErrorInvalidValue, hipArray3DCreate(NULL, &volume));
	IS(hipErrorInvalidValue, hipArray3DCreate(&a, NULL));
	volume.Flags = 0x100;
	IS(hipErrorInvalidValue, hipArray3DCreate(&a, &volume));
	IS(hipErrorInvalidValue, hipFreeArray(NULL));
	IS(hipErrorContextIsDestroyed, hipFreeArray(old_array));
	IS(hipErrorContextIsDestroyed, hipFreeArray(made_up<hipArray_t>()));
	IS(hipErrorInvalidValue, hipArrayDestroy(NULL));
	IS(hipErrorContextIsDestroyed, hipArrayDestroy(old_array));
}

static void asked()
{
	hipChannelFormatDesc desc;
	HIP_ARRAY_DESCRIPTOR plane;
	HIP_ARRAY3D_DESCRIPTOR volume;
	hipExtent extent;
	unsigned flags;

	IS(hipErrorInvalidHandle, hipArrayGetInfo(&desc, &extent, &flags, NULL));
	IS(hipErrorInvalidHandle, hipArrayGetInfo(NULL, NULL, NULL, NULL));
	IS(hipErrorInvalidHandle, hipArrayGetInfo(&desc, &extent, &flags, old_array));
	OK(hipArrayGetInfo(NULL, NULL, NULL, array));
	IS(hipErrorInvalidHandle, hipArrayGetDescriptor(&plane, NULL));
	IS(hipErrorInvalidHandle, hipArrayGetDescriptor(NULL, NULL));
	IS(hipErrorInvalidValue, hipArrayGetDescriptor(NULL, array));
	IS(hipErrorInvalidHandle, hipArrayGetDescriptor(&plane, old_array));
	IS(hipErrorInvalidHandle, hipArray3DGetDescriptor(&volume, NULL));
	IS(hipErrorInvalidValue, hipArray3DGetDescriptor(NULL, array));
	IS(hipErrorInvalidHandle, hipArray3DGetDescriptor(&volume, old_array));
	IS(hipErrorInvalidValue, hipGetChannelDesc(NULL, array));
	IS(hipErrorInvalidHandle, hipGetChannelDesc(&desc, NULL));
}

static void planes()
{
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy2DToArray(NULL, 0, 0, NULL, 64, 64, 4, NO_KIND));
	IS(hipErrorInvalidValue, hipMemcpy2DToArray(array, 0, 0, NULL, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidPitchValue, hipMemcpy2DToArray(array, 0, 0, host, 63, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidPitchValue, hipMemcpy2DToArray(array, 0, 0, host, 0, 0, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidHandle, hipMemcpy2DToArray(NULL, 0, 0, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidHandle, hipMemcpy2DToArray(old_array, 0, 0, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2DToArray(array, 1, 0, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2DToArray(array, 0, 13, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2DToArray(array, 0, 0, host, 65, 65, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2DToArray(line, 0, 0, host, 64, 64, 2, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2DToArray(array, 0, 0, host, 64, 64, 4, hipMemcpyDeviceToDevice));
	OK(hipMemcpy2DToArray(array, 0, 0, host, 64, 0, 0, hipMemcpyHostToDevice));
	OK(hipMemcpy2DToArray(array, 0, 0, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipMemcpy2DToArrayAsync(array, 0, 0, host, 64, 64, 4, hipMemcpyHostToDevice, old_stream));
	IS(hipErrorInvalidMemcpyDirection,
	   hipMemcpy2DToArrayAsync(array, 0, 0, host, 64, 64, 4, NO_KIND, old_stream));
	IS(hipErrorInvalidHandle,
	   hipMemcpy2DToArrayAsync(NULL, 0, 0, host, 64, 64, 4, hipMemcpyHostToDevice, stream));

	IS(hipErrorInvalidMemcpyDirection, hipMemcpy2DFromArray(NULL, 64, NULL, 0, 0, 64, 4, NO_KIND));
	IS(hipErrorInvalidHandle, hipMemcpy2DFromArray(host, 64, NULL, 0, 0, 64, 4, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidHandle, hipMemcpy2DFromArray(NULL, 0, NULL, 0, 0, 64, 4, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpy2DFromArray(NULL, 64, array, 0, 0, 64, 4, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidPitchValue, hipMemcpy2DFromArray(host, 63, array, 0, 0, 64, 4, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpy2DFromArray(host, 63, array, 1, 0, 64, 4, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpy2DFromArray(host, 64, array, 0, 13, 64, 4, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue,
	   hipMemcpy2DFromArrayAsync(host, 64, array, 0, 0, 64, 4, hipMemcpyDeviceToHost, old_stream));

	IS(hipErrorInvalidValue, hipMemcpyToArray(NULL, 0, 0, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpyToArray(array, 0, 0, NULL, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpyToArray(array, 0, 0, host, 16 * 64 + 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpyFromArray(host, NULL, 0, 0, 64, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpyFromArray(NULL, array, 0, 0, 64, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpyHtoA(NULL, 0, host, 64));
	IS(hipErrorInvalidValue, hipMemcpyHtoA(array, 0, NULL, 64));
	IS(hipErrorInvalidValue, hipMemcpyHtoA(array, 0, host, 65));
	IS(hipErrorInvalidValue, hipMemcpyHtoA(array, 4, host, 64));
	IS(hipErrorInvalidValue, hipMemcpyAtoH(NULL, array, 0, 64));
	IS(hipErrorInvalidValue, hipMemcpyAtoH(host, NULL, 0, 64));
	IS(hipErrorInvalidValue, hipMemcpyAtoH(host, array, 4, 64));
#if TUFF_HIP_ABI >= 6
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy2DArrayToArray(array, 0, 0, array, 0, 0, 64, 4, NO_KIND));
	IS(hipErrorInvalidHandle,
	   hipMemcpy2DArrayToArray(NULL, 0, 0, array, 0, 0, 64, 4, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidHandle,
	   hipMemcpy2DArrayToArray(array, 0, 0, NULL, 0, 0, 64, 4, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipMemcpy2DArrayToArray(array, 0, 13, line, 0, 0, 64, 4, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue, hipMemcpyHtoAAsync(NULL, 0, host, 64, stream));
	IS(hipErrorInvalidValue, hipMemcpyAtoHAsync(NULL, array, 0, 64, stream));
	IS(hipErrorInvalidValue, hipMemcpyAtoA(NULL, 0, array, 0, 64));
	IS(hipErrorInvalidValue, hipMemcpyAtoA(array, 0, NULL, 0, 64));
	IS(hipErrorInvalidValue, hipMemcpyAtoD(NULL, array, 0, 64));
	IS(hipErrorInvalidValue, hipMemcpyAtoD(gpu, NULL, 0, 64));
	IS(hipErrorInvalidValue, hipMemcpyDtoA(array, 0, NULL, 64));
	IS(hipErrorInvalidValue, hipMemcpyDtoA(NULL, 0, gpu, 64));
#endif
}

static void boxes()
{
	hipMemcpy3DParms p = {};

	p.srcPtr = {host, 64, 64, 4};
	p.dstArray = array;
	p.extent = {16, 4, 1};
	p.kind = hipMemcpyHostToDevice;
	OK(hipMemcpy3D(&p));
	p.dstPtr = {gpu, 64, 64, 4};
	IS(hipErrorInvalidValue, hipMemcpy3D(&p)); /* an array, and memory */
	p.dstPtr = {};
	p.srcArray = line;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p.srcArray = NULL;
	p.dstPos.x = 1;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p.dstPos = {};
	p.extent.depth = 2;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p.extent.depth = 1;
	p.dstArray = NULL;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p.dstArray = old_array;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
}

static void textures()
{
	hipTextureObject_t texture, made;
	hipSurfaceObject_t surface;
	hipResourceDesc r = {}, got;
	hipResourceViewDesc view = {}, got_view;
	hipTextureDesc how = {}, got_how;

	r.resType = hipResourceTypeArray;
	r.res.array.array = array;
	OK(hipCreateTextureObject(&made, &r, &how, NULL));
	IS(hipErrorInvalidValue, hipCreateTextureObject(NULL, &r, &how, NULL));
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, NULL, &how, NULL));
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, NULL, NULL));
	how.maxAnisotropy = 4;
	IS(hipErrorNotSupported, hipCreateTextureObject(&texture, &r, &how, NULL));
	how.maxAnisotropy = 0;
	how.mipmapLevelBias = 1;
	IS(hipErrorNotSupported, hipCreateTextureObject(&texture, &r, &how, NULL));
	how.mipmapLevelBias = 0;
	r.res.array.array = NULL;
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, NULL));
	IS(hipErrorInvalidValue, hipCreateSurfaceObject(&surface, &r));
	r.res.array.array = old_array;
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, NULL));
	IS(hipErrorInvalidValue, hipCreateSurfaceObject(&surface, &r));
	r.resType = hipResourceTypeMipmappedArray;
	IS(hipErrorNotSupported, hipCreateTextureObject(&texture, &r, &how, NULL));
	r = {};
	r.resType = hipResourceTypeLinear;
	r.res.linear.desc = floats;
	r.res.linear.sizeInBytes = 1024;
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, NULL));
	r.res.linear.devPtr = gpu + 4;
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, NULL));
	r.res.linear.devPtr = gpu;
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, &view));
	IS(hipErrorInvalidValue, hipCreateSurfaceObject(&surface, &r));
	r.res.linear.sizeInBytes = SIZE_MAX;
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, NULL));
	r = {};
	r.resType = hipResourceTypePitch2D;
	r.res.pitch2D = {gpu, floats, 16, 16, 100};
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, NULL));
	r.res.pitch2D = {NULL, floats, 16, 16, 256};
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, NULL));
	r.res.pitch2D = {gpu, floats, 16384, 16, 65536};
	IS(hipErrorInvalidValue, hipCreateTextureObject(&texture, &r, &how, NULL));

	IS(hipErrorInvalidValue, hipGetTextureObjectResourceDesc(NULL, made));
	IS(hipErrorInvalidValue, hipGetTextureObjectResourceDesc(&got, NULL));
	IS(hipErrorInvalidValue, hipGetTextureObjectResourceViewDesc(NULL, made));
	IS(hipErrorInvalidValue, hipGetTextureObjectResourceViewDesc(&got_view, NULL));
	IS(hipErrorInvalidValue, hipGetTextureObjectTextureDesc(NULL, made));
	IS(hipErrorInvalidValue, hipGetTextureObjectTextureDesc(&got_how, NULL));
	OK(hipDestroyTextureObject(NULL));
	OK(hipDestroyTextureObject(made));
	IS(hipErrorInvalidValue, hipDestroyTextureObject(made));

	r = {};
	r.resType = hipResourceTypeArray;
	r.res.array.array = array;
	IS(hipErrorInvalidValue, hipCreateSurfaceObject(NULL, &r));
	IS(hipErrorInvalidValue, hipCreateSurfaceObject(&surface, NULL));
	OK(hipCreateSurfaceObject(&surface, &r));
	OK(hipDestroySurfaceObject(NULL));
	OK(hipDestroySurfaceObject(surface));
	IS(hipErrorInvalidValue, hipDestroySurfaceObject(surface));

	HIP_RESOURCE_DESC driver = {};
	HIP_TEXTURE_DESC driver_how = {};
	HIP_RESOURCE_VIEW_DESC driver_view;
	IS(hipErrorInvalidValue, hipTexObjectCreate(NULL, &driver, &driver_how, NULL));
	IS(hipErrorInvalidValue, hipTexObjectCreate(&texture, NULL, &driver_how, NULL));
	IS(hipErrorInvalidValue, hipTexObjectCreate(&texture, &driver, NULL, NULL));
	IS(hipErrorInvalidValue, hipTexObjectCreate(&texture, &driver, &driver_how, NULL));
	OK(hipTexObjectDestroy(NULL));
	IS(hipErrorInvalidValue, hipTexObjectGetResourceDesc(&driver, NULL));
	IS(hipErrorInvalidValue, hipTexObjectGetResourceViewDesc(&driver_view, NULL));
	IS(hipErrorInvalidValue, hipTexObjectGetTextureDesc(&driver_how, NULL));
}

static void references()
{
	textureReference elsewhere = {};
	const textureReference *found;
	hipTextureFilterMode filter;
	hipTextureAddressMode mode;
	hipArray_Format format;
	hipDeviceptr_t at;
	unsigned flags;
	size_t offset;
	int channels;

	IS(hipErrorInvalidValue, hipGetTextureReference(NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipGetTextureAlignmentOffset(NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipGetTextureAlignmentOffset(&offset, NULL));
	OK(hipGetTextureReference(&found, &elsewhere));
	IS(hipErrorInvalidValue, hipUnbindTexture(NULL));
	IS(hipErrorInvalidValue, hipBindTextureToArray(NULL, array, &floats));
	IS(hipErrorInvalidValue, hipBindTextureToArray(&elsewhere, NULL, &floats));
	IS(hipErrorInvalidValue, hipBindTextureToArray(&elsewhere, array, NULL));
	IS(hipErrorInvalidSymbol, hipBindTextureToArray(&elsewhere, array, &floats));
	IS(hipErrorInvalidSymbol, hipBindTexture(&offset, &elsewhere, gpu, &floats, 64));
	IS(hipErrorInvalidSymbol, hipBindTexture2D(&offset, &elsewhere, gpu, &floats, 16, 16, 256));
	IS(hipErrorInvalidValue, hipTexRefSetFormat(NULL, HIP_AD_FORMAT_FLOAT, 1));
	IS(hipErrorInvalidValue, hipTexRefGetFormat(NULL, &channels, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetFormat(&format, NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetFormat(&format, &channels, NULL));
	IS(hipErrorInvalidValue, hipTexRefSetFlags(NULL, 0));
	IS(hipErrorInvalidValue, hipTexRefGetFlags(NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetFlags(&flags, NULL));
	IS(hipErrorInvalidValue, hipTexRefSetFilterMode(NULL, hipFilterModePoint));
	IS(hipErrorInvalidValue, hipTexRefGetFilterMode(NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetFilterMode(&filter, NULL));
	IS(hipErrorInvalidValue, hipTexRefSetAddressMode(NULL, 0, hipAddressModeWrap));
	IS(hipErrorInvalidValue, hipTexRefSetAddressMode(&elsewhere, 3, hipAddressModeWrap));
	IS(hipErrorInvalidValue, hipTexRefSetAddressMode(&elsewhere, -1, hipAddressModeWrap));
	IS(hipErrorInvalidValue, hipTexRefGetAddressMode(NULL, &elsewhere, 0));
	IS(hipErrorInvalidValue, hipTexRefGetAddressMode(&mode, NULL, 0));
	IS(hipErrorInvalidValue, hipTexRefGetAddressMode(&mode, &elsewhere, 2));
	IS(hipErrorInvalidValue, hipTexRefGetAddress(NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetAddress(&at, NULL));
	IS(hipErrorInvalidValue, hipTexRefGetAddress(&at, &elsewhere)); /* nothing is bound */
	IS(hipErrorInvalidValue, hipTexRefSetAddress(&offset, NULL, gpu, 64));
	IS(hipErrorInvalidValue, hipTexRefSetAddress2D(NULL, NULL, gpu, 256));
	IS(hipErrorInvalidValue, hipTexRefSetArray(NULL, array, HIP_TRSA_OVERRIDE_FORMAT));
	IS(hipErrorInvalidValue, hipTexRefSetArray(&elsewhere, NULL, HIP_TRSA_OVERRIDE_FORMAT));
	IS(hipErrorInvalidValue, hipTexRefSetArray(&elsewhere, array, 0));
}

/* There are no arrays with levels, and references remember alone. */
static void levels()
{
	const hipChannelFormatDesc none = {0, 0, 0, 0, hipChannelFormatKindNone};
	HIP_ARRAY3D_DESCRIPTOR volume = {16, 16, 4, HIP_AD_FORMAT_FLOAT, 1, 0};
	textureReference elsewhere = {};
	hipMipmappedArray_t levels;
	hipTextureFilterMode filter;
	float low, high, color[4];
	hipArray_t level;
	int most;

	IS(hipErrorInvalidValue, hipMallocMipmappedArray(NULL, &floats, {16, 16, 0}, 2, 0));
	IS(hipErrorInvalidValue, hipMallocMipmappedArray(&levels, NULL, {16, 16, 0}, 2, 0));
	IS(hipErrorInvalidValue, hipMallocMipmappedArray(&levels, &none, {16, 16, 0}, 2, 0));
	IS(hipErrorNotSupported, hipMallocMipmappedArray(&levels, &floats, {16, 16, 0}, 2, 0));
	IS(hipErrorNotSupported, hipMipmappedArrayCreate(&levels, &volume, 2));
	IS(hipErrorNotSupported, hipMipmappedArrayCreate(NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipFreeMipmappedArray(NULL));
	IS(hipErrorInvalidValue, hipFreeMipmappedArray(made_up<hipMipmappedArray_t>()));
	IS(hipErrorInvalidValue, hipMipmappedArrayDestroy(NULL));
	IS(hipErrorInvalidValue, hipGetMipmappedArrayLevel(NULL, NULL, 0));
	IS(hipErrorInvalidHandle, hipGetMipmappedArrayLevel(&level, NULL, 0));
	IS(hipErrorInvalidValue, hipMipmappedArrayGetLevel(NULL, NULL, 0));
	IS(hipErrorInvalidHandle, hipMipmappedArrayGetLevel(&level, NULL, 0));

	IS(hipErrorInvalidValue, hipBindTextureToMipmappedArray(NULL, NULL, &floats));
	IS(hipErrorInvalidValue, hipBindTextureToMipmappedArray(&elsewhere, NULL, &floats));
	IS(hipErrorInvalidValue, hipTexRefSetMipmappedArray(NULL, NULL, HIP_TRSA_OVERRIDE_FORMAT));
	IS(hipErrorInvalidValue, hipTexRefSetMipmappedArray(&elsewhere, NULL, HIP_TRSA_OVERRIDE_FORMAT));
	IS(hipErrorInvalidValue, hipTexRefSetBorderColor(NULL, color));
	IS(hipErrorInvalidValue, hipTexRefSetBorderColor(&elsewhere, NULL));
	IS(hipErrorInvalidValue, hipTexRefSetMaxAnisotropy(NULL, 1));
	IS(hipErrorInvalidValue, hipTexRefGetMaxAnisotropy(NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetMaxAnisotropy(&most, NULL));
	IS(hipErrorInvalidValue, hipTexRefSetMipmapFilterMode(NULL, hipFilterModePoint));
	IS(hipErrorInvalidValue, hipTexRefGetMipmapFilterMode(NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetMipmapFilterMode(&filter, NULL));
	IS(hipErrorInvalidValue, hipTexRefSetMipmapLevelBias(NULL, 1));
	IS(hipErrorInvalidValue, hipTexRefGetMipmapLevelBias(NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetMipmapLevelBias(&low, NULL));
	IS(hipErrorInvalidValue, hipTexRefSetMipmapLevelClamp(NULL, 0, 1));
	IS(hipErrorInvalidValue, hipTexRefGetMipmapLevelClamp(NULL, &high, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetMipmapLevelClamp(&low, NULL, &elsewhere));
	IS(hipErrorInvalidValue, hipTexRefGetMipmapLevelClamp(&low, &high, NULL));
	OK(hipTexRefSetMaxAnisotropy(&elsewhere, 4));
	OK(hipTexRefGetMaxAnisotropy(&most, &elsewhere));
	CHECK(most == 4);
	OK(hipTexRefSetMipmapFilterMode(&elsewhere, hipFilterModeLinear));
	OK(hipTexRefSetMipmapLevelBias(&elsewhere, 1));
	OK(hipTexRefSetMipmapLevelClamp(&elsewhere, 1, 2));
	OK(hipTexRefGetMipmapLevelClamp(&low, &high, &elsewhere));
	CHECK(low == 1 && high == 2);
}

/* No program of these has OpenGL. */
static void graphics()
{
	hipGraphicsResource_t resource = NULL;
	unsigned count;
	size_t size;
	int devices;
	hipArray_t a;
	void *at;

	IS(hipErrorInvalidValue, hipGLGetDevices(NULL, &devices, 1, hipGLDeviceListAll));
	IS(hipErrorInvalidValue, hipGLGetDevices(&count, NULL, 1, hipGLDeviceListAll));
	IS(hipErrorInvalidValue, hipGLGetDevices(&count, &devices, 0, hipGLDeviceListAll));
	IS(hipErrorNotSupported, hipGLGetDevices(&count, &devices, 1, hipGLDeviceListNextFrame));
	IS(hipErrorInvalidValue, hipGraphicsGLRegisterBuffer(NULL, 0, 0));
	IS(hipErrorInvalidValue, hipGraphicsGLRegisterBuffer(&resource, 0, 16));
	IS(hipErrorInvalidValue, hipGraphicsGLRegisterImage(NULL, 0, 0, 0));
	IS(hipErrorInvalidValue, hipGraphicsGLRegisterImage(&resource, 0, 0, 16));
	IS(hipErrorUnknown, hipGraphicsMapResources(1, &resource, stream));
	IS(hipErrorContextIsDestroyed, hipGraphicsUnmapResources(1, &resource, old_stream));
	IS(hipErrorInvalidValue, hipGraphicsSubResourceGetMappedArray(NULL, resource, 0, 0));
	IS(hipErrorInvalidValue, hipGraphicsSubResourceGetMappedArray(&a, NULL, 0, 0));
	IS(hipErrorUnknown, hipGraphicsResourceGetMappedPointer(&at, &size, NULL));
	IS(hipErrorInvalidValue, hipGraphicsUnregisterResource(NULL));
}

STATUSES("statuses: images", begin, arrays, asked, planes, boxes, textures, references, levels, graphics)

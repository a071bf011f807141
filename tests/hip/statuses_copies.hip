/* Copies and fills: of bytes, rows and boxes, of variables, between devices. Arrays: statuses_images.hip. */
#include "tests/hip/statuses.h"

#define BYTES 65536
#define NO_KIND ((hipMemcpyKind)1000)

static char *gpu, *gpu2, *freed, *pinned;
static hipStream_t stream, old_stream;
static int devices;
static char host[BYTES], host2[BYTES];

__device__ int variable[16];

static void begin()
{
	OK(hipGetDeviceCount(&devices));
	OK(hipMalloc((void **)&gpu, BYTES));
	OK(hipMalloc((void **)&gpu2, BYTES));
	OK(hipMalloc((void **)&freed, BYTES));
	OK(hipFree(freed));
	OK(hipHostMalloc((void **)&pinned, BYTES, 0));
	OK(hipStreamCreate(&stream));
	OK(hipStreamCreate(&old_stream));
	OK(hipStreamDestroy(old_stream));
}

static void bytes()
{
	OK(hipMemcpy(NULL, NULL, 0, hipMemcpyDefault));
	OK(hipMemcpy(gpu, host, 0, NO_KIND));
	IS(hipErrorInvalidValue, hipMemcpy(NULL, host, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy(gpu, NULL, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy(NULL, NULL, 4, NO_KIND));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy(gpu, host, 4, NO_KIND));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy(gpu, host, 4, (hipMemcpyKind)-1));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy(gpu, host, 4, (hipMemcpyKind)5));
	IS(hipErrorInvalidValue, hipMemcpy(gpu, host, BYTES + 1, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy(gpu + 1, host, BYTES, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy(host, gpu, BYTES + 1, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpy(host, gpu, SIZE_MAX, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpy(gpu, gpu2, BYTES + 1, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue, hipMemcpy(host, host2, 4, hipMemcpyHostToDevice)); /* no device's */
	IS(hipErrorInvalidValue, hipMemcpy(host, host2, 4, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpy(host, host2, 4, hipMemcpyDeviceToDevice));
	OK(hipMemcpy(host, host2, 4, hipMemcpyHostToHost));
	OK(hipMemcpy(host, host2, 4, hipMemcpyDefault));
	OK(hipMemcpy(gpu, gpu2, 4, hipMemcpyHostToHost)); /* what is what the addresses say */
	OK(hipMemcpy(gpu, host, 4, hipMemcpyDeviceToHost));
	OK(hipMemcpy(gpu, gpu, 4, hipMemcpyDefault));

	IS(hipErrorInvalidMemcpyDirection, hipMemcpyAsync(NULL, NULL, 4, NO_KIND, stream));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpyAsync(gpu, host, 0, NO_KIND, stream));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpyAsync(gpu, host, 4, NO_KIND, old_stream));
	IS(hipErrorInvalidValue, hipMemcpyAsync(NULL, host, 4, hipMemcpyHostToDevice, stream));
	IS(hipErrorInvalidValue, hipMemcpyAsync(gpu, NULL, 4, hipMemcpyHostToDevice, stream));
	IS(hipErrorInvalidValue, hipMemcpyAsync(gpu, host, BYTES + 1, hipMemcpyHostToDevice, stream));
	IS(hipErrorInvalidValue, hipMemcpyAsync(host, host2, 4, hipMemcpyHostToDevice, stream));
	IS(hipErrorContextIsDestroyed, hipMemcpyAsync(gpu, host, 4, hipMemcpyHostToDevice, old_stream));
	IS(hipErrorContextIsDestroyed, hipMemcpyAsync(NULL, NULL, 0, hipMemcpyHostToDevice, old_stream));
	OK(hipMemcpyAsync(NULL, NULL, 0, hipMemcpyHostToDevice, stream));
	IS(hipErrorContextIsDestroyed, hipMemcpyWithStream(gpu, host, 4, NO_KIND, old_stream));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpyWithStream(gpu, host, 4, NO_KIND, stream));
	IS(hipErrorInvalidValue, hipMemcpyWithStream(NULL, host, 4, hipMemcpyHostToDevice, stream));
	OK(hipMemcpyWithStream(NULL, NULL, 0, NO_KIND, stream));

	IS(hipErrorInvalidValue, hipMemcpyHtoD(NULL, host, 4));
	IS(hipErrorInvalidValue, hipMemcpyHtoD(gpu, NULL, 4));
	IS(hipErrorInvalidValue, hipMemcpyHtoD(gpu, host, BYTES + 1));
	IS(hipErrorInvalidValue, hipMemcpyHtoD(host2, host, 4));
	OK(hipMemcpyHtoD(NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipMemcpyDtoH(NULL, gpu, 4));
	IS(hipErrorInvalidValue, hipMemcpyDtoH(host, NULL, 4));
	IS(hipErrorInvalidValue, hipMemcpyDtoH(host, host2, 4));
	IS(hipErrorInvalidValue, hipMemcpyDtoD(NULL, gpu, 4));
	IS(hipErrorInvalidValue, hipMemcpyDtoD(gpu, NULL, 4));
	IS(hipErrorInvalidValue, hipMemcpyDtoD(gpu, gpu2, BYTES + 1));
	IS(hipErrorInvalidValue, hipMemcpyHtoDAsync(NULL, host, 4, stream));
	IS(hipErrorInvalidValue, hipMemcpyHtoDAsync(gpu, NULL, 4, stream));
	IS(hipErrorContextIsDestroyed, hipMemcpyHtoDAsync(gpu, host, 4, old_stream));
	IS(hipErrorInvalidValue, hipMemcpyDtoHAsync(NULL, gpu, 4, stream));
	IS(hipErrorContextIsDestroyed, hipMemcpyDtoHAsync(host, gpu, 4, old_stream));
	IS(hipErrorInvalidValue, hipMemcpyDtoDAsync(NULL, gpu, 4, stream));
	IS(hipErrorContextIsDestroyed, hipMemcpyDtoDAsync(gpu, gpu2, 4, old_stream));
	OK(hipMemcpyDtoDAsync(NULL, NULL, 0, stream));
}

static void between_devices()
{
	IS(hipErrorInvalidDevice, hipMemcpyPeer(gpu, devices, gpu2, 0, 4));
	IS(hipErrorInvalidDevice, hipMemcpyPeer(gpu, 0, gpu2, devices, 4));
	IS(hipErrorInvalidDevice, hipMemcpyPeer(gpu, -1, gpu2, 0, 4));
	IS(hipErrorInvalidDevice, hipMemcpyPeer(NULL, 0, NULL, -1, 0));
	IS(hipErrorInvalidValue, hipMemcpyPeer(NULL, 0, gpu2, 0, 4));
	IS(hipErrorInvalidValue, hipMemcpyPeer(gpu, 0, NULL, 0, 4));
	IS(hipErrorInvalidValue, hipMemcpyPeer(gpu, 0, gpu2, 0, BYTES + 1));
	OK(hipMemcpyPeer(gpu, 0, gpu2, 0, 0));
	IS(hipErrorInvalidDevice, hipMemcpyPeerAsync(gpu, devices, gpu2, 0, 4, stream));
	IS(hipErrorInvalidDevice, hipMemcpyPeerAsync(gpu, 0, gpu2, -1, 4, old_stream));
	IS(hipErrorContextIsDestroyed, hipMemcpyPeerAsync(gpu, 0, gpu2, 0, 4, old_stream));
	IS(hipErrorContextIsDestroyed, hipMemcpyPeerAsync(NULL, 0, NULL, 0, 0, old_stream));
	IS(hipErrorInvalidValue, hipMemcpyPeerAsync(NULL, 0, gpu2, 0, 4, stream));
	IS(hipErrorInvalidValue, hipMemcpyPeerAsync(gpu, 0, gpu2, 0, BYTES + 1, stream));
}

static void rows()
{
	OK(hipMemcpy2D(NULL, 0, NULL, 0, 0, 4, hipMemcpyDefault));
	OK(hipMemcpy2D(NULL, 64, NULL, 64, 64, 0, hipMemcpyDefault));
	/* Rows between rows, and the same ones, but none that share bytes. */
	OK(hipMemcpy2D(gpu, 64, gpu + 32, 64, 32, 4, hipMemcpyDeviceToDevice));
	OK(hipMemcpy2D(gpu, 64, gpu, 64, 32, 4, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2D(gpu, 64, gpu + 31, 64, 32, 4, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2D(gpu + 3 * 64 + 33, 64, gpu, 64, 32, 5, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy2D(gpu, 64, host, 64, 0, 0, NO_KIND));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy2D(gpu, 64, host, 64, 64, 4, NO_KIND));
	IS(hipErrorInvalidPitchValue, hipMemcpy2D(gpu, 63, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidPitchValue, hipMemcpy2D(gpu, 64, host, 63, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidPitchValue, hipMemcpy2D(NULL, 0, NULL, 0, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2D(NULL, 64, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2D(gpu, 64, NULL, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2D(NULL, 64, gpu, 64, 64, 4, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpy2D(gpu, 64, gpu2, 64, 64, BYTES, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2D(gpu, 64, host, 64, 64, BYTES, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2D(host2, 64, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2D(gpu, SIZE_MAX, host, 64, 64, 4, hipMemcpyHostToDevice));

	IS(hipErrorInvalidMemcpyDirection, hipMemcpy2DAsync(gpu, 64, host, 64, 64, 4, NO_KIND, old_stream));
	IS(hipErrorInvalidValue, hipMemcpy2DAsync(gpu, 64, host, 64, 64, 4, hipMemcpyHostToDevice, old_stream));
	IS(hipErrorInvalidValue, hipMemcpy2DAsync(NULL, 0, NULL, 0, 0, 0, hipMemcpyHostToDevice, old_stream));
	IS(hipErrorInvalidPitchValue, hipMemcpy2DAsync(gpu, 63, host, 64, 64, 4, hipMemcpyHostToDevice, stream));
	IS(hipErrorInvalidValue, hipMemcpy2DAsync(NULL, 64, host, 64, 64, 4, hipMemcpyHostToDevice, stream));
	OK(hipMemcpy2DAsync(NULL, 0, NULL, 0, 0, 4, hipMemcpyHostToDevice, stream));
}

static hip_Memcpy2D of_rows()
{
	hip_Memcpy2D d = {};

	d.srcMemoryType = hipMemoryTypeHost;
	d.srcHost = host;
	d.srcPitch = 64;
	d.dstMemoryType = hipMemoryTypeDevice;
	d.dstDevice = gpu;
	d.dstPitch = 64;
	d.WidthInBytes = 64;
	d.Height = 4;
	return d;
}

static void described_rows()
{
	hip_Memcpy2D d = of_rows();

	IS(hipErrorInvalidValue, hipMemcpyParam2D(NULL));
	IS(hipErrorInvalidValue, hipMemcpyParam2DAsync(NULL, stream));
	IS(hipErrorInvalidValue, hipDrvMemcpy2DUnaligned(NULL));
	IS(hipErrorContextIsDestroyed, hipMemcpyParam2DAsync(&d, old_stream));
	OK(hipMemcpyParam2D(&d));
	d.srcHost = NULL;
	IS(hipErrorInvalidValue, hipMemcpyParam2D(&d));
	IS(hipErrorInvalidValue, hipDrvMemcpy2DUnaligned(&d));
	d.WidthInBytes = 0;
	OK(hipMemcpyParam2D(&d));
	IS(hipErrorContextIsDestroyed, hipMemcpyParam2DAsync(&d, old_stream));
	d = of_rows();
	d.dstDevice = NULL;
	IS(hipErrorInvalidValue, hipMemcpyParam2D(&d));
	d = of_rows();
	d.dstPitch = 63;
	IS(hipErrorInvalidValue, hipMemcpyParam2D(&d));
	d = of_rows();
	d.srcPitch = 63;
	IS(hipErrorInvalidValue, hipMemcpyParam2D(&d));
	d = of_rows();
	d.Height = BYTES;
	IS(hipErrorInvalidValue, hipMemcpyParam2D(&d));
	d = of_rows();
	d.dstY = BYTES;
	IS(hipErrorInvalidValue, hipMemcpyParam2D(&d));
	d = of_rows();
	d.dstDevice = host2;
	IS(hipErrorInvalidValue, hipMemcpyParam2D(&d));
	d = of_rows();
	d.srcMemoryType = (hipMemoryType)1000;
	IS(hipErrorInvalidValue, hipMemcpyParam2D(&d));
}

static hipMemcpy3DParms of_boxes()
{
	hipMemcpy3DParms p = {};

	p.srcPtr = {host, 64, 64, 4};
	p.dstPtr = {gpu, 64, 64, 4};
	p.extent = {64, 4, 2};
	p.kind = hipMemcpyHostToDevice;
	return p;
}

static void boxes()
{
	hipMemcpy3DParms p = of_boxes();

	IS(hipErrorInvalidValue, hipMemcpy3D(NULL));
	IS(hipErrorInvalidValue, hipMemcpy3DAsync(NULL, stream));
	IS(hipErrorInvalidValue, hipMemcpy3DAsync(NULL, old_stream));
	IS(hipErrorContextIsDestroyed, hipMemcpy3DAsync(&p, old_stream));
	OK(hipMemcpy3D(&p));
	p.srcPtr.ptr = NULL;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.dstPtr.ptr = NULL;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.srcPtr.pitch = 63;
	IS(hipErrorInvalidPitchValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.dstPtr.pitch = 0;
	IS(hipErrorInvalidPitchValue, hipMemcpy3D(&p));
	IS(hipErrorInvalidPitchValue, hipMemcpy3DAsync(&p, old_stream));
	p = of_boxes();
	p.srcPtr.pitch = INT_MAX;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.extent.width = 65;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.dstPos.x = 1;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.dstPos.z = BYTES;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.extent.depth = BYTES;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	/* The rows of one slice would be those of the next. */
	p = of_boxes();
	p.dstPtr.ysize = 3;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.srcPtr.ysize = 1;
	IS(hipErrorInvalidValue, hipMemcpy3DAsync(&p, stream));
	p = of_boxes();
	p.kind = NO_KIND;
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy3D(&p));
	p = of_boxes();
	p.dstPtr.ptr = host2;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.extent = {0, 0, 0};
	OK(hipMemcpy3D(&p));
	p.srcPtr.ptr = NULL;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p = of_boxes();
	p.extent = {};
	p.kind = NO_KIND;
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy3D(&p));
}

/* A position in another allocation than the one that the structure names. */
static void boxes_beside()
{
	hipMemcpy3DParms p = of_boxes();
	char *first, *second;

	OK(hipMalloc((void **)&first, 4096));
	OK(hipMalloc((void **)&second, 4096));
	if (first > second) {
		char *swapped = first;

		first = second;
		second = swapped;
	}
	p.dstPtr.ptr = first;
	p.dstPos.z = (second - first) / (64 * 4);
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	p.dstPos.z = 4096 / (64 * 4) - 2;
	OK(hipMemcpy3D(&p));
	p.dstPos.z = 4096 / (64 * 4) - 1;
	IS(hipErrorInvalidValue, hipMemcpy3D(&p));
	OK(hipFree(first));
	OK(hipFree(second));
}

static HIP_MEMCPY3D of_described_boxes()
{
	HIP_MEMCPY3D d = {};

	d.srcMemoryType = hipMemoryTypeHost;
	d.srcHost = host;
	d.srcPitch = 64;
	d.srcHeight = 4;
	d.dstMemoryType = hipMemoryTypeDevice;
	d.dstDevice = gpu;
	d.dstPitch = 64;
	d.dstHeight = 4;
	d.WidthInBytes = 64;
	d.Height = 4;
	d.Depth = 2;
	return d;
}

static void described_boxes()
{
	HIP_MEMCPY3D d = of_described_boxes();

	IS(hipErrorInvalidValue, hipDrvMemcpy3D(NULL));
	IS(hipErrorInvalidValue, hipDrvMemcpy3DAsync(NULL, stream));
	IS(hipErrorInvalidValue, hipDrvMemcpy3DAsync(NULL, old_stream));
	IS(hipErrorContextIsDestroyed, hipDrvMemcpy3DAsync(&d, old_stream));
	OK(hipDrvMemcpy3D(&d));
	d.srcHost = NULL;
	IS(hipErrorInvalidValue, hipDrvMemcpy3D(&d));
	d = of_described_boxes();
	d.dstDevice = NULL;
	IS(hipErrorInvalidValue, hipDrvMemcpy3D(&d));
	d.Depth = 0;
	OK(hipDrvMemcpy3D(&d));
	IS(hipErrorContextIsDestroyed, hipDrvMemcpy3DAsync(&d, old_stream));
	d = of_described_boxes();
	d.dstPitch = 63;
	IS(hipErrorInvalidValue, hipDrvMemcpy3D(&d));
	d = of_described_boxes();
	d.dstHeight = 3;
	IS(hipErrorInvalidValue, hipDrvMemcpy3D(&d));
	d = of_described_boxes();
	d.dstZ = BYTES;
	IS(hipErrorInvalidValue, hipDrvMemcpy3D(&d));
	d = of_described_boxes();
	d.dstMemoryType = (hipMemoryType)1000;
	IS(hipErrorInvalidValue, hipDrvMemcpy3D(&d));
}

static void variables()
{
	const void *there = variable;
	size_t size_B;
	void *at;

	IS(hipErrorInvalidMemcpyDirection, hipMemcpyToSymbol(there, host, 4, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpyToSymbol(NULL, NULL, 4, 0, NO_KIND));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpyToSymbol(there, host, 4, 0, hipMemcpyHostToHost));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpyToSymbol(there, host, 4, 0, hipMemcpyDefault));
	IS(hipErrorInvalidSymbol, hipMemcpyToSymbol(NULL, host, 4, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidSymbol, hipMemcpyToSymbol(host, host, 4, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpyToSymbol(there, NULL, 4, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpyToSymbol(there, host, 65, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpyToSymbol(there, host, 4, 61, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpyToSymbol(there, host, 4, SIZE_MAX, hipMemcpyHostToDevice));
	OK(hipMemcpyToSymbol(there, NULL, 0, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpyFromSymbol(host, there, 4, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpyFromSymbol(host, there, 4, 0, hipMemcpyDefault));
	IS(hipErrorInvalidSymbol, hipMemcpyFromSymbol(host, NULL, 4, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidSymbol, hipMemcpyFromSymbol(host, host, 4, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpyFromSymbol(NULL, there, 4, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemcpyFromSymbol(host, there, 65, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidMemcpyDirection,
	   hipMemcpyToSymbolAsync(there, host, 4, 0, hipMemcpyDeviceToHost, old_stream));
	IS(hipErrorInvalidSymbol, hipMemcpyToSymbolAsync(NULL, host, 4, 0, hipMemcpyHostToDevice, stream));
	IS(hipErrorInvalidSymbol, hipMemcpyToSymbolAsync(NULL, host, 4, 0, hipMemcpyHostToDevice, old_stream));
	IS(hipErrorInvalidValue, hipMemcpyToSymbolAsync(there, host, 65, 0, hipMemcpyHostToDevice, stream));
	IS(hipErrorInvalidValue, hipMemcpyToSymbolAsync(there, NULL, 4, 0, hipMemcpyHostToDevice, stream));
	IS(hipErrorContextIsDestroyed,
	   hipMemcpyToSymbolAsync(there, host, 4, 0, hipMemcpyHostToDevice, old_stream));
	IS(hipErrorInvalidValue, hipMemcpyFromSymbolAsync(NULL, there, 4, 0, hipMemcpyDeviceToHost, stream));
	IS(hipErrorInvalidSymbol, hipMemcpyFromSymbolAsync(host, NULL, 4, 0, hipMemcpyDeviceToHost, stream));
	IS(hipErrorContextIsDestroyed,
	   hipMemcpyFromSymbolAsync(host, there, 4, 0, hipMemcpyDeviceToHost, old_stream));
	IS(hipErrorInvalidValue, hipGetSymbolAddress(NULL, there));
	IS(hipErrorInvalidSymbol, hipGetSymbolAddress(&at, NULL));
	IS(hipErrorInvalidSymbol, hipGetSymbolAddress(&at, host));
	IS(hipErrorInvalidValue, hipGetSymbolSize(NULL, there));
	IS(hipErrorInvalidSymbol, hipGetSymbolSize(&size_B, NULL));
	IS(hipErrorInvalidSymbol, hipGetSymbolSize(&size_B, host));
}

static void fills()
{
	OK(hipMemset(NULL, 0, 0));
	IS(hipErrorInvalidValue, hipMemset(NULL, 0, 4));
	IS(hipErrorInvalidValue, hipMemset(host, 0, 4));
	IS(hipErrorInvalidValue, hipMemset(gpu, 0, BYTES + 1));
	IS(hipErrorInvalidValue, hipMemset(gpu + 1, 0, BYTES));
	IS(hipErrorInvalidValue, hipMemset(gpu, 0, SIZE_MAX));
	IS(hipErrorInvalidValue, hipMemset(freed, 0, 4));
	OK(hipMemsetAsync(NULL, 0, 0, stream));
	IS(hipErrorInvalidValue, hipMemsetAsync(NULL, 0, 4, stream));
	IS(hipErrorInvalidValue, hipMemsetAsync(host, 0, 4, stream));
	IS(hipErrorContextIsDestroyed, hipMemsetAsync(gpu, 0, 4, old_stream));
	IS(hipErrorInvalidValue, hipMemsetD8(NULL, 0, 4));
	IS(hipErrorInvalidValue, hipMemsetD8(gpu, 0, BYTES + 1));
	IS(hipErrorInvalidValue, hipMemsetD16(NULL, 0, 4));
	IS(hipErrorInvalidValue, hipMemsetD16(gpu, 0, BYTES / 2 + 1));
	IS(hipErrorInvalidValue, hipMemsetD32(NULL, 0, 4));
	IS(hipErrorInvalidValue, hipMemsetD32(gpu, 0, BYTES / 4 + 1));
	IS(hipErrorInvalidValue, hipMemsetD8Async(NULL, 0, 4, stream));
	IS(hipErrorInvalidValue, hipMemsetD16Async(NULL, 0, 4, stream));
	IS(hipErrorInvalidValue, hipMemsetD32Async(NULL, 0, 4, stream));
	IS(hipErrorContextIsDestroyed, hipMemsetD32Async(gpu, 0, 4, old_stream));
	OK(hipMemsetD32(NULL, 0, 0));

	OK(hipMemset2D(NULL, 0, 0, 0, 4));
	OK(hipMemset2D(NULL, 64, 0, 64, 0));
	IS(hipErrorInvalidValue, hipMemset2D(NULL, 64, 0, 64, 4));
	IS(hipErrorInvalidValue, hipMemset2D(host, 64, 0, 64, 4));
	IS(hipErrorInvalidValue, hipMemset2D(gpu, 0, 0, 64, 4));
	IS(hipErrorInvalidValue, hipMemset2D(gpu, 63, 0, 64, 4));
	IS(hipErrorInvalidValue, hipMemset2D(gpu, 64, 0, 64, BYTES));
	IS(hipErrorInvalidValue, hipMemset2DAsync(NULL, 64, 0, 64, 4, stream));
	IS(hipErrorContextIsDestroyed, hipMemset2DAsync(gpu, 64, 0, 64, 4, old_stream));
	OK(hipMemset3D({NULL, 64, 64, 4}, 0, {64, 4, 0}));
	IS(hipErrorInvalidValue, hipMemset3D({NULL, 64, 64, 4}, 0, {64, 4, 1}));
	IS(hipErrorInvalidValue, hipMemset3D({host, 64, 64, 4}, 0, {64, 4, 1}));
	IS(hipErrorInvalidValue, hipMemset3D({gpu, 0, 64, 4}, 0, {64, 4, 1}));
	IS(hipErrorInvalidValue, hipMemset3D({gpu, 64, 64, 4}, 0, {64, 4, BYTES}));
	IS(hipErrorInvalidValue, hipMemset3D({gpu, 64, 64, 4}, 0, {SIZE_MAX, 1, 1}));
	IS(hipErrorInvalidValue, hipMemset3DAsync({NULL, 64, 64, 4}, 0, {64, 4, 1}, stream));
	IS(hipErrorContextIsDestroyed, hipMemset3DAsync({gpu, 64, 64, 4}, 0, {64, 4, 1}, old_stream));
}

static void per_thread()
{
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy_spt(gpu, host, 4, NO_KIND));
	IS(hipErrorInvalidValue, hipMemcpy_spt(NULL, host, 4, hipMemcpyHostToDevice));
	IS(hipErrorContextIsDestroyed, hipMemcpyAsync_spt(gpu, host, 4, hipMemcpyHostToDevice, old_stream));
	IS(hipErrorInvalidPitchValue, hipMemcpy2D_spt(gpu, 63, host, 64, 64, 4, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipMemcpy2DAsync_spt(gpu, 64, host, 64, 64, 4, hipMemcpyHostToDevice, old_stream));
	IS(hipErrorInvalidValue, hipMemcpy3D_spt(NULL));
	IS(hipErrorInvalidSymbol, hipMemcpyToSymbol_spt(NULL, host, 4, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidSymbol, hipMemcpyFromSymbol_spt(host, NULL, 4, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue, hipMemset_spt(NULL, 0, 4));
	IS(hipErrorInvalidValue, hipMemsetAsync_spt(NULL, 0, 4, NULL));
	IS(hipErrorInvalidValue, hipMemset2D_spt(NULL, 64, 0, 64, 4));
	IS(hipErrorInvalidValue, hipMemset3D_spt({NULL, 64, 64, 4}, 0, {64, 4, 1}));
}

STATUSES("statuses: copies", begin, bytes, between_devices, rows, described_rows, boxes, boxes_beside, described_boxes, variables,
	 fills, per_thread)

/* Devices, their properties and settings, contexts, peers, errors. */
#include "tests/hip/statuses.h"

static int devices, number;

static void which()
{
	char text[64];
	hipDevice_t device;

	IS(hipErrorInvalidValue, hipGetDeviceCount(NULL));
	OK(hipGetDeviceCount(&devices));
	IS(hipErrorInvalidValue, hipGetDevice(NULL));
	IS(hipErrorInvalidDevice, hipSetDevice(-1));
	IS(hipErrorInvalidDevice, hipSetDevice(devices));
	IS(hipErrorInvalidValue, hipDeviceGet(NULL, 0));
	IS(hipErrorInvalidValue, hipDeviceGet(NULL, -1));
	IS(hipErrorInvalidDevice, hipDeviceGet(&device, -1));
	IS(hipErrorInvalidDevice, hipDeviceGet(&device, devices));
	IS(hipErrorInvalidValue, hipInit(1));
	IS(hipErrorInvalidValue, hipInit(UINT_MAX));
	IS(hipErrorInvalidValue, hipDriverGetVersion(NULL));
	IS(hipErrorInvalidValue, hipRuntimeGetVersion(NULL));

	IS(hipErrorInvalidValue, hipDeviceGetPCIBusId(NULL, 64, 0));
	IS(hipErrorInvalidDevice, hipDeviceGetPCIBusId(NULL, 64, -1));
	IS(hipErrorInvalidDevice, hipDeviceGetPCIBusId(text, 64, -1));
	IS(hipErrorInvalidDevice, hipDeviceGetPCIBusId(text, 64, devices));
	IS(hipErrorInvalidValue, hipDeviceGetPCIBusId(text, 12, 0));
	OK(hipDeviceGetPCIBusId(text, 13, 0));
	IS(hipErrorInvalidValue, hipDeviceGetByPCIBusId(NULL, text));
	IS(hipErrorInvalidValue, hipDeviceGetByPCIBusId(&number, NULL));
	IS(hipErrorInvalidValue, hipDeviceGetByPCIBusId(&number, ""));
	IS(hipErrorInvalidValue, hipDeviceGetByPCIBusId(&number, "no such place"));
	IS(hipErrorInvalidValue, hipDeviceGetByPCIBusId(&number, "ffff:ff:1f.7"));
#if TUFF_HIP_ABI >= 6
	int none = -1;

	IS(hipErrorInvalidDevice, hipSetValidDevices(&none, 1));
	IS(hipErrorInvalidValue, hipSetValidDevices(&none, -1));
	IS(hipErrorInvalidValue, hipSetValidDevices(NULL, 1));
#endif
}

static void properties()
{
	hipDeviceProp_t p = {};
	size_t size_B;
	char name[64];
	hipUUID uuid;
	int minor;

	IS(hipErrorInvalidValue, hipGetDeviceProperties(NULL, 0));
	IS(hipErrorInvalidValue, hipGetDeviceProperties(NULL, -1));
	IS(hipErrorInvalidDevice, hipGetDeviceProperties(&p, -1));
	IS(hipErrorInvalidDevice, hipGetDeviceProperties(&p, devices));
	IS(hipErrorInvalidValue, hipChooseDevice(NULL, &p));
	IS(hipErrorInvalidValue, hipChooseDevice(&number, NULL));
	IS(hipErrorInvalidValue, hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, 0));
	IS(hipErrorInvalidValue, hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, -1));
	IS(hipErrorInvalidDevice, hipDeviceGetAttribute(&number, hipDeviceAttributeWarpSize, -1));
	IS(hipErrorInvalidDevice, hipDeviceGetAttribute(&number, hipDeviceAttributeWarpSize, devices));
	IS(hipErrorInvalidValue, hipDeviceGetAttribute(&number, (hipDeviceAttribute_t)-1, 0));
	IS(hipErrorInvalidValue, hipDeviceGetAttribute(&number, (hipDeviceAttribute_t)123456, 0));
	IS(hipErrorInvalidDevice, hipDeviceGetAttribute(&number, (hipDeviceAttribute_t)-1, devices));
	IS(hipErrorInvalidValue, hipDeviceComputeCapability(NULL, &minor, 0));
	IS(hipErrorInvalidValue, hipDeviceComputeCapability(&number, NULL, 0));
	IS(hipErrorInvalidDevice, hipDeviceComputeCapability(&number, &minor, -1));
	IS(hipErrorInvalidDevice, hipDeviceComputeCapability(&number, NULL, devices));
	IS(hipErrorInvalidValue, hipDeviceGetName(NULL, 64, 0));
	IS(hipErrorInvalidValue, hipDeviceGetName(name, 0, 0));
	IS(hipErrorInvalidValue, hipDeviceGetName(name, -1, 0));
	OK(hipDeviceGetName(name, 1, 0));
	IS(hipErrorInvalidDevice, hipDeviceGetName(name, 64, -1));
	IS(hipErrorInvalidDevice, hipDeviceGetName(NULL, 0, devices));
	IS(hipErrorInvalidValue, hipDeviceGetUuid(NULL, 0));
	IS(hipErrorInvalidDevice, hipDeviceGetUuid(&uuid, -1));
	IS(hipErrorInvalidDevice, hipDeviceGetUuid(NULL, devices));
	IS(hipErrorInvalidValue, hipDeviceTotalMem(NULL, 0));
	IS(hipErrorInvalidDevice, hipDeviceTotalMem(&size_B, -1));
	IS(hipErrorInvalidDevice, hipDeviceTotalMem(NULL, devices));
}

static void settings()
{
	const unsigned modes[] = {hipDeviceScheduleAuto, hipDeviceScheduleSpin, hipDeviceScheduleYield,
				  hipDeviceScheduleBlockingSync};
	hipSharedMemConfig banks;
	hipFuncCache_t cache;
	size_t size_B;
	unsigned flags;

	IS(hipErrorInvalidValue, hipGetDeviceFlags(NULL));
	OK(hipGetDeviceFlags(&flags));
	for (unsigned mode : modes)
		OK(hipSetDeviceFlags(mode | hipDeviceMapHost | hipDeviceLmemResizeToMax));
	IS(hipErrorInvalidValue, hipSetDeviceFlags(hipDeviceScheduleSpin | hipDeviceScheduleYield));
	IS(hipErrorInvalidValue, hipSetDeviceFlags(hipDeviceScheduleMask));
	IS(hipErrorInvalidValue, hipSetDeviceFlags(0x20));
	IS(hipErrorInvalidValue, hipSetDeviceFlags(UINT_MAX));
	OK(hipSetDeviceFlags(hipDeviceScheduleAuto));

	IS(hipErrorInvalidValue, hipDeviceGetLimit(NULL, hipLimitStackSize));
	IS(hipErrorInvalidValue, hipDeviceGetLimit(&size_B, hipLimitRange));
	IS(hipErrorInvalidValue, hipDeviceGetLimit(&size_B, (hipLimit_t)1000));
	IS(hipErrorUnsupportedLimit, hipDeviceGetLimit(&size_B, (hipLimit_t)-1));
	IS(hipErrorInvalidValue, hipDeviceSetLimit(hipLimitRange, 1024));
	IS(hipErrorInvalidValue, hipDeviceSetLimit((hipLimit_t)1000, 1024));
	IS(hipErrorInvalidValue, hipDeviceSetLimit(hipLimitStackSize, SIZE_MAX));
	IS(hipErrorInvalidValue, hipDeviceGetCacheConfig(NULL));
	OK(hipDeviceGetCacheConfig(&cache));
	OK(hipDeviceSetCacheConfig(hipFuncCachePreferEqual));
	IS(hipErrorInvalidValue, hipDeviceSetCacheConfig((hipFuncCache_t)4));
	IS(hipErrorInvalidValue, hipDeviceSetCacheConfig((hipFuncCache_t)-1));
	IS(hipErrorInvalidValue, hipDeviceGetSharedMemConfig(NULL));
	OK(hipDeviceGetSharedMemConfig(&banks));
	OK(hipDeviceSetSharedMemConfig(hipSharedMemBankSizeEightByte));
	IS(hipErrorInvalidValue, hipDeviceSetSharedMemConfig((hipSharedMemConfig)3));
	IS(hipErrorInvalidValue, hipDeviceSetSharedMemConfig((hipSharedMemConfig)-1));
}

static void contexts()
{
	hipCtx_t context, old;
	unsigned flags;
	int active;

	IS(hipErrorInvalidContext, hipCtxPopCurrent(&context)); /* none */
	IS(hipErrorInvalidContext, hipCtxPopCurrent(NULL));
	IS(hipErrorInvalidValue, hipCtxCreate(NULL, 0, 0));
	IS(hipErrorInvalidValue, hipCtxCreate(&context, 0, -1));
	IS(hipErrorInvalidValue, hipCtxCreate(&context, 0, devices));
	OK(hipCtxCreate(&context, 0, 0));
	IS(hipErrorInvalidValue, hipCtxDestroy(NULL));
	IS(hipErrorInvalidContext, hipCtxPushCurrent(NULL));
	IS(hipErrorInvalidContext, hipCtxPushCurrent(made_up<hipCtx_t>()));
	IS(hipErrorInvalidContext, hipCtxSetCurrent(made_up<hipCtx_t>()));
	IS(hipErrorInvalidValue, hipCtxGetCurrent(NULL));
	IS(hipErrorInvalidValue, hipCtxGetDevice(NULL));
	IS(hipErrorInvalidValue, hipCtxGetSharedMemConfig(NULL));
	IS(hipErrorInvalidValue, hipCtxSetCacheConfig((hipFuncCache_t)-1));
	IS(hipErrorInvalidContext, hipCtxDestroy(made_up<hipCtx_t>()));
	old = context;
	OK(hipCtxDestroy(old));
	IS(hipErrorInvalidContext, hipCtxDestroy(old));
	IS(hipErrorInvalidContext, hipCtxPushCurrent(old));
	/* Never none: without a stack it is the device's own, and after hipSetDevice(). */
	OK(hipCtxGetCurrent(&context));
	CHECK(context != NULL);

	IS(hipErrorInvalidDevice, hipDevicePrimaryCtxGetState(-1, &flags, &active));
	IS(hipErrorInvalidDevice, hipDevicePrimaryCtxGetState(devices, NULL, NULL));
	OK(hipDevicePrimaryCtxGetState(0, NULL, &active));
	OK(hipDevicePrimaryCtxGetState(0, &flags, NULL));
	IS(hipErrorInvalidValue, hipDevicePrimaryCtxRetain(NULL, 0));
	IS(hipErrorInvalidDevice, hipDevicePrimaryCtxRetain(NULL, -1));
	IS(hipErrorInvalidDevice, hipDevicePrimaryCtxRetain(&context, devices));
	IS(hipErrorInvalidDevice, hipDevicePrimaryCtxRelease(-1));
	IS(hipErrorInvalidDevice, hipDevicePrimaryCtxRelease(devices));
	IS(hipErrorContextAlreadyInUse, hipDevicePrimaryCtxSetFlags(0, 0));
	IS(hipErrorInvalidDevice, hipDevicePrimaryCtxSetFlags(-1, 0));
	IS(hipErrorInvalidDevice, hipDevicePrimaryCtxSetFlags(devices, 0));
}

static void peers()
{
	uint32_t type, hops;
	int can;

	IS(hipErrorInvalidValue, hipDeviceCanAccessPeer(NULL, 0, 0));
	OK(hipDeviceCanAccessPeer(&can, 0, 0)); /* it cannot */
	IS(hipErrorInvalidDevice, hipDeviceCanAccessPeer(&can, 0, -1));
	IS(hipErrorInvalidDevice, hipDeviceCanAccessPeer(&can, devices, 0));
	IS(hipErrorInvalidValue, hipDeviceEnablePeerAccess(0, 1));
	IS(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(0, 0)); /* itself */
	IS(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(-1, 0));
	IS(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(devices, 0));
	IS(hipErrorInvalidDevice, hipDeviceDisablePeerAccess(0));
	IS(hipErrorInvalidDevice, hipDeviceDisablePeerAccess(-1));
	IS(hipErrorInvalidDevice, hipDeviceDisablePeerAccess(devices));
	IS(hipErrorInvalidValue, hipDeviceGetP2PAttribute(NULL, hipDevP2PAttrAccessSupported, 0, 0));
	IS(hipErrorInvalidDevice, hipDeviceGetP2PAttribute(&can, hipDevP2PAttrAccessSupported, 0, 0));
	IS(hipErrorInvalidDevice, hipDeviceGetP2PAttribute(&can, hipDevP2PAttrAccessSupported, 0, devices));
	IS(hipErrorInvalidDevice, hipDeviceGetP2PAttribute(&can, hipDevP2PAttrAccessSupported, -1, 0));
	IS(hipErrorInvalidDevice, hipDeviceGetP2PAttribute(&can, (hipDeviceP2PAttr)100, 0, devices));
	IS(hipErrorInvalidValue, hipExtGetLinkTypeAndHopCount(0, 0, &type, &hops));
	IS(hipErrorInvalidValue, hipExtGetLinkTypeAndHopCount(0, -1, &type, &hops));
	IS(hipErrorInvalidValue, hipExtGetLinkTypeAndHopCount(0, 1, NULL, &hops));
	IS(hipErrorInvalidValue, hipExtGetLinkTypeAndHopCount(0, 1, &type, NULL));
	IS(hipErrorInvalidDevice, hipExtGetLinkTypeAndHopCount(0, devices, &type, &hops));
}

static void two_peers()
{
	int can = 0;

	if (devices < 2)
		return;
	IS(hipErrorInvalidValue, hipDeviceGetP2PAttribute(&can, (hipDeviceP2PAttr)100, 0, 1));
	IS(hipErrorInvalidValue, hipDeviceGetP2PAttribute(&can, (hipDeviceP2PAttr)-1, 0, 1));
	OK(hipDeviceCanAccessPeer(&can, 0, 1));
	if (!can) {
		IS(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(1, 0));
		IS(hipErrorInvalidDevice, hipDeviceDisablePeerAccess(1));
		return;
	}
	IS(hipErrorPeerAccessNotEnabled, hipDeviceDisablePeerAccess(1));
	IS(hipErrorInvalidValue, hipDeviceEnablePeerAccess(1, 1));
	OK(hipDeviceEnablePeerAccess(1, 0));
	IS(hipErrorPeerAccessAlreadyEnabled, hipDeviceEnablePeerAccess(1, 0));
	OK(hipDeviceDisablePeerAccess(1));
	IS(hipErrorPeerAccessNotEnabled, hipDeviceDisablePeerAccess(1));
}

static void errors()
{
	const char *text;

	IS(hipErrorInvalidValue, hipDrvGetErrorName(hipErrorInvalidValue, NULL));
	IS(hipErrorInvalidValue, hipDrvGetErrorString(hipErrorInvalidValue, NULL));
	IS(hipErrorInvalidValue, hipDrvGetErrorName((hipError_t)-1, &text));
	IS(hipErrorInvalidValue, hipDrvGetErrorString((hipError_t)-1, &text));
	OK(hipDrvGetErrorName(hipErrorUnknown, &text));
	OK(hipDrvGetErrorString(hipErrorUnknown, &text));
	IS(hipErrorInvalidValue, hipDrvGetErrorString((hipError_t)54321, &text));
	CHECK(!strcmp(hipGetErrorName((hipError_t)54321), "hipErrorUnknown"));
	CHECK(!strcmp(hipGetErrorString((hipError_t)54321), "unknown error"));
}

STATUSES("statuses: devices", which, properties, settings, contexts, peers, two_peers, errors)

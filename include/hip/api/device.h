/* Devices: enumeration, the current device of a thread, and properties of a device as a whole. Each thread has a
 * current device, 0 at first; calls without a device number use it. Any function initialises the library if it is
 * called first. All functions are thread safe. Errors: NoDevice, when there is no GPU; InvalidDevice, for a number
 * that no device has; InvalidValue, for a NULL result. */
#ifndef HIP_API_DEVICE_H
#define HIP_API_DEVICE_H

#include <hip/api/properties.h>

/* hipSetDeviceFlags(): how threads wait for the GPU. */
#define hipDeviceScheduleAuto         0x0
#define hipDeviceScheduleSpin         0x1
#define hipDeviceScheduleYield        0x2
#define hipDeviceScheduleBlockingSync 0x4
#define hipDeviceScheduleMask         0x7
#define hipDeviceMapHost              0x8
#define hipDeviceLmemResizeToMax      0x10

/* Values for functions that take a device: the CPU, and no device. */
#define hipCpuDeviceId     ((int)-1)
#define hipInvalidDeviceId ((int)-2)

typedef enum hipDeviceP2PAttr {
	hipDevP2PAttrPerformanceRank = 0,
	hipDevP2PAttrAccessSupported = 1,
	hipDevP2PAttrNativeAtomicSupported = 2,
	hipDevP2PAttrHipArrayAccessSupported = 3
} hipDeviceP2PAttr;
/* In bytes: a thread's stack, the buffer of printf(), the heap of malloc() in kernels. */
typedef enum hipLimit_t {
	hipLimitStackSize = 0,
	hipLimitPrintfFifoSize = 1,
	hipLimitMallocHeapSize = 2,
#if TUFF_HIP_ABI >= 7
	hipExtLimitScratchMin = 0x1000, /* bytes; read only, as the next */
	hipExtLimitScratchMax = 0x1001,
	hipExtLimitScratchCurrent = 0x1002,
	hipLimitRange = 0x1003
#else
	hipExtLimitScratchMin = 0x1000,
	hipExtLimitScratchMax = 0x1001,
	hipExtLimitScratchCurrent = 0x1002,
	hipLimitRange = 3
#endif
} hipLimit_t;
/* Preferences without effect on AMD's GPUs: LDS and cache are separate memories, and banks are 4 bytes wide. */
typedef enum hipFuncCache_t {
	hipFuncCachePreferNone = 0,
	hipFuncCachePreferShared = 1,
	hipFuncCachePreferL1 = 2,
	hipFuncCachePreferEqual = 3
} hipFuncCache_t;
typedef enum hipSharedMemConfig {
	hipSharedMemBankSizeDefault = 0,
	hipSharedMemBankSizeFourByte = 1,
	hipSharedMemBankSizeEightByte = 2
} hipSharedMemConfig;

HIP_API_BEGIN

/* flags: 0. */
hipError_t hipInit(unsigned int flags);
/* The release, in the form of HIP_VERSION. */
hipError_t hipDriverGetVersion(int *driverVersion);
hipError_t hipRuntimeGetVersion(int *runtimeVersion);

hipError_t hipGetDeviceCount(int *count);
/* The calling thread's current device. */
hipError_t hipSetDevice(int deviceId);
hipError_t hipGetDevice(int *deviceId);
/* The order in which devices are tried for threads that have chosen none. */
hipError_t hipSetValidDevices(int *device_arr, int len);
/* The handle of a device is its number. */
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal);
hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device);
/* Truncated to len - 1 characters, and terminated by 0. */
hipError_t hipDeviceGetName(char *name, int len, hipDevice_t device);
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device);
/* In bytes. */
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device);
/* The address as "0000:03:00.0": domain, bus, device, function. Errors: InvalidValue, when it does not fit into len
 * characters. */
hipError_t hipDeviceGetPCIBusId(char *pciBusId, int len, int device);
hipError_t hipDeviceGetByPCIBusId(int *device, const char *pciBusId);
hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr attr, int srcDevice, int dstDevice);
/* The link between two GPUs: HSA's link type, and the number of links. */
hipError_t hipExtGetLinkTypeAndHopCount(int device1, int device2, uint32_t *linktype, uint32_t *hopcount);

/* Blocks until all streams of the current device are idle, callbacks included. Returns errors of their work. */
hipError_t hipDeviceSynchronize(void);
/* Waits, then frees everything that the process has on the current device: its pointers and handles become invalid,
 * and errors that stay are cleared. */
hipError_t hipDeviceReset(void);

/* Errors: UnsupportedLimit, when the device has no such limit. */
hipError_t hipDeviceGetLimit(size_t *pValue, hipLimit_t limit);
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value);
hipError_t hipGetDeviceFlags(unsigned int *flags);
hipError_t hipSetDeviceFlags(unsigned flags);
/* Accepted, without effect. */
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig);
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *cacheConfig);
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *pConfig);
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);

HIP_API_END

#endif

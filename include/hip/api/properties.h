/* Properties of devices: two structures, one for each release of the interface, and single attributes. */
#ifndef HIP_API_PROPERTIES_H
#define HIP_API_PROPERTIES_H

#include <hip/api/error.h>

/* Features of kernels. All of AMD's GPUs have all of them except hasFunnelShift, hasSyncThreadsExt, hasSurfaceFuncs
 * and hasDynamicParallelism. */
typedef struct {
	unsigned hasGlobalInt32Atomics : 1;
	unsigned hasGlobalFloatAtomicExch : 1;
	unsigned hasSharedInt32Atomics : 1;
	unsigned hasSharedFloatAtomicExch : 1;
	unsigned hasFloatAtomicAdd : 1;
	unsigned hasGlobalInt64Atomics : 1;
	unsigned hasSharedInt64Atomics : 1;
	unsigned hasDoubles : 1;
	unsigned hasWarpVote : 1;
	unsigned hasWarpBallot : 1;
	unsigned hasWarpShuffle : 1;
	unsigned hasFunnelShift : 1;
	unsigned hasThreadFenceSystem : 1;
	unsigned hasSyncThreadsExt : 1;
	unsigned hasSurfaceFuncs : 1;
	unsigned has3dGrid : 1;
	unsigned hasDynamicParallelism : 1;
} hipDeviceArch_t;

typedef struct hipUUID_t {
	char bytes[16];
} hipUUID;

/* In both structures sizes are in bytes, clocks in kHz, memoryBusWidth in bits. gcnArchName is the target of the
 * compiler, such as "gfx90a:sramecc+:xnack-". Pointers belong to the library. */

/* The structure of HIP 5, which the symbol hipGetDeviceProperties fills in every release. */
#if TUFF_HIP_ABI == 5
#define hipDeviceProp_tR0000 hipDeviceProp_t
#else
#define hipDeviceProp_t        hipDeviceProp_tR0600
#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#define hipChooseDevice        hipChooseDeviceR0600
#endif
typedef struct hipDeviceProp_tR0000 {
	char name[256];
	size_t totalGlobalMem;
	size_t sharedMemPerBlock;
	int regsPerBlock;
	int warpSize;
	int maxThreadsPerBlock;
	int maxThreadsDim[3];
	int maxGridSize[3];
	int clockRate;
	int memoryClockRate;
	int memoryBusWidth;
	size_t totalConstMem;
	int major;
	int minor;
	int multiProcessorCount;
	int l2CacheSize;
	int maxThreadsPerMultiProcessor;
	int computeMode;
	int clockInstructionRate;
	hipDeviceArch_t arch;
	int concurrentKernels;
	int pciDomainID;
	int pciBusID;
	int pciDeviceID;
	size_t maxSharedMemoryPerMultiProcessor;
	int isMultiGpuBoard;
	int canMapHostMemory;
	int gcnArch;
	char gcnArchName[256];
	int integrated;
	int cooperativeLaunch;
	int cooperativeMultiDeviceLaunch;
	int maxTexture1DLinear;
	int maxTexture1D;
	int maxTexture2D[2];
	int maxTexture3D[3];
	unsigned int *hdpMemFlushCntl;
	unsigned int *hdpRegFlushCntl;
	size_t memPitch;
	size_t textureAlignment;
	size_t texturePitchAlignment;
	int kernelExecTimeoutEnabled;
	int ECCEnabled;
	int tccDriver;
	int cooperativeMultiDeviceUnmatchedFunc;
	int cooperativeMultiDeviceUnmatchedGridDim;
	int cooperativeMultiDeviceUnmatchedBlockDim;
	int cooperativeMultiDeviceUnmatchedSharedMem;
	int isLargeBar;
	int asicRevision;
	int managedMemory;
	int directManagedMemAccessFromHost;
	int concurrentManagedAccess;
	int pageableMemoryAccess;
	int pageableMemoryAccessUsesHostPageTables;
} hipDeviceProp_tR0000;

/* The structure of HIP 6. */
typedef struct hipDeviceProp_tR0600 {
	char name[256];
	hipUUID uuid;
	char luid[8];
	unsigned int luidDeviceNodeMask;
	size_t totalGlobalMem;
	size_t sharedMemPerBlock;
	int regsPerBlock;
	int warpSize;
	size_t memPitch;
	int maxThreadsPerBlock;
	int maxThreadsDim[3];
	int maxGridSize[3];
	int clockRate;
	size_t totalConstMem;
	int major;
	int minor;
	size_t textureAlignment;
	size_t texturePitchAlignment;
	int deviceOverlap;
	int multiProcessorCount;
	int kernelExecTimeoutEnabled;
	int integrated;
	int canMapHostMemory;
	int computeMode;
	int maxTexture1D;
	int maxTexture1DMipmap;
	int maxTexture1DLinear;
	int maxTexture2D[2];
	int maxTexture2DMipmap[2];
	int maxTexture2DLinear[3];
	int maxTexture2DGather[2];
	int maxTexture3D[3];
	int maxTexture3DAlt[3];
	int maxTextureCubemap;
	int maxTexture1DLayered[2];
	int maxTexture2DLayered[3];
	int maxTextureCubemapLayered[2];
	int maxSurface1D;
	int maxSurface2D[2];
	int maxSurface3D[3];
	int maxSurface1DLayered[2];
	int maxSurface2DLayered[3];
	int maxSurfaceCubemap;
	int maxSurfaceCubemapLayered[2];
	size_t surfaceAlignment;
	int concurrentKernels;
	int ECCEnabled;
	int pciBusID;
	int pciDeviceID;
	int pciDomainID;
	int tccDriver;
	int asyncEngineCount;
	int unifiedAddressing;
	int memoryClockRate;
	int memoryBusWidth;
	int l2CacheSize;
	int persistingL2CacheMaxSize;
	int maxThreadsPerMultiProcessor;
	int streamPrioritiesSupported;
	int globalL1CacheSupported;
	int localL1CacheSupported;
	size_t sharedMemPerMultiprocessor;
	int regsPerMultiprocessor;
	int managedMemory;
	int isMultiGpuBoard;
	int multiGpuBoardGroupID;
	int hostNativeAtomicSupported;
	int singleToDoublePrecisionPerfRatio;
	int pageableMemoryAccess;
	int concurrentManagedAccess;
	int computePreemptionSupported;
	int canUseHostPointerForRegisteredMem;
	int cooperativeLaunch;
	int cooperativeMultiDeviceLaunch;
	size_t sharedMemPerBlockOptin;
	int pageableMemoryAccessUsesHostPageTables;
	int directManagedMemAccessFromHost;
	int maxBlocksPerMultiProcessor;
	int accessPolicyMaxWindowSize;
	size_t reservedSharedMemPerBlock;
	int hostRegisterSupported;
	int sparseHipArraySupported;
	int hostRegisterReadOnlySupported;
	int timelineSemaphoreInteropSupported;
	int memoryPoolsSupported;
	int gpuDirectRDMASupported;
	unsigned int gpuDirectRDMAFlushWritesOptions;
	int gpuDirectRDMAWritesOrdering;
	unsigned int memoryPoolSupportedHandleTypes;
	int deferredMappingHipArraySupported;
	int ipcEventSupported;
	int clusterLaunch;
	int unifiedFunctionPointers;
	int reserved[63];
	int hipReserved[32];
	char gcnArchName[256];
	size_t maxSharedMemoryPerMultiProcessor;
	int clockInstructionRate;
	hipDeviceArch_t arch;
	unsigned int *hdpMemFlushCntl;
	unsigned int *hdpRegFlushCntl;
	int cooperativeMultiDeviceUnmatchedFunc;
	int cooperativeMultiDeviceUnmatchedGridDim;
	int cooperativeMultiDeviceUnmatchedBlockDim;
	int cooperativeMultiDeviceUnmatchedSharedMem;
	int isLargeBar;
	int asicRevision;
} hipDeviceProp_tR0600;

/* The meaning of a number never changes. Five attributes of 5.7 have no value in 6.4; with the interface of 5.7
 * they have their names of 5.7. */
typedef enum hipDeviceAttribute_t {
	hipDeviceAttributeCudaCompatibleBegin = 0,
	hipDeviceAttributeEccEnabled = 0,
	hipDeviceAttributeAccessPolicyMaxWindowSize = 1,
	hipDeviceAttributeAsyncEngineCount = 2,
	hipDeviceAttributeCanMapHostMemory = 3,
	hipDeviceAttributeCanUseHostPointerForRegisteredMem = 4,
	hipDeviceAttributeClockRate = 5,
	hipDeviceAttributeComputeMode = 6,
	hipDeviceAttributeComputePreemptionSupported = 7,
	hipDeviceAttributeConcurrentKernels = 8,
	hipDeviceAttributeConcurrentManagedAccess = 9,
	hipDeviceAttributeCooperativeLaunch = 10,
	hipDeviceAttributeCooperativeMultiDeviceLaunch = 11,
	hipDeviceAttributeDeviceOverlap = 12,
	hipDeviceAttributeDirectManagedMemAccessFromHost = 13,
	hipDeviceAttributeGlobalL1CacheSupported = 14,
	hipDeviceAttributeHostNativeAtomicSupported = 15,
	hipDeviceAttributeIntegrated = 16,
	hipDeviceAttributeIsMultiGpuBoard = 17,
	hipDeviceAttributeKernelExecTimeout = 18,
	hipDeviceAttributeL2CacheSize = 19,
	hipDeviceAttributeLocalL1CacheSupported = 20,
	hipDeviceAttributeLuid = 21,
	hipDeviceAttributeLuidDeviceNodeMask = 22,
	hipDeviceAttributeComputeCapabilityMajor = 23,
	hipDeviceAttributeManagedMemory = 24,
	hipDeviceAttributeMaxBlocksPerMultiProcessor = 25,
	hipDeviceAttributeMaxBlockDimX = 26,
	hipDeviceAttributeMaxBlockDimY = 27,
	hipDeviceAttributeMaxBlockDimZ = 28,
	hipDeviceAttributeMaxGridDimX = 29,
	hipDeviceAttributeMaxGridDimY = 30,
	hipDeviceAttributeMaxGridDimZ = 31,
	hipDeviceAttributeMaxSurface1D = 32,
	hipDeviceAttributeMaxSurface1DLayered = 33,
	hipDeviceAttributeMaxSurface2D = 34,
	hipDeviceAttributeMaxSurface2DLayered = 35,
	hipDeviceAttributeMaxSurface3D = 36,
	hipDeviceAttributeMaxSurfaceCubemap = 37,
	hipDeviceAttributeMaxSurfaceCubemapLayered = 38,
	hipDeviceAttributeMaxTexture1DWidth = 39,
	hipDeviceAttributeMaxTexture1DLayered = 40,
	hipDeviceAttributeMaxTexture1DLinear = 41,
	hipDeviceAttributeMaxTexture1DMipmap = 42,
	hipDeviceAttributeMaxTexture2DWidth = 43,
	hipDeviceAttributeMaxTexture2DHeight = 44,
	hipDeviceAttributeMaxTexture2DGather = 45,
	hipDeviceAttributeMaxTexture2DLayered = 46,
	hipDeviceAttributeMaxTexture2DLinear = 47,
	hipDeviceAttributeMaxTexture2DMipmap = 48,
	hipDeviceAttributeMaxTexture3DWidth = 49,
	hipDeviceAttributeMaxTexture3DHeight = 50,
	hipDeviceAttributeMaxTexture3DDepth = 51,
	hipDeviceAttributeMaxTexture3DAlt = 52,
	hipDeviceAttributeMaxTextureCubemap = 53,
	hipDeviceAttributeMaxTextureCubemapLayered = 54,
	hipDeviceAttributeMaxThreadsDim = 55,
	hipDeviceAttributeMaxThreadsPerBlock = 56,
	hipDeviceAttributeMaxThreadsPerMultiProcessor = 57,
	hipDeviceAttributeMaxPitch = 58,
	hipDeviceAttributeMemoryBusWidth = 59,
	hipDeviceAttributeMemoryClockRate = 60,
	hipDeviceAttributeComputeCapabilityMinor = 61,
	hipDeviceAttributeMultiGpuBoardGroupID = 62,
	hipDeviceAttributeMultiprocessorCount = 63,
	hipDeviceAttributeUnused1 = 64,
	hipDeviceAttributePageableMemoryAccess = 65,
	hipDeviceAttributePageableMemoryAccessUsesHostPageTables = 66,
	hipDeviceAttributePciBusId = 67,
	hipDeviceAttributePciDeviceId = 68,
	hipDeviceAttributePciDomainID = 69,
	hipDeviceAttributePersistingL2CacheMaxSize = 70,
	hipDeviceAttributeMaxRegistersPerBlock = 71,
	hipDeviceAttributeMaxRegistersPerMultiprocessor = 72,
	hipDeviceAttributeReservedSharedMemPerBlock = 73,
	hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
	hipDeviceAttributeSharedMemPerBlockOptin = 75,
	hipDeviceAttributeSharedMemPerMultiprocessor = 76,
	hipDeviceAttributeSingleToDoublePrecisionPerfRatio = 77,
	hipDeviceAttributeStreamPrioritiesSupported = 78,
	hipDeviceAttributeSurfaceAlignment = 79,
	hipDeviceAttributeTccDriver = 80,
	hipDeviceAttributeTextureAlignment = 81,
	hipDeviceAttributeTexturePitchAlignment = 82,
	hipDeviceAttributeTotalConstantMemory = 83,
	hipDeviceAttributeTotalGlobalMem = 84,
	hipDeviceAttributeUnifiedAddressing = 85,
	hipDeviceAttributeUnused2 = 86,
	hipDeviceAttributeWarpSize = 87,
	hipDeviceAttributeMemoryPoolsSupported = 88,
	hipDeviceAttributeVirtualMemoryManagementSupported = 89,
	hipDeviceAttributeHostRegisterSupported = 90,
	hipDeviceAttributeMemoryPoolSupportedHandleTypes = 91,
	hipDeviceAttributeHostNumaId = 92,
	hipDeviceAttributeCudaCompatibleEnd = 9999,
	hipDeviceAttributeAmdSpecificBegin = 10000,
	hipDeviceAttributeClockInstructionRate = 10000,
	hipDeviceAttributeUnused3 = 10001,
	hipDeviceAttributeMaxSharedMemoryPerMultiprocessor = 10002,
	hipDeviceAttributeUnused4 = 10003,
	hipDeviceAttributeUnused5 = 10004,
	hipDeviceAttributeHdpMemFlushCntl = 10005,
	hipDeviceAttributeHdpRegFlushCntl = 10006,
	hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc = 10007,
	hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim = 10008,
	hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim = 10009,
	hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem = 10010,
	hipDeviceAttributeIsLargeBar = 10011,
	hipDeviceAttributeAsicRevision = 10012,
	hipDeviceAttributeCanUseStreamWaitValue = 10013,
	hipDeviceAttributeImageSupport = 10014,
	hipDeviceAttributePhysicalMultiProcessorCount = 10015,
	hipDeviceAttributeFineGrainSupport = 10016,
	hipDeviceAttributeWallClockRate = 10017,
	hipDeviceAttributeNumberOfXccs = 10018,
	hipDeviceAttributeMaxAvailableVgprsPerThread = 10019,
	hipDeviceAttributePciChipId = 10020,
	hipDeviceAttributeAmdSpecificEnd = 19999,
	hipDeviceAttributeVendorSpecificBegin = 20000
} hipDeviceAttribute_t;
#if TUFF_HIP_ABI == 5
#define hipDeviceAttributeName        hipDeviceAttributeUnused1
#define hipDeviceAttributeUuid        hipDeviceAttributeUnused2
#define hipDeviceAttributeArch        hipDeviceAttributeUnused3
#define hipDeviceAttributeGcnArch     hipDeviceAttributeUnused4
#define hipDeviceAttributeGcnArchName hipDeviceAttributeUnused5
#endif

/* Access to a device; hipComputeModeDefault: every process. */
typedef enum hipComputeMode {
	hipComputeModeDefault = 0,
	hipComputeModeExclusive = 1,
	hipComputeModeProhibited = 2,
	hipComputeModeExclusiveProcess = 3
} hipComputeMode;
typedef enum hipFlushGPUDirectRDMAWritesOptions {
	hipFlushGPUDirectRDMAWritesOptionHost = 1,
	hipFlushGPUDirectRDMAWritesOptionMemOps = 2
} hipFlushGPUDirectRDMAWritesOptions;
typedef enum hipGPUDirectRDMAWritesOrdering {
	hipGPUDirectRDMAWritesOrderingNone = 0,
	hipGPUDirectRDMAWritesOrderingOwner = 100,
	hipGPUDirectRDMAWritesOrderingAllDevices = 200
} hipGPUDirectRDMAWritesOrdering;

HIP_API_BEGIN

/* Fills the structure. Errors: InvalidDevice. */
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *prop, int deviceId);
hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *prop, int device);
/* Returns the device that best fits the members that are not 0. */
hipError_t hipChooseDeviceR0600(int *device, const hipDeviceProp_tR0600 *prop);
hipError_t hipChooseDeviceR0000(int *device, const hipDeviceProp_tR0000 *prop);
#if TUFF_HIP_ABI == 5
hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop, int device);
hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *prop);
#endif
/* Returns an attribute as a number. Errors: InvalidValue, when the attribute is unknown or has no number. */
hipError_t hipDeviceGetAttribute(int *pi, hipDeviceAttribute_t attr, int deviceId);

HIP_API_END

#endif

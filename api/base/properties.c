/* Properties of a device: HIP's two structures and the table of attributes, filled from HSA's information about the
 * agent. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/base/entry.h"
#include <hsa/hsa_ext_image.h>

#define KHZ        1000
#define TEXTURE_1D 16384 /* elements; HIP gives this limit for all of AMD's GPUs */
#define TEXTURE_2D 16384
#define TEXTURE_3D 16384
#define TEXTURE_Z  8192 /* depth; HSA's limit */
#define LINEAR_1D  0x10000000
#define PITCH_MAX  0x7fffffff
#define CONST_MAX  0x7fffffff
#define ALIGN      256

/* --- HSA's information ------------------------------------------------------------------------ */

static uint64_t agent_info(hsa_agent_t agent, unsigned attribute, size_t size_B)
{
	uint64_t value = 0;

	(void)size_B; /* little endian: a smaller value is the low part */
	(void)!hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, &value);
	return value;
}
#define AGENT(attribute, type) ((type)agent_info(d->agent, attribute, sizeof(type)))

bool hip_has_images(const struct hip_device *device)
{
	const hsa_ext_image_format_t format = {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_R};
	uint32_t capability = 0;

	return !hsa_ext_image_get_capability(device->agent, HSA_EXT_IMAGE_GEOMETRY_2D, &format, &capability) &&
	       capability;
}

static hsa_status_t isa_visit(hsa_isa_t isa, void *arg)
{
	static const char prefix[] = "amdgcn-amd-amdhsa--";
	char *to = arg, name[256] = "";

	if (hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name))
		return HSA_STATUS_ERROR;
	snprintf(to, 256, "%s", strncmp(name, prefix, sizeof(prefix) - 1) ? name : name + sizeof(prefix) - 1);
	return HSA_STATUS_INFO_BREAK;
}

/* Parses a target name: "gfx90a:..." is 9, 0, 10. The last two digits are hexadecimal. */
static void parse_target(const char *target, int *major, int *minor, int *stepping)
{
	unsigned long number = strlen(target) > 3 ? strtoul(target + 3, NULL, 16) : 0;
	char digits[16];

	snprintf(digits, sizeof(digits), "%lx", number >> 8);
	*major = atoi(digits);
	*minor = (int)(number >> 4 & 15);
	*stepping = (int)(number & 15);
}

/* HSA's text is "GPU-0123456789abcdef"; HIP's UUID is the 16 digits, as characters. */
static void fill_uuid(const struct hip_device *d, hipUUID *uuid)
{
	char text[32] = "";

	(void)!hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, text);
	if (strlen(text) == 4 + sizeof(uuid->bytes))
		memcpy(uuid->bytes, text + 4, sizeof(uuid->bytes));
}

static void fill_place(const struct hip_device *d, hipDeviceProp_tR0600 *p)
{
	uint32_t bdf = AGENT(HSA_AMD_AGENT_INFO_BDFID, uint32_t);

	p->pciDomainID = AGENT(HSA_AMD_AGENT_INFO_DOMAIN, int);
	p->pciBusID = (int)(bdf >> 8);
	p->pciDeviceID = (int)(bdf >> 3 & 31);
}

/* True when atomic operations of the device reach the host's memory over PCIe, as far as HSA knows. */
static bool passes_atomics(const struct hip_device *d)
{
	hsa_amd_memory_pool_link_info_t links[8];
	uint32_t hops = 0;

	if (hsa_amd_agent_memory_pool_get_info(d->agent, hip.host_fine,
					       HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops) ||
	    hops > sizeof(links) / sizeof(links[0]))
		return false;
	return !hops || (!hsa_amd_agent_memory_pool_get_info(d->agent, hip.host_fine,
							     HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, links) &&
			 links[0].atomic_support_64bit);
}

static void fill_memory(const struct hip_device *d, hipDeviceProp_tR0600 *p)
{
	uint32_t cache_B[4] = {0};
	uint8_t properties[8] = {0};

	(void)!hsa_agent_get_info(d->agent, HSA_AGENT_INFO_CACHE_SIZE, cache_B);
	(void)!hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES, properties);
	p->integrated = hsa_flag_isset64(properties, HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU);
	p->totalGlobalMem = d->vram_B;
	p->totalConstMem = CONST_MAX;
	p->l2CacheSize = (int)cache_B[1];
	p->memoryClockRate = AGENT(HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, int) * KHZ;
	p->memoryBusWidth = AGENT(HSA_AMD_AGENT_INFO_MEMORY_WIDTH, int);
	p->sharedMemPerBlock = p->sharedMemPerMultiprocessor = d->lds_B;
	p->sharedMemPerBlockOptin = p->maxSharedMemoryPerMultiProcessor = d->lds_B;
	p->memPitch = PITCH_MAX;
	p->textureAlignment = p->texturePitchAlignment = p->surfaceAlignment = ALIGN;
	p->hostNativeAtomicSupported = passes_atomics(d);
	p->canMapHostMemory = p->unifiedAddressing = p->hostRegisterSupported = 1;
	/* Managed memory is host memory that all GPUs reach: CPU and GPUs may use it at any time. */
	p->managedMemory = p->concurrentManagedAccess = p->directManagedMemAccessFromHost = 1;
	p->isLargeBar = AGENT(HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, bool);
}

static void fill_limits(const struct hip_device *d, hipDeviceProp_tR0600 *p)
{
	hsa_dim3_t grid = {0};
	uint16_t group[3] = {0};

	(void)!hsa_agent_get_info(d->agent, HSA_AGENT_INFO_GRID_MAX_DIM, &grid);
	(void)!hsa_agent_get_info(d->agent, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, group);
	for (unsigned i = 0; i < 3; i++)
		p->maxThreadsDim[i] = group[i] < HIP_THREADS_MAX ? group[i] : HIP_THREADS_MAX;
	p->maxThreadsPerBlock = HIP_THREADS_MAX;
	p->maxGridSize[0] = 0x7fffffff;
	p->maxGridSize[1] = p->maxGridSize[2] = 65536;
	p->warpSize = (int)d->wave_lanes;
	p->multiProcessorCount = (int)d->cus;
	p->maxThreadsPerMultiProcessor = AGENT(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, int) * (int)d->wave_lanes;
	p->maxBlocksPerMultiProcessor = AGENT(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, int);
	/* Registers of 32 bits for one lane; a block may use all of them. */
	p->regsPerBlock = p->regsPerMultiprocessor =
		d->chip->vgprs * d->chip->simds_per_cu * (int)d->chip->wave_lanes;
	p->clockRate = AGENT(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, int) * KHZ;
	p->clockInstructionRate = (int)(hip.timestamp_Hz / KHZ);
}

static void fill_textures(hipDeviceProp_tR0600 *p)
{
	p->maxTexture1D = p->maxSurface1D = TEXTURE_1D;
	p->maxTexture1DMipmap = p->maxTexture1DLinear = LINEAR_1D;
	for (unsigned i = 0; i < 2; i++)
		p->maxTexture2D[i] = p->maxSurface2D[i] = p->maxTexture2DLinear[i] = TEXTURE_2D;
	p->maxTexture2DLinear[2] = PITCH_MAX;
	for (unsigned i = 0; i < 3; i++)
		p->maxTexture3D[i] = p->maxSurface3D[i] = i < 2 ? TEXTURE_3D : TEXTURE_Z;
}

static void fill_abilities(const struct hip_device *d, hipDeviceProp_tR0600 *p)
{
	hsa_amd_hdp_flush_t hdp = {0};

	(void)!hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_HDP_FLUSH, &hdp);
	p->hdpMemFlushCntl = hdp.HDP_MEM_FLUSH_CNTL;
	p->hdpRegFlushCntl = hdp.HDP_REG_FLUSH_CNTL;
	p->cooperativeLaunch = AGENT(HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, bool);
	p->cooperativeMultiDeviceLaunch = p->cooperativeLaunch;
	p->cooperativeMultiDeviceUnmatchedFunc = p->cooperativeMultiDeviceUnmatchedGridDim = p->cooperativeLaunch;
	p->cooperativeMultiDeviceUnmatchedBlockDim = p->cooperativeMultiDeviceUnmatchedSharedMem =
		p->cooperativeLaunch;
	p->asicRevision = AGENT(HSA_AMD_AGENT_INFO_ASIC_REVISION, int);
	p->kernelExecTimeoutEnabled = 1; /* the kernel driver's watchdog */
	p->concurrentKernels = p->deviceOverlap = p->streamPrioritiesSupported = 1;
	p->asyncEngineCount = AGENT(HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, int);
	p->memoryPoolsSupported = p->ipcEventSupported = 1;
	p->memoryPoolSupportedHandleTypes = hipMemHandleTypePosixFileDescriptor;
	p->ECCEnabled = strstr(p->gcnArchName, "sramecc+") != NULL;
	/* Every feature but funnel shifts, extended barriers, surfaces and kernels that launch kernels. */
	p->arch = (hipDeviceArch_t){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0};
}

static void properties_fill(const struct hip_device *d, hipDeviceProp_tR0600 *p)
{
	int stepping;

	memset(p, 0, sizeof(*p));
	(void)!hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, p->name);
	(void)!hsa_agent_iterate_isas(d->agent, isa_visit, p->gcnArchName);
	parse_target(p->gcnArchName, &p->major, &p->minor, &stepping);
	fill_uuid(d, &p->uuid);
	fill_place(d, p);
	fill_memory(d, p);
	fill_limits(d, p);
	fill_textures(p);
	fill_abilities(d, p);
}

/* --- the older structure ---------------------------------------------------------------------- */

/* Copies members that have the same name in both structures. */
#define SAME(member)      memcpy(&old->member, &p->member, sizeof(old->member))
#define SAME2(a, b)       SAME(a), SAME(b)
#define SAME4(a, b, c, d) SAME2(a, b), SAME2(c, d)

static void fill_old(const struct hip_device *d, hipDeviceProp_tR0000 *old)
{
	hipDeviceProp_tR0600 *p = malloc(sizeof(*p));
	int major, minor, stepping;

	memset(old, 0, sizeof(*old));
	if (!p)
		return;
	properties_fill(d, p);
	parse_target(p->gcnArchName, &major, &minor, &stepping);
	old->gcnArch = major * 100 + minor * 10 + stepping;
	SAME4(name, totalGlobalMem, sharedMemPerBlock, regsPerBlock);
	SAME4(warpSize, maxThreadsPerBlock, maxThreadsDim, maxGridSize);
	SAME4(clockRate, memoryClockRate, memoryBusWidth, totalConstMem);
	SAME4(major, minor, multiProcessorCount, l2CacheSize);
	SAME4(maxThreadsPerMultiProcessor, computeMode, clockInstructionRate, arch);
	SAME4(concurrentKernels, pciDomainID, pciBusID, pciDeviceID);
	SAME4(maxSharedMemoryPerMultiProcessor, isMultiGpuBoard, canMapHostMemory, gcnArchName);
	SAME4(integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch, maxTexture1DLinear);
	SAME4(maxTexture1D, maxTexture2D, maxTexture3D, hdpMemFlushCntl);
	SAME4(hdpRegFlushCntl, memPitch, textureAlignment, texturePitchAlignment);
	SAME4(kernelExecTimeoutEnabled, ECCEnabled, tccDriver, isLargeBar);
	SAME4(asicRevision, managedMemory, directManagedMemAccessFromHost, concurrentManagedAccess);
	SAME2(pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables);
	free(p);
}

HIP_PUBLIC(hipGetDevicePropertiesR0600, (hipDeviceProp_tR0600 *properties, int device), (properties, device))
{
	const struct hip_device *d;

	d = hip_device_of(device);
	if (!properties || !d)
		return properties ? hipErrorInvalidDevice : hipErrorInvalidValue;
	properties_fill(d, properties);
	return hipSuccess;
}

HIP_PUBLIC(hipGetDevicePropertiesR0000, (hipDeviceProp_tR0000 *properties, int device), (properties, device))
{
	const struct hip_device *d;

	d = hip_device_of(device);
	if (!properties || !d)
		return properties ? hipErrorInvalidDevice : hipErrorInvalidValue;
	fill_old(d, properties);
	return hipSuccess;
}

/* The name without a suffix means the older structure in every version of the library. */
#undef hipGetDeviceProperties
#undef hipChooseDevice
HIP_API_BEGIN
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *properties, int device);
hipError_t hipChooseDevice(int *device, const hipDeviceProp_tR0000 *p);
HIP_API_END
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *properties, int device)
{
	return hipGetDevicePropertiesR0000(properties, device);
}

/* --- choice of a device ----------------------------------------------------------------------- */

/* Properties that a program may request, as in CLR; a 0 requests nothing. */
#define WISHES(p)                                                                                                  \
	{(uint64_t)(p)->major,                                                                                     \
	 (uint64_t)(p)->minor,                                                                                     \
	 (p)->totalGlobalMem,                                                                                      \
	 (p)->sharedMemPerBlock,                                                                                   \
	 (uint64_t)(p)->maxThreadsPerBlock,                                                                        \
	 (p)->totalConstMem,                                                                                       \
	 (uint64_t)(p)->multiProcessorCount,                                                                       \
	 (uint64_t)(p)->maxThreadsPerMultiProcessor,                                                               \
	 (uint64_t)(p)->memoryClockRate,                                                                           \
	 (uint64_t)(p)->memoryBusWidth,                                                                            \
	 (uint64_t)(p)->l2CacheSize,                                                                               \
	 (uint64_t)(p)->regsPerBlock,                                                                              \
	 (p)->maxSharedMemoryPerMultiProcessor,                                                                    \
	 (uint64_t)(p)->warpSize}
#define WISHES_MAX 14

static bool properties_satisfy(const uint64_t *has, const uint64_t *wanted)
{
	for (unsigned i = 0; i < WISHES_MAX; i++)
		if (has[i] < wanted[i])
			return false;
	return true;
}

/* Chooses the first device that has every requested property; device 0 if none has. */
static hipError_t device_choose(int *device, const uint64_t *wanted)
{
	hipDeviceProp_tR0000 *p = malloc(sizeof(*p));
	bool found = false;

	if (!p)
		return hipErrorOutOfMemory;
	*device = 0;
	for (unsigned i = 0; i < hip.devices && !found; i++) {
		fill_old(&hip.device[i], p);
		const uint64_t has[WISHES_MAX] = WISHES(p);

		found = properties_satisfy(has, wanted);
		*device = found ? (int)i : 0;
	}
	free(p);
	return hipSuccess;
}

#define CHOOSE(name, record)                                                                                       \
	HIP_PUBLIC(name, (int *device, const record *p), (device, p))                                              \
	{                                                                                                          \
		if (!device || !p)                                                                                 \
			return hipErrorInvalidValue;                                                               \
		const uint64_t wanted[WISHES_MAX] = WISHES(p);                                                     \
		return device_choose(device, wanted);                                                              \
	}
CHOOSE(hipChooseDeviceR0600, hipDeviceProp_tR0600)
CHOOSE(hipChooseDeviceR0000, hipDeviceProp_tR0000)
CHOOSE(hipChooseDevice, hipDeviceProp_tR0000)

/* --- attributes ----------------------------------------------------------------------------------- */

static const struct attribute {
	hipDeviceAttribute_t id;
	uint16_t offset;
	bool wide; /* the member is a size_t, of which the program gets an int */
} attribute_rows[] = {
#define INT(attribute, member)  {hipDeviceAttribute##attribute, offsetof(hipDeviceProp_tR0600, member), false}
#define SIZE(attribute, member) {hipDeviceAttribute##attribute, offsetof(hipDeviceProp_tR0600, member), true}
	INT(EccEnabled, ECCEnabled),
	INT(AccessPolicyMaxWindowSize, accessPolicyMaxWindowSize),
	INT(AsyncEngineCount, asyncEngineCount),
	INT(CanMapHostMemory, canMapHostMemory),
	INT(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem),
	INT(ClockRate, clockRate),
	INT(ComputeMode, computeMode),
	INT(ComputePreemptionSupported, computePreemptionSupported),
	INT(ConcurrentKernels, concurrentKernels),
	INT(ConcurrentManagedAccess, concurrentManagedAccess),
	INT(CooperativeLaunch, cooperativeLaunch),
	INT(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch),
	INT(DeviceOverlap, deviceOverlap),
	INT(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
	INT(GlobalL1CacheSupported, globalL1CacheSupported),
	INT(HostNativeAtomicSupported, hostNativeAtomicSupported),
	INT(Integrated, integrated),
	INT(IsMultiGpuBoard, isMultiGpuBoard),
	INT(KernelExecTimeout, kernelExecTimeoutEnabled),
	INT(L2CacheSize, l2CacheSize),
	INT(LocalL1CacheSupported, localL1CacheSupported),
	INT(LuidDeviceNodeMask, luidDeviceNodeMask),
	INT(ComputeCapabilityMajor, major),
	INT(ManagedMemory, managedMemory),
	INT(MaxBlocksPerMultiProcessor, maxBlocksPerMultiProcessor),
	INT(MaxBlockDimX, maxThreadsDim[0]),
	INT(MaxBlockDimY, maxThreadsDim[1]),
	INT(MaxBlockDimZ, maxThreadsDim[2]),
	INT(MaxGridDimX, maxGridSize[0]),
	INT(MaxGridDimY, maxGridSize[1]),
	INT(MaxGridDimZ, maxGridSize[2]),
	INT(MaxSurface1D, maxSurface1D),
	INT(MaxSurface1DLayered, maxSurface1DLayered[0]),
	INT(MaxSurface2D, maxSurface2D[0]),
	INT(MaxSurface2DLayered, maxSurface2DLayered[0]),
	INT(MaxSurface3D, maxSurface3D[0]),
	INT(MaxSurfaceCubemap, maxSurfaceCubemap),
	INT(MaxSurfaceCubemapLayered, maxSurfaceCubemapLayered[0]),
	INT(MaxTexture1DWidth, maxTexture1D),
	INT(MaxTexture1DLayered, maxTexture1DLayered[0]),
	INT(MaxTexture1DLinear, maxTexture1DLinear),
	INT(MaxTexture1DMipmap, maxTexture1DMipmap),
	INT(MaxTexture2DWidth, maxTexture2D[0]),
	INT(MaxTexture2DHeight, maxTexture2D[1]),
	INT(MaxTexture2DGather, maxTexture2DGather[0]),
	INT(MaxTexture2DLayered, maxTexture2DLayered[0]),
	INT(MaxTexture2DLinear, maxTexture2DLinear[0]),
	INT(MaxTexture2DMipmap, maxTexture2DMipmap[0]),
	INT(MaxTexture3DWidth, maxTexture3D[0]),
	INT(MaxTexture3DHeight, maxTexture3D[1]),
	INT(MaxTexture3DDepth, maxTexture3D[2]),
	INT(MaxTexture3DAlt, maxTexture3DAlt[0]),
	INT(MaxTextureCubemap, maxTextureCubemap),
	INT(MaxTextureCubemapLayered, maxTextureCubemapLayered[0]),
	INT(MaxThreadsDim, maxThreadsDim[0]),
	INT(MaxThreadsPerBlock, maxThreadsPerBlock),
	INT(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
	SIZE(MaxPitch, memPitch),
	INT(MemoryBusWidth, memoryBusWidth),
	INT(MemoryClockRate, memoryClockRate),
	INT(ComputeCapabilityMinor, minor),
	INT(MultiGpuBoardGroupID, multiGpuBoardGroupID),
	INT(MultiprocessorCount, multiProcessorCount),
	INT(PageableMemoryAccess, pageableMemoryAccess),
	INT(PageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables),
	INT(PciBusId, pciBusID),
	INT(PciDeviceId, pciDeviceID),
	INT(PciDomainID, pciDomainID),
	INT(PersistingL2CacheMaxSize, persistingL2CacheMaxSize),
	INT(MaxRegistersPerBlock, regsPerBlock),
	INT(MaxRegistersPerMultiprocessor, regsPerMultiprocessor),
	SIZE(ReservedSharedMemPerBlock, reservedSharedMemPerBlock),
	SIZE(MaxSharedMemoryPerBlock, sharedMemPerBlock),
	SIZE(SharedMemPerBlockOptin, sharedMemPerBlockOptin),
	SIZE(SharedMemPerMultiprocessor, sharedMemPerMultiprocessor),
	INT(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio),
	INT(StreamPrioritiesSupported, streamPrioritiesSupported),
	SIZE(SurfaceAlignment, surfaceAlignment),
	INT(TccDriver, tccDriver),
	SIZE(TextureAlignment, textureAlignment),
	SIZE(TexturePitchAlignment, texturePitchAlignment),
	SIZE(TotalConstantMemory, totalConstMem),
	SIZE(TotalGlobalMem, totalGlobalMem),
	INT(UnifiedAddressing, unifiedAddressing),
	INT(WarpSize, warpSize),
	INT(MemoryPoolsSupported, memoryPoolsSupported),
	INT(HostRegisterSupported, hostRegisterSupported),
	INT(MemoryPoolSupportedHandleTypes, memoryPoolSupportedHandleTypes),
	INT(ClockInstructionRate, clockInstructionRate),
	SIZE(MaxSharedMemoryPerMultiprocessor, maxSharedMemoryPerMultiProcessor),
	INT(CooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedFunc),
	INT(CooperativeMultiDeviceUnmatchedGridDim, cooperativeMultiDeviceUnmatchedGridDim),
	INT(CooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedBlockDim),
	INT(CooperativeMultiDeviceUnmatchedSharedMem, cooperativeMultiDeviceUnmatchedSharedMem),
	INT(IsLargeBar, isLargeBar),
	INT(AsicRevision, asicRevision),
};

/* The NUMA node of the host's memory that is nearest. */
static int host_node(const struct hip_device *d)
{
	hsa_agent_t cpu = {AGENT(HSA_AMD_AGENT_INFO_NEAREST_CPU, uint64_t)};
	uint32_t node = 0;

	(void)!hsa_agent_get_info(cpu, HSA_AGENT_INFO_NODE, &node);
	return (int)node;
}

static bool attribute_of_7(const struct hip_device *d, unsigned id, int *value)
{
	switch (id) {
	case hipDeviceAttributeHostNumaId:
		*value = host_node(d);
		return true;
	case hipDeviceAttributeNumberOfXccs:
		*value = (int)AGENT(HSA_AMD_AGENT_INFO_NUM_XCC, uint32_t);
		return true;
	case hipDeviceAttributeMaxAvailableVgprsPerThread:
		*value = 256;
		return true;
	case hipDeviceAttributePciChipId:
		*value = (int)AGENT(HSA_AMD_AGENT_INFO_CHIP_ID, uint32_t);
		return true;
	}
	return false;
}

/* Attributes that are no member of the structure. False: `id` is not among them. */
static bool other_attribute(const struct hip_device *d, unsigned id, const hipDeviceProp_tR0600 *p, int *value)
{
	switch (id) {
	case hipDeviceAttributeHdpMemFlushCntl: /* a pointer; programs give the address of a pointer */
		memcpy(value, &p->hdpMemFlushCntl, sizeof(p->hdpMemFlushCntl));
		return true;
	case hipDeviceAttributeHdpRegFlushCntl:
		memcpy(value, &p->hdpRegFlushCntl, sizeof(p->hdpRegFlushCntl));
		return true;
	case hipDeviceAttributePhysicalMultiProcessorCount:
		*value = (int)d->cus;
		return true;
	case hipDeviceAttributeFineGrainSupport:
		*value = d->fine_vram.handle != 0;
		return true;
	case hipDeviceAttributeWallClockRate:
		*value = (int)(AGENT(HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, uint64_t) / KHZ);
		return true;
	case hipDeviceAttributeImageSupport:
		*value = hip_has_images(d);
		return true;
	case hipDeviceAttributeCanUseStreamWaitValue:
	case hipDeviceAttributeVirtualMemoryManagementSupported:
		*value = 1;
		return true;
	}
	return TUFF_HIP_ABI >= 7 && attribute_of_7(d, id, value);
}

static hipError_t attribute_get(int *value, unsigned id, const struct hip_device *d)
{
	hipDeviceProp_tR0600 *p = malloc(sizeof(*p));
	bool found = false;
	size_t wide;

	if (!p)
		return hipErrorOutOfMemory;
	properties_fill(d, p);
	for (size_t i = 0; !found && i < sizeof(attribute_rows) / sizeof(attribute_rows[0]); i++)
		if (attribute_rows[i].id == id) {
			found = true;
			if (attribute_rows[i].wide) {
				memcpy(&wide, (char *)p + attribute_rows[i].offset, sizeof(wide));
				*value = wide > 0x7fffffff ? 0x7fffffff : (int)wide;
			} else {
				memcpy(value, (char *)p + attribute_rows[i].offset, sizeof(*value));
			}
		}
	if (!found)
		found = other_attribute(d, id, p, value);
	free(p);
	return found ? hipSuccess : hipErrorInvalidValue;
}

HIP_PUBLIC(hipDeviceGetAttribute, (int *value, hipDeviceAttribute_t id, int device), (value, id, device))
{
	const struct hip_device *d;

	d = hip_device_of(device);
	if (!value || !d)
		return value ? hipErrorInvalidDevice : hipErrorInvalidValue;
	return attribute_get(value, id, d);
}

/* --- single properties ------------------------------------------------------------------------ */

/* Checks the device before the other arguments: CLR does so. */
static hipError_t device_check(hipDevice_t device, bool somewhere)
{
	if (!hip_device_of(device))
		return hipErrorInvalidDevice;
	return somewhere ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t properties_get(int device, bool somewhere, hipDeviceProp_tR0600 *p)
{
	hipError_t r = device_check(device, somewhere);

	if (!r)
		properties_fill(hip_device_of(device), p);
	return r;
}

HIP_PUBLIC(hipDeviceComputeCapability, (int *major, int *minor, hipDevice_t device), (major, minor, device))
{
	hipDeviceProp_tR0600 p;
	hipError_t r;

	r = properties_get(device, major && minor, &p);
	if (!r) {
		*major = p.major;
		*minor = p.minor;
	}
	return r;
}

HIP_PUBLIC(hipDeviceGetName, (char *name, int len, hipDevice_t device), (name, len, device))
{
	hipDeviceProp_tR0600 p;
	hipError_t r;

	r = properties_get(device, name && len > 0, &p);
	if (!r)
		snprintf(name, (size_t)len, "%s", p.name);
	return r;
}

HIP_PUBLIC(hipDeviceGetUuid, (hipUUID *uuid, hipDevice_t device), (uuid, device))
{
	hipDeviceProp_tR0600 p;
	hipError_t r;

	r = properties_get(device, uuid, &p);
	if (!r)
		*uuid = p.uuid;
	return r;
}

HIP_PUBLIC(hipDeviceTotalMem, (size_t *size_B, hipDevice_t device), (size_B, device))
{
	hipError_t r;

	r = device_check(device, size_B);
	if (!r)
		*size_B = hip.device[device].vram_B;
	return r;
}

#define PCI_FORMAT "%04x:%02x:%02x.0"
#define PCI_TEXT_B 13

HIP_PUBLIC(hipDeviceGetPCIBusId, (char *text, int len, int device), (text, len, device))
{
	hipDeviceProp_tR0600 p;
	hipError_t r;

	r = properties_get(device, text && len > 0, &p);
	if (r)
		return r;
	snprintf(text, (size_t)len, PCI_FORMAT, (unsigned)p.pciDomainID, (unsigned)p.pciBusID,
		 (unsigned)p.pciDeviceID);
	/* The text is truncated to the program's buffer, and the error says so. */
	return len < PCI_TEXT_B ? hipErrorInvalidValue : hipSuccess;
}

HIP_PUBLIC(hipDeviceGetByPCIBusId, (int *device, const char *text), (device, text))
{
	unsigned domain, bus, slot;
	hipDeviceProp_tR0600 p;

	if (!device || !text || sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3)
		return hipErrorInvalidValue;
	for (unsigned i = 0; i < hip.devices; i++) {
		properties_fill(&hip.device[i], &p);
		if ((unsigned)p.pciDomainID == domain && (unsigned)p.pciBusID == bus &&
		    (unsigned)p.pciDeviceID == slot) {
			*device = (int)i;
			return hipSuccess;
		}
	}
	return hipErrorInvalidValue;
}

/* Structures that HIP's functions read, drawn from an input. Each is one for the whole thread, good for one call. */
#ifndef TESTS_FUZZ_HIP_STRUCTS_H
#define TESTS_FUZZ_HIP_STRUCTS_H

#include "tests/fuzz/hip_draw.h"
#include "tests/fuzz/hip_other.h"

static void *draw_format(void)
{
	DRAW_STATIC hipChannelFormatDesc d;
	static const int bits[] = {32, 8, 16, 32, 32, 8, 7, -1, 0};

	d = (hipChannelFormatDesc){.x = DRAW(bits)};
	d.y = draw_byte() & 1 ? d.x : 0;
	d.z = draw_byte() & 1 ? d.y : 0;
	d.w = draw_byte() < 230 ? d.z : 0;
	d.f = (hipChannelFormatKind)(draw_byte() < 200 ? hipChannelFormatKindUnsigned : draw_enum(3));
	return DRAW_NULL_OR(&d);
}
#define FORMAT draw_format()

static hipArray_Format draw_array_format(void)
{
	static const int some[] = {1, 2, 3, 8, 9, 10, 16, 32, 0, 33, -1};

	return (hipArray_Format)DRAW(some);
}

static unsigned draw_channels(void)
{
	static const unsigned some[] = {1, 2, 4, 1, 0, 3, 0xffffffff};

	return DRAW(some);
}

static void *draw_array_2d(void)
{
	DRAW_STATIC HIP_ARRAY_DESCRIPTOR d;

	d = (HIP_ARRAY_DESCRIPTOR){.Width = draw_width()};
	d.Height = draw_height();
	d.Format = draw_array_format();
	d.NumChannels = draw_channels();
	return DRAW_NULL_OR(&d);
}
#define ARRAY_2D draw_array_2d()

static void *draw_array_3d(void)
{
	DRAW_STATIC HIP_ARRAY3D_DESCRIPTOR d;
	hipExtent e = draw_extent();

	d = (HIP_ARRAY3D_DESCRIPTOR){.Width = e.width, .Height = e.height, .Depth = e.depth};
	d.Format = draw_array_format();
	d.NumChannels = draw_channels();
	d.Flags = FLAGS;
	return DRAW_NULL_OR(&d);
}
#define ARRAY_3D draw_array_3d()

static hipPitchedPtr draw_pitched(void)
{
	hipPitchedPtr p = {.ptr = draw_data()};

	p.pitch = draw_pitch();
	p.xsize = draw_width();
	p.ysize = draw_height();
	return p;
}
#define PITCHED draw_pitched()

/* --- copies and fills ------------------------------------------------------------------------- */

static hipMemcpy3DParms draw_copy(void)
{
	hipMemcpy3DParms c = {0};
	unsigned sides = draw_byte();

	if (sides & 1)
		c.srcArray = draw_handle(K_ARRAY);
	else
		c.srcPtr = draw_pitched();
	if (sides & 2)
		c.dstArray = draw_handle(K_ARRAY);
	else
		c.dstPtr = draw_pitched();
	if (sides & 4)
		c.srcPos = draw_pos();
	if (sides & 8)
		c.dstPos = draw_pos();
	c.extent = draw_extent();
	c.kind = (hipMemcpyKind)(sides < 200 ? hipMemcpyDefault : draw_enum(4));
	return c;
}

static void *draw_copy_3d(void)
{
	DRAW_STATIC hipMemcpy3DParms c;

	c = draw_copy();
	return DRAW_NULL_OR(&c);
}
#define COPY_3D draw_copy_3d()

static hipMemoryType draw_memory_type(void)
{
	static const int some[] = {1, 2, 10, 11, 3, 2, 1, 0, 4, -1};

	return (hipMemoryType)DRAW(some);
}

static void *draw_copy_2d(void)
{
	DRAW_STATIC hip_Memcpy2D c;

	c = (hip_Memcpy2D){.srcMemoryType = draw_memory_type()};
	c.dstMemoryType = draw_memory_type();
	c.srcDevice = draw_data();
	c.srcHost = draw_host();
	c.srcArray = draw_handle(K_ARRAY);
	c.dstDevice = draw_data();
	c.dstHost = draw_host();
	c.dstArray = draw_handle(K_ARRAY);
	c.srcPitch = draw_pitch();
	c.dstPitch = draw_pitch();
	c.WidthInBytes = draw_width();
	c.Height = draw_height();
	if (draw_byte() & 1)
		c.srcXInBytes = draw_width();
	if (draw_byte() & 1)
		c.dstY = draw_height();
	return DRAW_NULL_OR(&c);
}
#define COPY_2D draw_copy_2d()

static void *draw_drv_copy(void)
{
	DRAW_STATIC HIP_MEMCPY3D c;

	c = (HIP_MEMCPY3D){.srcMemoryType = draw_memory_type()};
	c.dstMemoryType = draw_memory_type();
	c.srcDevice = draw_data();
	c.srcHost = draw_host();
	c.srcArray = draw_handle(K_ARRAY);
	c.dstDevice = draw_data();
	c.dstHost = draw_host();
	c.dstArray = draw_handle(K_ARRAY);
	c.srcPitch = draw_pitch();
	c.dstPitch = draw_pitch();
	c.srcHeight = draw_height();
	c.dstHeight = draw_height();
	c.WidthInBytes = draw_width();
	c.Height = draw_height();
	c.Depth = draw_byte() % 5;
	if (draw_byte() & 1)
		c.srcXInBytes = draw_width();
	if (draw_byte() & 1)
		c.dstZ = draw_byte() % 4;
	return DRAW_NULL_OR(&c);
}
#define DRV_COPY draw_drv_copy()

static hipMemsetParams draw_fill(void)
{
	static const unsigned sizes[] = {1, 2, 4, 4, 0, 3, 8, 0xffffffff};
	hipMemsetParams p = {.dst = draw_data()};

	p.elementSize = DRAW(sizes);
	p.height = draw_height();
	p.pitch = draw_pitch();
	p.value = draw_int();
	p.width = draw_width();
	return p;
}

static void *draw_fill_node(void)
{
	DRAW_STATIC hipMemsetParams p;

	p = draw_fill();
	return DRAW_NULL_OR(&p);
}
#define FILL_NODE draw_fill_node()

#if TUFF_HIP_ABI >= 7
#define DRV_FILL FILL_NODE
#else
static void *draw_drv_fill(void)
{
	DRAW_STATIC HIP_MEMSET_NODE_PARAMS p;
	hipMemsetParams f = draw_fill();

	p = (HIP_MEMSET_NODE_PARAMS){f.dst, f.pitch, f.value, f.elementSize, f.width, f.height};
	return DRAW_NULL_OR(&p);
}
#define DRV_FILL draw_drv_fill()
#endif

/* Values that are written; a value that is waited for has no address. */
static void *draw_values(void)
{
	DRAW_STATIC hipStreamBatchMemOpParams list[SLOTS];
	static const int kinds[] = {2, 5, 2, 5, 1, 4, 3, 6, 0, 7, -1};

	memset(list, 0, sizeof(list));
	for (unsigned i = 0; i < 3; i++) {
		list[i].operation = (hipStreamBatchMemOpType)DRAW(kinds);
		if (list[i].operation == 2 || list[i].operation == 5)
			list[i].writeValue.address = draw_data();
		list[i].writeValue.value64 = draw_int();
	}
	memcpy(&list[3], list, 3 * sizeof(list[0]));
	return DRAW_NULL_OR(list);
}
#define VALUES draw_values()

static void *draw_values_node(void)
{
	DRAW_STATIC hipBatchMemOpNodeParams p;

	p = (hipBatchMemOpNodeParams){.ctx = draw_handle(K_CTX), .count = draw_byte() % 4};
	p.paramArray = draw_values();
	p.flags = draw_byte() < 200 ? 0 : draw_int();
	return DRAW_NULL_OR(&p);
}
#define VALUES_NODE draw_values_node()

/* --- nodes and launches ----------------------------------------------------------------------- */

static hipKernelNodeParams draw_kernel(void)
{
	hipKernelNodeParams p = {.blockDim = {draw_block(), 1, 1}};

	p.gridDim = draw_dim();
	p.func = draw_host_kernel();
	p.kernelParams = draw_args();
	if (draw_byte() >= 224)
		p.extra = draw_extra();
	p.sharedMemBytes = draw_lds();
	return p;
}

static void *draw_kernel_node(void)
{
	DRAW_STATIC hipKernelNodeParams p;

	p = draw_kernel();
	return DRAW_NULL_OR(&p);
}
#define KERNEL_NODE draw_kernel_node()

static void *draw_host_node(void)
{
	DRAW_STATIC hipHostNodeParams p;

	p = (hipHostNodeParams){HOST_FN, draw.words};
	return DRAW_NULL_OR(&p);
}
#define HOST_NODE draw_host_node()

static hipMemPoolProps draw_props(void)
{
	hipMemPoolProps p = {.allocType = draw_byte() < 230 ? hipMemAllocationTypePinned : draw_enum(2)};

	p.handleTypes = draw_byte() < 230 ? 1 : draw_enum(4);
	p.location.type = draw_byte() < 230 ? hipMemLocationTypeDevice : draw_enum(3);
	p.location.id = draw_device();
	p.maxSize = draw_byte() < 200 ? 0 : draw_allocation();
	return p;
}

static void *draw_pool_props(void)
{
	DRAW_STATIC hipMemPoolProps p;

	p = draw_props();
	return DRAW_NULL_OR(&p);
}
#define POOL_PROPS draw_pool_props()

static void *draw_access(void)
{
	DRAW_STATIC hipMemAccessDesc list[SLOTS];

	for (unsigned i = 0; i < SLOTS; i++) {
		list[i].location.type = i || draw_byte() < 230 ? hipMemLocationTypeDevice : draw_enum(2);
		list[i].location.id = i < 2 ? draw_device() : (int)i % 2;
		list[i].flags = i ? hipMemAccessFlagsProtReadWrite : (hipMemAccessFlags)draw_enum(3);
	}
	return DRAW_NULL_OR(list);
}
#define ACCESS draw_access()

static hipMemAllocNodeParams draw_alloc(void)
{
	hipMemAllocNodeParams p = {.poolProps = draw_props()};

	if (draw_byte() & 1) {
		p.accessDescs = draw_access();
		p.accessDescCount = draw_byte() % 3;
	}
	p.bytesize = draw_allocation();
	return p;
}

static void *draw_alloc_node(void)
{
	DRAW_STATIC hipMemAllocNodeParams p;

	p = draw_alloc();
	return DRAW_NULL_OR(&p);
}
#define ALLOC_NODE draw_alloc_node()

static void draw_node_union(hipGraphNodeParams *p)
{
	switch (p->type) {
	case hipGraphNodeTypeKernel:
		p->kernel = draw_kernel();
		break;
	case hipGraphNodeTypeMemcpy:
		p->memcpy.copyParams = draw_copy();
		break;
	case hipGraphNodeTypeMemset:
		p->memset = draw_fill();
		break;
	case hipGraphNodeTypeHost:
		p->host.fn = HOST_FN;
		break;
	case hipGraphNodeTypeGraph:
		p->graph.graph = draw_handle(K_GRAPH);
		break;
	case hipGraphNodeTypeWaitEvent:
	case hipGraphNodeTypeEventRecord:
		p->eventWait.event = draw_handle(K_EVENT);
		break;
	case hipGraphNodeTypeMemAlloc:
		p->alloc = draw_alloc();
		break;
	case hipGraphNodeTypeMemFree:
		p->free.dptr = draw_address();
		break;
	default:
		break;
	}
}

static void *draw_any_node(void)
{
	DRAW_STATIC hipGraphNodeParams p;

	memset(&p, 0, sizeof(p));
	p.type = (hipGraphNodeType)draw_enum(15);
	draw_node_union(&p);
	return DRAW_NULL_OR(&p);
}
#define ANY_NODE draw_any_node()

static void *draw_instantiation(void)
{
	DRAW_STATIC hipGraphInstantiateParams p;

	p = (hipGraphInstantiateParams){.flags = FLAGS, .uploadStream = draw_handle(K_STREAM)};
	return DRAW_NULL_OR(&p);
}
#define INSTANTIATION draw_instantiation()

static void *draw_launches(void)
{
	DRAW_STATIC hipLaunchParams list[SLOTS];
	hipKernelNodeParams k = draw_kernel();

	for (unsigned i = 0; i < SLOTS; i++)
		list[i] = (hipLaunchParams){k.func,         k.gridDim,        k.blockDim,
					    k.kernelParams, k.sharedMemBytes, draw_slot(K_STREAM, i)};
	list[0].stream = draw_handle(K_STREAM);
	return DRAW_NULL_OR(list);
}
#define LAUNCHES draw_launches()

static void *draw_function_launches(void)
{
	DRAW_STATIC hipFunctionLaunchParams list[SLOTS];
	hipKernelNodeParams k = draw_kernel();

	for (unsigned i = 0; i < SLOTS; i++)
		list[i] = (hipFunctionLaunchParams){
			.function = draw_slot(K_FUNCTION, i),
			.gridDimX = k.gridDim.x,
			.gridDimY = 1,
			.gridDimZ = 1,
			.blockDimX = k.blockDim.x,
			.blockDimY = 1,
			.blockDimZ = 1,
			.sharedMemBytes = k.sharedMemBytes,
			.hStream = draw_slot(K_STREAM, i),
			.kernelParams = k.kernelParams,
		};
	list[0].function = draw_handle(K_FUNCTION);
	return DRAW_NULL_OR(list);
}
#define FUNCTION_LAUNCHES draw_function_launches()

/* --- textures --------------------------------------------------------------------------------- */

static void *draw_resource(void)
{
	DRAW_STATIC hipResourceDesc d;

	d = (hipResourceDesc){.resType = (hipResourceType)draw_enum(3)};
	switch (d.resType) {
	case hipResourceTypeLinear:
		d.res.linear.devPtr = draw_address();
		d.res.linear.desc = *(hipChannelFormatDesc *)(draw_format() ?: scratch);
		d.res.linear.sizeInBytes = draw_length();
		break;
	case hipResourceTypePitch2D:
		d.res.pitch2D.devPtr = draw_address();
		d.res.pitch2D.desc = *(hipChannelFormatDesc *)(draw_format() ?: scratch);
		d.res.pitch2D.width = draw_width();
		d.res.pitch2D.height = draw_height();
		d.res.pitch2D.pitchInBytes = draw_pitch();
		break;
	default:
		d.res.array.array = draw_handle(d.resType == hipResourceTypeArray ? K_ARRAY : K_MIPMAP);
	}
	return DRAW_NULL_OR(&d);
}
#define RESOURCE draw_resource()

static void *draw_drv_resource(void)
{
	DRAW_STATIC HIP_RESOURCE_DESC d;

	d = (HIP_RESOURCE_DESC){.resType = (HIPresourcetype)draw_enum(3)};
	switch (d.resType) {
	case HIP_RESOURCE_TYPE_LINEAR:
		d.res.linear.devPtr = draw_address();
		d.res.linear.format = draw_array_format();
		d.res.linear.numChannels = draw_channels();
		d.res.linear.sizeInBytes = draw_length();
		break;
	case HIP_RESOURCE_TYPE_PITCH2D:
		d.res.pitch2D.devPtr = draw_address();
		d.res.pitch2D.format = draw_array_format();
		d.res.pitch2D.numChannels = draw_channels();
		d.res.pitch2D.width = draw_width();
		d.res.pitch2D.height = draw_height();
		d.res.pitch2D.pitchInBytes = draw_pitch();
		break;
	default:
		d.res.array.hArray = draw_handle(d.resType == HIP_RESOURCE_TYPE_ARRAY ? K_ARRAY : K_MIPMAP);
	}
	d.flags = draw_byte() < 200 ? 0 : draw_int();
	return DRAW_NULL_OR(&d);
}
#define DRV_RESOURCE draw_drv_resource()

static void *draw_sampling(void)
{
	DRAW_STATIC hipTextureDesc d;

	memset(&d, 0, sizeof(d));
	d.addressMode[0] = (hipTextureAddressMode)draw_enum(3);
	d.addressMode[1] = (hipTextureAddressMode)draw_enum(3);
	d.filterMode = (hipTextureFilterMode)draw_enum(1);
	d.readMode = (hipTextureReadMode)draw_enum(1);
	d.normalizedCoords = draw_byte() % 3;
	d.maxAnisotropy = FLAGS;
	d.mipmapFilterMode = (hipTextureFilterMode)draw_enum(1);
	d.mipmapLevelBias = REAL;
	d.maxMipmapLevelClamp = REAL;
	d.sRGB = draw_byte() & 1;
	return draw_byte() >= 224 ? NULL : &d;
}
#define SAMPLING draw_sampling()

static void *draw_drv_sampling(void)
{
	DRAW_STATIC HIP_TEXTURE_DESC d;

	memset(&d, 0, sizeof(d));
	d.addressMode[0] = (HIPaddress_mode)draw_enum(3);
	d.filterMode = (HIPfilter_mode)draw_enum(1);
	d.flags = FLAGS;
	d.maxAnisotropy = FLAGS;
	d.mipmapLevelBias = REAL;
	d.minMipmapLevelClamp = REAL;
	return draw_byte() >= 224 ? NULL : &d;
}
#define DRV_SAMPLING draw_drv_sampling()

static hipResourceViewDesc draw_view(void)
{
	hipExtent e = draw_extent();
	hipResourceViewDesc d = {.width = e.width, .height = e.height, .depth = e.depth};

	d.format = (hipResourceViewFormat)draw_enum(34);
	d.firstMipmapLevel = draw_byte() % 4;
	d.lastMipmapLevel = draw_byte() < 200 ? 0 : draw_int();
	d.lastLayer = draw_byte() < 200 ? 0 : draw_int();
	return d;
}

static void *draw_rt_view(void)
{
	DRAW_STATIC hipResourceViewDesc d;

	d = draw_view();
	return draw_byte() >= 96 ? NULL : &d;
}
#define VIEW draw_rt_view()

static void *draw_drv_view(void)
{
	DRAW_STATIC HIP_RESOURCE_VIEW_DESC d;
	hipResourceViewDesc v = draw_view();

	d = (HIP_RESOURCE_VIEW_DESC){.format = (HIPresourceViewFormat)v.format, .width = v.width};
	d.height = v.height;
	d.depth = v.depth;
	d.lastMipmapLevel = v.lastMipmapLevel;
	return draw_byte() >= 96 ? NULL : &d;
}
#define DRV_VIEW draw_drv_view()

/* --- memory of others ------------------------------------------------------------------------- */

static void *draw_alloc_prop(void)
{
	DRAW_STATIC hipMemAllocationProp p;
	hipMemPoolProps like = draw_props();

	p = (hipMemAllocationProp){.type = like.allocType, .requestedHandleType = like.handleTypes};
	p.location = like.location;
	return DRAW_NULL_OR(&p);
}
#define ALLOC_PROP draw_alloc_prop()

static void *draw_location(void)
{
	DRAW_STATIC hipMemLocation l;

	l.type = draw_byte() < 230 ? hipMemLocationTypeDevice : draw_enum(2);
	l.id = draw_device();
	return DRAW_NULL_OR(&l);
}
#define LOCATION draw_location()

static void *draw_ext_memory(void)
{
	DRAW_STATIC hipExternalMemoryHandleDesc d;

	d = (hipExternalMemoryHandleDesc){.type = draw_byte() < 200 ? 1 : draw_enum(8), .handle.fd = draw_fd()};
	d.size = draw_allocation();
	d.flags = draw_byte() < 200 ? 0 : draw_int();
	return DRAW_NULL_OR(&d);
}
#define EXT_MEMORY draw_ext_memory()

static void *draw_ext_buffer(void)
{
	DRAW_STATIC hipExternalMemoryBufferDesc d;

	d = (hipExternalMemoryBufferDesc){.offset = draw_length()};
	d.size = draw_allocation();
	d.flags = draw_byte() < 200 ? 0 : draw_int();
	return DRAW_NULL_OR(&d);
}
#define EXT_BUFFER draw_ext_buffer()

/* A syncobj of the other driver, as what it is or as the other kind; or another file. */
static void *draw_ext_semaphore(void)
{
	DRAW_STATIC hipExternalSemaphoreHandleDesc d;
	static const hipExternalSemaphoreHandleType types[] = {hipExternalSemaphoreHandleTypeTimelineSemaphoreFd,
							       hipExternalSemaphoreHandleTypeOpaqueFd};
	unsigned b = draw_byte();

	if (b < 160)
		d = (hipExternalSemaphoreHandleDesc){.type = types[b % 2], .handle.fd = other_files[b / 2 % 2]};
	else
		d = (hipExternalSemaphoreHandleDesc){.type = draw_byte() < 200 ? 1 : draw_enum(10),
						     .handle.fd = draw_fd()};
	d.flags = draw_byte() < 200 ? 0 : draw_int();
	return DRAW_NULL_OR(&d);
}
#define EXT_SEMAPHORE draw_ext_semaphore()

/* Parameters of signals, or of waits. */
#define DRAW_FENCES(name, type)                                                                                    \
	static void *name(void)                                                                                    \
	{                                                                                                          \
		DRAW_STATIC type list[SLOTS];                                                                      \
                                                                                                                   \
		memset(list, 0, sizeof(list));                                                                     \
		for (unsigned i = 0; i < SLOTS; i++)                                                               \
			list[i].params.fence.value = i < 2 ? draw_int() : i;                                       \
		list[0].flags = FLAGS;                                                                             \
		return DRAW_NULL_OR(list);                                                                         \
	}
DRAW_FENCES(draw_signals, hipExternalSemaphoreSignalParams)
#define SIGNALS draw_signals()
DRAW_FENCES(draw_waits, hipExternalSemaphoreWaitParams)
#define WAITS draw_waits()

#endif

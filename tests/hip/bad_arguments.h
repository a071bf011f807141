/* Arguments for which NULL is valid, and those that are always 0 here. A bit per argument; the first is bit 0. */
#ifndef TESTS_HIP_BAD_ARGUMENTS_H
#define TESTS_HIP_BAD_ARGUMENTS_H

struct named_arguments {
	const char *name;
	unsigned arguments;
};

static const named_arguments may_be_null_rows[] = {
	{"hipFree", 1},
#if TUFF_HIP_ABI >= 7
	{"hipFreeAsync", 1},
	{"hipPointerGetAttributes", 2},
	{"hipLibraryLoadData", 0x6c}, /* options, as many as there are */
#endif
	{"hipFreeHost", 1},
	{"hipHostFree", 1},
	{"hipDestroySurfaceObject", 1},
	{"_Z23hipDestroySurfaceObjectP13__hip_surface", 1},
	{"hipDestroyTextureObject", 1},
	{"hipTexObjectDestroy", 1},
	{"hipSetValidDevices", 1},  /* none */
	{"hipCtxGetApiVersion", 1}, /* the current one */
	{"hipDevicePrimaryCtxGetState", 6},
	{"hipCtxSetCurrent", 1}, /* none */
	{"hipModuleLaunchKernel", 0x400},
	{"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j", 0x1c00},
	{"_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_", 0x1c00},
	{"hipExtModuleLaunchKernel", 0x1c00},
	{"hipHccModuleLaunchKernel", 0x1c00},
	{"hipExtLaunchKernel", 0xc0}, /* events */
	/* What the function gets. */
	{"hipLaunchHostFunc", 4},
	{"hipLaunchHostFunc_spt", 4},
	{"hipUserObjectCreate", 2},
	{"hipStreamAddCallback", 4},
	{"hipStreamAddCallback_spt", 4},
	/* What is not asked for. */
	{"hipArrayGetInfo", 7},
	{"hipDeviceGetStreamPriorityRange", 3},
	{"hipMemGetAddressRange", 3},
	{"hipMemGetInfo", 3},
	/* Options, as many as there are; edges. */
	{"hipLinkCreate", 6},
	{"hiprtcLinkCreate", 6},
	{"hipStreamBeginCaptureToGraph", 8},
	{"hipCtxPopCurrent", 1},
	{"hipGetTextureReference", 2}, /* as CLR: no symbol, no reference */
	{"hipStreamGetCaptureInfo", 4},
	{"hipStreamGetCaptureInfo_spt", 4},
	{"hipStreamGetCaptureInfo_v2", 0x3c},
	{"hipStreamGetCaptureInfo_v2_spt", 0x3c},
	{"hipGraphGetNodes", 2},
	{"hipGraphGetRootNodes", 2},
	{"hipGraphNodeGetDependencies", 2},
	{"hipGraphNodeGetDependentNodes", 2},
	{"hipGraphInstantiate", 0xc},
	/* Headers: as many as there are. */
	{"hiprtcCreateProgram", 0x34},
	/* No function: nobody is told. */
	{"hipRegisterActivityCallback", 6},
	{"hipRegisterApiCallback", 6},
};

static const named_arguments always_0_rows[] = {
	/* The value and the comparison: what is not so yet would be waited for. */
	{"hipStreamWaitValue32", 0xc},
	{"hipStreamWaitValue64", 0xc},
	/* A graph that is its own child doubles each time. */
	{"hipGraphAddChildGraphNode", 0x10},
	/* What __hipRegisterFatBinary() gave is followed. */
	{"__hipRegisterFunction", 1},
	{"__hipRegisterManagedVar", 1},
	{"__hipRegisterVar", 1},
	{"__hipRegisterSurface", 1},
	{"__hipRegisterTexture", 1},
	{"__hipUnregisterFatBinary", 1},
	/* A tool's functions are called. */
	{"hipRegisterTracerCallback", 1},
	{"hipRegisterActivityCallback", 2},
	{"hipRegisterApiCallback", 2},
	{"hipInitActivityCallback", 3},
};

#endif

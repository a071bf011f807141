/* Modules: code that is loaded at run time; and functions, of modules or linked with the program. A function or
 * variable belongs to its module. All functions are thread safe. Errors: FileNotFound; InvalidImage, when the image
 * is no code; NoBinaryForGpu, when it is for other GPUs; NotFound, for an unknown name; InvalidResourceHandle, when
 * the handle is no module or function; InvalidDeviceFunction, when the address is no kernel's. */
#ifndef HIP_API_MODULE_H
#define HIP_API_MODULE_H

#include <hip/api/device.h>
#include <hip/driver_types.h>
#include <hip/texture_types.h>
#include <hip/linker_types.h>

/* Resources of a kernel. Sizes are in bytes: sharedSizeBytes of LDS, localSizeBytes of a thread's private memory,
 * constSizeBytes of arguments. numRegs: vector registers. */
typedef struct hipFuncAttributes {
	int binaryVersion;
	int cacheModeCA;
	size_t constSizeBytes;
	size_t localSizeBytes;
	int maxDynamicSharedSizeBytes;
	int maxThreadsPerBlock;
	int numRegs;
	int preferredShmemCarveout;
	int ptxVersion;
	size_t sharedSizeBytes;
} hipFuncAttributes;

typedef enum hipFuncAttribute {
	hipFuncAttributeMaxDynamicSharedMemorySize = 8,
	hipFuncAttributePreferredSharedMemoryCarveout = 9,
	hipFuncAttributeMax = 10
} hipFuncAttribute;
typedef enum hipDriverProcAddressQueryResult {
	HIP_GET_PROC_ADDRESS_SUCCESS = 0,
	HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
	HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} hipDriverProcAddressQueryResult;

HIP_API_BEGIN

/* image: an ELF code object or a bundle, which is copied. */
hipError_t hipModuleLoad(hipModule_t *module, const char *fname);
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned int numOptions,
			       hipJitOption *options, void **optionValues);
/* Work that uses the module must have ended. */
hipError_t hipModuleUnload(hipModule_t module);
/* kname: the symbol's name in the code object, mangled for C++. */
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname);
hipError_t hipModuleGetGlobal(hipDeviceptr_t *dptr, size_t *bytes, hipModule_t hmod, const char *name);
hipError_t hipModuleGetTexRef(textureReference **texRef, hipModule_t hmod, const char *name);

/* func: the kernel's address in host code. */
hipError_t hipFuncGetAttributes(hipFuncAttributes *attr, const void *func);
hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attrib, hipFunction_t hfunc);
hipError_t hipFuncSetAttribute(const void *func, hipFuncAttribute attr, int value);
/* Accepted, without effect. */
hipError_t hipFuncSetCacheConfig(const void *func, hipFuncCache_t config);
hipError_t hipFuncSetSharedMemConfig(const void *func, hipSharedMemConfig config);
hipError_t hipGetFuncBySymbol(hipFunction_t *functionPtr, const void *symbolPtr);
/* The address of a function of this interface in release hipVersion (a HIP_VERSION); flags: 0. Errors:
 * InvalidValue, when no function has that name; symbolStatus, which may be NULL, says so, too. */
hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
			     hipDriverProcAddressQueryResult *symbolStatus);

/* 7.1 and later. image: a bundle, compressed or not, or a code object. */
hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *fatbin);
hipError_t hipModuleGetFunctionCount(unsigned int *count, hipModule_t mod);

typedef enum hipDriverEntryPointQueryResult {
	hipDriverEntryPointSuccess = 0,
	hipDriverEntryPointSymbolNotFound = 1,
	hipDriverEntryPointVersionNotSufficent = 2
} hipDriverEntryPointQueryResult;
/* The same by the name alone (7.1 and later). flags: 0; 1, NULL is the null stream; 2, NULL is the thread's own stream, where a
 * function has such a twin. */
hipError_t hipGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
				  hipDriverEntryPointQueryResult *driverStatus);
hipError_t hipGetDriverEntryPoint_spt(const char *symbol, void **funcPtr, unsigned long long flags,
				      hipDriverEntryPointQueryResult *driverStatus);

/* 7.17 and later. Stores numFunctions handles at most. */
hipError_t hipModuleEnumerateFunctions(hipFunction_t *functions, unsigned int numFunctions, hipModule_t mod);

/* --- libraries (7.2 and later) ---------------------------------------------------------------- */

/* Code as hipModule_t, for whatever device uses it: it is loaded on the device that is current at the first question about the
 * library there, which then gives the errors of loading. A kernel is of one device. Programs use a kernel in place of a
 * hipFunction_t, and as the address that launches take. Errors: InvalidResourceHandle, when the handle is none. */

typedef enum hipLibraryOption {
	hipLibraryHostUniversalFunctionAndDataTable = 0,
	hipLibraryBinaryIsPreserved = 1
} hipLibraryOption;

/* code: an ELF code object or a bundle, which is copied; with hipLibraryBinaryIsPreserved it is not, and must stay. numJitOptions:
 * 0, else InvalidValue. */
hipError_t hipLibraryLoadData(hipLibrary_t *library, const void *code, hipJitOption *jitOptions,
			      void **jitOptionsValues, unsigned int numJitOptions, hipLibraryOption *libraryOptions,
			      void **libraryOptionValues, unsigned int numLibraryOptions);
/* Errors: InvalidValue, when the file cannot be read. */
hipError_t hipLibraryLoadFromFile(hipLibrary_t *library, const char *fileName, hipJitOption *jitOptions,
				  void **jitOptionsValues, unsigned int numJitOptions,
				  hipLibraryOption *libraryOptions, void **libraryOptionValues,
				  unsigned int numLibraryOptions);
/* Waits for the devices that have the library's code. */
hipError_t hipLibraryUnload(hipLibrary_t library);
hipError_t hipLibraryGetKernel(hipKernel_t *pKernel, hipLibrary_t library, const char *name);
hipError_t hipLibraryGetKernelCount(unsigned int *count, hipLibrary_t library);
/* Stores numKernels kernels at most. */
hipError_t hipLibraryEnumerateKernels(hipKernel_t *kernels, unsigned int numKernels, hipLibrary_t library);
/* 7.14 and later. */
hipError_t hipLibraryGetGlobal(void **dptr, size_t *bytes, hipLibrary_t library, const char *name);
hipError_t hipLibraryGetManaged(void **dptr, size_t *bytes, hipLibrary_t library, const char *name);

hipError_t hipKernelGetLibrary(hipLibrary_t *library, hipKernel_t kernel);
/* The name is valid until the library is unloaded. */
hipError_t hipKernelGetName(const char **name, hipKernel_t kernel);
/* 7.11 and later. The place of an argument that the program passes, in bytes; paramSize may be NULL. */
hipError_t hipKernelGetParamInfo(hipKernel_t kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize);
/* 7.12 and later. The attributes on device dev, where the code is loaded if it was not. */
hipError_t hipKernelGetAttribute(int *pi, hipFunction_attribute attrib, hipKernel_t kernel, hipDevice_t dev);
hipError_t hipKernelSetAttribute(hipFunction_attribute attrib, int value, hipKernel_t kernel, hipDevice_t dev);
hipError_t hipKernelGetFunction(hipFunction_t *pFunc, hipKernel_t kernel);
/* 7.16 and later. */
hipError_t hipKernelSetAttributeForDevice(hipKernel_t kernel, hipFuncAttribute attr, int value, int device);

/* --- linking ---------------------------------------------------------------------------------- */

/* Links objects and bitcode to code for the current device; options and optionValues are pairs. */
hipError_t hipLinkCreate(unsigned int numOptions, hipJitOption *options, void **optionValues,
			 hipLinkState_t *stateOut);
/* data and path are copied. name: for messages. */
hipError_t hipLinkAddData(hipLinkState_t state, hipJitInputType type, void *data, size_t size, const char *name,
			  unsigned int numOptions, hipJitOption *options, void **optionValues);
hipError_t hipLinkAddFile(hipLinkState_t state, hipJitInputType type, const char *path, unsigned int numOptions,
			  hipJitOption *options, void **optionValues);
/* The code belongs to the state. */
hipError_t hipLinkComplete(hipLinkState_t state, void **hipBinOut, size_t *sizeOut);
hipError_t hipLinkDestroy(hipLinkState_t state);

HIP_API_END

#endif

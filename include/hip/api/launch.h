/* Kernel launches, and the functions that `kernel<<<grid, block, bytes, stream>>>(...)` calls. Kernels begin in the
 * stream's order. Arguments are copied before a launch returns. Grids are in blocks, blocks in threads;
 * sharedMemBytes of LDS are added to what the kernel declares. All functions are thread safe. Errors: InvalidValue,
 * for an empty grid or block, more threads or LDS than a block can have, or contradicting arguments;
 * InvalidConfiguration, for a grid of 2^32 threads or more in one dimension; LaunchFailure, when the kernel was
 * compiled for smaller blocks; InvalidDeviceFunction, InvalidResourceHandle, when the function is no kernel;
 * CooperativeLaunchTooLarge, when not all blocks can be resident. */
#ifndef HIP_API_LAUNCH_H
#define HIP_API_LAUNCH_H

#include <hip/api/event.h>
#include <hip/api/module.h>

/* Keys of the list `extra`: POINTER and the address of the packed arguments, SIZE and the address of their size,
 * END. */
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE    ((void *)0x02)
#define HIP_LAUNCH_PARAM_END            ((void *)0x03)

/* Multi-device launches do not wait for earlier work of each device, or later work does not wait for them. */
#define hipCooperativeLaunchMultiDeviceNoPreSync  0x01
#define hipCooperativeLaunchMultiDeviceNoPostSync 0x02
/* The launch need not keep the stream's order. */
#define hipExtAnyOrderLaunch 0x01

#define hipOccupancyDefault                0x00
#define hipOccupancyDisableCachingOverride 0x01

/* One launch of a multi-device launch. args: the address of each of the kernel's arguments. */
typedef struct hipLaunchParams_t {
	void *func;
	dim3 gridDim;
	dim3 blockDim;
	void **args;
	size_t sharedMem;
	hipStream_t stream;
} hipLaunchParams;

typedef struct hipFunctionLaunchParams_t {
	hipFunction_t function;
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	hipStream_t hStream;
	void **kernelParams;
} hipFunctionLaunchParams;

/* One launch with attributes. */
typedef struct hipLaunchConfig_st {
	dim3 gridDim;
	dim3 blockDim;
	size_t dynamicSmemBytes;
	hipStream_t stream;
	hipLaunchAttribute *attrs;
	unsigned int numAttrs;
} hipLaunchConfig_t;

typedef struct HIP_LAUNCH_CONFIG_st {
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	hipStream_t hStream;
	hipLaunchAttribute *attrs;
	unsigned int numAttrs;
} HIP_LAUNCH_CONFIG;

HIP_API_BEGIN

/* args: the address of each argument. */
hipError_t hipLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
			   size_t sharedMemBytes HIP_DEFAULT_ARG(0), hipStream_t stream HIP_DEFAULT_ARG(0));
/* startEvent, stopEvent: recorded before and after, or NULL. flags: 0 or hipExtAnyOrderLaunch. */
hipError_t hipExtLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
			      size_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent,
			      hipEvent_t stopEvent, int flags);
/* Arguments by kernelParams, as above, or by extra. */
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
				 unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
				 unsigned int blockDimZ, unsigned int sharedMemBytes, hipStream_t stream,
				 void **kernelParams, void **extra);
/* All blocks are resident at the same time, so that the grid can synchronize. */
hipError_t hipLaunchCooperativeKernel(const void *f, dim3 gridDim, dim3 blockDimX, void **kernelParams,
				      unsigned int sharedMemBytes, hipStream_t stream);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
					    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
					    unsigned int blockDimZ, unsigned int sharedMemBytes, hipStream_t stream,
					    void **kernelParams);
/* One launch on each of several devices, which can synchronize. Errors: InvalidDevice, for a device that occurs
 * twice. */
hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices,
						 unsigned int flags);
hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams *launchParamsList,
						       unsigned int numDevices, unsigned int flags);
hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices,
					      unsigned int flags);

/* --- occupancy -------------------------------------------------------------------------------- */

/* The number of blocks of that size that a compute unit runs at a time; may be 0. */
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *f, int blockSize,
							size_t dynSharedMemPerBlk);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *f, int blockSize,
								 size_t dynSharedMemPerBlk,
								 unsigned int flags HIP_DEFAULT_ARG(0x00));
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, hipFunction_t f, int blockSize,
							      size_t dynSharedMemPerBlk);
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, hipFunction_t f,
								       int blockSize, size_t dynSharedMemPerBlk,
								       unsigned int flags);
/* The block size with the highest occupancy, and the number of such blocks that fill the device. blockSizeLimit 0:
 * the device's limit. */
hipError_t hipOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, const void *f,
					     size_t dynSharedMemPerBlk, int blockSizeLimit);
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, hipFunction_t f,
						   size_t dynSharedMemPerBlk, int blockSizeLimit);
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize, int *blockSize, hipFunction_t f,
							    size_t dynSharedMemPerBlk, int blockSizeLimit,
							    unsigned int flags);

/* --- what compilers call ---------------------------------------------------------------------- */

/* Pass the configuration between <<< and >>> to the launch that follows on this thread. */
hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem HIP_DEFAULT_ARG(0),
				      hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t __hipPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, hipStream_t *stream);
/* The same in three steps, for compilers before clang 9. */
hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem HIP_DEFAULT_ARG(0),
			    hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipSetupArgument(const void *arg, size_t size, size_t offset);
hipError_t hipLaunchByPtr(const void *func);

/* --- 7.0 and later ---------------------------------------------------------------------------- */

/* Launches with attributes, of which cooperative is supported. Errors: InvalidConfiguration, for others. */
hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *fPtr, void **args);
hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config, hipFunction_t f, void **params, void **extra);
/* The bytes of LDS that each block can have beside the kernel's own when a compute unit runs that many. */
hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *f, int numBlocks,
						    int blockSize);

HIP_API_END

#endif

/* The C++ part of the host interface: templates for typed pointers, variables and kernels. */
#ifndef HIP_API_TEMPLATES_H
#define HIP_API_TEMPLATES_H

#include <hip/api/copy.h>
#include <hip/api/launch.h>
#include <hip/api/pool.h>
#include <hip/api/texture.h>

#ifdef __cplusplus

/* --- memory: T **, also of const and volatile T, instead of void **
 * ----------------------------------------------------------- */

template <typename T> HIP_INLINE hipError_t hipMalloc(T **ptr, size_t size_B)
{
	return hipMalloc((void **)ptr, size_B);
}

template <typename T> HIP_INLINE hipError_t hipMallocPitch(T **ptr, size_t *pitch_B, size_t width_B, size_t rows)
{
	return hipMallocPitch((void **)ptr, pitch_B, width_B, rows);
}

template <typename T>
HIP_INLINE hipError_t hipHostMalloc(T **ptr, size_t size_B, unsigned int flags = hipHostMallocDefault)
{
	return hipHostMalloc((void **)ptr, size_B, flags);
}

template <typename T>
HIP_INLINE hipError_t hipHostAlloc(T **ptr, size_t size_B, unsigned int flags = hipHostAllocDefault)
{
	return hipHostAlloc((void **)ptr, size_B, flags);
}

template <typename T>
HIP_INLINE hipError_t hipMallocManaged(T **ptr, size_t size_B, unsigned int flags = hipMemAttachGlobal)
{
	return hipMallocManaged((void **)ptr, size_B, flags);
}

template <typename T> HIP_INLINE hipError_t hipMallocAsync(T **ptr, size_t size_B, hipStream_t stream)
{
	return hipMallocAsync((void **)ptr, size_B, stream);
}

template <typename T>
HIP_INLINE hipError_t hipMallocAsync(T **ptr, size_t size_B, hipMemPool_t pool, hipStream_t stream)
{
	return hipMallocFromPoolAsync((void **)ptr, size_B, pool, stream);
}

HIP_INLINE hipError_t hipMallocAsync(void **ptr, size_t size_B, hipMemPool_t pool, hipStream_t stream)
{
	return hipMallocFromPoolAsync(ptr, size_B, pool, stream);
}

template <typename T>
HIP_INLINE hipError_t hipMallocFromPoolAsync(T **ptr, size_t size_B, hipMemPool_t pool, hipStream_t stream)
{
	return hipMallocFromPoolAsync((void **)ptr, size_B, pool, stream);
}

/* --- variables: the variable instead of its address -------------------------------------------- */

template <typename T> HIP_INLINE hipError_t hipGetSymbolAddress(void **ptr, const T &symbol)
{
	return hipGetSymbolAddress(ptr, reinterpret_cast<const void *>(&symbol));
}

template <typename T> HIP_INLINE hipError_t hipGetSymbolSize(size_t *size_B, const T &symbol)
{
	return hipGetSymbolSize(size_B, reinterpret_cast<const void *>(&symbol));
}

template <typename T>
HIP_INLINE hipError_t hipMemcpyToSymbol(const T &symbol, const void *src, size_t size_B, size_t offset_B = 0,
					hipMemcpyKind kind = hipMemcpyHostToDevice)
{
	return hipMemcpyToSymbol(reinterpret_cast<const void *>(&symbol), src, size_B, offset_B, kind);
}

template <typename T>
HIP_INLINE hipError_t hipMemcpyToSymbolAsync(const T &symbol, const void *src, size_t size_B, size_t offset_B,
					     hipMemcpyKind kind, hipStream_t stream = 0)
{
	return hipMemcpyToSymbolAsync(reinterpret_cast<const void *>(&symbol), src, size_B, offset_B, kind, stream);
}

template <typename T>
HIP_INLINE hipError_t hipMemcpyFromSymbol(void *dst, const T &symbol, size_t size_B, size_t offset_B = 0,
					  hipMemcpyKind kind = hipMemcpyDeviceToHost)
{
	return hipMemcpyFromSymbol(dst, reinterpret_cast<const void *>(&symbol), size_B, offset_B, kind);
}

template <typename T>
HIP_INLINE hipError_t hipMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t size_B, size_t offset_B,
					       hipMemcpyKind kind, hipStream_t stream = 0)
{
	return hipMemcpyFromSymbolAsync(dst, reinterpret_cast<const void *>(&symbol), size_B, offset_B, kind,
					stream);
}

/* --- kernels: the kernel instead of its address ------------------------------------------------ */

template <typename... A_>
HIP_INLINE hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, void (*kernel)(A_...))
{
	return hipFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}

template <typename... A_>
HIP_INLINE hipError_t hipFuncSetAttribute(void (*kernel)(A_...), hipFuncAttribute attribute, int value)
{
	return hipFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}

template <typename... A_> HIP_INLINE hipError_t hipFuncSetCacheConfig(void (*kernel)(A_...), hipFuncCache_t config)
{
	return hipFuncSetCacheConfig(reinterpret_cast<const void *>(kernel), config);
}

template <typename... A_>
HIP_INLINE hipError_t hipLaunchKernel(void (*kernel)(A_...), dim3 grid, dim3 block, void **arguments,
				      size_t shared_B = 0, hipStream_t stream = 0)
{
	return hipLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, shared_B, stream);
}

template <typename T>
HIP_INLINE hipError_t hipLaunchCooperativeKernel(T kernel, dim3 grid, dim3 block, void **arguments,
						 unsigned int shared_B, hipStream_t stream)
{
	return hipLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, shared_B,
					  stream);
}

template <typename T>
HIP_INLINE hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block_size,
								   size_t dynamic_B)
{
	return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void *>(kernel),
							    block_size, dynamic_B);
}

template <typename T>
HIP_INLINE hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel, int block_size,
									    size_t dynamic_B, unsigned int flags)
{
	return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void *>(kernel),
								     block_size, dynamic_B, flags);
}

template <typename T>
HIP_INLINE hipError_t hipOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size, T kernel,
							size_t dynamic_B = 0, int block_size_limit = 0)
{
	return hipOccupancyMaxPotentialBlockSize(grid_size, block_size, reinterpret_cast<const void *>(kernel),
						 dynamic_B, block_size_limit);
}

template <typename T>
HIP_INLINE hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int *grid_size, int *block_size, T kernel,
								 size_t dynamic_B = 0, int block_size_limit = 0,
								 unsigned int = hipOccupancyDefault)
{
	return hipOccupancyMaxPotentialBlockSize(grid_size, block_size, kernel, dynamic_B, block_size_limit);
}

/* dynamic_B(threads): bytes of LDS for a block of that size. Returns the largest block size with the highest
 * occupancy. */
template <typename F_, typename T>
HIP_INLINE hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, T kernel,
								    F_ dynamic_B, int block_size_limit = 0)
{
	hipFuncAttributes attributes;
	int device = 0, units = 0, warp = 0, most = 0;
	hipError_t error = hipGetDevice(&device);

	if (!grid_size || !block_size || !kernel)
		return hipErrorInvalidValue;
	if (!error)
		error = hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
	if (!error)
		error = hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, device);
	if (!error)
		error = hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel));
	if (error)
		return error;
	*grid_size = 0;
	*block_size = 0;
	int limit = attributes.maxThreadsPerBlock;

	if (block_size_limit > 0 && block_size_limit < limit)
		limit = block_size_limit;
	for (int size = (limit + warp - 1) / warp * warp; size > 0 && !error; size -= warp) {
		int threads = size < limit ? size : limit, blocks = 0;

		error = hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic_B(threads));
		if (!error && blocks * threads > most) {
			most = blocks * threads;
			*block_size = threads;
			*grid_size = blocks * units;
		}
	}
	return error;
}

template <typename F_, typename T>
HIP_INLINE hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
	int *grid_size, int *block_size, T kernel, F_ dynamic_B, int block_size_limit = 0,
	unsigned int flags = hipOccupancyDefault)
{
	if (flags > hipOccupancyDisableCachingOverride)
		return hipErrorInvalidValue;
	return hipOccupancyMaxPotentialBlockSizeVariableSMem(grid_size, block_size, kernel, dynamic_B,
							     block_size_limit);
}

/* --- texture references by their own types; without a description the variable's elements are meant --- */

#ifdef __HIP__
template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipBindTexture(size_t *offset, const texture<T, type, mode> &tex,
						    const void *devPtr, const hipChannelFormatDesc &desc,
						    size_t size = 0xffffffffu)
{
	return hipBindTexture(offset, &tex, devPtr, &desc, size);
}

template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipBindTexture(size_t *offset, const texture<T, type, mode> &tex,
						    const void *devPtr, size_t size = 0xffffffffu)
{
	return hipBindTexture(offset, &tex, devPtr, &tex.channelDesc, size);
}

template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipBindTexture2D(size_t *offset, const texture<T, type, mode> &tex,
						      const void *devPtr, const hipChannelFormatDesc &desc,
						      size_t width, size_t height, size_t pitch)
{
	return hipBindTexture2D(offset, &tex, devPtr, &desc, width, height, pitch);
}

template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipBindTexture2D(size_t *offset, const texture<T, type, mode> &tex,
						      const void *devPtr, size_t width, size_t height, size_t pitch)
{
	return hipBindTexture2D(offset, &tex, devPtr, &tex.channelDesc, width, height, pitch);
}

template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipBindTextureToArray(const texture<T, type, mode> &tex,
							   hipArray_const_t array, const hipChannelFormatDesc &desc)
{
	return hipBindTextureToArray(&tex, array, &desc);
}

/* Uses the format of the array's elements. */
template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipBindTextureToArray(const texture<T, type, mode> &tex,
							   hipArray_const_t array)
{
	hipChannelFormatDesc desc;
	hipError_t error = hipGetChannelDesc(&desc, array);

	return error ? error : hipBindTextureToArray(&tex, array, &desc);
}

template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipBindTextureToMipmappedArray(const texture<T, type, mode> &tex,
								    hipMipmappedArray_const_t array,
								    const hipChannelFormatDesc &desc)
{
	return hipBindTextureToMipmappedArray(&tex, array, &desc);
}

template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipBindTextureToMipmappedArray(const texture<T, type, mode> &tex,
								    hipMipmappedArray_const_t array)
{
	return hipBindTextureToMipmappedArray(&tex, array, &tex.channelDesc);
}

template <class T, int type, hipTextureReadMode mode>
HIP_DEPRECATED HIP_INLINE hipError_t hipUnbindTexture(const texture<T, type, mode> &tex)
{
	return hipUnbindTexture(&tex);
}
#endif

#endif
#endif

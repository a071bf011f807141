/* Code objects: loading GPU code, finding its kernels and variables.
 *
 *   code     a code object, loaded into memory of one device: what clang makes of a source with --offload-arch
 *   kernel   a GPU function of a code object, for tuff_cmd_dispatch()
 *
 * Ownership. The caller owns the code and unloads it. Kernels and their names belong to the code and end with it.
 *
 * Threads. All functions are thread safe. */
#ifndef TUFF_CODE_H
#define TUFF_CODE_H

#include <tuff/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loads a code object for the device: an AMDGPU ELF of ABI version 3 to 6, or an offload bundle that contains one
 * for the chip. image is read during the call.
 *
 * -ENOEXEC: broken, or for another chip; -ENOTSUP: it needs what tuff does not do. Thread safe. */
TUFF_API TUFF_CHECK int tuff_code_load(struct tuff_device *device, const void *image, size_t size_B,
				       struct tuff_code **code);
/* Unloads it with its kernels; no submitted work may still run them. NULL is allowed. Thread safe. */
TUFF_API int tuff_code_unload(struct tuff_code *code);

/* Finds the kernel of that name (mangled, without ".kd"). -ENOENT: there is none. Thread safe. */
TUFF_API TUFF_CHECK int tuff_code_kernel(struct tuff_code *code, const char *name, struct tuff_kernel **kernel);
/* Gives the kernels one by one, in order of their names. -ENOENT: index is past the last. Thread safe. */
TUFF_API TUFF_CHECK int tuff_code_kernel_at(struct tuff_code *code, unsigned index, struct tuff_kernel **kernel);
/* Gives address and size of a variable of the program. -ENOENT: there is none of that name. Thread safe. */
TUFF_API TUFF_CHECK int tuff_code_variable(struct tuff_code *code, const char *name, uint64_t *va,
					   uint64_t *size_B);

struct tuff_kernel_info {
	const char *name;       /* owned by the code */
	uint32_t args_B;        /* explicit arguments, as the kernel lays them out */
	uint32_t lds_B;         /* static shared memory of a workgroup */
	uint32_t private_B;     /* scratch of a work-item */
	uint32_t max_threads;   /* work-items of a workgroup, from __launch_bounds__; 0: not said */
	uint64_t descriptor_va; /* address of the 64-byte kernel descriptor (LLVM AMDGPUUsage) */
};

/* Gives a kernel's facts. Thread safe. */
TUFF_API TUFF_CHECK int tuff_kernel_query_sized(struct tuff_kernel *kernel, struct tuff_kernel_info *info,
						size_t info_B);
TUFF_INLINE int tuff_kernel_query(struct tuff_kernel *kernel, struct tuff_kernel_info *info)
{
	return tuff_kernel_query_sized(kernel, info, sizeof(*info));
}

#ifdef __cplusplus
}
#endif

#endif

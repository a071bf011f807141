/* Code objects: what clang makes of a kernel's source with --offload-arch. */
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

/* The kernel of that name (mangled, without ".kd"). It lives as long as the code. -ENOENT. Thread safe. */
TUFF_API TUFF_CHECK int tuff_code_kernel(struct tuff_code *code, const char *name, struct tuff_kernel **kernel);
/* The kernels in order of their names. -ENOENT: past the last. Thread safe. */
TUFF_API TUFF_CHECK int tuff_code_kernel_at(struct tuff_code *code, unsigned index, struct tuff_kernel **kernel);
/* Address and size of a variable of the program. -ENOENT. Thread safe. */
TUFF_API TUFF_CHECK int tuff_code_variable(struct tuff_code *code, const char *name, uint64_t *va,
					   uint64_t *size_B);

struct tuff_kernel_info {
	const char *name;       /* owned by the code */
	uint32_t args_B;        /* explicit arguments, as the kernel lays them out */
	uint32_t lds_B;         /* static shared memory of a workgroup */
	uint32_t private_B;     /* scratch of a work-item */
	uint32_t max_threads;   /* of a workgroup, from __launch_bounds__; 0: not said */
	uint64_t descriptor_va; /* of the 64-byte kernel descriptor (LLVM AMDGPUUsage) */
};

/* Thread safe. */
TUFF_API TUFF_CHECK int tuff_kernel_info(struct tuff_kernel *kernel, struct tuff_kernel_info *info);

#ifdef __cplusplus
}
#endif

#endif

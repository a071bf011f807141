/* Code on devices: fat binaries, modules, kernels and variables.
 *
 *   hip_code    a code object loaded on a device; owned by the binary or module that it comes from
 *   hip_kernel  a kernel of a hip_code, with the data that a launch needs; a value, valid while the code is loaded
 *
 * Locks: binary.c's guards registered names and their code; a module's guards its functions; code.c's the lists of
 * variables.
 */
#ifndef API_MODULE_H
#define API_MODULE_H

#include "api/base/base.h"

#define HIP_MOVES_MAX 16
/* Bytes of hidden arguments are copied in blocks of this size. */
#define HIP_HIDDEN_BLOCK_B 32u

struct hip_kernel {
	uint64_t object;
	const struct cs_kernel *cs; /* borrowed from HSA while the code is loaded: hip_code.unloader */
	struct hip_device *device;
	uint32_t group_B, private_B;
	uint32_t dynamic_max_B, threads_max; /* limits of a launch */
	uint32_t args_B;                     /* bytes of its arguments, rounded up, in a stream's chunks */
	/* Bytes from the first to the last hidden argument, which the compiler adds; at most 320: else the kernel
	 * is not plain. */
	uint32_t hidden_B;
	unsigned losses; /* hip_code.losses of its code */
	unsigned number; /* kernels are numbered in the order in which they are looked up */
	/* The stack use is not known to the compiler: private_B does not cover it, and the device's limit for
	 * stacks does. */
	bool calls;
	bool prints; /* writes printf messages to a buffer */
	bool plain;  /* neither calls nor prints */
	bool moved; /* each explicit argument has 8 or 4 bytes, and there are few: `move` has them, those of 8 first */
	uint8_t eights, moves;
	struct hip_move {
		uint16_t arg, offset_B;
	} move[HIP_MOVES_MAX];
	struct drv_retired retired; /* used when neither a handle nor the program names the kernel any more */
};

struct hip_unloader;

struct hip_code {
	struct hip_device *device;
	unsigned losses;                /* the device's `losses` when the code was loaded */
	hsa_executable_t executable;    /* owned by the unloader */
	struct hip_unloader *unloader;  /* owned: outlives the code, as long as calls may use its kernels */
	struct hip_variable *variables; /* owned: variables that were looked up; guarded by code.c's lock */
};

/* True when the code may be lost: it is in device memory, and the GPU was reset after a fault since it was
 * loaded. */
static inline bool hip_code_lost(const struct hip_device *device, unsigned losses)
{
	return atomic_load_explicit(&device->losses, memory_order_relaxed) != losses;
}
/* Loads an image: a code object, or a bundle. size_B 0: the size is in the image's headers, and the image may be a wrapper that
 * refers to archives of code (kpack.h), too. */
hipError_t hip_code_load(struct hip_device *device, const void *image, size_t size_B, struct hip_code *code);
/* The size of an image by its own headers. 0: unknown, or the headers contradict themselves. */
size_t hip_image_size(const void *image);
/* The kernels stay valid for the calls that run: hip_retire_flush() unloads the code behind the last one. */
void hip_code_unload(struct hip_code *code);
/* Incremented when code is unloaded or device data that kernels use is freed: afterwards another kernel may have a
 * kernel's address. */
extern DRV_OWN _Atomic unsigned hip_codes;
/* Has end() free a kernel, which neither a handle nor the program names any more, when no call uses it. */
void hip_kernel_retire(struct hip_kernel *kernel, void (*end)(struct drv_retired *retired));
hipError_t hip_code_kernel(const struct hip_code *code, const char *name, struct hip_kernel *kernel);
/* Finds a variable, and registers its memory for copies and fills. Errors: NotFound. */
hipError_t hip_code_variable(struct hip_code *code, const char *name, void **address, size_t *size_B);

/* The kernel that the program was linked with, by its host address. Errors: InvalidDeviceFunction. */
hipError_t hip_kernel_of(const void *host, struct hip_device *device, const struct hip_kernel **kernel);
/* CLR's error for an unknown address that is not NULL is InvalidSymbol in queries and in cooperative launches. */
static inline hipError_t hip_kernel_unknown(const void *function, hipError_t r)
{
	return function && r == hipErrorInvalidDeviceFunction ? hipErrorInvalidSymbol : r;
}
static inline hipError_t hip_kernel_query(const void *function, struct hip_device *device,
					  const struct hip_kernel **kernel)
{
	return hip_kernel_unknown(function, hip_kernel_of(function, device, kernel));
}
/* The bytes of __constant__ memory in the binary that registered that kernel. */
size_t hip_constants_of(const void *host);
hipError_t hip_variable_of(const void *host, struct hip_device *device, void **address, size_t *size_B);

/* Finds a variable of a module (module.c), for hipModuleGetGlobal(). */
hipError_t hip_module_variable(hipDeviceptr_t *address, size_t *size_B, hipModule_t module, const char *name);
/* Called before a module is unloaded, to end its texture references; NULL: there were none yet. */
typedef void hip_module_fn(hipModule_t module);
extern DRV_OWN hip_module_fn *_Atomic hip_module_unloading;
/* The kernel of a function's handle (module.c). Errors: InvalidResourceHandle. */
hipError_t hip_function_of(hipFunction_t handle, const struct hip_kernel **kernel);
/* The kernel that a function's handle or a host address names. */
hipError_t hip_kernel_named(const void *function, struct hip_device *device, const struct hip_kernel **kernel);
/* The kernel that a launch by host address names: with HIP 7 a function's handle, too, of that device. */
static inline hipError_t hip_kernel_launched(const void *function, struct hip_device *device,
					     const struct hip_kernel **kernel)
{
	hipError_t r;

	if (TUFF_HIP_ABI < 7)
		return hip_kernel_of(function, device, kernel);
	r = hip_kernel_named(function, device, kernel);
	return r || (*kernel)->device == device ? r : hipErrorInvalidResourceHandle;
}
/* Attributes of kernels (module.c). Errors: InvalidValue, for an unknown attribute or a value that it cannot have. */
hipError_t hip_kernel_attribute(const struct hip_kernel *k, hipFunction_attribute attribute, int *value);
hipError_t hip_kernel_set_attribute(const struct hip_kernel *k, hipFuncAttribute attribute, int value);

/* Loads and unloads a module, for libraries too (module.c). library: the handle of the library that the module belongs
 * to; 0: none. */
hipError_t hip_module_load(struct hip_device *device, const void *image, size_t size_B, uint64_t library,
			   hipModule_t *module);
hipError_t hip_module_unload(hipModule_t module);
hipError_t hip_module_function(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hip_module_count(unsigned *count, hipModule_t module);
/* Stores the functions of `max` kernels at most. */
hipError_t hip_module_functions(hipFunction_t *functions, unsigned max, hipModule_t module);
/* Finds a managed variable. Errors: NotFound. */
hipError_t hip_module_managed(void **address, size_t *size_B, hipModule_t module, const char *name);
/* The handle of the library that has the kernel of a function, 0 if none has; and its name there. */
uint64_t hip_function_library(const struct hip_kernel *kernel, const char **name);
/* Drops the function handle of a linked kernel. */
void hip_function_drop(const struct hip_device *device, uint64_t object);
/* The number of blocks that a compute unit runs at a time, with that many threads and bytes of dynamic LDS each
 * (occupancy.c). */
unsigned hip_occupancy(const struct hip_kernel *kernel, unsigned threads, size_t lds_B);

void hip_binaries_reset(struct hip_device *device);
#endif

/* Code: fat binaries, code objects on a device, kernels and variables. */
#ifndef API_MODULE_H
#define API_MODULE_H

#include "api/base/retire.h"

struct hip_kernel {
	uint64_t object;
	const struct cs_kernel *cs; /* borrowed from HSA, while the code is loaded */
	struct hip_device *device;
	uint32_t group_B, private_B;
	uint32_t dynamic_max_B, threads_max; /* of a launch */
	uint32_t args_B;                     /* what its arguments take in a stream's memory for them */
	uint32_t hidden_B;                   /* from the compiler's first argument to its last; at most 320: else it
					      * is not plain */
	unsigned losses;                     /* the code's */
	bool calls;                          /* what private_B does not cover: the device's stack is for that */
	bool prints;                         /* leaves messages of printf in a buffer */
	bool plain;                          /* neither */
	struct hip_retired retired;          /* once no handle and no program names it */
};

struct hip_code {
	struct hip_device *device;
	unsigned losses;                /* the device's, when it was loaded */
	hsa_executable_t executable;    /* owned */
	struct hip_variable *variables; /* owned: those that were asked for; guarded by code.c's lock */
};

/* It lies in the device's memory, and a GPU that was reset behind a fault may have lost that. */
static inline bool hip_code_lost(const struct hip_device *device, unsigned losses)
{
	return atomic_load_explicit(&device->losses, memory_order_relaxed) != losses;
}
/* image: a code object, a bundle, or a fat binary; size_B 0: as its headers say. */
hipError_t hip_code_load(struct hip_device *device, const void *image, size_t size_B, struct hip_code *code);
void hip_code_unload(struct hip_code *code);
/* Grows when code is unloaded, and what a device gives to kernels may go: then another kernel may have a kernel's
 * address. */
extern DRV_OWN _Atomic unsigned hip_codes;
hipError_t hip_code_kernel(const struct hip_code *code, const char *name, struct hip_kernel *kernel);
/* Copies and fills know the variable from then on. NotFound. */
hipError_t hip_code_variable(struct hip_code *code, const char *name, void **address, size_t *size_B);

/* The kernel of a key that the program was linked with. InvalidDeviceFunction. */
hipError_t hip_kernel_of(const void *host, struct hip_device *device, const struct hip_kernel **kernel);
/* A kernel that is asked about. As CLR: what is none is an invalid symbol then, unless it is NULL. */
static inline hipError_t hip_kernel_query(const void *function, struct hip_device *device,
					  const struct hip_kernel **kernel)
{
	hipError_t r = hip_kernel_of(function, device, kernel);

	return function && r == hipErrorInvalidDeviceFunction ? hipErrorInvalidSymbol : r;
}
/* The __constant__ memory that was registered with that key's kernel. */
size_t hip_constants_of(const void *host);
hipError_t hip_variable_of(const void *host, struct hip_device *device, void **address, size_t *size_B);

/* A variable of a module (module.c), as hipModuleGetGlobal() finds it. */
hipError_t hip_module_variable(hipDeviceptr_t *address, size_t *size_B, hipModule_t module, const char *name);
/* Called before a module is unloaded: ends its texture references; NULL: there were none yet. */
typedef void hip_module_fn(hipModule_t module);
extern DRV_OWN hip_module_fn *_Atomic hip_module_unloading;
/* The kernel of a handle (module.c). InvalidResourceHandle. */
hipError_t hip_function_of(hipFunction_t handle, const struct hip_kernel **kernel);
/* That of one that the program was linked with goes. */
void hip_function_drop(const struct hip_device *device, uint64_t object);
/* Blocks of so many threads, with that much dynamic LDS, that a compute unit runs at a time (occupancy.c). */
unsigned hip_occupancy(const struct hip_kernel *kernel, unsigned threads, size_t lds_B);

void hip_binaries_reset(struct hip_device *device);
#endif

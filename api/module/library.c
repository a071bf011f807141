/* Libraries (HIP 7): an image that is loaded as a module on each device that asks for it. Kernels of libraries are functions of
 * those modules (module.c), and their handles are those of functions. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/base/entry.h"
#include "api/base/file.h"
#include "api/module/module.h"

#if TUFF_HIP_ABI >= 7
struct library {
	struct drv_retired retired; /* used when the library is unloaded */
	uint64_t handle;
	const char *image; /* NULL: an empty file */
	char *copy;        /* owned: the image, unless the program keeps it */
	size_t size_B;     /* 0: in the image's headers */
	struct drv_mutex lock;
	bool unloaded;                       /* guarded by lock */
	hipModule_t module[HIP_DEVICES_MAX]; /* owned; NULL: not loaded there. Guarded by lock */
};

/* --- loading ---------------------------------------------------------------------------------- */

static void library_free(struct drv_retired *retired)
{
	struct library *l = vm_container(retired, struct library, retired);

	drv_mutex_destroy(&l->lock);
	free(l->copy);
	free(l);
}

/* Takes over l->copy, even after an error. */
static hipError_t library_open(const struct library *like, hipLibrary_t *out)
{
	struct library *l = malloc(sizeof(*l));

	if (l) {
		*l = *like;
		drv_mutex_init(&l->lock, DRV_RANK_HIP_LIBRARY);
		if (!drv_handle_create(&hip_handles, HIP_KIND(HIP_LIBRARY), l, &l->handle)) {
			*out = (hipLibrary_t)(uintptr_t)l->handle;
			return hipSuccess;
		}
		drv_mutex_destroy(&l->lock);
		free(l);
	}
	free(like->copy);
	return hipErrorOutOfMemory;
}

static bool is_preserved(const hipLibraryOption *options, void *const *values, unsigned count)
{
	for (unsigned i = 0; options && values && i < count; i++)
		if (options[i] == hipLibraryBinaryIsPreserved)
			return values[i] != NULL;
	return false;
}

/* An image whose headers tell no size is not copied: CLR copies none. */
HIP_PUBLIC(hipLibraryLoadData,
	   (hipLibrary_t *library, const void *image, hipJitOption *jit, void **jit_values, unsigned int jit_count,
	    hipLibraryOption *options, void **values, unsigned int count),
	   (library, image, jit, jit_values, jit_count, options, values, count))
{
	struct library l = {.image = image};

	(void)jit, (void)jit_values;
	if (!library || !image || jit_count)
		return hipErrorInvalidValue;
	if (!is_preserved(options, values, count))
		l.size_B = hip_image_size(image);
	if (l.size_B) {
		l.copy = malloc(l.size_B);
		if (!l.copy)
			return hipErrorOutOfMemory;
		l.image = memcpy(l.copy, image, l.size_B);
	}
	return library_open(&l, library);
}

HIP_PUBLIC(hipLibraryLoadFromFile,
	   (hipLibrary_t *library, const char *path, hipJitOption *jit, void **jit_values, unsigned int jit_count,
	    hipLibraryOption *options, void **values, unsigned int count),
	   (library, path, jit, jit_values, jit_count, options, values, count))
{
	struct library l = {0};
	hipError_t r;

	(void)jit, (void)jit_values, (void)options, (void)values, (void)count;
	if (!library || !path || jit_count)
		return hipErrorInvalidValue;
	r = hip_file_read(path, &l.copy, &l.size_B);
	if (r)
		return r == hipErrorFileNotFound ? hipErrorInvalidValue : r;
	l.image = l.size_B ? l.copy : NULL;
	return library_open(&l, library);
}

HIP_PUBLIC(hipLibraryUnload, (hipLibrary_t handle), (handle))
{
	struct library *l = hip_find(HIP_LIBRARY, handle);
	bool unloaded;

	if (!l)
		return hipErrorInvalidResourceHandle;
	drv_mutex_lock(&l->lock);
	unloaded = l->unloaded;
	l->unloaded = true;
	drv_mutex_unlock(&l->lock);
	if (unloaded)
		return hipErrorInvalidResourceHandle;
	drv_handle_destroy(&hip_handles, l->handle);
	/* No thread changes the modules any more. */
	for (unsigned d = 0; d < hip.devices; d++)
		if (l->module[d])
			(void)!hip_module_unload(l->module[d]);
	drv_retire(&hip_calls, &l->retired, library_free);
	hip_retire_flush();
	return hipSuccess;
}

/* --- modules of a library --------------------------------------------------------------------- */

/* Stores the module for the device, unless another thread has stored one, and gives the one that is stored. NULL: the library
 * was unloaded meanwhile. */
static hipModule_t module_store(struct library *l, const struct hip_device *device, hipModule_t module)
{
	hipModule_t stored = NULL;

	drv_mutex_lock(&l->lock);
	if (!l->unloaded) {
		if (!l->module[device->index])
			l->module[device->index] = module;
		stored = l->module[device->index];
	}
	drv_mutex_unlock(&l->lock);
	return stored;
}

/* The lock is not held while the code is loaded: loading frees what was retired, which takes other locks. */
static hipError_t module_of(hipLibrary_t handle, struct hip_device *device, hipModule_t *out)
{
	struct library *l = hip_find(HIP_LIBRARY, handle);
	hipModule_t made;
	hipError_t r;

	if (!l)
		return hipErrorInvalidResourceHandle;
	*out = module_store(l, device, NULL);
	if (*out)
		return hipSuccess;
	if (!l->image)
		return hipErrorInvalidImage;
	r = hip_module_load(device, l->image, l->size_B, l->handle, &made);
	if (r)
		return r;
	*out = module_store(l, device, made);
	if (*out != made)
		(void)!hip_module_unload(made);
	return *out ? hipSuccess : hipErrorInvalidResourceHandle;
}

HIP_PUBLIC(hipLibraryGetKernel, (hipKernel_t *kernel, hipLibrary_t library, const char *name),
	   (kernel, library, name))
{
	hipFunction_t function;
	hipModule_t module;
	hipError_t r;

	if (!kernel || !library || !name)
		return hipErrorInvalidValue;
	r = module_of(library, hip_current(), &module);
	/* CLR's error for the empty name is that of an unknown one. */
	if (!r)
		r = *name ? hip_module_function(&function, module, name) : hipErrorNotFound;
	if (!r)
		*kernel = (hipKernel_t)(void *)function;
	return r;
}

HIP_PUBLIC(hipLibraryGetKernelCount, (unsigned int *count, hipLibrary_t library), (count, library))
{
	hipModule_t module;
	hipError_t r;

	if (!count || !library)
		return hipErrorInvalidValue;
	r = module_of(library, hip_current(), &module);
	return r ? r : hip_module_count(count, module);
}

HIP_PUBLIC(hipLibraryEnumerateKernels, (hipKernel_t *kernels, unsigned int max, hipLibrary_t library),
	   (kernels, max, library))
{
	hipModule_t module;
	hipError_t r;

	if (!kernels || !library)
		return hipErrorInvalidValue;
	r = module_of(library, hip_current(), &module);
	return r ? r : hip_module_functions((hipFunction_t *)(void *)kernels, max, module);
}

HIP_PUBLIC(hipLibraryGetGlobal, (void **address, size_t *size_B, hipLibrary_t library, const char *name),
	   (address, size_B, library, name))
{
	hipModule_t module;
	hipError_t r;

	if ((!address && !size_B) || !name || !*name)
		return hipErrorInvalidValue;
	r = module_of(library, hip_current(), &module);
	return r ? r : hip_module_variable(address, size_B, module, name);
}

HIP_PUBLIC(hipLibraryGetManaged, (void **address, size_t *size_B, hipLibrary_t library, const char *name),
	   (address, size_B, library, name))
{
	hipModule_t module;
	size_t whole_B;
	void *base;
	hipError_t r;

	if ((!address && !size_B) || !name || !*name)
		return hipErrorInvalidValue;
	r = module_of(library, hip_current(), &module);
	if (!r)
		r = hip_module_managed(&base, &whole_B, module, name);
	if (!r && address)
		*address = base;
	if (!r && size_B)
		*size_B = whole_B;
	return r;
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* The library of a kernel, and its name there. Errors: InvalidResourceHandle, when it is no kernel of a library. */
static hipError_t library_of(hipKernel_t kernel, hipLibrary_t *library, const char **name)
{
	const struct hip_kernel *k = hip_find(HIP_FUNCTION, kernel);

	*library = k ? (hipLibrary_t)(uintptr_t)hip_function_library(k, name) : NULL;
	return *library ? hipSuccess : hipErrorInvalidResourceHandle;
}

HIP_PUBLIC(hipKernelGetLibrary, (hipLibrary_t *library, hipKernel_t kernel), (library, kernel))
{
	const char *name;
	hipLibrary_t found;
	hipError_t r;

	if (!library || !kernel)
		return hipErrorInvalidValue;
	r = library_of(kernel, &found, &name);
	if (!r)
		*library = found;
	return r;
}

HIP_PUBLIC(hipKernelGetName, (const char **name, hipKernel_t kernel), (name, kernel))
{
	hipLibrary_t library;

	return name && kernel ? library_of(kernel, &library, name) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipKernelGetFunction, (hipFunction_t *function, hipKernel_t kernel), (function, kernel))
{
	const struct hip_kernel *k;
	hipError_t r;

	if (!function || !kernel)
		return hipErrorInvalidValue;
	r = hip_function_of((hipFunction_t)(void *)kernel, &k);
	if (!r)
		*function = (hipFunction_t)(void *)kernel;
	return r;
}

HIP_PUBLIC(hipKernelGetParamInfo, (hipKernel_t kernel, size_t index, size_t *offset_B, size_t *size_B),
	   (kernel, index, offset_B, size_B))
{
	const struct hip_kernel *k;

	if (!kernel || !offset_B)
		return hipErrorInvalidValue;
	if (hip_function_of((hipFunction_t)(void *)kernel, &k))
		return hipErrorInvalidDeviceFunction;
	if (index >= k->cs->arg_count)
		return hipErrorInvalidValue;
	*offset_B = k->cs->arg[index].offset_B;
	if (size_B)
		*size_B = k->cs->arg[index].size_B;
	return hipSuccess;
}

/* The kernel on that device. Errors: MissingConfiguration, when it is a function of another device, and of no library. */
static hipError_t kernel_on(hipKernel_t kernel, int device, const struct hip_kernel **k)
{
	const char *name;
	hipFunction_t function;
	hipLibrary_t library;
	hipModule_t module;
	hipError_t r;

	if (device < 0 || (unsigned)device >= hip.devices)
		return hipErrorInvalidDevice;
	r = hip_function_of((hipFunction_t)(void *)kernel, k);
	if (r || (*k)->device->index == device)
		return r;
	if (library_of(kernel, &library, &name))
		return hipErrorMissingConfiguration;
	r = module_of(library, &hip.device[device], &module);
	if (!r)
		r = hip_module_function(&function, module, name);
	return r ? r : hip_function_of(function, k);
}

HIP_PUBLIC(hipKernelGetAttribute,
	   (int *value, hipFunction_attribute attribute, hipKernel_t kernel, hipDevice_t device),
	   (value, attribute, kernel, device))
{
	const struct hip_kernel *k;
	hipError_t r;

	if (!value)
		return hipErrorInvalidValue;
	if (!kernel)
		return hipErrorInvalidResourceHandle;
	r = kernel_on(kernel, device, &k);
	return r ? r : hip_kernel_attribute(k, attribute, value);
}

static bool may_be_set(int attribute)
{
	return attribute == hipFuncAttributeMaxDynamicSharedMemorySize ||
	       attribute == hipFuncAttributePreferredSharedMemoryCarveout;
}

HIP_PUBLIC(hipKernelSetAttribute,
	   (hipFunction_attribute attribute, int value, hipKernel_t kernel, hipDevice_t device),
	   (attribute, value, kernel, device))
{
	const struct hip_kernel *k;
	hipError_t r;

	if (!kernel)
		return hipErrorInvalidValue;
	r = kernel_on(kernel, device, &k);
	if (r)
		return r == hipErrorInvalidResourceHandle ? hipErrorInvalidDeviceFunction : r;
	return may_be_set((int)attribute) ? hip_kernel_set_attribute(k, (hipFuncAttribute)attribute, value)
					  : hipErrorInvalidValue;
}

HIP_PUBLIC(hipKernelSetAttributeForDevice, (hipKernel_t kernel, hipFuncAttribute attribute, int value, int device),
	   (kernel, attribute, value, device))
{
	const struct hip_kernel *k;
	hipError_t r;

	if (!kernel)
		return hipErrorInvalidResourceHandle;
	r = kernel_on(kernel, device, &k);
	if (r)
		return r;
	return may_be_set((int)attribute) ? hip_kernel_set_attribute(k, attribute, value) : hipErrorInvalidValue;
}
#endif

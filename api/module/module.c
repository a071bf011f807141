/* Modules: code that a program loads at run time, and functions as handles. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/base/file.h"
#include "api/module/managed.h"
#include "api/stream/stream.h"

/* Lives until its module is unloaded; the function of a linked kernel, until the device is reset. */
struct hip_function {
	struct hip_function *next; /* in the module's list */
	uint64_t handle;
	uint64_t library; /* the handle of the library that has the kernel; 0: none */
	struct hip_kernel kernel;
	char name[]; /* the name that the program passed */
};

static void free_function(struct drv_retired *retired)
{
	free(vm_container(retired, struct hip_function, kernel.retired));
}

hip_module_fn *_Atomic hip_module_unloading;

struct hip_module {
	struct drv_retired retired; /* used when the module is unloaded */
	uint64_t handle;
	uint64_t library;               /* the handle of the library that the module belongs to; 0: none */
	struct drv_mutex lock;          /* guards the members below, when the module has been loaded */
	bool unloaded;                  /* calls that found the module before must get nothing from it */
	struct hip_code code;           /* owned */
	struct hip_managed *managed;    /* owned: its managed variables */
	struct hip_function *functions; /* owned */
};

/* --- loading ---------------------------------------------------------------------------------- */

hipError_t hip_module_load(struct hip_device *device, const void *image, size_t size_B, uint64_t library,
			   hipModule_t *out)
{
	struct hip_module *m;
	hipError_t r;

	*out = NULL;
	hip_retire_flush(); /* memory of modules that calls used when they were unloaded */
	m = calloc(1, sizeof(*m));
	if (!m)
		return hipErrorOutOfMemory;
	m->library = library;
	r = hip_code_load(device, image, size_B, &m->code);
	if (r) {
		free(m);
		return r;
	}
	drv_mutex_init(&m->lock, DRV_RANK_HIP_MODULE);
	r = hip_managed_load(&m->code, &m->managed);
	if (!r && drv_handle_create(&hip_handles, HIP_KIND(HIP_MODULE), m, &m->handle)) {
		hip_managed_unload(&m->managed);
		r = hipErrorOutOfMemory;
	}
	if (r) {
		hip_code_unload(&m->code);
		drv_mutex_destroy(&m->lock);
		free(m);
		return r;
	}
	*out = (hipModule_t)(uintptr_t)m->handle;
	return hipSuccess;
}

static hipError_t module_load(hipModule_t *out, const void *image, size_t size_B)
{
	return out && image ? hip_module_load(hip_current(), image, size_B, 0, out) : hipErrorInvalidValue;
}

static hipError_t load_file(hipModule_t *out, const char *path)
{
	char *image;
	size_t size_B;
	hipError_t r;

	if (!out || !path || !*path)
		return hipErrorInvalidValue;
	r = hip_file_read(path, &image, &size_B);
	if (r)
		return r;
	r = size_B ? module_load(out, image, size_B) : hipErrorInvalidImage;
	free(image);
	return r;
}

HIP_PUBLIC(hipModuleLoad, (hipModule_t *module, const char *path), (module, path))
{
	return load_file(module, path);
}

HIP_PUBLIC(hipModuleLoadData, (hipModule_t *module, const void *image), (module, image))
{
	return module_load(module, image, 0);
}

/* Ignores the options: there is no JIT compiler to receive them. */
HIP_PUBLIC(hipModuleLoadDataEx,
	   (hipModule_t *module, const void *image, unsigned int count, hipJitOption *options, void **values),
	   (module, image, count, options, values))
{
	(void)count, (void)options, (void)values;
	return module_load(module, image, 0);
}

/* CLR's error for a handle that is no module. */
static hipError_t no_module(hipModule_t handle)
{
	return handle ? hipErrorNotFound : hipErrorInvalidResourceHandle;
}

static void free_module(struct drv_retired *retired)
{
	struct hip_module *m = vm_container(retired, struct hip_module, retired);

	drv_mutex_destroy(&m->lock);
	free(m);
}

/* True for one of the threads that unload the module. */
static bool may_unload(struct hip_module *m)
{
	bool may;

	drv_mutex_lock(&m->lock);
	may = !m->unloaded;
	m->unloaded = true;
	drv_mutex_unlock(&m->lock);
	return may;
}

static void unload_locked(struct hip_module *m)
{
	drv_rank_assert(DRV_RANK_HIP_MODULE);
	while (m->functions) {
		struct hip_function *f = m->functions;

		m->functions = f->next;
		drv_handle_destroy(&hip_handles, f->handle);
		hip_kernel_retire(&f->kernel, free_function);
	}
	hip_managed_unload(&m->managed);
	hip_code_unload(&m->code);
}

hipError_t hip_module_unload(hipModule_t handle)
{
	struct hip_module *m = hip_find(HIP_MODULE, handle);
	hip_module_fn *unloading;

	if (!m || !may_unload(m))
		return no_module(handle);
	drv_handle_destroy(&hip_handles, m->handle);
	(void)!hip_device_wait(m->code.device);
	unloading = atomic_load(&hip_module_unloading);
	if (unloading)
		unloading(handle);
	drv_mutex_lock(&m->lock);
	unload_locked(m);
	drv_mutex_unlock(&m->lock);
	drv_retire(&hip_calls, &m->retired, free_module);
	hip_retire_flush();
	return hipSuccess;
}

HIP_PUBLIC(hipModuleUnload, (hipModule_t module), (module))
{
	return hip_module_unload(module);
}

/* --- functions -------------------------------------------------------------------------------- */

/* Makes a function and its handle; the caller adds it to a list. */
static hipError_t make_function(const char *name, const struct hip_kernel *kernel, uint64_t library,
				struct hip_function **out)
{
	struct hip_function *f = calloc(1, sizeof(*f) + strlen(name) + 1);

	if (!f)
		return hipErrorOutOfMemory;
	strcpy(f->name, name);
	f->kernel = *kernel;
	f->library = library;
	if (drv_handle_create(&hip_handles, HIP_KIND(HIP_FUNCTION), &f->kernel, &f->handle)) {
		free(f);
		return hipErrorOutOfMemory;
	}
	*out = f;
	return hipSuccess;
}

static hipError_t function_locked(struct hip_module *m, const char *name, struct hip_function **out)
{
	struct hip_kernel kernel;
	hipError_t r;

	if (m->unloaded)
		return hipErrorNotFound;
	for (struct hip_function *f = m->functions; f; f = f->next)
		if (!strcmp(f->name, name)) {
			*out = f;
			return hipSuccess;
		}
	r = hip_code_kernel(&m->code, name, &kernel);
	if (!r)
		r = make_function(name, &kernel, m->library, out);
	if (r)
		return r;
	(*out)->next = m->functions;
	m->functions = *out;
	return hipSuccess;
}

hipError_t hip_module_function(hipFunction_t *out, hipModule_t handle, const char *name)
{
	struct hip_module *m = hip_find(HIP_MODULE, handle);
	struct hip_function *f;
	hipError_t r;

	if (!out || !name || !*name)
		return hipErrorInvalidValue;
	if (!m)
		return no_module(handle);
	if (hip_code_lost(m->code.device, m->code.losses))
		return hipErrorContextIsDestroyed;
	drv_mutex_lock(&m->lock);
	r = function_locked(m, name, &f);
	drv_mutex_unlock(&m->lock);
	*out = r ? NULL : (hipFunction_t)(uintptr_t)f->handle;
	return r;
}

HIP_PUBLIC(hipModuleGetFunction, (hipFunction_t *function, hipModule_t module, const char *name),
	   (function, module, name))
{
	return hip_module_function(function, module, name);
}

hipError_t hip_module_variable(hipDeviceptr_t *address, size_t *size_B, hipModule_t handle, const char *name)
{
	struct hip_module *m = hip_find(HIP_MODULE, handle);
	void *base;
	size_t whole_B;
	hipError_t r;

	if ((!address && !size_B) || !name || !*name)
		return hipErrorInvalidValue;
	if (!m)
		return no_module(handle);
	if (hip_code_lost(m->code.device, m->code.losses))
		return hipErrorContextIsDestroyed;
	drv_mutex_lock(&m->lock);
	r = m->unloaded ? hipErrorNotFound
	    : hip_managed_find(m->managed, name, &base, &whole_B)
		    ? hipSuccess
		    : hip_code_variable(&m->code, name, &base, &whole_B);
	drv_mutex_unlock(&m->lock);
	if (!r && address)
		*address = base;
	if (!r && size_B)
		*size_B = whole_B;
	return r;
}

hipError_t hip_module_managed(void **address, size_t *size_B, hipModule_t handle, const char *name)
{
	struct hip_module *m = hip_find(HIP_MODULE, handle);
	bool found;

	if (!m)
		return no_module(handle);
	drv_mutex_lock(&m->lock);
	found = hip_managed_find(m->managed, name, address, size_B);
	drv_mutex_unlock(&m->lock);
	return found ? hipSuccess : hipErrorNotFound;
}

HIP_PUBLIC(hipModuleGetGlobal, (hipDeviceptr_t *address, size_t *size_B, hipModule_t module, const char *name),
	   (address, size_B, module, name))
{
	return hip_module_variable(address, size_B, module, name);
}

hipError_t hip_function_of(hipFunction_t handle, const struct hip_kernel **kernel)
{
	*kernel = hip_find(HIP_FUNCTION, handle);
	if (!*kernel)
		return hipErrorInvalidResourceHandle;
	return hip_code_lost((*kernel)->device, (*kernel)->losses) ? hipErrorContextIsDestroyed : hipSuccess;
}

hipError_t hip_kernel_named(const void *function, struct hip_device *device, const struct hip_kernel **kernel)
{
	return (uintptr_t)function >> DRV_HANDLE_KIND_SHIFT == HIP_KIND(HIP_FUNCTION)
		       ? hip_function_of((hipFunction_t)(uintptr_t)function, kernel)
		       : hip_kernel_of(function, device, kernel);
}

uint64_t hip_function_library(const struct hip_kernel *kernel, const char **name)
{
	const struct hip_function *f = vm_container(kernel, struct hip_function, kernel);

	*name = f->name;
	return f->library;
}

/* Functions of linked kernels: one for each kernel and device, until the device is reset. */
static struct {
	struct drv_mutex lock;
	struct hip_function *list; /* owned */
} linked = {.lock = DRV_MUTEX(DRV_RANK_HIP_LINKED)};

static bool is_kernel(const struct hip_function *f, const struct hip_device *device, uint64_t object)
{
	return f->kernel.object == object && f->kernel.device == device;
}

static hipError_t linked_locked(const struct hip_kernel *kernel, struct hip_function **out)
{
	hipError_t r;

	for (struct hip_function *f = linked.list; f; f = f->next)
		if (is_kernel(f, kernel->device, kernel->object)) {
			*out = f;
			return hipSuccess;
		}
	r = make_function(kernel->cs->name, kernel, 0, out);
	if (r)
		return r;
	(*out)->next = linked.list;
	linked.list = *out;
	return hipSuccess;
}

void hip_function_drop(const struct hip_device *device, uint64_t object)
{
	struct hip_function **at = &linked.list, *f;

	drv_mutex_lock(&linked.lock);
	while ((f = *at) && !is_kernel(f, device, object))
		at = &f->next;
	if (f) {
		*at = f->next;
		drv_handle_destroy(&hip_handles, f->handle);
		hip_kernel_retire(&f->kernel, free_function);
	}
	drv_mutex_unlock(&linked.lock);
}

static hipError_t function_by_symbol(hipFunction_t *out, const void *host)
{
	const struct hip_kernel *kernel;
	struct hip_function *f;
	hipError_t r;

	r = out ? hip_kernel_of(host, hip_current(), &kernel) : hipErrorInvalidDeviceFunction;
	if (r)
		return r;
	drv_mutex_lock(&linked.lock);
	r = linked_locked(kernel, &f);
	drv_mutex_unlock(&linked.lock);
	if (!r)
		*out = (hipFunction_t)(uintptr_t)f->handle;
	return r;
}

HIP_PUBLIC(hipGetFuncBySymbol, (hipFunction_t *function, const void *symbol), (function, symbol))
{
	return function_by_symbol(function, symbol);
}

/* --- attributes of functions ------------------------------------------------------------------ */

static int binary_version(const struct hip_kernel *k)
{
	hipDeviceProp_tR0000 p;

	return hipGetDevicePropertiesR0000(&p, k->device->index) ? 0 : p.major * 10 + p.minor;
}

static hipError_t func_attributes(hipFuncAttributes *out, const void *function)
{
	const struct hip_kernel *k;
	hipError_t r;

	if (!out)
		return hipErrorInvalidValue;
	r = hip_kernel_query(function, hip_current(), &k);
	if (r)
		return r;
	*out = (hipFuncAttributes){
		.binaryVersion = binary_version(k),
		.ptxVersion = binary_version(k),
		.localSizeBytes = k->private_B,
		.sharedSizeBytes = k->group_B,
		.constSizeBytes = hip_constants_of(function),
		.maxDynamicSharedSizeBytes = (int)(k->device->lds_B - k->group_B),
		.maxThreadsPerBlock = (int)k->threads_max,
		.numRegs = (int)k->cs->vgprs,
	};
	return hipSuccess;
}

HIP_PUBLIC(hipFuncGetAttributes, (hipFuncAttributes *attributes, const void *function), (attributes, function))
{
	return func_attributes(attributes, function);
}

hipError_t hip_kernel_attribute(const struct hip_kernel *k, hipFunction_attribute attribute, int *value)
{
	switch (attribute) {
	case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = (int)k->threads_max;
		return hipSuccess;
	case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value = (int)k->group_B;
		return hipSuccess;
	case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*value = (int)k->private_B;
		return hipSuccess;
	case HIP_FUNC_ATTRIBUTE_NUM_REGS:
		*value = (int)k->cs->vgprs;
		return hipSuccess;
	case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
	case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = binary_version(k);
		return hipSuccess;
	case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = (int)(k->device->lds_B - k->group_B);
		return hipSuccess;
	case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
	case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
	case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*value = 0;
		return hipSuccess;
	default:
		return hipErrorInvalidValue;
	}
}

HIP_PUBLIC(hipFuncGetAttribute, (int *value, hipFunction_attribute attribute, hipFunction_t function),
	   (value, attribute, function))
{
	const struct hip_kernel *k;
	hipError_t r;

	if (!value)
		return hipErrorInvalidValue;
	r = hip_function_of(function, &k);
	return r ? r : hip_kernel_attribute(k, attribute, value);
}

/* Preferences have no effect: LDS and caches are separate memories, and all of LDS may be dynamic in any case. */
hipError_t hip_kernel_set_attribute(const struct hip_kernel *k, hipFuncAttribute attribute, int value)
{
	if (attribute == hipFuncAttributeMaxDynamicSharedMemorySize &&
	    (value < 0 || (unsigned)value > k->device->lds_B - k->group_B))
		return hipErrorInvalidValue;
	/* -1 is the driver's choice. */
	if (attribute == hipFuncAttributePreferredSharedMemoryCarveout && (value < -1 || value > 100))
		return hipErrorInvalidValue;
	return hipSuccess;
}

static hipError_t set_attribute(const void *function, hipFuncAttribute attribute, int value)
{
	const struct hip_kernel *k;
	hipError_t r;

	if (!function)
		return hipErrorInvalidDeviceFunction;
	if ((unsigned)attribute > hipFuncAttributeMax)
		return hipErrorInvalidValue;
	r = hip_kernel_query(function, hip_current(), &k);
	return r ? r : hip_kernel_set_attribute(k, attribute, value);
}

/* Checks the value only, not the function: CLR does the same. */
static hipError_t check_preference(const void *function, int value, int max)
{
	if (!function)
		return hipErrorInvalidDeviceFunction;
	return value < 0 || value > max ? hipErrorInvalidValue : hipSuccess;
}

HIP_PUBLIC(hipFuncSetAttribute, (const void *function, hipFuncAttribute attribute, int value),
	   (function, attribute, value))
{
	return set_attribute(function, attribute, value);
}

HIP_PUBLIC(hipFuncSetCacheConfig, (const void *function, hipFuncCache_t config), (function, config))
{
	return check_preference(function, (int)config, hipFuncCachePreferEqual);
}

HIP_PUBLIC(hipFuncSetSharedMemConfig, (const void *function, hipSharedMemConfig config), (function, config))
{
	return check_preference(function, (int)config, hipSharedMemBankSizeEightByte);
}

/* --- whole modules (HIP 7) ----------------------------------------------------------------------- */

#if TUFF_HIP_ABI >= 7
HIP_PUBLIC(hipModuleLoadFatBinary, (hipModule_t *module, const void *image), (module, image))
{
	return module_load(module, image, 0);
}

struct listing {
	struct hip_module *module;
	hipFunction_t *functions; /* the caller's; NULL: kernels are only counted */
	unsigned count, max;
	hipError_t error;
};

/* Adds the function of a kernel's symbol, "name.kd", to the list. */
static hipError_t listing_add(struct listing *l, hsa_executable_symbol_t symbol)
{
	struct hip_function *f;
	uint32_t length = 0;
	hipError_t r = hipErrorOutOfMemory;
	char *name;

	if (hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) ||
	    length <= strlen(".kd"))
		return hipErrorInvalidImage;
	name = calloc(1, length + 1);
	if (name && !hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name)) {
		name[length - strlen(".kd")] = '\0';
		r = function_locked(l->module, name, &f);
	}
	free(name);
	if (!r)
		l->functions[l->count] = (hipFunction_t)(uintptr_t)f->handle;
	return r;
}

static hsa_status_t kernel_visit(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
				 void *data)
{
	struct listing *l = data;
	hsa_symbol_kind_t kind;

	(void)executable, (void)agent;
	if (hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) ||
	    kind != HSA_SYMBOL_KIND_KERNEL)
		return HSA_STATUS_SUCCESS;
	if (l->count == l->max)
		return HSA_STATUS_INFO_BREAK;
	if (l->functions)
		l->error = listing_add(l, symbol);
	l->count += !l->error;
	return l->error ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static hipError_t kernels_visit(hipModule_t handle, struct listing *l)
{
	l->module = hip_find(HIP_MODULE, handle);
	if (!l->module)
		return hipErrorInvalidResourceHandle;
	if (hip_code_lost(l->module->code.device, l->module->code.losses))
		return hipErrorContextIsDestroyed;
	drv_mutex_lock(&l->module->lock);
	if (!l->module->unloaded)
		(void)!hsa_executable_iterate_agent_symbols(l->module->code.executable,
							    l->module->code.device->agent, kernel_visit, l);
	drv_mutex_unlock(&l->module->lock);
	return l->error;
}

hipError_t hip_module_count(unsigned *count, hipModule_t handle)
{
	struct listing l = {.max = UINT_MAX};
	hipError_t r = kernels_visit(handle, &l);

	if (!r)
		*count = l.count;
	return r;
}

hipError_t hip_module_functions(hipFunction_t *functions, unsigned max, hipModule_t handle)
{
	return kernels_visit(handle, &(struct listing){.functions = functions, .max = max});
}

HIP_PUBLIC(hipModuleGetFunctionCount, (unsigned int *count, hipModule_t handle), (count, handle))
{
	return count ? hip_module_count(count, handle) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipModuleEnumerateFunctions, (hipFunction_t *functions, unsigned int max, hipModule_t handle),
	   (functions, max, handle))
{
	return functions && handle ? hip_module_functions(functions, max, handle) : hipErrorInvalidValue;
}
#endif

/* Look-up of this library's functions by name. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "api/base/entry.h"

/* Two functions whose structures changed have other names since release 6. */
static const char *current_name(const char *name, int version)
{
	if (version >= 600 && !strcmp(name, "hipGetDeviceProperties"))
		return "hipGetDevicePropertiesR0600";
	if (version >= 600 && !strcmp(name, "hipChooseDevice"))
		return "hipChooseDeviceR0600";
	return name;
}

/* Looks in this library only, not in its dependencies. */
static void *own_function(void *library, const Dl_info *own, const char *name)
{
	void *function = dlsym(library, name);
	Dl_info found;

	return function && dladdr(function, &found) && found.dli_fbase == own->dli_fbase ? function : NULL;
}

static void *function_find(const char *name, int version)
{
	void *library, *function;
	Dl_info own;

	if (!dladdr(__extension__(const void *) hipGetProcAddress, &own))
		return NULL;
	library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return NULL;
	function = own_function(library, &own, current_name(name, version));
	dlclose(library);
	return function;
}

static hipError_t function_get(const char *name, void **function, int version,
			       hipDriverProcAddressQueryResult *result)
{
	if (!name || !*name || !function)
		return hipErrorInvalidValue;
	*function = function_find(name, version);
	if (result)
		*result = *function ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? hipSuccess : hipErrorInvalidValue;
}

HIP_PUBLIC(hipGetProcAddress,
	   (const char *symbol, void **function, int version, uint64_t flags,
	    hipDriverProcAddressQueryResult *result),
	   (symbol, function, version, flags, result))
{
	(void)flags; /* no flags are defined */
	return function_get(symbol, function, version, result);
}

#if TUFF_HIP_ABI >= 7
enum { ENTRY_DEFAULT, ENTRY_LEGACY, ENTRY_PER_THREAD };

/* Names are those of the library: none is mapped to a later function. */
static void *entry_find(const char *name, bool per_thread)
{
	char twin[128];
	void *found = NULL;

	if (per_thread && (size_t)snprintf(twin, sizeof(twin), "%s_spt", name) < sizeof(twin))
		found = function_find(twin, 0);
	return found ? found : function_find(name, 0);
}

static hipError_t entry_get(const char *name, void **function, uint64_t flags, uint64_t otherwise,
			    hipDriverEntryPointQueryResult *result)
{
	if (!name || !*name || !function || flags > ENTRY_PER_THREAD)
		return hipErrorInvalidValue;
	*function = entry_find(name, (flags ? flags : otherwise) == ENTRY_PER_THREAD);
	if (result)
		*result = *function ? hipDriverEntryPointSuccess : hipDriverEntryPointSymbolNotFound;
	return *function ? hipSuccess : hipErrorInvalidValue;
}

HIP_PUBLIC(hipGetDriverEntryPoint,
	   (const char *symbol, void **function, unsigned long long flags, hipDriverEntryPointQueryResult *result),
	   (symbol, function, flags, result))
{
	return entry_get(symbol, function, flags, ENTRY_LEGACY, result);
}

HIP_PUBLIC(hipGetDriverEntryPoint_spt,
	   (const char *symbol, void **function, unsigned long long flags, hipDriverEntryPointQueryResult *result),
	   (symbol, function, flags, result))
{
	return entry_get(symbol, function, flags, ENTRY_PER_THREAD, result);
}
#endif

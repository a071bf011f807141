/* The loader extension: queries of debuggers, profilers and CLR about loaded code. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "hsa/code/code.h"
#include "hsa/core/table.h"

/* --- by address ------------------------------------------------------------------------------- */

/* The code object loaded at the address, or NULL; the lock held. */
static struct rt_loaded *find_loaded(struct rt *rt, uint64_t va)
{
	for (const struct rt_executable *e = rt->loader->list; e; e = e->next)
		for (struct rt_loaded *l = e->loaded; l; l = l->next)
			if (cs_code_map(l->code, va))
				return l;
	return NULL;
}

RT_IMPL(hsa_ven_amd_loader_query_host_address, (const void *device, const void **host), (device, host))
{
	const struct rt_loaded *l;

	if (!device || !host)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_rwlock_rdlock(&rt->loader->lock);
	l = find_loaded(rt, (uintptr_t)device);
	if (l)
		*host = cs_code_map(l->code, (uintptr_t)device);
	drv_rwlock_unlock(&rt->loader->lock);
	return l ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

RT_IMPL(hsa_ven_amd_loader_query_executable, (const void *device, hsa_executable_t *executable),
	(device, executable))
{
	const struct rt_loaded *l;

	if (!device || !executable)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_rwlock_rdlock(&rt->loader->lock);
	l = find_loaded(rt, (uintptr_t)device);
	if (l)
		executable->handle = l->executable->handle;
	drv_rwlock_unlock(&rt->loader->lock);
	return l ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* The descriptor of a loaded code object. As in ROCr there is one for each: all its segments are one allocation. */
static hsa_ven_amd_loader_segment_descriptor_t describe_segments(const struct rt_loaded *l)
{
	uint64_t va, size_B;

	cs_code_extent(l->code, &va, &size_B);
	return (hsa_ven_amd_loader_segment_descriptor_t){
		.agent = rt_agent_handle(l->agent),
		.executable = {l->executable->handle},
		.code_object_storage_type = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
		.code_object_storage_base = l->source->image,
		.code_object_storage_size = l->source->size_B,
		.segment_base = (const void *)(uintptr_t)va,
		.segment_size = size_B,
	};
}

static size_t describe_all(struct rt *rt, hsa_ven_amd_loader_segment_descriptor_t *to)
{
	size_t count = 0;

	for (const struct rt_executable *e = rt->loader->list; e; e = e->next)
		for (const struct rt_loaded *l = e->loaded; l; l = l->next, count++)
			if (to)
				to[count] = describe_segments(l);
	return count;
}

RT_IMPL(hsa_ven_amd_loader_query_segment_descriptors,
	(hsa_ven_amd_loader_segment_descriptor_t *descriptors, size_t *count), (descriptors, count))
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	size_t there;

	if (!count || !*count != !descriptors)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_rwlock_rdlock(&rt->loader->lock);
	there = describe_all(rt, NULL);
	if (!*count)
		*count = there;
	else if (*count != there)
		status = HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	else
		describe_all(rt, descriptors);
	drv_rwlock_unlock(&rt->loader->lock);
	return status;
}

/* --- iteration ----------------------------------------------------------------------------------- */

RT_IMPL(hsa_ven_amd_loader_iterate_executables,
	(hsa_status_t (*callback)(hsa_executable_t executable, void *data), void *data), (callback, data))
{
	hsa_status_t status;
	struct rt_list list = {0};

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_rwlock_rdlock(&rt->loader->lock);
	for (const struct rt_executable *e = rt->loader->list; e; e = e->next)
		rt_list_add(&list, e->handle);
	drv_rwlock_unlock(&rt->loader->lock);
	status = list.failed ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
	for (size_t i = 0; i < list.count && !status; i++)
		status = callback((hsa_executable_t){list.handle[i]}, data);
	free(list.handle);
	return status;
}

RT_IMPL(hsa_ven_amd_loader_executable_iterate_loaded_code_objects,
	(hsa_executable_t executable,
	 hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded, void *data),
	 void *data),
	(executable, callback, data))
{
	const struct rt_executable *e;
	hsa_status_t status;
	struct rt_list list = {0};

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_rwlock_rdlock(&rt->loader->lock);
	e = rt_executable_of(executable);
	for (const struct rt_loaded *l = e ? e->loaded : NULL; l; l = l->next)
		rt_list_add(&list, l->handle);
	drv_rwlock_unlock(&rt->loader->lock);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	status = list.failed ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
	for (size_t i = 0; i < list.count && !status; i++)
		status = callback(executable, (hsa_loaded_code_object_t){list.handle[i]}, data);
	free(list.handle);
	return status;
}

/* --- queries ------------------------------------------------------------------------------------- */

/* Like ROCr: the storage type is memory also for code objects from files; the URI names the file. */
static hsa_status_t loaded_info(const struct rt_loaded *l, uint32_t attribute, void *value)
{
	const char *uri = l->source->uri;
	uint64_t va, size_B;

	cs_code_extent(l->code, &va, &size_B);
	switch (attribute) {
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
		return RT_GIVE(value, uint64_t, l->executable->handle);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
		return RT_GIVE(value, uint32_t, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
		return RT_GIVE(value, uint64_t, rt_agent_handle(l->agent).handle);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
		return RT_GIVE(value, uint32_t, HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
		return RT_GIVE(value, uint64_t, (uintptr_t)l->source->image);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
		return RT_GIVE(value, uint64_t, l->source->size_B);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA: /* images begin at address 0 */
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
		return RT_GIVE(value, uint64_t, va);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
		return RT_GIVE(value, uint64_t, size_B);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
		return RT_GIVE(value, uint32_t, strlen(uri));
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI: /* without a terminating 0 */
		memcpy(value, uri, strlen(uri));
		return HSA_STATUS_SUCCESS;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

RT_IMPL_ON_CODE(
	hsa_ven_amd_loader_loaded_code_object_get_info,
	(hsa_loaded_code_object_t handle, hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value),
	(handle, attribute, value))
{
	const struct rt_loaded *l;

	(void)rt;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	l = drv_handle_find(&rt_handles, RT_KIND(RT_LOADED), handle.handle);
	return l ? loaded_info(l, attribute, value) : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

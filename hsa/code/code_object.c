/* Code objects of HSA 1.0: deserialised from memory, queried for symbols, loaded into an executable. LLVM's
 * offloading and PoCL still use them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "hsa/code/code.h"
#include "hsa/core/table.h"

/* Immutable until it is destroyed. */
struct code_object {
	struct rt_source *source; /* a reference: a copy of the client's bytes */
	struct cs_code *code;     /* owned: the parsed code object, not loaded on a GPU */
	struct cs_target target;
	unsigned kernels, symbols;
	struct rt_symbol *symbol; /* owned */
};

static struct code_object *code_object_of(hsa_code_object_t handle)
{
	return drv_handle_find(&rt_handles, RT_KIND(RT_CODE_OBJECT), handle.handle);
}

/* --- creation and destruction -------------------------------------------------------------------- */

static void code_object_destroy(struct code_object *c)
{
	rt_symbols_destroy(c->symbol, c->symbols);
	cs_code_unload(c->code);
	rt_source_put(c->source);
	free(c);
}

static int code_object_create(const void *image, size_t size_B, struct code_object **out)
{
	struct code_object *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return drv_fail(-ENOMEM, "no host memory for a code object");
	r = rt_source_create_copy(image, size_B, &c->source);
	r = r ? r : cs_code_target(c->source->image, size_B, NULL, &c->target);
	r = r ? r : cs_code_read(c->source->image, size_B, &c->code);
	r = r ? r : rt_symbols_create(c->code, NULL, RT_CODE_SYMBOL, &c->symbol, &c->kernels, &c->symbols);
	if (r) {
		c->symbol = NULL;
		c->symbols = 0;
		code_object_destroy(c);
		return r;
	}
	*out = c;
	return 0;
}

RT_IMPL(hsa_code_object_deserialize,
	(void *serialized, size_t size_B, const char *options, hsa_code_object_t *handle),
	(serialized, size_B, options, handle))
{
	struct code_object *c = NULL;
	int r;

	(void)options;
	if (!serialized || !size_B || !handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	r = code_object_create(serialized, size_B, &c);
	if (r)
		return r == -ENOTSUP ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT : hsa_status_of(r);
	r = drv_handle_create(&rt_handles, RT_KIND(RT_CODE_OBJECT), c, &handle->handle);
	if (r)
		code_object_destroy(c);
	return hsa_status_of(r);
}

/* A reference to the code object's bytes. NULL: there is no such code object. */
static struct rt_source *code_source(struct rt *rt, hsa_code_object_t handle)
{
	const struct code_object *c;
	struct rt_source *source;

	drv_rwlock_rdlock(&rt->loader->lock);
	c = code_object_of(handle);
	source = c ? rt_source_get(c->source) : NULL;
	drv_rwlock_unlock(&rt->loader->lock);
	return source;
}

RT_IMPL(hsa_code_object_serialize,
	(hsa_code_object_t handle, hsa_status_t (*allocate)(size_t size, hsa_callback_data_t data, void **address),
	 hsa_callback_data_t data, const char *options, void **serialized, size_t *size_B),
	(handle, allocate, data, options, serialized, size_B))
{
	struct rt_source *source;
	hsa_status_t status;

	(void)options;
	if (!allocate || !serialized || !size_B)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	source = code_source(rt, handle);
	if (!source)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	*serialized = NULL;
	status = allocate(source->size_B, data, serialized);
	if (!status && !*serialized)
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (!status) {
		memcpy(*serialized, source->image, source->size_B);
		*size_B = source->size_B;
	}
	rt_source_put(source);
	return status;
}

RT_IMPL(hsa_code_object_destroy, (hsa_code_object_t handle), (handle))
{
	struct code_object *c;

	drv_rwlock_wrlock(&rt->loader->lock);
	c = code_object_of(handle);
	if (c) {
		drv_handle_destroy(&rt_handles, handle.handle);
		rt_symbols_unname(c->symbol, c->symbols);
	}
	drv_rwlock_unlock(&rt->loader->lock);
	if (!c)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	code_object_destroy(c);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_executable_load_code_object,
	(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_t handle, const char *options),
	(executable, agent, handle, options))
{
	struct rt_executable *e = rt_executable_get(rt, executable);
	struct rt_source *source = code_source(rt, handle);
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	uint64_t loaded;

	(void)options;
	if (e)
		status = source ? rt_load_for(rt, e, agent, source, &loaded) : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	rt_source_put(source);
	rt_executable_put(e);
	return status;
}

/* --- queries ------------------------------------------------------------------------------------- */

/* The ISA of the code object, found by the name that hsa_isa_from_name() takes. */
static hsa_status_t get_isa(const struct cs_target *target, hsa_isa_t *isa)
{
	static const char *const signs[] = {[DRV_FEATURE_OFF] = "-", [DRV_FEATURE_ON] = "+"};
	const char *sramecc = target->sramecc == DRV_FEATURE_EITHER ? NULL : signs[target->sramecc];
	const char *xnack = target->xnack == DRV_FEATURE_EITHER ? NULL : signs[target->xnack];
	char name[128];

	snprintf(name, sizeof(name), "amdgcn-amd-amdhsa--%s%s%s%s%s", target->isa ? target->isa : "",
		 sramecc ? ":sramecc" : "", sramecc ? sramecc : "", xnack ? ":xnack" : "", xnack ? xnack : "");
	return impl_hsa_isa_from_name(name, isa);
}

/* Formats 3 and later do not have machine model, profile and rounding: those that every ISA has here are
 * returned. */
RT_IMPL_ON_CODE(hsa_code_object_get_info, (hsa_code_object_t handle, hsa_code_object_info_t attribute, void *value),
		(handle, attribute, value))
{
	const struct code_object *c = code_object_of(handle);

	(void)rt;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!c)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	switch (attribute) {
	case HSA_CODE_OBJECT_INFO_VERSION: /* char[64] */
		memset(value, 0, 64);
		snprintf(value, 64, "%u.0", c->target.version);
		return HSA_STATUS_SUCCESS;
	case HSA_CODE_OBJECT_INFO_TYPE:
		return RT_GIVE(value, hsa_code_object_type_t, HSA_CODE_OBJECT_TYPE_PROGRAM);
	case HSA_CODE_OBJECT_INFO_ISA:
		return get_isa(&c->target, value);
	case HSA_CODE_OBJECT_INFO_MACHINE_MODEL:
		return RT_GIVE(value, hsa_machine_model_t, HSA_MACHINE_MODEL_LARGE);
	case HSA_CODE_OBJECT_INFO_PROFILE:
		return RT_GIVE(value, hsa_profile_t, HSA_PROFILE_BASE);
	case HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		return RT_GIVE(value, hsa_default_float_rounding_mode_t, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

RT_IMPL_ON_CODE(hsa_code_object_get_symbol_from_name,
		(hsa_code_object_t handle, const char *module, const char *name, hsa_code_symbol_t *symbol),
		(handle, module, name, symbol))
{
	const struct code_object *c = code_object_of(handle);
	const struct rt_symbol *found;

	(void)rt;
	if (!name || !symbol)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!c)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	found = module && *module ? NULL : rt_symbol_find(c->symbol, c->kernels, c->symbols, name);
	if (!found)
		return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
	symbol->handle = found->handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_code_object_get_symbol(hsa_code_object_t handle, const char *name, hsa_code_symbol_t *symbol)
{
	return impl_hsa_code_object_get_symbol_from_name(handle, NULL, name, symbol);
}

RT_IMPL(hsa_code_object_iterate_symbols,
	(hsa_code_object_t handle,
	 hsa_status_t (*callback)(hsa_code_object_t code_object, hsa_code_symbol_t symbol, void *data), void *data),
	(handle, callback, data))
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	const struct code_object *c;
	struct rt_list list = {0};

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_rwlock_rdlock(&rt->loader->lock);
	c = code_object_of(handle);
	for (unsigned i = 0; c && i < c->symbols; i++)
		rt_list_add(&list, c->symbol[i].handle);
	drv_rwlock_unlock(&rt->loader->lock);
	if (!c)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	if (list.failed)
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	/* The callback may destroy the code object. */
	for (size_t i = 0; i < list.count && !status && code_object_of(handle); i++)
		status = callback(handle, (hsa_code_symbol_t){list.handle[i]}, data);
	free(list.handle);
	return status;
}

RT_IMPL_ON_CODE(hsa_code_symbol_get_info, (hsa_code_symbol_t handle, hsa_code_symbol_info_t attribute, void *value),
		(handle, attribute, value))
{
	const struct rt_symbol *s;

	(void)rt;
	s = drv_handle_find(&rt_handles, RT_KIND(RT_CODE_SYMBOL), handle.handle);
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!s)
		return HSA_STATUS_ERROR_INVALID_CODE_SYMBOL;
	/* Address and agent are unknown before the code is loaded. */
	switch ((uint32_t)attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	default:
		return rt_symbol_get_info(s, attribute, value);
	}
}

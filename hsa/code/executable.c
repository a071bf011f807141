/* Executables: creation, definitions, freezing, destruction; and the look-up of a packet's kernel object. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "hsa/code/code.h"
#include "hsa/core/table.h"

int rt_loader_init(struct rt *rt)
{
	rt->loader = calloc(1, sizeof(*rt->loader));
	if (!rt->loader)
		return drv_fail(-ENOMEM, "no host memory for the loader");
	drv_rwlock_init(&rt->loader->lock, DRV_RANK_RT_LOADER);
	return 0;
}

static void free_executable(struct rt *rt, struct rt_executable *e);

void rt_loader_fini(struct rt *rt)
{
	while (rt->loader->list) {
		struct rt_executable *e = rt->loader->list;

		rt->loader->list = e->next;
		free_executable(rt, e);
	}
	drv_rwlock_destroy(&rt->loader->lock);
	free(rt->loader);
	rt->loader = NULL;
}

const struct cs_kernel *rt_kernel_find(struct rt *rt, struct rt_gpu *gpu, uint64_t object)
{
	const struct cs_kernel *kernel = NULL;

	drv_rwlock_rdlock(&rt->loader->lock);
	for (const struct rt_executable *e = rt->loader->list; e && !kernel; e = e->next)
		for (const struct rt_loaded *l = e->loaded; l && !kernel; l = l->next)
			if (l->agent->gpu == gpu)
				kernel = cs_code_kernel_by_va(l->code, object);
	drv_rwlock_unlock(&rt->loader->lock);
	return kernel;
}

struct rt_executable *rt_executable_of(hsa_executable_t handle)
{
	return drv_handle_find(&rt_handles, RT_KIND(RT_EXECUTABLE), handle.handle);
}

struct rt_executable *rt_executable_get(struct rt *rt, hsa_executable_t handle)
{
	struct rt_executable *e;

	drv_rwlock_rdlock(&rt->loader->lock);
	e = rt_executable_of(handle);
	if (e)
		atomic_fetch_add(&e->refs, 1);
	drv_rwlock_unlock(&rt->loader->lock);
	return e;
}

void rt_executable_put(struct rt_executable *e)
{
	if (e && atomic_fetch_sub(&e->refs, 1) == 1)
		free(e);
}

void rt_list_add(struct rt_list *list, uint64_t handle)
{
	uint64_t *grown = list->handle;

	if (list->count == list->max) {
		list->max = list->max ? 2 * list->max : 16;
		grown = realloc(list->handle, list->max * sizeof(*grown));
	}
	if (!grown) {
		list->max = list->count;
		list->failed = true;
		return;
	}
	list->handle = grown;
	list->handle[list->count++] = handle;
}

/* --- creation and destruction -------------------------------------------------------------------- */

static hsa_status_t executable_create(struct rt *rt, hsa_profile_t profile,
				      hsa_default_float_rounding_mode_t rounding, bool frozen,
				      hsa_executable_t *handle)
{
	struct rt_executable *e;
	int r;

	if (!handle || (unsigned)profile > HSA_PROFILE_FULL ||
	    (unsigned)rounding > HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	e = calloc(1, sizeof(*e));
	if (!e)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	e->profile = profile;
	e->rounding = rounding;
	e->frozen = frozen;
	e->refs = 1;
	drv_rwlock_wrlock(&rt->loader->lock);
	r = drv_handle_create(&rt_handles, RT_KIND(RT_EXECUTABLE), e, &e->handle);
	if (!r) {
		e->next = rt->loader->list;
		rt->loader->list = e;
		handle->handle = e->handle;
	}
	drv_rwlock_unlock(&rt->loader->lock);
	if (r)
		free(e);
	return hsa_status_of(r);
}

RT_IMPL(hsa_executable_create_alt,
	(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding, const char *options,
	 hsa_executable_t *handle),
	(profile, rounding, options, handle))
{
	(void)options;
	return executable_create(rt, profile, rounding, false, handle);
}

RT_IMPL(hsa_executable_create,
	(hsa_profile_t profile, hsa_executable_state_t state, const char *options, hsa_executable_t *handle),
	(profile, state, options, handle))
{
	(void)options;
	if ((unsigned)state > HSA_EXECUTABLE_STATE_FROZEN)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return executable_create(rt, profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				 state == HSA_EXECUTABLE_STATE_FROZEN, handle);
}

static void free_external(struct rt_external *x)
{
	drv_handle_destroy(&rt_handles, x->symbol.handle);
	free(x->name);
	free(x);
}

static void free_executable(struct rt *rt, struct rt_executable *e)
{
	if (e->frozen)
		rt_debug_remove(e);
	while (e->loaded) {
		struct rt_loaded *l = e->loaded;

		e->loaded = l->next;
		rt_unload(rt, l);
	}
	while (e->external) {
		struct rt_external *x = e->external;

		e->external = x->next;
		free_external(x);
	}
	drv_handle_destroy(&rt_handles, e->handle);
	rt_executable_put(e);
}

/* Destroys the handles of an executable and of all that is in it, so that no thread finds them any more. */
static void executable_unname(const struct rt_executable *e)
{
	drv_handle_destroy(&rt_handles, e->handle);
	for (const struct rt_loaded *l = e->loaded; l; l = l->next) {
		drv_handle_destroy(&rt_handles, l->handle);
		rt_symbols_unname(l->symbol, l->symbols);
	}
	for (const struct rt_external *x = e->external; x; x = x->next)
		drv_handle_destroy(&rt_handles, x->symbol.handle);
}

RT_IMPL(hsa_executable_destroy, (hsa_executable_t handle), (handle))
{
	struct rt_executable *e, **at;

	drv_rwlock_wrlock(&rt->loader->lock);
	e = rt_executable_of(handle);
	for (at = &rt->loader->list; e && *at != e; at = &(*at)->next)
		continue;
	if (e) {
		*at = e->next;
		e->ended = true;
		executable_unname(e);
		atomic_fetch_add(&rt->kernel_generation, 1);
	}
	drv_rwlock_unlock(&rt->loader->lock);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	free_executable(rt, e);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_executable_freeze, (hsa_executable_t handle, const char *options), (handle, options))
{
	struct rt_executable *e;
	bool was_frozen;

	(void)options;
	drv_rwlock_wrlock(&rt->loader->lock);
	e = rt_executable_of(handle);
	was_frozen = e && e->frozen;
	if (e && !was_frozen) {
		rt_debug_add(e);
		e->frozen = true;
	}
	drv_rwlock_unlock(&rt->loader->lock);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	return was_frozen ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE : HSA_STATUS_SUCCESS;
}

/* --- queries ------------------------------------------------------------------------------------- */

RT_IMPL_ON_CODE(hsa_executable_get_info, (hsa_executable_t handle, hsa_executable_info_t attribute, void *value),
		(handle, attribute, value))
{
	const struct rt_executable *e;

	(void)rt;
	e = rt_executable_of(handle);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_EXECUTABLE_INFO_PROFILE:
		return RT_GIVE(value, hsa_profile_t, e->profile);
	case HSA_EXECUTABLE_INFO_STATE:
		return RT_GIVE(value, hsa_executable_state_t,
			       e->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN);
	case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		return RT_GIVE(value, hsa_default_float_rounding_mode_t, e->rounding);
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

RT_IMPL(hsa_executable_validate_alt, (hsa_executable_t handle, const char *options, uint32_t *result),
	(handle, options, result))
{
	(void)rt, (void)options;
	if (!rt_executable_of(handle))
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	/* Loading has rejected invalid code. */
	*result = 0;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_executable_validate(hsa_executable_t handle, uint32_t *result)
{
	return impl_hsa_executable_validate_alt(handle, NULL, result);
}

/* --- the client's definitions ----------------------------------------------------------------- */

static int create_external(struct rt_agent *agent, const char *name, const void *address, struct rt_external **out)
{
	struct rt_external *x = calloc(1, sizeof(*x));
	int r = -ENOMEM;

	if (x)
		x->name = strdup(name);
	if (x && x->name) {
		x->symbol = (struct rt_symbol){
			.agent = agent, .name = x->name, .va = (uintptr_t)address, .defined = true};
		r = drv_handle_create(&rt_handles, RT_KIND(RT_SYMBOL), &x->symbol, &x->symbol.handle);
	}
	if (r) {
		free(x ? x->name : NULL);
		free(x);
		return r;
	}
	*out = x;
	return 0;
}

static hsa_status_t define_variable(struct rt *rt, hsa_executable_t handle, struct rt_agent *agent,
				    const char *name, const void *address)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct rt_executable *e;
	struct rt_external *x;

	if (!name || !address)
		return rt_executable_of(handle) ? HSA_STATUS_ERROR_INVALID_ARGUMENT
						: HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (create_external(agent, name, address, &x))
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	drv_rwlock_wrlock(&rt->loader->lock);
	e = rt_executable_of(handle);
	if (!e)
		status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	else if (e->frozen)
		status = HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	else if (rt_executable_symbol(e, agent, name))
		status = HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
	if (!status) {
		x->next = e->external;
		e->external = x;
	}
	drv_rwlock_unlock(&rt->loader->lock);
	if (status)
		free_external(x);
	return status;
}

RT_IMPL(hsa_executable_agent_global_variable_define,
	(hsa_executable_t handle, hsa_agent_t agent_handle, const char *name, void *address),
	(handle, agent_handle, name, address))
{
	struct rt_agent *agent;

	agent = rt_agent_of(rt, agent_handle);
	return agent ? define_variable(rt, handle, agent, name, address) : HSA_STATUS_ERROR_INVALID_AGENT;
}

RT_IMPL(hsa_executable_global_variable_define, (hsa_executable_t handle, const char *name, void *address),
	(handle, name, address))
{
	return define_variable(rt, handle, NULL, name, address);
}

hsa_status_t impl_hsa_executable_readonly_variable_define(hsa_executable_t handle, hsa_agent_t agent,
							  const char *name, void *address)
{
	return impl_hsa_executable_agent_global_variable_define(handle, agent, name, address);
}

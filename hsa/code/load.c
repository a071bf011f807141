/* Loading code objects into executables, and unloading them. Code may run when it is unloaded: its memory is freed
 * when the work submitted before has ended, and only the end of the runtime waits for that. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "hsa/code/code.h"
#include "hsa/core/table.h"

/* --- unloading ----------------------------------------------------------------------------------- */

static void loaded_free_deferred(struct rt_deferred_free *deferred)
{
	struct rt_loaded *l = vm_container(deferred, struct rt_loaded, deferred);

	cs_code_unload(l->code);
	free(l);
}

void rt_unload(struct rt *rt, struct rt_loaded *l)
{
	rt_va_region_remove(rt, &l->region);
	rt_symbols_destroy(l->symbol, l->symbols);
	drv_handle_destroy(&rt_handles, l->handle);
	rt_source_put(l->source);
	rt_defer_free(rt, 1u << l->agent->gpu->index, &l->deferred);
}

/* --- loading ---------------------------------------------------------------------------------- */

struct resolver {
	struct rt *rt;
	const struct rt_executable *executable;
	const struct rt_agent *agent;
};

/* Resolves a symbol that a code object does not define: by the client's definitions for the agent or for all, then
 * by variables of code objects loaded before. */
static int resolve_symbol(void *user, const char *name, uint64_t *va)
{
	const struct resolver *r = user;
	const struct rt_symbol *s;

	drv_rwlock_rdlock(&r->rt->loader->lock);
	s = rt_executable_symbol(r->executable, r->agent, name);
	if (!s)
		s = rt_executable_symbol(r->executable, NULL, name);
	if (s)
		*va = s->kernel ? s->kernel->descriptor_va : s->va;
	drv_rwlock_unlock(&r->rt->loader->lock);
	return s ? 0 : -ENOENT;
}

static struct rt_va_region region_of(const struct rt_loaded *l)
{
	uint64_t va, size_B;

	cs_code_extent(l->code, &va, &size_B);
	return (struct rt_va_region){
		.readers = 1u << l->agent->gpu->index,
		.writers = 1u << l->agent->gpu->index,
		.info =
			{
				.type = HSA_EXT_POINTER_TYPE_HSA,
				.base = va,
				.size_B = size_B,
				.host_base = l->agent->gpu->large_bar ? va : 0,
				.agent_base = va,
				.owner = l->agent,
				.place = SDMA_VRAM,
				.global_flags = rt_pool_flags(RT_POOL_COARSE),
			},
	};
}

/* -EEXIST: one of its names is defined already; names of templates may be long. The lock is held. */
static int check_names(const struct rt_executable *e, const struct rt_loaded *l)
{
	bool alone = !e->external && !e->loaded;
	int r = 0;

	for (unsigned i = 0; !alone && !r && i < l->symbols; i++) {
		const struct rt_symbol *s = &l->symbol[i];
		size_t name_B = strlen(s->name) + sizeof(".kd");
		char *name = malloc(name_B);

		if (!name)
			return drv_fail(-ENOMEM, "no host memory for a name");
		snprintf(name, name_B, "%s%s", s->name, s->kernel ? ".kd" : "");
		if (rt_executable_symbol(e, l->agent, name))
			r = drv_fail(-EEXIST, "%s is defined already", name);
		free(name);
	}
	return r;
}

/* Adds the code object to the executable, unless that was frozen meanwhile (-EPERM) or has one of its names. */
static int loaded_publish(struct rt *rt, struct rt_executable *e, struct rt_loaded *l)
{
	struct rt_loaded **at;
	int r;

	drv_rwlock_wrlock(&rt->loader->lock);
	if (e->ended)
		r = drv_fail(-EIDRM, "another thread has destroyed the executable");
	else
		r = e->frozen ? drv_fail(-EPERM, "the executable is frozen") : check_names(e, l);
	for (at = &e->loaded; !r && *at; at = &(*at)->next)
		continue;
	if (!r)
		*at = l;
	drv_rwlock_unlock(&rt->loader->lock);
	return r;
}

/* Uploads by the copy engine, for GPUs with a small BAR. */
static int upload_by_copier(void *user, uint64_t va, const void *from, uint64_t size_B)
{
	const struct resolver *r = user;

	return sdma_copier_upload(r->agent->gpu->copier, va, from, size_B);
}

/* Loads memory and symbols; on failure nothing is left. */
static int loaded_fill(struct resolver *resolver, struct rt_loaded *l)
{
	const struct cs_code_hooks hooks = {
		.resolve = resolve_symbol,
		.upload = upload_by_copier,
		.user = resolver,
	};
	int r = cs_code_load(l->agent->gpu->vm, l->source->image, l->source->size_B, &hooks, &l->code);

	if (r)
		return r;
	r = rt_symbols_create(l->code, l->agent, RT_SYMBOL, &l->symbol, &l->kernels, &l->symbols);
	if (r) {
		cs_code_unload(l->code);
		return r;
	}
	r = drv_handle_create(&rt_handles, RT_KIND(RT_LOADED), l, &l->handle);
	if (r) {
		rt_symbols_destroy(l->symbol, l->symbols);
		cs_code_unload(l->code);
	}
	return r;
}

static int loaded_create(struct rt *rt, struct rt_executable *e, struct rt_agent *agent, struct rt_source *source,
			 uint64_t *loaded)
{
	struct resolver resolver = {.rt = rt, .executable = e, .agent = agent};
	struct rt_loaded *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return drv_fail(-ENOMEM, "no host memory for a code object");
	l->executable = e;
	l->agent = agent;
	l->source = source;
	l->deferred.end = loaded_free_deferred;
	rt_deferred_free_reap(rt);
	r = loaded_fill(&resolver, l);
	if (r) {
		free(l);
		return r;
	}
	rt_source_get(source);
	l->region = region_of(l);
	rt_va_region_insert(rt, &l->region);
	*loaded = l->handle;
	r = loaded_publish(rt, e, l);
	if (r)
		rt_unload(rt, l);
	return r;
}

static hsa_status_t status_of_load(int r)
{
	switch (r) {
	case -ENOTSUP: /* an unknown format, or an unknown relocation */
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	case -ENOENT:
		return HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
	case -EEXIST:
		return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
	case -EPERM:
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	case -EIDRM:
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	default:
		return hsa_status_of(r);
	}
}

static bool is_frozen(struct rt *rt, const struct rt_executable *e)
{
	bool frozen;

	drv_rwlock_rdlock(&rt->loader->lock);
	frozen = e->frozen;
	drv_rwlock_unlock(&rt->loader->lock);
	return frozen;
}

hsa_status_t rt_load_for(struct rt *rt, struct rt_executable *e, hsa_agent_t agent_handle, struct rt_source *source,
			 uint64_t *loaded)
{
	struct rt_agent *agent = rt_agent_of(rt, agent_handle);
	const struct drv_chip *chip;
	struct cs_target target;

	if (is_frozen(rt, e))
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	if (!agent || !agent->gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	chip = agent->gpu->dev->chip;
	if (!cs_code_target(source->image, source->size_B, chip, &target) && !cs_target_fits(&target, chip))
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	return status_of_load(loaded_create(rt, e, agent, source, loaded));
}

RT_IMPL(hsa_executable_load_agent_code_object,
	(hsa_executable_t handle, hsa_agent_t agent_handle, hsa_code_object_reader_t reader, const char *options,
	 hsa_loaded_code_object_t *loaded),
	(handle, agent_handle, reader, options, loaded))
{
	struct rt_executable *e = rt_executable_get(rt, handle);
	struct rt_source *source = rt_reader_source(rt, reader);
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	uint64_t l;

	(void)options;
	if (e)
		status = source ? rt_load_for(rt, e, agent_handle, source, &l)
				: HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
	if (!status && loaded)
		loaded->handle = l;
	rt_source_put(source);
	rt_executable_put(e);
	return status;
}

/* Program code objects contain variables that belong to no agent, which HSAIL had. No current code object format
 * has them, so none can be loaded. */
RT_IMPL(hsa_executable_load_program_code_object,
	(hsa_executable_t handle, hsa_code_object_reader_t reader, const char *options,
	 hsa_loaded_code_object_t *loaded),
	(handle, reader, options, loaded))
{
	struct rt_executable *e = rt_executable_get(rt, handle);
	struct rt_source *source = rt_reader_source(rt, reader);
	hsa_status_t status =
		source ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT : HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;

	(void)options, (void)loaded;
	if (!e)
		status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	else if (is_frozen(rt, e))
		status = HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	rt_source_put(source);
	rt_executable_put(e);
	return status;
}

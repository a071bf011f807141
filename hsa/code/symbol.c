/* Symbols of code objects and executables: look-up by name, iteration, queries. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "hsa/code/code.h"
#include "hsa/core/table.h"

#define SUFFIX ".kd" /* suffix of kernels' names: clients name the descriptor */

/* --- creation ------------------------------------------------------------------------------------ */

static struct rt_symbol symbol_at(struct cs_code *code, unsigned kernels, unsigned index)
{
	const struct cs_variable *variable;
	const struct cs_kernel *kernel;

	if (index < kernels) {
		kernel = cs_code_kernel_at(code, index);
		return (struct rt_symbol){.kernel = kernel, .name = kernel->name};
	}
	variable = cs_code_variable_at(code, index - kernels);
	return (struct rt_symbol){.variable = variable, .name = variable->name, .va = variable->va};
}

int rt_symbols_create(struct cs_code *code, struct rt_agent *agent, enum rt_type type, struct rt_symbol **symbols,
		      unsigned *kernels, unsigned *count)
{
	unsigned n = 0, all;
	int r = 0;

	while (cs_code_kernel_at(code, n))
		n++;
	for (*kernels = all = n; cs_code_variable_at(code, all - n);)
		all++;
	*count = 0;
	*symbols = calloc(all + 1, sizeof(**symbols));
	if (!*symbols)
		return drv_fail(-ENOMEM, "no host memory for %u symbols", all);
	for (unsigned i = 0; !r && i < all; i++) {
		struct rt_symbol *s = &(*symbols)[i];

		*s = symbol_at(code, n, i);
		s->agent = agent;
		r = drv_handle_create(&rt_handles, RT_KIND(type), s, &s->handle);
		*count += !r;
	}
	if (r)
		rt_symbols_destroy(*symbols, *count);
	return r;
}

void rt_symbols_unname(struct rt_symbol *symbols, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		drv_handle_destroy(&rt_handles, symbols[i].handle);
}

void rt_symbols_destroy(struct rt_symbol *symbols, unsigned count)
{
	rt_symbols_unname(symbols, count);
	free(symbols);
}

/* --- look-up ------------------------------------------------------------------------------------- */

struct key {
	const char *name;
	size_t length;
};

/* Compares the first `length` characters of the key with a symbol's whole name. */
static int by_name(const void *a, const void *b)
{
	const struct key *key = a;
	const struct rt_symbol *s = b;
	int order = strncmp(key->name, s->name, key->length);

	return order ? order : -(s->name[key->length] != 0);
}

const struct rt_symbol *rt_symbol_find(const struct rt_symbol *symbols, unsigned kernels, unsigned count,
				       const char *name)
{
	struct key key = {name, strlen(name)};
	const struct rt_symbol *found = NULL;

	if (key.length > strlen(SUFFIX) && !strcmp(name + key.length - strlen(SUFFIX), SUFFIX)) {
		key.length -= strlen(SUFFIX);
		found = bsearch(&key, symbols, kernels, sizeof(*symbols), by_name);
		key.length += strlen(SUFFIX);
	}
	return found ? found : bsearch(&key, symbols + kernels, count - kernels, sizeof(*symbols), by_name);
}

const struct rt_symbol *rt_executable_symbol(const struct rt_executable *e, const struct rt_agent *agent,
					     const char *name)
{
	const struct rt_symbol *found = NULL;

	for (const struct rt_external *x = e->external; x; x = x->next)
		if (x->symbol.agent == agent && !strcmp(x->name, name))
			return &x->symbol;
	for (const struct rt_loaded *l = e->loaded; l && !found; l = l->next)
		if (l->agent == agent)
			found = rt_symbol_find(l->symbol, l->kernels, l->symbols, name);
	return found;
}

static hsa_status_t get_symbol(struct rt *rt, hsa_executable_t handle, const char *name,
			       const struct rt_agent *agent, hsa_executable_symbol_t *symbol)
{
	const struct rt_symbol *found = NULL;
	const struct rt_executable *e;

	drv_rwlock_rdlock(&rt->loader->lock);
	e = rt_executable_of(handle);
	if (e && name && symbol)
		found = rt_executable_symbol(e, agent, name);
	if (found)
		symbol->handle = found->handle;
	drv_rwlock_unlock(&rt->loader->lock);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!name || !symbol)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

/* Like ROCr: without an agent, only the client's definitions for all agents are found. */
RT_IMPL(hsa_executable_get_symbol_by_name,
	(hsa_executable_t handle, const char *name, const hsa_agent_t *agent_handle,
	 hsa_executable_symbol_t *symbol),
	(handle, name, agent_handle, symbol))
{
	const struct rt_agent *agent = NULL;

	if (agent_handle) {
		agent = rt_agent_of(rt, *agent_handle);
		if (!agent)
			return rt_executable_of(handle) ? HSA_STATUS_ERROR_INVALID_AGENT
							: HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	}
	return get_symbol(rt, handle, name, agent, symbol);
}

/* The function of HSA 1.0: module names are HSAIL's, and agent 0 means none. */
RT_IMPL(hsa_executable_get_symbol,
	(hsa_executable_t handle, const char *module, const char *name, hsa_agent_t agent, int32_t convention,
	 hsa_executable_symbol_t *symbol),
	(handle, module, name, agent, convention, symbol))
{
	(void)rt;
	/* Like ROCr: there is one calling convention. */
	if (convention)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (module && *module)
		return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
	return impl_hsa_executable_get_symbol_by_name(handle, name, agent.handle ? &agent : NULL, symbol);
}

/* --- iteration ----------------------------------------------------------------------------------- */

enum which { OF_PROGRAM = 1, OF_AGENTS = 2, OF_ALL = 3 };

static bool is_wanted(const struct rt_symbol *s, enum which which, const struct rt_agent *agent)
{
	return which & (s->agent ? OF_AGENTS : OF_PROGRAM) && (!agent || s->agent == agent);
}

static void collect_symbols(const struct rt_executable *e, enum which which, const struct rt_agent *agent,
			    struct rt_list *list)
{
	for (const struct rt_external *x = e->external; x; x = x->next)
		if (is_wanted(&x->symbol, which, agent))
			rt_list_add(list, x->symbol.handle);
	for (const struct rt_loaded *l = e->loaded; l; l = l->next)
		for (unsigned i = 0; i < l->symbols; i++)
			if (is_wanted(&l->symbol[i], which, agent))
				rt_list_add(list, l->symbol[i].handle);
}

/* The client's callback, in one of two forms. */
struct visitor {
	hsa_status_t (*symbol)(hsa_executable_t e, hsa_executable_symbol_t s, void *data);
	hsa_status_t (*with_agent)(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s, void *data);
	void *data;
};

static hsa_status_t iterate_symbols(struct rt *rt, hsa_executable_t handle, enum which which,
				    const struct rt_agent *agent, const struct visitor *v)
{
	const struct rt_executable *e;
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct rt_list list = {0};

	if (!v->symbol && !v->with_agent)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_rwlock_rdlock(&rt->loader->lock);
	e = rt_executable_of(handle);
	if (e)
		collect_symbols(e, which, agent, &list);
	drv_rwlock_unlock(&rt->loader->lock);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (list.failed)
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	for (size_t i = 0; i < list.count && !status; i++) {
		hsa_executable_symbol_t symbol = {list.handle[i]};

		status = v->symbol ? v->symbol(handle, symbol, v->data)
				   : v->with_agent(handle, rt_agent_handle(agent), symbol, v->data);
	}
	free(list.handle);
	return status;
}

RT_IMPL(hsa_executable_iterate_symbols,
	(hsa_executable_t handle,
	 hsa_status_t (*callback)(hsa_executable_t e, hsa_executable_symbol_t s, void *data), void *data),
	(handle, callback, data))
{
	return iterate_symbols(rt, handle, OF_ALL, NULL, &(struct visitor){.symbol = callback, .data = data});
}

RT_IMPL(hsa_executable_iterate_program_symbols,
	(hsa_executable_t handle,
	 hsa_status_t (*callback)(hsa_executable_t e, hsa_executable_symbol_t s, void *data), void *data),
	(handle, callback, data))
{
	return iterate_symbols(rt, handle, OF_PROGRAM, NULL, &(struct visitor){.symbol = callback, .data = data});
}

RT_IMPL(hsa_executable_iterate_agent_symbols,
	(hsa_executable_t handle, hsa_agent_t agent_handle,
	 hsa_status_t (*callback)(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s, void *data),
	 void *data),
	(handle, agent_handle, callback, data))
{
	const struct rt_agent *agent;

	agent = rt_agent_of(rt, agent_handle);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return iterate_symbols(rt, handle, OF_AGENTS, agent,
			       &(struct visitor){.with_agent = callback, .data = data});
}

/* --- queries ------------------------------------------------------------------------------------- */

/* The attributes of code symbols have the same numbers as those of executable symbols. */
_Static_assert((int)HSA_CODE_SYMBOL_INFO_VARIABLE_IS_CONST == (int)HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST &&
		       (int)HSA_CODE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK ==
			       (int)HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK,
	       "one table for both");

/* The value of a numeric attribute, with the size that the interface has for it. */
struct number {
	uint64_t value;
	uint8_t size_B;
};

static bool kernel_number(const struct cs_kernel *k, uint32_t attribute, struct number *n)
{
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
		*n = (struct number){k->descriptor_va, 8};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
		*n = (struct number){k->kernarg_B, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
		*n = (struct number){k->args_align_B > 16 ? k->args_align_B : 16, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
		*n = (struct number){k->lds_B, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
		*n = (struct number){k->private_B, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
		*n = (struct number){cs_kernel_dynamic_stack(k), 1};
		return true;
	case HSA_CODE_SYMBOL_INFO_KERNEL_WAVEFRONT_SIZE:
		*n = (struct number){cs_kernel_wave_lanes(k), 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
		*n = (struct number){0, 4};
		return true;
	default:
		return false;
	}
}

/* VARIABLE_IS_CONST is true for a constant variable, as in the specification. ROCr 5.2 to 6.4 return the opposite
 * (they compare with the section's flag for "writable"); CLR queries it and ignores the result. */
static bool variable_number(const struct rt_symbol *s, uint32_t attribute, struct number *n)
{
	/* Only the address of a client's definition is known. */
	static const struct cs_variable unknown = {.global = true};
	const struct cs_variable *v = s->variable ? s->variable : &unknown;

	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
		*n = (struct number){s->va, 8};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
		*n = (struct number){v->size_B, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
		*n = (struct number){v->align_B, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
		*n = (struct number){s->defined && !s->agent ? HSA_VARIABLE_ALLOCATION_PROGRAM
							     : HSA_VARIABLE_ALLOCATION_AGENT,
				     4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
		*n = (struct number){v->constant ? HSA_VARIABLE_SEGMENT_READONLY : HSA_VARIABLE_SEGMENT_GLOBAL, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
		*n = (struct number){v->constant, 1};
		return true;
	default:
		return false;
	}
}

static bool is_global(const struct rt_symbol *s)
{
	return s->kernel ? s->kernel->global : s->variable ? s->variable->global : true;
}

static bool symbol_number(const struct rt_symbol *s, uint32_t attribute, struct number *n)
{
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
		*n = (struct number){s->kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
		*n = (struct number){strlen(s->name) + (s->kernel ? strlen(SUFFIX) : 0), 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
		*n = (struct number){0, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
		*n = (struct number){is_global(s) ? HSA_SYMBOL_LINKAGE_PROGRAM : HSA_SYMBOL_LINKAGE_MODULE, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
		*n = (struct number){true, 1};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
		*n = (struct number){s->agent ? rt_agent_handle(s->agent).handle : 0, 8};
		return true;
	default:
		return s->kernel ? kernel_number(s->kernel, attribute, n) : variable_number(s, attribute, n);
	}
}

hsa_status_t rt_symbol_get_info(const struct rt_symbol *s, uint32_t attribute, void *value)
{
	struct number number;

	if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_NAME) { /* without a terminating 0, as NAME_LENGTH counts */
		memcpy(value, s->name, strlen(s->name));
		if (s->kernel)
			memcpy((char *)value + strlen(s->name), SUFFIX, strlen(SUFFIX));
		return HSA_STATUS_SUCCESS;
	}
	if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME)
		return HSA_STATUS_SUCCESS;
	if (!symbol_number(s, attribute, &number))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(value, &number.value, number.size_B);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL_ON_CODE(hsa_executable_symbol_get_info,
		(hsa_executable_symbol_t handle, hsa_executable_symbol_info_t attribute, void *value),
		(handle, attribute, value))
{
	const struct rt_symbol *s;

	(void)rt;
	s = drv_handle_find(&rt_handles, RT_KIND(RT_SYMBOL), handle.handle);
	if (!s)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
	return value ? rt_symbol_get_info(s, attribute, value) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

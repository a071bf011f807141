/* Code object readers, executables and their symbols. The loader itself is cs/'s; here are the objects that clients
 * hold, their states, and the way from a packet's kernel object to its kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drv/handle.h"
#include "hsa/internal.h"
#include "hsa/table.h"

#define MARK 0x5b
enum type { TYPE_READER = 1, TYPE_EXECUTABLE, TYPE_SYMBOL, TYPE_LOADED };
#define KIND(type) DRV_HANDLE_KIND(MARK, type)

static struct drv_handles handles; /* for as long as the process lives */

struct reader {
	uint64_t handle;
	const void *image; /* the client's, or a mapping that is owned */
	size_t size_B;
	bool mapped;
};

/* One code object on one agent. */
struct loaded {
	struct loaded *next;
	uint64_t handle;
	struct rt_gpu *gpu;   /* borrowed */
	struct cs_code *code; /* owned */
};

struct symbol {
	struct symbol *next;
	uint64_t handle;
	struct rt_agent *agent;             /* borrowed */
	const struct cs_kernel *kernel;     /* borrowed from its code; NULL: a variable */
	const struct cs_variable *variable; /* the same; NULL: a kernel */
	char *name;                         /* owned; kernels end in ".kd" */
};

/* A variable that the client defines for code that only declares it. */
struct external {
	struct external *next;
	struct rt_agent *agent; /* borrowed; NULL: for all */
	char *name;             /* owned */
	uint64_t va;
};

struct executable {
	struct executable *next; /* guarded by the loader's lock, as are the lists while they grow */
	uint64_t handle;
	hsa_profile_t profile;
	hsa_default_float_rounding_mode_t rounding;
	bool frozen;
	struct loaded *loaded;     /* owned */
	struct symbol *symbols;    /* owned */
	struct external *external; /* owned */
};

struct rt_loader {
	pthread_rwlock_t lock; /* guards the list; read for each kernel that a queue does not remember */
	struct executable *list;
	_Atomic uint32_t generation; /* counts destructions */
};

int rt_loader_init(struct rt *rt)
{
	rt->loader = calloc(1, sizeof(*rt->loader));
	if (!rt->loader)
		return drv_fail(-ENOMEM, "no host memory for the loader");
	pthread_rwlock_init(&rt->loader->lock, NULL);
	atomic_store(&rt->loader->generation, 1);
	return 0;
}

static void free_executable(struct rt *rt, struct executable *e);

void rt_loader_fini(struct rt *rt)
{
	while (rt->loader->list) {
		struct executable *e = rt->loader->list;

		rt->loader->list = e->next;
		free_executable(rt, e);
	}
	pthread_rwlock_destroy(&rt->loader->lock);
	free(rt->loader);
	rt->loader = NULL;
}

uint32_t rt_kernel_generation(struct rt *rt)
{
	return atomic_load_explicit(&rt->loader->generation, memory_order_acquire);
}

const struct cs_kernel *rt_kernel_find(struct rt *rt, struct rt_gpu *gpu, uint64_t object)
{
	const struct cs_kernel *kernel = NULL;

	pthread_rwlock_rdlock(&rt->loader->lock);
	for (const struct executable *e = rt->loader->list; e && !kernel; e = e->next)
		for (const struct loaded *l = e->loaded; l && !kernel; l = l->next)
			if (l->gpu == gpu)
				kernel = cs_code_kernel_by_va(l->code, object);
	pthread_rwlock_unlock(&rt->loader->lock);
	return kernel;
}

hsa_status_t impl_hsa_ven_amd_loader_query_host_address(const void *device, const void **host)
{
	RT_ENTER(rt);

	if (!device || !host)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*host = NULL;
	pthread_rwlock_rdlock(&rt->loader->lock);
	for (const struct executable *e = rt->loader->list; e && !*host; e = e->next)
		for (const struct loaded *l = e->loaded; l && !*host; l = l->next)
			*host = cs_code_map(l->code, (uintptr_t)device);
	pthread_rwlock_unlock(&rt->loader->lock);
	return *host ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* --- readers ---------------------------------------------------------------------------------- */

static hsa_status_t create_reader(const struct reader *what, hsa_code_object_reader_t *handle)
{
	struct reader *reader = malloc(sizeof(*reader));
	int r;

	if (!reader)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*reader = *what;
	r = drv_handle_create(&handles, KIND(TYPE_READER), reader, &reader->handle);
	if (r) {
		free(reader);
		return hsa_status_of(r);
	}
	handle->handle = reader->handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_code_object_reader_create_from_memory(const void *image, size_t size_B,
							    hsa_code_object_reader_t *handle)
{
	RT_ENTER(rt);

	(void)rt;
	if (!image || !size_B || !handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return create_reader(&(struct reader){.image = image, .size_B = size_B}, handle);
}

hsa_status_t impl_hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t *handle)
{
	struct stat st;
	hsa_status_t status;
	void *image;
	RT_ENTER(rt);

	(void)rt;
	if (!handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (fstat(file, &st) || st.st_size <= 0)
		return HSA_STATUS_ERROR_INVALID_FILE;
	image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (image == MAP_FAILED)
		return HSA_STATUS_ERROR_INVALID_FILE;
	status = create_reader(&(struct reader){.image = image, .size_B = (size_t)st.st_size, .mapped = true},
			       handle);
	if (status)
		munmap(image, (size_t)st.st_size);
	return status;
}

hsa_status_t impl_hsa_code_object_reader_destroy(hsa_code_object_reader_t handle)
{
	struct reader *reader;
	RT_ENTER(rt);

	(void)rt;
	reader = drv_handle_find(&handles, KIND(TYPE_READER), handle.handle);
	if (!reader)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
	drv_handle_destroy(&handles, reader->handle);
	if (reader->mapped)
		munmap((void *)(uintptr_t)reader->image, reader->size_B);
	free(reader);
	return HSA_STATUS_SUCCESS;
}

/* --- executables ------------------------------------------------------------------------------ */

static struct executable *executable_of(hsa_executable_t handle)
{
	return drv_handle_find(&handles, KIND(TYPE_EXECUTABLE), handle.handle);
}

hsa_status_t impl_hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
					    const char *options, hsa_executable_t *handle)
{
	struct executable *e;
	int r;
	RT_ENTER(rt);

	(void)options;
	if (!handle || (unsigned)profile > HSA_PROFILE_FULL ||
	    (unsigned)rounding > HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	e = calloc(1, sizeof(*e));
	if (!e)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	e->profile = profile;
	e->rounding = rounding;
	r = drv_handle_create(&handles, KIND(TYPE_EXECUTABLE), e, &e->handle);
	if (r) {
		free(e);
		return hsa_status_of(r);
	}
	pthread_rwlock_wrlock(&rt->loader->lock);
	e->next = rt->loader->list;
	rt->loader->list = e;
	pthread_rwlock_unlock(&rt->loader->lock);
	handle->handle = e->handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state, const char *options,
					hsa_executable_t *handle)
{
	hsa_status_t status =
		impl_hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, handle);

	if (!status)
		executable_of(*handle)->frozen = state == HSA_EXECUTABLE_STATE_FROZEN;
	return status;
}

/* Waits for all that the GPU was given: some of it may run the code. */
static void unload(struct rt *rt, struct loaded *l)
{
	struct cs_point points[64];
	unsigned count = rt_queues_points(rt, l->gpu, points, 64);

	for (unsigned i = 0; i < count; i++)
		cs_point_settle(points[i]);
	cs_code_unload(l->code);
	drv_handle_destroy(&handles, l->handle);
	free(l);
}

static void free_executable(struct rt *rt, struct executable *e)
{
	while (e->symbols) {
		struct symbol *s = e->symbols;

		e->symbols = s->next;
		drv_handle_destroy(&handles, s->handle);
		free(s->name);
		free(s);
	}
	while (e->loaded) {
		struct loaded *l = e->loaded;

		e->loaded = l->next;
		unload(rt, l);
	}
	while (e->external) {
		struct external *x = e->external;

		e->external = x->next;
		free(x->name);
		free(x);
	}
	drv_handle_destroy(&handles, e->handle);
	free(e);
}

hsa_status_t impl_hsa_executable_destroy(hsa_executable_t handle)
{
	struct executable *e, **at;
	RT_ENTER(rt);

	pthread_rwlock_wrlock(&rt->loader->lock);
	e = executable_of(handle);
	for (at = &rt->loader->list; e && *at != e; at = &(*at)->next)
		continue;
	if (e) {
		*at = e->next;
		atomic_fetch_add(&rt->loader->generation, 1);
	}
	pthread_rwlock_unlock(&rt->loader->lock);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	free_executable(rt, e);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_executable_freeze(hsa_executable_t handle, const char *options)
{
	struct executable *e;
	RT_ENTER(rt);

	(void)rt;
	(void)options;
	e = executable_of(handle);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (e->frozen)
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	e->frozen = true;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_executable_get_info(hsa_executable_t handle, hsa_executable_info_t attribute, void *value)
{
	const struct executable *e;
	RT_ENTER(rt);

	(void)rt;
	e = executable_of(handle);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_EXECUTABLE_INFO_PROFILE:
		*(hsa_profile_t *)value = e->profile;
		return HSA_STATUS_SUCCESS;
	case HSA_EXECUTABLE_INFO_STATE:
		*(hsa_executable_state_t *)value =
			e->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN;
		return HSA_STATUS_SUCCESS;
	case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		*(hsa_default_float_rounding_mode_t *)value = e->rounding;
		return HSA_STATUS_SUCCESS;
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t validate(hsa_executable_t handle, uint32_t *result)
{
	RT_ENTER(rt);

	(void)rt;
	if (!executable_of(handle))
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	/* What could be wrong, loading has refused. */
	*result = 0;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_executable_validate(hsa_executable_t handle, uint32_t *result)
{
	return validate(handle, result);
}

hsa_status_t impl_hsa_executable_validate_alt(hsa_executable_t handle, const char *options, uint32_t *result)
{
	(void)options;
	return validate(handle, result);
}

/* --- loading ---------------------------------------------------------------------------------- */

struct resolver {
	const struct executable *executable;
	const struct rt_agent *agent;
};

static int resolve(void *user, const char *name, uint64_t *va)
{
	const struct resolver *r = user;

	for (const struct external *x = r->executable->external; x; x = x->next)
		if ((!x->agent || x->agent == r->agent) && !strcmp(x->name, name)) {
			*va = x->va;
			return 0;
		}
	return -ENOENT;
}

static int add_symbol(struct executable *e, struct rt_agent *agent, const struct cs_kernel *kernel,
		      const struct cs_variable *variable)
{
	struct symbol *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return drv_fail(-ENOMEM, "no host memory for a symbol");
	s->agent = agent;
	s->kernel = kernel;
	s->variable = variable;
	if (asprintf(&s->name, "%s%s", kernel ? kernel->name : variable->name, kernel ? ".kd" : "") < 0) {
		free(s);
		return drv_fail(-ENOMEM, "no host memory for a name");
	}
	r = drv_handle_create(&handles, KIND(TYPE_SYMBOL), s, &s->handle);
	if (r) {
		free(s->name);
		free(s);
		return r;
	}
	s->next = e->symbols;
	e->symbols = s;
	return 0;
}

static int add_symbols(struct executable *e, struct rt_agent *agent, struct cs_code *code)
{
	const struct cs_variable *variable;
	const struct cs_kernel *kernel;
	int r = 0;

	for (unsigned i = 0; !r && (kernel = cs_code_kernel_at(code, i)); i++)
		r = add_symbol(e, agent, kernel, NULL);
	for (unsigned i = 0; !r && (variable = cs_code_variable_at(code, i)); i++)
		r = add_symbol(e, agent, NULL, variable);
	return r;
}

/* Takes symbols off again, down to the one that was the first. */
static void drop_symbols(struct executable *e, struct symbol *first)
{
	while (e->symbols != first) {
		struct symbol *s = e->symbols;

		e->symbols = s->next;
		drv_handle_destroy(&handles, s->handle);
		free(s->name);
		free(s);
	}
}

static hsa_status_t status_of_load(int r)
{
	switch (r) {
	case -ENOEXEC:
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	case -ENOTSUP:
	case -ENOENT:
		return HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
	default:
		return hsa_status_of(r);
	}
}

static int load(struct rt *rt, struct executable *e, struct rt_agent *agent, const struct reader *reader,
		struct loaded **out)
{
	struct resolver resolver = {.executable = e, .agent = agent};
	const struct cs_code_hooks hooks = {.resolve = resolve, .user = &resolver};
	struct loaded *l = calloc(1, sizeof(*l));
	struct symbol *first = e->symbols;
	int r;

	if (!l)
		return drv_fail(-ENOMEM, "no host memory for a code object");
	l->gpu = agent->gpu;
	r = cs_code_load(agent->gpu->vm, reader->image, reader->size_B, &hooks, &l->code);
	if (r)
		goto fail_load;
	r = drv_handle_create(&handles, KIND(TYPE_LOADED), l, &l->handle);
	if (r)
		goto fail_handle;
	pthread_rwlock_wrlock(&rt->loader->lock);
	r = add_symbols(e, agent, l->code);
	if (r)
		drop_symbols(e, first);
	else
		l->next = e->loaded, e->loaded = l;
	pthread_rwlock_unlock(&rt->loader->lock);
	if (r)
		goto fail_symbols;
	*out = l;
	return 0;

fail_symbols:
	drv_handle_destroy(&handles, l->handle);
fail_handle:
	cs_code_unload(l->code);
fail_load:
	free(l);
	return r;
}

hsa_status_t impl_hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent_handle,
							hsa_code_object_reader_t reader_handle, const char *options,
							hsa_loaded_code_object_t *loaded)
{
	const struct reader *reader;
	struct rt_agent *agent;
	struct executable *e;
	struct cs_target target;
	struct loaded *l = NULL;
	int r;
	RT_ENTER(rt);

	(void)options;
	e = executable_of(handle);
	agent = rt_agent_of(rt, agent_handle);
	reader = drv_handle_find(&handles, KIND(TYPE_READER), reader_handle.handle);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (e->frozen)
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	if (!agent || !agent->gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!reader)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
	if (!cs_code_target(reader->image, reader->size_B, agent->gpu->dev->chip, &target) &&
	    !cs_target_fits(&target, agent->gpu->dev->chip))
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	r = load(rt, e, agent, reader, &l);
	if (r)
		return status_of_load(r);
	if (loaded)
		loaded->handle = l->handle;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t define(hsa_executable_t handle, struct rt_agent *agent, const char *name, const void *address)
{
	struct executable *e = executable_of(handle);
	struct external *x;

	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (e->frozen)
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	if (!name || !address)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (x = e->external; x; x = x->next)
		if (x->agent == agent && !strcmp(x->name, name))
			return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
	x = calloc(1, sizeof(*x));
	if (x)
		x->name = strdup(name);
	if (!x || !x->name) {
		free(x);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	x->agent = agent;
	x->va = (uintptr_t)address;
	x->next = e->external;
	e->external = x;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_executable_agent_global_variable_define(hsa_executable_t handle, hsa_agent_t agent_handle,
							      const char *name, void *address)
{
	struct rt_agent *agent;
	RT_ENTER(rt);

	agent = rt_agent_of(rt, agent_handle);
	return agent ? define(handle, agent, name, address) : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t impl_hsa_executable_global_variable_define(hsa_executable_t handle, const char *name, void *address)
{
	RT_ENTER(rt);

	(void)rt;
	return define(handle, NULL, name, address);
}

hsa_status_t impl_hsa_executable_readonly_variable_define(hsa_executable_t handle, hsa_agent_t agent,
							  const char *name, void *address)
{
	return impl_hsa_executable_agent_global_variable_define(handle, agent, name, address);
}

/* --- symbols ---------------------------------------------------------------------------------- */

hsa_status_t impl_hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char *name,
						    const hsa_agent_t *agent_handle,
						    hsa_executable_symbol_t *symbol)
{
	const struct rt_agent *agent = NULL;
	struct executable *e;
	RT_ENTER(rt);

	e = executable_of(handle);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!name || !symbol)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (agent_handle) {
		agent = rt_agent_of(rt, *agent_handle);
		if (!agent)
			return HSA_STATUS_ERROR_INVALID_AGENT;
	}
	for (const struct symbol *s = e->symbols; s; s = s->next)
		if ((!agent || s->agent == agent) && !strcmp(s->name, name)) {
			symbol->handle = s->handle;
			return HSA_STATUS_SUCCESS;
		}
	return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t impl_hsa_executable_get_symbol(hsa_executable_t handle, const char *module, const char *name,
					    hsa_agent_t agent, int32_t convention, hsa_executable_symbol_t *symbol)
{
	(void)convention;
	/* Modules are HSAIL's. */
	if (module && *module)
		return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
	return impl_hsa_executable_get_symbol_by_name(handle, name, &agent, symbol);
}

static hsa_status_t iterate(hsa_executable_t handle, const struct rt_agent *agent,
			    hsa_status_t (*callback)(hsa_executable_t e, hsa_executable_symbol_t s, void *data),
			    void *data)
{
	struct executable *e = executable_of(handle);
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (const struct symbol *s = e->symbols; s && !status; s = s->next)
		if (!agent || s->agent == agent)
			status = callback(handle, (hsa_executable_symbol_t){s->handle}, data);
	return status;
}

hsa_status_t impl_hsa_executable_iterate_symbols(hsa_executable_t handle,
						 hsa_status_t (*callback)(hsa_executable_t e,
									  hsa_executable_symbol_t s, void *data),
						 void *data)
{
	RT_ENTER(rt);

	(void)rt;
	return iterate(handle, NULL, callback, data);
}

struct agent_callback {
	hsa_status_t (*callback)(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s, void *data);
	hsa_agent_t agent;
	void *data;
};

static hsa_status_t call_with_agent(hsa_executable_t e, hsa_executable_symbol_t s, void *data)
{
	const struct agent_callback *c = data;

	return c->callback(e, c->agent, s, c->data);
}

hsa_status_t impl_hsa_executable_iterate_agent_symbols(
	hsa_executable_t handle, hsa_agent_t agent_handle,
	hsa_status_t (*callback)(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s, void *data),
	void *data)
{
	struct agent_callback c = {callback, agent_handle, data};
	struct rt_agent *agent;
	RT_ENTER(rt);

	agent = rt_agent_of(rt, agent_handle);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return iterate(handle, agent, callback ? call_with_agent : NULL, &c);
}

/* A symbol's numbers, by attribute: their sizes are the interface's. */
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
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
		*n = (struct number){0, 4};
		return true;
	default:
		return false;
	}
}

static bool variable_number(const struct cs_variable *v, uint32_t attribute, struct number *n)
{
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
		*n = (struct number){v->va, 8};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
		*n = (struct number){v->size_B, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
		*n = (struct number){v->align_B, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
		*n = (struct number){HSA_VARIABLE_ALLOCATION_AGENT, 4};
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

static bool symbol_number(const struct symbol *s, uint32_t attribute, struct number *n)
{
	bool global = s->kernel ? s->kernel->global : s->variable->global;

	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
		*n = (struct number){s->kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
		*n = (struct number){strlen(s->name), 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
		*n = (struct number){0, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
		*n = (struct number){global ? HSA_SYMBOL_LINKAGE_PROGRAM : HSA_SYMBOL_LINKAGE_MODULE, 4};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
		*n = (struct number){true, 1};
		return true;
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
		*n = (struct number){rt_agent_handle(s->agent).handle, 8};
		return true;
	default:
		return s->kernel ? kernel_number(s->kernel, attribute, n)
				 : variable_number(s->variable, attribute, n);
	}
}

hsa_status_t impl_hsa_executable_symbol_get_info(hsa_executable_symbol_t handle,
						 hsa_executable_symbol_info_t attribute, void *value)
{
	const struct symbol *s;
	struct number number;
	RT_ENTER(rt);

	(void)rt;
	s = drv_handle_find(&handles, KIND(TYPE_SYMBOL), handle.handle);
	if (!s)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_NAME) {
		memcpy(value, s->name, strlen(s->name)); /* without an end, as its length says */
		return HSA_STATUS_SUCCESS;
	}
	if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME)
		return HSA_STATUS_SUCCESS;
	if (!symbol_number(s, attribute, &number))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(value, &number.value, number.size_B);
	return HSA_STATUS_SUCCESS;
}

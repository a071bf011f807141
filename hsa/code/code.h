/* Code objects: declarations that the files of code/ share.
 *
 *   rt_source      the bytes of a code object and their origin; counted by readers and loaded code objects
 *   rt_loaded      a code object loaded for one agent, with its symbols. Owned by its executable
 *   rt_symbol      a kernel or variable of it, or a variable that the client defined
 *   rt_executable  the code objects that were loaded together, and the client's definitions for them. Owned by
 *                  rt_loader
 *   rt_loader      the list of executables. Owned by rt
 *
 * Their handles are slots of rt_handles. rt_loader.lock guards the list of executables and their content; it is
 * taken under a flow's lock, and not held while code is loaded, nor during a callback. A client must not destroy an
 * object that another thread uses, as in ROCr. */
#ifndef HSA_CODE_H
#define HSA_CODE_H

#include <link.h>

#include "drv/lock.h"
#include "drv/handle.h"
#include "hsa/memory/memory.h"

/* A code object's bytes. Immutable. */
struct rt_source {
	_Atomic uint32_t refs;
	const void *image; /* borrowed from the client, which keeps it while readers exist; or `copy` */
	size_t size_B;
	void *copy; /* owned: a heap copy, or NULL */
	char *uri;  /* owned: its location, for debuggers */
};

/* Creates a source of memory that stays the client's. -ENOMEM. */
DRV_MUST_CHECK int rt_source_create(const void *image, size_t size_B, struct rt_source **source);
/* Creates a source with a copy of the bytes. */
DRV_MUST_CHECK int rt_source_create_copy(const void *image, size_t size_B, struct rt_source **source);
struct rt_source *rt_source_get(struct rt_source *source);
/* Accepts NULL. */
void rt_source_put(struct rt_source *source);
/* A reference to the reader's source. NULL: there is no such reader. */
struct rt_source *rt_reader_source(struct rt *rt, hsa_code_object_reader_t handle);

struct rt_symbol {
	uint64_t handle;
	struct rt_agent *agent;         /* borrowed; NULL: a symbol of a program, or of code that was not loaded */
	const struct cs_kernel *kernel; /* borrowed from its code, or NULL */
	const struct cs_variable *variable; /* borrowed from its code, or NULL */
	const char *name;                   /* borrowed; of a kernel without ".kd" */
	uint64_t va;                        /* a variable's address; for a definition of the client, the client's */
	bool defined;                       /* defined by the client: neither kernel nor variable is set */
};

struct rt_loaded {
	struct rt_loaded *next;
	uint64_t handle;
	struct rt_executable *executable; /* borrowed */
	struct rt_agent *agent;           /* borrowed */
	struct cs_code *code;             /* owned */
	struct rt_source *source;         /* a reference */
	struct rt_va_region region;       /* for look-ups of its memory by address */
	unsigned kernels, symbols;
	struct rt_symbol *symbol; /* owned: kernels by name, then variables by name */
	struct link_map debug;    /* in the debugger's list while its executable is frozen */
	struct rt_deferred_free deferred;
};

/* A variable that the client defines for code that only declares it. */
struct rt_external {
	struct rt_external *next;
	char *name; /* owned */
	struct rt_symbol symbol;
};

struct rt_executable {
	struct rt_executable *next;
	uint64_t handle;
	/* The handle's reference, and those of threads that load code. An executable that has ended gets no code. */
	_Atomic unsigned refs;
	bool ended;
	hsa_profile_t profile;
	hsa_default_float_rounding_mode_t rounding;
	bool frozen;
	struct rt_loaded *loaded;     /* owned, in the order of loading */
	struct rt_external *external; /* owned */
};

struct rt_loader {
	/* Guards the list, executables and their code. A thread has it from the look-up of a handle of this folder to its last
	 * use, but for what it has a reference of; handles are destroyed under it. Read-locked for each kernel that a queue has
	 * not cached. */
	struct drv_rwlock lock;
	struct rt_executable *list;
};

/* executable.c */
/* Caller holds the loader's lock. */
struct rt_executable *rt_executable_of(hsa_executable_t handle);
/* A reference. NULL: there is no such executable. */
struct rt_executable *rt_executable_get(struct rt *rt, hsa_executable_t handle);
void rt_executable_put(struct rt_executable *e);

/* Defines a function whose body holds the loader's lock for reading. */
#define RT_IMPL_ON_CODE(name, parameters, arguments)                                                               \
	static hsa_status_t name##_locked(struct rt *rt, RT_UNPACK parameters);                                    \
	RT_IMPL(name, parameters, arguments)                                                                       \
	{                                                                                                          \
		hsa_status_t status;                                                                               \
                                                                                                                   \
		drv_rwlock_rdlock(&rt->loader->lock);                                                              \
		status = name##_locked(rt, RT_UNPACK arguments);                                                   \
		drv_rwlock_unlock(&rt->loader->lock);                                                              \
		return status;                                                                                     \
	}                                                                                                          \
	static hsa_status_t name##_locked(struct rt *rt __attribute__((unused)), RT_UNPACK parameters)

/* Handles collected under a lock, for an iteration without it. */
struct rt_list {
	uint64_t *handle; /* owned, on the heap */
	size_t count, max;
	bool failed; /* memory for a handle was missing */
};
void rt_list_add(struct rt_list *list, uint64_t handle);

/* load.c */
/* Loads a code object for an agent into an executable. */
hsa_status_t rt_load_for(struct rt *rt, struct rt_executable *e, hsa_agent_t agent, struct rt_source *source,
			 uint64_t *loaded);
/* Unloads a code object: its handles are invalid at once; its memory is freed when all submitted work has ended.
 * The loader's lock is not held. */
void rt_unload(struct rt *rt, struct rt_loaded *loaded);

/* symbol.c */
/* Creates the symbols of a code object, with handles. */
DRV_MUST_CHECK int rt_symbols_create(struct cs_code *code, struct rt_agent *agent, enum rt_type type,
				     struct rt_symbol **symbols, unsigned *kernels, unsigned *count);
/* Destroys the handles: done before, with the loader's lock, where other threads may have found them. */
void rt_symbols_unname(struct rt_symbol *symbols, unsigned count);
void rt_symbols_destroy(struct rt_symbol *symbols, unsigned count);
/* Finds a symbol by the client's name for it, which ends in ".kd" for kernels. NULL: none. O(log n). */
const struct rt_symbol *rt_symbol_find(const struct rt_symbol *symbols, unsigned kernels, unsigned count,
				       const char *name);
/* A symbol of the agent (NULL: of the program) in an executable; the loader's lock held. */
const struct rt_symbol *rt_executable_symbol(const struct rt_executable *e, const struct rt_agent *agent,
					     const char *name);
/* The getter for hsa_executable_symbol_get_info() and hsa_code_symbol_get_info(). */
hsa_status_t rt_symbol_get_info(const struct rt_symbol *symbol, uint32_t attribute, void *value);

/* debug.c: rocgdb's list of loaded code objects. */
void rt_debug_add(struct rt_executable *e);
void rt_debug_remove(struct rt_executable *e);

DRV_MUST_CHECK int rt_loader_init(struct rt *rt);
void rt_loader_fini(struct rt *rt);
/* The kernel on that GPU whose descriptor a packet names; NULL: no such kernel is loaded. Valid until its
 * executable is destroyed, which changes rt->kernel_generation. */
const struct cs_kernel *rt_kernel_find(struct rt *rt, struct rt_gpu *gpu, uint64_t kernel_object);

#endif

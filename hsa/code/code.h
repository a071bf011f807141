/* Code objects, inside hsa/: what reader.c, executable.c, load.c, symbol.c, loader.c and code_object.c share.
 *
 *   rt_source      the bytes of a code object and where they came from; counted by readers and by what was loaded
 *   rt_loaded      one code object on one agent, with its symbols
 *   rt_symbol      a kernel or a variable of it, or a variable that the client defined
 *   rt_executable  what was loaded together, and the client's definitions for it
 *
 * Handles of them are slots of rt_handles. The loader's lock guards the list of executables and what they hold; it
 * is not held while code is loaded, nor over a callback. Who destroys an object while another thread uses it has
 * lost, as in ROCr. */
#ifndef HSA_CODE_H
#define HSA_CODE_H

#include <link.h>

#include "drv/handle.h"
#include "hsa/memory/memory.h"

/* Immutable. */
struct rt_source {
	_Atomic uint32_t refs;
	const void *image; /* the client's (who keeps it while readers live), or owned, in one of two ways: */
	size_t size_B;
	void *map; /* owned: the mapping in which it lies, or NULL */
	size_t map_B;
	void *copy; /* owned: on the heap, or NULL */
	int fd;     /* the client's number of the file; -1: none */
	char *uri;  /* owned: where debuggers find it */
};

/* image: the client's. -ENOMEM. */
DRV_MUST_CHECK int rt_source_create(const void *image, size_t size_B, struct rt_source **source);
/* The same with a copy of its own. */
DRV_MUST_CHECK int rt_source_create_copy(const void *image, size_t size_B, struct rt_source **source);
struct rt_source *rt_source_get(struct rt_source *source);
/* Accepts NULL. */
void rt_source_put(struct rt_source *source);
/* The source of a reader that is alive, or NULL. */
struct rt_source *rt_reader_source(hsa_code_object_reader_t handle);

struct rt_symbol {
	uint64_t handle;
	struct rt_agent *agent;             /* borrowed; NULL: of a program, or of code that was only read */
	const struct cs_kernel *kernel;     /* borrowed from its code, or NULL */
	const struct cs_variable *variable; /* the same */
	const char *name;                   /* borrowed; of a kernel without ".kd" */
	uint64_t va;                        /* of a variable; what the client said for its own */
	bool defined;                       /* by the client: neither kernel nor variable */
};

struct rt_loaded {
	struct rt_loaded *next;
	uint64_t handle;
	struct rt_executable *executable; /* borrowed */
	struct rt_agent *agent;           /* borrowed */
	struct cs_code *code;             /* owned */
	struct rt_source *source;         /* a reference */
	struct rt_va_region region;       /* by which its memory is found */
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
	hsa_profile_t profile;
	hsa_default_float_rounding_mode_t rounding;
	bool frozen;
	struct rt_loaded *loaded;     /* owned, the first one first */
	struct rt_external *external; /* owned */
};

struct rt_loader {
	pthread_rwlock_t lock; /* guards the list; read for each kernel that a queue does not remember */
	struct rt_executable *list;
};

/* executable.c */
struct rt_executable *rt_executable_of(hsa_executable_t handle);

/* Handles that were collected under a lock, to be gone through without it. */
struct rt_list {
	uint64_t *handle; /* owned, on the heap */
	size_t count, max;
	bool failed; /* there was no memory for one */
};
void rt_list_add(struct rt_list *list, uint64_t handle);

/* load.c */
/* Loads a code object for an agent into an executable. */
hsa_status_t rt_load_for(struct rt *rt, struct rt_executable *e, hsa_agent_t agent, struct rt_source *source,
			 struct rt_loaded **loaded);
/* Its handles end now; its memory when all work that was submitted is over. The loader's lock is not held. */
void rt_unload(struct rt *rt, struct rt_loaded *loaded);

/* symbol.c */
/* Fills symbols with those of code and gives them handles. */
DRV_MUST_CHECK int rt_symbols_create(struct cs_code *code, struct rt_agent *agent, enum rt_type type,
				     struct rt_symbol **symbols, unsigned *kernels, unsigned *count);
void rt_symbols_destroy(struct rt_symbol *symbols, unsigned count);
/* By the name that clients use: kernels end in ".kd". NULL: none. O(log n). */
const struct rt_symbol *rt_symbol_find(const struct rt_symbol *symbols, unsigned kernels, unsigned count,
				       const char *name);
/* Of the agent (NULL: of the program) in an executable; the loader's lock held. */
const struct rt_symbol *rt_executable_symbol(const struct rt_executable *e, const struct rt_agent *agent,
					     const char *name);
/* Copies out what hsa_executable_symbol_get_info() and hsa_code_symbol_get_info() ask. */
hsa_status_t rt_symbol_get_info(const struct rt_symbol *symbol, uint32_t attribute, void *value);

/* debug.c: rocgdb's list of loaded code objects. */
void rt_debug_add(struct rt_executable *e);
void rt_debug_remove(struct rt_executable *e);

DRV_MUST_CHECK int rt_loader_init(struct rt *rt);
void rt_loader_fini(struct rt *rt);
/* The kernel whose descriptor a packet names, on that GPU; NULL: none that was loaded. Lives until its executable
 * is destroyed; rt->kernel_generation changes then. */
const struct cs_kernel *rt_kernel_find(struct rt *rt, struct rt_gpu *gpu, uint64_t kernel_object);

#endif

/* Code objects: loaded images, their kernels and variables.
 *
 *   cs_code      a loaded code object; owns its kernels, variables and names
 *   cs_kernel    what a dispatch needs of a kernel
 *   cs_variable  a variable of the code
 *
 * Thread rule: a loaded code object is immutable, but for cs_kernel_cost. */
#ifndef CS_CODE_OBJECT_H
#define CS_CODE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/vm.h"

struct cs_code;

/* Arguments that the compiler adds behind the explicit ones; families of three stand at multiples of three. Those
 * that are not named here stay zero. */
enum cs_hidden_kind {
	CS_HIDDEN_NONE = 0,
	CS_HIDDEN_BLOCK_COUNT_X = 3,
	CS_HIDDEN_BLOCK_COUNT_Y,
	CS_HIDDEN_BLOCK_COUNT_Z,
	CS_HIDDEN_GROUP_SIZE_X,
	CS_HIDDEN_GROUP_SIZE_Y,
	CS_HIDDEN_GROUP_SIZE_Z,
	CS_HIDDEN_REMAINDER_X,
	CS_HIDDEN_REMAINDER_Y,
	CS_HIDDEN_REMAINDER_Z,
	CS_HIDDEN_GRID_DIMS,
	CS_HIDDEN_DYNAMIC_LDS_SIZE,
	CS_HIDDEN_PRIVATE_BASE,
	CS_HIDDEN_SHARED_BASE,
	CS_HIDDEN_QUEUE_PTR,
	/* Services that whoever is above offers. */
	CS_HIDDEN_HOSTCALL,
	CS_HIDDEN_PRINTF,
	CS_HIDDEN_HEAP,
	CS_HIDDEN_MULTIGRID_SYNC,
};

/* What the metadata says of an argument. */
struct cs_arg {
	uint16_t kind; /* enum cs_hidden_kind; 0: an explicit one */
	uint16_t size_B;
	uint32_t offset_B;
};

/* What a dispatch of a kernel took: of so many workgroups. Atomic, relaxed: an estimate, for callers that bound
 * their jobs by time. ns 0: not known. */
struct cs_kernel_cost {
	_Atomic uint64_t ns, groups;
};

struct cs_kernel {
	const char *name;       /* owned by the code */
	struct cs_code *code;   /* borrowed */
	uint64_t descriptor_va; /* the HSA kernel object */
	uint64_t entry_va;
	uint32_t rsrc1, rsrc2, rsrc3;
	uint16_t properties;  /* kernel_code_properties */
	uint8_t preload_dw;   /* of the arguments, that the last user SGPRs hold when the kernel begins */
	uint16_t preload_at;  /* the first of these dwords */
	uint32_t lds_B;       /* static */
	uint32_t private_B;   /* scratch per lane, static */
	uint32_t kernarg_B;   /* hidden arguments included */
	uint32_t explicit_B;  /* without them */
	uint32_t max_threads; /* per workgroup; 0: not said */
	uint32_t args_align_B;
	bool global;           /* a global symbol, not a weak one */
	bool uniform;          /* its code counts on workgroups that are all of one size */
	unsigned vgprs, sgprs; /* as the metadata has them; 0: not said */
	unsigned arg_count, hidden_count;
	const struct cs_arg *arg, *hidden; /* explicit and hidden ones; owned by the code */
	uint32_t hidden_end_B; /* where the last hidden argument ends that its code may read; 0: there is none */
	/* What printf is called with in its code, as the metadata has it; NULL behind the last. Owned by the code.
	 */
	const char *const *format;
	struct cs_kernel_cost *cost; /* owned by the code; the caller's */
};
/* The kernel calls what the compiler cannot see: how much stack it takes is not known. */
bool cs_kernel_dynamic_stack(const struct cs_kernel *kernel);
/* What such a kernel gets per lane at least: what clang itself took such a call to need, before it left that to the
 * runtime (amdgpu-assume-external-call-stack-size), and CLR's largest default. malloc() at -O0 takes over 2 KiB. */
#define CS_DYNAMIC_STACK_B 16384u
/* 32 or 64. */
unsigned cs_kernel_wave_lanes(const struct cs_kernel *kernel);

/* A variable of a code object. */
struct cs_variable {
	const char *name; /* owned by the code */
	uint64_t va, size_B, align_B;
	bool constant; /* nothing writes it */
	bool global;   /* a global symbol, not a weak one */
};

/* What a code object was compiled for. */
struct cs_target {
	const char *isa;                 /* "gfx906", "gfx9-generic"; NULL: the machine is unknown. Static. */
	unsigned mach, version;          /* EF_AMDGPU_MACH; of the code object's format: 3 to 6 */
	unsigned generic_version;        /* of a generic target; 0: code for one chip */
	enum drv_feature xnack, sramecc; /* DRV_FEATURE_EITHER: not demanded */
};

/* Reads what a code object, or the first of an offload bundle that suits the chip, was compiled for. chip NULL: no
 * bundles. -ENOEXEC: it is none, or its version is unknown. */
DRV_MUST_CHECK int cs_code_target(const void *image, size_t size_B, const struct drv_chip *chip,
				  struct cs_target *target);
/* True when a chip runs code for that target: its own, of the generic target that covers it, or of a chip whose
 * instructions are the same (drv_chip.runs_mach); with the features as the chip has them. */
bool cs_target_fits(const struct cs_target *target, const struct drv_chip *chip);

/* If the image is an offload bundle, narrows it to the first code object for the chip, or else for its generic
 * target, or else for a chip whose code it runs. -ENOEXEC, -ENOTSUP (compressed). */
DRV_MUST_CHECK int cs_bundle_pick(const void **image, size_t *size_B, const struct drv_chip *chip);

/* What the loader asks of its caller; each may be NULL. */
struct cs_code_hooks {
	/* The address of what the code object names and does not define. -ENOENT: unknown; weak names are 0 then.
	 */
	int (*resolve)(void *user, const char *name, uint64_t *va);
	/* Writes to VRAM that the CPU does not see, at once: small BARs. NULL: code goes to VRAM that it sees. */
	int (*upload)(void *user, uint64_t va, const void *from, uint64_t size_B);
	void *user;
};

/* Loads a code object (an AMDGPU ELF of version 3 to 6, or an offload bundle that has one) for the vm's chip; image
 * and hooks are read during the call only; hooks may be NULL. -ENOEXEC: broken, or for another chip; -ENOTSUP:
 * needs what tuff does not do, names what it does not define; -ENOMEM; what a hook says. The record says what. */
DRV_MUST_CHECK int cs_code_load(struct vm *vm, const void *image, size_t size_B, const struct cs_code_hooks *hooks,
				struct cs_code **code);
/* Only reads it, for whatever chip it is: symbols have addresses within the file's image, external ones are 0. */
DRV_MUST_CHECK int cs_code_read(const void *image, size_t size_B, struct cs_code **code);
/* No submitted work may still run it. */
void cs_code_unload(struct cs_code *code);
/* Where the loaded image lies. */
void cs_code_extent(const struct cs_code *code, uint64_t *va, uint64_t *size_B);
/* Where the CPU reads what was loaded at va: the memory itself, or a copy as it was when it was loaded where the
 * CPU does not see the memory. NULL: outside. */
const void *cs_code_map(const struct cs_code *code, uint64_t va);
/* -ENOENT. */
DRV_MUST_CHECK int cs_code_kernel(const struct cs_code *code, const char *name, const struct cs_kernel **kernel);
/* By index, in order of their names; NULL past the last. */
const struct cs_kernel *cs_code_kernel_at(const struct cs_code *code, unsigned index);
/* The kernel whose descriptor is there, or NULL. */
const struct cs_kernel *cs_code_kernel_by_va(const struct cs_code *code, uint64_t descriptor_va);
DRV_MUST_CHECK int cs_code_variable(const struct cs_code *code, const char *name,
				    const struct cs_variable **variable);
const struct cs_variable *cs_code_variable_at(const struct cs_code *code, unsigned index);

#endif

/* Code objects: loaded images, their kernels and variables.
 *
 *   cs_code         a loaded code object; owns its kernels, variables and names
 *   cs_kernel       properties of a kernel that a dispatch needs
 *   cs_kernel_cost  measured time of a kernel; the caller's, atomic
 *   cs_variable     a variable of the code
 *   cs_target       the target that a code object was compiled for
 *
 * Thread rule: a loaded code object is immutable, except cs_kernel_cost; no lock. */
#ifndef CS_CODE_OBJECT_H
#define CS_CODE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/vm.h"

struct cs_code;

/* Hidden arguments, which the compiler adds after the explicit ones; families of three begin at multiples of three.
 * Hidden arguments without a name here stay zero. */
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
	/* Services that a room above cs/ provides. */
	CS_HIDDEN_HOSTCALL,
	CS_HIDDEN_PRINTF,
	CS_HIDDEN_HEAP,
	CS_HIDDEN_MULTIGRID_SYNC,
};

/* Metadata of an argument. */
struct cs_arg {
	uint16_t kind; /* enum cs_hidden_kind; 0: an explicit argument */
	uint16_t size_B;
	uint32_t offset_B;
};

/* Measured time of a dispatch of `groups` workgroups of a kernel. Atomic, relaxed: an estimate, for callers that
 * bound their jobs by time. ns 0: unknown. */
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
	uint8_t preload_dw;   /* dwords of the arguments that the last user SGPRs hold when the kernel begins */
	uint16_t preload_at;  /* first of these dwords */
	uint32_t lds_B;       /* static size */
	uint32_t private_B;   /* scratch per lane, static size */
	uint32_t kernarg_B;   /* size with hidden arguments */
	uint32_t explicit_B;  /* size without hidden arguments */
	uint32_t max_threads; /* per workgroup; 0: unknown */
	uint32_t args_align_B;
	bool global;  /* the symbol is global, not weak */
	bool uniform; /* the code requires workgroups of equal size */
	/* most work-items of a workgroup whose registers fit a compute unit: a larger one never starts */
	uint32_t fit_threads;
	unsigned vgprs, sgprs; /* from the metadata; 0: unknown */
	unsigned arg_count, hidden_count;
	const struct cs_arg *arg, *hidden; /* owned by the code */
	uint32_t hidden_end_B; /* end of the last hidden argument that the code may read; 0: there is none */
	/* Formats of the kernel's printf calls, from the metadata; NULL ends the list. Owned by the code. */
	const char *const *format;
	struct cs_kernel_cost *cost; /* owned by the code; its content is the caller's */
};
/* True when the kernel calls functions that the compiler does not know: the size of its stack is unknown. */
bool cs_kernel_dynamic_stack(const struct cs_kernel *kernel);
/* Least stack per lane of a kernel with unknown calls: clang's own assumption before it left the size to the
 * runtime (amdgpu-assume-external-call-stack-size), and CLR's largest default. malloc() at -O0 takes over 2 KiB. */
#define CS_DYNAMIC_STACK_B 16384u
#define CS_WAVE32          (1u << 10) /* bit of cs_kernel.properties */
/* Lanes of a wave of the kernel: 32 or 64. */
static inline unsigned cs_kernel_wave_lanes(const struct cs_kernel *kernel)
{
	return kernel->properties & CS_WAVE32 ? 32 : 64;
}

/* A variable of a code object. */
struct cs_variable {
	const char *name; /* owned by the code */
	uint64_t va, size_B, align_B;
	bool constant; /* never written */
	bool global;   /* the symbol is global, not weak */
};

/* The target that a code object was compiled for. */
struct cs_target {
	const char *isa;                 /* "gfx906", "gfx9-generic"; NULL: the machine is unknown. Static. */
	unsigned mach, version;          /* EF_AMDGPU_MACH; code object version, 3 to 6 */
	unsigned generic_version;        /* version of a generic target; 0: code for one chip */
	enum drv_feature xnack, sramecc; /* DRV_FEATURE_EITHER: no requirement */
};

/* Reads the target of a code object, or of the first in an offload bundle that fits the chip. chip NULL: bundles
 * are refused. -ENOEXEC: no code object, or of unknown version. */
DRV_MUST_CHECK int cs_code_target(const void *image, size_t size_B, const struct drv_chip *chip,
				  struct cs_target *target);
/* True when the chip runs code for that target: its own, the generic target that covers it, or a chip with the same
 * instructions (drv_chip.runs_mach). The features must fit the chip's. */
bool cs_target_fits(const struct cs_target *target, const struct drv_chip *chip);

/* The index-th of the targets whose code the chip runs, best first, as LLVM writes it: "gfx90a:sramecc+:xnack-". False after
 * the last. */
#define CS_TARGET_ID_B 48
bool cs_target_id(const struct drv_chip *chip, unsigned index, char *id, size_t size_B);

/* If the image is an offload bundle, narrows it to the first code object for the chip, or else for its generic
 * target, or else for a chip whose code it runs. -ENOEXEC, -ENOTSUP (compressed). */
DRV_MUST_CHECK int cs_bundle_pick(const void **image, size_t *size_B, const struct drv_chip *chip);

/* Callbacks of the loader; each may be NULL. */
struct cs_code_hooks {
	/* Gives the address of a symbol that the code object does not define. -ENOENT: unknown; a weak symbol is
	 * then 0. */
	int (*resolve)(void *user, const char *name, uint64_t *va);
	/* Writes synchronously to VRAM that the CPU does not map: small BARs. NULL: code goes to VRAM that the CPU
	 * maps. */
	int (*upload)(void *user, uint64_t va, const void *from, uint64_t size_B);
	void *user;
};

/* Loads a code object (an AMDGPU ELF of version 3 to 6, or an offload bundle that has one) for the vm's chip. image
 * and hooks are read during the call only; hooks may be NULL. -ENOEXEC: broken, or for another chip; -ENOTSUP: a
 * feature that tuff lacks, or an undefined symbol; -ENOMEM; the error of a hook. The record has the reason. */
DRV_MUST_CHECK int cs_code_load(struct vm *vm, const void *image, size_t size_B, const struct cs_code_hooks *hooks,
				struct cs_code **code);
/* Reads a code object without loading it, for any chip: symbols have addresses within the file's image, external
 * ones are 0. */
DRV_MUST_CHECK int cs_code_read(const void *image, size_t size_B, struct cs_code **code);
/* Frees the code object. No submitted work may still run it. */
void cs_code_unload(struct cs_code *code);
/* Address and size of the loaded image. */
void cs_code_extent(const struct cs_code *code, uint64_t *va, uint64_t *size_B);
/* The CPU's pointer to the loaded content at va: the memory itself or, where the CPU does not map the memory, a
 * copy from the time of loading. NULL: outside. */
const void *cs_code_map(const struct cs_code *code, uint64_t va);
/* Finds a kernel by name. -ENOENT. */
DRV_MUST_CHECK int cs_code_kernel(const struct cs_code *code, const char *name, const struct cs_kernel **kernel);
/* The i-th kernel in order of names; NULL after the last. */
const struct cs_kernel *cs_code_kernel_at(const struct cs_code *code, unsigned index);
/* Finds a kernel by the address of its descriptor; NULL: none. */
const struct cs_kernel *cs_code_kernel_by_va(const struct cs_code *code, uint64_t descriptor_va);
DRV_MUST_CHECK int cs_code_variable(const struct cs_code *code, const char *name,
				    const struct cs_variable **variable);
const struct cs_variable *cs_code_variable_at(const struct cs_code *code, unsigned index);

#endif

/* Internal interface for code objects: cs_code, the loaded object (owned by the loader's caller), and cs_meta, the
 * metadata of its kernels. Both are immutable after loading; no lock. */
#ifndef CS_CODE_H
#define CS_CODE_H

#include "cs/code_object.h"
#include "cs/cs.h"

/* Metadata of one kernel. */
struct cs_meta_kernel {
	char *symbol; /* owned; "name.kd" */
	uint32_t kernarg_B, explicit_B, args_align_B, max_threads, uniform, vgprs, sgprs;
	unsigned arg_count, hidden_count;
	uint32_t hidden_end_B; /* end of the last hidden argument; 0: there are none */
	struct cs_arg *arg,
		/* a single block, owned by arg: explicit arguments from the front, hidden ones from the back */
		*hidden;
};

struct cs_meta {
	unsigned count, max;
	struct cs_meta_kernel *kernel; /* owned */
	char **format; /* owned, with its strings: printf formats of the metadata; NULL ends the list */
	unsigned formats;
};

/* Appends the kernels of one metadata note (MessagePack). -ENOEXEC: not the format that LLVM describes; -ENOMEM. */
DRV_MUST_CHECK int cs_meta_add(struct cs_meta *meta, const void *note, size_t size_B);
/* Sorts the kernels; required after the last cs_meta_add() and before the first cs_meta_find(). */
void cs_meta_sort(struct cs_meta *meta);
const struct cs_meta_kernel *cs_meta_find(const struct cs_meta *meta, const char *symbol);
void cs_meta_fini(struct cs_meta *meta);

struct cs_elf;

struct cs_code {
	struct vm_mem *mem; /* owned: the loaded image; NULL: the object was only read */
	uint8_t *copy;      /* owned: a copy of the image, where the CPU does not map mem; else NULL */
	uint64_t va, span_B;
	struct cs_meta meta;         /* owned */
	struct cs_kernel *kernel;    /* owned, sorted by name */
	struct cs_kernel **placed;   /* owned: the kernels by address */
	struct cs_kernel_cost *cost; /* owned: one per kernel */
	unsigned kernels;
	struct cs_variable *variable; /* owned, sorted by name */
	unsigned variables;
};

/* Creates the kernels and variables of an image whose first span_B bytes are at `placed`, relocated for
 * code->va. */
DRV_MUST_CHECK int cs_code_add_symbols(struct cs_code *code, const struct cs_elf *e, const uint8_t *placed,
				       const struct drv_chip *chip);
void cs_code_drop_symbols(struct cs_code *code);

#endif

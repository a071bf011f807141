/* The ELF format of code objects: cs_elf, a parsed and checked image. Inside cs/; owned by the caller, no lock. */
#ifndef CS_ELF_H
#define CS_ELF_H

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include "cs/code_object.h"

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

/* A parsed image, which is borrowed. The image needs no alignment: gelf copies what it reads. */
struct cs_elf {
	const uint8_t *image;
	size_t size_B;
	Elf *elf; /* owned */
	struct cs_target target;
	size_t segments;
	uint64_t span_B;    /* size of the loaded image, from address 0 to the end of the last segment */
	Elf_Data *sym_data; /* dynamic symbols; owned by elf */
	size_t syms;
	const char *names; /* owned by elf; names_B bytes, ending with 0 */
	size_t names_B;
};

/* True when code with this requirement for a feature runs on a chip with that state of it. */
bool cs_feature_fits(enum drv_feature wanted, enum drv_feature have);

/* Opens an image. -ENOEXEC with a record unless it is a valid code object for the chip; chip NULL: for any chip. */
DRV_MUST_CHECK int cs_elf_open(struct cs_elf *e, const void *image, size_t size_B, const struct drv_chip *chip);
void cs_elf_close(struct cs_elf *e);
/* Reads symbol i < syms; gives its name, or NULL when it has none. */
const char *cs_elf_symbol(const struct cs_elf *e, size_t i, GElf_Sym *sym);
/* Copies the segments to `to`, span_B zeroed bytes for the final address `base`, and applies relocations. hooks may
 * be NULL. -ENOTSUP: a relocation against an undefined symbol. */
DRV_MUST_CHECK int cs_elf_place(const struct cs_elf *e, uint8_t *to, uint64_t base,
				const struct cs_code_hooks *hooks);
/* Reads properties of the symbol's section: alignment, and whether it is writable. */
void cs_elf_section(const struct cs_elf *e, const GElf_Sym *sym, uint64_t *align_B, bool *constant);
/* Calls `take` for each AMDGPU metadata note until it fails. */
DRV_MUST_CHECK int cs_elf_notes(const struct cs_elf *e, int (*take)(void *user, const void *note, size_t size_B),
				void *user);
/* True when [va, va + size_B) is inside one loaded segment with these PF_* flags. */
bool cs_elf_inside(const struct cs_elf *e, uint64_t va, uint64_t size_B, unsigned flags);

#endif

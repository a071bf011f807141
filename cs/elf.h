/* The ELF side of code objects: what the image says, checked. Inside cs/. */
#ifndef CS_ELF_H
#define CS_ELF_H

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include "cs/code_object.h"

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

/* One parsed image; borrows it. Nothing in it need be aligned: all is read through gelf's copies. */
struct cs_elf {
	const uint8_t *image;
	size_t size_B;
	Elf *elf; /* owned */
	struct cs_target target;
	size_t segments;
	uint64_t span_B;    /* of the loaded image, from address 0 to the end of the last segment */
	Elf_Data *sym_data; /* dynamic symbols; owned by elf */
	size_t syms;
	const char *names; /* owned by elf; names_B bytes, the last one 0 */
	size_t names_B;
};

/* True when code that wants the feature so runs on a chip that has it so. */
bool cs_feature_fits(enum drv_feature wanted, enum drv_feature have);

/* -ENOEXEC with a record for anything that is not a sound code object of that chip; NULL: of any. */
DRV_MUST_CHECK int cs_elf_open(struct cs_elf *e, const void *image, size_t size_B, const struct drv_chip *chip);
void cs_elf_close(struct cs_elf *e);
/* Reads symbol i < syms; gives its name, or NULL when it has none. */
const char *cs_elf_symbol(const struct cs_elf *e, size_t i, GElf_Sym *sym);
/* Copies the segments to `to`, span_B zeroed bytes that will live at address base, and applies relocations. hooks
 * may be NULL. -ENOTSUP: a relocation against what the object does not define. */
DRV_MUST_CHECK int cs_elf_place(const struct cs_elf *e, uint8_t *to, uint64_t base,
				const struct cs_code_hooks *hooks);
/* The symbol's section: alignment, and whether it is written to. */
void cs_elf_section(const struct cs_elf *e, const GElf_Sym *sym, uint64_t *align_B, bool *constant);
/* Calls take for each AMDGPU metadata note until it fails. */
DRV_MUST_CHECK int cs_elf_notes(const struct cs_elf *e, int (*take)(void *user, const void *note, size_t size_B),
				void *user);
/* True when [va, va + size_B) lies in one loaded segment with these PF_* flags. */
bool cs_elf_inside(const struct cs_elf *e, uint64_t va, uint64_t size_B, unsigned flags);

#endif

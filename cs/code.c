/* Code objects: checked, placed in executable VRAM, and asked for their kernels by name. */
#include "cs/code.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cs/elf.h"
#include "cs/internal.h"
#include "cs/pm4.h"

/* LLVM's amdhsa::kernel_descriptor_t */
struct descriptor {
	uint32_t lds_B, private_B, kernarg_B, reserved0;
	int64_t entry_offset_B;
	uint8_t reserved1[20];
	uint32_t rsrc3, rsrc1, rsrc2;
	uint16_t properties, preload;
	uint32_t reserved2;
};
_Static_assert(sizeof(struct descriptor) == 64, "kernel descriptor");
#define WAVE32      (1u << 10)
#define ENTRY_ALIGN 256
#define SUFFIX      ".kd"

struct variable {
	char *name; /* owned */
	uint64_t va, size_B;
};

struct cs_code {
	struct vm_mem *mem;       /* owned: the loaded image */
	struct cs_meta meta;      /* owned */
	struct cs_kernel *kernel; /* owned, sorted by name */
	unsigned kernels;
	struct variable *variable; /* owned, sorted by name */
	unsigned variables;
};

static _Atomic uint32_t generation = 1;

uint32_t cs_code_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_acquire);
}

/* --- kernels and variables -------------------------------------------------------------------- */

static int by_kernel_name(const void *a, const void *b)
{
	return strcmp(((const struct cs_kernel *)a)->name, ((const struct cs_kernel *)b)->name);
}

static int by_variable_name(const void *a, const void *b)
{
	return strcmp(((const struct variable *)a)->name, ((const struct variable *)b)->name);
}

static bool is_kernel(const char *name, const GElf_Sym *sym)
{
	size_t length = strlen(name);

	return GELF_ST_TYPE(sym->st_info) == STT_OBJECT && length > strlen(SUFFIX) &&
	       !strcmp(name + length - strlen(SUFFIX), SUFFIX);
}

static int check_descriptor(const struct cs_elf *e, const char *name, uint64_t at, const struct descriptor *d,
			    const struct drv_chip *chip)
{
	uint64_t entry = at + d->entry_offset_B;

	if (entry % ENTRY_ALIGN || !cs_elf_inside(e, entry, 4, PF_X))
		return drv_fail(-ENOEXEC, "%s: its code would begin at 0x%llx", name, (unsigned long long)entry);
	if (d->properties & WAVE32 && chip->wave_lanes != 32)
		return drv_fail(-ENOEXEC, "%s: compiled for waves of 32 lanes", name);
	if (RSRC2_USER_SGPR(d->rsrc2) > 16)
		return drv_fail(-ENOEXEC, "%s: %u user SGPRs", name, RSRC2_USER_SGPR(d->rsrc2));
	if (d->lds_B > chip->lds_B)
		return drv_fail(-ENOEXEC, "%s: %u bytes of LDS", name, d->lds_B);
	if (d->kernarg_B > CS_DATA_MAX_B)
		return drv_fail(-ENOEXEC, "%s: %u bytes of arguments", name, d->kernarg_B);
	return 0;
}

static void apply_meta(struct cs_kernel *k, const struct cs_meta_kernel *meta)
{
	k->explicit_B = k->kernarg_B;
	if (!meta)
		return;
	if (meta->kernarg_B > k->kernarg_B) /* version 3 leaves the descriptor's field 0 */
		k->kernarg_B = meta->kernarg_B;
	k->explicit_B = meta->explicit_B;
	k->max_threads = meta->max_threads;
	k->hidden_count = meta->hidden_count;
	k->hidden = meta->hidden;
}

static int add_kernel(struct cs_code *code, const struct cs_elf *e, const uint8_t *placed, const char *name,
		      const GElf_Sym *sym, const struct drv_chip *chip)
{
	struct cs_kernel *k = &code->kernel[code->kernels];
	struct descriptor d;
	int r;

	if (sym->st_value % 64 || !cs_elf_inside(e, sym->st_value, sizeof(d), 0))
		return drv_fail(-ENOEXEC, "%s lies at 0x%llx", name, (unsigned long long)sym->st_value);
	memcpy(&d, placed + sym->st_value, sizeof(d));
	r = check_descriptor(e, name, sym->st_value, &d, chip);
	if (r)
		return r;
	*k = (struct cs_kernel){
		.name = strndup(name, strlen(name) - strlen(SUFFIX)),
		.code = code,
		.descriptor_va = code->mem->va + sym->st_value,
		.entry_va = code->mem->va + sym->st_value + d.entry_offset_B,
		/* What only a privileged client may ask for, and what the dispatch fills in. */
		.rsrc1 = d.rsrc1 & ~(RSRC1_PRIV | RSRC1_DEBUG_MODE),
		.rsrc2 = d.rsrc2 & ~(RSRC2_TRAP_PRESENT | RSRC2_LDS_SIZE_MASK),
		.rsrc3 = d.rsrc3,
		.properties = d.properties,
		.lds_B = d.lds_B,
		.private_B = d.private_B,
		.kernarg_B = d.kernarg_B,
	};
	if (!k->name)
		return drv_fail(-ENOMEM, "no host memory for a name");
	code->kernels++;
	apply_meta(k, cs_meta_find(&code->meta, name));
	return 0;
}

static int add_variable(struct cs_code *code, const struct cs_elf *e, const char *name, const GElf_Sym *sym)
{
	if (!cs_elf_inside(e, sym->st_value, sym->st_size, 0))
		return drv_fail(-ENOEXEC, "variable %s lies outside the image", name);
	code->variable[code->variables].name = strdup(name);
	if (!code->variable[code->variables].name)
		return drv_fail(-ENOMEM, "no host memory for a name");
	code->variable[code->variables].va = code->mem->va + sym->st_value;
	code->variable[code->variables++].size_B = sym->st_size;
	return 0;
}

static int add_symbols(struct cs_code *code, const struct cs_elf *e, const uint8_t *placed,
		       const struct drv_chip *chip)
{
	int r = 0;

	code->kernel = calloc(e->syms + 1, sizeof(*code->kernel));
	code->variable = calloc(e->syms + 1, sizeof(*code->variable));
	if (!code->kernel || !code->variable)
		return drv_fail(-ENOMEM, "no host memory for %zu symbols", e->syms);
	for (size_t i = 0; !r && i < e->syms; i++) {
		GElf_Sym sym;
		const char *name = cs_elf_symbol(e, i, &sym);

		if (!name || sym.st_shndx == SHN_UNDEF)
			continue;
		if (is_kernel(name, &sym))
			r = add_kernel(code, e, placed, name, &sym, chip);
		else if (GELF_ST_TYPE(sym.st_info) == STT_OBJECT && sym.st_size)
			r = add_variable(code, e, name, &sym);
	}
	qsort(code->kernel, code->kernels, sizeof(*code->kernel), by_kernel_name);
	qsort(code->variable, code->variables, sizeof(*code->variable), by_variable_name);
	return r;
}

/* --- loading ---------------------------------------------------------------------------------- */

static int take_note(void *user, const void *note, size_t size_B)
{
	return cs_meta_add(user, note, size_B);
}

/* Puts the image together in host memory, then writes it to VRAM in one pass: reading VRAM back is slow. */
static int place(struct cs_code *code, const struct cs_elf *e, const struct drv_chip *chip)
{
	uint8_t *placed = calloc(1, e->span_B);
	int r;

	if (!placed)
		return drv_fail(-ENOMEM, "no host memory for an image of %llu bytes",
				(unsigned long long)e->span_B);
	r = cs_elf_place(e, placed, code->mem->va);
	if (!r)
		r = add_symbols(code, e, placed, chip);
	if (!r)
		memcpy(code->mem->map, placed, e->span_B);
	free(placed);
	return r;
}

static int load(struct vm *vm, const struct cs_elf *e, struct cs_code *code)
{
	const struct drv_chip *chip = vm_device(vm)->chip;
	/* The instruction prefetcher reads on behind the last instruction. */
	struct vm_info info = {
		.size_B = e->span_B + chip->code_pad_B,
		.kind = VM_VRAM,
		.flags = VM_CPU | VM_EXEC | VM_RESIDENT,
	};
	int r = cs_elf_notes(e, take_note, &code->meta);

	if (!r)
		r = vm_mem_create(vm, &info, &code->mem);
	if (!r)
		r = place(code, e, chip);
	return r;
}

int cs_code_load(struct vm *vm, const void *image, size_t size_B, struct cs_code **out)
{
	struct cs_code *code;
	struct cs_elf elf;
	int r = cs_bundle_pick(&image, &size_B, vm_device(vm)->chip);

	if (!r)
		r = cs_elf_open(&elf, image, size_B, vm_device(vm)->chip);
	if (r)
		return r;
	code = calloc(1, sizeof(*code));
	if (code)
		r = load(vm, &elf, code);
	else
		r = drv_fail(-ENOMEM, "no host memory for a code object");
	cs_elf_close(&elf);
	if (r) {
		cs_code_unload(code);
		return r;
	}
	atomic_fetch_add(&generation, 1);
	drv_log(DRV_LOG_CODE, "code object of %zu bytes at 0x%llx: %u kernels, %u variables", size_B,
		(unsigned long long)code->mem->va, code->kernels, code->variables);
	*out = code;
	return 0;
}

void cs_code_unload(struct cs_code *code)
{
	if (!code)
		return;
	for (unsigned i = 0; i < code->kernels; i++)
		free((char *)code->kernel[i].name);
	for (unsigned i = 0; i < code->variables; i++)
		free(code->variable[i].name);
	free(code->kernel);
	free(code->variable);
	cs_meta_fini(&code->meta);
	vm_mem_destroy(code->mem);
	free(code);
}

int cs_code_kernel(struct cs_code *code, const char *name, const struct cs_kernel **kernel)
{
	const struct cs_kernel key = {.name = name};

	*kernel = bsearch(&key, code->kernel, code->kernels, sizeof(key), by_kernel_name);
	return *kernel ? 0 : drv_fail(-ENOENT, "the code object has no kernel %s", name);
}

const struct cs_kernel *cs_code_kernel_at(const struct cs_code *code, unsigned index)
{
	return index < code->kernels ? &code->kernel[index] : NULL;
}

int cs_code_variable(const struct cs_code *code, const char *name, uint64_t *va, uint64_t *size_B)
{
	const struct variable key = {.name = (char *)(uintptr_t)name};
	const struct variable *found =
		bsearch(&key, code->variable, code->variables, sizeof(key), by_variable_name);

	if (!found)
		return drv_fail(-ENOENT, "the code object has no variable %s", name);
	*va = found->va;
	*size_B = found->size_B;
	return 0;
}

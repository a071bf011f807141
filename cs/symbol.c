/* The kernels and variables of a code object: checks, and look-up by name, index or address. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cs/code.h"
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
#define DYNAMIC_STACK (1u << 11)
#define ENTRY_ALIGN   256
/* descriptor.preload: number of dwords of the arguments, and the first, that user SGPRs hold at the start. Such a
 * kernel begins with code that loads them itself, for firmware that does not preload; firmware that does starts the
 * kernel after this code (LLVM AMDGPUUsage, "Preloaded Kernel Arguments"). */
#define PRELOAD_DW(preload) ((preload) & 0x7f)
#define PRELOAD_AT(preload) ((preload) >> 7)
#define PRELOAD_SKIP_B      256
#define SUFFIX              ".kd"

/* Least alignment of kernel arguments in the HSA specification. */
#define ARGS_ALIGN_B 16

static int by_kernel_name(const void *a, const void *b)
{
	return strcmp(((const struct cs_kernel *)a)->name, ((const struct cs_kernel *)b)->name);
}

static int by_descriptor(const void *a, const void *b)
{
	const struct cs_kernel *const *first = a, *const *second = b;

	return ((*first)->descriptor_va > (*second)->descriptor_va) -
	       ((*first)->descriptor_va < (*second)->descriptor_va);
}

static int by_variable_name(const void *a, const void *b)
{
	return strcmp(((const struct cs_variable *)a)->name, ((const struct cs_variable *)b)->name);
}

static bool is_kernel(const char *name, const GElf_Sym *sym)
{
	size_t length = strlen(name);

	return GELF_ST_TYPE(sym->st_info) == STT_OBJECT && length > strlen(SUFFIX) &&
	       !strcmp(name + length - strlen(SUFFIX), SUFFIX);
}

static uint64_t entry_of(uint64_t at, const struct descriptor *d)
{
	return at + d->entry_offset_B + (PRELOAD_DW(d->preload) ? PRELOAD_SKIP_B : 0);
}

/* The user SGPRs that a kernel's properties require, in the order of bits (LLVM AMDGPUUsage, "Kernel Descriptor"): private
 * buffer, dispatch packet, queue, arguments, dispatch ID, flat scratch, private size. */
static unsigned sgprs_required(unsigned properties)
{
	static const uint8_t counts[] = {4, 2, 2, 2, 2, 2, 1};
	unsigned required = 0;

	for (unsigned i = 0; i < sizeof(counts); i++)
		required += properties >> i & 1 ? counts[i] : 0;
	return required;
}

static int check_descriptor(const struct cs_elf *e, const char *name, uint64_t at, const struct descriptor *d,
			    const struct drv_chip *chip)
{
	uint64_t entry = entry_of(at, d);

	if (entry % ENTRY_ALIGN || !cs_elf_inside(e, entry, 4, PF_X))
		return drv_fail(-ENOEXEC, "%s: its code would begin at 0x%llx", name, (unsigned long long)entry);
	if (d->properties & CS_WAVE32 && chip->wave_lanes != 32)
		return drv_fail(-ENOEXEC, "%s: compiled for waves of 32 lanes", name);
	if (RSRC2_USER_SGPR(d->rsrc2) > 16)
		return drv_fail(-ENOEXEC, "%s: %u user SGPRs", name, RSRC2_USER_SGPR(d->rsrc2));
	if (sgprs_required(d->properties) + PRELOAD_DW(d->preload) > RSRC2_USER_SGPR(d->rsrc2))
		return drv_fail(-ENOEXEC, "%s: %u dwords, and %u of arguments, in %u user SGPRs", name,
				sgprs_required(d->properties), PRELOAD_DW(d->preload), RSRC2_USER_SGPR(d->rsrc2));
	if (d->lds_B > chip->lds_B)
		return drv_fail(-ENOEXEC, "%s: %u bytes of LDS", name, d->lds_B);
	if (d->kernarg_B > CS_DATA_MAX_B)
		return drv_fail(-ENOEXEC, "%s: %u bytes of arguments", name, d->kernarg_B);
	return 0;
}

uint32_t cs_fit_threads(const struct drv_chip *chip, uint32_t rsrc1, unsigned lanes)
{
	unsigned simds = chip->simds_per_cu * (chip->paired_cus && rsrc1 & RSRC1_WGP_MODE ? 2 : 1);
	unsigned unit = chip->vgpr_unit / (lanes > chip->wave_lanes ? 2 : 1);

	return drv_chip_simd_waves(chip, lanes, (RSRC1_VGPRS(rsrc1) + 1) * unit) * simds * lanes;
}

static void apply_meta(struct cs_kernel *k, const struct cs_meta_kernel *meta)
{
	k->explicit_B = k->kernarg_B;
	k->args_align_B = ARGS_ALIGN_B;
	if (!meta)
		return;
	if (meta->kernarg_B > k->kernarg_B) /* version 3 leaves the descriptor's field 0 */
		k->kernarg_B = meta->kernarg_B;
	if (meta->args_align_B > k->args_align_B)
		k->args_align_B = meta->args_align_B;
	k->explicit_B = meta->explicit_B;
	k->max_threads = meta->max_threads;
	k->uniform = meta->uniform;
	k->vgprs = meta->vgprs;
	k->sgprs = meta->sgprs;
	k->arg_count = meta->arg_count;
	k->arg = meta->arg;
	k->hidden_count = meta->hidden_count;
	k->hidden_end_B = meta->hidden_end_B;
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
		.descriptor_va = code->va + sym->st_value,
		.entry_va = entry_of(code->va + sym->st_value, &d),
		/* Without the bits for privileged clients, and those that the dispatch fills in. */
		.rsrc1 = d.rsrc1 & ~(RSRC1_PRIV | RSRC1_DEBUG_MODE),
		.rsrc2 = d.rsrc2 & ~(RSRC2_TRAP_PRESENT | RSRC2_LDS_SIZE_MASK),
		.rsrc3 = d.rsrc3,
		.fit_threads = cs_fit_threads(chip, d.rsrc1, d.properties & CS_WAVE32 ? 32 : 64),
		.properties = d.properties,
		.preload_dw = PRELOAD_DW(d.preload),
		.preload_at = PRELOAD_AT(d.preload),
		.lds_B = d.lds_B,
		.private_B = d.private_B,
		.kernarg_B = d.kernarg_B,
		.global = GELF_ST_BIND(sym->st_info) == STB_GLOBAL,
	};
	if (!k->name)
		return drv_fail(-ENOMEM, "no host memory for a name");
	code->kernels++;
	apply_meta(k, cs_meta_find(&code->meta, name));
	k->format = (const char *const *)code->meta.format;
	return 0;
}

static int add_variable(struct cs_code *code, const struct cs_elf *e, const char *name, const GElf_Sym *sym)
{
	struct cs_variable *v = &code->variable[code->variables];

	if (!cs_elf_inside(e, sym->st_value, sym->st_size, 0))
		return drv_fail(-ENOEXEC, "variable %s lies outside the image", name);
	*v = (struct cs_variable){
		.name = strdup(name),
		.va = code->va + sym->st_value,
		.size_B = sym->st_size,
		.global = GELF_ST_BIND(sym->st_info) == STB_GLOBAL,
	};
	if (!v->name)
		return drv_fail(-ENOMEM, "no host memory for a name");
	cs_elf_section(e, sym, &v->align_B, &v->constant);
	code->variables++;
	return 0;
}

static int add_symbol(struct cs_code *code, const struct cs_elf *e, const uint8_t *placed, size_t i,
		      const struct drv_chip *chip)
{
	GElf_Sym sym;
	const char *name = cs_elf_symbol(e, i, &sym);

	if (!name || sym.st_shndx == SHN_UNDEF || GELF_ST_BIND(sym.st_info) == STB_LOCAL)
		return 0;
	if (is_kernel(name, &sym))
		return add_kernel(code, e, placed, name, &sym, chip);
	return GELF_ST_TYPE(sym.st_info) == STT_OBJECT && sym.st_size ? add_variable(code, e, name, &sym) : 0;
}

static void sort_symbols(struct cs_code *code)
{
	qsort(code->kernel, code->kernels, sizeof(*code->kernel), by_kernel_name);
	qsort(code->variable, code->variables, sizeof(*code->variable), by_variable_name);
	for (unsigned i = 0; i < code->kernels; i++) {
		code->placed[i] = &code->kernel[i];
		code->kernel[i].cost = &code->cost[i];
	}
	qsort(code->placed, code->kernels, sizeof(struct cs_kernel *), by_descriptor);
}

int cs_code_add_symbols(struct cs_code *code, const struct cs_elf *e, const uint8_t *placed,
			const struct drv_chip *chip)
{
	int r = 0;

	code->kernel = calloc(e->syms + 1, sizeof(*code->kernel));
	code->cost = calloc(e->syms + 1, sizeof(*code->cost));
	code->placed = calloc(e->syms + 1, sizeof(struct cs_kernel *));
	code->variable = calloc(e->syms + 1, sizeof(*code->variable));
	if (!code->kernel || !code->cost || !code->placed || !code->variable)
		return drv_fail(-ENOMEM, "no host memory for %zu symbols", e->syms);
	for (size_t i = 0; !r && i < e->syms; i++)
		r = add_symbol(code, e, placed, i, chip);
	sort_symbols(code);
	return r;
}

void cs_code_drop_symbols(struct cs_code *code)
{
	for (unsigned i = 0; i < code->kernels; i++)
		free((char *)(uintptr_t)code->kernel[i].name);
	for (unsigned i = 0; i < code->variables; i++)
		free((char *)(uintptr_t)code->variable[i].name);
	free(code->kernel);
	free(code->placed);
	free(code->cost);
	free(code->variable);
}

/* --- look-ups --------------------------------------------------------------------------------- */

bool cs_kernel_dynamic_stack(const struct cs_kernel *kernel)
{
	return kernel->properties & DYNAMIC_STACK;
}

int cs_code_kernel(const struct cs_code *code, const char *name, const struct cs_kernel **kernel)
{
	const struct cs_kernel key = {.name = name};

	*kernel = bsearch(&key, code->kernel, code->kernels, sizeof(key), by_kernel_name);
	return *kernel ? 0 : drv_fail(-ENOENT, "the code object has no kernel %s", name);
}

const struct cs_kernel *cs_code_kernel_at(const struct cs_code *code, unsigned index)
{
	return index < code->kernels ? &code->kernel[index] : NULL;
}

const struct cs_kernel *cs_code_kernel_by_va(const struct cs_code *code, uint64_t descriptor_va)
{
	const struct cs_kernel key = {.descriptor_va = descriptor_va}, *key_at = &key;
	struct cs_kernel *const *found =
		bsearch(&key_at, code->placed, code->kernels, sizeof(struct cs_kernel *), by_descriptor);

	return found ? *found : NULL;
}

int cs_code_variable(const struct cs_code *code, const char *name, const struct cs_variable **variable)
{
	const struct cs_variable key = {.name = name};

	*variable = bsearch(&key, code->variable, code->variables, sizeof(key), by_variable_name);
	return *variable ? 0 : drv_fail(-ENOENT, "the code object has no variable %s", name);
}

const struct cs_variable *cs_code_variable_at(const struct cs_code *code, unsigned index)
{
	return index < code->variables ? &code->variable[index] : NULL;
}

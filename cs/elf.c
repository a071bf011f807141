/* Reads code objects through libelf. All offsets and sizes in them are untrusted. */
#include "cs/elf.h"

#include <errno.h>
#include <string.h>

#define OSABI_AMDGPU_HSA   64
#define NT_AMDGPU_METADATA 32
/* Larger than any real code object (200 MB), and small enough that no sum overflows. */
#define SPAN_MAX_B (1ull << 30)

/* e_flags, LLVM AMDGPUUsage "ELF header e_flags": V3 has bits, V4 and later have two-bit fields. */
#define FLAGS_MACH       0x0ff
#define V3_XNACK         0x100
#define V3_SRAMECC       0x200
#define V4_XNACK_SHIFT   8
#define V4_SRAMECC_SHIFT 10
/* V6: version of the generic target that the code is for; 0 in code for one chip. */
#define GENERIC_VERSION(flags) ((flags) >> 24)

static enum drv_feature feature_demanded(const GElf_Ehdr *ehdr, unsigned v3_bit, unsigned v4_shift)
{
	if (ehdr->e_ident[EI_ABIVERSION] == 1)
		return ehdr->e_flags & v3_bit ? DRV_FEATURE_ON : DRV_FEATURE_OFF;
	switch (ehdr->e_flags >> v4_shift & 3) {
	case 2:
		return DRV_FEATURE_OFF;
	case 3:
		return DRV_FEATURE_ON;
	default:
		return DRV_FEATURE_EITHER;
	}
}

bool cs_feature_fits(enum drv_feature wanted, enum drv_feature have)
{
	return wanted == DRV_FEATURE_EITHER || have == DRV_FEATURE_EITHER || wanted == have ||
	       (wanted == DRV_FEATURE_OFF && have == DRV_FEATURE_NONE);
}

static bool machine_fits(const struct cs_target *t, const struct drv_chip *chip)
{
	if (chip->generic && t->mach == chip->generic->elf_mach)
		return t->generic_version >= chip->generic_version;
	return t->mach == chip->elf_mach || (t->mach && t->mach == chip->runs_mach);
}

bool cs_target_fits(const struct cs_target *t, const struct drv_chip *chip)
{
	return machine_fits(t, chip) && cs_feature_fits(t->xnack, chip->xnack) &&
	       cs_feature_fits(t->sramecc, chip->sramecc);
}

/* Refuses a target that does not fit the chip, with the reason. */
static int check_target(const struct cs_target *t, const struct drv_chip *chip)
{
	if (cs_target_fits(t, chip))
		return 0;
	if (machine_fits(t, chip))
		return drv_fail(-ENOEXEC,
				cs_feature_fits(t->xnack, chip->xnack)
					? "the code object's sramecc setting is not that of %s"
					: "the code object demands xnack, which DRM queues of %s do not have",
				chip->target);
	if (chip->generic && t->mach == chip->generic->elf_mach)
		return drv_fail(-ENOEXEC, "the code object is for version %u of %s, %s needs %u or later",
				t->generic_version, t->isa, chip->target, chip->generic_version);
	return drv_fail(-ENOEXEC, "the code object is for %s (machine 0x%02x), this is %s",
			t->isa ? t->isa : "another chip", t->mach, chip->target);
}

static int check_header(struct cs_elf *e)
{
	GElf_Ehdr header;
	const GElf_Ehdr *ehdr = gelf_getehdr(e->elf, &header);

	if (!ehdr || gelf_getclass(e->elf) != ELFCLASS64)
		return drv_fail(-ENOEXEC, "no 64-bit ELF header");
	if (ehdr->e_ident[EI_DATA] != ELFDATA2LSB || ehdr->e_machine != EM_AMDGPU)
		return drv_fail(-ENOEXEC, "an ELF for machine %u, not for an AMD GPU", ehdr->e_machine);
	if (ehdr->e_ident[EI_OSABI] != OSABI_AMDGPU_HSA || ehdr->e_type != ET_DYN)
		return drv_fail(-ENOEXEC, "not a linked HSA code object (OS ABI %u, type %u)",
				ehdr->e_ident[EI_OSABI], ehdr->e_type);
	/* Linkers write the section table last, so this also detects a truncated file. */
	if (ehdr->e_shoff > e->size_B || (uint64_t)ehdr->e_shnum * ehdr->e_shentsize > e->size_B - ehdr->e_shoff)
		return drv_fail(-ENOEXEC, "the section headers lie outside the file: it is cut off");
	if (ehdr->e_ident[EI_ABIVERSION] < 1 || ehdr->e_ident[EI_ABIVERSION] > 4)
		return drv_fail(-ENOTSUP, "code object version %u; 3 to 6 are known",
				ehdr->e_ident[EI_ABIVERSION] + 2);
	e->target = (struct cs_target){
		.isa = drv_isa_name(ehdr->e_flags & FLAGS_MACH),
		.mach = ehdr->e_flags & FLAGS_MACH,
		.version = ehdr->e_ident[EI_ABIVERSION] + 2,
		.generic_version = GENERIC_VERSION(ehdr->e_flags),
		.xnack = feature_demanded(ehdr, V3_XNACK, V4_XNACK_SHIFT),
		.sramecc = feature_demanded(ehdr, V3_SRAMECC, V4_SRAMECC_SHIFT),
	};
	return 0;
}

/* Reads segment i; false when it is not loaded. */
static bool segment_read(const struct cs_elf *e, size_t i, GElf_Phdr *p)
{
	return gelf_getphdr(e->elf, i, p) && p->p_type == PT_LOAD;
}

static int check_segments(struct cs_elf *e)
{
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &e->segments))
		return drv_fail(-ENOEXEC, "no program headers");
	for (size_t i = 0; i < e->segments; i++) {
		if (!segment_read(e, i, &p))
			continue;
		if (p.p_offset > e->size_B || p.p_filesz > e->size_B - p.p_offset)
			return drv_fail(-ENOEXEC, "segment %zu lies outside the file", i);
		if (p.p_filesz > p.p_memsz || p.p_vaddr > SPAN_MAX_B || p.p_memsz > SPAN_MAX_B - p.p_vaddr)
			return drv_fail(-ENOEXEC, "segment %zu has sizes that cannot be", i);
		if (p.p_vaddr + p.p_memsz > e->span_B)
			e->span_B = p.p_vaddr + p.p_memsz;
	}
	if (!e->span_B)
		return drv_fail(-ENOEXEC, "nothing to load");
	return 0;
}

/* Finds the next section of one type after scn; NULL at the end. */
static Elf_Scn *next_section(const struct cs_elf *e, Elf_Scn *scn, unsigned type, GElf_Shdr *shdr)
{
	while ((scn = elf_nextscn(e->elf, scn)))
		if (gelf_getshdr(scn, shdr) && shdr->sh_type == type)
			return scn;
	return NULL;
}

static int find_symbols(struct cs_elf *e)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = next_section(e, NULL, SHT_DYNSYM, &shdr), *strings;
	const Elf_Data *names;

	if (!scn)
		return 0;
	strings = elf_getscn(e->elf, shdr.sh_link);
	e->sym_data = elf_getdata(scn, NULL);
	names = strings ? elf_getdata(strings, NULL) : NULL;
	if (!e->sym_data || !names || !names->d_buf || !names->d_size ||
	    ((const char *)names->d_buf)[names->d_size - 1])
		return drv_fail(-ENOEXEC, "the symbol table is broken");
	e->syms = e->sym_data->d_buf ? e->sym_data->d_size / sizeof(Elf64_Sym) : 0;
	e->names = names->d_buf;
	e->names_B = names->d_size;
	return 0;
}

int cs_elf_open(struct cs_elf *e, const void *image, size_t size_B, const struct drv_chip *chip)
{
	int r;

	*e = (struct cs_elf){.image = image, .size_B = size_B};
	if (!image || size_B < sizeof(Elf64_Ehdr) || memcmp(image, ELFMAG, SELFMAG))
		return drv_fail(-ENOEXEC, "not an ELF file");
	if (elf_version(EV_CURRENT) == EV_NONE)
		return drv_fail(-ENOTSUP, "libelf is too old");
	/* libelf takes char *, and does not write to an image that it did not open for writing. */
	e->elf = elf_memory((char *)(uintptr_t)image, size_B);
	if (!e->elf)
		return drv_fail(-ENOEXEC, "not an ELF file: %s", elf_errmsg(-1));
	r = check_header(e);
	if (!r && chip)
		r = check_target(&e->target, chip);
	if (!r)
		r = check_segments(e);
	if (!r)
		r = find_symbols(e);
	if (r)
		cs_elf_close(e);
	return r;
}

void cs_elf_close(struct cs_elf *e)
{
	elf_end(e->elf);
	e->elf = NULL;
}

const char *cs_elf_symbol(const struct cs_elf *e, size_t i, GElf_Sym *sym)
{
	if (!gelf_getsym(e->sym_data, i, sym)) {
		*sym = (GElf_Sym){0};
		return NULL;
	}
	return sym->st_name < e->names_B ? e->names + sym->st_name : NULL;
}

void cs_elf_section(const struct cs_elf *e, const GElf_Sym *sym, uint64_t *align_B, bool *constant)
{
	Elf_Scn *scn = sym->st_shndx < SHN_LORESERVE ? elf_getscn(e->elf, sym->st_shndx) : NULL;
	GElf_Shdr shdr;

	*align_B = 1;
	*constant = false;
	if (!scn || !gelf_getshdr(scn, &shdr))
		return;
	if (shdr.sh_addralign)
		*align_B = shdr.sh_addralign;
	*constant = !(shdr.sh_flags & SHF_WRITE);
}

bool cs_elf_inside(const struct cs_elf *e, uint64_t va, uint64_t size_B, unsigned flags)
{
	GElf_Phdr p;

	for (size_t i = 0; i < e->segments; i++)
		if (segment_read(e, i, &p) && (p.p_flags & flags) == flags && va >= p.p_vaddr &&
		    va - p.p_vaddr <= p.p_memsz && size_B <= p.p_memsz - (va - p.p_vaddr))
			return true;
	return false;
}

int cs_elf_notes(const struct cs_elf *e, int (*take)(void *user, const void *note, size_t size_B), void *user)
{
	int r = 0;

	for (size_t i = 0; i < e->segments; i++) {
		size_t offset = 0, name, desc;
		Elf_Data *data;
		GElf_Phdr p;
		GElf_Nhdr nhdr;

		if (!gelf_getphdr(e->elf, i, &p) || p.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(e->elf, p.p_offset, p.p_filesz, ELF_T_NHDR);
		while (!r && data && (offset = gelf_getnote(data, offset, &nhdr, &name, &desc)))
			if (nhdr.n_type == NT_AMDGPU_METADATA && nhdr.n_namesz == sizeof("AMDGPU") &&
			    !memcmp((const char *)data->d_buf + name, "AMDGPU", sizeof("AMDGPU")))
				r = take(user, (const char *)data->d_buf + desc, nhdr.n_descsz);
	}
	return r;
}

/* --- placing ---------------------------------------------------------------------------------- */

/* Relocations of a loadable code object (LLVM AMDGPUUsage, "Relocation Records"). S symbol, A addend, B base, P
 * place. LLVM's linker leaves ABS64 and RELATIVE64 to the loader; other linkers may leave all relocations that need
 * no address table. GOTPCREL (7 to 9) needs one: the linker has to resolve it. */
static const struct reloc {
	uint8_t type, width_B, shift;
	bool relative; /* minus P */
	bool base;     /* B instead of S */
	bool branch;   /* in dwords from the next instruction: the operand of s_branch */
} relocs[] = {
	{.type = 1, .width_B = 4},                                    /* ABS32_LO */
	{.type = 2, .width_B = 4, .shift = 32},                       /* ABS32_HI */
	{.type = 3, .width_B = 8},                                    /* ABS64 */
	{.type = 4, .width_B = 4, .relative = true},                  /* REL32 */
	{.type = 5, .width_B = 8, .relative = true},                  /* REL64 */
	{.type = 6, .width_B = 4},                                    /* ABS32 */
	{.type = 10, .width_B = 4, .relative = true},                 /* REL32_LO */
	{.type = 11, .width_B = 4, .shift = 32, .relative = true},    /* REL32_HI */
	{.type = 13, .width_B = 8, .base = true},                     /* RELATIVE64 */
	{.type = 14, .width_B = 2, .relative = true, .branch = true}, /* REL16 */
};

static const struct reloc *find_reloc(unsigned type)
{
	for (size_t i = 0; i < sizeof(relocs) / sizeof(relocs[0]); i++)
		if (relocs[i].type == type)
			return &relocs[i];
	return NULL;
}

/* An image during assembly. */
struct placing {
	const struct cs_elf *e;
	const struct cs_code_hooks *hooks; /* or NULL */
	uint8_t *to;
	uint64_t base;
};

static int resolve_external(const struct placing *p, const char *name, bool weak, uint64_t *value)
{
	int r = -ENOTSUP;

	*value = 0;
	if (p->hooks && p->hooks->resolve && name)
		r = p->hooks->resolve(p->hooks->user, name, value);
	if (!r || weak)
		return 0;
	return drv_fail(r, "the code object needs %s, which it does not define", name ? name : "?");
}

/* Computes the final address of a symbol that a relocation names. */
static int symbol_resolve(const struct placing *p, size_t index, uint64_t *value)
{
	const char *name;
	GElf_Sym sym;

	if (index >= p->e->syms)
		return drv_fail(-ENOEXEC, "a relocation against symbol %zu of %zu", index, p->e->syms);
	name = cs_elf_symbol(p->e, index, &sym);
	if (sym.st_shndx == SHN_UNDEF)
		return resolve_external(p, name, GELF_ST_BIND(sym.st_info) == STB_WEAK, value);
	*value = sym.st_value + (sym.st_shndx == SHN_ABS ? 0 : p->base);
	return 0;
}

static int image_relocate(const struct placing *p, const GElf_Rela *rela)
{
	const struct reloc *how = find_reloc(GELF_R_TYPE(rela->r_info));
	uint64_t value = p->base;
	int r = 0;

	if (!GELF_R_TYPE(rela->r_info))
		return 0;
	if (!how)
		return drv_fail(-ENOTSUP, "relocation type %u", (unsigned)GELF_R_TYPE(rela->r_info));
	if (!cs_elf_inside(p->e, rela->r_offset, how->width_B, 0))
		return drv_fail(-ENOEXEC, "a relocation outside the image, at 0x%llx",
				(unsigned long long)rela->r_offset);
	if (!how->base)
		r = symbol_resolve(p, GELF_R_SYM(rela->r_info), &value);
	if (r)
		return r;
	value += rela->r_addend;
	if (how->relative)
		value -= p->base + rela->r_offset;
	if (how->branch) {
		value = (uint64_t)((int64_t)(value - 4) / 4);
		if ((int64_t)value != (int16_t)value)
			return drv_fail(-ENOEXEC, "a branch over %lld instructions", (long long)value);
	}
	value >>= how->shift;
	memcpy(p->to + rela->r_offset, &value, how->width_B);
	return 0;
}

static int relocate_section(const struct placing *p, Elf_Data *data)
{
	GElf_Rela rela;
	int r = 0;

	for (size_t i = 0; !r && i < data->d_size / sizeof(Elf64_Rela); i++)
		r = gelf_getrela(data, i, &rela) ? image_relocate(p, &rela)
						 : drv_fail(-ENOEXEC, "relocation %zu cannot be read", i);
	return r;
}

static int relocate_all(const struct placing *p)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int r = 0;

	while (!r && (scn = next_section(p->e, scn, SHT_RELA, &shdr))) {
		Elf_Data *data = elf_getdata(scn, NULL);

		/* The linker has applied the relocations of sections that are not loaded. */
		if (!(shdr.sh_flags & SHF_ALLOC))
			continue;
		r = data ? relocate_section(p, data) : drv_fail(-ENOEXEC, "relocations that cannot be read");
	}
	return r;
}

int cs_elf_place(const struct cs_elf *e, uint8_t *to, uint64_t base, const struct cs_code_hooks *hooks)
{
	const struct placing placing = {.e = e, .hooks = hooks, .to = to, .base = base};
	GElf_Phdr p;

	for (size_t i = 0; i < e->segments; i++)
		if (segment_read(e, i, &p))
			memcpy(to + p.p_vaddr, e->image + p.p_offset, p.p_filesz);
	return relocate_all(&placing);
}

/* Reads code objects through libelf. All offsets and sizes in them are untrusted. */
#include "cs/elf.h"

#include <errno.h>
#include <string.h>

#define OSABI_AMDGPU_HSA 64
#define NT_AMDGPU_METADATA 32
/* More than any real code object's 200 MB, less than what overflows anything. */
#define SPAN_MAX_B (1ull << 30)

/* e_flags, LLVM AMDGPUUsage "ELF header e_flags": V3 has bits, V4 and later have two-bit fields. */
#define FLAGS_MACH       0x0ff
#define V3_XNACK         0x100
#define V3_SRAMECC       0x200
#define V4_XNACK_SHIFT   8
#define V4_SRAMECC_SHIFT 10

static enum drv_feature demanded(const Elf64_Ehdr *ehdr, unsigned v3_bit, unsigned v4_shift)
{
	if (ehdr->e_ident[EI_ABIVERSION] == 1)
		return ehdr->e_flags & v3_bit ? DRV_FEATURE_ON : DRV_FEATURE_EITHER;
	switch (ehdr->e_flags >> v4_shift & 3) {
	case 2:
		return DRV_FEATURE_OFF;
	case 3:
		return DRV_FEATURE_ON;
	default:
		return DRV_FEATURE_EITHER;
	}
}

static bool feature_fits(enum drv_feature wanted, enum drv_feature have)
{
	return wanted == DRV_FEATURE_EITHER || have == DRV_FEATURE_EITHER || wanted == have ||
	       (wanted == DRV_FEATURE_OFF && have == DRV_FEATURE_NONE);
}

static int check_target(const Elf64_Ehdr *ehdr, const struct drv_chip *chip)
{
	const struct drv_chip *made_for = drv_chip_by_mach(ehdr->e_flags & FLAGS_MACH);

	if (made_for != chip)
		return drv_fail(-ENOEXEC, "the code object is for %s (machine 0x%02x), this is %s",
				made_for ? made_for->target : "another chip", ehdr->e_flags & FLAGS_MACH,
				chip->target);
	if (!feature_fits(demanded(ehdr, V3_XNACK, V4_XNACK_SHIFT), chip->xnack))
		return drv_fail(-ENOEXEC, "the code object demands xnack, which DRM queues do not have");
	if (!feature_fits(demanded(ehdr, V3_SRAMECC, V4_SRAMECC_SHIFT), chip->sramecc))
		return drv_fail(-ENOEXEC, "the code object's sramecc setting is not that of %s", chip->target);
	return 0;
}

static int check_header(struct cs_elf *e, const struct drv_chip *chip)
{
	const Elf64_Ehdr *ehdr = elf64_getehdr(e->elf);

	if (!ehdr)
		return drv_fail(-ENOEXEC, "no 64-bit ELF header");
	if (ehdr->e_ident[EI_DATA] != ELFDATA2LSB || ehdr->e_machine != EM_AMDGPU)
		return drv_fail(-ENOEXEC, "an ELF for machine %u, not for an AMD GPU", ehdr->e_machine);
	if (ehdr->e_ident[EI_OSABI] != OSABI_AMDGPU_HSA || ehdr->e_type != ET_DYN)
		return drv_fail(-ENOEXEC, "not a linked HSA code object (OS ABI %u, type %u)",
				ehdr->e_ident[EI_OSABI], ehdr->e_type);
	if (ehdr->e_ident[EI_ABIVERSION] < 1 || ehdr->e_ident[EI_ABIVERSION] > 4)
		return drv_fail(-ENOTSUP, "code object ABI version %u; 3 to 6 are known",
				ehdr->e_ident[EI_ABIVERSION] + 2);
	return check_target(ehdr, chip);
}

static int check_segments(struct cs_elf *e)
{
	if (elf_getphdrnum(e->elf, &e->segments) || !(e->phdr = elf64_getphdr(e->elf)))
		return drv_fail(-ENOEXEC, "no program headers");
	for (size_t i = 0; i < e->segments; i++) {
		const Elf64_Phdr *p = &e->phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_offset > e->size_B || p->p_filesz > e->size_B - p->p_offset)
			return drv_fail(-ENOEXEC, "segment %zu lies outside the file", i);
		if (p->p_filesz > p->p_memsz || p->p_vaddr > SPAN_MAX_B || p->p_memsz > SPAN_MAX_B - p->p_vaddr)
			return drv_fail(-ENOEXEC, "segment %zu has sizes that cannot be", i);
		if (p->p_vaddr + p->p_memsz > e->span_B)
			e->span_B = p->p_vaddr + p->p_memsz;
	}
	if (!e->span_B)
		return drv_fail(-ENOEXEC, "nothing to load");
	return 0;
}

/* Sections of one type, one after the other; NULL at the end. */
static Elf_Scn *next_section(const struct cs_elf *e, Elf_Scn *scn, unsigned type)
{
	while ((scn = elf_nextscn(e->elf, scn))) {
		const Elf64_Shdr *shdr = elf64_getshdr(scn);

		if (shdr && shdr->sh_type == type)
			return scn;
	}
	return NULL;
}

static int find_symbols(struct cs_elf *e)
{
	Elf_Scn *scn = next_section(e, NULL, SHT_DYNSYM), *strings;
	const Elf_Data *syms, *names;

	if (!scn)
		return 0;
	strings = elf_getscn(e->elf, elf64_getshdr(scn)->sh_link);
	syms = elf_getdata(scn, NULL);
	names = strings ? elf_getdata(strings, NULL) : NULL;
	if (!syms || !syms->d_buf || !names || !names->d_buf || !names->d_size ||
	    ((const char *)names->d_buf)[names->d_size - 1])
		return drv_fail(-ENOEXEC, "the symbol table is broken");
	e->sym = syms->d_buf;
	e->syms = syms->d_size / sizeof(*e->sym);
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
	r = check_header(e, chip);
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

const char *cs_elf_name(const struct cs_elf *e, const Elf64_Sym *sym)
{
	return sym->st_name < e->names_B ? e->names + sym->st_name : NULL;
}

bool cs_elf_inside(const struct cs_elf *e, uint64_t va, uint64_t size_B, unsigned flags)
{
	for (size_t i = 0; i < e->segments; i++) {
		const Elf64_Phdr *p = &e->phdr[i];

		if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags && va >= p->p_vaddr &&
		    va - p->p_vaddr <= p->p_memsz && size_B <= p->p_memsz - (va - p->p_vaddr))
			return true;
	}
	return false;
}

int cs_elf_notes(const struct cs_elf *e, int (*take)(void *user, const void *note, size_t size_B), void *user)
{
	int r = 0;

	for (size_t i = 0; i < e->segments; i++) {
		const Elf64_Phdr *p = &e->phdr[i];
		size_t offset = 0, name, desc;
		Elf_Data *data;
		GElf_Nhdr nhdr;

		if (p->p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(e->elf, p->p_offset, p->p_filesz, ELF_T_NHDR);
		while (!r && data && (offset = gelf_getnote(data, offset, &nhdr, &name, &desc)))
			if (nhdr.n_type == NT_AMDGPU_METADATA && nhdr.n_namesz == sizeof("AMDGPU") &&
			    !memcmp((const char *)data->d_buf + name, "AMDGPU", sizeof("AMDGPU")))
				r = take(user, (const char *)data->d_buf + desc, nhdr.n_descsz);
	}
	return r;
}

/* --- placing ---------------------------------------------------------------------------------------------------- */

/* What LLVM's linker leaves for the loader. S symbol, A addend, B base, P place. */
static const struct reloc {
	uint8_t type, width_B, shift;
	bool relative; /* minus P */
	bool base;     /* B instead of S */
} relocs[] = {
	{.type = 1, .width_B = 4},                            /* ABS32_LO */
	{.type = 2, .width_B = 4, .shift = 32},               /* ABS32_HI */
	{.type = 3, .width_B = 8},                            /* ABS64 */
	{.type = 4, .width_B = 4, .relative = true},          /* REL32 */
	{.type = 5, .width_B = 8, .relative = true},          /* REL64 */
	{.type = 6, .width_B = 4},                            /* ABS32 */
	{.type = 10, .width_B = 4, .relative = true},         /* REL32_LO */
	{.type = 11, .width_B = 4, .shift = 32, .relative = true}, /* REL32_HI */
	{.type = 13, .width_B = 8, .base = true},             /* RELATIVE64 */
};

static const struct reloc *find_reloc(unsigned type)
{
	for (size_t i = 0; i < sizeof(relocs) / sizeof(relocs[0]); i++)
		if (relocs[i].type == type)
			return &relocs[i];
	return NULL;
}

static int relocate(const struct cs_elf *e, const Elf64_Rela *rela, uint8_t *to, uint64_t base)
{
	const struct reloc *how = find_reloc(ELF64_R_TYPE(rela->r_info));
	size_t index = ELF64_R_SYM(rela->r_info);
	uint64_t value = base + rela->r_addend;

	if (!ELF64_R_TYPE(rela->r_info))
		return 0;
	if (!how)
		return drv_fail(-ENOTSUP, "relocation type %u", (unsigned)ELF64_R_TYPE(rela->r_info));
	if (!cs_elf_inside(e, rela->r_offset, how->width_B, 0))
		return drv_fail(-ENOEXEC, "a relocation outside the image, at 0x%llx",
				(unsigned long long)rela->r_offset);
	if (!how->base) {
		if (index >= e->syms)
			return drv_fail(-ENOEXEC, "a relocation against symbol %zu of %zu", index, e->syms);
		if (e->sym[index].st_shndx == SHN_UNDEF && ELF64_ST_BIND(e->sym[index].st_info) != STB_WEAK) {
			const char *name = cs_elf_name(e, &e->sym[index]);

			return drv_fail(-ENOTSUP, "the code object needs %s, which it does not define",
					name ? name : "?");
		}
		value = e->sym[index].st_shndx == SHN_UNDEF ? (uint64_t)rela->r_addend
							    : value + e->sym[index].st_value;
	}
	if (how->relative)
		value -= base + rela->r_offset;
	value >>= how->shift;
	memcpy(to + rela->r_offset, &value, how->width_B);
	return 0;
}

static int relocate_all(const struct cs_elf *e, uint8_t *to, uint64_t base)
{
	Elf_Scn *scn = NULL;

	while ((scn = next_section(e, scn, SHT_RELA))) {
		const Elf_Data *data = elf_getdata(scn, NULL);
		const Elf64_Rela *rela = data ? data->d_buf : NULL;

		/* Relocations of sections that are not loaded are the linker's. */
		if (!(elf64_getshdr(scn)->sh_flags & SHF_ALLOC))
			continue;
		if (!rela)
			return drv_fail(-ENOEXEC, "relocations that cannot be read");
		for (size_t i = 0; i < data->d_size / sizeof(*rela); i++) {
			int r = relocate(e, &rela[i], to, base);

			if (r)
				return r;
		}
	}
	return 0;
}

int cs_elf_place(const struct cs_elf *e, uint8_t *to, uint64_t base)
{
	for (size_t i = 0; i < e->segments; i++) {
		const Elf64_Phdr *p = &e->phdr[i];

		if (p->p_type == PT_LOAD)
			memcpy(to + p->p_vaddr, e->image + p->p_offset, p->p_filesz);
	}
	return relocate_all(e, to, base);
}

/* Lowered names of templates. The source stores the address of each name expression in a variable (weak, since
 * another program that is linked with this one has the same variable); the code object's relocation gives the
 * symbol. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/rtc/rtc.h"

#define QUERY_SYMBOL "__hiprtc_asked_%u"

bool hip_rtc_query(struct hip_bytes *source, unsigned index, const char *expression)
{
	char head[128];

	snprintf(head, sizeof(head),
		 "\nextern \"C\" __device__ __attribute__((used, weak)) const void *const " QUERY_SYMBOL
		 " = (const void *)(",
		 index);
	return hip_bytes_add_text(source, head) && hip_bytes_add_text(source, expression) &&
	       hip_bytes_add_text(source, ");\n");
}

/* The sections, if the code is ELF. An option may have kept the compiler from making the code. */
static const Elf64_Shdr *sections_of(const struct hip_bytes *code, unsigned *count)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code->at;

	if (code->size_B < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_shoff % _Alignof(Elf64_Shdr) || header->e_shoff > code->size_B ||
	    header->e_shnum > (code->size_B - header->e_shoff) / sizeof(Elf64_Shdr))
		return NULL;
	*count = header->e_shnum;
	return (const Elf64_Shdr *)(const void *)(code->at + header->e_shoff);
}

/* The contents of the first section of that type. NULL: none. */
static const void *contents_of(const struct hip_bytes *code, uint32_t type, const Elf64_Shdr **section)
{
	unsigned count;
	const Elf64_Shdr *s = sections_of(code, &count);

	for (unsigned i = 0; s && i < count; i++)
		if (s[i].sh_type == type) {
			*section = &s[i];
			return s[i].sh_offset % 8 || s[i].sh_offset > code->size_B ||
					       s[i].sh_size > code->size_B - s[i].sh_offset
				       ? NULL
				       : code->at + s[i].sh_offset;
		}
	return NULL;
}

struct symbols {
	const Elf64_Sym *at;
	size_t count;
	const char *names;
	size_t names_B; /* bytes to the end of the code, after which there is a 0 */
};

static bool find_symbols(const struct hip_bytes *code, struct symbols *out)
{
	const Elf64_Shdr *s = NULL, *all;
	unsigned count;

	out->at = contents_of(code, SHT_DYNSYM, &s);
	all = sections_of(code, &count);
	if (!out->at || s->sh_link >= count || all[s->sh_link].sh_offset > code->size_B)
		return false;
	out->count = s->sh_size / sizeof(Elf64_Sym);
	out->names = code->at + all[s->sh_link].sh_offset;
	out->names_B = code->size_B - all[s->sh_link].sh_offset;
	return true;
}

static const char *symbol_name(const struct symbols *s, size_t i)
{
	return s->at[i].st_name <= s->names_B ? s->names + s->at[i].st_name : "";
}

static const char *name_at(const struct symbols *s, uint64_t address, uint64_t but)
{
	for (size_t i = 1; i < s->count; i++)
		if (s->at[i].st_value == address && address != but && s->at[i].st_shndx != SHN_UNDEF)
			return symbol_name(s, i);
	return NULL;
}

/* The symbol that the linker would store at the place, by a relocation's symbol or address. */
static const char *target_of(const struct hip_bytes *code, const struct symbols *s, uint64_t place)
{
	const Elf64_Shdr *rela = NULL;
	const Elf64_Rela *r = contents_of(code, SHT_RELA, &rela);

	for (size_t i = 0; r && i < rela->sh_size / sizeof(*r); i++)
		if (r[i].r_offset == place) {
			uint64_t symbol = ELF64_R_SYM(r[i].r_info);

			return symbol && symbol < s->count ? symbol_name(s, symbol)
							   : name_at(s, (uint64_t)r[i].r_addend, place);
		}
	return NULL;
}

char *hip_rtc_name(const struct hip_bytes *code, unsigned index)
{
	char symbol[64];
	struct symbols s;
	const char *name = NULL;

	if (!find_symbols(code, &s))
		return NULL;
	snprintf(symbol, sizeof(symbol), QUERY_SYMBOL, index);
	for (size_t i = 1; i < s.count && !name; i++)
		if (!strcmp(symbol_name(&s, i), symbol))
			name = target_of(code, &s, s.at[i].st_value);
	return name ? strdup(name) : NULL;
}

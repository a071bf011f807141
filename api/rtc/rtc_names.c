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

/* Finds a section. The code is the compiler's own output, so its headers are trusted. NULL: none. */
static const Elf64_Shdr *section_find(const struct hip_bytes *code, uint32_t type)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code->at;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(const void *)(code->at + header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum; i++)
		if (s[i].sh_type == type)
			return &s[i];
	return NULL;
}

struct symbols {
	const Elf64_Sym *at;
	size_t count;
	const char *names;
};

static bool find_symbols(const struct hip_bytes *code, struct symbols *out)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code->at;
	const Elf64_Shdr *all = (const Elf64_Shdr *)(const void *)(code->at + header->e_shoff);
	const Elf64_Shdr *s;

	if (code->size_B < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG))
		return false;
	s = section_find(code, SHT_DYNSYM);
	if (!s)
		return false;
	out->at = (const Elf64_Sym *)(const void *)(code->at + s->sh_offset);
	out->count = s->sh_size / sizeof(Elf64_Sym);
	out->names = code->at + all[s->sh_link].sh_offset;
	return true;
}

static const char *name_at(const struct symbols *s, uint64_t address, uint64_t but)
{
	for (size_t i = 1; i < s->count; i++)
		if (s->at[i].st_value == address && address != but && s->at[i].st_shndx != SHN_UNDEF)
			return s->names + s->at[i].st_name;
	return NULL;
}

/* The symbol that the linker would store at the place, by a relocation's symbol or address. */
static const char *target_of(const struct hip_bytes *code, const struct symbols *s, uint64_t place)
{
	const Elf64_Shdr *rela = section_find(code, SHT_RELA);
	const Elf64_Rela *r = rela ? (const Elf64_Rela *)(const void *)(code->at + rela->sh_offset) : NULL;

	for (size_t i = 0; r && i < rela->sh_size / sizeof(*r); i++)
		if (r[i].r_offset == place) {
			uint64_t symbol = ELF64_R_SYM(r[i].r_info);

			return symbol && symbol < s->count ? s->names + s->at[symbol].st_name
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
		if (!strcmp(s.names + s.at[i].st_name, symbol))
			name = target_of(code, &s, s.at[i].st_value);
	return name ? strdup(name) : NULL;
}

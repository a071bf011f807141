/* For tests: machine code made by clang at run time, from assembly or HIP. */
#ifndef VGPU_ISA_TEST_CODE_H
#define VGPU_ISA_TEST_CODE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An ELF file in memory. */
struct test_elf {
	uint8_t *data; /* owned: free() */
	size_t size_B;
};

static inline bool test_read_file_(const char *path, struct test_elf *elf)
{
	FILE *f = fopen(path, "rb");
	long size;

	if (!f)
		return false;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	elf->data = malloc((size_t)size + 1);
	elf->size_B = elf->data ? fread(elf->data, 1, (size_t)size, f) : 0;
	fclose(f);
	return elf->size_B > sizeof(Elf64_Ehdr);
}

/* Compiles source with clang; language and options as its command line has them. */
static inline bool test_compile(const char *options, const char *source, struct test_elf *elf)
{
	const char *clang = getenv("CLANG");
	char in[64], out[64], command[1024];
	FILE *f;
	bool ok;

	snprintf(in, sizeof(in), "/tmp/tuff-test-%d.src", (int)getpid());
	snprintf(out, sizeof(out), "/tmp/tuff-test-%d.o", (int)getpid());
	f = fopen(in, "w");
	if (!f)
		return false;
	fputs(source, f);
	fclose(f);
	snprintf(command, sizeof(command), "%s %s -c %s -o %s", clang ? clang : "clang-19", options, in, out);
	ok = !system(command) && test_read_file_(out, elf);
	unlink(in);
	unlink(out);
	return ok;
}

static inline bool test_assemble(const char *mcpu, const char *source, struct test_elf *elf)
{
	char options[128];

	snprintf(options, sizeof(options), "-target amdgcn-amd-amdhsa -mcpu=%s -x assembler", mcpu);
	return test_compile(options, source, elf);
}

/* gfx942 calls glc sc0 where vector memory has it, and has loads to LDS of their own. */
static inline void test_spell_for_gfx942(char *source)
{
	static const char to_lds[] = "global_load_dword v[2:3], off lds",
			  own[] = "global_load_lds_dword v[2:3], off";

	for (char *at = source; (at = strstr(at, " glc")); at += 4) {
		const char *line = at;

		while (line > source && line[-1] != '\n')
			line--;
		line += strspn(line, " ");
		if (strncmp(line, "s_", 2))
			memcpy(at, " sc0", 4);
	}
	for (char *at = source; (at = strstr(at, to_lds)); at += sizeof(own) - 1)
		memcpy(at, own, sizeof(own) - 1);
}

static inline bool test_compile_hip(const char *arch, const char *optimise, const char *source,
				    struct test_elf *elf)
{
	char options[256];

	snprintf(options, sizeof(options),
		 "-x hip --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib --offload-arch=%s %s",
		 arch, optimise);
	return test_compile(options, source, elf);
}

static inline const Elf64_Shdr *test_section(const struct test_elf *elf, const char *name)
{
	const Elf64_Ehdr *eh = (const void *)elf->data;
	const Elf64_Shdr *sh = (const void *)(elf->data + eh->e_shoff);
	const char *names = (const char *)elf->data + sh[eh->e_shstrndx].sh_offset;

	for (unsigned n = 0; n < eh->e_shnum; n++)
		if (!strcmp(names + sh[n].sh_name, name))
			return &sh[n];
	return NULL;
}

/* Address of a symbol in the code object; 0 if it has none. */
static inline uint64_t test_symbol(const struct test_elf *elf, const char *name)
{
	const Elf64_Shdr *table = test_section(elf, ".dynsym"), *strings = test_section(elf, ".dynstr");

	if (!table || !strings)
		return 0;
	for (uint64_t n = 0; n < table->sh_size / sizeof(Elf64_Sym); n++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(elf->data + table->sh_offset) + n;

		if (!strcmp((const char *)elf->data + strings->sh_offset + symbol->st_name, name))
			return symbol->st_value;
	}
	return 0;
}

/* Copies the loaded segments to memory that stands for address 0 of the code object. */
static inline void test_load(const struct test_elf *elf, uint8_t *memory)
{
	const Elf64_Ehdr *eh = (const void *)elf->data;
	const Elf64_Phdr *ph = (const void *)(elf->data + eh->e_phoff);

	for (unsigned n = 0; n < eh->e_phnum; n++)
		if (ph[n].p_type == PT_LOAD)
			memcpy(memory + ph[n].p_vaddr, elf->data + ph[n].p_offset, ph[n].p_filesz);
}

#endif

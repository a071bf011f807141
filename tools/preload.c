/* Programs into which the dynamic linker puts nothing: it does not run in them, or not for them. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/tool.h"

/* Opens what execvp() would run; -1: nothing that can be read. */
static int open_program(const char *program)
{
	const char *list = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(program, '/'))
		return open(program, O_RDONLY | O_CLOEXEC);
	for (const char *at = list; at && *at; at += strcspn(at, ":"), at += *at == ':') {
		snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(at, ":"), at, program);
		if (!access(path, X_OK))
			return open(path, O_RDONLY | O_CLOEXEC);
	}
	return -1;
}

/* True when the program names a dynamic linker. */
static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);
		Elf64_Phdr segment;

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return true; /* whatever it is, it is not known to have none */
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *examine(int fd)
{
	Elf64_Ehdr header;
	struct stat st;

	/* A script's interpreter, and what it runs, are other programs. */
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG))
		return NULL;
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return "is a 32-bit program";
	if (!fstat(fd, &st) && (st.st_mode & (S_ISUID | S_ISGID)) && geteuid())
		return "runs with rights of another user or group";
	return has_interpreter(fd, &header) ? NULL : "is linked statically";
}

void tool_warn_of_preload(const char *program)
{
	int fd = open_program(program);
	const char *why = fd >= 0 ? examine(fd) : NULL;
	char text[PATH_MAX + 160];

	if (fd >= 0)
		close(fd);
	if (!why)
		return;
	snprintf(
		text, sizeof(text),
		"%s %s: the dynamic linker gives it neither tuff's libraries nor a virtual GPU; programs that it starts may "
		"have them",
		program, why);
	tool_wrap(stderr, "tuff run: ", text);
}

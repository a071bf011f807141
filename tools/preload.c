/* Detects programs that LD_PRELOAD does not reach: the dynamic linker does not run in them, or ignores the
 * variable. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/tool.h"

/* -1: no file that can be run and read. A pipe is not waited for: it has no writer yet. */
static int open_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || access(path, X_OK))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Opens the file that execvp() would run; -1: no readable file. */
static int open_program(const char *program)
{
	const char *list = getenv("PATH");
	char path[PATH_MAX];
	int fd = -1;

	if (strchr(program, '/'))
		return open_file(program);
	for (const char *at = list; fd < 0 && at && *at; at += strcspn(at, ":"), at += *at == ':') {
		snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(at, ":"), at, program);
		fd = open_file(path);
	}
	return fd;
}

/* True when the program names a dynamic linker. */
static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);
		Elf64_Phdr segment;

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return true; /* unknown formats count as dynamic */
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *examine_program(int fd)
{
	Elf64_Ehdr header;
	struct stat st;

	/* The interpreter of a script, and the programs that it starts, are separate programs. */
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
	const char *why = fd >= 0 ? examine_program(fd) : NULL;
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

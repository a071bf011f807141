/* Archives of code, and the references that programs have to them: the first byte of the input tells which of the two follows. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/module/kpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static void inside_check(const struct hip_kpack_text *text, const uint8_t *data, size_t size_B)
{
	const uint8_t *at = (const uint8_t *)text->text;

	if (at < data || text->length > size_B || (size_t)(at - data) > size_B - text->length)
		__builtin_trap();
}

static void reference_read(const uint8_t *data, size_t size_B)
{
	struct hip_kpack_reference r;

	if (hip_kpack_reference_read(data, size_B, &r))
		return;
	inside_check(&r.name, data, size_B);
	for (unsigned i = 0; i < r.paths; i++)
		inside_check(&r.path[i], data, size_B);
}

/* Frees the code after a look at its last byte. */
static void code_read(const struct hip_kpack_archive *a, const char *key, const char *target)
{
	volatile char byte;
	size_t code_B;
	void *code;

	if (hip_kpack_read(a, key, target, &code, &code_B))
		return;
	byte = code_B ? ((char *)code)[code_B - 1] : 0;
	(void)byte;
	free(code);
}

static void archive_read(const uint8_t *data, size_t size_B)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);
	struct hip_kpack_archive a;
	char path[64];

	if (fd < 0 || write(fd, data, size_B) != (ssize_t)size_B)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!hip_kpack_open(path, &a)) {
		code_read(&a, "k#0", "gfx908");
		code_read(&a, "k#1", "gfx90a:xnack-");
		hip_kpack_close(&a);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	if (!size_B)
		return 0;
	if (*data & 1)
		reference_read(data + 1, size_B - 1);
	else
		archive_read(data + 1, size_B - 1);
	return 0;
}

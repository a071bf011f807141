/* The public C interface: the functions of include/tuff/ are what embed/exports.map, the shared library and the
 * archive export, by the same names; the library says its version; no function has a type's name, which C++ could
 * not name then. */
#include <ctype.h>
#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <tuff/tuff.h>

#include "tests/check.h"

#define NAMES_MAX 256

struct names {
	char name[NAMES_MAX][48];
	unsigned count;
};

static char text[1 << 17]; /* of the file or command that was read last */

static void read_stream(FILE *stream)
{
	size_t n = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;

	CHECK(n && n < sizeof(text) - 1);
	text[n] = 0;
}

static void read_file(const char *path)
{
	FILE *file = fopen(path, "re");

	read_stream(file);
	if (CHECK(file))
		fclose(file);
}

static void run(const char *command)
{
	FILE *pipe = popen(command, "re");

	read_stream(pipe);
	CHECK_EQ(pclose(pipe), 0);
}

static bool has(const struct names *names, const char *name)
{
	for (unsigned i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

static size_t name_length(const char *at)
{
	size_t n = 0;

	while (islower((unsigned char)at[n]) || isdigit((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

static void add(struct names *names, const char *at)
{
	char name[48];

	snprintf(name, sizeof(name), "%.*s", (int)name_length(at), at);
	if (*name && !has(names, name) && CHECK(names->count < NAMES_MAX))
		strcpy(names->name[names->count++], name);
}

/* Adds the first function after each place of the text that begins with mark: the name before a parenthesis. */
static void add_functions(struct names *names, const char *mark)
{
	for (const char *at = text; (at = strstr(at, mark)); at++) {
		const char *name = at + strlen(mark);

		while (*name && !(name_length(name) && name[name_length(name)] == '('))
			name += name_length(name) ? name_length(name) : 1;
		add(names, name);
	}
}

/* Adds the word after each place of the text that begins with mark. */
static void add_words(struct names *names, const char *mark)
{
	for (const char *at = text; (at = strstr(at, mark)); at++)
		add(names, at + strlen(mark));
}

static void within(const struct names *a, const char *a_name, const struct names *b, const char *b_name)
{
	for (unsigned i = 0; i < a->count; i++)
		if (!CHECK(has(b, a->name[i])))
			printf("  %s is in %s and not in %s\n", a->name[i], a_name, b_name);
}

static void same(const struct names *a, const char *a_name, const struct names *b, const char *b_name)
{
	CHECK(a->count > 60);
	within(a, a_name, b, b_name);
	within(b, b_name, a, a_name);
}

static struct names declared; /* functions that the library exports, as the headers say */
static struct names inlined;  /* functions that the headers define */
static struct names types;    /* structs and enums */

static void read_headers(void)
{
	glob_t found;

	CHECK_EQ(glob("include/tuff/*.h", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		read_file(found.gl_pathv[i]);
		add_functions(&declared, "\nTUFF_API ");
		add_functions(&inlined, "\nTUFF_INLINE ");
		add_words(&types, "\nstruct ");
		add_words(&types, "\nenum ");
	}
	globfree(&found);
}

static void libraries_export_what_the_headers_declare(void)
{
	struct names map = {0}, shared = {0}, archive = {0};

	read_file("embed/exports.map");
	add_words(&map, "\n\t");
	same(&declared, "include/tuff/", &map, "embed/exports.map");
	run("nm -D --defined-only $O/lib/libtuff.so.0 | grep -v ' A ' | sed 's/^[^ ]* . /=/'");
	add_words(&shared, "=");
	same(&declared, "include/tuff/", &shared, "libtuff.so.0");
	for (const char *at = text; (at = strchr(at, '=')); at++)
		CHECK(!strncmp(at + 1 + name_length(at + 1), "@@TUFF_0\n", 9));
	run("nm -g --defined-only $O/libtuff.a | sed -n 's/^[^ ]* . /=/p'");
	add_words(&archive, "=");
	same(&declared, "include/tuff/", &archive, "libtuff.a");
}

static void sized_functions_have_inline_ones(void)
{
	char name[64];

	CHECK(inlined.count > 10);
	for (unsigned i = 0; i < inlined.count; i++) {
		snprintf(name, sizeof(name), "%s_sized", inlined.name[i]);
		if (!CHECK(has(&declared, name)))
			printf("  no %s\n", name);
	}
}

static void no_function_has_a_types_name(void)
{
	CHECK(types.count > 20);
	for (unsigned i = 0; i < types.count; i++)
		if (!CHECK(!has(&declared, types.name[i]) && !has(&inlined, types.name[i])))
			printf("  %s is a type and a function\n", types.name[i]);
}

/* Members stay where release 0.4 has them: the last member of each struct, and its size, on x86-64. A member of a
 * later release begins at that size or beyond, not in the padding before it, which older callers leave undefined:
 * who adds one adds the new size in a row of its own, and turns the == of the old row into >=. */
#define STAYS(type, last, offset, relation, size)                                                                  \
	_Static_assert(offsetof(struct type, last) == (offset) && sizeof(struct type) relation(size),              \
		       "struct " #type " has another layout")
STAYS(tuff_gpu, pci, 32, ==, 48);
STAYS(tuff_device_info, copy_rings, 140, ==, 144);
STAYS(tuff_usage, ioctls, 40, ==, 48);
STAYS(tuff_mem_create_info, flags, 12, ==, 16);
STAYS(tuff_mem_info, flags, 28, ==, 32);
STAYS(tuff_range_create_info, flags, 24, ==, 32);
STAYS(tuff_kernel_info, descriptor_va, 24, ==, 32);
STAYS(tuff_queue_create_info, priority, 8, ==, 12);
STAYS(tuff_queue_status, vram_lost, 2, ==, 3);
STAYS(tuff_order, signal_count, 40, ==, 48);
STAYS(tuff_dispatch, args_B, 72, ==, 80);
_Static_assert(sizeof(struct tuff_point) == 16 && sizeof(struct tuff_sync_point) == 16, "values never grow");

static void the_library_says_its_version(void)
{
	char path[512], text_wanted[16];
	const char *(*version_text)(void);
	unsigned (*version)(void);
	void *library;

	snprintf(text_wanted, sizeof(text_wanted), "%u.%u", TUFF_VERSION_MAJOR, TUFF_VERSION_MINOR);
	CHECK_EQ(tuff_version(), TUFF_VERSION);
	CHECK_STR(tuff_version_text(), text_wanted);
	CHECK(TUFF_VERSION_NUMBER(0, 4) < TUFF_VERSION_NUMBER(0, 10));
	CHECK(TUFF_VERSION_NUMBER(0, 999) < TUFF_VERSION_NUMBER(1, 0));
	snprintf(path, sizeof(path), "%s/lib/libtuff.so", getenv("O"));
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!CHECK(library)) {
		printf("  %s\n", dlerror());
		return;
	}
	version = (unsigned (*)(void))dlsym(library, "tuff_version");
	version_text = (const char *(*)(void))dlsym(library, "tuff_version_text");
	CHECK(version && version != tuff_version && version() == TUFF_VERSION);
	CHECK(version_text && !strcmp(version_text(), text_wanted));
	dlclose(library);
}

int main(void)
{
	if (access("embed/exports.map", R_OK)) {
		printf("SKIP not in the source tree\n");
		return 77;
	}
	setenv("O", "build/release", 0);
	read_headers();
	libraries_export_what_the_headers_declare();
	sized_functions_have_inline_ones();
	no_function_has_a_types_name();
	the_library_says_its_version();
	return check_done("the public interface's names");
}

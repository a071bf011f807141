/* Finding the archives of code that a library refers to: by the variables of ROCm, and by paths beside the library's file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/cancel.h"
#include "drv/config.h"
#include "drv/log.h"
#include "api/module/kpack.h"

#define PLACEHOLDER "@GFXARCH@" /* stands for a target in a path */
#define TARGET_B    48
#define TARGETS_MAX 32

/* A search in progress. */
struct search {
	char target[TARGETS_MAX][TARGET_B]; /* best first */
	unsigned targets;
	struct hip_kpack_archive *archive; /* owned, with the archives */
	size_t archives, room;
	char folder[4096]; /* folder of the file that has the reference, with a slash; "": unknown */
	bool damaged;      /* an archive could not be read */
};

/* --- the file of a reference -------------------------------------------------------------------- */

/* Reads a line of /proc/self/maps. True: the address is in its range; *path is the file that is mapped there, or "". */
static bool line_has(char *line, uintptr_t address, uintptr_t *end, const char **path)
{
	unsigned long begin, stop;
	char mode[5];
	int at = 0;

	if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &begin, &stop, mode, &at) < 3 || address < begin ||
	    address >= stop || mode[0] != 'r')
		return false;
	line[strcspn(line, "\n")] = '\0';
	*end = stop;
	*path = at ? line + at : "";
	return true;
}

static void folder_of(const char *path, char *folder, size_t folder_B)
{
	const char *slash = *path == '/' ? strrchr(path, '/') : NULL;

	snprintf(folder, folder_B, "%.*s", slash ? (int)(slash - path) + 1 : 0, path);
}

/* Finds how many bytes can be read from the address on, and the folder of the file that is mapped there. A program's data belong to
 * no symbol, so that dladdr() does not find the file; and they may go on in a mapping of their own, without a file. 0: nothing is
 * mapped there, or /proc is missing. */
static size_t mapping_find(const void *address, char *folder, size_t folder_B)
{
	DRV_HOLD_CANCEL;
	FILE *maps = fopen("/proc/thread-self/maps", "re");
	const uintptr_t from = (uintptr_t)address;
	uintptr_t end = from;
	const char *path;
	char *line = NULL;
	size_t room = 0;

	*folder = '\0';
	while (maps && getline(&line, &room, maps) > 0) {
		const bool first = end == from;

		if (!line_has(line, end, &end, &path)) {
			if (!first)
				break;
		} else if (first) {
			folder_of(path, folder, folder_B);
		}
	}
	free(line);
	if (maps)
		fclose(maps);
	return end - from;
}

/* --- archives ------------------------------------------------------------------------------------ */

static hipError_t archive_add(struct search *s, const char *path)
{
	struct hip_kpack_archive archive;
	hipError_t r = hip_kpack_open(path, &archive);

	drv_log(DRV_LOG_CODE, "archive %s: %s", path, r ? hipGetErrorName(r) : "opened");
	s->damaged |= r == hipErrorInvalidImage;
	if (r)
		return r == hipErrorOutOfMemory ? r : hipSuccess;
	if (s->archives == s->room) {
		size_t room = s->room ? 2 * s->room : 8;
		void *grown = realloc(s->archive, room * sizeof(s->archive[0]));

		if (!grown) {
			hip_kpack_close(&archive);
			return hipErrorOutOfMemory;
		}
		s->archive = grown;
		s->room = room;
	}
	s->archive[s->archives++] = archive;
	return hipSuccess;
}

/* A list of paths with colons between. */
static hipError_t archives_listed(struct search *s, const char *list)
{
	hipError_t r = hipSuccess;

	while (list && *list && !r) {
		size_t length = strcspn(list, ":");
		char *path = length ? strndup(list, length) : NULL;

		if (length)
			r = path ? archive_add(s, path) : hipErrorOutOfMemory;
		free(path);
		list += length + (list[length] == ':');
	}
	return r;
}

/* The path with a target in place of the placeholder, beside the library if it is relative. */
static hipError_t archive_expanded(struct search *s, const struct hip_kpack_text *text, const char *placeholder,
				   const char *target)
{
	const char *folder = text->length && text->text[0] == '/' ? "" : s->folder;
	int before = placeholder ? (int)(placeholder - text->text) : (int)text->length;
	const char *rest = placeholder ? placeholder + strlen(PLACEHOLDER) : text->text + text->length;
	char *path;
	hipError_t r;

	if (asprintf(&path, "%s%.*s%s%.*s", folder, before, text->text, target,
		     (int)(text->text + text->length - rest), rest) < 0)
		return hipErrorOutOfMemory;
	r = archive_add(s, path);
	free(path);
	return r;
}

static hipError_t archives_named(struct search *s, const struct hip_kpack_text *text)
{
	const char *placeholder = memmem(text->text, text->length, PLACEHOLDER, strlen(PLACEHOLDER));
	hipError_t r = hipSuccess;

	if (!placeholder)
		return archive_expanded(s, text, NULL, "");
	for (unsigned i = 0; i < s->targets && !r; i++)
		r = archive_expanded(s, text, placeholder, s->target[i]);
	return r;
}

static hipError_t archives_open(struct search *s, const struct hip_kpack_reference *reference)
{
	const struct drv_config *config = drv_config();
	hipError_t r;

	if (config->kpack_path)
		return archives_listed(s, config->kpack_path);
	r = archives_listed(s, config->kpack_prefix);
	for (unsigned i = 0; i < reference->paths && !r; i++)
		r = archives_named(s, &reference->path[i]);
	return r;
}

/* --- code ---------------------------------------------------------------------------------------- */

/* A better target in a later archive comes before a worse one in an earlier. */
static hipError_t code_find(struct search *s, const char *key, void **code, size_t *code_B)
{
	for (unsigned t = 0; t < s->targets; t++)
		for (size_t i = 0; i < s->archives; i++) {
			hipError_t r = hip_kpack_read(&s->archive[i], key, s->target[t], code, code_B);

			if (!r)
				drv_log(DRV_LOG_CODE, "archive %zu has %s for %s: %zu bytes", i, key, s->target[t],
					*code_B);
			if (!r || r == hipErrorOutOfMemory)
				return r;
			s->damaged |= r == hipErrorInvalidImage;
		}
	if (s->damaged)
		return hipErrorInvalidImage;
	drv_log(DRV_LOG_CODE, "no archive has %s for %s", key, s->target[0]);
	return s->archives ? hipErrorNoBinaryForGpu : hipErrorFileNotFound;
}

/* Archives of before libraries with several fat binaries have the plain name for the first one. */
static hipError_t code_find_by_index(struct search *s, const struct hip_kpack_text *name, uint64_t index,
				     void **code, size_t *code_B)
{
	char *key;
	hipError_t r;

	if (asprintf(&key, "%.*s#%llu", (int)name->length, name->text, (unsigned long long)index) < 0)
		return hipErrorOutOfMemory;
	r = code_find(s, key, code, code_B);
	if (r == hipErrorNoBinaryForGpu && !index) {
		*strrchr(key, '#') = '\0'; /* a name with a 0 is shorter than its length */
		r = code_find(s, key, code, code_B);
	}
	free(key);
	return r;
}

hipError_t hip_kpack_find(const struct hip_fat_binary_wrapper *wrapper, const struct hip_device *device,
			  void **code, size_t *code_B)
{
	struct hip_kpack_reference reference;
	struct search s = {0};
	size_t size_B;
	hipError_t r;

	if (drv_config()->kpack_disable)
		return hipErrorNotSupported;
	size_B = mapping_find(wrapper->bundle, s.folder, sizeof(s.folder));
	r = hip_kpack_reference_read(wrapper->bundle, size_B < HIP_KPACK_TEXT_B ? size_B : HIP_KPACK_TEXT_B,
				     &reference);
	if (r)
		return r;
	while (s.targets < TARGETS_MAX && hip.hsa->target(device->agent, s.targets, s.target[s.targets], TARGET_B))
		s.targets++;
	r = archives_open(&s, &reference);
	if (!r)
		r = code_find_by_index(&s, &reference.name, (uintptr_t)wrapper->unused, code, code_B);
	for (size_t i = 0; i < s.archives; i++)
		hip_kpack_close(&s.archive[i]);
	free(s.archive);
	return r;
}

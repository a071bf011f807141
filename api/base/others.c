/* Other libraries of HIP and of HSA in the process, which programs that mix releases of ROCm load, and wheels that bring their own:
 * each has its own devices and handles. Nothing can be done about it here, but said. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "api/base/base.h"

#define HIP_NAME "libamdhip64.so"

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file of the library that has the address; "?": unknown. */
static const char *file_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
}

struct other {
	uintptr_t own; /* address at which this library is loaded */
	char path[512];
};

/* Finds a library of HIP that is not this one. */
static int library_visit(struct dl_phdr_info *info, size_t size_B, void *data)
{
	struct other *other = data;

	(void)size_B;
	if (info->dlpi_addr == other->own || strncmp(name_of(info->dlpi_name), HIP_NAME, strlen(HIP_NAME)) != 0)
		return 0;
	snprintf(other->path, sizeof(other->path), "%s", info->dlpi_name);
	return 1;
}

void hip_others_report(void)
{
	struct other other = {0};
	Dl_info self;

	if (!dladdr(&hip, &self))
		return;
	other.own = (uintptr_t)self.dli_fbase;
	if (dl_iterate_phdr(library_visit, &other) && hip.hsa->first_warning())
		fprintf(stderr,
			"tuff: two libraries of HIP are loaded, %s and %s: streams and other handles of one are unknown to the "
			"other\n",
			self.dli_fname, other.path);
}

void hip_foreign_hsa_report(void)
{
	fprintf(stderr, "tuff: %s needs tuff's HSA library, and %s was loaded before it: there are no devices\n",
		file_of(&hip), file_of((const void *)(uintptr_t)hsa_init));
}

/* Another HIP library over this one: a program or a wheel with a run path of its own brings AMD's, although ours stands beside this
 * library. It works, but it is not what was meant, so a line says so. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "hsa/entry/extension.h"

#define HIP_NAME "libamdhip64.so."

struct beside {
	char folder[512]; /* folder of this library, with a slash */
	const char *other;
};

static int library_visit(struct dl_phdr_info *info, size_t size_B, void *data)
{
	struct beside *b = data;
	const char *slash = strrchr(info->dlpi_name, '/');
	struct stat own, other;
	char path[1024];

	(void)size_B;
	if (!slash || strncmp(slash + 1, HIP_NAME, strlen(HIP_NAME)) != 0)
		return 0;
	snprintf(path, sizeof(path), "%s%s%.1s", b->folder, HIP_NAME, slash + 1 + strlen(HIP_NAME));
	if (stat(path, &own) || stat(info->dlpi_name, &other) ||
	    (own.st_dev == other.st_dev && own.st_ino == other.st_ino))
		return 0;
	b->other = info->dlpi_name;
	return 1;
}

void rt_beside_report(void)
{
	struct beside b = {0};
	const char *slash;
	Dl_info self;

	if (!dladdr((void *)(uintptr_t)rt_beside_report, &self) || !(slash = strrchr(self.dli_fname, '/')) ||
	    (size_t)(slash + 1 - self.dli_fname) >= sizeof(b.folder))
		return;
	memcpy(b.folder, self.dli_fname, (size_t)(slash + 1 - self.dli_fname));
	if (dl_iterate_phdr(library_visit, &b))
		fprintf(stderr, "tuff: the program uses %s, a HIP library of its own, over tuff's HSA library\n",
			b.other);
}

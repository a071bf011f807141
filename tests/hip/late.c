/* A running program loads HIP, as interpreters do. */
#include <dlfcn.h>

#include "tests/check.h"

#ifndef LIBRARY
#define LIBRARY "libamdhip64.so.6"
#endif

static void *symbol(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!CHECK(found))
		printf("  %s: %s\n", name, dlerror());
	return found;
}

int main(void)
{
	int count = 0;
	void *library = dlopen(LIBRARY, RTLD_NOW), *memory = NULL;
	int (*devices)(int *), (*allocate)(void **, size_t), (*release)(void *);

	if (!CHECK(library)) {
		printf("  %s\n", dlerror());
		return check_done("HIP loaded late");
	}
	devices = (int (*)(int *))symbol(library, "hipGetDeviceCount");
	allocate = (int (*)(void **, size_t))symbol(library, "hipMalloc");
	release = (int (*)(void *))symbol(library, "hipFree");
	if (devices && allocate && release) {
		CHECK(!devices(&count) && count > 0);
		CHECK(!allocate(&memory, 4096) && memory);
		CHECK(!release(memory));
	}
	return check_done("HIP loaded late");
}

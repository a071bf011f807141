/* Tools: those that HSA_TOOLS_LIB names are loaded, intercept calls, and are unloaded completely. */
#include <dlfcn.h>
#include <stdlib.h>

#include "hsa/core/table.h"
#include "tests/check.h"

static void *tool; /* a handle of this program, so that the counters outlive the tool */

static unsigned counter(const char *name)
{
	const unsigned *value = dlsym(tool, name);

	return CHECK(value) ? *value : 0;
}

static void a_tool_sees_calls(void)
{
	const char *text;

	CHECK_EQ(hsa_status_string(HSA_STATUS_SUCCESS, &text), HSA_STATUS_SUCCESS);
	CHECK_EQ(counter("tool_calls"), 0);
	CHECK_EQ(hsa_tools_load(), 0);
	CHECK_EQ(counter("tool_loads"), 1); /* loaded once, although named twice */
	CHECK_STR(dlsym(tool, "tool_failed"), "/nowhere/a tool.so");
	CHECK_EQ(hsa_status_string(HSA_STATUS_ERROR, &text), HSA_STATUS_SUCCESS);
	CHECK_EQ(counter("tool_calls"), 1);
	CHECK_EQ(impl_hsa_status_string(HSA_STATUS_ERROR, &text), HSA_STATUS_SUCCESS);
	CHECK_EQ(counter("tool_calls"), 1);
	hsa_tools_unload();
	CHECK_EQ(counter("tool_unloads"), 1);
	/* The tool has left its function in the table; the table is restored. */
	CHECK_EQ(hsa_status_string(HSA_STATUS_ERROR, &text), HSA_STATUS_SUCCESS);
	CHECK_EQ(counter("tool_calls"), 1);
}

static void it_can_be_loaded_again(void)
{
	CHECK_EQ(hsa_tools_load(), 0);
	CHECK_EQ(counter("tool_loads"), 2);
	hsa_tools_unload();
	hsa_tools_unload();
	CHECK_EQ(counter("tool_unloads"), 2);
}

int main(void)
{
	const char *build = getenv("O");
	char path[400], list[1024];

	snprintf(path, sizeof(path), "%.300s/lib/tests/tool_count.so", build ? build : "build/release");
	tool = dlopen(path, RTLD_NOW);
	if (!CHECK(tool))
		return check_done("tools");
	snprintf(list, sizeof(list), " /nowhere/a\\ tool.so  \"%s\" %s", path, path);
	setenv("HSA_TOOLS_LIB", list, 1);
	a_tool_sees_calls();
	it_can_be_loaded_again();
	dlclose(tool);
	return check_done("tools");
}

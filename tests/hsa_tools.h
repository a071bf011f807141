/* The functions of HSA that tools reach by the table only, for programs in build/MODE/bin/tests/hsa. */
#ifndef TESTS_HSA_TOOLS_H
#define TESTS_HSA_TOOLS_H

#include <dlfcn.h>
#include <stdlib.h>

#include <hsa/hsa_api_trace.h>

#include "tests/check.h"

static AmdExtTable tools;
static char tools_library[4096];

/* Before hsa_init(), which loads the tool. */
static void tools_load(const char *program)
{
	snprintf(tools_library, sizeof(tools_library), "%.*s/../../../lib/tests/tool_table.so",
		 (int)(strrchr(program, '/') - program), program);
	setenv("HSA_TOOLS_LIB", tools_library, 1);
}

/* Behind it. */
static void tools_find(void)
{
	void *tool = dlopen(tools_library, RTLD_NOW | RTLD_NOLOAD);
	const AmdExtTable *table = tool ? dlsym(tool, "tool_amd_ext") : NULL;

	if (CHECK(table != NULL))
		tools = *table;
	if (tool)
		dlclose(tool);
}

static hsa_queue_t *tools_intercept_queue(hsa_agent_t gpu)
{
	hsa_queue_t *queue = NULL;

	CHECK_EQ(tools.hsa_amd_queue_intercept_create_fn(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
							 UINT32_MAX, &queue),
		 HSA_STATUS_SUCCESS);
	return queue;
}

#endif

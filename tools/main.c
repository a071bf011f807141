/* The tuff command. */
#include <stdio.h>
#include <string.h>

#include "tools/tool.h"

static const struct {
	const char *name, *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"info", "info [--json] [--gpu SPEC]          what GPUs there are, and where each fact comes from",
	 tool_info},
	{"demo", "demo [--gpu SPEC] [--picture FILE]  run GPU programs and check them against the CPU", tool_demo},
	{"run", "run [--gpu SPEC] -- PROGRAM ...     run a program on tuff's libraries, or on a virtual GPU",
	 tool_run},
	{"test", "test [--gpu SPEC] [PATTERN]...      test the GPU; --help tells all options", tool_test},
};

static int usage(FILE *to)
{
	fprintf(to, "usage:\n");
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(to, "  tuff %s\n", commands[i].help);
	fprintf(to,
		"SPEC is a chip (gfx900, gfx906, gfx908, gfx90a), several with commas, or null:CHIP; docs/vgpu.md "
		"has the rest.\n");
	return to == stderr ? 2 : 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
		return usage(stdout);
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "tuff: no command %s\n", argv[1]);
	return usage(stderr);
}

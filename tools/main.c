/* The tuff command. */
#include <stdio.h>
#include <string.h>

#include <tuff/base.h>

#include "tools/build.h"
#include "tools/tool.h"

static const struct {
	const char *name, *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"info", "what GPUs there are, and whether they can be used", tool_info},
	{"test", "test the GPU", tool_test},
	{"demo", "run GPU programs and check them against the CPU", tool_demo},
	{"run", "run a program on tuff's libraries, or on a virtual GPU", tool_run},
};

static int usage(FILE *to)
{
	fprintf(to, "usage: tuff COMMAND [ARGUMENT]...\n");
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(to, "  %-15s %s\n", commands[i].name, commands[i].help);
	fprintf(to, "  --version       print the version\n"
		    "  --help          print this; \"tuff COMMAND --help\" tells a command's options\n");
	return to == stderr ? 2 : 0;
}

static int command_run(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
		return usage(stdout);
	if (!strcmp(argv[1], "--version")) {
		printf("tuff %u.%u (%s)\n", TUFF_VERSION_MAJOR, TUFF_VERSION_MINOR, BUILD_COMMIT);
		return 0;
	}
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, argv[1][0] == '-' ? "tuff: no option %s\n" : "tuff: no command %s\n", argv[1]);
	return usage(stderr);
}

/* A command whose output did not arrive has failed: a disk may be full. */
int main(int argc, char **argv)
{
	int status = command_run(argc, argv);

	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "tuff: stdout cannot be written\n");
	return status ? status : 1;
}

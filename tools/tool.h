/* tools/: the tuff command. Each subcommand is one function that takes its own arguments and gives the exit status.
 * One thread. */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "drv/device.h"

int tool_info(int argc, char **argv);
int tool_demo(int argc, char **argv);
int tool_run(int argc, char **argv);
int tool_test(int argc, char **argv);

/* An option of a subcommand: without a value it sets *flag, with a value *value. A NULL name ends the list. */
struct tool_option {
	const char *name;
	bool *flag;
	const char **value;
};

/* Parses the options at the beginning of argv and gives the index of the next argument, after "--" if present; -1:
 * the command ends with *status, since --help was given, or an option is wrong. usage has a line " --name VALUE
 * what it is" for each option: completion in shells reads them. */
int tool_options(int argc, char **argv, const struct tool_option *options, const char *usage, int *status);
/* Prints the usage for --help, and gives the exit status. */
int tool_help(const char *usage);
/* Prints the mistake, then the usage, on stderr; gives 2. */
int tool_mistake(const char *usage, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints text after `begin` in lines of at most 80 columns; further lines are indented by the width of `begin`. */
void tool_wrap(FILE *to, const char *begin, const char *text);

/* Finds the GPUs: all, or the one called name (number, PCI address or render node). 0, or -errno when there is
 * none: a message lists the existing GPUs. nodes has DRV_NODES_MAX places. */
DRV_MUST_CHECK int tool_scan(const char *command, const char *name, struct drv_node *nodes, size_t *count);
/* Finds the first GPU, or the one called name; errors as tool_scan(). */
DRV_MUST_CHECK int tool_find_device(const char *command, const char *name, struct drv_node *node);

/* Warns on stderr when LD_PRELOAD and LD_LIBRARY_PATH have no effect on a program: it is static, of 32 bits, or has
 * rights that its user does not have. */
void tool_warn_of_preload(const char *program);

/* Exit status of commands when no GPU can be used: nothing failed, and nothing was done. */
#define TOOL_UNUSABLE 3

/* Gives this process a virtual GPU when spec is not NULL; false, with a message, on failure. */
int tool_start_gpu(const char *spec);

#endif

/* tools/: the tuff command. Each subcommand is one function that takes its own arguments and gives the exit status.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "drv/device.h"

int tool_info(int argc, char **argv);
int tool_demo(int argc, char **argv);
int tool_run(int argc, char **argv);
int tool_test(int argc, char **argv);

/* An option of a subcommand: one without a value sets *flag, one with a value *value. The list ends with a NULL
 * name. */
struct tool_option {
	const char *name;
	bool *flag;
	const char **value;
};

/* Takes the options that argv begins with and gives the index of what follows them, behind "--" if that is there;
 * -1: the command ends with *status, since --help was asked for, or an option is wrong. usage has a line "  --name
 * VALUE what it is" for each option: completion in shells reads them. */
int tool_options(int argc, char **argv, const struct tool_option *options, const char *usage, int *status);
/* Prints the usage for those who asked, and gives the exit status. */
int tool_help(const char *usage);
/* Says what was wrong, then the usage, on stderr; gives 2. */
int tool_mistake(const char *usage, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints text behind begin in lines of at most 80 columns; what begins the others is as wide as begin, and blank.
 */
void tool_wrap(FILE *to, const char *begin, const char *text);

/* Finds the GPUs: all, or the one that is called name (number, PCI address or render node). 0, or -errno when there
 * is none: a message says what there is. nodes has DRV_NODES_MAX places. */
DRV_MUST_CHECK int tool_scan(const char *command, const char *name, struct drv_node *nodes, size_t *count);
/* Finds the first of the GPUs, or the one that is called name; as tool_scan(). */
DRV_MUST_CHECK int tool_find_device(const char *command, const char *name, struct drv_node *node);

/* Says on stderr when LD_PRELOAD and LD_LIBRARY_PATH do nothing for a program: it is static, of 32 bits, or has
 * rights that its user has not. */
void tool_warn_of_preload(const char *program);

/* Exit status of commands when no GPU can be used: nothing failed, and nothing was done. */
#define TOOL_UNUSABLE 3

/* Puts a virtual GPU in front of this process when spec is given; false, with a message, when it cannot. */
int tool_start_gpu(const char *spec);

#endif

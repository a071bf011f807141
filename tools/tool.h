/* tools/: the tuff command. Each subcommand is one function that takes its own arguments and gives the exit status.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

int tool_info(int argc, char **argv);
int tool_demo(int argc, char **argv);
int tool_run(int argc, char **argv);
int tool_test(int argc, char **argv);

/* Puts a virtual GPU in front of this process when spec is given; false, with a message, when it cannot. */
int tool_start_gpu(const char *spec);

#endif

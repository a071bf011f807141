/* Options of the subcommands: parsing, help and error messages. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/tool.h"

int tool_help(const char *usage)
{
	fputs(usage, stdout);
	return 0;
}

int tool_mistake(const char *usage, const char *command, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "tuff %s: ", command);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n%s", usage);
	return 2;
}

#define COLUMNS 80

void tool_wrap(FILE *to, const char *begin, const char *text)
{
	const size_t indent = strlen(begin);
	size_t column = indent;

	fputs(begin, to);
	while (*text) {
		const size_t word = strcspn(text, " ");

		if (column > indent && column + 1 + word > COLUMNS) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', to);
			column++;
		}
		fwrite(text, 1, word, to);
		column += word;
		text += word + strspn(text + word, " ");
	}
	fputc('\n', to);
}

static const struct tool_option *option_find(const struct tool_option *options, const char *name)
{
	for (; options->name; options++)
		if (!strcmp(options->name, name))
			return options;
	return NULL;
}

int tool_options(int argc, char **argv, const struct tool_option *options, const char *usage, int *status)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		const struct tool_option *option = option_find(options, argv[i]);

		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (!strcmp(argv[i], "--help")) {
			*status = tool_help(usage);
			return -1;
		}
		if (!option || (option->value && i + 1 == argc)) {
			*status =
				tool_mistake(usage, argv[0], option ? "%s needs a value" : "no option %s", argv[i]);
			return -1;
		}
		if (option->value)
			*option->value = argv[++i];
		else
			*option->flag = true;
	}
	return i;
}

/* docs/vgpu-contract.md against the tree: each row of the contract stands there once, the first 128 all of them,
 * each test that it names exists and says in a comment that it is for that row, and vgpu/contract.h has the same
 * numbers and situations. Without the sources there is nothing to compare. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/check.h"
#include "vgpu/contract.h"

#define TABLE                          "docs/vgpu-contract.md"
#define ROWS                           200 /* the highest number that a row may have */
#define KNOWN                          128 /* the first rows, which have no gaps */
#define COUNT(number, name, situation) +1
#define NAMES                          (0 CONTRACT_ROWS(COUNT)) /* rows that contract.h names */

static unsigned names_seen;

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &room, 0, file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* Is `name` defined in this C text: at the start of a line, a type, the name, a bracket? */
static bool defines(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += length) {
		const char *line = at;

		while (line > text && line[-1] != '\n')
			line--;
		if (at[length] == '(' && line < at && !isalnum((unsigned char)at[-1]) && at[-1] != '_' &&
		    isalpha((unsigned char)*line))
			return true;
	}
	return false;
}

/* Does "row N", or "rows A, B and N", stand in the text? */
static bool mentions(const char *text, unsigned row)
{
	for (const char *at = text; (at = strstr(at, "row")); at += 3) {
		const char *p = at + 3 + (at[3] == 's');
		unsigned n;
		int used;

		while (sscanf(p, " %u%n", &n, &used) == 1) {
			if (n == row)
				return true;
			p += used;
			if (*p == ',')
				p++;
			else if (!strncmp(p, " and", 4))
				p += 4;
			else
				break;
		}
	}
	return false;
}

/* One `file: function`. */
static void check_test(unsigned row, const char *file, const char *function)
{
	char *text = read_file(file);

	if (!CHECK(text) || !CHECK(defines(text, function)) || !CHECK(mentions(text, row)))
		printf("  row %u: %s: %s\n", row, file, function);
	free(text);
}

/* The last column: tests in backquotes, or why there is none. */
static void check_tests(unsigned row, char *cell)
{
	char file[128], function[128];
	unsigned count = 0;

	if (!strncmp(cell, "none: ", 6)) {
		CHECK(strlen(cell) > 6);
		return;
	}
	for (char *at = cell; (at = strchr(at, '`')); count++) {
		if (!CHECK_EQ(sscanf(at, "`%127[^:`]: %127[a-z0-9A-Z_]`", file, function), 2)) {
			printf("  row %u: %s\n", row, cell);
			return;
		}
		check_test(row, file, function);
		at = strchr(at + 1, '`');
		if (!at++)
			break;
	}
	if (!CHECK(count))
		printf("  row %u has no test, and no reason for that\n", row);
}

/* The situation of a row in contract.h has the document's words. */
static void check_named(unsigned row, const char *cell)
{
	static const struct {
		unsigned number;
		const char *situation;
	} named[] = {
#define NAMED(number, name, situation) {number, situation},
		CONTRACT_ROWS(NAMED)
#undef NAMED
	};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		size_t length = strlen(named[i].situation);

		if (named[i].number != row)
			continue;
		if (!CHECK(!strncmp(cell, named[i].situation, length) && !strcmp(cell + length, " ")))
			printf("  row %u is \"%s\" in vgpu/contract.h\n", row, named[i].situation);
		names_seen++;
	}
}

static void check_line(char *line, unsigned *seen)
{
	char *cell[4], *save = NULL;
	unsigned row = 0, cells = 0;

	for (char *at = strtok_r(line, "|", &save); at && cells < 4; at = strtok_r(NULL, "|", &save))
		cell[cells++] = at + (*at == ' ');
	if (!CHECK_EQ(cells, 4) || !CHECK_EQ(sscanf(cell[0], "%u", &row), 1) || !CHECK(row >= 1 && row <= ROWS))
		return;
	seen[row]++;
	CHECK(strlen(cell[1]) > 3 && strlen(cell[2]) > 3);
	check_named(row, cell[1]);
	check_tests(row, cell[3]);
}

int main(void)
{
	unsigned seen[ROWS + 1] = {0};
	char *table = read_file(TABLE), *save = NULL;

	if (access("Makefile", R_OK)) {
		printf("skipped: not in the source tree\n");
		return 0;
	}
	if (!CHECK(table))
		return check_done("contract");
	for (char *line = strtok_r(table, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (!strncmp(line, "| ", 2) && isdigit((unsigned char)line[2]))
			check_line(line, seen);
	for (unsigned row = 1; row <= ROWS; row++)
		if (!CHECK(seen[row] == 1 || (row > KNOWN && !seen[row])))
			printf("  row %u\n", row);
	CHECK_EQ(names_seen, NAMES);
	free(table);
	return check_done("the contract's rows and their tests");
}

/* docs/support.md names exactly the functions that are missing: hsa/names.h has the facts. Runs where the sources
 * are. */
#include <stdbool.h>
#include <stdlib.h>

#include "tests/check.h"

#define DOC   "docs/support.md"
#define BEGIN "## HSA functions that are not there yet"
#define END   "Of what is there, this is missing"

static const struct row {
	const char *name, *status; /* status NULL: it is there */
} rows[] = {
#define HSA_IMPL(table, name)                {#name, NULL},
#define HSA_UNSUPPORTED(table, name, status) {#name, #status},
#define HSA_LATER(name, status)              {#name, #status},
#include "hsa/names.h"
};

static char *read_list(void)
{
	static char text[1 << 17];
	FILE *file = fopen(DOC, "r");
	char *begin, *end;

	if (!CHECK(file))
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	begin = strstr(text, BEGIN);
	if (!CHECK(begin))
		return NULL;
	end = strstr(begin, END);
	if (end)
		*end = 0;
	return begin;
}

/* Where the list has `name`, between back-quotes; *status: the last status that stands before it. */
static bool listed(const char *list, const char *name, char status[64])
{
	char quoted[128];
	const char *at;

	snprintf(quoted, sizeof(quoted), "`%s`", name);
	at = strstr(list, quoted);
	status[0] = 0;
	for (const char *p = list; at && p < at; p++)
		if (!strncmp(p, "`HSA_STATUS_", 12))
			sscanf(p, "`%63[A-Z_]", status);
	return at;
}

int main(void)
{
	const char *list = read_list();
	unsigned names = 0, quoted = 0;
	char status[64];

	if (!list)
		return check_done("the list of unsupported functions");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool found = listed(list, rows[i].name, status);

		names += rows[i].status != NULL;
		if (!CHECK_EQ(found, rows[i].status != NULL))
			printf("  %s is %s, and %s is %s\n", rows[i].name, rows[i].status ? "not there" : "there",
			       DOC, found ? "lists it" : "does not list it");
		else if (found)
			CHECK_STR(status, rows[i].status);
	}
	for (const char *p = list; (p = strstr(p, "`hsa_")); p++)
		quoted++;
	CHECK_EQ(quoted, names); /* none twice, and none that is no function */
	return check_done("the list of unsupported functions");
}

/* What `tuff info` says: facts in sections, as lines for people or as JSON, each with where it is from. */
#ifndef TOOLS_SHEET_H
#define TOOLS_SHEET_H

#include <stdbool.h>
#include <stdint.h>

#include <json.h>

struct sheet {
	bool json;
	json_object *object;  /* borrowed: what sections are added to; NULL without json */
	json_object *section; /* owned by object */
	const char *key, *title;
	bool begun; /* the section's title was printed, or its object made: at its first fact */
};

/* The facts that follow are of this section. A section without facts leaves no trace. */
void sheet_section(struct sheet *s, const char *key, const char *title);

/* One fact. source: where it is from, or why it is so. */
void sheet_text(struct sheet *s, const char *key, const char *label, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void sheet_number(struct sheet *s, const char *key, const char *label, const char *source, uint64_t number,
		  const char *unit);
void sheet_size(struct sheet *s, const char *key, const char *label, const char *source, uint64_t size_B);
void sheet_yes_no(struct sheet *s, const char *key, const char *label, const char *source, bool yes);

/* "1.5 GiB" */
void sheet_format_size(char *text, unsigned text_B, uint64_t size_B);

#endif

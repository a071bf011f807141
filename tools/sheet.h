/* Output of `tuff info`: facts in sections, as lines for people or as JSON, each with its source. The caller owns
 * the sheet. One thread. */
#ifndef TOOLS_SHEET_H
#define TOOLS_SHEET_H

#include <stdbool.h>
#include <stdint.h>

#include <json.h>

struct sheet {
	bool json;
	json_object *object;  /* borrowed: object that sections are added to; NULL without json */
	json_object *section; /* owned by object */
	const char *key, *title;
	bool begun; /* the section's title was printed, or its object created: at its first fact */
};

/* Begins a section for the following facts. A section without facts prints nothing. */
void sheet_section(struct sheet *s, const char *key, const char *title);

/* Adds one fact. source: where it comes from, or the reason for its value. */
void sheet_text(struct sheet *s, const char *key, const char *label, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void sheet_number(struct sheet *s, const char *key, const char *label, const char *source, uint64_t number,
		  const char *unit);
void sheet_size(struct sheet *s, const char *key, const char *label, const char *source, uint64_t size_B);
void sheet_yes_no(struct sheet *s, const char *key, const char *label, const char *source, bool yes);

/* Formats a size: "1.5 GiB". */
void sheet_format_size(char *text, unsigned text_B, uint64_t size_B);

#endif

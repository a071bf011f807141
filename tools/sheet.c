#include "tools/sheet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void sheet_section(struct sheet *s, const char *key, const char *title)
{
	s->key = key;
	s->title = title;
	s->begun = false;
}

static void line_begin(struct sheet *s)
{
	if (s->begun)
		return;
	s->begun = true;
	if (!s->json) {
		printf("  %s\n", s->title);
		return;
	}
	s->section = json_object_new_object();
	json_object_object_add(s->object, s->key, s->section);
}

static void text_put(struct sheet *s, const char *key, const char *label, const char *source, const char *text,
		     json_object *value)
{
	json_object *fact;

	line_begin(s);
	if (!s->json) {
		printf("    %-26s %-48s %s\n", label, text, source);
		json_object_put(value);
		return;
	}
	fact = json_object_new_object();
	json_object_object_add(fact, "value", value);
	json_object_object_add(fact, "source", json_object_new_string(source));
	json_object_object_add(s->section, key, fact);
}

void sheet_text(struct sheet *s, const char *key, const char *label, const char *source, const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	text_put(s, key, label, source, text, json_object_new_string(text));
}

void sheet_number(struct sheet *s, const char *key, const char *label, const char *source, uint64_t number,
		  const char *unit)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 "%s%s", number, *unit ? " " : "", unit);
	text_put(s, key, label, source, text, json_object_new_uint64(number));
}

void sheet_format_size(char *text, unsigned text_B, uint64_t size_B)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	unsigned unit = 0;
	double value = (double)size_B;

	for (; unit < 3 && value >= 1024; unit++)
		value /= 1024;
	snprintf(text, text_B, "%.*f %s", value == (double)(uint64_t)value ? 0 : 1, value, units[unit]);
}

void sheet_size(struct sheet *s, const char *key, const char *label, const char *source, uint64_t size_B)
{
	char text[64];

	sheet_format_size(text, sizeof(text), size_B);
	text_put(s, key, label, source, text, json_object_new_uint64(size_B));
}

void sheet_yes_no(struct sheet *s, const char *key, const char *label, const char *source, bool yes)
{
	text_put(s, key, label, source, yes ? "yes" : "no", json_object_new_boolean(yes));
}

/* The summary of a test run, and the reports that a person can send. */
#include "tools/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drv/file.h"
#include "tools/build.h"
#include "tools/tool.h"

struct tally {
	unsigned n[TEST_RESULTS];
	double seconds;
};

static struct tally count_results(const struct test_item *items, unsigned count)
{
	struct tally tally = {0};

	for (unsigned i = 0; i < count; i++) {
		tally.n[items[i].result]++;
		tally.seconds += items[i].seconds;
	}
	return tally;
}

/* --- the machine ------------------------------------------------------------------------------ */

static void add_string(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

static struct json_object *put_machine(const struct test_options *o)
{
	struct json_object *facts = test_machine(), *gpus = json_object_new_object();

	for (unsigned i = 0; i < o->device_count; i++) {
		const struct test_device *d = &o->devices[i];
		struct json_object *copy = NULL;

		if (!d->facts || json_object_deep_copy(d->facts, &copy, NULL))
			copy = json_object_new_string(d->why ? d->why : "unknown");
		test_remove_serials(copy);
		json_object_object_add(gpus, d->gpu ? d->gpu : "this machine", copy);
	}
	json_object_object_add(facts, "gpus", gpus);
	return facts;
}

/* --- formats ---------------------------------------------------------------------------------- */

static void write_json(FILE *file, const struct test_item *items, unsigned count, const struct test_options *o)
{
	struct json_object *root = json_object_new_object(), *list = json_object_new_array();
	struct tally tally = count_results(items, count);

	json_object_object_add(root, "machine", put_machine(o));
	for (unsigned i = 0; i < TEST_RESULTS; i++)
		json_object_object_add(root, test_result_name(i), json_object_new_int((int)tally.n[i]));
	for (unsigned i = 0; i < count; i++) {
		const struct test_item *item = &items[i];
		struct json_object *test = json_object_new_object();
		char seconds[32];

		add_string(test, "name", item->program ? item->program : item->test->name);
		if (item->test) {
			add_string(test, "gpu", item->gpu ? item->gpu : "this machine");
			add_string(test, "shows", item->test->shows);
		}
		add_string(test, "result", test_result_name(item->result));
		snprintf(seconds, sizeof(seconds), "%.3f", item->seconds);
		json_object_object_add(test, "seconds", json_object_new_double_s(item->seconds, seconds));
		add_string(test, "why", item->why ? item->why : "");
		add_string(test, "output", item->output ? item->output : "");
		if (item->log)
			add_string(test, "log", item->log);
		json_object_array_add(list, test);
	}
	json_object_object_add(root, "tests", list);
	fputs(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							   JSON_C_TO_STRING_NOSLASHESCAPE),
	      file);
	fputc('\n', file);
	json_object_put(root);
}

/* XML 1.0 cannot represent most control characters. */
static void write_escaped(FILE *file, const char *text)
{
	for (; text && *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '&':
			fputs("&amp;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		default:
			fputc((unsigned char)*text >= ' ' || *text == '\n' || *text == '\t' ? *text : '?', file);
		}
}

static void write_tag(FILE *file, const char *tag, const char *message, const char *text)
{
	fprintf(file, "    <%s message=\"", tag);
	write_escaped(file, message);
	fputs("\">", file);
	write_escaped(file, text);
	fprintf(file, "</%s>\n", tag);
}

static void write_case(FILE *file, const struct test_item *item)
{
	fputs("  <testcase classname=\"", file);
	write_escaped(file, item->program ? "program" : item->gpu ? item->gpu : "device");
	fputs("\" name=\"", file);
	write_escaped(file, item->program ? item->program : item->test->name);
	fprintf(file, "\" time=\"%.3f\">\n", item->seconds);
	if (item->result == TEST_FAILED)
		write_tag(file, "failure", item->why, item->log);
	if (item->result == TEST_SKIPPED || item->result == TEST_NOT_RUN)
		write_tag(file, "skipped", item->why, NULL);
	fputs("    <system-out>", file);
	write_escaped(file, item->output);
	fputs("</system-out>\n  </testcase>\n", file);
}

static void write_junit(FILE *file, const struct test_item *items, unsigned count, const struct test_options *o)
{
	struct tally tally = count_results(items, count);
	struct json_object *facts = put_machine(o);

	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"tuff\" tests=\"%u\" "
		"failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"%.3f\">\n  <properties>\n",
		count, tally.n[TEST_FAILED], tally.n[TEST_SKIPPED] + tally.n[TEST_NOT_RUN], tally.seconds);
	fputs("    <property name=\"machine\" value=\"", file);
	write_escaped(file, json_object_to_json_string(facts));
	fputs("\"/>\n  </properties>\n", file);
	for (unsigned i = 0; i < count; i++)
		write_case(file, &items[i]);
	fputs("</testsuite>\n</testsuites>\n", file);
	json_object_put(facts);
}

static void write_text(FILE *file, const struct test_item *items, unsigned count, const struct test_options *o)
{
	struct json_object *facts = put_machine(o);
	struct tally tally = count_results(items, count);

	fprintf(file, "tuff test report, to be sent to %s\n\n%s\n\n", BUILD_REPORT_TO,
		json_object_to_json_string_ext(facts, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							      JSON_C_TO_STRING_NOSLASHESCAPE));
	for (unsigned i = 0; i < count; i++) {
		const struct test_item *item = &items[i];

		fprintf(file, "%-5s %s (%.1f s): %s\n", test_result_name(item->result), test_item_name(item),
			item->seconds, item->why ? item->why : "");
		if (item->output && (item->result == TEST_FAILED || strstr(item->output, "NOTE ")))
			fprintf(file, "%s\n", item->output);
		if (item->log)
			fprintf(file, "its log:\n%s\n", item->log);
	}
	fprintf(file, "\n%u passed, %u failed, %u skipped, %u not run\n", tally.n[TEST_PASSED],
		tally.n[TEST_FAILED], tally.n[TEST_SKIPPED], tally.n[TEST_NOT_RUN]);
	for (unsigned i = 0; i < o->device_count; i++)
		test_device_say(file, &o->devices[i], items, count, o->patterns || o->probe);
	json_object_put(facts);
}

/* --- files -------------------------------------------------------------------------------------- */

/* Bytes of the character at `at` in UTF-8, which both JSON and XML demand; 0: there is none, or XML has no such one. */
static size_t character_B(const unsigned char *at, size_t left_B)
{
	static const uint32_t first[] = {0, 0, 0x80, 0x800,
					 0x10000}; /* indexed by bytes: shorter forms are invalid */
	size_t n = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf8 ? 4 : 0;
	uint32_t code = n > 1 ? at[0] & (0x7fu >> n) : at[0];

	if (n > left_B)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (at[i] >> 6 != 2)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (n && (code < first[n] || code > 0x10ffff || code >> 11 == 0xd800 >> 11 || code >> 1 == 0xfffe >> 1))
		return 0;
	return n;
}

/* Programs print any bytes; those that are no character become '?'. */
static void replace_wrong_bytes(char *text, size_t text_B)
{
	for (size_t i = 0, n; i < text_B; i += n) {
		n = character_B((const unsigned char *)text + i, text_B - i);
		if (!n)
			text[i] = '?';
		n += !n;
	}
}

static int write_file(const char *path, const char *text, size_t text_B)
{
	int fd = drv_file_create(path, O_TRUNC, 0666);
	FILE *file;
	bool bad;

	if (fd < 0) {
		fprintf(stderr, "tuff test: %s: %s\n", path, strerror(-fd));
		return 1;
	}
	file = fdopen(fd, "we");
	bad = !file || fwrite(text, 1, text_B, file) != text_B;
	bad |= file ? fclose(file) != 0 : close(fd);
	if (bad)
		fprintf(stderr, "tuff test: %s: cannot be written\n", path);
	return bad;
}

static int write_report(const char *path, const struct test_item *items, unsigned count,
			const struct test_options *o)
{
	const char *suffix = strrchr(path, '.');
	char *text = NULL;
	size_t text_B = 0;
	FILE *memory = open_memstream(&text, &text_B);
	int bad;

	if (!memory) {
		fprintf(stderr, "tuff test: %s: %s\n", path, strerror(errno));
		return 1;
	}
	if (suffix && !strcmp(suffix, ".json"))
		write_json(memory, items, count, o);
	else if (suffix && !strcmp(suffix, ".xml"))
		write_junit(memory, items, count, o);
	else
		write_text(memory, items, count, o);
	bad = ferror(memory);
	bad |= fclose(memory);
	if (bad)
		fprintf(stderr, "tuff test: %s: no memory\n", path);
	replace_wrong_bytes(text, text_B);
	bad = bad || write_file(path, text, text_B);
	free(text);
	return bad;
}

/* Prints the answers of experiments, which are their purpose. */
static void print_answers(const struct test_item *items, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (const char *at = items[i].output; at && (at = strstr(at, "NOTE ")); at += 5) {
			int n = (int)strcspn(at + 5, "\n");

			printf("%-32s %.*s\n", items[i].test ? items[i].test->name : items[i].program, n, at + 5);
		}
}

static int exit_status(const struct tally *tally, const struct test_options *o)
{
	unsigned usable = 0;

	for (unsigned i = 0; i < o->device_count; i++)
		usable += o->devices[i].usable;
	if (tally->n[TEST_FAILED])
		return 1;
	if (o->device_count && !usable)
		return TOOL_UNUSABLE;
	return !tally->n[TEST_PASSED];
}

/* Prints the result as sentences for people; scripts read the line before. written: the first report that was
 * written; NULL: none. */
static void put_conclusion(const struct test_item *items, unsigned count, const struct test_options *o,
			   const char *written, int status)
{
	bool ours = false;

	if (o->brief)
		return;
	for (unsigned i = 0; i < o->device_count; i++) {
		printf("\n");
		test_device_say(stdout, &o->devices[i], items, count, o->patterns || o->probe);
		ours |= !o->devices[i].gpu;
	}
	if (written || ours || status == 1)
		test_say_where_to(written);
}

int test_report(const struct test_item *items, unsigned count, const struct test_options *options)
{
	struct tally tally = count_results(items, count);
	int status = exit_status(&tally, options);
	const char *written = NULL;

	for (unsigned i = 0; i < options->reports; i++)
		if (write_report(options->report[i], items, count, options))
			status = 1;
		else if (!written)
			written = options->report[i];
	if (options->probe && !options->brief)
		print_answers(items, count);
	if (tally.n[TEST_NOT_RUN])
		printf("%u were not run\n", tally.n[TEST_NOT_RUN]);
	printf("\n%u passed, %u failed, %u skipped\n", tally.n[TEST_PASSED], tally.n[TEST_FAILED],
	       tally.n[TEST_SKIPPED]);
	put_conclusion(items, count, options, written, status);
	return status;
}

/* The devices under test: their facts from `tuff info`, and a final sentence on each. */
#include "tools/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/build.h"
#include "tools/tool.h"

#define WORDS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:,=/-"

/* --- facts ------------------------------------------------------------------------------------ */

/* Runs `tuff info --json` in a child, because this process has no device of its own; NULL: it printed no JSON. */
static struct json_object *run_info(const char *gpu, const char *name)
{
	char command[900], text[1 << 18];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "/proc/%d/exe info --json%s%.512s%s%.64s 2>/dev/null", getpid(),
		 gpu ? " --gpu " : "", gpu ? gpu : "", name ? " --device " : "", name ? name : "");
	pipe = popen(command, "re");
	n = pipe ? fread(text, 1, sizeof(text) - 1, pipe) : 0;
	text[n] = 0;
	if (pipe)
		pclose(pipe);
	return json_tokener_parse(text);
}

static const char *string_at(struct json_object *object, const char *key)
{
	struct json_object *member;

	return json_object_object_get_ex(object, key, &member) ? json_object_get_string(member) : NULL;
}

static bool is_set(struct json_object *object, const char *key)
{
	struct json_object *member;

	return json_object_object_get_ex(object, key, &member) && json_object_get_boolean(member);
}

/* Chooses the first usable device; without one, the first that opens; else the first. NULL: none. */
static struct json_object *device_choose(struct json_object *facts)
{
	struct json_object *devices, *best = NULL;

	if (!json_object_object_get_ex(facts, "devices", &devices))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);

		if (!best || (is_set(device, "usable") && !is_set(best, "usable")) ||
		    (is_set(device, "opens") && !is_set(best, "opens")))
			best = device;
	}
	return best;
}

static const char *target_of(struct json_object *device)
{
	struct json_object *identity, *target;

	return json_object_object_get_ex(device, "identity", &identity) &&
			       json_object_object_get_ex(identity, "target", &target)
		       ? string_at(target, "value")
		       : NULL;
}

void test_device_init(struct test_device *d, const char *gpu, const char *name)
{
	struct json_object *device;

	*d = (struct test_device){.gpu = gpu, .why = "no facts of it can be had"};
	/* Only these characters may reach the shell. */
	if ((gpu && strspn(gpu, WORDS) != strlen(gpu)) || (name && strspn(name, WORDS) != strlen(name))) {
		d->why = "no device has such a name";
		return;
	}
	d->facts = run_info(gpu, name);
	device = device_choose(d->facts);
	if (!device) {
		d->why = string_at(d->facts, "error") ? string_at(d->facts, "error") : d->why;
		return;
	}
	d->opens = is_set(device, "opens");
	d->usable = is_set(device, "usable");
	d->why = string_at(device, "error");
	d->target = target_of(device);
	d->path = string_at(device, "node");
}

void test_device_fini(struct test_device *d)
{
	json_object_put(d->facts);
}

/* --- the sentence ----------------------------------------------------------------------------- */

#define NAMES_MAX 4 /* names of failed tests in a sentence */

static void devices_count(const struct test_device *d, const struct test_item *items, unsigned item_count,
			  unsigned n[TEST_RESULTS])
{
	memset(n, 0, TEST_RESULTS * sizeof(n[0]));
	for (unsigned i = 0; i < item_count; i++)
		if (items[i].device == d)
			n[items[i].result]++;
}

static void list_failed(const struct test_device *d, const struct test_item *items, unsigned item_count, char *text,
			size_t text_B)
{
	unsigned named = 0;
	size_t n = 0;

	*text = 0;
	for (unsigned i = 0; i < item_count && n < text_B; i++) {
		if (items[i].device != d || items[i].result != TEST_FAILED)
			continue;
		if (named < NAMES_MAX)
			n += (size_t)snprintf(text + n, text_B - n, "%s%s", named ? ", " : "", items[i].test->name);
		else if (named == NAMES_MAX)
			n += (size_t)snprintf(text + n, text_B - n, ", ...");
		named++;
	}
}

void test_device_say(FILE *to, const struct test_device *d, const struct test_item *items, unsigned item_count,
		     bool chosen)
{
	const char *name = d->target ? d->target : d->gpu ? d->gpu : "The GPU of this machine";
	unsigned n[TEST_RESULTS];
	char failed[400], text[900];

	devices_count(d, items, item_count, n);
	list_failed(d, items, item_count, failed, sizeof(failed));
	if (n[TEST_FAILED])
		snprintf(text, sizeof(text), "%s: %u of %u tests failed: %s.", name, n[TEST_FAILED],
			 n[TEST_FAILED] + n[TEST_PASSED] + n[TEST_SKIPPED] + n[TEST_NOT_RUN], failed);
	else if (!d->usable)
		snprintf(text, sizeof(text), "%s cannot be used yet, because %s.", name, d->why);
	else if (!n[TEST_PASSED])
		snprintf(text, sizeof(text), "%s: no test was run to its end, so nothing is known.", name);
	else if (chosen)
		snprintf(text, sizeof(text), "%s passes the tests that were chosen.", name);
	else
		snprintf(text, sizeof(text), "%s works: %u tests passed, %u do not apply to it.", name,
			 n[TEST_PASSED], n[TEST_SKIPPED]);
	tool_wrap(to, "", text);
}

void test_say_where_to(const char *report)
{
	char text[400];

	if (report)
		snprintf(text, sizeof(text), "Please send %s to %s.", report, BUILD_REPORT_TO);
	else
		snprintf(
			text, sizeof(text),
			"Please run \"tuff test --report report.txt\", and send report.txt to %s. It has no serial numbers.",
			BUILD_REPORT_TO);
	tool_wrap(stdout, "", text);
}

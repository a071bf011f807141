/* tuff test: selects tests and devices. */
#include "tools/test.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

static const char usage_text[] =
	"usage: tuff test [OPTION]... [PATTERN]... [-- PROGRAM...]\n"
	"Tests the first GPU of this machine that can be used, each test in a process of its\n"
	"own. PATTERN is a name as --list prints it, with * and ?, or the beginning of one\n"
	"(\"ladder\"). Exit status: 0 it works, 1 a test failed, 3 the GPU cannot be used.\n"
	"  --gpu SPEC      test a virtual GPU; may be given several times\n"
	"  --device NAME   test this GPU: its number, PCI address or render node\n"
	"  --report FILE   write a report: .json, .xml (JUnit), else text; may be given several times\n"
	"  --resets        also tests that make the kernel reset the GPU (always on a virtual one)\n"
	"  --probe         only the experiments whose answers we do not know; with --resets also the risky ones\n"
	"  --long          also tests of over ten seconds\n"
	"  --timeout S     limit of each test, in seconds (120)\n"
	"  --jobs N        tests at a time (1)\n"
	"  --list          print the tests and what they show\n"
	"  --verbose       print the output of tests that pass, too\n"
	"  --brief         one line for all device tests that pass on a device\n"
	"  --help          print this\n";

static bool take_flag(struct test_options *o, const char *argument)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"--resets", &o->resets}, {"--probe", &o->probe},     {"--long", &o->long_ones},
		{"--list", &o->list},     {"--verbose", &o->verbose}, {"--brief", &o->brief},
	};

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(argument, flags[i].name))
			return *flags[i].flag = true;
	return false;
}

static bool pattern_add(const char **list, unsigned *count, unsigned max, const char *value)
{
	if (*count == max)
		return false;
	list[(*count)++] = value;
	return true;
}

/* Takes an option with a value; false: unknown, or too many. */
static bool take_value(struct test_options *o, const char *name, const char *value)
{
	if (!strcmp(name, "--gpu"))
		return pattern_add(o->gpu, &o->gpus, 32, value);
	if (!strcmp(name, "--report"))
		return pattern_add(o->report, &o->reports, 3, value);
	if (!strcmp(name, "--device"))
		return (o->device = value);
	if (!strcmp(name, "--timeout"))
		return (o->timeout_s = (unsigned)atoi(value)) > 0;
	if (!strcmp(name, "--jobs"))
		return (o->jobs = (unsigned)atoi(value)) > 0;
	return false;
}

/* Parses the arguments: gives the index of the first program, argc when there is none, or minus the index of a
 * wrong argument. */
static int arguments_parse(int argc, char **argv, struct test_options *o)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (argv[i][0] != '-') {
			if (!pattern_add(o->pattern, &o->patterns, 32, argv[i]))
				return -i;
		} else if (!take_flag(o, argv[i])) {
			if (i + 1 == argc || !take_value(o, argv[i], argv[i + 1]))
				return -i;
			i++;
		}
	}
	return argc;
}

static bool pattern_matches(const char *name, const char *pattern)
{
	size_t n = strlen(pattern);

	return !fnmatch(pattern, name, 0) || (!strncmp(name, pattern, n) && (!name[n] || name[n] == '/'));
}

static bool wanted(const struct device_test *test, const struct test_options *o, const char *gpu)
{
	bool named = false;

	for (unsigned i = 0; i < o->patterns; i++)
		named |= pattern_matches(test->name, o->pattern[i]);
	if (!named && o->patterns)
		return false;
	if (!(test->flags & TEST_PROBE) != !o->probe)
		return false;
	if (test->flags & TEST_LONG && !o->long_ones && !named)
		return false;
	return !(test->flags & TEST_RESETS) || o->resets || gpu;
}

/* Appends the tests for one device; items NULL: only counts them. */
static unsigned select_tests(const struct test_options *o, const struct test_device *d, struct test_item *items)
{
	unsigned count = 0;

	for (const struct device_test *const *group = device_test_groups; *group; group++)
		for (const struct device_test *test = *group; test->name; test++)
			if (wanted(test, o, d->gpu)) {
				if (items)
					items[count] = (struct test_item){.test = test, .gpu = d->gpu, .device = d};
				count++;
			}
	return count;
}

static int list_tests(const struct test_options *o)
{
	for (const struct device_test *const *group = device_test_groups; *group; group++)
		for (const struct device_test *test = *group; test->name; test++)
			if (o->probe || !(test->flags & TEST_PROBE))
				printf("%-32s %s%s%s\n", test->name, test->shows,
				       test->flags & TEST_RESETS ? " (--resets)" : "",
				       test->flags & TEST_LONG ? " (--long)" : "");
	return 0;
}

/* Runs programs, then the tests of each device. */
static int run_all(const struct test_options *o, char **programs, unsigned program_count)
{
	unsigned count = program_count;
	struct test_item *items;
	int status;

	for (unsigned i = 0; i < o->device_count; i++)
		count += select_tests(o, &o->devices[i], NULL);
	if (!count)
		return tool_mistake(usage_text, "test", "no test has such a name");
	items = calloc(count, sizeof(*items));
	if (!items)
		return tool_mistake(usage_text, "test", "no memory");
	for (unsigned i = 0; i < program_count; i++)
		items[i].program = programs[i];
	count = program_count;
	for (unsigned i = 0; i < o->device_count; i++)
		count += select_tests(o, &o->devices[i], items + count);
	test_run_all(items, count, o);
	status = test_report(items, count, o);
	for (unsigned i = 0; i < count; i++) {
		free(items[i].output);
		free(items[i].why);
		free(items[i].log);
	}
	free(items);
	return status;
}

static int tests_run(struct test_options *o, char **programs, unsigned program_count)
{
	struct test_device devices[32] = {0};
	int status;

	o->devices = devices;
	o->device_count = o->gpus || program_count ? o->gpus : 1;
	for (unsigned i = 0; i < o->device_count; i++)
		test_device_init(&devices[i], o->gpu[i], o->device);
	status = run_all(o, programs, program_count);
	for (unsigned i = 0; i < o->device_count; i++)
		test_device_fini(&devices[i]);
	return status;
}

/* Runs one test in this process: tuff test --child NAME SPEC|- PATH|-. */
static int run_child(char **argv)
{
	const char *gpu = strcmp(argv[1], "-") ? argv[1] : NULL, *path = strcmp(argv[2], "-") ? argv[2] : NULL;

	for (const struct device_test *const *group = device_test_groups; *group; group++)
		for (const struct device_test *test = *group; test->name; test++)
			if (!strcmp(test->name, argv[0]))
				return tool_start_gpu(gpu) ? 2 : device_test_run(test, path);
	return 2;
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help"))
			return true;
	return false;
}

int tool_test(int argc, char **argv)
{
	struct test_options options = {.jobs = 1, .timeout_s = 120};
	int programs;

	if (argc == 5 && !strcmp(argv[1], "--child"))
		return run_child(argv + 2);
	if (asks_for_help(argc, argv))
		return tool_help(usage_text);
	programs = arguments_parse(argc, argv, &options);
	if (programs < 0)
		return tool_mistake(usage_text, "test", "%s: no such option, no good value, or too many of them",
				    argv[-programs]);
	return options.list ? list_tests(&options)
			    : tests_run(&options, argv + programs, (unsigned)(argc - programs));
}

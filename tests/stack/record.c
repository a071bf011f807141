/* TUFF_VGPU_TRACE and TUFF_VGPU_LOG: the records of a run of several processes and devices are complete and
 * consistent. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

#define EVENTS_MAX 65536

struct event {
	char ph, name[32], category[16], id[40];
	long pid, tid;
	double ts, end;
};

static struct event event[EVENTS_MAX];
static unsigned events;
static char folder[] = "/tmp/tuff-record-XXXXXX", trace[64], logs[64];

/* What follows `key` in the line, up to one of `stops`; "" if it is not there. */
static const char *field(const char *line, const char *key, const char *stops, char *value, size_t value_B)
{
	const char *at = strstr(line, key);
	size_t length = at ? strcspn(at + strlen(key), stops) : 0;

	length = length < value_B ? length : value_B - 1;
	memcpy(value, at ? at + strlen(key) : "", length);
	value[length] = 0;
	return value;
}

static double number(const char *line, const char *key)
{
	char value[32];

	return atof(field(line, key, ",}", value, sizeof(value)));
}

static void parse(const char *line, struct event *e)
{
	char ph[4];

	e->ph = *field(line, "\"ph\":\"", "\"", ph, sizeof(ph));
	field(line, "\"name\":\"", "\"", e->name, sizeof(e->name));
	field(line, "\"cat\":\"", "\"", e->category, sizeof(e->category));
	field(line, e->ph == 's' || e->ph == 'f' ? "\"id\":\"" : "\"local\":\"", "\"", e->id, sizeof(e->id));
	e->pid = (long)number(line, "\"pid\":");
	e->tid = (long)number(line, "\"tid\":");
	e->ts = number(line, "\"ts\":");
	e->end = e->ts + number(line, "\"dur\":");
}

/* Braces and quotes close, which with the writer's fixed forms is all that can break. */
static int is_object(const char *line, int comma)
{
	int depth = 0, quotes = 0;
	size_t length = strlen(line);

	for (const char *at = line; *at; at++) {
		quotes += *at == '"';
		depth += quotes % 2 ? 0 : (*at == '{') - (*at == '}');
		if (!depth && at + 1 + comma < line + length)
			return 0;
	}
	return !depth && quotes % 2 == 0 && (!comma || line[length - 1] == ',');
}

static void the_file_is_one_array(void)
{
	static char line[2][4096];
	FILE *file = fopen(trace, "re");
	unsigned lines = 0, bad = 0;

	if (!CHECK(file))
		return;
	for (; fgets(line[lines % 2], sizeof(line[0]), file); lines++) {
		char *now = line[lines % 2];

		now[strcspn(now, "\n")] = 0;
		if (!lines) {
			CHECK_STR(now, "[");
		} else if (strcmp(now, "]") && events < EVENTS_MAX) {
			bad += !is_object(now, now[strlen(now) - 1] == ',');
			parse(now, &event[events++]);
		}
	}
	CHECK_EQ(bad, 0);
	CHECK_STR(line[(lines + 1) % 2], "]");
	CHECK_EQ(line[lines % 2][strlen(line[lines % 2]) - 1], '}');
	CHECK(events > 100 && events < EVENTS_MAX);
	fclose(file);
}

static const struct event *find(char ph, const struct event *like)
{
	for (unsigned i = 0; i < events; i++)
		if (event[i].ph == ph && !strcmp(event[i].id, like->id) &&
		    !strcmp(event[i].category, like->category) && event[i].pid == like->pid &&
		    event[i].ts >= like->ts)
			return &event[i];
	return NULL;
}

static unsigned count(char ph, const char *name)
{
	unsigned n = 0;

	for (unsigned i = 0; i < events; i++)
		n += event[i].ph == ph && !strcmp(event[i].name, name);
	return n;
}

static void what_begins_ends(void)
{
	unsigned open = 0;

	for (unsigned i = 0; i < events; i++)
		open += event[i].ph == 'b' && !find('e', &event[i]);
	CHECK_EQ(open, 0);
	CHECK_EQ(count('b', "job"), count('e', "job"));
	CHECK(count('b', "dispatch") > 10);
	CHECK_EQ(count('b', "dispatch"), count('X', "DISPATCH_DIRECT"));
}

/* In the row of the arrow's tail, the CS that submitted the job. */
static int stands_in_a_submission(const struct event *tail)
{
	for (unsigned i = 0; i < events; i++)
		if (event[i].ph == 'X' && event[i].tid == tail->tid && !strcmp(event[i].name, "cs") &&
		    event[i].ts <= tail->ts && tail->ts <= event[i].end)
			return 1;
	return 0;
}

static void each_job_comes_from_a_submission(void)
{
	unsigned homeless = 0, lost = 0;

	for (unsigned i = 0; i < events; i++)
		if (event[i].ph == 's') {
			homeless += !stands_in_a_submission(&event[i]);
			lost += !find('f', &event[i]);
		}
	CHECK(count('s', "job") > 10);
	CHECK_EQ(count('s', "job"), count('b', "job"));
	CHECK_EQ(count('s', "job"), count('b', "waiting"));
	CHECK_EQ(homeless, 0);
	CHECK_EQ(lost, 0);
}

/* A row of a ring shows one packet after the other: viewers nest what overlaps. */
static void packets_of_a_ring_follow_each_other(void)
{
	unsigned wrong = 0, packets = 0;

	for (unsigned i = 0; i < events; i++)
		for (unsigned j = i + 1; j < events && event[i].ph == 'X' && event[i].tid >= 1 << 30; j++)
			if (event[j].ph == 'X' && event[j].tid == event[i].tid && event[j].pid == event[i].pid) {
				packets++;
				wrong += event[j].ts < event[i].end - 0.002; /* rounded to 1 ns */
				break;
			}
	CHECK(packets > 100);
	CHECK_EQ(wrong, 0);
}

static void processes_share_the_file(void)
{
	unsigned others = 0;

	for (unsigned i = 0; i < events; i++)
		others += event[i].ph == 'X' && event[i].pid != event[0].pid;
	CHECK(others);
	CHECK(count('M', "process_name") > 1);
	CHECK(count('X', "COPY_LINEAR") && count('X', "wait_cs") && count('X', "gem_create"));
}

static void log_has(const char *text)
{
	char command[256];

	snprintf(command, sizeof(command), "grep -q -e '%s' %s", text, logs);
	if (!CHECK_EQ(system(command), 0))
		printf("  no \"%s\" in the log\n", text);
}

static void the_log_can_be_read(void)
{
	log_has("^vgpu: gpu0 sdma 0: job [0-9]* of context [0-9]* is submitted, with 1 IBs and [0-9]* dependencies$");
	log_has("^vgpu: gpu0 compute [0-9]: job [0-9]* of context [0-9]* starts$");
	log_has("^vgpu: gpu0 compute [0-9]: job [0-9]*, IB 0 + 0x[0-9a-f]*: DISPATCH_DIRECT .*$");
	log_has("^vgpu: gem_create on fd [0-9]*: 0$");
}

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
	printf("the library cannot be preloaded into programs without the sanitizer that it is built with\n");
	return 77;
#endif
	const char *build = getenv("O") ? getenv("O") : "build/release";
	char command[512];

	CHECK(mkdtemp(folder));
	snprintf(trace, sizeof(trace), "%s/trace.json", folder);
	snprintf(logs, sizeof(logs), "%s/log", folder);
	/* Twice: a run begins its file anew. */
	snprintf(command, sizeof(command),
		 "for run in 1 2; do TUFF_VGPU_TRACE=%s TUFF_VGPU_LOG=%s %s/tuff run --gpu gfx906,gfx908 -- "
		 "%s/tuff test ladder share/processes copy/order >%s/out 2>&1 || exit 1; done",
		 trace, logs, build, build, folder);
	if (!CHECK_EQ(system(command), 0))
		printf("  see %s/out\n", folder);
	the_file_is_one_array();
	what_begins_ends();
	each_job_comes_from_a_submission();
	packets_of_a_ring_follow_each_other();
	processes_share_the_file();
	the_log_can_be_read();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	CHECK_EQ(system(command), 0);
	return check_done("record");
}

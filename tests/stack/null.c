/* A device that executes nothing fails every test that claims execution: the null device runs all device tests, and
 * only those below may pass. The author of a test that passes there adds it to the list, or finds that it cannot
 * fail. */
#include <stdlib.h>

#include "tests/check.h"

/* What a null device can do: keep memory, end jobs in order, and carry out what ends a wait (WRITE_DATA,
 * RELEASE_MEM, FENCE, WRITE, TIMESTAMP). */
static const char *const may_pass[] = {
	"ladder/01-info",
	"ladder/02-clock",
	"ladder/03-system-memory",
	"ladder/04-video-memory",
	"ladder/05-addresses",
	"ladder/06-nop",
	"ladder/07-write-data",
	"ladder/08-release-mem",
	"ladder/09-wait-reg-mem",
	"ladder/10-sdma-nop",
	"ladder/11-sdma-write",
	/* Jobs that say only that they ended, and when. */
	"queue/rings",
	"queue/priorities",
	"queue/timestamps",
	"queue/long",
	"queue/too-large",
	"queue/abandon",
	"queue/clocks",
	/* A job that does not wait is found waiting, when the machine is slow enough. */
	"queue/sync-files",
	"threads/waits",
	/* Small copies, which the CPU makes. */
	"memory/register-copies",
	/* Address space, and what is refused. */
	"memory/find",
	"memory/absent-pages",
	"memory/register-read-only",
	"memory/register-refused",
	"memory/register-rests",
	"memory/odd-nodes",
	"memory/range-places",
	"memory/range-apart",
	"memory/range-random",
	"memory/range-holes",
	"memory/range-end",
	"share/refused",
	"copy/bad",
	"queue/full",
	"bad/",
	/* Sizes of structs. */
	"growth/",
};

static int is_known(const char *name)
{
	for (unsigned i = 0; i < sizeof(may_pass) / sizeof(may_pass[0]); i++) {
		const char *known = may_pass[i];
		size_t length = strlen(known);

		if (known[length - 1] == '/' ? !strncmp(name, known, length) : !strcmp(name, known))
			return 1;
	}
	return 0;
}

/* Runs the tests that the patterns name; counts how each ended. */
static void run(const char *patterns, unsigned *passed, unsigned *failed)
{
	const char *build = getenv("O") ? getenv("O") : "build/release";
	char command[512], line[1024], name[128];
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "%s/tuff test --resets --jobs 2 --timeout 10 --gpu null:gfx906 %s 2>/dev/null", build, patterns);
	pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof(line), pipe)) {
		*failed += !strncmp(line, "FAIL", 4);
		if (sscanf(line, "ok null:gfx906 %127s", name) != 1)
			continue;
		++*passed;
		if (!CHECK(is_known(name)))
			printf("  %s passes where nothing is executed\n", name);
	}
	CHECK(pipe && pclose(pipe));
}

int main(void)
{
	unsigned passed = 0, failed = 0;

	run("ladder", &passed, &failed); /* it ends where it fails */
	CHECK_EQ(passed, 11);
	CHECK_EQ(failed, 1);
	run("$(${O:-build/release}/tuff test --list | grep / | cut -d/ -f1 | sort -u | grep -v ladder)", &passed,
	    &failed);
	CHECK(passed > 20);
	CHECK(failed > 60);
	return check_done("a device that executes nothing");
}

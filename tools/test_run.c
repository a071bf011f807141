/* Runs tests: a process for each, with a time limit; prints results; checks that the device still works. */
#include "tools/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS_MAX 32

/* A running test. */
struct slot {
	struct test_item *item; /* NULL: free */
	pid_t pid;              /* leader of its own process group */
	int output, log;        /* owned: memory files; log -1: none */
	double start_s;
	bool overdue; /* killed at its time limit */
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *test_result_name(enum test_result result)
{
	static const char *const names[TEST_RESULTS] = {"ok", "FAIL", "skip", "none"};

	return names[result];
}

const char *test_item_name(const struct test_item *item)
{
	static char name[160];
	const char *below = item->program ? strstr(item->program, "/bin/") : NULL;

	if (item->program) /* programs of a build, by their path in the tree */
		snprintf(name, sizeof(name), "%s", below ? below + 5 : item->program);
	else
		snprintf(name, sizeof(name), "%s%s%s", item->gpu ? item->gpu : "", item->gpu ? " " : "",
			 item->test->name);
	return name;
}

static bool is_rung(const struct test_item *item)
{
	return item->test && !strncmp(item->test->name, "ladder/", 7);
}

/* --- children --------------------------------------------------------------------------------- */

/* Strictness of a virtual device: our own tests stop at the first operation that real hardware would punish, except
 * tests that do so on purpose. */
static const char *strictness_set(const struct test_item *item)
{
	unsigned flags = item->test ? item->test->flags : 0;

	if (flags & (TEST_RESETS | TEST_LENIENT))
		return "off";
	return flags & TEST_PROBE ? "report" : "fatal";
}

/* Runs in the child. A rung of the ladder logs its submissions. */
static void child_run(const struct test_item *item, int output, int log)
{
	const char *argv[] = {"tuff", "test", "--child", NULL, "-", "-", NULL}, *strict = strictness_set(item);
	char log_path[32];
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(output, 1);
	dup2(output, 2);
	close(0);
	(void)!open("/dev/null", O_RDONLY);
	setenv("TUFF_VGPU_STRICT", strict,
	       strcmp(strict, "fatal"));               /* the caller may have set another strictness than fatal */
	setenv("TSAN_OPTIONS", "die_after_fork=0", 0); /* tests that fork start threads in the child */
	if (log >= 0) {
		snprintf(log_path, sizeof(log_path), "/proc/self/fd/%d", log);
		setenv("TUFF_LOG", "error,submit,ib", 0);
		setenv("TUFF_LOG_FILE", log_path, 0);
	}
	if (item->program) {
		execl(item->program, item->program, (char *)NULL);
	} else {
		argv[3] = item->test->name;
		argv[4] = item->gpu ? item->gpu : "-";
		argv[5] = item->device && item->device->path ? item->device->path : "-";
		execv("/proc/self/exe", (char **)argv);
	}
	printf("cannot be started: %s\n", strerror(errno));
	fflush(stdout);
	_exit(127);
}

static int child_start(struct slot *slot, struct test_item *item)
{
	*slot = (struct slot){.item = item, .log = -1, .start_s = now_s()};
	slot->output = memfd_create("output", MFD_CLOEXEC);
	if (slot->output >= 0 && is_rung(item))
		slot->log = memfd_create("log", 0);
	fflush(stdout);
	slot->pid = slot->output >= 0 ? fork() : -1;
	if (!slot->pid)
		child_run(item, slot->output, slot->log);
	return slot->pid < 0 ? -errno : 0;
}

/* Reads the whole memory file into a string; bytes 0 become '?'. */
static char *read_all(int fd)
{
	off_t size_B = lseek(fd, 0, SEEK_END);
	char *text = malloc((size_t)size_B + 1);
	ssize_t n = text ? pread(fd, text, (size_t)size_B, 0) : -1;

	if (n < 0) {
		free(text);
		return strdup("");
	}
	for (char *zero; (zero = memchr(text, 0, (size_t)n));)
		*zero = '?';
	text[n] = 0;
	return text;
}

/* Copies the last line, without its "SKIP " or the test's own name. */
static char *last_line(const char *text, const char *name)
{
	size_t end = strlen(text), begin;

	while (end && text[end - 1] == '\n')
		end--;
	begin = end;
	while (begin && text[begin - 1] != '\n')
		begin--;
	if (!strncmp(text + begin, "SKIP ", 5))
		begin += 5;
	if (!strncmp(text + begin, name, strlen(name)) && text[begin + strlen(name)] == ':')
		begin += strlen(name) + 2;
	return strndup(text + begin, end - begin);
}

static void result_judge(struct slot *slot, int status, const struct test_options *o)
{
	struct test_item *item = slot->item;
	int r;

	item->seconds = now_s() - slot->start_s;
	item->output = read_all(slot->output);
	item->result = TEST_FAILED;
	if (slot->overdue)
		r = asprintf(&item->why, "over %u s", o->timeout_s);
	else if (WIFSIGNALED(status))
		r = asprintf(&item->why, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) && WEXITSTATUS(status) != 77)
		r = asprintf(&item->why, "exit status %d", WEXITSTATUS(status));
	else
		r = (item->why = last_line(item->output, item->test ? item->test->name : "")) ? 0 : -1;
	if (!slot->overdue && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		item->result = TEST_PASSED;
	if (!slot->overdue && WIFEXITED(status) && WEXITSTATUS(status) == 77)
		item->result = TEST_SKIPPED;
	if (r < 0)
		item->why = NULL;
	if (slot->log >= 0 && item->result == TEST_FAILED)
		item->log = read_all(slot->log);
	close(slot->output);
	if (slot->log >= 0)
		close(slot->log);
}

/* --- output ----------------------------------------------------------------------------------- */

/* Prints the last lines of a text, indented. */
static void print_tail(const char *text, unsigned lines)
{
	const char *at = text + strlen(text);

	while (at > text && lines)
		if (*--at == '\n' && at[1])
			lines--;
	at += *at == '\n';
	while (*at) {
		int n = (int)strcspn(at, "\n");

		printf("      | %.*s\n", n, at);
		at += n + (at[n] == '\n');
	}
}

static void report_line(const struct test_item *item, const struct test_options *o)
{
	if (o->brief && item->test && item->result != TEST_FAILED)
		return;
	printf("%-5s %s (%.1f s): %s\n", test_result_name(item->result), test_item_name(item), item->seconds,
	       item->why ? item->why : "");
	if (item->result == TEST_FAILED || (o->verbose && item->output))
		print_tail(item->output, 40);
	if (item->log && *item->log) {
		printf("      its log:\n");
		print_tail(item->log, 60);
	}
	fflush(stdout);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void kill_overdue(struct slot *slots, const struct test_options *o)
{
	for (unsigned i = 0; i < o->jobs; i++) {
		struct slot *slot = &slots[i];

		if (slot->item && !slot->overdue && now_s() - slot->start_s > o->timeout_s) {
			slot->overdue = true;
			kill(-slot->pid, SIGKILL);
		}
	}
}

/* Waits until a slot's process ends; NULL after a while. */
static struct slot *wait_for_end(struct slot *slots, const struct test_options *o, int *status)
{
	const struct timespec while_ = {.tv_nsec = 100000000};
	sigset_t child;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		pid = waitpid(-1, status, WNOHANG);
		if (pid > 0)
			break;
		kill_overdue(slots, o);
		sigtimedwait(&child, NULL, &while_);
	}
	for (unsigned i = 0; i < o->jobs; i++)
		if (slots[i].item && slots[i].pid == pid)
			return &slots[i];
	return NULL;
}

/* Marks tests that a failed one makes pointless as not run: the rungs above it and, when it is a rung, all tests of
 * that device, since they rely on the ladder. */
static void skip_dependents(struct test_item *items, unsigned count, const struct test_item *failed)
{
	for (unsigned i = 0; i < count; i++) {
		struct test_item *item = &items[i];

		if (item > failed && item->test && item->gpu == failed->gpu && item->result == TEST_NOT_RUN &&
		    !item->why && asprintf(&item->why, "not run: %s failed", failed->test->name) < 0)
			item->why = NULL;
	}
}

/* Finds the first rung that makes the device execute a job. */
static const struct device_test *first_job(void)
{
	const struct device_test *test = device_test_groups[0];

	while (strcmp(test->name, "ladder/06-nop"))
		test++;
	return test;
}

/* Runs the item silently; true when it passed within limit_s. */
static bool item_passes(struct test_item *item, const struct test_options *o, unsigned limit_s)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	struct slot slot;
	int status = 0;
	pid_t ended = 0;

	if (child_start(&slot, item))
		return false;
	while (!(ended = waitpid(slot.pid, &status, WNOHANG))) {
		if (!slot.overdue && now_s() - slot.start_s > limit_s) {
			slot.overdue = true;
			kill(-slot.pid, SIGKILL);
		}
		nanosleep(&pause, NULL);
	}
	if (ended > 0)
		result_judge(&slot, status, o);
	return item->result == TEST_PASSED;
}

/* True when the device still executes jobs; after a hang the kernel needs a while. A device that does not ends the
 * run. */
static bool device_runs_jobs(const struct test_device *device, const struct test_options *o)
{
	struct test_item item = {.test = first_job(), .device = device};
	bool answers = false;

	for (unsigned tries = 0; tries < 10 && !answers; tries++) {
		if (tries)
			sleep(3);
		answers = item_passes(&item, o, 20);
		free(item.output);
		free(item.why);
		free(item.log);
		item = (struct test_item){.test = item.test, .device = device};
	}
	return answers;
}

/* Prints a device's results in brief, when the last of its tests has ended. */
static void print_sum(const struct test_item *items, unsigned count, const char *gpu)
{
	unsigned n[TEST_RESULTS] = {0};
	const char *why = NULL;
	double seconds = 0;

	for (unsigned i = 0; i < count; i++)
		if (items[i].test && items[i].gpu == gpu) {
			if (items[i].result == TEST_NOT_RUN && !items[i].why)
				return;
			n[items[i].result]++;
			seconds += items[i].seconds;
			if (items[i].result == TEST_SKIPPED && !why)
				why = items[i].why;
		}
	printf("%-5s %s: %u device tests passed", n[TEST_FAILED] ? "FAIL" : "ok", gpu ? gpu : "this machine",
	       n[TEST_PASSED]);
	if (n[TEST_FAILED])
		printf(", %u failed, %u not run", n[TEST_FAILED], n[TEST_NOT_RUN]);
	if (n[TEST_SKIPPED])
		printf(", %u skipped (%s%s)", n[TEST_SKIPPED], why, n[TEST_SKIPPED] > 1 ? "; ..." : "");
	printf(" (%.1f s)\n", seconds);
	fflush(stdout);
}

static void child_finish(struct test_item *items, unsigned count, struct slot *slot, int status,
			 const struct test_options *o)
{
	struct test_item *item = slot->item;

	result_judge(slot, status, o);
	slot->item = NULL;
	report_line(item, o);
	if (item->result != TEST_FAILED || !item->test)
		return;
	if (is_rung(item)) {
		skip_dependents(items, count, item);
	} else if (!item->gpu && !device_runs_jobs(item->device, o)) {
		printf("      the device executes no job any more, half a minute later\n");
		skip_dependents(items, count, item);
	}
}

static bool ladder_is_climbed(const struct slot *slots, unsigned jobs, const struct test_item *next)
{
	for (unsigned i = 0; i < jobs; i++)
		if (slots[i].item && is_rung(slots[i].item) && slots[i].item->gpu == next->gpu)
			return false;
	return true;
}

void test_run_all(struct test_item *items, unsigned count, const struct test_options *options)
{
	struct slot slots[JOBS_MAX] = {0};
	struct test_options o = *options;
	unsigned next = 0, running = 0;
	sigset_t child;
	int status;

	o.jobs = o.jobs < JOBS_MAX ? o.jobs : JOBS_MAX;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	for (unsigned i = 0; i < count; i++) {
		items[i].result = TEST_NOT_RUN;
		if (items[i].device && !items[i].device->opens)
			items[i].why = strdup("the device cannot be opened");
	}
	while (next < count || running) {
		struct slot *slot;

		for (unsigned i = 0; i < o.jobs && next < count; i++) {
			while (next < count && items[next].why)
				next++;
			if (next == count || slots[i].item || !ladder_is_climbed(slots, o.jobs, &items[next]))
				continue;
			if (child_start(&slots[i], &items[next])) {
				items[next].why = strdup(strerror(errno));
				slots[i].item = NULL;
			} else {
				running++;
			}
			next++;
		}
		if (!running)
			continue;
		slot = wait_for_end(slots, &o, &status);
		if (slot) {
			const struct test_item *item = slot->item;

			child_finish(items, count, slot, status, &o);
			running--;
			if (o.brief && item->test)
				print_sum(items, count, item->gpu);
		}
	}
}

/* The tuff command as a person runs it: output and exit status. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

static char output[65536];

/* Runs "$O/tuff ARGUMENTS"; gives its status, and its output with what it says on stderr. */
static int tuff(const char *arguments)
{
	const char *build = getenv("O");
	char command[1024];
	size_t n;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "%s/tuff %s 2>&1", build ? build : "build/release", arguments);
	pipe = popen(command, "r");
	n = fread(output, 1, sizeof(output) - 1, pipe);
	output[n] = 0;
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void says(const char *text)
{
	if (!CHECK(strstr(output, text)))
		printf("  \"%s\" is not in:\n%s\n", text, output);
}

/* What a file says. */
static void reads(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(output, 1, sizeof(output) - 1, file) : 0;

	output[n] = 0;
	if (file)
		fclose(file);
	says(text);
}

static void says_not(const char *text)
{
	if (!CHECK(!strstr(output, text)))
		printf("  \"%s\" is in:\n%s\n", text, output);
}

/* A pipe of the program's name comes first in PATH: execvp() takes the next one. */
static void run_passes_over_a_pipe(void)
{
	char folder[] = "/tmp/tuff-tool-XXXXXX", pipe[64], command[1024];
	const char *build = getenv("O");

	if (!CHECK(mkdtemp(folder)))
		return;
	snprintf(pipe, sizeof(pipe), "%s/true", folder);
	CHECK_EQ(mkfifo(pipe, 0700), 0);
	snprintf(command, sizeof(command), "PATH=%s:$PATH timeout 20 %s/tuff run true", folder,
		 build ? build : "build/release");
	CHECK_EQ(system(command), 0);
	unlink(pipe);
	rmdir(folder);
}

static void info_tells_each_device(void)
{
	CHECK_EQ(tuff("info -v --gpu gfx906,gfx90a"), 0);
	says("/dev/dri/renderD128\n");
	says("/dev/dri/renderD129\n");
	says("gfx906 ");
	says("gfx90a ");
	says("AMDGPU_INFO DEV_INFO");
	CHECK_EQ(tuff("info --json --gpu gfx908"), 0);
	says("\"node\": \"/dev/dri/renderD128\"");
	says("\"value\": \"gfx908\"");
	says("\"numa_nodes\"");
	says_not("\"error\"");
	CHECK_EQ(output[0], '{');
	CHECK_EQ(tuff("info --gpu gfx1"), 1);
	says("no such chip: \"gfx1\"");
}

static void info_shows_how_devices_are_linked(void)
{
	CHECK_EQ(tuff("info -v --gpu gfx908:hive=9,gfx908:hive=9,gfx1201"), 0);
	says("renderD128   -            xGMI 1, 15   PCIe 2, 40   PCIe 1, 20");
	says("tuff makes GFX12 packets");
	says("NUMA node 0");
	CHECK_EQ(tuff("info --json --gpu gfx908:hive=9,gfx908:hive=9"), 0);
	says("\"type\": \"xGMI\"");
	CHECK_EQ(tuff("info --verbose --gpu gfx1201"), 0);
	says_not("links: type");
}

/* Lines that a terminal shows whole, few enough to be read. */
static void fits_a_screen(unsigned lines_max)
{
	unsigned lines = 0;

	for (const char *at = output; *at; lines++) {
		size_t n = strcspn(at, "\n");

		if (!CHECK(n <= 80))
			printf("  %.*s\n", (int)n, at);
		at += n + (at[n] == '\n');
	}
	CHECK(lines <= lines_max);
}

static void info_is_read_at_a_glance(void)
{
	CHECK_EQ(tuff("info --gpu gfx906:bar=256M"), 0);
	fits_a_screen(16);
	says("GPU 0: AMD Instinct MI60 / MI50 (gfx906)\n  verdict  can be used for compute and copies\n");
	says("60 compute units");
	says("16 GiB of its own");
	says("the CPU sees 256 MiB of it");
	says("tuff info -v");
	says_not("AMDGPU_INFO");
	CHECK_EQ(tuff("info --gpu gfx906:kernel=5.10"), 3);
	fits_a_screen(8);
	says("too old");
}

/* Commands take one of several GPUs by number, address or node. */
static void a_device_is_chosen(void)
{
	static const char *const names[] = {"1", "renderD129", "/dev/dri/renderD129", "0000:04:00.0", "4:00.0"};
	char command[128];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(command, sizeof(command), "info --gpu gfx906,gfx90a --device %s", names[i]);
		CHECK_EQ(tuff(command), 0);
		says("GPU 1: ");
		says("(gfx90a)");
		says_not("gfx906");
	}
	CHECK_EQ(tuff("info --gpu gfx906,gfx90a --device 2"), 3);
	says("no GPU is called 2; there are 0 (/dev/dri/renderD128, 0000:03:00.0),\n           1 (/dev");
	CHECK_EQ(tuff("demo --gpu gfx906,gfx90a --device 0000:03:00.1"), 3);
	says("no GPU is called 0000:03:00.1");
	CHECK_EQ(tuff("demo --gpu gfx906,gfx900 --device 1"), 0);
	says("(gfx900) at /dev/dri/renderD129");
}

/* A card that stops answering half-way is still shown as far as it answered. */
static void info_shows_what_cannot_be_used(void)
{
	/* libdrm_amdgpu starts with three INFO; DEV_INFO and MEMORY follow */
	setenv("TUFF_VGPU_INJECT", "info=5:EIO", 1);
	CHECK_EQ(tuff("info -v --gpu gfx906"), 3);
	says("cannot be used: ");
	says("AMDGPU_INFO MEMORY on /dev/dri/renderD128");
	says("1002:66a1 rev 02");
	says("0000:03:00.0");
	says_not("GTT (system memory)");
	CHECK_EQ(tuff("info --gpu gfx906"), 3);
	says("  verdict  cannot be used: AMDGPU_INFO MEMORY on");
	setenv("TUFF_VGPU_INJECT", "info=4:EIO", 1);
	CHECK_EQ(tuff("info --json --gpu gfx906"), 3);
	says("\"error\": ");
	says("0000:03:00.0");
	says_not("1002:66a1");
	unsetenv("TUFF_VGPU_INJECT");
}

static void an_override_is_followed_or_refused_aloud(void)
{
	setenv("HSA_OVERRIDE_GFX_VERSION", "9.0.0", 1);
	CHECK_EQ(tuff("info -v --gpu gfx90c"), 0);
	says("what it really is          gfx90c");
	/* and its code runs: the demo's kernels were not made for gfx90c */
	CHECK_EQ(tuff("demo --gpu gfx90c"), 0);
	says("gfx900");
	/* ROCm's node 1 is the first GPU of a host with one NUMA node */
	setenv("HSA_OVERRIDE_GFX_VERSION_1", "10.3.0", 1);
	CHECK_EQ(tuff("info -v --gpu gfx906"), 3);
	says("cannot be used");
	says("HSA_OVERRIDE_GFX_VERSION=10.3.0");
	says("AMDGPU_INFO DEV_INFO");
	unsetenv("HSA_OVERRIDE_GFX_VERSION_1");
	setenv("HSA_OVERRIDE_GFX_VERSION", "nonsense", 1);
	CHECK_EQ(tuff("info --gpu gfx906"), 0);
	says("HSA_OVERRIDE_GFX_VERSION=nonsense is not understood");
	unsetenv("HSA_OVERRIDE_GFX_VERSION");
}

/* The library cannot be preloaded into programs without the sanitizer that it is built with. */
#ifdef __SANITIZE_ADDRESS__
#define CAN_PRELOAD 0
#else
#define CAN_PRELOAD 1
#endif

static void run_passes_the_end_on(void)
{
	CHECK_EQ(tuff("run -- true"), 0);
	CHECK_EQ(tuff("run -- sh -c 'exit 7'"), 7);
	CHECK_EQ(tuff("run --gpu gfx9999 -- true"), 2);
	CHECK_EQ(tuff("run --gpu gfx900"), 2);
	says("usage");
	if (!CAN_PRELOAD)
		return;
	CHECK_EQ(tuff("run --gpu gfx900 -- sh -c 'kill -9 $$'"), 137);
	CHECK_EQ(tuff("run --gpu gfx900 -- no-such-program"), 127);
	CHECK_EQ(tuff("run --gpu gfx900 -- ls -l /dev/dri"), 0);
	says("226, 128");
	says("card0");
}

/* Preloading does nothing for a program without the dynamic linker; scripts and dynamic programs give no warning.
 */
static void static_programs_are_named(void)
{
	char program[] = "/tmp/tuff-static-XXXXXX", command[128];
	const int fd = mkstemp(program);
	/* 64 bits, little-endian, no segment */
	const unsigned char header[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = 62, [20] = 1};

	CHECK_EQ(write(fd, header, sizeof(header)), (ssize_t)sizeof(header));
	CHECK(!fchmod(fd, 0700));
	close(fd);
	snprintf(command, sizeof(command), "run -- %s", program);
	CHECK(tuff(command) != 0);
	says("is linked statically");
	CHECK_EQ(tuff("run -- sh -c true"), 0);
	says_not("dynamic linker");
	CHECK(!unlink(program));
	if (access("/dev/dri", F_OK)) {
		CHECK_EQ(tuff("run --device 0 -- true"), 3);
		says("there is no /dev/dri");
	}
	CHECK_EQ(tuff("run --gpu gfx906 --device 0 -- true"), 2);
}

static void run_gives_a_gpu_to_programs(void)
{
	char command[600];

	snprintf(command, sizeof(command), "run --gpu gfx90a -- %s/tuff info",
		 getenv("O") ? getenv("O") : "build/release");
	CHECK_EQ(tuff(command), 0);
	says("(gfx90a)");
}

/* The virtual GPU needs addresses that the process may be forbidden to have. */
static void a_small_address_space_is_explained(void)
{
	(void)tuff("run --gpu gfx906 -- sh -c 'ulimit -v 4000000; ls /'");
	says("Cannot allocate memory");
	says("ulimit -v");
}

static void test_lists_and_selects(void)
{
	CHECK_EQ(tuff("test --list"), 0);
	says("ladder/01-info");
	says("queue/waits");
	CHECK_EQ(tuff("test --gpu gfx906 ladder/01-info"), 0);
	says("ok    gfx906 ladder/01-info");
	says("1 passed, 0 failed, 0 skipped");
	CHECK_EQ(tuff("test --gpu gfx906 --gpu gfx1201 ladder/0[1-6]* share/peers"), 0);
	says("skip  gfx1201 share/peers");
	says("needs a second device");
	says("12 passed, 0 failed, 2 skipped");
	CHECK_EQ(tuff("test --gpu gfx906 no-such-test"), 2);
	CHECK_EQ(tuff("test --jobs 0"), 2);
	CHECK_EQ(tuff("test --gpu"), 2);
}

/* The last line is for people and the exit status for scripts: 0 works, 1 a test failed, 3 cannot be used. */
static void test_ends_with_a_sentence(void)
{
	CHECK_EQ(tuff("test --gpu gfx906 ladder/01-info"), 0);
	says("\ngfx906 passes the tests that were chosen.\n");
	CHECK_EQ(tuff("test --gpu gfx906:kernel=5.10"), 3);
	says("cannot be used yet, because the kernel is too old");
	says("0 passed, 0 failed, 0 skipped");
	CHECK_EQ(tuff("test --gpu gfx906,gfx900 --device 1 ladder/01-info"), 0);
	says("\ngfx900 passes");
	CHECK_EQ(tuff("test --gpu gfx906 --device 1 ladder/01-info"), 3);
	says("because no GPU is called 1; there is 0\n(/dev/dri/renderD128,");
	if (access("/dev/dri", F_OK)) {
		CHECK_EQ(tuff("test"), 3);
		says("The GPU of this machine cannot be used yet, because there is no /dev/dri");
		CHECK_EQ(tuff("info --json 2>/dev/null #"), 3);
		says("\"error\": \"there is no /dev/dri");
		CHECK_EQ(tuff("demo"), 3);
		says("tuff demo: there is no /dev/dri");
	}
	CHECK_EQ(tuff("test --brief --gpu gfx906 ladder/01-info"), 0);
	says_not("passes");
}

/* A report that a stranger can read, and that names no specimen and no secret. */
static void a_report_is_complete(void)
{
	setenv("TUFF_SPIN_US", "49", 1);
	setenv("HSA_SECRET_KEY", "hidden words", 1);
	setenv("ROCR_VISIBLE_DEVICES", "GPU-0123456789abcdef,1", 1);
	setenv("TUFF_WHOLE", "XGMI: Add node 1, hive 0x12ab.", 1);
	CHECK_EQ(tuff("test --gpu gfx908:hive=1,gfx908:hive=1 --report /tmp/tuff-report.txt ladder/01-info"), 0);
	says("Please send /tmp/tuff-report.txt to ");
	unsetenv("TUFF_SPIN_US");
	unsetenv("HSA_SECRET_KEY");
	unsetenv("ROCR_VISIBLE_DEVICES");
	unsetenv("TUFF_WHOLE");
	reads("/tmp/tuff-report.txt", "tuff test report, to be sent to ");
	says("\"commit\": \"");
	says("\"libdrm_amdgpu\": \"2.4.");
	says("\"kernel\": \"");
	says("\"amdgpu_parameters\": {");
	says("\"kernel_command_line\": [");
	says("\"kernel_messages\": ");
	says("\"bar_B\": {");
	says("\"iommu\": {");
	says("\"TUFF_SPIN_US\": \"49\"");
	says("\"ROCR_VISIBLE_DEVICES\": \"GPU-xxxxxxxxxxxxxxxx,1\"");
	says("ladder/01-info");
	says("XGMI: Add node 1, hive 0xxxxx.");
	says("gfx908 passes the tests that were chosen.");
	says_not("hidden words");
	says_not("unique_id");
	says_not("hive_device");
	CHECK_EQ(tuff("info --json --gpu gfx908:hive=1,gfx908:hive=1"), 0);
	says("\"unique_id\""); /* which is there to be left out */
	says("\"hive_device\"");
	CHECK(!unlink("/tmp/tuff-report.txt"));
}

/* A report that cannot be written fails the command, and nobody is asked to send it. */
static void a_report_needs_a_file(void)
{
	CHECK_EQ(tuff("test --gpu gfx908 --report /tmp ladder/01-info"), 1);
	says("tuff test: /tmp: Is a directory");
	says_not("Please send /tmp");
	CHECK_EQ(tuff("test --gpu gfx908 --report /dev/full ladder/01-info"), 1);
	says("tuff test: /dev/full: cannot be written");
	says_not("Please send /dev/full");
	CHECK_EQ(tuff("test --gpu gfx908 --report /tmp --report /tmp/tuff-report.txt ladder/01-info"), 1);
	says("Please send /tmp/tuff-report.txt to ");
	CHECK(!unlink("/tmp/tuff-report.txt"));
}

/* A FIFO that nobody reads is a file that cannot be opened, and no command waits for a reader. */
static void no_command_waits_for_a_reader(void)
{
	static const char *const variables[] = {"TUFF_LOG_FILE", "TUFF_VGPU_LOG", "TUFF_VGPU_TRACE"};
	char folder[] = "/tmp/tuff-tool-XXXXXX", fifo[64], command[256];

	if (!CHECK(mkdtemp(folder)))
		return;
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	alarm(60);
	snprintf(command, sizeof(command), "test --gpu gfx908 --report %s ladder/01-info", fifo);
	CHECK_EQ(tuff(command), 1);
	says("fifo: No such device or address");
	for (unsigned i = 0; i < 3; i++) {
		setenv(variables[i], fifo, 1);
		CHECK_EQ(tuff("info -v --gpu gfx908"), 0);
		says(variables[i]);
		unsetenv(variables[i]);
	}
	alarm(0);
	unlink(fifo);
	rmdir(folder);
}

/* The ladder stops at the rung that fails, and shows what that submitted. */
static void test_stops_at_the_rung_that_fails(void)
{
	setenv("TUFF_VGPU_INJECT", "wait_cs=100%:EIO", 1);
	setenv("TUFF_SPIN_US", "0", 1);
	CHECK_EQ(tuff("test --gpu null:gfx908:service_us=20000 ladder"), 1);
	unsetenv("TUFF_VGPU_INJECT");
	unsetenv("TUFF_SPIN_US");
	says("ok    null:gfx908:service_us=20000 ladder/05");
	says("FAIL  null:gfx908:service_us=20000 ladder/06-nop");
	says("its log:");
	says("ACQUIRE_MEM");
	says("5 passed, 1 failed, 0 skipped");
	says("\ngfx908: 1 of 21 tests failed: ladder/06-nop.\nPlease run \"tuff test --report");
	says_not("ladder/07");
}

/* Programs of others run under the same limits. */
static void test_runs_programs(void)
{
	char script[] = "/tmp/tuff-test-XXXXXX", command[200], files[2][64];
	int fd = mkstemp(script);
	static const char text[] =
		"#!/bin/sh\ncase $TUFF_TEST_CASE in skip) echo SKIP for a reason; exit 77;; "
		"crash) kill -SEGV $$;; hang) sleep 100;; fail) echo what went wrong; exit 3;; "
		"bytes) printf 'sum \\303\\244\\377 \\355\\240\\200\\0 \\300\\257\\342\\202';; esac\n"
		"echo all is well\n";

	CHECK_EQ(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	CHECK(!fchmod(fd, 0700));
	close(fd);
	snprintf(command, sizeof(command), "test --timeout 1 --report %s.json --report %s.xml -- %s", script,
		 script, script);
	CHECK_EQ(tuff(command), 0);
	says("all is well");
	setenv("TUFF_TEST_CASE", "skip", 1);
	CHECK_EQ(tuff(command), 1); /* nothing passed */
	says("for a reason");
	says("0 passed, 0 failed, 1 skipped");
	setenv("TUFF_TEST_CASE", "crash", 1);
	CHECK_EQ(tuff(command), 1);
	says("signal 11");
	setenv("TUFF_TEST_CASE", "hang", 1);
	CHECK_EQ(tuff(command), 1);
	says("over 1 s");
	setenv("TUFF_TEST_CASE", "fail", 1);
	CHECK_EQ(tuff(command), 1);
	says("exit status 3");
	says("| what went wrong");
	snprintf(files[0], sizeof(files[0]), "%s.json", script);
	reads(files[0], "\"FAIL\": 1");
	snprintf(files[1], sizeof(files[1]), "%s.xml", script);
	reads(files[1], "<failure message=\"exit status 3\">");
	setenv("TUFF_TEST_CASE", "bytes", 1); /* of which some are no character of UTF-8 */
	CHECK_EQ(tuff(command), 0);
	unsetenv("TUFF_TEST_CASE");
	for (unsigned i = 0; i < 2; i++) {
		reads(files[i], "sum \303\244? ???? ????");
		CHECK(!unlink(files[i]));
	}
	CHECK(!unlink(script));
}

static void examples_run(void)
{
	static const char *const examples[] = {"vadd", "pipeline", "exchange", "memory"};
	const char *build = getenv("O") ? getenv("O") : "build/release";
	char command[600];

	for (unsigned i = 0; CAN_PRELOAD && i < sizeof(examples) / sizeof(examples[0]); i++) {
		snprintf(command, sizeof(command), "run --gpu gfx906 -- %s/examples/%s %s/examples/vadd.gfx906.co",
			 build, examples[i], build);
		CHECK_EQ(tuff(command), 0);
		says(" are right");
	}
}

/* As in containers that mask /sys: the nodes are there, and nothing else. */
static void a_masked_sys_is_no_obstacle(void)
{
	char command[900];

	snprintf(command, sizeof(command),
		 "run --gpu gfx908 -- sh -c 'mv $TUFF_VGPU_RUN/sys $TUFF_VGPU_RUN/masked; %s/tuff info -v'",
		 getenv("O") ? getenv("O") : "build/release");
	CHECK_EQ(tuff(command), 0);
	says("gfx908 ");
	says("/sys is masked");
	says("120 ");
	says("0x"); /* firmware versions */
}

static void mistakes_are_explained(void)
{
	static const char *const commands[] = {"info", "demo", "run", "test"};
	char command[64];

	CHECK_EQ(tuff(""), 2);
	says("usage");
	CHECK_EQ(tuff("fly"), 2);
	says("no command fly");
	CHECK_EQ(tuff("--wrong"), 2);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(command, sizeof(command), "%s --wrong 2>&1 >/dev/null #", commands[i]);
		CHECK_EQ(tuff(command), 2);
		says("--wrong");
		snprintf(command, sizeof(command), "usage: tuff %s ", commands[i]);
		says(command);
		snprintf(command, sizeof(command), "%s --gpu", commands[i]);
		CHECK_EQ(tuff(command), 2);
	}
	CHECK_EQ(tuff("info gfx908"), 2);
	says("no use for gfx908");
}

static void output_that_does_not_arrive_is_an_error(void)
{
	static const char *const commands[] = {"--help",
					       "--version",
					       "info --gpu gfx908",
					       "info --json --gpu gfx908",
					       "info --help",
					       "demo --gpu gfx908",
					       "test --gpu gfx908 ladder/01-info",
					       "test --list",
					       "run --list"};
	char command[128];

	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(command, sizeof(command), "%s 2>&1 >/dev/full #", commands[i]);
		CHECK_EQ(tuff(command), 1);
		says("tuff: stdout cannot be written\n");
	}
	CHECK_EQ(tuff("run true >&- #"), 0);
	CHECK_EQ(tuff("run false >/dev/full #"), 1);
}

static void the_command_tells_its_usage(void)
{
	CHECK_EQ(tuff("--help 2>/dev/null #"), 0);
	says("  run ");
	CHECK_EQ(tuff("--version"), 0);
	CHECK(!strncmp(output, "tuff ", 5));
	CHECK_EQ(tuff("info --help 2>/dev/null #"), 0);
	says("  --json ");
	CHECK_EQ(tuff("demo --gpu gfx908 --help 2>/dev/null #"), 0);
	says("  --picture FILE ");
	CHECK_EQ(tuff("run --help 2>/dev/null #"), 0);
	says("  --gpu SPEC ");
	CHECK_EQ(tuff("test --brief --help 2>/dev/null #"), 0);
	says("  --report FILE ");
	CHECK_EQ(tuff("run -- printf %s --help"), 0); /* the program's own */
	CHECK_STR(output, "--help");
	CHECK_EQ(tuff("run --list"), 0);
	says("gfx908\n");
	says("gfx1100\n");
}

/* clang 19 leaves out waits of GFX12; shaders/sgpr_waits.awk puts them in. The virtual GPU remarks the first that it misses. */
static void kernels_of_gfx12_have_their_waits(void)
{
	char log[] = "/tmp/tuff-waits-XXXXXX", command[128];
	const int fd = mkstemp(log);

	CHECK(fd >= 0 && !close(fd));
	setenv("TUFF_VGPU_WAITS", "on", 1);
	setenv("TUFF_VGPU_LOG", log, 1);
	CHECK_EQ(tuff("test --brief --gpu gfx1201 copy battery group"), 0);
	unsetenv("TUFF_VGPU_WAITS");
	unsetenv("TUFF_VGPU_LOG");
	snprintf(command, sizeof(command), "grep -a 'remark\\|finding' %s", log);
	CHECK(system(command)); /* no line has either */
	snprintf(command, sizeof(command), "grep -aq DISPATCH_DIRECT %s", log);
	CHECK_EQ(system(command), 0);
	CHECK(!unlink(log));
}

int main(void)
{
	info_tells_each_device();
	info_is_read_at_a_glance();
	a_device_is_chosen();
	info_shows_how_devices_are_linked();
	info_shows_what_cannot_be_used();
	an_override_is_followed_or_refused_aloud();
	run_passes_the_end_on();
	run_passes_over_a_pipe();
	static_programs_are_named();
	if (CAN_PRELOAD) {
		run_gives_a_gpu_to_programs();
		a_masked_sys_is_no_obstacle();
		a_small_address_space_is_explained();
	}
	test_lists_and_selects();
	test_ends_with_a_sentence();
	a_report_is_complete();
	a_report_needs_a_file();
	no_command_waits_for_a_reader();
	test_stops_at_the_rung_that_fails();
	test_runs_programs();
	examples_run();
	mistakes_are_explained();
	output_that_does_not_arrive_is_an_error();
	the_command_tells_its_usage();
	kernels_of_gfx12_have_their_waits();
	return check_done("the tuff command");
}

/* Debian's rocminfo, unmodified, over our HSA: its output must match each chip. */
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "drv/topology.h"
#include "tests/check.h"

/* As AMD's data sheets have these boards; caches as KFD's tables have them. */
static const struct board {
	const char *name, *isa;
	unsigned chip_id, cus, engines, arrays, simds, waves_per_cu, wave, clock_MHz;
	unsigned l1_KiB, l2_KiB, l3_KiB, line_B, vram_MiB;
} boards[] = {
	{"gfx906", "gfx906:sramecc-:xnack-", 0x66a1, 60, 4, 1, 4, 40, 64, 1725, 16, 4096, 0, 64, 16384},
	{"gfx908", "gfx908:sramecc+:xnack-", 0x738c, 120, 8, 1, 4, 40, 64, 1502, 16, 8192, 0, 64, 32768},
	{"gfx90a", "gfx90a:sramecc+:xnack-", 0x740f, 104, 8, 1, 4, 32, 64, 1700, 16, 8192, 0, 128, 65536},
	{"gfx1030", "gfx1030", 0x73bf, 80, 4, 2, 2, 32, 32, 2475, 16, 4096, 131072, 128, 16384},
	{"gfx1100", "gfx1100", 0x744c, 96, 6, 2, 2, 32, 32, 2371, 32, 6144, 98304, 128, 24576},
};

static char output[65536];

/* Runs rocminfo on virtual GPUs; its status. */
static int rocminfo(const char *gpus)
{
	const char *build = getenv("O");
	char command[512];
	FILE *pipe;
	size_t n;
	int status;

	snprintf(command, sizeof(command), "%s/tuff run --gpu %s -- rocminfo 2>&1", build ? build : "build/release",
		 gpus);
	pipe = popen(command, "r");
	n = fread(output, 1, sizeof(output) - 1, pipe);
	output[n] = 0;
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The text of one agent, up to the next; NULL: there are fewer. */
static char *agent_text(unsigned number)
{
	static char text[sizeof(output)];
	char title[32], *begin, *end;

	snprintf(title, sizeof(title), "\nAgent %u ", number);
	begin = strstr(output, title);
	if (!begin)
		return NULL;
	snprintf(text, sizeof(text), "%s", begin + 1);
	end = strstr(text, "\nAgent ");
	if (end)
		*end = 0;
	return text;
}

/* The value behind the first "  field:" at or behind `from`; "" when there is none. */
static const char *value_of(const char *from, const char *field)
{
	static char value[128];
	char label[64];
	const char *at;
	size_t n;

	snprintf(label, sizeof(label), " %s:", field);
	at = from ? strstr(from, label) : NULL;
	if (!at)
		return "";
	at += strlen(label);
	at += strspn(at, " ");
	n = strcspn(at, "\n");
	while (n && at[n - 1] == ' ')
		n--;
	snprintf(value, sizeof(value), "%.*s", (int)n, at);
	return value;
}

static void number_is(const char *from, const char *field, unsigned want)
{
	if (!CHECK_EQ(strtoul(value_of(from, field), NULL, 10), want))
		printf("  %s\n", field);
}

static void pools_are(const char *text, const struct board *b)
{
	const char *pool = strstr(text, "Pool 1"), *group = strstr(text, "Pool 2");

	CHECK_STR(value_of(pool, "Segment"), "GLOBAL; FLAGS: COARSE GRAINED");
	number_is(pool, "Size", b->vram_MiB * 1024);
	CHECK_STR(value_of(pool, "Allocatable"), "TRUE");
	CHECK_STR(value_of(pool, "Accessible by all"), "FALSE");
	group = strstr(text, "GROUP");
	number_is(group, "Size", 64);
	CHECK_STR(value_of(group, "Allocatable"), "FALSE");
}

static void gpu_is(unsigned number, unsigned node, const struct board *b)
{
	const char *text = agent_text(number);
	char isa[64];

	if (!CHECK(text))
		return;
	CHECK_STR(value_of(text, "Name"), b->name);
	CHECK_STR(value_of(text, "Vendor Name"), "AMD");
	CHECK(!strncmp(value_of(text, "Uuid"), "GPU-", 4) && strlen(value_of(text, "Uuid")) == 20);
	CHECK_STR(value_of(text, "Device Type"), "GPU");
	CHECK_STR(value_of(text, "Profile"), "BASE_PROFILE");
	CHECK_STR(value_of(text, "Queue Type"), "MULTI");
	number_is(text, "Node", node);
	number_is(text, "L1", b->l1_KiB);
	number_is(text, "L2", b->l2_KiB);
	if (b->l3_KiB)
		number_is(text, "L3", b->l3_KiB);
	else
		CHECK_STR(value_of(text, "L3"), "");
	number_is(text, "Chip ID", b->chip_id);
	number_is(text, "Cacheline Size", b->line_B);
	number_is(text, "Max Clock Freq. (MHz)", b->clock_MHz);
	number_is(text, "Compute Unit", b->cus);
	number_is(text, "SIMDs per CU", b->simds);
	number_is(text, "Shader Engines", b->engines);
	number_is(text, "Shader Arrs. per Eng.", b->arrays);
	number_is(text, "Wavefront Size", b->wave);
	number_is(text, "Workgroup Max Size", 1024);
	number_is(text, "Max Waves Per CU", b->waves_per_cu);
	number_is(text, "Max Work-item Per CU", b->waves_per_cu * b->wave);
	pools_are(text, b);
	snprintf(isa, sizeof(isa), "amdgcn-amd-amdhsa--%s", b->isa);
	CHECK_STR(value_of(strstr(text, "ISA 1"), "Name"), isa);
	CHECK(!strstr(text, "ISA 2")); /* older releases of HIP drop a device that has two */
}

/* KiB of a node's memory that GPUs may use: GTT is half of the machine's, in whole pages. The nodes may have less
 * together, as was seen on a virtual machine. */
static unsigned usable_KiB(const struct drv_numa *numa)
{
	struct sysinfo machine;
	uint64_t gtt_B;

	CHECK_EQ(sysinfo(&machine), 0);
	gtt_B = (uint64_t)machine.totalram * machine.mem_unit / 2 & ~UINT64_C(4095);
	return (unsigned)((gtt_B < numa->total_B ? gtt_B : numa->total_B) >> 10);
}

/* Memory of three kinds, never of a fourth: see tests/hsa/clr_traps.c. */
static void cpu_is(unsigned number, const struct drv_numa *numa)
{
	static const char *const flags[] = {"FINE GRAINED", "KERNARG, FINE GRAINED", "COARSE GRAINED"};
	const char *text = agent_text(number), *pool = text;

	if (!CHECK(text))
		return;
	CHECK_STR(value_of(text, "Device Type"), "CPU");
	number_is(text, "Node", number - 1);
	number_is(text, "Compute Unit", numa->cpus);
	for (unsigned i = 0; i < 3; i++) {
		char segment[64];

		pool = strstr(pool + 1, "      Segment:");
		snprintf(segment, sizeof(segment), "GLOBAL; FLAGS: %s", flags[i]);
		if (!CHECK(pool))
			return;
		CHECK_STR(value_of(pool - 1, "Segment"), segment);
		number_is(pool, "Size", usable_KiB(numa));
		CHECK_STR(value_of(pool, "Accessible by all"), "TRUE");
	}
	CHECK(!strstr(pool + 1, "      Segment:"));
}

static void prints(const char *gpus, const struct drv_host *host, const struct board *first,
		   const struct board *second)
{
	unsigned cpus = host->count;

	if (!CHECK_EQ(rocminfo(gpus), 0)) {
		printf("%s", output);
		return;
	}
	for (unsigned i = 0; i < cpus; i++)
		cpu_is(i + 1, &host->node[i]);
	gpu_is(cpus + 1, cpus, first);
	if (second)
		gpu_is(cpus + 2, cpus + 1, second);
	CHECK(!agent_text(cpus + (second ? 3 : 2)));
	CHECK(strstr(output, "*** Done ***"));
}

int main(void)
{
	struct drv_host host;

	drv_host_read(&host);
	for (unsigned i = 0; i < sizeof(boards) / sizeof(boards[0]); i++)
		prints(boards[i].name, &host, &boards[i], NULL);
	/* On two NUMA nodes, where the host has as many. */
	prints("gfx906:numa=0,gfx908:numa=1", &host, &boards[0], &boards[1]);
	return check_done("what rocminfo prints");
}

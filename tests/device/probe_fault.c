/* Probes of faults that are not retried, of the least scratch size, and of writes that the host sees early. */
#include <errno.h>
#include <time.h>

#include "tests/device/probe_raw.h"

#define PROBE TEST_PROBE
#define RISKY (TEST_PROBE | TEST_RESETS)

/* --- 26: scratch waves of a workgroup ------------------------------------------------------------ */

#define GROUP_LANES 1024
#define WAVE_KiB    9 /* 32 words of 64 lanes, odd as in probe 3 */

/* A workgroup with so many slots in each shader engine. */
static enum probe_end run_group(const struct probe_program *program, uint32_t waves_per_engine, uint32_t engines,
				uint32_t *right)
{
	const uint32_t slots = waves_per_engine * engines;
	struct tuff_queue *queue = probe_queue(TUFF_COMPUTE, 0);
	struct test_memory out = probe_words(GROUP_LANES * 16);
	struct {
		uint64_t out;
		uint32_t tag, ticks, turns;
	} args = {out.va, 0x10000000, 0, 0};
	struct probe_launch launch = {.program = program,
				      .args = &args,
				      .args_B = sizeof(args),
				      .groups = {1, 1, 1},
				      .lanes = {GROUP_LANES, 1, 1},
				      .scratch_B = slots * WAVE_KiB * 1024,
				      .tmpring = probe_tmpring(slots, WAVE_KiB, engines)};
	struct tuff_cmd *cmd;
	enum probe_end end;

	launch.scratch = test_vram(launch.scratch_B).va;
	memset(out.map, 0xff, GROUP_LANES * 16);
	cmd = probe_begin(queue);
	probe_prepare(cmd);
	probe_launch(cmd, &launch);
	end = probe_finish(cmd);
	*right = 0;
	for (unsigned i = 0; i < GROUP_LANES; i++)
		*right += !probe_get(&out, i * 4);
	test_note("a workgroup of %u waves, %u slots on %u shader engines: %s; %u of %u lanes right",
		  GROUP_LANES / probe_lanes(program), slots, engines, probe_says(end), *right, GROUP_LANES);
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	return end;
}

static void scratch_floor(void)
{
	struct probe_program program;
	uint32_t engines, waves, right;
	enum probe_end end;
	struct raw raw;

	probe_open();
	raw_open(&raw);
	engines = raw_shader_engines(&raw);
	raw_close(&raw);
	probe_program("k_probe_slots", &program);
	waves = GROUP_LANES / probe_lanes(&program);
	end = run_group(&program, waves, engines, &right);
	CHECK(end == PROBE_DONE && right == GROUP_LANES);
	end = run_group(&program, waves - 1, engines, &right);
	test_note("ANSWER 26: %s: a workgroup of %u waves with %u scratch slots in an engine %s",
		  test_info()->target, waves, waves - 1,
		  end == PROBE_LOST      ? "never starts"
		  : right == GROUP_LANES ? "runs"
					 : "runs with wrong private memory");
	probe_close();
}

/* --- 34: what is read where nothing is mapped --------------------------------------------------- */

#define RECORD_TRIES 8 /* each on a page of its own: the kernel tells once of a page */
#define NOWHERE_B    (RECORD_TRIES * 4096u)

struct nowhere {
	struct tuff_queue *queue;
	struct tuff_range *range;
	struct tuff_mem *rescue;
	uint64_t va;
};

/* Reserves pages without memory. */
static struct nowhere nowhere(void)
{
	struct tuff_mem_create_info page = {.size_B = NOWHERE_B, .place = TUFF_GTT, .flags = TUFF_MEM_UNBOUND};
	struct tuff_range_create_info want = {.size_B = NOWHERE_B};
	struct nowhere n = {.queue = probe_queue(TUFF_COMPUTE, 0)};

	if (tuff_range_create(test_device(), &want, &n.range, &n.va) ||
	    tuff_mem_create(test_device(), &page, &n.rescue))
		test_fail("no range");
	return n;
}

static void nowhere_end(struct nowhere *n)
{
	CHECK_OK(tuff_range_destroy(n->range));
	CHECK_OK(tuff_mem_destroy(n->rescue));
}

static struct tuff_point submit_access(const struct nowhere *n, const struct test_memory *out, unsigned page,
				       uint32_t value)
{
	struct {
		uint64_t out, at;
		uint32_t value;
	} args = {out->va, n->va + page * 4096, value};
	struct tuff_dispatch d = {.kernel = test_kernel("probe", 3, "k_probe_nowhere"),
				  .grid = {1},
				  .group = {1},
				  .args = &args,
				  .args_B = 20};
	struct tuff_cmd *cmd = probe_begin(n->queue);

	if (tuff_cmd_dispatch(cmd, &d))
		test_fail("no launch");
	return probe_submit(cmd);
}

/* Reads the page, then stores value there unless it is 0. False: the ring hung, or the access was retried, which
 * binding memory ends. */
static bool access_page(struct nowhere *n, unsigned page, uint32_t value, uint32_t *got)
{
	struct test_memory out = probe_words(64);
	struct tuff_point point;
	enum probe_end end;

	probe_set(&out, 0, 0xabababab);
	point = submit_access(n, &out, page, value);
	end = probe_wait(point, PROBE_SOON_NS);
	if (end == PROBE_LATE) {
		CHECK_OK(tuff_range_bind(n->range, 0, n->rescue, 0, NOWHERE_B, TUFF_ACCESS_READ_WRITE));
		(void)probe_settle(point);
	}
	*got = probe_get(&out, 0);
	test_note("page %u without memory: %s; read 0x%08x%s; the wave %s", page, probe_says(end), *got,
		  value ? ", then stored to" : "", probe_get(&out, 1) ? "went on" : "did not go on");
	if (end == PROBE_LOST)
		probe_note_loss(n->queue);
	return end == PROBE_DONE;
}

static void dummy_page(void)
{
	const uint32_t value = 0x7e57da7a;
	uint32_t before, again, same, other;
	struct nowhere n;

	probe_open();
	n = nowhere();
	if (access_page(&n, 0, 0, &before) && access_page(&n, 1, value, &again) && access_page(&n, 1, 0, &same) &&
	    access_page(&n, 2, 0, &other))
		test_note(
			"ANSWER 34: %s: faulting loads read 0x%08x, 0x%08x; after a faulting store of 0x%08x to one page "
			"that page reads 0x%08x, another 0x%08x: %s",
			test_info()->target, before, again, value, same, other,
			other == value  ? "all faults share one page, which stores change"
			: same == value ? "stores stay where they were made"
					: "stores vanish");
	else
		test_note("ANSWER 34: %s: faults are retried, or cost the ring: see probes 11 and 16",
			  test_info()->target);
	nowhere_end(&n);
	probe_close();
}

/* --- 35: when a fault is recorded --------------------------------------------------------------- */

#define RECORD_MS 500

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Looks for the record of a fault from the moment on when the job's fence was seen. False: none came. */
static bool look_for_record(uint64_t seen_ns, uint64_t *late_ns)
{
	int r;

	do {
		r = tuff_device_check_fault(test_device());
		*late_ns = now_ns() - seen_ns;
	} while (r != -EFAULT && *late_ns < RECORD_MS * 1000000ull);
	return r == -EFAULT;
}

/* A load from a page without memory, watched without sleeping. False: it is retried, which binding memory ended. */
static bool time_record(struct nowhere *n, unsigned page, unsigned *found)
{
	struct test_memory out = probe_words(64);
	struct tuff_point point = submit_access(n, &out, page, 0);
	uint64_t late_ns, begin = now_ns();
	int r;

	while (!(r = tuff_poll(point)) && now_ns() - begin < PROBE_SOON_NS)
		;
	if (!r) {
		CHECK_OK(tuff_range_bind(n->range, 0, n->rescue, 0, NOWHERE_B, TUFF_ACCESS_READ_WRITE));
		(void)probe_settle(point);
		return false;
	}
	if (look_for_record(now_ns(), &late_ns)) {
		test_note("fault %u: recorded within %llu us of its job's end", page,
			  (unsigned long long)late_ns / 1000);
		(*found)++;
	} else {
		test_note("fault %u: no record within %u ms of its job's end", page, RECORD_MS);
	}
	return true;
}

static void fault_record(void)
{
	unsigned found = 0, tried = 0;
	struct nowhere n;

	probe_open();
	if (test_info()->drm_minor < 55)
		test_skip("the kernel's DRM 3.%u tells of no fault, 3.55 does", test_info()->drm_minor);
	n = nowhere();
	while (tried < RECORD_TRIES && time_record(&n, tried, &found))
		tried++;
	if (tried == RECORD_TRIES)
		test_note("ANSWER 35: %s: of %u faults %u were recorded", test_info()->target, tried, found);
	else
		test_note("ANSWER 35: %s: faults are retried: there is no job's end to compare with",
			  test_info()->target);
	nowhere_end(&n);
	probe_close();
}

/* --- 32: what the CPU sees of VRAM while a job goes on ------------------------------------------ */

#define SEEN_B (64u << 10)

/* Words of VRAM that the CPU still reads as they were, after a release in a job that has not ended. */
static uint32_t stale_words(const struct test_memory *data, const struct test_memory *gate, uint32_t value)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {data->va, value};
	struct tuff_dispatch d = {
		.kernel = test_kernel("probe", 3, "k_probe_fill"), .grid = {SEEN_B / 4}, .group = {64}};
	struct tuff_cmd *cmd = probe_begin(test_compute());
	uint64_t begin = now_ns();
	struct tuff_point point;
	uint32_t stale = 0, before = 0;

	for (uint32_t i = 0; i < SEEN_B / 4; i++)
		before += probe_get(data, i) == value;
	d.args = &args;
	d.args_B = 12;
	probe_set(gate, 0, 0);
	probe_set(gate, 2, 0);
	if (tuff_cmd_dispatch(cmd, &d) || tuff_cmd_signal(cmd, gate->va, 1))
		test_fail("no launch");
	probe_wait_word(cmd, PROBE_EQUAL, gate->va + 8, 1, 4);
	point = probe_submit(cmd);
	while (!probe_get(gate, 0) && now_ns() - begin < PROBE_SOON_NS)
		;
	for (uint32_t i = 0; i < SEEN_B / 4; i++)
		stale += probe_get(data, i) != value;
	if (!CHECK(probe_get(gate, 0) == 1 && !before))
		test_note("the release did not come");
	probe_set(gate, 2, 1);
	CHECK_EQ(probe_settle(point), PROBE_DONE);
	return stale;
}

static void host_reads_vram(void)
{
	struct test_memory data, gate;
	uint32_t stale = 0, runs = 8;

	if (!strcmp(test_info()->target, "gfx90a") || !strcmp(test_info()->target, "gfx942"))
		test_skip("about gfx900 to gfx908, this is %s", test_info()->target);
	probe_open();
	data = test_memory(SEEN_B, TUFF_VRAM, TUFF_MEM_CPU);
	gate = probe_words(64);
	if (!data.map)
		test_skip("the CPU reaches no VRAM");
	for (uint32_t i = 0; i < runs; i++)
		stale += stale_words(&data, &gate, 0x5ee00001 + i);
	test_note(
		"ANSWER 32: %s: of %u words of VRAM that the CPU had read before, and read again after a release in the "
		"middle of a job, %u were old: %s",
		test_info()->target, runs * SEEN_B / 4, stale,
		stale ? "HDP keeps old data until the kernel invalidates it" : "the release is enough");
	probe_close();
}

/* --- 33: polling system memory that an APU's L2 may keep ----------------------------------------- */

static void apu_poll(void)
{
	struct tuff_point point;
	struct test_memory m;
	struct tuff_cmd *cmd;
	enum probe_end end;

	if (strcmp(test_info()->target, "gfx942") || !test_info()->integrated)
		test_skip("about MI300A, this is %s%s", test_info()->target,
			  test_info()->integrated ? "" : " with memory of its own");
	probe_open();
	m = probe_words(64);
	cmd = probe_begin(probe_queue(TUFF_COMPUTE, 0));
	probe_wait_word(cmd, PROBE_EQUAL, m.va, 1, 4);
	probe_mark(cmd, m.va + 8, 1);
	point = probe_submit(cmd);
	if (probe_wait(point, 50000000) != PROBE_LATE)
		test_fail("a wait ended before its time");
	probe_set(&m, 0, 1);
	end = probe_wait(point, PROBE_SOON_NS);
	test_note(
		"ANSWER 33: MI300A: a CPU's write to uncached system memory, polled by WAIT_REG_MEM: %s within %lld s; "
		"marker %u",
		probe_says(end), PROBE_SOON_NS / 1000000000, probe_get(&m, 2));
	if (end == PROBE_LATE)
		test_note("at last %s", probe_says(probe_settle(point)));
	probe_close();
}

/* --- 37: packets where nothing is mapped --------------------------------------------------------- */

static void write_word(struct tuff_cmd *cmd, enum tuff_engine engine, uint64_t va)
{
	const uint32_t linear[] = {2, (uint32_t)va, (uint32_t)(va >> 32), 0, 1}; /* SDMA WRITE_LINEAR, a dword */

	if (engine == TUFF_COPY)
		probe_packet(cmd, linear, 5);
	else
		probe_mark(cmd, va, 1);
}

/* A packet writes to a page without memory, the next one to memory. */
static const char *write_nowhere(struct nowhere *n, enum tuff_engine engine)
{
	struct tuff_queue *queue = probe_queue(engine, 0);
	struct test_memory m = probe_words(64);
	struct tuff_cmd *cmd = probe_begin(queue);
	struct tuff_point point;
	enum probe_end end;

	write_word(cmd, engine, n->va + 16);
	write_word(cmd, engine, m.va);
	point = probe_submit(cmd);
	end = probe_wait(point, PROBE_SOON_NS);
	if (end == PROBE_LATE) {
		CHECK_OK(tuff_range_bind(n->range, 0, n->rescue, 0, NOWHERE_B, TUFF_ACCESS_READ_WRITE));
		(void)probe_settle(point);
	}
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	return end == PROBE_DONE   ? probe_get(&m, 0) ? "goes on" : "is done without the packets behind"
	       : end == PROBE_LATE ? "retries until there is memory"
				   : "hangs";
}

static void packet_fault(void)
{
	const char *compute, *copy;
	struct nowhere n;

	probe_open();
	n = nowhere();
	compute = write_nowhere(&n, TUFF_COMPUTE);
	copy = write_nowhere(&n, TUFF_COPY);
	test_note("ANSWER 37: %s: a compute ring whose packet writes where nothing is mapped %s; a copy ring %s",
		  test_info()->target, compute, copy);
	nowhere_end(&n);
	probe_close();
}

const struct device_test tests_probe_fault[] = {
	{"probe/26-scratch-floor", "whether a workgroup starts with fewer scratch slots than waves", scratch_floor,
	 RISKY},
	{"probe/32-host-reads-vram", "whether the CPU sees VRAM that a job released while it goes on",
	 host_reads_vram, PROBE},
	{"probe/33-apu-poll", "whether MI300A's waits see a CPU's write", apu_poll, RISKY},
	{"probe/34-dummy-page", "what a wave reads where nothing is mapped", dummy_page, RISKY},
	{"probe/35-fault-record", "when the kernel records a fault", fault_record, RISKY},
	{"probe/37-packet-fault", "what a packet does where nothing is mapped", packet_fault, RISKY},
	{NULL, NULL, NULL, 0},
};

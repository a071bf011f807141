/* Probes of cards with several XCCs in a partition. */
#include "tests/device/probe.h"

#define PROBE TEST_PROBE

static void only_gfx942(void)
{
	if (strcmp(test_info()->target, "gfx942"))
		test_skip("about gfx942, this is %s", test_info()->target);
}

/* A launch of k_probe_poll: it waits at most ms for the word, and tells in dword 4 behind the word that it began.
 */
static struct tuff_point submit_poll(struct tuff_queue *queue, uint64_t out, uint64_t data, uint64_t word,
				     uint32_t lanes, uint32_t ms)
{
	struct {
		uint64_t out, data, word;
		uint32_t ticks;
	} args = {out, data, word, test_info()->counter_kHz * ms};
	struct tuff_dispatch d = {
		.kernel = test_kernel("probe", 3, "k_probe_poll"), .grid = {lanes}, .group = {64}, .args_B = 28};
	struct tuff_cmd *cmd = probe_begin(queue);

	d.args = &args;
	if (tuff_cmd_dispatch(cmd, &d))
		test_fail("no launch");
	return probe_submit(cmd);
}

static void await_begin(const struct test_memory *gate)
{
	for (unsigned i = 0; i < 1000 && !probe_get(gate, 4); i++)
		probe_sleep(1000000);
}

/* --- 27: where workgroups run ------------------------------------------------------------------- */

#define WHERE_GROUPS 608 /* twice the compute units of a whole MI300X */
#define WHERE_RUNS   4   /* a job's words and guards are a memory each: 32 at most */

struct where {
	unsigned ran, xccs, units; /* workgroups, XCCs and compute units that were seen */
	uint32_t xcc;              /* the lowest */
};

/* One grid of a wave a workgroup. HW_ID 15:8: CU_ID, SH_ID, SE_ID (GFX9). */
static struct where look(struct tuff_queue *queue)
{
	struct test_memory out = probe_words(WHERE_GROUPS * 8);
	uint64_t args = out.va;
	struct tuff_dispatch d = {.kernel = test_kernel("probe", 3, "k_probe_where"),
				  .grid = {WHERE_GROUPS},
				  .group = {1},
				  .args = &args,
				  .args_B = 8};
	struct tuff_cmd *cmd = probe_begin(queue);
	bool unit[16][256] = {{false}}, xcc[16] = {false};
	struct where w = {0};

	if (tuff_cmd_dispatch(cmd, &d) || probe_finish(cmd) != PROBE_DONE)
		test_fail("k_probe_where cannot be run");
	for (unsigned i = 0; i < WHERE_GROUPS; i++) {
		uint32_t id = probe_get(&out, 2 * i), on = probe_get(&out, 2 * i + 1);

		w.ran += on >> 8 & 1;
		if (on >> 8 & 1) {
			xcc[on & 15] = true;
			unit[on & 15][id >> 8 & 0xff] = true;
		}
	}
	for (unsigned x = 0; x < 16; x++) {
		if (xcc[x] && !w.xccs++)
			w.xcc = x;
		for (unsigned i = 0; i < 256; i++)
			w.units += unit[x][i];
	}
	return w;
}

/* The kernel may move a queue that was idle to another XCC. Before every second job another queue of the same ring
 * begins one of 20 ms. */
static struct where look_busy(struct tuff_queue *queue, struct tuff_queue *other)
{
	struct test_memory out = probe_words(4096), gate = probe_words(4096);
	struct tuff_point busy = submit_poll(other, out.va, out.va, gate.va, 64, 20);
	struct where w;

	await_begin(&gate);
	w = look(queue);
	probe_set(&gate, 0, 1);
	if (probe_settle(busy) != PROBE_DONE)
		test_fail("the other queue was lost");
	return w;
}

static void groups_where(void)
{
	unsigned missing = 0, spread = 0, moved = 0, units = 0, jobs = 0;

	only_gfx942();
	probe_open();
	for (unsigned ring = 0; ring < test_info()->compute_rings && ring < 4; ring++) {
		struct tuff_queue *queue = probe_queue(TUFF_COMPUTE, ring),
				  *other = probe_queue(TUFF_COMPUTE, ring);
		uint32_t last = 0;

		for (unsigned run = 0; run < WHERE_RUNS; run++, jobs++) {
			struct where w = run % 2 ? look_busy(queue, other) : look(queue);

			test_note(
				"ring %u, job %u: %u of %u workgroups ran, on %u XCCs (the lowest: %u), on %u compute "
				"units",
				ring, run, w.ran, WHERE_GROUPS, w.xccs, w.xcc, w.units);
			missing += w.ran != WHERE_GROUPS;
			spread += w.xccs > 1;
			moved += run && w.xcc != last;
			units = w.units > units ? w.units : units;
			last = w.xcc;
		}
	}
	test_note(
		"ANSWER 27: gfx942: of %u grids %u lacked workgroups, %u ran on several XCCs; a queue that was idle "
		"moved to another XCC %u times; at most %u compute units were seen, of %u",
		jobs, missing, spread, moved, units, test_info()->compute_units);
	probe_close();
}

/* --- 29: a release between XCCs ----------------------------------------------------------------- */

#define MEET_LANES 1024u
#define MEET_RUNS  8
#define XCC_RINGS  8 /* compute rings of one XCC */

struct meeting {
	struct test_memory data, out, where;
	struct test_memory
		gate; /* the word, in dword 4 that the reader began, in dword 8 that the writer may end */
	struct tuff_queue *reader, *writer;
};

/* Writes the data, and then the gate: after the waves alone, or after a release that writes L2 back. The job does
 * not end, which would write L2 back as well, before the reader has. */
static struct tuff_point submit_writer(const struct meeting *m, uint32_t value, bool write_back)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {m->data.va, value};
	const uint64_t where = m->where.va;
	const uint32_t flush[] = {PM4(0x46, 1), 7 | 4 << 8};
	struct tuff_dispatch d = {.kernel = test_kernel("probe", 3, "k_probe_fill"),
				  .grid = {MEET_LANES},
				  .group = {64},
				  .args = &args,
				  .args_B = 12};
	struct tuff_dispatch look = {.kernel = test_kernel("probe", 3, "k_probe_where"),
				     .grid = {1},
				     .group = {1},
				     .args = &where,
				     .args_B = 8};
	struct tuff_cmd *cmd = probe_begin(m->writer);

	if (tuff_cmd_dispatch(cmd, &look) || tuff_cmd_dispatch(cmd, &d))
		test_fail("no launch");
	probe_packet(cmd, flush, 2);
	if (!write_back)
		probe_mark(cmd, m->gate.va, 1);
	else if (tuff_cmd_signal(cmd, m->gate.va, 1))
		test_fail("no signal");
	probe_wait_word(cmd, PROBE_EQUAL, m->gate.va + 32, 1, 4);
	return probe_submit(cmd);
}

/* The kernel counts an idle queue where it ran last, and moves another to the compute ring with the least. While
 * the reader is on its ring, new queues take as many others as an XCC has: what comes next is on another XCC. */
static void fill_rings(void)
{
	for (unsigned i = 0; i < XCC_RINGS; i++)
		(void)look(probe_queue(TUFF_COMPUTE, 0));
}

/* Gives the lanes that saw the gate open and old data behind it. */
static unsigned meet(const struct meeting *m, uint32_t value, bool write_back, bool first, bool *apart)
{
	struct tuff_point reader, writer;
	unsigned came = 0, old = 0;

	for (unsigned i = 0; i < 9; i++)
		probe_set(&m->gate, i, 0);
	reader = submit_poll(m->reader, m->out.va, m->data.va, m->gate.va, MEET_LANES, 200);
	await_begin(&m->gate);
	if (first)
		fill_rings();
	writer = submit_writer(m, value, write_back);
	if (probe_settle(reader) != PROBE_DONE)
		test_fail("the reader was lost");
	probe_set(&m->gate, 8, 1);
	if (probe_settle(writer) != PROBE_DONE)
		test_fail("the writer was lost");
	for (unsigned i = 0; i < MEET_LANES; i++) {
		came += probe_get(&m->out, 4 * i);
		old += probe_get(&m->out, 4 * i) && probe_get(&m->out, 4 * i + 2) != value;
	}
	*apart = came && probe_get(&m->out, 3) != (probe_get(&m->where, 1) & 15);
	test_note("release %s: reader on XCC %u, writer on XCC %u; %u of %u lanes saw it, %u of them old data",
		  write_back ? "with write-back of L2" : "without write-back", probe_get(&m->out, 3),
		  probe_get(&m->where, 1) & 15, came, MEET_LANES, old);
	return old;
}

static void release_apart(void)
{
	unsigned stale = 0, held = 0, apart = 0;
	struct meeting m;
	bool is_apart;

	only_gfx942();
	probe_open();
	m.reader = probe_queue(TUFF_COMPUTE, 0);
	m.writer = probe_queue(TUFF_COMPUTE, 0);
	m.data = test_vram(MEET_LANES * 4);
	m.out = probe_words(MEET_LANES * 16);
	m.gate = probe_words(64);
	m.where = probe_words(64);
	for (uint32_t i = 0; i < MEET_RUNS && (i < 2 || apart); i++) {
		held += meet(&m, 2 * i + 1, true, !i, &is_apart);
		apart += is_apart;
		stale += meet(&m, 2 * i + 2, false, false, &is_apart);
		apart += is_apart;
	}
	if (!apart)
		test_note(
			"ANSWER 29: gfx942: reader and writer never met on two XCCs: the partition has one, or the kernel keeps "
			"a ring's queues on one");
	else
		test_note(
			"ANSWER 29: gfx942: between two XCCs (%u meetings) a release in the middle of a job shows "
			"%s without write-back of L2, %s with it",
			apart, stale ? "old data" : "new data", held ? "old data" : "new data");
	probe_close();
}

const struct device_test tests_probe_xcc[] = {
	{"probe/27-xcc-of-groups", "on which XCC the workgroups of a grid run", groups_where, PROBE},
	{"probe/29-release-between-xccs", "whether agent scope must reach past an XCC's L2", release_apart, PROBE},
	{NULL, NULL, NULL, 0},
};

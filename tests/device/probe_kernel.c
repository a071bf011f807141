/* Probes of launches and waves. */
#include <errno.h>
#include <stdlib.h>

#include "tests/device/probe_raw.h"

/* Launches a kernel of probe.hip in a job of its own, after what `cmd` has already. */
static void add_kernel(struct tuff_cmd *cmd, const char *name, const void *args, uint32_t args_B, uint32_t lanes)
{
	struct tuff_dispatch d = {
		.kernel = test_kernel("probe", 3, name), .grid = {lanes}, .group = {lanes < 64 ? lanes : 64}};
	int r;

	d.args = args;
	d.args_B = args_B;
	r = tuff_cmd_dispatch(cmd, &d);
	if (r)
		test_fail("%s cannot be launched (%d)", name, r);
}

static const char *fault(void)
{
	return tuff_device_check_fault(test_device()) == -EFAULT ? tuff_error() : "none reported";
}

/* --- 3: scratch slots --------------------------------------------------------------------------- */

#define SLOT_WAVES    240 /* a multiple of every chip's shader engines: 1 to 6, and 8 */
#define SLOT_WAVE_KiB 9   /* 32 words of 64 lanes are 8, and odd */

/* Launches that did not run at once show nothing: some are tried more. */
#define SLOT_RUNS     4
#define SLOT_RUNS_MAX 24

struct slot_record {
	uint32_t wrong, last, begin, end;
};

struct slots {
	struct tuff_queue *queue[2];
	struct test_memory out[2], backing[2];
	struct probe_program program;
	uint32_t engines;
	uint32_t groups; /* of 64 lanes: both queues have as many waves as there are slots */
};

static struct tuff_point submit_slots(const struct slots *s, unsigned which, const struct test_memory *backing)
{
	struct {
		uint64_t out;
		uint32_t tag, ticks, turns;
	} args = {s->out[which].va, which ? 0x80000000 : 0x10000000, test_info()->counter_kHz * 3, 1 << 20};
	struct probe_launch launch = {
		.program = &s->program,
		.args = &args,
		.args_B = sizeof(args),
		.groups = {s->groups, 1, 1},
		.lanes = {64, 1, 1},
		.scratch = backing->va,
		.scratch_B = SLOT_WAVES * SLOT_WAVE_KiB * 1024,
		.tmpring = probe_tmpring(SLOT_WAVES, SLOT_WAVE_KiB, s->engines),
	};
	struct tuff_cmd *cmd = probe_begin(s->queue[which]);

	probe_prepare(cmd);
	probe_launch(cmd, &launch);
	return probe_submit(cmd);
}

/* Lanes of one launch that found another's words, and the time in which its waves ran. */
static uint64_t count_wrong(const struct slots *s, unsigned which, uint32_t *first, uint32_t *last)
{
	const struct slot_record *r = s->out[which].map;
	uint64_t wrong = 0;

	*first = *last = r->begin;
	for (unsigned i = 0; i < s->groups * 64; i++) {
		wrong += r[i].wrong > 0;
		if ((int32_t)(r[i].begin - *first) < 0)
			*first = r[i].begin;
		if ((int32_t)(r[i].end - *last) > 0)
			*last = r[i].end;
	}
	return wrong;
}

/* Both queues at once; gives the lanes that found foreign words. */
static uint64_t run_slots(const struct slots *s, bool shared, bool *overlapped)
{
	struct tuff_point point[2];
	uint32_t first[2], last[2];
	uint64_t wrong[2];

	for (unsigned i = 0; i < 2; i++) {
		memset(s->out[i].map, 0xff, s->groups * 64 * sizeof(struct slot_record));
		point[i] = submit_slots(s, i, &s->backing[shared ? 0 : i]);
	}
	for (unsigned i = 0; i < 2; i++)
		if (probe_settle(point[i]) != PROBE_DONE)
			test_fail("a launch by hand was lost");
	for (unsigned i = 0; i < 2; i++)
		wrong[i] = count_wrong(s, i, &first[i], &last[i]);
	*overlapped = (int32_t)(last[0] - first[1]) > 0 && (int32_t)(last[1] - first[0]) > 0;
	test_note("%s buffer: lanes with foreign words %llu and %llu of %u; the launches %s",
		  shared ? "one shared" : "each its own", (unsigned long long)wrong[0],
		  (unsigned long long)wrong[1], s->groups * 64, *overlapped ? "overlapped" : "did not overlap");
	return wrong[0] + wrong[1];
}

static void scratch_slots(void)
{
	struct slots s = {0};
	struct raw raw;
	uint64_t wrong = 0;
	unsigned overlaps = 0;
	bool overlapped;

	probe_open();
	if (test_info()->compute_rings < 2)
		test_skip("needs two compute rings");
	probe_program("k_probe_slots", &s.program);
	raw_open(&raw);
	s.engines = raw_shader_engines(&raw);
	raw_close(&raw);
	s.groups = SLOT_WAVES / 2 * probe_lanes(&s.program) / 64;
	if (s.program.private_B * probe_lanes(&s.program) > SLOT_WAVE_KiB * 1024)
		test_fail("the kernel has %u bytes of scratch a lane", s.program.private_B);
	for (unsigned i = 0; i < 2; i++) {
		s.queue[i] = probe_queue(TUFF_COMPUTE, i);
		s.out[i] = probe_words(s.groups * 64 * sizeof(struct slot_record));
		s.backing[i] = test_vram(SLOT_WAVES * SLOT_WAVE_KiB * 1024);
	}
	CHECK_EQ(run_slots(&s, false, &overlapped), 0);
	for (unsigned i = 0; i < SLOT_RUNS_MAX && overlaps < SLOT_RUNS; i++) {
		wrong += run_slots(&s, true, &overlapped);
		overlaps += overlapped;
	}
	if (wrong)
		test_note(
			"ANSWER 3: %s: two hardware queues are given the same scratch slots: each needs a buffer of "
			"its own",
			test_info()->target);
	else
		test_note(
			"ANSWER 3: %s: %s", test_info()->target,
			overlaps ? "slots of one buffer were never given to two queues at once: they are arbitrated"
				 : "unknown: the launches never overlapped");
	probe_close();
}

/* --- 5: s_trap ---------------------------------------------------------------------------------- */

/* False: the ring hung. */
static bool trap_with(const char *kernel, const char *what, bool returns)
{
	struct test_memory m = probe_words(64);
	struct tuff_queue *queue = probe_queue(TUFF_COMPUTE, 0);
	struct {
		uint64_t out;
		uint32_t go;
	} args = {m.va, 1};
	struct tuff_cmd *cmd = probe_begin(queue);
	enum probe_end end;

	add_kernel(cmd, kernel, &args, returns ? 8 : 12, 1);
	end = probe_finish(cmd);
	test_note("ANSWER 5: %s: %s: %s; store before it %u%s; fault: %s", test_info()->target, what,
		  probe_says(end), probe_get(&m, 0),
		  !returns                ? ""
		  : probe_get(&m, 1) == 2 ? ", what follows it ran"
					  : ", what follows it did not run",
		  fault());
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	return end == PROBE_DONE;
}

/* Each hang takes a watchdog's time: the first ends it. */
static void traps(void)
{
	probe_open();
	if (!trap_with("k_probe_trap_2", "s_trap 2", true) ||
	    !trap_with("k_probe_trap_3", "s_trap 3 (__builtin_debugtrap)", true) ||
	    !trap_with("k_probe_trap_builtin", "__builtin_trap(), behind which stand s_nops and an s_endpgm",
		       false))
		test_note("what follows in docs/probe.md was not tried any more");
	probe_close();
}

/* --- 8: registers in one packet ----------------------------------------------------------------- */

#define SEE_GROUPS 3
#define SEE_SLOTS  (4 * 4 * 64)
#define SEE_TAG    0x5ee

/* After another launch has set every register otherwise, the launch under test; out gets what its kernel saw. */
static enum probe_end see(bool split, struct test_memory *out)
{
	struct test_memory other = probe_words(4096);
	struct probe_program first, second;
	struct {
		uint64_t out;
		uint32_t tag;
	} a = {other.va, 77}, b;
	struct probe_launch l = {.args = &a, .args_B = 12, .groups = {8, 1, 1}, .lanes = {64, 1, 1}, .split = true};
	struct tuff_cmd *cmd = probe_begin(probe_queue(TUFF_COMPUTE, 0));
	enum probe_end end;

	*out = probe_words(SEE_SLOTS * 16);
	b.out = out->va;
	b.tag = SEE_TAG;
	probe_program("k_probe_other", &first);
	probe_program("k_probe_see", &second);
	probe_prepare(cmd);
	l.program = &first;
	probe_launch(cmd, &l);
	if (tuff_cmd_barrier(cmd))
		test_fail("no barrier");
	probe_launch(cmd, &(struct probe_launch){.program = &second,
						 .args = &b,
						 .args_B = 12,
						 .groups = {SEE_GROUPS, 2, 1},
						 .lanes = {16, 4, 1},
						 .split = split,
						 .only_run = true});
	end = probe_finish(cmd);
	if (end == PROBE_DONE)
		CHECK_EQ(probe_get(&other, 64 * 7), 77 * 3 + 7);
	return end;
}

/* Work-items whose record is what the launch says. */
static unsigned count_right(const struct test_memory *out)
{
	const uint32_t *w = out->map;
	unsigned right = 0;

	for (uint32_t gx = 0; gx < SEE_GROUPS; gx++)
		for (uint32_t gy = 0; gy < 2; gy++)
			for (uint32_t i = 0; i < 64; i++) {
				uint32_t slot = (gx * 4 + gy) * 64 + i;

				right += w[slot * 4] == SEE_TAG && w[slot * 4 + 1] == (gx | gy << 8) &&
					 w[slot * 4 + 2] == (i % 16 | i / 16 << 8) && w[slot * 4 + 3] == slot;
			}
	return right;
}

static void register_run(void)
{
	const unsigned all = SEE_GROUPS * 2 * 64;
	struct test_memory split, one;
	enum probe_end end;

	probe_open();
	end = see(true, &split);
	test_note("START to RSRC2 in six packets: %s, %u of %u work-items right", probe_says(end),
		  count_right(&split), all);
	CHECK(end == PROBE_DONE && count_right(&split) == all);
	end = see(false, &one);
	test_note("START to RSRC2 in one packet: %s, %u of %u work-items right", probe_says(end), count_right(&one),
		  all);
	test_note("ANSWER 8: %s: one SET_SH_REG from START_X to PGM_RSRC2 %s", test_info()->target,
		  end == PROBE_DONE && !memcmp(split.map, one.map, SEE_SLOTS * 16)
			  ? "does what six packets do"
			  : "does not do what six packets do");
	probe_close();
}

/* --- 11, 16: faults ----------------------------------------------------------------------------- */

/* An access to a reserved page behind which nothing is. A wave that tries for ever is rescued by binding memory. */
static void touch_nothing(const char *kernel, unsigned number)
{
	struct tuff_mem_create_info page = {.size_B = 4096, .place = TUFF_GTT, .flags = TUFF_MEM_UNBOUND};
	struct tuff_range_create_info want = {.size_B = 4096};
	struct tuff_queue *queue = probe_queue(TUFF_COMPUTE, 0);
	struct test_memory m = probe_words(64);
	struct tuff_range *range;
	struct tuff_mem *rescue;
	enum probe_end end, after;
	struct tuff_point point;
	struct tuff_cmd *cmd;
	uint64_t args[2] = {m.va};

	if (tuff_range_create(test_device(), &want, &range, &args[1]) ||
	    tuff_mem_create(test_device(), &page, &rescue))
		test_fail("no range");
	probe_set(&m, 1, 0xffffffff);
	cmd = probe_begin(queue);
	add_kernel(cmd, kernel, args, sizeof(args), 1);
	if (tuff_cmd_signal(cmd, m.va + 16, 1))
		test_fail("no signal");
	point = probe_submit(cmd);
	end = after = probe_wait(point, PROBE_SOON_NS);
	if (end == PROBE_LATE) {
		CHECK_OK(tuff_range_bind(range, 0, rescue, 0, 4096, TUFF_ACCESS_READ_WRITE));
		after = probe_settle(point);
	}
	test_note(
		"%s of a page that is not mapped: %s%s%s; words before %u, read 0x%x, behind %u; word released at "
		"the end %u; fault: %s",
		number == 11 ? "load" : "store", probe_says(end),
		end == PROBE_LATE ? ", and when the page was mapped " : "",
		end == PROBE_LATE ? probe_says(after) : "", probe_get(&m, 0), probe_get(&m, 1), probe_get(&m, 2),
		probe_get(&m, 4), fault());
	if (after == PROBE_LOST)
		probe_note_loss(queue);
	test_note("ANSWER %u: %s: %s", number, test_info()->target,
		  end == PROBE_LATE       ? "the access is tried until the page is there: XNACK is on"
		  : end == PROBE_LOST     ? "the fault costs the ring"
		  : probe_get(&m, 2) == 2 ? "no retry: the wave goes on after the fault and the job ends"
					  : "no retry: the job ends, but the wave did not go on");
	CHECK_OK(tuff_range_destroy(range));
	CHECK_OK(tuff_mem_destroy(rescue));
}

static void faulting_load(void)
{
	probe_open();
	touch_nothing("k_probe_load", 11);
	probe_close();
}

static void faulting_store(void)
{
	probe_open();
	touch_nothing("k_probe_store", 16);
	probe_close();
}

/* --- 17: a kernel that never ends --------------------------------------------------------------- */

/* Submits it with a sync that tells when the kernel holds the job for ended, without a look at the point. */
static struct tuff_point submit_endless(struct tuff_queue *queue, const struct test_memory *m,
					struct tuff_sync *sync)
{
	const uint64_t args[2] = {m->va, m->va + 32};
	struct tuff_sync_point ended = {sync, 0};
	struct tuff_order order = {.signal = &ended, .signal_count = 1};
	struct tuff_cmd *cmd = probe_begin(queue);
	struct tuff_point point;

	add_kernel(cmd, "k_probe_endless", args, sizeof(args), 64);
	if (tuff_cmd_signal(cmd, m->va + 16, 1) || tuff_submit(cmd, &order, &point))
		test_fail("the kernel without end cannot be submitted");
	return point;
}

static void endless(void)
{
	struct tuff_queue *queue;
	struct tuff_point point;
	struct tuff_sync *sync;
	struct test_memory m;
	enum probe_end end;
	int r, polled;

	probe_open();
	queue = probe_queue(TUFF_COMPUTE, 0);
	m = probe_words(64);
	if (tuff_sync_create(test_device(), false, &sync))
		test_fail("no sync");
	point = submit_endless(queue, &m, sync);
	r = tuff_sync_wait(sync, 0, PROBE_WATCHDOG_NS);
	polled = tuff_poll(point);
	end = probe_wait(point, 1000000000);
	test_note(
		"a kernel without end: it began %u; its fence: %s; then a poll of its point gives %d, a wait: %s; "
		"word released behind it %u",
		probe_get(&m, 0), r ? "still waits" : "signaled", polled, probe_says(end), probe_get(&m, 4));
	probe_set(&m, 8, 1);
	if (end == PROBE_LATE)
		test_note("ANSWER 17: %s: no watchdog within %lld s; told to stop, %s", test_info()->target,
			  PROBE_WATCHDOG_NS / 1000000000, probe_says(probe_settle(point)));
	else
		test_note("ANSWER 17: %s: after the watchdog the ring %s the word behind them; a poll "
			  "%s, a wait %s",
			  test_info()->target, probe_get(&m, 4) ? "wrote" : "did not write",
			  polled == 1 ? "holds the job for done" : "does not hold the job for done",
			  end == PROBE_LOST ? "tells the loss" : "does not tell the loss");
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	CHECK_EQ(probe_get(&m, 0), 1);
	CHECK_OK(tuff_sync_destroy(sync));
	probe_close();
}

/* --- 18: an empty grid -------------------------------------------------------------------------- */

static void empty_grid(void)
{
	struct probe_program program;
	struct tuff_queue *queue;
	struct test_memory m, out;
	struct {
		uint64_t out;
		uint32_t tag;
	} args = {0, 9};
	struct probe_launch l = {.args = &args, .args_B = 12, .groups = {1, 0, 1}, .lanes = {64, 1, 1}};
	struct tuff_cmd *cmd;
	enum probe_end end;

	probe_open();
	queue = probe_queue(TUFF_COMPUTE, 0);
	m = probe_words(64);
	out = probe_words(4096);
	args.out = out.va;
	probe_program("k_probe_other", &program);
	l.program = &program;
	cmd = probe_begin(queue);
	probe_prepare(cmd);
	probe_launch(cmd, &l);
	if (tuff_cmd_signal(cmd, m.va, 1))
		test_fail("no signal");
	end = probe_finish(cmd);
	test_note(
		"ANSWER 18: %s: DISPATCH_DIRECT of 1 x 0 x 1 workgroups: %s; word released behind it %u; a wave %s",
		test_info()->target, probe_says(end), probe_get(&m, 0), probe_get(&out, 0) ? "ran" : "did not run");
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	probe_close();
}

/* --- 9: ORDER_MODE --------------------------------------------------------------------------------- */

#define ORDER_MODE   (1 << 6) /* COMPUTE_DISPATCH_INITIATOR */
#define ORDER_GROUPS 4096

static int compare_begins(const void *a, const void *b)
{
	const struct slot_record *x = a, *y = b;

	return (int32_t)(x->begin - y->begin);
}

/* Of each two workgroups that began one after the other, how many in thousand began in the order of their numbers. */
static unsigned in_order(const struct probe_program *program, uint32_t order)
{
	struct test_memory out = probe_words(ORDER_GROUPS * 64 * sizeof(struct slot_record));
	struct slot_record *r = out.map;
	struct tuff_cmd *cmd = probe_begin(probe_queue(TUFF_COMPUTE, 0));
	unsigned rising = 0;

	probe_prepare(cmd);
	probe_launch(cmd, &(struct probe_launch){.program = program,
						 .args = &out.va,
						 .args_B = sizeof(out.va),
						 .groups = {ORDER_GROUPS, 1, 1},
						 .lanes = {64, 1, 1},
						 .order = order});
	if (probe_finish(cmd) != PROBE_DONE)
		test_fail("a launch by hand was lost");
	for (unsigned i = 0; i < ORDER_GROUPS; i++) {
		r[i].begin = r[i * 64].begin;
		r[i].last = i;
	}
	qsort(r, ORDER_GROUPS, sizeof(*r), compare_begins);
	for (unsigned i = 1; i < ORDER_GROUPS; i++)
		rising += r[i].last > r[i - 1].last;
	return rising * 1000 / (ORDER_GROUPS - 1);
}

static void order_mode(void)
{
	struct probe_program program;

	probe_open();
	if (probe_generation() == 9)
		test_skip("about GFX10 and later: kernel rings of %s have no UNORD_DISPATCH", test_info()->target);
	probe_program("k_probe_begin", &program);
	for (unsigned i = 0; i < 2; i++)
		test_note("ANSWER 9: %s: ORDER_MODE %u: of 1000 neighbours in time %u began in the order of their "
			  "numbers",
			  test_info()->target, i, in_order(&program, i ? ORDER_MODE : 0));
	probe_close();
}

#define PROBE TEST_PROBE
#define RISKY (TEST_PROBE | TEST_RESETS)

const struct device_test tests_probe_kernel[] = {
	{"probe/03-scratch-slots", "whether queues that share a scratch buffer share its slots", scratch_slots,
	 PROBE},
	{"probe/05-s-trap", "what s_trap does without a handler", traps, RISKY},
	{"probe/08-register-run", "whether one packet may set START to RSRC2", register_run, PROBE},
	{"probe/09-order-mode", "what ORDER_MODE brings with UNORD_DISPATCH", order_mode, PROBE},
	{"probe/11-xnack", "whether a load of an unmapped page is retried", faulting_load, RISKY},
	{"probe/16-store-fault", "how a wave goes on after a store to an unmapped page", faulting_store, RISKY},
	{"probe/17-soft-recovery", "what a kernel without end leaves behind", endless, RISKY},
	{"probe/18-empty-grid", "whether a grid of no workgroups ends", empty_grid, RISKY},
	{NULL, NULL, NULL, 0},
};

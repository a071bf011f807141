/* Probes of the compute rings' packet processor. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "tests/device/probe.h"

#define NO_OPCODE   0xf3 /* in no header of any generation */
#define PFP_SYNC_ME 0x42 /* of graphics rings */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static uint64_t ns_of(int64_t ticks)
{
	return (uint64_t)ticks * 1000000ull / test_info()->counter_kHz;
}

/* --- 1: WAIT_REG_MEM64 -------------------------------------------------------------------------- */

#define AIM 0x0000000500000007ull /* the value waited for, in words 0 and 1 */

static void wait64(struct tuff_cmd *cmd, uint64_t va)
{
	const uint32_t dw[] = {PM4(0x93, 8), PROBE_EQUAL | 1 << 4, LO(va), HI(va), LO(AIM), HI(AIM), ~0u, ~0u, 4};

	probe_packet(cmd, dw, 9);
}

static void wait_twice(struct tuff_cmd *cmd, uint64_t va)
{
	probe_wait_word(cmd, PROBE_EQUAL, va + 4, HI(AIM), 4);
	probe_wait_word(cmd, PROBE_EQUAL, va, LO(AIM), 4);
}

/* What a wait did while the value was not there, half there, and there. */
struct waited {
	enum probe_end before, half, whole;
};

static void write_word(struct tuff_queue *queue, uint64_t va, uint32_t value)
{
	struct tuff_cmd *cmd = probe_begin(queue);

	if (tuff_cmd_write(cmd, va, &value, 1) || probe_finish(cmd) != PROBE_DONE)
		test_fail("the second queue cannot write");
}

/* The second queue brings the value, low half first. */
static struct waited watch(struct tuff_queue *queue, struct tuff_queue *other, const struct test_memory *w,
			   void (*wait)(struct tuff_cmd *, uint64_t))
{
	struct tuff_cmd *cmd = probe_begin(queue);
	struct waited seen = {0};
	struct tuff_point point;

	wait(cmd, w->va);
	probe_mark(cmd, w->va + 8, 1);
	point = probe_submit(cmd);
	seen.before = seen.half = seen.whole = probe_wait(point, 50000000);
	if (seen.before == PROBE_LATE) {
		write_word(other, w->va, LO(AIM));
		seen.half = seen.whole = probe_wait(point, 50000000);
	}
	if (seen.half == PROBE_LATE) {
		write_word(other, w->va + 4, HI(AIM));
		seen.whole = probe_wait(point, PROBE_SOON_NS);
	}
	if (seen.whole == PROBE_LATE)
		seen.whole = probe_settle(point);
	return seen;
}

static void say_waited(const char *what, const struct waited *w, const struct test_memory *m)
{
	test_note("%s: value absent: %s; low half there: %s; all there: %s; marker behind it %u", what,
		  probe_says(w->before), probe_says(w->half), probe_says(w->whole), probe_get(m, 2));
}

static void conclude_wait64(const struct waited *seen)
{
	if (seen->whole == PROBE_LOST)
		test_note("ANSWER 1: %s: WAIT_REG_MEM64 hangs: two 32-bit waits it is", test_info()->target);
	else if (seen->before == PROBE_DONE)
		test_note("ANSWER 1: %s: opcode 0x93 is skipped like a NOP: it waits for nothing",
			  test_info()->target);
	else if (seen->half == PROBE_DONE)
		test_note("ANSWER 1: %s: opcode 0x93 waits, but looks at 32 bits only", test_info()->target);
	else
		test_note("ANSWER 1: %s: WAIT_REG_MEM64 works: it waits for all 64 bits", test_info()->target);
}

static void wait_reg_mem64(void)
{
	struct tuff_queue *other, *queue;
	struct test_memory m[3];
	struct tuff_cmd *cmd;
	struct waited seen;
	enum probe_end end;

	probe_open();
	queue = probe_queue(TUFF_COMPUTE, 0);
	other = probe_other_queue();
	for (unsigned i = 0; i < 3; i++)
		m[i] = probe_words(64);
	seen = watch(queue, other, &m[0], wait_twice);
	say_waited("control, two 32-bit waits", &seen, &m[0]);
	CHECK(seen.half == PROBE_LATE && seen.whole == PROBE_DONE && probe_get(&m[0], 2) == 1);
	probe_set(&m[1], 0, LO(AIM));
	probe_set(&m[1], 1, HI(AIM));
	cmd = probe_begin(queue);
	wait64(cmd, m[1].va);
	probe_mark(cmd, m[1].va + 8, 1);
	end = probe_finish(cmd);
	test_note("WAIT_REG_MEM64 on a value that is there: %s; marker behind it %u", probe_says(end),
		  probe_get(&m[1], 2));
	if (end == PROBE_DONE) {
		seen = watch(queue, other, &m[2], wait64);
		say_waited("WAIT_REG_MEM64", &seen, &m[2]);
	} else {
		seen.whole = end;
	}
	if (seen.whole == PROBE_LOST)
		probe_note_loss(queue);
	conclude_wait64(&seen);
	probe_close();
}

/* --- 2: the poll interval ----------------------------------------------------------------------- */

#define TRIALS 32
/* Longer than any interval may be: the write has to fall anywhere between two polls. */
#define PHASE_NS 12000000

/* One wait that the other queue ends, at a moment that has nothing to do with the polls: ticks from the write to
 * behind the wait. */
static int64_t wait_trial(struct tuff_queue *queue, struct tuff_queue *other, const struct test_memory *m,
			  uint32_t turn, uint32_t interval, uint64_t *seed)
{
	struct tuff_cmd *cmd = probe_begin(queue);
	struct tuff_point waiter, writer;

	probe_wait_word(cmd, PROBE_EQUAL, m->va, turn, interval);
	if (tuff_cmd_timestamp(cmd, m->va + 16))
		test_fail("no timestamp");
	waiter = probe_submit(cmd);
	probe_sleep(200000 + test_random(seed) % PHASE_NS);
	cmd = probe_begin(other);
	if (tuff_cmd_write(cmd, m->va, &turn, 1) || tuff_cmd_barrier(cmd) || tuff_cmd_timestamp(cmd, m->va + 8))
		test_fail("no timestamp");
	writer = probe_submit(cmd);
	if (probe_settle(writer) != PROBE_DONE || probe_settle(waiter) != PROBE_DONE)
		test_fail("a 32-bit wait does not end");
	return (int64_t)(probe_get64(m, 4) - probe_get64(m, 2));
}

static int compare_ticks(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Least squares. */
struct fit {
	double n, x, y, xx, xy, yy;
};

static void fit_add(struct fit *f, double x, double y)
{
	f->n++;
	f->x += x;
	f->y += y;
	f->xx += x * x;
	f->xy += x * y;
	f->yy += y * y;
}

static double fit_slope(const struct fit *f, double *r)
{
	double sxx = f->n * f->xx - f->x * f->x, sxy = f->n * f->xy - f->x * f->y, syy = f->n * f->yy - f->y * f->y;

	*r = sxx > 0 && syy > 0 ? sxy / sqrt(sxx * syy) : 0;
	return sxx > 0 ? sxy / sxx : 0;
}

static void poll_interval(void)
{
	static const uint32_t intervals[] = {0, 4, 64, 1024, 4096, 16384, 32768, 65535};
	struct tuff_queue *queue, *other;
	double slope, r, clock_MHz = test_info()->engine_clock_kHz / 1000.0;
	struct fit fit = {0};
	struct test_memory m;
	uint64_t seed = 0x7475666600000002;
	uint32_t turn = 0;

	probe_open();
	queue = probe_queue(TUFF_COMPUTE, 0);
	other = probe_other_queue();
	m = probe_words(64);
	for (unsigned i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		int64_t ticks[TRIALS];

		for (unsigned k = 0; k < TRIALS; k++)
			ticks[k] = wait_trial(queue, other, &m, ++turn, intervals[i], &seed);
		qsort(ticks, TRIALS, sizeof(*ticks), compare_ticks);
		test_note("interval %5u: delay %lld to %lld ticks, median %lld, of %u", intervals[i],
			  (long long)ticks[0], (long long)ticks[TRIALS - 1], (long long)ticks[TRIALS / 2], TRIALS);
		fit_add(&fit, intervals[i], (double)ticks[TRIALS / 2] * 1e6 / test_info()->counter_kHz);
	}
	/* The write falls anywhere between two polls: the median delay is half an interval. */
	slope = 2 * fit_slope(&fit, &r);
	if (r > 0.95)
		test_note(
			"ANSWER 2: %s: a unit of the poll interval is %.2f ns (r %.3f): %.1f clocks at the highest "
			"%.0f MHz, %.2f ticks of the %u kHz counter",
			test_info()->target, slope, r, slope * clock_MHz / 1000, clock_MHz,
			slope * test_info()->counter_kHz / 1e6, test_info()->counter_kHz);
	else
		test_note(
			"ANSWER 2: %s: the delay does not follow the interval (r %.3f): it has no effect, or less "
			"than the noise",
			test_info()->target, r);
	probe_close();
}

/* --- 4: illegal opcodes ------------------------------------------------------------------------- */

/* A job with that opcode between two marks; then one on another ring. */
static void illegal(unsigned opcode, const char *what)
{
	const uint32_t dw[] = {PM4(opcode, 1), 0};
	struct tuff_queue *queue, *other;
	struct tuff_point bystander;
	struct test_memory m;
	struct tuff_cmd *cmd;
	enum probe_end end, beside;

	probe_open();
	m = probe_words(64);
	queue = probe_queue(TUFF_COMPUTE, 0);
	other = probe_queue(TUFF_COMPUTE, test_info()->compute_rings > 1);
	cmd = probe_begin(queue);
	probe_mark(cmd, m.va, 1);
	probe_packet(cmd, dw, 2);
	probe_mark(cmd, m.va + 4, 2);
	end = probe_finish(cmd);
	beside = PROBE_LOST;
	if (!tuff_begin(other, 0, &cmd)) {
		probe_mark(cmd, m.va + 8, 3);
		if (!tuff_submit(cmd, NULL, &bystander))
			beside = probe_settle(bystander);
	}
	test_note("opcode 0x%02x (%s): %s; mark before it %u, behind it %u", opcode, what, probe_says(end),
		  probe_get(&m, 0), probe_get(&m, 1));
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	test_note("  a queue on another ring, used after that, %s", beside == PROBE_LOST ? "is lost too" : "works");
	if (end == PROBE_LOST)
		test_note("ANSWER 4: %s: opcode 0x%02x, %s, stops the ring", test_info()->target, opcode, what);
	else
		test_note("ANSWER 4: %s: opcode 0x%02x, %s, is skipped%s", test_info()->target, opcode, what,
			  probe_get(&m, 1) == 2 ? "" : " with what follows it");
	CHECK_EQ(probe_get(&m, 0), 1);
	probe_close();
}

static void unassigned_opcode(void)
{
	illegal(NO_OPCODE, "assigned to nothing");
}

static void graphics_opcode(void)
{
	illegal(PFP_SYNC_ME, "PFP_SYNC_ME of graphics rings");
}

/* --- 13: ATOMIC_MEM ----------------------------------------------------------------------------- */

static void move(void *dst, const void *src)
{
	int r = tuff_copy(test_device(), dst, src, 8, NULL, 0, NULL);

	if (r)
		test_fail("a word in VRAM cannot be copied (%d)", r);
}

/* 0x1_00000001 - 3: the borrow tells 64 bits from 32. False: the ring hung. */
static bool subtract(uint64_t va, bool vram, uint32_t control, const char *what)
{
	const uint32_t dw[] = {PM4(0x1e, 8), control, LO(va), HI(va), 3, 0, 0, 0, 0};
	struct tuff_queue *queue = probe_queue(TUFF_COMPUTE, 0);
	struct test_memory m = probe_words(64);
	struct tuff_cmd *cmd = probe_begin(queue);
	uint64_t value = 0x100000001;
	enum probe_end end;

	move((void *)(uintptr_t)va, &value);
	probe_packet(cmd, dw, 9);
	probe_mark(cmd, m.va, 1);
	end = probe_finish(cmd);
	if (end == PROBE_DONE)
		move(&value, (void *)(uintptr_t)va);
	test_note("ANSWER 13: %s: ATOMIC_MEM %s, %s: %s; 0x100000001 - 3 became 0x%llx (%s), marker %u",
		  test_info()->target, what, vram ? "VRAM" : "uncached system memory", probe_says(end),
		  (unsigned long long)value,
		  end != PROBE_DONE     ? "not looked at again"
		  : value == 0xfffffffe ? "right"
					: "wrong",
		  probe_get(&m, 0));
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	return end == PROBE_DONE;
}

/* Each hang takes a watchdog's time: the first ends it. */
static void atomic_mem(bool vram)
{
	struct test_memory m;

	probe_open();
	m = vram ? test_vram(4096) : probe_words(64);
	if (subtract(m.va, vram, 0x70 | 2 << 8, "SUB_64 (112, write confirmed)"))
		(void)subtract(m.va, vram, 0x30, "SUB_RTN_64 (48, single pass)");
	else
		test_note("SUB_RTN_64 was not tried any more");
	probe_close();
}

static void atomic_mem_vram(void)
{
	atomic_mem(true);
}

static void atomic_mem_system(void)
{
	atomic_mem(false);
}

/* --- 14: polling memory that L2 caches ---------------------------------------------------------- */

static void cached_poll(void)
{
	struct tuff_queue *queue;
	struct test_memory m, done;
	struct tuff_point point;
	struct tuff_cmd *cmd;
	enum probe_end end, rescued;

	probe_open();
	queue = probe_queue(TUFF_COMPUTE, 0);
	m = test_gtt(4096);
	done = probe_words(64);
	cmd = probe_begin(queue);
	probe_wait_word(cmd, PROBE_EQUAL, m.va, 1, 4);
	probe_mark(cmd, done.va, 1);
	point = probe_submit(cmd);
	if (probe_wait(point, 50000000) != PROBE_LATE)
		test_fail("a wait ended before its time");
	probe_set(&m, 0, 1);
	end = rescued = probe_wait(point, PROBE_SOON_NS);
	if (end == PROBE_LATE) {
		/* A job's beginning invalidates L2. */
		write_word(probe_other_queue(), m.va, 1);
		rescued = probe_settle(point);
	}
	test_note(
		"ANSWER 14: %s: a CPU's write to cached system memory, polled by WAIT_REG_MEM: %s within %lld s%s%s",
		test_info()->target, probe_says(end), PROBE_SOON_NS / 1000000000,
		end == PROBE_LATE ? "; after a job of another queue began: " : "",
		end == PROBE_LATE ? probe_says(rescued) : "");
	if (rescued == PROBE_LOST)
		probe_note_loss(queue);
	probe_close();
}

/* --- 15: two clocks ----------------------------------------------------------------------------- */

/* COPY_DATA's clock and RELEASE_MEM's, which profiling subtracts from each other. */
static void clocks(void)
{
	struct test_memory m;
	struct tuff_cmd *cmd;
	uint64_t t[4];

	probe_open();
	m = probe_words(64);
	cmd = probe_begin(probe_queue(TUFF_COMPUTE, 0));
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t va = m.va + 16 * i;
		/* From GFX10 on as RADV writes it, before as ROCr. */
		const uint32_t control = probe_generation() == 9 ? 0x02012509 : 0x00110509;
		const uint32_t dw[] = {PM4(0x40, 5), control, 0, 0, LO(va), HI(va)};

		probe_packet(cmd, dw, 6);
		if (tuff_cmd_barrier(cmd) || tuff_cmd_timestamp(cmd, va + 8) || tuff_cmd_barrier(cmd))
			test_fail("no timestamp");
	}
	CHECK_EQ(probe_finish(cmd), PROBE_DONE);
	for (unsigned i = 0; i < 4; i++)
		t[i] = probe_get64(&m, 2 * i);
	test_note(
		"ANSWER 15: %s: COPY_DATA and RELEASE_MEM read %s: %llu, %llu, %llu, %llu (first to last %lld ns)",
		test_info()->target,
		t[0] <= t[1] && t[2] <= t[3] && t[0] <= t[2] && ns_of((int64_t)(t[3] - t[0])) < 100000000
			? "one counter"
			: "counters that differ, or run backwards",
		(unsigned long long)t[0], (unsigned long long)t[1], (unsigned long long)t[2],
		(unsigned long long)t[3], (long long)(t[3] - t[0]) * 1000000 / (long long)test_info()->counter_kHz);
	CHECK(t[0] && t[3]);
	probe_close();
}

/* --- 38: rings beside one that polls ------------------------------------------------------------ */

/* A small kernel on the ring, from its submission to its end, in us; or what became of it within a second. */
static enum probe_end run_beside(struct tuff_queue *queue, uint64_t *us)
{
	struct tuff_dispatch d = {
		.kernel = test_kernel("probe", 3, "k_probe_nothing"), .grid = {64}, .group = {64}};
	struct tuff_cmd *cmd = probe_begin(queue);
	uint64_t begun_ns = now_ns();
	struct tuff_point point;
	enum probe_end end;

	if (tuff_cmd_dispatch(cmd, &d))
		test_fail("no launch");
	point = probe_submit(cmd);
	end = probe_wait(point, 1000000000);
	*us = (now_ns() - begun_ns) / 1000;
	return end;
}

static void poll_and_others(void)
{
	struct tuff_queue *polling, *other[8];
	unsigned rings = test_info()->compute_rings, held = 0;
	struct test_memory m;
	struct tuff_point point;
	struct tuff_cmd *cmd;
	uint64_t us;

	probe_open();
	if (rings < 2)
		test_skip("needs two compute rings");
	rings = rings < 8 ? rings : 8;
	m = probe_words(64);
	for (unsigned i = 1; i < rings; i++) {
		other[i] = probe_queue(TUFF_COMPUTE, i);
		CHECK_EQ(run_beside(other[i], &us), PROBE_DONE);
	}
	polling = probe_queue(TUFF_COMPUTE, 0);
	cmd = probe_begin(polling);
	probe_wait_word(cmd, PROBE_EQUAL, m.va, 1, 4);
	point = probe_submit(cmd);
	if (probe_wait(point, 50000000) != PROBE_LATE)
		test_fail("a wait ended before its time");
	for (unsigned i = 1; i < rings; i++) {
		enum probe_end end = run_beside(other[i], &us);

		held += end != PROBE_DONE;
		test_note("ring %u, while ring 0 polls: %s within a second (%llu us)", i, probe_says(end),
			  (unsigned long long)us);
	}
	probe_set(&m, 0, 1);
	CHECK_EQ(probe_settle(point), PROBE_DONE);
	test_note("ANSWER 38: %s: a ring that polls holds up %u of %u other rings", test_info()->target, held,
		  rings - 1);
	probe_close();
}

/* --- 39: WRITE_DATA past L2 ----------------------------------------------------------------------- */

#define WRITTEN 0x3a3a3a3a

/* A kernel leaves words in L2, then the command processor writes some of them in memory. */
static void write_past_l2(void)
{
	struct test_memory m;
	struct {
		uint64_t out;
		uint32_t tag;
	} args = {0, 7};
	struct tuff_dispatch d = {.kernel = test_kernel("probe", 3, "k_probe_other"),
				  .grid = {64},
				  .group = {64},
				  .args = &args,
				  .args_B = 12};
	struct tuff_cmd *cmd;
	unsigned kept = 0;

	probe_open();
	m = test_gtt(4096);
	args.out = m.va;
	cmd = probe_begin(probe_queue(TUFF_COMPUTE, 0));
	if (tuff_cmd_dispatch(cmd, &d) || tuff_cmd_barrier(cmd))
		test_fail("no launch");
	for (unsigned i = 0; i < 16; i++)
		probe_mark(cmd, m.va + 16 * i, WRITTEN);
	CHECK_EQ(probe_finish(cmd), PROBE_DONE);
	for (unsigned i = 0; i < 16; i++)
		kept += probe_get(&m, 4 * i) == WRITTEN;
	CHECK_EQ(probe_get(&m, 1), 21);
	test_note("ANSWER 39: %s: of 16 words that WRITE_DATA wrote to memory while L2 had them newer, %u stayed",
		  test_info()->target, kept);
	probe_close();
}

#define PROBE TEST_PROBE
#define RISKY (TEST_PROBE | TEST_RESETS)

const struct device_test tests_probe_packet[] = {
	{"probe/01-wait-reg-mem64", "whether GFX9's MEC knows a 64-bit wait", wait_reg_mem64, RISKY},
	{"probe/02-poll-interval", "what a unit of WAIT_REG_MEM's poll interval is", poll_interval, PROBE},
	{"probe/04-opcode-unassigned", "what an opcode that nothing has does", unassigned_opcode, RISKY},
	{"probe/04-opcode-of-graphics", "what PFP_SYNC_ME does on a compute ring", graphics_opcode, RISKY},
	{"probe/13-atomic-mem-vram", "whether ATOMIC_MEM subtracts 64 bits in VRAM", atomic_mem_vram, RISKY},
	{"probe/13-atomic-mem-system", "the same in system memory", atomic_mem_system, RISKY},
	{"probe/14-cached-poll", "whether a wait sees a CPU's write to memory that L2 caches", cached_poll, RISKY},
	{"probe/15-clocks", "whether COPY_DATA and RELEASE_MEM read the same counter", clocks, PROBE},
	{"probe/38-poll-and-others", "whether a ring that polls holds up other rings", poll_and_others, PROBE},
	{"probe/39-write-past-l2", "whether WRITE_DATA to memory is overwritten by what L2 has", write_past_l2,
	 PROBE},
	{NULL, NULL, NULL, 0},
};

/* Probes of the copy engines. */
#include <stdlib.h>

#include "tests/device/probe.h"

/* --- 6, 7: long copies -------------------------------------------------------------------------- */

#define LONG_B  (9u << 20)
#define COUNT_B (6u << 20) /* 22 bits of it are 2 MiB */

static uint32_t word_at(uint32_t i)
{
	return i * 2654435761u + 1;
}

/* Words from the beginning that arrived, and those that changed at all. */
static void compare(const uint32_t *dst, uint32_t *arrived, uint32_t *changed)
{
	*arrived = *changed = 0;
	for (uint32_t i = 0; i < LONG_B / 4; i++)
		*changed += dst[i] != 0;
	while (*arrived < LONG_B / 4 && dst[*arrived] == word_at(*arrived))
		(*arrived)++;
}

static enum probe_end copy_packet(struct tuff_queue *queue, const struct test_memory *dst,
				  const struct test_memory *src, uint32_t size_B, uint32_t *arrived_B)
{
	const uint32_t dw[] = {1, size_B - 1, 0, LO(src->va), HI(src->va), LO(dst->va), HI(dst->va)};
	struct tuff_cmd *cmd = probe_begin(queue);
	uint32_t arrived, changed;
	enum probe_end end;

	memset(dst->map, 0, LONG_B);
	probe_packet(cmd, dw, 7);
	end = probe_finish(cmd);
	compare(dst->map, &arrived, &changed);
	test_note("one COPY of %u bytes: %s; %u bytes arrived, %u bytes changed", size_B, probe_says(end),
		  arrived * 4, changed * 4);
	CHECK(changed * 4 <= COUNT_B);
	*arrived_B = arrived * 4;
	return end;
}

static void long_copy(unsigned number)
{
	struct tuff_queue *queue;
	struct test_memory src, dst;
	uint32_t arrived_B;
	enum probe_end end;

	probe_open();
	queue = probe_queue(TUFF_COPY, 0);
	src = probe_words(LONG_B);
	dst = probe_words(LONG_B);
	for (uint32_t i = 0; i < LONG_B / 4; i++)
		((uint32_t *)src.map)[i] = word_at(i);
	end = copy_packet(queue, &dst, &src, 2u << 20, &arrived_B);
	CHECK(end == PROBE_DONE && arrived_B == 2u << 20);
	end = copy_packet(queue, &dst, &src, COUNT_B, &arrived_B);
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	test_note("ANSWER %u: %s: %s", number, test_info()->target,
		  end == PROBE_LOST                   ? "a count of over 22 bits hangs the engine"
		  : arrived_B == COUNT_B              ? "COPY takes counts of over 22 bits"
		  : arrived_B == COUNT_B % (4u << 20) ? "COPY drops the count's bits above 22"
						      : "COPY does something else with counts of over 22 bits");
	probe_close();
}

static bool is(const char *target)
{
	return !strcmp(test_info()->target, target);
}

static void long_copy_gfx90a(void)
{
	if (!is("gfx90a"))
		test_skip("about gfx90a (SDMA 4.4), this is %s", test_info()->target);
	long_copy(6);
}

static void long_copy_elsewhere(void)
{
	if (is("gfx90a"))
		test_skip("probe/06-long-copy has the answer for gfx90a");
	long_copy(6);
}

static void long_copy_gfx10(void)
{
	if (strncmp(test_info()->target, "gfx101", 6))
		test_skip("about SDMA 5.0 (gfx1010 to gfx1013), this is %s", test_info()->target);
	long_copy(7);
}

/* --- 10: copies and L2 -------------------------------------------------------------------------- */

#define DIRTY_B (64u << 10)

/* The copy polls a word that the shader's job writes when its waves are done but L2 was not written back. Gives the
 * number of words that the copy saw new. */
static uint32_t copy_dirty(struct tuff_queue *copy, const struct test_memory *data,
			   const struct test_memory *result, const struct test_memory *gate, bool write_back)
{
	struct tuff_dispatch d = {
		.kernel = test_kernel("probe", 3, "k_probe_fill"), .grid = {DIRTY_B / 4}, .group = {64}};
	struct {
		uint64_t data;
		uint32_t value;
	} args = {data->va, 0xd127 + write_back};
	const uint32_t poll[] = {3u << 28 | 1u << 31 | 8, LO(gate->va), HI(gate->va), 1, ~0u, 0x0fff000a};
	const uint32_t flush[] = {PM4(0x46, 1), 7 | 4 << 8};
	struct tuff_point point, copied;
	struct tuff_cmd *cmd;
	uint32_t seen = 0;

	d.args = &args;
	d.args_B = 12;
	probe_set(gate, 0, 0);
	cmd = probe_begin(copy);
	probe_packet(cmd, poll, 6);
	if (tuff_cmd_copy(cmd, result->va, data->va, DIRTY_B))
		test_fail("no copy");
	copied = probe_submit(cmd);
	cmd = probe_begin(test_compute());
	if (tuff_cmd_dispatch(cmd, &d))
		test_fail("no launch");
	probe_packet(cmd, flush, 2);
	if (write_back) {
		if (tuff_cmd_signal(cmd, gate->va, 1))
			test_fail("no signal");
	} else {
		probe_mark(cmd, gate->va, 1);
		/* The job's own end writes L2 back: it must not come while the copy reads. */
		probe_wait_word(cmd, PROBE_EQUAL, gate->va + 8, 1, 4);
	}
	point = probe_submit(cmd);
	if (probe_settle(copied) != PROBE_DONE)
		test_fail("the copy was lost");
	probe_set(gate, 2, 1);
	if (probe_settle(point) != PROBE_DONE)
		test_fail("the launch was lost");
	probe_set(gate, 2, 0);
	for (uint32_t i = 0; i < DIRTY_B / 4; i++)
		seen += ((const uint32_t *)result->map)[i] == args.value;
	return seen;
}

static void copy_and_l2(void)
{
	struct test_memory data, result, gate;
	uint32_t clean, dirty;
	struct tuff_queue *copy;

	if (!test_info()->can_submit)
		test_skip("the packets for %s come with its generation, and this experiment with them",
			  test_info()->target);
	probe_open();
	copy = probe_queue(TUFF_COPY, 0);
	data = test_vram(DIRTY_B);
	result = probe_words(DIRTY_B);
	gate = probe_words(64);
	clean = copy_dirty(copy, &data, &result, &gate, true);
	test_note("after RELEASE_MEM with write-back the copy sees %u of %u words of the kernel", clean,
		  DIRTY_B / 4);
	CHECK_EQ(clean, DIRTY_B / 4);
	dirty = copy_dirty(copy, &data, &result, &gate, false);
	test_note(
		"ANSWER 10: %s: without write-back of L2 the copy engine sees %u of %u words that a kernel wrote: %s",
		test_info()->target, dirty, DIRTY_B / 4,
		dirty == DIRTY_B / 4 ? "it reads through L2, or the write-back was not needed"
		: dirty              ? "L2 had written some of it back"
				     : "it reads past L2");
	probe_close();
}

/* --- 19: polls that give up --------------------------------------------------------------------- */

static void poll_retries(void)
{
	struct tuff_queue *queue;
	struct test_memory m;
	struct tuff_cmd *cmd;
	enum probe_end end;

	probe_open();
	queue = probe_queue(TUFF_COPY, 0);
	m = probe_words(64);
	cmd = probe_begin(queue);
	probe_packet(cmd, (const uint32_t[]){3u << 28 | 1u << 31 | 8, LO(m.va), HI(m.va), 1, ~0u, 0x0010000a}, 6);
	if (tuff_cmd_write(cmd, m.va + 8, &(uint32_t){1}, 1))
		test_fail("no write");
	end = probe_wait(probe_submit(cmd), PROBE_SOON_NS);
	test_note("ANSWER 19: %s: POLL_REGMEM with 16 retries on a word that never comes: %s within %lld s; word "
		  "written behind it %u",
		  test_info()->target, probe_says(end), PROBE_SOON_NS / 1000000000, probe_get(&m, 2));
	probe_set(&m, 0, 1);
	if (end == PROBE_LOST)
		probe_note_loss(queue);
	probe_close();
}

/* --- 24: copies that depend on each other -------------------------------------------------------- */

#define CHAIN_B    (2u << 20)
#define CHAIN_RUNS 16

/* a to b and b to c, with or without a NOP between; gives the words of c that are not a's. */
static uint32_t chain(struct tuff_queue *queue, const struct test_memory *abc, uint32_t run, bool nop)
{
	struct tuff_cmd *cmd;
	uint32_t stale = 0;

	for (uint32_t i = 0; i < CHAIN_B / 4; i++)
		((uint32_t *)abc[0].map)[i] = word_at(i + run * 7777);
	cmd = probe_begin(queue);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t src = abc[i].va, dst = abc[i + 1].va;

		probe_packet(cmd, (const uint32_t[]){1, CHAIN_B - 1, 0, LO(src), HI(src), LO(dst), HI(dst)}, 7);
		if (nop && !i)
			probe_packet(cmd, (const uint32_t[]){0}, 1);
	}
	if (probe_finish(cmd) != PROBE_DONE)
		test_fail("a copy was lost");
	for (uint32_t i = 0; i < CHAIN_B / 4; i++)
		stale += ((const uint32_t *)abc[2].map)[i] != word_at(i + run * 7777);
	return stale;
}

static void dependent_copies(void)
{
	struct test_memory abc[3];
	uint32_t with = 0, without = 0;
	struct tuff_queue *queue;

	probe_open();
	queue = probe_queue(TUFF_COPY, 0);
	for (unsigned i = 0; i < 3; i++)
		abc[i] = probe_words(CHAIN_B);
	for (uint32_t run = 0; run < CHAIN_RUNS; run++) {
		with += chain(queue, abc, 2 * run, true);
		without += chain(queue, abc, 2 * run + 1, false);
	}
	test_note(
		"ANSWER 24: %s: of %u words in a second copy that reads what a first writes, stale: %u with a NOP "
		"between, %u without: %s",
		test_info()->target, CHAIN_RUNS * CHAIN_B / 4, with, without,
		with      ? "a NOP is not enough"
		: without ? "copies overlap, a NOP keeps them apart"
			  : "no overlap was seen");
	probe_close();
}

/* --- 20: peers ---------------------------------------------------------------------------------- */

static void peers(void)
{
	static const char *const names[] = {"no sharing", "moved to system memory", "direct"};
	struct tuff_device *device = test_device(), *other = test_other_device();
	enum tuff_peer there, back;

	if (!CHECK_OK(tuff_peer_access(device, other, &there)) || !CHECK_OK(tuff_peer_access(other, device, &back)))
		return;
	test_note("ANSWER 20: the other device reaches VRAM of %s: %s; and the other way: %s", test_info()->path,
		  names[there], names[back]);
}

#define PROBE TEST_PROBE
#define RISKY (TEST_PROBE | TEST_RESETS)

const struct device_test tests_probe_copy[] = {
	{"probe/06-long-copy", "whether gfx90a's COPY has more than 22 bits of count", long_copy_gfx90a, PROBE},
	{"probe/06-long-copy-elsewhere", "the same on other chips, where nobody does so", long_copy_elsewhere,
	 RISKY},
	{"probe/07-long-copy-gfx10", "whether SDMA 5.0's COPY has more than 22 bits of count", long_copy_gfx10,
	 RISKY | TEST_ANY_CHIP},
	{"probe/10-copy-and-l2", "whether the copy engine sees what is only in L2", copy_and_l2,
	 PROBE | TEST_ANY_CHIP},
	{"probe/19-poll-retries", "what a poll of the copy engine does when it gives up", poll_retries, RISKY},
	{"probe/24-dependent-copies", "whether copies of one job overlap", dependent_copies, PROBE},
	{"probe/20-peers", "whether two cards reach each other's VRAM", peers, PROBE},
	{NULL, NULL, NULL, 0},
};

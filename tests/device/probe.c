/* Common frame of all probes. */
#include "tests/device/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define SENTINEL   0xa5
#define SENTINEL_B (256u << 10)
#define PAGE_B     4096u
#define QUEUES_MAX 16
#define WORDS_MAX  32

static struct {
	struct test_memory gtt, vram;
	struct {
		char *first, *last; /* guard pages; borrowed: from the test */
	} guard[WORDS_MAX];
	struct tuff_queue *queue[QUEUES_MAX];
	unsigned guards, queues;
	bool lost, vram_lost;
} lab;

/* --- memory ----------------------------------------------------------------------------------- */

void probe_open(void)
{
	lab.gtt = test_gtt(SENTINEL_B);
	lab.vram = test_vram(SENTINEL_B);
	memset(lab.gtt.map, SENTINEL, SENTINEL_B);
	if (tuff_fill(test_device(), (void *)(uintptr_t)lab.vram.va, SENTINEL, SENTINEL_B, NULL, 0, NULL))
		test_fail("the sentinel in VRAM cannot be filled");
}

struct test_memory probe_words(uint64_t size_B)
{
	uint64_t inner_B = (size_B + PAGE_B - 1) / PAGE_B * PAGE_B;
	struct test_memory m = test_uncached(inner_B + 2 * PAGE_B);

	if (lab.guards == WORDS_MAX)
		test_fail("more than %u memories with guards", WORDS_MAX);
	lab.guard[lab.guards].first = m.map;
	lab.guard[lab.guards].last = (char *)m.map + PAGE_B + inner_B;
	memset(lab.guard[lab.guards].first, SENTINEL, PAGE_B);
	memset(lab.guard[lab.guards].last, SENTINEL, PAGE_B);
	lab.guards++;
	m.map = (char *)m.map + PAGE_B;
	m.va += PAGE_B;
	return m;
}

static bool untouched(const void *memory, size_t size_B)
{
	const unsigned char *p = memory;

	return p[0] == SENTINEL && !memcmp(p, p + 1, size_B - 1);
}

static void check_vram_sentinel(void)
{
	char *copy = malloc(SENTINEL_B);
	int r = copy ? tuff_copy(test_device(), copy, (void *)(uintptr_t)lab.vram.va, SENTINEL_B, NULL, 0, NULL)
		     : -ENOMEM;

	if (lab.vram_lost || (r == -ECANCELED && lab.lost))
		test_note("(a reset took VRAM or the copy queue along: what is in VRAM was not compared)");
	else if (CHECK_OK(r))
		CHECK(untouched(copy, SENTINEL_B));
	free(copy);
}

/* --- queues ----------------------------------------------------------------------------------- */

struct tuff_queue *probe_queue(enum tuff_engine engine, unsigned ring)
{
	struct tuff_queue_create_info info = {.engine = engine, .ring = ring};
	int r;

	if (lab.queues == QUEUES_MAX)
		test_fail("more than %u queues", QUEUES_MAX);
	r = tuff_queue_create(test_device(), &info, &lab.queue[lab.queues]);
	if (r)
		test_fail("no queue on ring %u of engine %u (%d)", ring, engine, r);
	return lab.queue[lab.queues++];
}

struct tuff_queue *probe_other_queue(void)
{
	if (test_info()->compute_rings > 1)
		return probe_queue(TUFF_COMPUTE, 1);
	if (!test_info()->copy_rings)
		test_skip("needs a second ring");
	return probe_queue(TUFF_COPY, 0);
}

/* A new queue writes a word. The kernel may need some seconds to come back after a reset. */
static void check_new_queue(void)
{
	struct tuff_queue_create_info info = {.engine = TUFF_COMPUTE};
	struct test_memory m = test_uncached(PAGE_B);

	for (unsigned tries = 0; tries < (lab.lost ? 10 : 1) && !probe_get(&m, 0); tries++) {
		struct tuff_queue *queue;
		struct tuff_point point;
		struct tuff_cmd *cmd;

		probe_sleep(tries * 1000000000ull);
		if (tuff_queue_create(test_device(), &info, &queue))
			continue;
		if (!tuff_begin(queue, 0, &cmd) && !tuff_cmd_write(cmd, m.va, &(uint32_t){1}, 1) &&
		    !tuff_submit(cmd, NULL, &point))
			(void)!tuff_wait(point, PROBE_SOON_NS);
		CHECK_OK(tuff_queue_destroy(queue));
	}
	CHECK_EQ(probe_get(&m, 0), 1);
}

void probe_close(void)
{
	while (lab.queues)
		CHECK_OK(tuff_queue_destroy(lab.queue[--lab.queues]));
	check_new_queue();
	CHECK(untouched(lab.gtt.map, SENTINEL_B));
	for (unsigned i = 0; i < lab.guards; i++)
		CHECK(untouched(lab.guard[i].first, PAGE_B) && untouched(lab.guard[i].last, PAGE_B));
	check_vram_sentinel();
}

/* --- jobs ------------------------------------------------------------------------------------- */

struct tuff_cmd *probe_begin(struct tuff_queue *queue)
{
	struct tuff_cmd *cmd;
	int r = tuff_begin(queue, 0, &cmd);

	if (r)
		test_fail("no job can be begun (%d)", r);
	return cmd;
}

struct tuff_point probe_submit(struct tuff_cmd *cmd)
{
	struct tuff_point point;
	int r = tuff_submit(cmd, NULL, &point);

	if (r)
		test_fail("a job cannot be submitted (%d)", r);
	return point;
}

void probe_packet(struct tuff_cmd *cmd, const uint32_t *dw, unsigned count)
{
	int r = tuff_cmd_packet(cmd, dw, count);

	if (r)
		test_fail("a packet cannot be written (%d)", r);
}

enum probe_end probe_wait(struct tuff_point point, int64_t timeout_ns)
{
	struct tuff_queue_status status = {0};
	int r = tuff_wait(point, timeout_ns);

	if (r == -ETIMEDOUT)
		return PROBE_LATE;
	/* The kernel marks a job that it killed as ended. */
	if (!r && point.queue)
		r = tuff_queue_query(point.queue, &status);
	if (r == -ECANCELED || status.lost) {
		lab.lost = true;
		return PROBE_LOST;
	}
	if (r)
		test_fail("a job cannot be waited for (%d)", r);
	return PROBE_DONE;
}

enum probe_end probe_settle(struct tuff_point point)
{
	enum probe_end end = probe_wait(point, PROBE_WATCHDOG_NS);

	if (end == PROBE_LATE)
		test_fail("after %lld s the job is neither done nor reset", PROBE_WATCHDOG_NS / 1000000000);
	return end;
}

enum probe_end probe_finish(struct tuff_cmd *cmd)
{
	return probe_settle(probe_submit(cmd));
}

const char *probe_says(enum probe_end end)
{
	static const char *const words[] = {"the job ended", "the job had not ended",
					    "the ring hung and was reset"};

	return words[end];
}

void probe_note_loss(struct tuff_queue *queue)
{
	struct tuff_queue_status status;

	if (tuff_queue_query(queue, &status))
		return;
	lab.vram_lost |= status.vram_lost;
	test_note("  after that: the queue is %s, %s, VRAM %s", status.lost ? "lost" : "alive",
		  status.guilty ? "guilty" : "not guilty", status.vram_lost ? "lost" : "kept");
}

void probe_lose(bool vram_lost)
{
	lab.lost = true;
	lab.vram_lost |= vram_lost;
}

/* --- words ------------------------------------------------------------------------------------ */

void probe_set(const struct test_memory *words, unsigned index, uint32_t value)
{
	__atomic_store_n((uint32_t *)words->map + index, value, __ATOMIC_SEQ_CST);
}

uint32_t probe_get(const struct test_memory *words, unsigned index)
{
	return __atomic_load_n((uint32_t *)words->map + index, __ATOMIC_SEQ_CST);
}

uint64_t probe_get64(const struct test_memory *words, unsigned index)
{
	return __atomic_load_n((uint64_t *)words->map + index / 2, __ATOMIC_SEQ_CST);
}

void probe_sleep(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	nanosleep(&t, NULL);
}

/* --- packets ---------------------------------------------------------------------------------- */

void probe_wait_word(struct tuff_cmd *cmd, enum probe_compare compare, uint64_t va, uint32_t reference,
		     uint32_t interval)
{
	const uint32_t dw[] = {PM4(0x3c, 6), compare | 1 << 4, LO(va), HI(va), reference, ~0u, interval};

	probe_packet(cmd, dw, 7);
}

void probe_mark(struct tuff_cmd *cmd, uint64_t va, uint32_t value)
{
	const uint32_t dw[] = {PM4(0x37, 4), 5 << 8 | 1 << 20, LO(va), HI(va), value};

	probe_packet(cmd, dw, 5);
}

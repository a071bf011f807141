/* Submission: order, dependencies between rings, chaining, flow control, timestamps, data blocks. */
#include <errno.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

static struct stack s;
static struct cs_code *code;

static void a_long_ib_is_chained(void)
{
	struct vm_mem *m = stack_gtt(&s, 1 << 20);
	uint32_t *w = m->map;
	struct cs_point point;
	struct cs_ib *ib;
	bool right = true;

	memset(w, 0, 1 << 20);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	/* 100,000 dwords in 50-dword packets: many chunks */
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t data[50];

		for (uint32_t k = 0; k < 50; k++)
			data[k] = i * 50 + k + 1;
		cs_ib_write(ib, m->va + i * 200, data, 50);
	}
	CHECK_EQ(cs_submit(ib, NULL, &point), 0);
	CHECK_EQ(cs_point_wait(point, CS_FOREVER), 0);
	for (uint32_t i = 0; i < 100000; i++)
		right &= w[i] == i + 1;
	CHECK(right);
	vm_mem_destroy(m);
}

static void an_ib_beyond_the_pool_is_refused(void)
{
	struct vm_mem *m = stack_gtt(&s, 4096);
	uint32_t data[50] = {0};
	struct cs_ib *ib;

	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	for (uint32_t i = 0; i < 30000; i++)
		cs_ib_write(ib, m->va, data, 50);
	CHECK_EQ(cs_submit(ib, NULL, NULL), -ENOMEM);
	/* and the ring goes on */
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	cs_ib_write(ib, m->va, (const uint32_t[]){77}, 1);
	CHECK_EQ(cs_submit(ib, NULL, NULL), 0);
	CHECK_EQ(cs_point_wait(cs_ring_last(s.ring), CS_FOREVER), 0);
	CHECK_EQ(*(uint32_t *)m->map, 77);
	vm_mem_destroy(m);
}

static void an_abandoned_ib_leaves_no_trace(void)
{
	struct vm_mem *m = stack_gtt(&s, 4096);
	struct cs_point before = cs_ring_last(s.ring);
	struct cs_ib *ib;

	*(uint32_t *)m->map = 1;
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	cs_ib_write(ib, m->va, (const uint32_t[]){2}, 1);
	cs_abandon(ib);
	CHECK_EQ(cs_ring_last(s.ring).seq, before.seq);
	CHECK_EQ(*(uint32_t *)m->map, 1);
	vm_mem_destroy(m);
}

static void many_jobs_stay_in_order(void)
{
	struct vm_mem *m = stack_gtt(&s, 4096);
	struct {
		uint64_t data;
		uint32_t value;
	} args = {m->va, 0};
	struct stack_launch launch = {
		.code = code, .kernel = "k_add", .grid = {256}, .group = {64}, .args = &args, .args_B = 12};
	uint32_t want = 5;
	struct cs_point point;

	for (unsigned i = 0; i < 256; i++)
		((uint32_t *)m->map)[i] = 5;
	for (uint32_t i = 0; i < 500; i++) {
		args.value = i;
		want = want * 3 + i;
		if (!CHECK_EQ(stack_submit(&s, &launch, &point), 0))
			break;
	}
	CHECK_EQ(cs_point_wait(point, CS_FOREVER), 0);
	CHECK_EQ(((uint32_t *)m->map)[0], want);
	CHECK_EQ(((uint32_t *)m->map)[255], want);
	vm_mem_destroy(m);
}

/* Compute writes, SDMA copies, compute on another ring goes on, each behind the one before. */
static void rings_wait_for_each_other(void)
{
	struct vm_mem *a = stack_gtt(&s, 4096), *b = stack_gtt(&s, 4096);
	struct cs_ring *dma, *other;
	struct cs_point point, after;
	struct cs_ib *ib;
	uint32_t want = 1;

	CHECK_EQ(cs_ring_create(s.ctx, DRV_IP_DMA, 0, sdma_print, &dma), 0);
	CHECK_EQ(cs_ring_create(s.ctx, DRV_IP_COMPUTE, 1, cs_pm4_print, &other), 0);
	CHECK_EQ(cs_ring_create(s.ctx, DRV_IP_COMPUTE, 31, cs_pm4_print, &other), -EINVAL);
	*(uint32_t *)a->map = 1;
	after = cs_ring_last(s.ring);
	for (uint32_t i = 0; i < 50; i++) {
		struct {
			uint64_t data;
			uint32_t value;
		} args = {a->va, i};
		struct cs_dispatch d = {.grid = {1, 1, 1}, .group = {1, 1, 1}, .args = &args, .args_B = 12};

		CHECK_EQ(cs_code_kernel(code, "k_add", &d.kernel), 0);
		CHECK_EQ(cs_begin(i & 1 ? other : s.ring, 0, &ib), 0);
		CHECK_EQ(cs_ib_dispatch(ib, &d), 0);
		CHECK_EQ(cs_submit(ib, &(struct cs_order){.after = &after, .after_count = 1}, &point), 0);
		CHECK_EQ(cs_begin(dma, 0, &ib), 0);
		sdma_copy(ib, b->va, a->va, 4);
		sdma_barrier(ib);
		sdma_copy(ib, a->va, b->va, 4);
		CHECK_EQ(cs_submit(ib, &(struct cs_order){.after = &point, .after_count = 1}, &after), 0);
		want = want * 3 + i;
	}
	CHECK_EQ(cs_point_wait(after, CS_FOREVER), 0);
	CHECK_EQ(*(uint32_t *)b->map, want);
	cs_ring_destroy(dma);
	cs_ring_destroy(other);
	vm_mem_destroy(a);
	vm_mem_destroy(b);
}

static void a_wait_can_time_out_and_nowait_does_not_block(void)
{
	struct vm_mem *word = stack_gtt(&s, 4096);
	_Atomic uint32_t *w = word->map;
	struct cs_point point, last;
	struct cs_ib *ib;
	unsigned jobs = 0;
	int r = 0;

	*w = 0;
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	cs_ib_wait_word(ib, word->va, 1);
	CHECK_EQ(cs_submit(ib, NULL, &point), 0);
	CHECK_EQ(cs_point_poll(point), 0);
	CHECK_EQ(cs_point_wait(point, 0), -ETIMEDOUT);
	CHECK_EQ(cs_point_wait(point, 2000000), -ETIMEDOUT);
	while (!r && jobs < 100) {
		r = cs_begin(s.ring, CS_NOWAIT, &ib);
		if (r)
			break;
		CHECK_EQ(cs_submit(ib, NULL, &last), 0);
		jobs++;
	}
	CHECK_EQ(r, -EBUSY);
	CHECK_EQ(jobs, CS_JOBS_MAX - 1);
	*w = 1;
	CHECK_EQ(cs_point_wait(last, CS_FOREVER), 0);
	CHECK_EQ(cs_point_poll(point), 1);
	vm_mem_destroy(word);
}

static void clocks_run_forward(void)
{
	struct vm_mem *m = stack_gtt(&s, 4096);
	uint64_t *t = m->map, now;
	struct cs_ring *dma;
	struct cs_point point;
	struct cs_ib *ib;

	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	cs_ib_clock(ib, m->va);
	cs_ib_release_clock(ib, m->va + 8);
	cs_ib_release_value(ib, m->va + 16, 0x123456789abcdefull);
	CHECK_EQ(cs_submit(ib, NULL, &point), 0);
	CHECK_EQ(cs_ring_create(s.ctx, DRV_IP_DMA, 0, sdma_print, &dma), 0);
	CHECK_EQ(cs_begin(dma, 0, &ib), 0);
	sdma_timestamp(ib, m->va + 24);
	sdma_fence(ib, m->va + 32, 9);
	CHECK_EQ(cs_submit(ib, &(struct cs_order){.after = &point, .after_count = 1}, &point), 0);
	CHECK_EQ(cs_point_wait(point, CS_FOREVER), 0);
	CHECK_EQ(drv_timestamp(s.dev, &now), 0);
	CHECK(t[0] && t[0] <= t[1] && t[1] <= t[3] && t[3] <= now);
	/* less than a minute of counter ticks apart */
	CHECK(now - t[0] < 60000ull * s.dev->facts.counter_kHz);
	CHECK_EQ(t[2], 0x123456789abcdefll);
	CHECK_EQ(t[4], 9);
	cs_ring_destroy(dma);
	vm_mem_destroy(m);
}

static void bad_dispatches_are_refused(void)
{
	const struct cs_kernel *kernel;
	struct cs_ib *ib;
	uint64_t big[64] = {0};

	CHECK_EQ(cs_code_kernel(code, "k_reverse", &kernel), 0);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	static const struct {
		uint32_t grid[3], group[3], lds_B, args_B;
	} bad[] = {
		{{0, 1, 1}, {1, 1, 1}, 0, 8},     {{1, 1, 1}, {0, 1, 1}, 0, 8},
		{{1, 1, 1}, {1025, 1, 1}, 0, 8},  {{1, 1, 1}, {33, 32, 1}, 0, 8},
		{{1, 1, 1}, {1, 1, 1}, 65537, 8}, {{1, 1, 1}, {1, 1, 1}, 0xffffffff, 8},
		{{1, 1, 1}, {1, 1, 1}, 0, 17},    {{1, 1, 1}, {0x10000, 0x10000, 1}, 0, 8},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cs_dispatch d = {
			.kernel = kernel, .args = big, .args_B = bad[i].args_B, .dynamic_lds_B = bad[i].lds_B};

		memcpy(d.grid, bad[i].grid, sizeof(d.grid));
		memcpy(d.group, bad[i].group, sizeof(d.group));
		CHECK_EQ(cs_ib_dispatch(ib, &d), -EINVAL);
	}
	cs_abandon(ib);
	CHECK_EQ(cs_code_kernel(code, "no_such", &kernel), -ENOENT);
	CHECK_EQ(cs_code_kernel(code, "", &kernel), -ENOENT);
}

/* A job without a packet, and one whose data comes before its first packet. */
static void empty_jobs_are_jobs(void)
{
	struct cs_ring *dma;
	struct cs_point point;
	struct cs_ib *ib;
	uint64_t va;

	CHECK_EQ(cs_ring_create(s.ctx, DRV_IP_DMA, 1, sdma_print, &dma), 0);
	CHECK_EQ(cs_begin(dma, 0, &ib), 0);
	CHECK_EQ(cs_submit(ib, NULL, &point), 0);
	CHECK_EQ(cs_point_wait(point, CS_FOREVER), 0);
	CHECK_EQ(cs_begin(dma, 0, &ib), 0);
	for (unsigned i = 0; i < 5; i++) {
		uint32_t *block = cs_ib_data(ib, CS_DATA_MAX_B, 256, &va);

		CHECK(block && va % 256 == 0);
		block[0] = i;
	}
	CHECK_EQ(cs_submit(ib, NULL, &point), 0);
	CHECK_EQ(cs_point_wait(point, CS_FOREVER), 0);
	CHECK_EQ(cs_begin(dma, 0, &ib), 0);
	CHECK(!cs_ib_data(ib, CS_DATA_MAX_B + 1, 16, &va));
	CHECK_EQ(cs_submit(ib, NULL, &point), -EINVAL);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	for (unsigned i = 0; i < 9; i++)
		CHECK(cs_ib_data(ib, CS_DATA_MAX_B, 16, &va));
	CHECK_EQ(cs_submit(ib, NULL, &point), 0);
	CHECK_EQ(cs_point_wait(point, CS_FOREVER), 0);
	CHECK_EQ(cs_ctx_lost(s.ctx), 0);
	cs_ring_destroy(dma);
}

#define ACQUIRE_WITH_ICACHE 0x28C40000u

/* New code may lie where old code lay: the instruction cache is invalidated by a job that really runs, and for code
 * that is loaded while a job is written. */
static void code_is_never_hidden_by_the_instruction_cache(void)
{
	struct cs_dispatch d = {.grid = {1, 1, 1}, .group = {1, 1, 1}};
	struct cs_code *more;
	const uint32_t *before;
	struct cs_ib *ib;

	CHECK_EQ(stack_load(&s, "group", 1, &more), 0);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	CHECK_EQ(ib->segment[0].map[1], ACQUIRE_WITH_ICACHE);
	cs_abandon(ib);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	CHECK_EQ(ib->segment[0].map[1], ACQUIRE_WITH_ICACHE);
	CHECK_EQ(cs_submit(ib, NULL, NULL), 0);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	CHECK_EQ(ib->segment[0].map[1], 0x08C40000);
	cs_code_unload(more);
	CHECK_EQ(stack_load(&s, "group", 3, &more), 0);
	CHECK_EQ(cs_code_kernel(more, "k_empty", &d.kernel), 0);
	before = ib->cur;
	CHECK_EQ(cs_ib_dispatch(ib, &d), 0);
	CHECK(before[0] == 0xC0055800 && before[1] & 1u << 29);
	CHECK_EQ(cs_submit(ib, NULL, NULL), 0);
	CHECK_EQ(cs_point_wait(cs_ring_last(s.ring), CS_FOREVER), 0);
	cs_code_unload(more);
}

/* What the kernel asks to be tried again is tried again. */
static void passing_failures_are_retried(void)
{
	static const int errors[] = {ENOMEM, EAGAIN, EINTR};

	for (unsigned i = 0; i < 3; i++) {
		unsigned long before = vgpu_ioctl_count_nr(0x44); /* CS */

		vgpu_inject_ioctl_nr(0x44, 1, errors[i]);
		CHECK_EQ(stack_run(&s, &(struct stack_launch){.code = code, .kernel = "k_empty"}), 0);
		CHECK_EQ(vgpu_ioctl_count_nr(0x44) - before, 2);
	}
	CHECK_EQ(cs_ctx_lost(s.ctx), 0);
}

int main(void)
{
	CHECK_EQ(vgpu_start("gfx908"), 0);
	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 3, &code), 0))
		return check_done("submission");
	a_long_ib_is_chained();
	an_ib_beyond_the_pool_is_refused();
	an_abandoned_ib_leaves_no_trace();
	many_jobs_stay_in_order();
	rings_wait_for_each_other();
	a_wait_can_time_out_and_nowait_does_not_block();
	clocks_run_forward();
	bad_dispatches_are_refused();
	empty_jobs_are_jobs();
	code_is_never_hidden_by_the_instruction_cache();
	passing_failures_are_retried();
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
	return check_done("submission");
}

/* Submission from inside: ioctls that the kernel wants repeated, the instruction cache, dispatches that the emitter
 * refuses. Jobs as their user sees them: tests/device/submit.c. */
#include <errno.h>
#include <stdlib.h>

#include "drv/status.h"
#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

static struct stack s;
static struct cs_code *code;

static void an_abandoned_ib_leaves_no_trace(void)
{
	struct vm_mem *m = stack_gtt(&s, 4096);
	struct cs_fence before = cs_ring_last(s.ring);
	struct cs_ib *ib;

	*(uint32_t *)m->map = 1;
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	cs_ib_write(ib, m->va, (const uint32_t[]){2}, 1);
	cs_abandon(ib);
	CHECK_EQ(cs_ring_last(s.ring).seq, before.seq);
	CHECK_EQ(*(uint32_t *)m->map, 1);
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
		uint32_t grid[3], group[3], lds_B, args_B; /* lds_B: more than the kernel's own */
	} bad[] = {
		{{0, 1, 1}, {1, 1, 1}, 0, 8},     {{1, 1, 1}, {0, 1, 1}, 0, 8},
		{{1, 1, 1}, {1025, 1, 1}, 0, 8},  {{1, 1, 1}, {33, 32, 1}, 0, 8},
		{{1, 1, 1}, {1, 1, 1}, 65537, 8}, {{1, 1, 1}, {1, 1, 1}, 0xffffffff, 8},
		{{1, 1, 1}, {1, 1, 1}, 0, 17},    {{1, 1, 1}, {0x10000, 0x10000, 1}, 0, 8},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cs_launch d = {.kernel = kernel, .lds_B = kernel->lds_B + bad[i].lds_B};

		memcpy(d.grid, bad[i].grid, sizeof(d.grid));
		memcpy(d.group, bad[i].group, sizeof(d.group));
		CHECK_EQ(cs_ib_dispatch(ib, &d, big, bad[i].args_B), -EINVAL);
	}
	cs_abandon(ib);
	CHECK_EQ(cs_code_kernel(code, "no_such", &kernel), -ENOENT);
	CHECK_EQ(cs_code_kernel(code, "", &kernel), -ENOENT);
}

#define ACQUIRE_WITH_ICACHE 0x28C40000u

/* New code may lie where old code lay, of this process or another: each job begins with the instruction cache
 * invalidated. */
static void code_is_never_hidden_by_the_instruction_cache(void)
{
	struct cs_ib *ib;

	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
		CHECK_EQ(ib->segment[0].map[1], ACQUIRE_WITH_ICACHE);
		CHECK_EQ(cs_submit(ib, NULL, NULL), 0);
	}
	CHECK_EQ(cs_fence_wait(cs_ring_last(s.ring), CS_FOREVER), 0);
}

/* A job that is being submitted may name memory that is unlisted meanwhile: its fence is waited for, too. */
static void a_ring_settles_when_its_job_is_submitted(void)
{
	struct cs_fence before, fence;
	struct cs_ib *ib;

	fence = before = cs_ring_last(s.ring);
	CHECK(cs_fence_settle(&fence)); /* idle */
	CHECK_EQ(fence.seq, before.seq);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	CHECK(!cs_fence_settle(&fence));
	CHECK_EQ(cs_submit(ib, NULL, NULL), 0);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0); /* another one, which lists it no more */
	CHECK(cs_fence_settle(&fence));
	CHECK(fence.seq > before.seq);
	cs_abandon(ib);
	CHECK_EQ(cs_fence_wait(fence, CS_FOREVER), 0);
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

/* Commands lie in VRAM where the CPU reaches all of it and nothing caches them. */
static void commands_lie_in_vram(const char *spec, bool yes)
{
	struct drv_usage usage;

	CHECK_EQ(vgpu_start(spec), 0);
	if (CHECK_EQ(stack_open(&s), 0)) {
		/* Nothing else of a new ring lies there. */
		CHECK_EQ(drv_usage_memory(s.dev, &usage), 0);
		CHECK_EQ(usage.vram_B > 0, yes);
		stack_close(&s);
	}
	vgpu_stop();
}

int main(void)
{
	commands_lie_in_vram("gfx906", true);
	commands_lie_in_vram("gfx906:bar=256M", false);
	commands_lie_in_vram("gfx908:kernel=6.12", false);
	commands_lie_in_vram("gfx908:kernel=6.18", true);
	commands_lie_in_vram("gfx90c", false);
	CHECK_EQ(vgpu_start("gfx908"), 0);
	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 3, &code), 0))
		return check_done("submission");
	an_abandoned_ib_leaves_no_trace();
	bad_dispatches_are_refused();
	code_is_never_hidden_by_the_instruction_cache();
	a_ring_settles_when_its_job_is_submitted();
	passing_failures_are_retried();
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
	return check_done("submission");
}

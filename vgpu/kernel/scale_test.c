/* Many buffers, many jobs: the work for one does not grow with their number, nor does the shared segment with time.
 */
#include <stdlib.h>
#include "vgpu/kernel/core.h"
#include "vgpu/kernel/test_rig.h"

enum { MANY = 100000, PARTS = 10, ROUNDS = 3000 };

#define PART (MANY / PARTS)

static uint64_t segment_used_B(void)
{
	uint64_t used_B;

	kern_lock();
	used_B = kern->heap_next;
	kern_unlock();
	return used_B;
}

/* Creates and maps one part of them; what it took. */
static double part(uint32_t *handle, uint64_t va)
{
	double begin = rig_now();
	unsigned bad = 0;

	for (unsigned i = 0; i < PART; i++) {
		bad += rig_create(4096, i & 1 ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT,
				  AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &handle[i]) != 0;
		bad += rig_va(AMDGPU_VA_OP_MAP, handle[i], va + 4096ull * i, 4096, RIG_RWX) != 0;
	}
	CHECK_EQ(bad, 0);
	return rig_now() - begin;
}

/* Opening, mapping and closing: what the last tenth takes is printed beside the first. A quadratic step would make
 * it minutes; the runner's time limit is what such a step fails at, not a threshold here. */
static void a_hundred_thousand_buffers(void)
{
	uint32_t *handle = calloc(MANY, sizeof(*handle));
	double first = 0, last = 0, begin;
	unsigned bad = 0;

	if (!CHECK(handle))
		return;
	for (unsigned i = 0; i < PARTS; i++) {
		last = part(handle + i * PART, 0x10000000 + 4096ull * PART * i);
		first = i ? first : last;
	}
	printf("%u buffers: %.2f us each in the first tenth, %.2f in the last", MANY, first / PART * 1e6,
	       last / PART * 1e6);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	begin = rig_now();
	for (unsigned i = 0; i < MANY; i++) /* in an order of their own */
		bad += rig_close(handle[(uint64_t)i * 7919 % MANY]) != 0;
	CHECK_EQ(bad, 0);
	printf(", closing %.2f us\n", (rig_now() - begin) / MANY * 1e6);
	free(handle);
}

/* A program's life in short: memory comes and goes, lists change, jobs run, contexts are made anew. */
static void live(unsigned round)
{
	uint32_t bo, list;

	CHECK_EQ(rig_create(4096u << round % 5, round & 1 ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT,
			    AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &bo),
		 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, RIG_HOLE_VA, 4096, RIG_RWX), 0);
	list = rig_list(&bo, 1);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(rig_submit(list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
	if (round % 16 == 0) {
		CHECK_EQ(rig_ctx_free(rig.ctx), 0);
		rig.ctx = rig_ctx();
	}
}

static void a_long_run_does_not_grow(void)
{
	uint64_t before_B;

	for (unsigned i = 0; i < 200; i++)
		live(i);
	before_B = segment_used_B();
	for (unsigned i = 0; i < ROUNDS; i++)
		live(i);
	if (!CHECK(segment_used_B() - before_B <= 64 << 10)) /* jobs may overlap their ends in another way */
		printf("  it grew by %llu bytes\n", (unsigned long long)(segment_used_B() - before_B));
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("null:gfx908");
	a_long_run_does_not_grow();
	rig_stop();
	rig_start("null:gfx908");
	a_hundred_thousand_buffers();
	rig_stop();
	return check_done("scale");
}

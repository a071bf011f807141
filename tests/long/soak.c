/* Many jobs: neither the driver's memory nor the kernel's objects grow, and sequence numbers, chunks and slabs wrap
 * around. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"
#include "vm/suballoc.h"

static long resident_KiB(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file && fscanf(file, "%*d %ld", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int round_trip(struct stack *s, struct cs_code *code, struct vm_mem *m, uint32_t value)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {m->va, value};
	struct vm_info info = {.size_B = 1 + value * 977 % 9000, .kind = VM_GTT, .flags = VM_CPU};
	struct vm_suballoc piece;
	struct cs_fence point;
	int r = vm_suballoc_create(s->vm, &info, &piece);

	r = r ? r
	      : stack_submit(s,
			     &(struct stack_launch){.code = code, .kernel = "k_add", .args = &args, .args_B = 12},
			     &point);
	if (!r && value % 7 == 0)
		r = cs_fence_wait(point, CS_FOREVER);
	vm_suballoc_destroy(&piece);
	return r;
}

static void soak(const char *spec, unsigned jobs, bool executes)
{
	struct stack s;
	struct cs_code *code;
	struct vm_stats early, late;
	struct vm_mem *m;
	uint32_t want = 1;
	long before_KiB = 0;

	if (!CHECK_EQ(vgpu_start(spec), 0) || !CHECK_EQ(stack_open(&s), 0) ||
	    !CHECK_EQ(stack_load(&s, "group", 3, &code), 0))
		return;
	m = stack_gtt(&s, 4096);
	*(uint32_t *)m->map = want;
	for (unsigned i = 0; i < jobs; i++) {
		if (i == jobs / 4) {
			vm_stats(s.vm, &early);
			before_KiB = resident_KiB();
		}
		if (!CHECK_EQ(round_trip(&s, code, m, i), 0))
			break;
		want = want * 3 + i;
	}
	CHECK_EQ(cs_fence_wait(cs_ring_last(s.ring), CS_FOREVER), 0);
	vm_stats(s.vm, &late);
	CHECK(late.bos <= early.bos + 2);
	CHECK(resident_KiB() < before_KiB + 4096);
	if (executes)
		CHECK_EQ(*(uint32_t *)m->map, want);
	vm_mem_destroy(m);
	cs_code_unload(code);
	stack_close(&s);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

int main(void)
{
	soak("null:gfx908", 300000, false);
	soak("gfx906", 50000, true);
	return check_done("350,000 jobs");
}

/* Global wave sync: the workgroups of a whole grid synchronize on a ring whose jobs list the resource; on other
 * rings they cannot. */
#include <stdlib.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define ROUNDS 5u

static struct stack s;
static struct cs_code *code;

static int init(uint32_t others, uint32_t resource)
{
	const uint32_t args[2] = {others, resource};

	return stack_run(
		&s, &(struct stack_launch){code, "k_gws_init", {1}, {1}, .args = args, .args_B = sizeof(args)});
}

/* So many groups hand numbers on around the grid. */
static void hand_around(unsigned groups)
{
	unsigned items = groups * 64, wrong = 0;
	struct vm_mem *a = stack_gtt(&s, items * 4ull), *b = stack_gtt(&s, items * 4ull);
	struct {
		uint64_t from, to;
		uint32_t groups, rounds;
	} args;
	const uint32_t *got;

	if (!CHECK(a && b))
		return;
	args.from = a->va;
	args.to = b->va;
	args.groups = groups;
	args.rounds = ROUNDS;
	for (unsigned i = 0; i < items; i++)
		((uint32_t *)a->map)[i] = i;
	CHECK_EQ(init(groups - 1, 0), 0);
	CHECK_EQ(stack_run(&s,
			   &(struct stack_launch){
				   code, "k_around", {items}, {64}, .args = &args, .args_B = sizeof(args)}),
		 0);
	got = ROUNDS % 2 ? b->map : a->map;
	for (unsigned i = 0; i < items; i++)
		wrong += got[i] != (i / 64 + ROUNDS) % groups * 64 + i % 64 + ROUNDS;
	CHECK_EQ(wrong, 0);
	vm_mem_destroy(a);
	vm_mem_destroy(b);
}

/* A job that does not list it has none of it, also when the vm has. */
static void others_have_none(void)
{
	unsigned long before = vgpu_findings();

	vgpu_strict_set(VGPU_STRICT_REPORT);
	CHECK_EQ(init(0, 0), 0);
	CHECK_EQ(vgpu_findings() - before, 1);
	CHECK_EQ(vm_gws_create(s.vm), 0);
	CHECK_EQ(init(0, 0), 0);
	CHECK_EQ(vgpu_findings() - before, 2);
	vgpu_strict_set(VGPU_STRICT_FATAL);
}

/* The lists of such jobs keep no memory alive. */
static void what_is_freed_goes(void)
{
	struct drv_usage before, after;
	struct vm_mem *m;
	uint32_t list;

	CHECK_EQ(vm_list(s.vm, &list), 0);
	CHECK_EQ(drv_usage_memory(s.dev, &before), 0);
	m = stack_gtt(&s, 8 << 20);
	CHECK(m != NULL);
	CHECK_EQ(init(0, 0), 0);
	vm_mem_destroy(m);
	CHECK_EQ(vm_list(s.vm, &list), 0);
	CHECK_EQ(drv_usage_memory(s.dev, &after), 0);
	CHECK_EQ(after.gtt_B, before.gtt_B);
}

static void on(const char *chip)
{
	printf(" %s\n", chip);
	if (!CHECK_EQ(vgpu_start(chip), 0) || !CHECK_EQ(stack_open(&s), 0) ||
	    !CHECK_EQ(stack_load(&s, "group", 3, &code), 0))
		exit(1);
	others_have_none();
	CHECK_EQ(cs_ring_use_gws(s.ring), 0);
	hand_around(2);
	hand_around(s.dev->facts.cus);
	what_is_freed_goes();
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
}

int main(void)
{
	on("gfx906");
	on("gfx908:kernel=6.1");
	on("gfx90a:kernel=7.0");
	on("gfx942");
	return check_done("global wave sync");
}

/* Loading code objects: defined and undefined symbols, in all formats, with and without VRAM that the CPU maps; and
 * truncated or damaged objects, which leave no memory and no address behind. */
#include <errno.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/code/code.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

static void bad_code_objects_leave_nothing(void)
{
	struct stack s;
	struct vm_stats before, after;
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx906");
	uint8_t *copy = malloc(blob->size_B);
	struct cs_code *code;
	unsigned refused = 0;
	uint64_t seed = 3;

	if (!CHECK_EQ(stack_open(&s), 0))
		return;
	vm_stats(s.vm, &before);
	CHECK_EQ(cs_code_load(s.vm, NULL, 0, NULL, &code), -ENOEXEC);
	for (unsigned i = 0; i < 600; i++) {
		size_t size_B = i < 200 ? blob->size_B * i / 200 : blob->size_B;

		memcpy(copy, blob->image, blob->size_B);
		if (i >= 200)
			for (unsigned k = 0; k < 8; k++)
				copy[test_random(&seed) % (i & 1 ? 8192 : blob->size_B)] = test_random(&seed);
		if (cs_code_load(s.vm, copy, size_B, NULL, &code))
			refused++;
		else
			cs_code_unload(code);
	}
	CHECK(refused > 250);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.ranges, before.ranges);
	free(copy);
	stack_close(&s);
}

/* Who defines what variables.c leaves open: another code object. */
struct definer {
	struct stack *stack;
	struct cs_code *outside;
	unsigned uploads;
};

static int resolve(void *user, const char *name, uint64_t *va)
{
	const struct definer *d = user;
	const struct cs_variable *found;
	int r = d->outside ? cs_code_variable(d->outside, name, &found) : -ENOENT;

	if (!r)
		*va = found->va;
	return r;
}

static int upload(void *user, uint64_t va, const void *from, uint64_t size_B)
{
	struct definer *d = user;

	d->uploads++;
	return sdma_copier_upload(d->stack->copier, va, from, size_B);
}

static int load_as(struct definer *d, const char *name, const char *target, struct cs_code **code)
{
	const struct shader_blob *blob = shader_find(code_blobs, name, target);
	const struct cs_code_hooks hooks = {.resolve = resolve, .upload = upload, .user = d};

	return cs_code_load(d->stack->vm, blob->image, blob->size_B, &hooks, code);
}

/* What the kernels see is what the files say: 7 is bumped through the other unit's kernel. */
static void run_variables(struct stack *s, struct cs_code *code)
{
	static const uint32_t want[] = {12, 0, 5, 11, 12, 41, 99};
	struct vm_mem *out = stack_gtt(s, sizeof(want));
	uint32_t by = 5;

	if (!CHECK(out))
		return;
	CHECK_EQ(stack_run(s, &(struct stack_launch){.code = code, .kernel = "bump", .args = &by, .args_B = 4}), 0);
	CHECK_EQ(stack_run(
			 s,
			 &(struct stack_launch){.code = code, .kernel = "read_all", .args = &out->va, .args_B = 8}),
		 0);
	for (unsigned i = 0; i < 7; i++)
		CHECK_EQ(((uint32_t *)out->map)[i], want[i]);
	vm_mem_destroy(out);
}

static void check_symbols(const struct cs_code *code)
{
	const struct cs_variable *v;
	const struct cs_kernel *k;

	CHECK(!cs_code_variable(code, "counter", &v) && v->size_B == 4 && !v->constant && v->global);
	CHECK(!cs_code_variable(code, "table", &v) && v->size_B == 256 && v->align_B >= 256 && !(v->va % 256));
	CHECK(!cs_code_variable(code, "primes", &v) && v->size_B == 16 && v->constant);
	CHECK(v && cs_code_map(code, v->va) && ((const uint32_t *)cs_code_map(code, v->va))[3] == 7);
	CHECK(!cs_code_variable(code, "weak_one", &v) && !v->global);
	CHECK_EQ(cs_code_variable(code, "outside", &v), -ENOENT);
	CHECK(!cs_code_kernel(code, "read_all", &k) && k->kernarg_B >= 8 && k->args_align_B == 16 && k->global);
	CHECK(k && !cs_kernel_dynamic_stack(k) && cs_code_kernel_by_va(code, k->descriptor_va) == k);
	CHECK(!cs_code_kernel(code, "bump", &k) && k->explicit_B == 4);
	CHECK(!cs_code_kernel_by_va(code, k->descriptor_va + 64) && !cs_code_kernel_at(code, 2));
}

static void load_and_run(const char *target, const char *format)
{
	struct stack s;
	struct definer d = {.stack = &s};
	struct cs_code *code;
	char name[32], outside[32];
	bool small_bar;

	snprintf(name, sizeof(name), "variables.%s", format);
	snprintf(outside, sizeof(outside), "outside.%s", format);
	if (!CHECK_EQ(stack_open(&s), 0))
		return;
	CHECK_EQ(load_as(&d, name, target, &code), -ENOENT);
	CHECK(strstr(drv_error_last()->text, "needs outside"));
	CHECK_EQ(load_as(&d, outside, target, &d.outside), 0);
	if (CHECK_EQ(load_as(&d, name, target, &code), 0)) {
		small_bar = s.dev->facts.visible_vram.total_B < s.dev->facts.vram.total_B;
		CHECK_EQ(d.uploads, small_bar ? 2 : 0);
		check_symbols(code);
		run_variables(&s, code);
		cs_code_unload(code);
	}
	cs_code_unload(d.outside);
	stack_close(&s);
}

static void without_hooks_everything_must_be_defined(void)
{
	const struct shader_blob *blob = shader_find(code_blobs, "variables.v5", "gfx906");
	struct cs_code *code;
	struct stack s;

	if (!CHECK_EQ(stack_open(&s), 0))
		return;
	CHECK_EQ(cs_code_load(s.vm, blob->image, blob->size_B, NULL, &code), -ENOTSUP);
	stack_close(&s);
}

int main(void)
{
	CHECK_EQ(vgpu_start("gfx906"), 0);
	bad_code_objects_leave_nothing();
	load_and_run("gfx906", "v4");
	load_and_run("gfx906", "v5");
	load_and_run("gfx9-generic", "v6");
	without_hooks_everything_must_be_defined();
	vgpu_stop();
	CHECK_EQ(vgpu_start("gfx906:bar=256M"), 0);
	load_and_run("gfx906", "v5");
	vgpu_stop();
	CHECK_EQ(vgpu_start("gfx90c"), 0);
	load_and_run("gfx900", "v5");
	vgpu_stop();
	return check_done("loading code objects");
}

/* What goes wrong on the GPU: kernels that never end, addresses that are not mapped, illegal instructions, and code
 * objects that are no good. Each gives a clear error, and the next context works. */
#include <errno.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

/* A healthy context runs a kernel. */
static void still_works(void)
{
	struct stack s;
	struct cs_code *code;
	struct vm_mem *m;
	uint32_t *w;
	struct {
		uint64_t data;
		uint32_t value;
	} args = {0, 4};

	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 3, &code), 0))
		return;
	m = stack_gtt(&s, 4096);
	w = m->map;
	w[0] = 2;
	args.data = m->va;
	CHECK_EQ(
		stack_run(&s, &(struct stack_launch){.code = code, .kernel = "k_add", .args = &args, .args_B = 12}),
		0);
	CHECK_EQ(w[0], 10);
	vm_mem_destroy(m);
	cs_code_unload(code);
	stack_close(&s);
}

/* Runs one launch that ruins its context; what the wait says, and that all later work fails. */
static void ruin(const char *kernel, uint64_t arg)
{
	struct stack s;
	struct cs_code *code;
	struct cs_point first, second;
	struct vm_mem *zero;
	struct stack_launch launch = {.kernel = kernel, .args_B = 8};
	struct sdma_job copy;
	struct cs_ib *ib;
	int r;

	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 3, &code), 0))
		return;
	zero = stack_gtt(&s, 4096);
	memset(zero->map, 0, 4096);
	if (!arg)
		arg = zero->va;
	launch.code = code;
	launch.args = &arg;
	CHECK_EQ(stack_submit(&s, &launch, &first), 0);
	/* The kernel may have noticed already. */
	r = stack_submit(&s, &(struct stack_launch){.code = code, .kernel = "k_empty"}, &second);
	CHECK(r == 0 || r == -ECANCELED);
	CHECK_EQ(cs_point_wait(first, CS_FOREVER), -ECANCELED);
	CHECK(strstr(drv_error_last()->text, r ? "the context was lost" : "context lost"));
	if (!r)
		CHECK_EQ(cs_point_wait(second, CS_FOREVER), -ECANCELED);
	CHECK_EQ(cs_point_poll(first), -ECANCELED);
	CHECK_EQ(cs_ctx_lost(s.ctx), -ECANCELED);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), -ECANCELED);
	CHECK_EQ(cs_ctx_check(s.ctx), -ECANCELED);
	/* Copies have a context of their own. */
	copy = (struct sdma_job){
		.dst = {zero->va + 64, SDMA_GTT, false}, .src = {zero->va, SDMA_GTT, false}, .size_B = 64};
	CHECK_EQ(sdma_copier_copy(s.copier, &copy), 0);
	CHECK_EQ(cs_point_wait(copy.point, CS_FOREVER), 0);
	vm_mem_destroy(zero);
	cs_code_unload(code);
	stack_close(&s);
	still_works();
}

static void an_unmapped_address_is_reported(void)
{
	struct stack s;
	struct cs_code *code;
	struct {
		uint64_t at;
		uint32_t value;
	} args = {0x7abc00001000, 1};
	struct stack_launch launch = {.kernel = "k_store", .args = &args, .args_B = 12};

	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 1, &code), 0))
		return;
	launch.code = code;
	CHECK_EQ(stack_run(&s, &launch), -EFAULT);
	CHECK(strstr(drv_error_last()->text, "vector memory wrote page 0x7abc00001000"));
	/* reported once, whichever context asks; the context lives on */
	CHECK_EQ(cs_ctx_check(s.ctx), 0);
	args.at = 8;
	CHECK_EQ(stack_run(&s, &launch), -EFAULT);
	CHECK(strstr(drv_error_last()->text, "page 0x0"));
	cs_code_unload(code);
	stack_close(&s);
	still_works();
}

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
	CHECK_EQ(cs_code_load(s.vm, NULL, 0, &code), -ENOEXEC);
	for (unsigned i = 0; i < 600; i++) {
		size_t size_B = i < 200 ? blob->size_B * i / 200 : blob->size_B;

		memcpy(copy, blob->image, blob->size_B);
		if (i >= 200)
			for (unsigned k = 0; k < 8; k++)
				copy[stack_random(&seed) % (i & 1 ? 8192 : blob->size_B)] = stack_random(&seed);
		if (cs_code_load(s.vm, copy, size_B, &code))
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

int main(void)
{
	/* The watchdog counts modelled GPU time; 200 ms of it are enough for a test. */
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(vgpu_start("gfx906:watchdog_ms=200"), 0);
	still_works();
	ruin("k_endless", 0);
	ruin("k_illegal", 0);
	an_unmapped_address_is_reported();
	bad_code_objects_leave_nothing();
	vgpu_stop();
	return check_done("loss and recovery");
}

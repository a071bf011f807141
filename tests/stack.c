#include "tests/stack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int stack_open_at(struct stack *s, unsigned index, struct vm *beside)
{
	struct drv_node nodes[DRV_NODES_MAX];
	size_t count;
	int r = drv_scan(nodes, DRV_NODES_MAX, &count);

	*s = (struct stack){0};
	if (!r && index >= count)
		r = -ENODEV;
	r = r ? r : drv_device_open(&nodes[index], &s->dev);
	r = r ? r : beside ? vm_create_shared(beside, s->dev, &s->vm) : vm_create(s->dev, &s->vm);
	r = r ? r : cs_ctx_create(s->vm, CS_PRIORITY_NORMAL, &s->ctx);
	r = r ? r : cs_ring_create(s->ctx, DRV_IP_COMPUTE, 0, cs_pm4_print, &s->ring);
	r = r ? r : sdma_copier_create(s->vm, &s->copier);
	if (r)
		stack_close(s);
	return r;
}

int stack_open(struct stack *s)
{
	return stack_open_at(s, 0, NULL);
}

void stack_close(struct stack *s)
{
	sdma_copier_destroy(s->copier);
	cs_ring_destroy(s->ring);
	cs_ctx_destroy(s->ctx);
	vm_destroy(s->vm);
	drv_device_close(s->dev);
	*s = (struct stack){0};
}

int stack_load(struct stack *s, const char *name, int level, struct cs_code **code)
{
	const struct shader_blob *blob;
	char full[64];

	snprintf(full, sizeof(full), "%s.O%d", name, level);
	blob = shader_for(test_blobs, full, s->dev->chip);
	return blob ? cs_code_load(s->vm, blob->image, blob->size_B, NULL, code) : -ENOENT;
}

static struct vm_mem *make(struct stack *s, uint64_t size_B, enum vm_kind kind, unsigned flags)
{
	struct vm_info info = {.size_B = size_B, .kind = kind, .flags = flags};
	struct vm_mem *mem;

	return vm_mem_create(s->vm, &info, &mem) ? NULL : mem;
}

struct vm_mem *stack_gtt(struct stack *s, uint64_t size_B)
{
	return make(s, size_B, VM_GTT, VM_CPU);
}

struct vm_mem *stack_vram(struct stack *s, uint64_t size_B)
{
	return make(s, size_B, VM_VRAM, 0);
}

int stack_submit(struct stack *s, const struct stack_launch *launch, struct cs_fence *point)
{
	struct cs_launch d = {0};
	struct cs_ib *ib;
	int r = cs_code_kernel(launch->code, launch->kernel, &d.kernel);

	for (unsigned i = 0; i < 3; i++) {
		d.grid[i] = launch->grid[i] ? launch->grid[i] : 1;
		d.group[i] = launch->group[i] ? launch->group[i] : 1;
	}
	r = r ? r : cs_begin(s->ring, CS_ORDERED, &ib);
	if (r)
		return r;
	d.lds_B = d.kernel->lds_B + launch->dynamic_lds_B;
	r = cs_ib_dispatch(ib, &d, launch->args, launch->args_B);
	if (r) {
		cs_abandon(ib);
		return r;
	}
	return cs_submit(ib, NULL, point);
}

int stack_run(struct stack *s, const struct stack_launch *launch)
{
	struct cs_fence point;
	int r = stack_submit(s, launch, &point);

	r = r ? r : cs_fence_wait(point, CS_FOREVER);
	return r ? r : cs_ctx_check(s->ctx);
}

int stack_add(struct stack *s, struct cs_code *code, uint64_t va, uint32_t value)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {va, value};

	return stack_run(
		s,
		&(struct stack_launch){
			.code = code, .kernel = "k_add", .grid = {64}, .group = {64}, .args = &args, .args_B = 12});
}

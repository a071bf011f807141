/* Fails the n-th ioctl, and the n-th allocation, for every n, of a program that uses all rooms. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/inject.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"
#include "vm/host.h"
#include "vm/peer.h"
#include "vm/suballoc.h"

/* --- the program ------------------------------------------------------------------------------ */

static int compute(struct stack *s, struct cs_code *code, struct vm_mem *m)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {m->va, 7};
	struct {
		uint64_t out;
		uint32_t count;
	} scratch_args = {m->va + 4096, 64};
	int r;

	((uint32_t *)m->map)[3] = 5;
	r = stack_run(
		s,
		&(struct stack_launch){
			.code = code, .kernel = "k_add", .grid = {64}, .group = {64}, .args = &args, .args_B = 12});
	if (!r && ((uint32_t *)m->map)[3] != 22)
		return -EIO;
	return r ? r
		 : stack_run(s, &(struct stack_launch){.code = code,
						       .kernel = "k_scratch",
						       .grid = {64},
						       .group = {64},
						       .args = &scratch_args,
						       .args_B = 12});
}

static int copies(struct stack *s, struct vm_mem *m)
{
	static uint8_t host[3 << 20];
	struct vm_mem *vram = stack_vram(s, sizeof(host));
	struct sdma_job in = {.size_B = sizeof(host), .src = {(uintptr_t)host, SDMA_PAGEABLE, true}}, out, fill;
	int r;

	if (!vram)
		return -ENOMEM;
	in.dst = (struct sdma_end){vram->va, SDMA_VRAM, false};
	host[sizeof(host) - 1] = 99;
	r = sdma_copier_copy(s->copier, &in);
	fill = (struct sdma_job){.dst = in.dst, .size_B = 4096, .after = &in.fence, .after_count = 1};
	r = r ? r : sdma_copier_fill(s->copier, &fill, 1);
	out = (struct sdma_job){.size_B = 8192,
				.src = in.dst,
				.dst = {m->va, SDMA_GTT, true},
				.after = &fill.fence,
				.after_count = 1};
	r = r ? r : sdma_copier_copy(s->copier, &out);
	r = r ? r : cs_fence_wait(out.fence, CS_FOREVER);
	if (!r && ((uint8_t *)m->map)[4095] != 1)
		r = -EIO;
	vm_mem_destroy(vram);
	return r;
}

/* A chained IB, a ring that waits for another, clocks, and an IB that is dropped. */
static int submission(struct stack *s, struct vm_mem *m)
{
	const uint32_t data[50] = {[49] = 6};
	struct cs_ring *dma;
	struct cs_fence point;
	struct cs_ib *ib;
	int r = cs_ring_create(s->ctx, DRV_IP_DMA, 1, sdma_print, &dma);

	if (r)
		return r;
	r = cs_begin(s->ring, 0, &ib);
	if (!r)
		cs_abandon(ib);
	r = r ? r : cs_begin(s->ring, CS_ORDERED, &ib);
	for (unsigned i = 0; !r && i < 600; i++)
		cs_ib_write(ib, m->va, data, 50);
	r = r ? r : cs_submit(ib, NULL, &point);
	r = r ? r : cs_begin(dma, 0, &ib);
	if (!r) {
		sdma_copy(ib, m->va + 1000, m->va + 196, 4);
		sdma_timestamp(ib, m->va + 1008);
		r = cs_submit(ib, &(struct cs_submit_info){.after = &point, .after_count = 1}, &point);
	}
	r = r ? r : cs_fence_wait(point, CS_FOREVER);
	if (!r && ((uint32_t *)m->map)[250] != 6)
		r = -EIO;
	cs_ring_destroy(dma);
	return r;
}

/* Host memory: overlapping registrations, kept from children, found by address; and memory of a node. */
static int host_memory(struct stack *s)
{
	static uint32_t host[8192] __attribute__((aligned(4096)));
	struct vm_register all = {.host = host, .size_B = sizeof(host), .flags = VM_REGISTER_DONTFORK};
	struct vm_register part = {.host = host + 1024, .size_B = 8000, .flags = VM_REGISTER_ALIAS};
	struct vm_mem *a, *b = NULL, *node = NULL;
	int r = vm_mem_register(s->vm, &all, &a);

	if (r)
		return r;
	r = vm_mem_register(s->vm, &part, &b);
	if (!r && (vm_find(s->vm, b->va + 7999) != b || !vm_find(s->vm, (uintptr_t)host)))
		r = -EIO;
	r = r ? r : vm_mem_create_on_node(s->vm, 3 << 20, 0, VM_STRICT, &node);
	vm_mem_destroy(a);
	vm_mem_destroy(node);
	vm_mem_destroy(b);
	return r;
}

/* A buffer that is exported, imported twice, and shared with another file description. */
static int sharing(struct stack *s)
{
	struct vm_info info = {.size_B = 900, .kind = VM_GTT, .flags = VM_CPU};
	struct vm_mem *mem, *a = NULL, *b = NULL, *c = NULL;
	struct drv_device *dev = NULL;
	struct vm *vm = NULL;
	int fd = -1, r = vm_mem_create(s->vm, &info, &mem);

	if (r)
		return r;
	*(uint32_t *)mem->map = 4711;
	r = vm_bo_export(mem->bo, &fd);
	r = r ? r : vm_mem_import(s->vm, fd, &a);
	r = r ? r : drv_device_open(&s->dev->node, &dev);
	r = r ? r : vm_create_shared(s->vm, dev, &vm);
	r = r ? r : vm_mem_import(vm, fd, &b);
	r = r ? r : vm_mem_share(vm, a, &c);
	/* The CPU's view is what an import may lack. */
	if (!r && ((a->map && *(uint32_t *)a->map != 4711) || (b->map && *(uint32_t *)b->map != 4711) ||
		   *(uint32_t *)mem->map != 4711))
		r = -EIO;
	if (fd >= 0)
		close(fd);
	vm_mem_destroy(c);
	vm_mem_destroy(b);
	vm_destroy(vm);
	drv_device_close(dev);
	vm_mem_destroy(mem);
	vm_mem_destroy(a);
	return r;
}

static int submit_nothing(struct vm *vm, void *arg)
{
	struct cs_ring *ring = arg;
	struct cs_ib *ib;
	int r = cs_ring_vm(ring) == vm ? cs_begin(ring, 0, &ib) : -EINVAL;

	r = r ? r : cs_submit(ib, NULL, NULL);
	return r ? r : cs_fence_wait(cs_ring_last(ring), CS_FOREVER);
}

/* The second device: is it a peer of the first? */
static int peers(struct stack *s)
{
	struct drv_node nodes[DRV_NODES_MAX];
	struct drv_device *dev = NULL;
	struct cs_ring *ring = NULL;
	struct cs_ctx *ctx = NULL;
	struct vm *vm = NULL;
	enum vm_peer peer;
	size_t count;
	int r = drv_scan(nodes, DRV_NODES_MAX, &count);

	r = r ? r : count < 2 ? -ENODEV : drv_device_open(&nodes[1], &dev);
	r = r ? r : vm_create_shared(s->vm, dev, &vm);
	r = r ? r : cs_ctx_create(vm, CS_PRIORITY_NORMAL, &ctx);
	r = r ? r : cs_ring_create(ctx, DRV_IP_COMPUTE, 0, cs_pm4_print, &ring);
	r = r ? r : vm_peer_probe(s->vm, vm, submit_nothing, ring, &peer);
	cs_ring_destroy(ring);
	cs_ctx_destroy(ctx);
	vm_destroy(vm);
	drv_device_close(dev);
	return r;
}

/* Bindings of two BOs in one range, moved, cut and protected; high addresses; memory that must be in VRAM. */
static int bindings(struct stack *s)
{
	const unsigned all = VM_GPU_READ | VM_GPU_WRITE | VM_CPU_READ | VM_CPU_WRITE;
	struct vm_info info = {.size_B = 8 * 4096, .kind = VM_GTT, .flags = VM_CPU},
		       strict = {.size_B = 4096, .kind = VM_VRAM, .flags = VM_STRICT};
	struct vm_range_request want = {.size_B = 16 * 4096},
				high = {.size_B = 16 * 4096, .flags = VM_REQUEST_HIGH};
	struct vm_range range = {0}, alias = {0};
	struct vm_bo *bo[2] = {NULL, NULL}, *vram = NULL;
	int r = vm_bo_create(s->vm, &info, &bo[0]);

	r = r ? r : vm_bo_create(s->vm, &info, &bo[1]);
	r = r ? r : vm_bo_create(s->vm, &strict, &vram);
	r = r ? r : vm_range_reserve(s->vm, &want, &range);
	r = r ? r : vm_range_reserve(s->vm, &high, &alias);
	r = r ? r : vm_range_bind(&range, 0, bo[0], 0, 8 * 4096, all);
	r = r ? r : vm_range_bind(&range, 8 * 4096, bo[1], 0, 8 * 4096, all);
	r = r ? r : vm_range_bind(&alias, 4096, bo[1], 4096, 4096, VM_GPU_READ);
	r = r ? r : vm_range_rebind(&range, 4 * 4096, bo[1], 2 * 4096, 4096, all);
	r = r ? r : vm_range_unbind(&range, 6 * 4096, 4 * 4096);
	r = r ? r : vm_range_protect(&range, 4096, 4 * 4096, VM_GPU_READ | VM_CPU_READ);
	r = r ? r : vm_range_protect(&range, 2 * 4096, 4096, all);
	if (!r)
		*(volatile uint32_t *)(uintptr_t)(range.va + 2 * 4096) = 1;
	vm_range_release(&alias);
	vm_range_release(&range);
	vm_bo_put(vram);
	vm_bo_put(bo[1]);
	vm_bo_put(bo[0]);
	return r;
}

/* Two workgroups that meet by global wave sync. */
static int whole_grid(struct stack *s, struct cs_code *code, struct vm_mem *m)
{
	const uint32_t init[2] = {1, 0};
	struct {
		uint64_t from, to;
		uint32_t groups, rounds;
	} args = {m->va, m->va + 4096, 2, 2};
	int r = cs_ring_use_gws(s->ring);

	r = r ? r : stack_run(s, &(struct stack_launch){code, "k_gws_init", {1}, {1}, .args = init, .args_B = 8});
	((uint32_t *)m->map)[64] = 7;
	r = r ? r
	      : stack_run(s, &(struct stack_launch){code, "k_around", {128}, {64}, .args = &args, .args_B = 24});
	return r ? r : ((uint32_t *)m->map)[64] == 9 ? 0 : -EIO;
}

static int program(void)
{
	struct cs_code *code = NULL;
	struct vm_suballoc piece = {0};
	struct vm_info info = {.size_B = 700, .kind = VM_GTT, .flags = VM_CPU};
	struct vm_mem *m;
	struct stack s;
	int r = stack_open(&s);

	if (r)
		return r;
	m = stack_gtt(&s, 16384);
	r = m ? stack_load(&s, "group", 3, &code) : -ENOMEM;
	r = r ? r : vm_suballoc_create(s.vm, &info, &piece);
	r = r ? r : compute(&s, code, m);
	r = r ? r : submission(&s, m);
	r = r ? r : whole_grid(&s, code, m);
	r = r ? r : copies(&s, m);
	r = r ? r : host_memory(&s);
	r = r ? r : sharing(&s);
	r = r ? r : bindings(&s);
	r = r ? r : peers(&s);
	/* Nothing of ours may be in use when it is freed; a failed submission left nothing running. */
	(void)!cs_fence_wait(cs_ring_last(s.ring), CS_FOREVER);
	vm_suballoc_destroy(&piece);
	cs_code_unload(code);
	sdma_copier_destroy(s.copier);
	s.copier = NULL;
	vm_mem_destroy(m);
	stack_close(&s);
	return r;
}

int main(void)
{
	/* A failed unmap leaves a mapping behind for the kernel to remove with the file: a finding, and not ours.
	 */
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(vgpu_start("gfx908,gfx908"), 0);
	inject_every_failure(program);
	vgpu_stop();
	return check_done("every failure is survived");
}

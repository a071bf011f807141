/* B1 and related rows: user instructions and locked operations of the driver's hot paths on the null device,
 * without those of the virtual device, and above the bare ioctl; compared with libdrm_amdgpu's own calls.
 * Instructions are exact; no time is measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <amdgpu.h>
#include <tuff/tuff.h>

#include "cs/internal.h"
#include "tests/bench/outside.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"
#include "vm/suballoc.h"

#define TRIES 5

static struct stack s;
static struct cs_ring *bare_ring; /* whose job is submitted again and again */
static struct cs_code *code;
struct dispatch {
	struct cs_launch launch;
	const void *args;
	uint32_t args_B;
};
static struct dispatch empty, with_args;
static struct cs_fence reached;
static union drm_amdgpu_cs again;

static void idle(void)
{
	(void)!cs_fence_wait(cs_ring_last(s.ring), CS_FOREVER);
}

/* The same job once more, by nothing but the ioctl: its IB is still there. */
static void bare_ioctl(void *arg)
{
	union drm_amdgpu_cs args = again;

	(void)arg;
	if (ioctl(s.dev->fd, DRM_IOCTL_AMDGPU_CS, &args))
		abort();
}

static void submit_empty(void *arg)
{
	struct cs_ib *ib;

	(void)arg;
	if (cs_begin(s.ring, 0, &ib) || cs_submit(ib, NULL, NULL))
		abort();
}

/* Submits an IB that is already written. */
static void submit_written(void *arg)
{
	if (cs_submit(arg, NULL, NULL))
		abort();
}

static int put(struct cs_ib *ib, const struct dispatch *d)
{
	return cs_ib_dispatch(ib, &d->launch, d->args, d->args_B);
}

static void launch(void *arg)
{
	struct cs_ib *ib;

	if (cs_begin(s.ring, 0, &ib) || put(ib, arg) || cs_submit(ib, NULL, NULL))
		abort();
}

static void launch_100(void *arg)
{
	struct cs_ib *ib;

	if (cs_begin(s.ring, 0, &ib))
		abort();
	for (unsigned i = 0; i < 100; i++)
		if (put(ib, arg))
			abort();
	if (cs_submit(ib, NULL, NULL))
		abort();
}

/* The same through include/tuff/: a device of its own, with handles looked up at every call. */
static struct {
	struct tuff_device *device;
	struct tuff_queue *queue;
	struct tuff_code *code;
	struct tuff_dispatch dispatch;
	struct tuff_point point;
} embed;

static void embed_open_all(const void *args)
{
	const struct shader_blob *blob = shader_find(test_blobs, "group.O3", "gfx908");
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};

	if (tuff_device_open(NULL, &embed.device) || tuff_queue_create(embed.device, &compute, &embed.queue) ||
	    tuff_code_load(embed.device, blob->image, blob->size_B, &embed.code) ||
	    tuff_code_kernel(embed.code, "k_store", &embed.dispatch.kernel))
		abort();
	embed.dispatch.args = args;
	embed.dispatch.args_B = 12;
}

static void embed_close_all(void)
{
	if (tuff_queue_destroy(embed.queue) || tuff_code_unload(embed.code) || tuff_device_close(embed.device))
		abort();
}

static void embed_launch(void *arg)
{
	struct tuff_cmd *cmd;

	(void)arg;
	if (tuff_begin(embed.queue, 0, &cmd) || tuff_cmd_dispatch(cmd, &embed.dispatch) ||
	    tuff_submit(cmd, NULL, &embed.point))
		abort();
}

static void embed_poll(void *arg)
{
	(void)arg;
	if (tuff_poll(embed.point) != 1)
		abort();
}

static void poll_reached(void *arg)
{
	(void)arg;
	if (cs_fence_poll(reached) != 1)
		abort();
}

static void wait_reached(void *arg)
{
	(void)arg;
	if (cs_fence_wait(reached, CS_FOREVER))
		abort();
}

static void piece(void *arg)
{
	struct vm_info info = {.size_B = 4096, .kind = VM_GTT, .flags = VM_CPU};
	struct vm_suballoc p;

	(void)arg;
	if (vm_suballoc_create(s.vm, &info, &p))
		abort();
	vm_suballoc_destroy(&p);
}

static void memory(void *arg)
{
	struct vm_info info = {.size_B = 65536, .kind = VM_GTT, .flags = VM_CPU};
	struct vm_mem *mem;

	(void)arg;
	if (vm_mem_create(s.vm, &info, &mem))
		abort();
	vm_mem_destroy(mem);
}

/* --- libdrm, on a description of its own ------------------------------------------------------ */

static struct {
	amdgpu_device_handle dev;
	amdgpu_context_handle ctx;
	amdgpu_bo_handle bo;
	amdgpu_va_handle va;
	amdgpu_bo_list_handle list;
	uint32_t raw_list, ctx_id;
	uint64_t ib_va;
} drm;

static amdgpu_bo_handle drm_memory(uint64_t size_B, uint64_t *va, amdgpu_va_handle *handle, void **map)
{
	struct amdgpu_bo_alloc_request request = {
		.alloc_size = size_B, .phys_alignment = 4096, .preferred_heap = AMDGPU_GEM_DOMAIN_GTT};
	amdgpu_bo_handle bo;

	if (amdgpu_bo_alloc(drm.dev, &request, &bo) ||
	    amdgpu_va_range_alloc(drm.dev, amdgpu_gpu_va_range_general, size_B, 4096, 0, va, handle, 0) ||
	    amdgpu_bo_va_op(bo, 0, size_B, *va, 0, AMDGPU_VA_OP_MAP) || amdgpu_bo_cpu_map(bo, map))
		abort();
	return bo;
}

static void drm_release(amdgpu_bo_handle bo, amdgpu_va_handle handle, uint64_t va, uint64_t size_B)
{
	amdgpu_bo_cpu_unmap(bo);
	amdgpu_bo_va_op(bo, 0, size_B, va, 0, AMDGPU_VA_OP_UNMAP);
	amdgpu_va_range_free(handle);
	amdgpu_bo_free(bo);
}

static void drm_list(void)
{
	struct drm_amdgpu_bo_list_entry entry = {0};

	if (amdgpu_bo_export(drm.bo, amdgpu_bo_handle_type_kms, &entry.bo_handle) ||
	    amdgpu_bo_list_create(drm.dev, 1, &drm.bo, NULL, &drm.list) ||
	    amdgpu_bo_list_create_raw(drm.dev, 1, &entry, &drm.raw_list))
		abort();
}

static void drm_open(void)
{
	uint32_t major, minor;
	void *map;

	if (amdgpu_device_initialize(s.dev->fd, &major, &minor, &drm.dev) ||
	    amdgpu_cs_ctx_create(drm.dev, &drm.ctx))
		abort();
	drm.bo = drm_memory(4096, &drm.ib_va, &drm.va, &map);
	for (unsigned i = 0; i < 8; i++)
		((uint32_t *)map)[i] = 0xffff1000; /* NOP */
	drm_list();
	/* libdrm hides the number; contexts of a description are numbered from 1 and this is the only one. */
	drm.ctx_id = 1;
}

static void drm_close(void)
{
	amdgpu_bo_list_destroy(drm.list);
	amdgpu_bo_list_destroy_raw(drm.dev, drm.raw_list);
	drm_release(drm.bo, drm.va, drm.ib_va, 4096);
	amdgpu_cs_ctx_free(drm.ctx);
	amdgpu_device_deinitialize(drm.dev);
}

/* What both of libdrm's calls come to. */
static void drm_bare(void *arg)
{
	struct drm_amdgpu_cs_chunk_ib ib = {.va_start = drm.ib_va, .ib_bytes = 32, .ip_type = AMDGPU_HW_IP_COMPUTE};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t pointer = (uintptr_t)&chunk;
	union drm_amdgpu_cs args = {
		.in.bo_list_handle = drm.raw_list, .in.num_chunks = 1, .in.chunks = (uintptr_t)&pointer};

	(void)arg;
	args.in.ctx_id = drm.ctx_id;
	if (ioctl(amdgpu_device_get_fd(drm.dev), DRM_IOCTL_AMDGPU_CS, &args))
		abort();
}

static void drm_submit(void *arg)
{
	struct amdgpu_cs_ib_info ib = {.ib_mc_address = drm.ib_va, .size = 8};
	struct amdgpu_cs_request request = {
		.ip_type = AMDGPU_HW_IP_COMPUTE, .number_of_ibs = 1, .ibs = &ib, .resources = drm.list};

	(void)arg;
	if (amdgpu_cs_submit(drm.ctx, 0, &request, 1))
		abort();
}

static void drm_submit_raw2(void *arg)
{
	struct drm_amdgpu_cs_chunk_ib ib = {.va_start = drm.ib_va, .ib_bytes = 32, .ip_type = AMDGPU_HW_IP_COMPUTE};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t seq;

	(void)arg;
	if (amdgpu_cs_submit_raw2(drm.dev, drm.ctx, drm.raw_list, 1, &chunk, &seq))
		abort();
}

static void drm_alloc(void *arg)
{
	amdgpu_va_handle handle;
	uint64_t va;
	void *map;
	amdgpu_bo_handle bo = drm_memory(65536, &va, &handle, &map);

	(void)arg;
	drm_release(bo, handle, va, 65536);
}

/* --- report ----------------------------------------------------------------------------------- */

static void row(const char *what, void (*fn)(void *), void *arg, int64_t minus)
{
	unsigned long ioctls;

	fn(arg);
	idle();
	ioctls = vgpu_ioctl_count();
	fn(arg);
	ioctls = vgpu_ioctl_count() - ioctls;
	idle();
	bench_print(what, bench_count(fn, arg, TRIES), minus, ioctls);
}

static void prepare_bare(void)
{
	struct cs_ib *ib;

	if (cs_ring_create(s.ctx, DRV_IP_COMPUTE, 1, cs_pm4_print, &bare_ring) || cs_begin(bare_ring, 0, &ib) ||
	    cs_submit(ib, NULL, NULL))
		abort();
}

/* B1 proper: the IB is written before the count begins. */
static void row_submit_written(int64_t bare)
{
	struct count least = {.instructions = UINT64_MAX};

	for (unsigned i = 0; i < TRIES; i++) {
		struct cs_ib *ib;
		struct count now;

		if (cs_begin(s.ring, 0, &ib))
			abort();
		now = bench_count(submit_written, ib, 1);
		least = now.instructions < least.instructions ? now : least;
		idle();
	}
	bench_print("tuff: submit of a written IB", least, bare, 1);
}

static int64_t prepare(void)
{
	static uint64_t args[3];

	if (stack_load(&s, "group", 3, &code) || cs_code_kernel(code, "k_empty", &empty.launch.kernel) ||
	    cs_code_kernel(code, "k_store", &with_args.launch.kernel))
		abort();
	with_args.args = args;
	with_args.args_B = 12;
	for (unsigned i = 0; i < 3; i++)
		empty.launch.grid[i] = empty.launch.group[i] = with_args.launch.grid[i] =
			with_args.launch.group[i] = 1;
	submit_empty(NULL);
	idle();
	reached = cs_ring_last(s.ring);
	prepare_bare();
	again.in.ctx_id = s.ctx->id;
	again.in.chunks = (uintptr_t)bare_ring->arg_pointer;
	again.in.num_chunks = 2;
	if (vm_list(s.vm, &again.in.bo_list_handle))
		abort();
	return (int64_t)bench_count(bare_ioctl, NULL, TRIES).instructions;
}

int main(void)
{
	int64_t bare;

	if (vgpu_start("null:gfx908") || stack_open(&s))
		return 1;
	bench_leave_out_device();
	bare = prepare();
	drm_open();
	printf("user instructions outside the null device, counted by %s\n", count_method());
	printf("%-46s %8s %10s %8s %8s\n", "", "all", "above bare", "locked", "ioctls");
	row("bare CS ioctl", bare_ioctl, NULL, bare);
	row_submit_written(bare);
	row("tuff: begin, submit", submit_empty, NULL, bare);
	row("tuff: begin, one dispatch, submit", launch, &empty, bare);
	row("tuff: begin, dispatch with arguments, submit", launch, &with_args, bare);
	row("tuff: begin, 100 dispatches, submit", launch_100, &with_args, bare);
	embed_open_all(with_args.args);
	row("tuff.h: begin, dispatch with arguments, submit", embed_launch, NULL, bare);
	if (tuff_wait(embed.point, TUFF_FOREVER))
		abort();
	row("tuff.h: poll a reached point", embed_poll, NULL, 0);
	embed_close_all();
	/* It has a chunk less to read than ours, which brings a user fence. */
	bare = (int64_t)bench_count(drm_bare, NULL, TRIES).instructions;
	row("bare CS ioctl as libdrm makes it", drm_bare, NULL, bare);
	row("libdrm: amdgpu_cs_submit_raw2", drm_submit_raw2, NULL, bare);
	row("libdrm: amdgpu_cs_submit", drm_submit, NULL, bare);
	row("tuff: poll a reached point", poll_reached, NULL, 0);
	row("tuff: wait for a reached point", wait_reached, NULL, 0);
	row("tuff: piece of 4 KiB from a slab, and back", piece, NULL, 0);
	row("tuff: 64 KiB of memory, mapped, and back", memory, NULL, 0);
	row("libdrm: 64 KiB of memory, mapped, and back", drm_alloc, NULL, 0);
	printf("Only hardware can tell: what the CS ioctl costs there (RADV measured 19.5 us on gfx11).\n");
	drm_close();
	cs_ring_destroy(bare_ring);
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
	return 0;
}

/* The public interface under failures: every ioctl and every allocation, a device that vanishes, a reset that
 * another program caused. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tuff/tuff.h>

#include "shaders/blob.h"
#include "tests/check.h"
#include "tests/inject.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

/* One of everything. */
struct things {
	struct tuff_device *device, *other;
	struct tuff_queue *compute, *copy;
	struct tuff_code *code;
	struct tuff_kernel *kernel;
	struct tuff_mem *mem, *vram, *host, *shared, *same;
	struct tuff_range *range;
	struct tuff_sync *sync;
	struct tuff_point point;
	uint64_t va, vram_va, range_va;
	void *map;
	char *page;
	int fd;
};

static int make_device(struct things *t)
{
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE}, copy = {.engine = TUFF_COPY};
	const struct shader_blob *blob = shader_find(test_blobs, "group.O3", "gfx908");
	int r = tuff_device_open(NULL, &t->device);

	r = r ? r : tuff_device_open("/dev/dri/renderD129", &t->other);
	r = r ? r : tuff_queue_create(t->device, &compute, &t->compute);
	r = r ? r : tuff_queue_create(t->device, &copy, &t->copy);
	r = r ? r : tuff_code_load(t->device, blob->image, blob->size_B, &t->code);
	r = r ? r : tuff_code_kernel(t->code, "k_add", &t->kernel);
	return r ? r : tuff_sync_create(t->device, false, &t->sync);
}

static int make_memory(struct things *t)
{
	struct tuff_mem_create_info gtt = {65536, TUFF_GTT, TUFF_MEM_CPU}, vram = {65536, TUFF_VRAM, 0};
	struct tuff_range_create_info range = {.size_B = 131072};
	struct tuff_mem_info info;
	int r = tuff_mem_create(t->device, &gtt, &t->mem);

	r = r ? r : tuff_mem_query(t->mem, &info);
	if (r)
		return r;
	t->va = info.va;
	t->map = info.map;
	r = tuff_mem_create(t->device, &vram, &t->vram);
	r = r ? r : tuff_mem_query(t->vram, &info);
	if (r)
		return r;
	t->vram_va = info.va;
	r = tuff_mem_register(t->device, t->page, 5000, 0, &t->host);
	r = r ? r : tuff_mem_export(t->mem, &t->fd);
	r = r ? r : tuff_mem_import(t->device, t->fd, 0, &t->same);
	r = r ? r : tuff_mem_share(t->vram, t->other, &t->shared);
	r = r ? r : tuff_range_create(t->device, &range, &t->range, &t->range_va);
	r = r ? r : tuff_range_bind(t->range, 4096, t->mem, 0, 65536, TUFF_ACCESS_READ_WRITE);
	r = r ? r : tuff_range_protect(t->range, 8192, 4096, TUFF_ACCESS_READ);
	return r ? r : tuff_range_unbind(t->range, 16384, 4096);
}

/* A copy to VRAM, a kernel on it, and a copy back, each behind the one before; then the copier. */
static int work(struct things *t)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {t->vram_va, 7};
	struct tuff_dispatch add = {
		.kernel = t->kernel, .grid = {64}, .group = {64}, .args = &args, .args_B = sizeof(args)};
	struct tuff_sync_point signal = {t->sync, 0};
	struct tuff_order order = {.after = &t->point, .after_count = 1, .signal = &signal, .signal_count = 1};
	char *back = (char *)t->map + 8192;
	struct tuff_cmd *cmd;
	int r = tuff_begin(t->copy, 0, &cmd);

	((uint32_t *)t->map)[3] = 5;
	if (r)
		return r;
	r = tuff_cmd_copy(cmd, t->vram_va, t->va, 4096);
	r = r ? tuff_abandon(cmd), r : tuff_submit(cmd, NULL, &t->point);
	r = r ? r : tuff_begin(t->compute, 0, &cmd);
	if (r)
		return r;
	r = tuff_cmd_dispatch(cmd, &add);
	r = r ? tuff_abandon(cmd), r : tuff_submit(cmd, &order, &t->point);
	r = r ? r : tuff_sync_wait(t->sync, 0, TUFF_FOREVER);
	r = r ? r : tuff_wait(t->point, TUFF_FOREVER);
	r = r ? r : tuff_copy(t->device, back, (void *)(uintptr_t)t->vram_va, 4096, &t->point, 1, NULL);
	if (!r && ((uint32_t *)back)[3] != 22)
		return -EIO;
	/* The GPU reads registered memory, and does not write it: ThreadSanitizer sees the virtual GPU's stores
	 * there, but not the sequence word that orders them. */
	r = r ? r : tuff_copy(t->device, back, t->page, 4096, NULL, 0, NULL);
	r = r ? r : tuff_fill(t->device, (void *)(uintptr_t)(t->range_va + 4096), 3, 4096, NULL, 0, &t->point);
	r = r ? r : tuff_wait(t->point, TUFF_FOREVER);
	return r ? r : tuff_device_check_fault(t->device);
}

/* Frees what there is, in whatever state; an object that does not go is an error. */
static int free_all(struct things *t)
{
	int r = 0;

	r |= tuff_queue_destroy(t->compute);
	r |= tuff_queue_destroy(t->copy);
	r |= tuff_range_destroy(t->range);
	r |= tuff_mem_destroy(t->shared);
	r |= tuff_mem_destroy(t->same);
	r |= tuff_mem_destroy(t->host);
	r |= tuff_mem_destroy(t->vram);
	r |= tuff_mem_destroy(t->mem);
	r |= tuff_sync_destroy(t->sync);
	r |= tuff_code_unload(t->code);
	r |= tuff_device_close(t->other);
	r |= tuff_device_close(t->device);
	if (t->fd >= 0)
		close(t->fd);
	free(t->page);
	return r;
}

static int program(void)
{
	struct things t = {.fd = -1, .page = aligned_alloc(4096, 8192)};
	int r;

	memset(t.page, 0, 8192);
	r = make_device(&t);
	r = r ? r : make_memory(&t);
	r = r ? r : work(&t);
	CHECK_EQ(free_all(&t), 0);
	return r;
}

/* After an unplug every call ends, with -ENODEV or -ECANCELED where it needs the device, and all can be freed. */
static void a_device_that_vanishes(void)
{
	struct things t = {.fd = -1, .page = aligned_alloc(4096, 8192)};
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};
	struct tuff_mem_create_info gtt = {4096, TUFF_GTT, TUFF_MEM_CPU};
	struct tuff_queue_status status;
	struct tuff_queue *queue;
	struct tuff_device_info info;
	struct tuff_usage usage;
	struct tuff_mem *mem;
	struct tuff_cmd *cmd;
	uint64_t ns;
	int r;

	CHECK_EQ(vgpu_start("gfx908:p2p=1,gfx908:p2p=1"), 0);
	memset(t.page, 0, 8192);
	CHECK_EQ(make_device(&t), 0);
	CHECK_EQ(make_memory(&t), 0);
	CHECK_EQ(work(&t), 0);
	/* a job that would never end of itself */
	CHECK_EQ(tuff_begin(t.compute, 0, &cmd), 0);
	CHECK_EQ(tuff_cmd_wait_value(cmd, t.va, 0xffffffff), 0);
	CHECK_EQ(tuff_submit(cmd, NULL, &t.point), 0);
	CHECK_EQ(vgpu_inject_unplug(0), 0);
	r = tuff_wait(t.point, TUFF_FOREVER);
	CHECK(r == -ENODEV || r == -ECANCELED);
	CHECK(tuff_poll(t.point) < 0);
	CHECK_EQ(tuff_mem_create(t.device, &gtt, &mem), -ENODEV);
	CHECK_EQ(tuff_queue_create(t.device, &compute, &queue), -ENODEV);
	r = tuff_begin(t.compute, 0, &cmd);
	CHECK(r == -ENODEV || r == -ECANCELED);
	r = tuff_begin(t.copy, 0, &cmd);
	r = r ? r : tuff_submit(cmd, NULL, NULL);
	CHECK_EQ(r, -ENODEV);
	CHECK(tuff_copy(t.device, t.map, (void *)(uintptr_t)t.vram_va, 4096, NULL, 0, NULL) < 0);
	CHECK_EQ(tuff_device_usage(t.device, &usage), -ENODEV);
	CHECK_EQ(tuff_device_time(t.device, 0, &ns), -ENODEV);
	CHECK_EQ(tuff_device_query(t.device, &info), 0);
	CHECK_EQ(tuff_sync_signal(t.sync, 0), -ENODEV);
	CHECK_EQ(tuff_range_bind(t.range, 0, t.mem, 0, 4096, TUFF_ACCESS_READ), -ENODEV);
	r = tuff_queue_query(t.compute, &status);
	CHECK(r == -ENODEV || status.lost);
	/* memory that the CPU maps stays, as long as it is mapped */
	memset(t.map, 1, 65536);
	/* the other device goes on */
	CHECK_EQ(tuff_queue_create(t.other, &compute, &queue), 0);
	CHECK_EQ(tuff_begin(queue, 0, &cmd), 0);
	CHECK_EQ(tuff_submit(cmd, NULL, &t.point), 0);
	CHECK_EQ(tuff_wait(t.point, TUFF_FOREVER), 0);
	CHECK_EQ(tuff_queue_destroy(queue), 0);
	CHECK_EQ(free_all(&t), 0);
	vgpu_stop();
}

/* A reset that loses VRAM takes the queues along; the copier and a new queue go on, and what the CPU writes anew is
 * there. */
static void a_reset_of_the_device(void)
{
	struct things t = {.fd = -1, .page = aligned_alloc(4096, 8192)};
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};
	struct tuff_queue_status status;

	CHECK_EQ(vgpu_start("gfx908:p2p=1,gfx908:p2p=1"), 0);
	memset(t.page, 0, 8192);
	CHECK_EQ(make_device(&t), 0);
	CHECK_EQ(make_memory(&t), 0);
	CHECK_EQ(work(&t), 0);
	CHECK_EQ(vgpu_inject_reset(0), 0);
	CHECK_EQ(tuff_queue_query(t.compute, &status), 0);
	CHECK(status.lost && status.vram_lost && !status.guilty);
	CHECK(work(&t) < 0);
	CHECK_EQ(tuff_queue_query(t.copy, &status), 0);
	CHECK(status.lost);
	CHECK_EQ(tuff_queue_destroy(t.compute), 0);
	CHECK_EQ(tuff_queue_destroy(t.copy), 0);
	CHECK_EQ(tuff_queue_create(t.device, &compute, &t.compute), 0);
	compute.engine = TUFF_COPY;
	CHECK_EQ(tuff_queue_create(t.device, &compute, &t.copy), 0);
	/* code was in VRAM */
	CHECK_EQ(tuff_code_unload(t.code), 0);
	CHECK_EQ(tuff_code_load(t.device, shader_find(test_blobs, "group.O3", "gfx908")->image,
				shader_find(test_blobs, "group.O3", "gfx908")->size_B, &t.code),
		 0);
	CHECK_EQ(tuff_code_kernel(t.code, "k_add", &t.kernel), 0);
	/* The first copy tells of the reset, for VRAM may be lost; the next one works. */
	CHECK_EQ(tuff_copy(t.device, t.map, (void *)(uintptr_t)t.vram_va, 4096, NULL, 0, NULL), -ECANCELED);
	CHECK_EQ(tuff_sync_reset(t.sync), 0);
	if (!CHECK_EQ(work(&t), 0))
		printf("  %s\n", tuff_error());
	CHECK_EQ(free_all(&t), 0);
	vgpu_stop();
}

/* --- a copy that fails halfway -------------------------------------------------------------------- */

#define CS       0x44
#define HALVES_B (2u << 20) /* two staging buffers */

static struct {
	struct tuff_device *device;
	struct tuff_point after;
	void *to;
	char *from;
	_Atomic bool begins;
	bool begun; /* `begins`, when the copy had failed */
	int r;
} halves;

static void *copy_halves(void *unused)
{
	struct tuff_point end;

	halves.r = tuff_copy(halves.device, halves.to, halves.from, HALVES_B, &halves.after, 1, &end);
	halves.begun = halves.begins;
	return unused;
}

/* Nobody has a point of the half that was submitted: it has ended when the call fails, so that the program may free
 * the memory. */
static void a_copy_that_fails_halfway_has_ended(void)
{
	struct tuff_mem_create_info gtt = {HALVES_B, TUFF_GTT, TUFF_MEM_CPU | TUFF_MEM_UNCACHED};
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};
	struct tuff_mem *word, *to;
	struct tuff_queue *queue;
	struct tuff_mem_info info;
	struct tuff_cmd *cmd;
	unsigned long before;
	pthread_t thread;

	CHECK_EQ(vgpu_start("gfx908"), 0);
	CHECK_EQ(tuff_device_open(NULL, &halves.device), 0);
	CHECK_EQ(tuff_queue_create(halves.device, &compute, &queue), 0);
	CHECK_EQ(tuff_mem_create(halves.device, &gtt, &to), 0);
	CHECK_EQ(tuff_mem_query(to, &info), 0);
	halves.to = info.map;
	CHECK_EQ(tuff_mem_create(halves.device, &gtt, &word), 0);
	CHECK_EQ(tuff_mem_query(word, &info), 0);
	halves.from = malloc(HALVES_B);
	memset(halves.from, 7, HALVES_B);
	CHECK_EQ(tuff_begin(queue, 0, &cmd), 0);
	CHECK_EQ(tuff_cmd_wait_value(cmd, info.va, 1), 0);
	CHECK_EQ(tuff_submit(cmd, NULL, &halves.after), 0);
	before = vgpu_ioctl_count_nr(CS);
	vgpu_inject_ioctl_nr(CS, 2, EINVAL);
	CHECK_EQ(pthread_create(&thread, NULL, copy_halves, NULL), 0);
	while (vgpu_ioctl_count_nr(CS) < before + 2)
		usleep(1000);
	usleep(50000);
	halves.begins = true;
	*(volatile uint32_t *)info.map = 1;
	pthread_join(thread, NULL);
	CHECK_EQ(halves.r, -EINVAL);
	CHECK(halves.begun);
	CHECK_EQ(tuff_mem_destroy(to), 0);
	CHECK_EQ(tuff_mem_destroy(word), 0);
	CHECK_EQ(tuff_queue_destroy(queue), 0);
	CHECK_EQ(tuff_device_close(halves.device), 0);
	free(halves.from);
	vgpu_stop();
}

/* The importing driver does not know that the exporter keeps the CPU out; the mapping tells. */
static void memory_that_the_cpu_does_not_reach_is_refused(void)
{
	struct tuff_mem_create_info hidden = {65536, TUFF_VRAM, 0};
	struct tuff_device *device, *other;
	struct tuff_mem *mem, *imported;
	struct tuff_mem_info info;
	int fd;

	CHECK_EQ(vgpu_start("gfx908:p2p=1,gfx908:p2p=1"), 0);
	CHECK_EQ(tuff_device_open(NULL, &device), 0);
	CHECK_EQ(tuff_device_open("/dev/dri/renderD129", &other), 0);
	CHECK_EQ(tuff_mem_create(device, &hidden, &mem), 0);
	CHECK_EQ(tuff_mem_export(mem, &fd), 0);
	CHECK_EQ(tuff_mem_import(other, fd, TUFF_MEM_CPU, &imported), -EACCES);
	CHECK_EQ(tuff_mem_import(other, fd, 0, &imported), 0);
	CHECK_EQ(tuff_mem_query(imported, &info), 0);
	CHECK(!info.map && !(info.flags & TUFF_MEM_CPU));
	CHECK_EQ(tuff_mem_destroy(imported), 0);
	close(fd);
	CHECK_EQ(tuff_mem_destroy(mem), 0);
	CHECK_EQ(tuff_device_close(other), 0);
	CHECK_EQ(tuff_device_close(device), 0);
	vgpu_stop();
}

int main(void)
{
	a_copy_that_fails_halfway_has_ended();
	memory_that_the_cpu_does_not_reach_is_refused();
	a_device_that_vanishes();
	a_reset_of_the_device();
	/* A failed unmap leaves a mapping behind for the kernel to remove with the file: a finding, and not ours.
	 */
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(vgpu_start("gfx908:p2p=1,gfx908:p2p=1"), 0);
	inject_every_failure(program);
	vgpu_stop();
	return check_done("the public interface where things fail");
}

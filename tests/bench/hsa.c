/* User instructions, locked operations and ioctls of HSA's hot paths on the null device, without those of the
 * virtual device, and above the bare CS ioctl. Counts the calling thread, which does the work; the progress thread
 * is not included. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <amdgpu.h>

#include "cs/internal.h"
#include "hsa/queue/queue.h"
#include "tests/bench/outside.h"
#include "tests/hsa_rig.h"

#define TRIES 5
#define MANY  1000
#define BATCH 64 /* packets that a job takes */

static hsa_queue_t *queue;
static hsa_signal_t done;
static struct hsa_rig_kernel empty, store;
static union drm_amdgpu_cs again;
static int fd;

static struct flow_queue *hardware_queue(void)
{
	return rt_get()->gpu[0]->flows.all[0];
}

static void idle(void)
{
	cs_fence_retire(cs_ring_last(hardware_queue()->ring));
}

/* --- paths ------------------------------------------------------------------------------------ */

static void bare_ioctl(void *arg)
{
	union drm_amdgpu_cs args = again;

	(void)arg;
	if (ioctl(fd, DRM_IOCTL_AMDGPU_CS, &args))
		abort();
}

static const hsa_kernel_dispatch_packet_t *packet_of(const struct hsa_rig_kernel *k, hsa_signal_t completion)
{
	static hsa_kernel_dispatch_packet_t packet;

	packet = rig_packet(k, 64, rig.args, completion);
	return &packet;
}

static void publish(const void *packet)
{
	rig_publish(queue, packet, HSA_PACKET_TYPE_KERNEL_DISPATCH | RIG_BARRIER, 1);
}

/* As rig_publish(), but for the doorbell. */
static void write_packet(void *arg)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	uint32_t *slot = (uint32_t *)((char *)queue->base_address + index % queue->size * 64);

	memcpy(slot + 1, (const uint32_t *)arg + 1, 60);
	__atomic_store_n(slot, HSA_PACKET_TYPE_KERNEL_DISPATCH | RIG_BARRIER | 1u << 16, __ATOMIC_RELEASE);
}

static void ring(void *arg)
{
	(void)arg;
	hsa_signal_store_screlease(queue->doorbell_signal, 0);
}

static void publish_many(void *arg)
{
	for (unsigned i = 0; i < MANY; i++)
		publish(arg);
}

static void signal_and_back(void *arg)
{
	hsa_signal_t signal;

	(void)arg;
	if (hsa_signal_create(1, 0, NULL, &signal) || hsa_signal_destroy(signal))
		abort();
}

static void wait_finished(void *arg)
{
	(void)arg;
	if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED))
		abort();
}

static void load_finished(void *arg)
{
	(void)arg;
	if (hsa_signal_load_relaxed(done))
		abort();
}

static void add_and_back(void *arg)
{
	(void)arg;
	hsa_signal_add_relaxed(done, 1);
	hsa_signal_subtract_relaxed(done, 1);
}

/* --- rows ------------------------------------------------------------------------------------- */

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

/* Doorbell to submission: the packet is in the ring before the count begins. */
static void row_doorbell(const char *what, const hsa_kernel_dispatch_packet_t *packet, bool signalled, int64_t bare)
{
	struct count least = {.instructions = UINT64_MAX}, now;

	for (unsigned i = 0; i < TRIES; i++) {
		idle();
		if (signalled)
			hsa_signal_silent_store_relaxed(done, 1);
		write_packet((void *)(uintptr_t)packet);
		now = bench_count(ring, NULL, 1);
		least = now.instructions < least.instructions ? now : least;
	}
	idle();
	bench_print(what, least, bare, 1);
}

/* What a dispatch costs when many wait in the ring: one doorbell makes one job of them. */
static void row_batch(int64_t bare)
{
	const hsa_kernel_dispatch_packet_t *packet = packet_of(&empty, (hsa_signal_t){0});
	int64_t least = INT64_MAX, now;
	struct count publishing;

	for (unsigned i = 0; i < 3; i++) {
		idle();
		for (unsigned n = 0; n < BATCH; n++)
			write_packet((void *)(uintptr_t)packet);
		now = (int64_t)bench_count(ring, NULL, 1).instructions;
		least = now < least ? now : least;
	}
	idle();
	publishing = bench_count(write_packet, (void *)(uintptr_t)packet, 1);
	ring(NULL);
	idle();
	printf("%-46s %8lld %10lld\n", "each of 64 dispatches of a job", (long long)(least / BATCH),
	       (long long)((least - bare) / BATCH));
	bench_print("  its publishing, by the client", publishing, 0, 0);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* 1,000 dispatches and the wait for the last: ioctls; and, of the time that the GPU could have worked (its jobs'
 * service times), how long it took more. */
static void row_many(unsigned service_us)
{
	uint64_t jobs, start, spent;
	unsigned long ioctls;

	idle();
	jobs = cs_ring_last(hardware_queue()->ring).seq;
	ioctls = vgpu_ioctl_count();
	start = now_ns();
	publish_many((void *)(uintptr_t)packet_of(&empty, (hsa_signal_t){0}));
	idle();
	while (hsa_queue_load_read_index_relaxed(queue) != hsa_queue_load_write_index_relaxed(queue))
		idle();
	idle();
	spent = now_ns() - start;
	ioctls = vgpu_ioctl_count() - ioctls;
	jobs = cs_ring_last(hardware_queue()->ring).seq - jobs;
	printf("1,000 dispatches, %2u us a job: %3llu jobs, %3lu ioctls, %6llu us", service_us,
	       (unsigned long long)jobs, ioctls, (unsigned long long)spent / 1000);
	if (service_us)
		printf(", of which the GPU is idle %llu", (unsigned long long)(spent / 1000 - jobs * service_us));
	printf("\n");
}

/* --- start-up --------------------------------------------------------------------------------- */

static void start_up(void)
{
	unsigned long ours, theirs;
	amdgpu_device_handle dev;
	uint32_t major, minor;
	int node;

	if (vgpu_start("null:gfx908"))
		abort();
	ours = vgpu_ioctl_count();
	hsa_init();
	ours = vgpu_ioctl_count() - ours;
	hsa_shut_down();
	node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	theirs = vgpu_ioctl_count();
	if (node < 0 || amdgpu_device_initialize(node, &major, &minor, &dev))
		abort();
	theirs = vgpu_ioctl_count() - theirs;
	amdgpu_device_deinitialize(dev);
	close(node);
	vgpu_stop();
	printf("start-up: hsa_init() %lu ioctls, libdrm's amdgpu_device_initialize() %lu\n", ours, theirs);
}

/* A job of nothing on a ring of its own, to be submitted again and again: that moves the kernel's count on. */
static int64_t prepare(struct cs_ring **bare)
{
	struct cs_ib *ib;

	publish(packet_of(&empty, (hsa_signal_t){0}));
	idle();
	if (cs_ring_create(hardware_queue()->ctx, DRV_IP_COMPUTE, 3, cs_pm4_print, bare) ||
	    cs_begin(*bare, 0, &ib) || cs_submit(ib, NULL, NULL))
		abort();
	fd = rt_get()->gpu[0]->dev->fd;
	again.in.ctx_id = hardware_queue()->ctx->id;
	again.in.chunks = (uintptr_t)(*bare)->arg_pointer;
	again.in.num_chunks = 2;
	if (vm_list(rt_get()->gpu[0]->vm, &again.in.bo_list_handle))
		abort();
	return (int64_t)bench_count(bare_ioctl, NULL, TRIES).instructions;
}

static void open_all(const char *spec)
{
	if (!rig_start(spec, "gfx908", "group.O1"))
		abort();
	queue = rig_queue(4096, HSA_QUEUE_TYPE_MULTI);
	done = rig_signal(0);
	empty = rig_kernel("k_empty.kd");
	store = rig_kernel("k_store.kd");
}

static void close_all(void)
{
	hsa_queue_destroy(queue);
	hsa_signal_destroy(done);
	rig_stop();
}

int main(void)
{
	struct cs_ring *bare_ring;
	int64_t bare;

	bench_leave_out_device();
	start_up();
	open_all("null:gfx908");
	bare = prepare(&bare_ring);
	printf("user instructions outside the null device, counted by %s\n", count_method());
	printf("%-46s %8s %10s %8s %8s\n", "", "all", "above bare", "locked", "ioctls");
	row("bare CS ioctl", bare_ioctl, NULL, bare);
	row_doorbell("doorbell to submission", packet_of(&empty, (hsa_signal_t){0}), false, bare);
	row_doorbell("the same with a completion signal", packet_of(&store, done), true, bare);
	row("signal: create, destroy", signal_and_back, NULL, 0);
	row("signal: add, subtract", add_and_back, NULL, 0);
	row("signal: load", load_finished, NULL, 0);
	row("signal: a finished wait", wait_finished, NULL, 0);
	row_batch(bare);
	row_many(0);
	cs_ring_destroy(bare_ring);
	close_all();
	open_all("null:gfx908:service_us=20");
	publish(packet_of(&empty, (hsa_signal_t){0}));
	row_many(20);
	close_all();
	return 0;
}

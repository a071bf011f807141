/* Queues: dependencies, waiting, syncobjs, priorities, parts of grids. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/device/device.h"

/* A word that the CPU may set to let a job end: the job polls it. Freed by the caller. */
static struct tuff_mem_info gate(struct tuff_device *device, struct tuff_mem **mem)
{
	struct tuff_mem_create_info info = {
		.size_B = 4096, .place = TUFF_GTT, .flags = TUFF_MEM_CPU | TUFF_MEM_UNCACHED};
	struct tuff_mem_info facts;

	if (tuff_mem_create(device, &info, mem) || tuff_mem_query(*mem, &facts))
		test_fail("no memory for a gate");
	return facts;
}

static void open_gate(const struct tuff_mem_info *g)
{
	__atomic_store_n((uint32_t *)g->map, 1, __ATOMIC_RELEASE);
}

/* Submits a job that ends when the gate opens. */
static struct tuff_point submit_gated(struct tuff_queue *queue, const struct tuff_mem_info *g,
				      const struct tuff_order *order)
{
	struct tuff_cmd *cmd = test_begin(queue, 0);
	struct tuff_point point = {0};

	CHECK_OK(tuff_cmd_wait_value(cmd, g->va, 1));
	CHECK_OK(tuff_submit(cmd, order, &point));
	return point;
}

static void every_ring_runs(void)
{
	struct test_memory m = test_gtt(4096);
	unsigned rings[] = {test_info()->compute_rings, test_info()->copy_rings}, slot = 0;

	for (unsigned engine = TUFF_COMPUTE; engine <= TUFF_COPY; engine++)
		for (unsigned i = 0; i < rings[engine]; i++, slot++) {
			struct tuff_queue *queue = test_queue(test_device(), engine, i);
			struct tuff_cmd *cmd = test_begin(queue, 0);

			CHECK_OK(tuff_cmd_write(cmd, m.va + slot * 4, &(uint32_t){slot + 1}, 1));
			CHECK_OK(tuff_submit(cmd, NULL, NULL));
			CHECK_OK(tuff_queue_destroy(queue)); /* waits */
			CHECK_EQ(((uint32_t *)m.map)[slot], slot + 1);
		}
	for (unsigned engine = TUFF_COMPUTE; engine <= TUFF_COPY; engine++) {
		struct tuff_queue_create_info info = {.engine = engine, .ring = rings[engine]};
		struct tuff_queue *none = NULL;

		CHECK_EQ(tuff_queue_create(test_device(), &info, &none), -EINVAL);
		CHECK(!none);
	}
	test_note("%u rings", slot);
}

static void waits_tell_which(void)
{
	struct tuff_queue *queue[3];
	struct tuff_point point[3];
	struct tuff_mem *mem[3];
	struct tuff_mem_info g[3];
	unsigned index = 99;

	for (unsigned i = 0; i < 3; i++) {
		queue[i] = test_queue(test_device(), TUFF_COMPUTE, i % test_info()->compute_rings);
		g[i] = gate(test_device(), &mem[i]);
		point[i] = submit_gated(queue[i], &g[i], NULL);
	}
	CHECK_EQ(tuff_poll(point[1]), 0);
	CHECK_EQ(tuff_wait(point[1], 1000000), -ETIMEDOUT);
	CHECK_EQ(tuff_wait_any(point, 3, 1000000, &index), -ETIMEDOUT);
	CHECK_EQ(tuff_wait_all(point, 3, 1000000), -ETIMEDOUT);
	CHECK_EQ(index, 99);
	open_gate(&g[1]);
	CHECK_OK(tuff_wait_any(point, 3, TUFF_FOREVER, &index));
	CHECK_EQ(index, 1);
	CHECK_EQ(tuff_wait_all(point, 3, 1000000), -ETIMEDOUT);
	open_gate(&g[0]);
	open_gate(&g[2]);
	CHECK_OK(tuff_wait_all(point, 3, TUFF_FOREVER));
	CHECK_EQ(tuff_poll(point[0]), 1);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_OK(tuff_queue_destroy(queue[i]));
		CHECK_OK(tuff_mem_destroy(mem[i]));
	}
}

static void parts_make_the_whole_grid(void)
{
	enum { NX = 70, NY = 9, NZ = 3, GX = 16, GY = 2, GZ = 2 };
	struct test_memory whole = test_gtt(NX * NY * NZ * 16), parts = test_gtt(NX * NY * NZ * 16);
	struct {
		uint64_t out;
		uint32_t nx, ny;
	} args = {whole.va, NX, NY};
	struct tuff_dispatch d = {.grid = {NX, NY, NZ}, .group = {GX, GY, GZ}, .args = &args, .args_B = 16};
	const uint32_t groups[3] = {5, 5, 2};
	struct tuff_cmd *cmd;

	d.kernel = test_kernel("group", 3, "k_ids");
	CHECK_OK(test_run(&d));
	args.out = parts.va;
	memset(parts.map, 0xff, NX * NY * NZ * 16);
	cmd = test_begin(test_compute(), 0);
	/* cut at an odd place in each dimension: eight parts */
	for (unsigned part = 0; part < 8; part++) {
		for (unsigned i = 0; i < 3; i++) {
			uint32_t cut = groups[i] / 2;

			d.first_group[i] = part >> i & 1 ? cut : 0;
			d.group_count[i] = part >> i & 1 ? groups[i] - cut : cut;
		}
		CHECK_OK(tuff_cmd_dispatch(cmd, &d));
	}
	CHECK_OK(tuff_submit(cmd, NULL, NULL));
	CHECK_OK(tuff_queue_query(test_compute(), &(struct tuff_queue_status){0}));
	CHECK_OK(test_run(&(struct tuff_dispatch){.kernel = test_kernel("group", 3, "k_empty")}));
	CHECK(!memcmp(whole.map, parts.map, NX * NY * NZ * 16));
	cmd = test_begin(test_compute(), 0);
	d.first_group[0] = 5;
	CHECK_EQ(tuff_cmd_dispatch(cmd, &d), -EINVAL);
	d.first_group[0] = 1;
	d.group_count[0] = 5;
	CHECK_EQ(tuff_cmd_dispatch(cmd, &d), -EINVAL);
	d.group_count[0] = 0;
	CHECK_EQ(tuff_cmd_dispatch(cmd, &d), -EINVAL);
	CHECK_OK(tuff_abandon(cmd));
}

static void priorities_need_a_right(void)
{
	static const enum tuff_priority all[] = {TUFF_PRIORITY_LOW, TUFF_PRIORITY_NORMAL, TUFF_PRIORITY_HIGH,
						 TUFF_PRIORITY_REALTIME};

	for (unsigned i = 0; i < 4; i++) {
		struct tuff_queue_create_info info = {.engine = TUFF_COMPUTE, .priority = all[i]};
		struct tuff_queue *queue;
		int r = tuff_queue_create(test_device(), &info, &queue);

		if (r == -EACCES && i >= 2) {
			test_note("priority %u: %s", i, tuff_error());
			CHECK(strstr(tuff_error(), "CAP_SYS_NICE"));
			continue;
		}
		if (!CHECK_OK(r))
			continue;
		CHECK_OK(tuff_submit(test_begin(queue, 0), NULL, NULL));
		CHECK_OK(tuff_queue_destroy(queue));
	}
}

static void syncs_order_jobs(void)
{
	struct tuff_queue *other = test_queue(test_device(), TUFF_COMPUTE, test_info()->compute_rings - 1);
	struct test_memory m = test_gtt(4096);
	struct tuff_sync_point point = {0};
	struct tuff_order signals = {.signal = &point, .signal_count = 1},
			  waits = {.wait = &point, .wait_count = 1};
	struct tuff_point end;
	struct tuff_cmd *cmd;
	struct tuff_mem *mem;
	struct tuff_mem_info g = gate(test_device(), &mem);
	uint64_t value = 0;

	if (!CHECK_OK(tuff_sync_create(test_device(), false, &point.sync)))
		return;
	/* nothing signals it: the kernel would not know what to wait for */
	CHECK_EQ(tuff_submit(test_begin(test_compute(), 0), &waits, &end), -ENOENT);
	for (point.value = 0; point.value < 3; point.value++) {
		*(volatile uint32_t *)g.map = 0;
		((volatile uint32_t *)m.map)[0] = 0;
		submit_gated(other, &g, &signals);
		cmd = test_begin(test_compute(), 0);
		CHECK_OK(tuff_cmd_write(cmd, m.va, &(uint32_t){7}, 1));
		CHECK_OK(tuff_submit(cmd, &waits, &end));
		CHECK_EQ(tuff_sync_wait(point.sync, point.value, 1000000), -ETIMEDOUT);
		CHECK_EQ(tuff_poll(end), 0);
		CHECK_EQ(((volatile uint32_t *)m.map)[0], 0);
		open_gate(&g);
		CHECK_OK(tuff_wait(end, TUFF_FOREVER));
		CHECK_EQ(((volatile uint32_t *)m.map)[0], 7);
		CHECK_OK(tuff_sync_wait(point.sync, point.value, TUFF_FOREVER));
		if (!point.value)
			CHECK_OK(tuff_sync_reset(point.sync));
	}
	CHECK_OK(tuff_sync_query(point.sync, &value));
	CHECK_EQ(value, 2);
	CHECK_OK(tuff_sync_signal(point.sync, 10));
	CHECK_OK(tuff_sync_query(point.sync, &value));
	CHECK_EQ(value, 10);
	CHECK_OK(tuff_sync_destroy(point.sync));
	CHECK_OK(tuff_queue_destroy(other));
	CHECK_OK(tuff_mem_destroy(mem));
}

static void syncs_travel_as_descriptors(void)
{
	struct tuff_sync *sync, *same, *copy;
	struct tuff_sync_point point = {0};
	struct tuff_order signals = {.signal = &point, .signal_count = 1};
	struct tuff_mem *mem;
	struct tuff_mem_info g = gate(test_device(), &mem);
	int fd = -1, file = -1;

	CHECK_OK(tuff_sync_create(test_device(), false, &sync));
	CHECK_EQ(tuff_sync_export_file(sync, &file), -EINVAL); /* no fence yet */
	CHECK_OK(tuff_sync_export(sync, &fd));
	CHECK_OK(tuff_sync_import(test_device(), fd, &same));
	point.sync = sync;
	submit_gated(test_compute(), &g, &signals);
	CHECK_OK(tuff_sync_export_file(sync, &file));
	CHECK_OK(tuff_sync_import_file(test_device(), file, &copy));
	CHECK_EQ(tuff_sync_wait(same, 0, 1000000), -ETIMEDOUT);
	CHECK_EQ(tuff_sync_wait(copy, 0, 1000000), -ETIMEDOUT);
	open_gate(&g);
	CHECK_OK(tuff_sync_wait(same, 0, TUFF_FOREVER));
	CHECK_OK(tuff_sync_wait(copy, 0, TUFF_FOREVER));
	/* one is the object, the other was a moment of it */
	CHECK_OK(tuff_sync_reset(sync));
	CHECK_EQ(tuff_sync_wait(same, 0, 0), -ETIMEDOUT);
	CHECK_OK(tuff_sync_wait(copy, 0, 0));
	CHECK_EQ(tuff_sync_import(test_device(), -1, &same), -EINVAL);
	close(fd);
	close(file);
	CHECK_OK(tuff_sync_destroy(sync));
	CHECK_OK(tuff_sync_destroy(same));
	CHECK_OK(tuff_sync_destroy(copy));
	CHECK_OK(tuff_mem_destroy(mem));
}

static void devices_wait_for_each_other(void)
{
	struct tuff_device *other = test_other_device();
	struct tuff_queue *queue = test_queue(other, TUFF_COMPUTE, 0);
	struct tuff_mem *mem, *word;
	struct tuff_mem_info g = gate(other, &mem), w = gate(test_device(), &word);
	struct tuff_point points[2];
	struct tuff_order order = {.after = points, .after_count = 1};
	struct tuff_cmd *cmd;
	unsigned index;

	points[0] = submit_gated(queue, &g, NULL);
	cmd = test_begin(test_compute(), 0);
	CHECK_OK(tuff_cmd_write(cmd, w.va + 8, &(uint32_t){3}, 1));
	CHECK_OK(tuff_submit(cmd, &order, &points[1]));
	CHECK_EQ(tuff_wait(points[1], 5000000), -ETIMEDOUT);
	CHECK_EQ(tuff_wait_any(points, 2, 1000000, &index), -ETIMEDOUT);
	CHECK_EQ(((uint32_t *)w.map)[2], 0);
	open_gate(&g);
	CHECK_OK(tuff_wait_any(points, 2, TUFF_FOREVER, &index));
	CHECK_OK(tuff_wait_all(points, 2, TUFF_FOREVER));
	CHECK_EQ(((uint32_t *)w.map)[2], 3);
	CHECK_OK(tuff_queue_destroy(queue));
	CHECK_OK(tuff_mem_destroy(mem));
	CHECK_OK(tuff_mem_destroy(word));
}

static void timestamps_are_host_times(void)
{
	struct test_memory m = test_gtt(4096);
	struct timespec before, after;
	struct tuff_point point;
	uint64_t host_ns = 0, before_ns, after_ns;
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);

	CHECK_OK(tuff_device_time(test_device(), 0, &host_ns)); /* correlate first: that takes a moment */
	clock_gettime(CLOCK_MONOTONIC, &before);
	CHECK_OK(tuff_cmd_timestamp(cmd, m.va));
	CHECK_OK(tuff_submit(cmd, NULL, &point));
	CHECK_OK(tuff_wait(point, TUFF_FOREVER));
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK_OK(tuff_device_time(test_device(), *(uint64_t *)m.map, &host_ns));
	before_ns = before.tv_sec * 1000000000ull + before.tv_nsec;
	after_ns = after.tv_sec * 1000000000ull + after.tv_nsec;
	/* The two clocks are known to each other within what an ioctl takes: a millisecond is far off. */
	CHECK(host_ns + 1000000 > before_ns && host_ns < after_ns + 1000000);
	test_note("the GPU's timestamp is %lld us after the submission began, its end was seen after %llu us",
		  ((long long)host_ns - (long long)before_ns) / 1000,
		  (unsigned long long)(after_ns - before_ns) / 1000);
}

const struct device_test tests_queue[] = {
	{"queue/rings", "every ring of the device runs jobs", every_ring_runs, 0},
	{"queue/waits", "waits for one, any and all points, with time limits", waits_tell_which, 0},
	{"queue/parts", "parts of a grid make the same as the whole", parts_make_the_whole_grid, 0},
	{"queue/priorities", "queues of every priority run, or say which right is missing", priorities_need_a_right,
	 0},
	{"queue/syncs", "jobs wait for syncobjs and timelines, and signal them", syncs_order_jobs, 0},
	{"queue/sync-files", "syncobjs and sync files travel as descriptors", syncs_travel_as_descriptors, 0},
	{"queue/devices", "a job of one device waits for a job of another", devices_wait_for_each_other, 0},
	{"queue/timestamps", "GPU timestamps are converted to host time", timestamps_are_host_times, 0},
	{NULL},
};

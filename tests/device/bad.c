/* Bad input: every public function with handles that are NULL, freed, of another kind or another device, and with
 * sizes and addresses that overflow. Nothing crashes, the error is the documented one, and a good call works after.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/device/device.h"

/* A handle of each kind. */
struct handles {
	struct tuff_device *device;
	struct tuff_mem *mem;
	struct tuff_range *range;
	struct tuff_code *code;
	struct tuff_kernel *kernel;
	struct tuff_queue *queue;
	struct tuff_cmd *cmd;
	struct tuff_sync *sync;
};

/* Calls every function that takes a handle with those; each must refuse it with `want`. */
static void refuse_all(const struct handles *h, int want)
{
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};
	struct tuff_mem_create_info page = {.size_B = 4096, .place = TUFF_GTT};
	struct tuff_range_create_info pages = {.size_B = 4096};
	struct tuff_dispatch dispatch = {.kernel = h->kernel};
	struct tuff_device_info device_info;
	struct tuff_queue_status status;
	struct tuff_kernel_info kernel_info;
	struct tuff_mem_info mem_info;
	struct tuff_kernel *kernel;
	struct tuff_device *other = h->device;
	struct tuff_range *range;
	struct tuff_queue *queue;
	struct tuff_usage usage;
	struct tuff_sync *sync;
	struct tuff_code *code;
	struct tuff_mem *mem;
	struct tuff_cmd *cmd;
	enum tuff_copier copier;
	enum tuff_peer peer;
	uint64_t u64;
	uint32_t u32 = 0;
	void *map;
	char byte = 0;
	int i;

	CHECK_EQ(tuff_device_query(h->device, &device_info), want);
	CHECK_EQ(tuff_device_usage(h->device, &usage), want);
	CHECK_EQ(tuff_device_time(h->device, 0, &u64), want);
	CHECK_EQ(tuff_device_check_fault(h->device), want);
	CHECK_EQ(tuff_mem_create(h->device, &page, &mem), want);
	CHECK_EQ(tuff_mem_find(h->device, &byte, &mem, &u64), want);
	CHECK_EQ(tuff_mem_register(h->device, &byte, 1, 0, &mem), want);
	CHECK_EQ(tuff_mem_create_on_node(h->device, 4096, 0, &mem), want);
	CHECK_EQ(tuff_mem_import(h->device, 0, 0, &mem), want);
	CHECK_EQ(tuff_peer_access(h->device, other, &peer), want);
	CHECK_EQ(tuff_range_create(h->device, &pages, &range, &u64), want);
	CHECK_EQ(tuff_code_load(h->device, "", 0, &code), want);
	CHECK_EQ(tuff_queue_create(h->device, &compute, &queue), want);
	CHECK_EQ(tuff_sync_create(h->device, false, &sync), want);
	CHECK_EQ(tuff_sync_import(h->device, 0, &sync), want);
	CHECK_EQ(tuff_sync_import_file(h->device, 0, &sync), want);
	CHECK_EQ(tuff_copy(h->device, &map, &byte, 1, NULL, 0, NULL), want);
	CHECK_EQ(tuff_fill(h->device, &map, 0, 1, NULL, 0, NULL), want);
	CHECK_EQ(tuff_copy_plan(h->device, &map, &byte, 1, &copier), want);

	CHECK_EQ(tuff_mem_query(h->mem, &mem_info), want);
	CHECK_EQ(tuff_mem_nodes(h->mem, 0, 1, &i), want);
	CHECK_EQ(tuff_mem_export(h->mem, &i), want);
	CHECK_EQ(tuff_mem_share(h->mem, other, &mem), want);
	CHECK_EQ(tuff_range_bind(h->range, 0, h->mem, 0, 4096, TUFF_ACCESS_READ), want);
	CHECK_EQ(tuff_range_unbind(h->range, 0, 4096), want);
	CHECK_EQ(tuff_range_protect(h->range, 0, 4096, TUFF_ACCESS_READ), want);

	CHECK_EQ(tuff_code_kernel(h->code, "k_empty", &kernel), want);
	CHECK_EQ(tuff_code_kernel_at(h->code, 0, &kernel), want);
	CHECK_EQ(tuff_code_variable(h->code, "counter", &u64, &u64), want);
	CHECK_EQ(tuff_kernel_query(h->kernel, &kernel_info), want);

	CHECK_EQ(tuff_queue_query(h->queue, &status), want);
	CHECK_EQ(tuff_begin(h->queue, 0, &cmd), want);
	CHECK_EQ(tuff_submit(h->cmd, NULL, NULL), want);
	CHECK_EQ(tuff_cmd_dispatch(h->cmd, &dispatch), want);
	CHECK_EQ(tuff_cmd_barrier(h->cmd), want);
	CHECK_EQ(tuff_cmd_signal(h->cmd, 4096, 0), want);
	CHECK_EQ(tuff_cmd_timestamp(h->cmd, 4096), want);
	CHECK_EQ(tuff_cmd_write(h->cmd, 4096, &u32, 1), want);
	CHECK_EQ(tuff_cmd_wait_value(h->cmd, 4096, 0), want);
	CHECK_EQ(tuff_cmd_copy(h->cmd, 4096, 8192, 4), want);
	CHECK_EQ(tuff_cmd_fill(h->cmd, 4096, 0, 4), want);
	CHECK_EQ(tuff_cmd_packet(h->cmd, &u32, 1), want);
	CHECK_EQ(tuff_cmd_data(h->cmd, 4, 4, &map, &u64), want);

	CHECK_EQ(tuff_sync_signal(h->sync, 0), want);
	CHECK_EQ(tuff_sync_reset(h->sync), want);
	CHECK_EQ(tuff_sync_wait(h->sync, 0, 0), want);
	CHECK_EQ(tuff_sync_query(h->sync, &u64), want);
	CHECK_EQ(tuff_sync_export(h->sync, &i), want);
	CHECK_EQ(tuff_sync_export_file(h->sync, &i), want);
}

static void destroy_all(const struct handles *h, int want)
{
	CHECK_EQ(tuff_range_destroy(h->range), want);
	CHECK_EQ(tuff_mem_destroy(h->mem), want);
	CHECK_EQ(tuff_code_unload(h->code), want);
	CHECK_EQ(tuff_abandon(h->cmd), want);
	CHECK_EQ(tuff_queue_destroy(h->queue), want);
	CHECK_EQ(tuff_sync_destroy(h->sync), want);
	CHECK_EQ(tuff_device_close(h->device), want);
}

/* A device of its own with one object of each kind. */
static struct handles make_all(void)
{
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};
	struct tuff_mem_create_info page = {.size_B = 4096, .place = TUFF_GTT, .flags = TUFF_MEM_CPU};
	struct tuff_range_create_info pages = {.size_B = 8192};
	struct handles h;
	uint64_t va;

	h.kernel = test_kernel("group", 3, "k_empty");
	if (tuff_device_open(test_info()->path, &h.device) || tuff_mem_create(h.device, &page, &h.mem) ||
	    tuff_range_create(h.device, &pages, &h.range, &va) || tuff_queue_create(h.device, &compute, &h.queue) ||
	    tuff_begin(h.queue, 0, &h.cmd) || tuff_sync_create(h.device, false, &h.sync))
		test_fail("objects of every kind cannot be made");
	h.code = test_load(h.device, "group", 3);
	if (tuff_code_kernel(h.code, "k_empty", &h.kernel))
		test_fail("no kernel");
	return h;
}

static void null_handles(void)
{
	const struct handles none = {0};

	refuse_all(&none, -EBADF);
	destroy_all(&none, 0);
}

static void wild_handles(void)
{
	static const uintptr_t wild[] = {1, 0x7fffffffffff, UINTPTR_MAX, 0x5a00000000000000, 0x5affffffffffffff};
	char byte;

	for (unsigned i = 0; i <= sizeof(wild) / sizeof(wild[0]); i++) {
		/* the last is an address that can be read */
		void *w = i < sizeof(wild) / sizeof(wild[0]) ? (void *)wild[i] : &byte;
		struct handles h = {w, w, w, w, w, w, w, w};

		refuse_all(&h, -EBADF);
		destroy_all(&h, -EBADF);
	}
}

static void freed_handles(void)
{
	struct handles h = make_all();
	unsigned before;

	destroy_all(&(struct handles){.device = NULL, .cmd = h.cmd}, 0);
	CHECK_EQ(tuff_device_close(h.device), -EBUSY);
	CHECK(strstr(tuff_error(), "1 mems, 1 ranges, 1 codes, 1 queues, 1 syncs"));
	destroy_all(&(struct handles){h.device, h.mem, h.range, h.code, NULL, h.queue, NULL, h.sync}, 0);
	refuse_all(&h, -EBADF);
	destroy_all(&h, -EBADF);
	/* and still when others have taken their places */
	before = check_failed_;
	for (unsigned i = 0; i < 4; i++) {
		struct handles again = make_all();

		refuse_all(&h, -EBADF);
		destroy_all(&h, -EBADF);
		destroy_all(&again, 0);
	}
	CHECK_EQ(check_failed_, before);
}

/* Every handle where another kind is wanted. */
static void handles_of_other_kinds(void)
{
	struct handles h = make_all();
	void *kinds[] = {h.device, h.mem, h.range, h.code, h.kernel, h.queue, h.cmd, h.sync};

	for (unsigned shift = 1; shift < 8; shift++) {
		struct handles mixed = {kinds[(0 + shift) % 8], kinds[(1 + shift) % 8], kinds[(2 + shift) % 8],
					kinds[(3 + shift) % 8], kinds[(4 + shift) % 8], kinds[(5 + shift) % 8],
					kinds[(6 + shift) % 8], kinds[(7 + shift) % 8]};

		refuse_all(&mixed, -EBADF);
		destroy_all(&mixed, -EBADF);
	}
	destroy_all(&h, 0);
}

/* Objects of one device given to another. */
static void foreign_objects(void)
{
	struct handles h = make_all();
	struct tuff_dispatch dispatch = {.kernel = test_kernel("group", 3, "k_empty")};
	struct tuff_sync_point point = {h.sync, 0};
	struct tuff_order order = {.signal = &point, .signal_count = 1};
	struct tuff_cmd *cmd;

	CHECK_EQ(tuff_cmd_dispatch(h.cmd, &dispatch), -EXDEV);
	CHECK_EQ(tuff_range_bind(h.range, 0, test_gtt(4096).mem, 0, 4096, TUFF_ACCESS_READ), -EXDEV);
	CHECK_OK(tuff_begin(test_compute(), 0, &cmd));
	CHECK_EQ(tuff_submit(cmd, &order, NULL), -EXDEV);
	/* the command is gone, the queue goes on */
	CHECK_EQ(tuff_abandon(cmd), -EBADF);
	CHECK_OK(test_run(&dispatch));
	CHECK_EQ(tuff_mem_share(h.mem, h.device, &h.mem), -EINVAL);
	destroy_all(&h, 0);
}

static void missing_outputs(void)
{
	struct tuff_device *d = test_device();
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};
	struct tuff_mem_create_info page = {.size_B = 4096, .place = TUFF_GTT};
	struct tuff_range_create_info pages = {.size_B = 4096};
	struct tuff_mem *mem = test_gtt(4096).mem;
	struct tuff_code *code = test_load(d, "group", 3);
	struct tuff_range *range;
	struct tuff_cmd *cmd;
	struct tuff_gpu gpu;
	uint64_t u64;
	size_t count;
	char byte = 0;

	CHECK_EQ(tuff_scan(&gpu, 1, NULL), -EINVAL);
	CHECK_EQ(tuff_scan(NULL, 1, &count), -EINVAL);
	CHECK_OK(tuff_scan(NULL, 0, &count));
	CHECK_EQ(count, 0);
	CHECK_EQ(tuff_device_open(NULL, NULL), -EINVAL);
	CHECK_EQ(tuff_device_query(d, NULL), -EINVAL);
	CHECK_EQ(tuff_device_usage(d, NULL), -EINVAL);
	CHECK_EQ(tuff_device_time(d, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_mem_create(d, NULL, &mem), -EINVAL);
	CHECK_EQ(tuff_mem_create(d, &page, NULL), -EINVAL);
	CHECK_EQ(tuff_mem_query(mem, NULL), -EINVAL);
	CHECK_EQ(tuff_mem_find(d, &byte, NULL, NULL), -EINVAL);
	CHECK_EQ(tuff_mem_register(d, NULL, 1, 0, &mem), -EINVAL);
	CHECK_EQ(tuff_mem_register(d, &byte, 1, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_mem_create_on_node(d, 4096, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_mem_nodes(mem, 0, 1, NULL), -EINVAL);
	CHECK_EQ(tuff_mem_export(mem, NULL), -EINVAL);
	CHECK_EQ(tuff_mem_import(d, 0, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_peer_access(d, d, NULL), -EINVAL);
	CHECK_EQ(tuff_range_create(d, NULL, &range, &u64), -EINVAL);
	CHECK_EQ(tuff_range_create(d, &pages, NULL, &u64), -EINVAL);
	CHECK_EQ(tuff_range_create(d, &pages, &range, NULL), -EINVAL);
	CHECK_EQ(tuff_code_load(d, NULL, 10, &code), -EINVAL);
	CHECK_EQ(tuff_code_load(d, &byte, 1, NULL), -EINVAL);
	CHECK_EQ(tuff_code_kernel(code, NULL, NULL), -EINVAL);
	CHECK_EQ(tuff_code_kernel_at(code, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_code_variable(code, NULL, &u64, &u64), -EINVAL);
	CHECK_EQ(tuff_kernel_query(test_kernel("group", 3, "k_empty"), NULL), -EINVAL);
	CHECK_EQ(tuff_queue_create(d, NULL, NULL), -EINVAL);
	CHECK_EQ(tuff_queue_create(d, &compute, NULL), -EINVAL);
	CHECK_EQ(tuff_queue_query(test_compute(), NULL), -EINVAL);
	CHECK_EQ(tuff_begin(test_compute(), 0, NULL), -EINVAL);
	CHECK_EQ(tuff_sync_create(d, false, NULL), -EINVAL);
	CHECK_EQ(tuff_wait_any(NULL, 0, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_wait_all(NULL, 3, 0), -EINVAL);
	CHECK_OK(tuff_wait_all(NULL, 0, 0));
	CHECK_EQ(tuff_copy(d, NULL, &byte, 1, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(d, &u64, NULL, 1, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(d, &u64, &byte, 1, NULL, 2, NULL), -EINVAL);
	CHECK_EQ(tuff_fill(d, NULL, 0, 1, NULL, 0, NULL), -EINVAL);
	CHECK_OK(tuff_begin(test_compute(), 0, &cmd));
	CHECK_EQ(tuff_cmd_dispatch(cmd, NULL), -EINVAL);
	CHECK_EQ(tuff_cmd_write(cmd, 4096, NULL, 1), -EINVAL);
	CHECK_EQ(tuff_cmd_packet(cmd, NULL, 1), -EINVAL);
	CHECK_EQ(tuff_cmd_data(cmd, 4, 4, NULL, NULL), -EINVAL);
	CHECK_OK(tuff_abandon(cmd));
	CHECK_OK(tuff_code_unload(code));
}

static void bad_sizes(void)
{
	static const uint64_t sizes_B[] = {0, UINT64_MAX, UINT64_MAX - 4095, 1ull << 63, 1ull << 48, 1ull << 47};
	struct tuff_device *d = test_device();
	struct test_memory m = test_gtt(65536);
	struct tuff_range_create_info odd = {.size_B = 4095}, pages = {.size_B = 65536};
	struct tuff_range *range;
	struct tuff_mem *mem;
	char *host = malloc(100);
	int nodes[4];
	uint64_t va;

	for (unsigned i = 0; i < sizeof(sizes_B) / sizeof(sizes_B[0]); i++) {
		uint64_t n = sizes_B[i];
		struct tuff_mem_create_info info = {.size_B = n, .place = TUFF_GTT};
		struct tuff_range_create_info want = {.size_B = n};
		int r = tuff_mem_create(d, &info, &mem);

		CHECK(r == -EINVAL || r == -ENOMEM);
		info.place = TUFF_VRAM;
		info.flags = TUFF_MEM_UNBOUND;
		r = tuff_mem_create(d, &info, &mem);
		CHECK(r == -EINVAL || r == -ENOMEM);
		r = tuff_range_create(d, &want, &range, &va);
		CHECK(r == -EINVAL || r == -ENOMEM);
		r = tuff_mem_register(d, host, n, 0, &mem);
		CHECK(r == -EINVAL || r == -EEXIST); /* so much memory has some of the device's in it */
		r = tuff_mem_create_on_node(d, n, 0, &mem);
		CHECK(r == -EINVAL || r == -ENOMEM);
		if (!n)
			continue;
		CHECK_EQ(tuff_copy(d, m.map, host, n, NULL, 0, NULL), -EINVAL);
		CHECK_EQ(tuff_copy(d, host, m.map, n, NULL, 0, NULL), -EINVAL);
		CHECK_EQ(tuff_fill(d, m.map, 0, n, NULL, 0, NULL), -EINVAL);
	}
	CHECK_EQ(tuff_range_create(d, &odd, &range, &va), -EINVAL);
	CHECK_EQ(tuff_mem_create(d, &(struct tuff_mem_create_info){4096, (enum tuff_place)9, 0}, &mem), -EINVAL);
	CHECK_EQ(tuff_mem_create(d, &(struct tuff_mem_create_info){4096, TUFF_GTT, 1u << 20}, &mem), -EINVAL);
	CHECK_EQ(tuff_mem_create(d, &(struct tuff_mem_create_info){4096, TUFF_HOST, 0}, &mem), -EINVAL);
	CHECK_EQ(tuff_mem_nodes(m.mem, 15, 2, nodes), -EINVAL);
	CHECK_EQ(tuff_mem_nodes(m.mem, UINT64_MAX, 1, nodes), -EINVAL);
	CHECK_OK(tuff_mem_nodes(m.mem, 12, 4, nodes));
	/* one byte beyond the memory, from either end */
	CHECK_EQ(tuff_fill(d, (char *)m.map + 65535, 0, 2, NULL, 0, NULL), -EINVAL);
	CHECK_OK(tuff_fill(d, (char *)m.map + 65535, 0, 1, NULL, 0, NULL));
	if (CHECK_OK(tuff_range_create(d, &pages, &range, &va))) {
		CHECK_EQ(tuff_range_bind(range, 0, m.mem, 0, 65537, TUFF_ACCESS_READ), -EINVAL);
		CHECK_EQ(tuff_range_bind(range, 4096, m.mem, 0, 65536, TUFF_ACCESS_READ), -EINVAL);
		CHECK_EQ(tuff_range_bind(range, 0, m.mem, 4096, 65536, TUFF_ACCESS_READ), -EINVAL);
		CHECK_EQ(tuff_range_bind(range, 1, m.mem, 0, 4096, TUFF_ACCESS_READ), -EINVAL);
		CHECK_EQ(tuff_range_bind(range, UINT64_MAX & ~4095ull, m.mem, 0, 8192, TUFF_ACCESS_READ), -EINVAL);
		CHECK_EQ(tuff_range_bind(range, 0, m.mem, 0, 4096, (enum tuff_access)2), -EINVAL);
		CHECK_EQ(tuff_range_unbind(range, 0, 0), -EINVAL);
		CHECK_EQ(tuff_range_unbind(range, 65536, 4096), -EINVAL);
		CHECK_EQ(tuff_range_protect(range, 0, 4096, TUFF_ACCESS_READ), -ENOENT);
		CHECK_EQ(tuff_range_protect(range, 4096, UINT64_MAX, TUFF_ACCESS_READ), -EINVAL);
		CHECK_OK(tuff_range_destroy(range));
	}
	free(host);
}

static void bad_commands(void)
{
	struct test_memory m = test_gtt(4096);
	struct tuff_dispatch d = {.kernel = test_kernel("group", 3, "k_store")};
	uint32_t dw[65] = {0}, args[8] = {(uint32_t)m.va, (uint32_t)(m.va >> 32), 7};
	struct tuff_point far = {test_compute(), 1ull << 40};
	struct tuff_order order = {.after = &far, .after_count = 1};
	struct tuff_cmd *cmd, *second;
	uint64_t va;
	void *map;

	CHECK_EQ(tuff_begin(test_compute(), 1u << 9, &cmd), -EINVAL);
	CHECK_OK(tuff_begin(test_compute(), 0, &cmd));
	CHECK_EQ(tuff_begin(test_compute(), 0, &second), -EDEADLK);
	CHECK_EQ(tuff_queue_destroy(test_compute()), -EBUSY);
	CHECK_EQ(tuff_cmd_signal(cmd, m.va + 4, 1), -EINVAL);
	CHECK_EQ(tuff_cmd_signal(cmd, 0, 1), -EINVAL);
	CHECK_EQ(tuff_cmd_timestamp(cmd, m.va + 1), -EINVAL);
	CHECK_EQ(tuff_cmd_write(cmd, m.va + 2, dw, 1), -EINVAL);
	CHECK_EQ(tuff_cmd_write(cmd, m.va, dw, 0), -EINVAL);
	CHECK_EQ(tuff_cmd_write(cmd, m.va, dw, 61), -EINVAL);
	CHECK_EQ(tuff_cmd_write(cmd, m.va, dw, UINT32_MAX), -EINVAL);
	CHECK_EQ(tuff_cmd_write(cmd, UINT64_MAX - 3, dw, 2), -EINVAL);
	CHECK_EQ(tuff_cmd_wait_value(cmd, m.va + 2, 0), -EINVAL);
	CHECK_EQ(tuff_cmd_copy(cmd, m.va, m.va + 2048, 1024), -EINVAL); /* not on a compute queue */
	CHECK_EQ(tuff_cmd_packet(cmd, dw, 65), -EINVAL);
	CHECK_EQ(tuff_cmd_packet(cmd, dw, 0), -EINVAL);
	CHECK_EQ(tuff_cmd_data(cmd, 16385, 4, &map, &va), -EINVAL);
	CHECK_EQ(tuff_cmd_data(cmd, 4, 3, &map, &va), -EINVAL);
	CHECK_EQ(tuff_cmd_data(cmd, 4, 512, &map, &va), -EINVAL);
	d.args = args;
	d.args_B = 17;
	CHECK_EQ(tuff_cmd_dispatch(cmd, &d), -EINVAL);
	d.args_B = 12;
	d.group[0] = 1025;
	CHECK_EQ(tuff_cmd_dispatch(cmd, &d), -EINVAL);
	d.group[0] = 65536;
	d.group[1] = 65536;
	CHECK_EQ(tuff_cmd_dispatch(cmd, &d), -EINVAL);
	d.group[0] = d.group[1] = 0;
	d.dynamic_lds_B = 65537;
	CHECK_EQ(tuff_cmd_dispatch(cmd, &d), -EINVAL);
	d.dynamic_lds_B = 0;
	d.args = NULL;
	CHECK_EQ(tuff_cmd_dispatch(cmd, &d), -EINVAL);
	/* after all that the job is what it was */
	d.args = args;
	CHECK_OK(tuff_cmd_dispatch(cmd, &d));
	CHECK_OK(tuff_submit(cmd, NULL, &far));
	CHECK_OK(tuff_wait(far, TUFF_FOREVER));
	CHECK_EQ(*(uint32_t *)m.map, 7);
	far.seq = 1ull << 40;
	CHECK_EQ(tuff_poll(far), -EINVAL);
	CHECK_EQ(tuff_wait(far, 0), -EINVAL);
	CHECK_OK(tuff_begin(test_compute(), 0, &cmd));
	CHECK_EQ(tuff_submit(cmd, &order, NULL), -EINVAL);
	order.after_count = 1000;
	CHECK_OK(tuff_begin(test_compute(), 0, &cmd));
	CHECK_EQ(tuff_submit(cmd, &order, NULL), -EINVAL);
	CHECK_OK(test_run(&d));
}

static void *use_from_thread(void *cmd)
{
	uint32_t nop = 0xffff1000;

	CHECK_EQ(tuff_cmd_packet(cmd, &nop, 1), -EPERM);
	CHECK_EQ(tuff_submit(cmd, NULL, NULL), -EPERM);
	CHECK_EQ(tuff_abandon(cmd), -EPERM);
	return NULL;
}

static void commands_of_other_threads(void)
{
	struct tuff_cmd *cmd;
	pthread_t thread;

	CHECK_OK(tuff_begin(test_compute(), 0, &cmd));
	if (pthread_create(&thread, NULL, use_from_thread, cmd))
		test_fail("no thread");
	pthread_join(thread, NULL);
	CHECK_OK(tuff_submit(cmd, NULL, NULL));
}

static void bad_code(void)
{
	struct tuff_code *code;
	uint64_t seed = 7;
	char junk[4096];

	for (unsigned i = 0; i < 200; i++) {
		size_t n = test_random(&seed) % sizeof(junk);

		for (size_t k = 0; k < n; k++)
			junk[k] = (char)test_random(&seed);
		if (i % 2 && n > 64)
			memcpy(junk, "\177ELF\2\1\1\100\3\0\0\0\0\0\0\0\3\0\340\0\1\0\0\0", 24);
		CHECK_EQ(tuff_code_load(test_device(), junk, n, &code), -ENOEXEC);
	}
	code = test_load(test_device(), "group", 3);
	CHECK_EQ(tuff_code_kernel(code, "no such kernel", &(struct tuff_kernel *){NULL}), -ENOENT);
	CHECK_EQ(tuff_code_kernel(code, "counter", &(struct tuff_kernel *){NULL}), -ENOENT);
	CHECK_EQ(tuff_code_kernel_at(code, 1000, &(struct tuff_kernel *){NULL}), -ENOENT);
	CHECK_EQ(tuff_code_variable(code, "none", &(uint64_t){0}, &(uint64_t){0}), -ENOENT);
	CHECK_OK(tuff_code_unload(code));
}

/* Cut short at 200 places, and damaged in 8 bytes 400 times: refused, or loaded and unloaded. */
static void damaged_code(void)
{
	size_t size_B;
	const void *image = test_image("group", 1, &size_B);
	uint8_t *copy = malloc(size_B);
	unsigned refused = 0;
	uint64_t seed = 3;

	for (unsigned i = 0; copy && i < 600; i++) {
		size_t part_B = i < 200 ? size_B * i / 200 : size_B;
		struct tuff_code *code;
		int r;

		memcpy(copy, image, size_B);
		for (unsigned k = 0; i >= 200 && k < 8; k++)
			copy[test_random(&seed) % (i & 1 ? 8192 : size_B)] = (uint8_t)test_random(&seed);
		r = tuff_code_load(test_device(), copy, part_B, &code);
		if (!r)
			CHECK_OK(tuff_code_unload(code));
		else
			refused += CHECK(*tuff_error());
	}
	CHECK(refused > 250);
	free(copy);
}

static void bad_descriptors(void)
{
	struct tuff_mem *mem;
	struct tuff_sync *sync;
	struct tuff_device *device;
	int pipes[2];

	CHECK(!pipe(pipes));
	CHECK_EQ(tuff_mem_import(test_device(), pipes[0], 0, &mem), -EINVAL);
	CHECK_EQ(tuff_mem_import(test_device(), -1, 0, &mem), -EINVAL);
	CHECK_EQ(tuff_mem_import(test_device(), 1 << 20, 0, &mem), -EINVAL);
	CHECK_EQ(tuff_sync_import(test_device(), pipes[0], &sync), -EINVAL);
	CHECK_EQ(tuff_sync_import_file(test_device(), pipes[0], &sync), -EINVAL);
	close(pipes[0]);
	close(pipes[1]);
	CHECK_EQ(tuff_device_open("/dev/null", &device), -ENODEV);
	CHECK_EQ(tuff_device_open("/no/such/node", &device), -ENODEV);
	CHECK_EQ(tuff_device_open("", &device), -ENODEV);
	CHECK_EQ(tuff_device_open("a path that is longer than any render node has ever been", &device), -ENODEV);
}

/* What a forked child does with its parent's objects reaches nobody; it may open the GPU anew. */
static void inherited_objects(void)
{
	struct handles h = make_all();
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct tuff_device_info info;
		struct tuff_device *own;
		struct tuff_mem *mem;
		uint64_t va;
		void *map;

		check_failed_ = 0;
		CHECK_EQ(tuff_cmd_write(h.cmd, 4096, (uint32_t[]){1}, 1), -ENODEV);
		CHECK_EQ(tuff_cmd_data(h.cmd, 4, 4, &map, &va), -ENODEV);
		CHECK_EQ(tuff_submit(h.cmd, NULL, NULL), -ENODEV);
		CHECK_EQ(tuff_abandon(h.cmd), -ENODEV);
		CHECK_EQ(tuff_mem_create(h.device, &(struct tuff_mem_create_info){4096, TUFF_GTT, 0}, &mem),
			 -ENODEV);
		CHECK_EQ(tuff_begin(h.queue, 0, &h.cmd), -ENODEV);
		CHECK_EQ(tuff_sync_signal(h.sync, 0), -ENODEV);
		CHECK_EQ(tuff_mem_destroy(h.mem), -ENODEV);
		CHECK_EQ(tuff_device_close(h.device), -ENODEV);
		CHECK_EQ(tuff_copy(h.device, &info, &status, 4, NULL, 0, NULL), -ENODEV);
		CHECK_OK(tuff_device_open(NULL, &own));
		CHECK_OK(tuff_device_query(own, &info));
		CHECK_OK(tuff_device_close(own));
		fflush(stdout);
		_exit(check_failed_ != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_OK(tuff_abandon(h.cmd));
	h.cmd = NULL;
	destroy_all(&h, 0);
}

static _Atomic bool opening;

static void *open_again_and_again(void *unused)
{
	struct tuff_device *device;

	while (opening)
		if (CHECK_OK(tuff_device_open(test_info()->path, &device)))
			CHECK_OK(tuff_device_close(device));
	return unused;
}

/* A child that is made while another thread opens a device finds no lock taken. */
static void open_in_children(void)
{
	pthread_t thread;

	test_device();
	opening = true;
	if (pthread_create(&thread, NULL, open_again_and_again, NULL))
		test_fail("no thread");
	fflush(stdout);
	for (unsigned i = 0; i < 20; i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid) {
			struct tuff_device *own;

			alarm(20);
			_exit(tuff_device_open(test_path(), &own) || tuff_device_close(own));
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (!CHECK_EQ(status, 0))
			break;
	}
	opening = false;
	pthread_join(thread, NULL);
}

const struct device_test tests_bad[] = {
	{"bad/null", "every function refuses NULL", null_handles, TEST_ANY_CHIP},
	{"bad/wild", "every function refuses what never was a handle", wild_handles, TEST_ANY_CHIP},
	{"bad/freed", "every function refuses what was destroyed, also when its place is taken", freed_handles, 0},
	{"bad/kinds", "every function refuses objects of another kind", handles_of_other_kinds, 0},
	{"bad/foreign", "objects of another device are refused", foreign_objects, 0},
	{"bad/outputs", "every function refuses to have no place for its result", missing_outputs, 0},
	{"bad/sizes", "sizes and offsets that are 0, odd, beyond or overflow", bad_sizes, 0},
	{"bad/commands", "commands outside the limits leave the job as it was", bad_commands, 0},
	{"bad/threads", "a job's commands are its thread's alone", commands_of_other_threads, 0},
	{"bad/code", "junk and half an ELF are no code objects", bad_code, 0},
	{"bad/damaged-code", "code objects that are cut short or damaged are refused, or loaded", damaged_code, 0},
	{"bad/descriptors", "descriptors and paths of other things", bad_descriptors, TEST_ANY_CHIP},
	{"bad/fork", "a child's use of inherited objects reaches nobody", inherited_objects, 0},
	{"bad/fork-open", "a child opens a device although another thread was opening one", open_in_children,
	 TEST_ANY_CHIP},
	{NULL},
};

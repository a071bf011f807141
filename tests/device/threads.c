/* Eight threads on one device, and on four: jobs on queues of their own and a shared one, copies, memory, code, all
 * at once. Under ThreadSanitizer this is the test of every lock. */
#include <errno.h>
#include <pthread.h>

#include "tests/device/device.h"

enum { THREADS = 8, ROUNDS = 30, HOST_B = 65536, DEVICES = 4 };

struct worker {
	pthread_t thread;
	unsigned index;
	struct tuff_device *device; /* borrowed, as the next two */
	struct tuff_queue *shared;
	struct tuff_kernel *add;
	unsigned rings; /* of the device, for computing */
	uint8_t host[HOST_B];
	const char *failed; /* what went wrong; NULL: nothing */
	char error[200];    /* why */
	int r;
};

static struct worker workers[THREADS];

#define TRY(w, call)                                                                                               \
	do {                                                                                                       \
		int r_ = (call);                                                                                   \
		if (r_) {                                                                                          \
			(w)->failed = #call;                                                                       \
			(w)->r = r_;                                                                               \
			snprintf((w)->error, sizeof((w)->error), "%s", tuff_error());                              \
			return r_;                                                                                 \
		}                                                                                                  \
	} while (0)

static int create(struct worker *w, uint64_t size_B, enum tuff_place place, unsigned flags, struct tuff_mem **mem,
		  struct tuff_mem_info *facts)
{
	struct tuff_mem_create_info info = {.size_B = size_B, .place = place, .flags = flags};

	TRY(w, tuff_mem_create(w->device, &info, mem));
	TRY(w, tuff_mem_query(*mem, facts));
	return 0;
}

static int submit_add(struct worker *w, struct tuff_queue *queue, uint64_t va, uint32_t value,
		      struct tuff_point *point)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {va, value};
	struct tuff_dispatch d = {.kernel = w->add, .grid = {64}, .group = {64}, .args = &args, .args_B = 12};
	struct tuff_cmd *cmd;

	TRY(w, tuff_begin(queue, TUFF_ORDERED, &cmd));
	TRY(w, tuff_cmd_dispatch(cmd, &d));
	TRY(w, tuff_submit(cmd, NULL, point));
	return 0;
}

/* Memory that comes and goes while others submit, found by its address meanwhile. */
static int churn(struct worker *w, unsigned round)
{
	struct tuff_mem *mem, *found;
	struct tuff_mem_info facts;
	uint64_t offset_B;

	TRY(w, create(w, 300 + round * 5000, round & 1 ? TUFF_VRAM : TUFF_GTT,
		      round & 1   ? 0
		      : round & 2 ? TUFF_MEM_CPU
				  : TUFF_MEM_CPU | TUFF_MEM_PRIVATE,
		      &mem, &facts));
	if (facts.map)
		*(uint32_t *)facts.map = round;
	TRY(w, tuff_mem_find(w->device, (char *)(uintptr_t)facts.va + 100, &found, &offset_B));
	TRY(w, found != mem || offset_B != 100);
	TRY(w, facts.map && *(uint32_t *)facts.map != round);
	TRY(w, tuff_mem_destroy(mem));
	return 0;
}

static int round_of(struct worker *w, struct tuff_queue *queue, const struct tuff_mem_info *gtt,
		    const struct tuff_mem_info *vram, unsigned round, uint32_t *want)
{
	void *at = (void *)(uintptr_t)vram->va;
	struct tuff_point point, copied;

	TRY(w, churn(w, round));
	TRY(w, submit_add(w, queue, gtt->va, round, &point));
	w->host[round] = (uint8_t)(round + 1);
	TRY(w, tuff_copy(w->device, at, w->host, HOST_B, NULL, 0, &copied));
	TRY(w, tuff_copy(w->device, w->host, at, HOST_B, &copied, 1, NULL));
	TRY(w, tuff_wait(point, TUFF_FOREVER));
	*want = *want * 3 + round;
	TRY(w, *(uint32_t *)gtt->map != *want);
	TRY(w, w->host[round] != round + 1);
	return 0;
}

/* Even threads share a queue; odd ones have one of their own, and load code of their own. */
static int work_all(struct worker *w)
{
	struct tuff_queue_create_info info = {.engine = TUFF_COMPUTE, .ring = w->index % w->rings};
	struct tuff_queue *queue = w->shared;
	struct tuff_mem *gtt, *vram;
	struct tuff_mem_info gtt_facts, vram_facts;
	uint32_t want = w->index;

	TRY(w, create(w, 4096, TUFF_GTT, TUFF_MEM_CPU, &gtt, &gtt_facts));
	TRY(w, create(w, HOST_B, TUFF_VRAM, 0, &vram, &vram_facts));
	if (w->index & 1)
		TRY(w, tuff_queue_create(w->device, &info, &queue));
	*(uint32_t *)gtt_facts.map = want;
	for (unsigned i = 0; i < ROUNDS; i++) {
		TRY(w, round_of(w, queue, &gtt_facts, &vram_facts, i, &want));
		if (w->index & 1 && i % 10 == 5)
			TRY(w, tuff_code_unload(test_load(w->device, "group", 1)));
	}
	if (w->index & 1)
		TRY(w, tuff_queue_destroy(queue));
	TRY(w, tuff_mem_destroy(gtt));
	TRY(w, tuff_mem_destroy(vram));
	return 0;
}

static void *work(void *worker)
{
	(void)work_all(worker);
	return NULL;
}

/* A device with what its threads share. */
struct place {
	struct tuff_device *device;
	struct tuff_queue *queue;
	struct tuff_code *code;
	struct tuff_kernel *add;
	unsigned rings;
};

static void place_init(struct place *place, struct tuff_device *device)
{
	struct tuff_device_info info;

	place->device = device;
	CHECK_OK(tuff_device_query(device, &info));
	place->rings = info.compute_rings;
	place->queue = test_queue(device, TUFF_COMPUTE, 0);
	place->code = test_load(device, "group", 3);
	CHECK_OK(tuff_code_kernel(place->code, "k_add", &place->add));
}

static void place_fini(struct place *place)
{
	CHECK_OK(tuff_code_unload(place->code));
	CHECK_OK(tuff_queue_destroy(place->queue));
}

/* The threads take the places by turns. */
static void run_threads(const struct place *places, unsigned count)
{
	for (unsigned i = 0; i < THREADS; i++) {
		const struct place *place = &places[i % count];
		struct worker *w = &workers[i];

		w->index = i;
		w->device = place->device;
		w->shared = place->queue;
		w->add = place->add;
		w->rings = place->rings;
		if (pthread_create(&w->thread, NULL, work, w))
			test_fail("no thread");
	}
	for (unsigned i = 0; i < THREADS; i++) {
		const struct worker *w = &workers[i];

		pthread_join(w->thread, NULL);
		if (!CHECK(!w->failed))
			printf("  thread %u: %s gives %d: %s\n", i, w->failed, w->r, w->error);
	}
}

static void on_one_device(void)
{
	struct place place;

	place_init(&place, test_device());
	run_threads(&place, 1);
	place_fini(&place);
}

static void on_many_devices(void)
{
	struct place places[DEVICES];
	struct tuff_gpu gpus[16];
	unsigned count = 0;
	size_t found = 0;

	(void)test_other_device();
	CHECK_OK(tuff_scan(gpus, 16, &found));
	for (size_t i = 0; i < found && count < DEVICES; i++) {
		struct tuff_device_info info;
		struct tuff_device *device;

		if (tuff_device_open(gpus[i].path, &device) || tuff_device_query(device, &info))
			continue;
		if (info.can_submit)
			place_init(&places[count++], device);
		else
			CHECK_OK(tuff_device_close(device));
	}
	test_note("%u devices", count);
	run_threads(places, count);
	while (count--) {
		place_fini(&places[count]);
		CHECK_OK(tuff_device_close(places[count].device));
	}
}

/* --- one job among many waiters --------------------------------------------------------------- */

static struct tuff_point awaited;

static void *wait_for_it(void *result)
{
	*(int *)result = tuff_wait(awaited, TUFF_FOREVER);
	return NULL;
}

static void wait_for_one_job(void)
{
	struct test_memory gate = test_uncached(4096);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	pthread_t thread[THREADS];
	int result[THREADS];

	CHECK_OK(tuff_cmd_wait_value(cmd, gate.va, 1));
	CHECK_OK(tuff_submit(cmd, NULL, &awaited));
	for (unsigned i = 0; i < THREADS; i++) {
		result[i] = 1;
		if (pthread_create(&thread[i], NULL, wait_for_it, &result[i]))
			test_fail("no thread");
	}
	CHECK_EQ(tuff_wait(awaited, 5000000), -ETIMEDOUT);
	__atomic_store_n((uint32_t *)gate.map, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		CHECK_EQ(result[i], 0);
	}
}

const struct device_test tests_threads[] = {
	{"threads/device", "eight threads submit, copy, allocate and load code at once", on_one_device, 0},
	{"threads/devices", "the same on four devices at once", on_many_devices, 0},
	{"threads/waits", "eight threads wait for one job", wait_for_one_job, 0},
	{NULL},
};

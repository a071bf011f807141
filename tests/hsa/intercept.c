/* Intercept queues: handlers that rewrite packets and ring other queues, markers, and queues that callbacks destroy. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/hsa_rig.h"
#include "tests/hsa_tools.h"

static struct hsa_rig_kernel add;

static unsigned markers;

static void on_marker(const amd_aql_intercept_marker_t *packet, hsa_queue_t *queue, uint64_t index)
{
	(void)queue, (void)index;
	markers += (unsigned)packet->user_data[0];
}

/* Each dispatch runs *data times; the completion signal goes with the last. A marker stands before each. */
static void multiply(const void *packets, uint64_t count, uint64_t index, void *data,
		     hsa_amd_queue_intercept_packet_writer writer)
{
	const hsa_kernel_dispatch_packet_t *in = packets;
	const amd_aql_intercept_marker_t marker = {.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC,
						   .format = AMD_AQL_FORMAT_INTERCEPT_MARKER,
						   .callback = on_marker,
						   .user_data = {1}};

	(void)index;
	writer(&marker, 1);
	for (uint64_t i = 0; i < count; i++)
		for (unsigned n = 0; n < *(unsigned *)data; n++) {
			hsa_kernel_dispatch_packet_t out = in[i];

			if (n + 1 < *(unsigned *)data)
				out.completion_signal.handle = 0;
			writer(&out, 1);
		}
}

static void pass(const void *packets, uint64_t count, uint64_t index, void *data,
		 hsa_amd_queue_intercept_packet_writer writer)
{
	(void)index;
	*(uint64_t *)data += count;
	writer(packets, count);
}

static void intercepted(void)
{
	unsigned times = 5;
	uint64_t seen = 0, below = 0;
	uint32_t *words = rig_host(4096), want = 0;
	hsa_signal_t done = rig_signal(0);
	hsa_queue_t *queue = tools_intercept_queue(rig.gpu);

	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(queue, pass, &below), HSA_STATUS_SUCCESS);
	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(queue, multiply, &times), HSA_STATUS_SUCCESS);
	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(queue, pass, &seen), HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < 100; i++) {
		/* Far more than the queue below holds. */
		if (i == 50)
			CHECK_EQ(rig_wait(done), 0);
		times = i == 50 ? 300 : 5;
		hsa_signal_add_relaxed(done, 1);
		rig_launch_add(queue, &add, words, 64, i, i, done);
		for (unsigned n = 0; n < times; n++)
			want = want * 3 + i;
		if (i == 50)
			CHECK_EQ(rig_wait(done), 0);
	}
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(words[5], want);
	CHECK_EQ(seen, 100);
	CHECK_EQ(below, 100 + 99 * 5 + 300);
	CHECK_EQ(markers, 100);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

/* What a handler of an intercept queue does besides. */
struct flood {
	unsigned copies; /* of each dispatch, without a completion signal, which go first */
	void (*marker)(const amd_aql_intercept_marker_t *packet, hsa_queue_t *queue, uint64_t index);
	hsa_queue_t *inner; /* gets a dispatch of its own for each */
	uint32_t *words;
	hsa_signal_t inner_done;
	hsa_signal_t gate; /* opened by the marker */
	hsa_signal_value_t seen;
};

static void flood(const void *packets, uint64_t count, uint64_t index, void *data,
		  hsa_amd_queue_intercept_packet_writer writer)
{
	const hsa_kernel_dispatch_packet_t *in = packets;
	const struct flood *f = data;
	const amd_aql_intercept_marker_t marker = {.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC,
						   .format = AMD_AQL_FORMAT_INTERCEPT_MARKER,
						   .callback = f->marker,
						   .user_data = {(uintptr_t)f}};

	(void)count, (void)index;
	if ((in->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
		hsa_kernel_dispatch_packet_t copy = *in;

		copy.completion_signal.handle = 0;
		for (unsigned i = 0; i < f->copies; i++)
			writer(&copy, 1);
		if (f->marker)
			writer(&marker, 1);
		if (f->inner)
			rig_launch_add(f->inner, &add, f->words, 64, 1, 1, f->inner_done);
	}
	writer(packets, count);
}

/* A handler submits to another intercept queue before it writes its own packets. */
static void handlers_nest(void)
{
	struct flood f = {.inner = tools_intercept_queue(rig.gpu), .inner_done = rig_signal(1)};
	hsa_queue_t *outer = tools_intercept_queue(rig.gpu);
	hsa_signal_t done = rig_signal(1);
	uint32_t *words = f.words = rig_host(4096);
	uint64_t seen = 0;

	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(f.inner, pass, &seen), HSA_STATUS_SUCCESS);
	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(outer, pass, &seen), HSA_STATUS_SUCCESS);
	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(outer, flood, &f), HSA_STATUS_SUCCESS);
	rig_launch_add(outer, &add, words + 512, 64, 1, 0, done);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(rig_wait(f.inner_done), 0);
	CHECK_EQ(seen, 2);
	CHECK_EQ(words[0], 1);
	CHECK_EQ(words[512], 1);
	CHECK_EQ(hsa_queue_destroy(outer), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_destroy(f.inner), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	hsa_signal_destroy(f.inner_done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

#define PATIENCE 5 /* seconds, for what should take milliseconds */

static void wait_in_marker(const amd_aql_intercept_marker_t *packet, hsa_queue_t *queue, uint64_t index)
{
	struct flood *f = (void *)(uintptr_t)packet->user_data[0];
	uint64_t frequency;

	(void)queue, (void)index;
	CHECK_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency), HSA_STATUS_SUCCESS);
	hsa_signal_store_screlease(f->gate, 0);
	f->seen = hsa_signal_wait_scacquire(f->inner_done, HSA_SIGNAL_CONDITION_EQ, 0, PATIENCE * frequency,
					    HSA_WAIT_STATE_BLOCKED);
}

/* A marker that had no room at first: its callback may wait for another queue, which is stopped. */
static void late_markers_may_wait(void)
{
	struct flood f = {.copies = 300, .marker = wait_in_marker, .inner_done = rig_signal(1), .seen = -1};
	hsa_queue_t *queue = tools_intercept_queue(rig.gpu), *other = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t done = rig_signal(1), gate;
	uint32_t *words = rig_host(4096);

	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(queue, flood, &f), HSA_STATUS_SUCCESS);
	f.gate = rig_gate(other);
	rig_launch_add(other, &add, words, 64, 1, 0, f.inner_done);
	gate = rig_gate(queue);
	rig_launch_add(queue, &add, words + 512, 64, 1, 1, done);
	hsa_signal_store_screlease(gate, 0);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(f.seen, 0);
	CHECK_EQ(rig_wait(f.inner_done), 0);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_destroy(other), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(f.gate);
	hsa_signal_destroy(done);
	hsa_signal_destroy(f.inner_done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

static _Atomic bool may_destroy, has_destroyed;

static void destroy_when_told(void *queue)
{
	while (!atomic_load(&may_destroy))
		usleep(1000);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	atomic_store(&has_destroyed, true);
}

/* A callback destroys an intercept queue whose next packets are to be passed to handlers on the same thread. */
static void callbacks_destroy_intercept_queues(void)
{
	struct flood f = {.copies = 300};
	hsa_queue_t *queue = tools_intercept_queue(rig.gpu);
	hsa_signal_t done = rig_signal(1), never = rig_signal(1), gate;
	uint32_t *words = rig_host(4096);

	CHECK_EQ(hsa_amd_async_function(destroy_when_told, queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(queue, flood, &f), HSA_STATUS_SUCCESS);
	gate = rig_gate(queue);
	rig_launch_add(queue, &add, words, 64, 1, 0, done);
	rig_launch_add(queue, &add, words, 64, 1, 1, never);
	hsa_signal_store_screlease(gate, 0);
	CHECK_EQ(rig_wait(done), 0);
	usleep(50000);
	atomic_store(&may_destroy, true);
	for (unsigned ms = 0; ms < PATIENCE * 1000 && !atomic_load(&has_destroyed); ms++)
		usleep(1000);
	CHECK(atomic_load(&has_destroyed));
	CHECK_EQ(hsa_signal_load_relaxed(never), 1);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(done);
	hsa_signal_destroy(never);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

/* What handlers and markers call of their own queue, and of another. */
static struct {
	hsa_queue_t *inner, *outer, *other;
	unsigned times;
} calls;

static void call_of_queue(hsa_queue_t *own)
{
	uint32_t cus = 0;

	calls.times++;
	CHECK_EQ(hsa_queue_destroy(own), HSA_STATUS_ERROR_INVALID_RUNTIME_STATE);
	CHECK_EQ(hsa_queue_destroy(calls.outer), HSA_STATUS_ERROR_INVALID_RUNTIME_STATE);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_ERROR_INVALID_RUNTIME_STATE);
	CHECK_EQ(hsa_amd_queue_cu_get_mask(own, 32, &cus), HSA_STATUS_SUCCESS);
	CHECK_EQ(cus, 0x5);
	cus = 0x3;
	CHECK_EQ(hsa_amd_queue_cu_set_mask(own, 32, &cus), HSA_STATUS_SUCCESS);
	cus = 0x5;
	CHECK_EQ(hsa_amd_queue_cu_set_mask(own, 32, &cus), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_queue_set_priority(own, HSA_AMD_QUEUE_PRIORITY_HIGH), HSA_STATUS_SUCCESS);
	if (calls.other)
		CHECK_EQ(hsa_queue_destroy(calls.other), HSA_STATUS_SUCCESS);
	calls.other = NULL;
}

static void marker_calls(const amd_aql_intercept_marker_t *packet, hsa_queue_t *queue, uint64_t index)
{
	(void)packet, (void)queue, (void)index;
	call_of_queue(calls.outer);
}

static void handler_calls(const void *packets, uint64_t count, uint64_t index, void *data,
			  hsa_amd_queue_intercept_packet_writer writer)
{
	(void)index, (void)data;
	call_of_queue(calls.inner);
	writer(packets, count);
	call_of_queue(calls.inner);
}

/* A handler, and one on behalf of another queue's, does not wait for itself. */
static void handlers_call_of_their_queues(void)
{
	struct flood f = {.copies = 3, .marker = marker_calls, .inner_done = rig_signal(1)};
	const uint32_t cus = 0x5;
	hsa_signal_t done = rig_signal(1);
	uint32_t *words = f.words = rig_host(4096);

	calls.inner = f.inner = tools_intercept_queue(rig.gpu);
	calls.outer = tools_intercept_queue(rig.gpu);
	calls.other = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(calls.inner, 32, &cus), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(calls.outer, 32, &cus), HSA_STATUS_SUCCESS);
	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(f.inner, handler_calls, NULL), HSA_STATUS_SUCCESS);
	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(calls.outer, flood, &f), HSA_STATUS_SUCCESS);
	alarm(60);
	rig_launch_add(calls.outer, &add, words + 512, 64, 1, 0, done);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(rig_wait(f.inner_done), 0);
	alarm(0);
	CHECK_EQ(calls.times, 3);
	CHECK_EQ(words[0], 1);
	CHECK_EQ(hsa_queue_destroy(calls.outer), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_destroy(calls.inner), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	hsa_signal_destroy(f.inner_done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

/* Handlers of two queues, on two threads, each of which destroys the other's queue. */
static struct rival {
	hsa_queue_t *queue, *other;
	uint32_t *words;
	hsa_status_t status;
} rivals[2];
static pthread_barrier_t rivals_meet;

static void destroy_other(const void *packets, uint64_t count, uint64_t index, void *data,
			  hsa_amd_queue_intercept_packet_writer writer)
{
	struct rival *r = data;

	(void)index;
	pthread_barrier_wait(&rivals_meet);
	r->status = hsa_queue_destroy(r->other);
	writer(packets, count);
}

static void *rival_main(void *arg)
{
	struct rival *r = arg;

	rig_launch_add(r->queue, &add, r->words, 64, 1, 0, (hsa_signal_t){0});
	return NULL;
}

/* One of them waits for the other's end, which is told that it would wait for itself. */
static void handlers_destroy_each_others_queues(void)
{
	uint32_t *words = rig_host(4096);
	pthread_t thread[2];
	unsigned survivor;

	pthread_barrier_init(&rivals_meet, NULL, 2);
	for (unsigned i = 0; i < 2; i++)
		rivals[i] = (struct rival){.queue = tools_intercept_queue(rig.gpu), .words = words + 512 * i};
	alarm(60);
	for (unsigned i = 0; i < 2; i++) {
		rivals[i].other = rivals[!i].queue;
		CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(rivals[i].queue, destroy_other, &rivals[i]),
			 HSA_STATUS_SUCCESS);
	}
	for (unsigned i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, rival_main, &rivals[i]));
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	alarm(0);
	survivor = rivals[0].status ? 1 : 0;
	CHECK_EQ(rivals[survivor].status, HSA_STATUS_SUCCESS);
	CHECK_EQ(rivals[!survivor].status, HSA_STATUS_ERROR_INVALID_RUNTIME_STATE);
	CHECK_EQ(hsa_queue_destroy(rivals[survivor].queue), HSA_STATUS_SUCCESS);
	pthread_barrier_destroy(&rivals_meet);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

/* The queue below an intercept queue may have the address of a destroyed one. */
static void destroyed_below(void)
{
	hsa_queue_t *gone[2], *queue;

	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
					  &gone[i]),
			 HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(hsa_queue_destroy(gone[i]), HSA_STATUS_SUCCESS);
	queue = tools_intercept_queue(rig.gpu);
	for (unsigned i = 0; i < 2; i++)
		if (gone[i] != queue)
			CHECK_EQ(hsa_queue_destroy(gone[i]), HSA_STATUS_ERROR_INVALID_QUEUE);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

static void other_queues_have_no_handlers(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);

	CHECK_EQ(tools.hsa_amd_queue_intercept_register_fn(queue, pass, NULL), HSA_STATUS_ERROR_INVALID_QUEUE);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

int main(int argc, char **argv)
{
	(void)argc;
	tools_load(argv[0]);
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("intercept queues");
	tools_find();
	add = rig_kernel("k_add.kd");
	intercepted();
	handlers_nest();
	late_markers_may_wait();
	callbacks_destroy_intercept_queues();
	handlers_call_of_their_queues();
	handlers_destroy_each_others_queues();
	destroyed_below();
	other_queues_have_no_handlers();
	rig_stop();
	return check_done("intercept queues");
}

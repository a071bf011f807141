/* Queues of HSA: who may ring the doorbell, dependencies of packets, and a queue that is destroyed early. */
#include <pthread.h>

#include "tests/hsa_rig.h"

static struct hsa_rig_kernel add, endless, empty;

static void launch_endless(hsa_queue_t *queue, uint32_t *stop, unsigned slot, hsa_signal_t completion)
{
	rig_launch(queue, &endless, 64, slot, &stop, sizeof(stop), completion);
}

/* --- order ------------------------------------------------------------------------------------ */

/* A kernel in the middle of a batch waits for what the host does when it has seen the one before. */
static void the_host_answers_in_the_middle(hsa_queue_t *queue)
{
	uint32_t *words = rig_host(4096);
	hsa_signal_t first = rig_signal(1), last = rig_signal(1);

	rig_launch_add(queue, &add, words, 64, 1, 0, (hsa_signal_t){0});
	rig_launch_add(queue, &add, words, 64, 1, 1, first);
	launch_endless(queue, words + 512, 2, (hsa_signal_t){0});
	rig_launch_add(queue, &add, words, 64, 1, 3, last);
	CHECK_EQ(rig_wait(first), 0);
	CHECK_EQ(words[0], 4);
	CHECK_EQ(hsa_signal_load_scacquire(last), 1);
	__atomic_store_n(&words[512], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(last), 0);
	CHECK_EQ(words[0], 13);
	hsa_signal_destroy(first);
	hsa_signal_destroy(last);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

/* Both kernels' times are known and short: then they share a job with others. */
static void measure(hsa_queue_t *queue, uint32_t *words)
{
	hsa_signal_t done = rig_signal(2);

	words[512] = 1;
	rig_launch_add(queue, &add, words, 64, 1, 100, done);
	launch_endless(queue, words + 512, 101, done);
	CHECK_EQ(rig_wait(done), 0);
	memset(words, 0, 4096);
	hsa_signal_destroy(done);
}

/* What a kernel without a signal wrote is the host's to see as soon as the kernel behind it runs, in the same job.
 */
static void released_without_a_signal(hsa_queue_t *queue)
{
	uint32_t *data = rig_memory(rig.found.cpu[0].coarse, 4096), *words = rig_host(4096);
	hsa_signal_t done = rig_signal(1), gate;
	const struct {
		uint32_t *data;
		uint64_t value;
	} flag = {words, 1};
	const uint32_t *stop = words + 512;
	const hsa_kernel_dispatch_packet_t behind[] = {
		rig_packet(&add, 64, rig_args(1, 64, &flag, sizeof(flag)), (hsa_signal_t){0}),
		rig_packet(&endless, 64, rig_args(2, 64, &stop, sizeof(stop)), done),
	};

	measure(queue, words);
	memset(data, 0, 4096);
	gate = rig_gate(queue);
	rig_launch_add(queue, &add, data, 1024, 5, 0, (hsa_signal_t){0});
	/* An acquire of the system's scope would write back, too. */
	for (unsigned i = 0; i < 2; i++)
		rig_publish(queue, &behind[i],
			    HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
				    HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
			    1);
	hsa_signal_store_screlease(gate, 0);
	while (!__atomic_load_n(&words[0], __ATOMIC_ACQUIRE))
		continue;
	for (unsigned i = 0; i < 1024; i++)
		if (!CHECK_EQ(__atomic_load_n(&data[i], __ATOMIC_RELAXED), 5))
			break;
	__atomic_store_n(&words[512], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(done), 0);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
}

/* A kernel sees what the host wrote when it had seen an earlier one of the same job end. */
static void acquired_in_the_middle(hsa_queue_t *queue)
{
	uint32_t *data = rig_memory(rig.found.cpu[0].coarse, 4096), *words = rig_host(4096);
	hsa_signal_t first = rig_signal(1), done = rig_signal(1), gate;
	const uint32_t *stop = words + 512;
	const hsa_kernel_dispatch_packet_t middle =
		rig_packet(&endless, 64, rig_args(1, 64, &stop, sizeof(stop)), (hsa_signal_t){0});

	measure(queue, words);
	memset(data, 0, 4096);
	gate = rig_gate(queue);
	rig_launch_add(queue, &add, data, 64, 5, 0, first);
	/* A release of its own would be done with the acquire of the next one, at the wider scope. */
	rig_publish(queue, &middle, HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER, 1);
	rig_launch_add(queue, &add, data, 64, 1, 2, done);
	hsa_signal_store_screlease(gate, 0);
	CHECK_EQ(rig_wait(first), 0);
	CHECK_EQ(data[0], 5);
	for (unsigned i = 0; i < 64; i++)
		data[i] = 100;
	__atomic_store_n(&words[512], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(data[0], 301);
	CHECK_EQ(data[63], 301);
	hsa_signal_destroy(first);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
}

/* So does a job of another queue that begins while that one runs. alone: by the short way, without a signal. */
static void acquired_at_the_beginning(hsa_queue_t *queue, bool alone)
{
	uint32_t *data = rig_memory(rig.found.cpu[0].coarse, 4096), *words = rig_host(4096);
	hsa_signal_t first = rig_signal(1), stopped = rig_signal(1), done = rig_signal(1), gate;
	hsa_queue_t *other = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);
	const hsa_barrier_and_packet_t end = {.completion_signal = done};

	measure(queue, words);
	measure(other, words);
	memset(data, 0, 4096);
	gate = rig_gate(queue);
	rig_launch_add(queue, &add, data, 64, 5, 0, first);
	launch_endless(queue, words + 512, 1, stopped);
	hsa_signal_store_screlease(gate, 0);
	CHECK_EQ(rig_wait(first), 0);
	for (unsigned i = 0; i < 64; i++)
		data[i] = 100;
	rig_launch_add(other, &add, data, 64, 1, 2, alone ? (hsa_signal_t){0} : done);
	if (alone)
		rig_publish(other, &end, HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER, 0);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(data[0], 301);
	CHECK_EQ(data[63], 301);
	__atomic_store_n(&words[512], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(stopped), 0);
	CHECK_EQ(hsa_queue_destroy(other), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(first);
	hsa_signal_destroy(stopped);
	hsa_signal_destroy(done);
	hsa_signal_destroy(gate);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
}

/* Three queues in a ring: each dispatch behind a barrier packet for the one before, on another queue. */
static void queues_follow_one_another(void)
{
	hsa_queue_t *queue[3];
	hsa_signal_t done[31];
	uint32_t *words = rig_host(4096), want = 0;

	for (unsigned i = 0; i < 3; i++)
		queue[i] = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);
	for (unsigned i = 0; i < 31; i++) {
		hsa_barrier_and_packet_t barrier = {0};

		done[i] = rig_signal(1);
		if (i) {
			barrier.dep_signal[i % 5] = done[i - 1];
			rig_publish(queue[i % 3], &barrier, HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER, 0);
		}
		rig_launch_add(queue[i % 3], &add, words, 64, i, i, done[i]);
		want = want * 3 + i;
	}
	CHECK_EQ(rig_wait(done[30]), 0);
	CHECK_EQ(words[63], want);
	for (unsigned i = 0; i < 31; i++)
		hsa_signal_destroy(done[i]);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(hsa_queue_destroy(queue[i]), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

static void any_of_several(hsa_queue_t *queue)
{
	hsa_signal_t gate[2] = {rig_signal(1), rig_signal(7)}, done = rig_signal(1);
	hsa_barrier_or_packet_t packet = {.dep_signal = {gate[0], {0}, gate[1]}, .completion_signal = done};

	rig_publish(queue, &packet, HSA_PACKET_TYPE_BARRIER_OR | RIG_BARRIER, 0);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 3000000, HSA_WAIT_STATE_BLOCKED), 1);
	hsa_signal_store_screlease(gate[1], 0);
	CHECK_EQ(rig_wait(done), 0);
	hsa_signal_destroy(gate[0]);
	hsa_signal_destroy(gate[1]);
	hsa_signal_destroy(done);
}

static void a_value(hsa_queue_t *queue)
{
	hsa_signal_t word = rig_signal(0x100), done = rig_signal(1);
	hsa_amd_barrier_value_packet_t packet = {.signal = word,
						 .value = 5,
						 .mask = 0xff,
						 .cond = HSA_SIGNAL_CONDITION_GTE,
						 .completion_signal = done};

	packet.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
	rig_publish(queue, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC | RIG_BARRIER,
		    HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
	hsa_signal_store_screlease(word, 0x704);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 3000000, HSA_WAIT_STATE_BLOCKED), 1);
	hsa_signal_add_screlease(word, 1);
	CHECK_EQ(rig_wait(done), 0);
	hsa_signal_destroy(word);
	hsa_signal_destroy(done);
}

/* Commands of the client's own, between two kernels. */
static void pm4(hsa_queue_t *queue)
{
	uint32_t *words = rig_host(4096), *ib = rig_host(4096);
	const uint32_t commands[] = {
		0xc0033700, 5u << 8 | 1u << 20, (uint32_t)(uintptr_t)words, (uint32_t)((uintptr_t)words >> 32),
		77,         0xffff1000, /* WRITE_DATA to memory, confirmed; NOP */
	};
	hsa_signal_t done = rig_signal(1);
	struct {
		uint16_t header, format;
		uint32_t jump[4], left, reserved[8];
		hsa_signal_t completion;
	} packet = {.left = 10, .completion = done};

	memcpy(ib, commands, sizeof(commands));
	packet.jump[0] = 0xc0023f00; /* INDIRECT_BUFFER */
	packet.jump[1] = (uint32_t)(uintptr_t)ib;
	packet.jump[2] = (uint32_t)((uintptr_t)ib >> 32);
	packet.jump[3] = sizeof(commands) / 4 | 1u << 23;
	rig_publish(queue, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC | RIG_BARRIER, 1);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(words[0], 77);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(ib), HSA_STATUS_SUCCESS);
}

/* --- many producers --------------------------------------------------------------------------- */

#define THREADS    8
#define DISPATCHES 300

struct producer {
	pthread_t thread;
	hsa_queue_t *queue;
	uint32_t *data;
	unsigned first_slot, bad;
	uint32_t want;
	hsa_signal_t done;
};

/* Its own data; its dispatches follow one another in the common queue. Counts what is wrong: CHECK is for one
 * thread. */
static void *produce(void *arg)
{
	struct producer *p = arg;

	for (unsigned n = 0; n < DISPATCHES; n++) {
		hsa_signal_add_relaxed(p->done, 1);
		rig_launch_add(p->queue, &add, p->data, 64, n, p->first_slot + n % 16, p->done);
		p->want = p->want * 3 + n;
		if (n % 16 == 15)
			p->bad += rig_wait(p->done) != 0;
	}
	p->bad += rig_wait(p->done) != 0;
	p->bad += p->data[0] != p->want || p->data[63] != p->want;
	return NULL;
}

/* More packets than the queue holds, from more threads than there are cores. */
static void eight_threads(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	struct producer producer[THREADS] = {0};
	uint32_t *words = rig_host(THREADS * 256);

	for (unsigned i = 0; i < THREADS; i++) {
		producer[i].queue = queue;
		producer[i].data = words + i * 64;
		producer[i].first_slot = i * 16;
		producer[i].done = rig_signal(0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&producer[i].thread, NULL, produce, &producer[i]), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(producer[i].thread, NULL);
		CHECK_EQ(producer[i].bad, 0);
		CHECK_EQ(hsa_signal_destroy(producer[i].done), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(hsa_queue_load_read_index_scacquire(queue), THREADS * DISPATCHES);
	CHECK_EQ(hsa_queue_load_write_index_relaxed(queue), THREADS * DISPATCHES);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

/* --- early ends ------------------------------------------------------------------------------- */

/* Nobody waits for a kernel that does not end; what it uses stays until it does. */
static void destroyed_while_it_works(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI), *other;
	uint32_t *words = rig_host(4096);
	hsa_signal_t done = rig_signal(1), also = rig_signal(1);

	launch_endless(queue, words + 512, 0, done);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	other = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	rig_launch_add(other, &add, words, 64, 9, 1, also);
	CHECK_EQ(rig_wait(also), 0);
	CHECK_EQ(words[0], 9);
	CHECK_EQ(hsa_signal_load_relaxed(done), 1);
	__atomic_store_n(&words[512], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(hsa_queue_destroy(other), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	hsa_signal_destroy(also);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

static void inactivated(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t done = rig_signal(1);

	CHECK_EQ(hsa_queue_inactivate(queue), HSA_STATUS_SUCCESS);
	rig_launch(queue, &empty, 64, 0, "", 0, done);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 3000000, HSA_WAIT_STATE_BLOCKED), 1);
	CHECK_EQ(hsa_queue_load_read_index_relaxed(queue), 0);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
}

struct told {
	hsa_status_t status;
	hsa_queue_t *queue;
	hsa_signal_t signal;
};

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	struct told *told = data;

	told->status = status;
	told->queue = queue;
	hsa_signal_subtract_screlease(told->signal, 1);
}

/* The callback may end its queue. */
static void destroy_on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	on_error(status, queue, data);
}

static void send(hsa_queue_t *queue, const hsa_kernel_dispatch_packet_t *packet, uint16_t type, uint16_t setup)
{
	rig_publish(queue, packet, type | RIG_BARRIER, setup);
}

/* What each broken packet is called. */
static void broken_packets(void)
{
	const hsa_kernel_dispatch_packet_t good = rig_packet(&empty, 64, rig.args, (hsa_signal_t){0});
	hsa_kernel_dispatch_packet_t p[6] = {good, good, good, good, good, good};
	static const struct {
		uint16_t type, setup;
		hsa_status_t status;
	} row[6] = {
		{HSA_PACKET_TYPE_KERNEL_DISPATCH, 0, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
		{HSA_PACKET_TYPE_KERNEL_DISPATCH, 1, HSA_STATUS_ERROR_INVALID_ALLOCATION},
		{HSA_PACKET_TYPE_KERNEL_DISPATCH, 1, HSA_STATUS_ERROR_INVALID_CODE_OBJECT},
		{HSA_PACKET_TYPE_KERNEL_DISPATCH, 1, HSA_STATUS_ERROR_INVALID_ARGUMENT},
		{7, 1, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
		{HSA_PACKET_TYPE_AGENT_DISPATCH, 1, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
	};

	p[1].group_segment_size = 1 << 20;
	p[2].kernel_object = 0;
	p[3].workgroup_size_y = 4096;
	for (unsigned i = 0; i < 6; i++) {
		struct told told = {.signal = rig_signal(1)};
		hsa_queue_t *queue = NULL;

		CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, i % 2 ? destroy_on_error : on_error,
					  &told, 0, 0, &queue),
			 HSA_STATUS_SUCCESS);
		send(queue, &p[i], row[i].type, row[i].setup);
		CHECK_EQ(rig_wait(told.signal), 0);
		CHECK_EQ(told.status, row[i].status);
		CHECK(told.queue == queue);
		CHECK_EQ(hsa_queue_destroy(queue), i % 2 ? HSA_STATUS_ERROR_INVALID_QUEUE : HSA_STATUS_SUCCESS);
		hsa_signal_destroy(told.signal);
	}
}

/* --- properties ------------------------------------------------------------------------------- */

static void masks(hsa_queue_t *queue)
{
	uint32_t cus[4] = {~0u, ~0u, ~0u, ~0u}, got[4], all[4], *words = rig_host(4096), count = 0;
	hsa_signal_t done = rig_signal(1);

	hsa_agent_get_info(rig.gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &count);
	CHECK_EQ(hsa_amd_queue_cu_get_mask(queue, 128, all), HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < 128; i++)
		CHECK_EQ(all[i / 32] >> i % 32 & 1, i < count);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 128, cus), HSA_STATUS_SUCCESS);
	cus[0] = 0x5;
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 32, cus), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_queue_cu_get_mask(queue, 128, got), HSA_STATUS_SUCCESS);
	CHECK(got[0] == 0x5 && !got[1] && !got[2] && !got[3]);
	rig_launch_add(queue, &add, words, 1024, 1, 0, done);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(words[1023], 1);
	cus[0] = 0;
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 32, cus), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 31, cus), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 32, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 0, NULL), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_queue_cu_get_mask(queue, 128, got), HSA_STATUS_SUCCESS);
	CHECK(!memcmp(got, all, sizeof(got)));
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

static void priorities(hsa_queue_t *queue)
{
	uint32_t *words = rig_host(4096);
	hsa_signal_t done = rig_signal(0);

	for (unsigned i = 0; i < 6; i++) {
		hsa_signal_add_relaxed(done, 1);
		rig_launch_add(queue, &add, words, 64, 0, i, done);
		CHECK_EQ(hsa_amd_queue_set_priority(queue, (hsa_amd_queue_priority_t)(i % 3)), HSA_STATUS_SUCCESS);
		if (i == 3)
			CHECK_EQ(rig_wait(done), 0);
	}
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(hsa_amd_queue_set_priority(queue, (hsa_amd_queue_priority_t)3), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

/* --- queues of other kinds -------------------------------------------------------------------- */

static hsa_status_t first_region(hsa_region_t region, void *data)
{
	*(hsa_region_t *)data = region;
	return HSA_STATUS_INFO_BREAK;
}

/* What a soft queue has is the client's to read: here, agent dispatches. */
static void soft(void)
{
	hsa_signal_t bell = rig_signal(-1);
	hsa_region_t region = {0};
	hsa_queue_t *queue = NULL;
	hsa_agent_dispatch_packet_t packet = {.type = 0x8001, .arg = {40, 2}}, *got;

	CHECK_EQ(hsa_agent_iterate_regions(rig.cpu, first_region, &region), HSA_STATUS_INFO_BREAK);
	CHECK_EQ(hsa_soft_queue_create(region, 16, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH, bell,
				       &queue),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(queue->size, 16);
	CHECK_EQ(queue->features, HSA_QUEUE_FEATURE_AGENT_DISPATCH);
	rig_publish(queue, &packet, HSA_PACKET_TYPE_AGENT_DISPATCH, 0x8001);
	CHECK_EQ(hsa_signal_wait_scacquire(bell, HSA_SIGNAL_CONDITION_GTE, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED),
		 0);
	got = queue->base_address;
	CHECK_EQ(got->type, 0x8001);
	CHECK_EQ(got->arg[0] + got->arg[1], 42);
	hsa_queue_store_read_index_screlease(queue, 1);
	CHECK_EQ(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_HIGH), HSA_STATUS_ERROR_INVALID_QUEUE);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_soft_queue_create(region, 15, HSA_QUEUE_TYPE_MULTI, 1, bell, &queue),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_signal_destroy(bell), HSA_STATUS_SUCCESS);
}

static void groups(void)
{
	hsa_signal_t signal[3] = {rig_signal(1), rig_signal(1), rig_signal(1)}, which = {0};
	const hsa_signal_condition_t lt[3] = {HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_LT,
					      HSA_SIGNAL_CONDITION_LT};
	const hsa_signal_value_t one[3] = {1, 1, 1};
	hsa_signal_value_t value = 5;
	hsa_signal_group_t group;

	CHECK_EQ(hsa_signal_group_create(3, signal, 1, &rig.cpu, &group), HSA_STATUS_SUCCESS);
	hsa_signal_store_relaxed(signal[1], 0);
	CHECK_EQ(hsa_signal_group_wait_any_scacquire(group, lt, one, HSA_WAIT_STATE_BLOCKED, &which, &value),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(which.handle, signal[1].handle);
	CHECK_EQ(value, 0);
	CHECK_EQ(hsa_signal_group_destroy(group), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_group_destroy(group), HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP);
	CHECK_EQ(hsa_signal_group_create(0, signal, 0, NULL, &group), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	for (unsigned i = 0; i < 3; i++)
		hsa_signal_destroy(signal[i]);
}

/* --- misuse ----------------------------------------------------------------------------------- */

static void misuse(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI), *none = NULL, bogus = {0};
	uint64_t value;

	CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, NULL),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_queue_create(rig.gpu, 0, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &none),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_queue_create(rig.gpu, 100, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &none),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_queue_create(rig.gpu, 1u << 31, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &none),
		 HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_EQ(hsa_queue_create(rig.gpu, 64, 17, NULL, NULL, 0, 0, &none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 262129, 0, &none),
		 HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_EQ(hsa_queue_create(rig.cpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &none),
		 HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
	CHECK_EQ(hsa_queue_create((hsa_agent_t){1}, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &none),
		 HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_queue_destroy(NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_queue_destroy(&bogus), HSA_STATUS_ERROR_INVALID_QUEUE);
	CHECK_EQ(hsa_queue_inactivate(&bogus), HSA_STATUS_ERROR_INVALID_QUEUE);
	CHECK_EQ(hsa_amd_queue_set_priority(&bogus, HSA_AMD_QUEUE_PRIORITY_HIGH), HSA_STATUS_ERROR_INVALID_QUEUE);
	CHECK_EQ(hsa_amd_queue_get_info(&bogus, HSA_AMD_QUEUE_INFO_AGENT, &value), HSA_STATUS_ERROR_INVALID_QUEUE);
	CHECK_EQ(hsa_amd_queue_get_info(queue, HSA_AMD_QUEUE_INFO_AGENT, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_queue_get_info(queue, HSA_AMD_QUEUE_INFO_AGENT, &value), HSA_STATUS_SUCCESS);
	CHECK_EQ(value, rig.gpu.handle);
	/* Doorbells are their queues'. */
	CHECK_EQ(hsa_signal_destroy(queue->doorbell_signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

/* --- a reset ---------------------------------------------------------------------------------- */

/* A kernel that never ends is stopped by the watchdog: waits end, the client hears of it, a new queue works. */
static void reset(void)
{
	struct told told = {.signal = rig_signal(1)};
	uint32_t *words = rig_host(4096);
	hsa_signal_t stuck = rig_signal(1), behind = rig_signal(1), fresh = rig_signal(1);
	hsa_queue_t *queue = NULL, *next;

	CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, &told, 0, 0, &queue),
		 HSA_STATUS_SUCCESS);
	launch_endless(queue, words + 512, 0, stuck);
	rig_launch_add(queue, &add, words, 64, 1, 1, behind);
	CHECK(rig_wait(stuck) != 0);
	/* Whether it ran is the kernel's affair; that it ends is ours. */
	rig_wait(behind);
	CHECK_EQ(rig_wait(told.signal), 0);
	CHECK_EQ(told.status, HSA_STATUS_ERROR_EXCEPTION);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	memset(words, 0, 4096);
	next = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	rig_launch_add(next, &add, words, 64, 3, 2, fresh);
	CHECK_EQ(rig_wait(fresh), 0);
	CHECK_EQ(words[0], 3);
	CHECK_EQ(hsa_queue_destroy(next), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(told.signal);
	hsa_signal_destroy(stuck);
	hsa_signal_destroy(behind);
	hsa_signal_destroy(fresh);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

/* --- the program ------------------------------------------------------------------------------ */

static bool start(const char *spec)
{
	if (!rig_start(spec, "gfx908", "group.O1"))
		return false;
	add = rig_kernel("k_add.kd");
	endless = rig_kernel("k_endless.kd");
	empty = rig_kernel("k_empty.kd");
	return true;
}

int main(void)
{
	hsa_queue_t *queue;

	if (!start("gfx908"))
		return check_done("queues of HSA");
	queue = rig_queue(128, HSA_QUEUE_TYPE_MULTI);
	/* While the endless kernel is not known to take long. */
	released_without_a_signal(queue);
	acquired_in_the_middle(queue);
	acquired_at_the_beginning(queue, false);
	acquired_at_the_beginning(queue, true);
	the_host_answers_in_the_middle(queue);
	queues_follow_one_another();
	any_of_several(queue);
	a_value(queue);
	pm4(queue);
	eight_threads();
	destroyed_while_it_works();
	inactivated();
	broken_packets();
	masks(queue);
	priorities(queue);
	soft();
	groups();
	misuse();
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	rig_stop();
	if (start("gfx908:watchdog_ms=2000"))
		reset();
	rig_stop();
	return check_done("queues of HSA");
}

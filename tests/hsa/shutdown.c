/* hsa_shut_down() while copies, async handlers and queues wait for signals; some were destroyed, and doorbells of queues have
 * their places. */
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/hsa_rig.h"

#define COPY_B (1u << 20) /* more than the CPU copies itself */

static atomic_uint handler_calls;

static bool handler(hsa_signal_value_t value, void *arg)
{
	(void)value, (void)arg;
	handler_calls++;
	return false;
}

/* Of a copy that fails, if the runtime lives that long. */
static bool failed_handler(hsa_signal_value_t value, void *arg)
{
	(void)arg;
	CHECK(value < 0);
	return false;
}

/* A signal, a handler for it, and a queue whose doorbell has its place. */
static hsa_signal_t destroyed_with_handler(void)
{
	hsa_signal_t signal = rig_signal(1);

	CHECK_EQ(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_EQ, 0, handler, NULL), 0);
	CHECK_EQ(hsa_signal_destroy(signal), 0);
	return signal;
}

static void a_handlers_signal_became_a_doorbell(void)
{
	hsa_signal_t signal = destroyed_with_handler();
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);

	CHECK_EQ(queue->doorbell_signal.handle, signal.handle);
}

static void a_handlers_signal_became_a_doorbell_that_went(void)
{
	hsa_signal_t signal = destroyed_with_handler(), other;
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);

	CHECK_EQ(queue->doorbell_signal.handle, signal.handle);
	CHECK_EQ(hsa_queue_destroy(queue), 0);
	other = rig_signal(1);
	CHECK_EQ(other.handle, signal.handle);
	CHECK_EQ(hsa_amd_signal_async_handler(other, HSA_SIGNAL_CONDITION_EQ, 0, handler, NULL), 0);
}

/* Both signals of a copy that waits. */
static void a_copys_signals_became_doorbells(void)
{
	char *from = rig_host(COPY_B), *to = rig_host(COPY_B);
	hsa_signal_t dep = rig_signal(1), done = rig_signal(1);
	hsa_queue_t *queue[2];

	CHECK_EQ(hsa_amd_memory_async_copy(to, rig.gpu, from, rig.cpu, COPY_B, 1, &dep, done), 0);
	CHECK_EQ(hsa_signal_destroy(done), 0);
	queue[0] = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	CHECK_EQ(queue[0]->doorbell_signal.handle, done.handle);
	CHECK_EQ(hsa_signal_destroy(dep), 0);
	queue[1] = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	CHECK_EQ(queue[1]->doorbell_signal.handle, dep.handle);
}

/* The progress thread submits this copy in a later pass than what could go on before the call. */
static void copy_in_a_pass(char *to, const char *from)
{
	hsa_signal_t dep = rig_signal(1), done = rig_signal(1);

	CHECK_EQ(hsa_amd_memory_async_copy(to, rig.gpu, from, rig.cpu, COPY_B, 1, &dep, done), 0);
	hsa_signal_store_screlease(dep, 0);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(hsa_signal_destroy(dep), 0);
	CHECK_EQ(hsa_signal_destroy(done), 0);
}

/* The copy may go on, but its completion is another's by then. */
static void a_copys_completion_became_a_doorbell(void)
{
	char *from = rig_host(COPY_B), *to = rig_memory(rig.found.gpu[0].coarse, COPY_B);
	hsa_signal_t dep = rig_signal(1), done = rig_signal(1);
	hsa_signal_value_t before;
	hsa_queue_t *queue;

	CHECK_EQ(hsa_amd_memory_async_copy(to, rig.gpu, from, rig.cpu, COPY_B, 1, &dep, done), 0);
	CHECK_EQ(hsa_signal_destroy(done), 0);
	queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	CHECK_EQ(queue->doorbell_signal.handle, done.handle);
	before = hsa_signal_load_scacquire(queue->doorbell_signal);
	hsa_signal_store_screlease(dep, 0);
	for (unsigned i = 0; i < 3; i++)
		copy_in_a_pass(to, from);
	CHECK_EQ(hsa_signal_load_scacquire(queue->doorbell_signal), before);
}

/* Signals that live, and queues that are stopped by them. */
static void everybody_waits(void)
{
	hsa_barrier_and_packet_t barrier = {0};
	hsa_signal_t dep = rig_signal(1), done = rig_signal(1), copied = rig_signal(1);
	char *from = rig_host(COPY_B), *to = rig_host(COPY_B);

	barrier.dep_signal[0] = dep;
	barrier.completion_signal = done;
	CHECK_EQ(hsa_amd_signal_async_handler(done, HSA_SIGNAL_CONDITION_EQ, 0, handler, NULL), 0);
	CHECK_EQ(hsa_amd_signal_async_handler(copied, HSA_SIGNAL_CONDITION_EQ, 0, failed_handler, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		rig_publish(rig_queue(64, HSA_QUEUE_TYPE_MULTI), &barrier,
			    HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | RIG_BARRIER, 0);
	barrier.dep_signal[0] = done;
	barrier.completion_signal = copied;
	rig_publish(rig_queue(64, HSA_QUEUE_TYPE_MULTI), &barrier,
		    HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | RIG_BARRIER, 0);
	CHECK_EQ(hsa_amd_memory_async_copy(to, rig.gpu, from, rig.cpu, COPY_B, 1, &done, copied), 0);
	CHECK_EQ(hsa_signal_destroy(done), 0);
	(void)rig_queue(64, HSA_QUEUE_TYPE_MULTI);
}

int main(void)
{
	static void (*const scenes[])(void) = {
		a_handlers_signal_became_a_doorbell,
		a_handlers_signal_became_a_doorbell_that_went,
		a_copys_signals_became_doorbells,
		a_copys_completion_became_a_doorbell,
		everybody_waits,
	};

	for (unsigned i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (!rig_start("gfx908", "gfx908", "group.O1"))
			break;
		scenes[i]();
		rig_stop();
	}
	CHECK_EQ(handler_calls, 0);
	return check_done("shut down while all wait");
}

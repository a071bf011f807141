/* Signals that a thread destroys while another is inside a call with their handle: waits end, and neither the call nor what it has
 * left behind changes the next signal of the same place. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tests/hsa_rig.h"
#include "tests/step_rows.h"

static hsa_signal_t s, done;

/* --- loads, waits and times beside creations --------------------------------------------------------- */

#define VALUE  7
#define ROUNDS 20000

static _Atomic bool over;

/* The value of the place's present signal, or 0: there is none. */
static void check_value(hsa_signal_value_t value)
{
	if (value && value != VALUE)
		CHECK_EQ(value, VALUE);
}

static void *handle_use(void *unused)
{
	hsa_amd_profiling_dispatch_time_t time;
	hsa_amd_profiling_async_copy_time_t copy_time;

	while (!atomic_load(&over)) {
		check_value(hsa_signal_load_scacquire(s));
		check_value(hsa_signal_load_relaxed(s));
		check_value(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 1, 0, HSA_WAIT_STATE_ACTIVE));
		(void)!hsa_amd_profiling_get_dispatch_time(rig.gpu, s, &time);
		(void)!hsa_amd_profiling_get_async_copy_time(s, &copy_time);
	}
	return unused;
}

static void loads_beside_creations(void)
{
	hsa_signal_t again;
	pthread_t user;

	s = rig_signal(VALUE);
	atomic_store(&over, false);
	CHECK_EQ(pthread_create(&user, NULL, handle_use, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
		again = rig_signal(VALUE);
		CHECK_EQ(again.handle, s.handle); /* the place that was freed last */
	}
	atomic_store(&over, true);
	pthread_join(user, NULL);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
}

static void *doorbell_use(void *unused)
{
	while (!atomic_load(&over)) {
		(void)!hsa_signal_load_scacquire(s);
		hsa_signal_store_relaxed(s, 0);
	}
	return unused;
}

/* The handle is a signal's first, and then that of one doorbell after another. Each is rung also while its queue is destroyed. */
static void doorbells_beside_creations(void)
{
	pthread_t user;

	s = rig_signal(VALUE);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
	atomic_store(&over, false);
	CHECK_EQ(pthread_create(&user, NULL, doorbell_use, NULL), 0);
	for (unsigned i = 0; i < 200; i++) {
		hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);

		CHECK_EQ(queue->doorbell_signal.handle, s.handle);
		CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	}
	atomic_store(&over, true);
	pthread_join(user, NULL);
}

/* --- a thread that is stopped in a call ---------------------------------------------------------------- */

static void s_create(void)
{
	s = rig_signal(VALUE);
}

static void s_destroy(void)
{
	(void)!hsa_signal_destroy(s);
}

/* --- waits --- */

#define LONG_NS 5000000000u

static hsa_signal_value_t waited;
static _Atomic bool wait_over;
static bool wait_recorded;
static pthread_t ender;

static void wait_use(void)
{
	waited = hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 1, step_records() ? 0 : LONG_NS,
					   HSA_WAIT_STATE_BLOCKED);
	atomic_store(&wait_over, true);
	wait_recorded = step_records();
}

/* The recorded wait ends by its time, and passes instructions that the others do not reach: these end here. */
static void *wait_end(void *unused)
{
	for (unsigned ms = 0; ms < 20 && !atomic_load(&wait_over); ms++)
		step_nap(1000000);
	s_destroy();
	return unused;
}

static void wait_before(void)
{
	s_create();
	atomic_store(&wait_over, false);
	CHECK_EQ(pthread_create(&ender, NULL, wait_end, NULL), 0);
}

static void wait_after(void)
{
	pthread_join(ender, NULL);
	if (waited != VALUE || !wait_recorded)
		CHECK_EQ(waited, 0);
}

/* --- handlers --- */

static _Atomic unsigned handled, handled_after;

static bool handle(hsa_signal_value_t value, void *arg)
{
	(void)value;
	atomic_fetch_add((_Atomic unsigned *)arg, 1);
	return false;
}

static void handler_add(_Atomic unsigned *count)
{
	(void)!hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_EQ, VALUE, handle, count);
}

static void handler_use(void)
{
	handler_add(&handled);
}

static void handler_before(void)
{
	s = rig_signal(0);
}

/* Handlers are called in the order of their registration: the first would have been called before the second. */
static void handler_after(void)
{
	s_destroy();
	s_create();
	atomic_store(&handled_after, 0);
	handler_add(&handled_after);
	while (!atomic_load(&handled_after))
		step_nap(10000);
	CHECK_EQ(handled, 0);
	s_destroy();
}

/* --- copies --- */

#define COPY_B 4096

static char *from, *to;

static void copy_to(hsa_signal_t completion)
{
	(void)!hsa_amd_memory_async_copy(to, rig.gpu, from, rig.cpu, COPY_B, 0, NULL, completion);
}

static void copy_use(void)
{
	copy_to(s);
}

/* The first copy completes its own signal, or none. */
static void copy_after(void)
{
	s_destroy();
	s_create();
	hsa_signal_store_relaxed(done, 1);
	copy_to(done);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(hsa_signal_load_scacquire(s), VALUE);
	s_destroy();
}

/* --- packets --- */

static hsa_queue_t *queue;
static _Atomic bool failed;

static void queue_failed(hsa_status_t status, hsa_queue_t *source, void *data)
{
	(void)status, (void)source, (void)data;
	atomic_store(&failed, true);
}

static void packet_complete(hsa_signal_t completion)
{
	const hsa_barrier_and_packet_t packet = {.completion_signal = completion};

	rig_publish(queue, &packet, HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER, 0);
}

static void packet_before(void)
{
	atomic_store(&failed, false);
	CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_SINGLE, queue_failed, NULL, UINT32_MAX, UINT32_MAX,
				  &queue),
		 HSA_STATUS_SUCCESS);
	s_create();
}

static void packet_use(void)
{
	packet_complete(s);
}

/* The first packet completes its own signal, or none; its queue may have failed. */
static void packet_after(void)
{
	s_destroy();
	s_create();
	hsa_signal_store_relaxed(done, 1);
	packet_complete(done);
	while (hsa_signal_load_scacquire(done) && !atomic_load(&failed))
		step_nap(10000);
	CHECK_EQ(hsa_signal_load_scacquire(s), VALUE);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	s_destroy();
}

/* --- doorbells --- */

static void queue_use(void)
{
	queue = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);
}

static void s_ring(void)
{
	hsa_signal_store_relaxed(s, 0);
}

static void doorbell_before(void)
{
	s_create();
	s_destroy();
}

/* A doorbell's handle names nothing before its queue can be used. */
static void doorbell_after(void)
{
	CHECK_EQ(queue->doorbell_signal.handle, s.handle);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

static void stopped_calls(void)
{
	static const struct step_row rows[] = {
		{"hsa_signal_wait_scacquire()", wait_before, wait_use, s_destroy, wait_after},
		{"hsa_amd_signal_async_handler()", handler_before, handler_use, s_destroy, handler_after},
		{"hsa_amd_memory_async_copy()", s_create, copy_use, s_destroy, copy_after},
		{"a packet", packet_before, packet_use, s_destroy, packet_after},
		{"hsa_queue_create()", doorbell_before, queue_use, s_ring, doorbell_after},
	};
	const unsigned count = sizeof(rows) / sizeof(rows[0]);

	if (!step_works()) {
		printf("no breakpoints of perf_event, or ThreadSanitizer: calls are not stopped\n");
		return;
	}
	from = rig_host(COPY_B);
	to = rig_memory(rig.found.gpu[0].coarse, COPY_B);
	step_rows_run(rows, count, count, true);
	hsa_amd_memory_pool_free(from);
	hsa_amd_memory_pool_free(to);
}

int main(void)
{
	mallopt(M_PERTURB, 0x5a);
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("stale handles");
	done = rig_signal(1);
	loads_beside_creations();
	doorbells_beside_creations();
	stopped_calls();
	hsa_signal_destroy(done);
	rig_stop();
	return check_done("stale handles");
}

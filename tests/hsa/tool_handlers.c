/* A tool that intercepts all queues, and whose handler does what the test wants in front of each dispatch: it orders
 * dispatches like a profiler of single kernels, waits, submits elsewhere, and calls functions on its own queue. */
#include <hsa/hsa_api_trace.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/hsa/tool_handlers.h"

#define EXPORT    __attribute__((visibility("default")))
#define IN_FLIGHT 6

/* For the test, by dlsym(). */
EXPORT _Atomic enum tool_act tool_act;
EXPORT _Atomic unsigned tool_dispatches, tool_errors;

static CoreApiTable core;
static AmdExtTable extension;
static hsa_queue_t *own; /* the tool's own queue */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static unsigned running;  /* guarded by the lock */
static bool full;         /* guarded by the lock */
static hsa_signal_t gate; /* opened when the last dispatch of all queues has ended */

static void expect(hsa_status_t status)
{
	tool_errors += status != HSA_STATUS_SUCCESS;
}

static void put_barrier(hsa_amd_queue_intercept_packet_writer write, hsa_signal_t behind)
{
	const hsa_barrier_and_packet_t packet = {
		.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER,
		.dep_signal = {behind},
	};

	write(&packet, 1);
}

static bool open_gate(hsa_signal_value_t value, void *arg)
{
	(void)value;
	core.hsa_signal_store_screlease_fn((hsa_signal_t){(uintptr_t)arg}, 0);
	return false;
}

/* The dispatch begins behind the last one, and the next one behind it, when the library's thread has told the tool. */
static void serialize(hsa_signal_t completion, hsa_amd_queue_intercept_packet_writer write)
{
	put_barrier(write, gate);
	expect(core.hsa_signal_create_fn(1, 0, NULL, &gate));
	expect(extension.hsa_amd_signal_async_handler_fn(completion, HSA_SIGNAL_CONDITION_LT, 1, open_gate,
							 (void *)(uintptr_t)gate.handle));
}

static bool on_end(hsa_signal_value_t value, void *arg)
{
	(void)value, (void)arg;
	pthread_mutex_lock(&lock);
	running--;
	pthread_cond_signal(&ended);
	pthread_mutex_unlock(&lock);
	return false;
}

/* Not more than so many dispatches at a time: then sleeps until all have ended, as the library's thread tells. */
static void begin_one(hsa_signal_t completion)
{
	pthread_mutex_lock(&lock);
	while (running && (full |= running == IN_FLIGHT))
		pthread_cond_wait(&ended, &lock);
	full = false;
	running++;
	pthread_mutex_unlock(&lock);
	expect(extension.hsa_amd_signal_async_handler_fn(completion, HSA_SIGNAL_CONDITION_LT, 1, on_end, NULL));
}

/* A barrier in the tool's own queue, which it opens itself. */
static void submit_and_wait(void)
{
	hsa_barrier_and_packet_t packet = {0};
	hsa_barrier_and_packet_t *slot;
	hsa_signal_t done;
	uint64_t index;

	expect(core.hsa_signal_create_fn(1, 0, NULL, &packet.dep_signal[0]));
	expect(core.hsa_signal_create_fn(1, 0, NULL, &done));
	packet.completion_signal = done;
	index = core.hsa_queue_add_write_index_relaxed_fn(own, 1);
	slot = (hsa_barrier_and_packet_t *)own->base_address + index % own->size;
	packet.header = HSA_PACKET_TYPE_INVALID;
	*slot = packet;
	__atomic_store_n(&slot->header, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE, __ATOMIC_RELEASE);
	core.hsa_signal_store_screlease_fn(own->doorbell_signal, (hsa_signal_value_t)index);
	core.hsa_signal_store_screlease_fn(packet.dep_signal[0], 0);
	core.hsa_signal_wait_scacquire_fn(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
	expect(core.hsa_signal_destroy_fn(packet.dep_signal[0]));
	expect(core.hsa_signal_destroy_fn(done));
}

static void call_on(hsa_queue_t *queue)
{
	uint32_t cus[4];

	expect(extension.hsa_amd_queue_cu_get_mask_fn(queue, 128, cus));
	expect(extension.hsa_amd_queue_cu_set_mask_fn(queue, 128, cus));
	expect(extension.hsa_amd_profiling_set_profiler_enabled_fn(queue, 1));
}

static void see_dispatch(hsa_kernel_dispatch_packet_t *p, hsa_queue_t *queue,
			 hsa_amd_queue_intercept_packet_writer write)
{
	const enum tool_act act = tool_act;

	tool_dispatches++;
	if (act == TOOL_SERIALIZES || act == TOOL_LIMITS)
		expect(core.hsa_signal_create_fn(1, 0, NULL, &p->completion_signal));
	if (act == TOOL_SERIALIZES) {
		serialize(p->completion_signal, write);
	} else if (act == TOOL_LIMITS) {
		begin_one(p->completion_signal);
	} else if (act == TOOL_SUBMITS) {
		submit_and_wait();
	} else if (act == TOOL_CALLS) {
		call_on(queue);
	}
	for (unsigned i = 1; act == TOOL_REPEATS && i < TOOL_TIMES; i++)
		write(p, 1);
	write(p, 1);
}

static void see(const void *packets, uint64_t count, uint64_t index, void *data,
		hsa_amd_queue_intercept_packet_writer write)
{
	const hsa_kernel_dispatch_packet_t *in = packets;

	(void)index;
	for (uint64_t i = 0; i < count; i++) {
		hsa_kernel_dispatch_packet_t p = in[i];

		if ((p.header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH)
			see_dispatch(&p, *(hsa_queue_t **)data, write);
		else
			write(&p, 1);
	}
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			   void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
			   uint32_t private_B, uint32_t group_B, hsa_queue_t **queue)
{
	hsa_queue_t **seen = malloc(sizeof(*seen)); /* for the life of the process */
	hsa_status_t status = extension.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data,
									  private_B, group_B, queue);

	if (!seen || status)
		return status ? status : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*seen = *queue;
	if (!own)
		expect(core.hsa_queue_create_fn(agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &own));
	return extension.hsa_amd_queue_intercept_register_fn(*queue, see, seen);
}

EXPORT bool OnLoad(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
bool OnLoad(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count, const char *const *failed_names)
{
	(void)runtime_version, (void)failed_count, (void)failed_names;
	core = *table->core_;
	extension = *table->amd_ext_;
	table->core_->hsa_queue_create_fn = create;
	return true;
}

EXPORT void OnUnload(void);
void OnUnload(void)
{
}

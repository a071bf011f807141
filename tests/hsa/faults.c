/* A kernel accesses unmapped memory: a handler of events gets an event; without one the GPU's queues end. The job
 * itself ends as if nothing had happened. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/hsa_rig.h"
#include "vgpu/report.h"

#define NOWHERE 0x123450000ull

static struct hsa_rig_kernel store;

static struct heard {
	unsigned events, delay_us;
	hsa_amd_event_t last;
	hsa_signal_t signal;
} heard; /* its handler stays registered */

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data)
{
	CHECK(data == &heard);
	heard.last = *event;
	heard.events++;
	hsa_signal_subtract_screlease(heard.signal, 1);
	usleep(heard.delay_us);
	return HSA_STATUS_SUCCESS;
}

struct told {
	hsa_status_t status;
	hsa_signal_t signal;
};

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	struct told *told = data;

	(void)queue;
	told->status = status;
	hsa_signal_subtract_screlease(told->signal, 1);
}

static void store_to(hsa_queue_t *queue, uint64_t address)
{
	const struct {
		uint64_t at;
		uint32_t value, pad;
	} args = {address, 1, 0};
	hsa_signal_t done = rig_signal(1);

	rig_launch(queue, &store, 64, 0, &args, sizeof(args), done);
	CHECK_EQ(rig_wait(done), 0);
	hsa_signal_destroy(done);
}

static void open_rig(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		exit(check_done("faults"));
	store = rig_kernel("k_store.kd");
}

static void the_queues_end(void)
{
	struct told told = {.signal = rig_signal(1)};
	hsa_queue_t *queue = NULL;

	CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, &told, 0, 0, &queue),
		 HSA_STATUS_SUCCESS);
	store_to(queue, NOWHERE);
	/* Asked about when the queue ends at the latest; the callback is over then. */
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(told.status, HSA_STATUS_ERROR_MEMORY_FAULT);
	CHECK_EQ(hsa_signal_load_scacquire(told.signal), 0);
	hsa_signal_destroy(told.signal);
}

static void an_event_is_told(void)
{
	struct told told = {.signal = rig_signal(1)};
	hsa_queue_t *queue = NULL, *other = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);

	heard.signal = rig_signal(1);
	CHECK_EQ(hsa_amd_register_system_event_handler(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_register_system_event_handler(on_event, &heard), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, &told, 0, 0, &queue),
		 HSA_STATUS_SUCCESS);
	store_to(queue, NOWHERE + 0x10000);
	CHECK_EQ(hsa_queue_destroy(other), HSA_STATUS_SUCCESS);
	CHECK_EQ(rig_wait(heard.signal), 0);
	CHECK_EQ(heard.events, 1);
	CHECK_EQ(heard.last.event_type, HSA_AMD_GPU_MEMORY_FAULT_EVENT);
	CHECK_EQ(heard.last.memory_fault.agent.handle, rig.gpu.handle);
	CHECK_EQ(heard.last.memory_fault.virtual_address, NOWHERE + 0x10000);
	CHECK_EQ(heard.last.memory_fault.fault_reason_mask, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
	CHECK_EQ(told.status, 0);
	/* The queue goes on. */
	store_to(queue, (uintptr_t)rig.args);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(told.signal);
}

/* The runtime ends while the handler of a first event runs: the second event is dropped, and freed (LeakSanitizer). */
static void an_event_is_dropped(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);

	heard.delay_us = 200000;
	hsa_signal_store_screlease(heard.signal, 1);
	store_to(queue, NOWHERE + 0x20000);
	CHECK_EQ(rig_wait(heard.signal), 0);
	store_to(queue, NOWHERE + 0x30000);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS); /* queries the second fault */
	rig_stop();
}

int main(void)
{
	open_rig();
	the_queues_end();
	an_event_is_told();
	an_event_is_dropped();
	return check_done("faults");
}

/* A tool that sees the packets of all queues, as rocprofiler does: it makes intercept queues where programs make
 * queues, counts dispatches, and puts a packet of its own in front of each. */
#include <hsa/hsa_api_trace.h>

#define EXPORT __attribute__((visibility("default")))

/* For the test, by dlsym(). */
EXPORT _Atomic unsigned tool_queues, tool_dispatches;

static AmdExtTable extension;

static void see(const void *packets, uint64_t count, uint64_t index, void *data,
		hsa_amd_queue_intercept_packet_writer write)
{
	const hsa_barrier_and_packet_t own = {
		.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER,
	};
	const hsa_kernel_dispatch_packet_t *p = packets;

	(void)index, (void)data;
	for (uint64_t i = 0; i < count; i++) {
		if ((p[i].header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
			tool_dispatches++;
			write(&own, 1);
		}
		write(&p[i], 1);
	}
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			   void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
			   uint32_t private_B, uint32_t group_B, hsa_queue_t **queue)
{
	hsa_status_t status = extension.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data,
									  private_B, group_B, queue);

	if (!status)
		status = extension.hsa_amd_queue_intercept_register_fn(*queue, see, NULL);
	tool_queues += !status;
	return status;
}

EXPORT bool OnLoad(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
bool OnLoad(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count, const char *const *failed_names)
{
	(void)runtime_version, (void)failed_count, (void)failed_names;
	extension = *table->amd_ext_;
	table->core_->hsa_queue_create_fn = create;
	return true;
}

EXPORT void OnUnload(void);
void OnUnload(void)
{
}

/* Cooperative launches on the queue that they share with clients of HSA. */
#include <hip/hip_cooperative_groups.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <thread>

#include "tests/clients/hip/hip.h"

#define PACKETS 20u

__global__ void late(const unsigned *go, unsigned *done)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(64);
	cooperative_groups::this_grid().sync();
	__hip_atomic_store(done, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__global__ void look(const unsigned *done, unsigned *seen)
{
	*seen = 1 + __hip_atomic_load(done, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

static hsa_status_t take_gpu(hsa_agent_t agent, void *found)
{
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	*(hsa_agent_t *)found = agent;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_queue_t *cooperative_queue()
{
	hsa_agent_t gpu = {0};
	hsa_queue_t *queue = nullptr;

	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_iterate_agents(take_gpu, &gpu), HSA_STATUS_INFO_BREAK);
	CHECK_EQ(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_COOPERATIVE, nullptr, nullptr, UINT32_MAX, UINT32_MAX,
				  &queue),
		 HSA_STATUS_SUCCESS);
	return queue;
}

/* Barriers that wait for nothing. */
static void put_packets(hsa_queue_t *queue, hsa_signal_t done)
{
	for (unsigned i = 0; i < PACKETS; i++) {
		uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
		hsa_barrier_and_packet_t *p =
			(hsa_barrier_and_packet_t *)queue->base_address + (index & (queue->size - 1));

		memset((char *)p + 4, 0, sizeof(*p) - 4);
		p->completion_signal = i == PACKETS - 1 ? done : hsa_signal_t{0};
		__atomic_store_n((uint32_t *)p,
				 HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE |
					 1 << HSA_PACKET_HEADER_BARRIER,
				 __ATOMIC_RELEASE);
		hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
	}
}

static unsigned *word()
{
	unsigned *at;

	HIP(hipHostMalloc((void **)&at, sizeof(*at), 0));
	*at = 0;
	return at;
}

static void wait_for(void *flag)
{
	while (!__atomic_load_n((unsigned *)flag, __ATOMIC_ACQUIRE))
		std::this_thread::yield();
}

/* What others put there does not count as the grid's end. held: they do so while the grid waits for a function of
 * the host. */
static void behind_a_grid(hsa_queue_t *queue, bool held)
{
	unsigned *gate = word(), *go = word(), *done = word(), *seen = word();
	void *arguments[] = {&go, &done};
	hsa_signal_t end;
	hipStream_t stream;

	CHECK_EQ(hsa_signal_create(1, 0, nullptr, &end), HSA_STATUS_SUCCESS);
	HIP(hipStreamCreate(&stream));
	if (held)
		HIP(hipLaunchHostFunc(stream, wait_for, gate));
	else
		put_packets(queue, end);
	HIP(hipLaunchCooperativeKernel((const void *)late, dim3(1), dim3(64), arguments, 0, stream));
	look<<<1, 1, 0, stream>>>(done, seen);
	HIP_LAUNCHED();
	if (held)
		put_packets(queue, end);
	__atomic_store_n(gate, 1, __ATOMIC_RELEASE);
	/* So long a kernel does not take that waits for nothing. */
	std::this_thread::sleep_for(std::chrono::milliseconds(200));
	CHECK_EQ(hipStreamQuery(stream), hipErrorNotReady);
	CHECK_EQ(*seen, 0);
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(*seen, 2);
	CHECK_EQ(hsa_signal_wait_scacquire(end, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
	HIP(hipStreamDestroy(stream));
	CHECK_EQ(hsa_signal_destroy(end), HSA_STATUS_SUCCESS);
	for (unsigned *at : {gate, go, done, seen})
		HIP(hipHostFree(at));
}

/* The queue is the client's as well. */
static void behind_a_reset(hsa_queue_t *queue)
{
	HIP(hipDeviceReset());
	behind_a_grid(queue, false);
	HIP(hipDeviceReset());
}

int main()
{
	hsa_queue_t *queue = cooperative_queue();

	behind_a_grid(queue, false);
	behind_a_grid(queue, true);
	behind_a_reset(queue);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	return check_done("cooperative launches beside clients of HSA");
}

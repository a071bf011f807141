/* A thread that is stopped at the instructions of a call in turn (tests/step.h), while another thread shuts HSA down, or forks: the
 * call uses nothing of a runtime that has ended, and the child's calls do not wait for locks of a thread that it does not have. */
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hsa_rig.h"
#include "tests/step_rows.h"

#define SIZE_B  (1u << 20) /* a copy that the CPU does not make itself */
#define CHILD_s 120        /* a child that hangs ends */
#define WAIT_ns 20000000   /* of a wait that is not stopped, because it takes another way */

static hsa_signal_t s, done;
static hsa_queue_t *queue;
static char *memory, *host;
static hsa_signal_group_t group;

/* The runtime lives, or has ended. */
static void use(hsa_status_t status)
{
	if (status != HSA_STATUS_ERROR_NOT_INITIALIZED)
		CHECK_EQ(status, HSA_STATUS_SUCCESS);
}

static void runtime_begin(void)
{
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	hsa_find_all(&rig.found);
	rig.cpu = rig.found.cpu[0].agent;
	rig.gpu = rig.found.gpu[0].agent;
	s = rig_signal(1);
	done = rig_signal(1);
}

static void runtime_end(void)
{
	(void)!hsa_shut_down();
}

static void runtime_gone(void)
{
	while (!hsa_shut_down())
		continue;
	CHECK_EQ(vgpu_live_objects(), 0);
}

/* --- signals --- */

static void signal_use(void)
{
	hsa_signal_t made;

	use(hsa_signal_create(1, 0, NULL, &made));
	hsa_signal_store_screlease(s, 2);
	(void)hsa_signal_load_scacquire(s);
	hsa_signal_subtract_screlease(s, 1);
}

static void signal_wait(void)
{
	(void)hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 7, step_records() ? 0 : WAIT_ns,
					HSA_WAIT_STATE_BLOCKED);
}

static void signals_wait(void)
{
	hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
	hsa_signal_value_t value = 7, got;

	(void)hsa_amd_signal_wait_any(1, &s, &condition, &value, step_records() ? 0 : WAIT_ns,
				      HSA_WAIT_STATE_BLOCKED, &got);
}

/* A wait without an end ends with the runtime. */
static void *wait_for_ever(void *started)
{
	hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
	hsa_signal_value_t value = 7, got;

	atomic_store((_Atomic bool *)started, true);
	CHECK(hsa_signal_wait_scacquire(s, condition, value, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != value);
	CHECK_EQ(hsa_amd_signal_wait_all(1, &s, &condition, &value, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, &got),
		 UINT32_MAX);
	return NULL;
}

static void waits_end(void)
{
	_Atomic bool started = false;
	pthread_t waiter;

	runtime_begin();
	CHECK_EQ(pthread_create(&waiter, NULL, wait_for_ever, &started), 0);
	while (!atomic_load(&started))
		step_nap(1000000);
	runtime_gone();
	pthread_join(waiter, NULL);
}

static hsa_status_t agent_see(hsa_agent_t agent, void *data)
{
	(void)agent, (void)data;
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_ERROR_INVALID_RUNTIME_STATE);
	return HSA_STATUS_SUCCESS;
}

/* The runtime does not end below a call. */
static void not_from_inside(void)
{
	runtime_begin();
	CHECK_EQ(hsa_iterate_agents(agent_see, NULL), HSA_STATUS_SUCCESS);
	runtime_gone();
}

static bool handle(hsa_signal_value_t value, void *arg)
{
	(void)value, (void)arg;
	return false;
}

static void handler_add(void)
{
	use(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_EQ, 1, handle, NULL));
}

static void group_use(void)
{
	use(hsa_signal_group_create(1, &s, 0, NULL, &group));
	(void)!hsa_signal_group_destroy(group);
}

/* --- queues --- */

static void queue_make(void)
{
	use(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
}

static void queue_begin(void)
{
	runtime_begin();
	queue = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);
	*(volatile uint16_t *)queue->base_address = HSA_PACKET_TYPE_BARRIER_AND;
	s = queue->doorbell_signal;
}

static void queue_ring(void)
{
	hsa_signal_store_screlease(s, 0);
}

static void queue_end(void)
{
	use(hsa_queue_destroy(queue));
}

/* --- memory --- */

static void memory_begin(void)
{
	runtime_begin();
	memory = rig_memory(rig.found.gpu[0].coarse, SIZE_B);
	host = rig_host(SIZE_B);
}

static void memory_allocate(void)
{
	void *allocated;

	use(hsa_amd_memory_pool_allocate(rig.found.gpu[0].coarse, SIZE_B, 0, &allocated));
}

static void memory_free(void)
{
	use(hsa_amd_memory_pool_free(memory));
}

static void memory_copy(void)
{
	use(hsa_memory_copy(memory, host, SIZE_B));
}

static void memory_async_copy(void)
{
	use(hsa_amd_memory_async_copy(memory, rig.gpu, host, rig.cpu, SIZE_B, 0, NULL, done));
}

static void memory_export(void)
{
	hsa_amd_ipc_memory_t ipc;

	use(hsa_amd_ipc_memory_create(memory, SIZE_B, &ipc));
}

/* --- code --- */

static hsa_executable_t executable;

static void code_begin(void)
{
	runtime_begin();
	executable = rig_load("group.O1", "gfx908");
}

static void code_use(void)
{
	hsa_executable_symbol_t symbol;

	use(hsa_executable_get_symbol_by_name(executable, "k_add.kd", &rig.gpu, &symbol));
	use(hsa_executable_destroy(executable));
}

static const struct step_row ended[] = {
	{"signals, hsa_shut_down()", runtime_begin, signal_use, runtime_end, runtime_gone, .stops = 24},
	{"hsa_signal_wait_scacquire(), hsa_shut_down()", runtime_begin, signal_wait, runtime_end, runtime_gone,
	 .stops = 24},
	{"hsa_amd_signal_wait_any(), hsa_shut_down()", runtime_begin, signals_wait, runtime_end, runtime_gone,
	 .stops = 24},
	{"hsa_amd_signal_async_handler(), hsa_shut_down()", runtime_begin, handler_add, runtime_end, runtime_gone,
	 .stops = 24},
	{"hsa_queue_create(), hsa_shut_down()", runtime_begin, queue_make, runtime_end, runtime_gone, .stops = 24},
	{"a doorbell, hsa_shut_down()", queue_begin, queue_ring, runtime_end, runtime_gone, .stops = 24},
	{"hsa_queue_destroy(), hsa_shut_down()", queue_begin, queue_end, runtime_end, runtime_gone, .stops = 24},
	{"hsa_amd_memory_pool_allocate(), hsa_shut_down()", memory_begin, memory_allocate, runtime_end,
	 runtime_gone, .stops = 24},
	{"hsa_amd_memory_pool_free(), hsa_shut_down()", memory_begin, memory_free, runtime_end, runtime_gone,
	 .stops = 24},
	{"hsa_memory_copy(), hsa_shut_down()", memory_begin, memory_copy, runtime_end, runtime_gone, .stops = 24},
	{"hsa_amd_memory_async_copy(), hsa_shut_down()", memory_begin, memory_async_copy, runtime_end, runtime_gone,
	 .stops = 24},
	{"code, hsa_shut_down()", code_begin, code_use, runtime_end, runtime_gone, .stops = 24},
};

/* --- fork --- */

/* A runtime of the child's own: it makes what the parent's thread may have been making. */
static void child_run(void)
{
	hsa_signal_t signal;

	alarm(CHILD_s);
	check_failed_ = 0;
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &signal), HSA_STATUS_ERROR_NOT_INITIALIZED);
	CHECK_EQ(hsa_signal_load_scacquire(s), 0);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_ERROR_NOT_INITIALIZED);
	CHECK_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_ERROR_NOT_INITIALIZED);
	memory_begin();
	group_use();
	queue_make();
	CHECK_EQ(hsa_executable_destroy(rig_load("group.O1", "gfx908")), HSA_STATUS_SUCCESS);
	memory_async_copy();
	CHECK_EQ(rig_wait(done), 0);
	memory_export();
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	_exit(check_failed_ > 0);
}

static pid_t child;

static void fork_beside(void)
{
	child = fork();
	if (!child)
		child_run();
}

/* A place that the call did not come to has no child. */
static void child_end(void)
{
	int status = 1;

	if (child)
		CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
	child = 0;
	runtime_gone();
}

/* The fork, of many mappings, takes its time: the thread stays where it is. */
#define FORK(name, create, use) {name, create, use, fork_beside, child_end, .stops = 24, .wait_ns = 100000000}

static const struct step_row forked[] = {
	FORK("signals, fork()", runtime_begin, signal_use),
	FORK("groups of signals, fork()", runtime_begin, group_use),
	FORK("hsa_queue_create(), fork()", runtime_begin, queue_make),
	FORK("hsa_queue_destroy(), fork()", queue_begin, queue_end),
	FORK("hsa_amd_memory_pool_allocate(), fork()", memory_begin, memory_allocate),
	FORK("hsa_amd_memory_pool_free(), fork()", memory_begin, memory_free),
	FORK("hsa_amd_memory_async_copy(), fork()", memory_begin, memory_async_copy),
	FORK("hsa_amd_ipc_memory_create(), fork()", memory_begin, memory_export),
	FORK("code, fork()", code_begin, code_use),
};

int main(int argc, char **argv)
{
	const unsigned count = sizeof(ended) / sizeof(ended[0]), forks = sizeof(forked) / sizeof(forked[0]);
	const unsigned number = argc > 1 ? (unsigned)atoi(argv[1]) : count + forks;

	mallopt(M_PERTURB, 0x5a);
	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("a thread inside a call of an ended runtime");
	waits_end();
	not_from_inside();
	if (step_works()) {
		if (number < count || number >= count + forks)
			step_rows_run(ended, count, number, false);
		if (number >= count)
			step_rows_run(forked, forks, number - count, false);
	} else {
		printf("no breakpoints of perf_event, or ThreadSanitizer: calls are not stopped\n");
	}
	vgpu_stop();
	return check_done("a thread inside a call of an ended runtime");
}

/* hsa_init() and hsa_shut_down(): the root object and the order of its parts. */
#include "drv/process.h"
#include "drv/lock.h"
#include "hsa/code/code.h"
#include "hsa/copy/copies.h"
#include "hsa/core/table.h"
#include "hsa/entry/extension.h"
#include "hsa/image/image.h"
#include "hsa/ipc/ipc.h"
#include "hsa/queue/queue.h"

#include <errno.h>
#include <stdlib.h>

#include "drv/handle.h"

static struct drv_mutex rt_lock = DRV_MUTEX(DRV_RANK_RT_INIT); /* guards the three below */
static int32_t references;
static bool ending; /* a thread waits for others to leave the runtime, and ends it; guarded by rt_lock */
/* The process is a child of fork that has had no runtime yet: rt_handles has the parent's. Guarded by rt_lock */
static bool inherited;

static void no_fini(struct rt *rt)
{
	(void)rt;
}

static const struct rt_ops ops = {
	.ring = rt_queue_ring,
	.lost = rt_queues_lost,
	.query_faults = rt_faults_query,
	.query_late_faults = rt_faults_query_late,
	.forget_exports = rt_ipc_forget,
};

/* The parts in the order of their initialisation; they end in the reverse order. The threads' parts are first: all
 * others wake the threads and add work for them, also when the threads have been stopped. */
static const struct {
	int (*init)(struct rt *rt);
	void (*fini)(struct rt *rt);
} parts[] = {
	{rt_progress_init, rt_progress_fini}, {rt_handlers_init, rt_handlers_fini},
	{rt_agents_init, rt_agents_fini},     {rt_extensions_init, no_fini},
	{rt_memory_init, rt_memory_fini},     {rt_signals_init, rt_signals_fini},
	{rt_loader_init, rt_loader_fini},     {rt_images_init, rt_images_fini},
	{rt_queues_init, rt_queues_fini},     {rt_copies_init, rt_copies_fini},
	{rt_ipc_init, rt_ipc_fini},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void runtime_end(struct rt *rt, unsigned begun)
{
	if (rt->handlers)
		rt_handlers_stop(rt);
	if (rt->progress)
		rt_progress_stop(rt);
	while (begun)
		parts[--begun].fini(rt);
	free(rt);
}

static int runtime_begin(struct rt **out)
{
	struct rt *rt = calloc(1, sizeof(*rt));
	int r;

	if (!rt)
		return drv_fail(-ENOMEM, "no host memory for the runtime");
	if (inherited)
		drv_handle_forget_all(&rt_handles);
	inherited = false;
	rt->ops = &ops;
	drv_lock_set_rank(&rt->fault_lock, DRV_RANK_RT_FAULT);
	for (unsigned i = 0; i < PARTS; i++) {
		r = parts[i].init(rt);
		if (r) {
			runtime_end(rt, i);
			return r;
		}
	}
	*out = rt;
	return 0;
}

static void lock_runtime(void)
{
	drv_mutex_lock(&rt_lock);
}

static void unlock_runtime(void)
{
	drv_mutex_unlock(&rt_lock);
}

/* Runs in a child of fork: the runtime is the parent's, so the child gets a new one, and does not touch the old
 * one. */
static void forget_in_child(void)
{
	if (rt_get())
		rt_ipc_forked(rt_get());
	inherited = true;
	references = 0;
	ending = false;
	atomic_store(&rt_current, NULL);
	drv_calls_forked(&rt_calls, &rt_caller);
	drv_mutex_unlock(&rt_lock);
}

__attribute__((constructor(DRV_FORK_RUNTIME))) static void register_fork_handlers(void)
{
	(void)!pthread_atfork(lock_runtime, unlock_runtime, forget_in_child);
}

/* Takes the lock when no runtime ends. False: one ends that waits for the call that this thread is in. */
static bool lock_when_ended(void)
{
	struct drv_pause pause = {0};

	drv_mutex_lock(&rt_lock);
	while (ending) {
		drv_mutex_unlock(&rt_lock);
		if (drv_caller_is_inside(&rt_caller))
			return false;
		drv_pause(&pause);
		drv_mutex_lock(&rt_lock);
	}
	return true;
}

hsa_status_t impl_hsa_init(void)
{
	DRV_HOLD_CANCEL;
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct rt *rt;
	bool first;
	int r = 0;

	if (!lock_when_ended())
		return HSA_STATUS_ERROR_INVALID_RUNTIME_STATE;
	if (references == INT32_MAX) {
		status = HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
	} else if (!references) {
		r = runtime_begin(&rt);
		if (!r)
			atomic_store_explicit(&rt_current, rt, memory_order_release);
		/* Clients interpret this status as "no GPU here". */
		status = r ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
	}
	references += !status;
	first = !status && references == 1;
	drv_mutex_unlock(&rt_lock);
	if (first)
		rt_beside_report();
	/* A tool that cannot be loaded is logged; programs run without it. */
	if (first && hsa_tools_load())
		drv_log(DRV_LOG_HSA, "HSA_TOOLS_LIB: %s", drv_error_last()->text);
	return status;
}

/* Ends the runtime when no other thread is inside a call: calls that begin later do not find it, and waits for signals end. A
 * process that forbids the wait keeps its memory. */
static void runtime_leave(struct rt *rt)
{
	if (drv_retire_wait(&rt_calls, &rt_caller))
		runtime_end(rt, PARTS);
	drv_mutex_lock(&rt_lock);
	ending = false;
	drv_mutex_unlock(&rt_lock);
}

hsa_status_t impl_hsa_shut_down(void)
{
	DRV_HOLD_CANCEL;
	struct rt *rt = NULL;
	bool last;

	drv_mutex_lock(&rt_lock);
	if (!references) {
		drv_mutex_unlock(&rt_lock);
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	}
	rt = rt_get();
	/* The thread would wait for itself. */
	if (references == 1 &&
	    (rt_progress_is_own_thread(rt) || rt_handlers_is_own_thread(rt) || drv_caller_is_inside(&rt_caller))) {
		drv_mutex_unlock(&rt_lock);
		return HSA_STATUS_ERROR_INVALID_RUNTIME_STATE;
	}
	last = !--references;
	if (last) {
		ending = true;
		hsa_tools_unload();
		atomic_store(&rt_current, NULL);
	}
	drv_mutex_unlock(&rt_lock);
	if (last)
		runtime_leave(rt);
	return HSA_STATUS_SUCCESS;
}

/* Reports of GPU work to tools. HSA's signal thread, and threads that wait for the work, see that an operation's
 * completion signal has changed; the first of them reports. A signal lives until its operation has ended. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/stream/point.h"
#include "api/tool/tool.h"

struct watched {
	struct watched *next;
	bool reported; /* reported or cancelled: only the signal is still needed */
	bool handled;  /* HSA's handler has run, or will not */
	struct hip_device *device;
	hsa_signal_t signal;    /* owned */
	struct hip_point after; /* owned: reached when the operation has ended */
	struct hip_tool_record record;
	char *kernel; /* owned */
	bool dispatched;
};

static struct {
	/* Guards the members below; inside a stream's; not held while a tool's function runs. */
	struct drv_mutex lock;
	pthread_cond_t idle; /* signalled when `users` becomes 0 */
	struct watched *first, **last;
	unsigned users; /* threads that use an entry of the list without the lock: no entry is removed meanwhile */
} watched_all = {
	.lock = DRV_MUTEX(DRV_RANK_HIP_WATCHED), .idle = PTHREAD_COND_INITIALIZER, .last = &watched_all.first};

static _Thread_local bool reporting;

/* --- reports ------------------------------------------------------------------------------------ */

static uint64_t host_ns(void)
{
	uint64_t ticks = 0;

	(void)!hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks);
	return (uint64_t)((unsigned __int128)ticks * 1000000000 / hip.timestamp_Hz);
}

/* Sets begin and end. A copy that no DMA engine did, or that two did, may have no times. */
static void take_times(const struct watched *w, struct hip_tool_record *r)
{
	hsa_amd_profiling_async_copy_time_t copy = {0};
	hsa_amd_profiling_dispatch_time_t dispatch = {0};

	if (!w->dispatched) {
		(void)!hsa_amd_profiling_get_async_copy_time(w->signal, &copy);
		r->begin_ns = copy.start;
		r->end_ns = copy.end;
	} else {
		(void)!hsa_amd_profiling_get_dispatch_time(w->device->agent, w->signal, &dispatch);
		r->begin_ns = dispatch.start;
		r->end_ns = dispatch.end;
	}
}

static void release_locked(void)
{
	drv_rank_assert(DRV_RANK_HIP_WATCHED);
	if (!--watched_all.users)
		pthread_cond_broadcast(&watched_all.idle);
}

/* Reports the operation. The caller holds the lock, which is released while the tool's function runs. */
static void report_locked(struct watched *w)
{
	struct hip_tool_record record = w->record;
	char *kernel = w->kernel;

	drv_rank_assert(DRV_RANK_HIP_WATCHED);
	take_times(w, &record);
	if (kernel)
		record.kernel = kernel;
	w->reported = true;
	w->kernel = NULL;
	watched_all.users++;
	drv_mutex_unlock(&watched_all.lock);
	reporting = true;
	hip_tool_report(&record);
	reporting = false;
	free(kernel);
	drv_mutex_lock(&watched_all.lock);
	release_locked();
}

/* Frees the entries that are reported and whose signal is not needed any more. The caller holds the lock. */
static void sweep_locked(void)
{
	struct watched **at = &watched_all.first;

	drv_rank_assert(DRV_RANK_HIP_WATCHED);
	if (watched_all.users)
		return;
	while (*at) {
		struct watched *w = *at;

		if (!w->reported || !w->handled || !hip_point_is_completed(&w->after)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		hip_point_put(&w->after);
		hsa_signal_destroy(w->signal);
		free(w->kernel);
		free(w);
	}
	watched_all.last = at;
}

/* HSA's signal handler, on HSA's thread. */
static bool work_handler(hsa_signal_value_t value, void *watched)
{
	struct watched *w = watched;

	(void)value;
	drv_mutex_lock(&watched_all.lock);
	if (!w->reported)
		report_locked(w);
	w->handled = true;
	drv_mutex_unlock(&watched_all.lock);
	return false;
}

/* Releases the lock meanwhile, which the caller holds: reading a signal may take a stream's lock, whose holder may
 * wait for this one. */
static bool has_ended(const struct watched *w)
{
	bool ended;

	drv_mutex_unlock(&watched_all.lock);
	ended = hsa_signal_load_scacquire(w->signal) < 1;
	drv_mutex_lock(&watched_all.lock);
	return ended;
}

/* Does nothing in a tool's function: a tool that waits for work there would wait for its own report. Nor in a child of fork(), which
 * has no work: a thread of its parent may have the lock. */
void hip_tool_report_ended(void)
{
	if (!hip_thread.waited || reporting || hip.child)
		return;
	hip_thread.waited = false;
	drv_mutex_lock(&watched_all.lock);
	watched_all.users++;
	for (struct watched *w = watched_all.first; w; w = w->next)
		if (!w->reported && has_ended(w) && !w->reported)
			report_locked(w);
	release_locked();
	while (watched_all.users)
		drv_cond_wait(&watched_all.idle, &watched_all.lock);
	sweep_locked();
	drv_mutex_unlock(&watched_all.lock);
}

/* --- watched operations ----------------------------------------------------------------------- */

static struct hip_tool_record record_of(const struct hip_device *device, const struct hip_tool_work *work)
{
	struct hip_tool_record r = {.domain = HIP_TOOL_WORK,
				    .kind = work->kind,
				    .op = work->op,
				    .correlation = hip_tool_correlation(),
				    .bytes = work->bytes};
	uint32_t node = 0;

	(void)!hsa_agent_get_info(device->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node);
	r.device = (int)node;
	return r;
}

/* NULL: out of memory. The operation runs without a report then: that is no error of the program. */
static struct watched *watched_create(struct hip_stream *s, const struct hip_tool_work *work)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->kernel = work->kernel ? strdup(work->kernel) : NULL;
	w->dispatched = work->op != HIP_TOOL_COPY || work->by_kernel;
	if (hsa_signal_create(1, 0, NULL, &w->signal)) {
		free(w->kernel);
		free(w);
		return NULL;
	}
	w->device = s->device;
	w->record = record_of(s->device, work);
	w->record.queue = s->flow->id;
	w->after = hip_stream_point(s);
	w->after.index++;
	return w;
}

hsa_signal_t hip_tool_watch_work(struct hip_stream *s, const struct hip_tool_work *work)
{
	struct watched *w = hip_tool_is_enabled(work->op) ? watched_create(s, work) : NULL;

	if (!w)
		return (hsa_signal_t){0};
	drv_mutex_lock(&watched_all.lock);
	sweep_locked();
	*watched_all.last = w;
	watched_all.last = &w->next;
	if (hsa_amd_signal_async_handler(w->signal, HSA_SIGNAL_CONDITION_LT, 1, work_handler, w))
		w->handled = true; /* without a handler, threads that wait report */
	drv_mutex_unlock(&watched_all.lock);
	return w->signal;
}

static void forget_locked(struct watched *w)
{
	drv_rank_assert(DRV_RANK_HIP_WATCHED);
	w->reported = true;
	hsa_signal_store_screlease(w->signal, 0);
}

void hip_tool_forget(hsa_signal_t signal)
{
	drv_mutex_lock(&watched_all.lock);
	for (struct watched *w = watched_all.first; w && signal.handle; w = w->next)
		if (w->signal.handle == signal.handle)
			forget_locked(w);
	drv_mutex_unlock(&watched_all.lock);
}

void hip_tool_reset(struct hip_device *device)
{
	drv_mutex_lock(&watched_all.lock);
	for (struct watched *w = watched_all.first; w; w = w->next)
		if (w->device == device && !w->reported)
			forget_locked(w);
	sweep_locked();
	drv_mutex_unlock(&watched_all.lock);
}

/* --- work of the host ------------------------------------------------------------------------- */

uint64_t hip_tool_host_begin(enum hip_tool_work_op op)
{
	return hip_traced() && hip_tool_is_enabled(op) ? host_ns() : 0;
}

void hip_tool_host_end(uint64_t begin_ns, const struct hip_device *device, const struct hip_tool_work *work)
{
	struct hip_tool_record r;

	if (!begin_ns)
		return;
	r = record_of(device, work);
	r.begin_ns = begin_ns;
	r.end_ns = host_ns();
	hip_tool_report(&r);
}

/* The handler thread: runs the client's callbacks, which are async handlers of signals, errors of queues, and
 * system events. No lock is held during a callback, so the callback may call anything but the last
 * hsa_shut_down(). */
#include <errno.h>
#include <stdlib.h>

#include "drv/lock.h"
#include "hsa/core/loop.h"
#include "hsa/core/table.h"
#include "hsa/signal/signal.h"

struct handler {
	struct handler *next;
	struct rt_signal *signal; /* borrowed; NULL: a callback to be run once */
	uint32_t generation;
	hsa_signal_condition_t condition;
	hsa_signal_value_t compare;
	hsa_amd_signal_handler fn;
	void (*callback)(void *arg);
	void *arg;
	bool owns_arg; /* arg is of malloc() */
};

struct event_handler {
	struct event_handler *next;
	hsa_amd_system_event_callback_t fn;
	void *data;
};

struct rt_handlers {
	bool idle;                    /* used by the thread only: it counts in rt->idlers */
	struct rt_loop loop;          /* guards all below */
	struct handler *list, **tail; /* owned; in order of registration */
	struct handler *pass;         /* owned: the rest of the pass that the thread makes */
	struct event_handler *events; /* owned; entries are only added */
};

/* --- the thread ------------------------------------------------------------------------------- */

/* The place may have another signal by now: its watchers are those of all signals that it had. */
static void handler_unwatch(struct handler *h)
{
	atomic_fetch_sub(&h->signal->watchers, 1);
}

static void handler_free(struct handler *h)
{
	if (h && h->owns_arg)
		free(h->arg);
	free(h);
}

/* Runs a handler if its condition is met; true: it stays registered. */
static bool handler_run(struct rt *rt, struct handler *h, bool *ran)
{
	hsa_signal_value_t value;

	if (!h->signal) {
		*ran = true;
		if (h->callback)
			h->callback(h->arg);
		else
			((void (*)(void *))(void *)h->fn)(h->arg);
		return false;
	}
	if (atomic_load(&h->signal->generation) != h->generation) {
		handler_unwatch(h);
		return false;
	}
	value = rt_signal_load(rt, h->signal);
	if (!rt_condition_met(h->condition, value, h->compare) && !h->signal->failed)
		return true;
	*ran = true;
	if (h->fn(value, h->arg))
		return true;
	handler_unwatch(h);
	return false;
}

static void handler_append_locked(struct rt_handlers *s, struct handler *h)
{
	h->next = NULL;
	*s->tail = h;
	s->tail = &h->next;
}

/* Checks each handler once. True: a callback ran. */
static bool handlers_run_all(struct rt *rt)
{
	struct rt_handlers *s = rt->handlers;
	struct handler *h;
	bool ran = false, stays;

	drv_mutex_lock(&s->loop.lock);
	s->pass = s->list;
	s->list = NULL;
	s->tail = &s->list;
	while ((h = s->pass)) {
		s->pass = h->next;
		if (!s->loop.stop) {
			drv_mutex_unlock(&s->loop.lock);
			stays = handler_run(rt, h, &ran);
			drv_mutex_lock(&s->loop.lock);
		} else {
			stays = false;
		}
		if (stays)
			handler_append_locked(s, h);
		else
			handler_free(h);
	}
	drv_mutex_unlock(&s->loop.lock);
	return ran;
}

#define IDLE_NS 10000000 /* between polls while no GPU works: changes by the CPU wake the thread */

static bool has_handlers(struct rt_handlers *s)
{
	bool any;

	drv_mutex_lock(&s->loop.lock);
	any = s->list;
	drv_mutex_unlock(&s->loop.lock);
	return any;
}

static bool handlers_poll(struct rt *rt)
{
	struct rt_handlers *s = rt->handlers;
	uint32_t seen;
	bool ran;

	/* The thread becomes an idler before it checks the handlers, so that a change meanwhile leads to another
	 * poll. */
	if (s->idle)
		atomic_fetch_sub(&rt->idlers, 1);
	s->idle = has_handlers(s) && rt_idle_begin(rt, &seen);
	ran = handlers_run_all(rt);
	if (rt_queues_busy(rt))
		rt->ops->query_faults(rt, false);
	return ran;
}

static bool handlers_have_work(const struct rt *rt)
{
	return rt->handlers->list;
}

static uint64_t handlers_pause_ns(struct rt *rt, struct rt_pause *pause)
{
	return rt->handlers->idle && !rt_signals_shared(rt) ? IDLE_NS : rt_pause_next_ns(pause);
}

/* The fences of the jobs that the first handlers' signals wait for. */
static unsigned handlers_fences(struct rt *rt, struct cs_fence *fences, bool *all)
{
	struct rt_handlers *s = rt->handlers;
	struct rt_signal *signal[RT_LOOP_FENCES];
	unsigned signals = 0, count = 0;
	bool ends;

	drv_mutex_lock(&s->loop.lock);
	*all = true;
	for (const struct handler *h = s->list; h; h = h->next)
		if (signals < RT_LOOP_FENCES && h->signal && atomic_load(&h->signal->generation) == h->generation)
			signal[signals++] = h->signal;
		else
			*all = false;
	drv_mutex_unlock(&s->loop.lock);
	for (unsigned i = 0; i < signals; i++) {
		bool known = rt_signal_next_fence(signal[i], &fences[count], &ends);

		/* No fence exists for a change in the middle of a job. */
		*all &= known && ends;
		count += known;
	}
	return count;
}

void rt_handlers_wake(struct rt *rt)
{
	rt_loop_wake(&rt->handlers->loop);
}

static int handler_add(struct rt *rt, const struct handler *what)
{
	struct rt_handlers *s = rt->handlers;
	struct handler *h = malloc(sizeof(*h));
	int r = 0;

	if (!h)
		return drv_fail(-ENOMEM, "no host memory for a handler");
	*h = *what;
	drv_mutex_lock(&s->loop.lock);
	r = s->loop.stop ? -ECANCELED : rt_loop_start_locked(&s->loop);
	if (!r)
		handler_append_locked(s, h);
	drv_mutex_unlock(&s->loop.lock);
	if (r) {
		free(h);
		return drv_fail(r, "no thread for handlers");
	}
	rt_handlers_wake(rt);
	return 0;
}

bool rt_handlers_stopped(struct rt *rt)
{
	bool stopped;

	drv_mutex_lock(&rt->handlers->loop.lock);
	stopped = rt->handlers->loop.stop;
	drv_mutex_unlock(&rt->handlers->loop.lock);
	return stopped;
}

int rt_callback(struct rt *rt, void (*fn)(void *arg), void *arg)
{
	return handler_add(rt, &(struct handler){.callback = fn, .arg = arg});
}

static bool callback_is(const struct handler *h, void (*fn)(void *arg), const void *arg)
{
	return !h->signal && h->callback == fn && h->arg == arg;
}

/* The two lists follow each other: the thread's pass, and what it makes afterwards. */
bool rt_callback_drop(struct rt *rt, void (*fn)(void *arg), void *arg)
{
	struct rt_handlers *s = rt->handlers;
	struct handler *h, **at;
	bool found;

	drv_mutex_lock(&s->loop.lock);
	for (at = &s->pass; *at && !callback_is(*at, fn, arg); at = &(*at)->next)
		continue;
	if (!*at)
		for (at = &s->list; *at && !callback_is(*at, fn, arg); at = &(*at)->next)
			continue;
	h = *at;
	if (h)
		*at = h->next;
	if (h && s->tail == &h->next)
		s->tail = at;
	drv_mutex_unlock(&s->loop.lock);
	found = h;
	handler_free(h);
	return found;
}

bool rt_handlers_is_own_thread(struct rt *rt)
{
	return rt_loop_is_own(&rt->handlers->loop);
}

int rt_handlers_init(struct rt *rt)
{
	struct rt_handlers *s = calloc(1, sizeof(*s));

	if (!s)
		return drv_fail(-ENOMEM, "no host memory for handlers");
	s->loop.poll = handlers_poll;
	s->loop.has_work = handlers_have_work;
	s->loop.pause_ns = handlers_pause_ns;
	s->loop.fences = handlers_fences;
	rt_loop_init(rt, &s->loop);
	s->tail = &s->list;
	rt->handlers = s;
	return 0;
}

void rt_handlers_stop(struct rt *rt)
{
	rt_loop_stop(&rt->handlers->loop);
}

void rt_handlers_fini(struct rt *rt)
{
	struct rt_handlers *s = rt->handlers;

	while (s->list) {
		struct handler *h = s->list;

		s->list = h->next;
		handler_free(h);
	}
	while (s->events) {
		struct event_handler *e = s->events;

		s->events = e->next;
		free(e);
	}
	rt_loop_fini(&s->loop);
	free(s);
	rt->handlers = NULL;
}

/* --- functions -------------------------------------------------------------------------------- */

RT_IMPL(hsa_amd_signal_async_handler,
	(hsa_signal_t handle, hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_amd_signal_handler fn,
	 void *arg),
	(handle, condition, value, fn, arg))
{
	struct rt_signal *signal;
	uint32_t kind, generation;
	int r;

	if (!fn)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!handle.handle)
		return hsa_status_of(handler_add(rt, &(struct handler){.fn = fn, .arg = arg}));
	signal = rt_signal_find(rt, handle, &generation);
	kind = signal ? atomic_load(&signal->kind) : RT_SIGNAL_FREE;
	if (kind != RT_SIGNAL_USER && kind != RT_SIGNAL_IPC)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if ((unsigned)condition > HSA_SIGNAL_CONDITION_GTE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	atomic_fetch_add(&signal->watchers, 1);
	r = handler_add(rt, &(struct handler){.signal = signal,
					      .generation = generation,
					      .condition = condition,
					      .compare = value,
					      .fn = fn,
					      .arg = arg});
	if (r)
		atomic_fetch_sub(&signal->watchers, 1);
	return hsa_status_of(r);
}

RT_IMPL(hsa_amd_async_function, (void (*callback)(void *arg), void *arg), (callback, arg))
{
	return callback ? hsa_status_of(rt_callback(rt, callback, arg)) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

RT_IMPL(hsa_amd_register_system_event_handler, (hsa_amd_system_event_callback_t callback, void *data),
	(callback, data))
{
	struct event_handler *e;

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	e = malloc(sizeof(*e));
	if (!e)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*e = (struct event_handler){.fn = callback, .data = data};
	drv_mutex_lock(&rt->handlers->loop.lock);
	e->next = rt->handlers->events;
	rt->handlers->events = e;
	drv_mutex_unlock(&rt->handlers->loop.lock);
	return HSA_STATUS_SUCCESS;
}

/* --- events ----------------------------------------------------------------------------------- */

struct event {
	struct rt_handlers *handlers;
	hsa_amd_event_t event;
};

static void event_deliver(void *arg)
{
	struct event *event = arg;
	struct event_handler *e;

	drv_mutex_lock(&event->handlers->loop.lock);
	e = event->handlers->events;
	drv_mutex_unlock(&event->handlers->loop.lock);
	for (; e; e = e->next)
		e->fn(&event->event, e->data);
}

bool rt_event(struct rt *rt, const hsa_amd_event_t *what)
{
	struct event *event;
	bool any;

	drv_mutex_lock(&rt->handlers->loop.lock);
	any = rt->handlers->events;
	drv_mutex_unlock(&rt->handlers->loop.lock);
	if (!any)
		return false;
	event = malloc(sizeof(*event));
	if (!event)
		return false;
	*event = (struct event){rt->handlers, *what};
	if (handler_add(rt, &(struct handler){.callback = event_deliver, .arg = event, .owns_arg = true})) {
		free(event);
		return false;
	}
	return true;
}

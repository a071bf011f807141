/* Intercept queues, for tools: the client's packets go through handlers, which may change, drop and add packets,
 * into an ordinary queue that the client does not see, the queue below.
 *
 * Handlers are the client's code. They run on the thread that rings the doorbell, or on the handler thread, and
 * only the lock of the intercept queue's own flow is held, which a doorbell just tries. What they write goes through
 * `left`; the progress thread moves what the queue below has no room for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/queue/queue.h"

#define HANDLERS_MAX 16

struct handler {
	hsa_amd_queue_intercept_handler fn;
	void *data;
};

/* A packet that is not in the queue below yet. */
struct left {
	union rt_packet packet;
	uint64_t index; /* of the intercept queue's packet that it comes from */
};

struct rt_intercept {
	struct rt_queue *below; /* owned */
	/* Guards all below, and what is written to the queue below; inside the flow's lock, which is held while handlers run. */
	struct drv_mutex lock;
	unsigned handlers;
	struct handler handler[HANDLERS_MAX]; /* the last one gets packets first; entries are only added */
	struct left *left;                    /* owned */
	uint64_t left_count, left_max;
	bool moving; /* a thread is in the callback of the marker that was the first of `left` */
	bool failed; /* no memory for `left` */
	bool gated;  /* what handlers make of a packet waits for rt_intercept_pass(); immutable after that is set */
	uint64_t open;           /* of a gated queue: what comes of the packets below that index may go below */
	struct rt_queue *awaits; /* borrowed: a handler waits for its end; guarded by the lock of rt_queues */
};

/* The queue whose lock this thread holds, and the handler and packet. A handler or marker of another queue may run on
 * this thread, and have rung this one's doorbell: that one is `outer`. */
static _Thread_local struct cursor {
	struct rt_queue *queue; /* NULL: none */
	const struct cursor *outer;
	unsigned handler;
	uint64_t index;
} cursor;

static bool intercept_enter(struct rt_queue *q, struct cursor *outer)
{
	if (!drv_lock_try(&q->base.flow.lock))
		return false;
	*outer = cursor;
	cursor = (struct cursor){.queue = q, .outer = outer};
	return true;
}

static void intercept_leave(const struct cursor *outer)
{
	struct rt_queue *q = cursor.queue;

	cursor = *outer;
	drv_unlock(&q->base.flow.lock);
}

bool rt_intercept_is_inside(const struct rt_queue *q)
{
	const struct cursor *at = &cursor;

	while (at && at->queue != q)
		at = at->outer;
	return at;
}

bool rt_intercept_await_locked(struct rt_queue *target)
{
	drv_rank_assert(DRV_RANK_RT_QUEUES);
	for (struct rt_queue *q = target; q; q = q->intercept ? q->intercept->awaits : NULL)
		if (rt_intercept_is_inside(q))
			return false;
	for (const struct cursor *at = &cursor; at && at->queue; at = at->outer)
		at->queue->intercept->awaits = target;
	return true;
}

/* --- into the queue below --------------------------------------------------------------------- */

static bool is_marker(const union rt_packet *p)
{
	return (p->header & 0xff) == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
	       p->value.header.AmdFormat == AMD_AQL_FORMAT_INTERCEPT_MARKER;
}

/* Writes a packet, its header last. False: no room. */
static bool put_below_locked(struct rt_queue *below, const union rt_packet *p)
{
	volatile uint64_t *write = &below->amd->write_dispatch_id;
	uint64_t index = *write;
	union rt_packet *slot = rt_queue_slot(below, index);

	if (index - __atomic_load_n(&below->amd->read_dispatch_id, __ATOMIC_ACQUIRE) > below->mask)
		return false;
	__atomic_store_n(write, index + 1, __ATOMIC_RELAXED);
	memcpy((char *)slot + 4, (const char *)p + 4, sizeof(*p) - 4);
	__atomic_store_n((uint32_t *)(void *)slot, *(const uint32_t *)(const void *)p, __ATOMIC_RELEASE);
	return true;
}

static void keep_left_locked(struct rt_intercept *x, const union rt_packet *p, uint64_t index)
{
	if (x->left_count == x->left_max) {
		uint64_t max = x->left_max ? 2 * x->left_max : 64;
		struct left *more = realloc(x->left, max * sizeof(*more));

		if (!more) {
			drv_fail(-ENOMEM, "no host memory for intercepted packets");
			x->failed = true;
			return;
		}
		x->left = more;
		x->left_max = max;
	}
	x->left[x->left_count++] = (struct left){*p, index};
}

static void drop_left_locked(struct rt_intercept *x, uint64_t count)
{
	x->left_count -= count;
	if (count)
		memmove(x->left, x->left + count, x->left_count * sizeof(*x->left));
}

/* Whether the packet at that place of `left` is there, and may go below. */
static bool is_open_locked(const struct rt_intercept *x, uint64_t at)
{
	return at < x->left_count && (!x->gated || x->left[at].index < x->open);
}

static bool has_marker_locked(const struct rt_intercept *x)
{
	return is_open_locked(x, 0) && is_marker(&x->left[0].packet);
}

static void put_packets_locked(struct rt_intercept *x)
{
	uint64_t count = 0;

	while (is_open_locked(x, count) && !is_marker(&x->left[count].packet) &&
	       put_below_locked(x->below, &x->left[count].packet))
		count++;
	drop_left_locked(x, count);
}

/* Nothing else is moved meanwhile. */
static void call_marker_locked(struct rt_intercept *x)
{
	const union rt_packet p = x->left[0].packet;
	const amd_aql_intercept_marker_t *marker = (const void *)&p;

	drop_left_locked(x, 1);
	x->moving = true;
	drv_mutex_unlock(&x->lock);
	marker->callback(marker, &x->below->amd->hsa_queue, x->below->amd->write_dispatch_id);
	drv_mutex_lock(&x->lock);
	x->moving = false;
}

/* Moves packets from `left`, to the first marker only on a thread that runs no callbacks. True: none is left that may go
 * below. */
static bool move_left(struct rt_intercept *x, bool callbacks)
{
	bool all;

	drv_mutex_lock(&x->lock);
	if (!x->moving)
		put_packets_locked(x);
	while (!x->moving && callbacks && has_marker_locked(x)) {
		call_marker_locked(x);
		put_packets_locked(x);
	}
	all = !x->moving && !is_open_locked(x, 0);
	drv_mutex_unlock(&x->lock);
	return all;
}

static bool has_failed(struct rt_intercept *x)
{
	bool failed;

	drv_mutex_lock(&x->lock);
	failed = x->failed;
	drv_mutex_unlock(&x->lock);
	return failed;
}

static bool waits_for_marker(struct rt_intercept *x)
{
	bool waits;

	drv_mutex_lock(&x->lock);
	waits = !x->moving && has_marker_locked(x);
	drv_mutex_unlock(&x->lock);
	return waits;
}

/* As move_left(), and the queue below reads what was moved. */
static bool advance(struct rt_intercept *x, bool callbacks)
{
	bool all = move_left(x, callbacks);

	rt_queue_run(x->below);
	return all;
}

/* --- through the handlers --------------------------------------------------------------------- */

static void pass_to_handlers(const void *packets, uint64_t count)
{
	struct rt_intercept *x = cursor.queue->intercept;
	const union rt_packet *p = packets;
	struct handler next;

	if (cursor.handler) {
		next = x->handler[--cursor.handler];
		next.fn(packets, count, cursor.index, next.data, pass_to_handlers);
		/* A handler may call its writer more than once. */
		cursor.handler++;
		return;
	}
	drv_mutex_lock(&x->lock);
	for (uint64_t i = 0; i < count; i++)
		keep_left_locked(x, &p[i], cursor.index);
	drv_mutex_unlock(&x->lock);
	(void)move_left(x, true); /* the rest follows later */
}

static void intercept_packet(struct rt_queue *q, uint64_t index)
{
	union rt_packet p = *rt_queue_slot(q, index);

	cursor.index = index;
	drv_mutex_lock(&q->intercept->lock);
	cursor.handler = q->intercept->handlers;
	drv_mutex_unlock(&q->intercept->lock);
	pass_to_handlers(&p, 1);
	rt_queue_pass(q, index);
	rt_queue_run(q->intercept->below);
}

/* Processes packets until there is no more room below. A gated queue has room: what comes of its packets may be left. The
 * queue below is destroyed when this one is over. True: something is stuck. */
static bool process(struct rt_queue *q)
{
	struct rt_intercept *x = q->intercept;

	while (!rt_queue_is_over(q) && (advance(x, true) || x->gated) && !has_failed(x) && rt_queue_has_packet(q))
		intercept_packet(q, __atomic_load_n(&q->amd->read_dispatch_id, __ATOMIC_RELAXED));
	if (has_failed(x))
		rt_queue_fail(q, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	return !rt_queue_is_over(q) && !move_left(x, false);
}

void rt_intercept_ring(struct rt_queue *q)
{
	bool stuck = false, over = rt_queue_is_over(q);
	struct cursor outer;

	atomic_thread_fence(memory_order_seq_cst);
	/* A handler that rings its own queue finds the lock taken; the holder checks for packets again. */
	while (!stuck && !over && rt_queue_has_packet(q)) {
		if (!intercept_enter(q, &outer))
			return;
		stuck = process(q);
		over = rt_queue_is_over(q);
		/* With the lock: hsa_queue_destroy() removes the work behind the last holder. */
		if (stuck && !over)
			rt_progress_add(q->base.rt, &q->base.work);
		stuck &= !q->intercept->gated;
		intercept_leave(&outer);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

/* Moves packets and markers, which need no doorbell. */
static void move_later(struct rt_queue *q)
{
	struct cursor outer;
	bool moved = false;

	if (intercept_enter(q, &outer)) {
		moved = rt_queue_is_over(q) || advance(q->intercept, true);
		intercept_leave(&outer);
	}
	if (!moved)
		rt_progress_add(q->base.rt, &q->base.work);
}

/* Rings the doorbell on the handler thread. */
static void ring_later(void *arg)
{
	struct rt_queue *q = arg;

	move_later(q);
	rt_intercept_ring(q);
	atomic_fetch_sub(&q->held, 1);
}

/* Threads that write to a gated queue run the handlers themselves. */
static bool wants_handlers(const struct rt_queue *q)
{
	return !q->intercept->gated && rt_queue_has_packet(q);
}

/* The attempt() of rt_work: moves packets, and has the handler thread process markers and new packets, since the
 * client's code must not run on the progress thread. The queue is held with the lock: hsa_queue_destroy() looks for
 * holders when it has had the lock. */
static bool intercept_attempt(struct rt *rt, struct rt_work *work)
{
	struct rt_queue *q = (struct rt_queue *)(void *)work;
	bool over, done, again;

	if (!drv_lock_try(&q->base.flow.lock))
		return false;
	over = rt_queue_is_over(q);
	done = over || advance(q->intercept, false);
	again = !over && (done ? wants_handlers(q) : waits_for_marker(q->intercept));
	atomic_fetch_add(&q->held, again);
	drv_unlock(&q->base.flow.lock);
	atomic_thread_fence(memory_order_seq_cst);
	/* A doorbell may have found the lock taken. */
	if (!again)
		return done && (over || !wants_handlers(q));
	if (!rt_callback(rt, ring_later, q))
		return true;
	atomic_fetch_sub(&q->held, 1);
	return false;
}

void rt_intercept_gate(struct rt_queue *q)
{
	drv_mutex_lock(&q->intercept->lock);
	q->intercept->gated = true;
	drv_mutex_unlock(&q->intercept->lock);
}

/* Markers, and what finds no room, are left to the progress thread and the handler thread. A thread that has the lock sees
 * to it itself, or does when the caller comes again. */
bool rt_intercept_pass(struct rt_queue *q, uint64_t index)
{
	struct rt_intercept *x = q->intercept;
	bool seen = __atomic_load_n(&q->amd->read_dispatch_id, __ATOMIC_ACQUIRE) > index, all;

	drv_mutex_lock(&x->lock);
	x->open = index + 1;
	drv_mutex_unlock(&x->lock);
	all = move_left(x, false);
	if (!all && drv_lock_try(&q->base.flow.lock)) {
		if (!rt_queue_is_over(q))
			rt_progress_add(q->base.rt, &q->base.work);
		drv_unlock(&q->base.flow.lock);
	}
	return seen && all;
}

/* --- functions -------------------------------------------------------------------------------- */

void rt_intercept_drop_calls(struct rt_queue *q)
{
	while (rt_callback_drop(q->base.rt, ring_later, q))
		atomic_fetch_sub(&q->held, 1);
}

void rt_intercept_destroy(struct rt_queue *q)
{
	rt_queue_destroy(q->intercept->below);
}

void rt_intercept_free(struct rt_queue *q)
{
	struct rt_intercept *x = q->intercept;

	drv_mutex_destroy(&x->lock);
	free(x->left);
	free(x);
}

struct rt_queue *rt_intercept_below(const struct rt_queue *q)
{
	return q->intercept->below;
}

static int intercept_create(struct rt *rt, struct rt_queue_request *want, struct rt_queue **out)
{
	struct rt_intercept *x = calloc(1, sizeof(*x));
	struct rt_queue *q;
	int r;

	if (!x)
		return drv_fail(-ENOMEM, "no host memory for an intercept queue");
	r = rt_queue_prepare(rt, want, &q);
	if (r) {
		free(x);
		return r;
	}
	want->above = q;
	r = rt_queue_create(rt, want, &x->below);
	if (r) {
		rt_queue_destroy_unlisted(q);
		free(x);
		return r;
	}
	drv_mutex_init(&x->lock, DRV_RANK_RT_INTERCEPT);
	/* It is held while handlers run, which may call functions that wait for other queues' locks. */
	drv_lock_set_rank(&q->base.flow.lock, DRV_RANK_NONE);
	q->base.work.attempt = intercept_attempt;
	q->intercept = x;
	rt_queue_publish(q);
	*out = q;
	return 0;
}

RT_IMPL(hsa_amd_queue_intercept_create,
	(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	 void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data, uint32_t private_B,
	 uint32_t group_B, hsa_queue_t **queue),
	(agent, size, type, callback, data, private_B, group_B, queue))
{
	struct rt_queue_request want = {.size = size, .type = type, .callback = callback, .data = data};

	(void)group_B;
	return rt_queue_make(rt, agent, private_B, &want, intercept_create, queue);
}

RT_IMPL(hsa_amd_queue_intercept_register, (hsa_queue_t *queue, hsa_amd_queue_intercept_handler fn, void *data),
	(queue, fn, data))
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct rt_queue *q;

	if (!fn)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	q = rt_queue_get(rt, queue);
	if (!q || !q->intercept) {
		rt_queue_put(q);
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	}
	drv_mutex_lock(&q->intercept->lock);
	if (q->intercept->handlers == HANDLERS_MAX)
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	else
		q->intercept->handler[q->intercept->handlers++] = (struct handler){fn, data};
	drv_mutex_unlock(&q->intercept->lock);
	rt_queue_put(q);
	return status;
}

/* The runtime creates no queues of its own: it submits to the kernel directly, so the callback is never called. */
RT_IMPL(hsa_amd_runtime_queue_create_register, (hsa_amd_runtime_queue_notifier callback, void *data),
	(callback, data))
{
	(void)rt, (void)data;
	return callback ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

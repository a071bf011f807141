/* Progress of flows, and waits for them. */
#include <errno.h>

#include "flow/internal.h"

/* --- progress ---------------------------------------------------------------------------------- */

/* Executes what can be, and submits what was collected for long enough. */
static bool attempt(struct flow *f)
{
	bool active = atomic_load(&f->state) == FLOW_ACTIVE, done;
	int r = flow_advance(f);

	if (r && r != -EAGAIN)
		flow_fail(f, r);
	if (atomic_load(&f->collecting) && (!active || flow_collected_enough(f)))
		(void)!flow_close(f); /* an error fails the flow */
	done = (!f->deferred || atomic_load(&f->state) != FLOW_ACTIVE) && !atomic_load(&f->collecting);
	if (done)
		atomic_store(&f->stalled, false);
	return done;
}

bool flow_attempt(struct flow *f)
{
	bool done;

	if (!flow_lock_try(f))
		return false;
	done = attempt(f);
	flow_unlock(f);
	return done;
}

void flow_call_ended(struct flow *f)
{
	struct drv_pause pause = {0};

	atomic_store(&f->calling, false);
	/* A holder that sleeps may wait for a call of another flow, which the caller's thread makes behind this
	 * one: flow_wait() goes on by itself. */
	while (!flow_lock_try(f)) {
		if (atomic_load(&f->attended)) {
			flow_wake(f);
			return;
		}
		drv_pause(&pause);
	}
	(void)attempt(f);
	flow_unlock(f);
}

void flow_flush(struct flow *f)
{
	flow_lock(f);
	flow_push(f);
	flow_unlock(f);
}

bool flow_reached(struct flow *f, uint64_t value)
{
	bool mine;

	if (flow_completed(f) >= value)
		return true;
	if (atomic_load_explicit(&f->executed, memory_order_relaxed) < value)
		return false;
	mine = flow_is_mine(f);
	if (!mine && !flow_lock_try(f))
		return false;
	flow_drop_reached(f);
	if (!mine)
		flow_unlock(f);
	return flow_completed(f) >= value;
}

/* The first of the ring's jobs, and those of others that the flow waits for. */
static unsigned open_fences(const struct flow *f, struct cs_fence *fences, unsigned max)
{
	const struct flow_queue *q = f->queue;
	unsigned count = 0;

	if (q && cs_ring_unfinished(q->ring))
		fences[count++] = (struct cs_fence){q->ring, cs_ring_completed(q->ring) + 1};
	for (unsigned i = 0; i < f->afters && count < max; i++)
		if (!cs_fence_poll(f->after[i]))
			fences[count++] = f->after[i];
	return count;
}

unsigned flow_fences(struct flow *f, struct cs_fence *fences, unsigned max)
{
	unsigned count = 0;

	if (!flow_lock_try(f))
		return 0;
	/* A call that is under way ends without a job. */
	if (f->deferred && !atomic_load(&f->calling))
		count = open_fences(f, fences, max);
	flow_unlock(f);
	return count;
}

/* --- waits --------------------------------------------------------------------------------------- */

struct wait {
	uint64_t value, deadline_ns; /* UINT64_MAX: never */
	uint64_t pause_ns;
	bool mine; /* the caller has the lock */
};

#define PAUSE_MIN_NS 50000
#define PAUSE_MAX_NS 10000000

static int left_ns(const struct wait *w, int64_t *left)
{
	uint64_t now = w->deadline_ns == UINT64_MAX ? 0 : drv_now_ns();

	*left = w->deadline_ns == UINT64_MAX ? CS_FOREVER
		: w->deadline_ns > now       ? (int64_t)(w->deadline_ns - now)
					     : 0;
	return *left ? 0 : -ETIMEDOUT;
}

/* The fence whose end is next on the way to the value; false: it is deferred. */
static bool next_fence(struct flow *f, uint64_t value, struct cs_fence *fence)
{
	if (flow_job_of(f, value, fence))
		return true;
	if (atomic_load_explicit(&f->executed, memory_order_relaxed) < value)
		return false;
	*fence = f->afters ? f->after[0] : cs_ring_last(f->queue->ring);
	return true;
}

/* Has everything go on that can, and finds what to sleep on. */
static int prepare_sleep(struct flow *f, const struct wait *w, struct cs_fence *fence, bool *found)
{
	int r;

	if (!w->mine)
		flow_lock(f);
	r = flow_push(f);
	flow_drop_reached(f);
	*found = !r && flow_completed(f) < w->value && f->queue && next_fence(f, w->value, fence);
	if (!w->mine)
		flow_unlock(f);
	return r;
}

static void sleep_for_move(struct flow *f, struct wait *w, int64_t left)
{
	struct cs_fence fence;
	uint32_t seen;

	/* Deferred operations may begin when the jobs so far end. */
	if (!w->mine && flow_fences(f, &fence, 1)) {
		(void)!cs_fence_wait(fence, left < PAUSE_MAX_NS ? left : PAUSE_MAX_NS);
		return;
	}
	w->pause_ns = !w->pause_ns ? PAUSE_MIN_NS : 2 * w->pause_ns < PAUSE_MAX_NS ? 2 * w->pause_ns : PAUSE_MAX_NS;
	atomic_fetch_add(&f->waiters, 1);
	seen = atomic_load(&f->moved);
	if (flow_completed(f) < w->value && atomic_load(&f->state) == FLOW_ACTIVE)
		drv_futex_wait(&f->moved, seen, (uint64_t)left < w->pause_ns ? (uint64_t)left : w->pause_ns);
	atomic_fetch_sub(&f->waiters, 1);
}

/* Another ring's job, which the flow does not wait for any more, unless it fails with it. */
static bool is_lost_elsewhere(const struct flow *f, struct cs_fence fence)
{
	const struct flow_queue *q = f->queue;

	return cs_fence_poll(fence) < 0 && !(q && q->ring == fence.ring);
}

static int wait_for_value(struct flow *f, struct wait *w, struct cs_ring **lost)
{
	struct cs_fence fence;
	int64_t left;
	bool found;
	int r;

	for (;;) {
		r = f->ops->check(f);
		r = r ? r : left_ns(w, &left);
		r = r ? r : prepare_sleep(f, w, &fence, &found);
		if (r || flow_completed(f) >= w->value)
			return r;
		if (!found) {
			sleep_for_move(f, w, left);
			continue;
		}
		r = cs_fence_wait(fence, left);
		if (r && r != -ETIMEDOUT)
			*lost = fence.ring;
		if (r && !is_lost_elsewhere(f, fence))
			return r;
	}
}

/* The caller has the lock, and no other thread executes what can be meanwhile. */
static int wait_with_lock(struct flow *f, struct wait *w, struct cs_ring **lost)
{
	int r;

	atomic_store(&f->attended, true);
	r = wait_for_value(f, w, lost);
	atomic_store(&f->attended, false);
	/* A call that has just ended left the rest to this thread. */
	if (f->deferred)
		flow_push(f);
	return r;
}

int flow_wait(struct flow *f, uint64_t value, int64_t timeout_ns, struct cs_ring **lost)
{
	struct wait w = {.value = value, .deadline_ns = UINT64_MAX, .mine = flow_is_mine(f)};

	*lost = NULL;
	if (flow_completed(f) >= value)
		return 0;
	if (timeout_ns != CS_FOREVER)
		w.deadline_ns = drv_now_ns() + (uint64_t)timeout_ns;
	return w.mine ? wait_with_lock(f, &w, lost) : wait_for_value(f, &w, lost);
}

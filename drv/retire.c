#include "drv/retire.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH 64 /* retired objects for which one membarrier(2) is issued */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_membarrier; /* constant after `once` */

/* --- threads ---------------------------------------------------------------------------------- */

static void forget_locked(struct drv_calls *calls, struct drv_caller *c)
{
	drv_rank_assert(DRV_RANK_RETIRE);
	calls->awaited -= c->awaited;
	c->awaited = false;
}

/* Called when a thread ends. A later destructor that calls the library registers the thread again. */
static void caller_unregister(void *caller)
{
	struct drv_caller *c = caller;
	struct drv_calls *calls = c->calls;

	drv_mutex_lock(&calls->lock);
	forget_locked(calls, c);
	LIST_REMOVE(c, in_callers);
	c->calls = NULL;
	c->ends++;
	drv_mutex_unlock(&calls->lock);
	atomic_store(&c->inside, DRV_INSIDE_NEVER);
}

static void membarrier_init(void)
{
	/* A filter of system calls may allow one of the two. */
	has_membarrier = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) &&
			 !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* False: the thread would stay registered when it has ended, for the program has all keys, there is no memory, or the
 * thread has called its destructors as often as it does. */
static bool watch_end_locked(struct drv_calls *calls, struct drv_caller *me)
{
	drv_rank_assert(DRV_RANK_RETIRE);
	if (me->ends >= PTHREAD_DESTRUCTOR_ITERATIONS)
		return false;
	if (!calls->has_key)
		calls->has_key = !pthread_key_create(&calls->key, caller_unregister);
	return calls->has_key && !pthread_setspecific(calls->key, me);
}

static void caller_insert(struct drv_calls *calls, struct drv_caller *me)
{
	bool watched;

	pthread_once(&once, membarrier_init);
	drv_mutex_lock(&calls->lock);
	watched = watch_end_locked(calls, me);
	if (watched) {
		LIST_INSERT_HEAD(&calls->callers, me, in_callers);
		me->calls = calls;
	} else {
		calls->unknown = true;
	}
	drv_mutex_unlock(&calls->lock);
	if (watched && has_membarrier)
		atomic_store(&me->inside, DRV_INSIDE_CALL);
}

void drv_caller_register(struct drv_calls *calls, struct drv_caller *me)
{
	if (!me->calls)
		caller_insert(calls, me);
	/* Orders the counter before the look-up of handles: a thread that destroys a handle later sees the call. */
	atomic_thread_fence(memory_order_seq_cst);
}

void drv_calls_forked(struct drv_calls *calls, struct drv_caller *me)
{
	calls->lock = (struct drv_mutex)DRV_MUTEX(DRV_RANK_RETIRE);
	LIST_INIT(&calls->callers);
	calls->fresh = calls->waiting = NULL;
	calls->fresh_count = calls->awaited = 0;
	calls->unknown = false;
	me->awaited = false;
	if (me->calls)
		LIST_INSERT_HEAD(&calls->callers, me, in_callers);
}

/* --- objects ---------------------------------------------------------------------------------- */

static bool is_inside(int64_t inside)
{
	return inside & 0xff;
}

/* but: a thread that is not awaited; NULL: none. */
static void await_callers_locked(struct drv_calls *calls, const struct drv_caller *but)
{
	struct drv_caller *c;

	drv_rank_assert(DRV_RANK_RETIRE);
	LIST_FOREACH(c, &calls->callers, in_callers) {
		c->seen = atomic_load_explicit(&c->inside, memory_order_acquire);
		c->awaited = c != but && is_inside(c->seen);
		calls->awaited += c->awaited;
	}
}

/* Stops waiting for threads that have left the call in which they were seen. */
static void awaited_update_locked(struct drv_calls *calls)
{
	struct drv_caller *c;

	drv_rank_assert(DRV_RANK_RETIRE);
	LIST_FOREACH(c, &calls->callers, in_callers) {
		int64_t inside = atomic_load_explicit(&c->inside, memory_order_acquire);

		if (c->awaited && (!is_inside(inside) || inside >> 8 != c->seen >> 8))
			forget_locked(calls, c);
	}
}

static void list_push(struct drv_retired **list, struct drv_retired *r)
{
	r->next = *list;
	*list = r;
}

static struct drv_retired *list_pop(struct drv_retired **list)
{
	struct drv_retired *r = *list;

	if (r)
		*list = r->next;
	return r;
}

static void end_all(struct drv_retired *list)
{
	struct drv_retired *r;

	while ((r = list_pop(&list)))
		r->end(r);
}

/* Takes the waiting objects, if no thread can use them any more. */
static struct drv_retired *take_locked(struct drv_calls *calls)
{
	struct drv_retired *taken = NULL;

	drv_rank_assert(DRV_RANK_RETIRE);
	awaited_update_locked(calls);
	if (!calls->awaited) {
		taken = calls->waiting;
		calls->waiting = NULL;
	}
	return taken;
}

/* Has the fresh objects wait for the threads that are inside now, unless others wait. False: that cannot be known. */
static bool begin_wait_locked(struct drv_calls *calls, const struct drv_caller *but)
{
	drv_rank_assert(DRV_RANK_RETIRE);
	if (calls->waiting || !calls->fresh)
		return true;
	if (calls->unknown || (has_membarrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)))
		return false;
	/* Orders the handles, which are destroyed, before the counters: the other side of drv_caller_register(). */
	atomic_thread_fence(memory_order_seq_cst);
	calls->waiting = calls->fresh;
	calls->fresh = NULL;
	calls->fresh_count = 0;
	await_callers_locked(calls, but);
	return true;
}

void drv_retire(struct drv_calls *calls, struct drv_retired *r, void (*end)(struct drv_retired *retired))
{
	r->end = end;
	pthread_once(&once, membarrier_init);
	drv_mutex_lock(&calls->lock);
	list_push(&calls->fresh, r);
	calls->fresh_count++;
	drv_mutex_unlock(&calls->lock);
}

void drv_retire_collect(struct drv_calls *calls)
{
	struct drv_retired *taken;

	drv_mutex_lock(&calls->lock);
	taken = take_locked(calls);
	if (calls->fresh_count >= BATCH)
		(void)begin_wait_locked(calls, NULL);
	drv_mutex_unlock(&calls->lock);
	end_all(taken);
}

/* False: it cannot be known when the objects can be freed. */
static bool flush(struct drv_calls *calls, const struct drv_caller *but)
{
	struct drv_retired *before, *now;
	bool known;

	pthread_once(&once, membarrier_init);
	drv_mutex_lock(&calls->lock);
	before = take_locked(calls);
	known = begin_wait_locked(calls, but);
	now = take_locked(calls);
	drv_mutex_unlock(&calls->lock);
	end_all(before);
	end_all(now);
	return known;
}

/* A call inside another one of the same thread must not free what the outer call uses. */
void drv_retire_flush(struct drv_calls *calls, const struct drv_caller *me)
{
	bool nested = (atomic_load_explicit(&me->inside, memory_order_relaxed) & 0xff) > DRV_INSIDE_CALL;

	(void)flush(calls, nested ? NULL : me);
}

/* --- waiting ---------------------------------------------------------------------------------- */

struct marker {
	struct drv_retired retired;
	_Atomic bool ended;
};

static void marker_end(struct drv_retired *retired)
{
	struct marker *m = (struct marker *)(void *)retired;

	atomic_store(&m->ended, true);
}

/* True: the marker was not taken yet, and is in no list any more. */
static bool marker_remove(struct drv_calls *calls, const struct marker *m)
{
	struct drv_retired **at = &calls->fresh;

	drv_mutex_lock(&calls->lock);
	while (*at && *at != &m->retired)
		at = &(*at)->next;
	if (*at) {
		*at = m->retired.next;
		calls->fresh_count--;
		drv_mutex_unlock(&calls->lock);
		return true;
	}
	drv_mutex_unlock(&calls->lock);
	return false;
}

bool drv_retire_wait(struct drv_calls *calls, const struct drv_caller *me)
{
	struct marker m = {.ended = false};
	struct drv_pause pause = {0};

	drv_retire(calls, &m.retired, marker_end);
	while (!atomic_load(&m.ended)) {
		if (!flush(calls, me) && marker_remove(calls, &m))
			return false;
		if (!atomic_load(&m.ended))
			drv_pause(&pause);
	}
	return true;
}

#include "drv/lock.h"
#include "api/base/retire.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH 64 /* retired objects for which one membarrier(2) is issued */

static struct {
	struct drv_mutex lock;           /* guards the members below, and those of hip_thread; innermost */
	LIST_HEAD(, hip_thread) threads; /* borrowed: registered threads */
	struct hip_retired *fresh, *waiting;
	unsigned fresh_count;
	unsigned awaited; /* number of threads that `waiting` waits for */
} retirement = {.lock = DRV_MUTEX(DRV_RANK_HIP_RETIRE)};

static pthread_key_t thread_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_membarrier; /* constant after `once` */

/* --- threads ---------------------------------------------------------------------------------- */

static void forget_locked(struct hip_thread *t)
{
	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	retirement.awaited -= t->awaited;
	t->awaited = false;
}

/* Called when a thread ends. A later destructor that calls HIP registers the thread again. */
static void thread_unregister(void *thread)
{
	struct hip_thread *t = thread;

	drv_mutex_lock(&retirement.lock);
	forget_locked(t);
	LIST_REMOVE(t, in_threads);
	t->registered = false;
	drv_mutex_unlock(&retirement.lock);
	atomic_store(&t->inside, HIP_INSIDE_NEVER);
}

static void retirement_init(void)
{
	(void)!pthread_key_create(&thread_key, thread_unregister);
	/* A filter of system calls may allow one of the two. */
	has_membarrier = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) &&
			 !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static void thread_insert(struct hip_thread *t)
{
	pthread_once(&once, retirement_init);
	drv_mutex_lock(&retirement.lock);
	LIST_INSERT_HEAD(&retirement.threads, t, in_threads);
	t->registered = true;
	drv_mutex_unlock(&retirement.lock);
	(void)!pthread_setspecific(thread_key, t);
	if (has_membarrier)
		atomic_store(&t->inside, HIP_INSIDE_CALL);
}

void hip_thread_register(void)
{
	if (!hip_thread.registered)
		thread_insert(&hip_thread);
	/* Orders the counter before the look-up of handles: a thread that destroys a handle later sees the call. */
	atomic_thread_fence(memory_order_seq_cst);
}

void hip_threads_forked(void)
{
	struct hip_thread *t = &hip_thread;

	retirement.lock = (struct drv_mutex)DRV_MUTEX(DRV_RANK_HIP_RETIRE);
	LIST_INIT(&retirement.threads);
	retirement.fresh = retirement.waiting = NULL;
	retirement.fresh_count = retirement.awaited = 0;
	t->awaited = false;
	if (t->registered)
		LIST_INSERT_HEAD(&retirement.threads, t, in_threads);
}

/* --- objects ---------------------------------------------------------------------------------- */

static bool is_inside(int64_t inside)
{
	return inside & 0xff;
}

/* but: a thread that is not awaited; NULL: none. */
static void await_threads_locked(const struct hip_thread *but)
{
	struct hip_thread *t;

	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	LIST_FOREACH(t, &retirement.threads, in_threads) {
		t->seen = atomic_load_explicit(&t->inside, memory_order_acquire);
		t->awaited = t != but && is_inside(t->seen);
		retirement.awaited += t->awaited;
	}
}

/* Stops waiting for threads that have left the call in which they were seen. */
static void awaited_update_locked(void)
{
	struct hip_thread *t;

	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	LIST_FOREACH(t, &retirement.threads, in_threads) {
		int64_t inside = atomic_load_explicit(&t->inside, memory_order_acquire);

		if (t->awaited && (!is_inside(inside) || inside >> 8 != t->seen >> 8))
			forget_locked(t);
	}
}

static void list_push(struct hip_retired **list, struct hip_retired *r)
{
	r->next = *list;
	*list = r;
}

static struct hip_retired *list_pop(struct hip_retired **list)
{
	struct hip_retired *r = *list;

	if (r)
		*list = r->next;
	return r;
}

static void end_all(struct hip_retired *list)
{
	struct hip_retired *r;

	while ((r = list_pop(&list)))
		r->end(r);
}

/* Takes the waiting objects, if no thread can use them any more. */
static struct hip_retired *take_locked(void)
{
	struct hip_retired *taken = NULL;

	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	awaited_update_locked();
	if (!retirement.awaited) {
		taken = retirement.waiting;
		retirement.waiting = NULL;
	}
	return taken;
}

/* Has the fresh objects wait for the threads that are inside now, unless others wait. */
static void begin_wait_locked(const struct hip_thread *but)
{
	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	if (retirement.waiting || !retirement.fresh)
		return;
	if (has_membarrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		return;
	/* Orders the handles, which are destroyed, before the counters: the other side of hip_thread_register(). */
	atomic_thread_fence(memory_order_seq_cst);
	retirement.waiting = retirement.fresh;
	retirement.fresh = NULL;
	retirement.fresh_count = 0;
	await_threads_locked(but);
}

void hip_retire(struct hip_retired *r, void (*end)(struct hip_retired *retired))
{
	r->end = end;
	pthread_once(&once, retirement_init);
	drv_mutex_lock(&retirement.lock);
	list_push(&retirement.fresh, r);
	retirement.fresh_count++;
	drv_mutex_unlock(&retirement.lock);
}

void hip_retire_collect(void)
{
	struct hip_retired *taken;

	drv_mutex_lock(&retirement.lock);
	taken = take_locked();
	if (retirement.fresh_count >= BATCH)
		begin_wait_locked(NULL);
	drv_mutex_unlock(&retirement.lock);
	end_all(taken);
}

/* A call inside another one of the same thread must not free what the outer call uses. */
void hip_retire_flush(void)
{
	bool nested = (atomic_load_explicit(&hip_thread.inside, memory_order_relaxed) & 0xff) > HIP_INSIDE_CALL;
	struct hip_retired *before, *now;

	pthread_once(&once, retirement_init);
	drv_mutex_lock(&retirement.lock);
	before = take_locked();
	begin_wait_locked(nested ? NULL : &hip_thread);
	now = take_locked();
	drv_mutex_unlock(&retirement.lock);
	end_all(before);
	end_all(now);
}

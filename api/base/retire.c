#include "drv/lock.h"
#include "api/base/retire.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH 64 /* retired objects for which one membarrier(2) is issued */

static struct {
	struct drv_mutex lock;      /* guards the members below, and those of hip_thread; innermost */
	struct hip_thread *threads; /* borrowed: registered threads */
	struct hip_retired *fresh, *waiting;
	unsigned fresh_count;
	unsigned awaited; /* number of threads that `waiting` waits for */
} retirement = {.lock = DRV_MUTEX(DRV_RANK_HIP_RETIRE)};

static pthread_key_t thread_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_membarrier;

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
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	drv_mutex_unlock(&retirement.lock);
	atomic_store(&t->inside, HIP_INSIDE_NEVER);
}

static void retirement_init(void)
{
	(void)!pthread_key_create(&thread_key, thread_unregister);
	has_membarrier = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

void hip_thread_register(void)
{
	struct hip_thread *t = &hip_thread;

	pthread_once(&once, retirement_init);
	drv_mutex_lock(&retirement.lock);
	t->next = retirement.threads;
	t->link = &retirement.threads;
	if (t->next)
		t->next->link = &t->next;
	retirement.threads = t;
	drv_mutex_unlock(&retirement.lock);
	(void)!pthread_setspecific(thread_key, t);
	atomic_store(&t->inside, HIP_INSIDE_CALL);
	/* Orders the counter before the look-up of handles: a thread that destroys a handle later sees the call. */
	atomic_thread_fence(memory_order_seq_cst);
}

/* --- objects ---------------------------------------------------------------------------------- */

static bool is_inside(int64_t inside)
{
	return inside & 0xff;
}

static void await_threads_locked(void)
{
	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	for (struct hip_thread *t = retirement.threads; t; t = t->next) {
		t->seen = atomic_load_explicit(&t->inside, memory_order_acquire);
		t->awaited = is_inside(t->seen);
		retirement.awaited += t->awaited;
	}
}

/* Stops waiting for threads that have left the call in which they were seen. */
static void awaited_update_locked(void)
{
	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	for (struct hip_thread *t = retirement.threads; t; t = t->next) {
		int64_t inside = atomic_load_explicit(&t->inside, memory_order_acquire);

		if (t->awaited && (!is_inside(inside) || inside >> 8 != t->seen >> 8))
			forget_locked(t);
	}
}

/* Takes the objects that no thread can use any more; NULL: none. */
static struct hip_retired *take_locked(void)
{
	struct hip_retired *taken = NULL;

	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	if (retirement.waiting) {
		awaited_update_locked();
		if (retirement.awaited)
			return NULL;
		taken = retirement.waiting;
		retirement.waiting = NULL;
	}
	if (retirement.fresh_count >= BATCH && has_membarrier &&
	    !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) {
		retirement.waiting = retirement.fresh;
		retirement.fresh = NULL;
		retirement.fresh_count = 0;
		await_threads_locked();
	}
	return taken;
}

static void push_locked(struct hip_retired *r)
{
	drv_rank_assert(DRV_RANK_HIP_RETIRE);
	r->next = retirement.fresh;
	retirement.fresh = r;
	retirement.fresh_count++;
}

static void end_all(struct hip_retired *taken)
{
	while (taken) {
		struct hip_retired *r = taken;

		taken = r->next;
		r->end(r);
	}
}

void hip_retire(struct hip_retired *r, void (*end)(struct hip_retired *retired))
{
	struct hip_retired *taken;

	r->end = end;
	pthread_once(&once, retirement_init);
	drv_mutex_lock(&retirement.lock);
	push_locked(r);
	taken = take_locked();
	drv_mutex_unlock(&retirement.lock);
	end_all(taken);
}

void hip_retire_later(struct hip_retired *r, void (*end)(struct hip_retired *retired))
{
	r->end = end;
	pthread_once(&once, retirement_init);
	drv_mutex_lock(&retirement.lock);
	push_locked(r);
	drv_mutex_unlock(&retirement.lock);
}

void hip_retired_free(void)
{
	struct hip_retired *taken;

	drv_mutex_lock(&retirement.lock);
	taken = take_locked();
	drv_mutex_unlock(&retirement.lock);
	end_all(taken);
}

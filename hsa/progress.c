/* The progress thread: attempts what could not be submitted, and applies what GPUs have done to signals that the
 * CPU counts down. It starts with the first such thing, sleeps without a limit when there is none, never runs the
 * client's code and never waits for a GPU. */
#include <errno.h>
#include <stdlib.h>

#include "hsa/internal.h"

struct rt_progress {
	pthread_t thread;
	_Atomic uint32_t bell;    /* futex: rung when something may have changed */
	_Atomic bool asleep;      /* the thread is at the futex, or about to be */
	pthread_mutex_t lock;     /* guards all below */
	pthread_cond_t attempted; /* `running` went back to NULL */
	bool started, stop;
	struct rt_work *work;      /* borrowed: what is to be attempted */
	struct rt_work *running;   /* borrowed: what is attempted now */
	struct rt_signal *signals; /* borrowed: what is to be settled */
};

/* Takes the list of work; attempts each, and puts back what has to wait on. True: something went on. */
static bool attempt_all(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	struct rt_work *list, *work;
	bool any = false, done;

	pthread_mutex_lock(&p->lock);
	for (list = p->work, p->work = NULL; list && !p->stop;) {
		work = p->running = list;
		list = work->next;
		work->queued = false;
		pthread_mutex_unlock(&p->lock);
		done = work->attempt(rt, work);
		pthread_mutex_lock(&p->lock);
		if (!done && !work->queued) {
			work->queued = true;
			work->next = p->work;
			p->work = work;
		}
		any |= done;
		p->running = NULL;
		pthread_cond_broadcast(&p->attempted);
	}
	/* At the end of the thread: what it held is found in the list by who removes it. */
	for (; list; list = work) {
		work = list->next;
		list->next = p->work;
		p->work = list;
	}
	pthread_mutex_unlock(&p->lock);
	return any;
}

static void settle_all(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	struct rt_signal *list, *signal;

	pthread_mutex_lock(&p->lock);
	list = p->signals;
	p->signals = NULL;
	while (list) {
		signal = list;
		list = signal->next_listed;
		signal->listed = false;
		pthread_mutex_unlock(&p->lock);
		if (rt_signal_settle(rt, signal))
			rt_progress_settle(rt, signal);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
}

static bool has_nothing_to_do(struct rt_progress *p, bool *stop)
{
	bool nothing;

	pthread_mutex_lock(&p->lock);
	nothing = !p->work && !p->signals;
	*stop = p->stop;
	pthread_mutex_unlock(&p->lock);
	return nothing;
}

static void *progress(void *arg)
{
	struct rt *rt = arg;
	struct rt_progress *p = rt->progress;
	struct rt_pause pause = {0};
	bool stop = false;

	while (!stop) {
		uint32_t seen = atomic_load(&p->bell);
		bool idle;

		if (attempt_all(rt))
			pause.ns = 0;
		settle_all(rt);
		atomic_store(&p->asleep, true);
		idle = has_nothing_to_do(p, &stop);
		if (!stop && atomic_load(&p->bell) == seen)
			rt_futex_wait(&p->bell, seen, idle ? UINT64_MAX : rt_pause_next_ns(&pause));
		atomic_store(&p->asleep, false);
		if (atomic_load(&p->bell) != seen)
			pause.ns = 0;
	}
	return NULL;
}

static void start_locked(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	int r;

	if (p->started || p->stop)
		return;
	r = pthread_create(&p->thread, NULL, progress, rt);
	p->started = !r;
	if (r)
		drv_fail(-r, "no thread for progress: stopped work waits for the next call");
}

void rt_progress_wake(struct rt *rt)
{
	struct rt_progress *p = rt->progress;

	atomic_fetch_add(&p->bell, 1);
	if (atomic_load(&p->asleep))
		rt_futex_wake(&p->bell);
}

void rt_progress_add(struct rt *rt, struct rt_work *work)
{
	struct rt_progress *p = rt->progress;

	pthread_mutex_lock(&p->lock);
	if (!work->queued) {
		work->queued = true;
		work->next = p->work;
		p->work = work;
	}
	start_locked(rt);
	pthread_mutex_unlock(&p->lock);
	rt_progress_wake(rt);
}

void rt_progress_remove(struct rt *rt, struct rt_work *work)
{
	struct rt_progress *p = rt->progress;

	pthread_mutex_lock(&p->lock);
	/* The thread holds the list that it goes through: what is in that is found when it is put back. */
	while (work->queued || p->running == work) {
		struct rt_work **at = &p->work;

		while (*at && *at != work)
			at = &(*at)->next;
		if (*at) {
			*at = work->next;
			work->queued = false;
		}
		if (work->queued || p->running == work)
			pthread_cond_wait(&p->attempted, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
}

/* The caller holds the signal's lock, so nothing here may take it. */
void rt_progress_settle(struct rt *rt, struct rt_signal *signal)
{
	struct rt_progress *p = rt->progress;

	pthread_mutex_lock(&p->lock);
	if (!signal->listed) {
		signal->listed = true;
		signal->next_listed = p->signals;
		p->signals = signal;
	}
	start_locked(rt);
	pthread_mutex_unlock(&p->lock);
	rt_progress_wake(rt);
}

bool rt_progress_is_own_thread(struct rt *rt)
{
	return rt->progress->started && pthread_equal(rt->progress->thread, pthread_self());
}

int rt_progress_init(struct rt *rt)
{
	struct rt_progress *p = calloc(1, sizeof(*p));

	if (!p)
		return drv_fail(-ENOMEM, "no host memory for progress");
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->attempted, NULL);
	rt->progress = p;
	return 0;
}

void rt_progress_stop(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	bool started;

	pthread_mutex_lock(&p->lock);
	p->stop = true;
	started = p->started;
	pthread_mutex_unlock(&p->lock);
	rt_progress_wake(rt);
	if (started)
		pthread_join(p->thread, NULL);
}

void rt_progress_fini(struct rt *rt)
{
	struct rt_progress *p = rt->progress;

	pthread_cond_destroy(&p->attempted);
	pthread_mutex_destroy(&p->lock);
	free(p);
	rt->progress = NULL;
}

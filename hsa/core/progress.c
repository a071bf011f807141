/* The progress thread: attempts work that could not be submitted, and applies the completions of signals that the
 * CPU decrements. It starts with the first such work, sleeps without a limit when there is none, never runs the
 * client's code and never waits for a GPU. */
#include <errno.h>
#include <stdlib.h>

#include "drv/lock.h"
#include "hsa/core/loop.h"

struct rt_progress {
	struct rt_loop loop;      /* guards all below */
	pthread_cond_t attempted; /* signalled when `running` becomes NULL, or a pass is over */
	uint64_t passes;          /* completed passes over the whole list */
	struct rt_work *work;     /* borrowed: the list of pending work */
	struct rt_work *running;  /* borrowed: the work that is being attempted */
};

/* Attempts each piece of work once, and puts back what must be attempted again. True: progress was made. */
static bool attempt_all(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	struct rt_work *list, *work;
	bool any = false, done;

	drv_mutex_lock(&p->loop.lock);
	for (list = p->work, p->work = NULL; list && !p->loop.stop;) {
		work = p->running = list;
		list = work->next;
		work->queued = false;
		drv_mutex_unlock(&p->loop.lock);
		done = work->attempt(rt, work);
		drv_mutex_lock(&p->loop.lock);
		if (!done && !work->queued) {
			work->queued = true;
			work->next = p->work;
			p->work = work;
		}
		any |= done;
		p->running = NULL;
		pthread_cond_broadcast(&p->attempted);
	}
	/* When the thread stops, the rest of the list goes back, so that rt_progress_remove() finds it. */
	for (; list; list = work) {
		work = list->next;
		list->next = p->work;
		p->work = list;
	}
	p->passes++;
	pthread_cond_broadcast(&p->attempted);
	drv_mutex_unlock(&p->loop.lock);
	return any;
}

static bool progress_has_work(const struct rt *rt)
{
	return rt->progress->work != NULL;
}

static uint64_t progress_pause_ns(struct rt *rt, struct rt_pause *pause)
{
	(void)rt;
	return rt_pause_next_ns(pause);
}

static unsigned progress_fences(struct rt *rt, struct cs_fence *fences, bool *all)
{
	struct rt_progress *p = rt->progress;
	unsigned count = 0, before;

	drv_mutex_lock(&p->loop.lock);
	*all = true;
	for (const struct rt_work *work = p->work; work; work = work->next) {
		before = count;
		if (work->fences && count < RT_LOOP_FENCES)
			count += work->fences(work, fences + count, RT_LOOP_FENCES - count);
		*all &= count > before;
	}
	drv_mutex_unlock(&p->loop.lock);
	return count;
}

static void progress_start_locked(struct rt_progress *p)
{
	int r = rt_loop_start_locked(&p->loop);

	if (r)
		drv_fail(r, "no thread for progress: stopped work waits for the next call");
}

void rt_progress_wake(struct rt *rt)
{
	rt_loop_wake(&rt->progress->loop);
}

/* Wakes the thread after an addition. The thread itself polls again anyway, after a pause: if it woke itself it
 * would never sleep. */
static void wake_thread(struct rt_progress *p, bool own)
{
	if (!own)
		rt_loop_wake(&p->loop);
}

void rt_progress_add(struct rt *rt, struct rt_work *work)
{
	struct rt_progress *p = rt->progress;
	bool own;

	drv_mutex_lock(&p->loop.lock);
	if (!work->queued && !p->loop.stop) {
		work->queued = true;
		work->next = p->work;
		p->work = work;
	}
	progress_start_locked(p);
	own = rt_loop_is_own_locked(&p->loop);
	drv_mutex_unlock(&p->loop.lock);
	wake_thread(p, own);
}

void rt_progress_remove(struct rt *rt, struct rt_work *work)
{
	struct rt_progress *p = rt->progress;

	drv_mutex_lock(&p->loop.lock);
	/* During a pass the thread holds the list; its work can be removed once it is put back. */
	while (work->queued || p->running == work) {
		struct rt_work **at = &p->work;

		while (*at && *at != work)
			at = &(*at)->next;
		if (*at) {
			*at = work->next;
			work->queued = false;
		}
		if (work->queued || p->running == work)
			drv_cond_wait(&p->attempted, &p->loop.lock);
	}
	drv_mutex_unlock(&p->loop.lock);
}

void rt_progress_pass(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	uint64_t seen;

	drv_mutex_lock(&p->loop.lock);
	/* A pass that is under way may have attempted the caller's work already, so two passes are awaited. */
	for (seen = p->passes;
	     p->loop.started && !p->loop.stop && p->passes - seen < 2 && (p->work || p->running);) {
		rt_progress_wake(rt);
		drv_cond_wait(&p->attempted, &p->loop.lock);
	}
	drv_mutex_unlock(&p->loop.lock);
}

bool rt_progress_is_own_thread(struct rt *rt)
{
	return rt_loop_is_own(&rt->progress->loop);
}

int rt_progress_init(struct rt *rt)
{
	struct rt_progress *p = calloc(1, sizeof(*p));

	if (!p)
		return drv_fail(-ENOMEM, "no host memory for progress");
	p->loop.poll = attempt_all;
	p->loop.has_work = progress_has_work;
	p->loop.pause_ns = progress_pause_ns;
	p->loop.fences = progress_fences;
	rt_loop_init(rt, &p->loop);
	pthread_cond_init(&p->attempted, NULL);
	rt->progress = p;
	return 0;
}

void rt_progress_stop(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	struct rt_work *work;

	rt_loop_stop(&p->loop);
	drv_mutex_lock(&p->loop.lock);
	while ((work = p->work)) {
		p->work = work->next;
		work->queued = false;
	}
	drv_mutex_unlock(&p->loop.lock);
}

void rt_progress_fini(struct rt *rt)
{
	struct rt_progress *p = rt->progress;

	pthread_cond_destroy(&p->attempted);
	rt_loop_fini(&p->loop);
	free(p);
	rt->progress = NULL;
}

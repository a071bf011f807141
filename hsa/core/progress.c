/* The progress thread: attempts what could not be submitted, and applies what GPUs have done to signals that the
 * CPU counts down. It starts with the first such thing, sleeps without a limit when there is none, never runs the
 * client's code and never waits for a GPU. */
#include <errno.h>
#include <stdlib.h>

#include "hsa/core/loop.h"

struct rt_progress {
	struct rt_loop loop;      /* its lock guards all below */
	pthread_cond_t attempted; /* `running` went back to NULL, or a pass is over */
	uint64_t passes;          /* over the whole list, so far */
	struct rt_work *work;     /* borrowed: what is to be attempted */
	struct rt_work *running;  /* borrowed: what is attempted now */
};

/* Takes the list of work; attempts each, and puts back what has to wait on. True: something went on. */
static bool attempt_all(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	struct rt_work *list, *work;
	bool any = false, done;

	pthread_mutex_lock(&p->loop.lock);
	for (list = p->work, p->work = NULL; list && !p->loop.stop;) {
		work = p->running = list;
		list = work->next;
		work->queued = false;
		pthread_mutex_unlock(&p->loop.lock);
		done = work->attempt(rt, work);
		pthread_mutex_lock(&p->loop.lock);
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
	p->passes++;
	pthread_cond_broadcast(&p->attempted);
	pthread_mutex_unlock(&p->loop.lock);
	return any;
}

static bool has_work(const struct rt *rt)
{
	return rt->progress->work != NULL;
}

static uint64_t rest_ns(struct rt *rt, struct rt_pause *pause)
{
	(void)rt;
	return rt_pause_next_ns(pause);
}

static unsigned fences(struct rt *rt, struct cs_fence *fences, bool *all)
{
	struct rt_progress *p = rt->progress;
	unsigned count = 0, before;

	pthread_mutex_lock(&p->loop.lock);
	*all = true;
	for (const struct rt_work *work = p->work; work; work = work->next) {
		before = count;
		if (work->fences && count < RT_LOOP_POINTS)
			count += work->fences(work, fences + count, RT_LOOP_POINTS - count);
		*all &= count > before;
	}
	pthread_mutex_unlock(&p->loop.lock);
	return count;
}

static void start_locked(struct rt_progress *p)
{
	int r = rt_loop_start_locked(&p->loop);

	if (r)
		drv_fail(r, "no thread for progress: stopped work waits for the next call");
}

void rt_progress_wake(struct rt *rt)
{
	rt_loop_ring(&rt->progress->loop);
}

/* Something was added. The thread itself looks again anyway, after a pause: its own bell would let it never sleep.
 */
static void tell_thread(struct rt_progress *p, bool own)
{
	if (!own)
		rt_loop_ring(&p->loop);
}

void rt_progress_add(struct rt *rt, struct rt_work *work)
{
	struct rt_progress *p = rt->progress;
	bool own;

	pthread_mutex_lock(&p->loop.lock);
	if (!work->queued) {
		work->queued = true;
		work->next = p->work;
		p->work = work;
	}
	start_locked(p);
	own = rt_loop_is_own_locked(&p->loop);
	pthread_mutex_unlock(&p->loop.lock);
	tell_thread(p, own);
}

void rt_progress_remove(struct rt *rt, struct rt_work *work)
{
	struct rt_progress *p = rt->progress;

	pthread_mutex_lock(&p->loop.lock);
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
			pthread_cond_wait(&p->attempted, &p->loop.lock);
	}
	pthread_mutex_unlock(&p->loop.lock);
}

void rt_progress_pass(struct rt *rt)
{
	struct rt_progress *p = rt->progress;
	uint64_t seen;

	pthread_mutex_lock(&p->loop.lock);
	/* The one that is under way may have passed what the caller means. */
	for (seen = p->passes;
	     p->loop.started && !p->loop.stop && p->passes - seen < 2 && (p->work || p->running);) {
		rt_progress_wake(rt);
		pthread_cond_wait(&p->attempted, &p->loop.lock);
	}
	pthread_mutex_unlock(&p->loop.lock);
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
	p->loop.look = attempt_all;
	p->loop.has_work = has_work;
	p->loop.rest_ns = rest_ns;
	p->loop.fences = fences;
	rt_loop_init(rt, &p->loop);
	pthread_cond_init(&p->attempted, NULL);
	rt->progress = p;
	return 0;
}

void rt_progress_stop(struct rt *rt)
{
	rt_loop_stop(&rt->progress->loop);
}

void rt_progress_fini(struct rt *rt)
{
	struct rt_progress *p = rt->progress;

	pthread_cond_destroy(&p->attempted);
	rt_loop_fini(&p->loop);
	free(p);
	rt->progress = NULL;
}

/* Loops of the runtime's threads (loop.h). No wake-up is lost: the thread reads `wakeups` before it polls, and sets
 * `asleep` before it checks for work. It sleeps on the futex `wakeups`; while it waits for jobs, in poll() on their
 * fences. */
#include "drv/lock.h"
#include "hsa/core/loop.h"
#include "hsa/core/waker.h"

#include <errno.h>
#include <poll.h>

enum { AWAKE, ON_FUTEX, ON_FENCES };

#define SOON_NS  50000    /* after a job has ended: until the next poll, which finds what the job has changed */
#define LATER_NS 24000000 /* while all work waits for fences: about the interval at which faults are queried */

static bool loop_has_work(struct rt_loop *loop, bool *stop)
{
	bool work;

	drv_mutex_lock(&loop->lock);
	work = loop->has_work(loop->rt);
	*stop = loop->stop;
	drv_mutex_unlock(&loop->lock);
	return work;
}

/* --- sleeping --------------------------------------------------------------------------------- */

#define PAUSE_MIN_NS  50000
#define PAUSE_SLOW_NS 1000000 /* above this, each pause is a sixteenth longer than the one before, up to: */
#define PAUSE_MAX_NS  10000000

uint64_t rt_pause_next_ns(struct rt_pause *pause)
{
	uint64_t now = pause->ns ? pause->ns : PAUSE_MIN_NS, next = now < PAUSE_SLOW_NS ? now * 2 : now + now / 16;

	pause->ns = next < PAUSE_MAX_NS ? next : PAUSE_MAX_NS;
	return now;
}

struct fences {
	struct pollfd fd[1 + RT_LOOP_FENCES]; /* the first is the waker; the others are owned */
	unsigned count;                       /* number of the others */
	bool all;                             /* no other work is pending */
	bool ended;                           /* a fence has signalled already */
};

static void loop_open_fences(struct rt_loop *loop, struct fences *f)
{
	struct cs_fence fences[RT_LOOP_FENCES];
	unsigned count = loop->fences(loop->rt, fences, &f->all);

	for (unsigned i = 0; i < count; i++) {
		struct pollfd *fd = &f->fd[1 + f->count];

		if (cs_fence_poll(fences[i]))
			f->ended = true;
		else if (!cs_fence_sync_file(fences[i], &fd->fd))
			f->fd[1 + f->count++].events = POLLIN;
		else
			f->all = false;
	}
	if (f->count && loop->waker < 0)
		loop->waker = rt_waker_create();
	f->fd[0] = (struct pollfd){.fd = loop->waker, .events = POLLIN};
}

static void loop_close_fences(struct fences *f)
{
	DRV_HOLD_CANCEL;

	for (unsigned i = 1; i <= f->count; i++)
		close(f->fd[i].fd);
}

/* Sleeps until a fence signals, the loop is woken, or the time is over. False: the time is over. */
static bool sleep_on_fences(struct rt_loop *loop, struct fences *f, uint32_t seen, uint64_t ns)
{
	DRV_HOLD_CANCEL;
	bool ended = true;

	const struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	atomic_store(&loop->asleep, ON_FENCES);
	if (atomic_load(&loop->wakeups) == seen)
		ended = ppoll(f->fd, 1 + f->count, &limit, NULL) > 0;
	rt_waker_clear(loop->waker);
	return ended;
}

/* Sleeps once, while there is work. */
static void loop_pause(struct rt_loop *loop, uint32_t seen, struct rt_pause *pause)
{
	struct fences f = {0};
	uint64_t ns = loop->pause_ns(loop->rt, pause);

	if (loop->fences)
		loop_open_fences(loop, &f);
	if (f.count && !f.ended && loop->waker >= 0) {
		if (sleep_on_fences(loop, &f, seen, f.all ? LATER_NS : ns))
			pause->ns = 0;
	} else {
		drv_futex_wait(&loop->wakeups, seen, f.ended && ns > SOON_NS ? SOON_NS : ns);
	}
	loop_close_fences(&f);
}

static void *loop_run(void *arg)
{
	DRV_HOLD_CANCEL;
	struct rt_loop *loop = arg;
	struct rt_pause pause = {0};
	bool stop = false;

	while (!stop) {
		uint32_t seen = atomic_load(&loop->wakeups);
		bool work;

		if (loop->poll(loop->rt))
			pause.ns = 0;
		atomic_store(&loop->asleep, ON_FUTEX);
		work = loop_has_work(loop, &stop);
		if (!stop && atomic_load(&loop->wakeups) == seen) {
			if (work)
				loop_pause(loop, seen, &pause);
			else
				drv_futex_wait(&loop->wakeups, seen, UINT64_MAX);
		}
		atomic_store(&loop->asleep, AWAKE);
		if (atomic_load(&loop->wakeups) != seen)
			pause.ns = 0;
	}
	return NULL;
}

void rt_loop_init(struct rt *rt, struct rt_loop *loop)
{
	loop->rt = rt;
	loop->waker = -1;
	drv_mutex_init(&loop->lock, DRV_RANK_RT_LOOP);
}

void rt_loop_fini(struct rt_loop *loop)
{
	rt_waker_close(loop->waker);
	drv_mutex_destroy(&loop->lock);
}

int rt_loop_start_locked(struct rt_loop *loop)
{
	int r;

	if (loop->started || loop->stop)
		return 0;
	r = -pthread_create(&loop->thread, NULL, loop_run, loop);
	loop->started = !r;
	return r;
}

void rt_loop_wake(struct rt_loop *loop)
{
	unsigned asleep;

	atomic_fetch_add(&loop->wakeups, 1);
	asleep = atomic_load(&loop->asleep);
	if (asleep == ON_FUTEX)
		drv_futex_wake(&loop->wakeups);
	else if (asleep == ON_FENCES)
		rt_waker_wake(loop->waker);
}

void rt_loop_stop(struct rt_loop *loop)
{
	DRV_HOLD_CANCEL;
	bool started;

	drv_mutex_lock(&loop->lock);
	loop->stop = true;
	started = loop->started;
	drv_mutex_unlock(&loop->lock);
	rt_loop_wake(loop);
	if (started)
		pthread_join(loop->thread, NULL);
}

bool rt_loop_is_own_locked(const struct rt_loop *loop)
{
	return loop->started && pthread_equal(loop->thread, pthread_self());
}

bool rt_loop_is_own(struct rt_loop *loop)
{
	bool own;

	drv_mutex_lock(&loop->lock);
	own = rt_loop_is_own_locked(loop);
	drv_mutex_unlock(&loop->lock);
	return own;
}

/* Our threads (loop.h). No ring is lost: the bell is read before the look, and the thread is called asleep before
 * it asks whether there is work. */
#include "hsa/loop.h"

static bool has_work(struct rt_loop *loop, bool *stop)
{
	bool work;

	pthread_mutex_lock(&loop->lock);
	work = loop->has_work(loop->rt);
	*stop = loop->stop;
	pthread_mutex_unlock(&loop->lock);
	return work;
}

static void *run(void *arg)
{
	struct rt_loop *loop = arg;
	struct rt_pause pause = {0};
	bool stop = false;

	while (!stop) {
		uint32_t seen = atomic_load(&loop->bell);
		uint64_t ns;

		if (loop->look(loop->rt))
			pause.ns = 0;
		atomic_store(&loop->asleep, true);
		ns = has_work(loop, &stop) ? loop->rest_ns(loop->rt, &pause) : UINT64_MAX;
		if (!stop && atomic_load(&loop->bell) == seen)
			drv_futex_wait(&loop->bell, seen, ns);
		atomic_store(&loop->asleep, false);
		if (atomic_load(&loop->bell) != seen)
			pause.ns = 0;
	}
	return NULL;
}

void rt_loop_init(struct rt *rt, struct rt_loop *loop)
{
	loop->rt = rt;
	pthread_mutex_init(&loop->lock, NULL);
}

void rt_loop_fini(struct rt_loop *loop)
{
	pthread_mutex_destroy(&loop->lock);
}

int rt_loop_start_locked(struct rt_loop *loop)
{
	int r;

	if (loop->started || loop->stop)
		return 0;
	r = -pthread_create(&loop->thread, NULL, run, loop);
	loop->started = !r;
	return r;
}

void rt_loop_ring(struct rt_loop *loop)
{
	atomic_fetch_add(&loop->bell, 1);
	if (atomic_load(&loop->asleep))
		drv_futex_wake(&loop->bell);
}

void rt_loop_stop(struct rt_loop *loop)
{
	bool started;

	pthread_mutex_lock(&loop->lock);
	loop->stop = true;
	started = loop->started;
	pthread_mutex_unlock(&loop->lock);
	rt_loop_ring(loop);
	if (started)
		pthread_join(loop->thread, NULL);
}

bool rt_loop_is_own(struct rt_loop *loop)
{
	bool own;

	pthread_mutex_lock(&loop->lock);
	own = loop->started && pthread_equal(loop->thread, pthread_self());
	pthread_mutex_unlock(&loop->lock);
	return own;
}

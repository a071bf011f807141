/* The progress thread sleeps while no progress is made, even if work adds other work to the list. */
#include <unistd.h>

#include "hsa/core/progress.h"
#include "tests/check.h"

static struct rt rt;
static _Atomic unsigned attempts, others;

static bool attempt_other(struct rt *r, struct rt_work *work)
{
	(void)r;
	(void)work;
	atomic_fetch_add(&others, 1);
	return false;
}

static struct rt_work other = {.attempt = attempt_other};

/* Adds work in each attempt, as a copy does that completes a signal with pending completions. */
static bool attempt(struct rt *r, struct rt_work *work)
{
	(void)work;
	atomic_fetch_add(&attempts, 1);
	rt_progress_add(r, &other);
	return false;
}

int main(void)
{
	struct rt_work work = {.attempt = attempt};

	if (!CHECK_EQ(rt_progress_init(&rt), 0))
		return 1;
	rt_progress_add(&rt, &work);
	usleep(300000);
	/* Pauses grow from 50 us to 1 ms, and on: some 50 attempts. A thread that never sleeps makes 100,000. */
	CHECK(attempts > 0 && others > 0);
	CHECK(attempts < 1000);
	rt_progress_pass(&rt);
	rt_progress_remove(&rt, &work);
	rt_progress_remove(&rt, &other);
	rt_progress_stop(&rt);
	rt_progress_fini(&rt);
	return check_done("progress");
}

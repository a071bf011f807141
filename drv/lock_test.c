/* drv_lock: one holder at a time; sleepers are woken, also those whose mark was written over. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "drv/lock.h"
#include "tests/check.h"

#define THREADS 8
#define ROUNDS  100000

static struct drv_lock lock;
static unsigned counter; /* guarded by the lock */

static void *count_up(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < ROUNDS; i++) {
		drv_lock(&lock);
		counter++;
		/* A holder that loses its CPU leaves sleepers behind. */
		if (i % 64 == 0)
			sched_yield();
		drv_unlock(&lock);
	}
	return NULL;
}

static void test_one_holder(void)
{
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, count_up, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(counter, THREADS * ROUNDS);
	CHECK_EQ(drv_lock_taken(&lock), 0);
}

static void *take(void *arg)
{
	(void)arg;
	drv_lock(&lock);
	drv_unlock(&lock);
	return NULL;
}

/* A thread that sleeps until the lock, which the caller has, is free. */
static pthread_t start_sleeper(void)
{
	pthread_t thread;

	drv_lock(&lock);
	CHECK_EQ(pthread_create(&thread, NULL, take, NULL), 0);
	while (atomic_load(&lock.state) != 2)
		sched_yield();
	return thread;
}

static void test_sleeper_is_seen(void)
{
	pthread_t thread = start_sleeper();

	CHECK(drv_lock_release(&lock));
	drv_lock_wake(&lock);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(drv_lock_try(&lock));
	CHECK(!drv_lock_try(&lock));
	CHECK(!drv_lock_release(&lock));
}

/* The holder looked for the mark just before it came. */
static void test_sleeper_is_missed(void)
{
	pthread_t thread = start_sleeper();

	/* Until it is in the kernel: before, it would see that the lock is free. */
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	atomic_store(&lock.state, 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

#ifdef TUFF_DEBUG
static void take_in_order(void)
{
	struct drv_mutex outer = DRV_MUTEX(DRV_RANK_VM_MAP), inner = DRV_MUTEX(DRV_RANK_VM_FAULT);

	drv_mutex_lock(&outer);
	drv_mutex_lock(&inner);
	drv_rank_assert(DRV_RANK_VM_MAP);
	drv_mutex_unlock(&outer);
	drv_mutex_unlock(&inner);
}

static void take_against_order(void)
{
	struct drv_mutex outer = DRV_MUTEX(DRV_RANK_VM_MAP), inner = DRV_MUTEX(DRV_RANK_VM_FAULT);

	drv_mutex_lock(&inner);
	drv_mutex_lock(&outer);
}

static void take_twice(void)
{
	struct drv_lock first = DRV_LOCK(DRV_RANK_FLOW), second = DRV_LOCK(DRV_RANK_FLOW);

	CHECK(drv_lock_try(&first)); /* an attempt does not wait, and needs no order */
	drv_lock(&second);
}

static void need(void)
{
	drv_rank_assert(DRV_RANK_FLOW);
}

/* The signal that ends a process which does that. */
static int signal_of(void (*fn)(void))
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		close(STDERR_FILENO);
		fn();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_ranks(void)
{
	CHECK_EQ(signal_of(take_in_order), 0);
	CHECK_EQ(signal_of(take_against_order), SIGABRT);
	CHECK_EQ(signal_of(take_twice), SIGABRT);
	CHECK_EQ(signal_of(need), SIGABRT);
}
#endif

int main(void)
{
#ifdef TUFF_DEBUG
	test_ranks();
#endif
	test_one_holder();
	test_sleeper_is_seen();
	test_sleeper_is_missed();
	return check_done("locks");
}

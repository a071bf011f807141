/* Threads that cannot be unregistered when they end. */
#include "drv/retire.h"

#include <limits.h>
#include <unistd.h>

#include "tests/check.h"

static struct drv_calls calls = DRV_CALLS;
static _Thread_local struct drv_caller me = DRV_CALLER;
static unsigned ended;

static void count_end(struct drv_retired *retired)
{
	(void)retired;
	ended++;
}

static void call(void)
{
	drv_call_begin(&calls, &me);
	drv_call_end(&me);
}

static void *call_once(void *unused)
{
	call();
	return unused;
}

/* True when what was retired is freed. */
static bool flush_frees(void)
{
	static struct drv_retired retired[8];
	static unsigned used;
	const unsigned before = ended;

	drv_retire(&calls, &retired[used++], count_end);
	drv_retire_flush(&calls, &me);
	return ended > before;
}

static void threads_come_and_go(void)
{
	pthread_t thread;

	call();
	for (unsigned i = 0; i < 4; i++) {
		CHECK_EQ(pthread_create(&thread, NULL, call_once, NULL), 0);
		pthread_join(thread, NULL);
	}
	CHECK(flush_frees());
}

#ifndef __SANITIZE_THREAD__
static pthread_key_t late_key;

static void call_in_destructor(void *value)
{
	call();
	(void)!pthread_setspecific(late_key, value);
}

static void *end_late(void *unused)
{
	call();
	CHECK_EQ(pthread_setspecific(late_key, &late_key), 0);
	return unused;
}

/* A thread whose last destructor calls the library leaves nothing of itself in the list. */
static void destructors_call_to_the_end(void)
{
	pthread_t thread;

	CHECK_EQ(pthread_key_create(&late_key, call_in_destructor), 0);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(pthread_create(&thread, NULL, end_late, NULL), 0);
		pthread_join(thread, NULL);
		CHECK_EQ(pthread_create(&thread, NULL, call_once, NULL), 0);
		pthread_join(thread, NULL);
	}
	(void)flush_frees(); /* ends */
}
#endif

/* The program has all keys: none of their values changes, and nothing is freed. */
static void no_key_is_left(void)
{
	static struct drv_calls fresh = DRV_CALLS;
	static pthread_key_t key[PTHREAD_KEYS_MAX];
	struct drv_caller caller = DRV_CALLER;
	struct drv_retired retired;
	unsigned count = 0, right = 0;

	while (count < PTHREAD_KEYS_MAX && !pthread_key_create(&key[count], NULL)) {
		CHECK_EQ(pthread_setspecific(key[count], &key[count]), 0);
		count++;
	}
	CHECK(count > 0);
	drv_call_begin(&fresh, &caller);
	drv_call_end(&caller);
	for (unsigned i = 0; i < count; i++)
		right += pthread_getspecific(key[i]) == &key[i];
	CHECK_EQ(right, count);
	drv_retire(&fresh, &retired, count_end);
	ended = 0;
	drv_retire_flush(&fresh, &caller);
	CHECK_EQ(ended, 0);
	CHECK(!drv_retire_wait(&fresh, &caller));
	while (count)
		pthread_key_delete(key[--count]);
}

int main(void)
{
	alarm(20);
	/* first: the library has no key yet, and 0 is the program's */
	no_key_is_left();
	threads_come_and_go();
#ifndef __SANITIZE_THREAD__ /* whose own destructor does not come last */
	destructors_call_to_the_end();
#endif
	return check_done("deferred freeing");
}

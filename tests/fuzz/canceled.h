/* Calls of threads that are canceled (pthread_cancel(3)), and that have little stack: no public function is a cancellation point
 * (drv/cancel.h), so that each call returns, and none needs more stack than docs/support.md says. The includer has the rows,
 * objects_make(), input_end(), and thread_begin(), which a thread calls first. */
#ifndef TESTS_FUZZ_CANCELED_H
#define TESTS_FUZZ_CANCELED_H

#include <pthread.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/random.h"

#define CANCELED_BLOCK   24u /* rows between two makings of the objects */
#define CANCELED_CALLS   4u  /* of each row */
#define CANCELED_INPUT_B 192u
/* What the thread-local variables of this program take is part of a thread's stack. */
#define CANCELED_STACK_B ((64u << 10) + sizeof(draw) + sizeof(scratch))

struct canceled {
	unsigned row;
	struct draw *draw; /* of the thread that makes the objects */
	uint8_t *arena;
	bool returned;
};

static void *canceled_run(void *arg)
{
	struct canceled *c = arg;

	draw = *c->draw;
	arena = c->arena;
	thread_begin();
	pthread_cancel(pthread_self());
	rows[c->row].call();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	*c->draw = draw;
	c->returned = true;
	return NULL;
}

static void canceled_call(unsigned row, uint64_t *random)
{
	struct canceled c = {row, &draw, arena, false};
	uint8_t bytes[CANCELED_INPUT_B];
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	/* Large bytes draw what is refused. */
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)((test_random(random) >> 8) % 200);
	draw.in = (struct input){bytes, bytes + sizeof(bytes)};
	pthread_attr_init(&attr);
#ifndef __SANITIZE_ADDRESS__
	pthread_attr_setstacksize(&attr, (CANCELED_STACK_B + 4095) & ~4095ull);
#endif
	r = pthread_create(&thread, &attr, canceled_run, &c);
	pthread_attr_destroy(&attr);
	if (!CHECK_EQ(r, 0))
		return;
	pthread_join(thread, NULL);
	if (CHECK(c.returned))
		return;
	/* What the call has locked stays locked. */
	printf("  %s is a cancellation point\n", rows[row].name);
	fflush(stdout);
	_exit(1);
}

static void canceled_check(void)
{
	uint64_t random = 1;

	for (unsigned first = 0; first < ROWS; first += CANCELED_BLOCK) {
		draw_begin();
		objects_make();
		for (unsigned i = first; i < first + CANCELED_BLOCK && i < ROWS; i++)
			for (unsigned n = 0; n < CANCELED_CALLS; n++)
				canceled_call(i, &random);
		input_end();
	}
}

#endif

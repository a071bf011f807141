/* Calls of two and three threads at the same time, on the same objects, for ThreadSanitizer.
 *
 * A seed is a distance: while thread 0 calls function i, thread 1 calls function i + seed, and for odd seeds a third thread
 * another. The seeds from 0 to the number of functions have every pair. The arguments come from a generator that begins with the
 * seed, so that `PROGRAM SEED` repeats what a seed found; PAIRS_TRACE prints each call.
 *
 * The includer has defined the rows (tests/fuzz/hip_table.h), and shared_make(), thread_begin(), thread_end(), shared_end(). */
#ifndef TESTS_PAIRS_H
#define TESTS_PAIRS_H

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/random.h"

#define THREADS     3u
#define BLOCK_STEPS 24u /* steps between two makings of the shared objects */
#define CALLS       3u  /* of each function of a pair */
#define INPUT_B     192u

static struct draw shared; /* the objects that all threads begin a block with */
static pthread_barrier_t together;
static struct step {
	unsigned seed, first, threads;
	bool over;
} step;
static bool prints;                           /* PAIRS_TRACE */
static const char *volatile present[THREADS]; /* the functions that the threads call */

static unsigned row_of(const struct step *s, unsigned thread, unsigned i)
{
	return (i + (thread ? s->seed * (2 * thread - 1) + thread - 1 : 0)) % ROWS;
}

/* Large bytes draw what is refused: most are small. */
static void bytes_make(uint8_t *bytes, uint64_t *random)
{
	for (unsigned n = 0; n < INPUT_B; n++) {
		uint64_t r = test_random(random) >> 48;

		bytes[n] = (uint8_t)(r >> 8 < 240 ? r % 200 : r);
	}
}

static void row_call(unsigned thread, unsigned i)
{
	uint8_t bytes[INPUT_B];
	uint64_t random = ((uint64_t)step.seed << 32 | i) * THREADS + thread + 1;
	unsigned which = row_of(&step, thread, i);

	present[thread] = rows[which].name;
	pthread_barrier_wait(&together);
	for (unsigned n = 0; n < CALLS && thread < step.threads; n++) {
		bytes_make(bytes, &random);
		draw.in = (struct input){bytes, bytes + INPUT_B};
		rows[which].call();
		if (prints)
			dprintf(2, "thread %u: %s: 0x%x\n", thread, rows[which].name, (unsigned)draw.status);
	}
	pthread_barrier_wait(&together);
}

static void *caller(void *number)
{
	unsigned thread = (unsigned)(uintptr_t)number;

	arena = malloc(ARENA_B);
	for (pthread_barrier_wait(&together); !step.over; pthread_barrier_wait(&together)) {
		draw = shared;
		draw.private = true;
		thread_begin();
		for (unsigned i = step.first; i < step.first + BLOCK_STEPS && i < ROWS; i++)
			row_call(thread, i);
		thread_end();
		pthread_barrier_wait(&together);
	}
	free(arena);
	return NULL;
}

static void seed_run(unsigned seed)
{
	dprintf(2, "seed %u\n", seed); /* what is reported below is this seed's */
	for (unsigned first = 0; first < ROWS; first += BLOCK_STEPS) {
		step = (struct step){seed, first, 2 + seed % 2, false};
		draw_begin();
		shared_make();
		shared = draw;
		pthread_barrier_wait(&together);
		for (unsigned i = first; i < first + BLOCK_STEPS && i < ROWS; i++) {
			pthread_barrier_wait(&together);
			pthread_barrier_wait(&together);
		}
		pthread_barrier_wait(&together);
		shared_end();
	}
}

/* The calls that block, if the program is stopped by a time limit. */
static void present_print(int number)
{
	for (unsigned i = 0; i < THREADS; i++)
		dprintf(2, "thread %u: %s\n", i, present[i] ? present[i] : "-");
	signal(number, SIG_DFL);
	raise(number);
}

/* Arguments: the first seed, and how many. */
static int pairs_main(int argc, char **argv, const char *name)
{
	unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 0, count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	pthread_t thread[THREADS];

	prints = getenv("PAIRS_TRACE") != NULL;
	signal(SIGTERM, present_print);
	calls_start();
	pthread_barrier_init(&together, NULL, THREADS + 1);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, caller, (void *)(uintptr_t)i), 0);
	for (unsigned seed = first; seed < first + count; seed++)
		seed_run(seed);
	step.over = true;
	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return check_done(name);
}

#endif

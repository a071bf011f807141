/* Calls of two and three threads at the same time, on the same objects.
 *
 * Under ThreadSanitizer they run beside each other, and for odd seeds a third thread has part. Otherwise thread 0 is stopped
 * somewhere in its call. Under AddressSanitizer thread 1 meanwhile calls its function and one that ends objects. Without it, thread
 * 1 forks, and the child calls all functions: they end, whatever thread 0 has locked, and nothing that the program's image has
 * locked delays them (held.h). (AddressSanitizer's own locks may stay locked in the child.)
 *
 * A seed is a distance: while thread 0 calls function i, thread 1 calls function i + seed, and the third thread another. The seeds
 * from 0 to the number of functions have every pair. The arguments and the places of the stops come from a generator that begins
 * with the seed, so that `PROGRAM SEED` repeats what a seed found; PAIRS_TRACE prints each call.
 *
 * The includer has defined the rows (tests/fuzz/hip_table.h), and shared_make(), thread_begin(), thread_end(), shared_end(),
 * child_begin(). */
#ifndef TESTS_PAIRS_H
#define TESTS_PAIRS_H

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/pairs/held.h"
#include "tests/random.h"
#include "tests/step.h"

#define THREADS     3u
#define BLOCK_PAIRS 24u /* between two makings of the shared objects */
#define CALLS       3u  /* of each function of a pair */
#define INPUT_B     192u
#define STOP_BITS   14u /* of the number of the instruction that a call of unknown length is stopped at */

#if defined(__SANITIZE_THREAD__)
enum { STOPS = false, FORKS = false };
#elif defined(__SANITIZE_ADDRESS__)
enum { STOPS = true, FORKS = false };
#else
enum { STOPS = true, FORKS = true };
#endif
#define CHILD_S 30u /* after which a child is taken for blocked */

static struct draw shared;                  /* the objects that all threads begin a block with */
static pthread_barrier_t together, stopped; /* stopped: of the two threads of a stop */
static struct block {
	unsigned seed, first, threads;
	bool over;
} block;
static bool prints;                           /* PAIRS_TRACE */
static const char *volatile present[THREADS]; /* the functions that the threads call */
static const char **child_calls;              /* shared: the function that the child calls */
static unsigned length[ROWS], stops; /* instructions of the row's last call that was not stopped; 0: not known */

static unsigned row_of(const struct block *s, unsigned thread, unsigned i)
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

/* An instruction of a call of the row, at random. */
static unsigned stop_draw(unsigned which, uint64_t *random)
{
	if (!length[which])
		return 1 + test_random_few(random, STOP_BITS);
	return 1 + (unsigned)((test_random(random) >> 8) % length[which]);
}

/* Calls a function that ends an object, or more. */
static void end_call(uint64_t *random)
{
	static const char *const verb[] = {"destroy",    "free",       "unload", "release", "reset", "close",
					   "unregister", "deregister", "unmap",  "unlock",  "detach"};
	unsigned which;
	bool ends = false;

	do {
		which = (unsigned)(test_random(random) >> 32) % ROWS;
		for (unsigned i = 0; i < sizeof(verb) / sizeof(verb[0]); i++)
			ends |= strcasestr(rows[which].name, verb[i]) != NULL;
	} while (!ends);
	present[1] = rows[which].name;
	rows[which].call();
}

/* Calls all functions in a child of fork(). */
static void child_call(const struct input *in)
{
	const pid_t child = held_fork((const char *const *)child_calls);
	int status = -1;

	if (child) {
		waitpid(child, &status, 0);
		if (!CHECK_EQ(status, 0))
			printf("a child calls %s, thread 0 is in %s\n", *child_calls, present[0]);
		return;
	}
	alarm(CHILD_S);
	child_begin();
	for (unsigned i = 0; i < ROWS; i++) {
		*child_calls = rows[i].name;
		draw.in = *in;
		rows[i].call();
	}
	_exit(0);
}

/* Thread 0 is stopped in its call, if that is long enough, while thread 1 calls, and ends something. */
static void stopped_call(unsigned thread, unsigned which, uint64_t *random)
{
	unsigned most = stop_draw(which, random), taken;

	if (!thread)
		step_begin();
	pthread_barrier_wait(&stopped);
	if (!thread) {
		taken = step_after(most, rows[which].call);
		length[which] = taken < most ? taken : length[which];
		stops += taken == most;
	} else {
		step_await();
		if (FORKS) {
			child_call(&draw.in);
		} else {
			rows[which].call();
			end_call(random);
		}
		atomic_store(&step_state.other_done, true);
	}
	pthread_barrier_wait(&stopped);
}

static void row_call(unsigned thread, unsigned i)
{
	uint8_t bytes[INPUT_B];
	uint64_t random = ((uint64_t)block.seed << 32 | i) * THREADS + thread + 1;
	unsigned which = row_of(&block, thread, i);

	present[thread] = rows[which].name;
	pthread_barrier_wait(&together);
	for (unsigned n = 0; n < CALLS && thread < block.threads; n++) {
		bytes_make(bytes, &random);
		draw.in = (struct input){bytes, bytes + INPUT_B};
		if (STOPS)
			stopped_call(thread, which, &random);
		else
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
	for (pthread_barrier_wait(&together); !block.over; pthread_barrier_wait(&together)) {
		draw = shared;
		draw.private = true;
		thread_begin();
		for (unsigned i = block.first; i < block.first + BLOCK_PAIRS && i < ROWS; i++)
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
	for (unsigned first = 0; first < ROWS; first += BLOCK_PAIRS) {
		block = (struct block){seed, first, STOPS ? 2 : 2 + seed % 2, false};
		draw_begin();
		shared_make();
		shared = draw;
		pthread_barrier_wait(&together);
		for (unsigned i = first; i < first + BLOCK_PAIRS && i < ROWS; i++) {
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

	if (STOPS && !step_works()) {
		printf("no breakpoints of perf_event\n");
		return 77;
	}
	child_calls = mmap(NULL, sizeof(*child_calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child_calls == MAP_FAILED)
		return 1;
	prints = getenv("PAIRS_TRACE") != NULL;
	signal(SIGTERM, present_print);
	calls_start();
	pthread_barrier_init(&together, NULL, THREADS + 1);
	pthread_barrier_init(&stopped, NULL, 2);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, caller, (void *)(uintptr_t)i), 0);
	for (unsigned seed = first; seed < first + count; seed++)
		seed_run(seed);
	block.over = true;
	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	if (STOPS) {
		printf("%u stops, %u without a lock\n", stops, step_state.met);
		CHECK(stops > 0);
	}
	return check_done(name);
}

#endif

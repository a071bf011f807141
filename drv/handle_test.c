/* Handles: a freed handle differs from that of the slot's next object, for every thread, at any time. */
#include "drv/handle.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"

enum { APPLE = DRV_HANDLE_KIND(0x5b, 1), PEAR = DRV_HANDLE_KIND(0x5b, 2) };

static void a_handle_names_its_object_until_it_is_destroyed(void)
{
	static struct drv_handles table;
	uint64_t a, b;
	int apple, pear;

	CHECK_EQ(drv_handle_create(&table, APPLE, &apple, &a), 0);
	CHECK_EQ(drv_handle_create(&table, PEAR, &pear, &b), 0);
	CHECK(drv_handle_find(&table, APPLE, a) == &apple);
	CHECK(drv_handle_find(&table, PEAR, b) == &pear);
	CHECK(!drv_handle_find(&table, PEAR, a));
	CHECK(!drv_handle_find(&table, APPLE, 0));
	CHECK(!drv_handle_find(&table, APPLE, ~0ull));
	CHECK(!drv_handle_find(&table, APPLE, (uintptr_t)&apple));
	/* A slot that was never used. */
	CHECK(!drv_handle_find(&table, APPLE, a | DRV_HANDLE_PLACE));
	CHECK(!drv_handle_find(&table, APPLE, a | 1));
	drv_handle_destroy(&table, a);
	CHECK(!drv_handle_find(&table, APPLE, a));
	CHECK(drv_handle_find(&table, PEAR, b) == &pear);
	CHECK(!drv_handle_destroy(&table, a));
	CHECK(drv_handle_destroy(&table, b));
}

/* Numbers that a client makes up name nothing: that of a live object with another kind, and those of no object. */
static void made_up_handles_name_nothing(void)
{
	static struct drv_handles table;
	uint64_t apple_bits = (uint64_t)APPLE << DRV_HANDLE_KIND_SHIFT, a, as_pear;
	int apple;

	CHECK(!drv_handle_find(&table, APPLE, apple_bits));
	CHECK_EQ(drv_handle_create(&table, APPLE, &apple, &a), 0);
	as_pear = a ^ apple_bits ^ (uint64_t)PEAR << DRV_HANDLE_KIND_SHIFT;
	CHECK(!drv_handle_find(&table, PEAR, as_pear));
	CHECK(!drv_handle_find(&table, APPLE, as_pear));
	CHECK(!drv_handle_find(&table, PEAR, a ^ apple_bits));
	CHECK(!drv_handle_find(&table, APPLE, apple_bits));
	for (unsigned bit = 0; bit < 64; bit++)
		CHECK(!drv_handle_find(&table, APPLE, a ^ 1ull << bit));
	drv_handle_destroy(&table, a);
	for (unsigned i = 0; i < 64; i++)
		CHECK(!drv_handle_find(&table, APPLE, apple_bits | (a & 1ull << i)));
}

static void a_slot_is_used_again_under_another_name(void)
{
	static struct drv_handles table;
	uint64_t first, second, third;
	int object;

	CHECK_EQ(drv_handle_create(&table, APPLE, &object, &first), 0);
	drv_handle_destroy(&table, first);
	CHECK_EQ(drv_handle_create(&table, APPLE, &object, &second), 0);
	CHECK_EQ(table.used, 1);
	CHECK(first != second);
	CHECK(!drv_handle_find(&table, APPLE, first));
	drv_handle_destroy(&table, second);
	/* A handle of another kind; the generation continues. */
	CHECK_EQ(drv_handle_create(&table, PEAR, &object, &third), 0);
	CHECK_EQ(table.used, 1);
	CHECK((third ^ first) << 16 && (third ^ second) << 16);
	drv_handle_destroy(&table, third);
}

static void forgotten_handles_name_nothing(void)
{
	static struct drv_handles table;
	uint64_t old[3], new[3], slot;
	int object;

	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(drv_handle_create(&table, APPLE, &object, &old[i]), 0);
	CHECK_EQ(drv_handle_slot_create(&table, APPLE, &slot), 0); /* taken, and never given back */
	drv_handle_destroy(&table, old[1]);
	drv_handle_forget_all(&table);
	for (unsigned i = 0; i < 3; i++)
		CHECK(!drv_handle_find(&table, APPLE, old[i]) && !drv_handle_destroy(&table, old[i]));
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(drv_handle_create(&table, APPLE, &object, &new[i]), 0);
	for (unsigned i = 0; i < 9; i++)
		CHECK(new[i / 3] != old[i % 3]);
	CHECK_EQ(table.used, 4);
}

static void a_slot_gives_handles_without_allocation(void)
{
	static struct drv_handles table;
	uint64_t slot, last = 0, handle;
	int object;

	CHECK_EQ(drv_handle_slot_create(&table, APPLE, &slot), 0);
	CHECK(!drv_handle_find(&table, APPLE, slot));
	for (unsigned i = 0; i < 3; i++) {
		handle = drv_handle_open(&table, slot, &object);
		CHECK(handle != last && drv_handle_find(&table, APPLE, handle) == &object);
		drv_handle_shut(&table, handle);
		CHECK(!drv_handle_find(&table, APPLE, handle));
		last = handle;
	}
	drv_handle_slot_destroy(&table, slot);
}

/* --- threads ---------------------------------------------------------------------------------- */

static struct drv_handles shared;

/* Objects are created and destroyed while a thread looks them up: it finds none, or the slot's current object. */
struct object {
	_Atomic uint64_t handle;
};
static struct object objects[4];
static _Atomic bool over;

static void *look(void *unused)
{
	unsigned long wrong = 0;

	(void)unused;
	while (!over)
		for (unsigned i = 0; i < 4; i++) {
			uint64_t handle = objects[i].handle;
			void *found = drv_handle_find(&shared, APPLE, handle);

			wrong += found &&
				 ((struct object *)found < objects || (struct object *)found >= objects + 4);
		}
	return (void *)wrong;
}

static void *churn(void *arg)
{
	struct object *object = arg;
	unsigned long failed = 0;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t handle = 0;

		failed += !!drv_handle_create(&shared, APPLE, object, &handle);
		object->handle = handle;
		failed += drv_handle_find(&shared, APPLE, handle) != object;
		drv_handle_destroy(&shared, handle);
	}
	return (void *)failed;
}

static void threads_see_their_own(void)
{
	pthread_t thread[5];
	void *bad;

	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, churn, &objects[i]), 0);
	CHECK_EQ(pthread_create(&thread[4], NULL, look, NULL), 0);
	for (unsigned i = 0; i < 5; i++) {
		over = i == 4;
		pthread_join(thread[i], &bad);
		CHECK(!bad);
	}
	CHECK(shared.used <= 4);
}

/* --- a slot that changes during a look-up ------------------------------------------------------ */

static struct drv_handles changed;
static _Atomic uint64_t looked_up;
static _Atomic bool stopped, go;
static int first_object, second_object;

static void nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void stop(int number)
{
	(void)number;
	stopped = true;
	while (!go)
		nap(10);
}

static void *find_first(void *unused)
{
	unsigned long wrong = 0;
	uint64_t handle = looked_up;

	(void)unused;
	while (!over) {
		void *found = drv_handle_find(&changed, APPLE, handle);

		wrong += found && found != &first_object;
	}
	return (void *)wrong;
}

/* Gives the slot to another object while a thread is stopped, in some rounds inside the look-up. */
static unsigned long change_slot(long delay_us)
{
	uint64_t first, second;
	pthread_t thread;
	void *wrong;

	over = stopped = go = false;
	CHECK_EQ(drv_handle_create(&changed, APPLE, &first_object, &first), 0);
	looked_up = first;
	CHECK_EQ(pthread_create(&thread, NULL, find_first, NULL), 0);
	nap(delay_us);
	pthread_kill(thread, SIGUSR1);
	while (!stopped)
		nap(10);
	drv_handle_destroy(&changed, first);
	CHECK_EQ(drv_handle_create(&changed, PEAR, &second_object, &second), 0);
	go = true;
	nap(10);
	over = true;
	pthread_join(thread, &wrong);
	drv_handle_destroy(&changed, second);
	return (unsigned long)wrong;
}

static void a_look_up_gives_no_later_object(void)
{
	struct sigaction action = {.sa_handler = stop};
	unsigned long wrong = 0;

	sigaction(SIGUSR1, &action, NULL);
	for (long i = 0; i < 500; i++)
		wrong += change_slot(10 + i % 50);
	CHECK_EQ(wrong, 0);
}

static void a_child_can_make_handles(void)
{
	uint64_t handle;
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(drv_handle_create(&shared, APPLE, &handle, &handle) ||
		      !drv_handle_find(&shared, APPLE, handle));
	CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
}

int main(void)
{
	a_handle_names_its_object_until_it_is_destroyed();
	made_up_handles_name_nothing();
	a_slot_is_used_again_under_another_name();
	forgotten_handles_name_nothing();
	a_slot_gives_handles_without_allocation();
	threads_see_their_own();
	a_look_up_gives_no_later_object();
	a_child_can_make_handles();
	return check_done("handles");
}

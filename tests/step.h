/* Stops a thread in front of each instruction of a call in turn, while another thread makes calls of its own: what a thread that
 * loses its processor at that place sees.
 *
 * step_record() steps once through the call (the trap flag, and a handler of SIGTRAP) and collects the addresses of its
 * instructions. step_at() lets the call run up to one of them: a breakpoint of the processor, for the calling thread alone
 * (perf_event). A step takes ten times as long as a stop by a breakpoint.
 *
 * Calls of ioctl() and of pthread_create() run at full speed: the kernel ends the process at a step that it cannot report, and
 * pthread_create() blocks signals. Not under ThreadSanitizer, whose runtime would be stepped through as well. */
#ifndef TESTS_STEP_H
#define TESTS_STEP_H

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/check.h"

/* A stopped thread may have a lock that the other needs: it continues after this time. */
#define STEP_WAIT_NS   3000000
#define STEP_TRAP      0x100ul /* TF in EFLAGS */
#define STEP_PLACES    16384u
#define STEP_HASH_SIZE (4 * STEP_PLACES)

static struct {
	uint64_t place[STEP_PLACES], seen[STEP_HASH_SIZE]; /* seen: a hash table of the places */
	unsigned places, met; /* met: stops during which the other thread's calls returned */
	bool records;
	int fd;       /* of the breakpoint; -1: none */
	long wait_ns; /* the longest stop */
	void (*other)(void);
	_Atomic bool stopped, other_done, over;
} step_state;

static void step_nap(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void step_place_add(uint64_t place)
{
	uint64_t at = place * 0x9e3779b97f4a7c15u >> 40;

	while (step_state.seen[at % STEP_HASH_SIZE] && step_state.seen[at % STEP_HASH_SIZE] != place)
		at++;
	if (step_state.seen[at % STEP_HASH_SIZE] || step_state.places == STEP_PLACES)
		return;
	step_state.seen[at % STEP_HASH_SIZE] = place;
	step_state.place[step_state.places++] = place;
}

/* Sets the calling thread's breakpoint. */
static void step_break(uint64_t place)
{
	struct perf_event_attr event = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(event),
		.sample_period = 1,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = place,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
	};

	step_state.fd = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void step_break_end(void)
{
	if (step_state.fd >= 0)
		close(step_state.fd);
	step_state.fd = -1;
}

/* A step, or the return of a call that is not recorded. */
static void step_trap_record(greg_t *reg)
{
	uint64_t ip = (uint64_t)reg[REG_RIP];

	step_break_end();
	if (ip == (uintptr_t)ioctl || ip == (uintptr_t)pthread_create)
		step_break(*(const uint64_t *)reg[REG_RSP]);
	else
		step_place_add(ip);
	if (step_state.records && step_state.fd < 0)
		reg[REG_EFL] |= (greg_t)STEP_TRAP;
	else
		reg[REG_EFL] &= ~(greg_t)STEP_TRAP;
}

static void step_trap_stop(void)
{
	ioctl(step_state.fd, PERF_EVENT_IOC_DISABLE, 0);
	atomic_store(&step_state.stopped, true);
	for (long ns = 0; ns < step_state.wait_ns && !atomic_load(&step_state.other_done); ns += 20000)
		step_nap(20000);
	step_state.met += atomic_load(&step_state.other_done);
}

static void step_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (step_state.records || step_state.fd < 0)
		step_trap_record(((ucontext_t *)context)->uc_mcontext.gregs);
	else
		step_trap_stop();
}

static void step_flag(bool on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | STEP_TRAP : flags & ~STEP_TRAP);
}

/* Calls fn(), and collects the addresses of its instructions. Returns how many there are. */
static unsigned step_record(void (*fn)(void))
{
	struct sigaction action = {.sa_sigaction = step_trap, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	step_state.places = 0;
	memset(step_state.seen, 0, sizeof(step_state.seen));
	step_state.fd = -1;
	step_state.records = true;
	step_flag(true);
	fn();
	step_state.records = false;
	step_flag(false);
	return step_state.places;
}

static void *step_other(void *unused)
{
	while (!atomic_load(&step_state.stopped) && !atomic_load(&step_state.over))
		step_nap(10000);
	if (atomic_load(&step_state.stopped))
		step_state.other();
	atomic_store(&step_state.other_done, true);
	return unused;
}

/* Calls fn(), and other() on another thread while fn() is stopped in front of the instruction `place`. False: fn() did not come to
 * that instruction, and other() was not called. */
static bool step_at(unsigned place, void (*fn)(void), void (*other)(void))
{
	pthread_t thread;

	step_state.other = other;
	atomic_store(&step_state.stopped, false);
	atomic_store(&step_state.other_done, false);
	atomic_store(&step_state.over, false);
	if (pthread_create(&thread, NULL, step_other, NULL))
		return false;
	step_break(step_state.place[place]);
	fn();
	step_break_end();
	atomic_store(&step_state.over, true);
	pthread_join(thread, NULL);
	return atomic_load(&step_state.stopped);
}

static void step_nothing(void)
{
	__asm__ volatile("nop");
}

/* Whether this machine has such breakpoints, and lets the process use them. False under ThreadSanitizer. */
static bool step_works(void)
{
	bool works = false;

	step_state.wait_ns = STEP_WAIT_NS;

#ifndef __SANITIZE_THREAD__
	for (unsigned i = step_record(step_nothing); i-- > 0;)
		works |= step_at(i, step_nothing, step_nothing);
#else
	(void)step_nothing;
#endif
	return works;
}

/* --- rows: a call, and what another thread does beside it --- */

#define STEP_STOPS 200         /* of a long call, about */
#define STEP_EACH  STEP_PLACES /* at each instruction */

struct step_row {
	const char *name;
	void (*create)(void), (*use)(void), (*beside)(void), (*finish)(void);
	unsigned stops; /* of a long call, about; 0: STEP_STOPS */
	long wait_ns;   /* the longest stop; 0: STEP_WAIT_NS */
};

static void step_row_run(const struct step_row *row, bool all)
{
	unsigned places, stops = 0, met = step_state.met;

	step_state.wait_ns = row->wait_ns ? row->wait_ns : STEP_WAIT_NS;
	/* What first calls make is there. */
	for (unsigned i = 0; i < 2; i++) {
		row->create();
		row->use();
		row->finish();
	}
	row->create();
	places = step_record(row->use);
	row->finish();
	for (unsigned i = 0; i < places; i += all ? 1 : 1 + places / (row->stops ? row->stops : STEP_STOPS)) {
		row->create();
		stops += step_at(i, row->use, row->beside);
		row->finish();
	}
	printf("%s: stopped at %u of %u instructions, %u without a lock\n", row->name, stops, places,
	       step_state.met - met);
	fflush(stdout);
	CHECK(stops > 0);
}

/* Runs one row, or (number >= count) all. Long calls are stopped at some of their instructions, unless `all` or TUFF_TEST_LONG is
 * set. */
static void step_rows_run(const struct step_row *rows, unsigned count, unsigned number, bool all)
{
	for (unsigned i = 0; i < count; i++)
		if (number >= count || number == i)
			step_row_run(&rows[i], all || getenv("TUFF_TEST_LONG"));
}

#endif

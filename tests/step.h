/* Stops a thread in front of an instruction of a call, while another thread makes calls of its own: what a thread that loses its
 * processor at that place sees.
 *
 * step_record() steps once through the call (the trap flag, and a handler of SIGTRAP) and collects the addresses of its
 * instructions. step_at() lets the call run up to one of them: a breakpoint of the processor, for the calling thread alone
 * (perf_event). A step takes ten times as long as a stop by a breakpoint. step_after() steps through a call that no other call
 * repeats, and stops after a number of instructions.
 *
 * The kernel ends a process at a step that it cannot report: SIGTRAP stays unblocked, whatever the call blocks. Functions that begin
 * threads and processes run at full speed, and so does ioctl(), behind which the virtual kernel is. Not under ThreadSanitizer,
 * whose runtime would be stepped through as well. */
#ifndef TESTS_STEP_H
#define TESTS_STEP_H

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
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
	enum { STEP_BREAKS, STEP_RECORDS, STEP_COUNTS } mode;
	unsigned taken, most; /* STEP_COUNTS: the steps, and after how many the thread stops */
	int fd;               /* of the breakpoint; -1: none */
	long wait_ns;         /* the longest stop */
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

static void step_stop(void)
{
	atomic_store(&step_state.stopped, true);
	for (long ns = 0; ns < step_state.wait_ns && !atomic_load(&step_state.other_done); ns += 20000)
		step_nap(20000);
	step_state.met += atomic_load(&step_state.other_done);
}

static bool step_runs_free(uint64_t ip)
{
	return ip == (uintptr_t)ioctl || ip == (uintptr_t)pthread_create || ip == (uintptr_t)posix_spawn;
}

/* Carries out rt_sigprocmask(), if it is the next instruction, but for SIGTRAP. */
static void step_mask(ucontext_t *u)
{
	greg_t *reg = u->uc_mcontext.gregs;
	const uint8_t *code = (const uint8_t *)reg[REG_RIP];
	uint64_t mask, set;

	if (code[0] != 0x0f || code[1] != 0x05 || reg[REG_RAX] != SYS_rt_sigprocmask)
		return;
	memcpy(&mask, &u->uc_sigmask, sizeof(mask));
	if (reg[REG_RDX])
		memcpy((void *)reg[REG_RDX], &mask, sizeof(mask));
	if (reg[REG_RSI]) {
		memcpy(&set, (const void *)reg[REG_RSI], sizeof(set));
		mask = reg[REG_RDI] == SIG_BLOCK ? mask | set : reg[REG_RDI] == SIG_UNBLOCK ? mask & ~set : set;
		mask &= ~((uint64_t)1 << (SIGTRAP - 1));
		memcpy(&u->uc_sigmask, &mask, sizeof(mask));
	}
	reg[REG_RAX] = 0;
	reg[REG_RIP] += 2;
}

/* Notes the step. False: the call runs on without steps. */
static bool step_note(uint64_t ip)
{
	switch (step_state.mode) {
	case STEP_RECORDS:
		step_place_add(ip);
		return true;
	case STEP_COUNTS:
		if (++step_state.taken < step_state.most)
			return true;
		step_stop();
		return false;
	default:
		return false;
	}
}

/* A step, or the return of a function that runs at full speed. */
static void step_trap_next(ucontext_t *u)
{
	greg_t *reg = u->uc_mcontext.gregs;
	bool goes_on;

	step_break_end();
	step_mask(u);
	goes_on = step_note((uint64_t)reg[REG_RIP]);
	if (goes_on && step_runs_free((uint64_t)reg[REG_RIP]))
		step_break(*(const uint64_t *)reg[REG_RSP]);
	if (goes_on && step_state.fd < 0)
		reg[REG_EFL] |= (greg_t)STEP_TRAP;
	else
		reg[REG_EFL] &= ~(greg_t)STEP_TRAP;
}

static void step_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (step_state.mode != STEP_BREAKS || step_state.fd < 0) {
		step_trap_next(context);
	} else {
		ioctl(step_state.fd, PERF_EVENT_IOC_DISABLE, 0);
		step_stop();
	}
}

static void step_flag(bool on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | STEP_TRAP : flags & ~STEP_TRAP);
}

/* Calls fn() step by step. */
static void step_through(void (*fn)(void))
{
	struct sigaction action = {.sa_sigaction = step_trap, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	step_state.fd = -1;
	step_flag(true);
	fn();
	step_state.mode = STEP_BREAKS;
	step_flag(false);
	step_break_end();
}

/* Calls fn(), and collects the addresses of its instructions. Returns how many there are. */
static inline unsigned step_record(void (*fn)(void))
{
	step_state.places = 0;
	memset(step_state.seen, 0, sizeof(step_state.seen));
	step_state.mode = STEP_RECORDS;
	step_through(fn);
	return step_state.places;
}

/* True while step_record() runs. */
static inline bool step_records(void)
{
	return step_state.mode == STEP_RECORDS;
}

static void step_begin(void)
{
	atomic_store(&step_state.stopped, false);
	atomic_store(&step_state.other_done, false);
	atomic_store(&step_state.over, false);
}

/* Calls fn(), and stops it in front of its instruction number `most`, until step_state.other_done. Returns how many steps there
 * were. The caller has called step_begin(), before another thread waits for the stop. */
static inline unsigned step_after(unsigned most, void (*fn)(void))
{
	step_state.taken = 0;
	step_state.most = most;
	step_state.mode = STEP_COUNTS;
	step_through(fn);
	atomic_store(&step_state.over, true);
	return step_state.taken;
}

/* Returns when the other thread is stopped, or its call is over. */
static void step_await(void)
{
	while (!atomic_load(&step_state.stopped) && !atomic_load(&step_state.over))
		step_nap(10000);
}

static inline void *step_other(void *unused)
{
	step_await();
	if (atomic_load(&step_state.stopped))
		step_state.other();
	atomic_store(&step_state.other_done, true);
	return unused;
}

/* Calls fn(), and beside() on another thread while fn() is stopped in front of the instruction `place`. False: fn() did not come to
 * that instruction, and beside() was not called. */
static inline bool step_at(unsigned place, void (*fn)(void), void (*beside)(void))
{
	pthread_t thread;

	step_state.other = beside;
	step_begin();
	if (pthread_create(&thread, NULL, step_other, NULL))
		return false;
	step_break(step_state.place[place]);
	fn();
	step_break_end();
	atomic_store(&step_state.over, true);
	pthread_join(thread, NULL);
	return atomic_load(&step_state.stopped);
}

__attribute__((noinline)) static void step_nothing(void)
{
	__asm__ volatile("nop");
}

/* Whether this machine has such breakpoints, and lets the process use them. False under ThreadSanitizer. */
static inline bool step_works(void)
{
	bool works = false;

	step_state.wait_ns = STEP_WAIT_NS;

#ifndef __SANITIZE_THREAD__
	for (unsigned i = step_record(step_nothing); i-- > 0;)
		works |= step_at(i, step_nothing, step_nothing);
#else
	(void)step_nothing;
#endif
	step_state.met = 0;
	return works;
}

#endif

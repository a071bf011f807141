#include "tests/count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- perf_event ------------------------------------------------------------------------------- */

static int perf_fd(void)
{
	static int fd = -2;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	if (fd == -2)
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd;
}

static uint64_t count_perf(void (*fn)(void *arg), void *arg)
{
	uint64_t count = 0;

	ioctl(perf_fd(), PERF_EVENT_IOC_RESET, 0);
	ioctl(perf_fd(), PERF_EVENT_IOC_ENABLE, 0);
	fn(arg);
	ioctl(perf_fd(), PERF_EVENT_IOC_DISABLE, 0);
	return read(perf_fd(), &count, sizeof(count)) == sizeof(count) ? count : 0;
}

/* --- ptrace ----------------------------------------------------------------------------------- */

/* The child steps the parent from one marker to the other. They are real calls with addresses of their own. */
__attribute__((noinline, used)) static void marker_begin(void)
{
	__asm__ volatile("nop");
}

__attribute__((noinline, used)) static void marker_end(void)
{
	__asm__ volatile("nop; nop");
}

static uint64_t address_of(pid_t pid)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, pid, NULL, &regs) ? 0 : regs.rip;
}

/* Steps over one instruction; signals meant for the thread are passed on. */
static bool step(pid_t pid, int *status)
{
	int signal = WSTOPSIG(*status) == SIGTRAP || WSTOPSIG(*status) == SIGSTOP ? 0 : WSTOPSIG(*status);

	return !ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)signal) && waitpid(pid, status, __WALL) == pid &&
	       WIFSTOPPED(*status);
}

static uint64_t trace(pid_t pid, int ready)
{
	uint64_t count = 0;
	bool inside = false;
	int status;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) || waitpid(pid, &status, __WALL) != pid)
		return 0;
	if (write(ready, "", 1) != 1)
		return 0;
	while (step(pid, &status)) {
		uint64_t rip = address_of(pid);

		if (rip == (uint64_t)(uintptr_t)marker_begin)
			inside = true;
		if (rip == (uint64_t)(uintptr_t)marker_end)
			break;
		count += inside;
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return count;
}

static uint64_t count_ptrace(void (*fn)(void *arg), void *arg)
{
	pid_t self = syscall(SYS_gettid), child;
	int ready[2], result[2];
	uint64_t count = 0;
	char byte;

	if (pipe(ready) || pipe(result))
		return 0;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	child = fork();
	if (!child) {
		count = trace(self, ready[1]);
		if (!count)
			(void)!write(ready[1], "", 1);
		_exit(write(result[1], &count, sizeof(count)) != sizeof(count));
	}
	while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
		;
	marker_begin();
	fn(arg);
	marker_end();
	if (read(result[0], &count, sizeof(count)) != sizeof(count))
		count = 0;
	waitpid(child, NULL, 0);
	for (unsigned i = 0; i < 2; i++) {
		close(ready[i]);
		close(result[i]);
	}
	return count;
}

uint64_t count_instructions(void (*fn)(void *arg), void *arg, unsigned tries)
{
	uint64_t least = 0;

	for (unsigned i = 0; i < tries; i++) {
		uint64_t count = perf_fd() >= 0 ? count_perf(fn, arg) : count_ptrace(fn, arg);

		if (count && (!least || count < least))
			least = count;
	}
	return least;
}

const char *count_method(void)
{
	return perf_fd() >= 0 ? "perf_event" : "ptrace";
}

#include "tests/count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
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

/* Guarded by nothing: set before the first count. */
static const void *const *left_out;
static unsigned left_out_count;

void count_leave_out(const void *const *functions, unsigned n)
{
	left_out = functions;
	left_out_count = n;
}

static bool is_left_out(uint64_t rip)
{
	for (unsigned i = 0; i < left_out_count; i++)
		if (rip == (uint64_t)(uintptr_t)left_out[i])
			return true;
	return false;
}

/* The thread that is stepped, as the child sees it. */
struct stepped {
	pid_t pid;
	int status;        /* what the last wait said */
	uint64_t rip, rsp; /* at the last stop */
};

/* Lets the thread go on by `request` until its next stop; signals meant for it are passed on. */
static bool go_on(struct stepped *t, int request)
{
	int stop = WSTOPSIG(t->status), signal = stop == SIGTRAP || stop == SIGSTOP ? 0 : stop;
	struct user_regs_struct regs;

	if (ptrace(request, t->pid, NULL, (void *)(long)signal) || waitpid(t->pid, &t->status, __WALL) != t->pid ||
	    !WIFSTOPPED(t->status) || ptrace(PTRACE_GETREGS, t->pid, NULL, &regs))
		return false;
	t->rip = regs.rip;
	t->rsp = regs.rsp;
	return true;
}

static bool set_debug_register(const struct stepped *t, unsigned n, uint64_t value)
{
	return !ptrace(PTRACE_POKEUSER, t->pid, offsetof(struct user, u_debugreg) + n * sizeof(long), value);
}

/* From a function's first instruction to the one behind its call: by a breakpoint of this thread alone where the
 * CPU has one to give, else step by step. */
static bool run_to_return(struct stepped *t)
{
	uint64_t back = (uint64_t)ptrace(PTRACE_PEEKTEXT, t->pid, t->rsp, NULL), entry_rsp = t->rsp;
	bool breakpoint = set_debug_register(t, 0, back) && set_debug_register(t, 7, 1);

	do {
		if (!go_on(t, breakpoint ? PTRACE_CONT : PTRACE_SINGLESTEP))
			return false;
	} while (t->rip != back || t->rsp <= entry_rsp);
	return !breakpoint || set_debug_register(t, 7, 0);
}

/* --- what an instruction is ------------------------------------------------------------------- */

/* The eight bytes at an address: enough for the prefixes, the opcode and its ModRM byte. */
union code {
	long word;
	uint8_t byte[8];
};

struct prefixes {
	bool lock, repeat, other; /* other: one that makes a different instruction of 0F AE */
	unsigned length;
};

static struct prefixes prefixes_of(const union code *code)
{
	struct prefixes p = {0};

	for (; p.length < 5; p.length++) {
		switch (code->byte[p.length]) {
		case 0xf0:
			p.lock = true;
			break;
		case 0xf2:
		case 0xf3:
			p.repeat = true;
			break;
		case 0x66:
			p.other = true;
			break;
		case 0x26: /* segments, and the address size */
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x67:
			break;
		default:
			if ((code->byte[p.length] & 0xf0) == 0x40) /* REX comes last */
				p.length++;
			return p;
		}
	}
	return p;
}

static bool is_locked(const struct prefixes *p, const uint8_t *op)
{
	if (p->lock)
		return true;
	if (op[0] == 0x86 || op[0] == 0x87) /* xchg; ModRM's mod is 3 for two registers */
		return op[1] >> 6 != 3;
	return op[0] == 0x0f && op[1] == 0xae && op[2] == 0xf0 && !p->repeat && !p->other; /* mfence */
}

/* movs, cmps, stos, lods, scas, with a repeat prefix: a step is an element. */
static bool is_repeated(const struct prefixes *p, const uint8_t *op)
{
	return p->repeat && op[0] >= 0xa4 && op[0] <= 0xaf && op[0] != 0xa8 && op[0] != 0xa9;
}

/* Adds the instruction that comes next. `before` is the address of the one before it. */
static void add(const struct stepped *t, uint64_t before, struct count *count)
{
	union code code;
	struct prefixes p;
	const uint8_t *op;

	errno = 0;
	code.word = ptrace(PTRACE_PEEKTEXT, t->pid, t->rip, NULL);
	if (errno)
		code.word = 0;
	p = prefixes_of(&code);
	op = code.byte + p.length;
	if (t->rip == before && is_repeated(&p, op))
		return;
	count->instructions++;
	count->locked += is_locked(&p, op);
	count->syscalls += op[0] == 0x0f && op[1] == 0x05;
}

/* --- the child -------------------------------------------------------------------------------- */

static bool count_until_end(struct stepped *t, struct count *count)
{
	bool inside = false;
	uint64_t before = 0;

	while (go_on(t, PTRACE_SINGLESTEP)) {
		if (t->rip == (uint64_t)(uintptr_t)marker_begin)
			inside = true;
		if (inside && is_left_out(t->rip) && !run_to_return(t))
			return false;
		if (t->rip == (uint64_t)(uintptr_t)marker_end)
			return true;
		if (inside)
			add(t, before, count);
		before = t->rip;
	}
	return false;
}

/* On one CPU with the thread: a step that wakes another CPU takes four times as long on a virtual machine. */
static void share_cpu(pid_t pid, cpu_set_t *before)
{
	cpu_set_t here;
	int cpu = sched_getcpu();

	CPU_ZERO(&here);
	CPU_SET(cpu < 0 ? 0 : cpu, &here);
	if (sched_getaffinity(pid, sizeof(*before), before) || sched_setaffinity(0, sizeof(here), &here) ||
	    sched_setaffinity(pid, sizeof(here), &here))
		CPU_ZERO(before);
}

/* The count stays 0 where the thread cannot be stepped. */
static void trace(pid_t pid, int ready, struct count *count)
{
	struct stepped t = {.pid = pid};
	cpu_set_t before;
	bool attached = !ptrace(PTRACE_ATTACH, pid, NULL, NULL) && waitpid(pid, &t.status, __WALL) == pid;

	if (write(ready, "", 1) != 1 || !attached)
		return;
	share_cpu(pid, &before);
	if (!count_until_end(&t, count))
		*count = (struct count){0};
	if (CPU_COUNT(&before))
		sched_setaffinity(pid, sizeof(before), &before);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

bool count_steps(void (*fn)(void *arg), void *arg, struct count *count)
{
	pid_t self = syscall(SYS_gettid), child;
	int ready[2], result[2];
	char byte;

	*count = (struct count){0};
	if (pipe(ready) || pipe(result))
		return false;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	child = _Fork(); /* nothing that libraries do at a fork is wanted in the child, nor what they do at its end
			  */
	if (!child) {
		trace(self, ready[1], count);
		syscall(SYS_exit_group, write(result[1], count, sizeof(*count)) != sizeof(*count));
	}
	while (child > 0 && read(ready[0], &byte, 1) < 0 && errno == EINTR)
		;
	marker_begin();
	fn(arg);
	marker_end();
	if (child < 0 || read(result[0], count, sizeof(*count)) != sizeof(*count))
		*count = (struct count){0};
	if (child > 0)
		waitpid(child, NULL, 0);
	for (unsigned i = 0; i < 2; i++) {
		close(ready[i]);
		close(result[i]);
	}
	return count->instructions;
}

/* --- either ----------------------------------------------------------------------------------- */

static bool use_perf(void)
{
	return !left_out_count && perf_fd() >= 0;
}

uint64_t count_instructions(void (*fn)(void *arg), void *arg, unsigned tries)
{
	uint64_t least = 0;

	for (unsigned i = 0; i < tries; i++) {
		struct count count = {0};

		if (use_perf())
			count.instructions = count_perf(fn, arg);
		else
			(void)!count_steps(fn, arg, &count);
		if (count.instructions && (!least || count.instructions < least))
			least = count.instructions;
	}
	return least;
}

const char *count_method(void)
{
	return use_perf() ? "perf_event" : "ptrace";
}

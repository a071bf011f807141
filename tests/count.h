/* Counts the instructions of the calling thread: exactly, not by sampling. count_instructions() reads the CPU's
 * counter (perf_event) where the machine offers it. Otherwise, and for count_steps(), a child process steps the
 * thread through the function (ptrace). Both give the same number: a string instruction with a repeat prefix is one
 * instruction. */
#ifndef TESTS_COUNT_H
#define TESTS_COUNT_H

#include <stdbool.h>
#include <stdint.h>

struct count {
	uint64_t instructions;
	uint64_t locked;   /* of them: with a lock prefix, xchg with memory, mfence */
	uint64_t syscalls; /* of them: the instruction syscall */
};

/* Functions whose calls count for nothing from now on, and run at full speed: what stands for the kernel and the
 * hardware in this process. The array stays the caller's and must live on. With such functions perf_event is not
 * used. */
void count_leave_out(const void *const *functions, unsigned n);

/* Instructions of fn(arg), call and return included: the least of `tries` runs, since a lock or a wake-up may cost
 * more now and then. 0: this machine cannot count. */
uint64_t count_instructions(void (*fn)(void *arg), void *arg, unsigned tries);
/* "perf_event" or "ptrace". */
const char *count_method(void);

/* Steps once through fn(arg), call and return included: 20 to 90 us an instruction on a virtual machine. false:
 * this machine cannot step; fn was called all the same. */
bool count_steps(void (*fn)(void *arg), void *arg, struct count *count);

#endif

/* Counts the user instructions that the calling thread executes: exactly, not by sampling.
 *
 * By the CPU's counter (perf_event) where the machine offers it; else a child steps this thread through the
 * function (ptrace), which gives the same number, a string instruction counting once for each element. */
#ifndef TESTS_COUNT_H
#define TESTS_COUNT_H

#include <stdint.h>

/* Instructions of fn(arg), call and return included: the least of `tries` runs, since a lock or a wake-up may cost
 * more now and then. 0: this machine cannot count. */
uint64_t count_instructions(void (*fn)(void *arg), void *arg, unsigned tries);
/* "perf_event" or "ptrace". */
const char *count_method(void);

#endif

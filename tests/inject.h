/* Failure injection: a whole program runs once for each of its ioctls and allocations, which then fails. The driver
 * must be linked with its allocations renamed (INJECTED in the Makefile). */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

#include <stdbool.h>

/* The program gives 0 or -errno, and a virtual GPU is started. Each time it must end, with an error or without, and
 * leave nothing behind: no block, no kernel object, no descriptor. */
void inject_every_failure(int (*program)(void));

/* For programs with a sweep of their own: the n-th allocation from now on fails (0: none does); whether it has come
 * to that; blocks that are held. */
void inject_allocation(long n);
bool inject_happened(void);
long inject_live(void);

#endif

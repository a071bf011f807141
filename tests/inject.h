/* Failure injection: a whole program runs once for each of its ioctls, allocations, descriptors and threads, which then
 * fails. The driver must be linked with these calls renamed (INJECT in tests.mk). */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

#include <stdbool.h>

/* The program gives 0 or -errno, and a virtual GPU is started. Each time it must end, with an error or without, and
 * leave nothing behind: no block, no kernel object, no descriptor. */
void inject_every_failure(int (*program)(void));

/* For programs with a sweep of their own: the n-th call of a kind from now on fails (0: none does); whether it has come
 * to that; blocks that are held. */
enum inject_kind { INJECT_MEMORY, INJECT_DESCRIPTOR /* or thread */ };
void inject(enum inject_kind kind, long n);
void inject_allocation(long n);
bool inject_happened(void);
long inject_live(void);

#endif

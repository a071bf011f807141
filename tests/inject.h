/* Failure injection: a whole program runs once for each of its ioctls and allocations, which then fails. The driver
 * must be linked with its allocations renamed (INJECTED in the Makefile). */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

/* The program gives 0 or -errno, and a virtual GPU is started. Each time it must end, with an error or without, and
 * leave nothing behind: no block, no kernel object, no descriptor. */
void inject_every_failure(int (*program)(void));

#endif

/* Two processes that share something, of which one is ended at its n-th system call: by SIGKILL, there or between two instructions
 * behind it, or by another of its threads that calls exit(), _exit(), execve(), fork() or dlclose() at that moment; or is interrupted by signals
 * from there on. The other process must end each of its waits,
 * and work on alone. Each case has a run of the virtual GPU of its own, of which nothing may stay. */
#ifndef TESTS_ENDS_H
#define TESTS_ENDS_H

#include <stdbool.h>
#include <stddef.h>

struct ends {
	const char *gpu;     /* SPEC of the virtual GPU */
	const char *library; /* what dlclose() closes */
	/* One of the two processes, with its end of a socket: it counts its checks (tests/check.h) and does not end. The process
	 * with role 0 exports, that with role 1 imports. */
	void (*play)(unsigned role, int socket);
	void (*forked)(void); /* what a child of fork() does before it ends; NULL: no fork() is tried */
};

/* Runs the cases that the arguments of main() name, and gives main()'s result:
 *   PROGRAM                 a sample; all of them if TUFF_TEST_LONG is set
 *   PROGRAM WAY ROLE N      one of them */
int ends_main(const struct ends *ends, int argc, char **argv);

/* From now on the caller of play() takes no lock of the library under which it maps memory, and may be forked
 * (vgpu/shim/fork.c). */
void ends_may_fork(void);

/* Messages of the two: false when the other process is gone. */
bool ends_send(int socket, const void *what, size_t size_B);
bool ends_receive(int socket, void *what, size_t size_B);
/* Whether the other process is gone; ends_is_alone() waits some seconds for its end. */
bool ends_has_hung_up(int socket);
bool ends_is_alone(int socket);

/* Descriptors that this process has open, but for wakers: a thread of the library makes its own when it first sleeps. */
unsigned ends_files(void);

#endif

/* Common parts of the tables of tests/bench/hip: processes with a null device, kernels, rows. A row has, for the
 * calling thread and without calls into the virtual device: instructions, locked operations (lock prefix, xchg with
 * memory, mfence), system calls; and for all threads: ioctls by number, the mean of several calls. */
#ifndef TESTS_BENCH_HIP_RIG_H
#define TESTS_BENCH_HIP_RIG_H

#include <stdbool.h>
#include <stdint.h>

#define HIP_DEPRECATED
#include <hip/hip_runtime_api.h>

/* Launches in rig.stream: the argument of functions that take a kernel. */
enum rig_kernel {
	RIG_EMPTY,   /* no arguments */
	RIG_FOUR,    /* two pointers, two words */
	RIG_HIDDEN5, /* and the hidden arguments of code objects of version 5 */
	RIG_HIDDEN4, /* of version 4 */
	RIG_KERNELS
};

/* Of the process that rig_run() made; constant there. */
struct rig {
	hipStream_t stream; /* non-blocking */
	hipFunction_t kernel[RIG_KERNELS];
	void **args[RIG_KERNELS]; /* NULL: none */
	uint32_t *memory, *other; /* in VRAM, RIG_MEMORY_B each */
	uint32_t *pinned;         /* the host's, as large */
};
extern struct rig rig;
#define RIG_MEMORY_B (4u << 20)

/* Runs rows() in a process of its own with the virtual devices of `spec`. */
void rig_run(const char *spec, void (*rows)(void));
void rig_die(hipError_t error) __attribute__((noreturn, cold));
/* Ends the process with the error's name. */
static inline void rig_must(hipError_t error)
{
	if (error)
		rig_die(error);
}
uint64_t rig_now_ns(void);
double rig_median(double *values, unsigned n);

/* Paths that several tables have. They suit struct rig_row. */
void rig_nothing(void *arg);
void rig_launch_in(enum rig_kernel kernel, hipStream_t stream);
void rig_launch(void *kernel); /* (void *)(uintptr_t)RIG_FOUR */
void rig_synchronize(void *arg);
/* Each kernel once. */
void rig_launch_each(void);
/* Launches kernels until the libraries have all the memory that launches take; rig.stream is idle then. */
void rig_warm_up(void);
/* For GPUs that take seconds for a job: calls fn() until the GPU is busy, then launches a kernel. From then on the
 * clock of the process advances as much slower as a stepped thread does, so that other threads do nothing between
 * two steps that they do after some microseconds. */
void rig_keep_busy(void (*fn)(void));
/* Polls rig.stream, which takes no ioctl, until it is idle. */
void rig_until_idle(void *arg);

/* --- rows ------------------------------------------------------------------------------------- */

struct rig_row {
	const char *what, *kernel; /* kernel: "" when it launches none */
	void (*fn)(void *arg);
	void *arg;
	void (*before)(void *arg);  /* before each call, not counted; NULL: nothing */
	void (*counted)(void *arg); /* the function whose ioctls are counted; NULL: fn */
	unsigned tries;             /* runs that are stepped, of which the least counts; 0: 6 */
	unsigned rounds;            /* calls whose ioctls are counted; 0: 16 */
	bool no_steps, no_ioctls;   /* the column stays empty */
};

void rig_title(const char *title);
void rig_print(const struct rig_row *row);
/* As many rows as end with one whose `what` is NULL. */
void rig_print_all(const struct rig_row *rows);
/* A row of anything else. */
__attribute__((format(printf, 2, 3))) void rig_say(const char *what, const char *format, ...);

/* Ioctls of all threads since rig_census(): "CS 1, WAIT_CS 0.5", divided by `calls`. */
void rig_census(void);
const char *rig_census_text(unsigned calls);

/* --- tables ----------------------------------------------------------------------------------- */

void bench_launch(void);
void bench_wait(void);
void bench_copy(void);
void bench_graph(void);
void bench_event(void);
void bench_pool(void);

#endif

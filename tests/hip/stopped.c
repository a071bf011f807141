/* A thread that is stopped inside a call, while other threads destroy what it has: streams, events and instances of graphs are
 * freed when it has left the call. Freed memory is overwritten (M_PERTURB), so that a thread that reads it fails. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <hip/hip_runtime_api.h>

#include "tests/check.h"

#define ROUNDS    100
#define STREAMS   80 /* more than the library frees at a time */
#define EVENTS    160
#define INSTANCES 80

static hipStream_t stream;
static hipEvent_t event;
static hipGraph_t graph;
static hipGraphExec_t instance;
static _Atomic int over, stopped, go, destroyed;
static unsigned stopped_rounds;

static void nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Stops the thread wherever it is. */
static void stop(int number)
{
	(void)number;
	atomic_store(&stopped, 1);
	while (!atomic_load(&go))
		nap(50);
}

static int is_defined(hipError_t r)
{
	return r == hipSuccess || r == hipErrorNotReady || r == hipErrorContextIsDestroyed ||
	       r == hipErrorInvalidHandle || r == hipErrorInvalidResourceHandle || r == hipErrorInvalidValue;
}

static void *use(void *unused)
{
	int refused = 0;

	while (!atomic_load(&over)) {
		refused += !is_defined(hipStreamQuery(stream));
		refused += !is_defined(hipEventRecord(event, stream));
		refused += !is_defined(hipEventQuery(event));
		refused += !is_defined(hipStreamWaitEvent(stream, event, 0));
		refused += !is_defined(hipStreamSynchronize(stream));
	}
	CHECK_EQ(refused, 0);
	return unused;
}

static void *launch(void *unused)
{
	int refused = 0;

	while (!atomic_load(&over))
		refused += !is_defined(hipGraphLaunch(instance, NULL));
	CHECK_EQ(refused, 0);
	return unused;
}

/* Destroys them, and then others, until their memory would be used again. */
static void *destroy(void *unused)
{
	(void)!hipStreamDestroy(stream);
	(void)!hipEventDestroy(event);
	(void)!hipGraphExecDestroy(instance);
	for (int i = 0; i < EVENTS; i++) {
		hipEvent_t e;

		if (!hipEventCreateWithFlags(&e, hipEventDisableTiming))
			(void)!hipEventDestroy(e);
	}
	for (int i = 0; i < STREAMS; i++) {
		hipStream_t s;

		if (!hipStreamCreateWithFlags(&s, hipStreamNonBlocking))
			(void)!hipStreamDestroy(s);
	}
	for (int i = 0; i < INSTANCES; i++) {
		hipGraphExec_t e;

		if (!hipGraphInstantiateWithFlags(&e, graph, 0))
			(void)!hipGraphExecDestroy(e);
	}
	atomic_store(&destroyed, 1);
	return unused;
}

static void one_round(void *(*call)(void *), long delay_us)
{
	pthread_t user, destroyer;

	atomic_store(&over, 0);
	atomic_store(&stopped, 0);
	atomic_store(&go, 0);
	atomic_store(&destroyed, 0);
	CHECK_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
	CHECK_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
	CHECK_EQ(hipGraphInstantiateWithFlags(&instance, graph, 0), hipSuccess);
	CHECK_EQ(pthread_create(&user, NULL, call, NULL), 0);
	nap(delay_us);
	pthread_kill(user, SIGUSR1);
	while (!atomic_load(&stopped))
		nap(10);
	CHECK_EQ(pthread_create(&destroyer, NULL, destroy, NULL), 0);
	/* The destroyer waits as long as the stopped thread has a lock that it needs. */
	for (int i = 0; i < 200 && !atomic_load(&destroyed); i++)
		nap(500);
	stopped_rounds += (unsigned)atomic_load(&destroyed);
	atomic_store(&over, 1);
	atomic_store(&go, 1);
	pthread_join(user, NULL);
	pthread_join(destroyer, NULL);
}

int main(void)
{
	struct sigaction action = {.sa_handler = stop};
	hipGraphNode_t node;

	mallopt(M_PERTURB, 0x5a);
	sigaction(SIGUSR1, &action, NULL);
	CHECK_EQ(hipSetDevice(0), hipSuccess);
	CHECK_EQ(hipGraphCreate(&graph, 0), hipSuccess);
	CHECK_EQ(hipGraphAddEmptyNode(&node, graph, NULL, 0), hipSuccess);
	for (long i = 0; i < ROUNDS; i++)
		one_round(i % 2 ? launch : use, 20 + i * 37 % 500);
	/* In some rounds the thread had no lock. */
	CHECK(stopped_rounds > 0);
	return check_done("a thread that is stopped inside a call");
}

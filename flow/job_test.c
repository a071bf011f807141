/* How far a flow is, while jobs end. */
#include <pthread.h>

#include "cs/internal.h"
#include "flow/internal.h"
#include "tests/check.h"

#define JOBS     100000000u
#define OPS_EACH 5 /* operations of a job */

/* A ring without a GPU: `end` says of as many jobs in advance as may be unfinished. */
static _Atomic uint64_t word;
static struct cs_ring ring = {.word = &word};
static struct flow_queue queue = {.ring = &ring};
static struct flow flow = {.queue = &queue};

static void *run_jobs(void *unused)
{
	for (uint64_t seq = 1; seq <= JOBS; seq++) {
		uint64_t next = seq + CS_JOBS_MAX - 1;

		atomic_store_explicit(&queue.end[next % FLOW_JOBS_TRACKED], next * OPS_EACH, memory_order_release);
		atomic_store_explicit(&word, seq, memory_order_release);
	}
	return unused;
}

/* The value never runs ahead of the jobs that have ended, however many end while it is read. */
static void never_ahead(void)
{
	unsigned ahead = 0, behind = 0;
	pthread_t thread;

	for (uint64_t seq = 1; seq < CS_JOBS_MAX; seq++)
		queue.end[seq % FLOW_JOBS_TRACKED] = seq * OPS_EACH;
	CHECK_EQ(pthread_create(&thread, NULL, run_jobs, NULL), 0);
	for (;;) {
		uint64_t before = word, value = flow_completed(&flow);

		ahead += value > word * OPS_EACH;
		behind += value < before * OPS_EACH;
		if (before == JOBS)
			break;
	}
	pthread_join(thread, NULL);
	CHECK_EQ(ahead, 0);
	CHECK_EQ(behind, 0);
}

/* A kernel that goes wild may write the ring's word. */
static void wild_words_end(void)
{
	ring.last = JOBS;
	flow.job_ns = 1;
	word = UINT64_MAX;
	flow_time_begin(&flow);
	CHECK_EQ(queue.measured, JOBS);
}

int main(void)
{
	never_ahead();
	wild_words_end();
	return check_done("timeline of a flow");
}

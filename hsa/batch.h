/* What packets become, inside hsa/: the job that they are written into. All of it is the translator's, who holds
 * the queue's busy. */
#ifndef HSA_BATCH_H
#define HSA_BATCH_H

#include "hsa/queue.h"

#define RT_AFTERS_MAX 8 /* jobs of other queues that one waits for */

/* The job that is being written. */
struct rt_batch {
	struct rt_queue *queue;
	struct cs_ib *ib; /* NULL: none is open */
	unsigned packets; /* in it */
	unsigned owed;    /* the scope that packets without signals release at; the job's end does it in any case */
	uint64_t completions; /* channel->issued when it began */
	uint64_t index;       /* of the packet that is read: those below are in this job or earlier ones */
	/* Time (estimate.c): */
	uint64_t left_ns;                     /* that further dispatches may take in this job */
	bool unknown;                         /* the time of one of its dispatches is not known: nothing is left */
	bool timed;                           /* it has a clock */
	bool kept;                            /* what is written is kept, or was: it has no clock */
	unsigned dispatches;                  /* in it */
	const struct rt_known_kernel *kernel; /* of the last one */
	unsigned afters;
	struct cs_point after[RT_AFTERS_MAX];    /* it begins behind them */
	struct rt_signal *waiter[RT_AFTERS_MAX]; /* that the packet completes which waits for each; NULL: none */
};

enum rt_outcome { RT_TAKEN, RT_STOPPED, RT_FAILED };

static inline unsigned rt_packet_type(uint16_t header)
{
	return header & 0xff;
}

static inline bool rt_packet_waits(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_BARRIER & 1;
}

static inline unsigned rt_packet_acquires(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE & 3;
}

static inline unsigned rt_packet_releases(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE & 3;
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* ordered: earlier packets must have ended first. -EBUSY: there is no room. */
DRV_MUST_CHECK int rt_batch_open(struct rt_batch *batch, bool ordered);
/* Ends the job, if one is open. */
DRV_MUST_CHECK int rt_batch_close(struct rt_batch *batch);
/* What follows begins behind the point: in a job of its own, which may wait for several. When the point is lost the
 * job does not wait, and waiter, the completion signal of the packet that asks (or NULL), fails. */
DRV_MUST_CHECK int rt_batch_after(struct rt_batch *batch, struct cs_point point, struct rt_signal *waiter);
/* The queue ends with that error. */
enum rt_outcome rt_batch_fail(struct rt_batch *batch, hsa_status_t status);
/* What a submission that failed means for the queue. */
enum rt_outcome rt_batch_not_submitted(struct rt_batch *batch, int r);

/* --- a packet --------------------------------------------------------------------------------- */

/* The first words of a packet in the job: wait for what came before, see what others wrote. What was to be released
 * without a signal is written back by the same fence. */
static inline void rt_batch_begin(struct rt_batch *b, uint16_t header)
{
	unsigned scope = rt_packet_acquires(header);

	if (!b->packets++)
		return; /* the job's own beginning did both */
	if (rt_packet_waits(header)) {
		scope = b->owed > scope ? b->owed : scope;
		b->owed = 0;
	}
	cs_ib_fence(b->ib, rt_packet_waits(header), scope);
}

static inline bool rt_queue_profiles(const struct rt_queue *q)
{
	return q->amd->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
}

static inline void rt_batch_clock(struct rt_batch *b, hsa_signal_t completion)
{
	if (completion.handle && rt_queue_profiles(b->queue))
		cs_ib_clock(b->ib, (uintptr_t)&rt_signal_memory(completion)->start_ts);
}

/* A packet goes into the open job, or begins one. */
static inline int rt_batch_start(struct rt_batch *b, uint16_t header, hsa_signal_t completion)
{
	int r = __builtin_expect(!b->ib, 0) ? rt_batch_open(b, rt_packet_waits(header)) : 0;

	if (r)
		return r;
	rt_batch_begin(b, header);
	rt_batch_clock(b, completion);
	return 0;
}

/* Its time, then its completion. */
void rt_batch_complete(struct rt_batch *batch, uint16_t header, struct rt_signal *signal, hsa_signal_t completion);
/* The end of a packet. */
static inline void rt_batch_end(struct rt_batch *b, uint16_t header, struct rt_signal *signal,
				hsa_signal_t completion)
{
	if (signal)
		rt_batch_complete(b, header, signal, completion);
	else if (rt_packet_releases(header) > b->owed)
		b->owed = rt_packet_releases(header);
}

/* --- time (estimate.c) ------------------------------------------------------------------------ */

/* A job has begun: looks at those that have ended, and gives it a clock if several packets will be in it. */
void rt_batch_time(struct rt_batch *batch);
/* In front of the only dispatch of a job, so far: what it takes is not known. */
void rt_batch_time_kernel(struct rt_batch *batch);
/* The end of the job, which is submitted next. */
void rt_batch_time_end(struct rt_batch *batch);
/* What a dispatch of so many groups of that kernel is expected to take. */
uint64_t rt_estimate_ns(const struct rt_queue *queue, const struct cs_kernel *kernel, uint64_t groups);
/* The job would take too long with one more, which begins another job; inside: more than what is left. A dispatch
 * that waits for those before it does not share a job with one whose time is not known; one that does not wait may
 * be what they wait for. */
bool rt_batch_overruns(const struct rt_batch *batch, uint64_t estimate_ns, uint16_t header);
static inline bool rt_batch_is_full(const struct rt_batch *b, uint64_t estimate_ns, uint16_t header)
{
	return __builtin_expect(estimate_ns > b->left_ns, 0) && rt_batch_overruns(b, estimate_ns, header);
}
static inline void rt_batch_spend(struct rt_batch *b, const struct rt_known_kernel *known)
{
	b->kernel = known;
	b->dispatches++;
	if (__builtin_expect(known->estimate_ns == RT_NS_UNKNOWN, 0))
		b->unknown = true;
	b->left_ns = known->estimate_ns < b->left_ns ? b->left_ns - known->estimate_ns : 0;
}

/* --- packets, by their kind ------------------------------------------------------------------- */

/* barrier.c */
enum rt_outcome rt_barrier_and(struct rt_batch *batch, const union rt_packet *packet);
enum rt_outcome rt_barrier_or(struct rt_batch *batch, const union rt_packet *packet);
enum rt_outcome rt_barrier_value(struct rt_batch *batch, const union rt_packet *packet);
enum rt_outcome rt_after(struct rt_batch *batch, const struct rt_after_packet *packet);
enum rt_outcome rt_until(struct rt_batch *batch, const struct rt_until_packet *packet);
/* sync.c. And one that waits for what other drivers do, or tells them. */
enum rt_outcome rt_sync(struct rt_batch *batch, const struct rt_sync_packet *packet);

/* packet.c: a dispatch. */
enum rt_outcome rt_dispatch(struct rt_batch *batch, const union rt_packet *packet, uint64_t index);
/* The open job would take too long with it. */
bool rt_dispatch_overruns(const struct rt_batch *batch, const union rt_packet *packet);
/* The last one looked like this, and its commands are the same wherever they stand. */
bool rt_dispatch_is_plain(const struct rt_queue *queue, const union rt_packet *packet);

/* sequence.c: the index-th packet is one. */
enum rt_outcome rt_sequence_read(struct rt_batch *batch, struct rt_sequence *sequence, uint64_t index);

#endif

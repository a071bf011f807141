/* Sequences: many dispatches in one packet (door.h), and how many of them a job has. The watchdog counts from a
 * job's beginning (split.c): so it has no more than other jobs, until the same sequence has run and its time is
 * known. */
#include "hsa/queue.h"

#define LONG_JOBS 4    /* so many at a time at most: together with short ones they fit into the IBs' memory */
#define LONG_MAX  1024 /* dispatches of one; of 356 bytes at most */

/* The words of the clock are its job's, and complete. */
static bool is_measured(const struct rt_queue *q)
{
	const struct rt_sequence *s = &q->sequence;
	const struct rt_channel *c = q->channel;

	return s->timed && s->end.ring == c->ring && s->end.seq == c->clocked &&
	       cs_ring_reached(c->ring) >= s->end.seq;
}

static void learn(struct rt_queue *q)
{
	struct rt_sequence *s = &q->sequence;
	uint64_t each_ns = rt_channel_clock_ns(q->channel) / s->timed + 1;
	uint64_t fit = rt_part_ns(q->gpu) / each_ns;

	s->limit = fit > LONG_MAX ? LONG_MAX : fit > RT_BATCH_MAX ? (uint32_t)fit : RT_BATCH_MAX;
	s->timed = 0;
}

uint32_t rt_sequence_limit(struct rt_queue *q, uint64_t id)
{
	struct rt_sequence *s = &q->sequence;

	if (s->id != id)
		*s = (struct rt_sequence){.id = id, .limit = RT_BATCH_MAX};
	else if (is_measured(q))
		learn(q);
	return cs_ring_unfinished(q->channel->ring) < LONG_JOBS ? s->limit : RT_BATCH_MAX;
}

void rt_sequence_timed(struct rt_queue *q, uint32_t dispatches, struct cs_point end)
{
	q->sequence.timed = dispatches;
	q->sequence.end = end;
}

/* Sequences: many dispatches that are made again and again (door.h).
 *
 * The watchdog counts from a job's beginning (split.c). So a job has no more of them than of other packets, and no
 * more than their kernels' times allow (estimate.c), until the sequence has run and its time is known; it is
 * measured every time.
 *
 * Then their commands are kept: from the next time on, a job of theirs is one packet that leads to these, whatever
 * their number. They are good for that queue, as long as no code is unloaded and its compute units stay. What needs
 * scratch, or is submitted in parts, is written anew every time; so is what would not be worth a job of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/batch.h"
#include "hsa/table.h"

#define LONG_JOBS 4    /* so many at a time at most: together with short ones they fit into the IBs' memory */
#define LONG_MAX  1024 /* dispatches of one; of 356 bytes at most */
#define KEEP_MIN  16   /* dispatches of a sequence that has jobs of its own, so that its commands can be kept */

/* Kept commands: a job. */
struct part {
	struct cs_kept *commands; /* owned */
	uint32_t end;             /* of the dispatches; the next part's first */
};

/* How the sequence is read this time. */
enum mode { WRITE, KEEP, USE };

struct rt_sequence {
	const struct rt_gpu *gpu;                    /* borrowed */
	const hsa_kernel_dispatch_packet_t *packets; /* borrowed */
	uint32_t count;
	struct vm_piece clock; /* owned: when it began the last time, and ended */
	/* From here on: the busy of the queue that reads it. Another one does that behind this one's jobs. */
	enum mode mode;
	uint32_t at;         /* the next that is read; 0: none is under way */
	uint32_t now, limit; /* dispatches of a job at most: this time; when it is alone */
	bool timed;          /* the clock says how long it took when `end` is reached */
	bool learned;        /* limit rests on that */
	bool plain;          /* the commands are the same wherever they stand */
	struct cs_point end; /* of the last job that has something of it */
	/* What the parts are good for. */
	uint64_t queue;
	uint32_t code, masks;
	uint32_t parts, used; /* those that are whole; this time, the next */
	struct part part[];
};

/* --- making and ending ------------------------------------------------------------------------ */

int rt_sequence_create(hsa_agent_t agent, const hsa_kernel_dispatch_packet_t *packets, uint32_t count,
		       struct rt_sequence **out)
{
	const struct vm_info info = {.size_B = 256, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	struct rt *rt = rt_get();
	const struct rt_agent *a = rt ? rt_agent_of(rt, agent) : NULL;
	struct rt_sequence *s = calloc(1, sizeof(*s) + (count / RT_BATCH_MAX + 1) * sizeof(s->part[0]));
	int r = !a || !a->gpu ? -EINVAL : !s ? -ENOMEM : vm_piece_alloc(a->gpu->vm, &info, &s->clock);

	if (r) {
		free(s);
		return r;
	}
	s->gpu = a->gpu;
	s->packets = packets;
	s->count = count;
	s->limit = RT_BATCH_MAX;
	*out = s;
	return 0;
}

/* Its jobs have ended. */
static void drop_parts(struct rt_sequence *s)
{
	for (uint32_t i = 0; i <= s->count / RT_BATCH_MAX; i++) {
		cs_kept_free(s->part[i].commands);
		s->part[i].commands = NULL;
	}
	s->parts = 0;
}

void rt_sequence_destroy(struct rt_sequence *s)
{
	if (!s)
		return;
	cs_point_settle(s->end);
	drop_parts(s);
	vm_piece_free(&s->clock);
	free(s);
}

/* --- time ------------------------------------------------------------------------------------- */

/* A job that takes much longer than when it was kept is made shorter. One that may have few dispatches is not kept:
 * its kernels' own times say how many (estimate.c). */
static void learn(struct rt_sequence *s)
{
	uint64_t each_ns = rt_clock_ns(s->gpu, s->clock.map) / s->count + 1;
	uint64_t part_ns = rt_part_ns(s->gpu), fit = part_ns ? part_ns / each_ns : LONG_MAX;
	uint32_t before = s->limit;

	s->limit = fit > LONG_MAX ? LONG_MAX : fit ? (uint32_t)fit : 1;
	s->learned = true;
	if (s->limit < before / 2)
		drop_parts(s);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool has_jobs(const struct rt_sequence *s)
{
	return s->count >= KEEP_MIN;
}

static bool is_good(const struct rt_sequence *s, const struct rt_queue *q)
{
	return s->parts && s->part[s->parts - 1].end == s->count && s->queue == q->id && s->masks == q->masks &&
	       s->code == atomic_load_explicit(&q->rt->kernel_generation, memory_order_acquire);
}

static void begin(struct rt_sequence *s, const struct rt_queue *q)
{
	const bool idle = cs_ring_unfinished(q->channel->ring) < LONG_JOBS;

	if (s->timed && cs_point_poll(s->end) == 1)
		learn(s);
	s->used = 0;
	s->now = idle || s->limit < RT_BATCH_MAX ? s->limit : RT_BATCH_MAX;
	s->mode = WRITE;
	if (is_good(s, q)) {
		s->mode = USE;
	} else if (s->learned && s->limit >= RT_BATCH_MAX && s->plain && idle && cs_point_settled(s->end)) {
		drop_parts(s);
		s->mode = KEEP;
		s->queue = q->id;
		s->masks = q->masks;
		s->code = atomic_load_explicit(&q->rt->kernel_generation, memory_order_acquire);
	}
	s->timed = false;
	s->plain = true;
}

/* Dispatches without an edge between them may wait for each other: what is written anew may overlap the job before,
 * if its first packet says so. Parts that are kept begin in order, whatever their first packet. */
static int begin_job(struct rt_batch *b, struct rt_sequence *s)
{
	bool ordered = !s->at || s->mode == KEEP || rt_packet_waits(s->packets[s->at].header);
	int r = b->ib && b->packets ? rt_batch_close(b) : 0;

	if (!r && !b->ib)
		r = rt_batch_open(b, ordered);
	if (r || !has_jobs(s))
		return r;
	s->end = (struct cs_point){b->queue->channel->ring, cs_ring_last(b->queue->channel->ring).seq + 1};
	if (!s->at) {
		rt_clock_start(b->ib, s->clock.va);
		s->timed = true;
	}
	if (s->mode == KEEP && cs_ib_keep(b->ib, &s->part[s->parts].commands))
		s->mode = WRITE;
	return 0;
}

/* What was written since the job began is one more part. */
static void end_part(struct rt_sequence *s)
{
	if (s->mode == KEEP)
		s->part[s->parts++].end = s->at;
}

/* The next dispatch, or the end of a job. */
static enum rt_outcome write_next(struct rt_batch *b, struct rt_sequence *s, uint64_t index)
{
	const union rt_packet *p = (const union rt_packet *)(const void *)&s->packets[s->at];
	enum rt_outcome outcome;
	int r = 0;

	if (b->ib && (b->packets >= s->now || (s->mode == WRITE && rt_dispatch_overruns(b, p)))) {
		end_part(s);
		r = rt_batch_close(b);
	}
	if (!r && (!b->ib || (!s->at && has_jobs(s))))
		r = begin_job(b, s);
	if (r)
		return rt_batch_not_submitted(b, r);
	outcome = rt_dispatch(b, p, index);
	if (outcome == RT_TAKEN)
		s->at++;
	if (has_jobs(s) && (outcome != RT_TAKEN || !rt_dispatch_is_plain(b->queue, p))) {
		s->plain = false;
		s->mode = WRITE;
	}
	return outcome;
}

/* The last job stays open for what follows, unless it is kept. */
static enum rt_outcome write_all(struct rt_batch *b, struct rt_sequence *s, uint64_t index)
{
	enum rt_outcome outcome = RT_TAKEN;
	int r = 0;

	while (outcome == RT_TAKEN && s->at < s->count)
		outcome = write_next(b, s, index);
	if (outcome != RT_TAKEN)
		return outcome;
	if (b->ib && s->timed)
		rt_clock_stop(b->ib, s->clock.va);
	if (s->mode == KEEP) {
		end_part(s);
		r = rt_batch_close(b);
	}
	s->at = 0;
	return r ? rt_batch_not_submitted(b, r) : RT_TAKEN;
}

/* A job that ends with a part. */
static int use_next(struct rt_batch *b, struct rt_sequence *s)
{
	const struct part *part = &s->part[s->used];
	const struct cs_ring *ring = b->queue->channel->ring;
	int r = b->ib ? 0 : rt_batch_open(b, true);

	if (r)
		return r;
	s->end = (struct cs_point){b->queue->channel->ring, cs_ring_last(ring).seq + 1};
	rt_batch_begin(b, s->packets[s->at].header);
	if (!s->at)
		rt_clock_start(b->ib, s->clock.va);
	cs_ib_end_with(b->ib, part->commands);
	s->used++;
	s->at = part->end;
	return 0;
}

static enum rt_outcome use_all(struct rt_batch *b, struct rt_sequence *s, uint64_t index)
{
	bool last;
	int r;

	do {
		r = use_next(b, s);
		last = s->used == s->parts;
		if (!r && last) {
			/* Nothing of it is touched once another queue may know that the packet was read. */
			s->timed = true;
			s->at = 0;
			b->index = index + 1;
		}
		if (!r)
			r = rt_batch_close(b);
	} while (!r && !last);
	return r ? rt_batch_not_submitted(b, r) : RT_TAKEN;
}

enum rt_outcome rt_sequence_read(struct rt_batch *b, struct rt_sequence *s, uint64_t index)
{
	enum rt_outcome outcome;

	if (!s->count)
		return RT_TAKEN;
	if (!s->at)
		begin(s, b->queue);
	/* A clock ends in front of commands that are kept, which are the last of a job. */
	b->kept = s->mode != WRITE;
	if (b->kept && b->ib)
		rt_batch_time_end(b);
	outcome = s->mode == USE ? use_all(b, s, index) : write_all(b, s, index);
	b->kept = false;
	return outcome;
}

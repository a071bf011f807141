/* Segments: many dispatches that are made again and again.
 *
 * The watchdog counts from a job's beginning (split.c). So a job has no more of them than of other operations, and
 * no more than their kernels' times allow (estimate.c), until the segment has run and its time is known; it is
 * measured every time.
 *
 * Then their commands are kept: from the next time on, a job of theirs is one packet that leads to these, whatever
 * their number. They are good for that flow, as long as no code is unloaded and its compute units stay. What needs
 * scratch, or is submitted in parts, is written anew every time; so is what would not be worth a job of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/internal.h"
#include "vm/suballoc.h"

#define LONG_JOBS 4    /* long jobs at a time: together with short ones they fit into the IBs' memory */
#define LONG_MAX  1024 /* dispatches of one; of 356 bytes at most */
#define KEEP_MIN  16   /* dispatches of a segment that has jobs of its own, so that its commands can be kept */

/* Kept commands: a job. */
struct part {
	struct cs_command_buffer *commands; /* owned */
	uint32_t end;                       /* index of the dispatch behind the part's last */
};

/* How the segment is executed this time. */
enum mode { WRITE, KEEP, USE };

struct flow_segment {
	struct flow_gpu *gpu;                        /* borrowed */
	const hsa_kernel_dispatch_packet_t *packets; /* borrowed */
	uint32_t count;
	struct vm_suballoc clock; /* owned: when it began the last time, and ended */
	/* From here on: the lock of the flow that executes it. Another one does that behind this one's jobs. */
	enum mode mode;
	uint32_t at;         /* the next that is read; 0: none is under way */
	uint32_t now, limit; /* dispatches of a job at most: this time; when it is alone */
	bool timed;          /* the clock says how long it took when `end` is reached */
	bool learned;        /* limit rests on that */
	bool plain;          /* the commands are the same wherever they stand */
	struct cs_fence end; /* end of the last job with dispatches of the segment */
	/* The parts are valid for this queue, code and mask: */
	uint64_t queue;
	uint32_t code, masks;
	uint32_t parts, used; /* finished parts; the part to be used next */
	struct part part[];
};

/* --- making and ending ------------------------------------------------------------------------ */

int flow_segment_create(struct flow_gpu *gpu, const hsa_kernel_dispatch_packet_t *packets, uint32_t count,
			struct flow_segment **out)
{
	const struct vm_info info = {.size_B = 256, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	struct flow_segment *s = calloc(1, sizeof(*s) + (count / FLOW_OPS_MAX + 1) * sizeof(s->part[0]));
	int r = s ? vm_suballoc_create(gpu->vm, &info, &s->clock)
		  : drv_fail(-ENOMEM, "no host memory for a segment");

	if (r) {
		free(s);
		return r;
	}
	s->gpu = gpu;
	s->packets = packets;
	s->count = count;
	s->limit = FLOW_OPS_MAX;
	*out = s;
	return 0;
}

/* The segment's jobs have ended. */
static void drop_parts(struct flow_segment *s)
{
	for (uint32_t i = 0; i <= s->count / FLOW_OPS_MAX; i++) {
		cs_command_buffer_free(s->part[i].commands);
		s->part[i].commands = NULL;
	}
	s->parts = 0;
}

void flow_segment_destroy(struct flow_segment *s)
{
	if (!s)
		return;
	cs_fence_retire(s->end);
	drop_parts(s);
	vm_suballoc_destroy(&s->clock);
	free(s);
}

/* --- time ------------------------------------------------------------------------------------- */

/* A job that takes much longer than when it was kept is made shorter. One that may have few dispatches is not kept:
 * its kernels' own times say how many (estimate.c). */
static void learn(struct flow_segment *s)
{
	uint64_t each_ns = flow_clock_ns(s->gpu->dev, s->clock.map) / s->count + 1;
	uint64_t part_ns = flow_job_ns(s->gpu->dev), fit = part_ns ? part_ns / each_ns : LONG_MAX;
	uint32_t before = s->limit;

	s->limit = fit > LONG_MAX ? LONG_MAX : fit ? (uint32_t)fit : 1;
	s->learned = true;
	if (s->limit < before / 2)
		drop_parts(s);
}

/* --- execution ---------------------------------------------------------------------------------- */

static bool has_jobs(const struct flow_segment *s)
{
	return s->count >= KEEP_MIN;
}

static bool is_good(const struct flow_segment *s, const struct flow *f)
{
	return s->parts && s->part[s->parts - 1].end == s->count && s->queue == f->id && s->masks == f->masks &&
	       s->code == atomic_load_explicit(f->gpu->code_generation, memory_order_acquire);
}

static void begin(struct flow_segment *s, const struct flow *f)
{
	const bool idle = cs_ring_unfinished(f->queue->ring) < LONG_JOBS;

	if (s->timed && cs_fence_poll(s->end) == 1)
		learn(s);
	s->used = 0;
	s->now = idle || s->limit < FLOW_OPS_MAX ? s->limit : FLOW_OPS_MAX;
	s->mode = WRITE;
	if (is_good(s, f)) {
		s->mode = USE;
	} else if (s->learned && s->limit >= FLOW_OPS_MAX && s->plain && idle && cs_fence_is_retired(s->end)) {
		drop_parts(s);
		s->mode = KEEP;
		s->queue = f->id;
		s->masks = f->masks;
		s->code = atomic_load_explicit(f->gpu->code_generation, memory_order_acquire);
	}
	s->timed = false;
	s->plain = true;
}

/* Dispatches without an edge between them may wait for each other: what is written anew may overlap the job before,
 * if its first packet says so. Parts that are kept begin in order, whatever their first packet. */
static int begin_job(struct flow *f, struct flow_segment *s)
{
	bool ordered = !s->at || s->mode == KEEP || flow_waits(s->packets[s->at].header);
	int r = f->ib && f->job_ops ? flow_close(f) : 0;

	if (!r && !f->ib)
		r = flow_open(f, ordered);
	if (r || !has_jobs(s))
		return r;
	s->end = (struct cs_fence){f->queue->ring, cs_ring_last(f->queue->ring).seq + 1};
	if (!s->at) {
		cs_ib_clock(f->ib, s->clock.va);
		s->timed = true;
	}
	if (s->mode == KEEP && cs_ib_record(f->ib, &s->part[s->parts].commands))
		s->mode = WRITE;
	return 0;
}

/* Makes a part of the commands written since the job began. */
static void end_part(struct flow_segment *s)
{
	if (s->mode == KEEP)
		s->part[s->parts++].end = s->at;
}

/* The next dispatch, or the end of a job. */
static int write_next(struct flow *f, struct flow_segment *s)
{
	const hsa_kernel_dispatch_packet_t *p = &s->packets[s->at];
	int r = 0;

	if (f->ib && (f->job_ops >= s->now || (s->mode == WRITE && flow_launch_overruns(f, p)))) {
		end_part(s);
		r = flow_close(f);
	}
	if (!r && (!f->ib || (!s->at && has_jobs(s))))
		r = begin_job(f, s);
	r = r ? r : flow_launch(f, p, 0);
	if (!r)
		s->at++;
	if (has_jobs(s) && (r || !flow_launch_is_plain(f, p))) {
		s->plain = false;
		s->mode = WRITE;
	}
	return r;
}

/* The last job stays open for what follows, unless it is kept. */
static int write_all(struct flow *f, struct flow_segment *s)
{
	int r = 0;

	while (!r && s->at < s->count)
		r = write_next(f, s);
	if (r)
		return r;
	if (f->ib && s->timed)
		cs_ib_release_clock(f->ib, s->clock.va + sizeof(uint64_t));
	if (s->mode == KEEP) {
		end_part(s);
		r = flow_close(f);
	}
	s->at = 0;
	return r;
}

/* A job that ends with a part. */
static int use_next(struct flow *f, struct flow_segment *s)
{
	const struct part *part = &s->part[s->used];
	int r = f->ib ? 0 : flow_open(f, true);

	if (r)
		return r;
	s->end = (struct cs_fence){f->queue->ring, cs_ring_last(f->queue->ring).seq + 1};
	r = flow_begin(f, s->packets[s->at].header, 0);
	if (r)
		return r;
	if (!s->at)
		cs_ib_clock(f->ib, s->clock.va);
	cs_ib_chain(f->ib, part->commands);
	s->used++;
	s->at = part->end;
	return 0;
}

static int use_all(struct flow *f, struct flow_segment *s)
{
	bool last;
	int r;

	do {
		r = use_next(f, s);
		last = s->used == s->parts;
		/* Nothing of it is touched once another flow may know that it was executed. */
		if (!r && last) {
			s->timed = true;
			s->at = 0;
		}
		if (!r)
			r = flow_close(f);
	} while (!r && !last);
	return r;
}

int flow_segment_execute(struct flow *f, struct flow_segment *s)
{
	int r;

	if (!s->count)
		return 0;
	r = flow_ensure_queue(f);
	if (r)
		return r;
	if (!s->at)
		begin(s, f);
	/* A clock ends in front of commands that are kept, which are the last of a job. */
	f->kept = s->mode != WRITE;
	if (f->kept && f->ib)
		flow_time_end(f);
	r = s->mode == USE ? use_all(f, s) : write_all(f, s);
	f->kept = false;
	if (!r || r == -EAGAIN || r == -EBUSY)
		return r;
	if (s->at) /* a part of it was executed */
		flow_fail(f, r);
	else /* the open job writes the segment's clock, which may be destroyed now: `end` has to be submitted */
		(void)!flow_close(f); /* an error fails the flow */
	return r;
}

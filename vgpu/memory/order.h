/* The order checker: finds accesses of the same memory by packets and dispatches without an order between them,
 * whatever the order in which they happened to run. One checker for all devices of a process.
 *
 *   actor   an agent that accesses memory: a packet, or a dispatch with all its waves
 *   queue   an entity of kernel/, whose jobs start in order. Its packets are numbered, and its dispatches
 *   clock   work that is known to have happened before: of each queue a number of packets and one of dispatches
 *   shadow  of each dword of memory the last actor that wrote it, and the last two that read it
 *
 * A packet comes after the earlier packets of its queue, and after the dispatches that a flush waited for; a
 * dispatch comes after the work that its packet came after. Further edges: a job's end, before jobs that depend on
 * it; work whose results the CPU may have seen before the ioctl (ends of jobs, words written for the CPU), before
 * that job; and synchronising accesses (polls, end of pipe, fences and words of packets; atomics and coherent loads
 * of waves): a read acquires the clock that the last write of the word released.
 *
 * An unknown order counts as ordered: the checker is silent rather than wrong. A release by a wave covers all of
 * its dispatch and earlier dispatches of its queue.
 *
 * Thread rule: thread safe; a job's packets belong to one thread. One lock, innermost of all. */
#ifndef VGPU_MEMORY_ORDER_H
#define VGPU_MEMORY_ORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem_clock;

/* A job that another one depends on. */
struct mem_after {
	uint64_t queue, seq;
};

/* A job. Owned by engine/; all but the first three members are private to the checker. */
struct mem_order_job {
	uint64_t queue, seq; /* the entity; the number of the job in it */
	uint32_t ring;       /* row of the hardware ring, unique in the process */
	char name[64];       /* for reports */
	int slot;            /* slot of its queue; -1: the job is not checked */
	struct mem_clock *end;
};

/* An actor. Owned by engine/: a packet processor has one for all its packets. Zero at first; all members but where
 * and user are private to the checker. */
struct mem_actor {
	struct mem_order_job *job; /* NULL: not checked */
	void (*where)(const void *user, char *text,
		      size_t text_B); /* writes the position of the packet, for reports */
	const void *user;
	uint32_t id, number; /* 0: the packet has not accessed anything yet */
	bool dispatch;
	bool end_of_pipe;                /* the packet's accesses come after all dispatches before it */
	struct mem_clock *_Atomic clock; /* clock of a dispatch */
	struct mem_clock *launch;        /* borrowed: what clock was at first */
	struct mem_clock *_Atomic released, *_Atomic acquired; /* last; counted */
	struct mem_clock *_Atomic shown; /* clock last released to the CPU; only compared with released */
	struct mem_clock **kept;         /* owned array of counted clocks that waves may still read */
	unsigned kept_count;
	_Atomic uint64_t cpu_version;   /* version of the CPU's clock that it has acquired */
	uint64_t scratch_lo, scratch_B; /* private memory of a dispatch's waves, which needs no order */
};

/* How memory is accessed; both of READ and WRITE: read-modify-write. */
enum {
	MEM_ORDER_READ = 1 << 0,
	MEM_ORDER_WRITE = 1 << 1,
	MEM_ORDER_SYNC = 1 << 2, /* synchronises */
	MEM_ORDER_HOST = 1 << 3, /* memory whose writes the CPU sees at once, and may set itself */
};

/* For each device that checks. False without memory. */
bool mem_order_open(void);
void mem_order_close(void);
/* In a forked child: forgets the parent's devices, whose threads do not exist there. */
void mem_order_forked(void);

/* Clock of the work that the CPU may have seen until now; counted. */
struct mem_clock *mem_order_now(void);
void mem_order_forget(struct mem_clock *clock); /* NULL is fine */

/* The job's packets begin; they come after `after` and `seen` (borrowed; NULL: everything that has ended). */
void mem_order_begin(struct mem_order_job *job, const struct mem_after *after, unsigned count,
		     struct mem_clock *seen);
/* Work so far has ended, for jobs that depend on that number of the queue: a job of a user queue has several. */
void mem_order_signal(struct mem_order_job *job, uint64_t seq);
/* Ends the job's packets; its waves may still run. */
void mem_order_packets_over(struct mem_order_job *job);
void mem_order_end(struct mem_order_job *job);
/* The packets that follow come after all dispatches of the queue. */
void mem_order_flush(struct mem_order_job *job);

/* Moves the packet processor's actor to its next packet. */
static inline void mem_order_next_packet(struct mem_actor *packet)
{
	packet->id = 0;
	packet->end_of_pipe = false;
}

/* Begins a dispatch, after the work that its packet comes after; ends it. */
void mem_order_launch(struct mem_actor *dispatch, struct mem_order_job *job, const char *where);
void mem_order_retire(struct mem_actor *dispatch);

/* Checks an access of size_B bytes at host, whose GPU address is va, and records it. Reports an unordered access.
 * True: a read with MEM_ORDER_SYNC has acquired something. */
bool mem_order_access(struct mem_actor *actor, const uint8_t *host, uint64_t va, uint64_t size_B, unsigned how);
/* The actor saw what the CPU has written just now. */
void mem_order_saw_cpu(struct mem_actor *actor);
/* Whether no actor has written the aligned word of 4 or 8 bytes, as far back as is known. */
bool mem_order_untouched(struct mem_actor *actor, const uint8_t *host, unsigned size_B);

/* --- waves --- */

struct mem_shadow;

/* Cells that a wave looked up last. Zero at first. */
struct mem_order_memo {
	uint32_t actor;      /* actor that they are valid for */
	uint32_t ordered[2]; /* cells that come before: written, read */
	struct mem_shadow *page[4];
};

/* n dwords in a row, whole and aligned, plain. */
void mem_order_row(struct mem_actor *actor, struct mem_order_memo *memo, const uint8_t *host, uint64_t va,
		   unsigned n, unsigned how);
/* Up to 64 bytes. */
void mem_order_bytes(struct mem_actor *actor, struct mem_order_memo *memo, const uint8_t *host, uint64_t va,
		     unsigned size_B, unsigned how);

#endif

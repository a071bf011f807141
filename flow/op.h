/* Operations of flows, as data. */
#ifndef FLOW_OP_H
#define FLOW_OP_H

#include <hsa/hsa.h>

#include "cs/dispatch.h"
#include "sdma/sdma.h"

struct flow;
struct flow_segment;

/* The order of an operation, as HSA's packet headers say it: whether it waits for all before, the scope at which it
 * sees what others wrote, and the scope at which others see what it wrote. */
static inline bool flow_waits(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_BARRIER & 1;
}
static inline unsigned flow_acquires(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE & 3;
}
static inline unsigned flow_releases(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE & 3;
}

enum flow_kind {
	FLOW_DISPATCH,
	FLOW_SEGMENT,
	FLOW_BARRIER, /* nothing but its order and its completion */
	FLOW_STAMP,   /* the GPU's clock counter, when all before has ended */
	FLOW_WAIT,    /* later operations begin behind a point of another flow */
	FLOW_VALUE,   /* ... when memory holds a value */
	FLOW_SYNCOBJ, /* waits for a syncobj of another driver, or signals it */
	FLOW_COPY,    /* a copy by a DMA engine */
	FLOW_CALL, /* a function of the host, called when earlier operations have ended; later ones begin when its
		      call is over */
};

/* How the masked value at an address compares with the given one, unsigned, when the wait ends. */
enum flow_condition { FLOW_GTE, FLOW_EQ, FLOW_ANY, FLOW_NOT_ALL };

struct flow_value {
	const void *at;  /* an address that the CPU reads; a multiple of size_B */
	uint32_t size_B; /* 4, 8 */
	enum flow_condition condition;
	uint64_t value, mask;
	uint32_t process; /* when that has ended, nothing is waited for any more; 0: any may write the value */
};

struct flow_syncobj {
	const struct cs_syncobj *sync; /* borrowed, until end() */
	const _Atomic bool *dropped;   /* lives as long as sync; true: nothing is done */
	uint64_t value; /* the point of a timeline; 0: a binary syncobj, whose fence a wait takes away */
	bool signal;    /* else a wait */
};

/* A copy, or two, the second behind the first. */
struct flow_copy {
	struct sdma_copier *copier[2]; /* borrowed; [1] NULL: one copy */
	struct sdma_job job[2];        /* without fences */
	struct sdma_rect rect;         /* rectangle of the first copy; row_B 0: bytes in a row */
};

/* fn runs on the thread that advances the flow, which holds its lock: it hands the call on, and
 * flow_call_ended(flow) is called when the call is over. */
struct flow_call {
	void (*fn)(struct flow *flow, void *user, bool dropped); /* dropped: it will not be its turn any more */
	void *user;
};

struct flow_op {
	uint8_t kind;            /* enum flow_kind */
	uint16_t header;         /* the order, of FLOW_BARRIER; FLOW_DISPATCH has it in its packet */
	uint64_t completion;     /* the handle of an HSA signal; 0: none. Of FLOW_DISPATCH and FLOW_BARRIER */
	void (*end)(void *user); /* called when it was executed, dropped or refused, with the flow's lock; may be
				    NULL */
	void *user;
	union {
		hsa_kernel_dispatch_packet_t dispatch; /* completion_signal is not read */
		struct flow_segment *segment;          /* borrowed, until the operation has ended */
		uint64_t stamp_va;                     /* 8 bytes, a multiple of 8 */
		struct {
			struct flow *flow; /* a reference is taken while the operation is deferred */
			uint64_t value;
		} wait;
		struct flow_value value;
		struct flow_syncobj syncobj;
		struct flow_copy copy;
		struct flow_call call;
	};
};

#endif

/* Contexts, their queues, jobs, rings: state in the run's segment, guarded by the kernel lock. state.h has the
 * vocabulary of the comments.
 *
 *   kern_ctx     a context of a file; owns its entities
 *   kern_entity  a queue of jobs: one (context, IP, ring)
 *   kern_job     one submission on one ring; owned by its ring until it is finished
 *   kern_ring    a hardware ring as one process uses it */
#ifndef VGPU_KERNEL_BASE_STATE_SCHED_H
#define VGPU_KERNEL_BASE_STATE_SCHED_H

#include <stdbool.h>
#include <stdint.h>
#include "vgpu/engine/engine.h"
#include "vgpu/kernel/base/state_gem.h"

#define KERN_IPS         3  /* GFX, COMPUTE, DMA: the rest has no block on these chips' compute path */
#define KERN_IP_ENTITIES 4  /* entities of one IP in a context: COMPUTE has the most */
#define KERN_SCHED_JOBS  32 /* unfinished jobs of an entity before CS blocks (amdgpu.sched_jobs) */

struct kern_view;

struct kern_entity {
	struct kern_ctx *ctx; /* borrowed */
	uint8_t ip, ring;
	int8_t hw;                                 /* hardware ring it is attached to; -1: none yet */
	bool counted;                              /* among the users of its context's partition */
	uint64_t fence_context;                    /* immutable */
	uint64_t seq;                              /* next sequence number; the first job has 1 */
	unsigned queued;                           /* jobs not yet finished */
	uint64_t scheduled;                        /* sequence number of the last job on the hardware */
	int error;                                 /* error of that job, or of a job that was cancelled before */
	struct kern_fence *fence[KERN_SCHED_JOBS]; /* counted; of sequence numbers seq-32 .. seq-1 */
	uint64_t scan;                             /* scratch of the scheduler */
};

struct kern_ctx {
	unsigned refs;
	uint32_t id; /* in its file, immutable */
	struct kern_device *dev;
	uint8_t partition; /* immutable, as of its file */
	int32_t priority;
	bool guilty;
	uint64_t generation;               /* VRAM generation when made, immutable */
	uint32_t reset_count, reset_query; /* device counter when made; at the last QUERY */
	uint32_t pstate;
	struct kern_entity entity[KERN_IPS][KERN_IP_ENTITIES];
	struct kern_entity absent; /* entity of all video IPs, which never has a job */
};

struct kern_job {
	struct kern_list link;       /* in ring->jobs until finished */
	struct kern_ring *ring;      /* borrowed: belongs to the submitting process */
	struct kern_entity *entity;  /* borrowed through ctx */
	struct kern_ctx *ctx;        /* counted */
	struct kern_vm *vm;          /* counted */
	struct kern_bo_list *list;   /* counted; NULL: none */
	struct kern_view *view;      /* counted; in the memory of the process that submits and runs it */
	struct kern_fence *finished; /* counted */
	struct kern_bo *user_fence;  /* counted; NULL: none */
	uint32_t user_fence_offset;
	struct kern_fence **dep;           /* owned array of counted fences */
	unsigned deps, dep_room, dep_next; /* dependencies before dep_next are signalled */
	struct kern_waker waker;           /* on dep[dep_next] */
	uint64_t vm_version;               /* when it was submitted */
	bool on_hw;                        /* handed to the ring: scheduled */
	bool running;                      /* a thread of the ring has it */
	bool cancelled;                    /* a reset of its ring cancelled it */
	int lost;                          /* error of its entity when it was handed to the ring */
	bool pipeline_sync;                /* depends on an earlier job of its entity */
	uint64_t ring_resets;              /* device's count for the ring when the job started */
	uint64_t seq;
	struct mem_after *after; /* owned array: which jobs the dependencies are */
	unsigned afters, after_room;
	uint64_t scan; /* stamp of the fences that its dependencies are made of */
	struct mem_clock
		*seen; /* owned by the engine of the submitting process: what the CPU may have seen before */
	uint32_t gws_base, gws_count; /* resources of global wave sync that it has */
	uint64_t gws_given;
	uint64_t ib_hash;   /* hash of the IBs at submission; 0: not computed */
	uint64_t traced_ns; /* when it was submitted, then when it began; 0: no record is kept */
	unsigned ib_count;
	struct engine_ib ib[];
};

/* A hardware ring as one process uses it: jobs that its threads have not finished. */
struct kern_ring {
	struct kern_device *dev; /* immutable */
	uint8_t ip, index;       /* immutable */
	uint32_t proc;           /* slot, immutable */
	_Atomic uint32_t word;   /* futex: changes when there may be work */
	_Atomic uint32_t asleep; /* threads that sleep on word; seq_cst with word */
	bool stop;
	struct kern_list jobs; /* in order of submission */
	unsigned on_hw;
	uint64_t last_context; /* fence context of the last job that was handed to the ring */
};

#endif

/* Internal interface of cs/: the structures behind cs.h, with owner and lock of each member, and the functions that
 * the files share. */
#ifndef CS_INTERNAL_H
#define CS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <amdgpu_drm.h>

#include "drv/lock.h"
#include "cs/dispatch.h"
#include "vm/suballoc.h"

/* IB memory of one ring comes in chunks: commands grow up from the bottom, data down from the top. */
#define CS_CHUNK_B    65536u
#define CS_CHUNKS_MAX 64

struct cs_chunk {
	struct vm_suballoc mem; /* owned */
	struct cs_chunk *next;  /* the next younger chunk */
	uint64_t last_seq;      /* last job that uses the chunk; CS_OPEN: the open job */
};
#define CS_OPEN UINT64_MAX

/* Most rings of one IP. The fence page has room for these, and for one user queue. */
#define CS_RINGS_MAX 8
#define CS_SLOT_USER (DRV_IP_COUNT * CS_RINGS_MAX)
#define CS_SLOTS     (CS_SLOT_USER + 1)

struct cs_ctx {
	struct vm *vm; /* borrowed */
	uint32_t id;   /* owned: the kernel's context */
	enum cs_priority priority;
	struct vm_mem *fences; /* owned; the user fence page: one sequence word per ring */
	_Atomic int lost;      /* 0, -ECANCELED or -ENODEV; never goes back to 0 */
	/* A job of the context hung, according to that job's fence; when killing its waves was enough, the kernel
	 * does not count this against the context. Atomic, relaxed: orders nothing. */
	_Atomic bool guilty;
	struct drv_mutex lock;          /* guards ring */
	struct cs_ring *ring[CS_SLOTS]; /* borrowed: the existing rings, by IP and index */
};

/* Scratch of one ring. Wave slots are numbered per queue, so no two rings may share a buffer. */
struct cs_scratch {
	struct vm_mem *mem;    /* owned; NULL: none yet */
	uint32_t units, waves; /* fields of TMPRING_SIZE; waves of the whole device */
	uint32_t size_reg;     /* value of TMPRING_SIZE */
	bool changed;          /* the layout has changed, and no job with a barrier for it is submitted yet */
	struct cs_old_scratch {
		struct cs_old_scratch *next;
		struct vm_mem *mem; /* owned */
		uint64_t seq;       /* last job that may use it */
	} *old;
};

struct cs_ring {
	struct cs_ctx *ctx;           /* borrowed */
	const struct drv_device *dev; /* borrowed: the context's */
	enum drv_ip_type ip;
	unsigned index;
	cs_print_fn *print;
	struct cs_user_queue *user; /* owned; NULL: a ring of the kernel's */
	bool gws;                   /* jobs of the ring list the GWS resource */
	bool log;                   /* submissions or IBs are logged */
	uint32_t align_B;           /* alignment of an IB's address */

	/* Sequence word, written by the GPU, in the context's fence page. */
	const _Atomic uint64_t *word;
	_Atomic uint64_t last;      /* last submitted job; written under the lock */
	_Atomic uint64_t first_bad; /* after a loss: the first job that did not end well */

	struct drv_lock lock; /* guards all below; held from cs_begin() to cs_submit() */
	struct cs_ib ib;
	struct cs_chunk *oldest, *current, *ib_first; /* owned list, in order of use */
	unsigned chunks;
	uint32_t cmd_B, data_B; /* offsets in the current chunk: end of the commands, start of the data */
	struct cs_scratch scratch;
	struct vm_suballoc queue; /* amd_queue_t, for kernels that require it; owned */
	uint64_t dispatches;

	/* Input of the CS ioctl; the constant part is filled once. */
	struct drm_amdgpu_cs_in in;
	struct drm_amdgpu_cs_chunk_ib ib_args[CS_SEGMENTS_MAX];
	struct drm_amdgpu_cs_chunk_fence fence_args;
	struct drm_amdgpu_cs_chunk_dep dep[CS_AFTER_MAX];
	struct drm_amdgpu_cs_chunk_syncobj wait[CS_SYNCS_MAX], signal[CS_SYNCS_MAX];
	struct cs_syncobj foreign[CS_SYNCS_MAX]; /* owned during cs_submit(): fences of other devices, imported */
	struct drm_amdgpu_cs_chunk ib_arg[CS_SEGMENTS_MAX], fence_arg, dep_arg, wait_arg, signal_arg;
	uint64_t arg_pointer[CS_SEGMENTS_MAX + 4]; /* fence, IBs, dependencies, syncobjs */
	unsigned deps, waits, signals, foreigns;   /* entries of this job in the arrays above */
	uint32_t sink[CS_ROOM_MAX];                /* destination of dwords after memory has run out */
};

/* The GPU's address of the sequence word. */
static inline uint64_t cs_ring_word_va(const struct cs_ring *ring)
{
	return ring->ctx->fences->va + ((uintptr_t)ring->word - (uintptr_t)ring->ctx->fences->map);
}

/* --- user_queue.c ------------------------------------------------------------------------------- */

/* Makes the ring a user queue. */
DRV_MUST_CHECK int cs_user_queue_create(struct cs_ring *ring);
/* Stops it and frees its memory. Accepts a ring without one. */
void cs_user_queue_destroy(struct cs_ring *ring);
/* Makes the next job wait for a fence of any ring of the vm. Caller holds the ring's lock. */
DRV_MUST_CHECK int cs_user_queue_after(struct cs_ring *ring, struct cs_fence fence);
void cs_user_queue_forget(struct cs_ring *ring);
/* Submits the ring's IB after the collected work. Caller holds the ring's lock. */
DRV_MUST_CHECK int cs_user_queue_submit(struct cs_ring *ring, uint64_t *seq);
/* Submits an IB. Caller holds the ring's lock; there is room for it, and no update of the page tables is pending. */
void cs_user_queue_push(struct cs_ring *ring, uint64_t ib_va, uint32_t ib_dw, uint64_t seq);
/* Gives the syncobj a fence that signals when the jobs so far have ended. One ioctl. */
DRV_MUST_CHECK int cs_user_queue_signal(struct cs_ring *ring, const struct cs_syncobj *sync);
/* The same for a syncobj of the queue's own: good until any thread calls it again. */
DRV_MUST_CHECK int cs_user_queue_end(struct cs_ring *ring, const struct cs_syncobj **end);
/* Sleeps until the job has ended, the deadline (0: a query), or for some milliseconds: 0, -ETIMEDOUT, or the loss of
 * the queue. */
DRV_MUST_CHECK int cs_user_queue_wait(struct cs_fence fence, uint64_t deadline_ns);

/* The deadline of a sleep on a syncobj of a queue, whose fence may be later than the one that is waited for: near. */
uint64_t cs_user_queue_deadline(uint64_t deadline_ns);

/* Sleeps until the syncobj's present fence signals, or the deadline on CLOCK_MONOTONIC: 0, -ETIMEDOUT. */
DRV_MUST_CHECK int cs_syncobj_sleep(const struct cs_syncobj *sync, uint64_t deadline_ns);

/* True for an error by which the kernel reports lost work, rather than a refused call. */
bool cs_is_loss(int r);
/* Marks the context lost with the error r; first_bad: the job that failed. Gives the error for the caller. */
int cs_ring_lose(struct cs_ring *ring, int r, uint64_t first_bad);

DRV_MUST_CHECK int cs_ib_arena_init(struct cs_ring *ring);
void cs_ib_arena_fini(struct cs_ring *ring);
/* Opens the first segment of a job; closes the last. */
void cs_ib_arena_open(struct cs_ring *ring);
void cs_ib_arena_close(struct cs_ring *ring);
/* Records the last user of the chunks: the job seq after a submission, or the ring's last job when the IB was
 * dropped. */
void cs_ib_arena_commit(struct cs_ring *ring, uint64_t seq);
/* Ends a recording, after cs_ib_arena_commit(): takes the recorded commands from the arena, or frees them if the
 * job was not submitted. */
void cs_ib_arena_record_end(struct cs_ring *ring, bool submitted);

/* Makes sure that the scratch buffer has room for at least min_waves waves, a multiple of the shader engines, of
 * `lanes` lanes that need private_B each; may append a barrier when the layout changes. -EINVAL: more than the chip
 * supports; -ENOMEM. */
DRV_MUST_CHECK int cs_scratch_ensure(struct cs_ib *ib, uint32_t private_B, unsigned lanes, uint32_t min_waves);
/* Most work-items of a workgroup of such waves whose registers fit the SIMDs of a unit. */
uint32_t cs_fit_threads(const struct drv_chip *chip, uint32_t rsrc1, unsigned lanes);
/* Most waves with scratch that run at a time on one ring. */
uint32_t cs_scratch_waves_max(const struct drv_device *dev);
void cs_scratch_retire(struct cs_ring *ring, bool all);

#define IB_PAD_DW 8 /* every ring needs IBs of a multiple of this */
/* First offset in the current chunk at which an IB may begin, when jobs up to `completed` have ended. */
static inline uint32_t cs_ib_arena_place(struct cs_ring *ring, uint64_t completed)
{
	if (completed >= ring->current->last_seq) {
		ring->cmd_B = 0;
		ring->data_B = CS_CHUNK_B;
	}
	return (ring->cmd_B + ring->align_B - 1) & ~(ring->align_B - 1);
}

/* Collects the fences that the job waits for and signals in the ring's arguments; undone by
 * cs_submit_info_release(). */
DRV_MUST_CHECK int cs_submit_info_collect(struct cs_ring *ring, const struct cs_submit_info *info);
void cs_submit_info_release(struct cs_ring *ring);
/* Appends the CS chunks of the collected fences to arg_pointer[chunks..]; gives the new count. */
unsigned cs_submit_info_chunks(struct cs_ring *ring, unsigned chunks);

/* Creates a descriptor of a syncobj that holds the kernel fence; the caller closes it. */
DRV_MUST_CHECK int cs_fence_export(struct cs_fence fence, int *fd);

/* Deadline on CLOCK_MONOTONIC of a wait that begins at the call and takes timeout_ns; INT64_MAX: never. */
uint64_t cs_deadline_ns(int64_t timeout_ns);

/* Queries the kernel fence without waiting: 0, or the loss that it reports, after marking the context. */
DRV_MUST_CHECK int cs_kernel_fence_query(struct cs_fence fence);

/* Appends the first packets of each compute IB. */
void cs_ib_prologue(struct cs_ib *ib);
/* Writes the constant registers of a generation that has some; gives the end. */
static inline uint32_t *cs_put_constants(uint32_t *p, const struct cs_pm4 *pm4)
{
	memcpy(p, pm4->constants, sizeof(pm4->constants));
	return p + pm4->constants_dw;
}
static inline uint64_t cs_completed_seq(const struct cs_ring *ring)
{
	/* Acquire: pairs with the GPU's write-back before it writes the word. */
	return atomic_load_explicit(ring->word, memory_order_acquire);
}

static inline uint32_t cs_lo(uint64_t value)
{
	return (uint32_t)value;
}

static inline uint32_t cs_hi(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

#endif

/* User queues: rings whose jobs go to the GPU by a store, past the kernel. Linux 6.16 and newer, if the administrator
 * has turned them on. Sources: Linux amdgpu_userq.c, amdgpu_userq_fence.c, mes_userqueue.c; Mesa's amdgpu_userq.c and
 * amdgpu_cs.cpp, which has the packets.
 *
 * A job is a slot of the ring: HDP flush (the CPU may have written commands and arguments to VRAM), a call of the
 * IB, the write of the sequence word behind the job's last cache write-back, and the signal of the queue's kernel
 * fence. Fences that the job waits for are slots before it, which poll the sequence words of other rings: the
 * kernel's rings have such words as well. No job polls for a later one, so rings cannot wait for each other.
 *
 * What the kernel's scheduler has to wait for (fences of other devices, syncobjs), and syncobjs that are to signal,
 * go through jobs without commands on a ring of the kernel's: the gate.
 *
 * A thread that sleeps gets a fence of the kernel for the ring's present end (USERQ_SIGNAL); that may be later than
 * the job, so it sleeps for a while only, and then looks at the word.
 *
 * Loss. The kernel has no fence for each job. From Linux 7.0 on it ends a pending fence after its time limit, and
 * the queue with it: then the fence has signaled and the word is behind. Before, nothing ends a job that hangs, so a
 * sleeping thread gives the queue up when the word has not moved for STUCK_NS. A queue that is lost is freed, and
 * runs no more. */
#include "cs/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cs/pm4.h"
#include "drv/clock.h"
#include "drv/uapi.h"

#define RING_B  65536u
#define SLOT_DW 16u /* a cache line */
#define SLOTS   (RING_B / (SLOT_DW * 4))
/* Words that one slot polls. Firmware of APUs takes 4 (Mesa). */
#define SLOT_WORDS      3
#define SLOTS_OF(words) (((words) + SLOT_WORDS - 1) / SLOT_WORDS)
/* Fences, and the gate's. */
#define WORDS_MAX (CS_AFTER_MAX + 1)
_Static_assert(CS_JOBS_MAX * (1 + SLOTS_OF(WORDS_MAX)) <= SLOTS, "the unfinished jobs fit the ring");

#define EOP_B       2048 /* Linux checks the size */
#define DOORBELL    0
#define POLL_CLOCKS 4
#define SLEEP_NS    10000000    /* sleep of a thread before it looks at the word */
#define STUCK_NS    60000000000 /* Linux's limit for compute rings of the same releases */

struct cs_user_queue {
	struct vm_mem *ring, *rptr, *wptr, *eop; /* owned; Linux wants a page for each pointer */
	struct vm_doorbell doorbell;             /* owned */
	uint32_t id;                             /* owned: the kernel's queue */
	struct cs_ring *gate;        /* owned; NULL: not needed yet. Guarded by the ring's lock, as is: */
	uint64_t slots;              /* written so far */
	uint32_t job[SLOT_DW];       /* a job's slot, without IB and number */
	uint64_t word[WORDS_MAX][2]; /* words that the next job polls: address and value */
	unsigned words;
	struct drv_mutex lock;  /* guards all below */
	struct cs_syncobj end;  /* owned: fence of the ring's end when it was last asked for */
	_Atomic bool freed;     /* the kernel has no such queue any more */
	uint64_t seen, seen_ns; /* the sequence word when a sleeper looked, and since when it has been so */
};

/* --- making and ending -------------------------------------------------------------------------- */

static void fill_job(const struct cs_ring *ring, uint32_t *p, uint64_t word_va)
{
	*p++ = PM4_HEADER(PM4_HDP_FLUSH, 1);
	*p++ = 0;
	*p++ = PM4_HEADER(PM4_INDIRECT_BUFFER, 3);
	p += 3;
	*p++ = PM4_HEADER(PM4_RELEASE_MEM, 7);
	*p++ = ring->ib.pm4->release[CS_SCOPE_SYSTEM] | RELEASE_POLICY_BYPASS;
	*p++ = RELEASE_DATA_64;
	cs_put_64(p, word_va);
	p += 4;
	*p++ = 0;
	*p++ = PM4_HEADER(PM4_PROTECTED_FENCE_SIGNAL, 1);
	*p = 0;
}
enum job_dw { JOB_IB_VA = 3, JOB_IB_DW = 5, JOB_SEQ = 11 };

static int memory_create(struct cs_user_queue *q, struct vm *vm)
{
	const struct vm_info page = {.size_B = 4096, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	const struct vm_info ring = {.size_B = RING_B, .kind = VM_GTT, .flags = page.flags};
	const struct vm_info eop = {.size_B = EOP_B, .kind = VM_VRAM, .flags = VM_RESIDENT};
	int r = vm_mem_create(vm, &ring, &q->ring);

	r = r ? r : vm_mem_create(vm, &page, &q->rptr);
	r = r ? r : vm_mem_create(vm, &page, &q->wptr);
	r = r ? r : vm_mem_create(vm, &eop, &q->eop);
	r = r ? r : vm_doorbell_create(vm, &q->doorbell);
	r = r ? r : cs_syncobj_init(vm, false, &q->end);
	if (r)
		return r;
	memset(q->ring->map, 0, RING_B);
	memset(q->rptr->map, 0, page.size_B);
	memset(q->wptr->map, 0, page.size_B);
	return vm_updates_wait(vm);
}

static void memory_destroy(struct cs_user_queue *q)
{
	cs_syncobj_fini(&q->end);
	vm_doorbell_destroy(&q->doorbell);
	vm_mem_destroy(q->eop);
	vm_mem_destroy(q->wptr);
	vm_mem_destroy(q->rptr);
	vm_mem_destroy(q->ring);
}

static int kernel_create(struct cs_ring *ring)
{
	static const uint32_t kernel_priority[CS_PRIORITIES] = {
		[CS_PRIORITY_NORMAL] = DRV_UAPI_USERQ_NORMAL_LOW,
		[CS_PRIORITY_LOW] = DRV_UAPI_USERQ_LOW,
		[CS_PRIORITY_HIGH] = DRV_UAPI_USERQ_NORMAL_HIGH,
		[CS_PRIORITY_VERY_HIGH] = DRV_UAPI_USERQ_HIGH,
	};
	struct cs_user_queue *q = ring->user;
	struct drv_uapi_userq_compute mqd = {.eop_va = q->eop->va};
	union drv_uapi_userq args = {
		.in = {.op = DRV_UAPI_USERQ_CREATE,
		       .ip_type = DRV_IP_COMPUTE,
		       .doorbell_handle = q->doorbell.handle,
		       .doorbell_offset = DOORBELL,
		       .flags = kernel_priority[ring->ctx->priority],
		       .queue_va = q->ring->va,
		       .queue_size = RING_B,
		       .rptr_va = q->rptr->va,
		       .wptr_va = q->wptr->va,
		       .mqd = (uintptr_t)&mqd,
		       .mqd_size = sizeof(mqd)},
	};
	int r = drv_ioctl(ring->dev, DRV_UAPI_IOCTL_USERQ, &args);

	if (r)
		return drv_fail(r, "USERQ create");
	q->id = args.out.queue_id;
	return 0;
}

static void kernel_free(struct cs_ring *ring)
{
	struct cs_user_queue *q = ring->user;
	union drv_uapi_userq args = {.in = {.op = DRV_UAPI_USERQ_FREE, .queue_id = q->id}};

	/* Freeing fails only when the device is gone, and the queue with it. */
	if (q->id && !atomic_exchange(&q->freed, true))
		(void)!drv_ioctl(ring->dev, DRV_UAPI_IOCTL_USERQ, &args);
}

/* The queue runs no more. */
static int give_up(struct cs_ring *ring)
{
	kernel_free(ring);
	return -ECANCELED;
}

int cs_user_queue_create(struct cs_ring *ring)
{
	struct cs_user_queue *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return drv_fail(-ENOMEM, "no host memory for a user queue");
	ring->user = q;
	drv_mutex_init(&q->lock, DRV_RANK_CS_USER_QUEUE);
	fill_job(ring, q->job, cs_ring_word_va(ring));
	r = memory_create(q, ring->ctx->vm);
	r = r ? r : kernel_create(ring);
	if (r)
		cs_user_queue_destroy(ring);
	return r;
}

void cs_user_queue_destroy(struct cs_ring *ring)
{
	struct cs_user_queue *q = ring->user;

	if (!q)
		return;
	kernel_free(ring);
	cs_ring_destroy(q->gate);
	memory_destroy(q);
	drv_mutex_destroy(&q->lock);
	free(q);
	ring->user = NULL;
}

/* --- submission; the ring's lock is held -------------------------------------------------------- */

static inline uint32_t *slot_next(struct cs_user_queue *q)
{
	return (uint32_t *)q->ring->map + q->slots++ % SLOTS * SLOT_DW;
}

/* Memory first, then the pointer in memory, then the doorbell. The fences are for write-combined memory: commands and
 * arguments of the job. */
static inline void slots_publish(const struct cs_user_queue *q)
{
	__builtin_ia32_sfence();
	atomic_store_explicit((_Atomic uint64_t *)q->wptr->map, q->slots * SLOT_DW, memory_order_release);
	__builtin_ia32_sfence();
	atomic_store_explicit(&q->doorbell.map[DOORBELL], q->slots * SLOT_DW, memory_order_relaxed);
}

void cs_user_queue_push(struct cs_ring *ring, uint64_t ib_va, uint32_t ib_dw, uint64_t seq)
{
	struct cs_user_queue *q = ring->user;
	uint32_t *slot = slot_next(q);

	memcpy(slot, q->job, sizeof(q->job));
	cs_put_64(slot + JOB_IB_VA, ib_va);
	slot[JOB_IB_DW] = ib_dw | IB_VALID | IB_INHERIT_VMID;
	cs_put_64(slot + JOB_SEQ, seq);
	slots_publish(q);
}

/* Writes slots that wait until each of the words has its value. */
static void put_words(struct cs_user_queue *q)
{
	for (unsigned done = 0; done < q->words;) {
		unsigned now = q->words - done < SLOT_WORDS ? q->words - done : SLOT_WORDS;
		uint32_t *p = slot_next(q);

		*p++ = PM4_HEADER(PM4_FENCE_WAIT_MULTI, 1 + 4 * now);
		*p++ = FENCE_WAIT_ENGINE | FENCE_WAIT_PREEMPTABLE | POLL_CLOCKS << FENCE_WAIT_POLL_SHIFT;
		memcpy(p, q->word[done], now * sizeof(q->word[0]));
		p[4 * now] = PM4_NOP(SLOT_DW - 2 - 4 * now);
		done += now;
	}
	q->words = 0;
}

int cs_user_queue_after(struct cs_ring *ring, struct cs_fence fence)
{
	struct cs_user_queue *q = ring->user;

	if (q->words == CS_AFTER_MAX)
		return drv_fail(-EINVAL, "a job that waits for more than %u fences", CS_AFTER_MAX);
	q->word[q->words][0] = cs_ring_word_va(fence.ring);
	q->word[q->words++][1] = fence.seq;
	return 0;
}

void cs_user_queue_forget(struct cs_ring *ring)
{
	ring->user->words = 0;
}

static int gate_ensure(struct cs_ring *ring)
{
	unsigned index = (unsigned)__builtin_ctz(ring->dev->facts.ip[DRV_IP_COMPUTE].rings);
	struct cs_ring **gate = &ring->user->gate;
	int r = *gate ? 0 : cs_ring_create(ring->ctx, DRV_IP_COMPUTE, index, ring->print, gate);

	if (!r)
		drv_lock_set_rank(&(*gate)->lock, DRV_RANK_CS_GATE);
	return r;
}

/* Submits a job without commands, hence without memory, to the kernel's ring, which is there, with syncobjs to wait for and to
 * signal. */
static int gate_submit(struct cs_ring *ring, const struct drm_amdgpu_cs_chunk_syncobj *wait, unsigned waits,
		       const struct drm_amdgpu_cs_chunk_syncobj *signal, unsigned signals, struct cs_fence *fence)
{
	struct cs_ring *gate = ring->user->gate;
	struct cs_ib *ib;
	int r = cs_begin(gate, CS_RESIDENT, &ib);

	if (r)
		return r;
	for (unsigned i = 0; i < waits; i++)
		gate->wait[i] = wait[i];
	for (unsigned i = 0; i < signals; i++)
		gate->signal[i] = signal[i];
	gate->waits = waits;
	gate->signals = signals;
	r = cs_submit(ib, NULL, fence);
	gate->waits = gate->signals = 0;
	return r;
}

/* The job waits for the syncobjs that were collected. */
static int wait_for_syncobjs(struct cs_ring *ring)
{
	struct cs_fence fence;
	int r = ring->waits ? gate_submit(ring, ring->wait, ring->waits, NULL, 0, &fence) : 0;

	return r || !ring->waits ? r : cs_user_queue_after(ring, fence);
}

/* The syncobjs that were collected signal when the job has ended. */
static int signal_syncobjs(struct cs_ring *ring)
{
	struct drm_amdgpu_cs_chunk_syncobj wait;
	const struct cs_syncobj *end;
	int r = ring->signals ? cs_user_queue_end(ring, &end) : 0;

	if (r || !ring->signals)
		return r;
	wait = (struct drm_amdgpu_cs_chunk_syncobj){.handle = end->handle};
	return gate_submit(ring, &wait, 1, ring->signal, ring->signals, NULL);
}

/* What needs memory comes before the job: a job that the queue has cannot be taken back. */
int cs_user_queue_submit(struct cs_ring *ring, uint64_t *seq)
{
	const struct cs_segment *ib = &ring->ib.segment[0];
	int r = vm_updates_wait(ring->ctx->vm);

	if (!r && (ring->waits || ring->signals))
		r = gate_ensure(ring);
	r = r ? r : wait_for_syncobjs(ring);
	if (r)
		return r;
	put_words(ring->user);
	cs_user_queue_push(ring, ib->va, ib->dw, ring->last + 1);
	*seq = ring->last + 1;
	r = signal_syncobjs(ring);
	return r && r != -ENODEV ? give_up(ring) : r;
}

/* --- fences of the kernel ----------------------------------------------------------------------- */

int cs_user_queue_signal(struct cs_ring *ring, const struct cs_syncobj *sync)
{
	struct drv_uapi_userq_signal args = {
		.queue_id = ring->user->id,
		.syncobj_handles = (uintptr_t)&sync->handle,
		.num_syncobj_handles = 1,
	};
	int r = ring->user->freed ? -ECANCELED : drv_ioctl_insist(ring->dev, DRV_UAPI_IOCTL_USERQ_SIGNAL, &args);

	return r && !cs_is_loss(r) ? drv_fail(r, "USERQ_SIGNAL") : r;
}

int cs_user_queue_end(struct cs_ring *ring, const struct cs_syncobj **end)
{
	*end = &ring->user->end;
	return cs_user_queue_signal(ring, *end);
}

/* The word has not moved for longer than any job may take. Linux 7.0 and newer end such jobs themselves. */
static bool is_stuck(struct cs_ring *ring)
{
	struct cs_user_queue *q = ring->user;
	uint64_t word = cs_completed_seq(ring), now = drv_now_ns();
	bool stuck;

	drv_mutex_lock(&q->lock);
	if (!q->seen_ns || q->seen != word) {
		q->seen = word;
		q->seen_ns = now;
	}
	stuck = now - q->seen_ns > STUCK_NS;
	drv_mutex_unlock(&q->lock);
	return stuck;
}

uint64_t cs_user_queue_deadline(uint64_t deadline_ns)
{
	uint64_t soon_ns = deadline_ns ? drv_now_ns() + SLEEP_NS : 0;

	return deadline_ns < soon_ns ? deadline_ns : soon_ns;
}

int cs_user_queue_wait(struct cs_fence fence, uint64_t deadline_ns)
{
	struct cs_ring *ring = fence.ring;
	const struct cs_syncobj *end;
	int r;

	if (cs_completed_seq(ring) >= fence.seq)
		return 0;
	r = cs_user_queue_end(ring, &end);
	if (!r)
		r = cs_syncobj_sleep(end, cs_user_queue_deadline(deadline_ns));
	if (cs_completed_seq(ring) >= fence.seq)
		return 0;
	if (!r || (r == -ETIMEDOUT && is_stuck(ring)))
		return give_up(ring);
	return r;
}

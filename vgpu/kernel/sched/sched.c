/* Hardware rings: a process that uses a ring has a thread for it, and a second one as soon as two jobs were there
 * at once. A thread takes jobs whose dependencies are met, in the order of submission within an entity and by
 * priority between entities, and runs each to its end; two threads let the jobs overlap as on hardware. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <amdgpu_drm.h>
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/host_time.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/fault.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/gem/vmid.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sched/ib_hash.h"
#include "vgpu/kernel/sync/fence.h"

#define FLUSH_NS 1000000000u /* the kernel's MAX_WAIT_SCHED_ENTITY_Q_EMPTY */

/* This process's threads, by [device][ip][ring]. Guarded by the kernel lock. */
struct ring_threads {
	unsigned started;
	pthread_t thread[KERN_HW_JOBS];
	struct kern_ring *ring;
	struct engine_ring *engine;
};
static_assert(KERN_HW_JOBS <= ENGINE_RING_JOBS, "each job on the hardware has a place on its ring");
static struct ring_threads threads[KERN_DEVICES][KERN_IPS][KERN_HW_RINGS];
static struct engine_device *engines[KERN_DEVICES];

/* --- running --- */

static void ring_kick(struct kern_ring *ring)
{
	atomic_fetch_add(&ring->word, 1);
	if (atomic_load(&ring->asleep))
		kern_futex_wake(&ring->word);
}

/* True when all dependencies of the job are signalled; else the first pending fence wakes the job's ring. */
static bool job_ready(struct kern_job *job)
{
	while (job->dep_next < job->deps) {
		struct kern_fence *f = job->dep[job->dep_next];

		if (!f->signalled) {
			kern_list_del(&job->waker.link);
			job->waker.word = &job->ring->word;
			kern_list_add_tail(&f->waitq.wakers, &job->waker.link);
			return false;
		}
		job->dep_next++;
	}
	return true;
}

/* The next job to hand to the hardware. */
static struct kern_job *ring_pick(struct kern_ring *ring)
{
	uint64_t scan = ++kern->next_id;
	struct kern_job *best = NULL;
	struct kern_list *pos, *tmp;

	kern_list_each(pos, tmp, &ring->jobs) {
		struct kern_job *job = kern_entry(pos, struct kern_job, link);

		if (job->on_hw || job->entity->scan == scan)
			continue;
		job->entity->scan = scan; /* only an entity's first waiting job may start */
		if (!job_ready(job))
			continue;
		if (!best || job->ctx->priority > best->ctx->priority)
			best = job;
	}
	return best;
}

static void ring_fill(struct kern_ring *ring)
{
	struct kern_job *job;

	while (ring->on_hw < KERN_HW_JOBS && (job = ring_pick(ring))) {
		job->on_hw = true;
		job->ring_resets = ring->dev->hw[ring->ip][ring->index].resets;
		job->lost = kern_profile_of(ring->dev)->sticky_errors ? job->entity->error : 0;
		job->entity->scheduled = job->seq;
		kern_vm_landed(job->vm, job->vm_version);
		ring->on_hw++;
		/* Inserts it after the jobs on the hardware, which come first in the list. */
		kern_list_del(&job->link);
		struct kern_list *at = ring->jobs.next;
		for (unsigned i = 1; i < ring->on_hw; i++)
			at = at->next;
		kern_list_add_tail(at, &job->link);
		kern_fence_signal(job->finished->scheduled, 0);
	}
}

/* The oldest job on the hardware that no thread has. */
static struct kern_job *ring_next(struct kern_ring *ring)
{
	struct kern_list *pos, *tmp;

	ring_fill(ring);
	kern_list_each(pos, tmp, &ring->jobs) {
		struct kern_job *job = kern_entry(pos, struct kern_job, link);

		if (!job->running)
			return job->on_hw ? job : NULL;
	}
	return NULL;
}

void kern_job_write_user_fence(const struct kern_job *job)
{
	uint8_t *host;

	if (!job->user_fence)
		return;
	host = kern_bo_host(job->user_fence) + job->user_fence_offset;
	if ((uintptr_t)host % 8)
		memcpy(host, &job->seq, 8);
	else
		__atomic_store_n((uint64_t *)host, job->seq, __ATOMIC_RELEASE);
}

void kern_job_finish(struct kern_job *job, int error)
{
	struct kern_ring *ring = job->ring;
	struct kern_entity *entity = job->entity;

	kern_list_del(&job->link);
	if (job->on_hw)
		ring->on_hw--;
	ring->dev->hw[ring->ip][ring->index].score--;
	entity->queued--;
	if (error && !job->on_hw)
		entity->error = error;
	else if (job->seq == entity->scheduled)
		entity->error =
			error; /* drm_sched_entity_error(): error of the last job that was handed to the ring */
	kern_fault_job_ended(job->vm);
	kern_fence_signal(job->finished->scheduled, 0);
	kern_fence_signal(job->finished, error);
	if (ring->proc == kern_local.slot) {
		kern_view_put(job->view);
		engine_forget(job->seen);
	}
	kern_job_destroy(job);
	kern_bo_bury();
}

/* The error of a job before it runs, or whatever its result: of its entity, of the device, of a ring that was
 * reset meanwhile. */
static int job_lost(const struct kern_job *job)
{
	const struct kern_ring *ring = job->ring;

	if (job->cancelled || (job->on_hw && job->ring_resets != ring->dev->hw[ring->ip][ring->index].resets))
		return -ECANCELED;
	if (job->lost)
		return job->lost;
	if (ring->dev->unplugged)
		return -ENODEV;
	if (job->ctx->guilty || job->ctx->generation != ring->dev->generation)
		return -ECANCELED;
	for (unsigned i = 0; i < job->ib_count; i++)
		if (job->ib[i].flags & UAPI_IB_FLAG_SECURE) /* no ring of these chips has TMZ */
			return -EINVAL;
	return 0;
}

static uint32_t ring_row(const struct kern_ring *ring)
{
	return vgpu_trace_ring(ring->dev->index, ring->ip, ring->index);
}

static uint64_t job_id(const struct kern_job *job)
{
	return job->entity->fence_context << 32 | (uint32_t)job->seq;
}

static void record_submission(struct kern_job *job)
{
	vgpu_log("gpu%u %s %u: job %llu of context %u is submitted, with %u IBs and %u dependencies",
		 job->ring->dev->index, engine_ip_name(job->ring->ip), job->ring->index,
		 (unsigned long long)job->seq, job->ctx->id, job->ib_count, job->deps);
	vgpu_trace_arrow(VGPU_TRACE_THREAD, job_id(job), false);
	job->traced_ns = vgpu_trace_now();
}

static void record_start(struct kern_job *job)
{
	uint32_t row = ring_row(job->ring);

	vgpu_log("gpu%u %s %u: job %llu of context %u starts", job->ring->dev->index, engine_ip_name(job->ring->ip),
		 job->ring->index, (unsigned long long)job->seq, job->ctx->id);
	vgpu_trace_overlapping(row, "waiting", job_id(job), job->traced_ns,
			       "job %llu of context %u: from submission to start, %u dependencies",
			       (unsigned long long)job->seq, job->ctx->id, job->deps);
	vgpu_trace_arrow(row, job_id(job), true);
	job->traced_ns = vgpu_trace_now();
}

static void record_end(const struct kern_job *job, const char *why)
{
	vgpu_log("gpu%u %s %u: job %llu of context %u ends%s%s", job->ring->dev->index,
		 engine_ip_name(job->ring->ip), job->ring->index, (unsigned long long)job->seq, job->ctx->id,
		 *why ? ": " : "", why);
	vgpu_trace_overlapping(ring_row(job->ring), "job", job_id(job), job->traced_ns,
			       "job %llu of context %u, %u IBs%s%s", (unsigned long long)job->seq, job->ctx->id,
			       job->ib_count, *why ? ": " : "", why);
}

/* Whether the kernel adds a pipeline sync to the job (contract 3.3). Since 6.13 a context switch on a ring waits
 * for the job before, for the sake of isolation. */
static bool needs_pipeline_sync(struct kern_ring *ring, const struct kern_job *job)
{
	bool switches = ring->last_context != job->entity->fence_context;

	ring->last_context = job->entity->fence_context;
	return job->pipeline_sync || (switches && kern_profile_of(ring->dev)->switch_waits);
}

/* Executes the job. Called with the lock, which is dropped while the engine works. Jobs of a ring return in order.
 * A job that was stopped with another one runs again, if the kernel allows it. */
static enum engine_status job_execute(struct kern_job *job, struct engine_run *run)
{
	struct kern_ring *ring = job->ring;
	enum engine_status status;

	do {
		kern_unlock();
		kern_ib_check(job);
		status = engine_execute(run);
		kern_lock();
	} while (status == ENGINE_RESET && !job_lost(job) && !ring->stop);
	return status;
}

/* Whether the kernel writes the user fence: after the packets, after killed waves too; after the IBs of a job that
 * was lost with its ring, where the kernel submits the ring's remaining packets again. */
static bool reaches_user_fence(const struct kern_job *job, enum engine_status status, int lost)
{
	if (job->cancelled)
		return kern_profile_of(job->ring->dev)->reset_fences;
	return !lost && (status == ENGINE_DONE || status == ENGINE_WAVES);
}

static void job_end(struct kern_job *job, enum engine_status status, const char *why)
{
	int lost = job_lost(job);

	job->vm->running--;
	job->running = false;
	if (reaches_user_fence(job, status, lost))
		kern_job_write_user_fence(job);
	if (status == ENGINE_KILLED || status == ENGINE_RESET)
		kern_job_finish(job, lost ? lost : -ESRCH);
	else if (status != ENGINE_DONE)
		kern_reset(job, status, why);
	else
		kern_job_finish(job, lost);
}

static void job_run(struct ring_threads *t, struct kern_job *job)
{
	struct kern_ring *ring = job->ring;
	struct kern_vmid_grant vmid = kern_vmid_grab(job->vm, ring->ip);
	struct engine_job work = {
		.view = &job->view->view,
		.ib = job->ib,
		.ib_count = job_lost(job) ? 0 : job->ib_count,
		.watchdog_ns = ring->dev->watchdog_ns[ring->ip],
		.seq = job->seq,
		.ctx = job->ctx->id,
		.device = ring->dev->index,
		.pid = (uint32_t)kern_local.pid,
		.vmid = vmid.key,
		.vmid_foreign = vmid.foreign,
		.vmid_epoch = vmid.epoch,
		.pipeline_sync = needs_pipeline_sync(ring, job),
		.waves_stay = !kern_soft_recovery(ring->dev, ring->ip),
		.gws_base = job->gws_base,
		.gws_count = job->gws_count,
		.gws_given = job->gws_given,
		.queue = job->entity->fence_context,
		.after = job->after,
		.after_count = job->afters,
		.seen = job->seen,
		.fault = kern_fault,
		.user = job,
	};
	struct engine_run *run = engine_line_up(t->engine, &work);
	enum engine_status status;

	job->running = true;
	job->vm->running++;
	record_start(job);
	status = job_execute(job, run);
	record_end(job, engine_why(run));
	job_end(job, status, engine_why(run));
	engine_leave(run);
}

static void ring_sleep(struct kern_ring *ring)
{
	uint32_t seen = atomic_load(&ring->word);

	atomic_fetch_add(&ring->asleep, 1);
	kern_unlock();
	kern_futex_wait(&ring->word, seen, INT64_MAX);
	kern_lock();
	atomic_fetch_sub(&ring->asleep, 1);
}

static void *ring_main(void *arg)
{
	struct ring_threads *t = arg;
	struct kern_ring *ring;

	kern_lock();
	ring = t->ring;
	while (!ring->stop) {
		struct kern_job *job = ring_next(ring);

		if (!job)
			ring_sleep(ring);
		else
			job_run(t, job);
	}
	kern_unlock();
	return NULL;
}

/* --- starting and stopping threads --- */

struct engine_ring *kern_engine_ring(struct kern_device *dev, unsigned ip, unsigned xcc, unsigned index)
{
	if (!engines[dev->index])
		engines[dev->index] =
			engine_device_create(kern_local.chip[dev->index],
					     &(struct engine_config){dev->xccs, dev->partitions, dev->null_device,
								     dev->service_ns, dev->f8_fnuz, dev->sramecc});
	if (!engines[dev->index])
		return NULL;
	return engine_ring_create(engines[dev->index], (enum engine_ip)ip, xcc, index);
}

static struct engine_ring *ring_engine(const struct kern_ring *ring)
{
	unsigned xcc = ring->ip == AMDGPU_HW_IP_COMPUTE ? ring->index / KERN_XCC_RINGS : 0;

	return kern_engine_ring(ring->dev, ring->ip, xcc, ring->index);
}

/* Blocks signals: they are for the client's threads. */
static int thread_start(struct ring_threads *t)
{
	const struct kern_ring *ring = t->ring;
	char ip = "gcs"[ring->ip];
	sigset_t all, before;
	char name[16];
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&t->thread[t->started], NULL, ring_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r) /* EAGAIN would have libdrm repeat the ioctl for ever */
		return -ENOMEM;
	snprintf(name, sizeof(name), "vgpu%u-%c%u", ring->dev->index, ip, ring->index);
	pthread_setname_np(t->thread[t->started++], name);
	vgpu_trace_name(ring_row(ring), "gpu%u %s %u", ring->dev->index, engine_ip_name(ring->ip), ring->index);
	return 0;
}

static struct kern_ring **ring_slot(const struct kern_proc *proc, unsigned dev, unsigned ip, unsigned index)
{
	return &proc->rings[(dev * KERN_IPS + ip) * KERN_HW_RINGS + index];
}

struct kern_ring *kern_ring_of(const struct kern_proc *proc, const struct kern_device *dev, unsigned ip,
			       unsigned index)
{
	return proc->serial && proc->rings ? *ring_slot(proc, dev->index, ip, index) : NULL;
}

/* Jobs overlap in their waves; a null device has no waves, and runs one job after the other. */
static bool may_overlap(const struct kern_ring *ring)
{
	return vgpu_has(VGPU_OVERLAP) && !ring->dev->null_device && ring->ip != AMDGPU_HW_IP_DMA;
}

static int ring_open(struct kern_device *dev, uint8_t ip, uint8_t index, struct kern_ring **out)
{
	struct kern_ring **slot = ring_slot(&kern->proc[kern_local.slot], dev->index, ip, index);
	struct ring_threads *t = &threads[dev->index][ip][index];
	struct kern_ring *ring = *slot;
	int r = 0;

	if (!ring) {
		ring = kern_alloc(sizeof(*ring));
		if (!ring)
			return -ENOMEM;
		ring->dev = dev;
		ring->ip = ip;
		ring->index = index;
		ring->proc = kern_local.slot;
		kern_list_init(&ring->jobs);
		*slot = ring;
	}
	*out = ring;
	t->ring = ring;
	if (!t->engine)
		t->engine = ring_engine(ring);
	if (!t->engine)
		return -ENOMEM;
	if (!t->started)
		r = thread_start(t);
	else if (t->started < KERN_HW_JOBS && !kern_list_empty(&ring->jobs) && may_overlap(ring))
		thread_start(t); /* without it the jobs run one after the other */
	return r;
}

/* The oldest job that a thread has. */
static struct kern_job *ring_running(const struct kern_ring *ring)
{
	struct kern_list *pos, *tmp;

	kern_list_each(pos, tmp, &ring->jobs) {
		struct kern_job *job = kern_entry(pos, struct kern_job, link);

		if (job->running)
			return job;
	}
	return NULL;
}

/* Waits until the fence is signalled, or the given time (vgpu/host_time.h) reaches until_ns: a card would have
 * worked for so long. 0, -ETIME or -EINTR. */
static int fence_wait_given(struct kern_fence *f, uint64_t until_ns)
{
	uint64_t now;
	int r = -ETIME;

	kern_fence_get(f);
	while (r == -ETIME && (now = vgpu_host_time_ns()) < until_ns)
		r = kern_fence_wait(&f, 1, true, sys_now_ns() + (int64_t)(until_ns - now), NULL);
	kern_fence_put(f);
	return r;
}

static void ring_stop_locked(struct ring_threads *t)
{
	uint64_t until_ns = vgpu_host_time_ns() + FLUSH_NS;
	struct kern_job *job;

	t->ring->stop = true;
	ring_kick(t->ring);
	while ((job = ring_running(t->ring)) && !fence_wait_given(job->finished, until_ns))
		;
	if (job)
		engine_kill(t->engine);
}

void kern_sched_stop(void)
{
	for (unsigned i = 0; i < KERN_DEVICES * KERN_IPS * KERN_HW_RINGS; i++) {
		struct ring_threads *t = (struct ring_threads *)threads + i;

		if (!t->started)
			continue;
		kern_lock();
		ring_stop_locked(t);
		kern_unlock();
		for (unsigned n = 0; n < t->started; n++)
			pthread_join(t->thread[n], NULL);
		engine_ring_destroy(t->engine);
		*t = (struct ring_threads){0};
	}
	for (unsigned i = 0; i < KERN_DEVICES; i++) {
		engine_device_destroy(engines[i]);
		engines[i] = NULL;
	}
}

void kern_sched_forked(void)
{
	/* The engine's memory is not freed: its threads and locks are the parent's. */
	memset(threads, 0, sizeof(threads));
	memset(engines, 0, sizeof(engines));
	engine_forked();
}

/* --- entities and rings --- */

void kern_sched_detach(struct kern_entity *entity)
{
	if (entity->hw >= 0)
		entity->ctx->dev->hw[entity->ip][entity->hw].score--;
	entity->hw = -1;
}

/* Rings of its partition: those of its XCCs, its share of the copy engines. COMPUTE ring 0 of the device has the
 * high priority pipe: only contexts above NORMAL use it, and they use only it (Linux
 * amdgpu_gfx_is_high_priority_compute_queue), so that partitions after the first have none for them. */
static void ring_range(const struct kern_entity *entity, unsigned *first, unsigned *end)
{
	const struct kern_ctx *ctx = entity->ctx;
	unsigned share = kern_ip_hw_rings(ctx->dev, entity->ip) / ctx->dev->partitions;

	*first = ctx->partition * share;
	*end = *first + share;
	if (entity->ip != AMDGPU_HW_IP_COMPUTE)
		return;
	if (ctx->priority > AMDGPU_CTX_PRIORITY_NORMAL)
		*end = 1; /* empty for a later partition: ring 0 is the first one's */
	else if (!*first)
		*first = 1;
}

bool kern_sched_has_ring(const struct kern_entity *entity)
{
	unsigned first, end;

	ring_range(entity, &first, &end);
	return first < end;
}

/* An idle entity moves to the ring with the lowest score, which includes the entity on its own ring (Linux
 * drm_sched_entity_select_rq, drm_sched_pick_best): a lone entity on idle rings moves each time. */
static void entity_place(struct kern_entity *entity)
{
	struct kern_hw_ring *hw = entity->ctx->dev->hw[entity->ip];
	unsigned first, end, best;

	if (entity->hw >= 0 && entity->queued)
		return;
	ring_range(entity, &first, &end);
	best = first;
	for (unsigned i = first; i < end; i++)
		if (hw[i].score < hw[best].score)
			best = i;
	kern_sched_detach(entity);
	entity->hw = (int8_t)best;
	hw[best].score++;
}

int kern_sched_prepare(struct kern_entity *entity, struct kern_ring **ring)
{
	entity_place(entity);
	return ring_open(entity->ctx->dev, entity->ip, (uint8_t)entity->hw, ring);
}

uint64_t kern_sched_push(struct kern_job *job, struct kern_ring *ring)
{
	struct kern_entity *entity = job->entity;
	struct kern_fence **slot = &entity->fence[entity->seq % KERN_SCHED_JOBS];

	job->seq = entity->seq++;
	job->finished->seq = job->seq;
	job->finished->scheduled->seq = job->seq;
	job->ring = ring;
	job->seen = engine_seen();
	kern_fence_put(*slot);
	*slot = kern_fence_get(job->finished);
	entity->queued++;
	ring->dev->hw[ring->ip][ring->index].score++;
	record_submission(job);
	kern_list_add_tail(&ring->jobs, &job->link);
	ring_kick(ring);
	return job->seq;
}

/* --- ends --- */

static struct kern_job *unscheduled_of(struct kern_ctx *ctx, struct kern_entity *entity)
{
	for (unsigned p = 0; entity->hw >= 0 && p < KERN_PROCS; p++) {
		struct kern_ring *ring = kern_ring_of(&kern->proc[p], ctx->dev, entity->ip, (unsigned)entity->hw);
		struct kern_list *pos, *tmp;

		if (!ring)
			continue;
		kern_list_each(pos, tmp, &ring->jobs) {
			struct kern_job *job = kern_entry(pos, struct kern_job, link);

			if (job->entity == entity && !job->on_hw)
				return job;
		}
	}
	return NULL;
}

static void entity_flush(struct kern_ctx *ctx, struct kern_entity *entity, uint64_t until_ns)
{
	struct kern_job *job;

	while (entity->queued && (job = unscheduled_of(ctx, entity)))
		if (fence_wait_given(job->finished->scheduled, until_ns))
			break;
	while (entity->queued && (job = unscheduled_of(ctx, entity)))
		kern_job_finish(job, -ESRCH);
}

void kern_sched_ctx_closed(struct kern_ctx *ctx)
{
	uint64_t until_ns = kern_local.leaving ? 0 : vgpu_host_time_ns() + FLUSH_NS;

	ctx->refs++;                           /* jobs that end meanwhile drop theirs */
	kern->proc[kern_local.slot].unnamed++; /* the context, and the file that closes */
	for (unsigned ip = 0; ip < KERN_IPS; ip++)
		for (unsigned i = 0; i < kern_ip_entities(ip); i++)
			entity_flush(ctx, &ctx->entity[ip][i], until_ns);
	kern->proc[kern_local.slot].unnamed--;
	kern_ctx_put(ctx);
}

/* A process that died while it did this for another process may have freed the rings already. */
void kern_sched_proc_gone(struct kern_proc *proc)
{
	unsigned count = proc->rings ? kern->devices * KERN_IPS * KERN_HW_RINGS : 0;

	for (unsigned i = 0; i < count; i++) {
		struct kern_ring *ring = proc->rings[i];

		while (ring && !kern_list_empty(&ring->jobs)) {
			struct kern_job *job = kern_entry(ring->jobs.next, struct kern_job, link);

			if (job->running)
				job->vm->running--;
			kern_job_finish(job, -ESRCH);
		}
		kern_free(ring);
	}
	kern_free(proc->rings);
	proc->rings = NULL;
}

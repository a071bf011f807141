/* Jobs: the interface's engine_line_up, engine_execute, engine_leave, engine_kill. */
#include "vgpu/engine/internal.h"
#include "vgpu/host_time.h"
#include "vgpu/rank.h"

#include <assert.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

/* AMDGPU_IB_FLAG_*. */
enum { IB_TC_WB_NOT_INVALIDATE = 1 << 3, IB_EMIT_MEM_SYNC = 1 << 6 };

/* Hardware keeps the registers of the last job, of whatever process. Under the strict levels they become a value
 * with which no dispatch works, so that a job which relies on them fails in a test. */
static void poison_registers(struct engine_ring *ring)
{
	for (unsigned reg = 0; reg < SH_COUNT; reg++)
		ring->sh[reg] = 0x7fc0dead ^ reg;
}

/* The null device's service time. The timer slack of 1 ns, set at the thread's first job, keeps 20 us from
 * becoming 70. */
static void serve_null(const struct engine_device *dev)
{
	static _Thread_local bool slack_set;
	uint64_t until = engine_now_ns() + dev->service_ns;
	struct timespec t = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};

	if (!dev->service_ns)
		return;
	if (!slack_set)
		prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
	slack_set = true;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/* Cache maintenance that the kernel adds around the IBs of a job (Linux amdgpu_ib.c, gfx_v*.c, sdma_v*.c). Before
 * the first IB with AMDGPU_IB_FLAG_EMIT_MEM_SYNC: an acquire of all caches; SDMA 4 has none. After the last IB of
 * a GFX or COMPUTE ring: a fence that writes L2 back and, on GFX9 unless the flag says otherwise, invalidates L2
 * and L1. */
static void maintain_at_start(const struct engine_run *run)
{
	const unsigned all = MEM_WRITE_BACK | MEM_DROP_L2 | MEM_DROP_L1 | MEM_DROP_SCALAR | MEM_DROP_CODE;
	const struct engine_ring *ring = run->ring;
	const struct engine_job *job = run->job;

	if (!ring->cache || !job->ib_count || !(job->ib[0].flags & IB_EMIT_MEM_SYNC))
		return;
	if (ring->ip == ENGINE_DMA && ring->dev->chip->sdma_version[0] <= 4)
		return;
	mem_cache_maintain(ring->cache, all, 0, ~(uint64_t)0);
	engine_run_cleaned(run, all);
}

static void maintain_at_end(struct engine_ring *ring, const struct engine_job *job)
{
	unsigned what = MEM_WRITE_BACK;

	if (!ring->cache || ring->ip == ENGINE_DMA)
		return;
	if (ring->dev->chip->gc_version[0] == 9 &&
	    (!job->ib_count || !(job->ib[job->ib_count - 1].flags & IB_TC_WB_NOT_INVALIDATE)))
		what |= MEM_DROP_L2 | MEM_DROP_L1;
	mem_cache_maintain(ring->cache, what, 0, ~(uint64_t)0);
}

/* --- places on a ring --- */

static struct engine_run *run_at(struct engine_ring *ring, uint64_t place)
{
	return &ring->run[place % ENGINE_RING_JOBS];
}

/* The watchdog's clock runs from here on, as the kernel's does for the first job on a ring. */
static void become_oldest(struct engine_run *run)
{
	atomic_store_explicit(&run->progress_ns, vgpu_host_time_ns(), memory_order_relaxed);
	atomic_store_explicit(&run->oldest, true, memory_order_release);
}

struct engine_run *engine_line_up(struct engine_ring *ring, const struct engine_job *job)
{
	struct engine_run *run;

	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	run = run_at(ring, ++ring->lined_up);
	assert(!run->job);
	run->job = job;
	run->place = ring->lined_up;
	run->finished = false;
	run->order.slot = -1;
	run->status = ENGINE_DONE;
	run->oldest = run->waves_killed = false;
	run->recovery_ns = run->model_ns = run->progress_ns = 0;
	run->timer = 0;
	run->faults = 0;
	run->why[0] = 0;
	if (run->place == ring->left + 1)
		become_oldest(run);
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
	return run;
}

void engine_leave(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	ring->left = run->place;
	if (ring->read < run->place) /* the job was stopped, and no job after it was read */
		ring->read = run->place;
	run->job = NULL;
	if (ring->left < ring->lined_up)
		become_oldest(run_at(ring, ring->left + 1));
	pthread_cond_broadcast(&ring->turn);
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
}

const char *engine_why(const struct engine_run *run)
{
	return run->why;
}

void engine_kill(struct engine_ring *ring)
{
	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	for (uint64_t place = ring->left + 1; place <= ring->lined_up; place++)
		engine_run_stop(run_at(ring, place), ENGINE_KILLED, "killed");
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
}

/* Waits until the packets of earlier jobs were read; with a pipeline sync, until those jobs have left. */
static void await_turn(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	while ((run->job->pipeline_sync ? ring->left : ring->read) < run->place - 1)
		pthread_cond_wait(&ring->turn, &ring->lock);
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
}

/* The next job's packets may be read, unless this one stopped: then nothing is before the reset. */
static void pass_turn(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	if (!engine_run_stopped(run))
		ring->read = run->place;
	pthread_cond_broadcast(&ring->turn);
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
}

static void await_elders(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	while (ring->left < run->place - 1)
		pthread_cond_wait(&ring->turn, &ring->lock);
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
}

/* Stops the later jobs of the ring, because the kernel resets the ring; the kernel runs them again, or not. */
static void stop_followers(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	vgpu_lock(&ring->lock, VGPU_RANK_RING);
	ring->read = run->place - 1;
	for (uint64_t place = run->place + 1; place <= ring->lined_up; place++)
		engine_run_stop(run_at(ring, place), ENGINE_RESET, "the ring was reset because of the job before");
	vgpu_unlock(&ring->lock, VGPU_RANK_RING);
}

/* --- execution --- */

static void order_begin(struct engine_run *run)
{
	const struct engine_job *job = run->job;
	struct engine_ring *ring = run->ring;

	atomic_fetch_add_explicit(&ring->dev->hdp_flushes, 1, memory_order_relaxed);
	run->order.slot = -1;
	if (!ring->dev->order)
		return;
	run->order.queue = job->queue ? job->queue : (uintptr_t)ring;
	run->order.seq = job->queue ? job->seq : run->place;
	run->order.ring = engine_run_row(run);
	snprintf(run->order.name, sizeof(run->order.name), "job %llu of context %u, gpu%u %s %u",
		 (unsigned long long)run->order.seq, job->ctx, job->device, engine_ip_name(ring->ip), ring->index);
	/* A job that runs again after a reset also comes after its own first execution. */
	mem_order_begin(&run->order, job->after, job->after_count, run->finished ? NULL : job->seen);
}

struct mem_clock *engine_seen(void)
{
	return vgpu_has(VGPU_ORDER) ? mem_order_now() : NULL;
}

void engine_forget(struct mem_clock *seen)
{
	if (seen)
		mem_order_forget(seen);
}

void engine_forked(void)
{
	mem_order_forked();
}

static void execute_packets(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	/* Registers of a user queue stay, however its packets are taken. */
	ring->job_number = run->job->user_ring ? 1 : ring->job_number + 1;
	if (vgpu_strict() != VGPU_STRICT_OFF && !run->job->user_ring)
		poison_registers(ring);
	if (ring->dev->null_device)
		serve_null(ring->dev);
	order_begin(run);
	maintain_at_start(run);
	if (ring->ip == ENGINE_DMA)
		engine_sdma_execute(run);
	else
		engine_cp_execute(run);
	if (run->order.slot >= 0)
		mem_order_packets_over(&run->order);
}

/* Prepares a job to run again after a reset; unless it was killed since. */
static void begin_anew(struct engine_run *run)
{
	vgpu_lock(&run->why_lock, VGPU_RANK_REASON);
	if (run->status == ENGINE_RESET) {
		run->why[0] = 0;
		run->waves_killed = false;
		run->recovery_ns = 0;
		run->status = ENGINE_DONE;
	}
	vgpu_unlock(&run->why_lock, VGPU_RANK_REASON);
}

enum engine_status engine_execute(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	await_turn(run);
	if (run->finished)
		begin_anew(run);
	atomic_fetch_add(&ring->dev->busy, 1);
	if ((run->job->ib_count || run->job->user_ring) && !engine_run_stopped(run))
		execute_packets(run);
	pass_turn(run);
	engine_run_drain(run);
	atomic_fetch_sub(&ring->dev->busy, 1);
	await_elders(run);
	if (run->job->ib_count)
		maintain_at_end(ring, run->job);
	if (run->order.slot >= 0)
		mem_order_end(&run->order);
	run->order.slot = -1;
	if (engine_run_stopped(run))
		stop_followers(run);
	run->finished = true;
	if (!engine_run_stopped(run) && run->waves_killed)
		return ENGINE_WAVES;
	return (enum engine_status)atomic_load(&run->status);
}

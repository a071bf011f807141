/* Jobs: the door's engine_line_up, engine_execute, engine_leave, engine_kill. */
#include "vgpu/engine/internal.h"
#include "vgpu/given.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "vgpu/engine/print.h"

/* AMDGPU_IB_FLAG_*. */
enum { IB_TC_WB_NOT_INVALIDATE = 1 << 3, IB_EMIT_MEM_SYNC = 1 << 6 };

uint64_t engine_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const char *engine_ip_name(enum engine_ip ip)
{
	static const char *const names[] = {"gfx", "compute", "sdma"};

	return names[ip];
}

uint64_t engine_clock(const struct vgpu_chip *chip)
{
	/* All processes of a machine share CLOCK_MONOTONIC's origin. */
	return (uint64_t)((unsigned __int128)engine_now_ns() * chip->counter_khz / 1000000u);
}

/* What is left of a job whose waves were killed must end within the time in which the kernel sends the kill again
 * and again and looks at the fence (Linux amdgpu_ring_soft_recovery); else the ring is reset all the same. */
#define RECOVERY_NS 10000000u

/* A kill wins over a reset, after which the job would begin anew. */
static bool may_stop(const struct engine_run *run, enum engine_status status)
{
	if (status == ENGINE_WAVES)
		return !engine_run_waves_end(run);
	return !engine_run_stopped(run) ||
	       (status == ENGINE_KILLED &&
		atomic_load_explicit(&run->status, memory_order_relaxed) == ENGINE_RESET);
}

void engine_run_stop(struct engine_run *run, enum engine_status status, const char *fmt, ...)
{
	bool kills = false;
	va_list args;

	if (status == ENGINE_WAVES && run->job->waves_stay)
		status = ENGINE_HANG;
	pthread_mutex_lock(&run->why_lock);
	if (may_stop(run, status)) {
		va_start(args, fmt);
		vsnprintf(run->why, sizeof(run->why), fmt, args);
		va_end(args);
		vgpu_log("ring %d.%u job %llu of pid %u stops: %s", run->ring->ip, run->ring->index,
			 (unsigned long long)run->job->seq, run->job->pid, run->why);
		kills = status == ENGINE_WAVES;
		if (kills)
			atomic_store_explicit(&run->waves_killed, true, memory_order_release);
		else
			atomic_store_explicit(&run->status, (int)status, memory_order_release);
	}
	pthread_mutex_unlock(&run->why_lock);
	if (kills)
		engine_device_kill_waves(run->ring->dev, run->job->view->vm);
}

void engine_run_blame(struct engine_run *run, enum engine_status status, unsigned row, const char *where,
		      const char *fmt, va_list args)
{
	char text[256];

	vsnprintf(text, sizeof(text), fmt, args);
	vgpu_finding(row, "%s: %s", where, text);
	if (status != ENGINE_DONE)
		engine_run_stop(run, status, "%s: %s", where, text);
}

static bool is_oldest(const struct engine_run *run)
{
	return atomic_load_explicit(&run->oldest, memory_order_acquire);
}

void engine_run_check(struct engine_run *run, uint64_t live_ns, enum engine_status over, const char *what)
{
	bool killed = atomic_load_explicit(&run->waves_killed, memory_order_acquire);
	_Atomic uint64_t *clock = killed ? &run->recovery_ns : &run->model_ns;
	uint64_t limit = killed ? RECOVERY_NS : run->job->watchdog_ns;
	uint64_t ns = atomic_load_explicit(clock, memory_order_relaxed) + live_ns;

	if (!is_oldest(run) || (killed && over == ENGINE_WAVES))
		return;
	if (limit && ns > limit && !engine_run_stopped(run))
		engine_run_stop(run, over, "watchdog: %.3f s of GPU time are over the limit of %.3f s in %s",
				(double)ns / 1e9, (double)limit / 1e9, what);
}

void engine_run_elapse(struct engine_run *run, uint64_t ns, enum engine_status over, const char *what)
{
	bool killed = atomic_load_explicit(&run->waves_killed, memory_order_acquire);

	if (!is_oldest(run))
		return;
	if (!killed)
		atomic_fetch_add_explicit(&run->model_ns, ns, memory_order_relaxed);
	else if (over != ENGINE_WAVES)
		atomic_fetch_add_explicit(&run->recovery_ns, ns, memory_order_relaxed);
	engine_run_check(run, 0, over, what);
}

uint32_t engine_run_row(const struct engine_run *run)
{
	return vgpu_trace_ring(run->job->device, run->ring->ip, run->ring->index);
}

void engine_packet_begins(struct engine_record *record, const struct engine_run *run, unsigned dw, unsigned ib,
			  uint64_t offset_B)
{
	const struct engine_ring *ring = run->ring;

	record->begin_ns = vgpu_trace_now();
	if (!record->begin_ns && !vgpu_logs())
		return;
	engine_packet_print(ring->dev->chip, ring->ip, ring->packet, dw, record->text, sizeof(record->text));
	vgpu_log("gpu%u %s %u: job %llu, IB %u + 0x%llx: %s", run->job->device, engine_ip_name(ring->ip),
		 ring->index, (unsigned long long)run->job->seq, ib, (unsigned long long)offset_B, record->text);
}

void engine_packet_ends(const struct engine_record *record, const struct engine_run *run, const char *name)
{
	vgpu_trace_span(engine_run_row(run), name, record->begin_ns, "job %llu: %s",
			(unsigned long long)run->job->seq, record->text);
}

void engine_run_fault(struct engine_run *run, const struct gpuvm_fault *fault)
{
	atomic_fetch_add_explicit(&run->faults, 1, memory_order_relaxed);
	vgpu_log("ring %d.%u job %llu of pid %u: client %d %s 0x%llx, which %s", run->ring->ip, run->ring->index,
		 (unsigned long long)run->job->seq, run->job->pid, (int)fault->client,
		 fault->access & GPUVM_W   ? "writes"
		 : fault->access & GPUVM_X ? "fetches"
					   : "reads",
		 (unsigned long long)fault->va, fault->mapped ? "does not allow it" : "is not mapped");
	if (run->job->fault)
		run->job->fault(run->job->user, fault);
}

/* Between jobs hardware keeps what anybody's last job wrote. Under the strict levels that becomes a value that no
 * dispatch survives, so that a job which relies on it fails here and not one day in a data centre. */
static void poison_registers(struct engine_ring *ring)
{
	for (unsigned reg = 0; reg < SH_COUNT; reg++)
		ring->sh[reg] = 0x7fc0dead ^ reg;
}

/* The null device's service time. The timer slack of 1 ns, set when the thread first gets here, keeps 20 us from
 * becoming 70. */
static void serve(const struct engine_device *dev)
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

void engine_run_cleaned(const struct engine_run *run, unsigned what)
{
	struct engine_device *dev = run->ring->dev;

	if (what & MEM_DROP_CODE)
		atomic_store_explicit(&dev->code_clean[run->ring->xcc], run->job->vmid_epoch, memory_order_relaxed);
	if (what & MEM_DROP_SCALAR)
		atomic_store_explicit(&dev->scalar_clean[run->ring->xcc], run->job->vmid_epoch,
				      memory_order_relaxed);
}

/* What the kernel puts around the IBs of a job (Linux amdgpu_ib.c, gfx_v*.c, sdma_v*.c). With the flag an acquire
 * before the first, of everything; SDMA 4 has none. Behind the last of a GFX or COMPUTE ring a fence that writes L2
 * back and, on GFX9 unless the flag says otherwise, invalidates it and L1. */
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

/* --- places on a ring -------------------------------------------------------------------------- */

static struct engine_run *run_at(struct engine_ring *ring, uint64_t place)
{
	return &ring->run[place % ENGINE_RING_JOBS];
}

/* The watchdog's clock runs from here on, as the kernel's does for the first job on a ring. */
static void become_oldest(struct engine_run *run)
{
	atomic_store_explicit(&run->progress_ns, vgpu_given_ns(), memory_order_relaxed);
	atomic_store_explicit(&run->oldest, true, memory_order_release);
}

struct engine_run *engine_line_up(struct engine_ring *ring, const struct engine_job *job)
{
	struct engine_run *run;

	pthread_mutex_lock(&ring->lock);
	run = run_at(ring, ++ring->lined_up);
	assert(!run->job);
	run->job = job;
	run->place = ring->lined_up;
	run->finished = false;
	run->order.slot = -1;
	run->status = ENGINE_DONE;
	run->oldest = run->waves_killed = false;
	run->recovery_ns = run->model_ns = run->progress_ns = 0;
	run->faults = 0;
	run->why[0] = 0;
	if (run->place == ring->left + 1)
		become_oldest(run);
	pthread_mutex_unlock(&ring->lock);
	return run;
}

void engine_leave(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	pthread_mutex_lock(&ring->lock);
	ring->left = run->place;
	if (ring->read < run->place) /* it stopped, and nothing behind it was read */
		ring->read = run->place;
	run->job = NULL;
	if (ring->left < ring->lined_up)
		become_oldest(run_at(ring, ring->left + 1));
	pthread_cond_broadcast(&ring->turn);
	pthread_mutex_unlock(&ring->lock);
}

const char *engine_why(const struct engine_run *run)
{
	return run->why;
}

void engine_kill(struct engine_ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	for (uint64_t place = ring->left + 1; place <= ring->lined_up; place++)
		engine_run_stop(run_at(ring, place), ENGINE_KILLED, "killed");
	pthread_mutex_unlock(&ring->lock);
}

/* Until the packets of those before it were read; with a pipeline sync, until they have left. */
static void await_turn(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	pthread_mutex_lock(&ring->lock);
	while ((run->job->pipeline_sync ? ring->left : ring->read) < run->place - 1)
		pthread_cond_wait(&ring->turn, &ring->lock);
	pthread_mutex_unlock(&ring->lock);
}

/* The next job's packets may be read, unless this one stopped: then nothing is before the reset. */
static void pass_turn(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	pthread_mutex_lock(&ring->lock);
	if (!engine_run_stopped(run))
		ring->read = run->place;
	pthread_cond_broadcast(&ring->turn);
	pthread_mutex_unlock(&ring->lock);
}

static void await_elders(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	pthread_mutex_lock(&ring->lock);
	while (ring->left < run->place - 1)
		pthread_cond_wait(&ring->turn, &ring->lock);
	pthread_mutex_unlock(&ring->lock);
}

/* Whoever stopped takes those behind it along, for the kernel resets the ring; they begin anew, or not. */
static void stop_followers(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	pthread_mutex_lock(&ring->lock);
	ring->read = run->place - 1;
	for (uint64_t place = run->place + 1; place <= ring->lined_up; place++)
		engine_run_stop(run_at(ring, place), ENGINE_RESET, "the ring was reset because of the job before");
	pthread_mutex_unlock(&ring->lock);
}

/* --- execution -------------------------------------------------------------------------------- */

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
	/* Once more, after a reset: behind what it did before, too. */
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

	ring->job_number++;
	if (vgpu_strict() != VGPU_STRICT_OFF)
		poison_registers(ring);
	if (ring->dev->null_device)
		serve(ring->dev);
	order_begin(run);
	maintain_at_start(run);
	if (ring->ip == ENGINE_DMA)
		engine_sdma_execute(run);
	else
		engine_cp_execute(run);
	if (run->order.slot >= 0)
		mem_order_packets_over(&run->order);
}

/* Once more, after a reset; unless it was killed since. */
static void begin_anew(struct engine_run *run)
{
	pthread_mutex_lock(&run->why_lock);
	if (run->status == ENGINE_RESET) {
		run->why[0] = 0;
		run->waves_killed = false;
		run->recovery_ns = 0;
		run->status = ENGINE_DONE;
	}
	pthread_mutex_unlock(&run->why_lock);
}

enum engine_status engine_execute(struct engine_run *run)
{
	struct engine_ring *ring = run->ring;

	await_turn(run);
	if (run->finished)
		begin_anew(run);
	atomic_fetch_add(&ring->dev->busy, 1);
	if (run->job->ib_count && !engine_run_stopped(run))
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

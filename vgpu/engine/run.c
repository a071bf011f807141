/* A job on its ring: modelled time, the watchdog, the reason of its end, its log. */
#include "vgpu/engine/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "vgpu/engine/print.h"
#include "vgpu/host_time.h"
#include "vgpu/rank.h"

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
	/* CLOCK_MONOTONIC has the same origin in all processes of a machine. */
	return (uint64_t)((unsigned __int128)engine_now_ns() * chip->counter_khz / 1000000u);
}

/* Limit of the rest of a job whose waves were killed: the time in which the kernel repeats the kill and polls the
 * fence (Linux amdgpu_ring_soft_recovery). A job that takes longer has its ring reset. */
#define RECOVERY_NS 10000000u

/* A kill replaces a reset, after which the job would run again. */
static bool may_stop(const struct engine_run *run, enum engine_status status)
{
	if (status == ENGINE_WAVES)
		return !engine_run_waves_end(run);
	return !engine_run_stopped(run) ||
	       (status == ENGINE_KILLED &&
		atomic_load_explicit(&run->status, memory_order_relaxed) == ENGINE_RESET);
}

/* Ends all waves of the VM, as the kernel does when one of them does not end (Linux gfx_v9_0_ring_soft_recovery).
 */
static void kill_waves(struct engine_device *dev, uint64_t vm)
{
	vgpu_lock(&dev->lock, VGPU_RANK_DEVICE);
	for (struct engine_ring *ring = dev->rings; ring; ring = ring->next)
		for (struct engine_grid *grid = ring->grids; grid; grid = grid->next)
			if (grid->machine.view->vm == vm)
				atomic_store_explicit(&grid->killed, true, memory_order_relaxed);
	vgpu_unlock(&dev->lock, VGPU_RANK_DEVICE);
}

void engine_run_stop(struct engine_run *run, enum engine_status status, const char *fmt, ...)
{
	bool kills = false;
	va_list args;

	if (status == ENGINE_WAVES && run->job->waves_stay)
		status = ENGINE_HANG;
	vgpu_lock(&run->why_lock, VGPU_RANK_REASON);
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
	vgpu_unlock(&run->why_lock, VGPU_RANK_REASON);
	if (kills)
		kill_waves(run->ring->dev, run->job->view->vm);
}

void engine_run_blame(struct engine_run *run, enum engine_status status, enum contract_row row, const char *where,
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

uint64_t engine_run_limit(struct engine_run *run)
{
	const struct engine_job *job = run->job;
	uint32_t timer;

	if (!job->timer)
		return job->watchdog_ns;
	timer = atomic_load_explicit(job->timer, memory_order_relaxed);
	if (timer == ENGINE_TIMER_KILL) {
		engine_run_stop(run, ENGINE_KILLED, "killed");
		return 0;
	}
	if (atomic_exchange_explicit(&run->timer, timer, memory_order_relaxed) != timer) {
		atomic_store_explicit(&run->model_ns, 0, memory_order_relaxed);
		atomic_store_explicit(&run->progress_ns, vgpu_host_time_ns(), memory_order_relaxed);
	}
	return timer ? job->watchdog_ns : 0;
}

void engine_run_check(struct engine_run *run, uint64_t live_ns, enum engine_status over, const char *what)
{
	bool killed = atomic_load_explicit(&run->waves_killed, memory_order_acquire);
	uint64_t limit = killed ? RECOVERY_NS : engine_run_limit(run);
	_Atomic uint64_t *clock = killed ? &run->recovery_ns : &run->model_ns;
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

void engine_run_cleaned(const struct engine_run *run, unsigned what)
{
	struct engine_device *dev = run->ring->dev;

	if (what & MEM_DROP_CODE)
		atomic_store_explicit(&dev->code_clean[run->ring->xcc], run->job->vmid_epoch, memory_order_relaxed);
	if (what & MEM_DROP_SCALAR)
		atomic_store_explicit(&dev->scalar_clean[run->ring->xcc], run->job->vmid_epoch,
				      memory_order_relaxed);
}

/* Rings and jobs: the door's engine_ring_*, engine_execute, engine_kill. */
#include "vgpu/engine/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "vgpu/engine/pm4.h"
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

/* --- a job ------------------------------------------------------------------------------------ */

/* What is left of a job whose waves were killed must end within the time in which the kernel sends the kill again
 * and again and looks at the fence (Linux amdgpu_ring_soft_recovery); else the ring is reset all the same. */
#define RECOVERY_NS 10000000u

void engine_run_stop(struct engine_run *run, enum engine_status status, const char *fmt, ...)
{
	va_list args;

	pthread_mutex_lock(&run->why_lock);
	if (!engine_run_stopped(run) && !(status == ENGINE_WAVES && engine_run_waves_end(run))) {
		va_start(args, fmt);
		vsnprintf(run->why, run->why_B, fmt, args);
		va_end(args);
		vgpu_log("ring %d.%u job %llu of pid %u stops: %s", run->ring->ip, run->ring->index,
			 (unsigned long long)run->job->seq, run->job->pid, run->why);
		if (status == ENGINE_WAVES)
			atomic_store_explicit(&run->waves_killed, true, memory_order_release);
		else
			atomic_store_explicit(&run->status, (int)status, memory_order_release);
	}
	pthread_mutex_unlock(&run->why_lock);
}

void engine_run_check(struct engine_run *run, uint64_t live_ns, enum engine_status over, const char *what)
{
	bool killed = atomic_load_explicit(&run->waves_killed, memory_order_acquire);
	_Atomic uint64_t *clock = killed ? &run->recovery_ns : &run->model_ns;
	uint64_t limit = killed ? RECOVERY_NS : run->job->watchdog_ns;
	uint64_t ns = atomic_load_explicit(clock, memory_order_relaxed) + live_ns;

	if (killed && over == ENGINE_WAVES)
		return;
	if (limit && ns > limit && !engine_run_stopped(run))
		engine_run_stop(run, over, "watchdog: %.3f s of GPU time are over the limit of %.3f s in %s",
				(double)ns / 1e9, (double)limit / 1e9, what);
}

void engine_run_elapse(struct engine_run *run, uint64_t ns, enum engine_status over, const char *what)
{
	bool killed = atomic_load_explicit(&run->waves_killed, memory_order_acquire);

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

static void attach(struct engine_ring *ring, struct engine_run *run)
{
	pthread_mutex_lock(&ring->lock);
	ring->run = run;
	pthread_mutex_unlock(&ring->lock);
}

/* What the kernel puts around the IBs of a job (Linux amdgpu_ib.c, gfx_v*.c, sdma_v*.c). With the flag an acquire
 * before the first, of everything; SDMA 4 has none. Behind the last of a GFX or COMPUTE ring a fence that writes L2
 * back and, on GFX9 unless the flag says otherwise, invalidates it and L1. */
static void maintain_at_start(struct engine_ring *ring, const struct engine_job *job)
{
	if (!ring->dev->cache || !job->ib_count || !(job->ib[0].flags & IB_EMIT_MEM_SYNC))
		return;
	if (ring->ip != ENGINE_DMA || ring->dev->chip->sdma_version[0] > 4)
		mem_cache_maintain(ring->dev->cache,
				   MEM_WRITE_BACK | MEM_DROP_L2 | MEM_DROP_L1 | MEM_DROP_SCALAR | MEM_DROP_CODE, 0,
				   ~(uint64_t)0);
}

static void maintain_at_end(struct engine_ring *ring, const struct engine_job *job)
{
	unsigned what = MEM_WRITE_BACK;

	if (!ring->dev->cache || ring->ip == ENGINE_DMA)
		return;
	if (ring->dev->chip->gc_version[0] == 9 &&
	    (!job->ib_count || !(job->ib[job->ib_count - 1].flags & IB_TC_WB_NOT_INVALIDATE)))
		what |= MEM_DROP_L2 | MEM_DROP_L1;
	mem_cache_maintain(ring->dev->cache, what, 0, ~(uint64_t)0);
}

enum engine_status engine_execute(struct engine_ring *ring, const struct engine_job *job, char *why, size_t why_B)
{
	struct engine_run run = {
		.ring = ring,
		.job = job,
		.status = ENGINE_DONE,
		.why_lock = PTHREAD_MUTEX_INITIALIZER,
		.why = why,
		.why_B = why_B,
	};

	why[0] = 0;
	ring->job_number++;
	if (vgpu_strict() != VGPU_STRICT_OFF)
		poison_registers(ring);
	attach(ring, &run);
	atomic_fetch_add(&ring->dev->busy, 1);
	if (ring->dev->null_device)
		serve(ring->dev);
	maintain_at_start(ring, job);
	if (ring->ip == ENGINE_DMA)
		engine_sdma_execute(&run);
	else
		engine_cp_execute(&run);
	engine_ring_drain(ring);
	maintain_at_end(ring, job);
	atomic_fetch_sub(&ring->dev->busy, 1);
	attach(ring, NULL);
	pthread_mutex_destroy(&run.why_lock);
	if (!engine_run_stopped(&run) && run.waves_killed)
		return ENGINE_WAVES;
	return (enum engine_status)atomic_load(&run.status);
}

void engine_kill(struct engine_ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	if (ring->run)
		engine_run_stop(ring->run, ENGINE_KILLED, "killed");
	pthread_mutex_unlock(&ring->lock);
}

/* --- rings ------------------------------------------------------------------------------------ */

static void link_ring(struct engine_ring *ring)
{
	pthread_mutex_lock(&ring->dev->lock);
	ring->next = ring->dev->rings;
	ring->dev->rings = ring;
	pthread_mutex_unlock(&ring->dev->lock);
}

static void unlink_ring(struct engine_ring *ring)
{
	struct engine_device *dev = ring->dev;

	pthread_mutex_lock(&dev->lock);
	for (struct engine_ring **at = &dev->rings; *at; at = &(*at)->next) {
		if (*at == ring) {
			*at = ring->next;
			break;
		}
	}
	if (dev->turn == ring)
		dev->turn = NULL;
	pthread_mutex_unlock(&dev->lock);
}

/* As the kernel starts a compute ring (Linux gfx_v9_0.c): all compute units are on. */
static void reset_registers(struct engine_ring *ring)
{
	for (unsigned se = 0; se < 4 || se < ring->dev->chip->engines; se++)
		ring->sh[engine_cu_mask_reg(ring->dev->chip, se)] = ~0u;
}

struct engine_ring *engine_ring_create(struct engine_device *dev, enum engine_ip ip, unsigned index)
{
	struct engine_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->dev = dev;
	ring->ip = ip;
	ring->index = index;
	reset_registers(ring);
	ring->packet = malloc(4 * (PM4_MAX_BODY_dw + 1));
	ring->helper = engine_worker_create(dev, ring);
	if (!ring->packet || !ring->helper || pthread_mutex_init(&ring->lock, NULL))
		goto err_parts;
	link_ring(ring);
	return ring;

err_parts:
	engine_worker_destroy(ring->helper);
	free(ring->packet);
	free(ring);
	return NULL;
}

void engine_ring_destroy(struct engine_ring *ring)
{
	if (!ring)
		return;
	unlink_ring(ring);
	engine_worker_destroy(ring->helper);
	pthread_mutex_destroy(&ring->lock);
	free(ring->packet);
	free(ring);
}

/* --- scratch slots ---------------------------------------------------------------------------- */

bool engine_scratch_take(struct engine_ring *ring, unsigned limit, unsigned n, uint16_t *slot)
{
	unsigned found = 0;

	pthread_mutex_lock(&ring->lock);
	for (unsigned i = 0; i < limit && found < n; i++)
		if (!(ring->scratch_busy[i / 64] & (uint64_t)1 << i % 64))
			slot[found++] = (uint16_t)i;
	for (unsigned i = 0; found == n && i < n; i++)
		ring->scratch_busy[slot[i] / 64] |= (uint64_t)1 << slot[i] % 64;
	pthread_mutex_unlock(&ring->lock);
	return found == n;
}

void engine_scratch_give(struct engine_ring *ring, unsigned n, const uint16_t *slot)
{
	pthread_mutex_lock(&ring->lock);
	for (unsigned i = 0; i < n; i++)
		ring->scratch_busy[slot[i] / 64] &= ~((uint64_t)1 << slot[i] % 64);
	pthread_mutex_unlock(&ring->lock);
}

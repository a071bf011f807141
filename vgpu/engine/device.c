/* A device's compute units: which grids wait, which threads work on them. */
#include "vgpu/engine/internal.h"
#include "vgpu/host_time.h"
#include "vgpu/rank.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Longest wait for an event. The condition is checked again after it, so that an event missed by an error of the
 * engine delays a wait only. */
#define RECHECK_NS 5000000

static void destroy_caches(struct engine_device *dev)
{
	for (unsigned xcc = 0; xcc < dev->xccs; xcc++) {
		mem_cache_destroy(dev->cache[xcc]);
		dev->cache[xcc] = NULL;
	}
}

/* Without memory for the caches of an XCC, none are modelled. */
static void create_caches(struct engine_device *dev)
{
	for (unsigned xcc = 0; xcc < dev->xccs; xcc++)
		dev->cache[xcc] = mem_cache_create();
	for (unsigned xcc = 0; xcc < dev->xccs; xcc++)
		if (!dev->cache[xcc])
			destroy_caches(dev);
}

struct engine_device *engine_device_create(const struct vgpu_chip *chip, const struct engine_config *config)
{
	struct engine_device *dev = calloc(1, sizeof(*dev));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_condattr_t attr;

	if (!dev)
		return NULL;
	dev->chip = chip;
	dev->xccs = config->xccs;
	dev->partition_xccs = config->xccs / config->partitions;
	dev->null_device = config->null_device;
	dev->service_ns = config->service_ns;
	dev->f8_fnuz = config->f8_fnuz;
	dev->sramecc = config->sramecc;
	/* A ring's own thread works too while it waits for its waves, hence one less than there are CPUs. */
	dev->worker_max = cpus > 2 ? (unsigned)cpus - 1 : 1;
	dev->workers = calloc(dev->worker_max, sizeof(*dev->workers));
	dev->gws = isa_gws_create();
	if (!dev->workers || !dev->gws) {
		isa_gws_destroy(dev->gws);
		free(dev->workers);
		free(dev);
		return NULL;
	}
	if (vgpu_has(VGPU_CACHES) && !dev->null_device)
		create_caches(dev);
	dev->checked = vgpu_has(VGPU_WAITS);
	dev->order = vgpu_has(VGPU_ORDER) && !dev->null_device && mem_order_open();
	pthread_mutex_init(&dev->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dev->work, &attr);
	pthread_cond_init(&dev->retired, &attr);
	pthread_condattr_destroy(&attr);
	return dev;
}

void engine_device_destroy(struct engine_device *dev)
{
	if (!dev)
		return;
	vgpu_lock(&dev->lock, VGPU_RANK_DEVICE);
	dev->going = true;
	pthread_cond_broadcast(&dev->work);
	vgpu_unlock(&dev->lock, VGPU_RANK_DEVICE);
	for (unsigned i = 0; i < dev->worker_count; i++) {
		engine_worker_join(dev->workers[i]);
		engine_worker_destroy(dev->workers[i]);
	}
	pthread_cond_destroy(&dev->work);
	pthread_cond_destroy(&dev->retired);
	pthread_mutex_destroy(&dev->lock);
	destroy_caches(dev);
	isa_gws_destroy(dev->gws);
	if (dev->order)
		mem_order_close();
	free(dev->workers);
	free(dev);
}

/* The pool grows to its size with the first work for it. Without pool threads the rings' own threads run all
 * workgroups. */
static void grow_pool_locked(struct engine_device *dev)
{
	while (dev->worker_count < dev->worker_max) {
		struct engine_worker *worker = engine_worker_create(dev, NULL);

		if (!worker || !engine_worker_start(worker)) {
			engine_worker_destroy(worker);
			dev->worker_max = dev->worker_count;
			return;
		}
		dev->workers[dev->worker_count++] = worker;
	}
}

void engine_device_wake(struct engine_device *dev)
{
	vgpu_lock(&dev->lock, VGPU_RANK_DEVICE);
	grow_pool_locked(dev);
	if (dev->sleepers)
		pthread_cond_broadcast(&dev->work);
	vgpu_unlock(&dev->lock, VGPU_RANK_DEVICE);
}

/* --- grids --- */

void engine_grid_publish(struct engine_grid *grid)
{
	struct engine_ring *ring = grid->ring;
	struct engine_device *dev = ring->dev;
	struct engine_grid **end = &ring->grids;
	bool alone;

	atomic_fetch_add(&dev->busy, 1);
	atomic_store_explicit(&grid->run->progress_ns, vgpu_host_time_ns(), memory_order_relaxed);
	grid->traced_ns = vgpu_trace_now();
	vgpu_lock(&dev->lock, VGPU_RANK_DEVICE);
	while (*end)
		end = &(*end)->next;
	*end = grid;
	grid->serial = ++dev->grid_serial;
	grid->handed = 0;
	grid->unfinished = grid->total;
	alone = ++ring->live_grids == 1 && grid->total == 1;
	vgpu_unlock(&dev->lock, VGPU_RANK_DEVICE);
	/* A grid of a single workgroup is left to the ring's thread, which most often waits for it at once: this
	 * saves two thread switches per launch. A function that makes the ring's thread wait for something else
	 * wakes the pool. */
	if (!alone)
		engine_device_wake(dev);
}

/* Takes the grid out when nothing of it is left. */
static void retire_locked(struct engine_grid *grid)
{
	struct engine_ring *ring = grid->ring;
	struct engine_grid **at = &ring->grids;

	if (grid->unfinished)
		return;
	vgpu_trace_overlapping(engine_run_row(grid->run), "dispatch", grid->serial, grid->traced_ns,
			       "%llu workgroups of %u x %u x %u at 0x%llx; job %llu, %s",
			       (unsigned long long)grid->total, grid->size[0], grid->size[1], grid->size[2],
			       (unsigned long long)grid->entry, (unsigned long long)grid->run->job->seq,
			       grid->where);
	while (*at != grid)
		at = &(*at)->next;
	*at = grid->next;
	ring->live_grids--;
	atomic_fetch_sub(&ring->dev->busy, 1);
	pthread_cond_broadcast(&ring->dev->retired);
	mem_order_retire(&grid->actor);
	free(grid);
}

void engine_grid_group_ended(struct engine_grid *grid)
{
	struct engine_device *dev = grid->ring->dev;

	vgpu_lock(&dev->lock, VGPU_RANK_DEVICE);
	if (grid->handed < grid->total && dev->sleepers)
		pthread_cond_broadcast(&dev->work); /* for a worker that found no room */
	grid->unfinished--;
	retire_locked(grid);
	vgpu_unlock(&dev->lock, VGPU_RANK_DEVICE);
}

static void cancel_locked(struct engine_grid *grid)
{
	grid->unfinished -= grid->total - grid->handed;
	grid->handed = grid->total;
	retire_locked(grid);
}

/* The number of resident workgroups is at most what the ring's XCC holds. Where workgroups may wait for one
 * another in hardware it is no smaller, whatever the workers' shares of the XCC are; otherwise a worker takes as
 * much as fits its share. */
static bool has_room(const struct engine_grid *grid, uint64_t units)
{
	if (grid->handed + grid->unfinished - grid->total >= grid->concurrency)
		return false;
	return grid->machine.gws.count ? units : grid->group_units <= units;
}

/* The first grid with workgroups to hand out. Those of grids whose waves must end are cancelled at once: one by one,
 * workers would need years for a grid that was killed for its size. */
static struct engine_grid *next_grid_locked(struct engine_ring *ring, const struct engine_run *of)
{
	for (struct engine_grid *grid = ring->grids, *next; grid; grid = next) {
		next = grid->next;
		if (grid->handed == grid->total || (of && grid->run != of))
			continue;
		if (!engine_grid_ends(grid))
			return grid;
		cancel_locked(grid);
	}
	return NULL;
}

static bool claim_of_ring_locked(struct engine_ring *ring, const struct engine_run *of, uint64_t units,
				 struct engine_claim *claim)
{
	struct engine_grid *grid = next_grid_locked(ring, of);

	if (!grid || !has_room(grid, units))
		return false;
	claim->grid = grid;
	claim->index = grid->handed;
	claim->engine = engine_grid_engine(grid, grid->handed);
	if (grid->scratch_slots && !engine_scratch_take(ring, claim)) {
		claim->grid = NULL;
		return false;
	}
	grid->handed++;
	return true;
}

/* Rings take turns, as the pipes of the hardware do: a huge grid on one does not starve the others. */
static bool claim_of_any_locked(struct engine_device *dev, uint64_t units, struct engine_claim *claim)
{
	struct engine_ring *first = dev->turn ? dev->turn : dev->rings, *ring = first;

	while (ring) {
		struct engine_ring *next = ring->next ? ring->next : dev->rings;

		if (claim_of_ring_locked(ring, NULL, units, claim)) {
			dev->turn = next;
			return true;
		}
		ring = next == first ? NULL : next;
	}
	return false;
}

bool engine_device_claim(struct engine_device *dev, struct engine_ring *only, const struct engine_run *of,
			 uint64_t units, struct engine_claim *claim)
{
	bool found;

	vgpu_lock(&dev->lock, VGPU_RANK_DEVICE);
	found = only ? claim_of_ring_locked(only, of, units, claim) : claim_of_any_locked(dev, units, claim);
	vgpu_unlock(&dev->lock, VGPU_RANK_DEVICE);
	return found;
}

bool engine_device_await(struct engine_device *dev, uint64_t units, struct engine_claim *claim)
{
	bool found = false;

	vgpu_lock(&dev->lock, VGPU_RANK_DEVICE);
	dev->sleepers++;
	while (!dev->going && !(found = claim_of_any_locked(dev, units, claim)))
		pthread_cond_wait(&dev->work, &dev->lock);
	dev->sleepers--;
	vgpu_unlock(&dev->lock, VGPU_RANK_DEVICE);
	return found;
}

/* Whether grids of the ring, or of one run, live; cancels grids whose waves must end. */
static bool grids_live(struct engine_ring *ring, const struct engine_run *of)
{
	bool live = false;

	vgpu_lock(&ring->dev->lock, VGPU_RANK_DEVICE);
	for (struct engine_grid *grid = ring->grids, *next; grid; grid = next) {
		next = grid->next;
		if (of && grid->run != of)
			continue;
		live |= grid->unfinished > (engine_grid_ends(grid) ? grid->total - grid->handed : 0);
		if (engine_grid_ends(grid))
			cancel_locked(grid);
	}
	vgpu_unlock(&ring->dev->lock, VGPU_RANK_DEVICE);
	return live;
}

static void await_retirement(struct engine_ring *ring)
{
	uint64_t until = engine_now_ns() + RECHECK_NS;
	struct timespec t = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};

	vgpu_lock(&ring->dev->lock, VGPU_RANK_DEVICE);
	if (ring->live_grids)
		pthread_cond_timedwait(&ring->dev->retired, &ring->dev->lock, &t);
	vgpu_unlock(&ring->dev->lock, VGPU_RANK_DEVICE);
}

bool engine_ring_busy(struct engine_ring *ring)
{
	bool busy;

	vgpu_lock(&ring->dev->lock, VGPU_RANK_DEVICE);
	busy = ring->live_grids;
	vgpu_unlock(&ring->dev->lock, VGPU_RANK_DEVICE);
	return busy;
}

static void drain_grids(struct engine_run *run, const struct engine_run *of)
{
	while (grids_live(run->ring, of))
		if (!engine_worker_step(run->helper, of))
			await_retirement(run->ring);
}

void engine_ring_drain(struct engine_run *run)
{
	drain_grids(run, NULL);
}

void engine_run_drain(struct engine_run *run)
{
	drain_grids(run, run);
}

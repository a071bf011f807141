/* Workers: they run workgroups, on a pool thread or on a job's own.
 *
 * A worker runs a workgroup for `patience` turns before it takes a further one beside it; workgroups that have not
 * ended then rotate. So an ordinary kernel runs workgroup after workgroup in warm storage, and a kernel whose
 * workgroups wait for each other has all of them running, as many as the chip would hold: patience halves whenever
 * a workgroup outlasts it, so that filling the chip costs little more than the first wait, and doubles when one
 * ends. A workgroup whose waves all wait for others (global wave sync) rotates at once. */
#include "vgpu/engine/internal.h"
#include "vgpu/host_time.h"

#include <stdlib.h>

#define TURN_INSTRUCTIONS 8192 /* per wave: some 100 us, against 2 us to load another workgroup's registers */
#define PATIENCE_MAX      64   /* turns: half a million instructions a wave, more than most kernels ever run */

struct engine_worker {
	struct engine_device *dev;
	struct engine_ring *only; /* NULL: works for all rings */
	pthread_t thread;
	struct isa_cache *code; /* owned */
	struct engine_group *current;
	struct engine_group *resident, **resident_end; /* waiting for their turn, longest waiting first */
	struct engine_group *spare;                    /* free storage */
	struct engine_claim claim;                     /* a workgroup to load; grid NULL: none */
	uint64_t program_serial;                       /* serial of the grid that `program` was looked up for */
	struct isa_program *program;
	uint64_t units, units_used; /* share of the chip's compute units, in 1/ENGINE_CU_UNITS */
	unsigned turns, patience;
};

struct engine_worker *engine_worker_create(struct engine_device *dev, struct engine_ring *only)
{
	struct engine_worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->code = isa_cache_create();
	if (!w->code) {
		free(w);
		return NULL;
	}
	w->dev = dev;
	w->only = only;
	w->resident_end = &w->resident;
	w->units = (uint64_t)dev->chip->cus_active * dev->xccs * ENGINE_CU_UNITS /
		   (dev->worker_max ? dev->worker_max : 1);
	w->patience = PATIENCE_MAX;
	return w;
}

void engine_worker_destroy(struct engine_worker *w)
{
	if (!w)
		return;
	for (struct engine_group *group = w->spare, *next; group; group = next) {
		next = group->next;
		engine_group_destroy(group);
	}
	isa_cache_destroy(w->code);
	free(w);
}

/* --- taking --- */

/* The grid's code, checked against memory once per grid. */
static bool find_program(struct engine_worker *w, struct engine_grid *grid)
{
	char why[512] = "";

	if (w->program && w->program_serial == grid->serial)
		return true;
	if (grid->machine.cache)
		mem_cache_enter(grid->machine.cache);
	w->program = isa_program_get(w->code, &grid->machine, grid->entry, why, sizeof(why));
	if (grid->machine.cache)
		mem_cache_leave(grid->machine.cache);
	w->program_serial = grid->serial;
	if (!w->program)
		engine_run_stop(grid->run, ENGINE_WAVES, "instruction fetch at the entry 0x%llx: %s; %s",
				(unsigned long long)grid->entry, why, grid->where);
	return w->program;
}

static struct engine_group *spare_group(struct engine_worker *w)
{
	struct engine_group *group = w->spare;

	if (!group)
		return engine_group_create();
	w->spare = group->next;
	group->next = NULL;
	return group;
}

static void put_spare(struct engine_worker *w, struct engine_group *group)
{
	group->next = w->spare;
	w->spare = group;
}

static void give_slots_back(struct engine_grid *grid, const uint16_t *slot)
{
	if (grid->scratch_slots)
		engine_scratch_give(grid->ring, grid->waves_per_group, slot);
}

/* Sets up the claimed workgroup. NULL if it cannot be; its job was stopped. */
static struct engine_group *load_group(struct engine_worker *w)
{
	struct engine_grid *grid = w->claim.grid;
	struct engine_group *group;

	if (engine_grid_ends(grid) || !find_program(w, grid))
		return NULL;
	group = spare_group(w);
	if (group && engine_group_load(group, &w->claim, w->program))
		return group;
	engine_run_stop(grid->run, ENGINE_HANG, "no host memory for a workgroup; %s", grid->where);
	if (group)
		put_spare(w, group);
	return NULL;
}

/* A further workgroup, if there is one and room for it. A worker without any always has room. */
static struct engine_group *take_group(struct engine_worker *w, const struct engine_run *of)
{
	uint64_t units = !w->units_used             ? ENGINE_GROUP_UNITS_MAX
			 : w->units_used < w->units ? w->units - w->units_used
						    : 0;

	while (w->claim.grid || engine_device_claim(w->dev, w->only, of, units, &w->claim)) {
		struct engine_grid *grid = w->claim.grid;
		struct engine_group *group = load_group(w);

		w->claim.grid = NULL;
		if (group) {
			w->units_used += grid->group_units;
			return group;
		}
		give_slots_back(grid, w->claim.slot);
		engine_grid_group_ended(grid);
	}
	return NULL;
}

static struct engine_group *next_resident(struct engine_worker *w)
{
	struct engine_group *group = w->resident;

	if (group) {
		w->resident = group->next;
		group->next = NULL;
		if (!w->resident)
			w->resident_end = &w->resident;
	}
	return group;
}

/* --- running --- */

/* Modelled time of a workgroup at least, however many run abreast: a clock in which the dispatcher starts it. Without
 * it 2^61 empty workgroups would take none, and the watchdog would never end them. */
#define LAUNCH_NS 1

static void retire_group(struct engine_worker *w, struct engine_group *group)
{
	struct engine_grid *grid = group->grid;
	uint64_t abreast = grid->total < grid->concurrency ? grid->total : grid->concurrency;
	uint64_t ns = (engine_group_ns(group) - group->excused_ns) / abreast;

	engine_run_elapse(grid->run, ns > LAUNCH_NS ? ns : LAUNCH_NS, ENGINE_WAVES, grid->where);
	atomic_store_explicit(&grid->run->progress_ns, vgpu_host_time_ns(), memory_order_relaxed);
	w->units_used -= grid->group_units;
	give_slots_back(grid, group->slot);
	put_spare(w, group);
	engine_grid_group_ended(grid);
}

/* Checks both limits. A group's own modelled time shows an endless loop. A crowd of workgroups that wait in vain,
 * each with a hundredth of the interpreter, shows in the time that the host gave since the last workgroup ended. */
static void look_at_watchdog(struct engine_group *group)
{
	struct engine_run *run = group->grid->run;
	uint64_t limit, since, now = vgpu_host_time_ns();

	if (!atomic_load_explicit(&run->oldest, memory_order_acquire)) {
		group->excused_ns = engine_group_ns(group);
		return;
	}
	engine_run_check(run, engine_group_ns(group) - group->excused_ns, ENGINE_WAVES, group->grid->where);
	limit = engine_run_limit(run);
	since = atomic_load_explicit(&run->progress_ns, memory_order_relaxed);
	if (limit && now > since && now - since > limit)
		engine_run_stop(run, ENGINE_WAVES, "watchdog: no workgroup has ended for %.1f s; %s",
				(double)(now - since) / 1e9, group->grid->where);
}

bool engine_worker_step(struct engine_worker *w, const struct engine_run *of)
{
	struct engine_group *group = w->current;

	if (!group) {
		group = take_group(w, of);
		if (!group)
			group = next_resident(w);
		if (!group)
			return false;
		w->current = group;
		w->turns = 0;
	}
	if (engine_group_run(group, TURN_INSTRUCTIONS)) {
		w->current = NULL;
		w->patience = w->patience < PATIENCE_MAX ? 2 * w->patience : PATIENCE_MAX;
		retire_group(w, group);
		return true;
	}
	look_at_watchdog(group);
	if (++w->turns < w->patience && !group->parked)
		return true;
	if (!group->parked)
		w->patience = w->patience > 1 ? w->patience / 2 : 1;
	*w->resident_end = group;
	w->resident_end = &group->next;
	w->current = NULL;
	return true;
}

/* --- pool threads --- */

static void *worker_main(void *arg)
{
	struct engine_worker *w = arg;

	do
		while (engine_worker_step(w, NULL))
			;
	while (engine_device_await(w->dev, ENGINE_GROUP_UNITS_MAX, &w->claim));
	return NULL;
}

bool engine_worker_start(struct engine_worker *w)
{
	return !pthread_create(&w->thread, NULL, worker_main, w);
}

void engine_worker_join(struct engine_worker *w)
{
	pthread_join(w->thread, NULL);
}

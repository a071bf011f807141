/* Waits of the packet processors for memory that another agent writes. */
#include <sched.h>
#include <time.h>

#include "vgpu/engine/cp.h"
#include "vgpu/host_time.h"

/* Modelled time of a wait is the time that the host gave to the process (vgpu/host_time.h), in which the thread
 * that ends the wait, the engine's or the client's, could have run. When all rings of the device wait, only a
 * thread of the client can end the wait, which is not what a ring is for: after a grace period time runs faster,
 * so that a limit of 60 s takes 7.6 s. */
#define GRACE_NS 100000000
#define HURRY    8

#define SPINS        64 /* polls before the first sleep: some microseconds */
#define SLEEP_MIN_NS 5000
#define SLEEP_MAX_NS 500000

struct wait {
	struct engine_run *run;
	const char *what;
	uint64_t begun_ns, last_ns;
	unsigned looks;
};

static void give_way(unsigned looks)
{
	unsigned doublings = (looks - SPINS) / 8;
	long ns = doublings < 7 ? (long)SLEEP_MIN_NS << doublings : SLEEP_MAX_NS;
	struct timespec t = {.tv_nsec = ns < SLEEP_MAX_NS ? ns : SLEEP_MAX_NS};

	if (looks < SPINS)
		sched_yield();
	else
		nanosleep(&t, NULL);
}

/* False when the job was stopped. */
static bool wait_on(struct wait *wait)
{
	uint64_t now, passed;
	bool waves;

	give_way(wait->looks++);
	now = vgpu_host_time_ns();
	passed = now - wait->last_ns;
	wait->last_ns = now;
	if (now - wait->begun_ns > GRACE_NS && !atomic_load(&wait->run->ring->dev->busy))
		passed *= HURRY;
	waves = engine_ring_busy(wait->run->ring) && !engine_run_waves_end(wait->run);
	engine_run_elapse(wait->run, passed, waves ? ENGINE_WAVES : ENGINE_HANG, wait->what);
	return !engine_run_stopped(wait->run);
}

bool engine_wait_until(struct engine_mem *mem, bool (*look)(void *user, bool *over), void *user)
{
	struct engine_run *run = mem->run;
	struct wait wait = {.run = run};
	bool over, ok = look(user, &over);
	char what[128];

	if (!ok || over)
		return ok;
	mem->actor.where(mem->actor.user, what, sizeof(what));
	wait.what = what;
	wait.begun_ns = wait.last_ns = vgpu_host_time_ns();
	atomic_fetch_sub(&run->ring->dev->busy, 1);
	/* The dispatches of this ring may end the wait, and the ring's own thread does not run them meanwhile. */
	if (engine_ring_busy(run->ring))
		engine_device_wake(run->ring->dev);
	do
		ok = wait_on(&wait) && look(user, &over);
	while (ok && !over);
	atomic_fetch_add(&run->ring->dev->busy, 1);
	return ok;
}

struct swap {
	struct engine_mem *mem;
	uint64_t va, src, cmp, *old;
	unsigned op;
};

static bool try_swap(void *user, bool *over)
{
	const struct swap *s = user;
	bool ok = engine_mem_atomic(s->mem, s->va, s->op, s->src, s->cmp, s->old);

	*over = *s->old == (engine_atomic_is_64(s->op) ? s->cmp : (uint32_t)s->cmp);
	return ok;
}

bool engine_wait_swap(struct engine_mem *mem, uint64_t va, unsigned op, uint64_t src, uint64_t cmp, uint64_t *old)
{
	struct swap swap = {mem, va, src, cmp, old, op};

	return engine_wait_until(mem, try_swap, &swap);
}

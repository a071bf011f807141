/* Waits for signals. A wait spins for a budget. Then the thread sleeps: on the fence of the job whose end will
 * change the signal; on a futex in short slices, if the change comes in the middle of a job, for which no fence
 * exists; or on a futex that changes by the CPU wake, if no job is known that will change the signal. */
#include <errno.h>
#include <time.h>

#include "hsa/core/table.h"
#include "hsa/signal/signal.h"

/* A sleep on a fence. Longer than the sleeps that the kernel shortens (cs/wait.c), about the interval of fault
 * queries. */
#define FENCE_SLICE_NS 24000000
/* A sleep on a futex, at most, while a job runs that changes the signal in its middle. */
#define JOB_SLICE_NS 200000
/* A sleep on a futex while no GPU works: changes by the CPU and submissions wake the thread. */
#define SLICE_IDLE_NS 10000000
/* A wait of this length queries the kernel for a reset; the shortest watchdog has 2 s. */
#define RESET_CHECK_NS 50000000
/* The longest sleep for the kernel's end of the job, unless a tenth of the wait's own time is less. */
#define JOB_END_NS 20000000

bool rt_idle_begin(struct rt *rt, uint32_t *seen)
{
	atomic_fetch_add(&rt->idlers, 1);
	*seen = atomic_load(&rt->work);
	if (!rt_queues_busy(rt))
		return true;
	atomic_fetch_sub(&rt->idlers, 1);
	return false;
}

void rt_idlers_wake(struct rt *rt)
{
	atomic_fetch_add(&rt->work, 1);
	drv_futex_wake(&rt->work);
	rt_handlers_wake(rt);
}

bool rt_condition_met(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t compare)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == compare;
	case HSA_SIGNAL_CONDITION_NE:
		return value != compare;
	case HSA_SIGNAL_CONDITION_LT:
		return value < compare;
	case HSA_SIGNAL_CONDITION_GTE:
		return value >= compare;
	}
	return false;
}

/* A condition on one signal. */
struct watch {
	struct rt_signal *signal; /* NULL: nothing to wait for */
	uint32_t generation;
	hsa_signal_condition_t condition;
	hsa_signal_value_t compare, value;
	bool over; /* met, or impossible to meet: the signal was destroyed, or its completion was lost */
};

static void watch_check(struct rt *rt, struct watch *w)
{
	if (!w->signal) {
		w->over = true;
		return;
	}
	w->value = rt_signal_load(rt, w->signal);
	w->over = rt_condition_met(w->condition, w->value, w->compare) || w->signal->failed;
	if (__builtin_expect(atomic_load_explicit(&w->signal->generation, memory_order_acquire) != w->generation,
			     0)) {
		w->value = 0;
		w->over = true;
	}
}

/* A wait for one or all of several signals. */
struct wait {
	struct watch *watch; /* borrowed */
	unsigned count;
	bool all;
	uint64_t start_ns, timeout_ns;
	unsigned index; /* out: a signal whose condition is over */
};

/* Checks all conditions. True when the wait is over. */
static bool wait_check(struct rt *rt, struct wait *w)
{
	unsigned over = 0;

	for (unsigned i = 0; i < w->count; i++) {
		struct watch *watch = &w->watch[i];

		if (!watch->over || !w->all)
			watch_check(rt, watch);
		if (!watch->over)
			continue;
		w->index = i;
		if (!w->all)
			return true;
		over++;
	}
	return over == w->count;
}

static uint64_t wait_left_ns(const struct wait *w)
{
	uint64_t spent_ns = rt_now_ns() - w->start_ns;

	return w->timeout_ns == UINT64_MAX ? UINT64_MAX : spent_ns < w->timeout_ns ? w->timeout_ns - spent_ns : 0;
}

static bool wait_spin(struct rt *rt, struct wait *w, uint64_t budget_ns)
{
	uint64_t until_ns = budget_ns < w->timeout_ns ? budget_ns : w->timeout_ns;

	do {
		for (unsigned i = 0; i < 32; i++) {
			if (wait_check(rt, w))
				return true;
			__builtin_ia32_pause();
		}
	} while (rt_now_ns() - w->start_ns < until_ns);
	return false;
}

/* The first signal whose condition is not over. */
static struct rt_signal *first_open(const struct wait *w)
{
	for (unsigned i = 0; i < w->count; i++)
		if (!w->watch[i].over)
			return w->watch[i].signal;
	return NULL;
}

static void sleep_on_job(struct rt *rt, struct cs_fence fence, uint64_t ns)
{
	int r = cs_fence_sleep(fence, ns < FENCE_SLICE_NS ? (int64_t)ns : FENCE_SLICE_NS);

	/* Only this error reports a reset. */
	if (r && r != -ETIMEDOUT)
		rt->ops->lost(rt, fence.ring);
}

/* Sleeps once, on the first signal that is not over. */
static void wait_sleep(struct rt *rt, struct wait *w, struct rt_pause *pause, uint64_t ns)
{
	struct rt_signal *signal = first_open(w);
	bool ends = false, runs;
	struct cs_fence fence;
	uint64_t slice_ns;
	uint32_t seen;

	if (!signal)
		return;
	runs = rt_signal_next_fence(signal, &fence, &ends) && cs_fence_poll(fence) != 1;
	/* If any of several signals ends the wait, another one may change before this job ends. */
	if (runs && ends && (w->count == 1 || w->all)) {
		sleep_on_job(rt, fence, ns);
		return;
	}
	atomic_fetch_add(&signal->waiters, 1);
	if (w->count == 1 && atomic_load(&signal->kind) != RT_SIGNAL_IPC && rt_idle_begin(rt, &seen)) {
		if (!wait_check(rt, w))
			drv_futex_wait(&rt->work, seen, ns < SLICE_IDLE_NS ? ns : SLICE_IDLE_NS);
		atomic_fetch_sub(&rt->idlers, 1);
		pause->ns = 0;
	} else {
		slice_ns = rt_pause_next_ns(pause);
		slice_ns = runs && slice_ns > JOB_SLICE_NS ? JOB_SLICE_NS : slice_ns;
		seen = atomic_load(&signal->change);
		if (!wait_check(rt, w))
			drv_futex_wait(&signal->change, seen, ns < slice_ns ? ns : slice_ns);
	}
	atomic_fetch_sub(&signal->waiters, 1);
}

/* After a long wait: a job that the watchdog stopped can have completed its signal. Fails the signals of such
 * jobs. */
static void check_for_reset(struct rt *rt, struct wait *w, uint64_t spent_ns)
{
	int64_t job_end_ns = spent_ns / 10 < JOB_END_NS ? (int64_t)(spent_ns / 10) : JOB_END_NS;

	/* The GPU's last write comes shortly before the kernel reports the job's state. */
	for (unsigned i = 0; i < w->count; i++)
		if (w->watch[i].signal && w->watch[i].over)
			rt_signal_await_job(w->watch[i].signal, job_end_ns);
	rt->ops->query_faults(rt, true);
	for (unsigned i = 0; i < w->count; i++)
		if (w->watch[i].signal && w->watch[i].over && rt_signal_check(rt, w->watch[i].signal))
			watch_check(rt, &w->watch[i]);
}

/* Returns true when the wait is over, false after the timeout, or when the runtime ends. */
static bool signals_wait(struct rt *rt, struct wait *w, hsa_wait_state_t hint)
{
	/* A client that passes ACTIVE prefers low latency to CPU time; the spin is limited nevertheless. */
	uint64_t budget_ns = drv_config()->spin_us * (hint == HSA_WAIT_STATE_ACTIVE ? 4000ull : 1000ull);
	struct rt_pause pause = {0};
	uint64_t ns;

	rt_queues_flush(rt);
	if (wait_check(rt, w))
		return true;
	w->start_ns = rt_now_ns();
	if (wait_spin(rt, w, budget_ns))
		return true;
	while (!wait_check(rt, w)) {
		ns = wait_left_ns(w);
		if (!ns || rt_get() != rt)
			return false;
		rt_queues_flush(rt);
		wait_sleep(rt, w, &pause, ns);
		rt->ops->query_faults(rt, false);
	}
	ns = rt_now_ns() - w->start_ns;
	if (ns > RESET_CHECK_NS)
		check_for_reset(rt, w, ns);
	return true;
}

/* --- functions -------------------------------------------------------------------------------- */

/* False: no thread can wait for that signal. */
static bool watch_begin(const struct rt *rt, struct watch *w, hsa_signal_t handle)
{
	w->signal = rt_signal_find(rt, handle, &w->generation);
	return w->signal && atomic_load_explicit(&w->signal->kind, memory_order_relaxed) != RT_SIGNAL_DOORBELL;
}

static bool is_condition(hsa_signal_condition_t condition)
{
	return (unsigned)condition <= HSA_SIGNAL_CONDITION_GTE;
}

static hsa_signal_value_t wait_one(hsa_signal_t handle, hsa_signal_condition_t condition,
				   hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t hint)
{
	struct rt *rt = rt_call_begin();
	struct watch watch = {.condition = condition, .compare = compare};
	struct wait wait = {.watch = &watch, .count = 1, .timeout_ns = timeout};

	if (rt && watch_begin(rt, &watch, handle) && is_condition(condition))
		signals_wait(rt, &wait, hint);
	rt_call_end();
	return watch.value;
}

hsa_signal_value_t impl_hsa_signal_wait_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
						  hsa_signal_value_t compare, uint64_t timeout,
						  hsa_wait_state_t hint)
{
	return wait_one(signal, condition, compare, timeout, hint);
}

hsa_signal_value_t impl_hsa_signal_wait_relaxed(hsa_signal_t signal, hsa_signal_condition_t condition,
						hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t hint)
{
	return wait_one(signal, condition, compare, timeout, hint);
}

#define WAIT_MAX 1024 /* signals of one wait */

/* Fills the watches; false: a handle is no signal. Handles of 0 are skipped. */
static bool watch_all(struct rt *rt, struct watch *watch, uint32_t count, const hsa_signal_t *signals,
		      const hsa_signal_condition_t *conditions, const hsa_signal_value_t *values)
{
	for (uint32_t i = 0; i < count; i++) {
		watch[i] = (struct watch){.condition = conditions[i], .compare = values[i]};
		if (!signals[i].handle)
			continue;
		if (!watch_begin(rt, &watch[i], signals[i]) || !is_condition(conditions[i]))
			return false;
	}
	return true;
}

static uint32_t signals_wait_many(struct rt *rt, uint32_t count, const hsa_signal_t *signals,
				  const hsa_signal_condition_t *conditions, const hsa_signal_value_t *values,
				  uint64_t timeout, hsa_wait_state_t hint, hsa_signal_value_t *satisfying, bool all)
{
	struct watch watch[WAIT_MAX];
	struct wait wait = {.watch = watch, .count = count, .all = all, .timeout_ns = timeout};

	if (!rt || !count || count > WAIT_MAX || !signals || !conditions || !values ||
	    !watch_all(rt, watch, count, signals, conditions, values) || !signals_wait(rt, &wait, hint))
		return UINT32_MAX;
	if (satisfying && !all)
		*satisfying = watch[wait.index].value;
	for (uint32_t i = 0; satisfying && all && i < count; i++)
		satisfying[i] = watch[i].value;
	return all ? 0 : wait.index;
}

static uint32_t wait_many(uint32_t count, const hsa_signal_t *signals, const hsa_signal_condition_t *conditions,
			  const hsa_signal_value_t *values, uint64_t timeout, hsa_wait_state_t hint,
			  hsa_signal_value_t *satisfying, bool all)
{
	struct rt *rt = rt_call_begin();
	uint32_t index = signals_wait_many(rt, count, signals, conditions, values, timeout, hint, satisfying, all);

	rt_call_end();
	return index;
}

uint32_t impl_hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t *signals, hsa_signal_condition_t *conditions,
				      hsa_signal_value_t *values, uint64_t timeout, hsa_wait_state_t hint,
				      hsa_signal_value_t *satisfying)
{
	return wait_many(count, signals, conditions, values, timeout, hint, satisfying, false);
}

uint32_t impl_hsa_amd_signal_wait_all(uint32_t count, hsa_signal_t *signals, hsa_signal_condition_t *conditions,
				      hsa_signal_value_t *values, uint64_t timeout, hsa_wait_state_t hint,
				      hsa_signal_value_t *satisfying)
{
	return wait_many(count, signals, conditions, values, timeout, hint, satisfying, true);
}

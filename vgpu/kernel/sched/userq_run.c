/* The thread of a user queue. It stands for the firmware and the packet processor: it watches the doorbell, runs the ring
 * up to the value found there, and ends what takes too long. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include "vgpu/host_time.h"
#include "vgpu/kernel/base/inject.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/gem/fault.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/gem/vmid.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sched/userq.h"
#include "vgpu/kernel/sync/fence.h"

/* Looks at a silent doorbell: without a sleep at first, then twenty thousand times a second, after a second half as
 * often. */
#define EAGER_LOOKS  64
#define SHORT_NS     50000
#define LONG_NS      100000
#define SHORT_LOOKS  20000
#define TIMER_LOOKS  64   /* looks between two looks at the time limit */
#define LATE_WPTR_US 1000 /* a write pointer that is stored later than this after its doorbell counts as missing */

struct userq_thread {
	struct kern_userq *q;       /* counted */
	struct engine_ring *engine; /* owned */
	_Atomic uint64_t *doorbell; /* in the physical memory file, pinned */
	_Atomic uint64_t *rptr;     /* while the ring runs */
};

/* Threads of this process that live. */
static _Atomic unsigned threads;

/* --- fences --- */

/* Takes the signalled fences out, and frees what waited for them. */
static void drop_signalled(struct kern_userq *q)
{
	while (q->fences && q->fence[0]->signalled) {
		struct kern_fence *f = q->fence[0];

		memmove(&q->fence[0], &q->fence[1], (q->fences - 1) * sizeof(q->fence[0]));
		kern_list_step();
		q->fences--;
		kern_fence_put(f);
	}
	kern_bo_bury();
}

void kern_userq_timer(struct kern_userq *q)
{
	if (atomic_load(&q->timer) == ENGINE_TIMER_KILL)
		return;
	q->timer_ns = vgpu_host_time_ns();
	q->reported = false;
	atomic_store(&q->timer, q->fences ? ++q->timers : 0);
}

void kern_userq_signalled(struct kern_userq *q, uint64_t value)
{
	q->signalled = value;
	__atomic_store_n(&q->dev->seq64[q->slot], value, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < q->fences && q->fence[i]->seq <= value; i++)
		kern_fence_signal(q->fence[i], 0);
	drop_signalled(q);
	kern_userq_timer(q);
}

/* The word gets the last value, so that queues that wait for it go on
 * (amdgpu_userq_fence_driver_force_completion()). */
void kern_userq_cancel(struct kern_userq *q)
{
	if (q->fences)
		__atomic_store_n(&q->dev->seq64[q->slot], q->fence[q->fences - 1]->seq, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < q->fences; i++)
		kern_fence_signal(q->fence[i], -ECANCELED);
	drop_signalled(q);
}

/* --- the engine's calls, without the lock --- */

static void on_progress(void *user, uint64_t position)
{
	struct userq_thread *t = user;

	atomic_store(&t->q->read, position);
	if (t->rptr)
		atomic_store_explicit(t->rptr, position, memory_order_release);
}

static void on_signal(void *user, uint64_t position)
{
	struct userq_thread *t = user;

	kern_lock();
	kern_userq_signalled(t->q, position);
	kern_unlock();
}

static void on_fault(void *user, const struct gpuvm_fault *fault)
{
	const struct userq_thread *t = user;

	kern_vm_fault(t->q->vm, fault);
	vgpu_log("VM fault: user queue %u, address 0x%llx", t->q->id, (unsigned long long)fault->va);
}

/* --- running --- */

static void ring_run(struct userq_thread *t, uint64_t end, struct kern_view *view)
{
	struct kern_userq *q = t->q;
	bool hangs = kern_profile_of(q->dev)->userq_hangs;
	struct kern_vmid_grant vmid = kern_vmid_grab(q->vm, q->ip);
	struct engine_user_ring ring = {q->ring_va, q->ring_B, atomic_load(&q->read), end, on_progress, on_signal};
	struct engine_job work = {
		.view = &view->view,
		.user_ring = &ring,
		.watchdog_ns = hangs ? q->dev->watchdog_ns[q->ip] : 0,
		.timer = &q->timer,
		.seq = end, /* numbered as the queue's fences */
		.ctx = q->id,
		.device = q->dev->index,
		.pid = (uint32_t)kern_local.pid,
		.vmid = vmid.key,
		.vmid_foreign = vmid.foreign,
		.vmid_epoch = vmid.epoch,
		.waves_stay = true,
		.queue = q->fence_context,
		.seen = engine_seen(),
		.fault = on_fault,
		.user = t,
	};
	struct engine_run *run = engine_line_up(t->engine, &work);
	enum engine_status status;

	q->vm->running++;
	kern_unlock();
	status = engine_execute(run);
	kern_lock();
	q->vm->running--;
	kern_fault_job_ended(q->vm);
	if (status != ENGINE_DONE && status != ENGINE_KILLED && q->state == KERN_USERQ_MAPPED) {
		q->state = KERN_USERQ_STALLED;
		vgpu_log("user queue %u stops: %s", q->id, engine_why(run));
	}
	engine_leave(run);
	engine_forget(work.seen);
}

/* Whether the ring can hold what the doorbell says. */
static bool check_doorbell(struct kern_userq *q, uint64_t rung)
{
	uint64_t read = atomic_load(&q->read);

	if (rung >= read && rung - read <= q->ring_B / 4)
		return true;
	vgpu_finding(rung < read ? CONTRACT_USERQ_DOORBELL : CONTRACT_USERQ_OVERRUN,
		     "user queue %u: the doorbell says %llu, the ring of %llu dwords was read to %llu: %s", q->id,
		     (unsigned long long)rung, (unsigned long long)q->ring_B / 4, (unsigned long long)read,
		     rung < read ? "it went back" : "packets were overwritten");
	if (rung > read)
		q->state = KERN_USERQ_STALLED;
	return false;
}

static void take_doorbell(struct userq_thread *t, uint64_t rung)
{
	struct kern_userq *q = t->q;
	struct kern_view *view;

	if (!kern_userq_check_memory(q) || !kern_userq_check_userptrs(q) || !check_doorbell(q, rung))
		return;
	q->rung = rung;
	if (kern_inject_event(KERN_EVICT))
		kern_evict_random(q->dev);
	if (kern_evict_restore_all(q->vm))
		vgpu_log("user queue %u: not all of its memory came back", q->id);
	view = kern_view_get_all(q->vm);
	t->rptr = kern_userq_word(q, q->rptr_va);
	if (view)
		ring_run(t, rung, view);
	kern_view_put(view);
}

/* The write pointer in memory, which a program stores before it rings. */
static uint64_t read_wptr(struct kern_userq *q)
{
	_Atomic uint64_t *word;
	uint64_t value;

	kern_lock();
	word = kern_userq_word(q, q->wptr_va);
	value = word ? atomic_load(word) : UINT64_MAX;
	kern_unlock();
	return value;
}

/* The doorbell was read before the write pointer: of a program that stores that first it is never behind. */
static void check_wptr(struct kern_userq *q, uint64_t rung)
{
	uint64_t wptr = read_wptr(q);
	struct timespec t = {.tv_nsec = 1000l * LATE_WPTR_US};

	if (wptr >= rung)
		return;
	nanosleep(&t, NULL);
	if (read_wptr(q) >= rung)
		vgpu_finding(
			CONTRACT_USERQ_EARLY,
			"user queue %u: the doorbell was rung for %llu while the write pointer in memory was %llu",
			q->id, (unsigned long long)rung, (unsigned long long)wptr);
	else
		vgpu_finding(
			CONTRACT_USERQ_DOORBELL,
			"user queue %u: the doorbell says %llu, the write pointer in memory %llu: after an eviction "
			"the firmware goes by memory",
			q->id, (unsigned long long)rung, (unsigned long long)wptr);
}

/* --- time --- */

static void report_late(struct kern_userq *q)
{
	bool idle = q->state == KERN_USERQ_MAPPED;

	if (q->reported)
		return;
	q->reported = true;
	vgpu_log("user queue %u: its fence %llu is late", q->id, (unsigned long long)q->fence[0]->seq);
	if (idle)
		vgpu_finding(
			CONTRACT_USERQ_NO_SIGNAL,
			"user queue %u: USERQ_SIGNAL at %llu, but no PROTECTED_FENCE_SIGNAL behind %llu: the fence "
			"never signals",
			q->id, (unsigned long long)q->fence[0]->seq, (unsigned long long)q->signalled);
}

/* The time limit of a fence is over while the ring does nothing (amdgpu_userq_hang_detect_work()). */
static void look_at_time(struct kern_userq *q)
{
	uint32_t timer = atomic_load(&q->timer);

	if (!timer || timer == ENGINE_TIMER_KILL)
		return;
	kern_lock();
	if (q->fences && vgpu_host_time_ns() - q->timer_ns > q->dev->watchdog_ns[q->ip]) {
		report_late(q);
		if (kern_profile_of(q->dev)->userq_hangs) {
			q->state = KERN_USERQ_HUNG;
			q->dev->resets++;
			kern_userq_cancel(q);
			kern_userq_timer(q);
		}
	}
	kern_unlock();
}

/* --- the thread --- */

static void idle(unsigned looks)
{
	struct timespec t = {.tv_nsec = looks < SHORT_LOOKS ? SHORT_NS : LONG_NS};

	if (looks < EAGER_LOOKS)
		sched_yield();
	else
		nanosleep(&t, NULL);
}

static void watch_doorbell(struct userq_thread *t)
{
	struct kern_userq *q = t->q;

	for (unsigned looks = 0; !atomic_load(&q->stop); looks++) {
		uint64_t rung = atomic_load(t->doorbell);

		if (rung != KERN_DOORBELL_SILENT &&
		    (rung = atomic_exchange(t->doorbell, KERN_DOORBELL_SILENT)) != KERN_DOORBELL_SILENT) {
			check_wptr(q, rung);
			kern_lock();
			if (!atomic_load(&q->stop))
				take_doorbell(t, rung);
			kern_unlock();
			looks = 0;
		}
		if (looks % TIMER_LOOKS == TIMER_LOOKS - 1)
			look_at_time(q);
		idle(looks);
	}
}

static void *thread_main(void *arg)
{
	struct userq_thread *t = arg;
	struct kern_userq *q = t->q;

	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
	watch_doorbell(t);
	engine_ring_destroy(t->engine);
	free(t);
	kern_lock();
	q->threaded = false;
	kern_list_del(&q->link);
	kern_waitq_wake(&q->ended);
	kern_userq_put(q);
	kern_unlock();
	atomic_fetch_sub(&threads, 1);
	return NULL;
}

/* Blocks signals: they are for the client's threads. */
static int thread_start(struct userq_thread *t)
{
	sigset_t all, before;
	pthread_t thread;
	char name[16];
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return -ENOMEM;
	snprintf(name, sizeof(name), "vgpu%u-u%u", t->q->dev->index, t->q->id);
	pthread_setname_np(thread, name);
	pthread_detach(thread);
	return 0;
}

/* A doorbell is an event, not a value: what an earlier queue left there counts for nothing. */
static void silence(struct userq_thread *t)
{
	t->doorbell = (_Atomic uint64_t *)(void *)(kern_bo_host(t->q->doorbell) + t->q->doorbell_at);
	atomic_store(t->doorbell, KERN_DOORBELL_SILENT);
}

int kern_userq_start(struct kern_userq *q)
{
	struct userq_thread *t = calloc(1, sizeof(*t));
	int r = t ? 0 : -ENOMEM;

	if (r)
		return r;
	t->q = q;
	t->engine = kern_engine_ring(q->dev, q->ip, 0, KERN_XCC_RINGS + q->id % 8);
	r = t->engine ? 0 : -ENOMEM;
	if (r)
		goto free_thread;
	silence(t);
	kern_list_add_tail(&kern->proc[kern_local.slot].userqs, &q->link);
	q->threaded = true;
	kern_userq_get(q);
	atomic_fetch_add(&threads, 1);
	r = thread_start(t);
	if (!r)
		return 0;
	atomic_fetch_sub(&threads, 1);
	q->threaded = false;
	kern_list_del(&q->link);
	kern_userq_put(q);
	engine_ring_destroy(t->engine);
free_thread:
	free(t);
	return r;
}

void kern_userqs_proc_gone(struct kern_proc *proc)
{
	while (!kern_list_empty(&proc->userqs)) {
		struct kern_userq *q = kern_entry(proc->userqs.next, struct kern_userq, link);

		q->threaded = false;
		q->state = KERN_USERQ_HUNG;
		kern_userq_cancel(q);
		kern_waitq_wake(&q->ended);
		kern_list_del(&q->link);
		kern_userq_put(q);
	}
}

static void stop_own(void)
{
	struct kern_list *head = &kern->proc[kern_local.slot].userqs;

	for (struct kern_list *pos = head->next; pos != head; pos = pos->next) {
		struct kern_userq *q = kern_entry(pos, struct kern_userq, link);

		atomic_store(&q->stop, true);
		atomic_store(&q->timer, ENGINE_TIMER_KILL);
	}
}

void kern_userqs_stop(void)
{
	struct timespec t = {.tv_nsec = SHORT_NS};

	kern_lock();
	stop_own();
	kern_unlock();
	while (atomic_load(&threads))
		nanosleep(&t, NULL);
}

void kern_userqs_forked(void)
{
	atomic_store(&threads, 0);
}

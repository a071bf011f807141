/* Sleeping and waking across threads and processes. */
#include <linux/futex.h>
#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/sync/fence.h"

/* Interval of the sweeps for dead processes during a sleep, when there are other processes. A death is rare, and
 * waiters for it have lost their work anyway. */
#define LIVENESS_NS 50000000ll

int kern_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline_ns)
{
	struct timespec ts, *timeout = NULL;

	if (deadline_ns != INT64_MAX) {
		ts.tv_sec = deadline_ns / 1000000000;
		ts.tv_nsec = deadline_ns % 1000000000;
		timeout = &ts;
	}
	/* WAIT_BITSET takes an absolute time; without a time-out, SA_RESTART decides about signals as for an ioctl.
	 */
	return (int)sys_call6(SYS_futex, (long)word, FUTEX_WAIT_BITSET, value, (long)timeout, 0,
			      FUTEX_BITSET_MATCH_ANY);
}

void kern_futex_wake(_Atomic uint32_t *word)
{
	sys_call6(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

void kern_waitq_init(struct kern_waitq *q)
{
	kern_list_init(&q->wakers);
}

void kern_waitq_wake(struct kern_waitq *q)
{
	/* A part of a timeline that is done adds the waiters of the chain to q, and so on: no recursion. */
	while (!kern_list_empty(&q->wakers)) {
		struct kern_waker *waker = kern_entry(q->wakers.next, struct kern_waker, link);

		kern_list_del(&waker->link);
		if (!waker->word) {
			kern_fence_part_done(waker, q);
			continue;
		}
		atomic_fetch_add(waker->word, 1);
		kern_futex_wake(waker->word);
	}
}

struct kern_wait *kern_wait_begin(unsigned room)
{
	struct kern_wait *w = kern_alloc(sizeof(*w) + room * sizeof(w->waker[0]));

	if (!w)
		return NULL;
	w->room = room;
	kern_list_add(&kern->proc[kern_local.slot].waits, &w->link);
	return w;
}

void kern_wait_on(struct kern_wait *w, struct kern_waitq *q)
{
	struct kern_waker *waker = &w->waker[w->count++];

	assert(w->count <= w->room);
	waker->word = &w->word;
	kern_list_add_tail(&q->wakers, &waker->link);
	/* The lock is held: no wake can come between this load and the registration. */
	w->seen = atomic_load(&w->word);
}

static void wait_forget(struct kern_wait *w)
{
	while (w->count)
		kern_list_del(&w->waker[--w->count].link);
}

int kern_wait_sleep(struct kern_wait *w, int64_t deadline_ns)
{
	bool others = kern->procs > 1;
	int64_t until = deadline_ns;
	int r;

	if (others && until > sys_now_ns() + LIVENESS_NS)
		until = sys_now_ns() + LIVENESS_NS;
	kern_unlock();
	r = kern_futex_wait(&w->word, w->seen, until);
	kern_lock();
	wait_forget(w);
	if (r == -EINTR)
		return -EINTR;
	if (r == -ETIMEDOUT && until == deadline_ns)
		return -ETIME;
	if (r == -ETIMEDOUT && others)
		kern_local.sweep();
	return 0;
}

void kern_wait_end(struct kern_wait *w)
{
	if (!w)
		return;
	wait_forget(w);
	kern_list_del(&w->link);
	kern_free(w);
}

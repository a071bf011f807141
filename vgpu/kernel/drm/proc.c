#include <stdio.h>
#include <stdlib.h>
#include "vgpu/kernel/drm/proc.h"
#include "vgpu/kernel/drm/call.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/drm/inode.h"
#include "vgpu/kernel/drm/repair.h"
#include "vgpu/kernel/drm/watch.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sched/userq.h"
#include "vgpu/kernel/sync/fence.h"

static void release_holds(struct kern_proc *proc)
{
	while (!kern_list_empty(&proc->holds))
		kern_hold_put(kern_entry(proc->holds.next, struct kern_hold, link));
}

static void release_waits(struct kern_proc *proc)
{
	while (!kern_list_empty(&proc->waits)) {
		struct kern_wait *w = kern_entry(proc->waits.next, struct kern_wait, link);

		while (w->fences)
			kern_fence_put(w->waker[--w->fences].fence);
		kern_wait_end(w);
	}
}

/* Frees a process's state after its threads have ended: first its jobs end, then its descriptors close. */
static void proc_reap(struct kern_proc *proc)
{
	bool torn = proc->unnamed;

	kern_sched_proc_gone(proc);
	kern_userqs_proc_gone(proc);
	kern_bo_free_rest(proc);
	kern_calls_proc_gone(proc);
	kern_watch_proc_gone(proc);
	release_waits(proc);
	release_holds(proc);
	if (proc->pid)
		kern_inodes_receiver_gone(proc->pid);
	proc->serial = 0;
	kern->procs--;
	if (torn || kern->died_inside) /* objects that it was publishing, or that only its stack named */
		kern->repair_due = true;
}

/* An object that a process had open when it died is no leak: row 38 is about files that are closed while it lives.
 */
static void reap_dead(struct kern_proc *proc)
{
	bool leaving = kern_local.leaving;

	kern_local.leaving = true;
	proc_reap(proc);
	kern_local.leaving = leaving;
}

void kern_proc_sweep(void)
{
	if (kern->repair_due)
		kern_repair();
	if (kern->repair_due)
		return;
	for (unsigned i = 0; i < KERN_PROCS; i++) {
		struct kern_proc *proc = &kern->proc[i];

		if (!proc->serial || kern_tenant_alive(proc))
			continue;
		vgpu_log("process %d died; its jobs end with -ESRCH", (int)proc->pid);
		reap_dead(proc);
	}
	if (kern->repair_due)
		kern_repair();
}

static void reap_former_image(pid_t pid, uint64_t start_time)
{
	for (unsigned i = 0; i < KERN_PROCS; i++) {
		struct kern_proc *proc = &kern->proc[i];

		if (proc->serial && proc->pid == pid && proc->start_time == start_time)
			proc_reap(proc);
	}
}

static struct kern_proc *free_slot(void)
{
	for (unsigned i = 0; i < KERN_PROCS; i++)
		if (!kern->proc[i].serial)
			return &kern->proc[i];
	return NULL;
}

/* Makes a process without pid, whose slot is complete when it has a serial. */
static int proc_create(struct kern_proc **out)
{
	struct kern_proc *proc = free_slot();

	if (!proc)
		return -EAGAIN;
	*proc = (struct kern_proc){
		.segment_fd = kern_local.segment_fd,
		.phys_fd = kern_local.phys_fd,
		.rings = kern_alloc(kern->devices * KERN_IPS * KERN_HW_RINGS * sizeof(struct kern_ring *)),
	};
	if (!proc->rings)
		return -ENOMEM;
	kern_list_init(&proc->holds);
	kern_list_init(&proc->waits);
	kern_list_init(&proc->watches);
	kern_list_init(&proc->calls);
	kern_list_init(&proc->freeing);
	kern_list_init(&proc->userqs);
	*out = proc;
	return 0;
}

static void proc_publish(struct kern_proc *proc)
{
	kern_list_step();
	proc->serial = ++kern->next_serial;
	kern->procs++;
}

/* This process becomes the tenant of the slot. */
static void proc_own(struct kern_proc *proc)
{
	struct kern_proc_stat stat = {0};

	kern_local.pid = getpid();
	kern_proc_stat(kern_local.pid, &stat);
	proc->start_time = stat.start_time;
	kern_list_step();
	proc->pid = kern_local.pid;
}

static void proc_entered(const struct kern_proc *proc)
{
	kern_local.serial = proc->serial;
	kern_local.slot = (unsigned)(proc - kern->proc);
}

int kern_proc_enter(void)
{
	struct kern_proc_stat stat = {0};
	struct kern_proc *proc;
	int r;

	kern_local.pid = getpid();
	kern_local.serial = 0;
	kern_proc_stat(kern_local.pid, &stat);
	reap_former_image(kern_local.pid, stat.start_time);
	kern_proc_sweep();
	r = proc_create(&proc);
	if (r)
		return r;
	proc_own(proc);
	proc_publish(proc);
	proc_entered(proc);
	return 0;
}

int kern_proc_conceive(struct kern_child *child)
{
	struct kern_proc *proc;
	int r;

	kern_proc_sweep();
	r = proc_create(&proc);
	if (r)
		return r;
	child->slot = (unsigned)(proc - kern->proc);
	child->guard = kern_guard_open(child->slot);
	if (child->guard < 0) {
		kern_free(proc->rings);
		return child->guard;
	}
	proc_publish(proc);
	child->serial = proc->serial;
	return 0;
}

int kern_proc_born(const struct kern_child *child)
{
	struct kern_proc *proc = &kern->proc[child->slot];

	/* Unless the program has closed the guard, and the slot was reaped. */
	if (proc->serial != child->serial || proc->pid)
		return -ESRCH;
	proc_own(proc);
	proc_entered(proc);
	return 0;
}

void kern_proc_leave(void)
{
	proc_reap(&kern->proc[kern_local.slot]);
}

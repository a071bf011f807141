#include <stdio.h>
#include <stdlib.h>
#include "vgpu/kernel/proc.h"
#include "vgpu/kernel/bo.h"
#include "vgpu/kernel/call.h"
#include "vgpu/kernel/fence.h"
#include "vgpu/kernel/file.h"
#include "vgpu/kernel/repair.h"
#include "vgpu/kernel/sched.h"
#include "vgpu/kernel/watch.h"

/* State and start time from /proc/PID/stat; false when the process is gone. */
static bool proc_stat(pid_t pid, char *state, uint64_t *start_time)
{
	char path[32], buf[1024], *p;
	long n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = sys_read(fd, buf, sizeof(buf) - 1);
	sys_close(fd);
	if (n <= 0)
		return false;
	buf[n] = 0;
	p = strrchr(buf, ')'); /* the name may hold anything, blanks and brackets too */
	if (!p || sscanf(p + 1, " %c", state) != 1)
		return false;
	for (int field = 2; field < 22 && p; field++)
		p = strchr(p + 1, ' ');
	*start_time = p ? strtoull(p, NULL, 10) : 0;
	return true;
}

static bool tenant_alive(const struct kern_proc *proc)
{
	uint64_t start_time;
	char state;

	if (proc->serial == kern_local.serial)
		return true;
	return proc_stat(proc->pid, &state, &start_time) && start_time == proc->start_time && state != 'Z' &&
	       state != 'X';
}

bool kern_proc_alive(uint32_t serial)
{
	for (unsigned i = 0; i < KERN_PROCS; i++)
		if (kern->proc[i].serial == serial)
			return tenant_alive(&kern->proc[i]);
	return false;
}

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

/* The tenant's threads are gone: its jobs end, then its descriptors close. */
static void proc_reap(struct kern_proc *proc)
{
	bool torn = proc->unnamed;

	kern_sched_proc_gone(proc);
	kern_bo_free_rest(proc);
	kern_calls_proc_gone(proc);
	kern_watch_proc_gone(proc);
	release_waits(proc);
	release_holds(proc);
	kern_inodes_receiver_gone(proc->pid);
	proc->serial = 0;
	kern->procs--;
	if (torn || kern->died_inside) /* what it was publishing, and what only its stack named */
		kern->repair_due = true;
}

/* What a process had open when it died is no leak: row 38 is about files that are closed while it lives. */
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

		if (!proc->serial || tenant_alive(proc))
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

int kern_proc_enter(void)
{
	struct kern_proc *proc;
	uint64_t start_time = 0;
	char state;

	kern_local.pid = getpid();
	kern_local.serial = 0;
	proc_stat(kern_local.pid, &state, &start_time);
	reap_former_image(kern_local.pid, start_time);
	kern_proc_sweep();
	proc = free_slot();
	if (!proc)
		return -EAGAIN;
	*proc = (struct kern_proc){
		.pid = kern_local.pid,
		.start_time = start_time,
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
	kern_list_step(); /* with a serial it is whole */
	proc->serial = ++kern->next_serial;
	kern_local.serial = proc->serial;
	kern_local.slot = (unsigned)(proc - kern->proc);
	kern->procs++;
	return 0;
}

void kern_proc_leave(void)
{
	proc_reap(&kern->proc[kern_local.slot]);
}

static struct kern_hold *hold_create(struct kern_inode *inode, struct kern_bo *bo)
{
	struct kern_hold *hold = kern_alloc(sizeof(*hold));

	if (!hold)
		return NULL;
	hold->inode = inode;
	hold->bo = bo;
	kern_list_add_tail(&kern->proc[kern_local.slot].holds, &hold->link);
	return hold;
}

struct kern_hold *kern_hold_inode(struct kern_inode *inode)
{
	struct kern_hold *hold = hold_create(inode, NULL);

	if (hold)
		inode->holds++;
	return hold;
}

struct kern_hold *kern_hold_bo(struct kern_bo *bo)
{
	struct kern_hold *hold = hold_create(NULL, bo);

	if (hold)
		kern_bo_get(bo);
	return hold;
}

void kern_hold_put(struct kern_hold *hold)
{
	if (!hold)
		return;
	kern_list_del(&hold->link);
	if (hold->inode)
		kern_inode_put(hold->inode);
	if (hold->bo)
		kern_bo_put(hold->bo);
	kern_free(hold);
}

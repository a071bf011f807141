/* The notifier of userptr BOs: what changes a process's memory waits for the jobs that use it, and while it waits
 * no CS on the device gets through (Linux amdgpu_mn_invalidate_gfx(), amdgpu_hmm_invalidate_gfx(),
 * amdgpu_cs_submit()). */
#include <stdio.h>
#include <stdlib.h>
#include "vgpu/kernel/gem/notifier.h"
#include "vgpu/kernel/base/proc.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/hold.h"
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/sync/fence.h"

/* --- one BO --- */

static int take_fence(struct kern_fence *f, void *arg)
{
	*(struct kern_fence **)arg = kern_fence_get(f);
	return 1;
}

/* The first unsignalled fence of what the notifier waits for: the BO's, on 7.2 all of the VM that has it. */
static struct kern_fence *next_fence(struct kern_bo *bo)
{
	struct kern_fence *f = NULL;

	if (kern_profile_of(bo->dev)->notifier_waits_vm && !kern_list_empty(&bo->handles)) {
		struct kern_resv *resv = &kern_entry(bo->handles.next, struct kern_handle, bo_link)->file->vm->resv;

		for (unsigned i = 0; !f && i < resv->count; i++)
			if (!resv->fence[i]->signalled)
				f = kern_fence_get(resv->fence[i]);
		if (f)
			return f;
	}
	kern_bo_fences(bo, take_fence, &f);
	return f;
}

/* Sleeps until the device's notifier lock is free; signals do not interrupt it. False without memory to sleep. */
static bool wait_for_lock(struct kern_device *dev)
{
	struct kern_wait *w = NULL;

	while (dev->notifier && kern_proc_alive(dev->notifier)) {
		if (!w)
			w = kern_wait_begin(1);
		if (!w)
			return false;
		kern_wait_on(w, &dev->notified);
		kern_wait_sleep(w, INT64_MAX);
	}
	kern_wait_end(w);
	return true;
}

int kern_notifier_pass(struct kern_device *dev)
{
	return wait_for_lock(dev) ? 0 : -ENOMEM;
}

/* Uninterruptible, as dma_resv_wait_timeout() is there. */
static void invalidate_bo(struct kern_bo *bo)
{
	struct kern_device *dev = bo->dev;
	struct kern_fence *f;

	if (!wait_for_lock(dev))
		return;
	dev->notifier = kern_local.serial;
	while ((f = next_fence(bo))) {
		kern_fence_wait(&f, 1, true, INT64_MAX, NULL);
		kern_fence_put(f);
	}
	dev->notifier = 0;
	kern_waitq_wake(&dev->notified);
}

/* --- ranges --- */

static bool is_own_in(const struct kern_bo *bo, uint64_t addr, uint64_t size_B)
{
	return bo->user_proc == kern_local.serial && bo->user_addr < addr + size_B &&
	       addr < bo->user_addr + bo->size_B;
}

/* A BO of this process over [addr, addr+size_B) that has jobs to wait for; NULL: none. */
static struct kern_bo *busy_in(uint64_t addr, uint64_t size_B)
{
	for (struct kern_list *pos = kern->userptrs.next; pos != &kern->userptrs; pos = pos->next) {
		struct kern_bo *bo = kern_entry(pos, struct kern_bo, user_link);
		struct kern_fence *f;

		if (!is_own_in(bo, addr, size_B))
			continue;
		f = next_fence(bo);
		kern_fence_put(f);
		if (f)
			return bo;
	}
	return NULL;
}

static void invalidate_range(uint64_t addr, uint64_t size_B)
{
	struct kern_bo *bo;

	while ((bo = busy_in(addr, size_B))) {
		struct kern_hold *hold = kern_hold_bo(bo);

		if (!hold)
			break;
		invalidate_bo(bo);
		kern_hold_drop(hold);
	}
}

void kern_user_memory_changes(uint64_t addr, uint64_t size_B)
{
	if (!atomic_load_explicit(&kern->userptr_count,
				  memory_order_relaxed)) /* a race with a userptr being made is the client's */
		return;
	kern_lock();
	invalidate_range(addr, size_B);
	kern_unlock();
}

void kern_user_memory_changed(uint64_t addr, uint64_t size_B)
{
	if (!atomic_load_explicit(&kern->userptr_count, memory_order_relaxed))
		return;
	kern_lock();
	for (struct kern_list *pos = kern->userptrs.next; pos != &kern->userptrs; pos = pos->next) {
		struct kern_bo *bo = kern_entry(pos, struct kern_bo, user_link);

		bo->user_changed |= is_own_in(bo, addr, size_B);
	}
	kern_unlock();
}

/* --- fork --- */

/* Waits for jobs on the memory that a child would get a copy of: private mappings of smaps, except those with
 * MADV_DONTFORK ("dc" of their flags). */
static void invalidate_copied(char *smaps)
{
	unsigned long from = 0, to = 0, lo, hi;
	char *save = NULL, perms[8];
	bool private = false;

	for (char *line = strtok_r(smaps, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%lx-%lx %7s", &lo, &hi, perms) == 3) {
			private = perms[3] == 'p';
			from = lo;
			to = hi;
		} else if (private && !strncmp(line, "VmFlags:", 8) && !strstr(line, " dc")) {
			kern_user_memory_changes(from, to - from);
		}
	}
}

void kern_user_memory_forks(void)
{
	char *smaps;
	bool busy;

	if (!atomic_load_explicit(&kern->userptr_count, memory_order_relaxed))
		return;
	kern_lock();
	busy = busy_in(0, UINT64_MAX);
	kern_unlock();
	smaps = busy ? kern_read_proc("/proc/thread-self/smaps") : NULL;
	if (smaps)
		invalidate_copied(smaps);
	free(smaps);
}

/* User queues: the ioctl that makes and frees them. Linux amdgpu_userq.c and mes_userqueue.c of 6.18 to 7.2. */
#include <linux/capability.h>
#include "vgpu/kernel/sched/userq.h"
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/proc.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sync/fence.h"

#define EOP_B 2048 /* size of the compute queue's own end-of-pipe buffer */
/* FREE waits so long for the last fence of USERQ_SIGNAL, up to 6.18 (amdgpu_userq_wait_for_last_fence()). */
#define LAST_FENCE_NS 100000000ll

/* --- life --- */

static void slot_release(struct kern_userq *q)
{
	if (q->dev->slot[q->slot] == q)
		q->dev->slot[q->slot] = NULL;
}

void kern_userq_put(struct kern_userq *q)
{
	if (!q || --q->refs)
		return;
	kern_userq_cancel(q);
	slot_release(q);
	kern_bo_put(q->doorbell);
	kern_vm_put(q->vm);
	kern_free(q->fence);
	kern_free(q);
}

/* Slots are given in turn, so that a freed one keeps its value for a while: others may still wait for it. */
static int slot_take(struct kern_userq *q)
{
	struct kern_device *dev = q->dev;

	for (unsigned i = 1; i <= KERN_SLOTS; i++) {
		unsigned slot = (dev->last_slot + i) % KERN_SLOTS;

		if (dev->slot[slot])
			continue;
		dev->slot[slot] = q;
		dev->last_slot = q->slot = slot;
		__atomic_store_n(&dev->seq64[slot], 0, __ATOMIC_RELEASE);
		return 0;
	}
	return -ENOSPC;
}

/* Whether the buffer's memory can be accessed: that of a process may be gone. */
static bool memory_is_there(struct kern_bo *bo)
{
	return !kern_bo_is_userptr(bo) || !kern_userptr_check(bo);
}

_Atomic uint64_t *kern_userq_word(const struct kern_userq *q, uint64_t va)
{
	const struct kern_map *map = kern_vm_find(q->vm, va);
	uint8_t *host =
		map && map->handle && memory_is_there(map->handle->bo) ? kern_bo_host(map->handle->bo) : NULL;

	return host ? (_Atomic uint64_t *)(void *)(host + map->offset + (va - map->lo)) : NULL;
}

/* --- memory of a queue --- */

/* amdgpu_userq_input_va_validate(): one mapping covers it. */
static bool covered(const struct kern_vm *vm, uint64_t va, uint64_t size_B)
{
	const struct kern_map *map = kern_vm_find(vm, va & KERN_VA_MASK);

	return map && map->hi - (va & KERN_VA_MASK) >= size_B;
}

static bool memory_is_mapped(const struct kern_userq *q)
{
	return covered(q->vm, q->ring_va, q->ring_B) && covered(q->vm, q->rptr_va, 8) &&
	       covered(q->vm, q->wptr_va, 8) && covered(q->vm, q->extra_va, EOP_B);
}

bool kern_userq_check_memory(struct kern_userq *q)
{
	if (q->state != KERN_USERQ_MAPPED || memory_is_mapped(q))
		return q->state == KERN_USERQ_MAPPED;
	vgpu_finding(
		CONTRACT_USERQ_UNMAPPED,
		"user queue %u: its ring, read or write pointer or EOP buffer was unmapped; it cannot be restored",
		q->id);
	q->state = KERN_USERQ_INVALID_VA;
	return false;
}

bool kern_userq_check_userptrs(struct kern_userq *q)
{
	for (unsigned i = 0; i < q->vm->count; i++) {
		const struct kern_map *map = q->vm->map[i];

		if (!map->handle || memory_is_there(map->handle->bo))
			continue;
		vgpu_finding(CONTRACT_USERQ_UNMAPPED,
			     "user queue %u: the process has not all memory of BO %u at 0x%llx any more; the queue "
			     "cannot be restored",
			     q->id, map->handle->bo->id, (unsigned long long)map->lo);
		q->state = KERN_USERQ_INVALID_VA;
		return false;
	}
	return true;
}

void kern_userqs_unmapped(struct kern_file *file)
{
	for (uint32_t id = 1; file->userqs.count && id < file->userqs.room; id++) {
		struct kern_userq *q = kern_userq_find(file, id);

		if (q)
			kern_userq_check_memory(q);
	}
}

/* --- CREATE --- */

static bool is_power_of_2(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* The checks before any look-up; all give -EINVAL (amdgpu_userq_input_args_validate()). */
static bool create_args_fit(const struct uapi_userq *args)
{
	if (args->flags & ~(UAPI_USERQ_PRIORITY | UAPI_USERQ_SECURE))
		return false;
	if (args->ip_type > AMDGPU_HW_IP_DMA)
		return false;
	if (args->flags & UAPI_USERQ_SECURE && args->ip_type == AMDGPU_HW_IP_DMA) /* no chip has TMZ */
		return false;
	if (!args->queue_va || args->queue_va == UINT64_MAX)
		return false;
	return is_power_of_2(args->queue_size) && args->queue_size >= KERN_PAGE && args->rptr_va && args->wptr_va;
}

static int find_doorbell(struct kern_file *file, const struct uapi_userq *args, struct kern_bo **out)
{
	struct kern_handle *handle = kern_handle_find(file, args->doorbell_handle);

	if (!handle || handle->bo->preferred != AMDGPU_GEM_DOMAIN_DOORBELL)
		return -EINVAL;
	if ((uint64_t)args->doorbell_offset * 8 + 8 > handle->bo->size_B)
		return -EINVAL;
	*out = handle->bo;
	return 0;
}

/* The part that depends on the IP (mes_userq_mqd_create()); an unreadable one is -ENOMEM. */
static int read_mqd(struct kern_file *file, const struct uapi_userq *args, uint64_t *eop_va)
{
	if (args->mqd_size != sizeof(*eop_va))
		return -EINVAL;
	if (kern_copy_in(eop_va, args->mqd, sizeof(*eop_va)))
		return -ENOMEM;
	return covered(file->vm, *eop_va, EOP_B) ? 0 : -EINVAL;
}

/* The firmware reads the write pointer through the GART, which gets one page. */
static int check_wptr(struct kern_file *file, uint64_t va)
{
	const struct kern_map *map = kern_vm_find(file->vm, va & KERN_VA_MASK);

	return map->handle && map->handle->bo->size_B <= KERN_PAGE ? 0 : -EINVAL;
}

static int create_check(struct kern_file *file, const struct uapi_userq *args, struct kern_bo **doorbell,
			uint64_t *eop_va)
{
	int r;

	if ((args->flags & UAPI_USERQ_PRIORITY) == UAPI_USERQ_PRIORITY_HIGH && !kern_capable(CAP_SYS_NICE) &&
	    file->dev->master != file)
		return -EACCES;
	if (!(kern_ip_userqs(file->dev) >> args->ip_type & 1))
		return -EINVAL;
	if (!covered(file->vm, args->queue_va, args->queue_size) || !covered(file->vm, args->rptr_va, KERN_PAGE) ||
	    !covered(file->vm, args->wptr_va, KERN_PAGE))
		return -EINVAL;
	r = find_doorbell(file, args, doorbell);
	if (!r)
		r = read_mqd(file, args, eop_va);
	return r ? r : check_wptr(file, args->wptr_va);
}

static struct kern_userq *userq_make(struct kern_file *file, const struct uapi_userq *args,
				     struct kern_bo *doorbell, uint64_t eop_va)
{
	struct kern_userq *q = kern_alloc(sizeof(*q));

	if (!q)
		return NULL;
	q->refs = 1;
	q->dev = file->dev;
	q->ip = (uint8_t)args->ip_type;
	q->vm = kern_vm_get(file->vm);
	q->doorbell = kern_bo_get(doorbell);
	q->doorbell_at = args->doorbell_offset * 8;
	q->ring_va = args->queue_va & KERN_VA_MASK;
	q->ring_B = args->queue_size;
	q->rptr_va = args->rptr_va & KERN_VA_MASK;
	q->wptr_va = args->wptr_va & KERN_VA_MASK;
	q->extra_va = eop_va & KERN_VA_MASK;
	q->fence_context = kern->next_context++;
	kern_list_init(&q->link);
	kern_waitq_init(&q->ended);
	return q;
}

static int userq_publish(struct kern_file *file, struct kern_userq *q)
{
	int r = slot_take(q);

	if (r)
		return r;
	q->id = kern_idr_add(&file->userqs, kern_userq_get(q), &r);
	if (!q->id) {
		kern_userq_put(q);
		return -ENOMEM;
	}
	r = kern_userq_start(q);
	if (r)
		kern_userq_put(kern_idr_remove(&file->userqs, q->id));
	return r;
}

static int userq_create(struct kern_file *file, struct uapi_userq *args)
{
	struct kern_bo *doorbell;
	struct kern_userq *q;
	uint64_t eop_va;
	int r = create_check(file, args, &doorbell, &eop_va);

	if (r)
		return r;
	q = userq_make(file, args, doorbell, eop_va);
	if (!q)
		return -ENOMEM;
	kern_call_current()->userq = q;
	r = userq_publish(file, q);
	if (!r) {
		uint32_t id = q->id;

		memset(args, 0, sizeof(*args));
		args->op = id; /* the answer is a union of one member */
	}
	kern_call_current()->userq = NULL;
	kern_userq_put(q);
	return r;
}

/* --- the end --- */

/* Waits for the newest fence of USERQ_SIGNAL: from 7.0 on for ever, because the time limit ends it. */
static void wait_last_fence(struct kern_userq *q)
{
	bool limited = !kern_profile_of(q->dev)->userq_hangs;
	int64_t deadline = limited ? sys_now_ns() + LAST_FENCE_NS : INT64_MAX;
	struct kern_fence *f;

	if (!q->fences || !q->threaded)
		return;
	f = kern_fence_get(q->fence[q->fences - 1]);
	while (q->threaded && kern_fence_wait(&f, 1, true, deadline, NULL) == -EINTR)
		;
	kern_fence_put(f);
}

static void end_thread(struct kern_userq *q)
{
	atomic_store(&q->stop, true);
	atomic_store(&q->timer, ENGINE_TIMER_KILL);
	while (q->threaded) {
		struct kern_wait *w = kern_wait_begin(1);

		if (!w)
			return; /* the thread has a reference, and ends by itself */
		kern_wait_on(w, &q->ended);
		kern_wait_sleep(w, INT64_MAX);
		kern_wait_end(w);
	}
}

/* Takes over the reference of the file. */
static void userq_end(struct kern_userq *q)
{
	struct kern_userq *outer = kern_call_current()->userq;

	kern_call_current()->userq = q;
	if (!kern_local.leaving)
		wait_last_fence(q);
	end_thread(q);
	kern_userq_cancel(q);
	kern_call_current()->userq = outer;
	kern_userq_put(q);
}

void kern_userqs_close(struct kern_file *file)
{
	for (uint32_t id = 1; id < file->userqs.room; id++) {
		struct kern_userq *q = kern_idr_remove(&file->userqs, id);

		if (q)
			userq_end(q);
	}
}

static bool free_args_fit(const struct uapi_userq *args)
{
	return !(args->ip_type || args->doorbell_handle || args->doorbell_offset || args->flags || args->queue_va ||
		 args->queue_size || args->rptr_va || args->wptr_va || args->mqd || args->mqd_size);
}

/* Unknown queues are -EINVAL up to 6.18. */
static int userq_free(struct kern_file *file, const struct uapi_userq *args)
{
	struct kern_userq *q = kern_idr_remove(&file->userqs, args->queue_id);

	if (!q)
		return kern_profile_of(file->dev)->userq_hangs ? -ENOENT : -EINVAL;
	userq_end(q);
	return 0;
}

int kern_userq_ioctl(struct kern_file *file, void *arg)
{
	struct uapi_userq *args = arg;

	if (!file->dev->userq)
		return -UAPI_ENOTSUPP;
	if (args->op == UAPI_USERQ_CREATE)
		return create_args_fit(args) ? userq_create(file, args) : -EINVAL;
	if (args->op == UAPI_USERQ_FREE)
		return free_args_fit(args) ? userq_free(file, args) : -EINVAL;
	return -EINVAL;
}

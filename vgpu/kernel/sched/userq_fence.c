/* Fences of user queues. Linux amdgpu_userq_fence.c of 6.16 to 7.2. */
#include <stdlib.h>
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/jiffies.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sched/userq.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

#define HANDLES_MAX 65536        /* AMDGPU_USERQ_MAX_HANDLES */
#define SUBMIT_NS   5000000000ll /* drm_syncobj_find_fence() waits so long for a submission */

/* Copies an array of handles. 0, -EFAULT, -ENOMEM. *out is NULL when it is empty. */
static int read_handles(uint64_t user, uint64_t count, uint32_t **out)
{
	int r;

	*out = NULL;
	if (!count)
		return 0;
	*out = malloc(count * sizeof(uint32_t));
	if (!*out)
		return -ENOMEM;
	r = kern_copy_in(*out, user, count * sizeof(uint32_t));
	return r;
}

static int check_syncobjs(struct kern_file *file, const uint32_t *handle, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (!kern_syncobj_find(file, handle[i]))
			return -ENOENT;
	return 0;
}

static int check_bos(struct kern_file *file, const uint32_t *handle, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (!kern_handle_find(file, handle[i]))
			return -ENOENT;
	return 0;
}

/* --- USERQ_SIGNAL --- */

struct signal {
	struct kern_file *file;
	const struct uapi_userq_signal *args;
	uint32_t *syncobj, *bo_read, *bo_write;
};

static int signal_read(struct signal *s)
{
	const struct uapi_userq_signal *a = s->args;
	int r = read_handles(a->syncobj_handles, a->num_syncobj_handles, &s->syncobj);

	if (!r)
		r = check_syncobjs(s->file, s->syncobj, a->num_syncobj_handles);
	if (!r)
		r = read_handles(a->bo_read_handles, a->num_bo_read_handles, &s->bo_read);
	if (!r)
		r = check_bos(s->file, s->bo_read, a->num_bo_read_handles);
	if (!r)
		r = read_handles(a->bo_write_handles, a->num_bo_write_handles, &s->bo_write);
	return r ? r : check_bos(s->file, s->bo_write, a->num_bo_write_handles);
}

/* Certain cases only: a program may ask twice for a fence of the same work. */
static void check_moment(const struct kern_userq *q, uint64_t wptr)
{
	if (!wptr || wptr < q->rung)
		vgpu_finding(
			CONTRACT_USERQ_SIGNAL_EARLY,
			"USERQ_SIGNAL of user queue %u reads a write pointer of %llu, and the doorbell was rung for "
			"%llu: the fence signals too early",
			q->id, (unsigned long long)wptr, (unsigned long long)q->rung);
}

/* AMDGPU_FENCE_OWNER_UNDEFINED: jobs of its own VM wait for it, too. */
static struct kern_fence *fence_create(struct kern_userq *q, uint64_t wptr)
{
	struct kern_fence *f;

	if (kern_reserve(&q->fence, q->fences, &q->room, sizeof(q->fence[0])))
		return NULL;
	f = kern_fence_create(q->dev, q->fence_context, wptr, 0);
	if (!f)
		return NULL;
	f->slot_va = KERN_SEQ64_VA + 8 * q->slot;
	if (__atomic_load_n(&q->dev->seq64[q->slot], __ATOMIC_ACQUIRE) >= wptr) {
		kern_fence_signal(f, 0);
		return f;
	}
	q->fence[q->fences] = kern_fence_get(f);
	kern_list_step();
	if (!q->fences++)
		kern_userq_timer(q);
	return f;
}

static struct kern_resv *resv_of(struct kern_bo *bo)
{
	return bo->vm ? &bo->vm->resv : &bo->resv;
}

static int bos_reserve(struct kern_file *file, const uint32_t *handle, uint32_t count)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < count; i++)
		r = kern_resv_reserve(resv_of(kern_handle_find(file, handle[i])->bo));
	return r;
}

/* Reservations know no readers here: a fence of a reader counts as a writer's. */
static void bos_add(struct kern_file *file, const uint32_t *handle, uint32_t count, struct kern_fence *f)
{
	for (uint32_t i = 0; i < count; i++)
		kern_resv_add(resv_of(kern_handle_find(file, handle[i])->bo), f);
}

static int signal_publish(struct signal *s)
{
	struct kern_userq *q = kern_userq_find(s->file, s->args->queue_id);
	_Atomic uint64_t *word;
	struct kern_fence *f;
	uint64_t wptr;
	int r;

	if (!q)
		return -ENOENT;
	word = kern_userq_word(q, q->wptr_va);
	if (!word)
		return -EINVAL;
	r = bos_reserve(s->file, s->bo_read, s->args->num_bo_read_handles);
	if (!r)
		r = bos_reserve(s->file, s->bo_write, s->args->num_bo_write_handles);
	if (r)
		return r;
	wptr = atomic_load(word);
	check_moment(q, wptr);
	f = fence_create(q, wptr);
	if (!f)
		return -ENOMEM;
	bos_add(s->file, s->bo_read, s->args->num_bo_read_handles, f);
	bos_add(s->file, s->bo_write, s->args->num_bo_write_handles, f);
	for (uint64_t i = 0; i < s->args->num_syncobj_handles; i++)
		kern_syncobj_attach(kern_syncobj_find(s->file, s->syncobj[i]), 0, f);
	kern_fence_put(f);
	return 0;
}

int kern_userq_signal_ioctl(struct kern_file *file, void *arg)
{
	struct uapi_userq_signal *args = arg;
	struct signal s = {.file = file, .args = args};
	int r;

	if (!file->dev->userq)
		return -UAPI_ENOTSUPP;
	if (args->num_syncobj_handles > HANDLES_MAX || args->num_bo_read_handles > HANDLES_MAX ||
	    args->num_bo_write_handles > HANDLES_MAX)
		return -EINVAL;
	r = signal_read(&s);
	if (!r)
		r = signal_publish(&s);
	free(s.syncobj);
	free(s.bo_read);
	free(s.bo_write);
	return r;
}

/* --- USERQ_WAIT --- */

struct wait {
	struct kern_file *file;
	struct uapi_userq_wait *args;
	uint32_t *syncobj, *timeline, *bo_read, *bo_write;
	uint64_t *point;
	bool count_only;
	unsigned found, room;
	struct kern_waiting *fence; /* owned by the ioctl's record; room entries */
};

static int wait_read(struct wait *w)
{
	const struct uapi_userq_wait *a = w->args;
	uint32_t points = a->num_syncobj_timeline_handles;
	/* 6.16 to 6.18 take the array's elements for 32 bits. */
	bool wide = kern_profile_of(w->file->dev)->userq_hangs;
	int r = read_handles(a->bo_read_handles, a->num_bo_read_handles, &w->bo_read);

	if (!r)
		r = read_handles(a->bo_write_handles, a->num_bo_write_handles, &w->bo_write);
	if (!r)
		r = read_handles(a->syncobj_handles, a->num_syncobj_handles, &w->syncobj);
	if (!r)
		r = read_handles(a->syncobj_timeline_handles, points, &w->timeline);
	w->point = calloc(points + 1u, sizeof(uint64_t));
	if (!r && !w->point)
		r = -ENOMEM;
	if (!r && points)
		r = kern_copy_in(w->point, a->syncobj_timeline_points, points * (wide ? 8u : 4u));
	for (uint32_t i = points; !r && !wide && i--;)
		w->point[i] = ((uint32_t *)w->point)[i];
	if (!r)
		r = check_bos(w->file, w->bo_read, a->num_bo_read_handles);
	return r ? r : check_bos(w->file, w->bo_write, a->num_bo_write_handles);
}

/* A later fence of a context takes an earlier one's place (dma_fence_dedup_array()). */
static int note_fence(struct kern_fence *f, void *arg)
{
	struct wait *w = arg;

	if (w->count_only) {
		w->found++;
		return 0;
	}
	for (unsigned i = 0; i < w->found; i++)
		if (w->fence[i].fence->context == f->context) {
			struct kern_fence *old = w->fence[i].fence;

			if (f->seq > old->seq) {
				w->fence[i].fence = kern_fence_get(f);
				kern_fence_put(old);
			}
			return 0;
		}
	if (w->found == w->room)
		return -EINVAL;
	w->fence[w->found++].fence = kern_fence_get(f);
	return 0;
}

static int note_bos(struct wait *w, const uint32_t *handle, uint32_t count)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < count; i++) {
		struct kern_handle *h =
			kern_handle_find(w->file, handle[i]); /* a wait for a submission may sleep */

		r = h ? kern_bo_fences(h->bo, note_fence, w) : -ENOENT;
	}
	return r;
}

static int note_syncobj(struct wait *w, uint32_t handle, uint64_t point)
{
	const struct kern_syncobj *s;
	struct kern_fence *f;
	int r = kern_syncobj_find_fence(w->file, handle, point, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
					sys_now_ns() + SUBMIT_NS, &f);

	if (r)
		return r;
	r = kern_fence_leaves(f, note_fence, w);
	kern_fence_put(f);
	s = kern_syncobj_find(w->file, handle); /* another thread may have destroyed it during the wait */
	if (!r && s && !w->count_only)
		kern_syncobj_shows(s, point, w->file->vm);
	return r;
}

static int note_all(struct wait *w)
{
	const struct uapi_userq_wait *a = w->args;
	int r = note_bos(w, w->bo_read, a->num_bo_read_handles);

	if (!r)
		r = note_bos(w, w->bo_write, a->num_bo_write_handles);
	for (uint32_t i = 0; !r && i < a->num_syncobj_timeline_handles; i++)
		r = note_syncobj(w, w->timeline[i], w->point[i]);
	for (uint32_t i = 0; !r && i < a->num_syncobj_handles; i++)
		r = note_syncobj(w, w->syncobj[i], 0);
	return r;
}

/* Whether the queue can wait by itself: for a word that its VM has, too. */
static bool has_word(const struct wait *w, const struct kern_fence *f)
{
	return f->slot_va && f->dev == w->file->dev;
}

static uint64_t sign_extended(uint64_t va)
{
	return va | (va >> 47 & 1 ? ~KERN_VA_MASK : 0);
}

/* Waits for the fences of others here; gives the words of user queues' fences. */
static int wait_answer(struct wait *w)
{
	struct uapi_userq_fence pair;
	uint16_t pairs = 0;
	int r = 0;

	if (!kern_userq_find(w->file, w->args->waitq_id))
		return -EINVAL;
	for (unsigned i = 0; !r && i < w->found; i++) {
		struct kern_fence *f = w->fence[i].fence;

		if (!has_word(w, f)) {
			r = kern_fence_wait(&f, 1, true, INT64_MAX, NULL);
			continue;
		}
		pair = (struct uapi_userq_fence){sign_extended(f->slot_va), f->seq};
		r = kern_copy_out(w->args->out_fences + pairs++ * sizeof(pair), &pair, sizeof(pair));
	}
	if (!r)
		w->args->num_fences = pairs;
	return r;
}

static int wait_fill(struct wait *w)
{
	struct kern_call *call = kern_call_current();
	int r;

	w->room = w->args->num_fences;
	w->fence = kern_alloc(w->room * sizeof(w->fence[0]));
	if (!w->fence)
		return -ENOMEM;
	call->waiting = w->fence;
	call->waiting_count = w->room;
	r = note_all(w);
	if (!r)
		r = wait_answer(w);
	call->waiting = NULL;
	kern_waiting_free(w->fence, w->room);
	return r;
}

static int wait_count(struct wait *w)
{
	int r;

	w->count_only = true;
	r = note_all(w);
	if (!r)
		w->args->num_fences = (uint16_t)w->found;
	return r;
}

int kern_userq_wait_ioctl(struct kern_file *file, void *arg)
{
	struct uapi_userq_wait *args = arg;
	struct wait w = {.file = file, .args = args};
	int r;

	if (!file->dev->userq)
		return -UAPI_ENOTSUPP;
	if (args->num_syncobj_handles > HANDLES_MAX || args->num_bo_read_handles > HANDLES_MAX ||
	    args->num_bo_write_handles > HANDLES_MAX)
		return -EINVAL;
	r = wait_read(&w);
	if (!r)
		r = args->num_fences ? wait_fill(&w) : wait_count(&w);
	free(w.syncobj);
	free(w.timeline);
	free(w.point);
	free(w.bo_read);
	free(w.bo_write);
	return r;
}

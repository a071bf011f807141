#include "vgpu/kernel/sync/fence.h"

struct kern_fence *kern_fence_create(struct kern_device *dev, uint64_t context, uint64_t seq, uint64_t vm)
{
	struct kern_fence *f = kern_alloc(sizeof(*f));

	if (!f)
		return NULL;
	f->refs = 1;
	f->dev = dev;
	f->context = context;
	f->seq = seq;
	f->vm = vm;
	kern_waitq_init(&f->waitq);
	kern_list_init(&f->on_part.link);
	kern_live(KERN_FENCES, 1);
	return f;
}

static void mark_signalled(struct kern_fence *f, int error)
{
	if (!f->error)
		f->error = error;
	f->signalled_ns = sys_now_ns();
	f->signalled = true;
}

/* Marks f as signalled if both parts are done; its waiters are left to the caller. False: registers f with a
 * pending part. */
static bool chain_done(struct kern_fence *f)
{
	struct kern_fence *prev = f->prev, *part = f->part, *wait_for = prev && !prev->signalled ? prev : part;

	if (!wait_for->signalled) {
		kern_list_add_tail(&wait_for->waitq.wakers, &f->on_part.link);
		return false;
	}
	mark_signalled(f, 0); /* errors do not travel along timelines */
	f->prev = f->part = NULL;
	kern_fence_put(prev);
	kern_fence_put(part);
	return true;
}

void kern_fence_part_done(struct kern_waker *on_part, struct kern_waitq *q)
{
	struct kern_fence *f = kern_entry(on_part, struct kern_fence, on_part);
	struct kern_list *wakers = &f->waitq.wakers, *link;

	if (!chain_done(f))
		return;
	while (!kern_list_empty(wakers)) {
		link = wakers->next;
		kern_list_del(link);
		kern_list_add_tail(&q->wakers, link);
	}
}

void kern_fence_look_again(struct kern_fence *f)
{
	if (f->part && !f->signalled && chain_done(f))
		kern_waitq_wake(&f->waitq);
}

struct kern_fence *kern_fence_chain(struct kern_fence *prev, struct kern_fence *part)
{
	struct kern_fence *f = kern_fence_create(part->dev, kern->next_context++, 1, part->vm);

	if (!f)
		return NULL;
	f->prev = kern_fence_get(prev);
	f->part = kern_fence_get(part);
	chain_done(f); /* f has no waiters yet */
	return f;
}

struct kern_fence *kern_fence_stub(void)
{
	struct kern_fence *f = kern_fence_create(NULL, kern->next_context++, 1, 0);

	if (f)
		kern_fence_signal(f, 0);
	return f;
}

struct kern_fence *kern_fence_get(struct kern_fence *f)
{
	if (f)
		f->refs++;
	return f;
}

static void drop_fence(struct kern_fence *f, struct kern_fence **dead)
{
	if (!f || --f->refs)
		return;
	kern_list_del(&f->on_part.link);
	f->next = *dead;
	*dead = f;
}

/* A timeline's fences hold one another, as many as there are points: no recursion. */
void kern_fence_put(struct kern_fence *f)
{
	struct kern_fence *dead = NULL;

	drop_fence(f, &dead);
	while ((f = dead)) {
		dead = f->next;
		drop_fence(f->prev, &dead);
		drop_fence(f->part, &dead);
		drop_fence(f->scheduled, &dead);
		kern_live(KERN_FENCES, -1);
		kern_free(f);
	}
}

void kern_fence_signal(struct kern_fence *f, int error)
{
	if (f->signalled)
		return;
	mark_signalled(f, error);
	kern_waitq_wake(&f->waitq);
}

/* Puts a fence on the list to visit, once. */
static void visit_later(struct kern_fence *f, uint64_t scan, struct kern_fence **list)
{
	if (!f || f->scan == scan)
		return;
	f->scan = scan;
	f->next = *list;
	*list = f;
}

int kern_fence_leaves(struct kern_fence *f, int (*visit)(struct kern_fence *f, void *arg), void *arg)
{
	return kern_fence_new_leaves(f, ++kern->next_id, visit, arg);
}

int kern_fence_new_leaves(struct kern_fence *f, uint64_t scan, int (*visit)(struct kern_fence *f, void *arg),
			  void *arg)
{
	struct kern_fence *list = NULL;
	int r = 0;

	visit_later(f, scan, &list);
	while (!r && (f = list)) {
		list = f->next;
		visit_later(f->prev, scan, &list);
		visit_later(f->part, scan, &list);
		if (!f->part)
			r = visit(f, arg);
	}
	return r;
}

static bool fences_done(struct kern_fence **f, unsigned count, bool all, unsigned *first)
{
	for (unsigned i = 0; i < count; i++)
		if (f[i]->signalled != all) {
			*first = i;
			return !all;
		}
	return all;
}

int kern_fence_wait(struct kern_fence **f, unsigned count, bool all, int64_t deadline_ns, unsigned *first)
{
	struct kern_wait *w;
	unsigned unused;
	int r = 0;

	first = first ? first : &unused;
	if (fences_done(f, count, all, first))
		return 0;
	if (deadline_ns <= sys_now_ns())
		return -ETIME;
	w = kern_wait_begin(count);
	if (!w)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++)
		w->waker[i].fence = f[i];
	w->fences = count;
	while (!r && !fences_done(f, count, all, first)) {
		if (all)
			kern_wait_on(w, &f[*first]->waitq); /* any of them: all must be signalled */
		else
			for (unsigned i = 0; i < count; i++)
				kern_wait_on(w, &f[i]->waitq);
		r = kern_wait_sleep(w, deadline_ns);
	}
	if (r == -ETIME && fences_done(f, count, all, first))
		r = 0;
	kern_wait_end(w);
	return r;
}

/* --- reservation objects --- */

void kern_resv_fini(struct kern_resv *r)
{
	for (unsigned i = 0; i < r->count; i++)
		kern_fence_put(r->fence[i]);
	kern_free(r->fence);
	*r = (struct kern_resv){0};
}

static void resv_prune(struct kern_resv *r)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < r->count; i++)
		if (r->fence[i]->signalled)
			kern_fence_put(r->fence[i]);
		else
			r->fence[kept++] = r->fence[i];
	r->count = kept;
}

int kern_resv_reserve(struct kern_resv *r)
{
	if (r->count < r->room)
		return 0;
	resv_prune(r);
	return kern_reserve(&r->fence, r->count, &r->room, sizeof(r->fence[0]));
}

void kern_resv_add(struct kern_resv *r, struct kern_fence *f)
{
	for (unsigned i = 0; i < r->count; i++)
		if (r->fence[i]->context == f->context) {
			kern_fence_put(r->fence[i]);
			r->fence[i] = kern_fence_get(f);
			return;
		}
	assert(r->count < r->room);
	r->fence[r->count] = kern_fence_get(f);
	kern_list_step(); /* the count grows after the element is stored: repair.c relies on it */
	r->count++;
}

bool kern_resv_busy(struct kern_resv *r)
{
	resv_prune(r);
	return r->count;
}

static int resv_visit(struct kern_resv *r, int (*visit)(struct kern_fence *f, void *arg), void *arg)
{
	for (unsigned i = 0; i < r->count; i++) {
		int stop = r->fence[i]->signalled ? 0 : visit(r->fence[i], arg);

		if (stop)
			return stop;
	}
	return 0;
}

/* The fences that jobs added to the shared reservation object through this BO. */
static int own_fences(struct kern_bo *bo, int (*visit)(struct kern_fence *f, void *arg), void *arg)
{
	int stop = resv_visit(bo->vm ? &bo->vm->resv : &bo->resv, visit, arg);
	struct kern_list *pos, *tmp;

	if (stop)
		return stop;
	kern_list_each(pos, tmp, &bo->lists) {
		stop = resv_visit(&kern_entry(pos, struct kern_list_entry, bo_link)->list->resv, visit, arg);
		if (stop)
			return stop;
	}
	return 0;
}

int kern_bo_fences(struct kern_bo *bo, int (*visit)(struct kern_fence *f, void *arg), void *arg)
{
	struct kern_bo *exported = bo->foreign ? bo->foreign : bo;
	int stop = own_fences(exported, visit, arg);
	struct kern_list *pos, *tmp;

	if (stop)
		return stop;
	kern_list_each(pos, tmp, &exported->imports) {
		stop = own_fences(kern_entry(pos, struct kern_bo, import_link), visit, arg);
		if (stop)
			return stop;
	}
	return 0;
}

int kern_any_fence(struct kern_fence *f, void *arg)
{
	(void)f;
	(void)arg;
	return 1;
}

static int take_first(struct kern_fence *f, void *arg)
{
	*(struct kern_fence **)arg = kern_fence_get(f);
	return 1;
}

int kern_bo_wait_idle(struct kern_bo *bo, int64_t deadline_ns)
{
	struct kern_fence *f;
	int r = 0;

	while (!r && kern_bo_fences(bo, take_first, &f)) {
		r = kern_fence_wait(&f, 1, true, deadline_ns, NULL);
		kern_fence_put(f);
	}
	return r;
}

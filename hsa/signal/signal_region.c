/* The region of all signals: one range of addresses, so that two comparisons check a handle. It grows from its
 * begin; at its end, each page has one signal, whose memory other processes map. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drv/lock.h"
#include "hsa/signal/signals.h"

/* Maps the host memory at that place of the region for a GPU, as a BO of its own. The GPU's caches must not keep
 * its content. */
static int region_bind_host(struct rt *rt, unsigned gpu, uint64_t at_B, uint64_t size_B)
{
	struct rt_signals *s = rt->signals;
	struct vm_bo *bo;
	int r = vm_bo_create_user(rt->gpu[gpu]->vm, s->range[0].va + at_B, size_B, VM_UNCACHED, &bo);

	if (r)
		return r;
	r = vm_range_rebind(&s->range[gpu], at_B, bo, 0, size_B, VM_GPU_READ | VM_GPU_WRITE | VM_GPU_UNCACHED);
	vm_bo_put(bo);
	return r;
}

int rt_signals_bind_host(struct rt *rt, int file, uint64_t at_B, uint64_t size_B)
{
	void *at = (void *)(uintptr_t)(rt->signals->range[0].va + at_B);
	int flags = MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
	int r = 0;

	if (mmap(at, size_B, PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED)
		return drv_fail(-errno, "mmap of signals");
	/* Like the rest of the region: children do not inherit it, and a fork does not affect the GPUs' access to
	 * it. */
	if (madvise(at, size_B, MADV_DONTFORK))
		return drv_fail(-errno, "madvise of signals");
	for (unsigned i = 0; !r && i < rt->gpus; i++)
		r = region_bind_host(rt, i, at_B, size_B);
	return r;
}

/* Binds memory at the end of the region's used part. A single GPU uses a BO of the kernel's, which submissions need
 * not list. Several GPUs must not share a BO (memory.c, place_system()). */
static int region_bind_more(struct rt *rt, uint64_t at_B)
{
	const struct vm_info info = {
		.size_B = RT_SIGNALS_GROW_B, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	struct vm_bo *bo;
	int r;

	if (rt->gpus > 1)
		return rt_signals_bind_host(rt, -1, at_B, RT_SIGNALS_GROW_B);
	r = vm_bo_create(rt->gpu[0]->vm, &info, &bo);
	if (r)
		return r;
	r = vm_range_bind(&rt->signals->range[0], at_B, bo, 0, RT_SIGNALS_GROW_B,
			  vm_access_of(VM_CPU | VM_UNCACHED));
	vm_bo_put(bo);
	return r;
}

int rt_signals_grow(struct rt *rt)
{
	struct rt_signals *s = rt->signals;
	int r;

	if (s->grown_B + RT_SIGNALS_GROW_B > RT_SIGNALS_B - s->paged_B)
		return drv_fail(-ENOMEM, "more than %u signals", RT_SIGNALS_MAX);
	r = region_bind_more(rt, s->grown_B);
	if (r)
		return r;
	memset((void *)(uintptr_t)(s->range[0].va + s->grown_B), 0, RT_SIGNALS_GROW_B);
	for (unsigned i = RT_SIGNALS_GROW_B / RT_SIGNAL_B; i-- > 0;) {
		struct rt_signal *signal = &s->beside[s->grown_B / RT_SIGNAL_B + i];

		signal->next = s->free;
		s->free = signal;
	}
	s->grown_B += RT_SIGNALS_GROW_B;
	return 0;
}

static int region_reserve(struct rt *rt)
{
	const struct vm_range_request want = {.size_B = RT_SIGNALS_B, .align_B = RT_SIGNALS_GROW_B};
	struct rt_signals *s = rt->signals;
	int r = vm_range_reserve(rt->gpu[0]->vm, &want, &s->range[0]);

	for (s->ranges = !r; !r && s->ranges < rt->gpus; s->ranges += !r)
		r = vm_range_adopt(rt->gpu[s->ranges]->vm, &s->range[0], &s->range[s->ranges]);
	return r;
}

int rt_signals_init(struct rt *rt)
{
	struct rt_signals *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return drv_fail(-ENOMEM, "no host memory for signals");
	rt->signals = s;
	drv_lock_set_rank(&s->lock, DRV_RANK_RT_SIGNALS);
	rt_retire_init(s);
	s->beside = mmap(NULL, RT_SIGNALS_MAX * sizeof(*s->beside), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->beside == MAP_FAILED) {
		s->beside = NULL;
		r = drv_fail(-ENOMEM, "no address space for signals");
	} else {
		r = region_reserve(rt);
	}
	if (r)
		rt_signals_fini(rt);
	return r;
}

int rt_signals_take_page(struct rt *rt, struct rt_signal **signal)
{
	struct rt_signals *s = rt->signals;
	int r = 0;

	drv_lock(&s->lock);
	*signal = s->free_pages;
	if (s->free_pages) {
		s->free_pages = s->free_pages->next;
	} else if (s->grown_B + RT_PAGE_B > RT_SIGNALS_B - s->paged_B) {
		r = drv_fail(-ENOMEM, "more than %u signals", RT_SIGNALS_MAX);
	} else {
		s->paged_B += RT_PAGE_B;
		*signal = &s->beside[(RT_SIGNALS_B - s->paged_B) / RT_SIGNAL_B];
	}
	s->pages += !r;
	drv_unlock(&s->lock);
	return r;
}

void rt_signals_put(struct rt_signals *s, struct rt_signal *signal)
{
	const bool paged = (uint64_t)(signal - s->beside) * RT_SIGNAL_B >= RT_SIGNALS_B - s->paged_B;
	struct rt_signal **head = paged ? &s->free_pages : &s->free;

	signal->next = *head;
	*head = signal;
	s->pages -= paged;
}

void rt_signals_put_page(struct rt *rt, struct rt_signal *signal)
{
	drv_lock(&rt->signals->lock);
	rt_signals_put(rt->signals, signal);
	drv_unlock(&rt->signals->lock);
}

void rt_signals_fini(struct rt *rt)
{
	struct rt_signals *s = rt->signals;

	for (uint64_t i = 0; s->beside && i < s->grown_B / RT_SIGNAL_B; i++)
		free(s->beside[i].pending_list);
	for (uint64_t at_B = RT_PAGE_B; s->beside && at_B <= s->paged_B; at_B += RT_PAGE_B) {
		struct rt_signal *signal = &s->beside[(RT_SIGNALS_B - at_B) / RT_SIGNAL_B];

		free(signal->pending_list);
		rt_signal_end_shared(rt, signal);
	}
	while (s->ranges)
		vm_range_release(&s->range[--s->ranges]);
	if (s->beside)
		munmap(s->beside, RT_SIGNALS_MAX * sizeof(*s->beside));
	drv_mutex_destroy(&s->retire_lock);
	free(s);
	rt->signals = NULL;
}

/* Signals that other processes see: each has a page, a BO of its own. Processes change the value by atomic
 * operations; who waits looks again every millisecond, since a change elsewhere wakes nobody here. */
#include "hsa/memory.h"
#include "hsa/signals.h"
#include "hsa/table.h"

static int show(struct rt *rt, struct rt_signal *signal, struct vm_bo *bo)
{
	return rt_signals_bind(rt, bo, (uint64_t)(signal - rt->signals->beside) * RT_SIGNAL_B, RT_PAGE_B);
}

static int make(struct rt *rt, struct vm_bo *bo, struct rt_signal **signal)
{
	int r = rt_signals_take_page(rt, signal);

	if (r)
		return r;
	r = show(rt, *signal, bo);
	if (r)
		rt_signals_put_page(rt, *signal);
	return r;
}

/* A signal on the BO, which is taken over; value: what it begins with, NULL: it has one. */
static int begin(struct rt *rt, struct vm_bo *bo, const hsa_signal_value_t *value, hsa_signal_t *handle)
{
	struct rt_signal *signal;
	int r = make(rt, bo, &signal);

	vm_bo_put(bo);
	if (r)
		return r;
	*handle = rt_signal_handle(rt, signal);
	if (value)
		*rt_signal_memory(*handle) = (amd_signal_t){.kind = AMD_SIGNAL_KIND_USER, .value = *value};
	rt_signal_begin(signal, RT_SIGNAL_IPC);
	return 0;
}

int rt_signal_create_shared(struct rt *rt, hsa_signal_value_t value, hsa_signal_t *handle)
{
	const struct vm_info info = {.size_B = RT_PAGE_B, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED};
	struct vm_bo *bo;
	int r = vm_bo_create(rt->gpu[0]->vm, &info, &bo);

	return r ? r : begin(rt, bo, &value, handle);
}

int rt_signal_attach(struct rt *rt, int fd, hsa_signal_t *handle)
{
	struct vm_bo *bo;
	int r = vm_bo_import(rt->gpu[0]->vm, fd, &bo);

	return r ? r : begin(rt, bo, NULL, handle);
}

bool rt_signals_shared(const struct rt *rt)
{
	return atomic_load_explicit(&rt->signals->pages, memory_order_relaxed);
}

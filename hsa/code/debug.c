/* rocgdb's list of loaded code objects, _amdgpu_r_debug, in the form of the dynamic linker's list. A debugger reads
 * it when it attaches, and has a breakpoint at r_brk to read it again.
 *
 * The version tells what ROCr's trap handler does for debuggers. 1 promises the list alone: DRM queues have no trap
 * handler. The list belongs to the process, as the symbol does. */
#include <pthread.h>

#include "drv/lock.h"
#include "drv/process.h"
#include "hsa/code/code.h"

/* A debugger's breakpoint: must not be inlined. */
static __attribute__((noinline)) void list_changed(void)
{
	__asm__ volatile("" ::: "memory");
}

extern struct r_debug _amdgpu_r_debug;
__attribute__((visibility("default"))) struct r_debug _amdgpu_r_debug = {
	.r_version = 1,
	.r_brk = (ElfW(Addr))list_changed,
	.r_state = RT_CONSISTENT,
};

static struct drv_mutex list_lock = DRV_MUTEX(DRV_RANK_RT_DEBUG); /* guards the list; innermost */
static struct link_map *last;
DRV_FORK_TAKES(list_lock, DRV_FORK_DEBUG)

/* The order of the three steps is the protocol. */
static void list_begin_change(int state)
{
	drv_mutex_lock(&list_lock);
	_amdgpu_r_debug.r_state = state;
	list_changed();
}

static void list_end_change(void)
{
	_amdgpu_r_debug.r_state = RT_CONSISTENT;
	list_changed();
	drv_mutex_unlock(&list_lock);
}

void rt_debug_add(struct rt_executable *e)
{
	list_begin_change(RT_ADD);
	for (struct rt_loaded *l = e->loaded; l; l = l->next) {
		uint64_t va, size_B;

		cs_code_extent(l->code, &va, &size_B);
		l->debug = (struct link_map){.l_addr = va, .l_name = l->source->uri, .l_prev = last};
		*(last ? &last->l_next : &_amdgpu_r_debug.r_map) = &l->debug;
		last = &l->debug;
	}
	list_end_change();
}

void rt_debug_remove(struct rt_executable *e)
{
	list_begin_change(RT_DELETE);
	for (struct rt_loaded *l = e->loaded; l; l = l->next) {
		struct link_map *m = &l->debug;

		if (!m->l_name)
			continue;
		*(m->l_prev ? &m->l_prev->l_next : &_amdgpu_r_debug.r_map) = m->l_next;
		*(m->l_next ? &m->l_next->l_prev : &last) = m->l_prev;
	}
	list_end_change();
}

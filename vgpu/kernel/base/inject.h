/* Planned failures. Kernel lock held. */
#ifndef VGPU_KERNEL_BASE_INJECT_H
#define VGPU_KERNEL_BASE_INJECT_H

#include "vgpu/kernel/base/core.h"

/* The errno that this call shall fail with; 0: none. Counts the call. */
int kern_injected_slow(unsigned nr, const char *name);
static inline int kern_injected(unsigned nr, const char *name)
{
	return __builtin_expect(atomic_load_explicit(&kern->injecting, memory_order_relaxed) != 0, 0)
		       ? kern_injected_slow(nr, name)
		       : 0;
}
/* The next number of the run's generator. */
uint64_t kern_inject_draw(void);
/* Shall it happen now? Counts the occasion. */
bool kern_inject_event(enum kern_event event);

#endif

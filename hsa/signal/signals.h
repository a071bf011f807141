/* The region of all signals: declarations that the files of signal/ share.
 *
 *   rt_signals  the region's address ranges, its signals' states, the lists of free and dying ones. Owned by rt
 *
 * rt_signals.lock guards the region's growth and the free lists; retire_lock the list of retire.c, which is taken
 * inside no signal's lock. */
#ifndef HSA_SIGNALS_H
#define HSA_SIGNALS_H

#include "drv/lock.h"
#include "hsa/signal/signal.h"

#define RT_SIGNAL_B       64u
#define RT_SIGNALS_MAX    (1u << 20) /* at one time */
#define RT_SIGNALS_B      ((uint64_t)RT_SIGNALS_MAX * RT_SIGNAL_B)
#define RT_SIGNALS_GROW_B 65536u /* the region grows by BOs of this size */

struct rt_signals {
	struct vm_range range[RT_GPUS_MAX]; /* owned; [0] reserves the host's addresses, the others adopt them */
	unsigned ranges;
	struct rt_signal *beside;       /* owned mapping; one for each place of the region */
	_Atomic unsigned pages;         /* number of shared signals; written under lock */
	struct drv_lock lock;           /* guards all below */
	uint64_t grown_B;               /* memory is bound from the region's begin to here */
	uint64_t paged_B;               /* size of the pages of shared signals, which end at the region's end */
	struct rt_signal *free, *dying; /* dying: destroyed, but the GPU may still write their values */
	struct rt_signal *free_pages;   /* list of the first places of free pages */
	struct rt_work retire;          /* retire.c */
	struct drv_mutex retire_lock;   /* guards `retiring` */
	struct rt_signal *retiring;     /* borrowed, list by next_listed */
};

/* signal_region.c */
/* Adds free places; lock held. */
DRV_MUST_CHECK int rt_signals_grow(struct rt *rt);
/* Frees a place that no GPU writes any more; lock held. */
void rt_signals_put(struct rt_signals *s, struct rt_signal *signal);
/* Maps the first bytes of that file, or (-1) new memory, for CPU and GPUs at [at_B, at_B + size_B) of the region.
 * The memory that was mapped there must not be in use: the kernel waits for submitted jobs that list it. */
DRV_MUST_CHECK int rt_signals_bind_host(struct rt *rt, int file, uint64_t at_B, uint64_t size_B);
/* Takes a page for one shared signal. The page is still mapped as it was before, or not at all. */
DRV_MUST_CHECK int rt_signals_take_page(struct rt *rt, struct rt_signal **signal);
void rt_signals_put_page(struct rt *rt, struct rt_signal *signal);

/* retire.c */
void rt_retire_init(struct rt_signals *signals);

/* --- a signal's lock -------------------------------------------------------------------------- */

static inline void rt_signal_lock(struct rt_signal *signal)
{
	while (atomic_exchange_explicit(&signal->lock, 1, memory_order_acquire))
		__builtin_ia32_pause();
}

static inline void rt_signal_unlock(struct rt_signal *signal)
{
	atomic_store_explicit(&signal->lock, 0, memory_order_release);
}

static inline void rt_signal_set_pending_locked(struct rt_signal *signal)
{
	atomic_store_explicit(&signal->pending, signal->pending_count || signal->shadowed, memory_order_release);
}

/* signal.c */
/* Checks whether the GPU's own write has been made, and puts the shadow in its place. */
void rt_signal_check_gpu_write_locked(struct rt *rt, struct rt_signal *signal);

/* signal_create.c */
/* Initialises the signal's memory, and publishes the signal: its handle is valid afterwards. memory NULL: the memory
 * has been initialised by another process. */
void rt_signal_begin(struct rt_signal *signal, amd_signal_t *memory, hsa_signal_value_t value,
		     enum rt_signal_kind kind);

/* signal_shared.c */
DRV_MUST_CHECK int rt_signal_create_shared(struct rt *rt, hsa_signal_value_t value, hsa_signal_t *handle);
/* Attaches a signal of another process by a descriptor of its rt_signal_file(), which stays the caller's. -EINVAL:
 * the descriptor is not a signal's. */
DRV_MUST_CHECK int rt_signal_attach(struct rt *rt, int fd, hsa_signal_t *handle);
/* A new descriptor of a shared signal's memory, owned by the caller; or -errno. */
DRV_MUST_CHECK int rt_signal_file(struct rt *rt, const struct rt_signal *signal);
/* Closes the file of a shared signal that is destroyed. */
void rt_signal_end_shared(struct rt *rt, struct rt_signal *signal);

#endif

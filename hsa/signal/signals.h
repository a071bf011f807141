/* The region in which signals live: what its files share. */
#ifndef HSA_SIGNALS_H
#define HSA_SIGNALS_H

#include "hsa/signal/signal.h"

#define RT_SIGNAL_B       64u
#define RT_SIGNALS_MAX    (1u << 20) /* at a time */
#define RT_SIGNALS_B      ((uint64_t)RT_SIGNALS_MAX * RT_SIGNAL_B)
#define RT_SIGNALS_GROW_B 65536u /* the region grows by BOs of this size */

struct rt_signals {
	struct vm_range range[RT_GPUS_MAX]; /* owned; [0] has the host's addresses, the others adopt them */
	unsigned ranges;
	struct rt_signal *beside;        /* owned mapping; one for each place of the region */
	_Atomic unsigned pages;          /* shared signals that there are; written under lock */
	struct drv_lock lock;            /* guards all below */
	uint64_t grown_B;                /* memory is bound up to here */
	uint64_t paged_B;                /* and, for shared signals, from the end back to here */
	struct rt_signal *free, *ghosts; /* ghosts: destroyed, but the GPU may still write them */
	struct rt_signal *free_pages;    /* each the first of its page */
	struct rt_work retire;           /* retire.c */
	pthread_mutex_t retire_lock;     /* guards: */
	struct rt_signal *retiring;      /* borrowed, by next_listed */
};

/* signal_region.c */
/* More free places; lock held. */
DRV_MUST_CHECK int rt_signals_grow(struct rt *rt);
/* Puts a place back of which nobody takes notice any more; lock held. */
void rt_signals_put(struct rt_signals *s, struct rt_signal *signal);
/* The CPU and the GPUs see the first bytes of that file, or (-1) new memory, at [at_B, at_B + size_B) of the
 * region. What was there before must not be in use: the kernel waits for submitted jobs that list it. */
DRV_MUST_CHECK int rt_signals_bind_host(struct rt *rt, int file, uint64_t at_B, uint64_t size_B);
/* A page for a shared signal, its only one. It shows what it showed before, or nothing. */
DRV_MUST_CHECK int rt_signals_take_page(struct rt *rt, struct rt_signal **signal);
void rt_signals_put_page(struct rt *rt, struct rt_signal *signal);

/* retire.c */
void rt_retire_init(struct rt_signals *signals);

/* signal.c */
/* Its memory is as it should be: from now on its handle names it. */
void rt_signal_begin(struct rt_signal *signal, enum rt_signal_kind kind);

/* signal_shared.c */
DRV_MUST_CHECK int rt_signal_create_shared(struct rt *rt, hsa_signal_value_t value, hsa_signal_t *handle);
/* One whose memory is another process's: a descriptor of rt_signal_file() there, which stays the caller's. -EINVAL:
 * it is none. */
DRV_MUST_CHECK int rt_signal_attach(struct rt *rt, int fd, hsa_signal_t *handle);
/* A descriptor of the memory of a shared signal, the caller's; or -errno. */
DRV_MUST_CHECK int rt_signal_file(const struct rt_signal *signal);
/* The signal ends: its file is not needed any more. */
void rt_signal_end_shared(struct rt_signal *signal);

#endif

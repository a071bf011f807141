/* Copies by the DMA engines: what clients ask for (copy.c), and what is part of a flow (copy_flow.c). */
#ifndef HSA_COPIES_H
#define HSA_COPIES_H

#include "hsa/interface.h"
#include "hsa/signal/signal.h"

/* An end of a copy as a GPU's copier sees it. False: the GPU does not reach it. */
bool rt_copy_find_end(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B, struct sdma_end *end);
/* The same for what is written: an engine that may not write is killed, and all work of the GPU with it. */
bool rt_copy_find_target(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B,
			 struct sdma_end *end);
/* Gives the GPU a pageable end for the time of a copy. What the program registers meanwhile outlives that: it must
 * have the host's addresses for itself. *mem is the caller's to destroy, after a failure too; NULL: nothing. */
DRV_MUST_CHECK int rt_copy_register(struct rt_gpu *gpu, struct sdma_end *end, uint64_t size_B, bool written,
				    struct vm_mem **mem);
/* The GPU that copies from or to an address: its owner, or, where the host does not see it either, any that reaches
 * it. NULL: none; it is the host's. */
struct rt_gpu *rt_copy_owner(struct rt *rt, uint64_t address);

/* interface.h: copy(). */
DRV_MUST_CHECK int rt_flow_copy(struct flow *flow, const struct rt_copy *copy);

DRV_MUST_CHECK int rt_copies_init(struct rt *rt);
/* Ends those that still wait for signals. */
void rt_copies_fini(struct rt *rt);

#endif

/* Copies by the DMA engines: those of HSA's functions (copy.c), and those in a flow's order (copy_flow.c).
 *
 * rt_copies, owned by rt, has the copies of copy.c that have not ended; its lock guards their list. A copy of
 * copy_flow.c is an operation of its flow, under the flow's lock. */
#ifndef HSA_COPIES_H
#define HSA_COPIES_H

#include "hsa/interface.h"
#include "hsa/signal/signal.h"

/* Fills in an end of a copy for a GPU's copier. False: the GPU has no access. */
bool rt_copy_find_end(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B, struct sdma_end *end);
/* The same for a copy's target; also false if the memory is read-only: an engine that writes such memory is killed,
 * with all work of the GPU. */
bool rt_copy_find_target(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B,
			 struct sdma_end *end);
/* Registers a pageable end with the GPU for one copy. Uses an address of its own, since the program may register
 * the same memory at the host's address for longer. *mem is the caller's to destroy, after a failure, too; NULL:
 * nothing. */
DRV_MUST_CHECK int rt_copy_register(struct rt_gpu *gpu, struct sdma_end *end, uint64_t size_B, bool written,
				    struct vm_mem **mem);
/* The GPU that copies from or to an address: its owner, or, if the host has no access either, any GPU with access.
 * NULL: none; the address is the host's. */
struct rt_gpu *rt_copy_owner(struct rt *rt, uint64_t address);

/* rt_interface.copy() (hsa/interface.h). */
DRV_MUST_CHECK int rt_flow_copy(struct flow *flow, const struct rt_copy *copy);

DRV_MUST_CHECK int rt_copies_init(struct rt *rt);
/* Drops the copies that still wait for signals. */
void rt_copies_fini(struct rt *rt);

#endif

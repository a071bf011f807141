/* Copies by the DMA engines: those of HSA's functions (copy.c), and those in a flow's order (copy_flow.c).
 *
 * rt_copies, owned by rt, has the copies of copy.c that have not ended; its lock guards their list. A copy of
 * copy_flow.c is an operation of its flow, under the flow's lock. */
#ifndef HSA_COPIES_H
#define HSA_COPIES_H

#include "hsa/interface.h"
#include "hsa/memory/memory.h"
#include "hsa/signal/signal.h"

/* An operand of a copy or fill: addresses whose allocation was looked up once. A value, for the call that the client's
 * addresses came with. */
struct rt_operand {
	uint64_t address, size_B;
	bool known;                /* false: pageable memory of the process */
	struct rt_alloc_info info; /* if known: of the allocation where the addresses begin */
};
void rt_operand_find(struct rt *rt, uint64_t address, uint64_t size_B, struct rt_operand *operand);
/* An operand is read from or written to: HSA_ACCESS_PERMISSION_RO or _WO. An engine that does what its GPU may not is
 * killed, with all work of the GPU. */
/* True when the GPU can access all of it. */
bool rt_operand_reach(struct rt *rt, const struct rt_operand *operand, struct rt_gpu *gpu,
		      hsa_access_permission_t access);
/* Fills in an end of a copy for a GPU's copier. False: the GPU has no access. */
bool rt_operand_end(struct rt *rt, const struct rt_operand *operand, struct rt_gpu *gpu,
		    hsa_access_permission_t access, struct sdma_end *end);
/* The CPU's address: locked memory has an address for GPUs, too. */
void *rt_operand_host(const struct rt_operand *operand);
bool rt_operand_host_reaches(const struct rt_operand *operand, hsa_access_permission_t access);
/* The GPU that copies from or to the operand: its owner, or, if the host has no access either, any GPU with access.
 * NULL: none; the memory is the host's. */
struct rt_gpu *rt_operand_gpu(struct rt *rt, const struct rt_operand *operand, hsa_access_permission_t access);

/* Registers a pageable end with the GPU for one copy. Uses an address of its own, since the program may register
 * the same memory at the host's address for longer. *mem is the caller's to destroy, after a failure, too; NULL:
 * nothing. */
DRV_MUST_CHECK int rt_copy_register(struct rt_gpu *gpu, struct sdma_end *end, uint64_t size_B, bool written,
				    struct vm_mem **mem);
/* rt_interface.copy() (hsa/interface.h). */
DRV_MUST_CHECK int rt_flow_copy(struct flow *flow, const struct rt_copy *copy);

DRV_MUST_CHECK int rt_copies_init(struct rt *rt);
/* Drops the copies that still wait for signals. */
void rt_copies_fini(struct rt *rt);

#endif

/* Whether one device's memory can be given to another. */
#ifndef VM_PEER_H
#define VM_PEER_H

#include "vm/vm.h"

enum vm_peer {
	VM_PEER_NONE,   /* the other device cannot import this one's memory */
	VM_PEER_SYSTEM, /* it can, and the kernel moves the memory to the system's for that */
	VM_PEER_DIRECT, /* it reaches this device's VRAM where it is */
};

/* Must make the kernel validate the BO list of a vm, by submitting any job of that vm and waiting for it. */
typedef int vm_submit_fn(struct vm *vm, void *arg);

/* Can `other`'s device reach `owner`'s VRAM? Importing proves nothing: the kernel accepts it always, attaches
 * without mapping, and decides when a job of the importer first lists the buffer (amdgpu_ttm_backend_bind, through
 * amdgpu_dma_buf_map in the exporter). So a scratch buffer is shared, submit(other, arg) called, and the owner's
 * VRAM and GTT counters are compared. Other processes count there too: the answer is what two trials in a row agree
 * on, -EAGAIN if eight do not. The first answer is kept with `owner`. */
DRV_MUST_CHECK int vm_peer_probe(struct vm *owner, struct vm *other, vm_submit_fn *submit, void *arg,
				 enum vm_peer *peer);
/* What a probe has found, for other devices; false: none was made. */
bool vm_peer_known(struct vm *owner, const struct vm *other, enum vm_peer *peer);

#endif

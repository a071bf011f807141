/* Peers: whether a device can use another device's memory, and where that memory is then. enum vm_peer is the
 * answer; the owner's vm keeps it, guarded by its peer_lock. */
#ifndef VM_PEER_H
#define VM_PEER_H

#include "vm/vm.h"

enum vm_peer {
	VM_PEER_NONE,   /* the other device cannot import this one's memory */
	VM_PEER_SYSTEM, /* the other device can import it, and the kernel then moves the memory to system memory */
	VM_PEER_DIRECT, /* the other device reaches this device's VRAM without moving it */
};

/* Must make the kernel validate the vm's BO list, by submitting any job of that vm and waiting for it. */
typedef int vm_submit_fn(struct vm *vm, void *arg);

/* Measures whether `other`'s device reaches `owner`'s VRAM. A successful import proves nothing: the kernel always
 * accepts it, attaches without mapping, and decides when a job of the importer first lists the buffer
 * (amdgpu_ttm_backend_bind, through amdgpu_dma_buf_map in the exporter). So the function shares a scratch buffer,
 * calls submit(other, arg), and compares the owner's VRAM and GTT counters. Other processes change these counters,
 * too: the result needs two trials in a row that agree; -EAGAIN if there are none among eight. `owner` keeps the
 * first result. */
DRV_MUST_CHECK int vm_peer_probe(struct vm *owner, struct vm *other, vm_submit_fn *submit, void *arg,
				 enum vm_peer *peer);
/* Reports the result of an earlier probe; false: there was none. */
bool vm_peer_known(struct vm *owner, const struct vm *other, enum vm_peer *peer);

#endif

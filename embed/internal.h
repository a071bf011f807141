/* embed/: the functions of include/tuff/, on top of the driver's rooms. What its files share.
 *
 * Every public handle names an object that begins with a struct embed_object. A public function looks its handles
 * up (embed_get), calls the room that does the work, and gives its error. */
#ifndef EMBED_INTERNAL_H
#define EMBED_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <tuff/tuff.h>

#include "drv/clock.h"
#include "sdma/sdma.h"

enum embed_type {
	EMBED_DEVICE,
	EMBED_MEM,
	EMBED_RANGE,
	EMBED_CODE,
	EMBED_KERNEL,
	EMBED_QUEUE,
	EMBED_CMD,
	EMBED_SYNC,
	EMBED_TYPES,
};

struct embed_device;
struct embed_queue;

struct embed_object {
	struct embed_device *device; /* borrowed; a device names itself */
	void *handle;                /* its own; set by embed_publish() */
};

struct embed_device {
	struct embed_object base;
	struct drv_device *drv;              /* owned */
	struct vm *vm;                       /* owned */
	int numa_node;                       /* nearest to it */
	struct sdma_copier *copier;          /* owned */
	_Atomic unsigned alive[EMBED_TYPES]; /* its objects, by type */
	pthread_mutex_t lock;                /* guards copies and the clock's making; innermost */
	struct embed_queue *copies;          /* owned: the rings of the copier, as points of copies name them */
	struct drv_clock clock;              /* made at the first use */
	bool has_clock;                      /* it was made */
	struct embed_device *next;           /* guarded by the list's lock (device.c) */
};

struct embed_queue {
	struct embed_object base;
	struct embed_queue *next; /* in device->copies: a ring of the copier, which has only base and ring */
	struct cs_ctx *ctx;       /* owned; NULL: a ring of the copier */
	struct cs_ring *ring;     /* owned, the copier's borrowed */
	bool copy;                /* an SDMA ring */
	void *cmd;                /* owned: the slot that its commands' handles use */
	struct cs_ib *ib;         /* borrowed: the job that is being written; guarded by the ring's lock */
	/* The thread that writes it: the address of its mark, NULL between jobs. Relaxed: a thread only looks for
	 * itself. */
	const void *_Atomic writer;
};

struct embed_mem {
	struct embed_object base;
	struct vm_mem *mem; /* owned; NULL: unbound */
	struct vm_bo *bo;   /* the memory's; a reference of its own when unbound, else mem's */
	enum tuff_place place;
	unsigned flags;           /* enum tuff_mem_flags */
	struct embed_mem *parent; /* borrowed: whose memory it shares; NULL: nobody's */
	_Atomic unsigned shares;  /* tuff_mems that share this one's */
};

struct embed_range {
	struct embed_object base;
	struct vm_range range; /* owned */
};

struct embed_code {
	struct embed_object base;
	struct cs_code *code;         /* owned */
	struct embed_kernel *kernels; /* owned; all of them, in order of their names */
	unsigned count;
};

struct embed_kernel {
	struct embed_object base;
	const struct cs_kernel *kernel; /* borrowed: the code's */
};

struct embed_sync {
	struct embed_object base;
	struct cs_syncobj sync; /* owned */
};

/* --- handles ---------------------------------------------------------------------------------- */

/* Gives the object a handle and counts it at its device. -ENOMEM. */
DRV_MUST_CHECK int embed_publish(enum embed_type type, struct embed_object *object);
/* Takes the handle back; the object is not found any more. */
void embed_retire(enum embed_type type, struct embed_object *object);
/* A slot for handles that come and go without allocation: embed_open() names the object by a new handle until
 * embed_shut(). NULL: no memory. */
void *embed_slot_create(enum embed_type type);
void embed_slot_destroy(void *slot);
void *embed_open(void *slot, void *object);
void embed_shut(void *handle);
/* The object behind a handle of that type; NULL with a record when there is none. */
void *embed_find(enum embed_type type, const void *handle);
/* The same in *object, for objects that begin with an embed_object: 0, -EBADF, or -ENODEV when its device was
 * inherited over fork. */
DRV_MUST_CHECK int embed_get(enum embed_type type, const void *handle, void *object);

/* The queue whose job the calling thread writes under that handle. -EBADF, -EPERM: another thread began it. */
DRV_MUST_CHECK int embed_cmd(const struct tuff_cmd *cmd, struct embed_queue **queue);

/* Takes the queues of the copier back. */
void embed_copies_fini(struct embed_device *device);

/* How far into the memory an address is that vm_find() found there: its own, or its host address. */
static inline uint64_t embed_offset(const struct vm_mem *mem, uint64_t address)
{
	return address >= mem->va && address - mem->va < mem->size_B ? address - mem->va
								     : address - (uintptr_t)mem->map;
}

/* --- conversions ------------------------------------------------------------------------------ */

/* Points as the rooms know them. */
DRV_MUST_CHECK int embed_fence_of(struct tuff_point point, struct cs_fence *out);
DRV_MUST_CHECK int embed_fences_of(const struct tuff_point *points, unsigned count, struct cs_fence *out);
/* The most that one call takes. */
#define EMBED_POINTS_MAX 64

#define EMBED_PAGE_B 4096u

#endif

/* embed/: the functions of include/tuff/, on top of the driver's rooms. This header has the objects that public
 * handles name, the handles themselves, and the conversions of structs and points that several files need.
 *
 * Every public handle names an object that begins with a struct embed_object. A public function looks its handles
 * up (embed_get), calls the room that does the work, and gives its error. Each object is owned by the caller of the
 * public function that made it, and counted by its device; README.md has the locks in their order. */
#ifndef EMBED_INTERNAL_H
#define EMBED_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <tuff/tuff.h>

#include "drv/lock.h"
#include "drv/clock.h"
#include "cs/dispatch.h"
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
	void *handle;                /* the object's name; set by embed_publish() */
};

struct embed_device {
	struct embed_object base;
	struct drv_device *drv;              /* owned */
	struct vm *vm;                       /* owned */
	int numa_node;                       /* the host's node that is nearest */
	struct sdma_copier *copier;          /* owned */
	_Atomic unsigned alive[EMBED_TYPES]; /* counts the device's objects, by type */
	struct drv_mutex lock;               /* guards copies, and clock until has_clock; innermost */
	struct embed_queue *copies;          /* owned: one for each ring of the copier that a point names */
	struct drv_clock clock;              /* made at the first use */
	bool has_clock;                      /* clock was made */
	struct embed_device *next;           /* guarded by the list's lock (device.c) */
};

struct embed_queue {
	struct embed_object base;
	struct embed_queue *next; /* in device->copies: such a queue has only base and ring */
	struct cs_ctx *ctx;       /* owned; NULL: a ring of the copier */
	struct cs_ring *ring;     /* owned; borrowed if it is the copier's */
	bool copy;                /* an SDMA ring */
	void *cmd;                /* owned: the slot of the handles of its cmds */
	struct cs_ib *ib;         /* borrowed: the job that is being written; guarded by the ring's lock */
	/* The thread that writes the job: the address of its thread_mark, NULL between jobs. Relaxed: a thread only
	 * compares with its own. */
	const void *_Atomic writer;
};

struct embed_mem {
	struct embed_object base;
	struct vm_mem *mem; /* owned; NULL: unbound */
	struct vm_bo *bo;   /* counted when mem is NULL; else borrowed from mem */
	enum tuff_place place;
	unsigned flags;           /* enum tuff_mem_flags */
	struct embed_mem *parent; /* borrowed: the tuff_mem whose memory it shares; NULL: none */
	_Atomic unsigned shares;  /* counts the tuff_mems that share this one's memory */
};

struct embed_range {
	struct embed_object base;
	struct vm_range range; /* owned */
};

struct embed_code {
	struct embed_object base;
	struct cs_code *code;         /* owned */
	struct embed_kernel *kernels; /* owned array: all kernels, in order of their names */
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
/* Frees the handle; the object is not found any more. */
void embed_retire(enum embed_type type, struct embed_object *object);
/* Makes a slot for handles that come and go without allocation: embed_open() names an object by a new handle until
 * embed_shut(). NULL: no memory. */
void *embed_slot_create(enum embed_type type);
void embed_slot_destroy(void *slot);
void *embed_open(void *slot, void *object);
void embed_shut(void *handle);
/* Finds the object that a handle of that type names; NULL with a record when there is none. */
void *embed_find(enum embed_type type, const void *handle);
/* Finds an object that begins with an embed_object, and gives it in *object. -EBADF: there is none; -ENODEV: its
 * device was inherited over fork. */
DRV_MUST_CHECK int embed_get(enum embed_type type, const void *handle, void *object);

/* Finds the queue whose job the calling thread writes. -EBADF; -ENODEV: its device was inherited over fork; -EPERM:
 * another thread began it. */
DRV_MUST_CHECK int embed_cmd(const struct tuff_cmd *cmd, struct embed_queue **queue);

/* Frees the queues that stand for rings of the copier. */
void embed_copies_fini(struct embed_device *device);

/* --- structs that grow (include/tuff/base.h) -------------------------------------------------- */

/* Copies a caller's struct of in_B bytes into the library's own of own_B, and sets the members that the caller does
 * not have to 0. Hot paths call it only when the sizes differ. -EINVAL: in is NULL, or in_B is 0; -E2BIG: a byte
 * beyond own_B is not 0. */
DRV_MUST_CHECK int embed_struct_take(void *own, size_t own_B, const void *in, size_t in_B);
/* Gives the library's struct of own_B bytes to a caller, who has out_B: cut off, or filled up with 0. */
void embed_struct_give(void *out, size_t out_B, const void *own, size_t own_B);

/* --- conversions ------------------------------------------------------------------------------ */

/* Convert public points to the rooms'. -EINVAL: a job that was never submitted, or too many points. */
DRV_MUST_CHECK int embed_fence_of(struct tuff_point point, struct cs_fence *out);
DRV_MUST_CHECK int embed_fences_of(const struct tuff_point *points, unsigned count, struct cs_fence *out);
/* The most points that one call takes. */
#define EMBED_POINTS_MAX 64

#define EMBED_PAGE_B 4096u

#endif

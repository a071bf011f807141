/* Command submission. Kernel lock held.
 *
 *   kern_cs   cs.c         reads the chunks, checks them in the kernel's order (pass 1, pass 2)
 *             cs_submit.c  BO list, implicit synchronisation, the 33rd job, publication */
#ifndef VGPU_KERNEL_SCHED_CS_H
#define VGPU_KERNEL_SCHED_CS_H

#include <amdgpu_drm.h>
#include "vgpu/kernel/base/core.h"

#define KERN_GANG 4 /* AMDGPU_CS_GANG_SIZE */

/* Syncobj that a CS attaches its fence to. */
struct kern_cs_post {
	struct kern_syncobj *syncobj; /* counted */
	uint64_t point;               /* 0: replaces the fence */
};

/* The kernel's copy of what the client passes: private memory of its process, while the ioctl runs. */
struct kern_cs_input {
	struct drm_amdgpu_cs_chunk *chunk; /* owned: headers, then data; chunk_data is the address of the copy */
	unsigned chunks;
	bool bad_data; /* some chunk data could not be read: chunk by chunk then */
	void *buffer;  /* owned */
};

/* A submission while it is parsed, in the segment; everything counted is put by cs_fini. */
struct kern_cs {
	struct kern_file *file; /* borrowed */
	struct kern_ctx *ctx;   /* counted */
	uint32_t list_handle;
	struct kern_cs_input *input; /* borrowed from the ioctl */

	unsigned gang;
	struct kern_entity *entity[KERN_GANG];
	unsigned ib_count[KERN_GANG], leader;
	struct kern_job *job[KERN_GANG]; /* owned until pushed */
	struct kern_bo_list *list;       /* counted */
	struct kern_bo *user_fence;      /* counted */
	uint32_t user_fence_offset;
	struct kern_fence **dep; /* owned array of counted fences */
	unsigned deps, dep_room;
	uint64_t scan;             /* stamp of the fences in dep */
	struct kern_cs_post *post; /* owned array */
	unsigned posts;
	bool has_posts;
	bool holds; /* the reservations of its list, asleep */
};

/* Frees the submission of a dead process; its private memory went with it. NULL is fine. */
void kern_cs_abandon(struct kern_cs *cs);
int kern_cs_ioctl(struct kern_file *file, void *arg);
/* After both passes: 0 with *handle, or -errno and nothing happened. */
int kern_cs_submit(struct kern_cs *cs, uint64_t *handle);
/* The VM's lock, when no CS that sleeps holds what this one lists. 0, -EINTR, -ENOMEM: nothing is locked then. */
int kern_cs_lock(struct kern_cs *cs);
/* A CS is about to sleep with the reservations of what it lists; and has slept. */
void kern_cs_hold(struct kern_cs *cs);
void kern_cs_release(struct kern_cs *cs);
/* Collects a fence that all jobs wait for. 0 or -ENOMEM. */
int kern_cs_depend(struct kern_cs *cs, struct kern_fence *f);

#endif

/* GPU virtual memory of a job.
 *
 * kernel/ owns page tables and takes a view of them when a job is submitted. A region of the view stays valid
 * until the job ends; a mapping made later, where nothing was, is looked up when an access misses. No code of the
 * engine assumes that a GPU address equals a host address.
 *
 * Thread rule: a view is immutable. Any thread of the job's process may read it and look up later mappings, and
 * may keep regions until the job ends, except GPUVM_LATE ones. The look-up takes the kernel's lock. */
#ifndef VGPU_GPUVM_H
#define VGPU_GPUVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Page permissions and kinds; R, W, X and PRT have the values of the VA ioctl. */
enum gpuvm_flags {
	GPUVM_R = 1 << 0,
	GPUVM_W = 1 << 1,
	GPUVM_X = 1 << 2,
	GPUVM_PRT = 1 << 3,      /* reads give 0, writes vanish */
	GPUVM_UNLISTED = 1 << 4, /* mapped, but the job neither lists the BO nor is it always valid */
	GPUVM_SYSTEM = 1 << 5,   /* system memory (GTT, userptr); else VRAM */
	GPUVM_SHARED = 1 << 6,   /* exported or imported: other processes and devices may write it */
	GPUVM_LATE = 1 << 7,     /* mapped since the submission, and the page tables may not have it yet */
	GPUVM_REFUSED = GPUVM_UNLISTED | GPUVM_LATE,
	GPUVM_MTYPE_SHIFT = 8, /* effective memory type, enum gpuvm_mtype */
	GPUVM_MTYPE_MASK = 7 << 8,
	GPUVM_TOLERATED = 1 << 11, /* as UNLISTED, but the access is performed, with a finding */
	GPUVM_DUMMY =
		1 << 12, /* the dummy page, which all faults of the device share: accesses to it are not ordered */
};

enum gpuvm_mtype { GPUVM_NC, GPUVM_RW, GPUVM_CC, GPUVM_UC };

/* Text of findings about a GPUVM_LATE region. */
#define GPUVM_LATE_WHY "mapped so late that nothing shows that the page tables have it"

/* A mapped interval: GPU addresses [lo, hi), masked to 48 bits, backed by host memory of this process. */
struct gpuvm_region {
	uint64_t lo, hi;
	uint8_t *host; /* host address of lo; NULL for PRT */
	uint32_t flags;
	uint32_t bo; /* for reports */
};

/* The regions of one VM, sorted by lo, never overlapping. */
struct gpuvm_view {
	size_t count;
	const struct gpuvm_region *region;
	uint64_t vm; /* number of the VM, unique in the process */
	/* Target of refused accesses, GPUVM_DUMMY, without an address; its host memory is an aligned page. host
	 * NULL: reads give 0, writes vanish. */
	struct gpuvm_region dummy;
	/* Finds a region that was mapped after the view was taken; NULL: the view is complete. */
	const struct gpuvm_region *(*later)(const struct gpuvm_view *view, uint64_t va);
};

/* The region that holds va (already masked to 48 bits), or NULL. Binary search; callers keep the last answer. */
static inline const struct gpuvm_region *gpuvm_find(const struct gpuvm_view *view, uint64_t va)
{
	size_t lo = 0, hi = view->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct gpuvm_region *r = &view->region[mid];

		if (va < r->lo)
			hi = mid;
		else if (va >= r->hi)
			lo = mid + 1;
		else
			return r;
	}
	return view->later ? view->later(view, va) : NULL;
}

/* Block that made an access, as the fault status word encodes it (GFX9 client ids, L2 protection fault status
 * 17:9). */
enum gpuvm_client {
	GPUVM_CPF = 4, /* command fetch */
	GPUVM_CPC = 5, /* compute command processor's own reads and writes */
	GPUVM_CPG = 6,
	GPUVM_TCP = 8,      /* vector memory */
	GPUVM_SQI = 9,      /* instruction fetch */
	GPUVM_SQD = 10,     /* scalar data */
	GPUVM_SDMA0 = 0x80, /* MM hub on GFX9; + instance */
};

/* A refused access, as the engine hands it to kernel/. */
struct gpuvm_fault {
	uint64_t va;
	unsigned access; /* GPUVM_R, GPUVM_W or GPUVM_X */
	enum gpuvm_client client;
	bool mapped; /* a region exists but forbids this access */
};

/* Functions that access the memory of jobs as a GPU does. The client's threads and other waves may access the same
 * words: a race there is the client's, and ThreadSanitizer does not check these functions. */
#define GPUVM_RACY __attribute__((no_sanitize("thread")))

#endif

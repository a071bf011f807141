/* Memory accesses of the packet processors. Every access of CP and SDMA passes through here, so that the model of
 * their caches is in one place. (Waves have vgpu/isa/mem/access.h.)
 *
 * An access that translation refuses is reported to the kernel. Data then goes to the view's dummy page, and the
 * packet continues; an access returns false if it fetches packets, or if the job does not list the buffer. Single
 * words are atomic: the client's threads poll and set them. Thread rule: one thread at a time per context. */
#ifndef VGPU_ENGINE_MEM_H
#define VGPU_ENGINE_MEM_H

#include "vgpu/engine/atomic.h"
#include "vgpu/engine/internal.h"

/* Result of a poll of a word that another agent may write. */
struct engine_look {
	const uint8_t *host; /* NULL: none yet */
	uint64_t value;
	uint64_t hdp_flushes; /* flushes of the device so far */
	bool untouched;       /* no packet or wave has written it */
	bool saw_cpu;         /* has acquired the writes of the CPU, as far as the checker knows */
};

struct engine_mem {
	struct engine_run *run;  /* borrowed */
	enum gpuvm_client fetch; /* client that fetches packets */
	unsigned fetch_access;   /* rights that pages of packets must have: GPUVM_R, or with GPUVM_X */
	enum gpuvm_client data;  /* client that moves data */
	struct mem_cache *cache; /* borrowed: the L2 for data; NULL: none, as for SDMA of GFX9 */
	bool peeks;              /* reads hit L2, but allocate nothing there */
	unsigned past_l2;        /* GPUVM_R, GPUVM_W: the packet's reads, writes go to memory itself */
	bool plain;              /* its words are data: accesses to them do not synchronise */
	struct mem_actor actor;  /* the packet, for the order checker */
	struct engine_look look; /* the packet's last one */
	const struct gpuvm_region *last;
	uint64_t tolerated;       /* page of the last tolerated access to an unlisted BO */
	struct gpuvm_fault fault; /* the last access that was refused */
};

void engine_mem_init(struct engine_mem *mem, struct engine_run *run, enum gpuvm_client fetch,
		     enum gpuvm_client data);

/* Reads find what L2 holds and leave nothing there, writes pass it by: so the kernel sets up SDMA 5 and 6
 * (UTCL1_PAGE in Linux sdma_v5_0.c to sdma_v6_0.c: read policy "no allocate", write policy "bypass"). */
void engine_mem_peek(struct engine_mem *mem, struct mem_cache *cache);

/* The packet has seen the value that it waited for, and looks at another word. */
void engine_mem_look_over(struct engine_mem *mem);
/* Begins the next packet. */
void engine_mem_next(struct engine_mem *mem);
/* Packets. */
bool engine_mem_fetch(struct engine_mem *mem, uint64_t va, uint32_t *dst, unsigned dw);
/* A word that another agent may be writing: polls, conditions, dispatch arguments. Acquire. */
bool engine_mem_read32(struct engine_mem *mem, uint64_t va, uint32_t *value);
bool engine_mem_read64(struct engine_mem *mem, uint64_t va, uint64_t *value);
/* A word that another agent may be polling: fences, signals, timestamps. Release. */
bool engine_mem_write32(struct engine_mem *mem, uint64_t va, uint32_t value);
bool engine_mem_write64(struct engine_mem *mem, uint64_t va, uint64_t value);
/* Dwords of a packet. */
bool engine_mem_write(struct engine_mem *mem, uint64_t va, const uint32_t *src, unsigned dw);
/* Bulk data. Ranges may overlap in host memory. */
bool engine_mem_copy(struct engine_mem *mem, uint64_t dst, uint64_t src, uint64_t size_B);
/* From the end down to the beginning, for a destination that overlaps its source from above. */
bool engine_mem_copy_down(struct engine_mem *mem, uint64_t dst, uint64_t src, uint64_t size_B);
/* Repeats the unit_B (1, 2 or 4) low bytes of pattern. */
bool engine_mem_fill(struct engine_mem *mem, uint64_t dst, uint32_t pattern, unsigned unit_B, uint64_t size_B);
/* A read-modify-write with the texture cache's numbering (TC_OP in Mesa sid.h), 32 or 64 bits by the operation's
 * bit 5. False for an unknown operation, too: see engine_atomic_name(). */
bool engine_mem_atomic(struct engine_mem *mem, uint64_t va, unsigned op, uint64_t src, uint64_t cmp, uint64_t *old);

/* Whether [va, va + size_B) is mapped with all of `access`; reports nothing. */
bool engine_mem_covers(struct engine_mem *mem, uint64_t va, uint64_t size_B, unsigned access);

#endif

/* The command processor while it executes one job. Private to cp*.c. */
#ifndef VGPU_ENGINE_CP_H
#define VGPU_ENGINE_CP_H

#include "vgpu/engine/internal.h"
#include "vgpu/engine/mem.h"
#include "vgpu/engine/packet.h"
#include "vgpu/engine/pm4_body.h"

/* Read position of the CP. */
struct cp_cursor {
	uint64_t va;      /* next dword */
	uint64_t base_va; /* start of the buffer, for offsets in reports */
	uint32_t left_dw;
	uint64_t ring_B; /* size of the ring that begins at base_va, in which addresses wrap; 0: a buffer */
};

struct cp {
	struct engine_run *run;
	struct engine_ring *ring;
	struct engine_mem mem;
	unsigned gen; /* enum packet_gen */
	bool gfx;     /* graphics ring, which has more packets */
	bool null;    /* skip dispatches, copies and waits */
	unsigned ib_index;
	unsigned chained;            /* jumps since the IB's start */
	struct cp_cursor at, caller; /* caller: of the graphics ring's IB2, of a user ring's IB */
	bool called;
	bool predicate_fails;        /* SET_PREDICATION: packets with PREDICATE are left out */
	uint32_t ce_count, de_count; /* counters by which constant engine and draw engine wait for each other */

	/* The current packet. */
	const struct packet_form *form;
	const char *name;
	uint64_t packet_va;
	uint32_t header;
	const uint32_t *body; /* ring->packet + 1 */
	unsigned body_dw;
};

/* Each executes the current packet; false ends the job, which was stopped with a reason. */
bool cp_set_sh_reg(struct cp *cp);
bool cp_set_uconfig_reg(struct cp *cp);
bool cp_set_context_reg(struct cp *cp);
bool cp_set_sh_reg_pairs(struct cp *cp);
bool cp_set_sh_reg_packed(struct cp *cp);
bool cp_set_uconfig_reg_pairs(struct cp *cp);
bool cp_load_sh_reg_index(struct cp *cp);
bool cp_load_reg(struct cp *cp);
bool cp_set_base(struct cp *cp);
bool cp_dispatch_direct(struct cp *cp);
bool cp_dispatch_indirect(struct cp *cp);
bool cp_acquire_mem(struct cp *cp);
bool cp_release_mem(struct cp *cp);
bool cp_event_write(struct cp *cp);
bool cp_event_write_zpass(struct cp *cp);
bool cp_timestamp(struct cp *cp);
bool cp_wait_reg_mem(struct cp *cp);
bool cp_wait_reg_mem64(struct cp *cp);
bool cp_rewind(struct cp *cp);
bool cp_count_engines(struct cp *cp);
bool cp_wait_on_engine(struct cp *cp);
bool cp_write_data(struct cp *cp);
bool cp_copy_data(struct cp *cp);
bool cp_atomic_mem(struct cp *cp);
bool cp_cond_write(struct cp *cp);
bool cp_dma_data(struct cp *cp);
bool cp_protected_fence_signal(struct cp *cp);
bool cp_fence_wait_multi(struct cp *cp);

/* Whether the current packet is in the ring of a user queue itself, not in an IB. */
static inline bool cp_in_user_ring(const struct cp *cp)
{
	return cp->at.ring_B;
}
/* Tells the kernel how far the ring of the job's user queue was read. */
void cp_user_ring_progress(const struct cp *cp);
/* The packets of a user ring, from begin to end. */
struct cp_cursor cp_user_ring_cursor(const struct engine_user_ring *user_ring);

/* "RELEASE_MEM at dword 31 of IB 0". */
void cp_where(const struct cp *cp, char *text, size_t text_B);
/* End the job with a finding: an interrupt that resets at once, or a hang. Return false for the caller to return.
 */
bool cp_illegal(struct cp *cp, enum contract_row row, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool cp_hang(struct cp *cp, enum contract_row row, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Reports a finding; the packet is executed. */
void cp_remark(const struct cp *cp, enum contract_row row, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Ends the job when ok is false: a memory access of the packet was refused. Returns ok. */
bool cp_need(struct cp *cp, bool ok);

/* Modelled time of any packet, and of what it moves: some 25 GB/s, what one SDMA engine moves over its paths; the
 * CP's own copies are taken to be as fast. */
#define ENGINE_PACKET_NS    200
#define ENGINE_BYTES_PER_NS 25

/* Registers by absolute dword offset, as an unprivileged IB may reach them. False: the job was stopped. */
bool cp_reg_read(struct cp *cp, uint32_t offset, uint32_t *value);
bool cp_reg_write(struct cp *cp, uint32_t offset, uint32_t value);

/* Effect of a GCR_CNTL (GFX10 and later) on the caches of the ring's device, with remarks on its bits. Ranges are
 * from lo to hi. */
struct engine_cache_work {
	unsigned what; /* MEM_WRITE_BACK and so on */
	uint64_t lo, hi;
};
struct engine_cache_work engine_gcr_work(unsigned gen, uint32_t gcr, uint64_t lo, uint64_t hi);
/* Describes an error in a GCR_CNTL; NULL: there is none. */
const char *engine_gcr_fault(unsigned gen, uint32_t gcr);

/* Polls until look sets *over, and advances modelled time between polls. False: look returned false, or the job
 * was stopped. */
bool engine_wait_until(struct engine_mem *mem, bool (*look)(void *user, bool *over), void *user);
/* A read-modify-write, repeated until *old, what was there, is what cmp names. False: refused, or the job was
 * stopped. */
bool engine_wait_swap(struct engine_mem *mem, uint64_t va, unsigned op, uint64_t src, uint64_t cmp, uint64_t *old);

#endif

/* An SDMA engine while it executes one job. Private to sdma*.c. */
#ifndef VGPU_ENGINE_SDMA_ENGINE_H
#define VGPU_ENGINE_SDMA_ENGINE_H

#include "vgpu/engine/cp.h"
#include "vgpu/engine/sdma.h"

/* Copies of a queue may overlap until a packet drains them (Mesa radv_sdma.c). Their ranges are kept to find a
 * packet that depends on an earlier one's end; ranges above this number are not checked. */
#define SDMA_PENDING_MAX 32

struct sdma_range {
	uint64_t lo, hi; /* empty: both 0 */
};

struct sdma_pending {
	struct sdma_range read, written;
	uint32_t dw; /* offset of the packet, for the report */
};

struct sdma {
	struct engine_run *run;
	struct engine_ring *ring;
	struct engine_mem mem;
	unsigned gen; /* enum packet_gen */
	bool null;
	unsigned ib_index;
	uint64_t base_va, va; /* address of the IB; address of the next dword */
	uint32_t left_dw;

	/* The current packet. */
	const char *name;
	const uint32_t *packet; /* ring->packet */
	uint32_t packet_dw, offset_dw;

	struct sdma_pending pending[SDMA_PENDING_MAX];
	unsigned pending_count;
};

/* Each executes the current packet; false ends the job. */
bool sdma_copy(struct sdma *s);
bool sdma_const_fill(struct sdma *s);

/* Text of the position in the IB, for reports. */
void sdma_where(const struct sdma *s, char *text, size_t text_B);
bool sdma_end(struct sdma *s, enum engine_status status, enum contract_row row, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void sdma_remark(const struct sdma *s, enum contract_row row, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool sdma_need(struct sdma *s, bool ok);
/* Ends the job when the packet requests another byte order, which no client uses; 7.0 has no such field. */
bool sdma_unswapped(struct sdma *s, uint32_t swap);

#endif

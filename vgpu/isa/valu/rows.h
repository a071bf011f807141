/* Source and result rows of vector instructions, for valu.c and cross.c. Private to valu/. */
#ifndef VGPU_ISA_VALU_ROWS_H
#define VGPU_ISA_VALU_ROWS_H

#include "vgpu/isa/valu/valu.h"

static inline const struct isa_row_tools *isa_tools(void)
{
	return isa_host_avx2() ? &isa_row_tools_avx2 : &isa_row_tools_base;
}

/* Copies `dw` rows under a lane mask. */
static inline void isa_write_rows(struct isa_wave *w, unsigned row, const uint32_t *from, unsigned dw,
				  uint64_t exec)
{
	if (exec == w->full) {
		memcpy(w->v[row], from, dw * sizeof(w->v[0]));
		return;
	}
	if (w->lanes_exec != ~exec) {
		isa_tools()->expand(exec, w->lanes_mask);
		w->lanes_exec = ~exec;
	}
	isa_tools()->blend(w->v[row], from, w->lanes_mask, dw);
}

static inline void isa_broadcast(uint32_t *rows, uint64_t value, unsigned dw)
{
	isa_tools()->spread(rows, (uint32_t)value);
	if (dw > 1)
		isa_tools()->spread(rows + ISA_LANES, (uint32_t)(value >> 32));
}

/* The rows of a source; SGPRs are spread into `room`. NULL: there is no such source. */
static inline const uint32_t *isa_source_rows(const struct isa_wave *w, const struct isa_valu *v, unsigned n,
					      uint32_t *room)
{
	switch (v->kind[n]) {
	case ISA_FROM_ROW:
		return w->v[v->row[n]];
	case ISA_FROM_CONSTANT:
		return v->constant[n];
	case ISA_FROM_SCALAR:
		if (isa_type_dw(v->type[n]) == 2)
			isa_broadcast(room, isa_sread64(w, v->src[n]), 2);
		else
			isa_broadcast(room, isa_sread32(w, v->src[n]), 1);
		return room;
	default:
		return NULL;
	}
}

/* The scalar value of a source that names a lane or is written into one. */
static inline uint32_t isa_lane_scalar(const struct isa_wave *w, const struct isa_valu *v, unsigned n)
{
	uint32_t room[2 * ISA_LANES];

	return isa_source_rows(w, v, n, room)[0];
}

#endif

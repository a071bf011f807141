/* Accesses of waves, reported to the order checker (vgpu/memory/order.h). Private to mem/. Called only where
 * isa_machine::order is set, after accesses that translation allowed. */
#ifndef VGPU_ISA_MEM_ORDER_H
#define VGPU_ISA_MEM_ORDER_H

#include "vgpu/isa/mem/place.h"

/* Whether a load requests coherent data, as atomic loads do. */
static inline bool mem_is_coherent(const struct isa_inst *i)
{
	return i->flags & ISA_PAST_L1;
}

/* Reports all lanes in w->last_region, in the given shape; bias gives host memory. Only non-coherent loads are
 * reported: coherent loads acquire when they complete. */
void mem_wave_lanes(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
		    enum mem_shape shape, unsigned size_B, uint64_t bias, unsigned how);
/* Coherent loads, afterwards, of lanes all in w->last_region; nothing for others. */
void mem_wave_loaded(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a, unsigned size_B);
/* Reports a part of an access, in w->last_region. */
void mem_wave_part(struct isa_wave *w, const struct isa_inst *i, const uint8_t *host, uint64_t va, unsigned size_B,
		   unsigned how);

#endif

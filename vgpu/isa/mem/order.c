/* Accesses of waves for the order checker (order.h). */
#include "vgpu/isa/mem/order.h"

/* Flags of an access for the host: memory past L2 is visible to the CPU at once; waves may poll that and system
 * memory. */
static unsigned host_flag(const struct gpuvm_region *r, unsigned how)
{
	bool seen = !mem_in_l2(r), set = how & MEM_ORDER_READ && r->flags & GPUVM_SYSTEM;

	return seen || set ? MEM_ORDER_HOST : 0;
}

void mem_wave_part(struct isa_wave *w, const struct isa_inst *i, const uint8_t *host, uint64_t va, unsigned size_B,
		   unsigned how)
{
	if (w->last_region->flags & GPUVM_DUMMY)
		return;
	how |= (mem_is_coherent(i) ? MEM_ORDER_SYNC : 0) | host_flag(w->last_region, how);
	mem_order_bytes(w->machine->order, &w->order, host, va, size_B, how);
}

static void each_lane(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a, unsigned size_B,
		      uint64_t bias, unsigned how)
{
	uint64_t last = ~(uint64_t)0;

	ISA_FOR_LANES(lane, a->mask) {
		if (a->va[lane] != last)
			mem_wave_part(w, i, mem_at(bias, a->va[lane]), a->va[lane], size_B, how);
		last = a->va[lane];
	}
}

void mem_wave_lanes(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
		    enum mem_shape shape, unsigned size_B, uint64_t bias, unsigned how)
{
	const uint8_t *host = mem_at(bias, a->va[0]);
	bool coherent = mem_is_coherent(i);

	if (coherent && how == MEM_ORDER_READ)
		return;
	if (shape == MEM_IN_A_ROW && !coherent && !((uintptr_t)host % 4))
		mem_order_row(w->machine->order, &w->order, host, a->va[0], isa_lanes(w) * size_B / 4,
			      how | host_flag(w->last_region, how));
	else if (shape == MEM_SAME)
		mem_wave_part(w, i, host, a->va[0], size_B, how);
	else
		each_lane(w, i, a, size_B, bias, how);
}

void mem_wave_loaded(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a, unsigned size_B)
{
	const struct gpuvm_region *r = w->last_region;

	if (mem_is_coherent(i))
		each_lane(w, i, a, size_B, (uintptr_t)r->host - r->lo, MEM_ORDER_READ);
}

/* Translation of a wave's access: to memory, or to a copy in a modelled cache (vgpu/memory/cache.h). access.c then
 * accesses the bytes. Private to mem/. */
#ifndef VGPU_ISA_MEM_PLACE_H
#define VGPU_ISA_MEM_PLACE_H

#include "vgpu/isa/mem/access.h"
#include "vgpu/memory/cache.h"

/* Whether the last refusal was not of this instruction and page: as hardware merges the faults of a page, 64 lanes
 * and the turns of a loop make one report. */
bool mem_refusal_is_new(struct isa_wave *w, const struct isa_inst *i, uint64_t va, unsigned access);
/* Host memory for the part of an access in one region, which becomes w->last_region: reduces *size_B to it. A
 * refused access is reported, and goes to the view's dummy page. *host NULL: reads give 0, writes vanish. */
void mem_land(struct isa_wave *w, const struct isa_inst *i, uint64_t va, unsigned access, unsigned *size_B,
	      uint8_t **host);

/* Source of a read with caches; the bytes are in a single page. */
const uint8_t *mem_source(struct isa_wave *w, const struct isa_inst *i, const struct gpuvm_region *r, uint8_t *host,
			  unsigned size_B);

/* Target of a write with caches. */
struct mem_sink {
	uint8_t *to;      /* L2 or memory */
	uint8_t *dirty;   /* a byte for each byte of it, NULL: memory */
	uint8_t *copy;    /* in the cache of the own compute unit, or NULL */
	uint8_t *l2_copy; /* copy in L2 of a write that bypasses L2, or NULL */
};

/* For a write that ends in the page where it begins. */
struct mem_sink mem_sink(struct isa_wave *w, const struct isa_inst *i, const struct gpuvm_region *r, uint8_t *host,
			 unsigned size_B, bool atomic);

/* Shape of the lanes' addresses. */
enum mem_shape {
	MEM_SCATTERED,
	MEM_ONE_REGION, /* anywhere in one region that allows the access */
	MEM_IN_A_ROW,   /* all lanes, `size_B` bytes apart, in one region */
	MEM_SAME,       /* all lanes at one address */
};

/* Host memory of a GPU address: bias is the difference of the two, which wraps around. */
static inline uint8_t *mem_at(uint64_t bias, uint64_t va)
{
	return (uint8_t *)(uintptr_t)(bias + va);
}

/* A sink as biases. */
struct mem_sink_bias {
	uint64_t to, dirty, copy;
	bool has_dirty, has_copy;
};

/* Shape of the lanes' size_B bytes, and the bias of memory or of the copy to access; MEM_SCATTERED also when they
 * are in several pages of a copy. */
enum mem_shape mem_shape_of_read(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
				 unsigned size_B, uint64_t *bias);
enum mem_shape mem_shape_of_write(struct isa_wave *w, const struct isa_inst *i, const struct isa_addresses *a,
				  unsigned size_B, struct mem_sink_bias *bias);

/* The first lane of `rest` and the following ones whose bytes are in the same page; only that lane, if its bytes
 * cross pages. */
uint64_t mem_lanes_of_page(const struct isa_addresses *a, uint64_t rest, unsigned size_B);

#endif

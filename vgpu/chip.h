/* The chips that the virtual GPU can be: hardware facts of its own, written apart from drv/'s table.
 *
 * Figures without a public source are marked "made up" in chip.c. */
#ifndef VGPU_CHIP_H
#define VGPU_CHIP_H

#include <stdbool.h>
#include <stdint.h>

/* Instruction-set level: what the decoder and the compute units need to know. */
enum vgpu_gfx { VGPU_GFX900, VGPU_GFX906, VGPU_GFX908, VGPU_GFX90A };

struct vgpu_chip {
	const char *name; /* "gfx908" */
	enum vgpu_gfx gfx;
	uint16_t device_id;
	uint8_t pci_rev;
	uint32_t family, external_rev, chip_rev;
	uint16_t gc_version[3], sdma_version[3];           /* IP discovery major, minor, revision */
	uint8_t engines, arrays_per_engine, cus_per_array; /* shader engines, arrays, CUs physically present */
	uint16_t cus_active;
	uint8_t gfx_rings, compute_rings,
		sdma_instances; /* compute_rings, dma: as the kernel offers them to users */
	uint16_t vgprs, max_waves_per_cu;
	uint32_t lds_B;
	uint32_t tccs, l2_B;
	uint64_t vram_B, visible_vram_B;
	uint32_t vram_type, vram_bits;
	uint32_t engine_khz, memory_khz, counter_khz;
	bool packed_tid; /* work-item ids arrive packed in v0 */
	uint32_t sdma_max_count_B;
};

/* The chip of that name, or NULL. */
const struct vgpu_chip *vgpu_chip_find(const char *name);
/* The table, ended by a row without a name. */
extern const struct vgpu_chip vgpu_chips[];

#endif

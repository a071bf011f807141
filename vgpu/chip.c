#include "vgpu/chip.h"

#include <string.h>

static const struct vgpu_chip *const generations[] = {vgpu_chips_gfx9, vgpu_chips_gfx10, vgpu_chips_gfx11,
						      vgpu_chips_gfx12};

const struct vgpu_chip *vgpu_chip_at(unsigned n)
{
	for (unsigned g = 0; g < sizeof(generations) / sizeof(generations[0]); g++)
		for (const struct vgpu_chip *chip = generations[g]; chip->name; chip++)
			if (!n--)
				return chip;
	return NULL;
}

const struct vgpu_chip *vgpu_chip_find(const char *name)
{
	const struct vgpu_chip *chip;

	for (unsigned n = 0; (chip = vgpu_chip_at(n)); n++)
		if (!strcmp(chip->name, name))
			return chip;
	return NULL;
}

/* GFX9 and GFX10 put engine i, array j at [i % 4][j + i / 4], so the second four engines of Arcturus are in column
 * 1; later ones at [i % 4][(i / 4) * 2 + j]. From GFX10 on CUs come in pairs (WGPs), which are fused off together.
 */
void vgpu_chip_cu_bitmap(const struct vgpu_chip *chip, uint32_t bitmap[4][4])
{
	unsigned arrays = chip->engines * chip->arrays_per_engine, pair = chip->gc_version[0] >= 10 ? 2 : 1;
	unsigned left = chip->cus_active / pair;

	memset(bitmap, 0, sizeof(uint32_t[4][4]));
	for (unsigned e = 0; e < chip->engines; e++)
		for (unsigned a = 0; a < chip->arrays_per_engine; a++) {
			unsigned share = (left + arrays - 1) / arrays;
			unsigned column = chip->gc_version[0] >= 11 ? e / 4 * 2 + a : a + e / 4;

			bitmap[e % 4][column % 4] = (1u << share * pair) - 1;
			left -= share;
			arrays--;
		}
}

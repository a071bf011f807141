/* The chip table: found by IP version, by family and revision where the kernel does not tell, by name, by ELF
 * machine. */
#include "drv/chip.h"

#include "tests/check.h"

int main(void)
{
	static const struct {
		const char *target;
		uint32_t gc, rev;
		unsigned mach;
	} rows[] = {{"gfx900", 0x90001, 0x01, 0x2c},
		    {"gfx906", 0x90400, 0x28, 0x2f},
		    {"gfx908", 0x90401, 0x32, 0x30},
		    {"gfx90a", 0x90402, 0x3c, 0x3f}};

	for (unsigned i = 0; i < 4; i++) {
		const struct drv_chip *chip = drv_chip_by_target(rows[i].target);

		CHECK(chip);
		CHECK(drv_chip_find(rows[i].gc, 0, 0) == chip);
		CHECK(drv_chip_find(0, 141, rows[i].rev) == chip);
		CHECK(drv_chip_by_mach(rows[i].mach) == chip);
		/* What other code divides by or relies on. */
		CHECK(chip->lds_granule_B && chip->scratch_granule_B && chip->wave_lanes && chip->sdma_copy_max_B);
		CHECK_EQ(chip->sdma_fill_max_B % 4, 0);
	}
	CHECK(!drv_chip_find(0xb0000, 145, 1));
	CHECK(!drv_chip_find(0, 145, 0x32));
	CHECK(!drv_chip_by_target("gfx90"));
	CHECK(!drv_chip_by_mach(0));
	/* Only gfx90a has RSRC3 before GFX10; on the others its offset is a CU mask. */
	CHECK(drv_chip_by_target("gfx90a")->rsrc3_reg && !drv_chip_by_target("gfx908")->rsrc3_reg);
	return check_done("chip table");
}

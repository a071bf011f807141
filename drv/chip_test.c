/* The chip table: each row is found by IP version, by family and revision for kernels that do not report the
 * version, by name, and by ELF machine; no two rows claim the same chip. The expected values come from LLVM's
 * ELF.h, the kernel's amdgpu_discovery.c and Mesa's amdgpu_asic_addr.h, not from the table. */
#include "drv/chip.h"

#include "tests/check.h"

/* Every id of every chip. The external revision is the kernel's for revision 0 of the part (or the least that Mesa
 * accepts for it). */
static const struct {
	const char *target, *generic;
	uint32_t gc, family, rev;
	unsigned mach, generic_mach;
} rows[] = {
	{"gfx900", "gfx9-generic", 0x90001, 141, 0x01, 0x2c, 0x51},
	{"gfx902", "gfx9-generic", 0x90100, 142, 0x41, 0x2d, 0x51},
	{"gfx904", "gfx9-generic", 0x90201, 141, 0x14, 0x2e, 0x51},
	{"gfx906", "gfx9-generic", 0x90400, 141, 0x28, 0x2f, 0x51},
	{"gfx908", NULL, 0x90401, 141, 0x32, 0x30, 0},
	{"gfx909", "gfx9-generic", 0x90202, 142, 0x81, 0x31, 0x51},
	{"gfx90a", NULL, 0x90402, 141, 0x3c, 0x3f, 0},
	{"gfx90c", "gfx9-generic", 0x90300, 142, 0x91, 0x32, 0x51},
	{"gfx942", "gfx9-4-generic", 0x90403, 141, 0x46, 0x4c, 0x5f},
	{"gfx942", "gfx9-4-generic", 0x90404, 141, 0x46, 0x4c, 0x5f},
	{"gfx1010", "gfx10-1-generic", 0xa010a, 143, 0x01, 0x33, 0x52},
	{"gfx1011", "gfx10-1-generic", 0xa0102, 143, 0x0a, 0x34, 0x52},
	{"gfx1012", "gfx10-1-generic", 0xa0101, 143, 0x14, 0x35, 0x52},
	{"gfx1013", "gfx10-1-generic", 0xa0103, 143, 0x84, 0x42, 0x52},
	{"gfx1013", "gfx10-1-generic", 0xa0104, 143, 0x82, 0x42, 0x52},
	{"gfx1030", "gfx10-3-generic", 0xa0300, 143, 0x28, 0x36, 0x53},
	{"gfx1031", "gfx10-3-generic", 0xa0302, 143, 0x32, 0x37, 0x53},
	{"gfx1032", "gfx10-3-generic", 0xa0304, 143, 0x3c, 0x38, 0x53},
	{"gfx1033", "gfx10-3-generic", 0xa0301, 144, 0x01, 0x39, 0x53},
	{"gfx1034", "gfx10-3-generic", 0xa0305, 143, 0x46, 0x3e, 0x53},
	{"gfx1035", "gfx10-3-generic", 0xa0303, 146, 0x20, 0x3d, 0x53},
	{"gfx1036", "gfx10-3-generic", 0xa0306, 149, 0x01, 0x45, 0x53},
	{"gfx1036", "gfx10-3-generic", 0xa0307, 151, 0x01, 0x45, 0x53},
	{"gfx1100", "gfx11-generic", 0xb0000, 145, 0x01, 0x41, 0x54},
	{"gfx1101", "gfx11-generic", 0xb0003, 145, 0x20, 0x46, 0x54},
	{"gfx1102", "gfx11-generic", 0xb0002, 145, 0x10, 0x47, 0x54},
	{"gfx1103", "gfx11-generic", 0xb0001, 148, 0x01, 0x44, 0x54},
	{"gfx1103", "gfx11-generic", 0xb0004, 148, 0x80, 0x44, 0x54},
	{"gfx1150", "gfx11-generic", 0xb0500, 150, 0x10, 0x43, 0x54},
	{"gfx1151", "gfx11-generic", 0xb0501, 150, 0xc1, 0x4a, 0x54},
	{"gfx1152", "gfx11-generic", 0xb0502, 150, 0x40, 0x55, 0x54},
	{"gfx1153", "gfx11-generic", 0xb0503, 150, 0x50, 0x58, 0x54},
	{"gfx1200", "gfx12-generic", 0xc0000, 152, 0x40, 0x48, 0x59},
	{"gfx1201", "gfx12-generic", 0xc0001, 152, 0x50, 0x4e, 0x59},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void every_row_is_found_by_each_of_its_names(void)
{
	unsigned ids = 0;

	for (unsigned i = 0; i < ROWS; i++) {
		const struct drv_chip *chip = drv_chip_by_target(rows[i].target);

		if (!CHECK(chip))
			continue;
		CHECK(drv_chip_find(rows[i].gc, 0, 0) == chip);
		CHECK(drv_chip_find(0, rows[i].family, rows[i].rev) == chip);
		CHECK(drv_chip_by_mach(rows[i].mach) == chip);
		CHECK_STR(drv_isa_name(rows[i].mach), rows[i].target);
		CHECK_EQ(!!chip->generic, !!rows[i].generic);
		if (rows[i].generic && chip->generic) {
			CHECK_STR(chip->generic->name, rows[i].generic);
			CHECK_EQ(chip->generic->elf_mach, rows[i].generic_mach);
			CHECK_STR(drv_isa_name(rows[i].generic_mach), rows[i].generic);
		}
	}
	/* The table has no row that is missing in the list. */
	for (unsigned i = 0; drv_chip_at(i); i++)
		for (unsigned k = 0; k < DRV_CHIP_IDS; k++)
			ids += !!drv_chip_at(i)->id[k].gc_version;
	CHECK_EQ(ids, ROWS);
}

static bool overlap(const struct drv_chip_id *a, const struct drv_chip_id *b)
{
	return a->rev_last && b->rev_last && a->family == b->family && a->rev_first <= b->rev_last &&
	       b->rev_first <= a->rev_last;
}

static void no_two_rows_claim_one_chip(void)
{
	const struct drv_chip *a, *b;

	for (unsigned i = 0; (a = drv_chip_at(i)); i++)
		for (unsigned k = i + 1; (b = drv_chip_at(k)); k++) {
			CHECK(a->elf_mach != b->elf_mach);
			CHECK(strcmp(a->target, b->target));
			for (unsigned n = 0; n < DRV_CHIP_IDS * DRV_CHIP_IDS; n++) {
				const struct drv_chip_id *x = &a->id[n / DRV_CHIP_IDS],
							 *y = &b->id[n % DRV_CHIP_IDS];

				if (!CHECK(!overlap(x, y)) ||
				    !CHECK(!x->gc_version || x->gc_version != y->gc_version))
					printf("  %s and %s\n", a->target, b->target);
			}
		}
}

static void rows_are_complete(void)
{
	const struct drv_chip *chip;

	for (unsigned i = 0; (chip = drv_chip_at(i)); i++) {
		/* Fields that other code divides by or relies on are not 0. */
		CHECK(chip->lds_granule_B && chip->scratch_granule_B && chip->scratch_max_units);
		CHECK(chip->wave_lanes && chip->waves_per_cu && chip->scratch_waves_per_cu &&
		      chip->sdma_copy_max_B);
		CHECK(chip->sdma_fill_max_B && chip->code_pad_B && chip->max_group_threads &&
		      chip->generic_version);
		CHECK_EQ(chip->sdma_fill_max_B % 4, 0);
		CHECK(chip->id[0].gc_version && chip->id[0].rev_last >= chip->id[0].rev_first &&
		      chip->id[0].rev_first);
		/* A generation is the major number of the IP. */
		CHECK_EQ(chip->id[0].gc_version >> 16, 9 + chip->pm4);
		CHECK_EQ(chip->wave_lanes, chip->pm4 == DRV_PM4_GFX9 ? 64 : 32);
		CHECK_EQ(chip->pm4 == DRV_PM4_GFX9, chip->sdma == DRV_SDMA_V4);
	}
}

static void registers_are_where_the_chip_has_them(void)
{
	/* Only gfx90a and gfx942 have RSRC3 before GFX10; on the others its offset is a CU mask. */
	CHECK(!drv_chip_by_target("gfx908")->rsrc3_reg);
	CHECK_EQ(drv_chip_by_target("gfx90a")->rsrc3_reg, 0x22d);
	CHECK_EQ(drv_chip_by_target("gfx942")->rsrc3_reg, 0x22d);
	CHECK_EQ(drv_chip_by_target("gfx1030")->rsrc3_reg, 0x228);
	/* TG_CHUNK_SIZE of gfx942 has the offset of the mask of engine 6 on other chips. */
	CHECK_EQ(drv_chip_by_target("gfx942")->tg_chunk_reg, drv_chip_by_target("gfx90a")->se4_mask_reg + 2);
	CHECK(!drv_chip_by_target("gfx942")->se4_mask_reg && !drv_chip_by_target("gfx90a")->tg_chunk_reg);
	CHECK(drv_chip_by_target("gfx942")->flat_scratch_hw && !drv_chip_by_target("gfx90a")->flat_scratch_hw);
	CHECK(drv_chip_by_target("gfx1100")->flat_scratch_hw && !drv_chip_by_target("gfx1036")->flat_scratch_hw);
}

/* Of GFX9, gfx942 alone has no image instructions (LLVM: FeatureImageInsts). Descriptors have a pitch from GC 10.3 on. */
static void chips_read_the_descriptors_of_their_generation(void)
{
	static const enum drv_images expected[] = {
		[9] = DRV_IMAGES_GFX9, [11] = DRV_IMAGES_GFX11, [12] = DRV_IMAGES_GFX12};
	const struct drv_chip *chip;

	for (unsigned i = 0; (chip = drv_chip_at(i)); i++) {
		unsigned major = chip->id[0].gc_version >> 16, minor = chip->id[0].gc_version >> 8 & 0xff;

		if (!strcmp(chip->target, "gfx942"))
			CHECK_EQ(chip->images, DRV_IMAGES_NONE);
		else if (major == 10)
			CHECK_EQ(chip->images, minor >= 3 ? DRV_IMAGES_GFX10_3 : DRV_IMAGES_GFX10);
		else
			CHECK_EQ(chip->images, expected[major]);
	}
}

int main(void)
{
	every_row_is_found_by_each_of_its_names();
	no_two_rows_claim_one_chip();
	rows_are_complete();
	registers_are_where_the_chip_has_them();
	chips_read_the_descriptors_of_their_generation();
	CHECK(!drv_chip_find(0xd0000, 145, 1));
	CHECK(!drv_chip_find(0, 147, 0x32));
	CHECK(!drv_chip_find(0, 141, 0));
	CHECK(!drv_chip_by_target("gfx90"));
	CHECK(!drv_chip_by_mach(0) && !drv_isa_name(0));
	return check_done("chip table");
}

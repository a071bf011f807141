/* The chip that a device is identified as, with and without an override; and the resulting abilities. */
#include <errno.h>

#include <amdgpu_drm.h>

#include "drv/config.h"
#include "drv/internal.h"
#include "tests/check.h"

/* Makes a device with the facts that the kernel reports for that GC version. */
static struct drv_device device(uint32_t gc)
{
	struct drv_device dev = {.node.path = "/dev/dri/renderD128", .drm_minor = 59};

	dev.facts.ip[DRV_IP_COMPUTE] = (struct drv_ip){.version = gc, .rings = 0xf};
	dev.facts.ip[DRV_IP_DMA] = (struct drv_ip){.rings = 3};
	return dev;
}

static void chips_are_what_the_kernel_says(void)
{
	struct drv_device dev = device(0x0c0001);

	CHECK_EQ(drv_choose_chip(&dev, NULL), 0);
	CHECK_STR(dev.chip->target, "gfx1201");
	dev = device(0x090403);
	CHECK_EQ(drv_choose_chip(&dev, NULL), 0);
	dev = device(0x0d0000);
	CHECK_EQ(drv_choose_chip(&dev, NULL), -ENOTSUP);
	CHECK(strstr(drv_error_last()->text, "GC 13.0.0"));
	CHECK(!dev.chip);
}

static void an_override_chooses_the_code_and_nothing_else(void)
{
	const struct drv_override as_gfx900 = {-1, 9, 0, 0}, as_gfx1030 = {-1, 10, 3, 0};
	struct drv_device dev = device(0x090300);

	CHECK_EQ(drv_choose_chip(&dev, &as_gfx900), 0);
	CHECK_STR(dev.chip->target, "gfx900");
	CHECK_EQ(dev.chip->elf_mach, 0x2c);
	CHECK_STR(dev.overridden, "gfx90c");
	/* RX 5700 as an RX 6800, a common override: the SDMA limits stay those of the real chip. */
	dev = device(0x0a010a);
	CHECK_EQ(drv_choose_chip(&dev, &as_gfx1030), 0);
	CHECK_STR(dev.chip->target, "gfx1030");
	CHECK_STR(dev.chip->generic->name, "gfx10-3-generic");
	CHECK_EQ(dev.chip->sdma, DRV_SDMA_V5);
	CHECK_EQ(dev.chip->sdma_copy_max_B, 0x3fff00);
	/* An override that names the real chip. */
	dev = device(0x0a0300);
	CHECK_EQ(drv_choose_chip(&dev, &as_gfx1030), 0);
	CHECK(dev.chip == drv_chip_by_target("gfx1030") && !dev.overridden[0]);
}

static void an_override_that_would_hang_is_refused(void)
{
	const struct drv_override as_gfx1030 = {-1, 10, 3, 0}, as_nothing = {-1, 9, 9, 9},
				  as_gfx90a = {-1, 9, 0, 10};
	struct drv_device dev = device(0x090400);

	CHECK_EQ(drv_choose_chip(&dev, &as_gfx1030), -ENOTSUP);
	CHECK(strstr(drv_error_last()->text, "HSA_OVERRIDE_GFX_VERSION=10.3.0"));
	CHECK(strstr(drv_error_last()->text, "GC 9.4.0"));
	CHECK_STR(dev.chip->target, "gfx906");
	CHECK_EQ(drv_choose_chip(&dev, &as_nothing), -ENOTSUP);
	CHECK(strstr(drv_error_last()->text, "tuff knows no gfx999"));
	CHECK_EQ(drv_choose_chip(&dev, &as_gfx90a), 0);
	CHECK_STR(dev.chip->target, "gfx90a");
}

static void an_unknown_chip_can_be_named(void)
{
	const struct drv_override as_gfx942 = {-1, 9, 4, 2}, as_gfx1201 = {-1, 12, 0, 1};
	struct drv_device dev = device(0x090500);

	CHECK_EQ(drv_choose_chip(&dev, &as_gfx942), 0);
	CHECK(dev.chip == drv_chip_by_target("gfx942"));
	CHECK_STR(dev.overridden, "an unknown chip, GC 9.5.0");
	CHECK_EQ(drv_choose_chip(&dev, &as_gfx1201), -ENOTSUP);
	CHECK(!dev.chip);
}

static void fine_grain_follows_chip_and_kernel(void)
{
	static const struct {
		uint32_t gc;
		int trial;
		bool vram, system;
		uint64_t gem_flags;
		uint32_t vram_va, system_va;
		unsigned minor; /* 0: any */
	} rows[] = {
		/* Before GFX9.4.1, and on GFX10 and 11, a mapping's own type decides whether it is uncached. */
		{0x090400, -EINVAL, true, true, 0, AMDGPU_VM_MTYPE_UC, AMDGPU_VM_MTYPE_UC},
		{0x0b0000, -EINVAL, true, true, 0, AMDGPU_VM_MTYPE_UC, AMDGPU_VM_MTYPE_UC},
		{0x090402, -EINVAL, false, true, 0, 0, AMDGPU_VM_MTYPE_UC},
		{0x090402, 0, true, true, 1 << 13, 0, AMDGPU_VM_MTYPE_UC},
		{0x090402, -ENOMEM, false, true, 0, 0, AMDGPU_VM_MTYPE_UC},
		/* GFX12's first kernels cached system memory whatever was asked. */
		{0x0c0001, -EINVAL, true, false, 0, AMDGPU_VM_MTYPE_UC, 0, 60},
		{0x0c0001, -EINVAL, true, true, 0, AMDGPU_VM_MTYPE_UC, AMDGPU_VM_MTYPE_UC, 61},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv_device dev = device(rows[i].gc);

		CHECK_EQ(drv_choose_chip(&dev, NULL), 0);
		dev.drm_minor = rows[i].minor ? rows[i].minor : dev.drm_minor;
		drv_judge_abilities(&dev, rows[i].trial, false);
		CHECK_EQ(dev.can[DRV_CAN_FINE_VRAM].yes, rows[i].vram);
		CHECK_EQ(dev.can[DRV_CAN_FINE_SYSTEM].yes, rows[i].system);
		CHECK_EQ(dev.fine_vram.gem_flags, rows[i].gem_flags);
		CHECK_EQ(dev.fine_vram.va_flags, rows[i].vram_va);
		CHECK_EQ(dev.fine_system.va_flags, rows[i].system_va);
	}
}

static void abilities_follow_the_kernel(void)
{
	struct drv_device dev = device(0x090401);

	CHECK_EQ(drv_choose_chip(&dev, NULL), 0);
	dev.drm_minor = 49;
	drv_judge_abilities(&dev, -EINVAL, false);
	CHECK(!dev.can[DRV_CAN_QUERY_FAULT].yes && !dev.can[DRV_CAN_SEE_RESET].yes);
	CHECK(!dev.can[DRV_CAN_RELY_ON_ZERO].yes && !dev.can[DRV_CAN_PRIORITIZE].yes);
	CHECK(dev.can[DRV_CAN_SUBMIT].yes && dev.can[DRV_CAN_COPY].yes && dev.can[DRV_CAN_TIMELINE].yes);
	dev.drm_minor = 64;
	drv_judge_abilities(&dev, -EINVAL, true);
	CHECK(dev.can[DRV_CAN_QUERY_FAULT].yes && dev.can[DRV_CAN_SEE_RESET].yes &&
	      dev.can[DRV_CAN_VA_TIMELINE].yes);
	CHECK(dev.can[DRV_CAN_RELY_ON_ZERO].yes && dev.can[DRV_CAN_PRIORITIZE].yes);
	for (unsigned i = 0; i < DRV_ABILITIES; i++)
		CHECK(drv_ability_name(i) && dev.can[i].why[0]);
	dev.facts.ip[DRV_IP_DMA].rings = 0;
	drv_judge_abilities(&dev, -EINVAL, true);
	CHECK(!dev.can[DRV_CAN_COPY].yes && strstr(dev.can[DRV_CAN_COPY].why, "no SDMA ring"));
}

static void caches_are_the_kernels_or_the_tables(void)
{
	struct drv_device dev = device(0x0a0300);
	struct drv_cache *c = dev.facts.cache;

	dev.facts.l2_banks = 16;
	c[DRV_CACHE_L1] = (struct drv_cache){.size_B = 24 << 10, .origin = DRV_CACHE_KERNEL};
	CHECK_EQ(drv_choose_chip(&dev, NULL), 0);
	drv_read_caches(&dev);
	CHECK(c[DRV_CACHE_L1].size_B == 24 << 10 && c[DRV_CACHE_L1].origin == DRV_CACHE_KERNEL);
	CHECK_EQ(c[DRV_CACHE_L1].line_B, 128);
	CHECK(c[DRV_CACHE_L1].cus == 1 && c[DRV_CACHE_INST].cus == 2 && c[DRV_CACHE_L2].cus == 0);
	CHECK(c[DRV_CACHE_L2].size_B == 4 << 20 && c[DRV_CACHE_L2].origin == DRV_CACHE_TABLE);
	CHECK(c[DRV_CACHE_MALL].size_B == 128 << 20 && c[DRV_CACHE_MALL].origin == DRV_CACHE_TABLE);
	dev = device(0x090400);
	CHECK_EQ(drv_choose_chip(&dev, NULL), 0);
	drv_read_caches(&dev);
	CHECK(c[DRV_CACHE_GL1].size_B == 0 && c[DRV_CACHE_GL1].origin == DRV_CACHE_UNKNOWN);
}

static void an_apu_keeps_its_carve_out_for_small_requests(void)
{
	struct drv_facts card = {.vram.usable_B = 1 << 30}, apu = {.apu = true, .vram.usable_B = 512 << 20};

	CHECK_EQ(drv_memory_placement(&card, 1 << 30, 1 << 30), DRV_PLACEMENT_VRAM);
	CHECK_EQ(drv_memory_placement(&apu, 256 << 20, 0), DRV_PLACEMENT_VRAM);
	CHECK_EQ(drv_memory_placement(&apu, (256 << 20) + 1, 0), DRV_PLACEMENT_GTT);
	CHECK_EQ(drv_memory_placement(&apu, 64 << 20, 400 << 20), DRV_PLACEMENT_GTT);
	CHECK_EQ(drv_memory_placement(&apu, 4096, 600 << 20), DRV_PLACEMENT_GTT);
}

static void old_chips_are_named(void)
{
	static const struct {
		unsigned family;
		const char *says;
	} rows[] = {
		{110, "GFX6 chip (one of Tahiti"},  {120, "GFX7 chip (one of Bonaire"},
		{125, "GFX7 chip (one of Kaveri"},  {130, "GFX8 chip (one of Tonga"},
		{135, "GFX8 chip (one of Carrizo"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv_device dev = device(0);

		dev.facts.family = rows[i].family;
		CHECK_EQ(drv_choose_chip(&dev, NULL), -ENOTSUP);
		CHECK(strstr(drv_error_last()->why, rows[i].says));
		CHECK(strstr(drv_error_last()->why, "tuff begins with GFX9"));
	}
}

int main(void)
{
	old_chips_are_named();
	chips_are_what_the_kernel_says();
	an_override_chooses_the_code_and_nothing_else();
	an_override_that_would_hang_is_refused();
	an_unknown_chip_can_be_named();
	fine_grain_follows_chip_and_kernel();
	abilities_follow_the_kernel();
	caches_are_the_kernels_or_the_tables();
	an_apu_keeps_its_carve_out_for_small_requests();
	return check_done("chips, overrides, abilities");
}

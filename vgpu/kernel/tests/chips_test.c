/* Every chip opens through libdrm_amdgpu and answers without contradiction. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <amdgpu.h>
#include <amdgpu_drm.h>
#include "tests/check.h"
#include "vgpu/chip.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static unsigned cus_in(const uint32_t bitmap[4][4])
{
	unsigned count = 0;

	for (unsigned i = 0; i < 16; i++)
		count += (unsigned)__builtin_popcount(bitmap[i / 4][i % 4]);
	return count;
}

static void dev_info_agrees(amdgpu_device_handle dev, const struct vgpu_chip *chip)
{
	struct uapi_dev_info d;

	CHECK_EQ(amdgpu_query_info(dev, AMDGPU_INFO_DEV_INFO, sizeof(d), &d), 0);
	CHECK_EQ(d.device_id, chip->device_id);
	CHECK_EQ(d.family, chip->family);
	CHECK_EQ(d.external_rev, chip->external_rev);
	CHECK(d.external_rev >= d.chip_rev || chip->gfx == VGPU_GFX900);
	CHECK_EQ(cus_in((const void *)d.cu_bitmap), d.cu_active_number);
	CHECK_EQ(d.cu_active_number, chip->cus_active);
	CHECK(d.cu_active_number <= d.num_shader_engines * d.num_shader_arrays_per_engine * d.num_cu_per_sh);
	for (unsigned i = 0; i < 16; i++)
		CHECK((unsigned)__builtin_popcount(d.cu_bitmap[i / 4][i % 4]) <= d.num_cu_per_sh);
	CHECK_EQ(d.wave_front_size, chip->gc_version[0] >= 10 ? 32 : 64);
	CHECK_EQ(__builtin_popcount(d.enabled_rb_pipes_mask), d.num_rb_pipes);
	CHECK_EQ(!d.num_rb_pipes, !chip->gfx_rings);
	CHECK(d.num_shader_visible_vgprs >= 256);
	CHECK(d.virtual_address_offset < d.virtual_address_max);
	CHECK(d.virtual_address_max <= 1ull << 47);
	CHECK_EQ(d.high_va_offset >> 47, 0x1ffff); /* the sign-extended upper half of 48 bits */
	CHECK(d.high_va_offset < d.high_va_max);
	CHECK(d.gpu_counter_freq && d.max_engine_clock && d.max_memory_clock);
	CHECK(d.vram_type && d.vram_bit_width && d.num_tcc_blocks);
	CHECK_EQ(d.gl2c_cache_size && d.tcp_cache_size, chip->gc_version[0] >= 10); /* row 142 */
	CHECK_EQ(d.gl2c_cache_size || d.tcp_cache_size, chip->gc_version[0] >= 10);
	CHECK_EQ(d.sqc_inst_cache_size > 0, chip->gc_version[0] >= 10 || chip->gfx == VGPU_GFX942);
	CHECK_EQ(d.gc_double_offchip_lds_buf, 1);
	CHECK(chip->gc_version[0] != 9 || chip->engines < 2 || d.cu_ao_mask >> 16 == d.cu_bitmap[1][0]);
	CHECK_EQ(d.gl1c_cache_size > 0, chip->gc_version[0] >= 10);
	CHECK_EQ(!!(d.ids_flags & AMDGPU_IDS_FLAGS_FUSION), vgpu_chip_is_apu(chip));
}

static void memory_agrees(amdgpu_device_handle dev, const struct vgpu_chip *chip)
{
	struct uapi_memory_info m;

	CHECK_EQ(amdgpu_query_info(dev, AMDGPU_INFO_MEMORY, sizeof(m), &m), 0);
	CHECK_EQ(m.vram.total, chip->vram_B);
	CHECK(m.visible_vram.total <= m.vram.total);
	CHECK(m.vram.usable <= m.vram.total && m.vram.max_allocation <= m.vram.usable);
	CHECK(!vgpu_chip_is_apu(chip) || m.visible_vram.total == m.vram.total);
	CHECK(m.gtt.total);
}

static void rings_agree(amdgpu_device_handle dev, const struct vgpu_chip *chip)
{
	static const unsigned alignment[3] = {32, 32, 256};
	struct drm_amdgpu_info_hw_ip ip;
	uint32_t count;

	for (unsigned type = 0; type < 3; type++) {
		CHECK_EQ(amdgpu_query_hw_ip_info(dev, type, 0, &ip), 0);
		if (type == AMDGPU_HW_IP_GFX && !chip->gfx_rings) {
			CHECK_EQ(ip.available_rings, 0);
			CHECK_EQ(amdgpu_query_hw_ip_count(dev, type, &count), -EINVAL);
			continue;
		}
		CHECK(power_of_two(ip.available_rings + 1ull));
		CHECK(power_of_two((unsigned)__builtin_popcount(ip.available_rings))); /* Mesa asserts it */
		CHECK_EQ(ip.ib_start_alignment, alignment[type]);
		CHECK_EQ(ip.hw_ip_version_major,
			 type == AMDGPU_HW_IP_DMA ? chip->sdma_version[0] : chip->gc_version[0]);
		CHECK_EQ(amdgpu_query_hw_ip_count(dev, type, &count), 0);
		CHECK(count >= 1);
	}
	CHECK_EQ(amdgpu_query_hw_ip_info(dev, AMDGPU_HW_IP_VCN_DEC, 0, &ip), 0);
	CHECK_EQ(ip.available_rings, 0);
}

static void each_chip_answers(const struct vgpu_chip *chip)
{
	uint32_t major, minor, version, feature;
	struct amdgpu_gpu_info info;
	amdgpu_device_handle dev;
	int fd;

	if (!CHECK_EQ(vgpu_start(chip->name), 0))
		return;
	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (CHECK(fd >= 0) && CHECK_EQ(amdgpu_device_initialize(fd, &major, &minor, &dev), 0)) {
		CHECK_EQ(major, 3);
		CHECK_EQ(amdgpu_query_gpu_info(dev, &info), 0);
		CHECK_EQ(info.asic_id, chip->device_id);
		CHECK_EQ(info.gb_addr_cfg, chip->gb_addr_config);
		dev_info_agrees(dev, chip);
		memory_agrees(dev, chip);
		rings_agree(dev, chip);
		for (unsigned type = AMDGPU_INFO_FW_VCE; type <= AMDGPU_INFO_FW_TOC; type++)
			if (type != 9) /* there is no firmware type 9 */
				CHECK_EQ(amdgpu_query_firmware_version(dev, type, 0, 0, &version, &feature), 0);
		amdgpu_device_deinitialize(dev);
	}
	close(fd);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

/* An IB of `words` NOPs on that ring: what waiting for it says. */
static int submit_nops(amdgpu_device_handle dev, unsigned ip, uint32_t nop)
{
	struct amdgpu_bo_alloc_request ask = {.alloc_size = 4096, .phys_alignment = 4096, .preferred_heap = 2};
	struct amdgpu_cs_ib_info ib = {.size = 64};
	struct amdgpu_cs_request request = {.ip_type = ip, .number_of_ibs = 1, .ibs = &ib};
	struct amdgpu_cs_fence fence = {.ip_type = ip};
	amdgpu_context_handle ctx;
	amdgpu_va_handle range;
	amdgpu_bo_handle bo;
	uint32_t expired = 0, *map;
	int r;

	CHECK_EQ(amdgpu_cs_ctx_create(dev, &ctx), 0);
	CHECK_EQ(amdgpu_bo_alloc(dev, &ask, &bo), 0);
	CHECK_EQ(amdgpu_va_range_alloc(dev, amdgpu_gpu_va_range_general, 4096, 4096, 0, &ib.ib_mc_address, &range,
				       0),
		 0);
	CHECK_EQ(amdgpu_bo_va_op(bo, 0, 4096, ib.ib_mc_address, 0, AMDGPU_VA_OP_MAP), 0);
	CHECK_EQ(amdgpu_bo_cpu_map(bo, (void **)&map), 0);
	for (unsigned i = 0; i < ib.size; i++)
		map[i] = nop;
	CHECK_EQ(amdgpu_bo_list_create(dev, 1, &bo, NULL, &request.resources), 0);
	CHECK_EQ(amdgpu_cs_submit(ctx, 0, &request, 1), 0);
	fence.context = ctx;
	fence.fence = request.seq_no;
	r = amdgpu_cs_query_fence_status(&fence, AMDGPU_TIMEOUT_INFINITE, 0, &expired);
	CHECK_EQ(amdgpu_bo_list_destroy(request.resources), 0);
	CHECK_EQ(amdgpu_bo_va_op(bo, 0, 4096, ib.ib_mc_address, 0, AMDGPU_VA_OP_UNMAP), 0);
	CHECK_EQ(amdgpu_va_range_free(range), 0);
	CHECK_EQ(amdgpu_bo_free(bo), 0);
	CHECK_EQ(amdgpu_cs_ctx_free(ctx), 0);
	return r;
}

static void job_on(const char *spec)
{
	unsigned long findings = vgpu_findings();
	amdgpu_device_handle dev;
	uint32_t major, minor;
	int fd;

	if (!CHECK_EQ(vgpu_start(spec), 0))
		return;
	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	CHECK_EQ(amdgpu_device_initialize(fd, &major, &minor, &dev), 0);
	CHECK_EQ(submit_nops(dev, AMDGPU_HW_IP_COMPUTE, 0xffff1000), 0);
	CHECK_EQ(submit_nops(dev, AMDGPU_HW_IP_DMA, 0), 0);
	CHECK_EQ(vgpu_findings() - findings, 0);
	amdgpu_device_deinitialize(dev);
	close(fd);
	vgpu_stop();
}

int main(void)
{
	const struct vgpu_chip *chip;
	unsigned n = 0;

	vgpu_strict_set(VGPU_STRICT_REPORT);
	for (; (chip = vgpu_chip_at(n)); n++)
		each_chip_answers(chip);
	CHECK_EQ(n, 8 + 11 + 8 + 2);
	CHECK(!vgpu_chip_find("gfx803"));
	job_on("gfx902");
	job_on("gfx90c");
	job_on("gfx942");
	job_on("gfx1030");
	job_on("gfx1201");
	job_on("null:gfx1100");
	return check_done("chips");
}

/* Reads the device facts of AMDGPU_INFO at opening, through libdrm_amdgpu. */
#include <errno.h>
#include <string.h>

#include <amdgpu_drm.h>

#include "drv/internal.h"

static unsigned count_cus(uint32_t bitmap[4][4])
{
	unsigned cus = 0;

	for (unsigned i = 0; i < 16; i++)
		cus += (unsigned)__builtin_popcount(bitmap[i / 4][i % 4]);
	return cus;
}

/* DEV_INFO as of DRM 3.64. The header of libdrm 2.4.114 ends before the clocks, and has padding where two fields
 * were added later, so those are read by offset. A kernel with a shorter struct leaves zeros. */
#define DEV_INFO_B 448
union dev_info {
	struct drm_amdgpu_info_device base;
	uint8_t bytes[DEV_INFO_B];
};
enum dev_info_offset {
	PCIE_GEN = 132,
	PCIE_LANES = 268,
	ENGINE_MIN = 368,
	MEMORY_MIN = 376,
	TCP_KIB = 384,
	SQC_DATA_KIB = 392,
	SQC_INST_KIB = 396,
	GL1C_KIB = 400,
	GL2C_KIB = 404,
	MALL_B = 408,
	USERQ_IPS = 436,
};
_Static_assert(offsetof(struct drm_amdgpu_info_device, num_hw_gfx_contexts) + 4 == PCIE_GEN, "after the contexts");
_Static_assert(offsetof(struct drm_amdgpu_info_device, max_gs_waves_per_vgt) + 4 == PCIE_LANES, "after the waves");
_Static_assert(offsetof(struct drm_amdgpu_info_device, tcc_disabled_mask) + 8 == ENGINE_MIN, "after the mask");

static uint32_t field_at(const union dev_info *info, enum dev_info_offset offset)
{
	uint32_t value;

	memcpy(&value, info->bytes + offset, sizeof(value));
	return value;
}

static void read_tail(struct drv_facts *f, const union dev_info *info)
{
	static const uint16_t cache_offset[DRV_CACHES] = {
		[DRV_CACHE_L1] = TCP_KIB,   [DRV_CACHE_INST] = SQC_INST_KIB, [DRV_CACHE_SCALAR] = SQC_DATA_KIB,
		[DRV_CACHE_GL1] = GL1C_KIB, [DRV_CACHE_L2] = GL2C_KIB,
	};

	f->pcie_gen = field_at(info, PCIE_GEN);
	f->pcie_lanes = field_at(info, PCIE_LANES);
	f->engine_min_kHz = field_at(info, ENGINE_MIN);
	f->memory_min_kHz = field_at(info, MEMORY_MIN);
	f->user_queue_ips = field_at(info, USERQ_IPS);
	for (unsigned i = 0; i < DRV_CACHES; i++) {
		struct drv_cache *c = &f->cache[i];

		c->size_B = i == DRV_CACHE_MALL
				    ? field_at(info, MALL_B) | (uint64_t)field_at(info, MALL_B + 4) << 32
				    : (uint64_t)field_at(info, cache_offset[i]) << 10;
		c->origin = c->size_B ? DRV_CACHE_KERNEL : DRV_CACHE_UNKNOWN;
	}
}

static uint32_t largest_array(const uint32_t bitmap[4][4])
{
	uint32_t most = 0;

	for (unsigned i = 0; i < 16; i++) {
		uint32_t cus = (uint32_t)__builtin_popcount(bitmap[i / 4][i % 4]);

		most = cus > most ? cus : most;
	}
	return most;
}

static void read_base(struct drv_facts *f, const struct drm_amdgpu_info_device *info)
{
	f->device_id = info->device_id;
	f->pci_rev = info->pci_rev;
	f->family = info->family;
	f->external_rev = info->external_rev;
	f->engines = info->num_shader_engines;
	f->arrays_per_engine = info->num_shader_arrays_per_engine;
	memcpy(f->cu_bitmap, info->cu_bitmap, sizeof(f->cu_bitmap));
	f->cus = info->cu_active_number ? info->cu_active_number : count_cus(f->cu_bitmap);
	f->array_cus = largest_array(f->cu_bitmap);
	f->xccs = 1;
	f->ring_cus = f->cus;
	f->apu = info->ids_flags & AMDGPU_IDS_FLAGS_FUSION;
	f->engine_clock_kHz = (uint32_t)info->max_engine_clock;
	f->memory_clock_kHz = (uint32_t)info->max_memory_clock;
	f->counter_kHz = info->gpu_counter_freq;
	f->wave_lanes = info->wave_front_size;
	f->vgprs = info->num_shader_visible_vgprs;
	f->vram_type = info->vram_type;
	f->vram_bits = info->vram_bit_width;
	f->l2_banks = info->num_tcc_blocks;
	f->va_lo = info->virtual_address_offset;
	f->va_hi = info->virtual_address_max;
	f->high_va_lo = info->high_va_offset;
	f->high_va_hi = info->high_va_max;
	f->va_align_B = info->virtual_address_alignment;
	f->fragment_B = info->pte_fragment_size;
}

/* amdgpu_query_gpu_info() is no alternative: its struct ends before the clocks, the caches and the addresses. */
int drv_read_device(struct drv_device *dev, const struct drv_libdrm *lib)
{
	struct drv_facts *f = &dev->facts;
	union dev_info info = {0};
	int r = drv_libdrm_info(lib, AMDGPU_INFO_DEV_INFO, &info, sizeof(info));

	if (r)
		return drv_fail(r, "AMDGPU_INFO DEV_INFO on %s", dev->node.path);
	read_base(f, &info.base);
	read_tail(f, &info);
	if (!f->engines || !f->cus || !f->counter_kHz || f->va_hi <= f->va_lo)
		return drv_fail(-ENODEV, "%s reports no compute units", dev->node.path);
	return 0;
}

/* amdgpu_query_heap_info() is no alternative: it does not report a heap's total size, and takes two calls for each
 * heap. */
int drv_read_memory(struct drv_device *dev, const struct drv_libdrm *lib)
{
	struct drm_amdgpu_memory_info info = {0};
	int r = drv_libdrm_info(lib, AMDGPU_INFO_MEMORY, &info, sizeof(info));
	const struct drm_amdgpu_heap_info *from[] = {&info.vram, &info.cpu_accessible_vram, &info.gtt};
	struct drv_heap *to[] = {&dev->facts.vram, &dev->facts.visible_vram, &dev->facts.gtt};

	if (r)
		return drv_fail(r, "AMDGPU_INFO MEMORY on %s", dev->node.path);
	for (unsigned i = 0; i < 3; i++)
		*to[i] =
			(struct drv_heap){from[i]->total_heap_size, from[i]->usable_heap_size, from[i]->heap_usage};
	return 0;
}

/* DRM 3.48 put ip_discovery_version at the padding of the struct in libdrm 2.4.114's header. */
#define IP_DISCOVERY_VERSION_OFFSET 28
_Static_assert(sizeof(struct drm_amdgpu_info_hw_ip) == 32, "the version is the last dword");

int drv_read_ips(struct drv_device *dev, const struct drv_libdrm *lib)
{
	for (unsigned type = 0; type < DRV_IP_COUNT; type++) {
		struct drm_amdgpu_info_hw_ip info = {0};
		struct drv_ip *ip = &dev->facts.ip[type];
		int r = drv_libdrm_ip(lib, type, &info);

		if (r)
			return drv_fail(r, "AMDGPU_INFO HW_IP_INFO %u on %s", type, dev->node.path);
		memcpy(&ip->version, (const char *)&info + IP_DISCOVERY_VERSION_OFFSET, sizeof(ip->version));
		ip->rings = info.available_rings;
		ip->ib_start_B = info.ib_start_alignment;
		ip->ib_size_B = info.ib_size_alignment;
		r = drv_libdrm_ip_count(lib, type, &ip->instances);
		if (r && r != -EINVAL) /* the chip has no such block */
			return drv_fail(r, "AMDGPU_INFO HW_IP_COUNT %u on %s", type, dev->node.path);
	}
	return 0;
}

int drv_read_firmware(struct drv_device *dev, const struct drv_libdrm *lib)
{
	const struct {
		unsigned type;
		uint32_t *version;
	} asked[] = {
		{AMDGPU_INFO_FW_GFX_MEC, &dev->facts.mec_version},
		{AMDGPU_INFO_FW_SDMA, &dev->facts.sdma_version},
	};

	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		uint32_t feature;
		int r = drv_libdrm_firmware(lib, asked[i].type, 0, asked[i].version, &feature);

		/* -EINVAL: the GPU has no such engine. */
		if (r && r != -EINVAL)
			return drv_fail(r, "AMDGPU_INFO FW_VERSION 0x%x on %s", asked[i].type, dev->node.path);
	}
	return 0;
}

/* Linux counts the XCCs of the partition that the node stands for (amdgpu_kms.c, AMDGPU_INFO_HW_IP_COUNT). Its
 * cu_active_number is that of the whole card in every partition (gfx_v9_4_3_get_cu_info()), its cu_bitmap that of
 * the first XCC; all have as many compute units in use. */
int drv_count_xccs(struct drv_device *dev)
{
	struct drv_facts *f = &dev->facts;

	if (!dev->chip->ring_per_xcc)
		return 0;
	f->xccs = f->ip[DRV_IP_COMPUTE].instances;
	f->ring_cus = count_cus(f->cu_bitmap);
	f->cus = f->ring_cus * f->xccs;
	return f->cus ? 0
		      : drv_fail(-ENODEV, "%s reports %u XCCs with %u compute units", dev->node.path, f->xccs,
				 f->ring_cus);
}

const char *drv_cache_name(enum drv_cache_kind kind)
{
	static const char *const names[DRV_CACHES] = {
		[DRV_CACHE_L1] = "L1 vector data",
		[DRV_CACHE_INST] = "L1 instructions",
		[DRV_CACHE_SCALAR] = "L1 scalar",
		[DRV_CACHE_GL1] = "GL1",
		[DRV_CACHE_L2] = "L2",
		[DRV_CACHE_MALL] = "Infinity Cache",
	};

	return names[kind];
}

void drv_read_caches(struct drv_device *dev)
{
	const struct drv_chip_caches *c = dev->chip ? &dev->chip->caches : NULL;
	struct drv_facts *f = &dev->facts;

	if (!c)
		return;
	const struct {
		uint64_t size_B;
		uint32_t line_B, cus;
	} table[DRV_CACHES] = {
		[DRV_CACHE_L1] = {c->l1_KiB << 10, c->l1_line_B, 1},
		[DRV_CACHE_INST] = {c->inst_KiB << 10, c->inst_line_B, c->cus_per_sqc},
		[DRV_CACHE_SCALAR] = {c->scalar_KiB << 10, c->scalar_line_B, c->cus_per_sqc},
		[DRV_CACHE_GL1] = {c->gl1_KiB << 10, c->gl1_line_B},
		[DRV_CACHE_L2] = {c->l2_KiB << 10, c->l2_line_B},
		[DRV_CACHE_MALL] = {(uint64_t)c->mall_MiB << 20, 64},
	};

	for (unsigned i = 0; i < DRV_CACHES; i++) {
		struct drv_cache *cache = &f->cache[i];

		if (!cache->size_B && table[i].size_B) {
			cache->size_B = table[i].size_B;
			cache->origin = DRV_CACHE_TABLE;
		}
		cache->line_B = cache->size_B ? table[i].line_B : 0;
		cache->cus = cache->size_B ? table[i].cus : 0;
	}
}

enum drv_placement drv_memory_placement(const struct drv_facts *facts, uint64_t size_B, uint64_t used_B)
{
	uint64_t free_B = facts->vram.usable_B > used_B ? facts->vram.usable_B - used_B : 0;

	return !facts->apu || size_B <= free_B / 2 ? DRV_PLACEMENT_VRAM : DRV_PLACEMENT_GTT;
}
